"""advise(qrels, runs, measures) → Advice: which measures suit a collection, and which do not.

A measure is a question, and data can be too thin to answer it. The rules are in recommendations.py and cautions.py, one
small function each: from the `Facts` to a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from cranfield.drawing import as_html, as_text
from cranfield.evaluation.advice.cautions import DATA_CAUTIONS, MEASURE_CAUTIONS
from cranfield.evaluation.advice.collection_facts import DEPTHS, RUN_MEASURES, Facts, RunShape, depth_text, facts_of
from cranfield.evaluation.advice.recommendations import RECOMMENDATIONS, Recommendation
from cranfield.evaluation.evaluating import Options, evaluate_runs
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.words import count, listed

__all__ = ["DEPTHS", "Advice", "Facts", "Recommendation", "RunShape", "advise", "depth_text"]


@dataclass(frozen=True, slots=True)
class Advice:
    """What the data look like, which measures suit them, and what to beware of. It prints well at 80 columns.

    >>> advice = advise({"q1": {"a": 1, "b": 0}, "q2": {"b": 1}})
    >>> advice.facts.queries, advice.facts.graded, advice.recommended[0].measure
    (2, False, 'RR@10')
    >>> str(advice).splitlines()[0]
    'The data'
    """

    facts: Facts
    recommended: tuple[Recommendation, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        measures = listed([recommendation.measure for recommendation in self.recommended])
        return f"<Advice: {measures}; {count(len(self.warnings), 'warning')}>"

    def _repr_html_(self) -> str:
        return as_html("text", str(self))

    def __str__(self) -> str:
        return as_text("check_text.advice_text", self)


def advise(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any] = (),
    measures: Measures | None = None,
    **options: Unpack[Options],
) -> Advice:
    """Recommend measures for judgments and runs, and warn of requested ones that do not suit them.

    qrels, runs, options: those of `evaluate_runs`; each run is read once. Without runs the advice rests on the
        judgments alone.
    measures: those you plan to use; you are warned if they do not suit.
    Returns an `Advice`: measures to use, each with its reason, and warnings.

    >>> advice = advise({"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": ["a", "x"], "q2": ["y", "b"]}}, "AP")
    >>> [recommendation.measure for recommendation in advice.recommended]
    ['RR@2', 'RBPResidual', 'Judged@2']
    >>> advice.warnings[-1]
    'AP: most queries have a single relevant document, where AP is the same as RR.'
    """
    judgments = Judgments.read(qrels, options.pop("qrels_format", None))
    results = evaluate_runs(judgments, runs, RUN_MEASURES, **options)
    wanted = () if measures is None else parse_measures(measures)
    return advice_on(judgments, list(results.values()), options.get("policy") or Policy(), wanted)


def advice_on(
    judgments: Judgments, results: Sequence[Evaluation], policy: Policy, wanted: Sequence[Measure] = ()
) -> Advice:
    """The advice on judgments and on runs that were evaluated by `RUN_MEASURES`."""
    facts = facts_of(judgments, [result for result in results if not result._evidence.distances], policy)
    # Of a run in the wrong order nothing else can be said.
    warnings = [f"{result.run}: {why}." for result in results if (why := result._evidence.distances)]
    warnings += (warning for rule in DATA_CAUTIONS for warning in rule(facts))
    warnings += [
        f"{measure.name}: {text}" for measure in wanted for rule in MEASURE_CAUTIONS for text in rule(facts, measure)
    ]
    recommended = tuple(recommendation for rule in RECOMMENDATIONS for recommendation in rule(facts))
    return Advice(facts, recommended, tuple(warnings))
