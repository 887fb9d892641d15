"""Naive loops for measures of gains: what a grade is worth, at which rank.

Arguments are described in `oracle.py`. Nothing here is shared with the package.
"""

import math

from tests.oracle_relevance import is_relevant, n_relevant


def dcg(gains, base=2, discount="all"):
    added = 0.0
    for i, gain in enumerate(gains, 1):
        if discount == "late":
            added += gain if i < base else gain / math.log(i, base)
        else:
            added += gain / math.log(i + 1, base)
    return added


def ndcg(ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all", ideal="judged"):
    given = ranking if ideal == "retrieved" else judged
    best = ideal_gains([grade for grade in given if grade is not None], gain)
    if ideal == "full":
        best = best[:1] * (len(ranking) if cutoff is None else cutoff)
    elif ideal == "returned":
        best = best[: len(ranking[:cutoff])]
    elif ideal != "uncut":
        best = best[:cutoff]
    best = dcg(best, base, discount)
    return dcg((gain_of(grade, gain) for grade in ranking[:cutoff]), base, discount) / best if best else 0.0


def gain_of(grade, gain="linear"):
    if not isinstance(gain, str) and grade in dict(gain.pairs):
        return dict(gain.pairs)[grade]
    grade = max(grade or 0, 0)
    if gain == "binary":
        return float(grade > 0)
    return 2**grade - 1 if gain == "exponential" else grade


def ideal_gains(judged, gain):
    return sorted((max(gain_of(grade, gain), 0) for grade in judged), reverse=True)


def scaled_dcg(ranking, judged, *, cutoff, max_grade=1):
    most = sum(1 / math.log2(i + 1) for i in range(1, cutoff + 1))
    gained = sum(min(gain_of(g) / max_grade, 1) / math.log2(i + 1) for i, g in enumerate(ranking[:cutoff], 1))
    return gained / most


def binary_gain(ranking, judged, *, rel=1):
    added = others = 0
    for grade in ranking:
        if is_relevant(grade, rel):
            added += 1 / math.log2(2 + others)
        else:
            others += 1
    return added / n_relevant(judged, rel) if n_relevant(judged, rel) else 0.0


def misplaced_gain(ranking, judged, *, gain="linear"):
    ideal = [best for best in ideal_gains(judged, gain) if best > 0]
    added = best = seen = 0.0
    for i, grade in enumerate(ranking):
        best += max(ideal[i] if i < len(ideal) else 0, 1)
        seen += gain_of(grade, gain)
        added += gain_of(grade, gain) / math.log2(2 + best - seen)
    return added / sum(ideal) if ideal else 0.0


def ndcg_rel(ranking, judged, *, gain="linear"):
    total = sum(gain_of(grade, gain) > 0 for grade in judged)
    if not total:
        return 0.0
    at = [i for i, grade in enumerate(ranking, 1) if gain_of(grade, gain) > 0]
    values = [ndcg(ranking, judged, cutoff=i, gain=gain) for i in at]
    values += [ndcg(ranking, judged, gain=gain)] * (total - len(at))
    return sum(values) / total


def r_ndcg(ranking, judged, *, gain="linear"):
    positive = [best for best in ideal_gains(judged, gain) if best > 0]
    depths = [sum(grade >= g for grade in positive) for g in sorted(set(positive), reverse=True)]
    values = [ndcg(ranking, judged, cutoff=depth, gain=gain) for depth in depths]
    if positive and len(ranking) > len(positive) + 1:
        values.append(ndcg(ranking, judged, gain=gain))
    return sum(values) / len(values) if values else 0.0


def q_measure(ranking, judged, *, cutoff=None, gain="linear", beta=1, rel=1):
    total = n_relevant(judged, rel)
    ideal = ideal_gains(judged, gain)
    added = hits = gained = 0.0
    for i, grade in enumerate(ranking[:cutoff], 1):
        gained += gain_of(grade, gain)
        if is_relevant(grade, rel):
            hits += 1
            added += (hits + beta * gained) / (i + beta * sum(ideal[:i]))
    return added / total if total else 0.0
