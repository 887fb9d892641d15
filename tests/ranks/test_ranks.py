"""The operations that measures are built from."""

import numpy as np
import pytest

from cranfield.io.source import open_source
from cranfield.native import native
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.tables import ranks

QRELS = {"a": {"d1": 1, "d2": 2}, "b": {"d3": 1}, "c": {"d1": 1, "d4": 0, "d5": 2}}
RUN = {"a": {"d1": 3.0, "x": 2.0, "d2": 1.0}, "c": {"d5": 5.0, "d4": 4.0, "x": 3.0, "d1": 2.0}}


@pytest.fixture(params=["native", "numpy"])
def judged(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(ranks, "native", None)
    elif native is None:
        pytest.skip("no native part on this machine")
    judgments = Judgments.read(QRELS, None)
    return rank_run(judgments, open_source(RUN, "run", None), Policy())


def test_running_sums_stay_within_their_query(judged):
    values = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
    assert judged.running_sum(values).tolist() == [0.1, 0.1 + 0.2, 0.3, 0.3 + 0.7, 0.3 + 0.7 + 0.9]
    assert values.tolist() == [0.1, 0.2, 0.3, 0.7, 0.9]


def test_a_running_value_at_the_end_and_at_a_rank(judged):
    running = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert judged.rank.tolist() == [1, 3, 1, 2, 4]
    assert judged.last(running).tolist() == [2.0, 0.0, 5.0]
    query, rank = np.array([0, 0, 0, 1, 2, 2, 2]), np.array([0, 2, 9, 4, 1, 3, 4])
    assert judged.at(running, query, rank).tolist() == [0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 5.0]
