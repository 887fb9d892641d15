"""The values of an evaluation, query by query: as columns, as means of segments, and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import ComparisonError, InputError, MeasureError, need
from cranfield.evaluation.summary import Summary
from cranfield.evaluation.values import QueryValue
from cranfield.evaluation.weighting import MARK, Weights, hash_of
from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.measures.flat_names import finite, flat_names
from cranfield.measures.registry import Aggregate
from cranfield.ranks.columns import Integers, Numbers

if TYPE_CHECKING:
    from cranfield.evaluation.corrected import CorrectionBasis
    from cranfield.evaluation.estimating import Columns, Estimate
    from cranfield.evaluation.result import Evaluation


@dataclass(frozen=True, init=False, eq=False, repr=False, kw_only=True)
class ValuesByQuery(Summary):
    """The value of each query by each measure; everything else is derived from them."""

    query_ids: tuple[str, ...]
    _columns: Mapping[Measure, Numbers] = field(repr=False)  # in the order of `query_ids`
    # Where people correct means: values of queries are by a model's grades, and those of sampled ones by people's too.
    basis: CorrectionBasis | None = None
    by_people: Evaluation | None = field(default=None, repr=False)
    weights: Weights | None = None  # of the queries, and their groups; without any, all count alike
    segments: Mapping[str, str] | None = field(default=None, repr=False)  # of the queries, where they are known
    _means: dict[Measure, float] = field(default_factory=dict, init=False, repr=False)  # those that were asked for

    def __getitem__(self, measure: str | Measure) -> float:
        wanted = self._key(measure)
        if wanted not in self._means:
            values, how = self._columns[wanted], wanted.definition.aggregate
            corrected = self.by_people is not None
            self._means[wanted] = (
                self.estimate(wanted).value if corrected else aggregate(values, how, self._weight(), of=wanted.name)
            )
        return self._means[wanted]

    def describe_counts(self) -> str:
        """The counts in words, and first by which weights means are, or who corrects which model.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"]}, "RR").describe_counts()
        '2 queries; 1 judged but not in the run (counts 0)'
        """
        counts = super().describe_counts()
        if self.weights is not None:
            return f"{MARK} {self.weights.sentence}; {counts}"
        return counts if self.basis is None else f"{self.basis.sentence}; {counts}"

    def _signed_weights(self) -> tuple[str, ...]:
        segments = () if self.segments is None else (f"segments:{hash_of(self.segments)[:12]}",)
        return (*(self.weights.signed if self.weights else ()), *segments, *self._signed_answers())

    def _signed_answers(self) -> tuple[str, ...]:
        return ()

    def heading(self, measure: str | Measure) -> str:
        """The name of a measure above its values; † where its mean is weighted.

        measure: any of its names, or a `Measure`.
        Returns the name.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR NumRel", weights={"1": 5})
        >>> result.heading("RR"), result.heading("NumRel")
        ('RR†', 'NumRel')
        """
        wanted = self._find(measure)
        averaged = self.weights is not None and wanted.definition.aggregate in ("mean", "geometric")
        return f"{wanted.name}{MARK}" if averaged else wanted.name

    def _key(self, measure: str | Measure) -> Measure:
        """The key of a measure's column; a `Measure` needs no search by name."""
        return measure if isinstance(measure, Measure) and measure in self._columns else self._find(measure)

    def column(self, measure: str | Measure) -> Numbers:
        """The values of a measure as a column.

        measure: any of its names, or a `Measure`.
        Returns a new array, in the order of `query_ids`.
        """
        return self._columns[self._key(measure)].copy()

    def by_query(self, measure: str | Measure) -> dict[str, float]:
        """The values of a measure by query.

        measure: any of its names, or a `Measure`.
        Returns the value of each query.
        """
        return dict(zip(self.query_ids, self.column(measure).tolist(), strict=True))

    def estimate(
        self,
        measure: str | Measure,
        *,
        alpha: float = 0.05,
        weights: Any = None,
        groups: Any = None,
    ) -> Estimate:
        """The mean of a measure with its interval.

        measure: any of its names, or a `Measure`; one that is averaged over queries.
        alpha: the interval is at the level 1 - alpha.
        weights: how much each query counts, as {query: weight} or a file of both; by default those of the evaluation.
        groups: repeats or variants of a query, as {query: group}; each group counts as one, and so does a query that is
            not listed. By default those of the evaluation.
        Returns an `Estimate`. Like every t interval, its interval is an approximation, too short for few queries whose
        values are very skewed.

        >>> from cranfield import evaluate
        >>> qrels, run = {str(q): {"a": 1} for q in range(9)}, {str(q): ["b"] * (q % 2) + ["a"] for q in range(9)}
        >>> result = evaluate(qrels, run, "RR")
        >>> result.estimate("RR"), result.estimate("RR", weights={q: 1 + 2 * (q == "1") for q in qrels}).queries
        (<Estimate 0.7778 (0.5752 to 0.9803); 9 queries>, 7.117647058823529)
        """
        wanted = self._key(measure)
        if wanted.definition.aggregate != "mean":
            raise MeasureError(f"{wanted} is not a mean over queries ({wanted.definition.aggregate}).")
        if not 0 < alpha < 1:
            raise ComparisonError(
                "is not a level of an interval.", parameter="alpha", value=alpha, hint="it lies between 0 and 1"
            )
        if weights is not None or groups is not None:
            self._refuse_corrected("means with weights or groups")
        from cranfield.evaluation.estimating import estimated, estimates_of

        if weights is not None or groups is not None:
            self._refuse_parts([wanted], "means with weights or groups")
        columns = self._estimated_columns(wanted, weights, groups)
        [estimate] = estimates_of(estimated(columns), alpha, *wanted.definition.range)
        return estimate

    def _estimated_columns(self, measure: Measure, weights: Any, groups: Any) -> Columns:
        from cranfield.evaluation.estimating import Columns

        values = self._columns[measure][:, None]
        if self.by_people is not None:
            place = {query: at for at, query in enumerate(self.query_ids)}
            drawn = np.array([place[query] for query in self.by_people.query_ids], dtype=np.int64)
            return Columns(self.by_people._columns[measure][:, None], proxy=values, drawn=drawn)
        its = self.weights
        if weights is not None or groups is not None:
            its = Weights.read(self.weights if weights is None else weights, groups).over(self.query_ids)
        if its is None:
            return Columns(values)
        ids = self.query_ids
        return Columns(values, its.column(ids), its.group(ids), probability=its.probabilities(ids))

    def aggregate(self, measure: str | Measure, how: Aggregate | None = None, *, weights: Any = None) -> float:
        """The values of a measure over all queries as one number.

        measure: any of its names, or a `Measure`.
        how: "mean", "geometric" (values below 0.00001 count as that), "median" or "sum"; by default what the measure
            is made for.
        weights: how much each query counts in the mean, as {query: weight} or a file of both; by default those of the
            evaluation.
        Returns the number.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "RR")
        >>> result.aggregate("RR", "median"), result.aggregate("RR", weights={"1": 3, "2": 1})
        (0.75, 0.875)
        """
        self._refuse_corrected("aggregates")
        wanted = self._find(measure)
        how = how or wanted.definition.aggregate
        if how != "mean" or weights is not None:
            self._refuse_parts([wanted], "other aggregates")
        return aggregate(self._columns[wanted], how, self._weight(weights), of=wanted.name)

    def _refuse_corrected(self, what: str) -> None:
        if self.basis is not None:
            raise InputError(
                self.run,
                f"{what} are not known where people correct a model: only means over all queries are corrected.",
                hint="evaluate it by people's judgments, or by the model's",
            )

    def _refuse_parts(self, measures: Iterable[Measure], what: str) -> None:
        for measure in measures:
            if measure.definition.of_run:
                fact = f"{measure.name} is a value of the whole run, which has no {what}."
                raise InputError(self.run, fact, hint="leave it out")

    def _weight(self, weights: Any = None) -> Numbers | None:
        """The weight of each query, by default that of the evaluation; None where all count alike."""
        its = self._weights(weights)
        return None if its is None else its.column(self.query_ids)

    def _weights(self, weights: Any = None) -> Weights | None:
        return self.weights if weights is None else Weights.read(weights).over(self.query_ids)

    def _group(self) -> Integers | None:
        return None if self.weights is None else self.weights.group(self.query_ids)

    def by_segment(self, measure: str | Measure, segments: Mapping[str, str] | None = None) -> dict[str, float]:
        """The value of a measure in each segment of the queries.

        measure: any of its names, or a `Measure`.
        segments: the segment of each query, as {query: segment}; queries without one are left out. By default those of
            the evaluation.
        Returns by segment what `aggregate` gives over its queries, in the order of their names.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "RR")
        >>> result.by_segment("RR", {"1": "short", "2": "long"})
        {'long': 0.5, 'short': 1.0}
        """
        self._refuse_corrected("segments")
        wanted = self._find(measure)
        segments = self.segments if segments is None else segments
        if segments is None:
            raise InputError(self.run, "no segments of its queries are known.", hint="give {query: segment}")
        self._refuse_parts([wanted], "segments")
        known = {str(query): str(segment) for query, segment in segments.items()}
        places: dict[str, list[int]] = {}
        for place, query in enumerate(self.query_ids):
            if query in known:
                places.setdefault(known[query], []).append(place)
        values, how = self._columns[wanted], wanted.definition.aggregate
        return {
            segment: aggregate(
                values[places[segment]],
                how,
                self._weight_of(places[segment]),
                of=f"{wanted} in segment '{segment}'",
            )
            for segment in sorted(places)
        }

    def _weight_of(self, places: Sequence[int]) -> Numbers | None:
        """The weights of some queries, by their places; of a group, those that are among them count as one."""
        return None if self.weights is None else self.weights.column([self.query_ids[at] for at in places])

    @property
    def per_query(self) -> list[QueryValue]:
        """Every value, as rows (run, query_id, measure, value)."""
        return [
            QueryValue(self.run, query, measure.name, value)
            for measure in self.measures
            for query, value in zip(self.query_ids, self._columns[measure].tolist(), strict=True)
        ]

    def to_dict(self, *, per_query: bool = True, flat: bool = False) -> dict[str, Any]:
        """The evaluation as plain dicts, ready for JSON.

        per_query: with the value of every query, not only the means.
        flat: instead of all this only numbers, under names that trackers of experiments take.
        Returns a dict of texts, numbers, lists and dicts.

        >>> from cranfield import evaluate
        >>> plain = evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").to_dict()
        >>> plain["mean"], plain["per_query"]
        ({'RR': 1.0}, {'1': {'RR': 1.0}})
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "nDCG@10 P(rel=2)@5").to_dict(flat=True)
        {'nDCG_at_10': 1.0, 'P_rel2_at_5': 0.0, 'queries': 1.0}
        """
        if flat:
            named = flat_names(self)
            return finite({**{named[name]: self[name] for name in self}, "queries": len(self.query_ids)})
        result = super().to_dict()
        if self.weights is not None:
            result["weights"] = self.weights.to_dict()
        if self.basis is not None:
            result |= {"basis": asdict(self.basis), "estimates": {name: asdict(self.estimate(name)) for name in self}}
        if per_query:
            columns = [self._columns[measure].tolist() for measure in self.measures]
            result["per_query"] = {
                query: dict(zip(self, values, strict=True))
                for query, *values in zip(self.query_ids, *columns, strict=True)
            }
        return result

    def to_json(self, *, per_query: bool = True, indent: int | None = 2) -> str:
        """The evaluation as JSON.

        per_query: with the value of every query, not only the means.
        indent: how many spaces to indent each level by; None writes everything on one line.
        Returns the text.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").to_json(per_query=False)[:21]
        '{\\n  "run": "the run",'
        """
        import json

        return json.dumps(self.to_dict(per_query=per_query), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_arrow(self) -> Any:
        """The table `per_query` for pyarrow.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").to_arrow().column_names
        ['run', 'query_id', 'measure', 'value']
        """
        arrow = need("pyarrow", extra="frames", purpose="Evaluation.to_arrow")
        return arrow.table(self._table())

    def to_pandas(self) -> Any:
        """The table `per_query` for pandas.

        >>> from cranfield import evaluate
        >>> print(evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").to_pandas())
            run query_id measure  value
        0  mine        1      RR    1.0
        """
        return need("pandas", purpose="Evaluation.to_pandas").DataFrame(self._table())

    def to_polars(self) -> Any:
        """The table `per_query` for polars.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").to_polars().row(0)
        ('mine', '1', 'RR', 1.0)
        """
        return need("polars", purpose="Evaluation.to_polars").DataFrame(self._table())

    def _table(self) -> dict[str, Any]:
        queries = len(self.query_ids)
        return {
            "run": [self.run] * (queries * len(self)),
            "query_id": list(self.query_ids) * len(self),
            "measure": [name for name in self for _ in range(queries)],
            "value": np.concatenate([self._columns[measure] for measure in self.measures]),
        }
