"""The queries one by one: rankings side by side, grades, what was missed, and how values come about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cranfield.judge.order import rankings_of
from cranfield.read.source import open_source
from cranfield.show.pictures import cutoffs_of
from cranfield.show.report.request import Request

RELEVANT = 50  # relevant documents listed for a query
TEXT = 300  # letters shown of a document
SHORTEST = 30  # ... fewer say nothing
ALL_TEXT = 1_000_000  # letters of all documents together, and as many more for each query:
QUERY_TEXT = 3_000


class Details(NamedTuple):
    """By place of the query what the page shows of it, the documents it names, and what was left out, in words."""

    queries: dict[int, dict[str, Any]]
    documents: list[list[str]]  # id, and where they are known title and text
    left_out: list[str]


def details(request: Request) -> Details:
    """The details of the queries that perform worst, as many as were asked for."""
    chosen = worst_first(request)[: request.queries]
    grades = request.flat.by_query
    places = {query: at for at, query in enumerate(request.query_ids)}
    number: dict[str, int] = {}  # of documents
    found = {query: _judged(grades[query], number) for query in chosen}
    for name, run in request.runs.items():
        _add_run(request, name, run, {query: grades[query] for query in chosen}, found, number)
    texts, left_out = _texts(request, number)
    if len(chosen) < len(places):
        left_out.insert(
            0,
            f"Rankings are shown for the {len(chosen):,} of {len(places):,} queries that perform worst by "
            f"{request.measures[0]}; for all of them: --queries {len(places)}.",
        )
    return Details({places[query]: found[query] for query in chosen}, texts, left_out)


def worst_first(request: Request) -> list[str]:
    """All queries, by the mean of the first measure over the runs."""
    measure = request.measures[0]
    columns = [each.by_query(measure) for each in request.evaluations]
    sign = -1 if measure.definition.lower_is_better else 1
    means = {
        query: float(np.mean([column[query] for column in columns if query in column])) for query in request.query_ids
    }
    return sorted(means, key=lambda query: sign * means[query])


def _judged(grades: Mapping[str, float], number: dict[str, int]) -> dict[str, Any]:
    """The relevant documents, the best first, and a place for what the runs add."""
    relevant = _relevant(grades)
    listed = [(_number(document, number), grade) for document, grade in relevant[:RELEVANT]]
    return {"relevant": listed, "all_relevant": len(relevant), "grades": dict(listed), "runs": []}


def _add_run(
    request: Request,
    name: str,
    run: Any,
    grades: Mapping[str, Mapping[str, float]],
    found: Mapping[str, dict[str, Any]],
    number: dict[str, int],
) -> None:
    evaluation = next(each for each in request.evaluations if each.run == name)
    rankings = rankings_of(open_source(run, "run", request.format), grades, request.policy)
    place = {query: at for at, query in enumerate(evaluation.query_ids)}
    known = [query for query in found if query in place]
    reasons = {poor.query_id: poor.reason for poor in evaluation.queries(request.measures[0], known)}
    steps = [
        np.round(np.stack([evaluation.column(cut) for cut in cutoffs_of(each, request.depth)]), 4)
        for each in request.families.values()
    ]
    for query, its in found.items():
        ranking = rankings.get(query, [])
        top = ranking[: request.depth]
        at = {document: rank for rank, document in enumerate(ranking, start=1)}
        for document in top:
            if document in grades[query]:
                its["grades"][_number(document, number)] = grades[query][document]
        its["runs"].append(
            {
                "top": [_number(document, number) for document in top],
                "retrieved": len(ranking),
                "ranks": [at.get(document, 0) for document, _ in _relevant(grades[query])[:RELEVANT]],
                "reason": reasons.get(query, "not in this run, and left out"),
                "steps": [step[: len(top), place[query]].tolist() for step in steps] if query in place else [],
            }
        )


def _number(document: str, number: dict[str, int]) -> int:
    return number.setdefault(document, len(number))


def _relevant(grades: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted((pair for pair in grades.items() if pair[1] >= 1), key=lambda pair: -pair[1])


def _texts(request: Request, number: Mapping[str, int]) -> tuple[list[list[str]], list[str]]:
    """Title and text of each document, as long as there is room for all of them."""
    rows = [[document] for document in number]
    if request.collection is None:
        return rows, ["Texts of queries and documents are shown with --collection."]
    room = ALL_TEXT + QUERY_TEXT * min(request.queries, len(request.query_ids))
    length = min(TEXT, room // max(len(number), 1))
    if length < SHORTEST:
        return rows, ["Texts of documents are left out, so that the page stays small; --queries 200 leaves room."]
    cut = 0
    for document in request.collection.documents():
        at = number.get(document.doc_id)
        if at is not None:
            cut += len(document.text) > length
            text = document.text if len(document.text) <= length else f"{document.text[:length].rstrip()}…"
            rows[at] += [document.title[: TEXT // 2], text]
    more = f" {TEXT} are shown where --queries or -k is smaller." if length < TEXT else ""
    return rows, [f"Texts of {cut:,} documents are cut off after {length} letters.{more}"] if cut else []
