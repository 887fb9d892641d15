"""The parts of an evaluation: values of queries as rows, counts, and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from cranfield.measures import Measure
from cranfield.measures.aggregates import aggregate
from cranfield.measures.scope import last_rank, without_relevant
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import count

BUDGET = 200_000_000  # documents of completions tried for the bounds of a measure, shared out over the queries
LARGE = 1e290  # values up to here can be added up, however many queries there are
LONG = 4096  # from this many rows on, it is faster to leave some out than to calculate with all


@dataclass(frozen=True, slots=True)
class Counts:
    """How many queries an evaluation has, and the share of retrieved judged documents whose score is tied."""

    queries: int  # averaged over
    judged: int
    missing: int  # judged, but not in the run
    extra: int  # in the run, but not judged
    no_relevant: int  # without a relevant document, for some of the measures
    no_relevant_for_all: int  # ... for all of them
    tied: float

    @classmethod
    def of(cls, measures: Sequence[Measure], judged: JudgedRanks, kept: Flags) -> Counts:
        """Count the queries of judged ranks; `kept` are those that are averaged over."""
        some, every = without_relevant(measures, judged)
        return cls(
            queries=int(np.count_nonzero(kept)),
            judged=len(judged),
            missing=int(np.count_nonzero(judged.missing)),
            extra=judged.extra,
            no_relevant=int(np.count_nonzero(some & kept)),
            no_relevant_for_all=int(np.count_nonzero(every & kept)),
            tied=int(np.count_nonzero(judged.tied)) / len(judged.tied) if len(judged.tied) else 0.0,
        )


class QueryValue(NamedTuple):
    """One value: a row of the table `per_query`."""

    run: str
    query_id: str
    measure: str
    value: float


class Bounds(NamedTuple):
    """The lowest and the highest mean of a measure, and of each query, over all grades of the unjudged documents.

    `exact` says that there are such grades for both; otherwise the true bounds may be narrower. `scale` are the grades
    that an unjudged document may have; judgments with groups have none.
    """

    low: float
    high: float
    exact: bool
    by_query: dict[str, tuple[float, float]]
    scale: tuple[float, ...]

    def __repr__(self) -> str:
        queries = count(len(self.by_query), "query", "queries")
        return f"<Bounds {self.low:.4f} to {self.high:.4f}{'' if self.exact else ', at most'}; {queries}>"


def measured(measures: Iterable[Measure], tables: Mapping[str, Any], kept: Flags) -> dict[Measure, Numbers]:
    """The values of measures; an error where one of them, or all of them together, are no finite number."""
    cutoffs = {measure: last_rank(measure) for measure in measures}
    shortened = _shortened(tables["ranks"], {cutoff for cutoff in cutoffs.values() if cutoff is not None})

    def table_of(measure: Measure) -> Any:
        cutoff, name = cutoffs[measure], measure.definition.table
        return tables[name] if cutoff is None or name != "ranks" else shortened[cutoff]

    return {measure: _checked(measure, measure(table_of(measure)), kept) for measure in cutoffs}


def _shortened(whole: JudgedRanks, cutoffs: Iterable[int]) -> dict[int, JudgedRanks]:
    """The rows down to each cutoff, where it is faster to leave the others out."""
    shortened: dict[int, JudgedRanks] = {}
    for cutoff in sorted(cutoffs, reverse=True):
        if len(whole.rank) >= LONG and cutoff < whole.retrieved.max():
            whole = whole.rows(whole.within(cutoff))
        shortened[cutoff] = whole
    return shortened


def _checked(measure: Measure, values: Numbers, kept: Flags) -> Numbers:
    values = values.copy() if kept.all() else values[kept]
    if inf in measure.definition.range and np.abs(values).max(initial=0.0) > LARGE:
        aggregate(values, measure.definition.aggregate, of=measure.name)
    values.flags.writeable = False
    return values
