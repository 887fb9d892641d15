"""How low and how high the values of an evaluation could be, whatever unjudged documents turn out to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import InputError, given
from cranfield.evaluation.evidence import RankedEvidence
from cranfield.evaluation.values import Bounds
from cranfield.measures import Measure
from cranfield.measures.aggregates import combined
from cranfield.measures.completion import bounds, read_scale, scale_of
from cranfield.measures.over_orders import one_order
from cranfield.ranks.columns import Integers

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation


def evaluation_bounds(
    evaluation: Evaluation,
    ranked: RankedEvidence,
    measure: Measure,
    scale: Iterable[float] | None,
    unseen: int | Mapping[str, int],
    budget: int,
) -> Bounds:
    """The bounds of a measure, made of the ranks; the parameters are those of `Evaluation.bounds`."""
    if evaluation.policy.ties == "expected":
        raise one_order("has no bounds: bounds hold for one order of ties.")
    judged, kept = ranked.ranks, ranked.kept
    if measure.definition.table == "ranks":
        grades = scale_of(measure, judged.judged_grades) if scale is None else read_scale(scale)
        ends = bounds(measure, judged, grades, budget=budget, unseen=_unseen(evaluation, ranked, unseen))
        low, high, exact = ends.low[kept], ends.high[kept], ends.exact[kept]
    else:  # an unjudged document may belong to any subtopic, and so on: only the range of the values is known
        grades, more = (), _unseen(evaluation, ranked, unseen) > 0
        exact = ((judged.n_unjudged() == 0) & ~more)[kept]
        if measure.definition.table == "passages" and not evaluation.policy.complete:
            exact[:] = False  # the text around a judged passage is unjudged, too
        low, high = (np.where(exact, evaluation._columns[measure], end) for end in measure.definition.range)
    how, weight = measure.definition.aggregate, evaluation._weight()
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return Bounds(
        low=combined(low, how, weight, of=measure.name),
        high=combined(high, how, weight, of=measure.name),
        exact=bool(exact.all()),
        by_query=dict(zip(evaluation.query_ids, pairs, strict=True)),
        scale=grades,
    )


def _unseen(evaluation: Evaluation, ranked: RankedEvidence, unseen: int | Mapping[str, int]) -> Integers:
    """How many unseen documents each query of the ranks may have."""
    by_query = dict.fromkeys(evaluation.query_ids, unseen) if not isinstance(unseen, Mapping) else unseen
    known, evaluated = {str(query): count for query, count in by_query.items()}, set(evaluation.query_ids)
    for query, count in known.items():
        check_unseen(evaluation, count)
        if query not in evaluated:
            raise InputError(evaluation.run, f"query '{query}' was not evaluated.")
    return np.array([known.get(query, 0) for query in ranked.ranks.query_ids], dtype=np.int64)


def check_unseen(evaluation: Evaluation, count: int) -> None:
    """Refuse what is not a number of unseen documents, or cannot be one of this evaluation."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise InputError(
            evaluation.run,
            "is not a number of documents.",
            parameter="unseen",
            value=count,
            hint="it is a whole number from 0",
        )
    if count and evaluation.policy.complete:
        raise InputError(
            evaluation.run,
            "contradicts complete judgments, which include every relevant document.",
            parameter="unseen",
            value=count,
            hint=f"leave out one of them: {given('unseen')} or {given('complete', True, policy=True)}",
        )
