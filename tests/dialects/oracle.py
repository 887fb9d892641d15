"""Rules as loops over whole rankings, sharing no code with the package: the values of one measure under one rule."""

import itertools
import math
from statistics import median
from typing import NamedTuple

import numpy as np


class Expected(NamedTuple):
    by_query: dict
    mean: float


def values(rule, name, qrels, run):
    settings, parameters = dict(rule.settings), {**rule.parameters, "becomes": rule.becomes}
    found, weights = {}, {}
    for query, judged in qrels.items():
        if query not in run and settings.get("missing") == "skip":
            continue
        found[query], weights[query], relevant = one(name, query, judged, run.get(query, {}), settings, parameters)
        if not relevant and settings.get("no_relevant") == "skip":
            del found[query]
        elif not relevant and settings.get("no_relevant") == "one":
            found[query] = 1.0
        elif settings.get("query_decimals") == "2":
            found[query] = math.floor(found[query] * 100 + 0.5) / 100
        elif settings.get("query_decimals"):
            found[query] = float(np.round(found[query], int(settings["query_decimals"])))
    more = sum(query not in qrels for query in run) if settings.get("unjudged_query") == "zero" else 0
    if settings.get("average") == "median":
        return Expected(found, median(found.values()))
    if settings.get("average") == "micro" and weights[next(iter(weights))] is not None:
        total = sum(weights.values())
        return Expected(found, sum(found[query] * weights[query] for query in found) / total)
    return Expected(found, math.fsum(found.values()) / (len(found) + more))


def one(name, query, judged, scores, settings, parameters):
    """The value, the denominator, and how many documents are relevant."""
    scores = {d: s for d, s in scores.items() if settings.get("same_id") != "drop" or d != query}
    if settings.get("scores") == "32":
        scores = {document: float(np.float32(score)) for document, score in scores.items()}
    known = {document: grade for document, grade in judged.items() if grade >= 0}
    if settings.get("negative") == "nonrelevant":
        known = {document: max(grade, 0) for document, grade in judged.items()}
    if settings.get("threshold") == "query":
        least = own_threshold(judged.values())
        known = {document: int(grade > 0 and grade >= least) for document, grade in known.items()}
    if settings.get("missed") == "ignored":
        known = {document: grade for document, grade in known.items() if document in scores}
    called, _, cutoff = name.partition("@")
    k = int(cutoff) if cutoff else None
    relevant = sum(grade >= 1 for grade in known.values())
    orders = list(rankings(scores, judged, settings))
    results = [measured(called, k, order, known, scores, settings, parameters) for order in orders]
    return sum(value for value, _ in results) / len(results), results[0][1], relevant


def own_threshold(grades):
    """Half of the highest grade, or the 90th percentile if that is more."""
    ordered = sorted(grades)
    return max(ordered[-1] / 2, ordered[math.ceil(0.9 * len(ordered)) - 1])


def rankings(scores, judged, settings):
    """The ranking, or a mean of all its orders of ties, as rankings that are as likely."""
    sign = -1 if settings.get("order") == "rising" else 1
    ties = settings.get("ties", "doc_id")
    documents = list(scores)
    if ties == "expected":
        yield from every_order(scores)
        return
    if ties == "smaller_doc_id":
        documents.sort()
    elif ties in ("doc_id", "best", "worst"):
        documents.sort(reverse=True)
    if ties in ("best", "worst"):
        worth = {d: max(judged[d], 0) if judged.get(d, -1) >= 0 else -1 if d in judged else -2 for d in documents}
        documents.sort(key=lambda d: -worth[d] if ties == "best" else worth[d])
    if sign < 0:  # the lowest first is the whole ranking from its end
        documents.sort(key=lambda d: -scores[d])
        documents.reverse()
    else:
        documents.sort(key=lambda d: -scores[d])
    yield documents[1:] if settings.get("top") == "dropped" else documents


def every_order(scores, most=40320):
    """All orders of ties."""
    groups = [[d for d in scores if scores[d] == score] for score in sorted(set(scores.values()), reverse=True)]
    count = math.prod(math.factorial(len(group)) for group in groups)
    if count > most:
        raise ValueError("too many orders of ties for the oracle")
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [document for part in parts for document in part]


def measured(called, k, order, known, scores, settings, parameters):
    if parameters.get("judged_only"):
        order = [document for document in order if document in known]
    grades = [known.get(document, 0) for document in order]
    if settings.get("low_score") == "ignored":
        grades_found = [grade if scores[document] > 0 else 0 for grade, document in zip(grades, order, strict=True)]
    else:
        grades_found = grades
    hit = [grade >= 1 for grade in grades_found]
    rank = list(range(1, len(order) + 1))
    if settings.get("tied_rank") == "last":
        rank = [sum(scores[other] >= scores[document] for other in order) for document in order]
    within = [k is None or at <= k for at in rank]
    taken = k
    if settings.get("boundary") == "score" and k is not None and called != "AP" and called != "RR":
        within = [sum(scores[other] > scores[document] for other in order) < k for document in order]
        taken = max(sum(within), 1) if order else 1
    total = sum(grade >= 1 for grade in known.values())
    found = sum(h and w for h, w in zip(hit, within, strict=True))
    becomes = {"RelP": "RelP", "Success": "Success", "R_cap": "RelP", "R": "R"}.get(parameters.get("becomes"), called)
    if becomes == "P":
        if settings.get("boundary") == "score":
            return found / taken, float(k)
        short = parameters.get("short") == "returned"
        divisor = min(k, len(order)) if short else k
        return found / divisor if divisor else 0.0, float(k)
    if becomes == "R":
        return found / total if total else 0.0, total
    if becomes == "RelP":
        return found / min(k, total) if total else 0.0, min(k, total)
    if becomes == "Success":
        return float(found > 0), None
    if becomes == "RR":
        return next((1 / at for at, h, w in zip(rank, hit, within, strict=True) if h and w), 0.0), None
    if becomes == "AP":
        return average_precision(k, hit, rank, within, total, settings, parameters)
    return gain_share(k, grades, known, parameters)


def average_precision(k, hit, rank, within, total, settings, parameters):
    added = 0.0
    for at, (h, w) in enumerate(zip(hit, within, strict=True)):
        if h and w:
            last = settings.get("tied_rank") == "last"
            so_far = sum(o and x for o, x, r in zip(hit, within, rank, strict=True) if r <= rank[at])
            added += so_far / rank[at] if last else sum(hit[: at + 1]) / rank[at]
    how = parameters.get("denominator", "R")
    divisor = {"R": total, "min": min(total, k or total), "k": k if total and k else total}.get(how)
    if how == "found":
        divisor = sum(h and w for h, w in zip(hit, within, strict=True))
    return added / divisor if divisor else 0.0, divisor


def gain_share(k, grades, known, parameters):
    kinds = {"linear": float, "exponential": lambda g: 2.0**g - 1, "binary": lambda g: float(g > 0)}
    gain = kinds[parameters.get("gain", "linear")]
    late = parameters.get("discount") == "late"

    def dcg(gains):
        return sum(g / (math.log2(max(i, 2)) if late else math.log2(i + 1)) for i, g in enumerate(gains, 1))

    best = sorted(map(gain, known.values()), reverse=True)
    ideal = parameters.get("ideal", "judged")
    if ideal == "retrieved":
        best = sorted(map(gain, grades), reverse=True)
    if ideal == "returned":
        best = best[: min(len(grades), k or len(grades))]
    elif ideal == "full":
        best = best[:1] * (k or len(grades))
    elif ideal != "uncut":
        best = best[:k]
    most = dcg(best)
    weight = dcg(sorted(map(gain, known.values()), reverse=True)[:k])
    return dcg(map(gain, grades[:k])) / most if most else 0.0, weight
