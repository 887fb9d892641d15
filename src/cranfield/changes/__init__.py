"""What changed between two runs, with judgments or without: which documents, where, and what it costs."""
