"""Measures that ask for too much are refused before any work is done."""

import math

import numpy as np
import pytest

import cranfield
from cranfield import MeasureError, catalogue, parse_measure, parse_measures
from cranfield.measures.arithmetic import gains
from cranfield.measures.parameters import PAIRS
from cranfield.measures.syntax import LONGEST
from cranfield.measures.trec_eval_names import lines, requested


def pairs(count):
    return "{" + ",".join(f"{grade}:{grade % 7}" for grade in range(count)) + "}"


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        (
            "P@9223372036854775808",
            "invalid cutoff '9223372036854775808' for P.\nHint: cutoff is a whole number from 1, at most 10^15",
        ),
        ("nDCG@1e400", "invalid cutoff '1e400' for nDCG."),
        ("P@" + "9" * 5000, "invalid cutoff '99999"),
        ("nDCG(base=1e400)", "invalid base '1e400' for nDCG.\nHint: base is a number above 1"),
        ("nDCG(base=1e999999999999999999)", "invalid base '1e999"),
        ("nDCG(base=inf)", "invalid base 'inf' for nDCG."),
        ("F(beta=1e308)@5", "invalid beta '1e308' for F.\nHint: beta is a number above 0, at most 1e+100"),
        ("SetF(beta=inf)", "invalid beta 'inf' for SetF."),
        ("Utility(a=inf)", "invalid a 'inf' for Utility.\nHint: a is a number"),
        ("Utility(d=-inf)", "invalid d '-inf' for Utility."),
        ("Utility(b=nan)", "invalid b 'nan' for Utility."),
        ("RBP(p=nan)", "invalid p 'nan' for RBP.\nHint: p is a number above 0 below 1"),
        ("RBP(max_grade=inf)", "invalid max_grade 'inf' for RBP."),
        ("AP(rel=inf)", "invalid rel 'inf' for AP."),
        ("INSQ(T=inf)", "invalid T 'inf' for INSQ."),
        ("TBG(h=inf)", "invalid h 'inf' for TBG."),
        ("nDCG(gain={1:inf})", "invalid gain '{1:inf}' for nDCG."),
        ("nDCG(gain={1:3,1.0:9})", "invalid gain '{1:3,1.0:9}' for nDCG."),
        (
            "11pt(points=1000000000)",
            "invalid points '1000000000' for IAP.\nHint: points is a whole number from 2 to 1001",
        ),
        ("Accuracy(documents=" + "9" * 30 + ")", "invalid documents '9999"),
        (f"nDCG(gain={pairs(2000)})", "invalid gain '{0:0,1:1,"),
        (f"nDCG(gain={pairs(200_000)})", "'nDCG(gain={0:0,1:1,2:2,3:3"),
        ("x" * 3_000_000, "'xxxx"),
        ("P@5" + "-l1" * 5000, "'P@5-l1-l1"),
        ("P@5" + "-l1" * 500_000, "'P@5-l1-l1"),
        ("ndcg_" + "1" * 60_000 + "x", "there is no measure 'ndcg_111"),
        ("P.5, " + "1" * 3_000_000 + "x", "'1111"),
        ("P." + "5," * 1_000_000 + "5", "'P.5,5,5"),
        ("P(" * 500_000, "'P(P(P("),
        ("P@" * 500_000, "'P@P@P@"),
    ],
    ids=lambda text: text[:40],
)
def test_oversized_names_and_parameters_are_refused(name, fact):
    with pytest.raises(MeasureError) as error:
        parse_measures(name)
    assert str(error.value).startswith(fact)
    assert len(str(error.value)) < 400


def test_the_error_for_a_long_name_states_the_limit():
    with pytest.raises(MeasureError, match=f"2,000,000 characters, but a measure has at most {LONGEST:,}"):
        parse_measure("x" * 2_000_000)


def test_numbers_too_long_to_print_are_refused():
    with pytest.raises(MeasureError, match="invalid cutoff 'a number too long to print"):
        catalogue()["P"](cutoff=10**5000)
    with pytest.raises(MeasureError, match="invalid base 'a number too long to print"):
        catalogue()["nDCG"](base=10**5000)


@pytest.mark.parametrize("name", ["SDCG", "alpha_DCG", "ERR_IA"])
def test_a_sum_over_too_many_ranks_is_an_error(name):
    qrels = {"q": {"0": {"a": 1}}} if name != "SDCG" else {"q": {"a": 1}}
    deep = f"{name}@1000000000000"
    with pytest.raises(MeasureError) as error:
        cranfield.evaluate(qrels, {"q": ["a"]}, deep)
    limit = "a sum over 1,000,000,000,000 ranks is too long; at most 10,000,000 can be added up."
    assert str(error.value) == f"{deep} cannot be calculated: {limit}"


def test_deep_cutoffs_are_allowed_if_they_cost_nothing():
    assert cranfield.value("P@1000000000000", [1]) == 1e-12
    assert cranfield.value("R@1000000000000", [1]) == 1


def test_gain_maps_have_a_maximum_size():
    rated = parse_measure(f"nDCG(gain={pairs(PAIRS)})")
    assert parse_measure(rated.name) == rated  # as a saved evaluation is read
    long = {0.1 + grade / 3: -1.0e-300 * (1 + grade / 7) for grade in range(PAIRS)}
    rated = catalogue()["nDCG"](gain=long)
    assert len(rated.name) < LONGEST
    assert parse_measure(rated.name) == rated
    with pytest.raises(MeasureError, match=f"at most {PAIRS:,} of them"):
        catalogue()["nDCG"](gain=dict.fromkeys(range(PAIRS + 1), 1))


def test_gains_by_grade_are_looked_up():
    chosen = dict(parse_measure("nDCG(gain={3:9,0:0.25,1.5:7})").parameters)["gain"]
    grades = np.array([-1, 0, 1, 1.5, 2, 3, 4])
    assert gains(grades, chosen).tolist() == [0, 0.25, 1, 7, 2, 9, 4]


def test_different_gain_maps_have_different_names():
    one, other = (catalogue()["nDCG"](gain={1: value}) for value in (0.1234567, 0.12345671))
    assert one != other
    assert one.name != other.name


@pytest.mark.parametrize(
    "name", ["P.1e400", "set_F.1e400", "relstring.1e400", "utility.1e400,0,0,0", "Rprec_mult.1e400"]
)
def test_trec_eval_numbers_beyond_floating_point_are_refused(name):
    with pytest.raises(MeasureError):
        lines(requested([name]))


def test_large_parameters_keep_their_value():
    assert parse_measure("nDCG(base=1e308)").name == "nDCG(base=1e+308)"
    assert parse_measure(parse_measure("nDCG(base=1e308)").name) == parse_measure("nDCG(base=1e308)")
    assert cranfield.value("nDCG(base=1e308)", [1, 0, 2]) == pytest.approx(cranfield.value("nDCG", [1, 0, 2]))
    assert math.isfinite(cranfield.value("nDCG(base=1e308, discount=late)", [1, 0, 2]))
