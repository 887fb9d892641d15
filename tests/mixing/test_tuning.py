"""Tuned mixtures are worth what is reported, and nobody is told the value of the best setting as if it were found."""

import json

import numpy as np
import pytest

import cranfield
from cranfield import ComparisonError, InputError, Policy, compare, evaluate, fuse, tune
from cranfield.evaluation import folds
from cranfield.evaluation.folds import cross_fitted, folds_of
from cranfield.measures import parse_measure
from cranfield.mixing import counting, reading
from cranfield.mixing.candidates import candidates, edges, simplex
from cranfield.mixing.fusing import fuse_as
from cranfield.mixing.methods import METHODS
from cranfield.native import native
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.run import open_run
from tests.mixing.simulated import CASES, population, simulated, values_of
from tests.mixing.test_fusing import lines_of, random_runs

RUNS = {"lexical": "builtin:plain", "semantic": "builtin:tuned"}


def judgments_for(runs, seed):
    chance = np.random.default_rng(seed)
    qrels = {}
    for query in range(6):  # some of which no run has, or has no judged document
        ids = chance.permutation(34)[: int(chance.integers(1, 12))]
        qrels[f"q{query}"] = {f"d{number}": int(chance.integers(-1, 4)) for number in ids}
    return qrels


SPACE = {
    "k": [0, 20, 60],
    "phi": [0.5, 0.9],
    "depth": [1, 3, 1000],
    "normalisation": ["min-max", "z-score", "rank", "none"],
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_the_fused_runs(monkeypatch, compiled, seed):
    """Counting above judged documents is the same as fusing and measuring, setting by setting and query by query."""
    if compiled and native is None:
        pytest.skip("the native scan is not built")
    if not compiled:
        for module in (reading, counting):
            monkeypatch.setattr(module, "native", None)
    monkeypatch.setattr(reading, "BYTES", 700)  # a few queries at a time
    monkeypatch.setattr(counting, "AT_ONCE", 50)
    runs = random_runs(seed, runs=2 + seed % 3)
    qrels = judgments_for(runs, seed)
    names = [f"run{at}" for at in range(len(runs))]
    every = candidates(names, list(METHODS), {**SPACE, "weights": seed % 2 == 0})
    mixtures = [every[at] for at in np.random.default_rng(seed).permutation(len(every))[:25]]
    measures = [parse_measure(name) for name in ("nDCG@3", "AP", "Judged@5", "bpref")]
    opened = [open_run(run) for run in runs]
    for measure in measures:
        found = values_of(opened, mixtures, measure, Judgments.read(qrels), Policy())
        for at, mixture in enumerate(mixtures):
            fused = fuse_as(dict(zip(names, runs, strict=True)), mixture)
            wanted = evaluate(qrels, fused, [measure], check_ids=False)
            assert found[:, at].tolist() == pytest.approx(wanted.column(measure).tolist(), abs=1e-12), str(mixture)


def test_counts_are_those_of_a_loop():
    chance = np.random.default_rng(3)
    scores, documents = chance.integers(0, 4, (7, 9)).astype(float), np.array([0, 4, 8, 4])
    wanted = [
        [sum(row[e] > row[d] or (row[e] == row[d] and e < d) for e in range(9)) for d in documents] for row in scores
    ]
    assert counting.count_above(scores, documents).reshape(7, 4).tolist() == wanted
    if native:
        assert native.count_above(scores, documents).reshape(7, 4).tolist() == wanted
        for bad in ([9], [-1]):
            with pytest.raises(IndexError, match="documents"):
                native.count_above(scores, np.array(bad))


# Folds and what is chosen in them.


def test_groups_stay_in_a_fold_and_segments_are_in_all():
    chance = np.random.default_rng(0)
    group, stratum = chance.integers(0, 40, 120), chance.integers(0, 3, 120)
    found = folds_of(group, stratum, np.random.default_rng(1), 20, 5)
    for fold in found:
        assert all(len(set(fold[group == its].tolist())) == 1 for its in set(group.tolist()))
        assert np.bincount(fold, minlength=5).min() >= 12
    alone = folds_of(np.arange(120), stratum, np.random.default_rng(1), 20, 5)
    for fold in alone:
        assert np.bincount(fold).tolist() == [24] * 5
        for kind in range(3):
            sizes = np.bincount(fold[stratum == kind], minlength=5)
            assert sizes.max() - sizes.min() <= 1
    assert len({tuple(fold) for fold in alone}) == 20
    assert (folds_of(np.arange(120), stratum, np.random.default_rng(1), 20, 5) == alone).all()


def test_cross_fitting_is_a_plain_loop():
    chance = np.random.default_rng(4)
    values, weight = chance.random((30, 7)), chance.integers(0, 4, 30).astype(float)
    fold = folds_of(np.arange(30), np.zeros(30, int), chance, 3, 5)
    found = cross_fitted(values, fold, weight)
    wanted = np.zeros(30)
    for repeat in range(3):
        for number in range(5):
            outside = [query for query in range(30) if fold[repeat][query] != number]
            means = [np.average([values[q, s] for q in outside], weights=weight[outside]) for s in range(7)]
            best = max(range(7), key=lambda s: means[s])
            assert found.chosen[repeat, number] == best
            for query in range(30):
                if fold[repeat][query] == number:
                    wanted[query] += values[query, best] / 3
    assert found.value == pytest.approx(wanted)
    assert found.optimistic == pytest.approx(max(np.average(values, axis=0, weights=weight)))


def test_of_equal_settings_the_first_is_chosen():
    values = np.tile([[0.2], [0.8]], (10, 3)) + np.array([0, 1e-15, 2e-15])
    found = cross_fitted(values, folds_of(np.arange(20), np.zeros(20, int), np.random.default_rng(0)))
    assert found.best == 0
    assert not found.chosen.any()


@pytest.mark.parametrize("name", ["two runs", "three runs", "reciprocal ranks"])
def test_the_reported_value_has_next_to_no_bias_and_its_interval_holds(name):
    """bench/tuning.py repeats this with 6,000 samples."""
    found = simulated(population(CASES[name], 1000, 1), 50, 300, 2, repeats=5)
    assert abs(found.bias) <= 0.002 + 3 * found.error
    assert found.covered >= 0.91
    assert found.naive > 0.006  # what nobody should report


def test_the_recorded_simulation_keeps_what_is_promised():
    from pathlib import Path

    recorded = json.loads((Path(cranfield.__file__).parents[2] / "bench" / "tuning.json").read_text())
    assert set(recorded) == set(CASES)
    for found in recorded.values():
        assert found["samples"] >= 6000
        assert found["queries"] == 50
        assert abs(found["bias"]) <= 0.002
        assert 0.93 <= found["covered"] <= 0.97


# What is reported.


def test_what_is_reported_follows_from_the_folds():
    found = tune("builtin", RUNS, "nDCG@10", methods="combsum")
    assert len(found.settings) == 22
    assert sum(setting.chosen for setting in found.settings) == pytest.approx(1)
    assert found.final.seen == max(setting.seen for setting in found.settings)
    assert found.value.value < found.final.seen
    assert found.optimism == pytest.approx(found.final.seen - found.value.value)
    assert found.means["lexical"] == pytest.approx(evaluate("builtin", "builtin:plain", "nDCG@10")["nDCG@10"])
    assert found.means[found.untuned.name] == pytest.approx(evaluate("builtin", fuse(RUNS), "nDCG@10")["nDCG@10"])
    tuned, plain, gap = found.differences
    assert (tuned.run, tuned.baseline) == ("tuned mixture", "semantic")
    assert (plain.run, plain.baseline) == (found.untuned.name, "semantic")
    assert (gap.run, gap.baseline) == ("tuned mixture", found.untuned.name)
    assert tuned.difference == pytest.approx(plain.difference + gap.difference)
    assert tuned.difference == pytest.approx(found.means["tuned mixture"] - found.means["semantic"])
    assert plain.difference == pytest.approx(found.means[found.untuned.name] - found.means["semantic"])
    assert {difference.family for difference in found.differences} == {3}
    assert found.no_better_than == (found.untuned.name, "semantic")
    assert any("not shown to be better than rrf, k = 60" in finding for finding in found.findings)
    assert json.loads(found.to_json())["final"]["arguments"] == dict(found.final.arguments)


def test_the_same_seed_gives_the_same_result_and_another_another():
    one, same, other = (tune("builtin", RUNS, methods="combsum", seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == same.to_dict()
    assert one.value != other.value


def test_a_mixture_that_is_better_is_said_to_be():
    chance = np.random.default_rng(0)
    qrels = {str(q): {"a": 1} for q in range(60)}
    one, two = {}, {}
    for q in range(60):  # each run finds the answer on one half, and puts it below ten others on the other half
        others = {f"x{at}": 1.0 - at / 100 + chance.random() / 1000 for at in range(10)}
        noise = {f"y{at}": 1.0 - at / 100 + chance.random() / 1000 for at in range(10)}
        one[str(q)] = {"a": 2.0 if q % 2 else 0.95, **others}
        two[str(q)] = {"a": 0.95 if q % 2 else 2.0, **noise}
    found = tune(qrels, {"one": one, "two": two}, "RR")
    assert found.differences[0].verdict == "significantly better"
    assert found.no_better_than == (found.untuned.name,)  # which is perfect, too
    assert found.sentence.startswith("Better: tuned mixture vs ")


def test_lower_is_better_is_tuned_downwards():
    up, down = tune("builtin", RUNS, "nDCG@10", methods="combsum"), tune("builtin", RUNS, "E", methods="combsum")
    assert down.final.seen == min(setting.seen for setting in down.settings)
    assert up.final.seen == max(setting.seen for setting in up.settings)
    assert down.value.value >= down.final.seen


def test_weights_groups_and_segments_of_queries_count():
    queries = list(evaluate("builtin", "builtin:plain", "RR").query_ids)
    plain = tune("builtin", RUNS, methods="combsum")
    weights = {query: 1 + at % 3 for at, query in enumerate(queries)}
    weighted = tune("builtin", RUNS, methods="combsum", weights=weights)
    wanted = evaluate("builtin", "builtin:plain", "nDCG@10", weights=weights)
    assert weighted.means["lexical"] == pytest.approx(next(iter(wanted.values())))
    groups = {query: str(at // 3) for at, query in enumerate(queries)}
    grouped = tune("builtin", RUNS, methods="combsum", groups=groups)
    assert grouped.value.queries == pytest.approx(20)
    assert grouped.value.margin != plain.value.margin
    segments = {query: "long" if len(query) % 2 else "short" for query in queries[:-2]}
    segmented = tune("builtin", RUNS, methods="combsum", segments=segments)
    assert "2 queries without a segment are a stratum of their own" in segmented.warnings


# What is tried.


def test_grids_and_points():
    two, three, four = (["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"])
    assert len(candidates(two, ["combsum"])) == 21 + 1  # and plain reciprocal rank fusion
    assert len(candidates(three, ["combsum"])) == 231 + 1
    assert len(candidates(four, ["combsum"])) == 512 + 1
    assert len(candidates(two, ["rrf"])) == 9 * 21  # plain fusion is one of them
    assert len(candidates(two, ["rrf"], {"weights": False, "k": [1, 2]})) == 3
    assert len(candidates(two, ["rrf"], {"weights": False, "k": [60.0]})) == 1
    for mixtures in (candidates(two), candidates(three), candidates(four)):
        assert str(mixtures[0]) == "rrf, k = 60"
        assert len({str(mixture) for mixture in mixtures}) == len(mixtures)
        assert all(sum(its.weights) == pytest.approx(1, abs=5e-4) for its in mixtures if its.weights)
    spread = np.array([its.weights for its in candidates(four, ["combsum"])[1:]])
    assert np.abs(spread.mean(axis=0) - 0.25).max() < 0.02  # evenly over all weights
    assert len(simplex(3, 20)) == 231


def test_the_edge_of_a_grid_is_told():
    every = candidates(["a", "b"], ["rrf"], {"weights": False, "k": [5, 10, 20]})
    at = {its.parameters["k"]: its for its in every}
    assert list(edges(at[5], every)) == [("k", 5, "smallest")]
    assert not list(edges(at[20], every))  # 60 was tried, too
    assert list(edges(at[60], every)) == [("k", 60, "largest")]
    zero = candidates(["a", "b"], ["rrf"], {"weights": False})
    assert not list(edges(next(its for its in zero if its.parameters["k"] == 0), zero))  # nothing lies beyond
    found = tune("builtin", RUNS, methods="rrf", tried={"k": [100, 150, 200], "weights": False})
    assert "k = 60 is the smallest value tried: try smaller ones, too" in found.warnings


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        ({"kk": [1]}, "there is no parameter 'kk'"),
        ({"k": [-1]}, "k cannot be"),
        ({"phi": [0.5]}, "none of the methods has a parameter 'phi'"),
        ({"depth": [0]}, "is not a number of documents"),
        ({"normalisation": ["minimax"]}, "there is no normalisation 'minimax'"),
        ({"method": ["rff"]}, "there is no fusion method 'rff'"),
        ({"k": list(range(5000))}, "settings"),
        ({"weights": [0.1, 0.9]}, "weights cannot be"),
    ],
)
def test_what_cannot_be_tried_is_refused(tried, message):
    with pytest.raises(InputError, match=message):
        candidates(["a", "b"], (), tried)


def test_too_few_queries_are_refused():
    qrels = {str(q): {"a": 1} for q in range(9)}
    run = {str(q): ["a"] for q in range(9)}
    with pytest.raises(ComparisonError, match="9 queries are too few"):
        tune(qrels, [run, run])
    with pytest.raises(InputError, match="at least two runs"):
        tune(qrels, [run])
    with pytest.raises(InputError, match="no run has a query of the judgments"):
        tune(qrels, [{"x": ["a"]}, {"y": ["a"]}])
    with pytest.raises(InputError, match="no run has a judged document"):
        tune(qrels, [{"1": ["b"]}, {"2": ["b"]}])
    with pytest.raises(cranfield.MeasureError):
        tune("builtin", RUNS, "alpha_nDCG@10")


# Runs that were tuned know it.


def test_a_tuned_run_says_so_where_it_is_compared(tmp_path):
    found = tune("builtin", RUNS, methods="combsum")
    path = tmp_path / "mixed.run"
    found.run(path)
    made = open_run(path).made
    assert (made.tuned.tried, made.tuned.measure, len(made.tuned.queries)) == (22, "nDCG@10", 60)
    assert made.fusion.settings == dict(found.final.arguments)
    for run in (path, found.run()):
        compared = compare("builtin", {"plain": "builtin:plain", "mixed": run})
        [doubt] = [doubt for doubt in compared.doubts if doubt.kind == "tuned-here"]
        assert doubt.run == "mixed"
        assert "the best of 22 settings on 60 of 60 queries" in doubt.sentence
    other = {query: dict(its) for query, its in found.run().rankings.items()}
    assert not [
        its for its in compare("builtin", {"plain": "builtin:plain", "mixed": other}).doubts if "tuned" in its.kind
    ]
    elsewhere = {f"new{q}": {"a": 1} for q in range(20)}
    run = {f"new{q}": ["a"] for q in range(20)}
    text = path.read_text() + lines_of({query: {"a": 1.0} for query in run})
    (tmp_path / "more.run").write_text(text)
    compared = compare(elsewhere, {"one": tmp_path / "more.run", "two": run})
    assert not [doubt for doubt in compared.doubts if doubt.kind == "tuned-here"]  # other queries


@pytest.mark.parametrize("suffix", ["run", "run.gz", "csv", "jsonl"])
def test_what_is_made_of_a_tuned_run_says_so(tmp_path, suffix):
    found = tune("builtin", RUNS, methods="combsum")
    found.run(tmp_path / "mixed.run")
    cranfield.convert_file(tmp_path / "mixed.run", tmp_path / f"first.{suffix}")
    cranfield.convert_file(tmp_path / f"first.{suffix}", tmp_path / "second.csv.gz", role="run")
    assert open_run(tmp_path / "second.csv.gz").made == open_run(tmp_path / "mixed.run").made
    [warning] = [its for its in evaluate("builtin", tmp_path / "second.csv.gz").warnings if "settings" in its]
    assert warning.startswith("chosen as the best of 22 settings on 60 of these 60 queries")
    both = fuse({"plain": "builtin:plain", "mixed": tmp_path / f"first.{suffix}"}, path=tmp_path / "both.run")
    assert both.made.tuned.part == "mixed"
    for run in (both, tmp_path / "both.run"):
        compared = compare("builtin", {"plain": "builtin:plain", "both": run})
        [doubt] = [doubt for doubt in compared.doubts if doubt.kind == "tuned-here"]
        assert doubt.sentence.startswith("both is made of mixed, the best of 22 settings on 60 of 60 queries compared")
    again = tune("builtin", {"plain": "builtin:plain", "mixed": found.run()}, methods="combsum")
    assert again.warnings[0].startswith("mixed was tuned on 60 of these 60 queries, so it looks better than it is")
    assert again.run().made.tuned.tried == 44


def test_settings_that_somebody_chose_are_told(tmp_path):
    def told(run):
        compared = compare("builtin", {"plain": "builtin:plain", "mixed": run}, bounds=False)
        return [doubt.sentence for doubt in compared.doubts if doubt.kind == "own-settings"]

    chosen = {
        "weights 0.1 and 0.9": {"weights": [0.1, 0.9]},
        "k = 5": {"k": 5},
        "constant = 0 and weights 1 and 2": {"method": "combsum", "constant": 0, "weights": [1, 2]},
    }
    for words, arguments in chosen.items():
        path = tmp_path / f"{len(words)}.run"
        fuse(RUNS, **arguments, path=path)
        for run in (path, fuse(RUNS, **arguments)):
            [sentence] = told(run)
            assert sentence.startswith(f"mixed is a mixture with {words}: if that was chosen on queries")
    for run in (fuse(RUNS), fuse(RUNS, weights=[0.5, 0.5]), fuse(RUNS, "combsum"), tune("builtin", RUNS).run()):
        assert not told(run)


def test_a_saved_evaluation_of_a_tuned_run_still_knows(tmp_path):
    found = tune("builtin", RUNS, methods="combsum")
    evaluate("builtin", found.run(), "nDCG@10", name="mixed").save(tmp_path / "mixed.json")
    compared = compare("builtin", {"plain": "builtin:plain", "mixed": tmp_path / "mixed.json"}, "nDCG@10")
    assert "tuned-here" in [doubt.kind for doubt in compared.doubts]


def test_the_final_run_is_the_one_that_was_measured():
    found = tune("builtin", RUNS, methods="combsum")
    assert evaluate("builtin", found.run(), "nDCG@10")["nDCG@10"] == pytest.approx(found.final.seen)
    again = fuse(RUNS, **dict(found.final.arguments.items()))
    assert again.rankings == found.run().rankings


def test_repeats_and_folds_are_as_documented():
    assert (folds.REPEATS, folds.FOLDS) == (20, 5)
