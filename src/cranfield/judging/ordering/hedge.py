"""hedge: runs as experts whose weights follow their losses (Aslam, Pavlu and Savell 2003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.judging.ordering.order import Order, RankedQuery, Steps, query_by_query
from cranfield.judging.random_orders import place

if TYPE_CHECKING:
    from cranfield.ranks.columns import Numbers

BETA = 0.1
LEVEL = 1e-9  # scores that differ by less, in proportion, are equal


def largest_weight(ranked: RankedQuery) -> Steps:
    """Take the document with the largest Σ w ln(Z / rank) over the runs; of several, one at random.

    Z is the length of the longest ranking. A run that does not return a document has it at all ranks below its own,
    down to the number of documents of all runs, and takes the mean over these. Every weight begins with 1 and changes
    to w β^loss, where the loss is ½ ln(Z / rank), and less than 0 by as much if the document is relevant.
    """
    import numpy as np

    documents = sorted(ranked.best_ranks, key=lambda document: place("hedge", ranked.seed, ranked.query, document))
    votes = _votes(ranked, documents)
    weights = np.ones(len(votes))
    left = np.ones(len(documents), dtype=np.bool_)
    while left.any():
        score = np.where(left, weights @ votes, -np.inf)
        best = score.max()
        chosen = int(np.argmax(score >= best - LEVEL * max(abs(best), 1.0)))
        left[chosen] = False
        told = yield documents[chosen]
        if told is not None:
            loss = (-0.5 if told else 0.5) * votes[:, chosen]
            weights = weights * BETA**loss
            weights /= weights.max()  # only their proportions matter


def _votes(ranked: RankedQuery, documents: list[str]) -> Numbers:
    """ln(Z / rank): a line for each run and a column for each document."""
    import numpy as np

    longest = max(map(len, ranked.rankings.values()), default=1)
    column = {document: number for number, document in enumerate(documents)}
    votes = np.empty((len(ranked.rankings), len(documents)))
    for line, ranking in zip(votes, ranked.rankings.values(), strict=True):
        by_rank = np.log(longest / np.arange(1, len(documents) + 1))
        returned = len(ranking)
        line[:] = by_rank[returned:].mean() if returned < len(documents) else 0.0
        line[[column[document] for document in ranking]] = by_rank[:returned]
    return votes


HEDGE = Order(
    name="hedge",
    meaning="documents ranked highest by the runs that did best so far",
    advice="you have many runs and want to follow those that agree with the judgments",
    begin=query_by_query(largest_weight),
    follows_grades=True,
)
