"""How far a difference could move, for two small runs or for one query, and two rankings to test that with."""

import numpy as np

from cranfield import compare, evaluate
from cranfield.comparison.unjudged import Reaches

# Two queries each, so that they can be compared; the second is the same in all.
JUDGED = {"1": {"r": 1, "n": 0}, "2": {"r": 1, "n": 0}}


SECOND = {"2": ["r", "n"]}


def reach(one, other, measure="RR", qrels=JUDGED, **options):
    runs = {"one": {"1": one, **SECOND}, "other": {"1": other, **SECOND}}
    [difference] = compare(qrels, runs, measure, **options)
    return difference


def reaches_of_one_query(measures, judged, baseline, run, unseen=0, **options):
    runs = [evaluate({"q": judged}, {"q": ranking}, measures, **options) for ranking in (baseline, run)]
    return Reaches(runs, [(0, 1)], ["q"], unseen=unseen)


def reach_of_one_query(measure, judged, baseline, run, **options):
    return reaches_of_one_query([measure], judged, baseline, run, **options).of(measure)[0]


def larger(seed, count=30, depth=20):
    """Two rankings that resemble each other, of which a third is judged."""
    chance = np.random.default_rng(seed)
    score = chance.normal(size=count)
    one, other = (np.argsort(score + chance.normal(size=count))[:depth].tolist() for _ in range(2))
    judged = {f"d{at}": int(chance.integers(0, 4)) for at in range(count) if chance.random() < 0.35}
    return {**judged, "z": 3}, [f"d{at}" for at in one], [f"d{at}" for at in other]
