"""From sources to columns: anything that holds judgments or a run, in one of three shapes.

`source.open_source` turns any argument of `evaluate` into one of
- `Text`: bytes in chunks, with the layout of their lines (TREC, MS MARCO, CSV, TSV);
- `Table`: three columns in memory (frames, Parquet);
- `Rankings`: documents by query (mappings, JSON, JSON lines, tuples).
"""
