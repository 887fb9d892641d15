"""What unjudged documents leave undecided: how low and how high a difference of means could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from cranfield.comparison.joint.counted import SHARES, Firsts, Shared, Shares, Sums
from cranfield.comparison.joint.enumeration import Apart, Others
from cranfield.comparison.joint.gains import Gains
from cranfield.comparison.joint.holes import Holes
from cranfield.comparison.joint.method import Ends, Method
from cranfield.comparison.joint.precisions import Precisions
from cranfield.comparison.joint.stopping import Stopping
from cranfield.comparison.significance import SAME
from cranfield.errors import CranfieldError
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.completion import SUMS, cutoff_of, default_scale
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.scan.native import CORES
from cranfield.ranks.scan.parallel import in_parallel

BUDGET = 20_000_000  # for the bounds of one measure: a second or two

METHODS: dict[str, type[Method]] = {
    **dict.fromkeys(SUMS, Sums),
    **dict.fromkeys(("RR", "Success"), Firsts),
    **dict.fromkeys(SHARES, Shares),
    "nDCG": Gains,
    "ERR": Stopping,
    "AP": Precisions,
    "IDCG": Shared,
}


def estimates_unjudged(measure: Measure) -> bool:
    """Whether a measure allows for unjudged documents itself, by those of their stratum that were drawn and judged.

    If these documents were judged, its values could be anything from 0 to 1.
    """
    return measure.definition.table == "strata"


def measures_text(measure: Measure) -> bool:
    """Whether a measure counts characters, of which those around the judged passages are never judged."""
    return measure.definition.table == "passages"


class Reach(NamedTuple):
    """How low and how high a difference of means could be, whatever the unjudged documents turn out to be.

    Documents that one of the two runs retrieved may have any grade that occurs in the judgments, the same in both runs;
    documents that neither retrieved count as not relevant. `exact` says that there are grades for both ends; otherwise
    the true bounds may be narrower.
    """

    low: float
    high: float
    exact: bool

    def could_reverse(self, difference: float) -> bool:
        """Whether the other run could turn out better; of a difference of 0, whether it could be anything else."""
        if difference == 0:
            return self.low < 0 or self.high > 0
        return self.low < 0 if difference > 0 else self.high > 0

    def to_dict(self) -> dict[str, float | None]:
        """The ends for JSON, which has no infinite numbers: None where there is no end."""
        return {name: end if isfinite(end) else None for name, end in self._asdict().items()}


class Reaches:
    """The reach of every difference between some runs, by one measure or another.

    Both runs of a pair are judged alike, so they are bounded together. This takes the documents of their rankings,
    which are read again. Where that is not possible, as in an engine, each is bounded by itself, and the reach is wider
    than the truth. Where not even the ranks are known, as of a saved evaluation, there is none.

    pairs: which runs are compared, (baseline, run) by their places
    query_ids: the queries whose mean is compared
    """

    def __init__(
        self, evaluations: Sequence[Evaluation], pairs: Sequence[tuple[int, int]], query_ids: Sequence[str]
    ) -> None:
        self._evaluations = evaluations
        self._pairs = list(pairs)
        self._query_ids = tuple(query_ids)
        self._tables = {at: each._ranked().ranks for at, each in enumerate(evaluations) if each._has_ranks}
        unjudged = any(table.n_unjudged().any() for table in self._tables.values())
        read = in_parallel(lambda at: (at, _codes(evaluations[at])), self._tables, CORES) if unjudged else ()
        codes = dict(read)
        self._read = [at for at, known in codes.items() if known is not None]
        self._together = [at for at, pair in enumerate(pairs) if set(pair) <= set(self._read)]
        self._holes: Holes | None = None
        if self._together:
            place = {query: at for at, query in enumerate(self._tables[self._read[0]].query_ids)}
            number = {run: at for at, run in enumerate(self._read)}
            self._holes = Holes(
                [self._tables[run] for run in self._read],
                [known for known in codes.values() if known is not None],
                np.array([place[query] for query in query_ids], dtype=np.int64),
                [(number[run], number[baseline]) for baseline, run in (self._pairs[at] for at in self._together)],
            )

    def of(self, measure: Measure) -> list[Reach | None]:
        """The reach of the mean of run - baseline for each pair; None where it is not known."""
        found: list[Reach | None] = [None] * len(self._pairs)
        if all(each.policy.complete for each in self._evaluations):
            return [*self._fixed(measure)]
        if estimates_unjudged(measure) or measures_text(measure):
            return found
        apart = [at for at, pair in enumerate(self._pairs) if set(pair) <= set(self._tables)]
        if self._holes is not None:
            ends = self._joint(measure, self._holes)
            for at, reach in zip(self._together, _means(*ends), strict=True):
                found[at] = reach
            apart = [at for at in apart if found[at] is None]
        if apart:
            low, high = self._separate(measure, [*self._tables], self._unjudged_elsewhere())
            number = {run: at for at, run in enumerate(self._tables)}
            one, other = np.array([[number[run] for run in self._pairs[at]] for at in apart]).T
            fixed = low == high
            reaches = _means(low[other] - high[one], high[other] - low[one], fixed[one] & fixed[other])
            for at, reach in zip(apart, reaches, strict=True):
                found[at] = reach
        return found

    def _fixed(self, measure: Measure) -> list[Reach]:
        """Complete judgments leave nothing open."""
        values = [each.by_query(measure) for each in self._evaluations]
        columns = np.array([[each[query] for query in self._query_ids] for each in values])
        one, other = np.array(self._pairs).T
        known = columns[other] - columns[one]
        return _means(known, known, np.ones(known.shape, dtype=np.bool_))

    def _joint(self, measure: Measure, holes: Holes) -> Ends:
        """The bounds of each pair that is bounded together, on each query."""
        method = self._method(measure, holes)
        shape = len(self._together), len(self._query_ids)
        ends = Ends(np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.bool_))
        parts = holes.each(method.depths()[holes.queries])
        for part, found in in_parallel(lambda part: (part, method.ends(part.rows())), parts, CORES):
            for whole, some in zip(ends, found, strict=True):
                whole[part.pairs, part.queries] = some.reshape(-1, len(part.queries))
        return ends

    def _method(self, asked: Measure, holes: Holes) -> Method:
        measure = asked.replace(judged_only=False)  # in a completion, every document is judged
        tables = [self._tables[run] for run in self._read]
        scale = default_scale(measure, tables[0])
        work = BUDGET // max(len(self._together) * len(self._query_ids), 1)
        kind = METHODS.get(measure.definition.name, Others)
        if not kind.suits(measure, tables, scale):
            kind = Others
        if not issubclass(kind, Others):
            return kind(measure, tables, scale, work)
        shape = len(tables), len(tables[0])
        low, high, unjudged = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
        unjudged[:, holes.queries] = holes.digests(cutoff_of(measure))
        unseen = [dict(zip(self._query_ids, counts, strict=True)) for counts in holes.lacking().tolist()]
        low[:, holes.queries], high[:, holes.queries] = self._separate(asked, self._read, unseen)
        return kind(measure, tables, scale, work, Apart(unjudged, low, high))

    def _unjudged_elsewhere(self) -> list[dict[str, int]]:
        """For each run and query, how many unjudged documents another run has at most."""
        counts = {run: self._evaluations[run].unjudged() for run in self._tables}
        return [
            {
                query: max((counts[other].get(query, 0) for other in counts if other != run), default=0)
                for query in self._query_ids
            }
            for run in counts
        ]

    def _separate(
        self, measure: Measure, runs: Sequence[int], unseen: Sequence[Mapping[str, int]]
    ) -> tuple[Numbers, Numbers]:
        """For each run and query the lowest and highest value, whatever documents of the other runs turn out to be."""
        found = np.empty((2, len(runs), len(self._query_ids)))
        budget = BUDGET // len(runs)
        for row, (run, more) in enumerate(zip(runs, unseen, strict=True)):
            by_query = self._evaluations[run].bounds(measure, budget=budget, unseen=more).by_query
            found[:, row] = np.array([by_query[query] for query in self._query_ids]).reshape(-1, 2).T
        return found[0], found[1]


def _codes(evaluation: Evaluation) -> list[Integers] | None:
    """The documents of a run; None where they cannot be read again, such as from a file that is gone."""
    documents = evaluation._evidence.documents
    if evaluation.ranks is None or documents is None:
        return None
    try:
        return documents.codes(evaluation.ranks)
    except CranfieldError:
        return None


def _means(low: Numbers, high: Numbers, exact: Flags) -> list[Reach]:
    """The reach of the mean of each row; differences due to rounding count as 0."""
    ends = []
    for end in (low, high):
        mean = np.where(np.abs(end) < SAME, 0.0, end).mean(axis=1)
        ends.append(np.where(np.abs(mean) < SAME, 0.0, mean).tolist())
    return [Reach(*each) for each in zip(*ends, np.all(exact, axis=1).tolist(), strict=True)]
