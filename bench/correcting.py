"""Models corrected by people: `python bench/correcting.py speed` or `coverage [COUNT]`; see case_correcting.

speed: ten runs by a million grades of a model, plainly and corrected by people on 50 sampled queries
coverage: how often 95% intervals hold, for judges from random to perfect, in COUNT experiments each (20,000), which
draw their queries from 100,000
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

QUERIES, EACH, SAMPLE, RUNS = 5_000, 200, 50, 10
SIZES = ((10, 100), (10, 500), (20, 200), (50, 500))
COUNT, AT_ONCE = 20_000, 2_000
POPULATION = (500, 200)  # parts in which queries are made, and queries in each


def made() -> tuple[Path, dict[str, dict[str, list[str]]]]:
    """The store, made once and kept, and the runs."""
    from collection import DATA

    from cranfield import open_store, pool

    chance = np.random.default_rng(0)
    names = [f"d{number}" for number in range(EACH)]
    runs = {
        f"run{run}": {f"q{query}": [names[at] for at in chance.permutation(EACH)[:100]] for query in range(QUERIES)}
        for run in range(RUNS)
    }
    path = DATA / "corrected-1.db"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        unfinished = path.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        grades = {
            f"q{query}": dict(zip(names, chance.integers(0, 4, EACH).tolist(), strict=True)) for query in range(QUERIES)
        }
        with open_store(unfinished, create=True) as store:
            everything = {"all": dict.fromkeys(grades, names)}
            drawn = pool(store, {query: query for query in grades}, everything, EACH, sample=SAMPLE, seed=7).drawn
            store.import_qrels(grades, "gpt", kind="model")
            people = {query: {name: grade // 2 for name, grade in grades[query].items()} for query in drawn}
            store.import_qrels(people, "ann", kind="person")
        unfinished.rename(path)
    return path, runs


def speed() -> dict[str, float]:
    """The seconds of both ways to evaluate; the store is opened and read each time."""
    from cranfield import corrected_judgments, evaluate_runs
    from cranfield.io.formats.store import JudgmentView

    path, runs = made()

    def took(work: Callable[[], object]) -> float:
        times = []
        for _ in range(2):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    view = JudgmentView(("gpt",), None, ("model",))
    return {
        "plain": took(lambda: evaluate_runs(view.of(str(path)), runs, "nDCG@10")),
        "corrected": took(lambda: evaluate_runs(corrected_judgments(path, model="gpt"), runs, "nDCG@10")),
    }


def coverage(count: int = COUNT) -> list[dict[str, object]]:
    """How often the intervals of means and of differences hold, and how wide they are compared with people alone."""
    from tests.comparison.simulated_judges import JUDGES, by_judge, by_people, drawn

    rows: list[dict[str, object]] = []
    for judge in JUDGES:
        parts = []
        for seed in range(POPULATION[0]):
            chance = np.random.default_rng(seed)
            world = drawn(POPULATION[1], 1, chance)
            parts.append((*by_people(world), *by_judge(judge, world, chance)))
        one, other, model_one, model_other = (np.concatenate(part, axis=None) for part in zip(*parts, strict=True))
        values = {"mean": (one, model_one), "difference": (other - one, model_other - model_one)}
        for n, every in SIZES:
            for what, (people, model) in values.items():
                rows.append({"judge": judge, "what": what, "sampled": n, "queries": every})
                rows[-1] |= _tried(people, model, n, every, count, what == "difference")
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def _tried(
    people: np.ndarray, model: np.ndarray, n: int, every: int, count: int, differences: bool
) -> dict[str, float]:
    """Experiments that draw queries from the population, whose mean is the truth."""
    from cranfield.evaluation.corrected import CORRECTED
    from cranfield.evaluation.estimating import PLAIN, Columns

    chance, truth = np.random.default_rng([n, every]), people.mean()
    held, alone, widths = [], [], []
    for _ in range(max(1, count // AT_ONCE)):
        drawn = chance.integers(0, len(people), (every, AT_ONCE))
        columns = Columns(people[drawn[:n]], proxy=model[drawn], drawn=np.arange(n), contrasts=differences)
        low, high = CORRECTED.estimate(columns).interval(0.05)
        people_low, people_high = PLAIN.estimate(Columns(columns.values)).interval(0.05)
        held.append(((low <= truth) & (truth <= high)).mean())
        alone.append(((people_low <= truth) & (truth <= people_high)).mean())
        widths.append(((high - low).mean(), (people_high - people_low).mean()))
    corrected, people_alone = np.mean(widths, axis=0)
    return {
        "correlation": round(float(np.corrcoef(people, model)[0, 1]) if model.std() else 0.0, 2),
        "held": round(float(np.mean(held)), 4),
        "held, people alone": round(float(np.mean(alone)), 4),
        "width": round(float(corrected / people_alone), 3),
    }


if __name__ == "__main__":
    print(json.dumps(speed() if sys.argv[1] == "speed" else coverage(*map(int, sys.argv[2:]))))
