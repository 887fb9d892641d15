"""Errors and warnings about values that cannot be trusted: mismatched ids, ties, and numbers that are not finite."""

import json

import pytest

from tests.program import run

QUERIES = range(1, 13)
COMMANDS = {
    "evaluate": ("{}",),
    "compare": ("good.run", "{}"),
    "gate": ("good.run", "{}"),
    "stability": ("{}", "--repeats", "1"),
    "report": ("{}", "-o", "page.html", "--no-charts"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("doubts")
    (where / "qrels").write_text("".join(f"{q} 0 r 1\n{q} 0 x 0\n" for q in QUERIES))
    (where / "huge").write_text("".join(f"{q} 0 r 2000\n{q} 0 x 1\n" for q in QUERIES))
    for name, line in (
        ("good", "{q} Q0 {d} 1 {s} t\n"),
        ("queries", "q{q} Q0 {d} 1 {s} t\n"),
        ("documents", "{q} Q0 doc-{d} 1 {s} t\n"),
        ("ties", "{q} Q0 {d} 1 5 t\n"),
    ):
        lines = [line.format(q=q, d=d, s=-s) for q in QUERIES for s, d in enumerate("rx")]
        (where / f"{name}.run").write_text("".join(lines))
    (where / "few.run").write_text("".join(f"{q} Q0 r 1 1 t\n" for q in QUERIES if q < 4))
    (where / "zero").write_text("".join(f"{q} 0\n" for q in QUERIES))
    (where / "large").write_text("".join(f"{q} 1e308\n" for q in QUERIES))
    return where


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("other", "fact"),
    [
        ("queries", "queries.run: no query of the run is judged: run: 'q1', 'q2', 'q3'; judgments: '1', '2', '3'."),
        (
            "documents",
            "documents.run: no judged document is retrieved for any of the 12 queries that run and judgments share: "
            "run: 'doc-r', 'doc-x'; judgments: 'r', 'x'.",
        ),
    ],
)
def test_mismatched_ids_are_an_error_unless_the_check_is_off(folder, command, other, fact):
    arguments = [each.format(f"{other}.run") for each in COMMANDS[command]]
    done = run(command, "qrels", *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"cranfield: {fact}\nHint: ")
    done = run(command, "qrels", *arguments, "--no-id-check", cwd=folder)
    assert (done.returncode, done.stderr) == (1 if command == "gate" else 0, "")


def test_mismatched_ids_are_found_in_standard_input_and_by_plot(folder):
    done = run("evaluate", "qrels", "-", cwd=folder, input=(folder / "queries.run").read_text())
    assert done.stderr.startswith("cranfield: standard input: no query of the run is judged: run: 'q1', 'q2', 'q3'")
    done = run("plot", "distribution", "qrels", "queries.run", "-o", "chart.json", cwd=folder)
    assert done.returncode == 2
    assert (
        run("plot", "distribution", "qrels", "queries.run", "-o", "chart.json", "--no-id-check", cwd=folder).stderr
        == ""
    )


def test_trec_eval_does_not_check_ids(folder):
    assert run("trec_eval", "-m", "map", "qrels", "documents.run", cwd=folder).stdout.split() == [
        "map",
        "all",
        "0.0000",
    ]


def test_warnings(folder):
    few = "only 3 of the 12 judged queries are in the run; the others count 0"
    assert run("evaluate", "qrels", "few.run", "-m", "RR", cwd=folder).stdout.startswith(f"warning: {few}\n\nrun ")
    shown = run("evaluate", "qrels", "few.run", "-m", "RR", "--format", "markdown", cwd=folder).stdout
    assert shown.startswith(f"**Warning:** {few}\n\n| run |")
    [found] = json.loads(run("evaluate", "qrels", "few.run", "--format", "json", cwd=folder).stdout)["runs"]
    assert found["warnings"] == [few]
    ties = "ties matter: RR 0.5000, between 0.5000 (worst order of ties) and 1.0000 (best)"
    assert f"\n\n{ties}\n12 queries" in run("evaluate", "qrels", "ties.run", "-m", "RR", cwd=folder).stdout
    assert "ties matter" not in run("evaluate", "qrels", "ties.run", "-m", "RR", "--ties", "file", cwd=folder).stdout
    assert "ties matter" not in run("evaluate", "qrels", "good.run", "-m", "RR", cwd=folder).stdout


def test_a_gate_refuses_values_that_are_not_finite(folder):
    done = run("gate", "huge", "good.run", "good.run", "-m", "nDCG(gain=exponential)@10", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "cranfield: nDCG(gain=exponential)@10 of query '1' is not a finite number: grade 2000 has a gain beyond the "
        "range of floating point.\nHint: "
    )


@pytest.mark.parametrize(
    ("weights", "fact"),
    [
        ("zero", "zero: all queries over which a value is averaged have the weight 0."),
        ("large", "large: they are too large to add up (the largest is 1e+308)."),
    ],
)
def test_unusable_weights_are_refused(folder, weights, fact):
    done = run("evaluate", "qrels", "good.run", "-m", "AP", "--weights", weights, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"cranfield: {fact}\nHint: ")
