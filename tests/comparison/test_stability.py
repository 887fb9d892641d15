"""stability: what becomes of measures when judgments are removed."""

import json

import numpy as np
import pytest

from cranfield import ComparisonError, InputError, JudgedRanks, Judgments, MeasureError, Policy, evaluate, stability
from cranfield.comparison.thinning import without
from cranfield.read.source import open_source
from tests.comparison.made import qrels_for, random_runs

QRELS = qrels_for(20, depth=8)
RUNS = random_runs(2, 20, 3, worse=4)


@pytest.mark.parametrize("measure", ["RR", "AP", "nDCG@10", "Bpref", "P@3", "nDCG(judged_only=True)@5", "infAP", "R@5"])
def test_dropping_rows_is_evaluating_without_the_judgments(measure):
    chance = np.random.default_rng(1)
    qrels = {q: {d: int(chance.integers(-1, 3)) for d in judged} for q, judged in QRELS.items()}
    judgments = Judgments.read(qrels)
    run = RUNS["run1"]
    table = JudgedRanks.of(judgments, open_source(run, "run"), Policy())
    gone = chance.random(len(judgments.grades)) < 0.5
    kept = {q: dict(judged) for q, judged in qrels.items()}
    for row in np.flatnonzero(gone).tolist():
        query = judgments.query_ids[judgments.query[row]]
        del kept[query][judgments.document_ids[row]]
    result = evaluate(kept, run, measure)
    thinned = without(table, gone)
    assert result.measures[0](thinned).tolist() == pytest.approx(result.column(measure).tolist())


def test_rows():
    found = stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=1)
    assert [(row.measure, row.removed) for row in found.rows] == [("RR", 0), ("RR", 0.5), ("Bpref", 0), ("Bpref", 0.5)]
    nothing, half = found.rows[:2]
    means = [evaluate(QRELS, run, "RR")["RR"] for run in RUNS.values()]
    assert (nothing.mean, nothing.spread, nothing.tau, nothing.lowest) == (pytest.approx(np.mean(means)), 0, 1, 1)
    assert nothing.mean == half.complete
    assert half.mean < half.complete
    assert half.spread > 0
    assert -1 <= half.lowest <= half.tau <= 1
    assert found.by_run["RR", 0.0] == pytest.approx(dict(zip(RUNS, means, strict=True)))
    assert stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=1) == found
    assert stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=2) != found
    json.dumps(found.to_dict(), allow_nan=False)


def test_runs_without_an_order_have_no_tau():
    found = stability(QRELS, {"a": RUNS["run0"], "b": RUNS["run0"]}, "RR", [0.5], repeats=2)
    assert (found.rows[0].tau, found.rows[0].lowest) == (None, None)
    assert stability(QRELS, [RUNS["run0"]], "RR", [0.9], repeats=1).rows[0].spread == 0


def test_what_is_refused():
    for wrong in ({"fractions": [1.0]}, {"fractions": [-0.1]}, {"repeats": 0}, {"measures": "NumRet"}):
        with pytest.raises(ComparisonError):
            stability(QRELS, RUNS, **{"measures": "RR", **wrong})
    with pytest.raises(ComparisonError, match="no run"):
        stability(QRELS, [], "RR")
    with pytest.raises(MeasureError):
        stability(QRELS, RUNS, "alpha_nDCG@5")
    with pytest.raises(InputError, match="not in the run"):
        stability(QRELS, {"a": {"0": ["r"]}}, "RR", policy=Policy(missing="error"))
    skipping = stability(QRELS, {"a": {"0": ["r"]}}, "RR", [0.0], policy=Policy(missing="skip"))
    assert skipping.rows[0].complete == 1
