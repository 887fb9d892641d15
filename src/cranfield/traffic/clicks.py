"""fit_clicks(log) → Clicks: how attractive each document is for each query, and how attraction becomes a grade."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import ComparisonError, given
from cranfield.judging.store.scale import GradeScale
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.traffic.click_model import Examination, RankExamination, fit_examination
from cranfield.traffic.impressions import Impressions, LogQuery, read_impressions
from cranfield.words import count

LEAST = 20  # people who looked at a document, below which their clicks do not grade it
HIGHEST = 0.5  # the lowest attraction of the highest grade; each grade below takes half as much


class AttractionRule(NamedTuple):
    """How clicks become grades: from which attraction on a document has which grade, and how many must have looked."""

    grades: tuple[float, ...]  # from the lowest on
    lowest: tuple[float, ...]  # attraction of all grades but the lowest
    least: float

    @classmethod
    def of(cls, scale: GradeScale, lowest: Sequence[float] | None, least: float) -> AttractionRule:
        """The rule of a scale; an error for numbers that are none."""
        grades = tuple(step.grade for step in scale)
        if lowest is None:
            lowest = [HIGHEST / 2**below for below in range(len(grades) - 1)][::-1]
        if len(lowest) != len(grades) - 1:
            fact = f"{given('attraction')} needs {len(grades) - 1} numbers, not {len(lowest)}: one for each grade but "
            raise ComparisonError(f"{fact}the lowest (grades: {scale.listed()}).")
        if list(lowest) != sorted(set(lowest)) or not all(0 < each <= 1 for each in lowest):
            listed = ", ".join(f"{each:g}" for each in lowest)
            raise ComparisonError(
                f"{given('attraction')} must rise from grade to grade, above 0 and up to 1: {listed}."
            )
        if not 1 <= least < float("inf"):
            raise ComparisonError("is no number of people.", parameter="least", value=least, hint="give 1 or more")
        return cls(grades, tuple(map(float, lowest)), float(least))

    def grade(self, attraction: Numbers) -> Numbers:
        return np.asarray(self.grades)[np.searchsorted(self.lowest, attraction, side="right")]


class ClickedDocument(NamedTuple):
    """A document that was shown for a query.

    impressions, clicks: at ranks whose examination is known; at all ranks if it is known of none
    examined: how many people looked at it, by the rank of each impression; the same as impressions if it is not known
    """

    query: str
    doc_id: str
    impressions: int
    clicks: int
    examined: float

    @property
    def attraction(self) -> float:
        """The share of the people who looked that clicked; at most 1, and 0 where nobody looked."""
        return min(self.clicks / self.examined, 1.0) if self.examined else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Clicks:
    """The clicks of a log, with the examination of ranks that explains them; returned by `fit_clicks`.

    >>> rows = [{"query": "shoes", "doc_id": "a", "rank": 1, "clicked": n < 3} for n in range(10)]
    >>> clicks = fit_clicks(rows)
    >>> clicks, clicks.source, clicks.impressions, clicks.clicks, clicks.left_out
    (<Clicks: 10 impressions, 3 clicks of 1 query>, 'the log', 10, 3, {})
    >>> clicks.identified, clicks.examination, clicks.tied_documents, clicks.tied_queries, clicks.unexplained
    (False, {}, 0, 0, 0)
    >>> [(shown.doc_id, shown.attraction) for shown in clicks.documents()]
    [('a', 0.3)]
    """

    _counts: Impressions
    _examination: Examination

    def __repr__(self) -> str:
        queries = count(len(self._counts.queries), "query", "queries")
        return f"<Clicks: {count(self.impressions, 'impression')}, {count(self.clicks, 'click')} of {queries}>"

    @property
    def source(self) -> str:
        """Where the log is."""
        return self._counts.source

    @property
    def examination(self) -> dict[int, RankExamination]:
        """By rank, how many people look at it for each who looks at the topmost one; empty if it is not identified."""
        return dict(self._examination.by_rank)

    @property
    def identified(self) -> bool:
        """Whether the log says how many people look at which rank, so that clicks are corrected for it."""
        return bool(self._examination.by_rank)

    @property
    def tied_documents(self) -> int:
        """How many documents tell who looks at which rank: shown at several ranks, and clicked."""
        return self._examination.documents

    @property
    def tied_queries(self) -> int:
        """How many queries these documents were shown for."""
        return self._examination.queries

    @property
    def impressions(self) -> int:
        """How often a document was shown."""
        return round(float(self._counts.shown.sum()))

    @property
    def clicks(self) -> int:
        """How often a document that was shown was clicked."""
        return round(float(self._counts.clicked.sum()))

    @property
    def unexplained(self) -> int:
        """Impressions at ranks whose examination is not identified, although that of others is; they do not count."""
        return self.impressions - round(float(self._sums[0].sum()))

    @property
    def left_out(self) -> dict[str, int]:
        """How many rows of the log do not count, by reason."""
        return dict(self._counts.left_out)

    def documents(self) -> Iterator[ClickedDocument]:
        """Every document of every query with its clicks, in the order of their names."""
        yield from self._documents(np.ones(len(self._counts.queries), np.bool_))

    @cached_property
    def _sums(self) -> tuple[Numbers, Numbers, Numbers]:
        """Of each pair: impressions, clicks, and how many people looked."""
        counts = self._counts
        known = self._examination.by_rank
        share = np.array([known[rank].share if rank in known else 0.0 for rank in counts.ranks])
        looked = share[counts.rank] if known else np.ones(len(counts.rank))
        counted = (looked > 0).astype(np.float64)
        impressions, clicked, examined = (
            np.bincount(counts.pair, column, len(counts.pair_query)).astype(np.float64)
            for column in (counts.shown * counted, counts.clicked * counted, counts.shown * looked)
        )
        return impressions, clicked, examined

    @property
    def _queries(self) -> Sequence[LogQuery]:
        return self._counts.queries

    def _pairs(self, wanted: Flags, least: float = 0.0) -> Integers:
        """The pairs of some queries that so many people looked at."""
        return np.flatnonzero(wanted[self._counts.pair_query] & (self._sums[2] > 0) & (self._sums[2] >= least))

    def _documents(self, wanted: Flags, least: float = 0.0) -> list[ClickedDocument]:
        pairs = self._pairs(wanted, least)
        names: list[str] = self._counts.documents.take(self._counts.pair_document[pairs]).to_pylist()
        queries = [self._counts.queries[at].text for at in self._counts.pair_query[pairs].tolist()]
        impressions, clicked, examined = (column[pairs].tolist() for column in self._sums)
        rows = zip(queries, names, map(round, impressions), map(round, clicked), examined, strict=True)
        return sorted(itertools.starmap(ClickedDocument, rows))


def fit_clicks(log: Any) -> Clicks:
    """Find out how attractive documents are from impressions and clicks, whatever rank they were shown at.

    log: a path, a frame, or rows as dicts, with a query, a document, its rank, and whether it was clicked, or how often
        beside how often it was shown; or the events of UBI. Several in a list count together.
    Returns the `Clicks`. A click takes a person who looks at the rank, and a document that attracts them; both are
    fitted together, by documents that were shown at several ranks. Without such documents it is not identified how
    many people look at which rank, and clicks are not corrected for it. See the guide on clicks for when not to
    use them.

    >>> rows = [{"query": "shoes", "doc_id": doc_id, "rank": rank, "impressions": 100, "clicks": clicks}
    ...         for doc_id, rank, clicks in [("a", 1, 40), ("b", 2, 20), ("c", 3, 2)]]
    >>> clicks = fit_clicks(rows)
    >>> clicks.identified, [(found.doc_id, found.attraction) for found in clicks.documents()]
    (False, [('a', 0.4), ('b', 0.2), ('c', 0.02)])
    """
    counts = read_impressions(log)
    return Clicks(counts, fit_examination(counts))
