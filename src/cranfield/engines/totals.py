"""Exact sums over all queries, so that neither their order nor how they are split matters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.measures import Measure
from cranfield.measures.aggregates import not_finite
from cranfield.measures.registry import Aggregate
from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy

UNIT = 1200  # sums are whole multiples of 2^-UNIT, as all 64-bit floats are
NAMED = 6


@dataclass(frozen=True)
class Totals:
    """Sums over queries: counts, digests, and for each measure the exact sum behind its mean."""

    queries: int  # averaged over
    judged: int
    missing: int
    no_relevant: int
    no_relevant_for_all: int
    found: int
    tied: int
    qrels_digest: int
    ranks_digest: int
    lacking: tuple[str, ...]  # some of the missing queries
    sums: tuple[int, ...]

    @classmethod
    def none(cls, measures: int) -> Totals:
        return cls(0, 0, 0, 0, 0, 0, 0, 0, 0, (), (0,) * measures)

    @classmethod
    def of(
        cls,
        facts: Mapping[str, Any],
        values: Sequence[Numbers],
        query_ids: Any,
        measures: Sequence[Measure],
        policy: Policy,
    ) -> Totals:
        missing = facts["missing"].astype(np.bool_)
        kept = ~missing if policy.missing == "skip" else np.ones(len(missing), dtype=np.bool_)
        logs = [measure.definition.aggregate == "geometric" for measure in measures]
        return cls(
            queries=int(kept.sum()),
            judged=len(missing),
            missing=int(missing.sum()),
            no_relevant=int(facts["no_relevant"][kept].sum()),
            no_relevant_for_all=int(facts["no_relevant_for_all"][kept].sum()),
            found=int(facts["found"].sum()),
            tied=int(facts["tied"].sum()),
            qrels_digest=sum(facts["qrels_digest"].tolist()),
            ranks_digest=sum(facts["ranks_digest"].tolist()),
            lacking=tuple(query_ids[at].as_py() for at in np.flatnonzero(missing)[:NAMED].tolist()),
            sums=tuple(
                exact_sum(np.log(np.maximum(column[kept], 0.00001)) if log else column[kept])
                for column, log in zip(values, logs, strict=True)
            ),
        )

    def __add__(self, other: Totals) -> Totals:
        added = {name: getattr(self, name) + getattr(other, name) for name in self.__dict__}
        added["lacking"] = tuple(sorted(added["lacking"])[:NAMED])
        added["sums"] = tuple(one + two for one, two in zip(self.sums, other.sums, strict=True))
        return Totals(**added)

    def aggregate(self, measure: int, how: Aggregate, *, of: str) -> float:
        """A sum, a mean or a geometric mean: the exact sum, rounded once, then divided by the number of queries."""
        try:
            total: float = self.sums[measure] / 2**UNIT  # Python rounds the quotient of two whole numbers correctly
        except OverflowError:
            raise not_finite(how, of, self.queries) from None
        if how == "sum":
            return total
        if not self.queries:
            return 0.0
        return float(np.exp(total / self.queries)) if how == "geometric" else total / self.queries

    def to_json(self) -> str:
        return json.dumps(self.__dict__, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Totals:
        content = json.loads(text)
        return cls(**{**content, "lacking": tuple(content["lacking"]), "sums": tuple(content["sums"])})


def exact_sum(values: Numbers) -> int:
    """The sum of finite numbers without any rounding, in units of 2 to the power of -UNIT."""
    total = 0
    for start in range(0, len(values), 1 << 24):  # few enough that the sums of halves below stay exact
        mantissa, exponent = np.frexp(values[start : start + (1 << 24)])
        whole = (mantissa * 2.0**53).astype(np.int64)
        high, low = whole >> 27, whole & ((1 << 27) - 1)
        lowest = int(exponent.min())
        highs = np.bincount(exponent - lowest, weights=high)
        lows = np.bincount(exponent - lowest, weights=low)
        for place, (upper, lower) in enumerate(zip(highs.tolist(), lows.tolist(), strict=True)):
            total += ((int(upper) << 27) + int(lower)) << (UNIT + lowest + place - 53)
    return total
