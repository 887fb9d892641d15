"""The search for rules under which a run has another number: one by one, in pairs, and all those of a tool."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.dialects.calculating import Values, calculate
from cranfield.dialects.conventions import Convention, Conventions, rules_for
from cranfield.dialects.dialect import Dialect
from cranfield.dialects.run_ranks import RunRanks
from cranfield.errors import DuplicateError, MeasureError
from cranfield.measures import Measure
from cranfield.measures.over_orders import averages_exactly
from cranfield.measures.scope import chosen_parameters

LEAST = 2e-7  # a difference that tools with 32 bits may have
# How likely it is that the difference is one rule of a tool, two of them, or all; and rules that no tool has.
_ONE, _TWO, _ALL, _OTHER_ONE, _OTHER_TWO = 0.5, 0.35, 0.15, 0.1, 0.02
_ASKED = 50.0  # times as likely, if the tool is named

Key = tuple[bytes | float | int, ...]


@dataclass(frozen=True)
class Given:
    """What the other tool says: a mean, to some decimals, or the values of queries.

    name: as it was given
    scale: what the number is multiplied with: 0.01 for percentages
    """

    name: str
    measure: Measure
    mean: float | None
    decimals: int
    by_query: Mapping[str, float] | None = None
    scale: float = 1.0

    @cached_property
    def tolerance(self) -> float:
        """How far a value may be from the number given: half of its last digit."""
        return max(0.5 * 10.0**-self.decimals * self.scale * (1 + 1e-9), LEAST)

    def distance(self, values: Values) -> float:
        """How far values are from what was given: of the mean, or the mean distance of the queries."""
        if self.by_query is None:
            assert self.mean is not None
            return abs(values.mean - self.mean)
        ours = values.by_query
        shared = [abs(ours[query] - its) for query, its in self.by_query.items() if query in ours]
        lacking = len(self.by_query) + len(ours) - 2 * len(shared)
        return (math.fsum(shared) + lacking) / max(len(shared) + lacking, 1)

    def fits(self, values: Values) -> bool:
        """Whether values are what was given, to its last digit."""
        if self.by_query is None:
            return self.distance(values) <= self.tolerance
        ours = values.by_query
        return ours.keys() == self.by_query.keys() and all(
            abs(ours[query] - its) <= self.tolerance for query, its in self.by_query.items()
        )


class Explained(NamedTuple):
    """Rules, under which the values are these: one for each number given.

    tool: the dialect that these are all rules of; None for rules on their own
    weight: how likely they are, before the numbers are known
    """

    rules: tuple[Convention, ...]
    tool: Dialect | None
    weight: float
    values: tuple[Values, ...]

    @property
    def key(self) -> Key:
        """Equal for those that no query tells apart."""
        parts: list[bytes | float | int] = []
        for values in self.values:
            shown = np.where(values.kept, np.round(values.values, 9) + 0.0, np.nan)
            parts += [shown.tobytes(), round(values.mean, 9)]
        return tuple(parts)


class Search:
    """All explanations of numbers that another tool gave.

    given: the numbers; conventions: ours; dialects: of the tools that are considered; asked: the tool that was named
    """

    def __init__(
        self,
        ranks: RunRanks,
        given: Sequence[Given],
        conventions: Conventions,
        dialects: Iterable[Dialect],
        asked: Dialect | None = None,
    ) -> None:
        self.ranks, self.given, self.conventions, self.asked = ranks, tuple(given), conventions, asked
        self.measures = tuple(each.measure for each in self.given)
        self.dialects = tuple(dialects)
        table = ranks.table(conventions)
        found = rules_for(
            self.measures,
            conventions,
            grades=table.all_judged.distinct,
            deepest=int(table.retrieved.max(initial=0)),
            repeats=ranks.repeats or conventions.duplicates != "error",
        )
        self.rules = [rule for rule in found if self._is_possible(rule)]
        self.ours = self.values(())

    def _is_possible(self, rule: Convention) -> bool:
        """Whether a rule can be told apart, and calculated.

        Values by query do not depend on how they are averaged. Of some measures, means over orders of ties are known
        from samples only.
        """
        if rule.axis == "average" and all(each.by_query is not None for each in self.given):
            return False
        if rule.settings.get("ties") != "expected":
            return True
        return all(averages_exactly(measure) for measure in self.measures)

    @cached_property
    def rules_of(self) -> dict[str, frozenset[int]]:
        """For each tool, the places of the rules that it follows and we do not."""
        return {dialect.name: self._of_tool(dialect) for dialect in self.dialects}

    def _of_tool(self, dialect: Dialect) -> frozenset[int]:
        return frozenset(
            at
            for at, rule in enumerate(self.rules)
            if any(follows(dialect, rule, measure) for measure in self.measures)
        )

    def tools_with(self, rules: Sequence[Convention]) -> list[str]:
        """The tools that follow all of some rules, by default or where an option says so."""
        places = [self.rules.index(rule) for rule in rules]
        found = []
        for dialect in self.dialects:
            if self.rules_of[dialect.name].issuperset(places):
                usual = all(any(follows(dialect, rule, its, usual=True) for its in self.measures) for rule in rules)
                found.append(dialect.name if usual else f"{dialect.name} by an option")
        return found

    def values(self, rules: Sequence[Convention], tool: Dialect | None = None) -> tuple[Values, ...] | None:
        """The values under some rules; None if these cannot be combined.

        tool: whose rules they are, each for the measures for which the tool follows it
        """
        found = []
        for measure in self.measures:
            changed, conventions = measure, self.conventions
            try:
                for rule in rules:
                    if tool is None or follows(tool, rule, measure, usual=True):
                        changed, conventions = rule.applied(changed, conventions)
                found.append(calculate(self.ranks, changed, conventions))
            except (MeasureError, DuplicateError):  # the tool has no such measure, or stops
                return None
        return tuple(found)

    def _of_whole(self, dialect: Dialect) -> tuple[Values, ...] | None:
        found = []
        for measure in self.measures:
            try:
                _, theirs, conventions = dialect.read(measure)
                found.append(calculate(self.ranks, theirs, conventions))
            except (MeasureError, DuplicateError):  # the tool has no such measure, or stops
                return None
        return tuple(found)

    def given_others(self, given: Sequence[Given]) -> Search:
        """The same search for other numbers of the same measures: nothing is calculated again."""
        other = copy(self)
        other.given = tuple(given)
        return other

    @cached_property
    def explanations(self) -> list[Explained]:
        """Everything that is tried, with its values, which do not depend on the numbers given."""
        ours = self.ours
        assert ours is not None
        alone: list[tuple[Values, ...] | None] = [self.values([rule]) for rule in self.rules]
        effective = {at for at, values in enumerate(alone) if values is not None and _differ(values, ours)}
        of_tools = {tool: rules & effective for tool, rules in self.rules_of.items()}
        found: list[Explained] = []
        for at, values in enumerate(alone):
            if values is not None:
                found.append(Explained((self.rules[at],), None, self._weight((at,), of_tools), values))
        for one, other in combinations(range(len(self.rules)), 2):
            pair = (self.rules[one], self.rules[other])
            if pair[0].axis == pair[1].axis:
                continue
            together = self.values(pair)
            if together is not None:
                found.append(Explained(pair, None, self._weight((one, other), of_tools), together))
        for dialect in self.dialects:
            whole = self._of_whole(dialect)
            if whole is not None:
                rules = tuple(rule for rule in self.rules if self.followers(rule, dialect))
                found.append(Explained(rules, dialect, self._of_tools(dialect.name) * _ALL, whole))
        return found

    def followers(self, rule: Convention, tool: Dialect) -> list[Measure]:
        """The measures for which a tool follows a rule by default."""
        return [measure for measure in self.measures if follows(tool, rule, measure, usual=True)]

    def that_matter(self, whole: Explained) -> tuple[Convention, ...]:
        """Those rules of a tool without which some value would be another; all, if rules alone do not give them."""
        left = list(whole.rules)
        for rule in whole.rules:
            fewer = [other for other in left if other is not rule]
            values = self.values(fewer, whole.tool)
            if values is not None and Explained((), None, 0.0, values).key == whole.key:
                left = fewer
        return tuple(left)

    def _of_tools(self, name: str) -> float:
        """How likely the tool is the one."""
        times = {dialect.name: _ASKED if dialect is self.asked else 1.0 for dialect in self.dialects}
        return times[name] / sum(times.values())

    def _weight(self, places: tuple[int, ...], of_tools: Mapping[str, frozenset[int]]) -> float:
        count = len(self.rules)
        weight = _OTHER_ONE / count if len(places) == 1 else _OTHER_TWO / max(math.comb(count, 2), 1)
        for tool, rules in of_tools.items():
            if rules.issuperset(places):
                ways = math.comb(len(rules), len(places))
                weight += self._of_tools(tool) * (_ONE if len(places) == 1 else _TWO) / ways
        return weight


def follows(dialect: Dialect, rule: Convention, measure: Measure, *, usual: bool = False) -> bool:
    """Whether a tool follows a rule in what it prints for a measure of ours.

    usual: whether it must do so under the name that means this measure; others may be the same with an option
    """
    if rule.becomes:
        return not usual and _becomes(rule, measure, dialect)
    readings = dialect._readings(measure)[: 1 if usual else None]
    return any(_has(rule, measure, theirs, conventions) for _, theirs, conventions in readings)


def _differ(values: Sequence[Values], ours: Sequence[Values]) -> bool:
    return any(
        abs(one.mean - other.mean) > 1e-12
        or not np.array_equal(one.kept, other.kept)
        or not np.array_equal(one.values, other.values)
        for one, other in zip(values, ours, strict=True)
    )


def _has(rule: Convention, measure: Measure, theirs: Measure, conventions: Conventions) -> bool:
    """Whether a tool follows a rule for a measure of ours."""
    if not rule.touches(measure):
        return False
    if any(name in (*rule.parameters, *rule.settings) for name in ("cutoff", "rel", "depth")):
        return False
    chosen = chosen_parameters(theirs)
    return all(getattr(conventions, name) == value for name, value in rule.settings.items()) and all(
        chosen.get(name) == value for name, value in rule.parameters.items()
    )


def _becomes(rule: Convention, measure: Measure, dialect: Dialect) -> bool:
    """Whether a tool means another measure by the name of this one, as RecTools may by precision."""
    if not rule.touches(measure):
        return False
    word = {"P": "precision", "R": "recall", "Success": "hit"}.get(measure.definition.name, "")
    return any(name.example.definition.name == rule.becomes and word in name.theirs.lower() for name in dialect.names)
