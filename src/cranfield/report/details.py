"""The queries one by one: rankings side by side, grades, what was missed, and how values are calculated."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.facts import QueryFacts
from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.ranks.first import first_documents
from cranfield.ranks.judgments import Judgments
from cranfield.read.source import open_source
from cranfield.report.encoding import Encoded, safe_json
from cranfield.report.gathered import Gathered
from cranfield.report.numbers import listed
from cranfield.systems.collection import collection_beside
from cranfield.systems.settling import readable_name

RELEVANT = 50  # relevant documents listed for a query
STEPS = 200_000  # ranks whose values are shown
LOW = 3  # a first relevant document below this rank is ranked too low
TEXT = 300  # letters shown of a document
SHORTEST = 30  # ... fewer say nothing
ALL_TEXT = 250_000  # letters of all documents together, and as many more for each query:
QUERY_TEXT = 3_000


class Details(NamedTuple):
    """What the page shows of queries, by their places; the documents it names; and what was left out, in words.

    rankings: of each run a row for each of the queries, in their order: the numbers of the documents, or None; the
        ranks of the relevant ones, or None; the places of its reason and of its tags in the lists of them; and the
        values of each family down to each rank, or nothing. Rows are texts of their own, which are read when needed.
    documents: id, and where they are known title and text
    """

    queries: dict[int, dict[str, Any]]
    rankings: list[Encoded]
    reasons: list[str]
    tags: list[tuple[str, ...]]
    documents: list[list[str]]
    left_out: list[str]


def details(gathered: Gathered) -> Details:
    """The details of the queries that perform worst, as many as were asked for."""
    if gathered.judgments is None:
        return Details(
            {},
            [safe_json([])] * len(gathered.evaluations),
            [],
            [],
            [],
            ["The judgments are not known here, so queries are shown without rankings."],
        )
    chosen = gathered.listed
    grades = {query: gathered.judgments.by_query[query] for query in chosen}
    places = {query: at for at, query in enumerate(gathered.query_ids)}
    number: dict[str, int] = {}  # of documents
    scope = Scope.of(gathered.request.measures[0])
    relevant = {query: scope.best_first(grades[query]) for query in chosen}
    found = {query: _judged(grades[query], relevant[query], number) for query in chosen}
    reasons: dict[str, int] = {}
    tags: dict[tuple[str, ...], int] = {}
    with_steps = _with_steps(gathered)
    rankings = []
    for evaluation in gathered.evaluations:
        rows = _ranking(gathered, gathered.judgments, evaluation, grades, relevant, found, number)
        rankings.append(
            safe_json(
                [
                    [
                        row.top,
                        row.ranks,
                        reasons.setdefault(row.reason, len(reasons)),
                        tags.setdefault(tuple(row.why), len(tags)),
                        row.steps if evaluation.run in with_steps else [],
                    ]
                    for row in rows
                ]
            )
        )
    texts, left_out = _texts(gathered, number)
    unknown = [each.run for each in gathered.evaluations if each.run not in gathered.request.rankings]
    if unknown:
        left_out.insert(
            0,
            f"Rankings of {listed(unknown)} are not shown: only an evaluation, or a frame in its engine, was given.",
        )
    if len(chosen) < len(places):
        left_out.insert(
            0,
            f"Rankings are shown for the {len(chosen):,} of {len(places):,} queries that perform worst by "
            f"{gathered.request.measures[0]}; for all of them: --queries {len(places)}.",
        )
    if len(with_steps) < len(gathered.evaluations):
        left_out.append(f"The calculation is shown only for {listed(sorted(with_steps))}.")
    shown = {places[query]: found[query] for query in chosen}
    return Details(shown, rankings, list(reasons), list(tags), texts, left_out)


class RankedRow(NamedTuple):
    """What a run has for a query."""

    top: list[int] | None
    ranks: list[int] | None
    reason: str
    why: list[str]
    steps: list[list[float]]


def _with_steps(gathered: Gathered) -> set[str]:
    """The runs whose values are shown rank by rank: all, or those of the verdict where that would be too much."""
    runs = [each.run for each in gathered.evaluations]
    if len(runs) * len(gathered.listed) * gathered.request.depth <= STEPS:
        return set(runs)
    return {gathered.best_first[0].run} | ({gathered.pair.run, gathered.pair.baseline} if gathered.pair else set())


def why(facts: QueryFacts) -> list[str]:
    """What went wrong with a query, in the words that the page filters by."""
    if not facts.relevant:
        return ["no relevant document is judged"]
    found = []
    if not facts.found and not facts.deeper:
        found.append("nothing relevant retrieved")
    elif facts.first is None or facts.first > LOW:
        found.append("ranked too low")
    seen = facts.retrieved if facts.cutoff is None else min(facts.retrieved, facts.cutoff)
    if facts.unjudged * 2 > seen:
        found.append("mostly unjudged")
    return found


def misordered(
    ranks: Mapping[str, int], grades: Mapping[str, float], relevant: Sequence[str], scope: Scope
) -> list[str]:
    """The two grades in the wrong order that differ most, where a measure minds: a lower one above a higher one.

    >>> from cranfield import parse_measure
    >>> misordered({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["b", "a"], Scope.of(parse_measure("nDCG@10")))
    ['grade 1 above grade 3']
    """
    if scope.rel is not None:
        return []  # whatever is relevant counts the same
    deepest = scope.cutoff or float("inf")
    found = sorted((ranks[each], grades[each]) for each in relevant if each in ranks and ranks[each] <= deepest)
    lowest, low, high = float("inf"), 0.0, 0.0
    for _, grade in found:
        lowest = min(lowest, grade)
        if grade - lowest > high - low:
            low, high = lowest, grade
    return [f"grade {low:g} above grade {high:g}"] if high > low else []


def _judged(grades: Mapping[str, float], relevant: Sequence[str], number: dict[str, int]) -> dict[str, Any]:
    """The relevant documents, the best first, and the grades known so far, to which the runs add."""
    listed = [(_number(document, number), grades[document]) for document in relevant[:RELEVANT]]
    return {"relevant": listed, "all_relevant": len(relevant), "grades": dict(listed)}


def _ranking(
    gathered: Gathered,
    judgments: Judgments,
    evaluation: Evaluation,
    grades: Mapping[str, Mapping[str, float]],
    relevant: Mapping[str, Sequence[str]],
    found: Mapping[str, dict[str, Any]],
    number: dict[str, int],
) -> list[RankedRow]:
    """What the page shows of the queries in one run."""
    source = gathered.request.rankings.get(evaluation.run)
    rankings: dict[str, list[str]] = {}
    if source is not None and grades:
        opened = open_source(source, "run", gathered.request.format)
        rankings = first_documents(opened, grades, gathered.request.depth, evaluation.policy)
    place = {query: at for at, query in enumerate(evaluation.query_ids)}
    known = [query for query in found if query in place]
    facts = {each.query_id: each for each in evaluation.queries(gathered.request.measures[0], known)}
    ranks = _ranks(evaluation, judgments)
    steps = gathered.steps.get(evaluation.run, ())
    scope = Scope.of(gathered.request.measures[0])
    place = {query: at for at, query in enumerate(known)}
    shown: list[RankedRow] = []
    for query, its in found.items():
        top = rankings.get(query, [])
        for document in top:
            if document in grades[query]:
                its["grades"][_number(document, number)] = grades[query][document]
        its_facts = facts.get(query)
        its_ranks = ranks(query)
        shown.append(
            RankedRow(
                [_number(document, number) for document in top] if source is not None else None,
                None if its_ranks is None else [its_ranks.get(each, 0) for each in relevant[query][:RELEVANT]],
                its_facts.reason if its_facts else "not in this run, and left out",
                [*why(its_facts), *misordered(its_ranks or {}, grades[query], relevant[query], scope)]
                if its_facts
                else [],
                [step[: len(top), place[query]].tolist() for step in steps] if query in place else [],
            )
        )
    return shown


def _ranks(evaluation: Evaluation, judgments: Judgments) -> Callable[[str], dict[str, int] | None]:
    """A function: the ranks of a query's judged documents that were retrieved; None where they are not known."""
    table = evaluation.ranks
    if table is None:
        return lambda query: None
    number = {query: at for at, query in enumerate(table.query_ids)}
    stops = np.searchsorted(table.query, np.arange(len(table) + 1)).tolist()
    # Rows are counted from the query's first, since the evaluation may have had fewer queries than these judgments.
    rows, ranks, first = table.row.tolist(), table.rank.tolist(), table.judged_first.tolist()

    def of(query: str) -> dict[str, int]:
        at = number.get(query)
        if at is None:
            return {}
        start = judgments.first[judgments.number[query]] - first[at]
        return {judgments.document_ids[rows[row] + start]: ranks[row] for row in range(stops[at], stops[at + 1])}

    return of


def _number(document: str, number: dict[str, int]) -> int:
    return number.setdefault(document, len(number))


def _texts(gathered: Gathered, number: Mapping[str, int]) -> tuple[list[list[str]], list[str]]:
    """Title and text of each document, as long as there is room for all of them."""
    rows = [[document] for document in number]
    if gathered.request.collection is None:
        name = readable_name(gathered.request.qrels)
        beside = None if name is None else collection_beside(name)
        option = "--collection" if beside is None else f"--collection {shlex.quote(beside)}"
        return rows, [f"To show the texts of queries and documents, use {option}."]
    texts = {
        number[document.doc_id]: (document.title[: TEXT // 2], document.text[: TEXT + 1])
        for document in gathered.request.collection.documents()
        if document.doc_id in number
    }
    room = ALL_TEXT + QUERY_TEXT * min(gathered.request.queries, len(gathered.query_ids))
    room -= sum(len(title) for title, _ in texts.values())
    length = min(TEXT, room // max(len(texts), 1))
    if length < SHORTEST:
        return rows, ["Texts of documents are left out, to keep the page small; --queries 200 makes room for them."]
    for at, (title, text) in texts.items():
        rows[at] += [title, text if len(text) <= length else f"{text[:length].rstrip()}…"]
    cut = sum(len(text) > length for _, text in texts.values())
    more = f" {TEXT} are shown where --queries or -k is smaller." if length < TEXT else ""
    return rows, [f"Texts of {cut:,} documents are cut off after {length} characters.{more}"] if cut else []
