"""What a reranker can reach at best: the first documents of a run in the ideal order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cranfield.evaluation.evaluating import evaluate
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import require_ranks
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import percent


@dataclass(frozen=True, slots=True)
class Headroom:
    """What an ideal reranker would make of a run.

    depth: how many documents of each ranking it gets
    before, ideal: the mean of the measure as the run is, and with its first documents in the order of their grades
    recall: the share of the relevant documents that are among them, averaged over the queries that have any

    >>> from cranfield import headroom
    >>> found = headroom({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}, "nDCG@3", depth=3)
    >>> round(found.before, 3), round(found.ideal, 3), found.recall
    (0.387, 0.613, 0.5)
    >>> found.sentence, round(found.gained(0.5), 2)
    ('nDCG@3 0.3869, and 0.6131 if the first 3 were in the ideal order; they contain 50% of what is relevant', 0.5)
    """

    measure: str
    depth: int
    before: float
    ideal: float
    recall: float

    @property
    def sentence(self) -> str:
        """The room in words, without a full stop."""
        best = f"{self.ideal:.4f} if the first {self.depth:,} were in the ideal order"
        return f"{self.measure} {self.before:.4f}, and {best}; they contain {percent(self.recall)} of what is relevant"

    def gained(self, after: float) -> float:
        """The share of the possible gain that a reranker reaches.

        after: the mean of the measure with it.
        Returns the share; below 0 where it loses, and 0 where there is nothing to gain.
        """
        room = self.ideal - self.before
        return (after - self.before) / room if room else 0.0


def headroom(
    qrels: Any, run: Any, measure: str | Measure = "nDCG@10", depth: int = 100, *, policy: Policy | None = None
) -> Headroom:
    """What an ideal reranker would make of the first documents of a run.

    qrels, run, policy: those of `evaluate`.
    measure: its name, or a `Measure`.
    depth: how many documents of each ranking it gets.
    Returns a `Headroom`. Documents without a judgment count as not relevant.

    >>> headroom({"q": {"a": 1}}, {"q": ["x", "a"]}, "RR", depth=2).ideal
    1.0
    """
    wanted = parse_measure(measure)
    require_ranks(wanted)
    evaluation = evaluate(qrels, run, [wanted], policy=policy)
    ranks = evaluation._ranked().ranks
    ideal = Evaluation.of(ideally_reranked(ranks, depth), [wanted], policy=policy or Policy())
    relevant = ranks.n_relevant(1)
    found = ranks.sum(ranks.relevant(1) & ranks.within(depth))
    some = relevant > 0
    recall = float((found[some] / relevant[some]).mean()) if some.any() else 0.0
    return Headroom(wanted.name, depth, evaluation[wanted], ideal[wanted], recall)


def ideally_reranked(ranks: JudgedRanks, depth: int) -> JudgedRanks:
    """The ranks with the first documents of each query in the order of their grades, those without one after them."""
    inside = ranks.rank <= depth
    order = np.lexsort((ranks.rank, -np.where(inside, ranks.grade, 0.0), ~inside, ranks.query))
    new = ranks.rank[order].copy()
    query, is_inside = ranks.query[order], inside[order]
    first = np.searchsorted(query, np.arange(len(ranks)))
    places = np.arange(len(query)) - first[query] + 1
    graded = is_inside & (ranks.grade[order] >= 0)
    new[graded] = places[graded]
    # Documents that were pooled but not judged are last, like all others without a grade.
    pooled = np.flatnonzero(is_inside & ~graded)
    cut = np.minimum(ranks.retrieved, depth)
    behind = np.zeros(len(ranks), np.int64)
    for row in pooled[::-1].tolist():
        new[row] = cut[query[row]] - behind[query[row]]
        behind[query[row]] += 1
    columns = {name: getattr(ranks, name)[order] for name in ("query", "grade", "tied", "row")}
    return replace(ranks, rank=new, tied_rows=None, **columns)
