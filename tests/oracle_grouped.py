"""Naive loops for judgments with groups, straight from the definitions. Nothing here is shared with the package.

`documents` are the ids of a ranking, best first; `groups` are {group: {document: grade}}; preferences also take
{(group, subgroup): {document: grade}}.
"""

import itertools
import math
from fractions import Fraction

from tests import oracle, oracle_relevance, oracle_sampled


def _exactly(alpha):
    return 1 - Fraction(str(alpha))


def _relevant_to(groups, rel):
    """{document: subtopics}, and the subtopics that have a relevant document."""
    covered = {}
    for subtopic, judged in groups.items():
        for document, grade in judged.items():
            if grade >= rel:
                covered.setdefault(document, set()).add(subtopic)
    return covered, set().union(*covered.values())


def novelty_gains(documents, groups, alpha, rel):
    """G_i of every rank, as exact fractions."""
    covered, subtopics = _relevant_to(groups, rel)
    seen = dict.fromkeys(subtopics, 0)
    gains = []
    for document in documents:
        gains.append(sum((_exactly(alpha) ** seen[s] for s in covered.get(document, ())), Fraction(0)))
        for subtopic in covered.get(document, ()):
            seen[subtopic] += 1
    return gains


def greedy_ideal(groups, alpha, rel):
    covered, subtopics = _relevant_to(groups, rel)
    left, seen, ideal = set(covered), dict.fromkeys(subtopics, 0), []
    while left:
        best = max(left, key=lambda d: (sum(_exactly(alpha) ** seen[s] for s in covered[d]), d.encode()))
        ideal.append(best)
        left.remove(best)
        for subtopic in covered[best]:
            seen[subtopic] += 1
    return ideal


def _weighted(gains, weight, cutoff):
    return math.fsum(float(gain) * weight(i) for i, gain in enumerate(gains[:cutoff], 1))


def _log(i):
    return 1 / math.log2(i + 1)


def _reciprocal(i):
    return 1 / i


def of_all(weight):
    def measure(documents, groups, *, cutoff, alpha=0.5, rel=1):
        s = len(_relevant_to(groups, rel)[1])
        best = sum(s * (1 - alpha) ** (i - 1) * weight(i) for i in range(1, cutoff + 1))
        return _weighted(novelty_gains(documents, groups, alpha, rel), weight, cutoff) / best if s else 0

    return measure


def of_ideal(weight):
    def measure(documents, groups, *, cutoff=None, alpha=0.5, rel=1):
        best = _weighted(novelty_gains(greedy_ideal(groups, alpha, rel), groups, alpha, rel), weight, cutoff)
        return _weighted(novelty_gains(documents, groups, alpha, rel), weight, cutoff) / best if best else 0

    return measure


def nrbp(documents, groups, *, alpha=0.5, p=0.5, rel=1):
    s = len(_relevant_to(groups, rel)[1])
    added = _weighted(novelty_gains(documents, groups, alpha, rel), lambda i: p ** (i - 1), None)
    return (1 - (1 - alpha) * p) / s * added if s else 0


def normalized_nrbp(documents, groups, *, alpha=0.5, p=0.5, rel=1):
    best = nrbp(greedy_ideal(groups, alpha, rel), groups, alpha=alpha, p=p, rel=rel)
    return nrbp(documents, groups, alpha=alpha, p=p, rel=rel) / best if best else 0


def _mean_over_subtopics(measure):
    def averaged(documents, groups, *, rel=1, **parameters):
        values = [
            measure([judged.get(d) for d in documents], list(judged.values()), rel=rel, **parameters)
            for judged in groups.values()
            if any(grade >= rel for grade in judged.values())
        ]
        return sum(values) / len(values) if values else 0

    return averaged


def subtopic_recall(documents, groups, *, cutoff=None, rel=1):
    covered, subtopics = _relevant_to(groups, rel)
    found = set().union(*(covered.get(document, set()) for document in documents[:cutoff]))
    return len(found) / len(subtopics) if subtopics else 0


def _mean_over_groups(measure):
    def averaged(documents, groups, **parameters):
        judged_only = parameters.pop("judged_only", False)
        values = []
        for judged in groups.values():
            ranking = [judged.get(d) for d in documents]
            if judged_only:
                ranking = [grade for grade in ranking if grade is not None and grade >= 0]
            values.append(measure(ranking, list(judged.values()), **parameters))
        return sum(values) / len(values)

    return averaged


class Preferences:
    """Everything that is counted about the preferences of one query."""

    def __init__(self, documents, groups):
        by_group = {}
        for key, judged in groups.items():
            group, subgroup = key if isinstance(key, tuple) else (key, "0")
            by_group.setdefault(group, {})[subgroup] = judged
        every = {d for subgroups in by_group.values() for judged in subgroups.values() for d in judged}
        retrieved = [d for d in documents if d in every]
        self.place = {d: i for i, d in enumerate(retrieved)}
        self.found = set(retrieved)
        for document in sorted(every - self.found, key=str.encode):
            self.place[document] = len(self.place)
        self.groups = [self._group(subgroups) for subgroups in by_group.values()]

    def _group(self, subgroups):
        grades = {d: grade for judged in subgroups.values() for d, grade in judged.items()}
        prefers = {(x, y) for judged in subgroups.values() for x in judged for y in judged if judged[x] > judged[y]}
        while True:
            more = {(x, z) for x, y in prefers for other, z in prefers if y == other} - prefers
            if not more:
                break
            prefers |= more
        return prefers, grades, len(subgroups) > 1

    def fulfilled(self, x, y):
        return x in self.found and self.place[x] < self.place[y]

    def both(self, x, y):
        return x in self.found and y in self.found

    def either(self, x, y):
        return x in self.found or y in self.found

    def counts(self, prefers, kind):
        """Fulfilled and possible, of all preferences, those with either or those with both documents retrieved."""
        kept = [pair for pair in prefers if kind == "" or (self.either if kind == "imp" else self.both)(*pair)]
        return sum(self.fulfilled(x, y) for x, y in kept), len(kept)

    def balanced(self, prefers, grades, subgroups, ret):
        """Fulfilled and possible preferences for Rnonrel, as in trec_eval's source."""
        scope = sorted((d for d in grades if not ret or d in self.found), key=self.place.get)
        relevant = [d for d in scope if grades[d] > 0]
        others = [d for d in scope if grades[d] <= 0]
        prefers = [(x, y) for x, y in prefers if x in scope and y in scope]
        every = [d for d in grades if grades[d] > 0]
        if len(relevant) >= len(others):
            extra = len(relevant) - len(others)
            fulfilled = sum(self.fulfilled(x, y) for x, y in prefers)
            found = sum(d in self.found for d in relevant)
            return fulfilled + found * extra, len(prefers) + len(every) * extra
        if subgroups:
            kept = set(relevant) | set(others[: len(every)])
            pairs = [(x, y) for x, y in prefers if x in kept and y in kept]
        else:
            low = min(grades.values())
            lowest = [d for d in scope if grades[d] == low]
            pairs = [(x, y) for x, y in prefers if grades[y] != low]
            pairs += list(itertools.product(scope, lowest[: len(relevant)]))
        return sum(self.fulfilled(x, y) for x, y in pairs), len(pairs)


def _ratio(part, whole):
    return part / whole if whole else 0


def prefs_number(kind, which):
    def measure(documents, groups):
        counted = Preferences(documents, groups)
        return sum(counted.counts(prefers, kind)[which] for prefers, _, _ in counted.groups)

    return measure


def prefs_simple(kind):
    def measure(documents, groups):
        counted = Preferences(documents, groups)
        pairs = [counted.counts(prefers, kind) for prefers, _, _ in counted.groups]
        return _ratio(sum(fulfilled for fulfilled, _ in pairs), sum(possible for _, possible in pairs))

    return measure


def prefs_groups(kind):
    def measure(documents, groups):
        counted = Preferences(documents, groups)
        shares = [_ratio(*counted.counts(prefers, kind)) for prefers, _, _ in counted.groups]
        return sum(shares) / len(shares)

    return measure


def prefs_pairs(kind):
    def measure(documents, groups):
        counted = Preferences(documents, groups)
        shares = []
        for x, y in itertools.combinations(sorted(counted.place, key=counted.place.get), 2):
            forth = sum((x, y) in prefers for prefers, _, _ in counted.groups)
            back = sum((y, x) in prefers for prefers, _, _ in counted.groups)
            if not forth and not back:
                continue
            if counted.either(x, y):
                if kind != "ret" or counted.both(x, y):
                    shares.append(forth / (forth + back))
            elif kind == "":
                shares.append(0)
        return _ratio(sum(shares), len(shares))

    return measure


def prefs_balanced(ret):
    def measure(documents, groups):
        counted = Preferences(documents, groups)
        pairs = [counted.balanced(*group, ret) for group in counted.groups]
        if any(possible == 0 for _, possible in pairs):
            return 0
        return sum(fulfilled / possible for fulfilled, possible in pairs) / len(pairs)

    return measure


ORACLES = {
    "alpha_DCG": of_all(_log),
    "alpha_nDCG": of_ideal(_log),
    "ERR_IA": of_all(_reciprocal),
    "nERR_IA": of_ideal(_reciprocal),
    "NRBP": nrbp,
    "nNRBP": normalized_nrbp,
    "P_IA": _mean_over_subtopics(oracle_relevance.precision),
    "AP_IA": _mean_over_subtopics(oracle_relevance.average_precision),
    "StRecall": subtopic_recall,
    "AP_avgjg": _mean_over_groups(oracle_relevance.average_precision),
    "P_avgjg": _mean_over_groups(oracle_relevance.precision),
    "Rprec_avgjg": _mean_over_groups(oracle_relevance.r_precision_multiple),
    "prefs_num_prefs_poss": prefs_number("", 1),
    "prefs_num_prefs_ful": prefs_number("", 0),
    "prefs_num_prefs_ful_ret": prefs_number("ret", 0),
    "prefs_simp": prefs_simple(""),
    "prefs_simp_imp": prefs_simple("imp"),
    "prefs_simp_ret": prefs_simple("ret"),
    "prefs_pair": prefs_pairs(""),
    "prefs_pair_imp": prefs_pairs("imp"),
    "prefs_pair_ret": prefs_pairs("ret"),
    "prefs_avgjg": prefs_groups(""),
    "prefs_avgjg_imp": prefs_groups("imp"),
    "prefs_avgjg_ret": prefs_groups("ret"),
    "prefs_avgjg_Rnonrel": prefs_balanced(False),
    "prefs_avgjg_Rnonrel_ret": prefs_balanced(True),
    **oracle_sampled.ORACLES,
}


def value(measure, documents, groups):
    """The expected value of a parsed measure for a ranking of document ids."""
    parameters = dict(measure.parameters)
    table = measure.definition.table
    if parameters.get("judged_only") and table in ("subtopics", "strata"):
        judged = {d for graded in groups.values() for d, grade in graded.items() if grade >= 0}
        documents = [d for d in documents if d in judged]
    if table != "groups":
        parameters.pop("judged_only", None)
    return ORACLES[measure.definition.name](documents, groups, **parameters)


def values(measure, qrels, run, ties="doc_id"):
    """The expected value for every judged query of {query: {group: {document: grade}}}."""
    found = {}
    for query, groups in qrels.items():
        highest = {}
        for judged in groups.values():
            for document, grade in judged.items():
                highest[document] = max(grade, highest.get(document, grade))
        found[query] = value(measure, oracle.rank(run.get(query, {}), highest, ties), groups)
    return found
