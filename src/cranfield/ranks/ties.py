"""How ties are broken: the rank of a document among those with the same score.

The scan counts, for every judged document, the documents with a higher score, those with the same score, and how many
of these come before it: in the order of their ids, the larger first, or in that of the file where the policy says so.
`broken` turns these counts into ranks, and `open_ties` keeps what means over all orders need. `ordered` sorts whole
rankings by the same rule, where documents are shown.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import lowest_judged
from cranfield.ranks.policy import Policy, Ties
from cranfield.ranks.scan.counting import Places
from cranfield.ranks.tables.tied_rows import TiedRows


def open_ties(counted: Places, query: Integers, grade: Numbers, ties: Ties) -> TiedRows | None:
    """The judged documents of ties, where the policy leaves their order open."""
    tied = np.flatnonzero(counted.tied > 1) if ties == "expected" else ()
    if not len(tied):
        return None
    return TiedRows(query[tied], counted.above[tied], counted.tied[tied], grade[tied], counted.row[tied])


def broken(counted: Places, query: Integers, grade: Numbers, ties: Ties, best_queries: Flags | None = None) -> Integers:
    """The rank of each document. best_queries: those whose ties are in the best order, and all others in the worst."""
    if ties == "smaller_doc_id":
        return counted.above + counted.tied - counted.before  # before are the larger ids
    rank = counted.above + 1 + counted.before
    if ties in ("best", "worst"):
        tied = np.flatnonzero(counted.tied > 1)
        places = (counted.above[tied], counted.before[tied], counted.tied[tied])
        best = np.full(len(tied), ties == "best") if best_queries is None else best_queries[query[tied]]
        rank[tied] = _by_grade(query[tied], grade[tied], *places, best)
    return rank


def _by_grade(
    query: Integers, grade: Numbers, above: Integers, before: Integers, size: Integers, best: Flags
) -> Integers:
    """Ranks where the documents of a tie are in the order of their grades, from the highest (best) or from the lowest.

    Documents that were only pooled are below grade 0, and others without a judgment below these. Equal grades stay in
    the order in which they were counted.
    """
    worth, pooled = np.maximum(grade, 0), grade < 0
    order = np.lexsort((before, pooled == best, np.where(best, -worth, worth), above, query))
    position = np.arange(len(order))
    new_tie = np.ones(len(order), dtype=np.bool_)
    new_tie[1:] = (np.diff(query[order]) != 0) | (np.diff(above[order]) != 0)
    start = np.maximum.accumulate(np.where(new_tie, position, 0))
    place = position - start  # among the judged documents of the tie
    if not best.all():  # in the worst order, the unjudged documents of the tie, which are not in the table, come first
        judged = np.diff(np.append(np.flatnonzero(new_tie), len(order)))[np.cumsum(new_tie) - 1]
        place += np.where(best[order], 0, size[order] - judged)
    rank = np.empty_like(above)
    rank[order] = above[order] + 1 + place
    return rank


def ordered(scores: Mapping[str, float], query: str, grades: Mapping[str, float], policy: Policy) -> list[str]:
    kept = [document for document in scores if policy.same_id == "keep" or document != query]
    if policy.ties in ("doc_id", "expected"):  # the usual order, without a call for each document
        return [document for _, document in sorted([(scores[name], name) for name in kept], reverse=True)]
    if policy.ties == "smaller_doc_id":
        return sorted(sorted(kept), key=scores.__getitem__, reverse=True)  # equal ones keep their order
    if policy.ties == "file":
        return sorted(kept, key=scores.__getitem__, reverse=True)

    def worth(document: str) -> tuple[float, float, str]:
        grade = grades.get(document)
        value = -2.0 if grade is None else -1.0 if grade < lowest_judged(policy) else max(grade, 0.0)
        return scores[document], value if policy.ties == "best" else -value, document

    return sorted(kept, key=worth, reverse=True)
