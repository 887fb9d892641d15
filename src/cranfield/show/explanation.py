"""One query, rank by rank, as people and as programs read it."""

from __future__ import annotations

import json
import textwrap

from cranfield.explanation import Explanation
from cranfield.layout import aligned, shortened

# What can be left out where the terminal is narrow, first to last: the rest follows from the grade and the rank.
SPARE = ("log2(i+1)", "gain/log2", "gain")


def text(explanation: Explanation, width: int) -> str:
    """The table; where it would not fit, long ids are cut short, and columns left out that follow from others."""
    title, *table, ideal = str(explanation).split("\n")
    dropped: tuple[str, ...] = ()
    for spare in (None, *SPARE):
        dropped += (spare,) if spare else ()
        over = max(map(len, table)) - sum(len(name) + 2 for name in dropped) - width
        longest = max((len(place.doc_id) for place in explanation.positions), default=0)
        if longest - over >= 12 or over <= 0:
            break
    room = max(longest - max(over, 0), 8)
    rows = [row.split() for row in table]
    for row, place in zip(rows[1:], explanation.positions, strict=True):
        row[1 : -len(rows[0]) + 2] = [shortened(place.doc_id, room)]  # an id may hold blanks
    kept = [at for at, name in enumerate(rows[0]) if name not in dropped]
    lines = aligned([[row[at] for at in kept] for row in rows], left=(1,))
    return "\n".join([title, *lines, *textwrap.wrap(ideal, width, subsequent_indent="  ", break_on_hyphens=False)])


def as_json(explanation: Explanation) -> str:
    """Everything, as one object."""
    return json.dumps(
        {
            "query": explanation.query_id,
            "measures": list(explanation.measures),
            "positions": [place._asdict() for place in explanation.positions],
            "ideal": [{"doc_id": document, "grade": grade} for document, grade in explanation.ideal],
        },
        indent=2,
        ensure_ascii=False,
    )
