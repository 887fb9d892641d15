"""The same corrections, power and numbers of queries as statsmodels."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield import detectable_difference, power_of, queries_needed
from cranfield.comparison import multiple_testing as corrections

multitest = pytest.importorskip("statsmodels.stats.multitest")
power = pytest.importorskip("statsmodels.stats.power")

p_values = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.05, 0.5])), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("benjamini_hochberg", "fdr_bh")]
)
@given(p_values)
def test_corrections(ours, theirs, p):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", int)  # Holm's method calls it each time, which takes longer than everything else
        expected = multitest.multipletests(p, method=theirs)[1]
    assert getattr(corrections, ours)(np.array(p)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("queries", [5, 50, 250])
@pytest.mark.parametrize("effect", [0.1, 0.3, 0.8])
def test_power(queries, effect):
    spread = 0.25
    expected = power.TTestPower().power(effect, queries, 0.05)
    assert power_of(effect * spread, spread, queries) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("queries", [10, 50, 250])
def test_detectable_difference(queries):
    spread = 0.3
    expected = power.TTestPower().solve_power(nobs=queries, alpha=0.05, power=0.8)
    assert detectable_difference(spread, queries) == pytest.approx(expected * spread, rel=1e-5)


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.1])
def test_queries_needed(difference):
    spread = 0.2
    expected = power.TTestPower().solve_power(effect_size=difference / spread, alpha=0.05, power=0.8)
    assert queries_needed(difference, spread) == np.ceil(expected)
