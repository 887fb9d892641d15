"""Other ways to judged ranks: runs in an engine, which may have outgrown one machine. One class for each engine."""
