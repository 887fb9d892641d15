"""What each search of an agent adds, as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.evaluation.calls import Call, Calls
from cranfield.evaluation.estimating import Estimate
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, warning_lines, wrapped
from cranfield.words import count, percent

_HEAD = ["call", "tasks", "recall alone", "together", "first to find", "new", "fetched again"]


def calls_text(found: Calls, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """A sentence, a row for each call, and what the columns mean."""
    rows = [_HEAD]
    rows += [[str(row.call), f"{row.tasks:,}", f"{row.alone:.4f}", f"{row.union:.4f}", *_shares(row)] for row in found]
    parts = [
        list(map(paint.strong, wrapped(f"{found.run}: {found.counted}", width=width))),
        list(aligned(rows, (), paint.strong)),
        [line for text in _sentences(found) for line in wrapped(text, width=width, hang=2)],
        [paint.dim(line) for line in wrapped(_LEGEND, width=width)],
    ]
    parts.insert(0, list(warning_lines(found.warnings, width, paint)))
    return "\n\n".join("\n".join(part) for part in parts if part)


_LEGEND = (
    "Recall is the mean over all tasks; a task without such a call has 0 in it. New: calls that find something "
    "relevant that earlier ones had not. Fetched again: documents that an earlier call of the task had returned."
)


def _shares(row: Call) -> list[str]:
    return [f"{share:.0%}" for share in (row.first, row.gain, row.again)]


def _sentences(found: Calls) -> Iterator[str]:
    yield f"All searches together find {_spoken(found.union)} of the relevant documents."
    yield (
        f"Without gain: {_spoken(found.no_gain)} of the searches of a task. "
        f"Fetched again: {_spoken(found.refetched)} of its documents."
    )
    if found.most > len(found.rows):
        yield f"Only the first {len(found.rows)} calls are listed; a task has {found.most:,}."
    if found.none:
        yield f"No search finds anything relevant in {percent(found.none)} of the tasks."
    if found.unanswered:
        yield f"{count(found.unanswered, 'task has', 'tasks have')} no search."


def _spoken(estimate: Estimate) -> str:
    return f"{estimate.value:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"
