"""What the native part is told of lines of text."""

from __future__ import annotations

from cranfield.ranks.scan.native import native
from cranfield.read.line_layout import Layout


def native_layout(layout: Layout) -> native.Layout:
    """A layout for the native scan."""
    assert native is not None
    return native.Layout(
        layout.query,
        layout.document,
        layout.value,
        layout.least,
        layout.most,
        layout.rank,
        layout.separator,
        layout.ranks,
        layout.counted,
        layout.single,
    )
