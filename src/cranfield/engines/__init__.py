"""Other ways to judged ranks: runs in Polars, DuckDB, Spark or Ibis, which may have outgrown one machine."""
