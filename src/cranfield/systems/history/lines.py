"""The results of a system in a row: where the line breaks, where it is joined, and which steps are beyond chance.

Values are compared where queries, judgments, weights and policy are the same. The line therefore breaks where one of
them changed, unless the runs before were kept and measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from cranfield.errors import InputError, choice_hint
from cranfield.evaluation.estimating import SAME, Columns, estimated
from cranfield.evaluation.weighting import Weights
from cranfield.measures import parse_measure
from cranfield.ranks.columns import Numbers
from cranfield.systems.history.results import Acceptance, Basis, Note, Result, Value
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.systems.history.history import History

SHARED_AMONG = 30  # steps that share a chance of .05 for a false mark
_ALPHA = 0.05
_NAMED = 20  # queries that moved most, of a step


class Moved(NamedTuple):
    """By how much a query changed."""

    query: str
    text: str
    difference: float


class Step(NamedTuple):
    """A result beside another by the same queries, judgments, weights and policy.

    low, high: the 95% interval of the difference; p: two-sided, of a paired t-test
    better, worse: how many queries; moved: those that changed most
    sign: 1 or -1 where it is better or worse beyond chance, otherwise 0
    """

    difference: float
    low: float
    high: float
    p: float
    better: int
    worse: int
    sign: int
    moved: tuple[Moved, ...] = ()


class Point(NamedTuple):
    """A result on a line.

    value: on the basis of its stretch; first: on its own, where that is another: it was measured again
    step: beside the result before; None where there is none, or where the two are not comparable
    accepted: how it was accepted, if it was
    apart: why it is not on the line, such as queries that failed; empty if it is
    """

    result: Result
    value: Value
    first: Value | None = None
    step: Step | None = None
    accepted: Acceptance | None = None
    apart: str = ""


class Stretch(NamedTuple):
    """Results that are comparable, the oldest first."""

    basis: Basis
    points: tuple[Point, ...]


class Break(NamedTuple):
    """What changed between two results.

    what: in words, the shortest first: "80 queries", "412 grades added"
    joined: how many results before it were measured again; 0 where the line is broken
    at: when the first result after it was measured
    """

    at: datetime
    what: tuple[str, ...]
    joined: int


class Standing(NamedTuple):
    """The last result beside the accepted one; step: None where they are not comparable."""

    acceptance: Acceptance
    result: Result | None
    value: Value | None
    step: Step | None


class Line(NamedTuple):
    """The history of a system by a measure.

    apart: results that are on no stretch
    breaks: the oldest first
    accepted: what was accepted, with its value on the basis of each stretch, by the basis
    weights: how much the queries of the last stretch count, and their groups; None where all count alike
    """

    system: str
    measure: str
    lower_is_better: bool
    stretches: tuple[Stretch, ...]
    apart: tuple[Point, ...]
    breaks: tuple[Break, ...]
    standing: Standing | None
    acceptances: tuple[tuple[Acceptance, Mapping[str, Value]], ...]
    notes: tuple[Note, ...]
    measures: tuple[str, ...]
    weights: Weights | None

    @property
    def verdict(self) -> str:
        """The last result beside the accepted one, in words."""
        step = self.standing.step if self.standing is not None else None
        if self.standing is None:
            return "Measured"
        if step is None:
            return "Not comparable"
        if not step.better + step.worse:
            return "The same"
        return {1: "Better", -1: "Worse", 0: "Too close to call"}[step.sign]

    @property
    def points(self) -> list[Point]:
        """All results, the oldest first."""
        every = [*self.apart, *(point for stretch in self.stretches for point in stretch.points)]
        return sorted(every, key=lambda point: point.result.at)

    @property
    def last(self) -> Point:
        return self.stretches[-1].points[-1]


class QueryDay(NamedTuple):
    """The value of a query in a result; change: since the result before, None where they are not comparable."""

    result: Result
    value: float
    change: float | None


def query_days(history: History, line: Line, query: str) -> list[QueryDay]:
    """The values of a query in the results of a line, the oldest first."""
    days: list[QueryDay] = []
    for stretch in line.stretches:
        place = list(history.texts(stretch.basis.id))
        if query not in place:
            continue
        names = [point.result.id for point in stretch.points]
        columns = history.columns(line.measure, stretch.basis.id, names)
        values = [float(columns[name][place.index(query)]) for name in names]
        changes = [None, *(after - before for before, after in pairwise(values))]
        results = (point.result for point in stretch.points)
        days += map(QueryDay, results, values, changes)
    if not days:
        known = history.texts(line.stretches[-1].basis.id)
        raise InputError(query, "no result has this query.", hint=choice_hint("queries are", list(known)[:20], query))
    return days


def line_of(
    history: History,
    system: str,
    measure: str | None = None,
    *,
    last: int | None = None,
    since: datetime | None = None,
    branch: str = "",
) -> Line:
    """The results of a system by a measure, by default the first one; the last so many, or those since a time."""
    results = history.results(system, last=last, since=since, branch=branch)
    if not results:
        _refuse_empty(history, system)
    measured = results[-1].values
    named = parse_measure(next(iter(measured)) if measure is None else measure)
    name = named.name
    if name not in measured:
        hint = choice_hint("measured are", [*measured], name)
        raise InputError(system, f"{name} was not measured in the last result.", hint=hint)
    higher = named.definition.sign
    bases = history.bases()
    known: dict[str, dict[str, Value]] = {}

    def on(basis: str) -> dict[str, Value]:
        if basis not in known:
            known[basis] = history.values(name, basis)
        return known[basis]

    acceptances = history.acceptances(system)
    accepted = {its.result: its for its in acceptances}
    placed = _placed(results, on)
    apart = tuple(
        Point(result, result.values[name], apart=_reason(result))
        for result, basis in placed
        if not basis and name in result.values
    )
    stretches: list[Stretch] = []
    for basis, its in groupby((pair for pair in placed if pair[1]), key=lambda pair: pair[1]):
        on_it = [result for result, _ in its]
        steps = [_joining(history, name, stretches, on_it[0], higher), *_steps(history, name, basis, on_it, higher)]
        points = (
            Point(
                result,
                on(basis)[result.id],
                result.values.get(name) if result.basis != basis else None,
                step,
                accepted.get(result.id),
            )
            for result, step in zip(on_it, steps, strict=True)
        )
        stretches.append(Stretch(bases[basis], tuple(points)))
    if not stretches:
        raise InputError(system, f"no result has values of {name}.")
    return Line(
        system,
        name,
        named.definition.lower_is_better,
        tuple(stretches),
        apart,
        tuple(_breaks(results, stretches, bases)),
        _standing(history, name, acceptances, stretches[-1], higher),
        tuple(
            (its, {basis: on(basis)[its.result] for basis in known if its.result in on(basis)}) for its in acceptances
        ),
        history.notes(),
        tuple(measured),
        history.weights(stretches[-1].basis.id),
    )


def _refuse_empty(history: History, system: str) -> NoReturn:
    systems = history.systems()
    if system not in systems:
        hint = choice_hint("there are", systems, system) if systems else "'cranfield test' appends to it"
        raise InputError(history.name, f"there is no result of '{system}' in it.", hint=hint)
    hint = "try a longer time, or another branch"
    raise InputError(history.name, f"there is no such result of '{system}'.", hint=hint)


def _reason(result: Result) -> str:
    failed = int(result.counts.get("failed", 0))
    return f"{count(failed, 'query', 'queries')} failed" if failed else "not measured"


def _placed(results: Sequence[Result], values: Callable[[str], dict[str, Value]]) -> list[tuple[Result, str]]:
    """Each result with the basis of its stretch, the oldest first; an empty one where it is on none."""
    placed: list[tuple[Result, str]] = []
    basis = ""
    for result in reversed(results):
        if basis and result.id in values(basis):
            placed.append((result, basis))
        elif result.counts.get("failed", 0) or result.id not in values(result.basis):
            placed.append((result, ""))
        else:
            basis = result.basis
            placed.append((result, basis))
    return placed[::-1]


def _steps(history: History, measure: str, basis: str, results: Sequence[Result], higher: float) -> list[Step]:
    """Each result beside the one before it, but for the first."""
    if len(results) < 2:
        return []
    columns = history.columns(measure, basis, [result.id for result in results])
    values = np.stack([columns[result.id] for result in results], axis=1)
    texts, weight, values = history.units(basis, values)
    return steps_between(values[:, :-1], values[:, 1:], texts, weight, higher)


def _joining(history: History, measure: str, stretches: Sequence[Stretch], first: Result, higher: float) -> Step | None:
    """The first result of a stretch beside the one before it: they may be comparable by an earlier basis of both."""
    if not stretches or stretches[-1].basis.id != first.basis:
        return None
    [step] = _steps(history, measure, first.basis, [stretches[-1].points[-1].result, first], higher)
    return step


def steps_between(
    before: Numbers, after: Numbers, texts: Mapping[str, str], weight: Numbers | None, higher: float = 1.0
) -> list[Step]:
    """Columns of values beside others; `higher` is -1 where lower is better."""
    differences = after - before
    differences[np.abs(differences) < SAME] = 0.0
    estimates = estimated(Columns(differences, weight, contrasts=True))
    greater, less = estimates.chances()
    low, high = estimates.interval(_ALPHA)
    queries = list(texts)
    better, worse = (higher * differences > 0).sum(axis=0), (higher * differences < 0).sum(axis=0)
    steps = []
    chances = np.minimum(2 * np.minimum(greater, less), 1)
    for at, (value, p) in enumerate(zip(estimates.value.tolist(), chances.tolist(), strict=True)):
        moved = _moved(differences[:, at], queries, texts) if better[at] + worse[at] else ()
        marked = p <= _ALPHA / SHARED_AMONG and len(moved) > 0
        sign = (1 if higher * value > 0 else -1) if marked else 0
        bounds = float(low[at]), float(high[at])
        steps.append(Step(value, *bounds, p, int(better[at]), int(worse[at]), sign, moved if marked else moved[:3]))
    return steps


def _moved(differences: Numbers, queries: Sequence[str], texts: Mapping[str, str]) -> tuple[Moved, ...]:
    most = min(_NAMED, len(differences))
    largest = np.argpartition(-np.abs(differences), most - 1)[:most] if most < len(differences) else np.arange(most)
    ordered = sorted(largest.tolist(), key=lambda at: (-abs(differences[at]), queries[at]))
    return tuple(Moved(queries[at], texts[queries[at]], float(differences[at])) for at in ordered if differences[at])


def _breaks(results: Sequence[Result], stretches: Sequence[Stretch], bases: Mapping[str, Basis]) -> Iterator[Break]:
    """Where the basis of results changed; results that are on no line change nothing."""
    again = {point.result.id for stretch in stretches for point in stretch.points if point.first is not None}
    placed = {point.result.id for stretch in stretches for point in stretch.points}
    on_line = [result for result in results if result.id in placed]
    for before, after in pairwise(on_line):
        if before.basis == after.basis:
            continue
        joined = 0
        if before.id in again:
            joined = sum(result.id in again and result.at <= before.at for result in on_line)
        yield Break(after.at, tuple(changes_between(bases[before.basis], bases[after.basis], before, after)), joined)


def changes_between(before: Basis, after: Basis, one: Result, other: Result) -> Iterator[str]:
    """What changed from a basis to the next, in words."""
    queries = [int(result.counts.get("queries", 0)) for result in (one, other)]
    if before.queries != after.queries:
        yield f"{queries[1]} queries, not {queries[0]}" if queries[0] != queries[1] else "other queries"
    gone = len(other.gone) - len(one.gone)
    if before.judgments != after.judgments or before.provenance != after.provenance:
        added = after.judged - before.judged
        if gone:
            yield f"{count(abs(gone), 'judged document')} {'gone' if gone > 0 else 'back'}"
        elif not (before.judged and after.judged and added):
            if before.queries == after.queries:
                yield "other judgments"
        elif before.queries == after.queries:
            yield f"{count(abs(added), 'grade')} {'added' if added > 0 else 'removed'}"
    if before.weights != after.weights:
        yield "other weights" if before.weights and after.weights else "weights" if after.weights else "no weights"
    if before.policy != after.policy:
        pairs = zip(before.policy.split("|"), after.policy.split("|"))
        yield ", ".join(part for was, part in pairs if was != part) or "other conventions"


def _standing(
    history: History, measure: str, acceptances: Sequence[Acceptance], stretch: Stretch, higher: float
) -> Standing | None:
    if not acceptances:
        return None
    acceptance, basis = acceptances[-1], stretch.basis
    result = history.result(acceptance.result)
    last = stretch.points[-1].result.id
    columns = history.columns(measure, basis.id, [acceptance.result, last])
    value = history.values(measure, basis.id).get(acceptance.result)
    if acceptance.result not in columns:
        return Standing(acceptance, result, None, None)
    both = np.stack([columns[acceptance.result], columns[last]], axis=1)
    texts, weight, values = history.units(basis.id, both)
    [step] = steps_between(values[:, :1], values[:, 1:], texts, weight, higher)
    sign = 0 if step.p > _ALPHA else (1 if higher * step.difference > 0 else -1)
    return Standing(acceptance, result, value, step._replace(sign=sign))
