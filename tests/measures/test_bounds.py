"""Bounds: no way to judge the unjudged documents leads beyond them, and some way leads to them."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import JudgedRanks
from cranfield.measures import completion
from tests.measures.test_catalogue import VARIANTS

names = pytest.mark.parametrize("measure", VARIANTS, ids=lambda measure: measure.name)
rankings = st.lists(st.one_of(st.none(), st.none(), st.integers(0, 2)), min_size=1, max_size=6)
missed_grades = st.lists(st.integers(0, 2), max_size=3)


def every_completion(measure, grades, missed, levels):
    """The values of a measure for all grades that the unjudged documents may have."""
    chosen = measure.replace(judged_only=False)
    holes = [at for at, grade in enumerate(grades) if grade is None]
    for chosen_grades in itertools.product(levels, repeat=len(holes)):
        filled = list(grades)
        for at, grade in zip(holes, chosen_grades):
            filled[at] = grade
        yield cranfield.value(chosen, filled, missed)


def holes_matter(measure):
    return not measure.definition.of_holes and dict(measure.parameters).get("view") != "residual"


@names
@settings(max_examples=12, deadline=None)
@given(grades=rankings, missed=missed_grades)
def test_bounds_are_those_of_all_completions(measure, grades, missed):
    if not holes_matter(measure):
        pytest.skip("it is about the unjudged documents themselves")
    known = {grade for grade in [*grades, *missed] if grade is not None}
    top = max(1, dict(measure.parameters).get("rel", 1), *known, 0)
    values = list(every_completion(measure, grades, missed, known | {0, top}))
    low, high, exact = completion.bounds(measure, JudgedRanks.of_grades(grades, missed))
    assert exact[0] or not measure.definition.orderly
    assert low[0] <= min(values) + 1e-12
    assert high[0] >= max(values) - 1e-12
    if exact[0]:
        assert (low[0], high[0]) == pytest.approx((min(values), max(values)), abs=1e-12)


@names
@settings(max_examples=6, deadline=None)
@given(grades=rankings, missed=missed_grades)
def test_bounds_hold_where_completions_are_too_many(measure, grades, missed):
    if not holes_matter(measure) or dict(measure.parameters).get("view", "utility") != "utility":
        pytest.skip("it is about the unjudged documents themselves")
    if not isinstance(dict(measure.parameters).get("gain", ""), str):
        pytest.skip("its gains do not rise with the grade")
    known = {grade for grade in [*grades, *missed] if grade is not None}
    top = max(1, dict(measure.parameters).get("rel", 1), *known, 0)
    values = list(every_completion(measure, grades, missed, known | {0, top}))
    budget, completion.BUDGET = completion.BUDGET, 0
    try:
        low, high, exact = completion.bounds(measure, JudgedRanks.of_grades(grades, missed))
    finally:
        completion.BUDGET = budget
    if exact[0]:
        assert (low[0], high[0]) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert low[0] <= min(values) + 1e-12
    assert high[0] >= max(values) - 1e-12
