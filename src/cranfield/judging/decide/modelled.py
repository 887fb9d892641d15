"""modelled_values(qrels, runs, measure): what each run's value would be if all of its first documents were judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from cranfield.errors import InputError, either
from cranfield.judging.decide.compared_pair import Completions
from cranfield.judging.decide.decision import candidates_of, depth_of
from cranfield.judging.decide.outlook import widened
from cranfield.measures import Measure
from cranfield.ranks.judgments import Judgments

MOST_GRADES = 50  # every step between two of them is a number to estimate


class ModelledValue(NamedTuple):
    """The value that a run would have if every document that these runs return first were judged.

    run, measure: their names
    value: the estimate; low, high: its interval, which allows for the documents that are not judged, and for nothing
        else: the queries are these
    judged, documents: how many of these documents are judged, and how many there are
    depth: how many documents of each ranking count
    queries: over how many queries the value is a mean

    >>> from cranfield import modelled_values
    >>> rankings = {"q1": ["a", "b"], "q2": ["c", "d"]}
    >>> [value] = modelled_values({"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 1}}, {"run": rankings}, "P@2")
    >>> value
    <ModelledValue: run: P@2 0.75 (0.75 to 0.75), estimated; 100% judged>
    """

    run: str
    measure: str
    value: float
    low: float
    high: float
    judged: int
    documents: int
    depth: int
    queries: int

    def __repr__(self) -> str:
        return f"<ModelledValue: {self}>"

    def __str__(self) -> str:
        share = f"{self.judged / self.documents:.0%} judged" if self.documents else "nothing to judge"
        return f"{self.run}: {self.measure} {self.value:.2f} ({self.low:.2f} to {self.high:.2f}), estimated; {share}"


def modelled_values(
    qrels: Any,
    runs: Mapping[str, Any] | Sequence[Any],
    measure: str | Measure = "nDCG@10",
    *,
    scale: Sequence[float] | None = None,
    alpha: float = 0.05,
    depth: int | None = None,
    queries: Sequence[str] | None = None,
    seed: int = 0,
    format: str | None = None,
) -> list[ModelledValue]:
    """Estimate the values that runs would have if all of their first documents were judged.

    Judgments that were chosen to decide between runs make plain values too low, because unjudged documents count as not
    relevant. A model of the grades, the one that `decide` stops by, says instead what grades the others probably have,
    from the runs that return them, their ranks, and the grades of the same query.

    qrels: the judgments, as for `evaluate`; some of the runs' documents must be judged.
    runs: {name: run} or a list of runs, which are what `evaluate` takes. With the runs that were compared, the
        documents that any of them returns count.
    measure: any measure of ranks and grades whose queries are averaged.
    scale: the grades that can be given; by default those that occur in the judgments, and at least 0 and 1.
    alpha: 1 minus the level of the interval.
    depth: how many documents of each ranking count; by default the cutoff of the measure, or 10 without one.
    queries: their ids; by default all that any run has, judged or not.
    seed: the seed of the random draws.
    format: of the runs, if it cannot be detected.
    Returns a `ModelledValue` for each run. They are estimates: compare runs with `decide`, or judge more.

    >>> from random import Random
    >>> from cranfield import evaluate
    >>> chance = Random(1)
    >>> grades = {f"q{q}": {f"d{d}": float(chance.randrange(4)) for d in range(20)} for q in range(30)}
    >>> run = {q: sorted(g, key=lambda d: -g[d] + chance.gauss(0, 2)) for q, g in grades.items()}
    >>> some = {q: {d: grade for d, grade in g.items() if chance.random() < 0.4} for q, g in grades.items()}
    >>> [plain, full] = (evaluate(qrels, run, "P@10")["P@10"] for qrels in (some, grades))
    >>> [modelled] = modelled_values(some, {"run": run}, "P@10")
    >>> plain < modelled.low < full < modelled.high, modelled.documents
    (True, 300)
    """
    judgments = Judgments.read(qrels)
    if scale is None:
        given = {grade for grades in judgments.by_query.values() for grade in grades.values() if grade >= 0}
        scale = sorted({0.0, 1.0, *map(float, given)})
        if len(scale) > MOST_GRADES:
            fact = f"they have {len(scale):,} different grades, too many to model; up to {MOST_GRADES} are possible."
            hint = "name some, to which the others are rounded: " + either("scale=[0, 1, 2, 3]", "--scale 0,1,2,3")
            raise InputError("the judgments", fact, hint=hint)
    known, chosen = candidates_of(runs, measure, judgments, scale, alpha, depth, queries, format, fewest=1)
    if not known.observed.any():
        raise InputError(
            "the judgments",
            "none of the documents that these runs return first is judged, so their grades cannot be estimated.",
            hint="judge some of them: cranfield judge --decide",
        )
    completions = Completions(known, chosen, seed)
    distance = NormalDist().inv_cdf(1 - alpha / 2)
    least, most = chosen.definition.range
    counted: dict[str, Any] = {
        "measure": chosen.name,
        "judged": int(known.observed.sum()),
        "documents": int(known.returned.sum()),
        "depth": depth_of(chosen, depth),
        "queries": len(known.query_ids),
    }
    values = []
    for place, run in enumerate(known.runs):
        means = widened(completions.values[place], known.judged_share).mean(axis=1)
        half = distance * float(means.std(ddof=1)) if len(means) > 1 else 0.0
        value = float(means.mean())
        low, high = max(value - half, least), min(value + half, most)
        values.append(ModelledValue(run=run, value=value, low=low, high=high, **counted))
    return values
