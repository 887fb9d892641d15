"""One query, rank by rank, as programs read it."""

from __future__ import annotations

import json

from cranfield.evaluation.explaining import Explanation


def as_json(explanation: Explanation) -> str:
    """Everything, as one object."""
    return json.dumps(
        {
            "query": explanation.query_id,
            "measures": list(explanation.measures),
            "gains": explanation.gains,
            "positions": [place._asdict() for place in explanation.positions],
            "ideal": [{"doc_id": document, "grade": grade} for document, grade in explanation.ideal],
        },
        indent=2,
        ensure_ascii=False,
    )
