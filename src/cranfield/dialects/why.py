"""why(qrels, run, theirs) → Why: the rules under which another tool's numbers are what they are."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from cranfield.dialects.calculating import Values, calculate
from cranfield.dialects.conventions import Convention, Conventions
from cranfield.dialects.dialect import Dialect
from cranfield.dialects.run_ranks import RunRanks
from cranfield.dialects.search import Explained, Given, Key, Search
from cranfield.dialects.tools import find_dialect, known_dialects
from cranfield.drawing import as_html, as_text
from cranfield.errors import InputError, MeasureError
from cranfield.io.pairs import read_numbers
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import require_ranks
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.words import count, joined

SURE = 0.95  # the share of an explanation that leaves no reason to ask for more
MOST = 10  # explanations that are kept
SECOND = ("AP", "nDCG@10", "RR", "P@10", "R@100", "RR@10", "P@5")  # that a second number may be asked of
SHOWN = 5  # queries that changed most
MANY = 10  # values by query, some of which have all decimals that are printed
WHOLE = 4  # decimals of 0 and 1, which nobody has rounded to a whole number
ENOUGH = 6  # decimals of all means together that may decide


class Compared(NamedTuple):
    """A number of the other tool beside ours, and its decimals; of values by query, their means."""

    measure: str
    ours: float
    theirs: float
    by_query: bool
    decimals: int


class AffectedQuery(NamedTuple):
    """A query and its values; None where it is left out of the mean."""

    query_id: str
    measure: str
    ours: float | None
    theirs: float | None


@dataclass(frozen=True)
class Reason:
    """One explanation: rules under which the numbers are what the other tool gave, or nearly.

    says: the rules, a sentence each
    tools: those that follow them by default
    measures, policy: what gives these numbers here, if `beyond` is empty
    beyond: the conventions that no policy has, in words
    like: the tool all of whose conventions give these numbers, so that `evaluate_like` does; empty if there is none
    values: the numbers, in the order of those given
    share: how likely it is among the explanations that fit
    others: further explanations that give the same value for every query
    queries: those whose values it changes most
    key: equal for explanations that give the same value for every query

    >>> from cranfield import why
    >>> reason = why({"1": {"a": 1, "b": 3}}, {"1": ["a", "b"]}, {"nDCG": "0.7098"}).reasons[0]
    >>> reason
    <Reason: A gain is 2^grade - 1.>
    >>> reason.says, reason.measures, reason.policy == Policy(), reason.beyond, round(reason.values[0], 6)
    (('A gain is 2^grade - 1.',), ('nDCG(gain=exponential)',), True, (), 0.70981)
    >>> reason.queries[0].query_id, reason.like, "OpenSearch" in reason.tools, reason.share > 0.5, bool(reason.key)
    ('1', '', False, True, True)
    """

    says: tuple[str, ...]
    tools: tuple[str, ...]
    measures: tuple[str, ...]
    policy: Policy
    beyond: tuple[str, ...]
    like: str
    values: tuple[float, ...]
    share: float
    others: tuple[tuple[str, ...], ...]
    queries: tuple[AffectedQuery, ...]
    key: Key = field(repr=False)

    def __repr__(self) -> str:
        return f"<Reason: {' '.join(self.says)}>"


@dataclass(frozen=True)
class Why:
    """Why another tool gives other numbers: explanations that fit, the likeliest first.

    run: its name; compared: the numbers, ours and theirs; reasons: what fits, the ten likeliest
    nearest: what comes nearer than ours, if nothing fits
    tried, fitting: how many explanations there were, and how many fit; decided: whether the numbers leave no doubt
    ask: the measure whose number would decide, or confirm it; empty if no other measure does
    notes: about the numbers given

    >>> from cranfield import why
    >>> qrels = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"d": 1}, "3": {"e": 1, "f": 1}}
    >>> found = why(qrels, {"1": ["a", "x", "b"], "2": ["x", "d"], "3": ["e", "x"]}, {"AP@2": "0.5000"})
    >>> found.reasons[0].says, found.reasons[0].measures
    (('AP@2 is divided by R or by 2, whichever is smaller.',), ('AP(denominator=min)@2',))
    >>> "sentence-transformers" in found.reasons[0].tools, found.agrees, found.decided
    (True, False, False)
    """

    run: str
    compared: tuple[Compared, ...]
    reasons: tuple[Reason, ...]
    nearest: tuple[Reason, ...]
    tried: int
    fitting: int
    decided: bool
    ask: str
    notes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether there is no difference to explain."""
        return bool(self.reasons) and not self.reasons[0].says

    def __repr__(self) -> str:
        if self.agrees:
            return "<Why: the numbers are the same>"
        if not self.reasons:
            return f"<Why: none of {self.tried:,} explanations fits>"
        return f"<Why: {' '.join(self.reasons[0].says)} {count(len(self.reasons), 'explanation')} of {self.tried:,}>"

    def __str__(self) -> str:
        return as_text("why_text.why_text", self)

    def _repr_html_(self) -> str:
        return as_html("why", self)


def why(
    qrels: Any,
    run: Any,
    theirs: Mapping[str, Any],
    *,
    tool: str | None = None,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
) -> Why:
    """Find out why another tool gives other numbers for the same run.

    The conventions in which tools are known to differ are tried one by one, in pairs, and all those of each tool.

    qrels, run: those of `evaluate`.
    theirs: the numbers of the other tool by our measure, {measure: number}. Give a number as text to keep its last
        zeros ("0.5710"); instead of a mean, {query: value} or a file of both decides at once.
    tool: the name of the tool, if it is known; `known_dialects` has those whose conventions we know.
    policy: the conventions of our own numbers.
    format, qrels_format: the format of the run and of the judgments, if it cannot be detected from the file.
    Returns a `Why`.

    >>> found = why({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"]}, {"RR": {"1": 1.0}}, tool="pytrec_eval")
    >>> found.reasons[0].says, found.reasons[0].policy.missing
    (('Queries missing from the run are left out of the mean.',), 'skip')
    """
    asked = None if tool is None else find_dialect(tool)
    judgments = Judgments.read(qrels, qrels_format)
    given, notes = _given(theirs)
    given = [_of_judged(its, judgments, notes) for its in given]
    if asked is not None:
        notes += [f"{asked.name} has no measure {its.name}" for its in given if not asked.knows(its.measure)]
    ranks = RunRanks(open_run(run, format), judgments)
    search = Search(ranks, given, Conventions.of(policy or Policy()), known_dialects().values(), asked)
    return explained(search, notes)


def explained(search: Search, notes: Sequence[str] = ()) -> Why:
    """What a search finds, in the order of likelihood."""
    ours = search.ours
    assert ours is not None  # nothing is changed, so nothing can be refused
    compared = tuple(_compared(given, values) for given, values in zip(search.given, ours, strict=True))
    if _fits(search, ours):
        same = Explained((), None, 1.0, ours)
        return Why(search.ranks.run.name, compared, (_reason(search, [same], 1.0),), (), 0, 1, True, "", tuple(notes))
    found = search.explanations
    grouped: dict[Any, list[Explained]] = {}
    for each in found:
        if _fits(search, each.values):
            grouped.setdefault(each.key, []).append(each)
    groups = sorted(grouped.values(), key=_likelihood, reverse=True)
    total = math.fsum(map(_likelihood, groups))
    reasons = tuple(_reason(search, group, _likelihood(group) / total) for group in groups[:MOST])
    nearest = () if reasons else tuple(_nearest(search, found))
    decided = _is_decided(search, groups)
    ask = "" if decided else _second(search, groups)
    name, fitting = search.ranks.run.name, len(groups)
    return Why(name, compared, reasons, nearest, len(found), fitting, decided, ask, tuple(notes))


def _given(theirs: Mapping[str, Any]) -> tuple[list[Given], list[str]]:
    if not isinstance(theirs, Mapping) or not theirs:
        raise InputError("theirs", "no number is given.", hint='for instance {"nDCG@10": "0.5713"}')
    found, notes = [], []
    for name, value in theirs.items():
        measure = parse_measure(name)
        require_ranks(measure)
        if not isinstance(value, str | int | float) or (isinstance(value, str) and os.path.exists(value)):
            by_query = read_numbers(value, "value")
            found.append(Given(name, measure, None, _decimals_of(by_query.values()), by_query))
            continue
        number, decimals, scale = _number(value, measure)
        if scale != 1:
            notes.append(f"{name} {value} was read as a percentage, {number:g}")
        found.append(Given(name, measure, number, decimals, scale=scale))
    return found, notes


def _of_judged(given: Given, judgments: Judgments, notes: list[str]) -> Given:
    """Without the values of queries that are not judged, such as a line `all` for their mean."""
    others = [query for query in given.by_query or () if query not in judgments.number]
    if not others or given.by_query is None:
        return given
    if len(others) == len(given.by_query):
        raise InputError("theirs", f"no query with a value of {given.name} is judged, such as '{others[0]}'.")
    are = "is" if len(others) == 1 else "are"
    notes.append(
        f"{count(len(others), 'query', 'queries')} with a value of {given.name} {are} not judged, such as '{others[0]}'"
    )
    return replace(given, by_query={q: its for q, its in given.by_query.items() if q in judgments.number})


def _number(value: str | float, measure: Measure) -> tuple[float, int, float]:
    """A number, its decimals, and what it was multiplied with."""
    text = value.strip() if isinstance(value, str) else repr(value)
    percent = text.endswith("%")
    try:
        number = float(text.rstrip("% "))
    except ValueError:
        number = math.nan
    low, high = measure.definition.range
    if not math.isfinite(number):
        hint = "give a number, such as 0.5713, or a file with a value for each query"
        raise InputError("theirs", f"'{text}' is neither a number nor a file.", hint=hint)
    if number < low:
        raise InputError("theirs", f"{measure.name} is never below {low:g}, and this is {text}.")
    mantissa = text.rstrip("% ").lower().partition("e")[0]
    decimals = len(mantissa.partition(".")[2]) if "e" not in text.lower() else 12
    if percent or (1.0 < number <= 100.0 and high <= 1.0):
        return number / 100, decimals, 0.01
    return number, decimals if decimals or high > 1.0 else WHOLE, 1.0


def _decimals_of(values: Collection[float]) -> int:
    """The decimals of values by query: the most that any of them has; a few may end in zeros that are not seen."""
    most = max((len(f"{value:.12f}".rstrip("0").partition(".")[2]) for value in values), default=12)
    return most if len(values) >= MANY else max(most, 4)


def _fits(search: Search, values: Sequence[Values]) -> bool:
    return all(given.fits(its) for given, its in zip(search.given, values, strict=True))


def _likelihood(group: Sequence[Explained]) -> float:
    return math.fsum(each.weight for each in group)


def _compared(given: Given, values: Values) -> Compared:
    if given.by_query is None:
        assert given.mean is not None
        decimals = given.decimals + (2 if given.scale != 1 else 0)
        return Compared(given.name, values.mean, given.mean, False, decimals)
    mean = math.fsum(given.by_query.values()) / max(len(given.by_query), 1)
    return Compared(given.name, values.mean, mean, True, given.decimals)


def _simplest_first(group: Sequence[Explained]) -> list[Explained]:
    """Few rules before many, what a policy can say before what it cannot, and then the likeliest."""
    return sorted(group, key=lambda each: (len(each.rules), each.tool is not None, bool(_beyond(each)), -each.weight))


def _beyond(each: Explained) -> tuple[str, ...]:
    return each.values[0].conventions.beyond


def _reason(search: Search, group: Sequence[Explained], share: float) -> Reason:
    first, *others = _simplest_first(group)
    if first.tool is not None:
        first = first._replace(rules=search.that_matter(first))
    conventions = first.values[0].conventions
    whole = [each.tool for each in group if each.tool is not None]
    said = {_sentences(search, first)}
    more = [_sentences(search, each) for each in others if each.tool is None and len(each.rules) <= len(first.rules)]
    return Reason(
        says=_sentences(search, first),
        tools=_tools(search, group),
        measures=tuple(values.measure.canonical for values in first.values),
        policy=conventions.policy,
        beyond=conventions.told,
        like=next((tool.name for tool in whole if tool is search.asked), whole[0].name if whole else ""),
        values=tuple(values.mean for values in first.values),
        share=share,
        others=tuple(dict.fromkeys(each for each in more if each not in said)),
        queries=tuple(_changed(search, first)),
        key=first.key,
    )


def _sentences(search: Search, each: Explained) -> tuple[str, ...]:
    if each.tool is not None and not each.rules:
        return (f"{each.tool.name} calculates it otherwise.",)
    return tuple(rule.sentence(search.measures) + _only(search, rule, each.tool) for rule in each.rules)


def _only(search: Search, rule: Convention, tool: Dialect | None) -> str:
    """The measures for which a tool follows a rule, if not for all that the rule touches."""
    touched = [measure for measure in search.measures if rule.touches(measure)]
    followers = touched if tool is None else search.followers(rule, tool)
    return "" if followers == touched else f" (In {joined([measure.name for measure in followers], 'and')}.)"


def _tools(search: Search, group: Sequence[Explained]) -> tuple[str, ...]:
    """The tools that follow one of these explanations by default."""
    rules = [each for each in group if each.tool is None]
    fewest = min((len(each.rules) for each in rules), default=0)
    names: dict[str, None] = {}
    for each in rules:
        if len(each.rules) == fewest:
            names |= dict.fromkeys(search.tools_with(each.rules))
            if len(each.rules) == 1:
                names |= dict.fromkeys(each.rules[0].also)
    names |= {each.tool.name: None for each in group if each.tool is not None}
    return tuple(names)


def _changed(search: Search, each: Explained) -> list[AffectedQuery]:
    assert search.ours is not None
    found: list[AffectedQuery] = []
    for given, ours, theirs in zip(search.given, search.ours, each.values, strict=True):
        one, other = ours.by_query, theirs.by_query
        for query in ours.query_ids:
            before, after = one.get(query), other.get(query)
            if before is None or after is None:
                if before != after:
                    found.append(AffectedQuery(query, given.name, before, after))
            elif abs(before - after) > 1e-9:
                found.append(AffectedQuery(query, given.name, before, after))
    means = {given.name: values.mean for given, values in zip(search.given, search.ours, strict=True)}

    def size(row: AffectedQuery) -> float:
        if row.ours is None or row.theirs is None:
            value = row.ours if row.ours is not None else row.theirs
            return abs((value or 0.0) - means[row.measure])
        return abs(row.ours - row.theirs)

    return sorted(found, key=size, reverse=True)[:SHOWN]


def _nearest(search: Search, found: Sequence[Explained]) -> list[Reason]:
    """The explanations that come nearest to all numbers, each measured by its last digit, if nearer than ours."""

    def distance(values: Sequence[Values]) -> float:
        far = (given.distance(its) / given.tolerance for given, its in zip(search.given, values, strict=True))
        return round(sum(far), 6)

    assert search.ours is not None
    ours = distance(search.ours)
    nearer = [(far, len(each.rules), -each.weight, each) for each in found if (far := distance(each.values)) < ours]
    reasons: dict[Any, Reason] = {}
    for *_, each in sorted(nearer, key=lambda row: row[:3]):
        if each.key not in reasons:
            reasons[each.key] = _reason(search, [each], 0.0)
        if len(reasons) == 3:
            break
    return list(reasons.values())


def _is_decided(search: Search, groups: Sequence[Sequence[Explained]]) -> bool:
    """Whether one explanation is left: a single number of few decimals does not decide among so many."""
    if not groups:
        return True
    means = [given for given in search.given if given.by_query is None]
    few = len(means) == len(search.given) and sum(given.decimals for given in means) < ENOUGH
    total = math.fsum(map(_likelihood, groups))
    return not few and _likelihood(groups[0]) >= SURE * total


def _second(search: Search, groups: Sequence[Sequence[Explained]]) -> str:
    """The measure whose number would tell the most explanations apart."""
    known = {measure.canonical for measure in search.measures}
    best, most = "", 0
    for name in SECOND:
        measure = parse_measure(name)
        if measure.canonical in known:
            continue
        values = [_also(search, _simplest_first(group)[0], measure) for group in groups[:8]]
        different = len({round(value, 4) for value in values if value is not None})
        if different > most:
            best, most = name, different
    return best


def _also(search: Search, each: Explained, measure: Measure) -> float | None:
    """What another measure would be under the same rules."""
    try:
        if each.tool is not None:
            _, theirs, conventions = each.tool.read(measure)
            return calculate(search.ranks, theirs, conventions).mean
        conventions = search.conventions
        for rule in each.rules:
            measure, conventions = rule.applied(measure, conventions)
        return calculate(search.ranks, measure, conventions).mean
    except MeasureError:
        return None
