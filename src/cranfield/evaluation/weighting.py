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

    @classmethod
    def read(cls, source: Any) -> Weights:
        """Weights from {query: weight}, or from a file of both."""
        if isinstance(source, Weights):
            return source
        from cranfield.io.pairs import read_weights  # most evaluations have none

        by_query = read_weights(source)
        return cls("" if isinstance(source, Mapping) else os.path.basename(os.fspath(source)), by_query)

    def over(self, query_ids: Sequence[str]) -> Weights:
        """Those of some queries; an error if one has none, or if all are 0."""
        lacking = [query for query in query_ids if query not in self.by_query]
        place = self.source or "the weights"
        if lacking:
            queries, verb = count(len(query_ids), "query", "queries"), "has" if len(lacking) == 1 else "have"
            fact = f"{len(lacking):,} of {queries} {verb} no weight: {listed(lacking)}."
            raise InputError(place, fact, hint="give each query a weight; with a weight of 0 it does not count")
        kept = Weights(self.source, {query: self.by_query[query] for query in query_ids})
        kept.column(query_ids)
        return kept

    def column(self, query_ids: Sequence[str]) -> Numbers:
        """The weights in the order of some queries, in a range in which products with them are exact."""
        weights = np.array([self.by_query[query] for query in query_ids], dtype=np.float64)
        return scaled(weights, "a value", self.source or "the weights")

    def same(self, other: Weights, query_ids: Sequence[str]) -> bool:
        """Whether these queries have the same weights in both, but for a factor."""
        one, two = (its.column(query_ids) for its in (self, other))
        return bool(np.allclose(one / one.sum(), two / two.sum(), rtol=SAME, atol=0.0))

    @property
    def effective(self) -> float:
        """How many queries of equal weight would say as much: (Σ w)² / Σ w²."""
        return effective_queries(self.column(tuple(self.by_query)))

    @property
    def sha256(self) -> str:
        """The SHA-256 of the queries and of the share of each, to six digits."""
        import hashlib  # most evaluations show no hash

        shares = self.column(tuple(self.by_query))
        shares = shares / math.fsum(shares.tolist())
        rows = sorted(zip(self.by_query, shares.tolist(), strict=True))
        text = "\n".join(f"{query}\t{share:.5e}" for query, share in rows)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def sentence(self) -> str:
        """Whose weights they are, and what they leave of the number of queries."""
        return weighted_text(self.source, self.effective)

    def __repr__(self) -> str:
        said = self.sentence.partition(": ")[2]
        return f"<Weights of {len(self.by_query):,} queries: {said}>"

    def to_dict(self) -> dict[str, Any]:
        """The weights as plain data, without those of the queries."""
        return {"source": self.source, "sha256": self.sha256, "effective_queries": self.effective}


def effective_queries(weights: Numbers) -> float:
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def weighted_text(source: str, effective: float) -> str:
    by = f" by {visible(source)}" if source else ""
    number = f"{effective:.2g}" if effective < 10 else f"{effective:,.0f}"
    return f"weighted{by}: as precise as {number} equally weighted {'query' if number == '1' else 'queries'}"
