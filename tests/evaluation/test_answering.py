"""Queries without an answer: right is to return nothing above the threshold."""

import json
from math import inf
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pytest

from bench import thresholds
from cranfield import Evaluation, Policy, compare, draw_chart, evaluate, evaluate_runs, gate, stability, tune
from cranfield.errors import ComparisonError, InputError, MeasureError
from cranfield.evaluation.answering import nauc_of, normalised_area
from tests.program import run as program

CHANCE = np.random.default_rng(4)
QRELS = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1, "d": 1}}
RUN = {
    "1": {"a": 0.9, "x": 0.5},
    "2": {"x": 0.8, "b": 0.7, "y": 0.1},
    "3": {"c": 0.3, "d": 0.2},
    "4": {"x": 0.6},
    "5": {"y": 0.2},
}
WITHOUT = {"4": False, "5": "no", "6": False}


def naive(measure, threshold):
    """The mean over all queries, one after the other, from cut rankings that are evaluated alone."""
    values = {}
    for query in ("1", "2", "3", "4", "5", "6"):
        kept = {document: score for document, score in RUN.get(query, {}).items() if score >= threshold}
        if query in QRELS:
            values[query] = evaluate({query: QRELS[query]}, {query: kept}, measure, check_ids=False)[measure]
        else:
            values[query] = float(not kept)
    return values


@pytest.mark.parametrize("threshold", [-inf, 0.1, 0.15, 0.2, 0.3, 0.5, 0.61, 0.75, 0.9, 1.0])
@pytest.mark.parametrize("measure", ["RR", "nDCG@10", "R@2", "AP"])
def test_values_by_a_threshold_are_those_of_cut_rankings(threshold, measure):
    result = evaluate(QRELS, RUN, [measure], answerable=WITHOUT, threshold=threshold)
    wanted = naive(measure, threshold)
    assert result.by_query(measure) == pytest.approx(wanted)
    assert result[measure] == pytest.approx(fmean(wanted.values()))
    its = result.answering
    assert its.answered[measure] == pytest.approx(fmean(wanted[query] for query in QRELS))
    assert its.rightly_empty == pytest.approx(fmean(wanted[query] for query in "456"))
    empty = [not any(score >= threshold for score in RUN[query].values()) for query in QRELS]
    assert its.wrongly_empty == pytest.approx(fmean(empty))


def test_a_curve_over_thresholds_is_that_of_single_ones():
    curve = evaluate(QRELS, RUN, "RR", answerable=WITHOUT).answering.curve
    assert [point.threshold for point in curve] == [None, 0.2, 0.3, 0.6, 0.8, 0.9, float(np.nextafter(0.9, 1))]
    for point in curve[1:]:
        its = evaluate(QRELS, RUN, "RR", answerable=WITHOUT, threshold=point.threshold)
        shares = its.answering.rightly_empty, its.answering.wrongly_empty, its.answering.answered["RR"], its["RR"]
        assert point[1:] == pytest.approx(shares)
    assert curve[-1][1:] == (1.0, 1.0, 0.0, 0.5)


def test_a_run_that_returns_nothing_differs_from_one_that_returns_rubbish():
    nothing, rubbish = {"1": ["a"], "2": [], "3": []}, {query: ["zzz"] for query in "123456"} | {"1": ["a"]}
    results = evaluate_runs(QRELS, {"nothing": nothing, "rubbish": rubbish}, "RR", answerable=WITHOUT)
    assert results["nothing"]["RR"] == pytest.approx(4 / 6)
    assert results["rubbish"]["RR"] == pytest.approx(1 / 6)
    assert results["nothing"].answering.sentence.startswith(
        "3 of 3 queries without an answer are rightly empty, 2 of 3"
    )
    plain = evaluate_runs(QRELS, {"nothing": nothing, "rubbish": rubbish}, "RR")
    assert plain["nothing"]["RR"] == plain["rubbish"]["RR"]
    assert results["rubbish"].worst("RR", 6)[-2].query_id in "456123"
    reasons = {query.query_id: query.reason for query in results["rubbish"].worst("RR", 6)}
    assert reasons["4"] == "1 returned, and it has no answer"
    assert results["nothing"].counts.missing == 0
    assert results["nothing"].describe_counts() == "6 queries; 3 of them without an answer"


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_read_alike_from_files_and_from_memory(tmp_path, seed):
    rng = np.random.default_rng(seed)
    run = {
        f"q{q}": {f"d{d}": float(score) for d, score in enumerate(rng.choice([0.1, 0.2, 0.7, 0.9], rng.integers(0, 6)))}
        for q in range(30)
    }
    qrels = {f"q{q}": {"d0": 1, "d3": 2} for q in range(20)}
    lines = [f"{q} Q0 {d} 1 {score!r} r\n" for q, its in run.items() for d, score in its.items()]
    (tmp_path / "a.run").write_text("".join(sorted(lines, key=lambda line: line.split()[0])))
    options = {"answerable": {f"q{q}": q < 20 for q in range(30)}, "threshold": 0.5}
    memory, file = (evaluate(qrels, its, "nDCG@3", **options) for its in (run, tmp_path / "a.run"))
    assert memory.by_query("nDCG@3") == file.by_query("nDCG@3")
    assert memory.answering == file.answering
    best = evaluate(qrels, run, "nDCG@3", policy=Policy(duplicates="best"), **options)
    assert best.by_query("nDCG@3") == file.by_query("nDCG@3")


def naive_nauc(values, confidence):
    """arXiv 2402.12997, as mteb computes it."""
    rates = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

    def curve(order):
        ranked = [value for _, value in sorted(zip(order, values, strict=True), key=lambda pair: pair[0])]
        points = []
        for rate in rates:
            gone = min(round(rate * len(ranked)), len(ranked) - 1)
            points.append(fmean(ranked[gone:]))
        return sum((points[at] + points[at + 1]) / 2 * 0.1 for at in range(9))

    flat = fmean(values) * 0.9
    return (curve(confidence) - flat) / (curve(values) - flat)


@pytest.mark.parametrize("n", [2, 3, 7, 25, 64])
def test_nauc_is_that_of_a_naive_loop(n):
    values = CHANCE.random(n)
    scores = [-np.sort(-CHANCE.random(CHANCE.integers(2, 6))) for _ in range(n)]
    found = nauc_of(values, scores)
    for name, confidence in (
        ("max", [max(its) for its in scores]),
        ("margin", [its[0] - its[1] for its in scores]),
        ("deviation", [pstdev(its.tolist()) for its in scores]),
    ):
        assert found[name] == pytest.approx(naive_nauc(values.tolist(), confidence))
    assert normalised_area(values, values) == pytest.approx(1.0)
    assert normalised_area(np.full(n, 0.4), CHANCE.random(n)) is None


def test_a_threshold_that_is_chosen_looks_better_than_it_is_and_cross_fitted_it_does_not():
    """Simulated with few, tied values; bench/thresholds.py has more."""
    found = thresholds.table(60, 60, seed=3)
    assert found["in_sample"] > found["true"] + 0.015
    assert abs(found["cross_fitted"] - found["true"]) < 3 * found["error_of_cross_fitted"]
    assert found["coverage"] >= 0.88


def test_the_recorded_simulation_keeps_what_is_promised():
    recorded = json.loads((Path(thresholds.__file__).with_suffix(".json")).read_text(encoding="utf-8"))
    for found in recorded:
        assert found["times"] >= 600
        assert found["in_sample"] > found["true"] + 0.02
        assert abs(found["cross_fitted"] - found["true"]) <= 0.003
        assert 0.93 <= found["coverage"] <= 0.97
    [sixty] = [found for found in recorded if found["queries"] == 60]
    rounded = [f"{sixty[name]:.3f}" for name in ("in_sample", "true", "cross_fitted")]
    assert rounded == ["0.569", "0.517", "0.518"]  # as the guide and the claims say


def test_fitted_thresholds_are_compared_and_kept(tmp_path):
    rng = np.random.default_rng(1)
    without = {f"q{q}": False for q in range(20)}
    qrels = {f"q{q}": {"a": 1} for q in range(20, 60)}
    runs = {
        name: {f"q{q}": {"a": float(rng.normal((q >= 20) * shift)), "b": -9.0} for q in range(60)}
        for name, shift in (("weak", 0.3), ("strong", 3.0))
    }
    results = evaluate_runs(qrels, runs, "RR P@1", answerable=without, threshold="fitted")
    strong = results["strong"]
    assert strong.answering.optimistic >= strong["RR"] > results["weak"]["RR"]
    assert "threshold:fitted" in strong.signature
    strong.save(tmp_path / "strong.json")
    again = Evaluation.load(tmp_path / "strong.json")
    assert again.answering == strong.answering
    assert again.signature == strong.signature
    found = compare(qrels, {"weak": results["weak"], "strong": again}, "RR", answerable=without)
    assert found.differences[0].verdict == "significantly better"
    assert found.differences[0].reach is None  # of unjudged documents, nothing is asked
    assert found.to_dict()["answering"]["strong"]["optimistic"] == strong.answering.optimistic
    assert not gate(qrels, again, results["weak"], "RR")
    with pytest.raises(ComparisonError, match="other queries that have no answer"):
        compare(qrels, {"one": evaluate(qrels, runs["weak"], "RR"), "two": again.renamed("two")}, "RR")
    with pytest.raises(InputError, match="saved without these queries"):
        compare(qrels, {"one": runs["weak"], "two": again}, "RR", answerable={"q0": False})
    with pytest.raises(InputError, match="no bounds where queries without an answer"):
        strong.bounds("RR")


def test_a_gate_takes_it_as_right_that_a_query_without_an_answer_becomes_empty():
    before = {query: ["x", "a"] for query in "12345"}
    qrels = {query: {"a": 1} for query in "123"}
    options = {"answerable": {"4": False, "5": False}}
    after = {query: ["a"] if query in "123" else [] for query in "12345"}
    decided = gate(qrels, before, after, "RR", **options)
    assert decided.passed
    assert decided.to_dict()["answering"]
    assert not gate(qrels, before, {**after, "1": []}, "RR", **options).passed


@pytest.mark.parametrize(
    ("options", "kind", "fact"),
    [
        ({"answerable": {"1": False}}, InputError, "1 query that should have no answer has a relevant document: 1"),
        ({"answerable": {"1": True}}, InputError, "each of the queries has an answer"),
        ({"answerable": {"4": "perhaps"}}, InputError, "answerable 'perhaps' of '4' is neither yes nor no"),
        ({"threshold": 0.5}, InputError, "no column says which"),
        ({"answerable": {"4": False}, "threshold": "high"}, InputError, "threshold='high' is no score"),
        ({"answerable": {"4": False}, "threshold": float("nan")}, InputError, "threshold=nan is no score"),
        ({"answerable": {"4": False}, "threshold": "fitted"}, InputError, "are too few to choose a threshold"),
        ({"answerable": {"4": False}, "policy": Policy(missing="skip")}, InputError, "returned nothing"),
    ],
)
def test_what_means_nothing_is_refused(options, kind, fact):
    with pytest.raises(kind, match=fact):
        evaluate(QRELS, RUN, "RR", **options)


def test_what_is_about_relevant_documents_alone_leaves_out_queries_without_an_answer(tmp_path):
    """One that happens to be judged, as the fourth, is left out, too."""
    rows = "".join(f"{query},text of {query},{'no' if query in '456' else 'yes'}\n" for query in "123456")
    (tmp_path / "q.csv").write_text(f"query_id,text,answerable\n{rows}")
    qrels, path = {**QRELS, "4": {"x": 0}}, tmp_path / "q.csv"
    thinned, plain = (
        stability(its, {"mine": RUN}, "RR", [0.0], **options)
        for its, options in ((qrels, {"query_columns": path}), (QRELS, {}))
    )
    assert thinned.queries == 3
    assert thinned.rows == plain.rows
    chart = draw_chart("stability", qrels, {"mine": RUN}, "RR", query_columns=path)
    assert chart["data"]["values"]
    with pytest.raises(InputError, match=r"threshold=0\.5 means nothing here"):
        draw_chart("stability", qrels, {"mine": RUN}, "RR", query_columns=path, threshold=0.5)
    many = {f"q{q}": {"a": 1} for q in range(20)}
    runs = {name: {query: {"a": 1.0, name: 2.0} for query in many} for name in ("one", "two")}
    answers = "".join(f"q{q},text of {q},{'yes' if q < 20 else 'no'}\n" for q in range(25))
    path.write_text(f"query_id,text,answerable\n{answers}")
    tuned = tune(many, runs, "RR", methods="rrf", query_columns=path, repeats=2)
    assert "5 queries without an answer are left out" in tuned.warnings
    assert tuned.queries == 20


def test_measures_without_a_best_value_are_refused():
    lengths = dict.fromkeys("abcdxy", 9)
    with pytest.raises(MeasureError, match="TBG has no value for a query without an answer"):
        evaluate(QRELS, RUN, "RR TBG", answerable=WITHOUT, lengths=lengths)
    result = evaluate(QRELS, RUN, "RR NumRel Judged@2", answerable=WITHOUT)  # which are no means of values of queries
    assert (result["NumRel"], result.by_query("Judged@2")["4"]) == (4, 0)


def test_commands_say_what_is_rightly_and_wrongly_empty(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 a 1\n" for q in range(12)))
    queries = "".join(f"q{q},text of {q},{'yes' if q < 12 else 'no'}\n" for q in range(20))
    (tmp_path / "q.csv").write_text(f"query_id,text,answerable\n{queries}")
    for name, share in (("one", 3), ("two", 5)):
        rows = (f"q{q} Q0 {'a' if q % share else 'b'} 1 {20 - q} {name}\n" for q in range(20))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    runs = ("qrels", "one.run", "two.run", "--query-columns", "q.csv", "-m", "RR")
    for command in ("evaluate", "compare", "gate"):
        done = program(command, *runs, "--threshold", "6.5", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "rightly empty  wrongly empty" in done.stdout
        assert "75%             0%" in done.stdout
        assert "nothing below the score 6.5 is returned" in " ".join(done.stdout.split())
        plain = json.loads(program(command, *runs, "--format", "json", cwd=tmp_path).stdout)
        assert "unanswerable" in json.dumps(plain)
    fitted = program("evaluate", *runs, "--threshold", "fitted", cwd=tmp_path)
    assert "do not report that" in " ".join(fitted.stdout.split()), fitted.stderr
    told = program("evaluate", *runs, "--threshold", "6.5", "--format", "markdown", cwd=tmp_path).stdout
    assert "one: 6 of 8 queries without an answer are rightly empty, 0 of 12 with one wrongly." in told
    assert (
        "do not report that"
        in program("compare", *runs, "--threshold", "fitted", "--format", "markdown", cwd=tmp_path).stdout
    )
    review = program("gate", *runs, "--format", "markdown", cwd=tmp_path).stdout
    assert "| rightly empty | 0% | 0% |" in review
    page = program("report", *runs, "--no-charts", "-o", "r.html", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "0 of 8 queries without an answer are rightly empty" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_project_tells_what_is_rightly_and_wrongly_empty(tmp_path):
    corpus = "".join(f'{{"_id": "d{n}", "text": "{word}"}}\n' for n, word in enumerate(("cats", "dogs", "fish")))
    (tmp_path / "corpus.jsonl").write_text(corpus)
    (tmp_path / "qrels.txt").write_text("1 0 d0 1\n2 0 d1 1\n")
    rows = ("1,cats,yes", "2,dogs,yes", "3,fish,no", "4,unicorns,no")
    (tmp_path / "queries.csv").write_text("\n".join(("query_id,text,answerable", *rows)) + "\n")
    settings = ('collection = "."', 'query_columns = "queries.csv"', "[systems.sqlite]", 'type = "sqlite"')
    (tmp_path / "cranfield.toml").write_text("\n".join(settings) + "\n")
    done = program("test", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sqlite 50% 0% 1.0000" in " ".join(done.stdout.split())
    assert "1 query returned no documents: 4" in done.stdout  # and it counts 1
    [system] = json.loads(program("test", "--format", "json", cwd=tmp_path).stdout)["systems"]
    assert system["answering"]["rightly_empty"] == 0.5
    assert program("accept", cwd=tmp_path).returncode == 0
    review = program("test", "--format", "markdown", cwd=tmp_path).stdout
    assert "| rightly empty | 50% | 50% |" in review
    line = json.loads(program("history", "--format", "json", cwd=tmp_path).stdout)[0]
    assert line["results"][0]["value"] == 0.75
    (tmp_path / "queries.csv").write_text("\n".join(("query_id,text,answerable", *rows[:3])) + "\n4,unicorns,yes\n")
    again = program("test", cwd=tmp_path)
    assert again.returncode in (0, 1), again.stderr
    assert len(json.loads(program("history", "--format", "json", cwd=tmp_path).stdout)[0]["breaks"]) == 1
