"""How alike two orders are: two rankings of documents by their overlap, two orders of systems by their correlation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.mappings import finite, id_text
from cranfield.io.source import open_source
from cranfield.ranks.policy import Policy
from cranfield.ranks.whole_rankings import scores_of
from cranfield.words import count


class Overlap(NamedTuple):
    """Rank-biased overlap: `extrapolated` is the estimate, and the true value lies in [least, least + residual].

    >>> overlap = rbo(["a", "b"], ["a", "c"])
    >>> [round(each, 3) for each in overlap], round(float(overlap), 3)
    ([0.55, 0.256, 0.699], 0.55)
    """

    extrapolated: float
    least: float
    residual: float

    def __float__(self) -> float:
        return self.extrapolated


def rbo(
    one: Iterable[Any] | Mapping[Any, float], other: Iterable[Any] | Mapping[Any, float], p: float = 0.9
) -> Overlap:
    """Rank-biased overlap of two orders, for a reader who goes on from each rank to the next with probability p.

    RBO = (1 - p) · Σ p^(d-1) · A_d,  A_d = 2 · |A ∩ B| / (|A| + |B|) of the items at rank d or above

    An order is a list, the best first, in which an inner list, tuple or set is a tie; or {id: score}, in which equal
    scores are one. Tied items share the first rank of their tie (Webber, Moffat & Zobel 2010).

    Below the end of a list nothing is known. `least` assumes that nothing more agrees, least + residual that everything
    agrees that can. `extrapolated` goes on with the agreement at the end of the shorter list for what that list lacks,
    and with the agreement at the end of the longer one below it. An empty list agrees with nothing.

    one, other: the two orders.
    p: how likely the reader goes on, above 0 and below 1.
    Returns an `Overlap`.

    >>> round(rbo(["a", "b", "c"], ["a", "c", "b"]).extrapolated, 4)
    0.955
    >>> round(rbo({"a": 3.5, "b": 1.0, "c": 1.0}, ["a", {"b", "c"}]).extrapolated, 4)
    1.0
    """
    if not 0 < p < 1:
        fact, hint = "is not a probability.", "p lies between 0 and 1"
        raise InputError("rank-biased overlap", fact, parameter="p", value=p, hint=hint)
    return _overlap(_groups(one, "the first list"), _groups(other, "the second list"), p)


@dataclass(frozen=True, slots=True)
class RunOverlap:
    """How alike two runs are, query by query; a query that one of them lacks is in `missing` and counts 0.

    >>> overlap = run_overlap({"1": ["a", "b"], "2": ["c"]}, {"1": ["a", "b"]})
    >>> overlap.mean, overlap.missing, round(overlap.by_query["1"].extrapolated, 4)
    (0.5, ('2',), 1.0)
    """

    by_query: Mapping[str, Overlap]
    missing: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<RunOverlap: mean {self.mean:.4f} over {count(len(self.by_query), 'query', 'queries')}>"

    @property
    def mean(self) -> float:
        """The mean of the extrapolated overlaps over the queries of both runs together."""
        return math.fsum(overlap.extrapolated for overlap in self.by_query.values()) / len(self.by_query)


def run_overlap(one_run: Any, other_run: Any, p: float = 0.9) -> RunOverlap:
    """Rank-biased overlap of the rankings of two runs, each given as anything that `evaluate` reads.

    Documents with equal scores are tied. Both runs are held in memory.

    one_run, other_run: the two runs.
    p: that of `rbo`.
    Returns a `RunOverlap`: the overlap of each query, and their mean.

    >>> round(run_overlap({"1": ["a", "b"], "2": ["c"]}, {"1": {"a": 0.9, "b": 0.2}}).mean, 4)
    0.5
    """
    one, other = (scores_of(open_source(run, "run"), Policy()) for run in (one_run, other_run))
    queries = sorted({*one, *other})
    if not queries:
        raise InputError("the runs", "they contain no rankings.")
    return RunOverlap(
        {query: rbo(one.get(query, {}), other.get(query, {}), p) for query in queries},
        tuple(query for query in queries if query not in one or query not in other),
    )


def kendall_tau(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    """Kendall's correlation of two orders of systems, {system: value}: pairs in the same order against the others.

    τ_b = (same - opposite) / √((same + opposite + tied only in one) · (same + opposite + tied only in other))

    one, other: {system: value}, of the same systems.
    Returns a number from -1 to 1.

    >>> round(kendall_tau({"bm25": 0.3, "dense": 0.4, "both": 0.5}, {"bm25": 0.1, "dense": 0.3, "both": 0.2}), 4)
    0.3333
    """
    return _correlation("kendalltau", one, other)


def spearman_rho(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    """Spearman's correlation of two orders of systems, {system: value}: the linear correlation of their ranks.

    ρ = cov(rank, rank') / (sd(rank) · sd(rank')), tied systems have the mean of their ranks

    one, other: {system: value}, of the same systems.
    Returns a number from -1 to 1.

    >>> round(spearman_rho({"bm25": 0.3, "dense": 0.4, "both": 0.5}, {"bm25": 0.1, "dense": 0.3, "both": 0.2}), 4)
    0.5
    """
    return _correlation("spearmanr", one, other)


def tau_ap(estimate: Mapping[Any, float], reference: Mapping[Any, float]) -> float:
    """Kendall's correlation that weighs mistakes at the top more, of two orders of systems, {system: value}.

    τ_AP = 2/(N-1) · Σ C_i/(i-1) - 1 over the ranks i = 2…N of the estimate, C_i: systems above that the reference also
    puts above the one at rank i

    It is not symmetric: ranks are those of the estimate (Yilmaz, Aslam & Robertson 2008). The paper has no ties; here
    the value is the mean over all ways to break them, in both orders.

    estimate, reference: {system: value}, of the same systems.
    Returns a number from -1 to 1.

    >>> round(tau_ap({"a": 4, "b": 3, "c": 2, "d": 1}, {"a": 4, "b": 3, "c": 1, "d": 2}), 4)
    0.7778
    >>> round(tau_ap({"a": 4, "b": 3, "c": 2, "d": 1}, {"a": 3, "b": 4, "c": 2, "d": 1}), 4)
    0.3333
    """
    values, wanted = _matched(estimate, reference)
    order = sorted(range(len(values)), key=lambda system: -values[system])
    above: list[int] = []
    added = 0.0
    for _, group in groupby(order, key=lambda system: values[system]):
        tie = list(group)
        # Systems of a tie are equally likely at each of its ranks, and any two of them in either order.
        right = sum(_before(wanted[a], wanted[b]) for a in above for b in tie) / len(tie)
        for place in range(len(tie)):
            if above or place:
                added += (right + place / 2) / (len(above) + place)
        above += tie
    return 2 * added / (len(order) - 1) - 1


def _before(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)


def _correlation(name: str, one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    from scipy import stats  # as late as possible

    return float(getattr(stats, name)(*_matched(one, other)).statistic)


def _matched(one: Mapping[Any, float], other: Mapping[Any, float]) -> tuple[list[float], list[float]]:
    """The values of both, matched by the names of the systems."""
    where = "the orders of systems"
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        raise InputError(where, "they are matched by name.", hint="give {system: value} twice")
    unmatched = sorted(map(str, one.keys() ^ other.keys()))
    if unmatched:
        raise InputError(where, f"only one of them has {', '.join(unmatched)}.", hint="both must rank the same systems")
    if len(one) < 2:
        raise InputError(where, "there are fewer than two systems.")
    columns = [[finite(order[name], where, f"system '{name}'") for name in one] for order in (one, other)]
    if any(len(set(column)) == 1 for column in columns):
        raise InputError(where, "all systems have the same value, so there is no order.")
    return columns[0], columns[1]


def _groups(order: Iterable[Any] | Mapping[Any, float], source: str) -> list[list[str]]:
    """An order as its ties, the best first; an item that is not tied is a tie of one."""
    if isinstance(order, str | bytes) or not isinstance(order, Iterable):
        raise InputError(source, f"{order!r:.60} is not an order.", hint="give a list, the best first, or {id: score}")
    if isinstance(order, Mapping):
        scores = {item: finite(score, source, f"'{item}'") for item, score in order.items()}
        ranked = sorted(scores, key=lambda item: -scores[item])
        ties: Iterable[Iterable[Any]] = [list(tie) for _, tie in groupby(ranked, key=lambda item: scores[item])]
    else:
        ties = [item if isinstance(item, list | tuple | set | frozenset) else [item] for item in order]
    groups = [[id_text(item, source, "an item") for item in tie] for tie in ties]
    for item, times in Counter(item for group in groups for item in group).items():
        if times > 1:
            raise InputError(source, f"'{item}' appears {times} times.")
    return [group for group in groups if group]


def _overlap(one: list[list[str]], other: list[list[str]], p: float) -> Overlap:
    sizes, other_sizes = _seen(one), _seen(other)
    if len(sizes) > len(other_sizes):
        one, other, sizes, other_sizes = other, one, other_sizes, sizes
    short, long = len(sizes) - 1, len(other_sizes) - 1
    shared = _shared(one, other, long)
    agreement = 2 * shared[short] / (short + other_sizes[short]) if short else 0.0  # where the shorter list ends
    end = short + long - shared[long]  # from here on all could agree
    extrapolated, least, most = [], [], []
    last = 0.0
    for depth in range(1, max(end, long) + 1):
        weight = (1 - p) * p ** (depth - 1)
        both = (sizes[depth] if depth <= short else depth) + (other_sizes[depth] if depth <= long else depth)
        known, missing = shared[min(depth, long)], max(depth - short, 0)
        if depth <= long:
            last = 2 * (known + agreement * missing) / both
        least.append(weight * 2 * known / both)
        extrapolated.append(weight * last)
        most.append(weight * min(1.0, 2 * (known + missing + max(depth - long, 0)) / both))
    rest = max(end, long)
    below = -math.log1p(-p) - math.fsum(p**depth / depth for depth in range(1, rest + 1))
    low = math.fsum([*least, (1 - p) / p * shared[long] * below])
    high = math.fsum([*most, p**rest])
    return Overlap(math.fsum([*extrapolated, last * p**rest]), low, max(high - low, 0.0))


def _seen(groups: list[list[str]]) -> list[int]:
    """For each depth from 0, how many items are at it or above: all items of a tie are at its first rank."""
    sizes = list(accumulate(map(len, groups)))
    return [0, *(size for size, group in zip(sizes, groups, strict=True) for _ in group)]


def _shared(one: list[list[str]], other: list[list[str]], deepest: int) -> list[int]:
    """For each depth from 0, how many items both orders have at it or above."""
    ranks = [
        {item: before + 1 for before, group in zip(accumulate(map(len, order), initial=0), order) for item in group}
        for order in (one, other)
    ]
    new = Counter(max(rank, ranks[1][item]) for item, rank in ranks[0].items() if item in ranks[1])
    return list(accumulate(new[depth] for depth in range(deepest + 1)))
