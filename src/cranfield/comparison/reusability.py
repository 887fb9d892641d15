"""reusability(qrels, runs, measures) → Reusability: are judgments fair to a run that was not in their pool?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.correlation import tau
from cranfield.comparison.scanned import averaged_measures, scanned_runs
from cranfield.drawing import Written, as_html
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.contributions import complete_depth, contributed, mean_of
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.weighting import Weights
from cranfield.io.pairs import read_words
from cranfield.measures import Measure, Measures
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks, without
from cranfield.words import count, listed

USUAL_MEASURES = ("nDCG@10", "AP")


class LeftOutRow(NamedTuple):
    """A run by a measure, with all judgments and as if it had not been in the pool.

    group: the group that it was left out with; empty if it was left out alone.
    unique: judged documents, relevant to the measure, that only this run, or its group, has down to the depth.
    value, without: the mean with all judgments, and without those of the documents that only the run or its group has.
    rank, rank_without: the place among all runs by the same judgments, 1 for the best; runs that are level share it.
    """

    measure: str
    run: str
    group: str
    unique: int
    value: float
    without: float
    rank: int
    rank_without: int

    @property
    def change(self) -> float:
        """By how much the value changes when the run is left out; differences due to rounding count as 0."""
        change = self.without - self.value
        return change if abs(change) >= SAME else 0.0


class OverallChange(NamedTuple):
    """What leaving out changed over all runs, by one measure.

    mean, largest: of the changes: their mean, and the one that is farthest from 0, which is that of `largest_run`.
    tau: Kendall's τ_b between the order of the runs by all judgments and by those that are left, the mean over
        everything left out in turn; None if there never is an order.
    lowest: the lowest τ.
    """

    mean: float
    largest: float
    largest_run: str
    tau: float | None
    lowest: float | None


@dataclass(frozen=True, slots=True)
class Reusability:
    """The result of `reusability`: a row for each measure and run, and a summary for each measure.

    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> found = reusability(qrels, {"old": {"q": ["a", "b"]}, "new": {"q": ["c", "a"]}}, "AP")
    >>> found.overall["AP"].largest_run, found.to_dict()["rows"][1]["change"], found.to_json()[:15]
    ('new', -0.5, '{\\n  "runs": [\\n ')
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    groups: dict[str, str]  # by run, of those that have one
    pool_depth: int  # down to which documents are in the pool
    queries: int
    judgments: int
    rows: tuple[LeftOutRow, ...]
    overall: dict[str, OverallChange]  # by measure
    weights: Weights | None = None  # of the queries, by which all means are

    def __repr__(self) -> str:
        judged, runs = count(self.judgments, "judgment"), count(len(self.runs), "run")
        return f"<Reusability of {judged}: {runs} left out in turn, by {listed(self.measures)}>"

    def _repr_html_(self) -> str:
        return as_html("reusability", self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {
            "runs": list(self.runs),
            "measures": list(self.measures),
            "groups": self.groups,
            "pool_depth": self.pool_depth,
            "queries": self.queries,
            "judgments": self.judgments,
            **({"weights": self.weights.to_dict()} if self.weights else {}),
            "rows": [{**row._asdict(), "change": row.change} for row in self.rows],
            "overall": {measure: change._asdict() for measure, change in self.overall.items()},
        }

    to_json = Written.to_json


def reusability(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = USUAL_MEASURES,
    *,
    groups: Any = None,
    pool_depth: int | None = None,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    check_ids: bool = True,
    weights: Any = None,
    query_columns: Any = None,
) -> Reusability:
    """Leave each run out of the pool and measure again: what would a new run lose?

    qrels, runs: those of `evaluate_runs`; at least two runs.
    measures: those to measure again, named as for `evaluate`.
    groups: runs to be left out together, such as those of one team: {run: group}, or a file of two columns, run and
        group. A run without a group is left out alone.
    pool_depth: how many documents of each ranking were in the pool; by default as many as are judged in all rankings,
        but at least ten.
    policy, format, qrels_format, check_ids, weights, query_columns: those of `evaluate`.
    Returns a `Reusability`: a row for each measure and run.

    The judged documents that only the run (or its group) has down to the depth become unjudged, relevant or not, and
    all runs are measured by the judgments that are left (Zobel 1998). Documents that no run has down to the depth stay
    judged. Ranks stay as they are, also where the policy ranks ties by grade. Each run is read once; pass {name:
    JudgedRanks} of the same judgments to skip the reading.

    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> old, new = reusability(qrels, {"old": {"q": ["a", "b"]}, "new": {"q": ["c", "a"]}}, "AP").rows
    >>> new.unique, new.value, new.without, new.rank, new.rank_without
    (1, 1.0, 0.5, 1, 2)
    >>> old.unique, old.change
    (0, 0.0)
    """
    policy = policy or Policy()
    wanted = averaged_measures(measures)
    if pool_depth is not None and pool_depth < 1:
        fact = "is not a number of documents."
        raise ComparisonError(fact, parameter="pool_depth", value=pool_depth, hint="it is 1 or more")
    judgments = Judgments.read(qrels, qrels_format)
    known = QueryColumns.read(query_columns, weights=weights)
    judgments = known.answered(known.judged(judgments))
    counted = None if known.weights is None else known.weights.over(judgments.query_ids)
    tables = scanned_runs(judgments, runs, policy, format, check_ids)
    names, scanned = tuple(tables), list(tables.values())
    team = {} if groups is None else _known_groups(groups, names)
    parts = _parts(names, team)
    depth = pool_depth or complete_depth(scanned)
    gone = [contributed(scanned, part, depth) for part in parts]
    before = _columns(scanned, wanted, policy, counted)
    after = [_columns(without(scanned, its), wanted, policy, counted) if its.any() else before for its in gone]
    rows, overall = [], {}
    for at, measure in enumerate(wanted):
        relevant, judged_row = Scope.of(measure).relevant(scanned[0].judged_grades), scanned[0].judged_row
        sign = measure.definition.sign
        left_out: dict[int, LeftOutRow] = {}
        for members, its, means in zip(parts, gone, after, strict=True):
            unique = int((relevant & its[judged_row]).sum())
            for run in members:
                left_out[run] = LeftOutRow(
                    measure=measure.name,
                    run=names[run],
                    group=team.get(names[run], ""),
                    unique=unique,
                    value=float(before[at][run]),
                    without=float(means[at][run]),
                    rank=_place(sign * before[at], run),
                    rank_without=_place(sign * means[at], run),
                )
        in_order = [left_out[run] for run in range(len(names))]
        rows += in_order
        overall[measure.name] = _overall(in_order, [tau(before[at], means[at]) for means in after])
    return Reusability(
        runs=names,
        measures=tuple(measure.name for measure in wanted),
        groups=team,
        pool_depth=depth,
        queries=len(judgments),
        judgments=len(judgments.grades),
        rows=tuple(rows),
        overall=overall,
        weights=counted,
    )


def _known_groups(groups: Any, runs: Sequence[str]) -> dict[str, str]:
    named = read_words(groups, "group")
    for run in named:
        if run not in runs:
            listed = ", ".join(runs[:10]) + (", …" if len(runs) > 10 else "")
            raise InputError("the groups", f"there is no run '{run}'.", hint=f"the runs are {listed}")
    return named


def _parts(runs: Sequence[str], groups: Mapping[str, str]) -> list[list[int]]:
    """The runs that are left out together, by their places; one that has no group is left out alone."""
    if len(runs) < 2:
        raise ComparisonError("reusability needs at least two runs, since a pool without its only run is empty.")
    together: dict[tuple[bool, str], list[int]] = {}
    for at, run in enumerate(runs):
        together.setdefault((run in groups, groups.get(run, run)), []).append(at)
    if len(together) == 1:
        [(_, group)] = together
        raise ComparisonError(
            f"all runs are in the group '{group}', so leaving it out leaves no pool.",
            hint="put only runs of one kind or team into a group, or add runs of others",
        )
    return list(together.values())


def _columns(
    tables: Sequence[JudgedRanks], measures: Sequence[Measure], policy: Policy, weights: Weights | None
) -> list[Numbers]:
    means = ([mean_of(measure, table, policy, weights=weights) for table in tables] for measure in measures)
    return [np.array(every) for every in means]


def _place(values: Numbers, run: int) -> int:
    """1 for the highest value; differences due to rounding count as ties."""
    rounded = np.round(values, 12)
    return 1 + int((rounded > rounded[run]).sum())


def _overall(rows: Sequence[LeftOutRow], taus: Sequence[float | None]) -> OverallChange:
    changes = np.array([row.change for row in rows])
    most = int(np.abs(changes).argmax())
    known = [value for value in taus if value is not None]
    return OverallChange(
        mean=float(changes.mean()),
        largest=float(changes[most]),
        largest_run=rows[most].run,
        tau=float(np.mean(known)) if known else None,
        lowest=min(known, default=None),
    )
