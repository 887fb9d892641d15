"""Who leads, who is not significantly worse, and rank intervals: every claim must hold."""

from dataclasses import replace

import numpy as np
import pytest

from cranfield import compare, compare_evaluations, evaluate
from cranfield.comparison.standing import standings
from cranfield.errors import ComparisonError
from cranfield.measures import parse_measure
from tests.comparison.made import qrels_for, random_runs, run_of_ranks

RR = parse_measure("RR")


def of_values(table, **settings):
    """Compare runs whose values of RR are the columns of a table."""
    queries = {str(q): {"a": 1} for q in range(len(table))}
    one = evaluate(queries, {q: ["a"] for q in queries}, "RR")
    runs = [replace(one, run=f"run{at}", _columns={RR: column}) for at, column in enumerate(table.T)]
    return compare_evaluations(runs, "RR", bounds=False, **settings)


def test_standings_give_the_order_the_gap_to_the_best_and_the_ranks():
    comparison = compare(qrels_for(60), random_runs(1, 60, 8, worse=1), "RR")
    found = standings(comparison)
    assert [row.run for row in found.rows] == comparison.best_first("RR")
    assert [row.place for row in found.rows] == list(range(1, 9))
    assert found.leaders == (found.rows[0].run,)
    assert found.level == 0.95
    assert found.rows[0][3:8] == (None, None, None, None, True)
    for row in found.others:
        assert row.behind == pytest.approx(row.mean - found.rows[0].mean)
        assert row.low <= row.behind <= row.high
        assert row.not_worse == (row.high >= 0) == (row.p > 0.05)
        assert (row.first, row.last) == comparison.rank_intervals("RR")[row.run]
    assert {row.not_worse for row in found.rows} == {True, False}
    close = sum(row.not_worse for row in found.others)
    assert found.sentence.startswith(f"{found.rows[0].run} leads on RR; {close} of the other 7 runs ")


def test_runs_with_the_same_mean_share_a_place():
    good, bad = [1] * 20, [2] * 20
    runs = {"a": run_of_ranks(bad), "b": run_of_ranks(good), "c": run_of_ranks(good), "d": run_of_ranks(bad)}
    found = standings(compare(qrels_for(20), runs, "RR"), "recip_rank")
    assert [(row.place, row.run) for row in found.rows] == [(1, "b"), (1, "c"), (3, "a"), (3, "d")]
    assert found.sentence == "b and c lead on RR; both other runs are significantly worse"
    same = standings(compare(qrels_for(20), {"a": run_of_ranks(good), "b": run_of_ranks(good)}, "RR"))
    assert same.sentence == "all 2 runs have the same RR"


def test_rank_intervals_have_a_level_only_if_they_hold_simultaneously():
    runs, qrels = random_runs(2, 30, 4, worse=3), qrels_for(30)
    for settings in ({"correction": "bonferroni"}, {"test": "randomisation"}, {"test": "bootstrap"}):
        assert standings(compare(qrels, runs, "RR", alpha=0.1, **settings)).level == pytest.approx(0.9)
    # Intervals one by one, intervals of something else than the mean, and one width for pairs that vary differently.
    for settings in ({"correction": "holm"}, {"correction": "none"}, {"test": "wilcoxon"}, {"test": "tukey"}):
        assert standings(compare(qrels, runs, "RR", **settings)).level is None
    with pytest.raises(ComparisonError, match="only compared with the baseline"):
        standings(compare(qrels, runs, "RR", baseline="run0"))


TRUTHS = {
    "all alike": np.zeros(8),
    "two leaders": np.array([0.2, 0.2, 0.1, 0.1, 0.05, 0.05, 0.0, -0.1]),
    "close to each other": np.linspace(0.1, 0, 8),
}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)
def test_all_true_ranks_lie_within_their_intervals_at_once(truth):
    """In 95% of the experiments, with runs of unequal spread that resemble one another, all claims are right at once.

    Runs that are truly as good as each other share ranks, and all of these must lie within the interval. The leader is
    the run that happens to have the best mean; no run that is called significantly worse may truly be as good.
    """
    chance, times, wrong_ranks, wrong_leaders = np.random.default_rng(11), 150, 0, 0
    spread = np.array([0.05, 0.3, 0.1, 0.2, 0.3, 0.05, 0.2, 0.1])
    true = {f"run{at}": value for at, value in enumerate(truth)}
    better = {run: sum(other > value for other in truth) for run, value in true.items()}
    worse = {run: sum(other < value for other in truth) for run, value in true.items()}
    for seed in range(times):
        alike = chance.normal(0, 0.2, (50, 2)).repeat(4, axis=1)
        found = standings(of_values(truth + alike + chance.normal(0, spread, (50, 8)), permutations=499, seed=seed))
        wrong_ranks += any(row.first > 1 + better[row.run] or row.last < 8 - worse[row.run] for row in found.rows)
        wrong_leaders += any(true[row.run] >= true[found.leaders[0]] for row in found.rows if not row.not_worse)
    error = 3 * np.sqrt(0.05 * 0.95 / times)
    assert wrong_ranks / times < 0.05 + error
    assert wrong_leaders <= wrong_ranks
