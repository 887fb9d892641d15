"""Naive loops for measures of binary relevance: counts, precision, recall, and combinations of them.

Arguments are described in `oracle.py`. Nothing here is shared with the package.
"""

import math


def is_relevant(grade, rel):
    return grade is not None and grade >= rel


def precision(ranking, judged, *, cutoff, rel=1, short="filled"):
    divisor = cutoff if short == "filled" else min(cutoff, len(ranking))
    return sum(is_relevant(grade, rel) for grade in ranking[:cutoff]) / divisor if divisor else 0.0


def recall(ranking, judged, *, cutoff, rel=1):
    total = sum(grade >= rel for grade in judged)
    return sum(is_relevant(grade, rel) for grade in ranking[:cutoff]) / total if total else 0.0


def f_measure(ranking, judged, *, cutoff, beta=1, rel=1):
    p = precision(ranking, judged, cutoff=cutoff, rel=rel)
    r = recall(ranking, judged, cutoff=cutoff, rel=rel)
    return (1 + beta * beta) * p * r / (beta * beta * p + r) if p and r else 0.0


def average_precision(ranking, judged, *, cutoff=None, rel=1):
    total = sum(grade >= rel for grade in judged)
    hits, added = 0, 0.0
    for i, grade in enumerate(ranking[:cutoff], 1):
        if is_relevant(grade, rel):
            hits += 1
            added += hits / i
    return added / total if total else 0.0


def reciprocal_rank(ranking, judged, *, cutoff=None, rel=1):
    for i, grade in enumerate(ranking[:cutoff], 1):
        if is_relevant(grade, rel):
            return 1 / i
    return 0.0


def success(ranking, judged, *, cutoff, rel=1):
    return float(any(is_relevant(grade, rel) for grade in ranking[:cutoff]))


def judged_share(ranking, judged, *, cutoff=None):
    top = ranking[:cutoff]
    return sum(grade is not None and grade >= 0 for grade in top) / len(top) if top else 0.0


def n_relevant(judged, rel):
    return sum(grade >= rel for grade in judged)


def n_found(ranking, rel):
    return sum(is_relevant(grade, rel) for grade in ranking)


def set_f(ranking, judged, *, beta=1, rel=1):
    p = n_found(ranking, rel) / len(ranking) if ranking else 0
    r = n_found(ranking, rel) / n_relevant(judged, rel) if n_relevant(judged, rel) else 0
    return (1 + beta * beta) * p * r / (beta * beta * p + r) if p and r else 0.0


def utility(ranking, judged, *, a=1, b=-1, c=0, d=0, documents=None, rel=1):
    n, r, total = len(ranking), n_found(ranking, rel), n_relevant(judged, rel)
    size = documents or 0
    return a * r + b * (n - r) + c * (total - r) + d * (size + r - n - total)


def accuracy(ranking, judged, *, documents, rel=1):
    right = 0
    for grade in ranking:
        right += is_relevant(grade, rel)
    missed = n_relevant(judged, rel) - right
    return (right + documents - len(ranking) - missed) / documents


def ap_with_denominator(ranking, judged, *, cutoff=None, rel=1, denominator="R"):
    total = n_relevant(judged, rel)
    added = average_precision(ranking, judged, cutoff=cutoff, rel=rel) * total
    if denominator == "min" and cutoff:
        total = min(total, cutoff)
    elif denominator == "k" and cutoff:
        total = cutoff if total else 0
    elif denominator == "found":
        total = n_found(ranking[:cutoff], rel)
    return added / total if total else 0.0


def r_precision_multiple(ranking, judged, *, multiple=1, rel=1):
    depth = math.floor(multiple * n_relevant(judged, rel) + 0.9)
    return n_found(ranking[:depth], rel) / depth if depth else 0.0


def relative_precision(ranking, judged, *, cutoff, rel=1):
    most = min(cutoff, n_relevant(judged, rel))
    return n_found(ranking[:cutoff], rel) / most if most else 0.0


def yaap(ranking, judged, *, rel=1):
    total = n_relevant(judged, rel)
    added = average_precision(ranking, judged, rel=rel) * total
    return math.log((1 + added) / (1 + total - added))


def interpolated_precision(ranking, judged, *, recall, rel=1, rule="ceiling"):
    total = n_relevant(judged, rel)
    if not total:
        return 0.0
    level = recall * total
    rules = {"ceiling": math.ceil(level - 1e-9), "trec9": math.floor(level + 0.9), "trec10": math.floor(level + 0.5)}
    best = 0.0
    for k in range(1, len(ranking) + 1):
        found = n_found(ranking[:k], rel)
        if found >= rules[rule]:
            best = max(best, found / k)
    return best


def eleven_points(ranking, judged, *, points=11, rel=1, rule="ceiling"):
    levels = [i / (points - 1) for i in range(points)]
    return sum(interpolated_precision(ranking, judged, recall=r, rel=rel, rule=rule) for r in levels) / points


def precision_at_recall(ranking, judged, *, recall, rel=1):
    needed = max(1, math.ceil(recall * n_relevant(judged, rel) - 1e-9))
    for k in range(1, len(ranking) + 1):
        if n_found(ranking[:k], rel) == needed:
            return needed / k
    return 0.0


def pair_accuracy(ranking, judged, *, cutoff=None, rel=1):
    top = [is_relevant(grade, rel) for grade in ranking[:cutoff]]
    pairs = [(a, b) for a in range(len(top)) for b in range(len(top)) if top[a] and not top[b]]
    if not pairs:
        return float(any(top))
    return sum(a < b for a, b in pairs) / len(pairs)


def bpref(ranking, judged, *, rel=1, variant="trec", extra=0):
    total = n_relevant(judged, rel)
    others = sum(0 <= grade < rel for grade in judged)
    most = total + extra
    denominator = min(total, others) if variant == "trec" and not extra else most
    added, above = 0.0, 0
    for grade in ranking:
        if is_relevant(grade, rel):
            added += 1 - min(above, most) / denominator if above else 1
        elif grade is not None and grade >= 0:
            above += 1
    return added / total if total else 0.0


def inf_ap(ranking, judged, *, rel=1):
    total, tiny = n_relevant(judged, rel), 0.00001
    a = b = u = 0
    added = 0.0
    for k, grade in enumerate(ranking, 1):
        if is_relevant(grade, rel):
            added += 1 if k == 1 else 1 / k + (k - 1) / k * (a + b + u) / (k - 1) * (a + tiny) / (a + b + 2 * tiny)
            a += 1
        elif grade is not None:
            b, u = b + (grade >= 0), u + (grade < 0)
    return added / total if total else 0.0
