"""A line compares what is comparable, says where it breaks, and marks only what is beyond chance."""

import numpy as np
import pytest

from cranfield import compare
from cranfield.errors import InputError
from cranfield.systems.history.lines import SHARED_AMONG, line_of, query_days, steps_between
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.results import Again
from tests.comparison.populations import skewed_population
from tests.systems.history.measuring import QUERIES, accepting, at, evaluated, judgments, measured, run_of

BEFORE, AFTER = [1, 2, 3, 4] * 10, [1, 2, 3, 5] * 8 + [4, 1, 2, 1] * 2


@pytest.fixture
def history(tmp_path):
    with open_history(tmp_path / "history.db", create=True) as opened:
        yield opened


def test_steps_are_those_of_compare(history):
    results = [measured(ranks, day) for day, ranks in enumerate((BEFORE, AFTER, AFTER))]
    history.append(results, acceptances=[accepting(results[0])])
    line = line_of(history, "mine")
    [stretch] = line.stretches
    first, second, third = stretch.points
    [pair] = compare(judgments(), {"a": run_of(BEFORE), "b": run_of(AFTER)}, "RR", baseline="a")
    assert line.measure == "RR"
    assert first.step is None
    assert (second.step.difference, second.step.low, second.step.high, second.step.p) == pytest.approx(
        (pair.difference, pair.low, pair.high, pair.p)
    )
    assert (second.step.better, second.step.worse) == (pair.better, pair.worse)
    assert (third.step.difference, third.step.better, third.step.worse, third.step.sign) == (0, 0, 0, 0)
    standing = line.standing.step
    assert (standing.difference, standing.low, standing.high, standing.p) == pytest.approx(
        (pair.difference, pair.low, pair.high, pair.p)
    )
    assert line.verdict == pair.headline


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_the_verdict_beside_the_accepted_result(history, lower_is_better):
    results = [measured([2] * 40, 0), measured([1] * 30 + [2] * 10, 1)]
    history.append(results, acceptances=[accepting(results[0], because="the first")])
    line = line_of(history, "mine")
    assert line.verdict == "Better"
    assert line.standing.acceptance.because == "the first"
    assert line.last.step.sign == 1
    moved = line.last.step.moved
    assert [its.difference for its in moved] == [0.5] * 20
    assert moved[0].text == "text of q00"
    history.append([measured([2] * 40, 2)])
    assert line_of(history, "mine").verdict == "The same"


def test_a_change_of_judgments_breaks_the_line_until_runs_are_measured_again(history):
    results = [measured(BEFORE, 0), measured(AFTER, 1), measured(AFTER, 2, judgments(more=3), judged=160)]
    history.append(results)
    line = line_of(history, "mine")
    assert [len(stretch.points) for stretch in line.stretches] == [2, 1]
    [found] = line.breaks
    assert (found.what, found.joined) == (("120 grades added",), 0)
    assert line.last.step is None
    again = evaluated(AFTER, judgments(more=3))
    history.append(again=[Again(results[1].id, again, 160)])
    line = line_of(history, "mine")
    assert [len(stretch.points) for stretch in line.stretches] == [1, 2]
    assert line.breaks[0].joined == 1
    [before, last] = line.stretches[1].points
    assert (before.first.value, before.value.value) == (results[1].evaluation["RR"], again["RR"])
    assert last.step.difference == 0
    # The result that was measured again is still compared with the one before, by the judgments of both.
    assert before.step.difference == pytest.approx(results[1].evaluation["RR"] - results[0].evaluation["RR"])


def test_what_changed_is_said(history):
    weights = {query: 1.0 + (query == "q00") for query in QUERIES}
    history.append(
        [
            measured([1] * 40, 0),
            measured([1] * 39, 1, queries=QUERIES[1:]),
            measured([1] * 40, 2),
            measured([1] * 40, 3, weights=weights),
            measured([1] * 40, 4, judgments(more=1), weights=weights, judged=40),
        ]
    )
    assert [found.what for found in line_of(history, "mine").breaks] == [
        ("39 queries, not 40",),
        ("40 queries, not 39",),
        ("weights",),
        ("other judgments",),
    ]


def test_a_day_with_failed_queries_breaks_nothing(history):
    results = [measured(BEFORE, 0), measured([1] * 39, 1, queries=QUERIES[1:], failed=1), measured(AFTER, 2)]
    history.append(results)
    line = line_of(history, "mine")
    [stretch], [apart] = line.stretches, line.apart
    assert [point.result.id for point in stretch.points] == [results[0].id, results[2].id]
    assert (apart.result.id, apart.apart) == (results[1].id, "1 query failed")
    assert line.breaks == ()
    assert [point.result.at for point in line.points] == [result.moment.at for result in results]


def test_pull_requests_are_on_no_line(history):
    history.append([measured(BEFORE, 0), measured(AFTER, 1, moment=at(1, pull="?")), measured(BEFORE, 2)])
    assert [point.result.change.pull for point in line_of(history, "mine").points] == ["", ""]


def test_the_values_of_a_query(history):
    history.append([measured([1] * 40, 0), measured([2] + [1] * 39, 1), measured([2] + [1] * 39, 2)])
    line = line_of(history, "mine")
    days = query_days(history, line, "q00")
    assert [(its.value, its.change) for its in days] == [(1.0, None), (0.5, -0.5), (0.5, 0.0)]
    with pytest.raises(InputError, match="no result has this query"):
        query_days(history, line, "q99")


def test_what_is_not_there_is_an_error(history):
    with pytest.raises(InputError, match="there is no result of 'mine'"):
        line_of(history, "mine")
    history.append([measured(BEFORE, 0)])
    with pytest.raises(InputError, match="there is no result of 'mime'") as caught:
        line_of(history, "mime")
    assert "mine" in caught.value.hint
    with pytest.raises(InputError, match="AP was not measured"):
        line_of(history, "mine", "AP")
    with pytest.raises(InputError, match="there is no such result"):
        line_of(history, "mine", since=at(1).at)


@pytest.mark.parametrize("kind", ["graded", "ap", "rr"])
def test_steps_without_an_effect_are_rarely_marked(kind):
    """A month of thirty steps in which the two sides of each query are exchanged by chance."""
    chance, months = np.random.default_rng(7), 400
    population = skewed_population(kind, 2, 3)
    texts = {str(number): "" for number in range(60)}
    marked = 0
    for _ in range(months):
        drawn = population[chance.integers(0, len(population), (60, SHARED_AMONG))]
        swapped = np.where(chance.random((60, SHARED_AMONG, 1)) < 0.5, drawn, drawn[:, :, ::-1])
        steps = steps_between(swapped[:, :, 0], swapped[:, :, 1], texts, None)
        marked += any(step.sign for step in steps)
    assert marked / months < 0.05 + 2.5 * (0.05 * 0.95 / months) ** 0.5
