"""The queries one by one: their relevant documents, grades, texts, and the rankings of all runs."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from cranfield.evaluation.evaluating import threads_for
from cranfield.evaluation.result import Evaluation
from cranfield.layout import joined
from cranfield.measures.scope import Scope
from cranfield.ranks.first_documents import first_documents
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.read.source import open_source
from cranfield.report.encoding import DataWriter
from cranfield.report.gathered import Gathered
from cranfield.report.rankings import ShownRankings, TopDocuments
from cranfield.report.relevant import RelevantDocuments
from cranfield.systems.collection import collection_beside
from cranfield.systems.settling_commands import readable_name

RELEVANT = 50  # relevant documents listed for a query
STEPS = 200_000  # ranks whose values are shown
TEXT = 300  # letters shown of a document
SHORTEST = 30  # ... fewer are useless
ALL_TEXT = 250_000  # letters of all documents together, and as many more for each query:
QUERY_TEXT = 3_000


def add_details(data: DataWriter, gathered: Gathered) -> list[str]:
    """Write the details of the worst queries, as many as requested.

    details: of each query, by its place, the relevant documents and the grades of those that are shown
    rankings: of each run the columns of `ShownRankings`. They are JSON texts of their own, which are parsed when
        needed.
    reasons, tags: those that the rankings refer to by number
    documents: id, and where they are known title and text
    Returns what is left out, in words.
    """
    if gathered.judgments is None:
        data.add(
            details={}, detailed=[], rankings=["[]"] * len(gathered.evaluations), reasons=[], tags=[], documents=[]
        )
        return ["The judgments are not known here, so queries are shown without rankings."]
    chosen = gathered.listed
    grades = {query: gathered.judgments.by_query[query] for query in chosen}
    measure = gathered.request.measures[0]
    scope = Scope.of(measure)
    relevant = {query: scope.best_first(grades[query]) for query in chosen}
    found = ShownRankings(chosen, measure, RelevantDocuments(gathered.judgments, relevant, most=RELEVANT, scope=scope))
    first = {query: [found.documents[each] for each in relevant[query][:RELEVANT]] for query in chosen}
    with_steps = _with_steps(gathered)
    data.add_texts(
        "rankings",
        (
            found.encoded(each, tops, gathered.steps.get(each.run, ()) if each.run in with_steps else ())
            for each, tops in zip(gathered.evaluations, _first_documents(gathered, grades), strict=True)
        ),
    )
    documents, places = list(found.documents), {query: at for at, query in enumerate(gathered.query_ids)}
    judged = {
        places[query]: {
            "relevant": [(number, grades[query][documents[number]]) for number in first[query]],
            "all_relevant": len(relevant[query]),
            "grades": _known_grades(sorted(shown.union(first[query])), documents, grades[query]),
        }
        for query, shown in zip(chosen, found.shown, strict=True)
    }
    texts, cut = _texts(gathered, found.documents)
    data.add(details=judged, detailed=[*judged], reasons=[*found.reasons], tags=[*found.tags], documents=texts)
    return [*_not_ranked(gathered), *cut, *_not_calculated(gathered, with_steps)]


def _not_ranked(gathered: Gathered) -> Iterator[str]:
    """The queries and the runs without rankings, in words."""
    shown, every = len(gathered.listed), len(gathered.query_ids)
    if shown < every:
        yield (
            f"Rankings are shown for the {shown:,} of {every:,} queries that perform worst by "
            f"{gathered.request.measures[0]}; for all of them: --queries {every}."
        )
    unknown = [each.run for each in gathered.evaluations if each.run not in gathered.request.rankings]
    if unknown:
        names = joined(unknown, "and")
        yield f"Rankings of {names} are not shown: only an evaluation, or a frame in its engine, was given."


def _not_calculated(gathered: Gathered, with_steps: Collection[str]) -> Iterator[str]:
    if len(with_steps) < len(gathered.evaluations):
        yield f"The calculation is shown only for {joined(sorted(with_steps), 'and')}."


def _with_steps(gathered: Gathered) -> set[str]:
    """The runs whose values are shown rank by rank: all, or only those of the verdict if that would be too much."""
    runs = [each.run for each in gathered.evaluations]
    if len(runs) * len(gathered.listed) * gathered.request.depth <= STEPS:
        return set(runs)
    return {gathered.best_first[0].run} | ({gathered.pair.run, gathered.pair.baseline} if gathered.pair else set())


def _known_grades(numbers: Iterable[int], documents: Sequence[str], grades: Mapping[str, float]) -> dict[int, float]:
    """The grades of those documents that were judged."""
    return {number: grades[document] for number in numbers if (document := documents[number]) in grades}


def _first_documents(gathered: Gathered, grades: Mapping[str, Mapping[str, float]]) -> Iterator[TopDocuments | None]:
    """The first documents of each run by query; None if its rankings cannot be read."""
    request = gathered.request

    def read(evaluation: Evaluation) -> TopDocuments | None:
        source = request.rankings.get(evaluation.run)
        if source is None or not grades:
            return None if source is None else {}
        return first_documents(open_source(source, "run", request.format), grades, request.depth, evaluation.policy)

    return in_parallel(read, gathered.evaluations, threads_for(request.rankings.values()))


def _texts(gathered: Gathered, number: Mapping[str, int]) -> tuple[list[list[str]], list[str]]:
    """Title and text of each document, as far as there is room."""
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
