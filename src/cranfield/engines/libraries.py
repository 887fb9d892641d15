"""The libraries that all engines need, besides their own."""

from __future__ import annotations

from typing import Any

from cranfield.errors import need

_PURPOSE = "evaluating a lazy frame"


def narwhals() -> Any:
    return need("narwhals", extra="frames", purpose=_PURPOSE)


def arrow() -> Any:
    return need("pyarrow", extra="frames", purpose=_PURPOSE)


def parquet() -> Any:
    return need("pyarrow.parquet", extra="frames", purpose=_PURPOSE)
