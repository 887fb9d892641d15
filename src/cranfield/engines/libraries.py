"""The libraries that all engines need, besides their own."""

from __future__ import annotations

from typing import Any

from cranfield.errors import need

_PURPOSE = "evaluating a lazy frame"


def narwhals() -> Any:
    """The library that works with all engines."""
    return need("narwhals", extra="frames", purpose=_PURPOSE)


def arrow() -> Any:
    """The library for passing small tables."""
    return need("pyarrow", extra="frames", purpose=_PURPOSE)


def parquet() -> Any:
    """The library that reads and writes Parquet in batches."""
    return need("pyarrow.parquet", extra="frames", purpose=_PURPOSE)
