"""Weights of queries: how much each counts in a mean, such as how often people ask it; groups of them count as one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.measures.aggregates import scaled
from cranfield.ranks.columns import Integers, Numbers
from cranfield.words import count, listed, visible

MARK = "†"  # after the name of a measure whose mean is weighted
SAME = 1e-6  # of a share: closer ones are the same weights, however they are scaled and written


@dataclass(frozen=True, slots=True, repr=False)
class Weights:
    """How much each query counts in the means of an evaluation; only proportions matter.

    source: the name of the file that they come from; empty if they were given as a mapping
    by_query: the weight of each query
    groups: the group of queries that are repeats or variants of one another; it counts as one query, with the mean
        weight of its members. None where each query is by itself
    grouped_by: the name of the file of groups
    equal: whether queries or groups all count alike
    probability: of queries that were sampled from a log, the probability with which each was; otherwise None

    >>> from cranfield import evaluate
    >>> qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}
    >>> result = evaluate(qrels, run, "RR", weights={"1": 3, "2": 1})
    >>> result["RR"], result.weights, result.weights.effective
    (0.875, <Weights of 2 queries: as precise as 1.6 equally weighted queries>, 1.6)
    >>> result.weights.sentence, result.weights.sha256[:12], result.weights.units
    ('weighted: as precise as 1.6 equally weighted queries', '1bfb27fc7fa4', 2)
    """

    source: str
    by_query: Mapping[str, float]
    groups: Mapping[str, str] | None = None
    grouped_by: str = ""
    equal: bool = False
    probability: Mapping[str, float] | None = None

    @classmethod
    def read(cls, source: Any, groups: Any = None) -> Weights:
        """Weights from {query: weight}, or from a file of both; groups likewise. Without weights, all count alike."""
        if isinstance(source, Weights) and groups is None:
            return source
        from cranfield.io.pairs import read_sampled_weights, read_words  # most evaluations have none

        if source is None:
            weights = cls("", {}, equal=True)
        elif isinstance(source, Weights):
            weights = source
        else:
            by_query, probability = read_sampled_weights(source)
            weights = cls(_name(source), by_query, probability=probability or None)
        return (
            weights
            if groups is None
            else replace(weights, groups=read_words(groups, "group"), grouped_by=_name(groups))
        )

    def over(self, query_ids: Sequence[str]) -> Weights:
        """Those of some queries; an error if one has none, or if all are 0."""
        lacking = [] if self.equal else [query for query in query_ids if query not in self.by_query]
        place = self.source or "the weights"
        if lacking:
            queries, verb = count(len(query_ids), "query", "queries"), "has" if len(lacking) == 1 else "have"
            fact = f"{len(lacking):,} of {queries} {verb} no weight: {listed(lacking)}."
            raise InputError(place, fact, hint="give each query a weight; with a weight of 0 it does not count")
        groups = None
        if self.groups is not None:
            groups = {query: self.groups[query] for query in query_ids if query in self.groups}
            if query_ids and not groups:
                fact = f"none of {count(len(query_ids), 'query', 'queries')} is in a group, such as '{query_ids[0]}'."
                raise InputError(self.grouped_by or "the groups", fact, hint="give {query: group} by the judged ids")
        by_query = dict.fromkeys(query_ids, 1.0) if self.equal else {q: self.by_query[q] for q in query_ids}
        kept = replace(self, by_query=by_query, groups=groups, probability=self._drawn(query_ids))
        kept.column(query_ids)
        return kept

    def column(self, query_ids: Sequence[str]) -> Numbers:
        """The weights in the order of some queries, in a range in which products with them are exact.

        Each member of a group has its share of it: the sum is the mean weight of the members that count.
        """
        weights = np.array([self.by_query[query] for query in query_ids], dtype=np.float64)
        group = self.group(query_ids)
        if group is not None:
            members = np.bincount(group, weights > 0)
            weights = weights / np.maximum(members[group], 1)
        return scaled(weights, "a value", self.source or "the weights")

    def group(self, query_ids: Sequence[str]) -> Integers | None:
        """The number of the group of each query, one without a group by itself; None where there are no groups."""
        if self.groups is None:
            return None
        number: dict[tuple[bool, str], int] = {}
        names = [(query in self.groups, self.groups.get(query, query)) for query in query_ids]
        return np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)

    def _drawn(self, query_ids: Sequence[str]) -> Mapping[str, float] | None:
        if self.probability is None:
            return None
        lacking = [query for query in query_ids if query not in self.probability]
        if lacking:
            fact = f"{len(lacking):,} of its queries have a weight and no probability: {listed(lacking)}."
            raise InputError(self.source, fact, hint="give each query that was drawn its probability, or none")
        return {query: self.probability[query] for query in query_ids}

    def probabilities(self, query_ids: Sequence[str]) -> Numbers | None:
        """The probabilities in the order of some queries; None if they are no sample, or if groups count.

        Means over groups take them as drawn with replacement, which is cautious.
        """
        if self.probability is None or self.groups is not None:
            return None
        return np.array([self.probability[query] for query in query_ids], dtype=np.float64)

    def same(self, other: Weights, query_ids: Sequence[str]) -> bool:
        """Whether these queries have the same weights in both, but for a factor, and the same groups."""
        here, there = self.group(query_ids), other.group(query_ids)
        if (here is None) != (there is None) or not np.array_equal(_or_none(here), _or_none(there)):
            return False
        one, two = (its.column(query_ids) for its in (self, other))
        return bool(np.allclose(one / one.sum(), two / two.sum(), rtol=SAME, atol=0.0))

    @property
    def units(self) -> int:
        """How many groups there are, or queries where there are no groups."""
        group = self.group(tuple(self.by_query))
        return len(self.by_query) if group is None else int(group.max(initial=-1)) + 1

    @property
    def effective(self) -> float:
        """How many queries, or groups, of equal weight would say as much: (Σ w)² / Σ w².

        Of a sample with probabilities π, (Σ w)² / Σ (1 - π) w².
        """
        queries = tuple(self.by_query)
        weights, group = self.column(queries), self.group(queries)
        if group is not None:
            return effective_queries(_sums(group, weights))
        return effective_queries(weights, self.probabilities(queries))

    @property
    def sha256(self) -> str:
        """The SHA-256 of the queries and of the share of each, to six digits; and of their groups."""
        shares = self.column(tuple(self.by_query))
        shares = shares / math.fsum(shares.tolist())
        grouped = () if self.groups is None else ("", *_rows(self.groups))
        return _sha256((*_numbers(dict(zip(self.by_query, shares.tolist(), strict=True))), *grouped))

    @property
    def signed(self) -> tuple[str, ...]:
        """What signatures say of them, of a sample with its probabilities."""
        weights = () if self.equal else (f"weights:{replace(self, groups=None).sha256[:12]}",)
        if self.probability is not None:
            weights = (*weights, f"sample:poisson-{_sha256(_numbers(self.probability))[:12]}")
        return weights if self.groups is None else (*weights, f"groups:{hash_of(self.groups)[:12]}")

    @property
    def sentence(self) -> str:
        """Whose weights they are, and what they leave of the number of queries or groups."""
        sampled = self.probability is not None
        if self.groups is None:
            return weighted_text(self.source, self.effective, sampled=sampled)
        grouped = f"grouped by {visible(self.grouped_by)}" if self.grouped_by else "grouped"
        if self.equal:
            each = " each" * (self.units > 1)
            return f"{grouped}: {count(self.units, 'group counts', 'groups count')} once{each}"
        if self.source == self.grouped_by:
            return weighted_text(self.source, self.effective, "group", "weighted and grouped", sampled=sampled)
        by = f"weighted by {visible(self.source)} and {grouped}" if self.source else f"weighted and {grouped}"
        return weighted_text("", self.effective, "group", by, sampled=sampled)

    @property
    def unit(self) -> str:
        """What is drawn at random, and counts in intervals: a query or a group."""
        return "query" if self.groups is None else "group"

    def __repr__(self) -> str:
        said = self.sentence.partition(": ")[2]
        return f"<Weights of {len(self.by_query):,} queries: {said}>"

    def to_dict(self) -> dict[str, Any]:
        """The weights as plain data, without those of the queries."""
        groups = {} if self.groups is None else {"grouped_by": self.grouped_by, "groups": self.units}
        sample = {} if self.probability is None else {"sample": f"poisson-{_sha256(_numbers(self.probability))[:12]}"}
        told = {"source": self.source, "sha256": self.sha256, "effective_queries": self.effective}
        return {**told, **groups, **sample}


def _name(source: Any) -> str:
    """The name of the file that facts are, or come from; of anything else, there is none."""
    source = getattr(source, "place", source)
    return os.path.basename(os.fspath(source)) if isinstance(source, str | os.PathLike) else ""


def _or_none(group: Integers | None) -> Integers:
    return np.empty(0, dtype=np.int64) if group is None else group


def _rows(words: Mapping[str, str]) -> Iterable[str]:
    return sorted(f"{query}\t{word}" for query, word in words.items())


def _numbers(numbers: Mapping[str, float]) -> Iterable[str]:
    return (f"{query}\t{number:.5e}" for query, number in sorted(numbers.items()))


class Units(NamedTuple):
    """What is drawn at random and counts once: queries, or groups of them.

    names: their ids; weight: of each; None where all count alike
    values: a row for each, of a group the mean over its members by their weights
    """

    names: tuple[str, ...]
    weight: Numbers | None
    values: Numbers


def by_group(weights: Weights | None, query_ids: Sequence[str], values: Numbers) -> Units:
    """Values of queries, a row for each, as values of groups, in the order of their first queries."""
    weight = None if weights is None else weights.column(query_ids)
    group = None if weights is None else weights.group(query_ids)
    if weights is None or weight is None or group is None:
        return Units(tuple(query_ids), weight, values)
    known = weights.groups or {}
    first = np.unique(group, return_index=True)[1].tolist()
    names = tuple(known.get(query_ids[at], query_ids[at]) for at in first)
    total = _sums(group, weight)
    share = np.where(total[group] > 0, weight, 1.0)  # of a group that does not count, all members do
    share = share / _sums(group, share)[group]
    means = np.zeros((len(names), values.shape[1]))
    np.add.at(means, group, share[:, None] * values)
    alike = weights.equal
    return Units(names, None if alike else total, means)


def _sums(group: Integers, numbers: Numbers) -> Numbers:
    return np.bincount(group, numbers).astype(np.float64)


def hash_of(words: Mapping[str, str]) -> str:
    """The SHA-256 of {query: word}."""
    return _sha256(_rows(words))


def _sha256(rows: Iterable[str]) -> str:
    import hashlib  # most evaluations show no hash

    return hashlib.sha256("\n".join(rows).encode(errors="surrogatepass")).hexdigest()


def effective_queries(weights: Numbers, probabilities: Numbers | None = None) -> float:
    if not len(weights):
        return 0.0
    drawn = probabilities is not None and bool((probabilities < 1).any())
    share = 1 - probabilities if drawn and probabilities is not None else np.ones(len(weights))
    return float(weights.sum() ** 2 / (share * weights**2).sum())


def weighted_text(
    source: str, effective: float, unit: str = "query", weighted: str = "weighted", *, sampled: bool = False
) -> str:
    by = f" by {visible(source)}" if source else ""
    by += ", a sample of a log" if sampled else ""
    number = f"{effective:.2g}" if effective < 10 else f"{effective:,.0f}"
    return f"{weighted}{by}: as precise as {number} equally weighted {unit if number == '1' else plural(unit)}"


def means_of(weights: Weights) -> str:
    """What is estimated by these weights and groups, in words."""
    return " ".join(["weighted"] * (not weights.equal) + ["means"] + ["over groups"] * (weights.groups is not None))


def are_weighted(weights: Weights | None) -> bool:
    """Whether queries or groups count differently."""
    return weights is not None and not weights.equal


def only_one_counts(weights: Weights | None) -> bool:
    """Whether all queries but one, or all groups but one, have the weight 0, so that nothing varies."""
    return weights is not None and weights.effective < 1 + SAME


def plural(unit: str) -> str:
    return "queries" if unit == "query" else f"{unit}s"
