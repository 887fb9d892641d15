"""Naive loops straight from the definitions. Nothing here is shared with the package.

A ranking is the list of its documents' grades in rank order: None for an unjudged document, a negative number for one
that was pooled but not judged. `judged` are the grades of all judged documents of the query, retrieved or not.
"""

import math


def rank(scores, grades, ties="doc_id"):
    """The documents of a ranking, best first: sort everything, as nobody who is in a hurry would."""
    order = list(scores)
    if ties == "doc_id":
        order.sort(key=lambda d: d.encode(), reverse=True)
    elif ties in ("best", "worst"):
        order.sort(key=lambda d: d.encode(), reverse=True)
        # relevant, then unjudged, then judged and not relevant; the other way round for "worst"
        key = {d: (2, grades[d]) if grades.get(d, -1) > 0 else ((0, 0) if d in grades else (1, 0)) for d in order}
        order.sort(key=lambda d: key[d], reverse=ties == "best")
    return sorted(order, key=lambda d: -scores[d])  # sorted() is stable


def _relevant(grade, rel):
    return grade is not None and grade >= rel


def precision(ranking, judged, *, cutoff, rel=1):
    return sum(_relevant(grade, rel) for grade in ranking[:cutoff]) / cutoff


def recall(ranking, judged, *, cutoff, rel=1):
    total = sum(grade >= rel for grade in judged)
    return sum(_relevant(grade, rel) for grade in ranking[:cutoff]) / total if total else 0.0


def f_measure(ranking, judged, *, cutoff, beta=1, rel=1):
    p = precision(ranking, judged, cutoff=cutoff, rel=rel)
    r = recall(ranking, judged, cutoff=cutoff, rel=rel)
    return (1 + beta * beta) * p * r / (beta * beta * p + r) if p and r else 0.0


def average_precision(ranking, judged, *, cutoff=None, rel=1):
    total = sum(grade >= rel for grade in judged)
    hits, added = 0, 0.0
    for i, grade in enumerate(ranking[:cutoff], 1):
        if _relevant(grade, rel):
            hits += 1
            added += hits / i
    return added / total if total else 0.0


def reciprocal_rank(ranking, judged, *, cutoff=None, rel=1):
    for i, grade in enumerate(ranking[:cutoff], 1):
        if _relevant(grade, rel):
            return 1 / i
    return 0.0


def r_precision(ranking, judged, *, rel=1):
    total = sum(grade >= rel for grade in judged)
    return sum(_relevant(grade, rel) for grade in ranking[:total]) / total if total else 0.0


def success(ranking, judged, *, cutoff, rel=1):
    return float(any(_relevant(grade, rel) for grade in ranking[:cutoff]))


def dcg(gains):
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains, 1))


def ndcg(ranking, judged, *, cutoff=None, gain="linear"):
    def worth(grade):
        grade = max(grade or 0, 0)
        return 2**grade - 1 if gain == "exponential" else grade

    best = dcg(sorted(map(worth, judged), reverse=True)[:cutoff])
    return dcg(map(worth, ranking[:cutoff])) / best if best else 0.0


def judged_share(ranking, judged, *, cutoff=None):
    top = ranking[:cutoff]
    return sum(grade is not None and grade >= 0 for grade in top) / len(top) if top else 0.0


ORACLES = {
    "P": precision,
    "R": recall,
    "F": f_measure,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "Rprec": r_precision,
    "Success": success,
    "nDCG": ndcg,
    "Judged": judged_share,
    "NumRet": lambda ranking, judged: len(ranking),
    "NumRel": lambda ranking, judged, *, rel=1: sum(grade >= rel for grade in judged),
    "NumRelRet": lambda ranking, judged, *, rel=1: sum(_relevant(grade, rel) for grade in ranking),
}


def value(measure, ranking, judged):
    """What a parsed measure must give."""
    parameters = dict(measure.parameters)
    if parameters.pop("judged_only", False):
        ranking = [grade for grade in ranking if grade is not None and grade >= 0]
    return ORACLES[measure.definition.name](ranking, judged, **parameters)


def values(measure, qrels, run, ties="doc_id", depth=None):
    """What it must give for every judged query of dicts of dicts."""
    found = {}
    for query, grades in qrels.items():
        order = rank(run.get(query, {}), grades, ties)[:depth]
        found[query] = value(measure, [grades.get(document) for document in order], list(grades.values()))
    return found
