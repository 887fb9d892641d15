"""Naive loops straight from the definitions. Nothing here is shared with the package.

A ranking is the list of its documents' grades in rank order: None for an unjudged document, a negative number for one
that was pooled but not judged. `judged` are the grades of all judged documents of the query, retrieved or not.
"""

import math


def rank(scores, grades, ties="doc_id"):
    """The documents of a ranking, best first: sort everything, as nobody who is in a hurry would."""
    order = list(scores)
    if ties == "smaller_doc_id":
        order.sort(key=lambda d: d.encode())
    elif ties == "doc_id":
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


def success(ranking, judged, *, cutoff, rel=1):
    return float(any(_relevant(grade, rel) for grade in ranking[:cutoff]))


def dcg(gains, base=2, discount="all"):
    added = 0.0
    for i, gain in enumerate(gains, 1):
        if discount == "late":
            added += gain if i < base else gain / math.log(i, base)
        else:
            added += gain / math.log(i + 1, base)
    return added


def ndcg(ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all"):
    best = dcg(_ideal(judged, gain)[:cutoff], base, discount)
    return dcg((_gain(grade, gain) for grade in ranking[:cutoff]), base, discount) / best if best else 0.0


def judged_share(ranking, judged, *, cutoff=None):
    top = ranking[:cutoff]
    return sum(grade is not None and grade >= 0 for grade in top) / len(top) if top else 0.0


def _total(judged, rel):
    return sum(grade >= rel for grade in judged)


def _found(ranking, rel):
    return sum(_relevant(grade, rel) for grade in ranking)


def set_f(ranking, judged, *, beta=1, rel=1):
    p = _found(ranking, rel) / len(ranking) if ranking else 0
    r = _found(ranking, rel) / _total(judged, rel) if _total(judged, rel) else 0
    return (1 + beta * beta) * p * r / (beta * beta * p + r) if p and r else 0.0


def utility(ranking, judged, *, a=1, b=-1, c=0, d=0, documents=None, rel=1):
    n, r, total = len(ranking), _found(ranking, rel), _total(judged, rel)
    size = documents or 0
    return a * r + b * (n - r) + c * (total - r) + d * (size + r - n - total)


def accuracy(ranking, judged, *, documents, rel=1):
    right = 0
    for grade in ranking:
        right += _relevant(grade, rel)
    missed = _total(judged, rel) - right
    return (right + documents - len(ranking) - missed) / documents


def ap_with_denominator(ranking, judged, *, cutoff=None, rel=1, denominator="R"):
    total = _total(judged, rel)
    added = average_precision(ranking, judged, cutoff=cutoff, rel=rel) * total
    if denominator == "min" and cutoff:
        total = min(total, cutoff)
    elif denominator == "found":
        total = _found(ranking[:cutoff], rel)
    return added / total if total else 0.0


def r_precision_multiple(ranking, judged, *, multiple=1, rel=1):
    depth = math.floor(multiple * _total(judged, rel) + 0.9)
    return _found(ranking[:depth], rel) / depth if depth else 0.0


def relative_precision(ranking, judged, *, cutoff, rel=1):
    most = min(cutoff, _total(judged, rel))
    return _found(ranking[:cutoff], rel) / most if most else 0.0


def yaap(ranking, judged, *, rel=1):
    total = _total(judged, rel)
    added = average_precision(ranking, judged, rel=rel) * total
    return math.log((1 + added) / (1 + total - added))


def interpolated_precision(ranking, judged, *, recall, rel=1, rule="ceiling"):
    total = _total(judged, rel)
    if not total:
        return 0.0
    level = recall * total
    rules = {"ceiling": math.ceil(level - 1e-9), "trec9": math.floor(level + 0.9), "trec10": math.floor(level + 0.5)}
    best = 0.0
    for k in range(1, len(ranking) + 1):
        found = _found(ranking[:k], rel)
        if found >= rules[rule]:
            best = max(best, found / k)
    return best


def eleven_points(ranking, judged, *, points=11, rel=1, rule="ceiling"):
    levels = [i / (points - 1) for i in range(points)]
    return sum(interpolated_precision(ranking, judged, recall=r, rel=rel, rule=rule) for r in levels) / points


def precision_at_recall(ranking, judged, *, recall, rel=1):
    needed = max(1, math.ceil(recall * _total(judged, rel) - 1e-9))
    for k in range(1, len(ranking) + 1):
        if _found(ranking[:k], rel) == needed:
            return needed / k
    return 0.0


def _gain(grade, gain="linear"):
    if not isinstance(gain, str) and grade in dict(gain.pairs):
        return dict(gain.pairs)[grade]
    grade = max(grade or 0, 0)
    return 2**grade - 1 if gain == "exponential" else grade


def _ideal(judged, gain):
    return sorted((max(_gain(grade, gain), 0) for grade in judged), reverse=True)


def scaled_dcg(ranking, judged, *, cutoff, max_grade=1):
    most = sum(1 / math.log2(i + 1) for i in range(1, cutoff + 1))
    gained = sum(min(_gain(g) / max_grade, 1) / math.log2(i + 1) for i, g in enumerate(ranking[:cutoff], 1))
    return gained / most


def binary_gain(ranking, judged, *, rel=1):
    added = others = 0
    for grade in ranking:
        if _relevant(grade, rel):
            added += 1 / math.log2(2 + others)
        else:
            others += 1
    return added / _total(judged, rel) if _total(judged, rel) else 0.0


def misplaced_gain(ranking, judged, *, gain="linear"):
    ideal = [best for best in _ideal(judged, gain) if best > 0]
    added = best = seen = 0.0
    for i, grade in enumerate(ranking):
        best += max(ideal[i] if i < len(ideal) else 0, 1)
        seen += _gain(grade, gain)
        added += _gain(grade, gain) / math.log2(2 + best - seen)
    return added / sum(ideal) if ideal else 0.0


def ndcg_rel(ranking, judged, *, gain="linear"):
    total = sum(_gain(grade, gain) > 0 for grade in judged)
    if not total:
        return 0.0
    at = [i for i, grade in enumerate(ranking, 1) if _gain(grade, gain) > 0]
    values = [ndcg(ranking, judged, cutoff=i, gain=gain) for i in at]
    values += [ndcg(ranking, judged, gain=gain)] * (total - len(at))
    return sum(values) / total


def r_ndcg(ranking, judged, *, gain="linear"):
    positive = [best for best in _ideal(judged, gain) if best > 0]
    depths = [sum(grade >= g for grade in positive) for g in sorted(set(positive), reverse=True)]
    values = [ndcg(ranking, judged, cutoff=depth, gain=gain) for depth in depths]
    if positive and len(ranking) > len(positive) + 1:
        values.append(ndcg(ranking, judged, gain=gain))
    return sum(values) / len(values) if values else 0.0


def q_measure(ranking, judged, *, cutoff=None, gain="linear", beta=1, rel=1):
    total = _total(judged, rel)
    ideal = _ideal(judged, gain)
    added = hits = gained = 0.0
    for i, grade in enumerate(ranking[:cutoff], 1):
        gained += _gain(grade, gain)
        if _relevant(grade, rel):
            hits += 1
            added += (hits + beta * gained) / (i + beta * sum(ideal[:i]))
    return added / total if total else 0.0


def pair_accuracy(ranking, judged, *, cutoff=None, rel=1):
    top = [_relevant(grade, rel) for grade in ranking[:cutoff]]
    pairs = [(a, b) for a in range(len(top)) for b in range(len(top)) if top[a] and not top[b]]
    if not pairs:
        return float(any(top))
    return sum(a < b for a, b in pairs) / len(pairs)


def rbp(ranking, judged, *, cutoff=None, p=0.8, rel=1, max_grade=None):
    added = 0.0
    if max_grade == "query":
        max_grade = max(1, *judged, 0)
    for i, grade in enumerate(ranking[:cutoff]):
        gain = _relevant(grade, rel) if max_grade is None else min(max(grade or 0, 0) / max_grade, 1)
        added += gain * p**i
    return (1 - p) * added


def rbp_residual(ranking, judged, *, p=0.8, tail="always"):
    if tail == "unjudged" and all(grade is not None and grade >= 0 for grade in ranking):
        return 0.0
    known = sum(p**i for i, grade in enumerate(ranking) if grade is not None and grade >= 0)
    return 1 - (1 - p) * known


def err(ranking, judged, *, cutoff=None, max_grade=4):
    still, added = 1.0, 0.0
    for i, grade in enumerate(ranking[:cutoff], 1):
        satisfied = min((2 ** max(grade or 0, 0) - 1) / 2**max_grade, 1)
        added += still * satisfied / i
        still *= 1 - satisfied
    return added


def nerr(ranking, judged, *, cutoff=None, max_grade=4):
    best = err(sorted(judged, reverse=True), judged, cutoff=cutoff, max_grade=max_grade)
    return err(ranking, judged, cutoff=cutoff, max_grade=max_grade) / best if best else 0.0


def bpref(ranking, judged, *, rel=1, variant="trec", extra=0):
    total = _total(judged, rel)
    others = sum(0 <= grade < rel for grade in judged)
    most = total + extra
    denominator = min(total, others) if variant == "trec" and not extra else most
    added, above = 0.0, 0
    for grade in ranking:
        if _relevant(grade, rel):
            added += 1 - min(above, most) / denominator if above else 1
        elif grade is not None and grade >= 0:
            above += 1
    return added / total if total else 0.0


def inf_ap(ranking, judged, *, rel=1):
    total, tiny = _total(judged, rel), 0.00001
    a = b = u = 0
    added = 0.0
    for k, grade in enumerate(ranking, 1):
        if _relevant(grade, rel):
            added += 1 if k == 1 else 1 / k + (k - 1) / k * (a + b + u) / (k - 1) * (a + tiny) / (a + b + 2 * tiny)
            a += 1
        elif grade is not None:
            b, u = b + (grade >= 0), u + (grade < 0)
    return added / total if total else 0.0


def _cwl(goes_on, usual="utility"):
    """The oracle of a user model: goes_on(i, gain, collected, **parameters) is the continuation probability."""

    def oracle(ranking, judged, *, max_grade=1, view=usual, **parameters):
        def utilities(unjudged):
            gains = [unjudged if g is None or g < 0 else min(g / max_grade, 1) for g in ranking[:1000]]
            gains += [unjudged] * (1000 - len(gains))
            still, collected = 1.0, 0.0
            seen, collected_by = [], []
            for i, gain in enumerate(gains, 1):
                collected += gain
                seen.append(still)
                collected_by.append(collected)
                still *= goes_on(i, gain, collected, **parameters)
            return gains, seen, collected_by

        gains, seen, collected_by = utilities(0)
        if view == "depth":
            return sum(seen)
        if view == "total":
            stops = [a - b for a, b in zip(seen, [*seen[1:], 0])]
            return sum(stop * total for stop, total in zip(stops, collected_by))
        utility = sum(s * g for s, g in zip(seen, gains)) / sum(seen)
        if view == "residual":
            gains, seen, _ = utilities(1)
            return sum(s * g for s, g in zip(seen, gains)) / sum(seen) - utility
        return utility

    return oracle


def u_measure(ranking, judged, *, max_grade=1, view="total", L=132000):
    if view != "total":
        return _U(ranking, judged, max_grade=max_grade, view=view, L=L)
    gains = [min(max(grade or 0, 0) / max_grade, 1) for grade in ranking]
    return sum(gain * max(0, 1 - read / L) for read, gain in enumerate(gains, 1))  # all lengths are 1


_U = _cwl(lambda i, gain, all_, L: max(0, 1 - i / L) / max(1e-300, 1 - (i - 1) / L))


def _insq(i, T):
    return ((i + 2 * T - 1) / (i + 2 * T)) ** 2


def _rbo(one, other, p, depth):
    shared = [len(set(one[:d]) & set(other[:d])) / d for d in range(1, depth + 1)]
    weights = [p ** (d - 1) for d in range(1, depth + 1)]
    return sum(w * s for w, s in zip(weights, shared)) / sum(weights) if depth else 0.0


def compatibility(ranking, judged, *, p=0.95, normalize=True):
    missed = list(judged)
    for grade in ranking:
        if grade is not None:
            missed.remove(grade)
    documents = [("run", i, grade or 0) for i, grade in enumerate(ranking)] + [
        ("missed", i, g) for i, g in enumerate(missed)
    ]
    ideal = sorted((d for d in documents if d[2] > 0), key=lambda d: (-d[2], d[0] == "missed", d[1]))
    depth = max(len(ranking), len(ideal))
    value = _rbo(documents[: len(ranking)], ideal, p, depth)
    if not ideal:
        return 0.0
    return value / _rbo(ideal, ideal, p, depth) if normalize else value


ORACLES = {
    "INSQ": _cwl(lambda i, gain, all_, T=1: _insq(i, T)),
    "INST": _cwl(lambda i, gain, all_, T=1: ((i + 2 * T - all_ - 1) / (i + 2 * T - all_)) ** 2),
    "BPM": _cwl(lambda i, gain, all_, cutoff, T=1: float(all_ < T and i < cutoff)),
    "NERR8": _cwl(lambda i, gain, all_, cutoff: (1 - gain) * (i < cutoff)),
    "NERR9": _cwl(lambda i, gain, all_, cutoff: i / (i + 1) * (1 - gain) * (i < cutoff)),
    "NERR10": _cwl(lambda i, gain, all_, p=0.9: p * (1 - gain)),
    "TBG": _cwl(lambda i, gain, all_, h=224: 2 ** (-1 / h), "total"),
    "U": u_measure,
    "NERR11": _cwl(lambda i, gain, all_, T=1: _insq(i, T) * (1 - gain)),
    "Compat": compatibility,
    "NumQ": lambda ranking, judged: 1,
    "NumRet": lambda ranking, judged: len(ranking),
    "NumRel": lambda ranking, judged, *, rel=1: _total(judged, rel),
    "NumRelRet": lambda ranking, judged, *, rel=1: _found(ranking, rel),
    "NumNonRelRet": lambda ranking, judged, *, rel=1: sum(g is not None and 0 <= g < rel for g in ranking),
    "Judged": judged_share,
    "Unjudged": lambda ranking, judged, *, cutoff: sum(g is None or g < 0 for g in ranking[:cutoff]) / cutoff,
    "SetP": lambda ranking, judged, *, rel=1: _found(ranking, rel) / len(ranking) if ranking else 0,
    "SetR": lambda ranking, judged, *, rel=1: recall(ranking, judged, cutoff=None, rel=rel),
    "SetF": set_f,
    "E": lambda ranking, judged, *, beta=1, rel=1: 1 - set_f(ranking, judged, beta=beta, rel=rel),
    "SetRelP": lambda ranking, judged, *, rel=1: relative_precision(ranking, judged, cutoff=len(ranking), rel=rel),
    "SetAP": lambda ranking, judged, *, rel=1: (
        _found(ranking, rel) ** 2 / (len(ranking) * _total(judged, rel)) if ranking and _total(judged, rel) else 0
    ),
    "Utility": utility,
    "Accuracy": accuracy,
    "P": precision,
    "R": recall,
    "F": f_measure,
    "AP": ap_with_denominator,
    "GMAP": average_precision,
    "RR": reciprocal_rank,
    "Rprec": r_precision_multiple,
    "RelP": relative_precision,
    "R_cap": relative_precision,
    "Hits": lambda ranking, judged, *, cutoff, rel=1: _found(ranking[:cutoff], rel),
    "Success": success,
    "YAAP": yaap,
    "PairAccuracy": pair_accuracy,
    "IPrec": interpolated_precision,
    "IAP": eleven_points,
    "PrecAtRecall": precision_at_recall,
    "CG": lambda ranking, judged, *, cutoff=None, gain="linear": sum(_gain(g, gain) for g in ranking[:cutoff]),
    "DCG": lambda ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all": dcg(
        [_gain(grade, gain) for grade in ranking[:cutoff]], base, discount
    ),
    "IDCG": lambda ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all": dcg(
        _ideal(judged, gain)[:cutoff], base, discount
    ),
    "nDCG": ndcg,
    "SDCG": scaled_dcg,
    "binG": binary_gain,
    "G": misplaced_gain,
    "nDCGrel": ndcg_rel,
    "RnDCG": r_ndcg,
    "Q": q_measure,
    "RBP": rbp,
    "RBPResidual": rbp_residual,
    "ERR": err,
    "nERR": nerr,
    "Bpref": bpref,
    "GMBpref": bpref,
    "Bpref10": lambda ranking, judged, *, rel=1: bpref(ranking, judged, rel=rel, extra=10),
    "infAP": inf_ap,
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
