"""Asking each query several times, for systems that answer differently each time: ids and groups of the repeats."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from cranfield.errors import InputError
from cranfield.io.queries import Queries
from cranfield.io.target import write_text

BESIDE = ".queries.tsv"  # after the name of a run
MARK = "#"


def repeated(queries: Mapping[str, str], times: int) -> tuple[Queries, Queries]:
    """Each query so many times, in rounds, so that the repeats of a query are apart; and the same with its group.

    The queries that are asked keep their further columns, which a system may take.

    >>> asked, columns = repeated({"q1": "cats", "q2": "dogs"}, 2)
    >>> list(asked), columns.columns["group"]["q2#1"]
    (['q1#1', 'q2#1', 'q1#2', 'q2#2'], 'q2')
    """
    place = getattr(queries, "place", "queries")
    marked = next((query for query in queries if MARK in query), None)
    if marked is not None:
        raise InputError(place, f"query '{marked}' has a {MARK} in its id, with which repeats are counted.")
    origin = {f"{query}{MARK}{n}": query for n in range(1, times + 1) for query in queries}
    further = queries.columns if isinstance(queries, Queries) else {}
    columns = {
        name: {query: values[its] for query, its in origin.items() if its in values} for name, values in further.items()
    }
    texts = {query: queries[its] for query, its in origin.items()}
    return Queries(texts, columns, place), Queries(texts, {**columns, "group": dict(origin)}, place)


def write_queries(queries: Queries, run: str) -> str:
    """Write queries with their columns beside a run; returns the name of the file."""
    written = io.StringIO()
    table = csv.writer(written, delimiter="\t", lineterminator="\n")
    table.writerow(["query_id", "text", *queries.columns])
    for query, text in queries.items():
        cells = (str(values.get(query, "")) for values in queries.columns.values())
        table.writerow([query, " ".join(text.split()), *cells])
    write_text(run + BESIDE, written.getvalue(), force=True)
    return run + BESIDE
