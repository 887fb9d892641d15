"""Alarms by results in a history."""

import numpy as np
import pytest

from cranfield.errors import ComparisonError
from cranfield.systems.history.alerts import alert_of
from cranfield.systems.history.opening import open_history
from tests.systems.history.measuring import accepting, at, measured


@pytest.fixture
def history(tmp_path):
    with open_history(tmp_path / "history.db", create=True) as opened:
        yield opened


def sliding(days, start=0, lost=1):
    """Each day, one query more falls from the first rank to the third."""
    return [measured([3] * (start + lost * day) + [1] * (40 - start - lost * day), day) for day in range(days)]


def messages(alert):
    return {check.name: (check.passed, check.message) for check in alert.checks}


def test_a_result_that_is_worse_than_accepted_raises_an_alarm(history):
    results = [measured([1] * 40, 0), measured([1] * 10 + [2, 3] * 15, 1)]
    history.append(results, acceptances=[accepting(results[0])])
    alert = alert_of(history, "mine", ["RR"])
    assert not alert.passed
    [(passed, message)] = messages(alert).values()
    assert not passed
    assert message.startswith("RR fell by 0.4375 since it was accepted (one-sided p < 0.0001")
    assert alert_of(history, "mine", ["RR"], tolerance=0.5).passed
    assert alert.level == pytest.approx(0.05 / 60)
    assert alert.open == ("a slide needs 10 comparable results in a row: 8 more to come",)


def test_a_slow_slide_raises_an_alarm(history):
    results = sliding(12, lost=2)
    history.append(results)
    alert = alert_of(history, "mine", ["RR"])
    assert not messages(alert)["slide"][0]
    assert "nothing is accepted yet" in alert.open[0]
    assert "assumed: queries vary on their own" in alert.noise_words


def test_a_loss_that_was_accepted_is_no_slide(history):
    results = sliding(12, lost=2)
    history.append(results, acceptances=[accepting(results[-1], worse=True)])
    alert = alert_of(history, "mine", ["RR"])
    assert alert.passed
    assert alert.open == ("a slide needs 10 comparable results in a row: 9 more to come",)


def test_an_improvement_raises_none(history):
    history.append(sliding(12)[::-1])
    results = [measured([2] * (12 - day) + [1] * (28 + day), 20 + day) for day in range(12)]
    history.append(results, acceptances=[accepting(results[0])])
    alert = alert_of(history, "mine", ["RR", "nDCG@10"])
    assert alert.passed
    assert len(alert.checks) == 4


def test_repeats_that_shake_all_queries_are_seen(history):
    chance = np.random.default_rng(0)
    for day in range(15):
        low = int(chance.integers(1, 6))
        history.append([measured([low] * 20 + [low + 1] * 20, day, moment=at(day, "same commit"))])
    alert = alert_of(history, "mine", ["RR"])
    assert alert.noise[:2] == ("days shake all queries together", "repeats")
    assert alert.checks == ()
    assert "30 comparable results in a row" in alert.open[-1]
    assert "repeats of a commit" in alert.noise_words


def test_settings_that_mean_nothing_are_refused(history):
    history.append(sliding(1))
    with pytest.raises(ComparisonError):
        alert_of(history, "mine", ["RR"], alpha=0.7)
    with pytest.raises(ComparisonError):
        alert_of(history, "mine", ["RR"], looks=0)
