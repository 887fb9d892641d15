"""Brute force checks whether unjudged documents could reverse a difference: all completions are tried, or many."""

import itertools
from functools import cache, cached_property

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import compare, evaluate, parse_measure
from cranfield.comparison import unjudged
from cranfield.comparison.joint import precisions, stopping
from cranfield.comparison.unjudged import Reaches
from cranfield.ranks.run import EVERYTHING
from tests import generated
from tests.comparison import completions
from tests.comparison.reaching import larger, reach_of_one_query, reaches_of_one_query
from tests.measures.test_catalogue import VARIANTS

# Brute force.

DEFAULTS = {variant.definition.name: variant for variant in reversed(VARIANTS)}


COMPARED = [each for each in DEFAULTS.values() if each.definition.aggregate == "mean" and not each.definition.of_holes]


EXACT = [
    parse_measure(name)
    for name in (
        *("P@3", "Hits@2", "P(rel=2)@3", "CG@3", "DCG", "DCG(gain=exponential)@3", "SDCG(max_grade=2)@3", "RBP@4"),
        *("RBP(max_grade=2)", "RBP(judged_only=True)", "INSQ", "TBG", "U", "IDCG@3", "RR", "RR@2", "RR(rel=2)"),
        *("Success@2", "R@3", "R(rel=2)@2", "SetR", "RelP@3", "R_cap@2", "F@3", "F(beta=2)@3", "SetF", "E", "SetRelP"),
        *("SetP", "nDCG", "nDCG@1", "nDCG@3", "nDCG@100", "nDCG(gain=exponential)@3", "nDCG(discount=late)@4"),
        *("nDCG(gain={0:0.25,1.5:7,3:9})@3", "nDCG(gain={1:3,2:1.5})", "nDCG(judged_only=True)@3", "ERR", "ERR@3"),
        *("ERR(max_grade=1)@4", "R(rel=0)@2", "P(rel=0)@2"),
    )
]


SAFE = [parse_measure(name) for name in ("AP", "AP@3", "AP(denominator=min)@3", "AP(rel=2)", "AP(denominator=found)")]


LOSSES = parse_measure("nDCG(gain={0:-1,1:2})@3")


SCALED = parse_measure("ERR(max_grade=query)@3")


documents = [f"d{at}" for at in range(7)]


@st.composite
def cases(draw, unjudged=5):
    """(judged, baseline, run): two rankings, one of which may be made from the other; grades from -1 (pooled) to 2."""
    one = draw(st.permutations(documents))[: draw(st.integers(1, 7))]
    other = list(one)
    if draw(st.booleans()):
        other = draw(st.permutations(documents))[: draw(st.integers(1, 7))]
    else:
        at, to = (draw(st.integers(0, len(one) - 1)) for _ in range(2))
        other[at], other[to] = other[to], other[at]
    known = draw(st.sets(st.sampled_from(documents), min_size=max(len({*one, *other}) - unjudged, 0)))
    judged = {document: draw(st.integers(-1, 2)) for document in sorted(known)}
    return {**judged, "z": draw(st.integers(0, 2))}, one, other


def levels_of(measure, case):
    """Grades that suffice to reach every difference that any grades could."""
    rel = dict(measure.parameters).get("rel", 1)
    levels = sorted({0, 1, rel, *(grade for grade in case[0].values() if grade >= 0)})
    return completions.sufficient_grades(measure, levels)


def ends(differences):
    return differences.min(), differences.max()


class Shared:
    """Cases shared by all measures; what is costly to find is found for all measures at once."""

    def __init__(self, count, unjudged=5, unseen=0):
        self.cases = generated.drawn(cases(unjudged), count)
        self.unseen = unseen
        self._ends = {}
        self._reaches = {}

    def ends(self, measure, at):
        """The least and the greatest difference over all completions."""
        levels = levels_of(measure, self.cases[at])
        if (at, levels) not in self._ends:
            alike = [each for each in ALL if levels_of(each, self.cases[at]) == levels]
            every = completions.all_differences(alike, *self.cases[at], levels, self.unseen)
            self._ends[at, levels] = {each: ends(found) for each, found in every.items()}
        return self._ends[at, levels][measure]

    def reach(self, measure, at):
        if at not in self._reaches:
            self._reaches[at] = reaches_of_one_query(ALL, *self.cases[at], unseen=self.unseen)
        return self._reaches[at].of(measure)[0]

    def assert_true_ends(self, measure, count):
        for at, case in enumerate(self.cases[:count]):
            found = self.reach(measure, at)
            assert found.exact, case
            assert (found.low, found.high) == pytest.approx(self.ends(measure, at), abs=1e-11), case


ALL = list(dict.fromkeys([*EXACT, *SAFE, *COMPARED, LOSSES, SCALED]))


@pytest.fixture(scope="module")
def shared(examples):
    return Shared(examples(15))


@pytest.mark.parametrize("measure", [*EXACT, *SAFE, LOSSES, SCALED], ids=lambda measure: measure.name)
def test_the_bounds_are_those_of_all_completions(measure, shared, examples):
    shared.assert_true_ends(measure, examples(15))


@pytest.fixture(scope="module")
def beyond(examples):
    """The same with two documents that neither run retrieved."""
    return Shared(examples(8), unjudged=3, unseen=2)


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_unseen_documents_may_have_any_grade_too(measure, beyond, examples):
    beyond.assert_true_ends(measure, examples(8))


@pytest.mark.parametrize("measure", COMPARED, ids=lambda measure: measure.name)
def test_bounds_are_exact_for_any_measure_with_few_documents(measure, shared, examples):
    shared.assert_true_ends(measure, examples(4))


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_the_bounds_hold_without_a_search_budget(measure, unseen, shared, beyond, examples, monkeypatch):
    monkeypatch.setattr(unjudged, "BUDGET", 0)
    monkeypatch.setattr(stopping, "LEAST", 0)
    tried = beyond if unseen else shared
    for at, case in enumerate(tried.cases[: examples(4)]):
        found = tried.reach(measure, at)
        low, high = tried.ends(measure, at)
        assert found.low <= low + 1e-11, case
        assert found.high >= high - 1e-11, case
        if found.exact:
            assert (found.low, found.high) == pytest.approx((low, high), abs=1e-11), case


SHALLOW = [
    parse_measure(name)
    for name in (
        *("nDCG@1", "nDCG@2", "nDCG(gain=exponential)@2", "P@2", "DCG@2", "RBP@2", "RR@2", "Success@1", "ERR@2"),
        *("RelP@2", "R_cap@1", "IDCG@2", "CG@1"),
    )
]
DEEP = [parse_measure(name) for name in ("R@1", "F@2", "AP@2", "AP(denominator=min)@1", "RR", "nDCG", "Bpref", "Q@2")]


class Long:
    """Rankings longer than what must be known of them, and few judgments; all completions of their documents."""

    def __init__(self, count):
        self.cases = []
        for seed in range(count):
            chance = np.random.default_rng(seed)
            one = chance.permutation(11)[: chance.integers(7, 11)]
            other = one if seed % 5 == 0 else chance.permutation(11)[: chance.integers(5, 11)]
            if seed % 3 == 0:  # they agree at the top
                other = np.array([*one[:2], *(at for at in other if at not in one[:2])])
            judged = {f"d{at}": int(chance.integers(0, 2)) for at in chance.permutation(11)[:2]}
            self.cases.append((judged, *([f"d{at}" for at in ranking] for ranking in (one, other))))

    @cached_property
    def ends(self):
        """For each case and measure, the least and the greatest difference."""
        every = (completions.all_differences([*SHALLOW, *DEEP], *case, (0, 1)) for case in self.cases)
        return [{measure: ends(differences) for measure, differences in found.items()} for found in every]


@pytest.fixture(scope="module")
def long(examples):
    return Long(examples(24))


@pytest.mark.parametrize("measure", [*SHALLOW, *DEEP], ids=lambda measure: measure.name)
def test_documents_beneath_a_cutoff_only_count(measure, long):
    """Only the first documents of rankings are numbered, and the bounds are still those of all completions."""
    wanted = unjudged.documents_wanted([measure], np.array([0.0, 1.0]), np.array([2]), lengths=False)
    assert (wanted == EVERYTHING) == (measure in DEEP)
    shortened = 0
    for at, (judged, *rankings) in enumerate(long.cases):
        runs = [evaluate({"q": judged}, {"q": ranking}, measure) for ranking in rankings]
        reach, full = (Reaches(runs, [(0, 1)], ["q"], wants).of(measure)[0] for wants in ([measure], None))
        assert reach == full
        assert reach.exact
        assert (reach.low, reach.high) == pytest.approx(long.ends[at][measure], abs=1e-11), long.cases[at]
        shortened += wanted < max(map(len, rankings))
    assert measure in DEEP or shortened


@pytest.mark.parametrize("measure", SAFE[:4], ids=lambda measure: measure.name)
@settings(max_examples=40, deadline=None)
@given(case=cases(), together=st.booleans(), unseen=st.integers(0, 2))
def test_the_bound_of_gilmore_and_lawler_holds(measure, case, together, unseen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unjudged, "BUDGET", 65)  # enough for it, and too little for all completions
        patch.setattr(precisions, "SINGLY", 1 if together else 24)
        patch.setattr(precisions, "GROWTH", 2.0)
        found = reach_of_one_query(measure, *case, unseen=unseen)
    low, high = ends(completions.all_differences([measure], *case, levels_of(measure, case), unseen)[measure])
    assert low - 0.5 <= found.low <= low + 1e-11
    assert high + 0.5 >= found.high >= high - 1e-11


DRAWN = [*EXACT[::3], *SAFE, *COMPARED]
SEEDS = (0, 4, 5)  # with 13, 19 and 14 unjudged documents: few enough to try all grades, or too many


@cache
def drawn_differences(seed):
    """For all measures at once, because making the completions takes longest."""
    return completions.random_differences(DRAWN, *larger(seed), (0, 1, 2, 3), 300, seed)


@cache
def drawn_reaches(seed):
    return reaches_of_one_query(DRAWN, *larger(seed))


@pytest.mark.parametrize("measure", DRAWN, ids=lambda measure: measure.name)
def test_no_completion_leads_beyond_the_bounds(measure):
    for seed in SEEDS:
        [found] = drawn_reaches(seed).of(measure)
        drawn = drawn_differences(seed)[measure]
        assert found.low - 1e-11 <= drawn.min()
        assert drawn.max() <= found.high + 1e-11


@pytest.mark.parametrize("measure", ["Q", "Bpref", "NERR8@10", "nERR@10", "AP", "ERR", "nDCG", "G"])
def test_thousands_of_documents_are_no_trouble(measure):
    judged, baseline, run = larger(0, count=3000, depth=1500)
    found = reach_of_one_query(parse_measure(measure), judged, baseline, run)
    assert -1 <= found.low < found.high <= 1


def test_documents_below_the_reordered_ones_cancel():
    """Only six of 1,500 documents move; by itself, each run could have nearly any AP."""
    judged, baseline, _ = larger(0, count=3000, depth=1500)
    run = [*baseline[5::-1], *baseline[6:]]
    measure = parse_measure("AP")
    found = reach_of_one_query(measure, judged, baseline, run)
    drawn = completions.random_differences([measure], judged, baseline, run, (0, 1), 30, 0)[measure]
    assert found.low - 1e-11 <= drawn.min() < drawn.max() <= found.high + 1e-11
    assert found.high - found.low < 0.05


# Many runs.


REVERSED = [parse_measure(name) for name in ("nDCG@4", "P@3", "R@4", "RR", "RBP", "ERR@4", "F@4", "DCG@4", "Success@2")]


class Twelve:
    """Runs that resemble each other, judgments that leave two documents of each query open, and all completions."""

    def __init__(self):
        chance = np.random.default_rng(7)
        names = [f"d{at}" for at in range(9)]
        self.queries = [str(at) for at in range(5)]
        quality = {query: chance.normal(size=9) for query in self.queries}
        self.qrels = {
            query: {document: int(chance.integers(0, 3)) for document in chance.permutation(names)[:7].tolist()}
            for query in self.queries
        }
        self.runs = {
            f"run{at}": {
                query: [names[d] for d in np.argsort(-quality[query] - chance.normal(size=9) / 2)[:6]]
                for query in self.queries
            }
            for at in range(12)
        }
        self._open = {query: [name for name in names if name not in self.qrels[query]] for query in self.queries}
        self._completed = {
            f"{query} {grades}": {
                **self.qrels[query],
                **{name: grade for name, grade in zip(self._open[query], grades, strict=True) if grade is not None},
            }
            for query in self.queries
            for grades in itertools.product((None, 0, 1, 2), repeat=2)
        }

    @cached_property
    def values(self):
        """The value of each run by each measure, for all grades of the two open documents of a query, or none."""
        found = {
            name: evaluate(self._completed, {at: run[at.partition(" ")[0]] for at in self._completed}, REVERSED)
            for name, run in self.runs.items()
        }
        return {(name, measure): found[name].by_query(measure) for name in found for measure in REVERSED}

    def ends(self, measure, one, other):
        """The least and the greatest difference over all grades of documents that one of two runs retrieved."""
        low = high = 0.0
        for query in self.queries:
            retrieved = {*self.runs[one][query], *self.runs[other][query]}
            choices = [(0, 1, 2) if document in retrieved else (None,) for document in self._open[query]]
            completed = [f"{query} {grades}" for grades in itertools.product(*choices)]
            differences = [self.values[other, measure][at] - self.values[one, measure][at] for at in completed]
            low, high = low + min(differences), high + max(differences)
        return [low / len(self.queries), high / len(self.queries)]


@pytest.fixture(scope="module")
def twelve():
    return Twelve()


@pytest.mark.parametrize("measure", REVERSED, ids=lambda measure: measure.name)
def test_every_reported_reversal_is_possible(measure, twelve):
    """For each of 66 pairs, the grades that reverse it, or break a tie, are tried and evaluated."""
    flagged = 0
    for difference in compare(twelve.qrels, twelve.runs, measure, correction="none"):
        ends = twelve.ends(measure, difference.baseline, difference.run)
        assert difference.reach.exact
        assert difference.reach[:2] == pytest.approx(ends, abs=1e-11)
        reversed_by = [end for end in ends if abs(end) > 1e-11 and end * difference.difference <= 0]
        assert difference.could_reverse is bool(reversed_by)
        flagged += difference.could_reverse
    assert 0 < flagged < 66
