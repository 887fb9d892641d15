"""Differences within segments of the queries, and whether they differ between segments.

    d, e        the mean difference of a pair of runs in a segment of n queries, and its standard error
    scale       s² = e² + v / 10n, where v is the mean over the pairs of their variance within segments
    interval    d ± c · s, where c is the (1 - alpha) quantile of T* = max |d* - d| / s* over all pairs and segments
    interaction Q = Σ (d - m)² / s² over the segments of a pair, m the mean of d weighted by 1 / s²; its p-value is the
                share of draws whose Q*, that of d* - d and s*, is at least Q

Stars mark queries drawn again, within each segment. It is the procedure of simultaneous.py, of which segments are a
harder case: they have few queries, and vary unequally. t intervals miss too often there, and a permutation of the
segments finds effects that do not exist, even of studentised differences. bench/segments.py says how often this errs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.comparison.differences import p_text, signed
from cranfield.comparison.families import compared_pairs
from cranfield.comparison.significance import Settings
from cranfield.comparison.simultaneous import DRAWS, FLOOR, Simultaneous, chance, draws
from cranfield.drawing import Written, as_html
from cranfield.errors import ComparisonError, need
from cranfield.evaluation.estimating import Columns, Estimates, estimated, estimator_of
from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure, known_measure
from cranfield.ranks.columns import Flags, Numbers
from cranfield.words import count, listed

if TYPE_CHECKING:
    from cranfield.comparison.conclusions import Comparison

ENOUGH = 20  # queries of a segment, from which on a claim about it holds
FINEST = 1 / (1 + DRAWS)  # p-value that can be told from smaller ones
DIFFERING = 3  # of these, queries on which the two runs differ


@dataclass(frozen=True, slots=True)
class SegmentDifference:
    """The difference run - baseline of a measure within a segment.

    queries: how many the segment has; better, same, worse: on how many the run is better, the same, or worse
    baseline_mean, run_mean: of the segment
    low, high, adjusted: the interval and the p-value, for all pairs and segments of the measure at once; None where the
        segment has too few queries for a claim
    """

    measure: str
    baseline: str
    run: str
    segment: str
    queries: int
    better: int
    same: int
    worse: int
    baseline_mean: float
    run_mean: float
    difference: float
    low: float | None
    high: float | None
    adjusted: float | None
    alpha: float
    lower_is_better: bool

    def __repr__(self) -> str:
        return f"<SegmentDifference: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """The difference in words."""
        where = f"{self.measure} in {self.segment} ({count(self.queries, 'query', 'queries')})"
        text = f"{self.run} vs {self.baseline}, {where}: {signed(self.difference)}"
        if self.adjusted is None:
            return f"{text}, too few queries"
        level, p = f"{100 * (1 - self.alpha):g}%", p_text(self.adjusted, self.alpha, FINEST)
        return f"{text} ({level} interval {self.span}), p {p}"

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted <= self.alpha

    @property
    def verdict(self) -> str:
        """Whether the run is better in this segment, in words."""
        if self.adjusted is None:
            return "too few queries"
        if not self.significant:
            return "no significant difference"
        return f"significantly {'better' if (self.difference > 0) != self.lower_is_better else 'worse'}"

    @property
    def span(self) -> str:
        """The interval in words; nothing where there is none."""
        return "" if self.low is None or self.high is None else f"{signed(self.low)} to {signed(self.high)}"

    def seen_from(self, run: str) -> SegmentDifference:
        """The same from the side of one of the two runs: reversed, if that one was the baseline."""
        if run == self.run:
            return self
        return replace(
            self,
            baseline=self.run,
            run=self.baseline,
            better=self.worse,
            worse=self.better,
            baseline_mean=self.run_mean,
            run_mean=self.baseline_mean,
            difference=0.0 - self.difference,
            low=None if self.high is None else 0.0 - self.high,
            high=None if self.low is None else 0.0 - self.low,
        )

    def to_dict(self) -> dict[str, Any]:
        """The difference as a plain dict, ready for JSON."""
        # JSON has no infinite numbers: None where an interval has no end.
        low, high = (None if end is None or not isfinite(end) else end for end in (self.low, self.high))
        return {**asdict(self), "low": low, "high": high, "significant": self.significant, "verdict": self.verdict}


class Interaction(NamedTuple):
    """Whether the difference of two runs is the same in all segments.

    segments: how many have enough queries
    p, adjusted: the p-value, alone and corrected for all pairs; None with fewer than two such segments
    """

    measure: str
    baseline: str
    run: str
    segments: int
    p: float | None
    adjusted: float | None
    alpha: float

    def __repr__(self) -> str:
        return f"<Interaction: {self.sentence}>"

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted <= self.alpha

    @property
    def finding(self) -> str:
        """In words, without the names of the runs."""
        if self.adjusted is None:
            return "fewer than two segments have enough queries to tell whether the effect differs"
        p = f"p {p_text(self.adjusted, self.alpha, FINEST)}"
        if self.significant:
            return f"the effect differs between segments ({p})"
        return f"no sign that the effect differs between segments ({p})"

    @property
    def sentence(self) -> str:
        return f"{self.run} vs {self.baseline}, {self.measure}: {self.finding}"

    def to_dict(self) -> dict[str, Any]:
        """The test as a plain dict, ready for JSON."""
        return {**self._asdict(), "significant": self.significant, "sentence": self.sentence}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SegmentComparison:
    """The result of `Comparison.by_segment`: the differences within segments, and whether they differ between them.

    queries: how many each segment has, by name
    left_out: how many queries have no segment
    differences: a `SegmentDifference` for each measure, pair and segment
    interactions: an `Interaction` for each measure and pair
    weights: of the queries, by which all means are; None where all count alike

    A claim about a segment needs 20 queries, or weights as precise as 20, and at least 3 queries on which the runs
    differ. With fewer, a segment has its values but no interval and no p-value.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(48)}
    >>> old = {str(q): [*"bcd"[: 1 + q % 3], "a"] for q in range(48)}
    >>> new = {str(q): [*"bcd"[: q % 3 if q < 24 else 1 + (q + 1) % 3], "a"] for q in range(48)}
    >>> segments = {str(q): "short" if q < 24 else "long" for q in range(46)}
    >>> found = compare(qrels, {"old": old, "new": new}, "RR").by_segment(segments)
    >>> found
    <SegmentComparison of old, new by RR: long (22 queries), short (24 queries)>
    >>> print(found)
    new vs old, RR in long (22 queries): -0.008 (95% interval -0.103 to +0.088), p = 0.977
    new vs old, RR in short (24 queries): +0.250 (95% interval +0.158 to +0.342), p < 0.001
    new vs old, RR: the effect differs between segments (p < 0.001)
    2 queries without a segment are left out
    >>> [(each.segment, each.verdict) for each in found.of("RR", "new", "old")]
    [('long', 'no significant difference'), ('short', 'significantly better')]
    >>> found.interaction("RR", "new", "old").segments, found.to_dict()["queries"], found.to_json()[:13]
    (2, {'long': 22, 'short': 24}, '{\\n  "queries"')
    >>> list(found.to_pandas().columns)[:5]
    ['measure', 'baseline', 'run', 'segment', 'queries']
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    queries: dict[str, int]
    left_out: int
    alpha: float
    differences: tuple[SegmentDifference, ...]
    interactions: tuple[Interaction, ...]
    weights: Weights | None = None

    def __iter__(self) -> Iterator[SegmentDifference]:
        return iter(self.differences)

    def __repr__(self) -> str:
        segments = listed([f"{name} ({count(n, 'query', 'queries')})" for name, n in self.queries.items()])
        measures = listed([measure.name for measure in self.measures])
        return f"<SegmentComparison of {listed(self.runs)} by {measures}: {segments}>"

    def __str__(self) -> str:
        lines = [each.sentence for each in self.differences] + [each.sentence for each in self.interactions]
        lines += [self.weights.sentence] if self.weights else []
        if self.left_out:
            are = "is" if self.left_out == 1 else "are"
            lines.append(f"{count(self.left_out, 'query', 'queries')} without a segment {are} left out")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_html("segments", self)

    def of(self, measure: str | Measure, run: str, baseline: str) -> list[SegmentDifference]:
        """The differences of two runs by a measure, whichever of them was taken as the baseline.

        measure: any of its names, or a `Measure`.
        run, baseline: the names of the runs.
        Returns run - baseline in each segment, in the order of their names.
        """
        name = known_measure(measure, self.measures).name
        pair = {run, baseline}
        known = [each for each in self.differences if each.measure == name and {each.run, each.baseline} == pair]
        if not known:
            raise ComparisonError(f"{name}: {run} and {baseline} were not compared.")
        return [each.seen_from(run) for each in known]

    def interaction(self, measure: str | Measure, run: str, baseline: str) -> Interaction:
        """Whether the difference of two runs differs between segments.

        measure: any of its names, or a `Measure`.
        run, baseline: the names of the runs, in any order.
        Returns an `Interaction`.
        """
        name = known_measure(measure, self.measures).name
        for each in self.interactions:
            if each.measure == name and {each.run, each.baseline} == {run, baseline}:
                return each._replace(run=run, baseline=baseline)
        raise ComparisonError(f"{name}: {run} and {baseline} were not compared.")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {
            "queries": self.queries,
            "queries_left_out": self.left_out,
            "alpha": self.alpha,
            **({"weights": self.weights.to_dict()} if self.weights else {}),
            "differences": [each.to_dict() for each in self.differences],
            "interactions": [each.to_dict() for each in self.interactions],
        }

    to_json = Written.to_json

    def to_pandas(self) -> Any:
        """The differences as a table of pandas, a row for each measure, pair and segment."""
        rows = [each.to_dict() for each in self.differences]
        return need("pandas", purpose="SegmentComparison.to_pandas").DataFrame(rows)


def compared_by_segment(comparison: Comparison, segments: Mapping[str, str]) -> SegmentComparison:
    """See `Comparison.by_segment`."""
    comparison.evaluations[0]._refuse_corrected("segments")
    comparison.evaluations[0]._refuse_parts(comparison.measures, "segments")
    values, pairs = comparison._paired, compared_pairs(comparison.runs, comparison.baseline)
    known = [segments.get(query) for query in values.query_ids]
    rows: dict[str, list[int]] = {name: [] for name in sorted({name for name in known if name is not None})}
    for at, name in enumerate(known):
        if name is not None:
            rows[name].append(at)
    if not rows:
        raise ComparisonError(
            f"none of the {count(len(known), 'query', 'queries')} has a segment.",
            hint=f"give {{query: segment}} by the ids of the queries, such as '{values.query_ids[0]}'",
        )
    settings = Settings(comparison.alpha, comparison.permutations, comparison.seed)
    differences: list[SegmentDifference] = []
    interactions: list[Interaction] = []
    families = [comparison.measures] if comparison.family == "all" else [[measure] for measure in comparison.measures]
    for measures in families:
        contrasts = [values.contrast(measure, pairs).values for measure in measures]
        inside = [[contrast[its] for contrast in contrasts] for its in rows.values()]
        ids = [[values.query_ids[at] for at in its] for its in rows.values()]
        weights = [None if values.weights is None else values.weights.column(its) for its in ids]
        groups = [None if values.weights is None else values.weights.group(its) for its in ids]
        drawn = [None if values.weights is None else values.weights.probabilities(its) for its in ids]
        columns = [
            Columns(np.hstack(parts), weight, group, probability=chance_of)
            for parts, weight, group, chance_of in zip(inside, weights, groups, drawn, strict=True)
        ]
        tested = segments_tested(columns, len(pairs), settings)
        for at, (measure, (baseline, run)) in enumerate((measure, pair) for measure in measures for pair in pairs):
            names = measure.name, comparison.runs[baseline], comparison.runs[run]
            lower, (least, most) = measure.definition.lower_is_better, measure.definition.range
            for place, (segment, its) in enumerate(rows.items()):
                column = inside[place][at // len(pairs)][:, at % len(pairs)]
                up, down = int((column > 0).sum()), int((column < 0).sum())
                better, worse = (down, up) if lower else (up, down)
                means = np.average(values.columns[measure][its], axis=0, weights=weights[place])
                differences.append(
                    SegmentDifference(
                        *names,
                        segment,
                        len(its),
                        better,
                        len(its) - up - down,
                        worse,
                        float(means[baseline]),
                        float(means[run]),
                        float(tested.value[place, at]),
                        *tested.claim(place, at, most - least),
                        comparison.alpha,
                        lower,
                    )
                )
            interactions.append(Interaction(*names, *tested.interaction(at), comparison.alpha))
    sizes = {name: len(its) for name, its in rows.items()}
    left_out = len(known) - sum(sizes.values())
    return SegmentComparison(
        comparison.runs,
        comparison.measures,
        sizes,
        left_out,
        comparison.alpha,
        tuple(differences),
        tuple(interactions),
        values.weights,
    )


class SegmentTests(NamedTuple):
    """The results of a family, a row for each segment and a column for each measure and pair.

    claimed: where there are enough queries for a claim
    adjusted, half: the p-values, and half the length of each interval
    p, together: of the interaction of each column, alone and corrected for all columns
    """

    value: Numbers
    claimed: Flags
    adjusted: Numbers
    half: Numbers
    p: Numbers
    together: Numbers

    def claim(self, segment: int, column: int, widest: float) -> tuple[float | None, float | None, float | None]:
        """The ends of an interval, and its p-value."""
        if not self.claimed[segment, column]:
            return None, None, None
        value, half = float(self.value[segment, column]), float(self.half[segment, column])
        return max(value - half, -widest), min(value + half, widest), float(self.adjusted[segment, column])

    def interaction(self, column: int) -> tuple[int, float | None, float | None]:
        segments = int(self.claimed[:, column].sum())
        if segments < 2:
            return segments, None, None
        return segments, float(self.p[column]), float(self.together[column])


def segments_tested(segments: Sequence[Columns], pairs: int, settings: Settings) -> SegmentTests:
    """Test a family: of each segment a table, a row for each query, and for each measure a column for each pair."""
    estimates = [estimated(segment) for segment in segments]
    enough = np.array(
        [
            (its.effective >= ENOUGH) & ((segment.values != 0).sum(axis=0) >= DIFFERING)
            for segment, its in zip(segments, estimates, strict=True)
        ]
    )
    value, floor = np.array([each.value for each in estimates]), _floor(estimates, enough, pairs)
    scale = np.where(enough, np.sqrt(np.array([each.error for each in estimates]) ** 2 + floor), 0.0)
    claimed = scale > 0
    times, generator = draws(settings), chance(settings)
    largest, sums = np.zeros(times), np.zeros((3, times, value.shape[1]))
    for place in np.flatnonzero(claimed.any(axis=1)).tolist():
        done = 0
        for means, errors in estimator_of(segments[place]).resample(segments[place], generator, times):
            drawn = slice(done, done + len(means))
            shift, variance = means - value[place], errors**2 + floor[place]
            weight = np.divide(1.0, variance, out=np.zeros_like(variance), where=claimed[place] & (variance > 0))
            largest[drawn] = np.maximum(largest[drawn], (np.abs(shift) * np.sqrt(weight)).max(axis=1))
            sums[:, drawn] += weight, weight * shift, weight * shift**2
            done += len(means)
    largest.sort()
    family = Simultaneous(scale.reshape(-1), largest)
    weight = np.divide(1.0, scale**2, out=np.zeros_like(scale), where=claimed)
    apart = _between(np.array([weight, weight * value, weight * value**2]).sum(axis=1))
    apart_by_chance = np.where(claimed.sum(axis=0) > 1, _between(sums), 0.0)
    return SegmentTests(
        value,
        claimed,
        family.differs(value.reshape(-1)).reshape(scale.shape),
        family.half(settings.alpha).reshape(scale.shape),
        _share(apart_by_chance, apart),
        _share(apart_by_chance.max(axis=1, keepdims=True), apart),
    )


def _floor(estimates: Sequence[Estimates], enough: Flags, pairs: int) -> Numbers:
    """The least variance of each mean: a few queries that happen to be alike do not make it certain."""
    rows = np.array([[each.effective] for each in estimates], dtype=np.float64)
    freedom = enough * (rows - 1)
    squares = (freedom * np.array([each.spread for each in estimates]) ** 2).sum(axis=0)
    variance = np.divide(squares, freedom.sum(axis=0), out=np.zeros_like(squares), where=enough.any(axis=0))
    of_measure = variance.reshape(-1, pairs).sum(axis=1) / np.maximum(
        enough.any(axis=0).reshape(-1, pairs).sum(axis=1), 1
    )
    floor: Numbers = FLOOR * of_measure.repeat(pairs) / rows
    return floor


def _between(sums: Numbers) -> Numbers:
    """Σ w (d - m)², from Σ w, Σ w d and Σ w d²."""
    weight, first, second = sums
    square = np.divide(first**2, weight, out=np.zeros_like(weight), where=weight > 0)
    between: Numbers = np.maximum(second - square, 0.0)
    return between


def _share(drawn: Numbers, observed: Numbers) -> Numbers:
    """The share of draws (rows) that are at least as large as what was observed, itself counted as one of them."""
    share: Numbers = (1 + (drawn >= observed * (1 - 1e-9)).sum(axis=0)) / (1 + len(drawn))
    return share
