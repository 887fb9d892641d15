"""One query, rank by rank, as text or as JSON."""

from __future__ import annotations

import json

from cranfield.evaluation.explaining import Explanation, Position
from cranfield.show.layout import UNPAINTED, Paint, aligned, fitted, wrapped
from cranfield.words import columns, shortened, visible

HEAD = ("rank", "document", "grade", "gain", "log2(i+1)", "gain/log2")
DOCUMENT = HEAD.index("document")
# Columns to leave out on a narrow terminal, in this order: they follow from the grade and the rank.
SPARE = ("log2(i+1)", "gain/log2", "gain")
NARROW = 12  # columns that a document has at least


def explanation_text(
    explanation: Explanation, width: int | None = None, paint: Paint = UNPAINTED, text: str = ""
) -> str:
    """The ranking as a table; where it must fit a width, long ids and columns that follow from others are left out.

    If that is not enough, nothing is left out, and some columns are printed below the others. text: that of the query,
    where it is known.
    """
    rows = [[*HEAD, *explanation.measures], *(_row(place, explanation.measures) for place in explanation.positions)]
    if width is None:
        table = aligned(rows, left=(DOCUMENT,))
        return "\n".join([_title(explanation), *table, *_gain_note(explanation), _ideal(explanation)])
    for left_out in range(len(SPARE) + 1):
        kept = [at for at, name in enumerate(rows[0]) if name not in SPARE[:left_out]]
        fewer = [[row[at] for at in kept] for row in rows]
        widths = [max(map(columns, cells)) for cells in zip(*fewer, strict=True)]
        room = width - (sum(widths) - widths[DOCUMENT] + 2 * (len(widths) - 1))
        if room >= NARROW:
            rows = [[shortened(cell, room) if at == DOCUMENT else cell for at, cell in enumerate(row)] for row in fewer]
            break

    def tint(row: int, column: int, cell: str) -> str:
        place = explanation.positions[row - 1]
        if row and rows[0][column] in ("document", "grade"):
            return paint.dim(cell) if place.grade is None else paint.good(cell) if place.gain > 0 else cell
        return cell

    lines = fitted(rows, width, paint.strong, repeated=DOCUMENT + 1, left=(DOCUMENT,), tint=tint)
    notes = _gain_note(explanation) if "gain" in rows[0] else []
    below = [paint.dim(line) for note in (*notes, _ideal(explanation)) for line in wrapped(note, hang=2, width=width)]
    asked = f"{_title(explanation)}: {text}" if text else _title(explanation)
    return "\n".join([*wrapped(asked, hang=2, width=width), *lines, *below])


def _row(place: Position, measures: tuple[str, ...]) -> list[str]:
    return [
        str(place.rank),
        place.doc_id,
        "-" if place.grade is None else f"{place.grade:g}",
        f"{place.gain:g}",
        f"{place.discount:.4f}",
        f"{place.gain / place.discount:.4f}",
        *(f"{place.values[name]:.4f}" for name in measures),
    ]


def _title(explanation: Explanation) -> str:
    title = f"query {visible(explanation.query_id)}" if explanation.query_id else "ranking"
    return title if explanation.positions else f"{title}: nothing retrieved"


def _gain_note(explanation: Explanation) -> list[str]:
    """Whose gain the table shows, where the measures differ in it."""
    gains = explanation.gains
    if len(set(gains.values())) < 2:
        return []
    first, *more = gains
    others = ", ".join(name for name in more if gains[name] != gains[first])
    return [f"gain: {gains[first]}, as in {first}; not that of {others}"]


def _ideal(explanation: Explanation) -> str:
    best = explanation.ideal[: len(explanation.positions) or 10]
    return f"ideal order: {', '.join(f'{visible(document)} ({grade:g})' for document, grade in best)}"


def explanation_json(explanation: Explanation) -> str:
    content = {
        "query": explanation.query_id,
        "measures": list(explanation.measures),
        "gains": explanation.gains,
        "positions": [place._asdict() for place in explanation.positions],
        "ideal": [{"doc_id": document, "grade": grade} for document, grade in explanation.ideal],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
