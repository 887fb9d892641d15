"""Naive loops for user models, and for the overlap with an ideal ranking.

Arguments are described in `oracle.py`. Nothing here is shared with the package.
"""

from tests.oracle_relevance import is_relevant


def rbp(ranking, judged, *, cutoff=None, p=0.8, rel=1, max_grade=None):
    added = 0.0
    if max_grade == "query":
        max_grade = max(1, *judged, 0)
    for i, grade in enumerate(ranking[:cutoff]):
        gain = is_relevant(grade, rel) if max_grade is None else min(max(grade or 0, 0) / max_grade, 1)
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


def user_model(goes_on, usual="utility"):
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


_U = user_model(lambda i, gain, all_, L: max(0, 1 - i / L) / max(1e-300, 1 - (i - 1) / L))


def insq(i, T):
    return ((i + 2 * T - 1) / (i + 2 * T)) ** 2


def _rbo(one, other, p, depth):
    shared = [len(set(one[:d]) & set(other[:d])) / d for d in range(1, depth + 1)]
    weights = [p ** (d - 1) for d in range(1, depth + 1)]
    return sum(w * s for w, s in zip(weights, shared)) / sum(weights) if depth else 0.0


def compatibility(ranking, judged, *, p=0.95, normalize=True, depth=1000):
    missed = list(judged)
    for grade in ranking:
        if grade is not None:
            missed.remove(grade)
    documents = [("run", i, grade or 0) for i, grade in enumerate(ranking)] + [
        ("missed", i, g) for i, g in enumerate(missed)
    ]
    ideal = sorted((d for d in documents if d[2] > 0), key=lambda d: (-d[2], d[0] == "missed", d[1]))
    if depth == "rankings":
        depth = max(len(ranking), len(ideal))
    value = _rbo(documents[: len(ranking)], ideal, p, depth)
    if not ideal:
        return 0.0
    return value / _rbo(ideal, ideal, p, depth) if normalize else value
