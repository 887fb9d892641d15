"""What runs have for the queries of the page, as columns of numbers: documents, reasons and tags are named once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from cranfield.evaluation.query_facts import QueryFacts, fact_rows, query_facts
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.report.encoding import Encoded, number_list, safe_json
from cranfield.report.relevant import RelevantDocuments, misordered

TopDocuments = dict[str, list[str]]  # documents by query

LOW = 3  # a first relevant document below this rank is ranked too low
PARTS = 10_000  # of 1, which values down to each rank are counted in
EXACT = 2**53  # smaller numbers are written as integers
LEFT_OUT = "not in this run, and left out"


class Numbering(defaultdict[Any, int]):
    """The numbers of things, from 0 as they come."""

    def __init__(self) -> None:
        super().__init__(self.__len__)


class ShownRankings:
    """The rankings of one run after the other, for queries that are the same in all of them.

    documents, reasons, tags: their numbers, as far as they have come
    shown: of each query the numbers of the documents that some run has among its first
    """

    def __init__(self, queries: Sequence[str], measure: Measure, relevant: RelevantDocuments) -> None:
        self.queries, self.measure, self.relevant, self.scope = queries, measure, relevant, Scope.of(measure)
        self.documents, self.reasons, self.tags = Numbering(), Numbering(), Numbering()
        self.shown: list[set[int]] = [set() for _ in queries]
        self._by_facts: dict[tuple[int, ...], tuple[str, tuple[str, ...]]] = {}

    def encoded(self, evaluation: Evaluation, first: TopDocuments | None, steps: Sequence[Numbers]) -> Encoded:
        """The columns of a run: its first documents, or None; the ranks of the relevant ones, or None; reasons; tags;
        and the values of each family down to each rank, in ten-thousandths.

        A column with any number of values for a query is a pair: all of them, and where those of each query start.

        first: the documents by query; None where they are not known
        steps: of each family the values down to each rank (rows), for the queries that were measured (columns)
        """
        tops = [(first or {}).get(query, []) for query in self.queries]
        documents, starts = [*map(self.documents.__getitem__, chain(*tops))], offsets(map(len, tops))
        for shown, (start, stop) in zip(self.shown, pairwise(starts.tolist()), strict=True):
            shown.update(documents[start:stop])
        place = {query: at for at, query in enumerate(evaluation.query_ids)}
        places = [place.get(query) for query in self.queries]
        ranked = self.relevant.ranked(evaluation)
        reasons, tags = self._told(evaluation, places, [()] * len(places) if ranked is None else ranked.grades)
        measured = np.array([at is not None for at in places], dtype=np.bool_)
        columns = (
            "null" if first is None else _ragged(safe_json(documents), starts),
            "null" if ranked is None else _ragged(number_list(ranked.ranks), self.relevant.first),
            safe_json(reasons),
            safe_json(tags),
            _steps(steps, np.diff(starts) * measured, measured),
        )
        return Encoded(f"[{','.join(columns)}]")

    def _told(
        self, evaluation: Evaluation, places: Sequence[int | None], grades: Sequence[Sequence[float]]
    ) -> tuple[list[int], list[int]]:
        """The reason and the tags of each query, given its place in the run, and the grades in the order of ranks."""
        known = evaluation.facts(self.measure)
        told = replace(known, deeper=np.where(known.found > 0, 0, known.deeper))  # only where nothing was found
        facts = fact_rows(told)
        reasons, tags = [], []
        for at, its_grades in zip(places, grades, strict=True):
            reason, why = (LEFT_OUT, ()) if at is None else self._known(facts[at])
            reasons.append(self.reasons[reason])
            tags.append(self.tags[why if at is None else (*why, *misordered(its_grades, self.scope))])
        return reasons, tags

    def _known(self, facts: tuple[int, ...]) -> tuple[str, tuple[str, ...]]:
        """The reason and the tags of all queries with the same facts."""
        if facts not in self._by_facts:
            query = query_facts(facts, self.scope)
            self._by_facts[facts] = query.reason, why(query)
        return self._by_facts[facts]


def why(facts: QueryFacts) -> tuple[str, ...]:
    """What went wrong with a query, in the words that the page filters by."""
    if not facts.relevant:
        return ("no relevant document is judged",)
    found = []
    if not facts.found and not facts.deeper:
        found.append("nothing relevant retrieved")
    elif facts.first is None or facts.first > LOW:
        found.append("ranked too low")
    seen = facts.retrieved if facts.cutoff is None else min(facts.retrieved, facts.cutoff)
    if facts.unjudged * 2 > seen:
        found.append("mostly unjudged")
    return tuple(found)


def _steps(families: Sequence[Numbers], lengths: Integers, measured: Flags) -> str:
    """The values of each query down to each of its ranks, one family after the other, in ten-thousandths."""
    if not families:
        return _ragged("[]", offsets(0 * lengths))
    values = np.stack(families).transpose(2, 0, 1)
    shown = np.arange(values.shape[2]) < lengths[measured][:, None]
    parts = np.rint(values[np.broadcast_to(shown[:, None], values.shape)] * PARTS)
    exact = np.abs(parts).max(initial=0) < EXACT
    text = number_list(parts.astype(np.int64)) if exact else safe_json(parts.tolist())
    return _ragged(text, offsets(lengths * len(families)))


def _ragged(values: str, starts: Integers) -> str:
    return f"[{values},{number_list(starts)}]"
