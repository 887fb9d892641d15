"""Naive loops for sampled pools, straight from the definitions. Nothing here is shared with the package.

`documents` are the ids of a ranking, best first; `strata` are {stratum: {document: grade}}, where a grade below 0
marks a document that was pooled but not judged.
"""

import math
from fractions import Fraction

EPSILON = 0.00001


def _judged(stratum):
    return {d: grade for d, grade in stratum.items() if grade >= 0}


def _one_in(stratum):
    """How many documents of its stratum a judged one stands for."""
    judged = _judged(stratum)
    return Fraction(len(stratum), len(judged)) if judged else Fraction(0)


def relevant_documents(strata, rel=1):
    """R̂."""
    return sum(
        _one_in(stratum) * sum(grade >= rel for grade in _judged(stratum).values()) for stratum in strata.values()
    )


def expected_precision(documents, k, strata, rel):
    above = documents[: k - 1]
    pooled = [d for d in above if any(d in stratum for stratum in strata.values())]
    if not pooled:
        return 1 / k
    share = 0
    for stratum in strata.values():
        here = [d for d in pooled if d in stratum]
        judged = [stratum[d] for d in here if stratum[d] >= 0]
        relevant = sum(grade >= rel for grade in judged)
        share += len(here) / len(pooled) * (relevant + EPSILON) / (len(judged) + 3 * EPSILON)
    return 1 / k + len(pooled) / k * share


def extended_inferred_ap(documents, strata, *, rel=1):
    total = relevant_documents(strata, rel)
    value = 0
    for stratum in strata.values():
        relevant = [d for d, grade in _judged(stratum).items() if grade >= rel]
        if not relevant:
            continue
        found = [expected_precision(documents, documents.index(d) + 1, strata, rel) for d in relevant if d in documents]
        value += float(_one_in(stratum) * len(relevant) / total) * math.fsum(found) / len(relevant)
    return value


def inferred_dcg(documents, strata):
    value = 0
    for stratum in strata.values():
        found = [(k, stratum[d]) for k, d in enumerate(documents, 1) if d in stratum]
        judged = [(k, grade) for k, grade in found if grade >= 0]
        if judged:
            value += len(found) * math.fsum(grade / math.log2(k + 1) for k, grade in judged) / len(judged)
    return value


def estimated_grades(strata):
    """(grade, how many documents have it), the highest grade first."""
    grades = {grade for stratum in strata.values() for grade in stratum.values() if grade > 0}
    for grade in sorted(grades, reverse=True):
        yield grade, sum(_one_in(s) * sum(other == grade for other in s.values()) for s in strata.values())


def ideal_dcg(strata):
    """Rank by rank: documents of each grade are put there until the rank is full."""
    value, rank, room = 0, 1, Fraction(1)
    for grade, count in estimated_grades(strata):
        while count:
            part = min(room, count)
            value += float(part) * float(grade) / math.log2(rank + 1)
            count, room = count - part, room - part
            if not room:
                rank, room = rank + 1, Fraction(1)
    return value


def ideal_dcg_of_sample_eval(strata):
    value, start = 0, Fraction(0)
    for grade, count in estimated_grades(strata):
        rank = start + 1
        while rank <= start + count:
            value += float(grade) / math.log2(rank + 1)
            rank += 1
        start += count
    return value


def inferred_ndcg(documents, strata, *, fractions="counted"):
    ideal = ideal_dcg(strata) if fractions == "counted" else ideal_dcg_of_sample_eval(strata)
    return inferred_dcg(documents, strata) / ideal if ideal else 0


def drawn_together(one, other, strata):
    """The chance that both documents are judged."""
    [first] = [s for s in strata.values() if one in s]
    [second] = [s for s in strata.values() if other in s]
    if first is not second:
        return 1 / (_one_in(first) * _one_in(second))
    n, pooled = len(_judged(first)), len(first)
    return Fraction(n * (n - 1), pooled * (pooled - 1))


def precision_sum(documents, strata, rel=1):
    """SP̂."""
    relevant = {d: s for s in strata.values() for d, grade in _judged(s).items() if grade >= rel}
    value = Fraction(0)
    for k, document in enumerate(documents, 1):
        if document in relevant:
            pairs = [1 / drawn_together(document, above, strata) for above in documents[: k - 1] if above in relevant]
            value += (_one_in(relevant[document]) + sum(pairs)) / k
    return value


def stat_ap(documents, strata, *, rel=1):
    total = relevant_documents(strata, rel)
    return float(precision_sum(documents, strata, rel) / total) if total else 0


ORACLES = {"xinfAP": extended_inferred_ap, "infNDCG": inferred_ndcg, "statAP": stat_ap}
