"""Rows to files: the formats that `cranfield.read` reads, and files that are never half written."""
