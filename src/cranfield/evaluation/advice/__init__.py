"""advise(qrels, runs, measures) → Advice: which measures suit a collection, and which do not.

A measure is a question, and data can be too thin to answer it. The rules stand in recommendations.py and cautions.py,
one small function each: what they see is the `Facts`, what they say is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from cranfield.evaluation.advice.cautions import DATA_CAUTIONS, MEASURE_CAUTIONS
from cranfield.evaluation.advice.collection_facts import DEPTHS, RUN_MEASURES, Facts, RunShape, depth_text, facts_of
from cranfield.evaluation.advice.recommendations import RECOMMENDATIONS, Recommendation
from cranfield.evaluation.evaluating import Options, evaluate_runs
from cranfield.evaluation.notebook_display import notebook_html
from cranfield.layout import count, listed, wrapped
from cranfield.measures import Measures, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy

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
        return (
            f"<Advice: {listed([each.measure for each in self.recommended])}; {count(len(self.warnings), 'warning')}>"
        )

    def _repr_html_(self) -> str:
        return notebook_html("text_html", str(self))

    def __str__(self) -> str:
        width = max((len(measure) for measure, _ in self.recommended), default=0)
        parts = [
            ("The data", [_wrapped(line) for line in _described(self.facts)]),
            ("Measures that suit them", [_wrapped(why, f"{name:<{width}}  ") for name, why in self.recommended]),
            ("Beware", [_wrapped(warning, "- ") for warning in self.warnings]),
        ]
        return "\n\n".join("\n".join([title, *lines]) for title, lines in parts if lines)


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
    facts = facts_of(judgments, list(results.values()), options.get("policy") or Policy())
    wanted = () if measures is None else parse_measures(measures)
    warnings = [warning for rule in DATA_CAUTIONS for warning in rule(facts)]
    warnings += [
        f"{measure.name}: {text}" for measure in wanted for rule in MEASURE_CAUTIONS for text in rule(facts, measure)
    ]
    recommended = tuple(each for rule in RECOMMENDATIONS for each in rule(facts))
    return Advice(facts, recommended, tuple(warnings))


def _described(facts: Facts) -> Iterator[str]:
    queries = _count(facts.queries, "query", "queries")
    yield f"{queries}; median {facts.judged:g} judged and {facts.relevant:g} relevant documents"
    yield f"{facts.one_relevant:.0%} of the queries have one relevant document, {facts.none_relevant:.0%} have none"
    shown = ", ".join(f"{grade:g}" for grade in facts.grades[:8]) + (", …" if len(facts.grades) > 8 else "")
    kind = "graded" if facts.graded else "binary"
    yield f"{kind} judgments{f', grades {shown}' if facts.grades else ''}; {facts.nonrelevant} say 'not relevant'"
    if facts.pooled:
        yield f"{_count(facts.pooled, 'document', 'documents')} pooled but not judged"
    for run in facts.runs:
        yield (
            f"{run.run}: rankings up to {_count(run.deepest, 'document', 'documents')}; judged: "
            f"{', '.join(f'{run.judged(depth):.0%} of {depth_text(depth)}' for depth in run.depths)}; "
            f"{run.tied:.1%} tied; {_count(run.missing, 'query', 'queries')} missing"
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _wrapped(text: str, head: str = "") -> str:
    return "\n".join(wrapped(text, f"  {head}"))
