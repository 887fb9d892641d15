"""Recommendations: what a whole run recommends, beside what its users wanted.

C is the catalogue, L the list of a user down to the cutoff, and c(i) in how many lists item i is. Interactions are
those that the recommender has learnt from; users(i) is how many users have one with item i. Coverage and Gini are
values of the whole run: a user's value is the contribution to it, so that their mean is the value and their spread
gives its interval (the jackknife). The users are the judged ones: lists of others do not count. These measures need a
`RecommenderRun`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Integers, Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.lists import RecommendedLists


@measure(
    "Coverage",
    aliases=("catalog_coverage", "catalogue_coverage"),
    reference="Ge, Delgado-Battenfeld & Jannach 2010",
    advice="Shows how much of the catalogue anybody gets to see.",
    table="lists",
    of_run=True,
)
def catalogue_coverage(lists: RecommendedLists, *, cutoff: int | None = None) -> Numbers:
    """Share of the catalogue that is in the list of at least one user; it grows with the number of users.

    Coverage = |{ i : c(i) > 0 }| / |C|
    """
    kept = lists.within(cutoff)
    times = lists.times(kept)
    seen = int((times > 0).sum())
    only = lists.sum(kept & (times[lists.item] == 1))  # items that nobody else is recommended
    return lists.contributions(float(ratio(seen, lists.catalogue)), ratio(seen - only, lists.catalogue))


@measure(
    "Gini",
    aliases=("gini_index", "list_gini"),
    reference="Fleder & Hosanagar 2009",
    advice="Shows whether a few items take most of the places: 0 if all are recommended alike, near 1 if one is.",
    lower_is_better=True,
    table="lists",
    of_run=True,
)
def gini_index(lists: RecommendedLists, *, cutoff: int | None = None) -> Numbers:
    """Gini index of how often the items of the catalogue are recommended, those that never are included.

    Gini = Σ |c(i) - c(j)| over all pairs i < j / (|C| · Σ c(i))
    """
    kept = lists.within(cutoff)
    times = lists.times(kept)
    ascending = np.sort(times)
    size, total = lists.catalogue, int(times.sum())
    apart = float(((2 * np.arange(1, size + 1) - size - 1) * ascending).sum())
    # Without one user, each of their items has one place less: it comes closer to the items that have fewer, and away
    # from those that have as many or more, unless they lose a place too.
    rows = np.flatnonzero(kept)
    own = times[lists.item[rows]]
    fewer = np.searchsorted(ascending, own)
    moved = np.zeros(len(kept))
    moved[rows] = (size - fewer - 1) - fewer
    change = lists.sum(moved) - 2 * _equal_pairs(lists.query[rows], own, len(lists))
    without = ratio(apart + change, size * (total - lists.sum(kept)))
    return lists.contributions(float(ratio(apart, size * total)), without)


def _equal_pairs(query: Integers, times: Integers, queries: int) -> Numbers:
    """How many pairs of items in each list are recommended equally often."""
    order = np.lexsort((times, query))
    query, times = query[order], times[order]
    first = np.r_[True, (np.diff(query) != 0) | (np.diff(times) != 0)]
    starts = np.flatnonzero(first[: len(query)])
    sizes = np.diff(np.r_[starts, len(query)])
    return np.bincount(query[starts], weights=sizes * (sizes - 1) / 2, minlength=queries).astype(np.float64)


@measure(
    "Novelty",
    aliases=("MIUF", "mean_inv_user_freq"),
    reference="Zhou et al. 2010",
    advice="Shows whether the items are ones that users may not have come across anyway.",
    range=(0.0, np.inf),
    table="lists",
)
def novelty(lists: RecommendedLists, *, cutoff: int | None = None) -> Numbers:
    """Mean surprise of the items in a list, in bits: few users have had one with a high value.

    Novelty = 1 / |L| · Σ log2(number of users / users(i)) over the items i of L

    An item that nobody has had counts as if one user had.
    """
    surprise = np.log2(max(lists.n_users, 1) / np.maximum(lists.users, 1))
    return lists.mean(surprise[lists.item], lists.within(cutoff))


@measure(
    "Popularity",
    aliases=("ARP", "avg_rec_popularity"),
    reference="Yin et al. 2012",
    advice="Shows whether a recommender only returns what is popular anyway.",
    range=(0.0, np.inf),
    lower_is_better=True,
    table="lists",
)
def popularity(lists: RecommendedLists, *, cutoff: int | None = None, scale: str = "count") -> Numbers:
    """Mean number of interactions that the items in a list have had.

    Popularity = 1 / |L| · Σ interactions(i) over the items i of L
    """
    popular = lists.interactions.astype(np.float64)
    if scale == "share":
        popular = popular / max(lists.n_interactions, 1)
    return lists.mean(popular[lists.item], lists.within(cutoff))


@measure(
    "ILS",
    aliases=("intra_list_similarity",),
    reference="Ziegler et al. 2005",
    advice="Shows whether the items of a list are all of one kind; one minus it is the diversity of the list.",
    range=(-1.0, 1.0),
    lower_is_better=True,
    table="lists",
)
def intra_list_similarity(lists: RecommendedLists, *, cutoff: int | None = None, similarity: str = "cosine") -> Numbers:
    """Mean similarity of all pairs of items in a list; 0 for a list of fewer than two items.

    ILS = 2 / (|L| (|L| - 1)) · Σ similarity(i, j) over all pairs i < j
    """
    features = lists.known_features
    if similarity == "cosine":
        length = np.sqrt((features**2).sum(axis=1, keepdims=True))
        features = np.divide(features, length, out=np.zeros_like(features), where=length > 0)
    total, pairs = np.zeros(len(lists)), np.zeros(len(lists))
    for user, one, other in lists.pairs(cutoff):
        a, b = features[one], features[other]
        if similarity == "cosine":
            alike = np.einsum("ij,ij->i", a, b)
        elif similarity == "hamming":
            alike = (a == b).mean(axis=1)
        else:
            alike = ratio(((a != 0) & (b != 0)).sum(axis=1), ((a != 0) | (b != 0)).sum(axis=1))
        total += np.bincount(user, weights=alike, minlength=len(lists))
        pairs += np.bincount(user, minlength=len(lists))
    return ratio(total, pairs)
