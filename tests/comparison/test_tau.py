"""Kendall's τ of a few values equals SciPy's, with and without ties."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from cranfield.comparison.correlation import tau


@pytest.mark.parametrize("levels", [2, 3, 10, 10**9])
def test_tau_equals_that_of_scipy(levels):
    chance = np.random.default_rng(levels)
    for size in (2, 3, 7, 63, 499, 501):
        one, other = (chance.integers(0, levels, size) / 7 for _ in range(2))
        if np.ptp(one) and np.ptp(other):
            assert tau(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)
    assert tau(np.arange(5.0), -np.arange(5.0)) == -1
    assert tau(np.arange(5.0), np.zeros(5)) is None
