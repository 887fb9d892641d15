"""Could unjudged documents reverse a difference? On cases where the answer can be seen."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import compare, evaluate

# Two queries each, so that they can be compared; the second is the same in all.
JUDGED = {"1": {"r": 1, "n": 0}, "2": {"r": 1, "n": 0}}
SECOND = {"2": ["r", "n"]}


def reach(one, other, measure="RR", qrels=JUDGED):
    [difference] = compare(qrels, {"one": {"1": one, **SECOND}, "other": {"1": other, **SECOND}}, measure)
    return difference


def test_without_unjudged_documents_nothing_moves():
    difference = reach(["n", "r"], ["r", "n"])
    assert difference.difference == 0.25
    assert difference.reach == (0.25, 0.25)
    assert difference.could_reverse is False


def test_an_unjudged_document_on_top_can_reverse():
    # "one" has RR 1/2 of "r" at rank 2; if u is relevant it has 1, as much as the other: it draws level at most.
    level = reach(["u", "r"], ["r", "n"])
    assert level.reach == (0.0, 0.25)
    assert level.could_reverse is False
    # The other now stands at rank 2 below a judged document: u could put "one" ahead.
    behind = reach(["u", "n", "r"], ["n", "r"])
    assert behind.difference > 0
    assert behind.reach.low == pytest.approx((0.5 - 1) / 2)
    assert behind.could_reverse is True


@pytest.mark.parametrize("measure", ["AP", "nDCG@3", "R@3", "P@2", "RR", "Bpref", "Rprec", "ERR", "F@3", "infAP", "E"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_it_is_never_left_unsaid(measure, data):
    """Whatever grades the unjudged documents get, the true difference lies in the reach."""
    orders = st.permutations(["r", "n", "s", "u", "v", "w"])
    one, other = (data.draw(orders)[: data.draw(st.integers(1, 6))] for _ in range(2))
    judged = {"1": {"r": 1, "n": 0, "s": 1}, "2": {"r": 1, "n": 0}}
    found = reach(one, other, measure, judged)
    unjudged = sorted({"u", "v", "w"} & {*one, *other})  # what nobody retrieved is taken as not relevant
    for grades in product((0, 1), repeat=len(unjudged)):
        qrels = {**judged, "1": {**judged["1"], **dict(zip(unjudged, grades, strict=True))}}
        values = [evaluate(qrels, {"1": run, **SECOND}, measure)[measure] for run in (one, other)]
        assert found.reach.low - 1e-12 <= values[1] - values[0] <= found.reach.high + 1e-12


def test_what_only_the_other_run_found_counts_as_missed():
    """All of "one" is judged, and it is perfect; but if u and v are relevant it found only a third."""
    difference = reach(["u", "v", "n"], ["r", "n"], "AP")
    truth = {**JUDGED, "1": {"r": 1, "n": 0, "u": 1, "v": 1}}
    one, other = (evaluate(truth, {"1": run, **SECOND}, "AP")["AP"] for run in (["u", "v", "n"], ["r", "n"]))
    assert difference.difference > 0 > other - one
    assert difference.could_reverse is True


def test_a_tie_that_could_be_broken_says_so():
    tie = reach(["u", "r"], ["v", "r"])
    assert tie.difference == 0
    assert tie.could_reverse is True
    assert reach(["r", "n"], ["r", "n"]).could_reverse is False


def test_a_shared_document_makes_the_reach_wider_than_need_be():
    """Stated in the docstring: u has one grade in both, and could not in truth reverse this."""
    shared = reach(["u", "n", "r"], ["u", "r", "n"])
    assert shared.difference > 0
    assert shared.could_reverse is True


def test_it_can_be_left_out_and_can_be_unknown():
    runs = {"one": {"1": ["u"], **SECOND}, "other": {"1": ["r"], **SECOND}}
    assert compare(JUDGED, runs, "RR", bounds=False).differences[0].could_reverse is None
    groups = {"1": {"s": {"r": 1}}, "2": {"s": {"r": 1}, "t": {"n": 1}}}
    [difference] = compare(groups, runs, "alpha_nDCG@5")
    assert difference.could_reverse is False  # query 1 of `one` may have any value, but no higher than that of `other`
    assert tuple(difference.reach) == (0.0, 0.5)
