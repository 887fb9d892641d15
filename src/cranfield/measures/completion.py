"""How far the unjudged documents of a ranking could move a measure.

A completion gives every unjudged document of the ranking a grade. The bounds of a measure are its lowest and highest
value over all completions. Documents that were neither judged nor retrieved are taken as not relevant, as always.

There are far too many completions to try, and most need no trying: to move a better document up, past a worse one,
never makes an orderly measure worse, and nearly all are. So among the completions with the same grades the best is the
one in which they fall from rank to rank, and the worst the one in which they rise. Only these are tried. Unjudged
documents below the cutoff count as worthless for the one, and as perfect for the other: they can only add to what
should have been found.

Where even these are too many, a measure that is monotone still has a bound: what is retrieved at its best, judged as if
it added nothing to what should have been found; and the other way round. It may be wider than need be, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.judge.judgments import Numbers, ends
from cranfield.judge.ranks import Flags, JudgedRanks
from cranfield.measures.arithmetic import gains
from cranfield.measures.registry import Measure

BUDGET = 200_000_000  # documents of completions tried for a measure, shared out over the queries
AT_ONCE = 1_000_000  # ... and how many of them stand in one table


class Bounds(NamedTuple):
    """For every query the lowest and the highest value of a measure, and whether some completion attains both."""

    low: Numbers
    high: Numbers
    exact: Flags


def bounds(measure: Measure, judged: JudgedRanks, max_grade: float | None = None, budget: int = BUDGET) -> Bounds:
    """The bounds of a measure, if an unjudged document may have any grade up to `max_grade`.

    By default that is the highest grade in the judgments, and at least 1 and the grade that counts as relevant.
    With a smaller budget, more of them may be wider than need be.
    """
    measure = measure.replace(judged_only=False)  # in a completion, every document is judged
    low, high = measure(judged), measure(judged)
    exact = np.ones(len(judged), dtype=np.bool_)
    if measure.definition.of_holes:
        return Bounds(low, high, exact)
    holes = judged.retrieved - judged.sum(judged.judged)
    grades = _grades(measure, judged, max_grade)
    cells = budget // max(int((holes > 0).sum()), 1) if measure.definition.orderly else 0
    waiting: list[tuple[int, JudgedRanks]] = []
    size = 0
    for query in np.flatnonzero(holes).tolist():
        completions = _completions(_one(judged, query), _cutoff(measure), grades, cells)
        if completions is None:
            low[query], high[query] = measure.definition.range
            exact[query] = False
            continue
        waiting.append((query, completions))
        size += len(completions.rank) + len(completions.judged_grades)
        if size > AT_ONCE:
            _try(measure, waiting, low, high)
            waiting, size = [], 0
    _try(measure, waiting, low, high)
    # A share of what was found is not monotone: what is found raises the denominator too.
    if measure.definition.monotone and dict(measure.parameters).get("denominator") != "found" and not exact.all():
        rankings, judgments = _filled(judged, grades[0])
        least, most = measure(replace(judged, **judgments)), measure(replace(judged, **rankings))
        # 0 also stands for a query without anything relevant, of which a completion may have something.
        most = np.where(most == 0, high, most)
        low, high = np.where(exact, low, np.maximum(low, least)), np.where(exact, high, np.minimum(high, most))
        worst, best = ({**rows, **known} for rows, known in (_filled(judged, grades[-1]), (rankings, judgments)))
        exact |= (measure(replace(judged, **worst)) == low) & (measure(replace(judged, **best)) == high)
    return Bounds(low, high, exact)


def _cutoff(measure: Measure) -> int | None:
    return dict(measure.parameters).get("cutoff", measure.definition.defaults.get("cutoff"))


def _grades(measure: Measure, judged: JudgedRanks, max_grade: float | None) -> list[float]:
    """The grades that an unjudged document may have, the one worth most first."""
    chosen = {**measure.definition.defaults, **dict(measure.parameters)}
    known = np.unique(judged.judged_grades[judged.judged_grades > 0]).tolist()
    top = max([1.0, float(chosen.get("rel", 1)), *known[-1:]]) if max_grade is None else float(max_grade)
    only_relevance = "rel" in chosen and "gain" not in chosen and chosen.get("max_grade") is None
    levels = {0.0, top} if only_relevance else {0.0, top, *(grade for grade in known if grade < top)}
    worth = dict(zip(levels, gains(np.array([*levels]), chosen.get("gain", "linear")).tolist(), strict=True))
    return sorted(levels, key=lambda grade: (worth[grade], grade), reverse=True)


def _one(judged: JudgedRanks, query: int) -> tuple[npt.NDArray[Any], Numbers, int]:
    """Of one query: the judged ranks, all judged grades with those of these ranks first, and how many are retrieved."""
    rows = slice(*judged.first[query : query + 2].tolist())
    known = judged.judged[rows]
    ranks, grades = judged.rank[rows][known], judged.grade[rows][known]
    everything = judged.judged_grades[slice(*judged.judged_first[query : query + 2].tolist())]
    return np.stack([ranks, grades]), everything[everything >= 0], int(judged.retrieved[query])


def _completions(
    query: tuple[npt.NDArray[Any], Numbers, int], cutoff: int | None, grades: Sequence[float], cells: int
) -> JudgedRanks | None:
    """The table of all completions worth trying, each as a query of its own; None: there are too many."""
    (ranks, known), everything, retrieved = query
    depth = retrieved if cutoff is None else min(cutoff, retrieved)
    within = ranks <= depth
    top = np.full(depth, np.nan)
    top[ranks[within].astype(np.int64) - 1] = known[within]
    unjudged = np.isnan(top)
    holes = int(unjudged.sum())
    below = retrieved - depth - int((~within).sum())
    count = math.comb(holes + len(grades) - 1, holes)
    if 2 * count * (depth + len(everything) + holes + below) > cells:
        return None
    falling = np.fromiter(chain.from_iterable(combinations_with_replacement(grades, holes)), np.float64, count * holes)
    falling = falling.reshape(count, holes)
    filled = np.tile(top, (2 * count, 1))
    filled[:count, unjudged] = falling
    filled[count:, unjudged] = falling[:, ::-1]
    beneath = np.repeat([[0.0], [grades[0]]], count, axis=0) * np.ones(below)
    judged = np.hstack([np.tile(everything, (2 * count, 1)), np.vstack([falling, falling]), beneath])
    # Judged documents below the cutoff are not rows of this table: no measure with a cutoff looks at them there.
    return _table(filled, -np.sort(-judged, axis=1), retrieved)


def _table(grades: Numbers, judged: Numbers, retrieved: int) -> JudgedRanks:
    """Fully judged rankings, one in each line of `grades`, with all judged grades in the same line of `judged`."""
    count, depth = grades.shape
    return JudgedRanks(
        query_ids=("",) * count,
        query=np.repeat(np.arange(count), depth),
        rank=np.tile(np.arange(1, depth + 1), count),
        grade=grades.reshape(-1),
        tied=np.zeros(grades.size, dtype=np.bool_),
        row=np.arange(grades.size),
        retrieved=np.full(count, retrieved),
        missing=np.zeros(count, dtype=np.bool_),
        judged_grades=judged.reshape(-1),
        judged_first=ends([judged.shape[1]] * count),
        judged_row=np.arange(judged.size),
    )


def _try(measure: Measure, tried: list[tuple[int, JudgedRanks]], low: Numbers, high: Numbers) -> None:
    """Lower and raise the bounds of the queries whose completions these are."""
    if not tried:
        return
    tables = [table for _, table in tried]
    values = measure(_joined(tables))
    for (query, _), its_values in zip(tried, _pieces(values, tables), strict=True):
        low[query], high[query] = its_values.min(), its_values.max()


def _pieces(values: Numbers, tables: list[JudgedRanks]) -> Iterator[Numbers]:
    return iter(np.split(values, np.cumsum([len(table) for table in tables])[:-1]))


def _joined(tables: list[JudgedRanks]) -> JudgedRanks:
    """Several tables as one."""
    before = np.cumsum([0, *map(len, tables)])[:-1].tolist()

    def column(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(table, name) for table in tables])

    return JudgedRanks(
        query_ids=("",) * sum(map(len, tables)),
        query=np.concatenate([table.query + first for table, first in zip(tables, before, strict=True)]),
        rank=column("rank"),
        grade=column("grade"),
        tied=column("tied"),
        row=column("row"),
        retrieved=column("retrieved"),
        missing=column("missing"),
        judged_grades=column("judged_grades"),
        judged_first=ends(chain.from_iterable(np.diff(table.judged_first).tolist() for table in tables)),
        judged_row=column("judged_row"),
    )


def _filled(judged: JudgedRanks, grade: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of rankings, and of judgments, in which every unjudged document has this grade.

    One with the other is a completion. One without the other is none; but if the grade is the highest, no completion of
    a monotone measure has a value above that of such rankings with the old judgments, or below that of the old rankings
    with such judgments.
    """
    holes = (judged.retrieved - judged.sum(judged.judged)).astype(np.int64)
    place = ends(judged.retrieved)
    full = np.full(place[-1], grade)
    known = judged.judged
    full[place[judged.query[known]] + judged.rank[known] - 1] = judged.grade[known]
    whose = np.repeat(np.arange(len(judged)), judged.retrieved)
    rank = np.arange(len(full)) - place[whose] + 1
    untied = np.zeros(len(full), dtype=np.bool_)
    rankings = {"query": whose, "rank": rank, "grade": full, "tied": untied, "row": np.arange(len(full))}
    query = np.concatenate([np.repeat(np.arange(len(judged)), holes), judged.judged_query])
    everything = np.concatenate([np.full(holes.sum(), grade), judged.judged_grades])
    order = np.lexsort((-everything, query))
    first = ends(np.diff(judged.judged_first) + holes)
    judgments = {"judged_grades": everything[order], "judged_first": first, "judged_row": order}
    return rankings, judgments
