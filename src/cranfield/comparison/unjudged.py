"""What unjudged documents leave undecided: how low and how high a difference of means could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from cranfield.comparison.joint.enumeration import Apart, Others
from cranfield.comparison.joint.gains import Gains
from cranfield.comparison.joint.holes import Holes, Part
from cranfield.comparison.joint.method import SHARES, Ends, Firsts, Method, Shared, Shares, Sums
from cranfield.comparison.joint.precisions import Precisions
from cranfield.comparison.joint.stopping import Stopping
from cranfield.evaluation.bounding import check_unseen
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.completion import SUMS, Scale, cutoff_of, scale_of
from cranfield.native import CORES
from cranfield.ranks.codes import Codes
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.run import EVERYTHING
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
    and so may, for each query, `unseen` documents that neither retrieved. All others count as not relevant. `exact`
    says that there are grades for both ends; otherwise the true bounds may be narrower.
    """

    low: float
    high: float
    exact: bool
    unseen: int = 0

    @property
    def documents(self) -> str:
        """Which documents may have any grade, in words."""
        others = f", and {self.unseen:,} for each query that they did not," if self.unseen else ""
        return f"unjudged documents the runs returned{others}"

    def could_reverse(self, difference: float) -> bool:
        """Whether the other run could turn out better; of a difference of 0, whether it could be anything else."""
        if difference == 0:
            return self.low < 0 or self.high > 0
        return self.low < 0 if difference > 0 else self.high > 0

    def to_dict(self) -> dict[str, float | None]:
        """The ends for JSON, which has no infinite numbers: None where there is no end."""
        return {name: end if isfinite(end) else None for name, end in self._asdict().items()}


def documents_wanted(measures: Sequence[Measure], grades: Numbers, judged: Integers, *, lengths: bool) -> int:
    """How many documents of each ranking must be known, so that two runs can be bounded together.

    Documents beneath a cutoff only count: each may be one that should have been found. Some measures need to know how
    many different ones two runs have, and so all documents. For others a few make all the difference, and any longer
    ranking has these: `Method.enough` says how many. Of the documents known, some may be judged, and as many as the
    cutoff may be above it in the one run, and in the other.

    grades: of all judgments; judged: how many documents of each query are judged
    lengths: whether the lengths of documents are known
    """
    depth = 0
    for asked in measures:
        if estimates_unjudged(asked) or measures_text(asked):
            continue
        measure = asked.replace(judged_only=False)  # in a completion, every document is judged
        cutoff, enough = cutoff_of(measure), _kind(measure, scale_of(measure, grades), lengths).enough(measure)
        if cutoff is None or enough is None:
            return EVERYTHING
        depth = max(depth, cutoff if not enough else 2 * cutoff + enough + int(judged.max(initial=0)))
    return depth


def _kind(measure: Measure, scale: Scale, lengths: bool) -> type[Method]:
    kind = METHODS.get(measure.definition.name, Others)
    return kind if kind.suits(measure, scale, lengths) else Others


class Reaches:
    """The reach of every difference between some runs, by one measure or another.

    Both runs of a pair are judged alike, so they are bounded together. This takes the documents of their rankings,
    which are read again if they were not wanted before. Where that is not possible, as in an engine, each is bounded by
    itself, and the reach is wider than the truth. There is none where not even the ranks are known, as of a saved
    evaluation, or where values are means over orders of ties.

    pairs: which runs are compared, (baseline, run) by their places
    query_ids: the queries whose mean is compared, by the weights of the evaluations
    measures: those that will be asked for; without them, any may be
    unseen: how many documents of each query that no run retrieved may have any grade, too
    """

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        pairs: Sequence[tuple[int, int]],
        query_ids: Sequence[str],
        measures: Sequence[Measure] | None = None,
        unseen: int = 0,
    ) -> None:
        for run in evaluations:
            check_unseen(run, unseen)
        self._unseen = unseen
        self._evaluations = evaluations
        self._pairs = list(pairs)
        self._query_ids = tuple(query_ids)
        weights = evaluations[0].weights
        self._weight = None if weights is None else weights.over(query_ids).column(query_ids)
        ranked = [at for at, run in enumerate(evaluations) if run._has_ranks and run.policy.ties != "expected"]
        self._tables = {at: evaluations[at]._ranked().ranks for at in ranked}
        unjudged = unseen > 0 or any(table.n_unjudged().any() for table in self._tables.values())
        depth = EVERYTHING if measures is None else self._wanted(measures)
        read = in_parallel(lambda at: (at, _codes(evaluations[at], depth)), self._tables, CORES) if unjudged else ()
        codes = {at: its_codes for at, its_codes in read if its_codes is not None}
        self._read = list(codes)
        self._together = [at for at, pair in enumerate(pairs) if set(pair) <= set(self._read)]
        self._holes: Holes | None = None
        if self._together:
            place = {query: at for at, query in enumerate(self._tables[self._read[0]].query_ids)}
            number = {run: at for at, run in enumerate(self._read)}
            self._holes = Holes(
                [self._tables[run] for run in self._read],
                [*codes.values()],
                np.array([place[query] for query in query_ids], dtype=np.int64),
                [(number[run], number[baseline]) for baseline, run in (self._pairs[at] for at in self._together)],
                unseen,
            )

    def _wanted(self, measures: Sequence[Measure]) -> int:
        """How many documents of each ranking the measures need."""
        if not self._tables:
            return 0
        table = next(iter(self._tables.values()))
        judged, lengths = np.diff(table.judged_first), table.lengths is not None
        return documents_wanted(measures, table.judged_grades, judged, lengths=lengths)

    def of(self, measure: Measure) -> list[Reach | None]:
        """The reach of the mean of run - baseline for each pair; None where it is not known."""
        reaches: list[Reach | None] = [None] * len(self._pairs)
        if all(run.policy.complete for run in self._evaluations):
            return [*self._fixed(measure)]
        if estimates_unjudged(measure) or measures_text(measure):
            return reaches
        apart = [at for at, pair in enumerate(self._pairs) if set(pair) <= set(self._tables)]
        if self._holes is not None:
            ends = self._joint(measure, self._holes)
            for at, reach in zip(self._together, self._means(*ends), strict=True):
                reaches[at] = reach
            apart = [at for at in apart if reaches[at] is None]
        if apart:
            low, high = self._separate(measure, [*self._tables], self._unjudged_elsewhere())
            number = {run: at for at, run in enumerate(self._tables)}
            one, other = np.array([[number[run] for run in self._pairs[at]] for at in apart]).T
            fixed = low == high
            alone = self._means(low[other] - high[one], high[other] - low[one], fixed[one] & fixed[other])
            for at, reach in zip(apart, alone, strict=True):
                reaches[at] = reach
        return reaches

    def _fixed(self, measure: Measure) -> list[Reach]:
        """Complete judgments leave nothing open."""
        values = [run.by_query(measure) for run in self._evaluations]
        columns = np.array([[by_query[query] for query in self._query_ids] for by_query in values])
        one, other = np.array(self._pairs).T
        known = columns[other] - columns[one]
        return self._means(known, known, np.ones(known.shape, dtype=np.bool_))

    def _joint(self, measure: Measure, holes: Holes) -> Ends:
        """The bounds of each pair that is bounded together, on each query."""
        within = self._wanted([measure])
        method = self._method(measure, holes)

        def work(part: Part) -> list[tuple[slice, Integers, Ends]]:
            return [(pairs, part.places, method.ends(rows)) for pairs, rows in holes.rows(part, within)]

        shape = len(self._together), len(self._query_ids)
        ends = Ends(np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.bool_))
        for results in in_parallel(work, holes.parts(method.depths(holes), within), CORES):
            for pairs, places, some in results:
                for whole, column in zip(ends, some, strict=True):
                    whole[pairs, places] = column.reshape(-1, len(places))
        return ends

    def _method(self, asked: Measure, holes: Holes) -> Method:
        measure = asked.replace(judged_only=False)  # in a completion, every document is judged
        tables = [self._tables[run] for run in self._read]
        scale = scale_of(measure, tables[0].judged_grades)
        work = BUDGET // max(len(self._together) * len(self._query_ids), 1)
        kind = _kind(measure, scale, tables[0].lengths is not None)
        if not issubclass(kind, Others):
            return kind(measure, tables, scale, work)
        shape = len(tables), len(tables[0])
        low, high, digest = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
        digest[:, holes.queries] = holes.digests(cutoff_of(measure))
        unseen = [dict(zip(self._query_ids, counts, strict=True)) for counts in holes.lacking().tolist()]
        low[:, holes.queries], high[:, holes.queries] = self._separate(asked, self._read, unseen)
        return kind(measure, tables, scale, work, Apart(digest, low, high))

    def _unjudged_elsewhere(self) -> list[dict[str, int]]:
        """For each run and query, how many unjudged documents another run has at most, and unseen ones."""
        counts = {run: self._evaluations[run].unjudged() for run in self._tables}
        return [
            {
                query: max((counts[other].get(query, 0) for other in counts if other != run), default=0) + self._unseen
                for query in self._query_ids
            }
            for run in counts
        ]

    def _separate(
        self, measure: Measure, runs: Sequence[int], unseen: Sequence[Mapping[str, int]]
    ) -> tuple[Numbers, Numbers]:
        """For each run and query the lowest and highest value, whatever documents of the other runs turn out to be."""

        def ends(run_and_unseen: tuple[int, Mapping[str, int]]) -> Numbers:
            run, more = run_and_unseen
            by_query = self._evaluations[run].bounds(measure, budget=BUDGET // len(runs), unseen=more).by_query
            return np.array([by_query[query] for query in self._query_ids]).reshape(-1, 2)

        low, high = np.stack([*in_parallel(ends, zip(runs, unseen, strict=True), CORES)]).transpose(2, 0, 1)
        return low, high

    def _means(self, low: Numbers, high: Numbers, exact: Flags) -> list[Reach]:
        """The reach of the mean of each row; differences due to rounding count as 0."""
        ends = []
        for end in (low, high):
            mean = np.average(np.where(np.abs(end) < SAME, 0.0, end), axis=1, weights=self._weight)
            ends.append(np.where(np.abs(mean) < SAME, 0.0, mean).tolist())
        attained = np.all(exact, axis=1).tolist()
        return [Reach(*found, self._unseen) for found in zip(ends[0], ends[1], attained, strict=True)]


def _codes(evaluation: Evaluation, depth: int) -> Codes | None:
    """The first documents of a run; None where they are not known, such as of a file that is gone."""
    reading = evaluation._evidence.reading
    return None if evaluation.ranks is None or reading is None else reading.codes(evaluation.ranks, depth)
