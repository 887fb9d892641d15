"""sample_queries(log, 200): queries of a log to evaluate with, and how much each stands for.

Queries are drawn without replacement with probabilities that grow with their size: half by how often they are asked,
half alike, so that one sample speaks for searches and for distinct queries.

    size p = ½ · count / all searches + ½ / distinct queries
    drawn are the n queries with the smallest u / p, u the permanent random number of each (Ohlsson 1998)
    π = min(1, τ p), τ the next smallest u / p: given τ, queries are drawn independently (Duffield, Lund & Thorup 2007)
    weight of a search count / π, of a distinct query 1 / π
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.power import detectable_difference
from cranfield.errors import InputError, given
from cranfield.evaluation.weighting import Weights, effective_queries
from cranfield.io.formats import extension_of
from cranfield.io.pairs import PROBABILITY
from cranfield.io.queries import made_id
from cranfield.io.query_columns import Column, text_tier, words_of
from cranfield.io.target import write_text
from cranfield.ranks.columns import Numbers
from cranfield.traffic.click_columns import are_searches
from cranfield.traffic.counting import CountedQueries, Whole
from cranfield.traffic.logs import Log, open_log
from cranfield.traffic.personal_data import KINDS, check_kinds
from cranfield.words import count as counted
from cranfield.words import joined

SPREAD = 0.2  # of the differences between two systems, as most comparisons of nDCG@10 have it
ESTIMANDS = {
    "search": "weight",
    "distinct query": "distinct_weight",
}  # what a mean is for, and the column of its weights
COLUMNS = ("query_id", "text", "count", PROBABILITY, *ESTIMANDS.values())
# Columns of logs that are counted already; other numbers, such as clicks, are not how often a query was asked.
_COUNTS = "count counts frequency freq searches volume anzahl haufigkeit suchen nombre frequence antal aantal"

MOST = 10**12  # searches for one query in a log; so their sums are exact


@dataclass(frozen=True, slots=True)
class SampledQuery:
    """A query of a sample.

    query_id, text: made of its text alone, and the text as it is counted
    count: how often it was asked
    probability: with which it was drawn

    >>> query = SampledQuery("lamp-cafd3f04", "lamp", 3, 0.5)
    >>> query.weight, query.distinct_weight
    (6.0, 2.0)
    """

    query_id: str
    text: str
    count: int
    probability: float

    @property
    def weight(self) -> float:
        """How many searches it stands for.

        >>> SampledQuery("lamp-cafd3f04", "lamp", 3, 0.5).weight
        6.0
        """
        return self.count / self.probability

    @property
    def distinct_weight(self) -> float:
        """How many distinct queries it stands for.

        >>> SampledQuery("lamp-cafd3f04", "lamp", 3, 0.5).distinct_weight
        2.0
        """
        return 1 / self.probability

    def _row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}


class LeftOut(NamedTuple):
    """What was left out for one reason: distinct queries, and searches for them."""

    queries: int
    searches: int


@dataclass(frozen=True, slots=True, repr=False)
class QuerySample:
    """Queries drawn from logs; see `sample_queries`.

    queries: those drawn, the most frequent first
    searches, distinct: of the logs, without what was left out
    left_out: what looks like personal data, by kind
    empty, skipped: searches without a text, and lines that could not be read
    columns: where the texts of queries were found, and how often each was asked, by log
    seed: that of the permanent random numbers

    >>> from cranfield import sample_queries
    >>> log = ["red shoes"] * 60 + ["Red  Shoes", "ann@example.org"] + [f"lamp {at}" for at in range(38)]
    >>> sample = sample_queries(log, 8)
    >>> sample, sample.queries[0].count, sample.left_out
    (<QuerySample of 8 queries from 99 searches>, 61, {'email': LeftOut(queries=1, searches=1)})
    >>> round(sum(query.distinct_weight for query in sample.queries))  # of 39 distinct queries
    36
    """

    queries: tuple[SampledQuery, ...]
    searches: int
    distinct: int
    left_out: Mapping[str, LeftOut]
    empty: int
    skipped: int
    columns: Mapping[str, Mapping[str, str]]
    seed: int

    def __repr__(self) -> str:
        queries, searches = counted(len(self.queries), "query", "queries"), counted(self.searches, "search", "searches")
        return f"<QuerySample of {queries} from {searches}>"

    @property
    def share(self) -> float:
        """The share of searches that are for one of the queries drawn.

        >>> from cranfield import sample_queries
        >>> sample_queries({"red shoes": 900, "blue sofa": 90, "lamp": 10}, 2).share
        0.91
        """
        return sum(query.count for query in self.queries) / self.searches

    @property
    def stands_for(self) -> float:
        """The share of all searches with a text that the sample stands for: what was left out is the rest.

        >>> from cranfield import sample_queries
        >>> sample_queries({"red shoes": 75, "ann@example.org": 25}, 2).stands_for
        0.75
        """
        out = sum(left.searches for left in self.left_out.values())
        return self.searches / (self.searches + out)

    def weights(self, of: str = "search") -> Weights:
        """Weights for `evaluate` and `compare`.

        of: what a mean is for, "search" or "distinct query"
        Returns `Weights` that know the probabilities, by which intervals are then.

        >>> from cranfield import evaluate, sample_queries
        >>> sample = sample_queries(["red shoes"] * 7 + ["lamp", "blue sofa"], 2)
        >>> one, two = (query.query_id for query in sample.queries)
        >>> run = {one: ["a"], two: ["b"]}
        >>> result = evaluate({one: {"a": 1}, two: {"a": 1}}, run, "RR", weights=sample.weights())
        >>> round(result["RR"], 2)
        0.86
        """
        column = self._column(of)
        weights = {query.query_id: getattr(query, column) for query in self.queries}
        probability = {query.query_id: query.probability for query in self.queries}
        return Weights("", weights, probability=probability)

    def effective(self, of: str = "search") -> float:
        """How many queries, drawn with equal probabilities from a very large log, would say as much about a mean.

        of: "search" or "distinct query"
        Returns a number of queries; infinite where every query was drawn.

        >>> from cranfield import sample_queries
        >>> sample = sample_queries([f"lamp {at}" for at in range(1000)], 50)
        >>> round(sample.effective(), 1)
        53.0
        """
        drawn = np.array([query.probability for query in self.queries])
        if (drawn == 1).all():
            return float("inf")
        weights = np.array([getattr(query, self._column(of)) for query in self.queries])
        return effective_queries(weights, drawn)

    def detectable(self, of: str = "search", spread: float = SPREAD) -> float:
        """The smallest difference of two systems that the sample detects in 80% of cases, at the level 0.05.

        of: "search" or "distinct query"
        spread: the standard deviation of the differences by query
        Returns a difference of means; 0 where every query of the log was drawn.

        >>> from cranfield import sample_queries
        >>> round(sample_queries([f"lamp {at}" for at in range(1000)], 50).detectable(), 3)
        0.078
        """
        if not 0 < spread < float("inf"):
            hint = "a standard deviation is above 0"
            raise InputError("the sample", "is not a spread.", parameter="spread", value=spread, hint=hint)
        effective = self.effective(of)
        return detectable_difference(spread, max(effective, 2.0)) if isfinite(effective) else 0.0

    def _column(self, of: str) -> str:
        if of not in ESTIMANDS:
            hint = f"it is {joined(map(repr, ESTIMANDS), 'or')}"
            raise InputError("the sample", "has no such mean.", parameter="of", value=of, hint=hint)
        return ESTIMANDS[of]

    def save(self, path: str | os.PathLike[str], *, format: str | None = None, force: bool = False) -> None:
        """Write a file of queries with their weights, for `evaluate(weights=path)`.

        path: the file; "-" is standard output
        format: tsv, csv or jsonl; by default that of the extension, which .gz may follow, or tsv
        force: replace a file that exists

        >>> from cranfield import sample_queries
        >>> sample_queries(["red shoes", "lamp"], 2).save("queries.tsv")  # doctest: +SKIP
        """
        ending = extension_of(os.fspath(path)).removeprefix(".")
        write_text(path, self._lines(format or ending), force=force)

    def _lines(self, format: str) -> Iterable[str]:
        rows = [query._row() for query in self.queries]
        if format in ("jsonl", "ndjson"):
            return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        mark = "," if format == "csv" else "\t"
        return (
            mark.join(_cell(cell, mark) for cell in row) + "\n" for row in (COLUMNS, *(row.values() for row in rows))
        )

    def to_dict(self, *, spread: float = SPREAD) -> dict[str, Any]:
        """The sample as plain data, ready for JSON.

        spread: the standard deviation of the differences by query, for what can be detected
        Returns a dict of texts, numbers, lists and dicts.

        >>> from cranfield import sample_queries
        >>> sample_queries(["red shoes", "lamp"], 2).to_dict()["queries"][0]["text"]
        'lamp'
        """
        finite = {of: self.effective(of) for of in ESTIMANDS}
        return {
            "queries": [query._row() for query in self.queries],
            **{name: getattr(self, name) for name in ("searches", "distinct", "empty", "skipped", "seed")},
            "left_out": {kind: left._asdict() for kind, left in self.left_out.items()},
            "share": self.share,
            "stands_for": self.stands_for,
            "effective": {of: number if isfinite(number) else None for of, number in finite.items()},
            "detectable": {of: self.detectable(of, spread) for of in ESTIMANDS},
            "spread": spread,
            "columns": {log: dict(columns) for log, columns in self.columns.items()},
        }


def _cell(cell: object, mark: str) -> str:
    text = repr(cell) if isinstance(cell, float) else str(cell)
    if mark == "," and any(sign in text for sign in ',"\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def sample_queries(
    log: Any,
    size: int = 200,
    *,
    seed: int = 0,
    query: str | None = None,
    count: str | None = None,
    any_order: bool = False,
    same_case: bool = False,
    keep: Collection[str] = (),
    skip_bad: bool = False,
) -> QuerySample:
    """Draw queries from a log of searches, to judge and to evaluate with.

    log: a file of CSV, TSV, JSON lines or UBI, compressed or not, an open binary file, or several of these; or texts
        of searches; or {text: count}.
    size: how many queries to draw; a log with fewer distinct queries gives all of them.
    seed: of the permanent random numbers. With the same seed, a larger sample has all queries of a smaller one, and
        samples of two logs share as many as they can.
    query, count: the columns with the texts, and with how often each was asked; by default recognised by their names.
    any_order: whether queries of the same words in another order are one.
    same_case: whether queries that differ by case are two.
    keep: kinds of personal data that are not left out, of those that `cranfield sample --help` names.
    skip_bad: whether lines that cannot be read are left out and counted, instead of being an error.
    Returns a `QuerySample`, which has the queries and what was left out.

    >>> sample = sample_queries({"red shoes": 900, "blue sofa": 90, "lamp": 10}, 2)
    >>> sample.distinct, [query.text for query in sample.queries]
    (3, ['red shoes', 'lamp'])
    """
    if size < 2:
        hint = "one query cannot show how queries vary"
        raise InputError("the sample", "is too few to draw.", parameter="size", value=size, hint=hint)
    check_kinds(keep)
    columns: dict[str, Mapping[str, str]] = {}
    skipped = 0
    with CountedQueries(seed, any_order=any_order, same_case=same_case, keep=keep) as found:
        for each in _sources(log):
            if isinstance(each, Mapping):
                found.add([str(text) for text in each], _counts(each.values(), "the log", 1))
            elif isinstance(each, _Texts):
                found.add(each)
            else:
                opened = open_log(each, skip_bad=skip_bad)
                columns[opened.name] = _columns(opened, query, count)
                row = 1
                for batch in opened.batches(list(columns[opened.name].values())):
                    texts, *numbers = batch.columns
                    found.add(texts, _counts(numbers[0], opened.name, row) if numbers else None)
                    row += len(texts)
                skipped += opened.skipped
        found.finish()
        return _drawn(found, size, columns, skipped, seed)


class _Texts(list[str]):
    """Texts of searches that are given as such."""


def _sources(log: Any) -> Iterable[Any]:
    """The logs in what is given: paths and open files, counted texts, or texts of searches."""
    if isinstance(log, str | os.PathLike | Mapping) or hasattr(log, "read"):
        return [log]
    if isinstance(log, bytes) or not isinstance(log, Iterable):
        raise InputError("the log", f"{log!r:.60} is neither a path nor texts.", hint="give a path, or a list of texts")
    items = list(log)
    if items and all(isinstance(item, os.PathLike) or hasattr(item, "read") for item in items):
        return items
    for item in items:
        if not isinstance(item, str):
            raise InputError("the log", f"{item!r:.60} is not the text of a search.")
    return [_Texts(items)]


def _counts(numbers: Iterable[Any], place: str, first: int) -> list[int]:
    """How often each query was asked; `first` is the number of the first row."""
    counts = []
    for row, number in enumerate(numbers, first):
        try:
            exact = float(number)
        except (TypeError, ValueError, OverflowError):
            exact = -1.0
        if not 0 <= exact <= MOST or exact != int(exact):
            fact = f"row {row:,}: {number!r:.60} is not how often a query was asked."
            raise InputError(place, fact, hint=f"a count is a whole number from 0 to {MOST:,}")
        counts.append(int(exact))
    return counts


def _columns(log: Log, query: str | None, count: str | None) -> dict[str, str]:
    """The columns to read: of the texts, and if there is one, of the counts."""
    if query is None and not are_searches(log.names):
        fact = "its rows are what happened in searches, such as documents shown and clicks, not searches."
        raise InputError(log.name, fact, hint=f"give the log of searches, or count rows by {given('query', 'COLUMN')}")
    cells = dict(zip(log.names, log.head(log.names), strict=True))
    looked = {name: Column([cell.strip() for cell in column]) for name, column in cells.items()}
    wanted = {"query": query or _text_column(log, looked)}
    if count is None:
        named = [name for name in log.names if len(words_of(name)) == 1 and words_of(name)[0] in _COUNTS.split()]
        whole = [name for name in named if any(map(str.isdecimal, looked[name].filled))]
        count = whole[0] if len(whole) == 1 else None
    if count is not None:
        wanted["count"] = count
    return wanted


def _text_column(log: Log, looked: Mapping[str, Column]) -> str:
    if len(log.names) == 1:
        return log.names[0]
    tiers = {name: text_tier(name) if column.texts else 0 for name, column in looked.items()}
    best = max(tiers.values(), default=0)
    found = [name for name, tier in tiers.items() if tier == best and best]
    if len(found) == 1:
        return found[0]
    fact = f"the columns {joined(map(repr, found), 'and')} could all be the query." if found else ""
    raise InputError(
        log.name,
        fact or "no column is the text of a query by its name.",
        hint=f"name the column: {given('query', log.names[0])}; it has {joined(log.names, 'and')}",
    )


def draw(chance: Numbers, counts: Numbers | Whole, size: int) -> tuple[Whole, Numbers]:
    """Which queries are drawn, by their permanent random numbers and counts, and with which probabilities.

    Those with a count of 0 are none. Arrays are changed in place, since there may be millions of queries.
    """
    distinct = int(np.count_nonzero(counts))
    if distinct <= size:
        return np.flatnonzero(counts), np.ones(distinct)
    total = int(counts.sum())
    order = counts / (2 * total)
    order += 1 / (2 * distinct)
    np.divide(chance, order, out=order)
    order[counts == 0] = np.inf
    smallest = np.argpartition(order, size)[: size + 1]
    smallest = smallest[np.lexsort((counts[smallest], order[smallest]))]
    drawn = smallest[:size]
    share = counts[drawn] / (2 * total) + 1 / (2 * distinct)
    return drawn, np.minimum(1.0, order[smallest[size]] * share)


def _drawn(
    found: CountedQueries, size: int, columns: Mapping[str, Mapping[str, str]], skipped: int, seed: int
) -> QuerySample:
    places, counts = found.grouped()
    kind = found.kind if places is None else found.kind[places]
    chance = found.chance if places is None else found.chance[places]
    left_out = {
        name: LeftOut(int((kind == at).sum()), int(counts.sum(where=kind == at)))
        for at, name in enumerate(KINDS, 1)
        if (kind == at).any()
    }
    counts = np.where(kind == 0, counts, 0)
    distinct, searches = int(np.count_nonzero(counts)), int(counts.sum())
    if not distinct:
        raise InputError(joined(columns, "and") if columns else "the log", "it has no query to draw.")
    drawn, probabilities = draw(chance, counts, size)
    rows = [
        SampledQuery(made_id(text), text, asked, chance)
        for text, asked, chance in zip(
            (found.text(place) for place in (drawn if places is None else places[drawn]).tolist()),
            counts[drawn].tolist(),
            probabilities.tolist(),
            strict=True,
        )
    ]
    rows.sort(key=lambda row: (-row.count, row.text))
    return QuerySample(tuple(rows), searches, distinct, left_out, found.empty, skipped, columns, seed)
