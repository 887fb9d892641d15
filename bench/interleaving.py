"""Verdicts of team-draft interleaving on simulated people: `python bench/interleaving.py [TIMES]`.

`> bench/interleaving.json` keeps the results for docs/guides/interleaving.md. People ask a few queries, some of them
again and again, see the same list each time, and mostly click again what they clicked before; they look at a rank with
a chance that falls, and click what they look at by its grade. How often does a verdict name a ranking, if neither is
better, if the test is by units, and if it is a binomial over impressions? How often does it find the better one, and
does that take as many units as a pilot foretold?
"""

from __future__ import annotations

import json
import math
import sys
from typing import NamedTuple

import numpy as np

from cranfield.traffic.interleaving import TeamDraft, preferred

DOCUMENTS, SHOWN = 30, 10
PILOT, UNITS = 400, 200
PARTS, PART = 20, 5_000  # of the units that tell the true preference


class Searches(NamedTuple):
    """How people search: queries of a person, mean repeats of a query, and the chance that a click is repeated."""

    queries: int
    repeats: float
    again: float


CASES = {"once": Searches(1, 1.0, 0.0), "a few": Searches(3, 3.0, 0.6), "again and again": Searches(4, 8.0, 0.9)}
# How much worse the scores of a are than those of b: deviations of the noise.
NOISE = {"equal": (1.0, 1.0), "a little better": (1.15, 1.0), "better": (1.4, 1.0)}


class Experiment(NamedTuple):
    clicks: list[dict[str, str]]
    wins: list[int]  # of page views: 1 for b, -1 for a


def experiment(rng: np.random.Generator, units: int, searches: Searches, noise: tuple[float, float]) -> Experiment:
    clicks: list[dict[str, str]] = []
    wins: list[int] = []
    look = 1 / np.arange(1, SHOWN + 1) ** 0.8
    for unit in range(units):
        for query in range(1 + int(rng.integers(searches.queries))):
            quality = rng.normal(size=DOCUMENTS)
            attracts = 1 / (1 + np.exp(2 - 2 * quality))
            orders = [np.argsort(-(quality + rng.normal(0, its, DOCUMENTS)))[:SHOWN] for its in noise]
            one, other = ([f"d{document}" for document in order.tolist()] for order in orders)
            shown = TeamDraft(
                one, other, SHOWN, experiment=str(rng.integers(1 << 60)), unit=f"u{unit}", query=f"q{query}"
            )
            chances = look[: len(shown.documents)] * attracts[[int(name[1:]) for name in shown.documents]]
            before: np.ndarray | None = None
            for _ in range(int(rng.geometric(1 / searches.repeats))):
                clicked = rng.random(len(chances)) < chances
                if before is not None and rng.random() < searches.again:
                    clicked = before
                before = clicked if clicked.any() else before
                documents = [shown.documents[at] for at in np.flatnonzero(clicked).tolist()]
                clicks += [{**shown.click(name), "experiment": "simulated"} for name in documents]
                credit = shown.credit(documents)
                if documents:
                    wins.append((credit.b > credit.a) - (credit.a > credit.b))
    return Experiment(clicks, wins)


def binomial(wins: list[int]) -> float:
    """p of the test that takes every page view as an independent vote."""
    b, a = wins.count(1), wins.count(-1)
    return math.erfc(abs(b - a) / math.sqrt(2 * max(a + b, 1)))


def preference(rng: np.random.Generator, searches: Searches, noise: tuple[float, float]) -> float:
    """That of very many units."""
    parts = (preferred(experiment(rng, PART, searches, noise).clicks, permutations=1) for _ in range(PARTS))
    values, impressions = zip(*((its.value, its.impressions) for its in parts), strict=True)
    return float(np.average(values, weights=impressions))


def main(most: int = 600) -> None:
    found = []
    for name, searches in CASES.items():
        for quality, noise in NOISE.items():
            rng = np.random.default_rng([7, *name.encode(), *quality.encode()])
            times = most if quality == "equal" else most // 4
            said = {"times": times, "units": UNITS, "searches": name, "b": quality}
            results, naive = [], 0
            for at in range(times):
                seen = experiment(rng, UNITS, searches, noise)
                results.append(preferred(seen.clicks, permutations=2000, seed=at))
                naive += binomial(seen.wins) <= 0.05
            truth = 0.0 if quality == "equal" else preference(rng, searches, noise)
            said |= {
                "mean": round(float(np.mean([its.value for its in results])), 4),
                "preference": round(truth, 4),
                "verdicts": round(sum(its.p <= 0.05 for its in results) / times, 4),
                "verdicts_binomial": round(naive / times, 4),
                "held": round(sum(its.low <= truth <= its.high for its in results) / times, 4),
            }
            if quality != "equal":
                pilot = preferred(experiment(rng, PILOT, searches, noise).clicks)
                needed = pilot.units_needed(truth)
                people = round(needed * PILOT / pilot.units)  # not all of whom click
                tries = max(most // 3, 20)
                again = (
                    preferred(experiment(rng, people, searches, noise).clicks, permutations=1000) for _ in range(tries)
                )
                said |= {"units_needed": needed, "power": round(sum(its.verdict == "b" for its in again) / tries, 3)}
            found.append(said)
            print(said, file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
