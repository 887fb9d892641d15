"""The computed power is the power that simulations show."""

import math

import numpy as np
import pytest
from scipy import stats

from cranfield import ComparisonError, detectable_difference, power_of, queries_needed, query_set_sizes


@pytest.mark.parametrize("n", [5, 25, 200])
def test_the_detectable_difference_is_detected_as_often_as_claimed(n):
    difference = detectable_difference(0.2, n, alpha=0.05, power=0.8)
    d = np.random.default_rng(n).normal(difference, 0.2, (n, 4000))
    found = (stats.ttest_1samp(d, 0).pvalue <= 0.05).mean()
    assert abs(found - 0.8) < 4 * math.sqrt(0.16 / 4000)
    assert power_of(difference, 0.2, n) == pytest.approx(0.8, abs=1e-6)


def test_power_is_a_probability_that_never_falls():
    """scipy's noncentral t is not a number in some cases."""
    for n in (2, 3, 10, 30, 1000, 6980):
        for alpha in (0.05, 0.05 / 450, 1e-6):
            powers = [power_of(difference, 1.0, n, alpha) for difference in np.linspace(0, 3, 40)]
            assert all(0 <= power <= 1 for power in powers)
            assert np.diff(powers).min() > -1e-9


def test_the_queries_needed_are_just_enough():
    for difference in (0.003, 0.02, 0.1, 0.5, 3.0):
        n = queries_needed(difference, 0.2)
        assert power_of(difference, 0.2, n) >= 0.8
        assert n == 2 or power_of(difference, 0.2, n - 1) < 0.8
    # Values that tables of sample sizes for the paired t-test print.
    assert [queries_needed(d, 1) for d in (0.2, 0.5, 0.8)] == [199, 34, 15]


def test_extremes():
    assert power_of(0, 0.2, 30) == pytest.approx(0.05)
    assert power_of(100, 0.2, 30) == 1
    assert power_of(0.01, 0.0, 30) == 1
    assert detectable_difference(0.0, 30) == 0
    assert detectable_difference(1.0, 6980, 0.05 / 450) < 0.06
    assert queries_needed(0.1, 0.0) == 2
    assert math.isfinite(detectable_difference(1.0, 2, 0.001))
    with pytest.raises(ComparisonError, match="no number of queries"):
        queries_needed(0, 0.2)
    with pytest.raises(ComparisonError, match="more than 10,000,000 queries"):
        queries_needed(1e-6, 0.2)
    with pytest.raises(ComparisonError, match="do not go together"):
        detectable_difference(0.2, 30, alpha=0.9)
    with pytest.raises(ComparisonError, match="cannot show how queries vary"):
        power_of(0.1, 0.2, 1)


def test_the_table_of_sizes_falls_with_the_difference_and_rises_with_the_power():
    table = query_set_sizes(0.2)
    assert [row.difference for row in table] == [0.01, 0.02, 0.05, 0.1]
    for row in table:
        assert list(row.queries) == sorted(row.queries)
    assert [row.queries[1] for row in table] == sorted((row.queries[1] for row in table), reverse=True)
