"""Groups of queries, which are repeats or variants of one another, count as one wherever means are."""

import numpy as np
import pytest

from cranfield import Evaluation, compare, evaluate, evaluate_runs, gate
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.estimating import GROUPED, Columns
from cranfield.evaluation.weighting import Weights, by_group
from cranfield.show.comparison_text import comparison_text
from tests.comparison.published_repeats import MINI, NANO, right

CHANCE = np.random.default_rng(5)


def asked(answers):
    """A run by which question q's answer n is relevant at rank 1 where it is right."""
    return {
        f"{q}#{n}": ["good" if is_right else "bad"]
        for q, row in enumerate(answers)
        for n, is_right in enumerate(row, 1)
    }


def published():
    answers = right(NANO), right(MINI)
    groups = {query: query.partition("#")[0] for query in asked(answers[0])}
    qrels = {str(q): {"good": 1} for q in range(len(answers[0]))}
    return qrels, {"mini": asked(answers[1]), "nano": asked(answers[0])}, groups


def test_the_published_example_of_198_questions_asked_five_times():
    qrels, runs, groups = published()
    found = compare(qrels, runs, "P@1", baseline="mini", groups=groups, bounds=False)
    [difference] = found
    assert difference.difference == pytest.approx(0.058586, abs=5e-7)
    estimate = GROUPED.estimate(found._paired.contrast(found.measures[0], [(0, 1)]))
    assert estimate.error[0] == pytest.approx(0.027788, abs=5e-7)
    assert estimate.value[0] / estimate.error[0] == pytest.approx(2.108, abs=5e-4)
    assert (difference.low, difference.high) == pytest.approx((0.0038, 0.1134), abs=5e-5)
    assert (estimate.effective, estimate.freedom[0]) == (198, 197)
    assert (difference.better, difference.same, difference.worse) == (62, 90, 46)
    assert (found.units, difference.units, found.queries) == (198, "groups", 990)
    # Five times as many queries would make much shorter intervals, and none of the questions more.
    alone = compare({q: {"good": 1} for q in groups}, runs, "P@1", baseline="mini", bounds=False)
    assert alone.differences[0].difference == pytest.approx(difference.difference)
    assert alone.differences[0].high - alone.differences[0].low < 0.8 * (difference.high - difference.low)


def naive(values, weights, groups):
    """Mean and error over groups as loops: the value of a group, its weight, and jackknifed means."""
    names = list(dict.fromkeys(groups))
    of_group = []
    for name in names:
        rows = [at for at, group in enumerate(groups) if group == name and weights[at] > 0]
        if rows:
            total = sum(weights[at] for at in rows)
            of_group.append((total / len(rows), sum(weights[at] * values[at] for at in rows) / total))
    mean = sum(w * x for w, x in of_group) / sum(w for w, _ in of_group)
    left_out = []
    for at in range(len(of_group)):
        rest = of_group[:at] + of_group[at + 1 :]
        left_out.append(sum(w * x for w, x in rest) / sum(w for w, _ in rest))
    n = len(of_group)
    return mean, ((n - 1) / n * sum((m - mean) ** 2 for m in left_out)) ** 0.5


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_as_naive_loops_have_them(seed, weighted):
    rng = np.random.default_rng(seed)
    n = 12 + seed
    queries = [f"q{at}" for at in range(n)]
    groups = [f"g{number}" for number in rng.integers(0, 5, n)]
    weights = rng.integers(0, 4, n).astype(float) if weighted else np.ones(n)
    weights[:6] = np.maximum(weights[:6], 1)
    depth = rng.integers(1, 5, n).tolist()
    run = {query: [*"xyz"[: at - 1], "a"] for query, at in zip(queries, depth, strict=True)}
    options = {"groups": dict(zip(queries, groups, strict=True))}
    if weighted:
        options["weights"] = dict(zip(queries, weights.tolist(), strict=True))
    result = evaluate({query: {"a": 1} for query in queries}, run, "RR", **options)
    mean, error = naive([1 / at for at in depth], weights.tolist(), groups)
    estimate = result.estimate("RR")
    assert result["RR"] == pytest.approx(mean)
    assert (estimate.value, estimate.error) == pytest.approx((mean, error))
    units = result.of_groups()
    assert units["RR"] == pytest.approx(mean)
    assert set(units.query_ids) == set(groups)


def test_a_query_that_is_in_no_group_is_one_by_itself():
    weights = Weights.read(None, {"a": "x", "b": "x", "x": "c"}).over(["a", "b", "x", "c"])
    assert weights.column(["a", "b", "x", "c"]).tolist() == [0.25 / 2, 0.25 / 2, 0.25, 0.25]  # scaled by a power of two
    assert (weights.units, weights.effective, weights.unit) == (3, 3.0, "group")
    units = by_group(weights, ["a", "b", "x", "c"], np.array([[1.0], [0.0], [1.0], [0.0]]))
    assert units.names == ("x", "c", "c")
    assert units.values[:, 0].tolist() == [0.5, 1.0, 0.0]


def test_members_are_judged_as_the_query_is_that_their_group_is_named_after():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"a": 1}, "q3b": {"b": 1}}
    groups = {"q1#1": "q1", "q1#2": "q1", "q3": "q3", "q3b": "q3", "q3c": "q3"}
    run = {"q1#1": ["a"], "q1#2": ["b", "a"], "q2": ["b"], "q3": ["a"], "q3b": ["a", "b"], "q3c": ["b", "c", "a"]}
    result = evaluate(qrels, run, "RR", groups=groups)
    assert result.by_query("RR") == {"q1#1": 1, "q1#2": 0.5, "q2": 1, "q3": 1, "q3b": 0.5, "q3c": pytest.approx(1 / 3)}
    assert result["RR"] == pytest.approx((0.75 + 1 + (1 + 0.5 + 1 / 3) / 3) / 3)


def test_one_file_of_queries_has_all_columns(tmp_path):
    file = tmp_path / "queries.csv"
    file.write_text("query_id,text,weight,group,segment,count\n1,one,2,a,x,9\n2,two,4,a,x,9\n3,three,1,b,y,9\n")
    qrels = {str(q): {"a": 1} for q in (1, 2, 3)}
    run = {"1": ["a"], "2": ["b", "a"], "3": ["c"]}
    result = evaluate(qrels, run, "RR", query_columns=file)
    assert result["RR"] == pytest.approx((3 * (2 * 1 + 4 * 0.5) / 6 + 1 * 0) / 4)
    assert result.segments == {"1": "x", "2": "x", "3": "y"}
    assert result.by_segment("RR") == {"x": pytest.approx(4 / 6), "y": 0.0}
    assert result.weights.sentence == "weighted and grouped by queries.csv: as precise as 1.6 equally weighted groups"
    signed = [part.partition(":")[0] for part in result.signature.split("|")]
    assert [name for name in signed if name in ("weights", "groups", "segments")] == ["weights", "groups", "segments"]
    own = evaluate(qrels, run, "RR", query_columns=file, weights={"1": 1, "2": 1, "3": 1})  # which comes first
    assert own["RR"] == pytest.approx(0.375)
    file.write_text("query_id,text,count\n1,one,9\n2,two,8\n")
    with pytest.raises(InputError, match="has none of the columns weight, segment, group and answerable"):
        evaluate(qrels, run, "RR", query_columns=file)


def test_groups_are_kept_and_compared(tmp_path):
    qrels, runs, groups = published()
    saved = evaluate(qrels, runs["nano"], "P@1", groups=groups, name="nano")
    saved.save(tmp_path / "nano.json")
    again = Evaluation.load(tmp_path / "nano.json")
    assert again["P@1"] == saved["P@1"]
    assert again.estimate("P@1") == saved.estimate("P@1")
    assert again.signature == saved.signature
    assert again.weights == saved.weights
    results = evaluate_runs(qrels, runs, "P@1", groups=groups)
    [difference] = compare(qrels, {"mini": results["mini"], "nano": again}, "P@1", baseline="mini", bounds=False)
    assert difference.units == "groups"
    with pytest.raises(ComparisonError, match="groups count once each, and those of mini of single queries"):
        compare(qrels, {"nano": again, "mini": results["mini"].weighted(None)}, "P@1", bounds=False)
    decided = gate(qrels, again, results["mini"], "P@1")
    assert not decided.passed
    assert decided.measures[0].worse == 62
    with pytest.raises(InputError, match="none of 2 queries is in a group"):
        evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"]}, "RR", groups={"7": "x"})


def test_what_changed_most_is_told_of_groups_as_it_is_counted():
    qrels, runs, groups = published()
    shown = comparison_text(compare(qrels, runs, "P@1", baseline="mini", groups=groups, bounds=False))
    assert "198 groups   ▲ 62 better" in shown
    assert "  +1.000  " in shown
    assert "#" not in shown  # as in the name of a repeat


@pytest.mark.parametrize("test", ["randomisation", "sign", "wilcoxon", "tukey"])
def test_tests_without_a_form_for_groups_are_refused_with_what_to_use(test):
    qrels, runs, groups = published()
    with pytest.raises(ComparisonError, match="cannot be used for means over groups") as refused:
        compare(qrels, runs, "P@1", groups=groups, test=test, bounds=False)
    assert refused.value.hint == "it may be t, bootstrap"


def test_t_intervals_of_groups_hold_where_members_are_alike_and_sizes_differ():
    """Skewed, few values: coverage of 95% intervals of 40 groups of 1 to 6 queries, by simulation."""
    draws, inside, alone = 1500, 0, 0
    chance = np.random.default_rng(3)
    for _ in range(draws):
        sizes = chance.integers(1, 7, 40)
        level = chance.choice([0.0, 0.2, 0.5, 1.0], 40, p=[0.4, 0.3, 0.2, 0.1])  # mean 0.26
        group = np.repeat(np.arange(40), sizes)
        values = np.clip(level[group] + chance.choice([-0.2, 0.0, 0.2], len(group)), -1, 2)[:, None]
        weight = 1 / sizes[group]
        low, high = GROUPED.estimate(Columns(values, weight, group)).interval(0.05)
        inside += low[0] <= 0.26 <= high[0]
        low, high = GROUPED.estimate(Columns(values)).interval(0.05)
        alone += low[0] <= 0.26 <= high[0]
    assert 0.93 <= inside / draws <= 0.97
    assert alone / draws < 0.8
