"""A verdict rests on finite numbers; otherwise there is an error."""

import json
import math

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    CranfieldError,
    InputError,
    MeasureError,
    compare,
    compare_evaluations,
    draw_chart,
    evaluate,
    gate,
    stability,
    write_report,
)
from cranfield.comparison import significance
from cranfield.comparison.gate_checks import floor_check
from cranfield.measures import parse_measure

QRELS = {str(q): {"a": 1, "b": 1} for q in range(6)}
GOOD = {str(q): ["a", "b"] for q in range(6)}
BAD = {str(q): ["x", "a"] for q in range(6)}


def extreme(grade):
    """Judgments that make the runs' values this large, and each a little different."""
    return {str(q): {"a": grade * (1 + q / 10), "b": grade} for q in range(6)}


def test_a_gate_refuses_values_that_are_not_finite():
    with pytest.raises(MeasureError, match="nDCG\\(gain=exponential\\)@10 of query '0' is not a finite number"):
        gate(extreme(2000), GOOD, BAD, "nDCG(gain=exponential)@10")


@pytest.mark.parametrize("test", list(significance.TESTS))
def test_differences_whose_squares_overflow_are_not_compared(test):
    with pytest.raises(ComparisonError, match="CG: the spread of the differences is not a finite number"):
        compare(extreme(1e200), {"good": GOOD, "bad": BAD}, "CG", test=test)


def test_a_gate_refuses_differences_whose_squares_overflow():
    with pytest.raises(ComparisonError, match="CG: the spread of the differences is not a finite number"):
        gate(extreme(1e200), GOOD, BAD, "CG")


@pytest.mark.parametrize("test", list(significance.TESTS))
@pytest.mark.parametrize("grade", [1e-300, 1e16, 1e140])
def test_extreme_but_finite_values_are_compared_without_warning(test, grade):
    [difference] = compare(extreme(grade), {"good": GOOD, "bad": BAD}, "CG", test=test)
    assert all(map(math.isfinite, (difference.difference, difference.p)))
    assert difference.low <= difference.difference <= difference.high  # without an end where nothing varies
    [difference] = compare({str(q): {"a": grade, "b": grade} for q in range(6)}, {"g": GOOD, "b": BAD}, "CG", test=test)
    assert math.isfinite(difference.p)


def test_differences_that_overflow_are_refused():
    qrels = {str(q): {"a": 1} for q in range(4)}
    one, other = ({str(q): ["ax"[(q + way) % 2]] for q in range(4)} for way in (0, 1))
    with pytest.raises(ComparisonError, match="a difference is not a finite number"):
        compare_evaluations(
            [evaluate(qrels, run, "Utility(a=1e308,b=-1e308)", name=name) for run, name in ((one, "1"), (other, "2"))]
        )


@pytest.mark.parametrize("p", [math.nan, math.inf])
def test_a_p_value_that_is_not_finite_is_refused(monkeypatch, p):
    class Broken(type(significance.TESTS["t"])):
        def outcome(self, columns, settings):
            pairs = columns.values.shape[1]
            return significance.Outcome(*(np.full(pairs, p) for _ in range(4)), [None] * pairs)

    monkeypatch.setitem(significance.TESTS, "t", Broken("t", "broken", "no p-value"))
    with pytest.raises(ComparisonError, match="RR: the p-value is not a finite number"):
        gate(QRELS, GOOD, BAD, "RR")
    with pytest.raises(ComparisonError, match="RR: the p-value is not a finite number"):
        compare(QRELS, {"good": GOOD, "bad": BAD}, "RR")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_limits_of_a_gate_must_be_finite(number):
    for settings in (
        {"tolerance": number},
        {"tolerance": {"RR": number}},
        {"minimum": {"RR": number}},
        {"alpha": number},
    ):
        with pytest.raises(ComparisonError):
            gate(QRELS, GOOD, BAD, "RR", **settings)
    with pytest.raises(ComparisonError, match="RR: the minimum is not a finite number"):
        floor_check(evaluate(QRELS, GOOD, "RR"), parse_measure("RR"), number)


def test_json_holds_no_infinite_numbers():
    qrels = {str(q): {"a": 1} for q in range(3)}
    runs = {name: {str(q): [*documents] for q in range(3)} for name, documents in (("one", "axy"), ("other", "xay"))}
    found = json.loads(compare(qrels, runs, "Utility").to_json(), parse_constant=pytest.fail)
    assert found["differences"][0]["reach"] is None or all(
        end is None or math.isfinite(end) for end in found["differences"][0]["reach"].values()
    )


def test_means_that_overflow_are_refused():
    qrels, run = {str(q): {"a": 1e308} for q in range(3)}, {str(q): ["a"] for q in range(3)}
    words = "the mean of CG over 3 queries is not a finite number: its values are too large to add up"
    with pytest.raises(MeasureError, match=words):
        evaluate(qrels, run, "CG")
    with pytest.raises(MeasureError, match=words):
        evaluate(qrels, run, "AP").extended("CG")
    with pytest.raises(MeasureError, match=words):
        stability(qrels, {"run": run}, "CG", repeats=1)


def test_aggregates_that_overflow():
    result = evaluate({"1": {"a": 1e308}, "2": {"a": -1e308}, "3": {"a": 1}}, {q: ["a"] for q in "123"}, "CG")
    assert result["CG"] == pytest.approx(1e308 / 3)
    run, measure = {q: ["a"] for q in "123"}, "Utility(a=1e308,b=-1.1e308)"
    result = evaluate({"1": {"b": 1}, "2": {"a": 1}, "3": {"a": 1}}, run, measure)
    assert result[measure] == pytest.approx(0.9e308 / 3)
    assert result.aggregate(measure, "geometric") > 0
    assert result.aggregate(measure, "median") == 1e308
    with pytest.raises(MeasureError, match=r"the mean of .* in segment 'x' over 2 queries is not a finite number"):
        result.by_segment(measure, {"1": "y", "2": "x", "3": "x"})
    assert result.aggregate(measure, weights={"1": 0, "2": 1, "3": 1}) == pytest.approx(1e308)


@pytest.mark.parametrize(
    ("weights", "fact"),
    [
        ({"1": 0, "2": 0}, "the weights: all queries over which a value is averaged have the weight 0"),
        ({"1": -1}, "weight '-1' of '1' is not a number from 0"),
        ({"1": math.nan}, "weight 'nan' of '1' is not a number from 0"),
        ({"1": math.inf}, "weight 'inf' of '1' is not a number from 0"),
        ({"1": 1e308, "2": 1e308}, "the weights: they are too large to add up"),
        ({"1": "much"}, "weight 'much' of '1' is not a number from 0"),
    ],
)
def test_invalid_weights_are_refused(weights, fact):
    result = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": ["x", "a"]}, "RR")
    with pytest.raises(InputError, match=fact):
        result.aggregate("RR", weights=weights)


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1.0, 1e307])
def test_only_the_proportions_of_weights_matter(weight):
    result = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "2": ["x", "a"]}, "RR")
    assert result.aggregate("RR", weights={"1": weight, "2": weight}) == 0.75


def test_values_that_are_too_large_to_show(tmp_path):
    qrels, run = {"1": {"a": 1e308}, "2": {"a": 1}}, {"1": ["a"], "2": ["a"]}
    with pytest.raises(MeasureError, match=r"CG of run is as large as 1e\+308, and a page shows no more than 1e\+100"):
        write_report(qrels, {"run": run}, tmp_path / "page.html", "CG")
    with pytest.raises(ComparisonError, match="CG: the square of a mean is not a finite number"):
        stability(qrels, {"run": run}, "CG", repeats=2)
    both = {"1": {"a": 1e308, "b": 1e308}, "2": {"a": 1e308}}
    for kind in ("distribution", "cutoff"):
        assert json.dumps(draw_chart(kind, qrels, {"run": run}, "CG"), allow_nan=False)
    with pytest.raises(CranfieldError, match="too large"):
        draw_chart("difference", both, {"one": {"1": ["a"], "2": ["a"]}, "two": {"1": ["a", "b"], "2": []}}, "CG")
