"""The queries one by one: their relevant documents, grades, texts, and the rankings of all runs as columns."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cranfield.evaluation.query_facts import QueryFacts, fact_rows, query_facts
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.report.encoding import DataWriter, Encoded, letters, number_list, safe_json
from cranfield.report.gathered import Gathered
from cranfield.report.shown_documents import Numbered, Numbering, ShownDocuments
from cranfield.systems.collection import collection_beside
from cranfield.systems.misses import content_words
from cranfield.systems.settling_commands import readable_name
from cranfield.words import joined


class RelevantDocuments:
    """The relevant documents of some queries as rows of the judgments, to find them in any run at once.

    relevant: the documents of each query, the best first; most: how many of them have ranks
    first: the ranks first[q] to first[q + 1] are those of query q
    """

    def __init__(self, judgments: Judgments, relevant: Mapping[str, Sequence[str]], *, most: int, scope: Scope) -> None:
        self.judgments, self.most, self.scope = judgments, most, scope
        self.queries = len(relevant)
        self._known: dict[tuple[str, ...], Integers] = {}
        self.first = offsets(min(len(documents), most) for documents in relevant.values())
        rows = len(judgments.document_ids)
        # For each row that is a relevant document; the last one is for rows that are not in the judgments.
        self.query, self.place = np.full(rows + 1, -1), np.full(rows + 1, -1)
        for at, (query, documents) in enumerate(relevant.items()):
            start, stop = judgments.first[judgments.number[query] :][:2].tolist()
            row = {document: number for number, document in enumerate(judgments.document_ids[start:stop], start)}
            its = [row[document] for document in documents]
            self.query[its], self.place[its] = at, range(len(its))

    def ranked(self, evaluation: Evaluation) -> tuple[Integers, list[list[float]]] | None:
        """The ranks of the relevant documents, 0 for one not retrieved; by query, the grades in the order of ranks."""
        table = evaluation.ranks
        if table is None:
            return None
        rows = self._rows(table)
        query = self.query[rows]
        relevant = np.flatnonzero(query >= 0)
        rows, query, ranks = rows[relevant], query[relevant], table.rank[relevant]
        place = self.place[rows]
        by_place = np.zeros(self.first[-1], dtype=np.int64)
        listed = place < self.most
        by_place[self.first[query[listed]] + place[listed]] = ranks[listed]
        if self.scope.cutoff is not None:
            seen = ranks <= self.scope.cutoff
            rows, query = rows[seen], query[seen]
        order = np.argsort(query, kind="stable")  # the ranks of a query stay in their order
        stops = np.searchsorted(query[order], np.arange(self.queries + 1)).tolist()
        grades = self.judgments.grades[rows[order]].tolist()
        return by_place, [grades[start:stop] for start, stop in pairwise(stops)]

    def _rows(self, table: JudgedRanks) -> Integers:
        """Which rows of the judgments the judged documents of a run are; -1 for queries that are not judged here."""
        known = self._numbers(table.query_ids)
        # Rows are counted from the query's first, since the evaluation may have had fewer queries than these judgments.
        shift = self.judgments.first[known] - table.judged_first[: len(known)]
        return np.where(known[table.query] >= 0, table.row + shift[table.query], -1)

    def _numbers(self, query_ids: tuple[str, ...]) -> Integers:
        """The numbers of queries in the judgments; -1 for one that is not there. Most runs have the same queries."""
        if query_ids not in self._known:
            number = self.judgments.number
            self._known[query_ids] = np.array([number.get(query, -1) for query in query_ids], dtype=np.int64)
        return self._known[query_ids]


def misordered(grades: Iterable[float], scope: Scope) -> list[str]:
    """The two grades in the wrong order that differ most, a lower one above a higher one, if order matters.

    >>> from cranfield import parse_measure
    >>> misordered([2, 1, 3], Scope.of(parse_measure("nDCG@10")))
    ['grade 1 above grade 3']
    """
    if scope.rel is not None:
        return []  # all relevant documents count the same
    lowest, low, high = float("inf"), 0.0, 0.0
    for grade in grades:
        if grade < lowest:
            lowest = grade
        elif grade - lowest > high - low:
            low, high = lowest, grade
    return [f"grade {low:g} above grade {high:g}"] if high > low else []


LOW = 3  # a first relevant document below this rank is ranked too low
PARTS = 10_000  # of 1: the unit of values down to each rank
FINEST = 10**9  # ... and of what each rank adds: as fine as the values of queries, so that the sum is right
EXACT = 2**53  # smaller numbers are written as integers
LEFT_OUT = "not in this run, and left out"


class ShownRankings:
    """The rankings of one run after the other, for queries that are the same in all of them.

    reasons, tags: their numbers so far
    """

    def __init__(self, queries: Sequence[str], measure: Measure, relevant: RelevantDocuments) -> None:
        self.queries, self.measure, self.relevant, self.scope = queries, measure, relevant, Scope.of(measure)
        self.reasons, self.tags = Numbering(), Numbering()
        self._by_facts: dict[tuple[int, ...], tuple[str, tuple[str, ...]]] = {}

    def encoded(
        self, evaluation: Evaluation, first: Numbered | None, steps: Sequence[Numbers], effects: Numbers | None
    ) -> Encoded:
        """The columns of a run: its first documents, or None; the ranks of the relevant ones, or None; reasons; tags;
        the values of each family down to each rank, in ten-thousandths; and what each rank adds, in billionths.

        A column with any number of values for a query is a pair: all of them, and where those of each query start, or
        how many each has if these are as many. The ranks start where `RelevantDocuments.first` says.

        first: None where the documents are not known
        steps: of each family the values down to each rank (rows), for the queries that were measured (columns)
        """
        place = {query: at for at, query in enumerate(evaluation.query_ids)}
        places = [place.get(query) for query in self.queries]
        ranks, grades = self.relevant.ranked(evaluation) or (None, [[]] * len(places))
        reasons, tags = self._explained(evaluation, places, grades)
        measured = np.array([at is not None for at in places], dtype=np.bool_)
        lengths = (np.diff(first.starts) if first else np.zeros(len(places), dtype=np.int64)) * measured
        columns = (
            "null" if first is None else _ragged(letters(first.documents), first.starts),
            "null" if ranks is None else letters(ranks),
            safe_json(reasons),
            safe_json(tags),
            _steps(steps, lengths, measured, PARTS),
            _steps([] if effects is None else [effects], lengths, measured, FINEST),
        )
        return Encoded(f"[{','.join(columns)}]")

    def _explained(
        self, evaluation: Evaluation, places: Sequence[int | None], grades: Sequence[Sequence[float]]
    ) -> tuple[list[int], list[int]]:
        """The reason and the tags of each query, given its place in the run, and the grades in the order of ranks."""
        known = evaluation.facts(self.measure)
        shown = replace(known, deeper=np.where(known.found > 0, 0, known.deeper))  # only where nothing was found
        facts = fact_rows(shown)
        reasons, tags = [], []
        for at, its_grades in zip(places, grades, strict=True):
            reason, why = (LEFT_OUT, ()) if at is None else self._known(facts[at])
            reasons.append(self.reasons[reason])
            tags.append(self.tags[why if at is None else (*why, *misordered(its_grades, self.scope))])
        return reasons, tags

    def _known(self, facts: tuple[int, ...]) -> tuple[str, tuple[str, ...]]:
        if facts not in self._by_facts:
            query = query_facts(facts, self.scope)
            self._by_facts[facts] = query.reason, why(query)
        return self._by_facts[facts]


def why(facts: QueryFacts) -> tuple[str, ...]:
    """What went wrong with a query, as the tags that the page filters by."""
    if not facts.relevant:
        return ("no relevant document is judged",)
    tags = []
    if not facts.found and not facts.deeper:
        tags.append("nothing relevant retrieved")
    elif facts.first is None or facts.first > LOW:
        tags.append("ranked too low")
    seen = facts.retrieved if facts.cutoff is None else min(facts.retrieved, facts.cutoff)
    if facts.unjudged * 2 > seen:
        tags.append("mostly unjudged")
    return tuple(tags)


def _steps(families: Sequence[Numbers], lengths: Integers, measured: Flags, unit: int) -> str:
    """The values of each query for each of its ranks, one family after the other, as multiples of 1 / unit."""
    if not families:
        return _ragged("[]", offsets(0 * lengths))
    values = np.stack(families).transpose(2, 0, 1)
    shown = np.arange(values.shape[2]) < lengths[measured][:, None]
    parts = np.rint(values[np.broadcast_to(shown[:, None], values.shape)] * unit)
    exact = np.abs(parts).max(initial=0) < EXACT
    text = number_list(parts.astype(np.int64)) if exact else safe_json(parts.tolist())
    return _ragged(text, offsets(lengths * len(families)))


def _ragged(values: str, starts: Integers) -> str:
    lengths = np.diff(starts)
    alike = len(lengths) and (lengths == lengths[0]).all()
    return f"[{values},{lengths[0] if alike else number_list(starts)}]"


RELEVANT, FEWEST = 50, 10  # relevant documents listed for a query, and of very many runs
RANKS = 1_000_000  # ranks of relevant documents in all runs
TEXT = 300  # letters shown of a document
SHORTEST = 30  # ... fewer are useless
ALL_TEXT = 250_000  # letters of all documents together, and as many more for each query:
QUERY_TEXT = 3_000


def add_details(data: DataWriter, gathered: Gathered, shown_documents: ShownDocuments) -> list[str]:
    """Write the details of the worst queries, as many as requested; returns what is left out, in words.

    details: of each query, by its place, the documents that are shown and that the rankings count from 0 (or the first
        of them, if their numbers are in a row), the relevant ones, and grades
    starts: where the ranks of the relevant documents of each query start
    rankings: of each run the columns of `ShownRankings`, as JSON texts of their own, which are parsed when needed
    """
    if gathered.judgments is None:
        data.add(details={}, detailed=[], rankings=["[]"] * len(gathered.evaluations))
        data.add(reasons=[], tags=[], documents=[], apart=[], starts=[0])
        return ["The judgments are not known here, so queries are shown without rankings."]
    chosen = gathered.listed
    grades = {query: gathered.judgments.by_query[query] for query in chosen}
    measure = gathered.request.measures[0]
    scope = Scope.of(measure)
    relevant = {query: scope.best_first(grades[query]) for query in chosen}
    most = min(RELEVANT, max(FEWEST, RANKS // (len(gathered.evaluations) * max(len(chosen), 1))))
    rows = RelevantDocuments(gathered.judgments, relevant, most=most, scope=scope)
    rankings = ShownRankings(chosen, measure, rows)
    data.add_texts(
        "rankings",
        (
            rankings.encoded(
                result,
                first,
                gathered.steps.get(result.run, ()),
                gathered.effects(result) if result.run in gathered.with_steps else None,
            )
            for result, first in zip(gathered.evaluations, shown_documents.by_run(), strict=True)
        ),
    )
    number, places = Numbering(), {query: at for at, query in enumerate(gathered.query_ids)}
    shown = [[number[document] for document in documents] for documents in shown_documents.numbers]
    listed = {query: [number[document] for document in relevant[query][:most]] for query in chosen}
    documents = list(number)
    judged = {
        places[query]: {
            "shown": _in_a_row(its),
            "relevant": [(at, grades[query][documents[at]]) for at in listed[query]],
            "all_relevant": len(relevant[query]),
            "grades": {
                at: grades[query][document]
                for at in sorted({*its, *listed[query]})
                if (document := documents[at]) in grades[query]
            },
        }
        for query, its in zip(chosen, shown, strict=True)
    }
    every = {query: numbers for query, numbers in listed.items() if len(numbers) == len(relevant[query])}
    texts, apart, cut = _texts(gathered, number, every)
    data.add(details=judged, detailed=[*judged], reasons=[*rankings.reasons], tags=[*rankings.tags], documents=texts)
    data.add(starts=rows.first.tolist())
    data.add(apart=[places[query] for query in apart])
    notes = [*_not_ranked(gathered), *cut]
    if len(gathered.with_steps) < len(gathered.evaluations):
        notes.append(f"The calculation is shown only for {joined(sorted(gathered.with_steps), 'and')}.")
    return notes


def _in_a_row(numbers: list[int]) -> list[int] | int:
    """The first number where the others follow it, as they do unless queries share documents."""
    return numbers[0] if numbers and numbers == [*range(numbers[0], numbers[0] + len(numbers))] else numbers


def _not_ranked(gathered: Gathered) -> Iterator[str]:
    shown, every = len(gathered.listed), len(gathered.query_ids)
    if shown < every:
        yield (
            f"Rankings are shown for the {shown:,} of {every:,} queries that perform worst by "
            f"{gathered.request.measures[0]}; --queries {every} shows all of them."
        )
    unknown = [run for run in gathered.runs if run not in gathered.request.rankings]
    if unknown:
        names = joined(unknown, "and")
        yield f"Rankings of {names} are not shown: only an evaluation, or a frame in its engine, was given."


def _texts(
    gathered: Gathered, number: Mapping[str, int], relevant: Mapping[str, Sequence[int]]
) -> tuple[list[list[str]], list[str], list[str]]:
    """The texts of documents; the queries that share no word with any relevant document; and what was cut.

    relevant: the numbers of all relevant documents of some queries
    """
    rows = [[document] for document in number]
    if gathered.request.collection is None:
        name = readable_name(gathered.request.qrels)
        beside = None if name is None else collection_beside(name)
        option = "--collection" if beside is None else f"--collection {shlex.quote(beside)}"
        return rows, [], [f"With {option}, the page shows the texts of queries and documents."]
    asked = {query: content_words(gathered.query_text(query)) for query in relevant}
    askers: dict[int, list[str]] = defaultdict(list)
    for query, numbers in relevant.items():
        for at in numbers:
            askers[at].append(query)
    texts: dict[int, tuple[str, str]] = {}
    sharing: set[str] = set()
    for document in gathered.request.collection._shown():
        if document.doc_id not in number:
            continue
        at = number[document.doc_id]
        texts[at] = (document.title[: TEXT // 2], document.text[: TEXT + 1])
        words = content_words(f"{document.title} {document.text}") if at in askers else set()
        sharing.update(query for query in askers.get(at, ()) if asked[query] & words)
    # Of a document without a text nobody knows which words it shares.
    apart = [query for query, its in relevant.items() if its and query not in sharing and texts.keys() >= {*its}]
    room = ALL_TEXT + QUERY_TEXT * min(gathered.request.queries, len(gathered.query_ids))
    room -= sum(len(title) for title, _ in texts.values())
    length = min(TEXT, room // max(len(texts), 1))
    if length < SHORTEST:
        return (
            rows,
            apart,
            ["Texts of documents are left out, to keep the page small; --queries 200 makes room for them."],
        )
    for at, (title, text) in texts.items():
        rows[at] += [title, text if len(text) <= length else f"{text[:length].rstrip()}…"]
    cut = sum(len(text) > length for _, text in texts.values())
    more = f" {TEXT} are shown where --queries or -k is smaller." if length < TEXT else ""
    return rows, apart, [f"Texts of {cut:,} documents are cut off after {length} characters.{more}"] if cut else []
