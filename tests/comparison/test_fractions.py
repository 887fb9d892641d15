"""The largest fractions of nDCG's bounds: compiled code and numpy agree; test_unjudged_completions.py checks them."""

import numpy as np
import pytest

from cranfield.comparison.joint import gains
from cranfield.comparison.joint.holes import NOWHERE
from cranfield.native import native


def made(seed, rows=40, queries=4):
    """Arguments of `largest_fractions`: random ranks, discounts, gains and steps, any of which may be empty."""
    chance = np.random.default_rng(seed)
    width, depth, steps = (int(chance.integers(0, most)) for most in (12, 8, 5))
    ranks = chance.integers(1, 15, (2, rows, width))
    ranks[chance.random(ranks.shape) < 0.2] = NOWHERE
    gains = np.unique(chance.random(chance.integers(1, 4)) * chance.integers(0, 2))
    return (
        *ranks.astype(np.int32),
        chance.normal(size=rows),
        chance.integers(0, 5, rows),
        chance.integers(0, queries, rows),
        np.append(-np.sort(-chance.random(depth)), 0.0),
        np.append(0.0, np.cumsum(-np.sort(-chance.random(10)))),
        gains,
        chance.random(steps),
        np.sort(chance.integers(0, len(gains) + 1, steps)),
        chance.integers(0, 4, (queries, steps)) * chance.integers(0, 2),
    )


FULL = next(seed for seed in range(100) if all(table.size for table in made(seed)))


@pytest.mark.skipif(native is None, reason="nothing was compiled")
@pytest.mark.parametrize("seed", range(60))
def test_compiled_code_and_numpy_agree(seed, monkeypatch):
    arguments = made(seed)
    compiled = native.largest_fractions(*arguments)
    assert gains.largest_fractions(*arguments) == pytest.approx(compiled, abs=1e-12)
    monkeypatch.setattr(gains, "CELLS", 20)  # a few rows at a time
    assert gains.largest_fractions(*arguments) == pytest.approx(compiled, abs=1e-12)


@pytest.mark.skipif(native is None, reason="nothing was compiled")
@pytest.mark.parametrize(
    ("place", "named", "error"),
    [
        (0, "first_rank", ValueError),
        (3, "beneath", ValueError),
        (4, "query", IndexError),
        (10, "counts", ValueError),
    ],
)
def test_numbers_out_of_range_are_refused(place, named, error):
    """They would be read from beyond the end of a table."""
    arguments = list(made(FULL))
    arguments[place] = arguments[place] - 100
    with pytest.raises(error, match=rf"^{named}: "):
        native.largest_fractions(*arguments)


@pytest.mark.skipif(native is None, reason="nothing was compiled")
@pytest.mark.parametrize(
    ("place", "named"),
    [(1, "second_rank"), (2, "known"), (3, "beneath"), (4, "query"), (9, "reached"), (10, "counts")],
)
def test_tables_of_another_size_are_refused(place, named):
    arguments = list(made(FULL))
    arguments[place] = np.ascontiguousarray(arguments[place][..., :-1])
    with pytest.raises(ValueError, match=rf"^{named}: "):
        native.largest_fractions(*arguments)
