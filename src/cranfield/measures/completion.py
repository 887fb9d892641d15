"""How far the unjudged documents of a ranking could move a measure.

A completion gives every unjudged document of the ranking a grade of the scale. The bounds of a measure are its lowest
and highest value over all completions. The ranks stay as they are. Documents that were neither judged nor retrieved
count as not relevant, as always, unless `unseen` gives the number of them that may have a grade.

There are far too many completions to try, and most need no trying: moving a better document up, past a worse one, never
lowers a measure that rewards order, as nearly all do. So among the completions with the same grades the best is the one
in which they fall from rank to rank, and the worst the one in which they rise. Only these are tried. Documents below
the cutoff and unseen ones only add to what the ranking should have found. Where a measure is a sum over the documents
of the ranking, all of them perfect and all of them worthless are the two ends.

Where even these are too many, a measure that is monotone still has a bound: retrieved documents at their best, judged
as if they added nothing to what the ranking should have found; and the other way round. It may be wider than necessary,
and `exact` says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations_with_replacement, pairwise, product
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.measures.arithmetic import gains
from cranfield.measures.parameters import GainMap
from cranfield.measures.registry import Measure
from cranfield.measures.scope import Scope, chosen_parameters
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import complete_table, filled_judgments, filled_rankings, joined, matrix
from cranfield.ranks.tables.ranks import JudgedRanks

AT_ONCE = 1_000_000  # documents of completions in one table
TOGETHER = 1 << 16  # documents of rankings that are filled at a time

Scale = tuple[float, ...]

SUMS = {"P", "Hits", "CG", "DCG", "SDCG", "RBP", "NumRelRet", "SetP", "INSQ", "TBG", "U"}
_OF_JUDGMENTS = {"IDCG", "NumRel"}  # the better the judgments are, the higher they are


class QueryBounds(NamedTuple):
    """For every query the lowest and the highest value of a measure, and whether some completion attains both."""

    low: Numbers
    high: Numbers
    exact: Flags


def bounds(
    measure: Measure,
    judged: JudgedRanks,
    scale: Iterable[float] | None = None,
    *,
    budget: int,
    unseen: int | Integers = 0,
) -> QueryBounds:
    """The bounds of a measure, if an unjudged document may have any grade of the scale.

    scale: by default the grades that occur in the judgments, and at least 0, 1 and the grade that counts as relevant.
    budget: how many documents of completions to try, over all queries; with fewer, bounds may be wider than necessary.
    unseen: how many documents that were neither judged nor retrieved may have such a grade too, of all queries or each.
    """
    measure = measure.replace(judged_only=False)  # in a completion, every document is judged
    judged = judged.completed
    low, high = measure(judged), measure(judged)
    exact = np.ones(len(judged), dtype=np.bool_)
    if measure.definition.of_holes:
        return QueryBounds(low, high, exact)
    grades = worth_most_first(measure, scale_of(measure, judged.judged_grades) if scale is None else read_scale(scale))
    more = np.broadcast_to(np.asarray(unseen, dtype=np.int64), len(judged))
    if is_sum(measure):
        least, most = (measure(replace(judged, **filled_rankings(judged, grade))) for grade in (grades[-1], grades[0]))
        return QueryBounds(least, most, exact)
    size = _Sizes.of(measure, judged, more)
    open_queries = np.flatnonzero((size.holes > 0) | (size.beneath > 0)).tolist()
    cells = budget // max(len(open_queries), 1)
    waiting: list[tuple[int, JudgedRanks]] = []
    documents = 0
    for query in open_queries:
        if size.of_completions(query, measure, len(grades)) > cells:
            low[query], high[query] = range_of(measure)
            exact[query] = False
            continue
        completions = _completions(measure, judged, query, int(more[query]), grades)
        waiting.append((query, completions))
        documents += len(completions.rank) + len(completions.judged_grades)
        if documents > AT_ONCE:
            _try(measure, waiting, low, high)
            waiting, documents = [], 0
    _try(measure, waiting, low, high)
    if _is_monotone(measure):
        ends = (grades[-1], grades[0])
        for queries in _blocks(judged.retrieved + more, ~exact):
            some = judged._between(queries.start, queries.stop)
            its = low[queries], high[queries], exact[queries]
            for whole, part in zip((low, high, exact), _filled(measure, some, more[queries], ends, *its), strict=True):
                whole[queries] = part
    return QueryBounds(low, high, exact)


def _filled(
    measure: Measure, judged: JudgedRanks, unseen: Integers, ends: tuple[float, float], *known: Any
) -> tuple[Numbers, Numbers, Flags]:
    """The bounds of a monotone measure, of queries with too many completions; others keep those that are known.

    ends: the grades that are worth least and most
    """
    low, high, exact = known
    rankings = [filled_rankings(judged, grade) for grade in ends]
    judgments = [filled_judgments(judged, grade, unseen) for grade in ends]
    least, most = (measure(replace(judged, **rankings[at], **judgments[1 - at])) for at in (0, 1))
    # A query without relevant documents has 0, but a completion may have some.
    most = np.where(most == 0, high, most)
    low, high = np.where(exact, low, np.maximum(low, least)), np.where(exact, high, np.minimum(high, most))
    if not exact[unseen == 0].all():
        worst, best = (measure(replace(judged, **rankings[at], **judgments[at])) for at in (0, 1))
        exact = exact | ((unseen == 0) & (worst == low) & (best == high))
    return low, high, exact


def _blocks(documents: Integers, wanted: Flags) -> Iterator[slice]:
    """Stretches of queries with about TOGETHER documents that contain one that is wanted."""
    first = np.flatnonzero(np.diff(np.cumsum(documents) // TOGETHER, prepend=-1)).tolist()
    return (slice(*ends) for ends in pairwise([*first, len(documents)]) if wanted[slice(*ends)].any())


def scale_of(measure: Measure, grades: Numbers) -> Scale:
    """The grades that occur in the judgments, and at least 0, 1 and the one that counts as relevant."""
    known = np.unique(grades[grades >= 0]).tolist()
    return tuple(sorted({0.0, 1.0, float(chosen_parameters(measure).get("rel", 1)), *known}))


def read_scale(scale: Iterable[Any]) -> Scale:
    if isinstance(scale, str | bytes) or not isinstance(scale, Iterable):
        raise InputError("the scale", f"{scale!r:.60} is not a list of grades.", hint="for instance [0, 1, 2, 3]")
    grades = set()
    for grade in scale:
        try:
            number = float(grade)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number < math.inf:
            raise InputError("the scale", f"{grade!r:.60} is not a grade.", hint="a grade is a number from 0")
        grades.add(number)
    if not grades:
        raise InputError("the scale", "the scale has no grade.", hint="for instance [0, 1, 2, 3]")
    return tuple(sorted(grades))


def worth_most_first(measure: Measure, scale: Scale) -> list[float]:
    """The grades that make a difference to a measure, the one worth most first."""
    chosen = chosen_parameters(measure)
    if "rel" in chosen and "gain" not in chosen and chosen.get("max_grade") is None:  # it only sees relevant documents
        relevant = [grade for grade in scale if grade >= chosen["rel"]]
        return [*relevant[-1:], *[grade for grade in scale if grade < chosen["rel"]][:1]]
    worth = dict(zip(scale, gains(np.array(scale), chosen.get("gain", "linear")).tolist(), strict=True))
    return sorted(scale, key=lambda grade: (worth[grade], grade), reverse=True)


def is_sum(measure: Measure) -> bool:
    """Whether a value is a sum over the documents of the ranking, each worth something by its own rank and grade."""
    chosen = chosen_parameters(measure)
    by_itself = chosen.get("max_grade") != "query" and chosen.get("view", "utility") in ("utility", "total")
    by_itself = by_itself and chosen.get("short", "filled") == "filled"
    return measure.definition.name in SUMS and by_itself


def cutoff_of(measure: Measure) -> int | None:
    return Scope.of(measure).cutoff


@lru_cache(4096)
def looks_at_judgments(measure: Measure) -> bool:
    """Whether a measure looks at judged documents outside the ranking; found by trying a table without them."""
    table = JudgedRanks.of_grades([1, 0, None, 2], [1])
    nothing: Any = None
    try:
        measure(replace(table, all_judged=nothing))
    except Exception:  # any failure of a measure without documents
        return True
    return False


def has_losses(measure: Measure) -> bool:
    gain = chosen_parameters(measure).get("gain")
    return isinstance(gain, GainMap) and any(its_gain < 0 for _, its_gain in gain.pairs)


def range_of(measure: Measure) -> tuple[float, float]:
    if has_losses(measure):
        return -math.inf, math.inf
    low, high = measure.definition.range
    return low, high if chosen_parameters(measure).get("view", "utility") == "utility" else math.inf


def _is_monotone(measure: Measure) -> bool:
    # A share of the documents found is not monotone: finding more also raises the denominator. Nor is a share of an
    # ideal that may be below 0.
    chosen = chosen_parameters(measure)
    by_found = chosen.get("denominator") == "found" or chosen.get("ideal") in ("retrieved", "full")
    return measure.definition.monotone and not by_found and not has_losses(measure)


class _Sizes(NamedTuple):
    """For each query, what the number of its completions depends on.

    depth: how many documents a measure looks at; holes: how many of them are unjudged
    beneath: how many unjudged documents there are besides; judged: how many are judged
    """

    depth: Integers
    holes: Integers
    beneath: Integers
    judged: Integers

    @classmethod
    def of(cls, measure: Measure, judged: JudgedRanks, unseen: Integers) -> _Sizes:
        cutoff = cutoff_of(measure)
        depth = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
        holes = depth - judged.sum(judged.judged & judged.within(cutoff)).astype(np.int64)
        every = judged.retrieved - judged.sum(judged.judged).astype(np.int64)
        return cls(depth, holes, every - holes + unseen, judged.n_judged().astype(np.int64))

    def of_completions(self, query: int, measure: Measure, levels: int) -> int:
        """How many documents all completions of a query have that are worth trying."""
        depth, holes, beneath, judged = (int(column[query]) for column in self)
        rankings, kinds = _number_of_orders(measure, holes, levels), _number_beneath(measure, beneath, levels)
        return rankings * kinds * (depth + judged + holes + beneath)


def _completions(
    measure: Measure, judged: JudgedRanks, query: int, unseen: int, grades: Sequence[float]
) -> JudgedRanks:
    """The table of all completions of a query that are worth trying, each as a query of its own."""
    rows = slice(*judged.first[query : query + 2].tolist())
    rank, grade = judged.rank[rows][judged.judged[rows]], judged.grade[rows][judged.judged[rows]]
    known = judged.judged_grades[slice(*judged.judged_first[query : query + 2].tolist())]
    retrieved, cutoff = int(judged.retrieved[query]), cutoff_of(measure)
    depth = retrieved if cutoff is None else min(cutoff, retrieved)
    within = rank <= depth
    top = np.full(depth, np.nan)
    top[rank[within] - 1] = grade[within]
    unjudged = np.isnan(top)
    holes = int(unjudged.sum())
    rankings = _number_of_orders(measure, holes, len(grades))
    beneath = retrieved - depth - int((~within).sum()) + unseen
    kinds = _number_beneath(measure, beneath, len(grades))
    tried = matrix(_orders(grades, holes, measure.definition.rewards_order), rankings, holes)
    filled = np.tile(top, (rankings, 1))
    filled[:, unjudged] = tried
    hidden = matrix(_beneath(measure, beneath, grades), kinds, beneath)
    every = np.repeat(np.arange(rankings), kinds)  # each ranking with each way to judge the documents beneath
    all_judged = np.hstack([np.tile(known[known >= 0], (len(every), 1)), tried[every], np.tile(hidden, (rankings, 1))])
    # Judged documents below the cutoff are not rows of this table: no measure with a cutoff looks at them there.
    lengths = None if judged.lengths is None else judged.lengths[query]
    return complete_table(filled[every], all_judged, retrieved, lengths)


@lru_cache(4096)
def _number_of_orders(measure: Measure, holes: int, levels: int) -> int:
    return 2 * math.comb(holes + levels - 1, holes) if measure.definition.rewards_order else levels**holes


def _orders(grades: Sequence[float], holes: int, rewards_order: bool) -> Iterator[tuple[float, ...]]:
    if not rewards_order:
        return product(grades, repeat=holes)
    falling = list(combinations_with_replacement(grades, holes))
    return chain(falling, (grades[::-1] for grades in falling))


def _beneath(measure: Measure, count: int, grades: Sequence[float]) -> Iterable[tuple[float, ...]]:
    """The grades of documents that lie beneath the ranking, in all ways that could make a difference."""
    if not count or not looks_at_judgments(measure):
        return [(grades[-1],) * count]
    if _only_ends_matter(measure):
        return [(grade,) * count for grade in (grades[-1], grades[0])]
    if chosen_parameters(measure).get("max_grade") == "query":  # only the highest matters
        return [(grade,) * count for grade in grades]
    return combinations_with_replacement(grades, count)


@lru_cache(4096)
def _number_beneath(measure: Measure, count: int, levels: int) -> int:
    if not count or not looks_at_judgments(measure):
        return 1
    if _only_ends_matter(measure):
        return 2
    by_highest = chosen_parameters(measure).get("max_grade") == "query"
    return levels if by_highest else math.comb(count + levels - 1, count)


def _only_ends_matter(measure: Measure) -> bool:
    return _is_monotone(measure) or measure.definition.name in _OF_JUDGMENTS


def _try(measure: Measure, tried: list[tuple[int, JudgedRanks]], low: Numbers, high: Numbers) -> None:
    if not tried:
        return
    tables = [table for _, table in tried]
    values = np.split(measure(joined(tables)), np.cumsum([len(table) for table in tables])[:-1])
    for (query, _), its_values in zip(tried, values, strict=True):
        low[query], high[query] = its_values.min(), its_values.max()
