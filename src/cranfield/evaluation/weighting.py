"""Weights of queries: how much each counts in a mean, such as how often people ask it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.measures.aggregates import scaled
from cranfield.ranks.columns import Numbers
from cranfield.words import count, listed, visible

MARK = "†"  # after the name of a measure whose mean is weighted
SAME = 1e-6  # of a share: closer ones are the same weights, however they are scaled and written


@dataclass(frozen=True, slots=True, repr=False)
class Weights:
    """How much each query counts in the means of an evaluation; only proportions matter.

    source: the name of the file that they come from; empty if they were given as a mapping
    by_query: the weight of each query
    probability: of queries that were sampled from a log, the probability with which each was; otherwise None

    >>> from cranfield import evaluate
    >>> qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x", "b"]}
    >>> result = evaluate(qrels, run, "RR", weights={"1": 3, "2": 1})
    >>> result["RR"], result.weights, result.weights.effective
    (0.875, <Weights of 2 queries: as precise as 1.6 equally weighted queries>, 1.6)
    >>> result.weights.sentence, result.weights.sha256[:12]
    ('weighted: as precise as 1.6 equally weighted queries', '1bfb27fc7fa4')
    """

    source: str
    by_query: Mapping[str, float]
    probability: Mapping[str, float] | None = None

    @classmethod
    def read(cls, source: Any) -> Weights:
        """Weights from {query: weight}, or from a file of both."""
        if isinstance(source, Weights):
            return source
        from cranfield.io.pairs import read_sampled_weights  # most evaluations have none

        by_query, probability = read_sampled_weights(source)
        name = "" if isinstance(source, Mapping) else os.path.basename(os.fspath(source))
        return cls(name, by_query, probability or None)

    def over(self, query_ids: Sequence[str]) -> Weights:
        """Those of some queries; an error if one has none, or if all are 0."""
        lacking = [query for query in query_ids if query not in self.by_query]
        place = self.source or "the weights"
        if lacking:
            queries, verb = count(len(query_ids), "query", "queries"), "has" if len(lacking) == 1 else "have"
            fact = f"{len(lacking):,} of {queries} {verb} no weight: {listed(lacking)}."
            raise InputError(place, fact, hint="give each query a weight; with a weight of 0 it does not count")
        kept = Weights(self.source, {query: self.by_query[query] for query in query_ids}, self._drawn(query_ids))
        kept.column(query_ids)
        return kept

    def column(self, query_ids: Sequence[str]) -> Numbers:
        """The weights in the order of some queries, in a range in which products with them are exact."""
        weights = np.array([self.by_query[query] for query in query_ids], dtype=np.float64)
        return scaled(weights, "a value", self.source or "the weights")

    def _drawn(self, query_ids: Sequence[str]) -> Mapping[str, float] | None:
        if self.probability is None:
            return None
        lacking = [query for query in query_ids if query not in self.probability]
        if lacking:
            fact = f"{len(lacking):,} of its queries have a weight and no probability: {listed(lacking)}."
            raise InputError(self.source, fact, hint="give each query that was drawn its probability, or none")
        return {query: self.probability[query] for query in query_ids}

    def probabilities(self, query_ids: Sequence[str]) -> Numbers | None:
        """The probabilities in the order of some queries; None if they are no sample."""
        if self.probability is None:
            return None
        return np.array([self.probability[query] for query in query_ids], dtype=np.float64)

    def same(self, other: Weights, query_ids: Sequence[str]) -> bool:
        """Whether these queries have the same weights in both, but for a factor."""
        one, two = (its.column(query_ids) for its in (self, other))
        return bool(np.allclose(one / one.sum(), two / two.sum(), rtol=SAME, atol=0.0))

    @property
    def effective(self) -> float:
        """How many queries of equal weight would say as much: (Σ w)² / Σ w².

        Of a sample with probabilities π, (Σ w)² / Σ (1 - π) w².
        """
        queries = tuple(self.by_query)
        return effective_queries(self.column(queries), self.probabilities(queries))

    @property
    def sha256(self) -> str:
        """The SHA-256 of the queries and of the share of each, to six digits."""
        shares = self.column(tuple(self.by_query))
        shares = shares / math.fsum(shares.tolist())
        return _sha256(dict(zip(self.by_query, shares.tolist(), strict=True)))

    @property
    def signed(self) -> tuple[str, ...]:
        """What signatures say: the hash of the weights, and of a sample that of its probabilities."""
        design = () if self.probability is None else (f"sample:poisson-{_sha256(self.probability)[:12]}",)
        return f"weights:{self.sha256[:12]}", *design

    @property
    def sentence(self) -> str:
        """Whose weights they are, and what they leave of the number of queries."""
        return weighted_text(self.source, self.effective, sampled=self.probability is not None)

    def __repr__(self) -> str:
        said = self.sentence.partition(": ")[2]
        return f"<Weights of {len(self.by_query):,} queries: {said}>"

    def to_dict(self) -> dict[str, Any]:
        """The weights as plain data, without those of the queries."""
        told = {"source": self.source, "sha256": self.sha256, "effective_queries": self.effective}
        return told if self.probability is None else {**told, "sample": self.signed[-1].partition(":")[2]}


def _sha256(numbers: Mapping[str, float]) -> str:
    import hashlib  # most evaluations show no hash

    text = "\n".join(f"{query}\t{number:.5e}" for query, number in sorted(numbers.items()))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def effective_queries(weights: Numbers, probabilities: Numbers | None = None) -> float:
    if not len(weights):
        return 0.0
    drawn = probabilities is not None and bool((probabilities < 1).any())
    share = 1 - probabilities if drawn and probabilities is not None else np.ones(len(weights))
    return float(weights.sum() ** 2 / (share * weights**2).sum())


def weighted_text(source: str, effective: float, *, sampled: bool = False) -> str:
    by = f" by {visible(source)}" if source else ""
    by += ", a sample of a log" if sampled else ""
    number = f"{effective:.2g}" if effective < 10 else f"{effective:,.0f}"
    return f"weighted{by}: as precise as {number} equally weighted {'query' if number == '1' else 'queries'}"
