"""Sources to columns: whatever holds judgments or a run, behind three shapes.

`source.open_source` turns any argument of `evaluate` into one of
- `Text`: bytes in chunks, with the layout of their lines (TREC, MS MARCO, CSV, TSV);
- `Table`: three columns in memory (frames, Parquet);
- `Rankings`: documents by query (mappings, JSON, JSON lines, tuples).
"""
