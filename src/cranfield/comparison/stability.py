"""stability(qrels, runs, measures) → Stability: what happens to measures when judgments are removed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.comparing import SEED
from cranfield.comparison.correlation import tau
from cranfield.comparison.pairing import check_finite
from cranfield.comparison.scanned import averaged_measures, scanned_runs
from cranfield.drawing import Written, as_html
from cranfield.errors import ComparisonError, choice_hint
from cranfield.evaluation.contributions import mean_of
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure, Measures
from cranfield.measures.completion import cutoff_of
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.grades import graded
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks, only_pooled, without
from cranfield.words import count, listed

FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
USUAL_MEASURES = ("nDCG@10", "AP", "Bpref")
# Says which judgments are gone when a share of them is removed, drawn anew with each call.
Draw = Callable[[float, np.random.Generator], Flags]


class StabilityRow(NamedTuple):
    """A measure after a share of the judgments was removed.

    left: how many judgments were left, the mean over the repeats.
    mean, spread: over the repeats, of the mean over the runs: its mean and its standard deviation.
    complete: the same mean with all judgments.
    tau: Kendall's τ_b between the order of the runs and the one with all judgments, the mean over the repeats in which
        there is an order; None where there never is, as with one run.
    lowest: the lowest τ of a repeat.
    """

    measure: str
    removed: float
    left: float
    mean: float
    spread: float
    complete: float
    tau: float | None
    lowest: float | None


@dataclass(frozen=True, slots=True)
class Stability:
    """The result of `stability`: a row for each measure and share of judgments removed; `by_run` are means of runs.

    >>> qrels, run = {str(q): {"a": 1, "b": 0} for q in range(20)}, {str(q): ["b", "a"] for q in range(20)}
    >>> found = stability(qrels, {"mine": run}, "RR", [0.0])
    >>> found.by_run["RR", 0.0], found.to_dict()["judgments"], found.to_json()[:15]
    ({'mine': 0.5}, 40, '{\\n  "runs": [\\n ')
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    design: str  # how judgments were drawn: "per-query" or "uniform"
    queries: int
    judgments: int
    repeats: int
    seed: int
    pooled: tuple[str, ...]  # measures for which documents whose judgment is removed stay in the pool
    rows: tuple[StabilityRow, ...]
    by_run: dict[tuple[str, float], dict[str, float]]  # by measure and share removed
    weights: Weights | None = None  # of the queries, by which all means are

    def __repr__(self) -> str:
        runs, queries = count(len(self.runs), "run"), count(self.queries, "query", "queries")
        return f"<Stability of {listed(self.measures)}: {runs}, {queries}, {count(self.repeats, 'repeat')}>"

    def _repr_html_(self) -> str:
        return as_html("stability", self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        return {
            "runs": list(self.runs),
            "measures": list(self.measures),
            "design": self.design,
            "queries": self.queries,
            "judgments": self.judgments,
            "repeats": self.repeats,
            "seed": self.seed,
            "pooled": list(self.pooled),
            **({"weights": self.weights.to_dict()} if self.weights else {}),
            "rows": [{**row._asdict(), "by_run": self.by_run[row.measure, row.removed]} for row in self.rows],
        }

    to_json = Written.to_json


def stability(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = USUAL_MEASURES,
    fractions: Sequence[float] = FRACTIONS,
    *,
    design: str = "per-query",
    repeats: int = 20,
    seed: int = SEED,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    check_ids: bool = True,
    weights: Any = None,
    groups: Any = None,
    query_columns: Any = None,
) -> Stability:
    """Remove random shares of the judgments, measure again, and see how values and the order of runs change.

    qrels, runs: those of `evaluate_runs`.
    measures: those to measure again, named as for `evaluate`.
    fractions: the shares removed, the same judgments for all runs.
    design: "per-query" takes the share away from each query, from its relevant documents (grade 1 or higher) and from
        its nonrelevant ones, and leaves it one of each, as Buckley & Voorhees (2004) thinned judgments;
        "uniform" draws from all judgments alike, so that queries with few relevant documents soon have none.
    repeats: how often each share is drawn.
    seed: the seed of the random draws.
    policy, format, qrels_format, check_ids, weights, groups, query_columns: those of `evaluate`.
    Returns a `Stability`: a row for each measure and share.

    A document whose judgment is removed stays in the ranking as an unjudged one. Measures that infer what was pooled
    from what was judged (infAP, xinfAP, infNDCG, statAP) still find it in the pool, as one that was not judged. A query
    that loses all its relevant documents, as happens with "uniform", scores 0 like every other without any. Each run is
    read once; pass {name: JudgedRanks} of the same judgments to skip the reading.

    >>> qrels = {str(q): {"a": 1, "b": 1, "c": 0} for q in range(20)}
    >>> run = {str(q): ["c", "b", "a"] for q in range(20)}
    >>> [row] = stability(qrels, {"mine": run}, "RR", [0.5]).rows
    >>> row.complete, 0.4 < row.mean < 0.5, row.tau, row.left
    (0.5, True, None, 40.0)
    """
    policy = policy or Policy()
    wanted = averaged_measures(measures, strata=True)
    if repeats < 1:
        raise ComparisonError("is too few.", parameter="repeats", value=repeats, hint="20 or more show the spread")
    for fraction in fractions:
        if not 0 <= fraction < 1:
            fact = f"{fraction} is not a share of the judgments."
            raise ComparisonError(fact, hint="give a number from 0 to below 1")
    if design not in DESIGNS:
        raise ComparisonError(f"there is no design '{design}'.", hint=choice_hint("designs are", DESIGNS, design))
    strata = None
    if any(measure.definition.table == "strata" for measure in wanted):
        strata = GroupedJudgments.read(qrels, qrels_format, strata=True)
    judgments = Judgments.read(qrels, qrels_format) if strata is None else strata.to_judgments()
    known = QueryColumns.read(query_columns, weights=weights, groups=groups)
    judgments = known.answered(known.judged(judgments))
    counted = None if known.weights is None else known.weights.over(judgments.query_ids)
    tables = scanned_runs(judgments, runs, policy, format, check_ids)
    seen = _looked_at(list(tables.values()), wanted, policy)
    complete = _means(seen, policy, strata, counted)
    draw = DESIGNS[design](judgments, policy)
    rows: list[StabilityRow] = []
    by_run: dict[tuple[str, float], dict[str, float]] = {}
    for fraction in fractions:
        # The draws for a share do not depend on the other shares.
        generator, repeated, left = np.random.default_rng([seed % 2**64, round(fraction * 1e9)]), [], []
        for _ in range(repeats):
            gone = draw(fraction, generator)
            left.append(int((~gone).sum()))
            repeated.append(_means(_thinned(seen, gone), policy, strata, counted))
        for place, measure in enumerate(wanted):
            drawn = np.array([means[place] for means in repeated])
            rows.append(_row(measure.name, fraction, left, drawn, complete[place]))
            by_run[measure.name, fraction] = dict(zip(tables, drawn.mean(axis=0).tolist(), strict=True))
    names = tuple(measure.name for measure in wanted)
    rows.sort(key=lambda row: names.index(row.measure))
    return Stability(
        runs=tuple(tables),
        measures=names,
        design=design,
        queries=len(judgments),
        judgments=len(judgments.grades),
        repeats=repeats,
        seed=seed,
        pooled=tuple(measure.name for measure in wanted if measure.definition.infers_pooled),
        rows=tuple(rows),
        by_run=by_run,
        weights=counted,
    )


def _per_query(judgments: Judgments, policy: Policy) -> Draw:
    """Remove the share from each query's relevant and nonrelevant documents, and leave at least one of each.

    Documents that were pooled and not judged (negative grades) lose the share too, and may all go. Where the share of
    a class is not a whole number, it is rounded up or down by chance, so that it holds in the mean.
    """
    # pooled only, nonrelevant, relevant
    kinds = np.searchsorted([0, 1], graded(judgments.grades, policy), side="right")
    group = judgments.query * 3 + kinds
    sizes = np.bincount(group, minlength=3 * len(judgments))
    first = np.cumsum(sizes) - sizes
    least = np.minimum(sizes, np.tile([0, 1, 1], len(judgments)))

    def draw(fraction: float, generator: np.random.Generator) -> Flags:
        keep = np.maximum(np.floor(sizes * (1 - fraction) + generator.random(len(sizes))), least)
        order = np.argsort(group + generator.random(len(group)) / 2)  # at random, group by group
        gone = np.empty(len(group), dtype=np.bool_)
        gone[order] = np.arange(len(group)) - first[group[order]] >= keep[group[order]]
        return gone

    return draw


def _uniform(judgments: Judgments, policy: Policy) -> Draw:
    """Remove the share from all judgments alike, whatever query they belong to."""
    total = len(judgments.grades)

    def draw(fraction: float, generator: np.random.Generator) -> Flags:
        gone = np.zeros(total, dtype=np.bool_)
        gone[generator.choice(total, round(fraction * total), replace=False)] = True
        return gone

    return draw


DESIGNS: dict[str, Callable[[Judgments, Policy], Draw]] = {"per-query": _per_query, "uniform": _uniform}


# A measure, and the tables of all runs down to its cutoff.
_WithinCutoff = tuple[Measure, list[JudgedRanks]]


def _looked_at(tables: list[JudgedRanks], measures: Sequence[Measure], policy: Policy) -> list[_WithinCutoff]:
    """For each measure the tables down to its cutoff, so that no rows are drawn that it does not see."""
    known: dict[int | None, list[JudgedRanks]] = {None: tables}
    seen = []
    for measure in measures:
        # Ranks change where unjudged documents are left out, and complete judgments are those of all documents.
        moves = policy.complete or dict(measure.parameters).get("judged_only")
        cutoff = None if moves else cutoff_of(measure)
        if cutoff not in known:
            known[cutoff] = [table.rows(table.within(cutoff)) for table in tables]
        seen.append((measure, known[cutoff]))
    return seen


def _thinned(seen: Sequence[_WithinCutoff], gone: Flags) -> list[_WithinCutoff]:
    """The same without some judgments; measures that share their tables still do."""
    known: dict[tuple[bool, int], list[JudgedRanks]] = {}
    for pooled, remove in ((False, without), (True, only_pooled)):
        different = {id(tables): tables for measure, tables in seen if measure.definition.infers_pooled == pooled}
        left = iter(remove([table for tables in different.values() for table in tables], gone))
        known |= {(pooled, at): list(islice(left, len(tables))) for at, tables in different.items()}
    return [(measure, known[measure.definition.infers_pooled, id(tables)]) for measure, tables in seen]


def _means(
    seen: Sequence[_WithinCutoff], policy: Policy, strata: GroupedJudgments | None, weights: Weights | None
) -> list[Numbers]:
    return [
        np.array([mean_of(measure, table, policy, strata, weights) for table in tables]) for measure, tables in seen
    ]


def _row(measure: str, removed: float, left: Sequence[int], drawn: Numbers, complete: Numbers) -> StabilityRow:
    with np.errstate(over="ignore"):
        check_finite(measure, {"the square of a mean": drawn**2})
    overall = drawn.mean(axis=1)
    taus = [value for means in drawn if (value := tau(means, complete)) is not None]
    return StabilityRow(
        measure=measure,
        removed=float(removed),
        left=float(np.mean(left)),
        mean=float(overall.mean()),
        spread=float(overall.std(ddof=1)) if len(overall) > 1 else 0.0,
        complete=float(complete.mean()),
        tau=float(np.mean(taus)) if taus else None,
        lowest=min(taus) if taus else None,
    )
