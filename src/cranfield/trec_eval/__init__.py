"""The drop-in for trec_eval: its names, its rules, its output."""
