"""Results of many days that vary as real ones do, on which claims about alarms are tested."""

from typing import NamedTuple

import numpy as np

from cranfield.comparison.sliding import EARLIER, WINDOW, drop_since, noise_of, slide
from tests.comparison.populations import skewed_population

LOOKS, ALPHA = 30, 0.05


class World(NamedTuple):
    """What varies by chance, and what slides.

    kind: of values, see `skewed_population`: "graded" or "rr", which has few values, most of them tied
    noise: the deviation of a query's values between days, before values are cut to 0 to 1; with its autocorrelation
    shake: the deviation of what all queries of a day share, each to its own extent; with its autocorrelation
    slide: how much the mean loses, all of it in three of ten queries; over: in so many days, then it stays lost
    earlier: results before the first look
    """

    kind: str = "graded"
    queries: int = 200
    noise: float = 0.05
    autocorrelation: float = 0.5
    shake: float = 0.0
    shake_autocorrelation: float = 0.0
    slide: float = 0.0
    over: int = 20
    earlier: int = 1


def results(world: World, chance: np.random.Generator) -> np.ndarray:
    """A row for each query, a column for each day."""
    days = world.earlier + LOOKS
    population = skewed_population(world.kind, 1, int(chance.integers(1 << 30)))
    usual = population[chance.integers(0, len(population), world.queries), 0]
    values = usual[:, None] + world.noise * _series(world.autocorrelation, (world.queries, days), chance)
    if world.shake:
        extent = chance.uniform(0.5, 1.5, (world.queries, 1))
        values += world.shake * extent * _series(world.shake_autocorrelation, (1, days), chance)
    if world.slide:
        moving = chance.permutation(np.flatnonzero(usual > 0.25))[: round(0.3 * world.queries)]
        lost = np.clip((np.arange(days) - world.earlier + 1) / world.over, 0, 1)
        values[moving] -= world.slide * world.queries / len(moving) * lost
    values = np.clip(values, 0, 1)
    if world.kind == "rr":
        ranks = np.round(1 / np.maximum(values, 0.05))
        values = np.where(ranks <= 10, 1 / ranks, 0.0)
    return values


def _series(coefficient: float, size: tuple[int, int], chance: np.random.Generator) -> np.ndarray:
    """Autoregressive series with a deviation of 1, one in each row."""
    steps = chance.normal(size=size)
    for day in range(1, size[1]):
        steps[:, day] = coefficient * steps[:, day - 1] + np.sqrt(1 - coefficient**2) * steps[:, day]
    return steps


class Alarms(NamedTuple):
    """Shares of months in which an alarm was raised, by either rule and by each; by_day: looks that saw shaken days."""

    either: float
    by_drop: float
    by_slide: float
    by_day: float
    gate_alone: float
    means_alone: float


def alarms(world: World, months: int, seed: int = 0) -> Alarms:
    """A month of looks, each at the results until then; also two plain rules, to be compared with.

    gate_alone: a one-sided t-test at alpha for each look; means_alone: the slope of ten means at alpha / looks
    """
    raised = np.zeros(6)
    for month in range(months):
        values = results(world, np.random.default_rng([seed, month]))
        found = np.zeros(6)
        for look in range(world.earlier, values.shape[1]):
            seen = values[:, max(0, look + 1 - WINDOW - EARLIER) : look + 1]
            noise = noise_of(seen, [""] * seen.shape[1])
            drop = drop_since(seen, values[:, world.earlier - 1], noise)
            slid = slide(seen, noise)
            level = ALPHA / (2 * LOOKS)
            found[1] += drop.p is not None and drop.p <= level
            found[2] += slid is not None and slid.p is not None and slid.p <= level
            found[3] += noise.by_day
            difference = values[:, world.earlier - 1] - values[:, look]
            found[4] += difference.mean() > 1.6525 * difference.std(ddof=1) / np.sqrt(len(difference))
            found[5] += seen.shape[1] >= WINDOW and _steep(seen[:, -WINDOW:].mean(axis=0), ALPHA / LOOKS)
        found[0] = found[1] + found[2]
        by_day = found[3] / LOOKS
        found = np.minimum(found, 1)
        found[3] = by_day
        raised += found
    return Alarms(*(raised / months).tolist())


def _steep(means: np.ndarray, level: float) -> bool:
    """Whether a line through means falls significantly, as if days were independent."""
    from cranfield.evaluation.t_distribution import chance_below

    times = np.arange(len(means)) - (len(means) - 1) / 2
    slope = times @ means / (times @ times)
    rest = means - means.mean() - slope * times
    error = np.sqrt(rest @ rest / (len(means) - 2) / (times @ times))
    return bool(chance_below(slope / error, len(means) - 2) <= level) if error else False
