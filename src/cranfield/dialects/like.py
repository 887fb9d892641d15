"""`evaluate_like`: the numbers of another tool, under its own names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cranfield.dialects.calculating import Values, calculate
from cranfield.dialects.conventions import Conventions
from cranfield.dialects.dialect import Dialect
from cranfield.dialects.run_ranks import RunRanks
from cranfield.dialects.tools import find_dialect
from cranfield.measures import DEFAULT_MEASURES, Measure, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy, settings_of
from cranfield.ranks.run import open_run


@dataclass(frozen=True)
class OtherValue:
    """A number of another tool: its name there, our measure, and the value of every query that it counts."""

    name: str
    measure: Measure
    conventions: Conventions
    mean: float
    by_query: Mapping[str, float]


class LikeEvaluation(Mapping[str, float]):
    """The result of `evaluate_like`: a mapping from the tool's names to its means.

    >>> from cranfield import evaluate_like
    >>> like = evaluate_like({"1": {"a": 1, "b": 1}}, {"1": ["a", "x"]}, "torchmetrics", "AP@2")
    >>> like, like.dialect.name, like.values_of("AP@2").measure.name
    (<torchmetrics 1.9.0: RetrievalMAP(top_k=2)=1.0000; 1 query>, 'torchmetrics', 'AP(denominator=found)@2')
    >>> like["RetrievalMAP(top_k=2)"], like.by_query("AP@2"), like.run
    (1.0, {'1': 1.0}, 'the run')
    """

    def __init__(self, dialect: Dialect, run: str, found: Sequence[OtherValue]) -> None:
        self.dialect = dialect
        self.run = run
        self.found = tuple(found)

    def __getitem__(self, name: str) -> float:
        return self.values_of(name).mean

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        means = ", ".join(f"{each.name}={each.mean:.4f}" for each in self.found)
        queries = max((len(each.by_query) for each in self.found), default=0)
        counted = f"{queries} {'query' if queries == 1 else 'queries'}"
        return f"<{self.dialect.name} {self.dialect.version}: {means}; {counted}>"

    def values_of(self, name: str) -> OtherValue:
        """A value by the tool's name for it, or by ours.

        name: such as "map@10", or "AP@10".
        Returns an `OtherValue`. A name that was not asked for is a KeyError.
        """
        for each in self.found:
            if name in (each.name, each.measure.name):
                return each
        theirs = self.dialect.read(name)[0]
        return next(each for each in self.found if each.name == theirs)

    def by_query(self, name: str) -> dict[str, float]:
        """The value of every query that the tool counts.

        name: the tool's name, or ours.
        Returns {query: value}.
        """
        return dict(self.values_of(name).by_query)


def evaluate_like(
    qrels: Any,
    run: Any,
    tool: str,
    measures: str | Measure | Sequence[str | Measure],
    *,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
) -> LikeEvaluation:
    """The numbers that another tool prints for a run, under its own names.

    qrels, run: those of `evaluate`.
    tool: the name of a dialect, such as "ranx" or "sentence-transformers"; `known_dialects` has all.
    measures: names as that tool prints them, or ours, in a list; a text of ours may name several.
    policy: settings of it that are not as usual replace those of the tool.
    format, qrels_format: the format of the run and of the judgments, if it cannot be detected from the file.
    Returns a `LikeEvaluation`.

    >>> evaluate_like({"1": {"a": 1, "b": 3}}, {"1": {"a": 2.0, "b": 1.0}}, "OpenSearch", "nDCG@10")
    <OpenSearch 3.9: NDCG@10=0.7100; 1 query>
    """
    dialect = find_dialect(tool)
    ranks = RunRanks(open_run(run, format), Judgments.read(qrels, qrels_format))
    usual, own = Policy(), policy or Policy()
    changed = {name: getattr(own, name) for name in settings_of() if getattr(own, name) != getattr(usual, name)}
    found = [other_value(ranks, dialect, name, changed) for name in listed(dialect, measures)]
    return LikeEvaluation(dialect, ranks.run.name, list({each.name: each for each in found}.values()))


def listed(dialect: Dialect, measures: str | Measure | Sequence[str | Measure]) -> Iterator[str | Measure]:
    """The names one by one: a text that is no name of the tool may contain several of ours."""
    for text in [measures] if isinstance(measures, str | Measure) else measures:
        if isinstance(text, str) and not dialect.knows(text):
            yield from parse_measures(text)
        else:
            yield text


def known_names(tool: str) -> list[str]:
    """Those of our default measures that a tool has, or else the first names that it has."""
    dialect = find_dialect(tool)
    ours = [name for name in DEFAULT_MEASURES if dialect.knows(name)]
    return ours or [name.usual for name in dialect.names[:5]]


def other_value(ranks: RunRanks, dialect: Dialect, name: str | Measure, changed: Mapping[str, Any]) -> OtherValue:
    """One number of a tool; changed: settings that replace those of the tool."""
    theirs, measure, conventions = dialect.read(name)
    require_ranks(measure)
    values: Values = calculate(ranks, measure, replace(conventions, **changed))
    return OtherValue(theirs, measure, values.conventions, values.mean, values.by_query)
