"""The names of runs, in every function that takes several."""

import io
from pathlib import Path

import pytest

from cranfield import compare, evaluate, evaluate_runs, gate, stability
from cranfield.evaluation.naming import named_runs
from cranfield.io.streams import Stream

QRELS = {str(q): {"a": 1} for q in range(6)}
RUN = {str(q): ["a"] for q in range(6)}
OTHER = {str(q): ["b", "a"] for q in range(6)}


def names(runs, **how):
    return list(named_runs(runs, **how))


def test_a_mapping_names_its_runs():
    runs = {"a": 1, 7: 2, "7": 3, "": {"q": []}}
    assert named_runs(runs) == {"a": 1, "7": 2, "7 (2)": 3, "the run": {"q": []}}


@pytest.mark.parametrize("runs", ["x/a.run.gz", Path("x/a.run"), [Path("x/a.tsv")], ("a.run",)])
def test_a_path_is_one_run(runs):
    assert names(runs) == ["a"]


def test_runs_that_are_not_files_have_a_name_too(tmp_path):
    (tmp_path / "a.run").write_bytes(b"")
    evaluation = evaluate(QRELS, RUN, "RR", name="mine")
    assert names(evaluation) == ["mine"]
    assert names([evaluation, RUN, io.BytesIO(), "-", "builtin:keywords", Stream(tmp_path / "a.run")]) == [
        *("mine", "the run", "an open file", "standard input", "keywords", "a")
    ]
    with (tmp_path / "a.run").open("rb") as file:
        assert names(file) == ["a"]


@pytest.mark.parametrize(
    ("runs", "called"),
    [
        (["x/a.run", "y/a.run", "b.run"], ["x/a", "y/a", "b"]),
        (["x/a.run", "x/a.run"], ["a", "a (2)"]),
        (["x/a.run", "x/a.run", "y/a.run"], ["x/a", "x/a (2)", "y/a"]),
        (["a (2).run", "a.run", "a.run"], ["a (2)", "a", "a (3)"]),
        (["builtin:keywords"] * 2, ["keywords", "keywords (2)"]),
        ([RUN, OTHER, RUN], ["the run", "the run (2)", "the run (3)"]),
    ],
)
def test_names_of_runs_are_unique(runs, called):
    assert names(runs) == called
    assert list(named_runs(runs).values()) == runs


def test_runs_of_many_files_are_named_after_their_folder(tmp_path):
    polars = pytest.importorskip("polars")
    for folder in ("x", "y"):
        (tmp_path / folder / "runs").mkdir(parents=True)
        columns = {"query_id": [*QRELS], "doc_id": ["a"] * 6, "score": [1.0] * 6}
        polars.DataFrame(columns).write_parquet(tmp_path / folder / "runs" / "part.parquet")
    patterns = [str(tmp_path / folder / "runs" / "*.parquet") for folder in "xy"]
    assert list(evaluate_runs(QRELS, patterns, "RR", engine="polars")) == ["x/runs", "y/runs"]
    assert list(evaluate_runs(QRELS, patterns[0], "RR", engine="polars")) == ["runs"]


def test_a_run_may_be_opened_first_and_named_differently():
    assert named_runs(["a", "b"], opened=str.upper, name_of=lambda run: f"<{run}>") == {"<A>": "A", "<B>": "B"}


def test_all_functions_name_runs_in_the_same_way(tmp_path):
    lines = "".join(f"{q} Q0 a 1 1 t\n" for q in range(6))
    paths = [tmp_path / folder / "a.run" for folder in "xy"]
    for path in paths:
        path.parent.mkdir()
        path.write_text(lines)
    called = ("x/a", "y/a")
    assert tuple(evaluate_runs(QRELS, paths, "RR")) == called
    assert compare(QRELS, paths, "RR").runs == called
    assert stability(QRELS, paths, "RR", [0.5]).runs == called
    assert [each.run for each in evaluate_runs(QRELS, paths, "RR").values()] == list(called)


def test_evaluations_take_the_given_names():
    one, other = evaluate(QRELS, RUN, "RR"), evaluate(QRELS, OTHER, "RR")
    assert compare(None, {"one": one, "other": other}, "RR").runs == ("one", "other")
    assert compare(None, [one, other], "RR").runs == ("the run", "the run (2)")
    assert (one.run, other.run) == ("the run", "the run")
    beside = compare(QRELS, {"baseline": RUN, "mine": OTHER}, "RR", baseline=one)
    assert (beside.baseline, beside.runs) == ("baseline (2)", ("baseline (2)", "baseline", "mine"))


def test_a_gate_names_unnamed_runs_by_their_roles():
    def called(*runs):
        found = gate(QRELS, *runs, "RR")
        return found.baseline, found.candidate

    one = evaluate(QRELS, RUN, "RR", name="one")
    assert called(RUN, OTHER) == ("baseline", "candidate")
    assert called(one, OTHER) == ("one", "candidate")
    assert called(one, one) == ("one (baseline)", "one (candidate)")
    assert called(one.renamed("candidate"), OTHER) == ("candidate (baseline)", "candidate (candidate)")
