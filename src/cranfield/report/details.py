"""The queries one by one: rankings side by side, grades, what was missed, and how values are calculated."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.evaluating import threads_for
from cranfield.evaluation.facts import QueryFacts
from cranfield.evaluation.result import Evaluation
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Numbers
from cranfield.ranks.first import first_documents
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.read.source import open_source
from cranfield.report.encoding import Encoded, safe_json
from cranfield.report.gathered import Gathered
from cranfield.report.numbers import listed
from cranfield.report.relevant import RelevantDocuments, misordered
from cranfield.systems.collection import collection_beside
from cranfield.systems.settling import readable_name

TopDocuments = dict[str, list[str]]  # documents by query

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
    number: defaultdict[str, int] = defaultdict()  # of documents, from 0 as they come
    number.default_factory = number.__len__
    scope = Scope.of(gathered.request.measures[0])
    relevant = {query: scope.best_first(grades[query]) for query in chosen}
    found = {query: _judged(grades[query], relevant[query], number) for query in chosen}
    reasons: dict[str, int] = {}
    tags: dict[tuple[str, ...], int] = {}
    with_steps = _with_steps(gathered)
    documents = RelevantDocuments(gathered.judgments, relevant, most=RELEVANT, scope=scope)
    rankings = []
    for evaluation, first in zip(gathered.evaluations, _first_documents(gathered, grades), strict=True):
        stepped = evaluation.run in with_steps
        rows = _ranking(gathered, evaluation, first, documents, grades, found, number, with_steps=stepped)
        rankings.append(
            safe_json(
                [
                    [
                        row.top,
                        row.ranks,
                        reasons.setdefault(row.reason, len(reasons)),
                        tags.setdefault(tuple(row.why), len(tags)),
                        row.steps,
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


def _judged(grades: Mapping[str, float], relevant: Sequence[str], number: Mapping[str, int]) -> dict[str, Any]:
    """The relevant documents, the best first, and the grades known so far, to which the runs add."""
    listed = [(number[document], grades[document]) for document in relevant[:RELEVANT]]
    return {"relevant": listed, "all_relevant": len(relevant), "grades": dict(listed)}


def _first_documents(gathered: Gathered, grades: Mapping[str, Mapping[str, float]]) -> Iterator[TopDocuments | None]:
    """The first documents of each run by query; None where its rankings cannot be read."""
    request = gathered.request

    def read(evaluation: Evaluation) -> TopDocuments | None:
        source = request.rankings.get(evaluation.run)
        if source is None or not grades:
            return None if source is None else {}
        return first_documents(open_source(source, "run", request.format), grades, request.depth, evaluation.policy)

    return in_parallel(read, gathered.evaluations, threads_for(request.rankings.values()))


def _ranking(
    gathered: Gathered,
    evaluation: Evaluation,
    first: TopDocuments | None,
    relevant: RelevantDocuments,
    grades: Mapping[str, Mapping[str, float]],
    found: Mapping[str, dict[str, Any]],
    number: Mapping[str, int],
    *,
    with_steps: bool,
) -> list[RankedRow]:
    """What the page shows of the queries in one run."""
    measured = set(evaluation.query_ids)
    known = [query for query in found if query in measured]
    measure = gathered.request.measures[0]
    scope = Scope.of(measure)
    facts = {each.query_id: each for each in evaluation.queries(measure, known)}
    ranked = relevant.ranked(evaluation)
    steps = dict(zip(known, _steps(gathered.steps.get(evaluation.run, ()) if with_steps else ()), strict=False))
    shown: list[RankedRow] = []
    for query, its in found.items():
        top, its_facts = (first or {}).get(query, []), facts.get(query)
        numbers = [number[document] for document in top]
        judged = grades[query]
        its["grades"].update((at, judged[each]) for at, each in zip(numbers, top, strict=True) if each in judged)
        shown.append(
            RankedRow(
                None if first is None else numbers,
                None if ranked is None else ranked.ranks[query],
                its_facts.reason if its_facts else "not in this run, and left out",
                [*why(its_facts), *misordered(ranked.grades[query] if ranked else (), scope)] if its_facts else [],
                [step[: len(top)] for step in steps.get(query, ())],
            )
        )
    return shown


def _steps(families: Sequence[Numbers]) -> list[list[list[float]]]:
    """Of each query the values of each family down to each rank."""
    return np.stack(families).transpose(2, 0, 1).tolist() if families else []


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
