"""Weights of queries on the command line, and in cranfield.toml: the same in every command that measures means."""

import json
import shutil

import pytest

from cranfield import compare, evaluate
from tests.program import run

COLUMNS = "weighted and grouped by columns.csv: as precise as 13 equally weighted groups"
QUERIES = [f"q{number:02}" for number in range(1, 61)]
RUNS = ("builtin", "builtin:plain", "builtin:tuned")
SAID = "weighted by traffic.csv: as precise as 13 equally weighted queries"
MEASURED = {
    "evaluate": ("evaluate", *RUNS),
    "compare": ("compare", *RUNS),
    "compare all pairs": ("compare", *RUNS, "--pairs", "--explain"),
    "gate": ("gate", *RUNS),
    "stability": ("stability", *RUNS, "--remove", "0.5", "--repeats", "1"),
    "leave out": ("stability", *RUNS, "--leave-out"),
}


@pytest.fixture
def queries(folder):
    """The folder, with a file of queries: their texts, weights, groups of two and segments of ten."""
    rows = (
        f"{query},text of {query},{30 / (2 + n // 2):.3f},{query if n % 2 else QUERIES[n - 2]},s{n // 10}"
        for n, query in enumerate(QUERIES, 1)
    )
    (folder / "columns.csv").write_text("\n".join(["query_id,text,weight,group,segment", *rows]) + "\n")
    return folder


@pytest.fixture
def folder(tmp_path):
    lines = (f"{query},{1000 / place:.3f}\n" for place, query in enumerate(QUERIES, 1))
    (tmp_path / "traffic.csv").write_text("query_id,weight\n" + "".join(lines))
    (tmp_path / "segments.csv").write_text(
        "".join(f"{query},{'head' if query < 'q31' else 'tail'}\n" for query in QUERIES)
    )
    return tmp_path


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", MEASURED)
def test_every_command_that_measures_says_how_it_weights(folder, name):
    command = (*MEASURED[name], "--weights", "traffic.csv", "-m", "nDCG@10")
    text = run(*command, cwd=folder)
    assert text.returncode == 0, text.stderr
    assert SAID in flat(text.stdout)
    assert "†" in text.stdout or name in ("gate", "stability", "leave out")
    found = json.loads(run(*command[: len(MEASURED[name])], *command[-4:], "--format", "json", cwd=folder).stdout)
    assert found["weights"]["source"] == "traffic.csv"
    assert SAID not in flat(run(*MEASURED[name], "-m", "nDCG@10", cwd=folder).stdout)


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_tables_for_papers_are_marked(folder, command, form):
    printed = run(command, *RUNS, "--weights", "traffic.csv", "-m", "nDCG@10", "--format", form, cwd=folder).stdout
    assert ("nDCG@10†" if form == "markdown" else r"nDCG@10$\dagger$") in printed
    assert SAID in printed


def test_rows_of_values_are_marked(folder):
    printed = run("evaluate", *RUNS, "--weights", "traffic.csv", "-m", "RR", "--format", "tsv", cwd=folder).stdout
    assert "plain\tall (weighted)\tRR\t" in printed


def test_values_are_those_of_python(folder):
    weights = folder / "traffic.csv"
    found = json.loads(run("compare", *RUNS, "--weights", "traffic.csv", "--format", "json", cwd=folder).stdout)
    [ours] = compare("builtin", RUNS[1:], "nDCG@10", weights=weights)
    assert found["differences"][0]["p"] == ours.p
    plain = evaluate("builtin", "builtin:plain", "nDCG@10", weights=weights)["nDCG@10"]
    assert found["means"]["nDCG@10"]["plain"] == pytest.approx(plain)


def test_the_report_is_marked(folder):
    done = run("report", *RUNS, "--weights", "traffic.csv", "-m", "nDCG@10", "--no-charts", "-o", "r.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "nDCG@10†" in page
    assert page.count("as precise as 13 equally weighted queries") >= 2  # on the card, and below the table
    assert "weighted mean of the queries" in page
    assert "weights:" in page


@pytest.mark.parametrize("kind", ["difference", "distribution", "cutoff", "precision-recall-full", "stability"])
def test_charts_of_means_are_marked(folder, kind):
    done = run("plot", kind, *RUNS, "--weights", "traffic.csv", "-o", "chart.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    chart = json.loads((folder / "chart.json").read_text())
    assert SAID in chart["title"][1]
    assert SAID in chart["description"]


def test_saved_evaluations_with_other_weights_are_refused(folder):
    run("evaluate", *RUNS[:2], "--weights", "traffic.csv", "-m", "nDCG@10", "--save", "old.json", cwd=folder)
    refused = run("gate", "builtin", "old.json", "builtin:tuned", cwd=folder)
    assert refused.returncode == 2
    assert "weighted by traffic.csv" in refused.stderr
    assert "--weights" in refused.stderr
    passed = run("gate", "builtin", "old.json", "builtin:tuned", "--weights", "traffic.csv", cwd=folder)
    assert passed.returncode == 0, passed.stderr


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("q05,", "traffic.csv:6: "),
        ("q05,-1", "traffic.csv:6: weight '-1' of 'q05' is not a number from 0."),
        ("", "traffic.csv: 1 of 60 queries has no weight: q05."),
    ],
)
def test_bad_weights_are_refused_with_their_place(folder, line, fact):
    lines = (folder / "traffic.csv").read_text().split("\n")
    (folder / "traffic.csv").write_text("\n".join(line if text.startswith("q05") else text for text in lines))
    done = run("compare", *RUNS, "--weights", "traffic.csv", cwd=folder)
    assert done.returncode != 0
    assert fact in done.stderr


def test_gates_take_weights_and_segments_from_their_file(folder):
    settings = 'qrels = "qrels"\nbaseline = "a.run"\ncandidate = "b.run"\nweights = "w"\nsegments = "s"\n'
    (folder / "sub").mkdir()
    (folder / "sub" / "gate.toml").write_text(settings)
    (folder / "sub" / "qrels").write_text("".join(f"{q} 0 d 1\n" for q in range(9)))
    for name, rank in (("a", 2), ("b", 1)):
        rows = (f"{q} Q0 {'d' if at == rank else f'x{at}'} {at} {9 - at} r\n" for q in range(9) for at in (1, 2))
        (folder / "sub" / f"{name}.run").write_text("".join(rows))
    (folder / "sub" / "w").write_text("".join(f"{q} {q + 1}\n" for q in range(9)))
    (folder / "sub" / "s").write_text("".join(f"{q} {'odd' if q % 2 else 'even'}\n" for q in range(9)))
    done = run("gate", "--config", "sub/gate.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "(weighted)" in done.stdout
    assert "By segment" in done.stdout


def test_projects_take_weights_and_segments(folder):
    assert run("init", cwd=folder).returncode == 0
    settings = (folder / "cranfield.toml").read_text()
    chosen = 'weights = "traffic.csv"\nsegments = "segments.csv"\n'
    (folder / "cranfield.toml").write_text(chosen + settings)
    first = run("test", cwd=folder)
    assert SAID in flat(first.stdout), first.stderr
    assert "nDCG@10†" in first.stdout
    assert run("accept", cwd=folder).stdout.startswith("sqlite: accepted nDCG@10†")
    shutil.copy(folder / "traffic.csv", folder / "kept.csv")
    (folder / "traffic.csv").write_text("".join(f"{query},1\n" for query in QUERIES))
    again = flat(run("test", cwd=folder).stdout)
    assert "the weights have changed since it was accepted" in again
    assert "(weighted), unchanged: no regression" in again
    assert "By segment: sqlite vs accepted" in again


@pytest.mark.parametrize("name", MEASURED)
def test_every_command_that_measures_takes_a_file_of_queries_with_columns(queries, name):
    command = (*MEASURED[name], "--query-columns", "columns.csv", "-m", "nDCG@10", "--format", "json")
    done = run(*command, cwd=queries)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["weights"]["grouped_by"], found["weights"]["groups"]) == ("columns.csv", 30)
    segmented = name in ("evaluate", "compare", "compare all pairs", "gate")
    assert ('"segments"' in done.stdout) == segmented


def test_charts_and_pages_are_of_groups(queries):
    done = run("plot", "difference", *RUNS, "--query-columns", "columns.csv", "-o", "chart.json", cwd=queries)
    assert done.returncode == 0, done.stderr
    title = json.loads((queries / "chart.json").read_text())["title"][1]
    assert title.startswith("Means weighted and grouped by columns.csv: as precise as")
    (queries / "seconds").write_text("plain 2\ntuned 1\n")
    worth = run("frontier", *RUNS, "--query-columns", "columns.csv", "--values", "seconds", cwd=queries)
    assert "weighted and grouped by columns.csv: as precise as" in flat(worth.stdout), worth.stderr
    done = run("report", *RUNS, "--query-columns", "columns.csv", "--no-charts", "-o", "r.html", cwd=queries)
    assert done.returncode == 0, done.stderr
    page = (queries / "r.html").read_text(encoding="utf-8")
    assert "eighted and grouped by columns.csv: as precise as" in page
    assert "groups:" in page


def test_gates_and_projects_name_the_file_of_queries(queries):
    assert run("init", cwd=queries).returncode == 0
    settings = (queries / "cranfield.toml").read_text()
    (queries / "cranfield.toml").write_text('query_columns = "columns.csv"\n' + settings)
    first = run("test", cwd=queries)
    assert "weighted and grouped by columns.csv" in flat(first.stdout), first.stderr
    assert run("accept", cwd=queries).returncode == 0
    again = flat(run("test", cwd=queries).stdout)
    assert "columns.csv: as precise as" in again
    assert "By segment: sqlite vs accepted" in again
    shown = run("history", "sqlite", cwd=queries)
    assert shown.returncode == 0, shown.stderr
    assert "segment  queries" in shown.stdout
    assert "nDCG@10†" in shown.stdout
    assert "  groups  " in shown.stdout  # what ▲ and ▼ count
    assert "weighted and grouped: as precise as" in flat(shown.stdout)
    [line] = json.loads(run("history", "sqlite", "--by", "segments.csv", "--format", "json", cwd=queries).stdout)
    assert line["weighted"].startswith("weighted and grouped: as precise as")
    head, tail = line["segments"]
    assert (head["segment"], head["queries"], tail["queries"]) == ("head", 30, 30)
    assert head["values"][0] == head["values"][-1] == head["accepted"]  # nothing has changed
