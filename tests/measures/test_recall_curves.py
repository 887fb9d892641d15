"""Precision at all levels of recall at once equals the measure at each level."""

from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield.evaluation.rank_curves import recall_curves
from cranfield.measures.recall_levels import precision_recall_curve
from tests import generated

RECALLS = (0.0, 0.1, 0.25, 0.5, 1.0)


@settings(max_examples=30, deadline=None)
@given(generated.collections(), st.sampled_from(["skip", "zero"]))
def test_curves_match_the_measure_at_each_level(collection, missing):
    policy = cranfield.Policy(missing=missing)
    result = cranfield.evaluate(*collection, "RR", policy=policy, name="run", check_ids=False)
    names = [f"IPrec@{recall}" for recall in RECALLS]
    expected = result.extended(names)
    assert recall_curves([result], RECALLS) == {"run": [expected[name] for name in names]}


def test_the_curve_of_one_ranking():
    curve = precision_recall_curve(cranfield.JudgedRanks.of_grades([0, 1, 1, 0, 0, 1]))
    assert curve.precision.round(4).tolist() == [0.0, 0.5, 0.6667, 0.5, 0.4, 0.5]
    levels, highest = (column.round(4).tolist() for column in curve.interpolated())
    assert (levels, highest) == ([0.0, 0.3333, 0.6667, 1.0], [0.6667, 0.6667, 0.6667, 0.5])
