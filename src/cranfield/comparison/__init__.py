"""From evaluations to conclusions: which run is better, by how much, how surely, and whether a change may pass."""
