"""Limits of a gate that no test decides: for single queries, for how a system answered, and what a query must find."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.comparison.differences import change_text, value_text
from cranfield.comparison.doubts import Doubt
from cranfield.comparison.gate_checks import Check
from cranfield.errors import ComparisonError, CranfieldError, InputError, nearest
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.io.queries import Queries
from cranfield.io.query_columns import expected_columns
from cranfield.io.settings import TomlSetting, check_settings
from cranfield.io.streams import Stream
from cranfield.measures import Measure, parse_measure
from cranfield.measures.scope import Scope
from cranfield.words import count, joined, listed, named_query

ALONE = ("max_p95", "max_failed", "max_empty")  # limits of a run by itself
FIRST = 10  # documents in which something must be found, and that are judged first of a ranking without a cutoff
LOOKED_AT = 100  # documents of a ranking in which the rank of an expected one is looked up
UNJUDGED = "unjudged-drops"  # the kind of a doubt
_ID, _NUMBER = (str, int), (int, float)
EXPECT = {
    "query": TomlSetting(_ID, "the id of the query"),
    "find": TomlSetting((str, int, list), "the id of a document that it must find, or a list of them"),
    "in_first": TomlSetting(int, "how far down they may be", str(FIRST)),
    "measure": TomlSetting(str, "instead of find, the measure whose value matters"),
    "at_least": TomlSetting(_NUMBER, "the lowest value that it may have"),
    "at_most": TomlSetting(_NUMBER, "the highest value that it may have"),
}


class Asking(NamedTuple):
    """What is known of how a system was asked: seconds by name, such as p95, and the queries that it did not answer."""

    latency: Mapping[str, float]
    failed: tuple[str, ...]

    @classmethod
    def of(cls, known: Any) -> Asking | None:
        """From a `Recorded`, or from what was saved of one; None where it is neither."""
        facts = known if isinstance(known, Mapping) else {name: getattr(known, name, None) for name in _ASKING}
        latency, failed, not_asked = (facts.get(name) for name in _ASKING)
        if not isinstance(latency, Mapping) or not isinstance(failed, Mapping | list | tuple):
            return None
        if not all(type(value) in _NUMBER and isfinite(value) for value in latency.values()):
            return None
        return cls(dict(latency), tuple(map(str, (*failed, *(not_asked or ())))))

    @classmethod
    def beside(cls, run: Any) -> Asking | None:
        """From the JSON beside the file of a run; None where there is none, or where it is that of another run."""
        name = run.name if isinstance(run, Stream) else run
        if not isinstance(name, str | os.PathLike) or not os.path.isfile(f"{os.fspath(name)}.json"):
            return None
        try:
            facts = json.loads(Path(f"{os.fspath(name)}.json").read_text(encoding="utf-8"))
            same = isinstance(facts, dict) and facts.get("run_sha256") == Stream(os.fspath(name)).hash_again()
        except (OSError, ValueError, RecursionError, CranfieldError):
            return None
        return cls.of(facts) if same else None

    @property
    def p95(self) -> float | None:
        return self.latency.get("p95")


_ASKING = ("latency", "failed", "not_asked")


class Expectation(NamedTuple):
    """What a query must find, or the value that it must have; `place` is where that is said."""

    place: str
    query: str
    find: tuple[str, ...] = ()
    in_first: int = FIRST
    measure: Measure | None = None
    at_least: float | None = None
    at_most: float | None = None

    @classmethod
    def read(cls, table: Any, place: str) -> Expectation:
        if not isinstance(table, Mapping):
            raise InputError(place, "this is not a table.", hint=_EXPECTED)
        check_settings(table, EXPECT, place)
        limits = [table.get(name) for name in ("at_least", "at_most")]
        complete = "query" in table and ("find" in table) != ("measure" in table)
        if not complete or ("in_first" in table and "find" not in table):
            raise InputError(place, "it does not say what to expect of which query.", hint=_EXPECTED)
        if ("measure" in table) != any(limit is not None for limit in limits):
            raise InputError(place, "a measure needs at_least or at_most, and these a measure.", hint=_EXPECTED)
        found = table.get("find", [])
        documents = tuple(map(str, found if isinstance(found, list) else [found]))
        if "find" in table and not documents:
            raise InputError(place, "find names no document.", hint=_EXPECTED)
        in_first = table.get("in_first", FIRST)
        if in_first < 1:
            raise InputError(place, f"in_first = {in_first} is not a number of documents.", hint=_EXPECTED)
        measure = None
        if "measure" in table:
            try:
                measure = parse_measure(table["measure"])
            except CranfieldError as error:
                raise InputError(place, error.fact, hint=error.hint) from None
        return cls(place, str(table["query"]), documents, in_first, measure, *limits)

    def checks(self, evaluation: Evaluation, shown: str) -> Iterator[Check]:
        if self.measure is not None and self.query not in evaluation.query_ids:
            message = f"{shown}: {self.measure} is not known, since it failed or none of its judged documents exists"
            yield Check(f"{self.query}: {self.measure} is known", False, message)
            return
        if self.measure is not None:
            with_it = evaluation if self.measure in evaluation.measures else evaluation.extended(self.measure)
            value = with_it.by_query(self.measure)[self.query]
            for side, limit, sign in (("least", self.at_least, 1), ("most", self.at_most, -1)):
                if limit is not None:
                    message = f"{shown}: {self.measure} is {value_text(value, limit)} and must be at {side} {limit:g}"
                    passed = sign * (value - limit) >= -SAME
                    yield Check(f"{self.query}: {self.measure} is at {side} {limit:g}", passed, message)
            return
        depth = max(self.in_first, LOOKED_AT)
        ranking = first_documents(evaluation, self.query, depth)
        if ranking is None:
            hint = "give the run itself: a saved evaluation and an engine have no documents"
            raise InputError(self.place, f"the documents of {evaluation.run} are not known.", hint=hint)
        for document in self.find:
            rank = ranking.index(document) + 1 if document in ranking else None
            where = f"at rank {rank}" if rank else f"not in the first {depth}"
            message = f"{shown}: {document} is {where} and must be in the first {self.in_first}"
            title = f"{self.query}: {document} is in the first {self.in_first}"
            yield Check(title, rank is not None and rank <= self.in_first, message)


_EXPECTED = 'for instance query = "q17", find = "D123", in_first = 3; or measure = "nDCG@10", at_least = 0.7'


def expectations(tables: Any, place: str) -> tuple[Expectation, ...]:
    """What [[expect]] tables say, or the columns of a file of queries; `place` begins the place of errors in tables."""
    if isinstance(tables, Queries):
        return tuple(_of_columns(tables))
    if not isinstance(tables, list | tuple):
        raise InputError(place, "these are not tables.", hint=_EXPECTED)
    return tuple(
        table if isinstance(table, Expectation) else Expectation.read(table, f"{place} {number}")
        for number, table in enumerate(tables, 1)
    )


def _of_columns(queries: Queries) -> Iterator[Expectation]:
    """What the columns of a file of queries say; an empty cell says nothing."""
    columns: dict[str, dict[str, Any]] = {}
    for setting, names in expected_columns(list(queries.columns)).items():
        if len(names) > 1:
            fact = f"the columns {joined(map(repr, names), 'and')} all say {setting}."
            raise InputError(queries.place, fact, hint="keep one of them, or give another a name of its own")
        columns[setting] = queries.columns[names[0]] if names else {}
    for query in queries:
        place = f"{queries.place}: query '{query}'"
        cells = {setting: _cell(setting, its[query], place) for setting, its in columns.items() if query in its}
        for needed in (("find", "in_first"), ("at_least", "at_most", "measure")):
            table = {name: cells[name] for name in needed if name in cells}
            if {*table} - {"in_first", "measure"}:
                yield Expectation.read({"query": query, **table}, place)


def _cell(setting: str, cell: Any, place: str) -> Any:
    """A cell as [[expect]] has it: ids are separated by blanks or |, and numbers may be text."""
    if setting == "find":
        return cell if isinstance(cell, list) else re.findall(r"[^\s|]+", str(cell))
    if setting == "measure":
        return cell
    try:
        number = float(cell)
        if not isfinite(number):
            raise ValueError
    except (TypeError, ValueError):
        raise InputError(place, f"{setting} = {cell!r:.60} is not a number.", hint=_EXPECTED) from None
    return int(number) if setting == "in_first" and number.is_integer() else number


def refuse_unknown_queries(ids: Iterable[str], known: Container[str], names: Sequence[str], place: str) -> None:
    """Refuse a query that is not measured; `names`: those that may have been meant."""
    for query in ids:
        if query not in known:
            near = nearest(query, names)
            hint = f"did you mean {near}?" if near else f"queries are {listed(names)}"
            raise InputError(place, f"query '{query}' is not one of the judged queries.", hint=hint)


@dataclass(frozen=True, slots=True)
class Limits:
    """What may happen to single queries, and how fast and reliably a system must answer: see `gate`.

    texts: the texts of queries, as far as they are known
    """

    max_drop: float | None = None
    may_become_empty: bool = False
    except_queries: Sequence[str] = ()
    max_p95: float | None = None
    max_p95_ratio: float | None = None
    max_failed: float | None = None
    max_empty: float | None = None
    expect: Sequence[Expectation] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("max_drop", "max_p95", "max_p95_ratio"):
            limit = getattr(self, name)
            if limit is not None and not 0 < limit < float("inf"):
                hint = {"max_drop": "0.5 is a drop of that much", "max_p95": "0.3 is 300 ms"}
                hint_text = hint.get(name, "1.5 is half as much again")
                raise ComparisonError("is not a limit.", parameter=name, value=limit, hint=hint_text)
        for name in ("max_failed", "max_empty"):
            limit = getattr(self, name)
            if limit is not None and not (0 <= limit < 1 or (limit >= 1 and limit == int(limit))):
                hint_text = "3 queries, or 0.05 of them"
                raise ComparisonError("is no number of queries.", parameter=name, value=limit, hint=hint_text)

    def alone(self, evaluation: Evaluation, asking: Asking | None, others: Sequence[str] = ()) -> Iterator[Check]:
        """What is expected of a run by itself; `others`: queries that are known and not evaluated."""
        ids = evaluation.query_ids
        queries = {*ids, *others}
        refuse_unknown_queries(self.except_queries, queries, ids, "except_queries")
        unanswerable = evaluation.answering.unanswerable if evaluation.answering else ()
        if len(empty := self._empty(evaluation, asking)) == len(ids) - len(unanswerable):
            yield Check("something is returned", False, "no query returned a document")
        failed = asking.failed if asking else ()
        every = len({*ids, *failed})
        if self.max_failed is not None or failed:
            yield self._counted(failed, every, "failed", "fail", self.max_failed or 0)
        if self.max_empty is not None:
            yield self._counted(empty, every, "returned nothing", "return nothing", self.max_empty)
        if self.max_p95 is not None:
            p95, limit = asking.p95 if asking else None, _seconds(self.max_p95)
            known = f"p95 is {_seconds(p95)} and must be at most {limit}" if p95 is not None else _unknown(evaluation)
            yield Check(f"p95 is at most {limit}", p95 is not None and p95 <= self.max_p95, known)
        for expected in self.expect:
            if expected.measure is not None or not first_documents(evaluation, expected.query, 1):
                refuse_unknown_queries([expected.query], {*queries, *self.texts}, ids, expected.place)
            yield from expected.checks(evaluation, self._named(expected.query))

    def beside(
        self, sides: tuple[Evaluation, Evaluation], measure: Measure, drops: Mapping[str, float], asking: _Askings
    ) -> tuple[list[Check], tuple[Doubt, ...]]:
        """What is expected of a run beside the one before it; `drops`: of each query, by this measure."""
        before, after = sides
        checks: list[Check] = []
        doubts: tuple[Doubt, ...] = ()
        emptied = self._emptied(before, after, asking[1])
        if emptied and not self.may_become_empty:
            queries = count(
                len(emptied), "query that returned documents returns", "queries that returned documents return"
            )
            message = f"{queries} none now: {listed([self._named(query) for query in emptied])}"
            checks.append(Check("no query becomes empty", False, message, tuple(emptied)))
        if self.max_drop is not None:
            fell = [query for query, drop in drops.items() if drop > self.max_drop + SAME]
            open_ones = _into_unjudged(sides, measure, drops, [q for q in fell if q not in emptied], self.max_drop)
            spared = {*open_ones, *self.except_queries}
            fell = sorted((query for query in fell if query not in spared), key=lambda query: -drops[query])
            was, now = ((side.by_people or side).by_query(measure) for side in sides)
            shown = listed([f"{self._named(query)} {change_text(was[query], now[query])}" for query in fell])
            queries = count(len(fell), "query", "queries") + " got" if fell else "no query got"
            if open_ones and not fell:
                queries = "no query is shown to be"
            message = f"{queries} worse by more than {self.max_drop:g} in {measure}{f': {shown}' if fell else ''}"
            title = f"no query gets worse by more than {self.max_drop:g} in {measure}"
            checks.append(Check(title, not fell, message, tuple(fell)))
            told = {query: documents for query, documents in open_ones.items() if query not in self.except_queries}
            doubts = self._to_judge(sides, measure, told)
        if self.max_p95_ratio is not None:
            checks.append(self._slower(sides, [each.p95 if each else None for each in asking]))
        return checks, doubts

    def _empty(self, evaluation: Evaluation, asking: Asking | None) -> list[str]:
        retrieved = evaluation.facts(evaluation.measures[0]).retrieved
        failed = asking.failed if asking else ()
        sizes = zip(evaluation.query_ids, retrieved.tolist(), strict=True)
        right = evaluation.answering.unanswerable if evaluation.answering else ()  # to return nothing
        return [query for query, size in sizes if not size and query not in failed and query not in right]

    def _emptied(self, before: Evaluation, after: Evaluation, asking: Asking | None) -> list[str]:
        known = {*before.query_ids} - {*self._empty(before, None)} - {*self.except_queries}
        return [query for query in self._empty(after, asking) if query in known]

    def may_fail(self, failed: int, every: int) -> bool:
        return failed <= _most(self.max_failed or 0, every)

    def _counted(self, queries: Sequence[str], every: int, did: str, may: str, limit: float) -> Check:
        allowed = f"at most {limit:g}" if limit >= 1 else f"at most {limit:.3g} of them" if limit else "none"
        shown = f": {listed([self._named(query) for query in queries])}" if queries else ""
        message = f"{len(queries)} of {count(every, 'query', 'queries')} {did}; {allowed} may{shown}"
        kept = len(queries) <= _most(limit, every)
        return Check(f"{allowed} may {may}", kept, message, () if kept else tuple(queries))

    def _slower(self, sides: tuple[Evaluation, Evaluation], seconds: Sequence[float | None]) -> Check:
        title = f"p95 is at most {self.max_p95_ratio:g} times what it was"
        before, now = seconds
        if before is None or now is None:
            return Check(title, False, _unknown(sides[0 if before is None else 1]))
        assert self.max_p95_ratio is not None
        times = f" ({now / before:.2g} times)" if before else ""
        allowed = f"it may be at most {self.max_p95_ratio:g} times what it was"
        message = f"p95 is {_seconds(now)}, previously {_seconds(before)}{times}; {allowed}"
        return Check(title, now <= self.max_p95_ratio * before, message)

    def _to_judge(
        self, sides: tuple[Evaluation, Evaluation], measure: Measure, found: Mapping[str, Sequence[str]]
    ) -> tuple[Doubt, ...]:
        """The queries that fell only because documents are not judged, and these documents."""
        if not found:
            return ()
        shown = "; ".join(f"{self._named(query)}: {listed(documents)}" for query, documents in found.items())
        queries = count(len(found), "query", "queries")
        sentence = (
            f"{queries} lost more than {self.max_drop:g} in {measure} to documents that nobody has judged, which "
            f"proves nothing; judge these first: {shown}"
        )
        facts = {"judge": {query: list(documents) for query, documents in found.items()}}
        before, after = (side.run for side in sides)
        return (Doubt(UNJUDGED, after, (before,), (measure.name,), queries, sentence, facts),)

    def _named(self, query: str) -> str:
        return named_query(query, self.texts)


def _most(limit: float, every: int) -> float:
    return limit if limit >= 1 else limit * every + SAME


_Askings = tuple[Asking | None, Asking | None]


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _unknown(evaluation: Evaluation) -> str:
    return (
        f"the latency of {evaluation.run} is not known: 'cranfield run' writes it beside the run, as its name and "
        ".json, and 'cranfield accept' keeps it"
    )


def first_documents(evaluation: Evaluation, query: str, n: int) -> list[str] | None:
    """The first n documents of a query; None where they are not known."""
    reading = evaluation._evidence.reading
    if reading is None or reading.run is None:
        return None
    if query in reading.judgments.number:
        return reading.first([query], n).get(query, [])
    from cranfield.ranks import first_documents as reading_again  # of other queries, no place was kept

    return reading_again.first_documents(reading.run.source, {query: {}}, n, reading.policy).get(query, [])


def _into_unjudged(
    sides: tuple[Evaluation, Evaluation],
    measure: Measure,
    drops: Mapping[str, float],
    queries: Sequence[str],
    limit: float,
) -> dict[str, list[str]]:
    """Queries whose drop new unjudged documents could make up for, and these documents, the first ones first."""
    before, after = sides
    if not queries or not after._has_ranks or after.by_people is not None or measure.definition.of_holes:
        return {}
    sign = measure.definition.sign
    best = {query: max(sign * end for end in ends) for query, ends in after.bounds(measure).by_query.items()}
    was = before.by_query(measure)
    reading, depth = after._evidence.reading, Scope.of(measure).cutoff or FIRST
    found = {}
    for query in queries:
        if sign * was[query] - best[query] > limit + SAME or reading is None:
            continue
        old = first_documents(before, query, depth) or ()
        judged = reading.judgments.by_query.get(query, {})
        new = [each for each in first_documents(after, query, depth) or () if each not in judged and each not in old]
        if new:
            found[query] = new
    return found
