"""Fusion methods: each is one function of the lists of all runs, and gives every document a score.

In formulas, r_i and s_i are the rank and the normalised score of a document in run i, w_i the weight of the run (1 if
none is given), m how many runs have the document, n_i how many documents run i has for the query, and N how many all
runs have together. Sums are over the runs that have the document.
"""

from __future__ import annotations

import numpy as np

from cranfield.mixing.lists import Lists
from cranfield.mixing.registry import Registry, entry
from cranfield.ranks.columns import Numbers

METHODS: Registry = {}
Weights = Numbers | None
_BLOCK = 4_000_000  # comparisons of two documents at a time


@entry(METHODS, "rrf", aliases=("reciprocal-rank",), reads="ranks", reference="Cormack, Clarke & Büttcher 2009")
def reciprocal_rank(lists: Lists, *, k: float = 60, weights: Weights = None) -> Numbers:
    """Reciprocal rank fusion: one over the rank, flattened by k.

    Σ w_i / (k + r_i)
    """
    return lists.total(1 / (k + lists.rank), weights)


@entry(METHODS, "combsum", aliases=("sum", "wsum", "weighted"), reference="Fox & Shaw 1994")
def comb_sum(lists: Lists, *, weights: Weights = None) -> Numbers:
    """The sum of the scores; with weights, the weighted sum.

    Σ w_i s_i
    """
    return lists.total(lists.score, weights)


@entry(METHODS, "combmnz", aliases=("mnz", "wmnz"), reference="Fox & Shaw 1994")
def comb_mnz(lists: Lists, *, weights: Weights = None) -> Numbers:
    """The sum of the scores, times the number of runs with the document, or their weights.

    (Σ w_i) · Σ s_i
    """
    return lists.count(weights) * lists.total(lists.score)


@entry(METHODS, "combanz", aliases=("anz",), reference="Fox & Shaw 1994")
def comb_anz(lists: Lists) -> Numbers:
    """The mean score of the runs that have the document.

    Σ s_i / m
    """
    return lists.total(lists.score) / lists.count()


@entry(METHODS, "combmax", aliases=("max",), reference="Fox & Shaw 1994")
def comb_max(lists: Lists) -> Numbers:
    """The highest score.

    max s_i
    """
    highest: Numbers = np.where(lists.found, lists.score, -np.inf).max(axis=0)
    return highest


@entry(METHODS, "combmin", aliases=("min",), reference="Fox & Shaw 1994")
def comb_min(lists: Lists) -> Numbers:
    """The lowest score of the runs that have the document.

    min s_i
    """
    lowest: Numbers = np.where(lists.found, lists.score, np.inf).min(axis=0)
    return lowest


@entry(METHODS, "combmed", aliases=("med",), reference="Fox & Shaw 1994")
def comb_med(lists: Lists) -> Numbers:
    """The median score of the runs that have the document.

    median s_i
    """
    rising = np.sort(np.where(lists.found, lists.score, np.inf), axis=0)
    m, column = lists.count().astype(np.int64), np.arange(lists.rank.shape[1])
    middle: Numbers = (rising[(m - 1) // 2, column] + rising[m // 2, column]) / 2
    return middle


@entry(METHODS, "isr", reads="ranks", reference="Mourão, Martins & Magalhães 2015")
def inverse_square_rank(lists: Lists) -> Numbers:
    """Inverse square rank: one over the squared rank, times how many runs have the document.

    m · Σ 1 / r_i²
    """
    return lists.count() * lists.total(1 / lists.rank**2)


@entry(METHODS, "log-isr", aliases=("logn-isr",), reads="ranks", reference="Mourão, Martins & Magalhães 2015")
def log_inverse_square_rank(lists: Lists, *, sigma: float = 0.01) -> Numbers:
    """The same with a logarithm, so that being found by many runs counts less.

    ln(m + sigma) · Σ 1 / r_i²
    """
    return np.log(lists.count() + sigma) * lists.total(1 / lists.rank**2)


@entry(METHODS, "borda", aliases=("bordafuse", "w-bordafuse"), reads="ranks", reference="Aslam & Montague 2001")
def borda(lists: Lists, *, weights: Weights = None) -> Numbers:
    """Points by rank, one less for each further document; those that a run lacks share the points left.

    Σ over all runs of w_i · (N - r_i + 1, or (N - n_i + 1) / 2 where the run lacks the document)
    """
    shared = (lists.documents - lists.size + 1) / 2
    return lists.total(np.where(lists.found, lists.documents - lists.rank + 1, shared), weights)


@entry(METHODS, "condorcet", aliases=("w-condorcet",), reads="ranks", reference="Montague & Aslam 2002")
def condorcet(lists: Lists, *, weights: Weights = None) -> Numbers:
    """How many documents it beats in a vote of the runs; a run puts what it returns above all else.

    #{e : Σ w_i over runs with r_i < r_i(e)  >  Σ w_i over runs with r_i > r_i(e)}
    """
    if weights is not None and weights.ndim > 1:
        return np.stack([condorcet(lists, weights=its) for its in weights])
    weight = np.ones(len(lists.rank)) if weights is None else weights
    beaten = np.zeros(lists.rank.shape[1])
    for start, end in zip(lists.first[:-1].tolist(), lists.first[1:].tolist(), strict=True):
        rank = lists.rank[:, start:end]
        step = max(1, _BLOCK // max(end - start, 1))
        for at in range(start, end, step):
            stop = min(at + step, end)
            votes = np.zeros((stop - at, end - start))
            for run, its_weight in enumerate(weight.tolist()):
                mine, its = lists.rank[run, at:stop, None], rank[run]
                votes += its_weight * (mine < its)
                votes -= its_weight * (mine > its)
            # What is left when equal weights are added and taken away in another order is no majority.
            beaten[at:stop] = (votes > 1e-9 * weight.sum()).sum(axis=1)
    return beaten


@entry(METHODS, "rbc", reads="ranks", reference="Bailey, Moffat, Scholer & Thomas 2017")
def rank_biased_centroids(lists: Lists, *, phi: float = 0.8, weights: Weights = None) -> Numbers:
    """Rank-biased centroids: a reader goes on to the next document with a chance of phi.

    Σ w_i (1 - phi) phi^(r_i - 1)
    """
    return lists.total((1 - phi) * phi ** (lists.rank - 1), weights)
