"""Judged ranks of runs in an engine, which may be too large for one machine. One class for each engine."""
