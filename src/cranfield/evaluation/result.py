"""What an evaluation gives: the mean of each measure, the value of each query, and how they came about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from itertools import compress
from math import inf
from typing import Any

import numpy as np

from cranfield.errors import InputError, MeasureError, PolicyError, need
from cranfield.evaluation.facts import FactColumns, QueryFacts
from cranfield.evaluation.in_notebooks import notebook_html
from cranfield.evaluation.summary import Summary
from cranfield.evaluation.tie_ranges import TieRange, tie_range, told
from cranfield.evaluation.values import Bounds, Counts, QueryValue
from cranfield.measures import Measure, parse_measure, parse_measures
from cranfield.measures.aggregates import aggregate, combined
from cranfield.measures.completion import BUDGET, bounds, default_scale, read_scale
from cranfield.measures.registry import Aggregate
from cranfield.measures.scope import Scope, without_relevant
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.documents import Documents
from cranfield.ranks.overlap import little_in_common
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.tie_orders import TieOrders
from cranfield.version import __version__

LARGE = 1e290  # values up to here can be added up, however many queries there are


class Evaluation(Summary):
    """The result of `evaluate`: a mapping from measure to its mean over the queries.

    Any spelling of a measure finds it.

    >>> from cranfield import evaluate
    >>> result = evaluate({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.2, "b": 0.9}}, "RR P@1")
    >>> result["RR"], result["recip_rank"], result["P_1"]
    (0.5, 0.5, 0.0)
    >>> result.by_query("RR"), result.column("RR"), result.query_ids
    ({'q1': 0.5}, array([0.5]), ('q1',))
    >>> result.per_query[0]
    QueryValue(run='the run', query_id='q1', measure='RR', value=0.5)
    >>> print(result)
    the run
    RR   0.5000
    P@1  0.0000
    1 query
    >>> result.shown("RR"), result.describe_counts(), result.counts.queries
    ('0.5000', '1 query', 1)
    >>> result.definition("RR").name, result.queries("RR", ["q1"])[0].first, result.unjudged()
    ('RR', 2, {'q1': 0})
    """

    def __init__(
        self,
        run: str,
        measures: Sequence[Measure],
        judged: JudgedRanks,
        policy: Policy,
        inputs: tuple[str, str],
        tables: Mapping[str, Any] | None = None,  # by name: those of judgments with groups, where a measure needs them
        *,
        documents: Documents | None = None,
        warnings: Sequence[str] | None = None,
        orders: TieOrders | None = None,
        provenance: str = "",
    ):
        kept = ~judged.missing if policy.missing == "skip" else np.ones(len(judged), dtype=np.bool_)
        self._judged: JudgedRanks | None = judged
        self._kept = kept
        self._warnings = warnings
        self._orders = orders
        self._ranges: dict[Measure, TieRange | None] = {}
        self._documents = documents
        self.run = run
        self.measures = tuple(measures)
        self.policy = policy
        self.qrels_sha256, self.run_sha256 = inputs
        self.provenance = provenance
        self.version = __version__
        self.query_ids = judged.query_ids if kept.all() else tuple(compress(judged.query_ids, kept))
        self.counts = Counts(
            queries=len(self.query_ids),
            judged=len(judged),
            missing=int(judged.missing.sum()),
            extra=judged.extra,
            tied=float(judged.tied.mean()) if len(judged.tied) else 0.0,
            **self._without_relevant(),
        )
        every = {"ranks": judged, **(tables or {})}
        self._values = {measure: self._measured(measure, every[measure.definition.table]) for measure in self.measures}
        self._facts: dict[Scope, FactColumns] = {}

    def _without_relevant(self) -> dict[str, int]:
        """How many queries have no relevant document, for some of the measures and for all of them."""
        some, every = without_relevant(self.measures, self._ranks())
        return {
            "no_relevant": int(some[self._kept].sum()),
            "no_relevant_for_all": int(every[self._kept].sum()),
        }

    def __getitem__(self, measure: str | Measure) -> float:
        wanted = self._find(measure)
        return aggregate(self._values[wanted], wanted.definition.aggregate, of=wanted.name)

    def _measured(self, measure: Measure, table: Any) -> Numbers:
        """The values of a measure; an error where one of them, or all of them together, are no finite number."""
        values = measure(table)[self._kept]
        if inf in measure.definition.range and np.abs(values).max(initial=0.0) > LARGE:
            aggregate(values, measure.definition.aggregate, of=measure.name)
        return values

    def column(self, measure: str | Measure) -> Numbers:
        """The values of a measure, in the order of `query_ids`."""
        return self._values[self._find(measure)].copy()

    def by_query(self, measure: str | Measure) -> dict[str, float]:
        """The values of a measure by query."""
        return dict(zip(self.query_ids, self.column(measure).tolist(), strict=True))

    def aggregate(
        self, measure: str | Measure, how: Aggregate | None = None, *, weights: Mapping[str, float] | None = None
    ) -> float:
        """The values of a measure over all queries as one number.

        how: "mean", "geometric" (values below 0.00001 count as that), "median" or "sum"; by default what the measure
            is made for.
        weights: how much each query counts in the mean; one that is not listed counts 1.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "RR")
        >>> result.aggregate("RR", "median"), result.aggregate("RR", weights={"1": 3})
        (0.75, 0.875)
        """
        wanted = self._find(measure)
        its_weights = None
        if weights is not None:
            from cranfield.read.pairs import read_numbers

            known = read_numbers(weights, "weight")
            its_weights = np.array([known.get(query, 1.0) for query in self.query_ids])
        return aggregate(self._values[wanted], how or wanted.definition.aggregate, its_weights, of=wanted.name)

    def bounds(
        self,
        measure: str | Measure,
        *,
        scale: Iterable[float] | None = None,
        unseen: int | Mapping[str, int] = 0,
        budget: int = BUDGET,
    ) -> Bounds:
        """How low and how high a measure could be, whatever unjudged documents turn out to be.

        These are the unjudged documents that the run retrieved. Documents that it did not retrieve count as not
        relevant, apart from `unseen` ones. Ranks stay as they are, also where the policy ranks ties by grade.

        scale: the grades that an unjudged document may have; by default those that occur in the judgments, and at least
            0, 1 and the grade that counts as relevant.
        unseen: how many documents that were neither judged nor retrieved may have such a grade as well, of each query
            or by query.
        budget: how much to try; with less, bounds may be wider than need be.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1, "b": 1}}, {"1": ["x", "a", "y"]}, "RR R@3")
        >>> result.bounds("RR").low, result.bounds("RR").high, result.bounds("RR").scale
        (0.5, 1.0, (0.0, 1.0))
        >>> result.bounds("R@3").low, result.bounds("R@3", unseen=2).low
        (0.5, 0.25)
        """
        wanted = self._find(measure)
        judged = self._ranks()
        if wanted.definition.table == "ranks":
            grades = default_scale(wanted, judged) if scale is None else read_scale(scale)
            found = bounds(wanted, judged, grades, budget=budget, unseen=self._unseen(unseen))
            low, high, exact = found.low[self._kept], found.high[self._kept], found.exact[self._kept]
        else:  # an unjudged document may belong to any subtopic, and so on: no more is known than what values there are
            grades, more = (), self._unseen(unseen) > 0
            exact = ((judged.n_unjudged() == 0) & ~more)[self._kept]
            low, high = (np.where(exact, self._values[wanted], end) for end in wanted.definition.range)
        how = wanted.definition.aggregate
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return Bounds(
            low=combined(low, how, of=wanted.name),
            high=combined(high, how, of=wanted.name),
            exact=bool(exact.all()),
            by_query=dict(zip(self.query_ids, pairs, strict=True)),
            scale=grades,
        )

    def tie_range(self, measure: str | Measure) -> tuple[float, float] | None:
        """The lowest and the highest mean of a measure, whatever the order of documents with equal scores.

        They are those of Policy(ties="worst") and Policy(ties="best"), and equal where no judged document is tied. None
        where they are not known: of a saved evaluation, with `lengths`, for measures of subtopics, preferences and
        groups, and for those of unjudged documents, such as Judged@10.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}}, {"1": {"a": 0.5, "b": 0.5, "c": 0.5}}, "RR")
        >>> result["RR"], result.tie_range("RR")
        (0.3333333333333333, (0.3333333333333333, 1.0))
        """
        found = self._tie_range(self._find(measure))
        return None if found is None else (min(found), max(found))

    def _tie_range(self, measure: Measure) -> TieRange | None:
        if measure not in self._ranges and self._orders is not None:
            self._ranges[measure] = tie_range(measure, self._orders, self._kept, self[measure])
        return self._ranges.get(measure)

    @property
    def tie_warning(self) -> str:
        """Which values the order of equal scores decides; empty if none, or if the policy chooses that order.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": {"a": 0.5, "b": 0.5}}, "RR").tie_warning
        'ties decide: RR 0.5000, between 0.5000 (worst order of ties) and 1.0000 (best)'
        """
        ranges = {measure: its for measure in self.measures if (its := self._tie_range(measure)) is not None}
        return told(ranges, {measure: self[measure] for measure in ranges}, self.policy)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What casts doubt on the values: ids that hardly match, and ties that decide.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}, {"1": ["a"]}, "RR").warnings
        ('only 1 of the 3 judged queries is in the run; the others count 0',)
        """
        if self._warnings is None:
            self._warnings = little_in_common(self._ranks(), self.policy)
        return (*self._warnings, *filter(None, [self.tie_warning]))

    def _unseen(self, unseen: int | Mapping[str, int]) -> Integers:
        """How many unseen documents each query of the ranks may have."""
        given = dict.fromkeys(self.query_ids, unseen) if not isinstance(unseen, Mapping) else unseen
        known, evaluated = {str(query): count for query, count in given.items()}, set(self.query_ids)
        for query, count in known.items():
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise InputError(
                    self.run, f"unseen={count!r} is not a number of documents.", hint="it is a whole number from 0"
                )
            if query not in evaluated:
                raise InputError(self.run, f"query '{query}' was not evaluated.")
            if count and self.policy.complete:
                raise InputError(
                    self.run,
                    f"unseen={count} contradicts complete judgments, which miss no relevant document.",
                    hint="leave out one of them: unseen (--unseen), or complete=True (--complete)",
                )
        return np.array([known.get(query, 0) for query in self._ranks().query_ids], dtype=np.int64)

    def unjudged(self) -> dict[str, int]:
        """How many documents of each ranking are not judged."""
        holes = self._ranks().n_unjudged().astype(int)[self._kept]
        return dict(zip(self.query_ids, holes.tolist(), strict=True))

    def _ranks(self) -> JudgedRanks:
        if self._judged is None:
            raise InputError(
                self.run,
                "a saved evaluation does not know the ranks, and so no bounds and no further measures.",
                hint="evaluate the run again",
            )
        return self._judged

    @property
    def ranks(self) -> JudgedRanks | None:
        """The table that the values were made of; None for a saved evaluation.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR").ranks.rank.tolist()
        [2]
        """
        return self._judged

    @property
    def documents(self) -> Documents | None:
        """Where the documents of the run can be read again: its file, or what was evaluated, which is kept for that.

        None for a saved evaluation, and for a run that stayed in an engine.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR")
        >>> [len(codes) for codes in result.documents.codes(result.ranks)]
        [2]
        """
        return self._documents

    def extended(self, measures: str | Measure | Iterable[str | Measure]) -> Evaluation:
        """The same evaluation with further measures of ranks and grades; the run is not read again.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR").extended("P@1 P@2")
        <Evaluation of the run: RR=0.5000, P@1=0.0000, P@2=0.5000; 1 query>
        """
        judged = self._ranks()
        named = [measures] if isinstance(measures, str | Measure) else measures
        more = parse_measures([*self.measures, *named])[len(self.measures) :]
        for measure in more:
            measure.check_ranks()
        whole = copy(self)
        whole.measures = self.measures + more
        whole.counts = replace(self.counts, **whole._without_relevant())
        whole._values = {**self._values, **{measure: self._measured(measure, judged) for measure in more}}
        return whole

    def by_segment(self, measure: str | Measure, segments: Mapping[str, str]) -> dict[str, float]:
        """The mean of a measure in each segment of the queries; {query: segment}, queries without one are left out.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}, "RR")
        >>> result.by_segment("RR", {"1": "short", "2": "long"})
        {'long': 0.5, 'short': 1.0}
        """
        wanted = self._find(measure)
        known = {str(query): str(segment) for query, segment in segments.items()}
        places: dict[str, list[int]] = {}
        for place, query in enumerate(self.query_ids):
            if query in known:
                places.setdefault(known[query], []).append(place)
        values, how = self._values[wanted], wanted.definition.aggregate
        return {
            segment: aggregate(values[places[segment]], how, of=f"{wanted} in segment '{segment}'")
            for segment in sorted(places)
        }

    @property
    def per_query(self) -> list[QueryValue]:
        """Every value, as rows (run, query_id, measure, value)."""
        return [
            QueryValue(self.run, query, measure.name, value)
            for measure in self.measures
            for query, value in zip(self.query_ids, self._values[measure].tolist(), strict=True)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the evaluation, for a later comparison with another: a JSON file with the value of every query.

        >>> import tempfile
        >>> from cranfield import evaluate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").save(f"{folder}/mine.json")
        ...     Evaluation.load(f"{folder}/mine.json")
        <Evaluation of mine: RR=1.0000; 1 query>
        """
        from cranfield.evaluation import saving as saved

        content = {
            **self.to_dict(per_query=False),
            "version": self.version,
            "query_ids": list(self.query_ids),
            "facts": {measure.name: _plain(self.facts(measure)) for measure in self.measures},
            "values": {measure.name: self._values[measure].tolist() for measure in self.measures},
        }
        saved.write(path, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evaluation:
        """Load a saved evaluation. It knows all that it knew, except the ranks: `bounds` is an error.

        >>> import tempfile
        >>> from cranfield import evaluate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").save(f"{folder}/mine.json")
        ...     Evaluation.load(f"{folder}/mine.json")["RR"]
        1.0
        """
        from cranfield.evaluation import saving as saved

        content = saved.read(path)
        loaded = cls.__new__(cls)
        try:
            loaded.run = content["run"]
            loaded.measures = tuple(map(parse_measure, content["values"]))
            loaded.policy = Policy(**content["policy"])
            loaded.counts = Counts(**content["counts"])
            loaded.qrels_sha256, loaded.run_sha256 = content["qrels_sha256"], content["run_sha256"]
            loaded.provenance = str(content.get("provenance", ""))
            loaded.version = content["version"]
            loaded.query_ids = tuple(content["query_ids"])
            loaded._warnings = tuple(map(str, content.get("warnings", ())))
            columns = map(np.array, content["values"].values())
            loaded._values = dict(zip(loaded.measures, columns, strict=True))
            facts = content["facts"]
            loaded._facts = {Scope.of(each): _columns(facts[name]) for name, each in zip(facts, loaded.measures)}
        except (KeyError, TypeError, MeasureError, PolicyError) as error:
            raise InputError(os.fspath(path), f"this version cannot read what was saved: {error}") from None
        loaded._documents = None
        loaded._judged, loaded._kept = None, np.ones(len(loaded.query_ids), dtype=np.bool_)
        loaded._orders, loaded._ranges = None, {}
        return loaded

    def facts(self, measure: str | Measure) -> FactColumns:
        """What the measure looks at, counted for each query in the order of `query_ids`: by its own rel and cutoff.

        >>> from cranfield import evaluate
        >>> result = evaluate({"q1": {"a": 1, "b": 2}}, {"q1": ["a", "b"]}, "P@1 P(rel=2)@1")
        >>> result.facts("P@1").found, result.facts("P(rel=2)@1").found
        (array([1]), array([0]))
        """
        scope = Scope.of(self._find(measure))
        if scope not in self._facts:
            self._facts[scope] = FactColumns.of(self._ranks(), scope, self._kept)
        return self._facts[scope]

    def queries(self, measure: str | Measure, query_ids: Sequence[str]) -> list[QueryFacts]:
        """What is known of some queries, in the order given."""
        place = {query: at for at, query in enumerate(self.query_ids)}
        unknown = [query for query in query_ids if query not in place]
        if unknown:
            raise InputError(self.run, f"query '{unknown[0]}' was not evaluated.")
        return self._described(self._find(measure), [place[query] for query in query_ids])

    def _described(self, measure: Measure, places: Iterable[int]) -> list[QueryFacts]:
        values, facts, scope = self._values[measure], self.facts(measure), Scope.of(measure)
        return [facts.query(at, self.query_ids[at], float(values[at]), scope) for at in places]

    def worst(self, measure: str | Measure | None = None, n: int = 10) -> list[QueryFacts]:
        """The n worst queries by a measure, the worst first, and why: counts are by the measure's own rel and cutoff.

        >>> from cranfield import evaluate
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> [worst] = evaluate(qrels, {"q1": ["x", "a"], "q2": ["b"]}, "RR@10").worst("RR@10", 1)
        >>> worst.query_id, worst.value, worst.reason
        ('q1', 0.5, '1 of 1 relevant in the top 10, the first at rank 2; 1 of 2 retrieved unjudged')
        """
        wanted = self.measures[0] if measure is None else self._find(measure)
        values = self._values[wanted]
        order = np.argsort(-values if wanted.definition.lower_is_better else values, kind="stable")[: max(n, 0)]
        return self._described(wanted, order.tolist())

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The evaluation as plain dicts, ready for JSON.

        >>> from cranfield import evaluate
        >>> plain = evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").to_dict()
        >>> plain["mean"], plain["per_query"]
        ({'RR': 1.0}, {'1': {'RR': 1.0}})
        """
        result = super().to_dict()
        if per_query:
            columns = [self._values[measure].tolist() for measure in self.measures]
            result["per_query"] = {
                query: dict(zip(self, values, strict=True))
                for query, *values in zip(self.query_ids, *columns, strict=True)
            }
        return result

    def to_json(self, *, per_query: bool = True, indent: int | None = 2) -> str:
        """The evaluation as JSON.

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
        return arrow.table(self._columns())

    def to_pandas(self) -> Any:
        """The table `per_query` for pandas.

        >>> from cranfield import evaluate
        >>> print(evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").to_pandas())
            run query_id measure  value
        0  mine        1      RR    1.0
        """
        return need("pandas", purpose="Evaluation.to_pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """The table `per_query` for polars.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", name="mine").to_polars().row(0)
        ('mine', '1', 'RR', 1.0)
        """
        return need("polars", purpose="Evaluation.to_polars").DataFrame(self._columns())

    def _columns(self) -> dict[str, Any]:
        each = len(self.query_ids)
        return {
            "run": [self.run] * (each * len(self)),
            "query_id": list(self.query_ids) * len(self),
            "measure": [name for name in self for _ in range(each)],
            "value": np.concatenate(list(self._values.values())),
        }

    def _repr_html_(self) -> str:
        return super()._repr_html_() + notebook_html("spread_html", self)


class Evaluations(dict[str, Evaluation]):
    """The result of `evaluate_runs`: evaluations by run, which notebooks show as one table."""

    def _repr_html_(self) -> str:
        return notebook_html("evaluations_html", list(self.values()))


def _plain(facts: FactColumns) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in asdict(facts).items()}


def _columns(facts: Mapping[str, Sequence[int]]) -> FactColumns:
    return FactColumns(**{name: np.array(column, dtype=np.int64) for name, column in facts.items()})
