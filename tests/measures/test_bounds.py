"""Bounds: every way to judge the unjudged documents stays within them, and some way reaches each."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from cranfield import JudgedRanks, evaluate, parse_measure
from cranfield.errors import InputError
from cranfield.evaluation.values import BUDGET
from cranfield.measures import completion
from tests import generated
from tests.measures.test_catalogue import VARIANTS

# The grade that a gain is scaled by may depend on the judgments, too.
BY_QUERY = [parse_measure(f"{name}@3").replace(max_grade="query") for name in ("RBP", "SDCG", "ERR", "NERR8", "BPM")]
# A gain may be below 0, and then the value too.
LOSSES = [parse_measure(f"{name}@3").replace(gain={0: -1, 1: 2}) for name in ("nDCG", "DCG", "IDCG", "Q")]
MEASURES = [*VARIANTS, *BY_QUERY, *LOSSES, *map(parse_measure, ("nERR(max_grade=query)", "INST(max_grade=query)"))]
names = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
rankings = st.lists(st.one_of(st.none(), st.integers(0, 2)), min_size=1, max_size=6).filter(
    lambda grades: grades.count(None) < 4
)
missed_grades = st.lists(st.integers(0, 2), max_size=3)
# Also grades that occur in no judgment, such as 3, and scales without 0 or without a relevant grade.
scales = st.sampled_from([None, None, (0, 1, 2, 3), (0, 3), (3, 1, 0.5), (2,)])


class Case(NamedTuple):
    grades: list
    missed: list
    scale: tuple | None
    unseen: int

    def levels(self, measure):
        """The grades that are tried, as documented."""
        known = {grade for grade in [*self.grades, *self.missed] if grade is not None}
        rel = dict(measure.parameters).get("rel", 1)
        return tuple(sorted({0, 1, rel} | known if self.scale is None else set(self.scale)))


cases = st.builds(Case, rankings, missed_grades, scales, st.integers(0, 2))


def every_completion(measures, grades, missed, levels, unseen=0):
    """The values of measures for all grades that unjudged and unseen documents may have, each as one query."""
    holes = [at for at, grade in enumerate(grades) if grade is None]
    qrels, run = {}, {}
    hidden = itertools.combinations_with_replacement(levels, unseen)  # their order makes no difference
    for chosen in itertools.product(itertools.product(levels, repeat=len(holes)), hidden):
        known = {f"d{at}": grade for at, grade in enumerate(grades) if grade is not None}
        known |= {f"d{at}": grade for at, grade in zip(holes, chosen[0], strict=True)}
        known |= {f"m{at}": grade for at, grade in enumerate((*missed, *chosen[1]))}
        qrels[str(len(qrels))] = known
        run[str(len(run))] = [f"d{at}" for at in range(len(grades))]
    complete = {measure: measure.replace(judged_only=False) for measure in measures}
    found = evaluate(qrels, run, list(dict.fromkeys(complete.values())))
    return {measure: found.column(name) for measure, name in complete.items()}


def holes_matter(measure):
    return not measure.definition.of_holes and dict(measure.parameters).get("view") != "residual"


class Extremes:
    """Cases, the same for all measures, and the lowest and highest values over all completions of each.

    They are found for all measures at once, because making the completions is slow.
    """

    def __init__(self, count):
        self.cases = generated.drawn(cases, count)
        self._found = {}

    def of(self, measure, at):
        case = self.cases[at]
        levels = case.levels(measure)
        if (at, levels) not in self._found:
            alike = [each for each in MEASURES if holes_matter(each) and case.levels(each) == levels]
            self._found[at, levels] = every_completion(alike, case.grades, case.missed, levels, case.unseen)
        values = self._found[at, levels][measure]
        return values.min(), values.max()


@pytest.fixture(scope="module")
def extremes(examples):
    return Extremes(examples(12))


class Bounds(NamedTuple):
    low: float
    high: float
    exact: bool


def bounds_and_truth(measure, extremes, count=None, budget=BUDGET):
    """The bounds found for each ranking, and the lowest and highest value over all completions."""
    if not holes_matter(measure):
        pytest.skip("this measure counts the unjudged documents themselves")
    for at, case in enumerate(extremes.cases[:count]):
        judged = JudgedRanks.of_grades(case.grades, case.missed)
        found = completion.bounds(measure, judged, case.scale, unseen=case.unseen, budget=budget)
        yield case, Bounds(*(column[0] for column in found)), extremes.of(measure, at)


@names
def test_bounds_match_all_completions(measure, extremes):
    for case, found, truth in bounds_and_truth(measure, extremes):
        assert found.exact, case
        assert (found.low, found.high) == pytest.approx(truth, abs=1e-12), case


@names
def test_bounds_hold_if_there_are_too_many_completions(measure, extremes, examples):
    for case, found, truth in bounds_and_truth(measure, extremes, examples(6), budget=0):
        if found.exact:
            assert (found.low, found.high) == pytest.approx(truth, abs=1e-12), case
        assert found.low <= truth[0] + 1e-12, case
        assert found.high >= truth[1] - 1e-12, case


@pytest.mark.parametrize("measure", ["nERR", "G", "RnDCG", "ERR", "nDCG@5", "Q", "Compat"])
def test_grades_between_the_judged_ones_are_tried(measure):
    """Only 0 and 3 were judged, but 1 or 2 can give an ideal ranking, and a value, that 0 and 3 cannot."""
    judged = JudgedRanks.of_grades([None, 3, None, 0, None], [3])
    wanted = parse_measure(measure)
    [values] = every_completion([wanted], [None, 3, None, 0, None], [3], (0, 1, 2, 3)).values()
    low, high, exact = completion.bounds(wanted, judged, (0, 1, 2, 3), budget=BUDGET)
    assert exact[0]
    assert (low[0], high[0]) == pytest.approx((values.min(), values.max()), abs=1e-12)


def test_the_scale_is_the_judged_grades_and_0_1_and_rel():
    result = evaluate({"1": {"a": 3, "b": 0}}, {"1": ["x", "a"]}, "nDCG P(rel=2)@2")
    assert result.bounds("nDCG").scale == (0.0, 1.0, 3.0)
    assert result.bounds("P(rel=2)@2").scale == (0.0, 1.0, 2.0, 3.0)
    assert result.bounds("nDCG", scale=[0, 2, 1, 2]).scale == (0.0, 1.0, 2.0)


def test_unseen_documents_count_only_if_requested():
    result = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": ["a"]}, "R@10 RR AP")
    assert result.bounds("R@10")[:3] == (1.0, 1.0, True)
    assert result.bounds("R@10", unseen=3)[:3] == (0.25, 1.0, True)
    assert result.bounds("RR", unseen=3)[:3] == (1.0, 1.0, True)
    assert result.bounds("AP", unseen={"2": 1}).by_query == {"1": (1.0, 1.0), "2": (0.5, 1.0)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unseen": -1}, "unseen=-1 is not a number of documents"),
        ({"unseen": 1.5}, "unseen=1.5 is not a number of documents"),
        ({"unseen": {"1": -2}}, "unseen=-2 is not a number of documents"),
        ({"unseen": {"x": 2}}, "query 'x' was not evaluated"),
        ({"scale": []}, "the scale has no grade"),
        ({"scale": [0, -1]}, "-1 is not a grade"),
        ({"scale": [0, "a"]}, "'a' is not a grade"),
        ({"scale": [0, float("nan")]}, "nan is not a grade"),
        ({"scale": 3}, "3 is not a list of grades"),
    ],
)
def test_bad_arguments_of_bounds_are_refused(options, message):
    result = evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "nDCG")
    with pytest.raises(InputError, match=message):
        result.bounds("nDCG", **options)


def test_lengths_count_in_bounds():
    """The long document above the unjudged one leaves little time for it."""
    qrels, run, lengths = {"1": {"a": 0, "b": 1}}, {"1": ["a", "x", "b"]}, {"a": 9, "x": 1, "b": 1}
    result = evaluate(qrels, run, "TBG(h=2)", lengths=lengths)
    best = evaluate({"1": {**qrels["1"], "x": 1}}, run, "TBG(h=2)", lengths=lengths)
    assert result.bounds("TBG(h=2)")[:3] == (result["TBG(h=2)"], best["TBG(h=2)"], True)


def test_sums_have_exact_bounds_for_any_number_of_documents():
    judged = JudgedRanks.of_grades([None] * 500 + [1] + [None] * 500)
    for name in ("P@900", "DCG", "RBP", "Hits@900", "SetP", "CG@900", "INSQ"):
        low, high, exact = completion.bounds(parse_measure(name), judged, budget=0)
        assert exact.all()
        assert (low < high).all()
        assert high == pytest.approx(parse_measure(name)(JudgedRanks.of_grades([1] * 1001)), abs=1e-12)


def test_pooled_documents_are_unjudged():
    [values] = every_completion([parse_measure("AP")], [None, 1, None], [1], (0, 1)).values()
    low, high, exact = completion.bounds(
        parse_measure("AP"), JudgedRanks.of_grades([-1, 1, None], [1, -1]), budget=BUDGET
    )
    assert (low[0], high[0], exact[0]) == (values.min(), values.max(), np.True_)
