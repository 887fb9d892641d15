"""Approximate search: how many of the nearest neighbours it finds, and what the lost ones cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cranfield.changes.counting import Matched, matched_by_group
from cranfield.changes.diff import USUAL_K, require_number
from cranfield.changes.listing import first_ids
from cranfield.changes.measuring import measured_pair
from cranfield.changes.opening import opened_files, opened_sides
from cranfield.changes.vectors import Vectors
from cranfield.comparison.differences import Difference
from cranfield.drawing import as_html
from cranfield.errors import DuplicateError, InputError
from cranfield.evaluation.estimating import PLAIN, Columns
from cranfield.io.text import located
from cranfield.measures import Measure, parse_measure
from cranfield.measures.completion import cutoff_of
from cranfield.mixing.lists import Ranked
from cranfield.mixing.reading import RankingFile, chunks
from cranfield.ranks.columns import Flags, Integers, Numbers, offsets
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.rising import RISING
from cranfield.words import count

EPSILON = 1e-6  # of a distance: float32 keeps about seven digits
MOST = 10  # of the worst queries
VECTORS, BOTH, EXACT, IDS = "vectors", "scores of both runs", "scores of the exact run", "ids"


class MissedQuery(NamedTuple):
    """A query with lost neighbours. recall: the share that was found; missing: neighbours that were not returned"""

    query_id: str
    recall: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourRecall:
    """How many of the nearest neighbours an approximate search finds.

    exact, run: the names of the runs
    k: how many neighbours are wanted; epsilon: by which share of the k-th distance a document may be further away
    by: what distances are taken from: "vectors", "scores of both runs", "scores of the exact run", or "ids" alone
    query_ids, values: the queries of the exact run, and the recall of each
    recall: the mean; low, high: its 95% interval
    by_ids: the mean share of the exact run's first k ids, which counts a neighbour at the same distance as lost
    perfect: how many queries lose none
    worst: the queries that lose most
    cost: with judgments, the difference that the approximate run makes to a measure; otherwise None
    warnings: what is odd about the runs, in sentences

    >>> from cranfield import neighbour_recall
    >>> exact = {"1": {"a": -1.0, "b": -2.0, "c": -2.0}, "2": {"a": -1.0, "b": -3.0, "c": -4.0}}
    >>> found = neighbour_recall({"1": {"a": -1.0, "b": -2.0}, "2": {"b": -3.0, "c": -4.0}}, exact, k=2)
    >>> found
    <NeighbourRecall: the run (2) finds 75.0% of the 2 nearest neighbours (0.0% to 100.0%, 2 queries)>
    >>> found.by_query, found.by_ids, found.by, found.worst
    ({'1': 1.0, '2': 0.5}, 0.5, 'scores of both runs', (MissedQuery(query_id='2', recall=0.5, missing=('a',)),))
    >>> found.sentence, found.to_dict()["recall"]
    ('the run (2) finds 75.0% of the 2 nearest neighbours (0.0% to 100.0%, 2 queries)', 0.75)
    >>> print(found.meaning)
    Recall of neighbours is a means, not the end: without several judged queries, nothing says what the lost ones cost.
    """

    exact: str
    run: str
    k: int
    epsilon: float
    by: str
    query_ids: tuple[str, ...]
    values: tuple[float, ...]
    recall: float
    low: float
    high: float
    by_ids: float
    perfect: int
    worst: tuple[MissedQuery, ...]
    cost: Difference | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<NeighbourRecall: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return as_html("neighbours", self)

    @property
    def sentence(self) -> str:
        """What is found, in one sentence."""
        neighbours = f"the {self.k} nearest neighbours" if self.k > 1 else "the nearest neighbours"
        ends = f"{self.low:.1%} to {self.high:.1%}, {count(len(self.query_ids), 'query', 'queries')}"
        return f"{self.run} finds {self.recall:.1%} of {neighbours} ({ends})"

    @property
    def meaning(self) -> str:
        """What the lost neighbours cost, or that nothing says it; in one sentence."""
        means = "Recall of neighbours is a means, not the end"
        if self.cost is None:
            return f"{means}: without several judged queries, nothing says what the lost ones cost."
        return f"{means}. What the lost ones cost: {self.cost.sentence}"

    @property
    def by_query(self) -> dict[str, float]:
        """The recall of each query."""
        return dict(zip(self.query_ids, self.values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        return {
            **{name: getattr(self, name) for name in ("exact", "run", "sentence", "k", "epsilon", "by")},
            "queries": len(self.query_ids),
            **{name: getattr(self, name) for name in ("recall", "low", "high", "by_ids", "perfect", "meaning")},
            "cost": self.cost and self.cost.to_dict(),
            "worst": [query._asdict() | {"missing": list(query.missing)} for query in self.worst],
            "warnings": list(self.warnings),
            "by_query": self.by_query,
        }


def neighbour_recall(
    run: Any,
    exact: Any = None,
    *,
    k: int = USUAL_K,
    epsilon: float = EPSILON,
    vectors: Any = None,
    metric: str = "l2",
    qrels: Any = None,
    measure: str | Measure = "nDCG@10",
    worst: int = MOST,
    format: str | None = None,
    qrels_format: str | None = None,
    policy: Policy | None = None,
) -> NeighbourRecall:
    """How many of the nearest neighbours an approximate search finds, and what the lost ones cost.

    run: what the approximate index returns, as anything that `evaluate` reads.
    exact: the run of an exact index; with vectors it may be left out, and is calculated.
    k: how many neighbours are wanted.
    epsilon: how much further away than the k-th neighbour a document may be, as a share of that distance; rounding
        alone takes 1e-6, and the benchmarks of ann-benchmarks allow 1e-3.
    vectors: a pair (queries, documents), each {id: vector} or (ids, array). An array is NumPy's, which may be
        memory-mapped, or a tensor, whose products are calculated on its device. Or a file that `numpy.savez` wrote.
    metric: of the vectors: "l2" (Euclidean), "dot" (the largest inner product) or "cosine".
    qrels: judgments; then the cost of the lost neighbours is told.
    measure: by this measure.
    worst: how many of the worst queries are listed.
    format, qrels_format: the format of the runs and of the judgments, if they cannot be detected.
    policy: the conventions by which the runs are read; see `Policy`.
    Returns a `NeighbourRecall`.

    A returned document counts if its distance d ≤ d_k + ε · |d_k|, for the distance d_k of the k-th exact neighbour: as
    near as a neighbour is near enough, whichever of equally near documents the exact search returns. Each document
    counts once, and at most k of them. Distances are calculated from the vectors in float64; without vectors, they are
    the negative scores of the exact run, and for documents that it lacks those of the other run, if both runs have the
    same scores for what both return.

    >>> from cranfield import neighbour_recall
    >>> queries, documents = {"1": [0, 0]}, {"a": [1, 0], "b": [0, 2], "c": [2, 0], "d": [9, 9]}
    >>> neighbour_recall({"1": ["a", "c"]}, k=2, vectors=(queries, documents)).recall
    1.0
    """
    require_number("k", k, 1)
    require_number("worst", worst, 0)
    if not 0 <= epsilon < math.inf:
        raise InputError("diff", "is not a share from 0.", parameter="epsilon", value=epsilon)
    wanted = parse_measure(measure)
    known = None if vectors is None else Vectors.of(vectors, metric)
    if exact is None:
        if known is None:
            raise InputError(
                "diff", "there are no exact neighbours.", hint="give the run of an exact index, or vectors"
            )
        exact = dict(known.nearest(max(k, cutoff_of(wanted) or 0) if qrels is not None else k))
    judgments = None if qrels is None else Judgments.read(qrels, qrels_format)
    reading = policy or Policy()
    asked = _Asked(k, epsilon, known, judgments, wanted, worst)
    try:
        return _measured(run, exact, asked, format, reading)
    except DuplicateError:
        if reading.duplicates != "error":
            raise
        found = _measured(run, exact, asked, format, replace(reading, duplicates="first"))
        twice = f"{found.run} returns some document twice for a query; it counts once"
        return replace(found, warnings=(*found.warnings, twice))


class _Asked(NamedTuple):
    k: int
    epsilon: float
    vectors: Vectors | None
    judgments: Judgments | None
    measure: Measure
    worst: int


class _Found(NamedTuple):
    """A row for each query, or one for each group of queries.

    wanted: how many neighbours there are, at most k; ids: how many of them are returned
    near, near_by_exact: how many returned documents are near enough, by all scores, and by those of the exact run
    shared, agreeing: how many documents both return, and how many of these have the same score in both
    sizes: how many documents each run has, a column for each
    open: whether the exact run ends in a tie with the k-th neighbour
    alike: whether the scores of the exact run are the same, rank by rank, as those of the query before
    """

    wanted: Numbers
    ids: Numbers
    near: Numbers
    near_by_exact: Numbers
    shared: Numbers
    agreeing: Numbers
    sizes: Integers
    open: Flags
    alike: Flags


def _measured(run: Any, exact: Any, asked: _Asked, format: str | None, policy: Policy) -> NeighbourRecall:
    with ExitStack() as stack, located():
        sides = opened_sides(exact, run, None, format, stack)
        for side in sides:
            if side.rising and asked.vectors is None:
                raise InputError(side.run.place, f"{RISING}.", hint="the nearest neighbour has the highest score")
        files = opened_files([side.run for side in sides], policy, stack)
        queries = list(files[0].sizes)
        parts, places = matched_by_group(files, queries, asked.judgments, partial(_of_group, asked))
        found = _Found(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        by, near = _decided(found, asked)
        values = np.minimum(near, found.wanted) / found.wanted
        order = [at for at in np.argsort(values, kind="stable").tolist() if values[at] < 1][: asked.worst]
        missing = _missing(files, [queries[at] for at in order], asked)
    recall, names = float(values.mean()), (sides[0].name, sides[1].name)
    cost = None
    if asked.judgments is not None and places is not None:
        cost = measured_pair(names, asked.judgments, queries, found.sizes, places, asked.measure, policy).difference
    low, high = share_interval(values)
    return NeighbourRecall(
        *names,
        asked.k,
        asked.epsilon,
        by,
        tuple(queries),
        tuple(values.tolist()),
        recall,
        low,
        high,
        float((found.ids / found.wanted).mean()),
        int((values == 1).sum()),
        tuple(MissedQuery(queries[at], float(values[at]), missing[queries[at]]) for at in order),
        cost,
        tuple(_warnings(found, by, files, asked)),
    )


def _of_group(asked: _Asked, names: Sequence[str], exact: Ranked, run: Ranked, matched: Matched) -> _Found:
    k, queries = asked.k, len(names)
    first = offsets(exact.sizes)
    wanted = np.minimum(exact.sizes, k)
    last = exact.score[first[:-1] + wanted - 1]  # of the k-th neighbour
    inside = matched.rank <= k
    query, number = matched.query[inside], matched.number[inside]
    known = number < exact.sizes[query]
    its_exact = exact.score[np.where(known, first[query] + number, 0)]
    score = run.score[inside]
    if asked.vectors is not None:
        last, score = _by_vectors(names, exact, run, asked.vectors, k)
        known, its_exact = np.zeros(len(score), dtype=np.bool_), score
    least = (last - asked.epsilon * np.abs(last))[query]
    near_known = known & (its_exact >= least)
    both = matched.shared
    scores = exact.score[first[matched.query[both]] + matched.number[both]], run.score[both]
    close = np.abs(scores[0] - scores[1]) <= max(asked.epsilon, EPSILON) * np.abs(scores[0])

    def per_query(flags: Flags) -> Numbers:
        return np.bincount(query[flags], minlength=queries).astype(np.float64)

    return _Found(
        wanted.astype(np.float64),
        per_query(number < wanted[query]),
        per_query(near_known | (~known & (score >= least))),
        per_query(near_known),
        np.bincount(matched.query[both], minlength=queries).astype(np.float64),
        np.bincount(matched.query[both][close], minlength=queries).astype(np.float64),
        matched.sizes,
        (exact.sizes >= k) & (exact.score[first[1:] - 1] >= last - asked.epsilon * np.abs(last)),
        _alike(exact, first, k),
    )


def _by_vectors(names: Sequence[str], exact: Ranked, run: Ranked, vectors: Vectors, k: int) -> tuple[Numbers, Numbers]:
    """The negative distance of the k-th neighbour of each query, and of each of the first k documents of the run."""
    last, scores = np.zeros(len(names)), []
    for at, (query, neighbours, returned) in enumerate(zip(names, first_ids(exact, k), first_ids(run, k), strict=True)):
        last[at] = -vectors.distances(query, neighbours).max()
        scores.append(-vectors.distances(query, returned))
    return last, np.concatenate(scores)


def _alike(exact: Ranked, first: Integers, k: int) -> Flags:
    """Whether each query has the scores of the one before it, all different; alone, whether they fall evenly."""
    lists = [exact.score[start : min(start + k, end)] for start, end in pairwise(first.tolist())]
    if len(lists) == 1:
        steps = np.diff(lists[0])
        return np.array([len(steps) > 1 and steps[0] < 0 and bool((steps == steps[0]).all())])
    same = (np.array_equal(*pair) and bool((np.diff(pair[0]) < 0).all()) for pair in pairwise(lists))
    return np.array([True, *same])


def _decided(found: _Found, asked: _Asked) -> tuple[str, Numbers]:
    """What says how near a document is: vectors, scores of one run or of both, or, if scores are only ranks, ids."""
    if asked.vectors is not None:
        return VECTORS, found.near
    if found.alike.all():
        return IDS, found.ids
    comparable = found.shared.sum() > 0 and np.array_equal(found.shared, found.agreeing)
    return (BOTH, found.near) if comparable else (EXACT, found.near_by_exact)


def _warnings(found: _Found, by: str, files: Sequence[RankingFile], asked: _Asked) -> Iterator[str]:
    if by == IDS:
        yield (
            f"the scores of {files[0].name} are the same at each rank of all queries, so they are not distances: "
            "neighbours count by their ids, and one that is as near as the k-th counts as lost"
        )
    if by == EXACT and found.open.any():
        ended = count(int(found.open.sum()), "query ends", "queries end")
        yield (
            f"in {files[0].name}, {ended} at the distance of the k-th neighbour, and the scores of the runs differ, so "
            "others that are as near count as lost; ask the exact index for more than k"
        )
    short = int((found.wanted < asked.k).sum())
    if short and (asked.vectors is None or short < len(found.wanted) or len(asked.vectors.documents.ids) >= asked.k):
        yield (
            f"{files[0].name} has fewer than {asked.k} neighbours for {count(short, 'query', 'queries')}: "
            "recall there is of as many as it has"
        )
    lacking = sum(query not in files[1].sizes for query in files[0].sizes)
    if lacking:
        yield f"{files[1].name} lacks {count(lacking, 'query', 'queries')}, where nothing is found"


def _missing(files: Sequence[RankingFile], queries: Sequence[str], asked: _Asked) -> Mapping[str, tuple[str, ...]]:
    """The neighbours of some queries that the run does not return, by their ids."""
    missing: dict[str, tuple[str, ...]] = {}
    for names, parts in chunks(files, queries):
        exact, run = (first_ids(part.ranked(), asked.k) for part in parts)
        for query, wanted, returned in zip(names, exact, run, strict=True):
            missing[query] = tuple(document for document in wanted if document not in returned)
    return missing


def share_interval(values: Numbers, alpha: float = 0.05) -> tuple[float, float]:
    """An interval of a mean of shares, which may nearly all be 1: Student's t with two more queries.

    One of the two finds nothing and one everything. Without them, the interval of fifty queries that are nearly all
    perfect would hold in 63 of 100 cases instead of 95: the few that are not are often not among them.
    """
    estimates = PLAIN.estimate(Columns(np.append(values, [0.0, 1.0])[:, None]))
    low, high = estimates.interval(alpha)
    return max(float(low[0]), 0.0), min(float(high[0]), 1.0)
