"""What happens within groups of queries: repeats that come out differently, variants that find other documents.

value of a group      x_g = Σ_j s_j x_gj, s_j the shares of its members; its interval by t over its members
variance of x_g       by the estimator of the house: G times the squared error of the mean
of it within groups   v_g = Σ_j s_j² (x_gj - x_g)² / (1 - Σ_j s_j²), averaged over the groups of several members; of
                      repeats of two runs, which share nothing, the sum of those of the runs; of variants, of which
                      both runs get the same, that of their differences
improved              how many groups are better when members are drawn again within each group, 2.5% to 97.5%
worst of a group      the mean over groups of the lowest value of a member (robustness@k of mteb)
consistency           the mean rank-biased overlap of the rankings of two members of a group
p-MRR                 of a document that is relevant to the query that a group is named after, and not to a changed
                      one, at the ranks r0 and r1 (one below the end where it is not retrieved): r1 / r0 - 1 where
                      r0 ≥ r1, and 1 - r0 / r1 otherwise; the mean over documents, then over changed queries
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import nan
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.order_agreement import rbo
from cranfield.errors import ComparisonError
from cranfield.evaluation.estimating import SAME, Columns, estimated
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.t_distribution import exceeded_with
from cranfield.evaluation.weighting import Weights, by_group
from cranfield.measures import Measure
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.grades import reaches
from cranfield.words import count, percent

DEPTH = 10  # documents of a ranking whose overlap is looked at
DRAWS = 2_000
ALPHA = 0.05


class GroupValue(NamedTuple):
    """The value of a group; low, high: its interval over members, None where it has only one."""

    name: str
    queries: int
    value: float
    low: float | None
    high: float | None
    worst: float
    consistency: float | None


@dataclass(frozen=True, slots=True)
class WithinGroups:
    """The result of `within_groups`: how values and rankings differ within groups of queries, for one run.

    groups, queries: how many there are, and how many queries they have
    variance: of the values of groups; within: what of it comes from within groups, None if none has two members
    worst: the mean of the worst value of each group; perfect: the share of groups of which all members reach the best
        value that there is
    consistency: the mean overlap of the first ten documents of members; None where rankings are not known
    p_mrr: how ranks follow changed queries, from -1 to 1; None where judgments have nothing of the kind
    by_group: a `GroupValue` for each group

    >>> from cranfield import evaluate, within_groups
    >>> qrels, run = {"q": {"a": 1}}, {"q#1": ["a", "b"], "q#2": ["b", "a"]}
    >>> found = within_groups(evaluate(qrels, run, "RR", groups={"q#1": "q", "q#2": "q"}))
    >>> found.value, found.worst, found.perfect, round(found.consistency, 3), found.noise, found.p_mrr
    (0.75, 0.5, 0.0, 0.9, None, None)
    >>> found.by_group[0].name, found.groups, found.queries, found.to_dict()["within"]
    ('q', 1, 2, 0.0625)
    """

    run: str
    measure: str
    groups: int
    queries: int
    value: float
    variance: float
    within: float | None
    worst: float
    perfect: float
    consistency: float | None
    p_mrr: float | None
    by_group: tuple[GroupValue, ...]

    def __repr__(self) -> str:
        return f"<WithinGroups of {self.run} by {self.measure}: {count(self.groups, 'group')}, worst {self.worst:.4f}>"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {**asdict(self), "noise": self.noise, "by_group": [group._asdict() for group in self.by_group]}

    @property
    def noise(self) -> float | None:
        """The share of the variance that comes from within groups, at most 1."""
        return _share(self.within, self.variance)


@dataclass(frozen=True, slots=True)
class GroupNoise:
    """The result of `Comparison.within_groups`: what repeats or variants of queries leave open about a difference.

    groups: how many there are
    variance: of the differences of groups; within: what of it comes from within groups, None if none has two members
    independent: whether members are repeats, which two runs do not share
    better, worse: of groups, and their 2.5th and 97.5th percentile when members are drawn again within each

    >>> from cranfield import compare
    >>> groups = {f"{q}#{n}": str(q) for q in range(3) for n in (1, 2)}
    >>> one, other = ({query: ["a"] if query in right else ["b"] for query in groups} for right in ("0#1", groups))
    >>> found = compare({str(q): {"a": 1} for q in range(3)}, {"one": one, "other": other}, "P@1", groups=groups)
    >>> noise = found.within_groups("P@1", "other", "one")
    >>> noise.better, noise.independent, noise.noise, noise.sentence[:56], noise.to_dict()["worse"]
    (3, True, 1.0, 'if repeats were drawn again: 2–3 of 3 groups better, 0 w', 0)
    """

    measure: str
    baseline: str
    run: str
    groups: int
    variance: float
    within: float | None
    independent: bool
    better: int
    better_low: int
    better_high: int
    worse: int
    worse_low: int
    worse_high: int

    @property
    def noise(self) -> float | None:
        """The share of the variance that comes from within groups, at most 1."""
        return _share(self.within, self.variance)

    @property
    def sentence(self) -> str:
        """In words: which part is noise, and how many groups would be better another time."""
        drawn = "repeats" if self.independent else "variants"
        better = f"{_span(self.better_low, self.better_high)} of {self.groups} groups better"
        again = f"if {drawn} were drawn again: {better}"
        text = f"{again}, {_span(self.worse_low, self.worse_high)} worse"
        return text if self.noise is None else f"{text}; {percent(self.noise)} of the variance is noise within groups"

    def __repr__(self) -> str:
        return f"<GroupNoise of {self.run} vs {self.baseline} by {self.measure}: {self.sentence}>"

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {**asdict(self), "noise": self.noise}


def within_groups(
    evaluation: Evaluation, measure: str | Measure | None = None, *, groups: Any = None, depth: int = DEPTH
) -> WithinGroups:
    """How the values and the rankings of a run differ within groups of queries.

    evaluation: of the run, with groups of queries.
    measure: any of its names, or a `Measure`; by default the first that was measured.
    groups: {query: group}, or a file of both; by default those of the evaluation.
    depth: how many documents of each ranking are compared; 0 compares none, and reads nothing again.
    Returns a `WithinGroups`.

    >>> from cranfield import evaluate
    >>> qrels = {str(q): {"a": 1} for q in range(4)}
    >>> run = {"0": ["a", "b"], "1": ["b", "a"], "2": ["a", "c"], "3": ["a", "c"]}
    >>> result = evaluate(qrels, run, "RR", groups={"0": "x", "1": "x", "2": "y", "3": "y"})
    >>> found = within_groups(result)
    >>> found, found.perfect, found.by_group[0].worst, found.noise
    (<WithinGroups of the run by RR: 2 groups, worst 0.7500>, 0.5, 0.5, 1.0)
    """
    wanted = evaluation.measures[0] if measure is None else evaluation._find(measure)
    if groups is not None:
        evaluation = evaluation.weighted(Weights.read(evaluation.weights, groups))
    weights = evaluation.weights
    group = None if weights is None else weights.group(evaluation.query_ids)
    if weights is None or group is None:
        raise ComparisonError(f"{evaluation.run} has no groups of queries.", hint="give groups, as {query: group}")
    values = evaluation.column(wanted)[:, None]
    units = by_group(weights, evaluation.query_ids, values)
    estimate = estimated(Columns(values, weights.column(evaluation.query_ids), group))
    inside = _inside(values, weights.column(evaluation.query_ids), group)[:, 0]
    mean = _averaged(inside, units.weight)
    best_is_least, (least, most) = wanted.definition.lower_is_better, wanted.definition.range
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    column = values[order, 0]
    worst = (np.maximum if best_is_least else np.minimum).reduceat(column, starts)
    sizes = np.bincount(group)
    alike = _consistency(evaluation, group, depth)
    error = np.sqrt(np.where(sizes > 1, inside, 0.0))
    half = exceeded_with(ALPHA / 2, np.maximum(sizes - 1.0, 1.0)) * error
    by_name = tuple(
        GroupValue(name, int(size), value, low, high, its_worst, None if its_alike != its_alike else its_alike)
        for name, size, value, low, high, its_worst, its_alike in zip(
            units.names,
            sizes.tolist(),
            units.values[:, 0].tolist(),
            _ends(np.maximum(units.values[:, 0] - half, least), sizes),
            _ends(np.minimum(units.values[:, 0] + half, most), sizes),
            worst.tolist(),
            alike.tolist(),
            strict=True,
        )
    )
    weight = np.ones(len(sizes)) if units.weight is None else units.weight
    perfect = np.abs(worst - (least if best_is_least else most)) <= SAME
    known = ~np.isnan(alike)
    return WithinGroups(
        run=evaluation.run,
        measure=wanted.name,
        groups=len(sizes),
        queries=len(group),
        value=float(estimate.value[0]),
        variance=float(estimate.unit[0]) ** 2,
        within=mean,
        worst=float(np.average(worst, weights=weight)),
        perfect=float(np.average(perfect, weights=weight)),
        consistency=float(np.average(alike[known], weights=weight[known])) if known.any() else None,
        p_mrr=_p_mrr(evaluation, wanted),
        by_group=by_name,
    )


def group_noise(
    values: Numbers,
    pair: tuple[int, int],
    query_ids: Sequence[str],
    weights: Weights,
    names: tuple[str, str, str],
    *,
    lower_is_better: bool,
    seed: int,
) -> GroupNoise:
    """See `Comparison.within_groups`; values: a column for each run; names: of measure, baseline and run."""
    group, weight = weights.group(query_ids), weights.column(query_ids)
    if group is None:
        raise ComparisonError("the runs were compared without groups of queries.", hint="give groups")
    independent = are_repeats(weights.groups or {})
    both = values[:, list(pair)]
    contrast = both[:, 1:] - both[:, :1]
    estimate = estimated(Columns(contrast, weight, group, contrasts=True))
    inside = _inside(both if independent else contrast, weight, group).sum(axis=1)
    units = by_group(weights, query_ids, contrast)
    sign = -1.0 if lower_is_better else 1.0
    better, worse = (_counts(sign * side * both, weight, group, independent, seed) for side in (1, -1))
    gained = sign * np.where(np.abs(units.values[:, 0]) < SAME, 0.0, units.values[:, 0])
    return GroupNoise(
        *names,
        len(units.names),
        float(estimate.unit[0]) ** 2,
        _averaged(inside, units.weight),
        independent,
        int((gained > 0).sum()),
        *better,
        int((gained < 0).sum()),
        *worse,
    )


def are_repeats(groups: Mapping[str, str]) -> bool:
    """Whether all members are repeats of one query, as `cranfield run --repeat` names them: q7#1, q7#2.

    >>> are_repeats({"q7#1": "q7", "q7#2": "q7"}), are_repeats({"q7": "q7", "q7b": "q7"})
    (True, False)
    """
    return all(query.startswith(f"{group}#") and query[len(group) + 1 :].isdecimal() for query, group in groups.items())


def _inside(values: Numbers, weight: Numbers, group: Integers) -> Numbers:
    """For each group, the variance of its value that its members show; not a number where it has only one."""
    groups = int(group.max(initial=-1)) + 1
    total = np.bincount(group, weight, groups)
    share = np.divide(weight, total[group], out=np.zeros_like(weight), where=total[group] > 0)
    found = np.empty((groups, values.shape[1]))
    rest = 1 - np.bincount(group, share**2, groups)
    for at, column in enumerate(values.T):
        apart = column - np.bincount(group, share * column, groups)[group]
        apart[np.abs(apart) < SAME] = 0.0
        square = np.bincount(group, (share * apart) ** 2, groups)
        found[:, at] = np.divide(square, rest, out=np.full(groups, nan), where=rest > SAME)
    return found


def _averaged(inside: Numbers, weight: Numbers | None) -> float | None:
    known = ~np.isnan(inside)
    if not known.any():
        return None
    return float(np.average(inside[known], weights=None if weight is None else weight[known]))


def _share(part: float | None, whole: float) -> float | None:
    if part is None or not np.isfinite(whole):
        return None
    return 0.0 if whole <= 0 else 1.0 if part / whole > 1 - SAME else part / whole


def _counts(both: Numbers, weight: Numbers, group: Integers, independent: bool, seed: int) -> tuple[int, int]:
    """How many groups the second column is above the first on, 2.5% to 97.5%, with members drawn again."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = offsets(sizes)[:-1]
    first, size = starts[group[order]], sizes[group[order]]
    both, weight = both[order], weight[order]
    generator = np.random.default_rng(seed % 2**64)

    def means(column: Numbers, drawn: Integers) -> Numbers:
        total = np.add.reduceat(weight[drawn], starts)
        summed = np.add.reduceat(weight[drawn] * column[drawn], starts)
        return np.divide(summed, total, out=np.zeros_like(summed), where=total > 0)

    found = []
    for _ in range(DRAWS):
        one = first + (generator.random(len(order)) * size).astype(np.int64)
        other = first + (generator.random(len(order)) * size).astype(np.int64) if independent else one
        found.append(int((means(both[:, 1], other) - means(both[:, 0], one) > SAME).sum()))
    low, high = np.percentile(found, [2.5, 97.5], method="inverted_cdf").tolist()
    return int(low), int(high)


def _consistency(evaluation: Evaluation, group: Integers, depth: int) -> Numbers:
    """The mean overlap of the rankings of two members of each group; not a number where that is not known."""
    alike = np.full(int(group.max(initial=-1)) + 1, nan)
    reading = evaluation._evidence.reading
    if reading is None or not depth:
        return alike
    ranked = reading.first(evaluation.query_ids, depth)
    members: dict[int, list[str]] = {}
    for query, number in zip(evaluation.query_ids, group.tolist(), strict=True):
        members.setdefault(number, []).append(query)
    for number, queries in members.items():
        lists = [ranked.get(query, []) for query in queries]
        # Two that return nothing are alike.
        pairs = [rbo(one, other).extrapolated if one or other else 1.0 for one, other in combinations(lists, 2)]
        if pairs and ranked:
            alike[number] = sum(pairs) / len(pairs)
    return alike


def _p_mrr(evaluation: Evaluation, measure: Measure) -> float | None:
    """How ranks follow changed queries, in the groups that are named after the query as it was."""
    judged, reading, weights = evaluation.ranks, evaluation._evidence.reading, evaluation.weights
    if judged is None or reading is None or weights is None or weights.groups is None:
        return None
    rel = dict(measure.parameters).get("rel") or 1.0
    number = {query: at for at, query in enumerate(judged.query_ids)}
    grades = reading.judgments.by_query
    names, ranks = reading.judgments.document_ids, dict[tuple[int, str], int]()
    for query, row, rank in zip(judged.query.tolist(), judged.row.tolist(), judged.rank.tolist(), strict=True):
        ranks[query, names[row]] = rank
    found = []
    for query, origin in weights.groups.items():
        if query == origin or query not in number or origin not in number:
            continue
        moves = []
        for document, grade in grades.get(origin, {}).items():
            changed = grades.get(query, {}).get(document)
            if changed is None or not reaches(np.array([grade]), rel)[0] or reaches(np.array([changed]), rel)[0]:
                continue
            before, after = (
                ranks.get((number[its], document), int(judged.retrieved[number[its]]) + 1) for its in (origin, query)
            )
            moves.append(after / before - 1 if before >= after else 1 - before / after)
        if moves:
            found.append(sum(moves) / len(moves))
    return sum(found) / len(found) if found else None


def _ends(ends: Numbers, sizes: Integers) -> list[float | None]:
    return [end if size > 1 else None for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"
