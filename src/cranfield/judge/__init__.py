"""Columns to judged ranks: who is judged, in what order, and how many documents stand above each."""
