"""Means over queries that were drawn with known probabilities: by naive loops, by all resamples, in every command."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from cranfield import ComparisonError, Evaluation, InputError, compare, evaluate, gate
from cranfield.comparison.families import check_supported
from cranfield.evaluation.estimating import SAMPLED, WEIGHTED, Columns, estimator_of
from cranfield.evaluation.weighting import Weights

QUERIES = [f"q{at:02}" for at in range(30)]
QRELS = {query: {"a": 1} for query in QUERIES}
OLD = {query: [*["b", "c", "d"][: at % 4], "a"] for at, query in enumerate(QUERIES)}
NEW = {query: [*["b", "c", "d"][: (at // 2) % 3], "a"] for at, query in enumerate(QUERIES)}
COUNTS = {query: 1000 // (at + 1) for at, query in enumerate(QUERIES)}
DRAWN = {query: min(1.0, 0.1 + count / 400) for query, count in COUNTS.items()}


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.tsv"
    rows = [f"{q}\ttext of {q}\t{COUNTS[q]}\t{DRAWN[q]!r}\t{COUNTS[q] / DRAWN[q]!r}\t{1 / DRAWN[q]!r}" for q in QUERIES]
    header = "query_id\ttext\tcount\tprobability\tweight\tdistinct_weight"
    path.write_text("\n".join([header, *rows, ""]))
    return str(path)


def naive(values, weights, drawn):
    n, total = len(values), sum(weights)
    mean = sum(w * x for w, x in zip(weights, values, strict=True)) / total
    parts = [(1 - p) * (w * (x - mean) / total) ** 2 for w, x, p in zip(weights, values, drawn, strict=True)]
    open_parts = [(1 - p) * w**2 for w, p in zip(weights, drawn, strict=True)]
    freedom = sum(open_parts) ** 2 / sum(part**2 for part in open_parts) - 1
    told = sum(part**2 for part in parts) - sum(parts) ** 2 / n
    freedom = min(freedom, 2 * sum(parts) ** 2 / told)
    return mean, sqrt(n / (n - 1) * sum(parts)), total**2 / sum(open_parts), freedom


@pytest.mark.parametrize("seed", range(10))
def test_as_naive_loops_have_them(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    values, weights, drawn = rng.random((n, 2)), rng.exponential(size=n), np.minimum(rng.random(n) * 1.3, 1.0)
    drawn[0] = 0.5
    columns = Columns(values, weights, probability=drawn)
    assert estimator_of(columns) is SAMPLED
    found = SAMPLED.estimate(columns)
    for at in range(2):
        mean, error, effective, freedom = naive(values[:, at], weights, drawn)
        assert found.value[at] == pytest.approx(mean)
        assert found.error[at] == pytest.approx(error)
        assert found.freedom[at] == pytest.approx(max(freedom, 1))
        assert found.effective == pytest.approx(effective)
    assert columns.contrast([(0, 1)]).probability is drawn


def test_small_probabilities_are_weighted_means_and_a_whole_log_is_one():
    values, weights = np.array([[0.1], [0.5], [0.7], [1.0]]), np.array([1.0, 2.0, 1.0, 2.0])
    few = SAMPLED.estimate(Columns(values, weights, probability=np.full(4, 1e-12)))
    assert few.value[0] == pytest.approx(WEIGHTED.estimate(Columns(values, weights)).value[0])
    assert few.error[0] == pytest.approx(WEIGHTED.estimate(Columns(values, weights)).error[0], rel=0.1)
    assert estimator_of(Columns(values, weights, probability=np.ones(4))) is WEIGHTED


def test_resampled_values_and_errors_are_those_of_all_samples():
    """All 4³ draws of three among four queries: the mean over many draws is that over all of them."""
    values = np.array([[0.0], [0.2], [0.9], [1.0]])
    weights, drawn = np.array([1.0, 2.0, 1.0, 3.0]), np.array([0.1, 0.5, 1.0, 0.3])
    every = []
    for rows in product(range(4), repeat=3):
        times = [rows.count(at) * 4 / 3 for at in range(4)]
        w = [weights[at] * (1 + sqrt(1 - drawn[at]) * (times[at] - 1)) for at in range(4)]
        mean = sum(w[at] * values[at, 0] for at in range(4)) / sum(w)
        parts = [times[at] * (1 - drawn[at]) * (weights[at] * (values[at, 0] - mean)) ** 2 for at in range(4)]
        every.append((mean, sqrt(4 / 3 * sum(parts)) / sum(w)))
    columns = Columns(values, weights, probability=drawn)
    found = [np.concatenate(part) for part in zip(*SAMPLED.resample(columns, np.random.default_rng(0), 40_000))]
    for column, expected in zip(found, np.array(every).T, strict=True):
        assert sorted(set(column[:, 0].round(9))) == sorted(set(expected.round(9)))
        assert column.mean() == pytest.approx(expected.mean(), abs=0.005)


def test_resampled_means_vary_as_the_error_says():
    rng = np.random.default_rng(3)
    values, weights = rng.beta(0.5, 1, (200, 1)), rng.exponential(size=200)
    columns = Columns(values, weights, probability=np.minimum(weights, 1.0))
    found = SAMPLED.estimate(columns)
    means = np.concatenate([value for value, _ in SAMPLED.resample(columns, rng, 4000)])
    assert means.std() == pytest.approx(found.error[0], rel=0.05)


def test_a_file_of_sampled_queries_is_used_as_it_is(queries, tmp_path):
    result = evaluate(QRELS, OLD, "RR", weights=queries)
    values, counts = result.by_query("RR"), list(COUNTS.values())
    mean, error, effective, _ = naive(
        list(values.values()), [COUNTS[q] / DRAWN[q] for q in QUERIES], [DRAWN[q] for q in QUERIES]
    )
    estimate = result.estimate("RR")
    assert (estimate.value, estimate.error, estimate.queries) == pytest.approx((mean, error, effective))
    assert result["RR"] == pytest.approx(mean)
    assert result.weights.effective == pytest.approx(effective)
    assert "weighted by queries.tsv, a sample of a log: as precise as" in result.weights.sentence
    assert [part.partition(":")[0] for part in result.signature.split("|")][-4:-2] == ["weights", "sample"]
    assert sum(counts) > 0
    path = tmp_path / "saved.json"
    result.save(path)
    loaded = Evaluation.load(path)
    assert loaded.signature == result.signature
    assert loaded.estimate("RR") == estimate


def test_a_distinct_query_by_the_other_column(queries):
    result = evaluate(QRELS, OLD, "RR", weights=f"{queries}:distinct_weight")
    expected = naive(list(result.by_query("RR").values()), [1 / DRAWN[q] for q in QUERIES], [DRAWN[q] for q in QUERIES])
    assert (result["RR"], result.estimate("RR").error) == pytest.approx(expected[:2])
    assert "by queries.tsv:distinct_weight" in result.weights.sentence
    with pytest.raises(InputError, match="did you mean distinct_weight"):
        evaluate(QRELS, OLD, "RR", weights=f"{queries}:distinct_wieght")


def test_comparisons_gates_and_segments_are_by_the_design(queries):
    comparison = compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights=queries)
    [difference] = comparison.differences
    columns = Columns(
        (comparison._paired.columns[comparison.measures[0]]),
        np.array([COUNTS[q] / DRAWN[q] for q in QUERIES]),
        probability=np.array([DRAWN[q] for q in QUERIES]),
    ).contrast([(0, 1)])
    low, high = SAMPLED.estimate(columns).interval(0.05)
    assert (difference.low, difference.high) == pytest.approx((low[0], high[0]))
    plain = compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights={q: COUNTS[q] / DRAWN[q] for q in QUERIES})
    assert plain.differences[0].difference == pytest.approx(difference.difference)
    assert plain.differences[0].high > difference.high  # frequent queries are all there: they say nothing by chance
    assert "sample" in comparison.to_dict()["weights"]
    with pytest.raises(ComparisonError, match="sign"):
        compare(QRELS, {"old": OLD, "new": NEW}, "RR", weights=queries, test="sign")
    assert gate(QRELS, OLD, NEW, "RR", weights=queries).to_dict()["weights"]["sample"].startswith("poisson-")
    found = comparison.by_segment({q: "even" if at % 2 else "odd" for at, q in enumerate(QUERIES)})
    assert all(np.isfinite(its.difference) for its in found.differences)


def test_families_are_redrawn_by_the_design():
    for test in ("t", "bootstrap"):
        check_supported(SAMPLED, test, "max-t")
    qrels = {str(q): {"a": 1} for q in range(60)}
    runs = {
        name: {str(q): [*["b", "c", "d"][: (q * step) % 4], "a"] for q in range(60)}
        for name, step in (("one", 1), ("two", 3), ("three", 2))
    }
    weights = Weights("log.tsv", {q: 1.0 + int(q) for q in qrels}, {q: 0.2 + int(q) / 80 for q in qrels})
    comparison = compare(qrels, runs, "RR", weights=weights)
    assert all(its.low <= its.difference <= its.high for its in comparison.differences)


@pytest.mark.parametrize("chance", ["0", "1.5", "-1", "x"])
def test_what_is_no_probability(queries, chance):
    with open(queries) as file:
        lines = file.read().split("\n")
    cells = lines[3].split("\t")
    cells[3] = chance
    lines[3] = "\t".join(cells)
    with open(queries, "w") as file:
        file.write("\n".join(lines))
    with pytest.raises(InputError, match="probability"):
        evaluate(QRELS, OLD, "RR", weights=queries)
