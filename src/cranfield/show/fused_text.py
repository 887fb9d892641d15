"""What became of a fusion, as text; alone in its file, since tuning would import all that compares."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.mixing.fusing import Fused
from cranfield.show.layout import Paint, warning_lines, wrapped
from cranfield.words import count, joined


def fused_text(fused: Fused, width: int, paint: Paint) -> Iterator[str]:
    """What was written, in a sentence."""
    yield from warning_lines(fused.warnings, width, paint)
    where = "Written" if fused.path in ("", "-") else f"Written: {fused.path}"
    facts = f"{count(fused.queries, 'query', 'queries')}, {count(fused.documents, 'document')}"
    of = joined(fused.runs, "and") if len(fused.runs) < 6 else count(len(fused.runs), "run")
    how = fused.mixture if "×" in fused.mixture else f"{fused.mixture}, of {of}"  # with weights, the runs are named
    yield from wrapped(f"{where}, {facts}: {how}", width=width)
