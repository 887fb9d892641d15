"""plan_sample(queries, runs, within) → SamplePlan: how many documents to judge to know a measure that precisely."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, NamedTuple

from cranfield.drawing import Written
from cranfield.errors import InputError, MeasureError
from cranfield.evaluation.naming import named_runs
from cranfield.judging.pool.choice import PoolPlan
from cranfield.judging.pool.order import GradesSoFar, chosen_queries, returned_first
from cranfield.judging.pool.pooling import query_sample
from cranfield.judging.store.checked_input import text_rows
from cranfield.judging.store.events import StoredQuery
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.scale import DEFAULT_SCALE
from cranfield.judging.store.store import Store
from cranfield.measures import Measure, parse_measure
from cranfield.ranks.judgments import Judgments
from cranfield.words import count

ESTIMATED_BY = {"AP": "xinfAP", "nDCG": "infNDCG"}  # what a sample estimates, and by which measure
ROWS = 7  # sizes that are tried, before the one that is needed is looked for between two of them


class PlannedSample(NamedTuple):
    """A sample that `pool` can draw, and how precisely it would tell values.

    sample_below: how many documents of each query it draws from below the depth
    documents: how many documents are to be judged, all queries together
    half_width: of the 95% interval, in nine of ten simulated collections at most
    likely: of the 95% interval, in half of the simulated collections at most
    difference: as half_width, for the difference between two runs; None with one run

    >>> plan = plan_sample(["q"], {"bm25": {"q": [f"d{n}" for n in range(30)]}}, 0.2, depth=5)
    >>> plan.samples[0].documents, plan.samples[0].likely <= plan.samples[0].half_width, plan.samples[0].difference
    (6, True, None)
    """

    sample_below: int
    documents: int
    half_width: float
    likely: float
    difference: float | None


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """The result of `plan_sample`.

    measure, within: what is to be known, and how precisely
    queries, runs, pooled: how many queries, runs, and documents that they return down to `sample_depth`
    judged: how many of these are judged already; the plan makes use of their grades
    depth, sample_depth, seed: what `pool` needs to draw the sample
    chosen: the smallest sample that is as precise as wanted
    samples: smaller and larger ones, with the chosen one among them

    >>> runs = {"bm25": {"q1": [f"d{n}" for n in range(60)]}, "dense": {"q1": [f"d{2 * n}" for n in range(60)]}}
    >>> plan = plan_sample({"q1": "cats"}, runs, within=0.1, depth=5, sample_depth=50)
    >>> plan.chosen.half_width <= 0.1, plan.chosen in plan.samples, plan.sentence[:27]
    (True, True, 'To know xinfAP within 0.1, ')
    >>> plan.to_dict()["pooled"], plan.to_json()[:24]
    (75, '{\\n  "measure": "xinfAP",')
    """

    measure: str
    within: float
    queries: int
    runs: int
    pooled: int
    judged: int
    depth: int
    sample_depth: int
    seed: int
    chosen: PlannedSample
    samples: tuple[PlannedSample, ...]

    def __repr__(self) -> str:
        documents = count(self.chosen.documents, "document")
        return f"<SamplePlan {self.measure} within {self.within:g}: {documents} of {self.pooled:,}>"

    @property
    def sentence(self) -> str:
        """What to judge."""
        known = f"To know {self.measure} within {self.within:g}"
        documents = count(self.chosen.documents, "document")
        if not self.chosen.documents:
            return f"{known}, nothing more must be judged of the {count(self.pooled, 'document')} in the pool."
        if self.chosen.half_width == 0:
            return f"{known}, judge all {documents} of the pool: no sample is enough."
        top = f"the first {self.depth} of each ranking, and " if self.depth else ""
        drawn = f"{self.chosen.sample_below:,} of each query drawn at random"
        return f"{known}, judge {documents} of {self.pooled:,}: {top}{drawn}."

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        rows = [sample._asdict() for sample in self.samples]
        return {**asdict(self), "chosen": self.chosen._asdict(), "samples": rows}

    to_json = Written.to_json


def plan_sample(
    queries: Mapping[Any, Any] | Iterable[Any],
    runs: Mapping[str, Any] | Iterable[Any],
    within: float,
    measure: str | Measure = "xinfAP",
    depth: int = 10,
    *,
    sample_depth: int = 100,
    judgments: Any = None,
    query_ids: Sequence[str] | None = None,
    seed: int = 0,
    format: str | None = None,
) -> SamplePlan:
    """Find the smallest sample of a pool that tells the values of runs precisely enough, before anything is judged.

    queries, runs, depth, sample_depth, query_ids, seed, format: those of `pool`.
    within: half of the 95% interval of a run's mean that is wanted, such as 0.02.
    measure: "xinfAP", "infNDCG" or "statAP"; "AP" and "nDCG" mean the first two.
    judgments: those that exist already, an open `Store` or what `Judgments.read` takes; the plan is then more exact.
    Returns a `SamplePlan`: how many documents to judge, and how precise other numbers of them would be.

    The uncertainty is that of the sample alone: how far the estimate is from the value that the same queries would
    have if all documents of the pool were judged. The choice of queries adds to it, as it does to every mean.

    It is simulated: documents are relevant with a chance that rises with the number of runs that return them, and with
    their ranks there. How many are relevant in all is not known before judging, so it is different in each of 20
    simulated collections, with the known grades in all of them.

    >>> runs = {"bm25": {"q1": [f"d{n}" for n in range(60)]}, "dense": {"q1": [f"d{2 * n}" for n in range(60)]}}
    >>> plan = plan_sample({"q1": "cats"}, runs, 0.1, "AP", depth=5, sample_depth=50)
    >>> plan.measure, plan.pooled, [sample.documents for sample in plan.samples][-1]
    ('xinfAP', 75, 75)
    """
    from cranfield.judging.pool.simulated_samples import PooledRuns, SimulatedSamples

    estimated = estimator_of(measure, within)
    plan = PoolPlan(depth, 1, sample_depth, None, 0.0, seed)
    plan.check()
    known = [row["query_id"] for row in text_rows(queries, StoredQuery, "the queries")]
    wanted = known if query_ids is None else chosen_queries(query_ids, known, "the queries")
    grades, strata, scale = _known(judgments, wanted, plan)
    named = named_runs(runs)
    returned, _ = returned_first(named, known, wanted, plan.deepest, format)
    below = max((sum(min(ranks.values()) > depth for ranks in its.values()) for its in returned.values()), default=0)
    if not below:
        fact = f"no run returns a document between rank {depth + 1} and rank {sample_depth}, so there is no sample."
        raise InputError("the runs", fact, hint="give runs with deeper rankings, or pool them completely")
    pool = PooledRuns({query: returned[query] for query in wanted}, tuple(named), grades, strata, scale)
    simulated = SimulatedSamples(pool, plan, estimated)

    def planned(size: int) -> PlannedSample:
        sample = simulated.sample(size)
        widths = simulated.half_widths(sample)
        return PlannedSample(size, sample.documents, widths.cautious, widths.likely, widths.difference)

    sizes = sorted({round(below ** (row / (ROWS - 1))) for row in range(ROWS)})
    simulated.keep_widest(simulated.sample(sizes[len(sizes) // 2]))
    tried = {size: planned(size) for size in sizes}
    high = next(size for size in sizes if tried[size].half_width <= within or size == below)
    low = max((size for size in sizes if size < high), default=0)
    while high - low > 1:
        middle = (low + high) // 2
        tried[middle] = planned(middle)
        low, high = (low, middle) if tried[middle].half_width <= within else (middle, high)
    by_documents = {tried[size].documents: tried[size] for size in (*sizes, high)}
    chosen = by_documents[tried[high].documents]
    return SamplePlan(
        measure=estimated.name,
        within=float(within),
        queries=len(wanted),
        runs=len(named),
        pooled=sum(map(len, pool.returned.values())),
        judged=sum(document in grades.get(query, ()) for query, its in pool.returned.items() for document in its),
        depth=depth,
        sample_depth=sample_depth,
        seed=seed,
        chosen=chosen,
        samples=tuple(by_documents[documents] for documents in sorted(by_documents)),
    )


def estimator_of(measure: str | Measure, within: float) -> Measure:
    """The measure that estimates this one from strata; an error if there is none, or if `within` is no precision."""
    if isinstance(within, bool) or not isinstance(within, int | float) or not (isfinite(within) and within > 0):
        raise InputError("the plan", "is not a number above 0.", parameter="within", value=within)
    asked = parse_measure(measure) if isinstance(measure, str) else measure
    if asked.definition.name in ESTIMATED_BY:
        estimator = parse_measure(ESTIMATED_BY[asked.definition.name])
        if {name for name, _ in asked.parameters} <= estimator.definition.kinds.keys():
            return estimator.replace(**dict(asked.parameters))
    if asked.definition.table != "strata":
        hint = "xinfAP, infNDCG and statAP are; AP means xinfAP, and nDCG infNDCG"
        raise MeasureError(f"{asked} is not estimated from a sample.", hint=hint)
    return asked


_Known = tuple[GradesSoFar, Mapping[str, Mapping[str, str]], Sequence[float]]


def _known(judgments: Any, queries: Sequence[str], plan: PoolPlan) -> _Known:
    """What is judged already, the strata of earlier pools, and the grades that a relevant document may get."""
    grades: GradesSoFar = {}
    strata: Mapping[str, Mapping[str, str]] = {}
    scale = DEFAULT_SCALE
    if isinstance(judgments, Store):
        from cranfield.judging.store.views import merged_grades
        from cranfield.judging.store.waiting import strata_of_queries

        with judgments._reading() as connection:
            query_sample(judgments, connection, queries, plan)
            strata = strata_of_queries(connection)
        grades, scale = merged_grades(judgments, "majority", BY_PEOPLE), judgments.scale
    elif judgments is not None:
        by_query = Judgments.read(judgments).by_query
        grades = {query: {d: grade for d, grade in its.items() if grade >= 0} for query, its in by_query.items()}
    given_grades = {grade for its in grades.values() for grade in its.values() if grade is not None and grade > 0}
    return grades, strata, sorted(given_grades | {step.grade for step in scale if step.grade > 0})
