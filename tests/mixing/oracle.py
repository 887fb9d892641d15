"""Fusion straight from the formulas, as loops over dicts, for one query; shares no code with cranfield.

A list is [(document, score), …], best first.
"""

import math
from fractions import Fraction
from statistics import mean, median, pstdev


def min_max(scores, constant=1.0):
    low, high = min(scores), max(scores)
    return [constant if low == high else (score - low) / (high - low) for score in scores]


def z_score(scores, constant=1.0):
    if min(scores) == max(scores):
        return [constant] * len(scores)
    return [(score - mean(scores)) / pstdev(scores) for score in scores]


def share(scores, constant=1.0):
    low = min(scores)
    total = sum(score - low for score in scores)
    return [constant / len(scores) if total == 0 else (score - low) / total for score in scores]


NORMALISATIONS = {
    "min-max": min_max,
    "z-score": z_score,
    "sum": share,
    "rank": lambda scores: [1 - at / len(scores) for at in range(len(scores))],
    "none": list,
}


class Query:
    def __init__(self, lists, weights=None):
        self.lists = [{document: (rank, score) for rank, (document, score) in enumerate(its, 1)} for its in lists]
        self.weights = weights or [1] * len(lists)
        self.documents = sorted({document for its in self.lists for document in its})

    def having(self, document):
        return [
            (its[document], weight) for its, weight in zip(self.lists, self.weights, strict=True) if document in its
        ]

    def scores(self, document):
        return [score for (_, score), _ in self.having(document)]

    def ranks(self, document):
        return [rank for (rank, _), _ in self.having(document)]


def summed(query, of):
    return {
        document: math.fsum(weight * of(rank, score) for (rank, score), weight in query.having(document))
        for document in query.documents
    }


def of_scores(function):
    return lambda query: {document: function(query.scores(document)) for document in query.documents}


def borda(query):
    n, points = len(query.documents), dict.fromkeys(query.documents, 0)
    for its, weight in zip(query.lists, query.weights, strict=True):
        left = sum(range(1, n - len(its) + 1))  # what the missing documents share
        for document in query.documents:
            got = n - its[document][0] + 1 if document in its else Fraction(left, n - len(its))
            points[document] += weight * float(got)
    return points


def condorcet(query):
    def rank(its, document):
        return its[document][0] if document in its else math.inf

    beaten = {}
    for one in query.documents:
        beaten[one] = 0
        for other in query.documents:
            votes = Fraction(0)
            for its, weight in zip(query.lists, query.weights, strict=True):
                mine, theirs = rank(its, one), rank(its, other)
                votes += Fraction(str(weight)) * ((mine < theirs) - (mine > theirs))
            beaten[one] += votes > 0
    return beaten


METHODS = {
    "rrf": lambda query, k=60: summed(query, lambda rank, _: 1 / (k + rank)),
    "combsum": lambda query: summed(query, lambda _, score: score),
    "combmnz": lambda query: {
        document: sum(weight for _, weight in query.having(document)) * math.fsum(query.scores(document))
        for document in query.documents
    },
    "combanz": of_scores(mean),
    "combmax": of_scores(max),
    "combmin": of_scores(min),
    "combmed": of_scores(median),
    "isr": lambda query: {
        document: len(query.ranks(document)) * math.fsum(1 / rank**2 for rank in query.ranks(document))
        for document in query.documents
    },
    "log-isr": lambda query, sigma=0.01: {
        document: math.log(len(query.ranks(document)) + sigma)
        * math.fsum(1 / rank**2 for rank in query.ranks(document))
        for document in query.documents
    },
    "borda": borda,
    "condorcet": condorcet,
    "rbc": lambda query, phi=0.8: summed(query, lambda rank, _: (1 - phi) * phi ** (rank - 1)),
}


def best_first(scores):
    """A ranking by the house rule: by score, of equal ones the larger id by bytes."""
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)


def fused(runs, method, normalisation="none", weights=None, depth=1000, constant=None, **parameters):
    """{query: {document: score}} by the formulas, from runs {query: {document: score}}."""
    found = {}
    for name in dict.fromkeys(query for run in runs for query in run):
        lists = []
        for run in runs:
            its = best_first(run.get(name, {}))[:depth]
            values = [score for _, score in its]
            extra = {} if constant is None else {"constant": constant}
            scaled = NORMALISATIONS[normalisation](values, **extra) if values else []
            lists.append([(document, score) for (document, _), score in zip(its, scaled, strict=True)])
        found[name] = METHODS[method](Query(lists, weights), **parameters)
    return found
