"""Randomised Tukey HSD: uniform, independent, the same with and without compiled code."""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

import cranfield
from cranfield.comparison.significance import TESTS, Settings
from cranfield.comparison.significance import tukey as module
from cranfield.comparison.significance.tukey import TUKEY, largest_differences
from cranfield.evaluation.estimating import Columns
from tests.program import run

tukey = TUKEY.compared


@pytest.fixture(params=["compiled", "numpy"])
def engine(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(module, "native", None)
    elif module.native is None:
        pytest.skip("nothing was compiled")
    return request.param


@pytest.mark.parametrize(("queries", "systems"), [(1, 2), (7, 3), (50, 10), (20, 25), (3, 40)])
def test_both_engines_draw_the_same(queries, systems, monkeypatch):
    if module.native is None:
        pytest.skip("nothing was compiled")
    values = np.random.default_rng(queries).random((queries, systems))
    compiled = largest_differences(values, Settings(0.05, 501, 7))
    monkeypatch.setattr(module, "native", None)
    assert largest_differences(values, Settings(0.05, 501, 7)) == pytest.approx(compiled, abs=1e-12)
    monkeypatch.setattr(module, "CORES", 1)
    monkeypatch.setattr(module, "CELLS", 100)
    assert largest_differences(values, Settings(0.05, 501, 7)) == pytest.approx(compiled, abs=1e-12)


def test_every_order_is_as_likely_as_any_other(engine):
    """With these values, the largest difference shows which values met, in all queries together."""
    values = np.array([[0.0, 1.0, 3.0], [0.0, 10.0, 30.0]])
    exact = Counter()
    for one, other in product(permutations(values[0]), permutations(values[1])):
        sums = [a + b for a, b in zip(one, other, strict=True)]
        exact[round(max(sums) - min(sums), 6)] += 1 / 36
    draws = 40_000
    found = Counter(np.round(largest_differences(values, Settings(0.05, draws, 3)) * 2, 6).tolist())
    assert set(found) == set(exact)
    for value, share in exact.items():
        assert abs(found[value] / draws - share) < 5 * math.sqrt(share / draws)


def test_with_two_systems_it_equals_the_randomisation_test(engine):
    values = np.random.default_rng(1).random((40, 2))
    settings = Settings(0.05, 40_000, 0)
    square, far = tukey(values, settings)
    flipped = TESTS["randomisation"].outcome(Columns((values[:, 1] - values[:, 0])[:, None]), settings).p[0]
    assert square[0, 1] == pytest.approx(flipped, abs=0.012)
    assert square[0, 0] == square[1, 1] == 1
    assert far > 0


def test_constant_queries_do_not_matter_but_count(engine):
    values = np.random.default_rng(1).random((10, 4))
    more = np.vstack([values, np.full((10, 4), 0.5)])
    settings = Settings(0.05, 300, 0)
    assert largest_differences(more, settings) == pytest.approx(largest_differences(values, settings) / 2)
    assert not largest_differences(np.ones((5, 3)), settings).any()
    assert (tukey(np.ones((5, 3)), settings)[0] == 1).all()


def test_the_level_holds_over_all_pairs():
    """If all systems are alike, a share alpha of the experiments has a significant pair, although queries differ."""
    chance, hits, times = np.random.default_rng(4), 0, 400
    for seed in range(times):
        values = chance.normal(0, 0.1, (25, 5)) + chance.normal(0, 1, (25, 1))
        hits += tukey(values, Settings(0.05, 199, seed))[0].min() <= 0.05
    assert abs(hits / times - 0.05) < 4 * math.sqrt(0.05 * 0.95 / times)


def test_the_assumption_is_named_wherever_the_test_is_offered():
    assumed = "assumes that all runs vary equally"
    assert f"tukey {assumed}" in " ".join(run("compare", "--help").stdout.split())
    assert "vary equally" not in run("gate", "--help").stdout  # gate does not offer it
    assert assumed in " ".join((cranfield.compare.__doc__ or "").split())
    assert assumed in TUKEY.meaning
    qrels = {str(q): {"a": 1} for q in range(5)}
    runs = {name: {str(q): ["b", "a"][:: (q % at) - 1 or 1] for q in range(5)} for at, name in enumerate("xyz", 2)}
    assert assumed in str(cranfield.compare(qrels, runs, "RR", test="tukey"))
    assert "assumes" not in str(cranfield.compare(qrels, dict(list(runs.items())[:2]), "RR", test="tukey"))
