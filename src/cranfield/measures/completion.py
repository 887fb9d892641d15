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
from itertools import chain, combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.measures.arithmetic import gains
from cranfield.measures.parameters import GainMap
from cranfield.measures.registry import REQUIRED, Measure
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.filling import complete_table, filled_judgments, filled_rankings, joined, matrix
from cranfield.ranks.tables.ranks import JudgedRanks

AT_ONCE = 1_000_000  # ... and how many of them are in one table

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
    grades = worth_most_first(measure, default_scale(measure, judged) if scale is None else read_scale(scale))
    more = np.broadcast_to(np.asarray(unseen, dtype=np.int64), len(judged))
    if is_sum(measure):
        least, most = (measure(replace(judged, **filled_rankings(judged, grade))) for grade in (grades[-1], grades[0]))
        return QueryBounds(least, most, exact)
    holes = judged.retrieved - judged.sum(judged.judged)
    open_queries = np.flatnonzero((holes > 0) | (more > 0)).tolist()
    cells = budget // max(len(open_queries), 1)
    waiting: list[tuple[int, JudgedRanks]] = []
    size = 0
    for query in open_queries:
        completions = _completions(measure, _one(judged, query), int(more[query]), grades, cells)
        if completions is None:
            low[query], high[query] = range_of(measure)
            exact[query] = False
            continue
        waiting.append((query, completions))
        size += len(completions.rank) + len(completions.judged_grades)
        if size > AT_ONCE:
            _try(measure, waiting, low, high)
            waiting, size = [], 0
    _try(measure, waiting, low, high)
    if _is_monotone(measure) and not exact.all():
        rankings = [filled_rankings(judged, grade) for grade in (grades[-1], grades[0])]
        judgments = [filled_judgments(judged, grade, more) for grade in (grades[-1], grades[0])]
        least, most = (measure(replace(judged, **rankings[at], **judgments[1 - at])) for at in (0, 1))
        # A query without relevant documents has 0, but a completion may have some.
        most = np.where(most == 0, high, most)
        low, high = np.where(exact, low, np.maximum(low, least)), np.where(exact, high, np.minimum(high, most))
        worst, best = (measure(replace(judged, **rankings[at], **judgments[at])) for at in (0, 1))
        exact |= (more == 0) & (worst == low) & (best == high)
    return QueryBounds(low, high, exact)


def default_scale(measure: Measure, judged: JudgedRanks) -> Scale:
    """The grades that occur in the judgments, and at least 0, 1 and the one that counts as relevant."""
    known = np.unique(judged.judged_grades[judged.judged_grades >= 0]).tolist()
    return tuple(sorted({0.0, 1.0, float(_chosen(measure).get("rel", 1)), *known}))


def read_scale(scale: Iterable[Any]) -> Scale:
    """Grades as sorted numbers; an error if they are not valid."""
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
    chosen = _chosen(measure)
    if "rel" in chosen and "gain" not in chosen and chosen.get("max_grade") is None:  # it only sees relevant documents
        relevant = [grade for grade in scale if grade >= chosen["rel"]]
        return [*relevant[-1:], *[grade for grade in scale if grade < chosen["rel"]][:1]]
    worth = dict(zip(scale, gains(np.array(scale), chosen.get("gain", "linear")).tolist(), strict=True))
    return sorted(scale, key=lambda grade: (worth[grade], grade), reverse=True)


def is_sum(measure: Measure) -> bool:
    """Whether a value is a sum over the documents of the ranking, each worth something by its own rank and grade."""
    chosen = _chosen(measure)
    by_itself = chosen.get("max_grade") != "query" and chosen.get("view", "utility") in ("utility", "total")
    return measure.definition.name in SUMS and by_itself


def cutoff_of(measure: Measure) -> int | None:
    """The deepest rank that a measure looks at."""
    cutoff = _chosen(measure).get("cutoff")
    return None if cutoff is REQUIRED else cutoff


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
    """Whether some grade is worth less than nothing."""
    gain = _chosen(measure).get("gain")
    return isinstance(gain, GainMap) and any(its_gain < 0 for _, its_gain in gain.pairs)


def range_of(measure: Measure) -> tuple[float, float]:
    """The range of a measure with its parameters."""
    if has_losses(measure):
        return -math.inf, math.inf
    low, high = measure.definition.range
    return low, high if _chosen(measure).get("view", "utility") == "utility" else math.inf


def _chosen(measure: Measure) -> dict[str, Any]:
    return {**measure.definition.defaults, **dict(measure.parameters)}


def _is_monotone(measure: Measure) -> bool:
    # A share of the documents found is not monotone: finding more also raises the denominator. Nor is a share of an
    # ideal that may be below 0.
    by_found = _chosen(measure).get("denominator") == "found"
    return measure.definition.monotone and not by_found and not has_losses(measure)


class _Query(NamedTuple):
    """One query: ranks and grades of what was judged and retrieved, all judged grades, and all documents retrieved."""

    rank: Integers
    grade: Numbers
    judged: Numbers
    retrieved: int
    lengths: Numbers | None


def _one(judged: JudgedRanks, query: int) -> _Query:
    rows = slice(*judged.first[query : query + 2].tolist())
    known = judged.judged[rows]
    everything = judged.judged_grades[slice(*judged.judged_first[query : query + 2].tolist())]
    return _Query(
        judged.rank[rows][known],
        judged.grade[rows][known],
        everything[everything >= 0],
        int(judged.retrieved[query]),
        None if judged.lengths is None else judged.lengths[query],
    )


def _completions(
    measure: Measure, query: _Query, unseen: int, grades: Sequence[float], cells: int
) -> JudgedRanks | None:
    """The table of all completions worth trying, each as a query of its own; None: there are too many."""
    cutoff, levels = cutoff_of(measure), len(grades)
    depth = query.retrieved if cutoff is None else min(cutoff, query.retrieved)
    within = query.rank <= depth
    top = np.full(depth, np.nan)
    top[query.rank[within] - 1] = query.grade[within]
    unjudged = np.isnan(top)
    holes = int(unjudged.sum())
    rewards_order = measure.definition.rewards_order
    rankings = 2 * math.comb(holes + levels - 1, holes) if rewards_order else levels**holes
    beneath = query.retrieved - depth - int((~within).sum()) + unseen
    beneaths, kinds = _beneath(measure, beneath, grades)
    if rankings * kinds * (depth + len(query.judged) + holes + beneath) > cells:
        return None
    tried = matrix(_orders(grades, holes, rewards_order), rankings, holes)
    filled = np.tile(top, (rankings, 1))
    filled[:, unjudged] = tried
    hidden = matrix(beneaths, kinds, beneath)
    every = np.repeat(np.arange(rankings), kinds)  # each ranking with each way to judge the documents beneath
    judged = np.hstack([np.tile(query.judged, (len(every), 1)), tried[every], np.tile(hidden, (rankings, 1))])
    # Judged documents below the cutoff are not rows of this table: no measure with a cutoff looks at them there.
    return complete_table(filled[every], judged, query.retrieved, query.lengths)


def _orders(grades: Sequence[float], holes: int, rewards_order: bool) -> Iterator[tuple[float, ...]]:
    """The grades of a ranking's unjudged documents, in all ways worth trying."""
    if not rewards_order:
        return product(grades, repeat=holes)
    falling = list(combinations_with_replacement(grades, holes))
    return chain(falling, (each[::-1] for each in falling))


def _beneath(measure: Measure, count: int, grades: Sequence[float]) -> tuple[Iterable[tuple[float, ...]], int]:
    """The grades of documents that lie beneath the ranking, in all ways that could make a difference, and how many."""
    if not count or not looks_at_judgments(measure):
        return [(grades[-1],) * count], 1
    if _is_monotone(measure) or measure.definition.name in _OF_JUDGMENTS:
        return [(grade,) * count for grade in (grades[-1], grades[0])], 2
    if _chosen(measure).get("max_grade") == "query":  # only the highest of them makes a difference
        return [(grade,) * count for grade in grades], len(grades)
    return combinations_with_replacement(grades, count), math.comb(count + len(grades) - 1, count)


def _try(measure: Measure, tried: list[tuple[int, JudgedRanks]], low: Numbers, high: Numbers) -> None:
    """Lower and raise the bounds of the queries whose completions these are."""
    if not tried:
        return
    tables = [table for _, table in tried]
    values = np.split(measure(joined(tables)), np.cumsum([len(table) for table in tables])[:-1])
    for (query, _), its_values in zip(tried, values, strict=True):
        low[query], high[query] = its_values.min(), its_values.max()
