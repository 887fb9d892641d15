"""The frontier: its p-values by SciPy, Holm's correction by hand, and latencies from wherever they are kept."""

from __future__ import annotations

import json
import math
import random
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from cranfield import ComparisonError, InputError, draw_chart, evaluate, frontier, record

stats = pytest.importorskip("scipy.stats")
QUERIES = [f"q{at}" for at in range(40)]


def world(seed: int) -> tuple[Any, dict[str, Any], dict[str, dict[str, float]]]:
    """Runs that are slow, fast, or fast and worse, with latencies that depend on the query."""
    chance = random.Random(seed)
    qrels = {query: {"a": 2, "b": 1} for query in QUERIES}
    runs = {
        "slow": {query: chance.choice([["a", "b"], ["a", "x", "b"]]) for query in QUERIES},
        "fast": {query: chance.choice([["a", "b"], ["a", "x", "b"]]) for query in QUERIES},
        "poor": {query: chance.choice([["x", "a"], ["x", "y", "b"]]) for query in QUERIES},
    }
    factor = {"slow": 4.0, "fast": 1.0, "poor": 0.8}
    long = {query: chance.lognormvariate(-3, 0.5) for query in QUERIES}
    seconds = {
        run: {query: its * long[query] * chance.lognormvariate(0, 0.2) for query in QUERIES}
        for run, its in factor.items()
    }
    return qrels, runs, seconds


def naive(qrels: Any, runs: dict[str, Any], seconds: dict[str, dict[str, float]], margin: float) -> dict[Any, float]:
    """Holm's p-values of all ordered pairs, from SciPy's one-sided tests."""
    values = {run: evaluate(qrels, its, "nDCG@10").by_query("nDCG@10") for run, its in runs.items()}
    p = {}
    for run, other in permutations(runs, 2):
        better = [values[other][query] - values[run][query] + margin for query in QUERIES]
        longer = [math.log(seconds[other][query]) - math.log(seconds[run][query]) for query in QUERIES]
        tests = (stats.ttest_1samp(better, 0, alternative="greater"), stats.ttest_1samp(longer, 0, alternative="less"))
        p[run, other] = max(float(test.pvalue) for test in tests)
    adjusted, highest = {}, 0.0
    for at, pair in enumerate(sorted(p, key=lambda pair: p[pair])):
        highest = max(highest, min((len(p) - at) * p[pair], 1.0))
        adjusted[pair] = highest
    return adjusted


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_p_values_are_those_of_scipy_corrected_by_holm(margin: float) -> None:
    qrels, runs, seconds = world(1)
    found = frontier(qrels, runs, values=seconds, margin=margin)
    wanted = naive(qrels, runs, seconds, margin)
    assert {(pair.run, pair.by): pair.adjusted for pair in found.pairs} == pytest.approx(wanted)
    dominated = {(point.run, by) for point in found.points for by in point.dominated_by}
    assert dominated == {pair for pair, p in wanted.items() if p <= 0.05}


def test_a_run_that_is_as_good_and_faster_dominates_and_a_poor_one_does_not() -> None:
    qrels, runs, seconds = world(2)
    found = frontier(qrels, runs, values=seconds, margin=0.05)
    assert found.on_frontier == ("poor", "fast")
    assert found.sentence == "on the frontier: poor and fast; slow is dominated by fast"
    point = {its.run: its for its in found.points}["fast"]
    every = sorted(seconds["fast"].values())
    assert point.p50 == pytest.approx((every[19] + every[20]) / 2)
    assert point.spent == pytest.approx(sum(every) / 40)
    pair = next(its for its in found.pairs if (its.run, its.by) == ("slow", "fast"))
    assert 0.2 < pair.ratio < 0.3


def test_costs_that_are_known_do_not_vary() -> None:
    qrels, runs, _ = world(3)
    found = frontier(qrels, runs, by="cost", values={"slow": 3.0, "fast": 1.0, "poor": 1.0}, margin=0.05)
    cheaper = {(its.run, its.by): its.cheaper for its in found.pairs}
    assert cheaper["slow", "fast"] == 0.0
    assert cheaper["fast", "slow"] == cheaper["fast", "poor"] == 1.0
    assert found.points[-1].dominated_by == ("fast",)
    assert found.points[-1].p50 is None


def test_latencies_are_those_of_recordings(tmp_path: Path) -> None:
    qrels, runs, _ = world(4)
    texts = {query: query for query in QUERIES}
    recorded = [record(lambda query, its=its: its[query], texts, tmp_path / f"{n}.run") for n, its in runs.items()]
    kept = {name: json.loads((tmp_path / f"{name}.run.json").read_text())["by_query"] for name in runs}
    by_file = frontier(qrels, [tmp_path / f"{name}.run" for name in runs])
    assert {point.run for point in by_file.points} == {*runs}
    for point in by_file.points:
        its = kept[point.run]["seconds"]
        assert point.spent == pytest.approx(sum(its) / len(its))
    in_memory = frontier(qrels, dict(zip(runs, recorded, strict=True)))
    assert [point.spent for point in in_memory.points] == pytest.approx([point.spent for point in by_file.points])


def test_files_of_latencies_and_of_costs(tmp_path: Path) -> None:
    qrels, runs, seconds = world(5)
    as_json, as_text = tmp_path / "seconds.json", tmp_path / "costs.csv"
    as_json.write_text(json.dumps(seconds))
    as_text.write_text("slow,3\nfast,1\npoor,0.5\n")
    assert frontier(qrels, runs, values=as_json).to_dict() == frontier(qrels, runs, values=seconds).to_dict()
    costs = {"slow": 3, "fast": 1, "poor": 0.5}
    by_file = frontier(qrels, runs, by="cost", values=as_text)
    assert by_file.to_dict() == frontier(qrels, runs, by="cost", values=costs).to_dict()


def test_queries_without_a_latency_are_left_out() -> None:
    qrels, runs, seconds = world(6)
    del seconds["fast"]["q7"]
    assert frontier(qrels, runs, values=seconds).queries == 39


def test_errors_say_what_is_missing() -> None:
    qrels, runs, seconds = world(7)
    with pytest.raises(InputError, match="slow: its latency by query is not known"):
        frontier(qrels, runs)
    with pytest.raises(InputError, match="there is none of 'poor'"):
        frontier(qrels, runs, values={"slow": 1, "fast": 2})
    with pytest.raises(InputError, match="it is 0 for query 'q0' of 'fast'"):
        frontier(qrels, runs, values={**seconds, "fast": {**seconds["fast"], "q0": 0.0}})
    with pytest.raises(InputError, match="there is no 'speed'"):
        frontier(qrels, runs, by="speed")
    for margin in (-1, math.nan, math.inf):
        with pytest.raises(ComparisonError, match=f"margin={margin} is not a margin"):
            frontier(qrels, runs, values=seconds, margin=margin)
    with pytest.raises(ComparisonError, match="a frontier needs at least two runs"):
        frontier(qrels, {"fast": runs["fast"]}, values=seconds)
    with pytest.raises(InputError, match="it is known for 0 queries"):
        frontier(qrels, runs, values={**seconds, "fast": {"other": 1.0}})


def test_a_domination_that_rests_on_few_queries_is_doubted() -> None:
    qrels = {query: {"a": 1} for query in QUERIES}
    costs = {"slow": 2.0, "fast": 1.0}
    for differing in (0, 3, 9, 10):
        better = {query: ["x", "a"] if at < differing else ["a"] for at, query in enumerate(QUERIES)}
        found = frontier(qrels, {"slow": better, "fast": {query: ["a"] for query in QUERIES}}, values=costs, by="cost")
        assert found.on_frontier == ("fast",)
        told = (
            f"few queries differ by nDCG@10 between slow and fast ({differing} of 40): "
            "a rare, large loss may not be among them"
        )
        assert found.warnings == ((told,) if differing < 10 else ())
        assert found.to_dict()["warnings"] == list(found.warnings)


def test_the_chart_shows_who_is_dominated() -> None:
    qrels, runs, seconds = world(2)
    spec = draw_chart("frontier", qrels, runs, values=seconds, margin=0.05)
    assert spec["title"] == "nDCG@10 against latency: 2 of 3 on the frontier"
    rows = [row for part in spec["layer"] for row in part["data"]["values"]]
    assert {row["run"]: row["standing"] for row in rows} == {
        "poor": "on the frontier",
        "fast": "on the frontier",
        "slow": "dominated by fast",
    }
    line = spec["layer"][0]["data"]["values"]
    assert [row["run"] for row in line] == ["poor", "fast"]
    assert spec["description"].startswith(
        "on the frontier: poor and fast; slow is dominated by fast. dominated: another"
    )


def test_the_recorded_simulation_keeps_what_is_promised() -> None:
    known = json.loads((Path(__file__).parents[2] / "bench" / "nearby.json").read_text())
    assert known["worlds"] >= 2000
    equal = [its for its in known["frontier"] if its["world"] != "twice as fast, and better by 0.02"]
    rare = [its for its in equal if "quiet" in its]
    often = [its for its in equal if "quiet" not in its]
    assert (len(often), len(rare)) == (16, 8)
    assert max(its["tests"] for its in often) <= 0.037
    assert min(its["points"] for its in equal) > 0.48
    assert max(its["quiet"] for its in rare) <= 0.05
    assert 0.3 < max(its["tests"] for its in rare) < 0.385
