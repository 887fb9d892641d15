"""Student's distribution against SciPy, and against closed forms where SciPy rounds."""

import subprocess
import sys
from math import atan, pi

import numpy as np
import pytest
from scipy import special, stats

from cranfield.evaluation.t_distribution import chance_below, exceeded_with, shifted_chance_below

FREEDOM = [1, 1.5, 2, 3, 7.3, 9, 19, 49, 52.5, 199, 201, 999, 6979, 100_000, 1_000_000]


@pytest.mark.parametrize("freedom", FREEDOM)
def test_chances_and_quantiles_are_those_of_scipy(freedom):
    t = np.concatenate([np.linspace(-12, 12, 97), [-38.0, 25.0, 100.0]])
    expected = stats.t.cdf(t, freedom)
    known = expected > 1e-280
    assert np.allclose(chance_below(t, freedom)[known], expected[known], rtol=1e-9, atol=0)
    chances = np.array([1e-12, 1e-8, 1e-4, 0.001, 0.0125, 0.025, 0.05, 0.2, 0.4999, 0.6, 0.975, 0.9999])
    assert np.allclose(exceeded_with(chances, freedom), stats.t.isf(chances, freedom), rtol=1e-9)


@pytest.mark.parametrize("freedom", FREEDOM)
@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0, 2.8, 6.0, 15.0])
def test_shifted_chances_are_those_of_scipy(freedom, shift):
    for value in (-3.0, -1.0, 0.0, 0.5, 2.0, 4.0, 9.0):
        expected = special.nctdtr(freedom, shift, value)
        if np.isfinite(expected):
            assert shifted_chance_below(value, freedom, shift) == pytest.approx(expected, abs=1e-10)


def test_ends_and_shapes():
    assert exceeded_with([0.0, 0.5, 1.0], 5).tolist() == [np.inf, 0.0, -np.inf]
    assert chance_below([-np.inf, 0.0, np.inf], 5).tolist() == [0.0, 0.5, 1.0]
    assert exceeded_with(np.full((2, 3), 0.025), np.array([[1.0], [9.0]])).shape == (2, 3)
    assert float(exceeded_with(0.25, 1)) == pytest.approx(1.0, rel=1e-13)
    for t in (1e-9, 1e-4, 1.0, 1e6):
        assert float(chance_below(t, 1)) == pytest.approx(0.5 + atan(t) / pi, rel=1e-15)


def test_a_plain_comparison_imports_no_scipy():
    code = (
        "import sys, cranfield; q = {str(n): {'a': 1} for n in range(9)};"
        "a = {n: ['b'] * (int(n) % 2) + ['a'] for n in q};"
        "b = {n: ['a', 'b'] for n in q}; c = {n: ['b', 'c', 'a'][int(n) % 3:] for n in q};"
        "[str(cranfield.compare(q, {'a': a, 'b': b, 'c': c}, 'RR', correction=each, margin=.1))"
        " for each in (None, 'holm', 'bh', 'none')]; cranfield.gate(q, a, b, 'RR');"
        "print([name for name in sys.modules if name.startswith('scipy')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
