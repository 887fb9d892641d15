"""Naive loops for what a whole run recommends, straight from the definitions. Nothing here is shared with the package.

`lists` are the items of each user, best first; `before` the interactions, (user, item) pairs; `catalogue` all items;
`features` a list of numbers for each item. Values are those of the whole run.
"""

from itertools import combinations
from math import log2, sqrt


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0


def coverage(lists, before, catalogue, features, cutoff=None):
    return len({item for items in lists for item in items[:cutoff]}) / len(catalogue)


def gini(lists, before, catalogue, features, cutoff=None):
    times = [sum(item in items[:cutoff] for items in lists) for item in catalogue]
    total = sum(abs(one - other) for one in times for other in times)
    return total / (2 * len(times) * sum(times)) if sum(times) else 0


def novelty(lists, before, catalogue, features, cutoff=None):
    everybody = len({user for user, _ in before})

    def surprise(item):
        users = len({user for user, its in before if its == item})
        return -log2(max(users, 1) / everybody)

    return mean(mean(map(surprise, items[:cutoff])) for items in lists)


def popularity(lists, before, catalogue, features, cutoff=None, scale="count"):
    whole = len(before) if scale == "share" else 1
    return mean(mean(sum(its == item for _, its in before) / whole for item in items[:cutoff]) for items in lists)


def cosine(a, b):
    lengths = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0


def jaccard(a, b):
    one, other = ({at for at, x in enumerate(row) if x} for row in (a, b))
    return len(one & other) / len(one | other) if one | other else 0


def hamming(a, b):
    return mean(x == y for x, y in zip(a, b, strict=True))


SIMILARITIES = {"cosine": cosine, "jaccard": jaccard, "hamming": hamming}


def list_similarity(lists, before, catalogue, features, cutoff=None, similarity="cosine"):
    alike = SIMILARITIES[similarity]
    return mean(mean(alike(features[a], features[b]) for a, b in combinations(items[:cutoff], 2)) for items in lists)


def jackknife_error(function, lists, *others, **parameters):
    """The standard error of a value of the whole run, by leaving out one user after the other."""
    n = len(lists)
    without = [function(lists[:at] + lists[at + 1 :], *others, **parameters) for at in range(n)]
    return sqrt((n - 1) / n * sum((value - mean(without)) ** 2 for value in without))


ORACLES = {
    "Coverage": coverage,
    "Gini": gini,
    "Novelty": novelty,
    "Popularity": popularity,
    "ILS": list_similarity,
}
