"""Values of runs by a model's grades, corrected by people: their basis, their parts, and what the model saved."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cranfield.comparison.corrected_means import CorrectedColumns, corrected_columns
from cranfield.drawing import as_html
from cranfield.errors import ComparisonError, choice_hint
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, known_measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers, Numbers

ROUGH = 30  # sampled queries from which on the interval holds well, whatever the judge


@dataclass(frozen=True, slots=True)
class CorrectionBasis:
    """What corrected values rest on.

    store: where the judgments are
    model: the assessor whose grades all queries have
    judge: the hash of how it was asked: model, prompt and parameters; empty where its grades came from a file
    people: the assessors who judged the sampled queries, or the kinds of them
    merge: the rule by which grades of several people become one
    sampled, queries: how many queries people judged completely, and of how many they were drawn
    seed, drawn_at: of the draw
    pooled: documents that the model was to judge
    missing: those of them without a grade by the model; they count as unjudged
    not_judged: documents of the sampled queries that people saw and could not judge
    unused: queries outside the sample that people judged as well; they are not used
    """

    store: str
    model: str
    judge: str
    people: tuple[str, ...]
    merge: str
    sampled: int
    queries: int
    seed: int
    drawn_at: str
    pooled: int
    missing: int
    not_judged: int
    unused: int

    def __repr__(self) -> str:
        return f"<CorrectionBasis: {self.model}, corrected by people on {self.sampled:,} of {self.queries:,} queries>"

    @property
    def told_judge(self) -> str:
        """The first digits of the judge's hash, as signatures show it."""
        return self.judge[:8] or "imported"

    @property
    def signature(self) -> str:
        """Everything that must be the same for two corrected values to be comparable."""
        parts = [
            f"model:{self.model}",
            f"judge:{self.told_judge}",
            f"corrected_with:{','.join(self.people)}",
            f"merge:{self.merge}",
            f"sample:{self.sampled} of {self.queries}",
            f"sample_seed:{self.seed}",
        ]
        parts += [f"model_missing:{self.missing}"] * bool(self.missing)
        return "|".join(parts)


@dataclass(frozen=True, slots=True)
class CorrectedValue:
    """A mean by a model's grades over all queries, corrected by people's grades of the sampled ones.

    value, low, high: the corrected mean, and its interval at the level 1 - alpha
    weight: how much of the model's value is used: 0 where it says nothing about people's
    model: the mean by the model's grades
    correction: value - model
    people, people_low, people_high: the mean by people's grades over the sampled queries alone, and its interval
    worth: how many queries judged by people alone would give as short an interval; None where it has no length
    """

    value: float
    low: float
    high: float
    weight: float
    model: float
    correction: float
    people: float
    people_low: float
    people_high: float
    worth: int | None

    def __repr__(self) -> str:
        return f"<CorrectedValue {self.value:.4f} ({self.low:.4f} to {self.high:.4f}); model alone {self.model:.4f}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorrectedEvaluation:
    """The result of `evaluate_corrected`: for every run and measure the corrected mean, and its parts.

    runs, measures: in the order in which they were given
    basis: what the values rest on: which model, asked how, corrected by whom on which sample
    alpha: of the intervals

    >>> import tempfile
    >>> from cranfield import open_store, pool, evaluate_corrected
    >>> old = {f"q{n}": ["a", "b"] for n in range(40)}
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, dict.fromkeys(old, "a question"), {"old": old}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": int(q in drawn[:3]), "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels({q: {"a": int(q < "q2"), "b": 1} for q in old}, "gpt", kind="model")
    ...     found = evaluate_corrected(store, {"old": old}, "P@1", model="gpt")
    ...     found.save(f"{folder}/old.json")
    ...     loaded = CorrectedEvaluation.load(f"{folder}/old.json")
    >>> found
    <CorrectedEvaluation of old: gpt corrected on 10 of 40 queries>
    >>> value = found.value("old", "P@1")
    >>> value.model, value.people, value.low < value.value < value.high
    (0.3, 0.3, True)
    >>> found.judged_share("old", "P@1")
    1.0
    >>> found.signature("old", "P@1").split("|")[:4]
    ['model:gpt', 'judge:imported', 'corrected_with:person,imported', 'merge:majority']
    >>> loaded.renamed("mine").value("mine", "P@1").value == value.value
    True
    >>> sorted(found.to_dict()), found.to_json()[:13]
    (['alpha', 'basis', 'runs'], '{\\n  "alpha": ')
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    basis: CorrectionBasis
    alpha: float
    values: dict[str, dict[str, CorrectedValue]]  # by run and measure
    _by_model: tuple[Evaluation, ...]
    _by_people: tuple[Evaluation, ...]

    def __repr__(self) -> str:
        sample = f"{self.basis.sampled} of {self.basis.queries} queries"
        return f"<CorrectedEvaluation of {', '.join(self.runs)}: {self.basis.model} corrected on {sample}>"

    def _repr_html_(self) -> str:
        return as_html("corrected", self)

    def renamed(self, run: str) -> CorrectedEvaluation:
        """The same evaluation of one run under another name.

        run: the new name.
        Returns a new corrected evaluation; this one keeps its name.
        """
        [by_model], [by_people], [values] = self._by_model, self._by_people, self.values.values()
        return replace(
            self,
            runs=(run,),
            values={run: values},
            _by_model=(by_model.renamed(run),),
            _by_people=(by_people.renamed(run),),
        )

    def value(self, run: str, measure: str | Measure) -> CorrectedValue:
        """The corrected mean of a run.

        run: its name.
        measure: any of its names, or a `Measure`.
        Returns the value with its interval and its parts.
        """
        if run not in self.values:
            raise ComparisonError(f"no run is called '{run}'.", hint=choice_hint("the runs are", self.runs, run))
        return self.values[run][known_measure(measure, self.measures).name]

    def judged_share(self, run: str, measure: str | Measure) -> float | None:
        """The share of a run's first documents that the model has judged; the others count as not relevant.

        run: its name.
        measure: any of its names, or a `Measure`; it says how many documents count.
        Returns the mean share over the queries; None for a measure without a fixed depth.
        """
        self.value(run, measure)
        known = known_measure(measure, self.measures)
        if not Scope.of(known).one_depth:
            return None
        return self._by_model[self.runs.index(run)].facts(known).judged_share()

    def signature(self, run: str, measure: str | Measure) -> str:
        """Everything that a corrected mean depends on, in one line.

        run: its name.
        measure: any of its names, or a `Measure`.
        Returns the signature of the evaluation by the model, with the correction and its weight.
        """
        weight = self.value(run, measure).weight
        by_model = self._by_model[self.runs.index(run)].signature
        return f"{self.basis.signature}|weight:{weight:.4f}|{by_model}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the corrected evaluation of one run, as the baseline of a gate.

        path: the JSON file to write; it holds the judge, the sample, and both values of every query.
        """
        from cranfield.comparison.corrected_saving import save_corrected

        save_corrected(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CorrectedEvaluation:
        """Load a saved corrected evaluation.

        path: a file that `save` wrote.
        Returns the corrected evaluation.
        """
        from cranfield.comparison.corrected_saving import load_corrected

        return load_corrected(path)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, ready for JSON."""
        return {
            "alpha": self.alpha,
            "basis": asdict(self.basis),
            "runs": {
                run: {
                    name: {
                        **asdict(each),
                        "judged": self.judged_share(run, name),
                        "signature": self.signature(run, name),
                    }
                    for name, each in self.values[run].items()
                }
                for run in self.runs
            },
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as JSON.

        indent: how many spaces to indent each level by; None writes everything on one line.
        Returns the text.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def corrected_evaluation(
    by_model: Sequence[Evaluation],
    by_people: Sequence[Evaluation],
    measures: Sequence[Measure],
    basis: CorrectionBasis,
    alpha: float,
) -> CorrectedEvaluation:
    """Correct the means of runs: each was evaluated by the model's grades of all queries and by people's of some."""
    if not 0 < alpha < 1:
        raise ComparisonError(
            "is not a level of an interval.", parameter="alpha", value=alpha, hint="it lies between 0 and 1"
        )
    for measure in measures:
        if measure.definition.aggregate != "mean":
            fact = (
                f"{measure} is not a mean over queries ({measure.definition.aggregate}), and only means are corrected."
            )
            raise ComparisonError(fact)
    values: dict[str, dict[str, CorrectedValue]] = {each.run: {} for each in by_model}
    drawn = drawn_rows(by_model[0], by_people[0])
    for measure in measures:
        model, people = columns_of(by_model, measure), columns_of(by_people, measure)
        found = corrected_values(corrected_columns(model, people, drawn), alpha)
        for run, value in zip(values, found, strict=True):
            values[run][measure.name] = value
    return CorrectedEvaluation(
        runs=tuple(values),
        measures=tuple(measures),
        basis=basis,
        alpha=alpha,
        values=values,
        _by_model=tuple(by_model),
        _by_people=tuple(by_people),
    )


def corrected_values(found: CorrectedColumns, alpha: float) -> list[CorrectedValue]:
    """The results of the columns, one by one."""
    (low, high), (people_low, people_high) = found.interval(alpha), found.people_interval(alpha)
    rows = zip(
        *(found.value.tolist(), low.tolist(), high.tolist(), found.weight.tolist(), found.model.tolist()),
        *((found.value - found.model).tolist(), found.people.tolist(), people_low.tolist(), people_high.tolist()),
        found.worth(alpha),
        strict=True,
    )
    return [CorrectedValue(*row) for row in rows]


def columns_of(evaluations: Sequence[Evaluation], measure: Measure) -> Numbers:
    """The values of the queries, a column for each run; all have the same queries."""
    return np.stack([each.column(measure) for each in evaluations], axis=1)


def drawn_rows(by_model: Evaluation, by_people: Evaluation) -> Integers:
    """Which queries of the model's evaluation people judged, in their order."""
    place = {query: at for at, query in enumerate(by_model.query_ids)}
    return np.array([place[query] for query in by_people.query_ids], dtype=np.int64)
