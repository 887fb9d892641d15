"""--correct-with: a model's grades, corrected by people, on the command line."""

import json

import pytest

from cranfield import open_store
from tests.program import run

pytest.importorskip("sqlalchemy")

QUERIES = [f"q{n:02}" for n in range(30)]
MODEL = ("--assessor", "gpt", "--correct-with", "people")


def grade(query, document, salt):
    """A grade from 0 to 3 that looks random, and is the same for people and model two times out of three."""
    number = int(query[1:]) * 7 + int(document[1:]) * 5
    return (number * number // 3 + (salt if number % 3 == 0 else 0)) % 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("corrected")
    (place / "queries.tsv").write_text("".join(f"{query}\ttext\n" for query in QUERIES))
    for name, step in (("bm25", 3), ("dense", 7)):
        rows = [
            f"{q} Q0 d{(at * step + int(q[1:])) % 11} {at} {20 - at} {name}\n" for q in QUERIES for at in range(1, 9)
        ]
        (place / f"{name}.run").write_text("".join(rows))
    documents = [f"d{n}" for n in range(11)]
    (place / "gpt.qrels").write_text("".join(f"{q} 0 {d} {grade(q, d, 1)}\n" for q in QUERIES for d in documents))
    pooled = run("pool", "judgments.db", "queries.tsv", "bm25.run", "dense.run", "--sample", "12", cwd=place)
    assert "12 of 30 queries drawn at random (seed 0)" in pooled.stdout
    imported = run("convert", "gpt.qrels", "judgments.db", "--assessor", "gpt", "--kind", "model", cwd=place)
    assert imported.stdout == "judgments.db: 330 new judgments by gpt\n"
    with open_store(place / "judgments.db") as store:
        while tasks := store.next_several("ann", 100):
            for task in tasks:
                store.judge(task.query_id, task.doc_id, grade(task.query_id, task.doc_id, 0), assessor="ann")
    return place


def test_evaluate_prints_text_and_data(folder):
    done = run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@5", *MODEL, cwd=folder)
    assert done.stdout.startswith("gpt corrected by people on 12 of 30 queries, drawn at random (seed 0)\n\nnDCG@5")
    data = run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@5", "--format", "json", *MODEL, cwd=folder)
    value = json.loads(data.stdout)["runs"][0]["estimates"]["nDCG@5"]
    assert f"{value['value']:.4f} ±" in done.stdout
    rows = run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@5", "--format", "csv", *MODEL, cwd=folder).stdout
    head, row = (line.split(",") for line in rows.splitlines())
    assert dict(zip(head, row, strict=True))["value"] == repr(value["value"])
    assert value["judged"] == 1.0
    lines = run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@5", "--format", "jsonl", *MODEL, cwd=folder)
    assert json.loads(lines.stdout)["worth"] == value["corrected"]["worth"]


def test_compare_prints_the_verdict_and_a_swapped_baseline_negates_it(folder):
    done = run("compare", "judgments.db", "bm25.run", "dense.run", *MODEL, cwd=folder)
    data = run("compare", "judgments.db", "bm25.run", "dense.run", "--format", "json", *MODEL, cwd=folder)
    [pair] = json.loads(data.stdout)["differences"]
    assert " ".join(done.stdout.split()).startswith(pair["sentence"])
    swapped = run("compare", "judgments.db", "bm25.run", "-b", "dense.run", "--format", "json", *MODEL, cwd=folder)
    assert json.loads(swapped.stdout)["differences"][0]["estimate"] == pytest.approx(-pair["estimate"])


@pytest.mark.parametrize(("form", "between", "within"), [("markdown", " | ", "±"), ("latex", " & ", r"$\pm$")])
def test_markdown_and_latex_hold_the_values_of_json(folder, form, between, within):
    def output(command, form, *runs):
        done = run(command, "judgments.db", *runs, "-m", "nDCG@5", "--format", form, *MODEL, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    data = json.loads(output("compare", "json", "bm25.run", "dense.run"))
    value, [pair] = data["estimates"]["nDCG@5"]["bm25"], data["differences"]
    row = between.join(["bm25", f"{value['value']:.4f} {within} {value['margin']:.4f}"])
    evaluated, compared = output("evaluate", form, "bm25.run"), output("compare", form, "bm25.run", "dense.run")
    assert row in evaluated
    assert row in compared
    assert between.join(["dense - bm25", f"{pair['estimate']:+.3f}", f"{pair['low']:+.3f} to"]) in compared
    for text in (evaluated, compared):
        assert "gpt corrected by people on 12 of 30 queries, drawn at random (seed 0)" in text
        assert "they rest on the random sample" in text


def test_a_gate_with_a_saved_baseline_and_a_file_of_settings(folder):
    run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@10", "--save", "accepted.json", *MODEL, cwd=folder)
    done = run("gate", "judgments.db", "accepted.json", "bm25.run", *MODEL, cwd=folder)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "PASSED: bm25 (candidate) against bm25 (baseline)")
    assert "nDCG@10 +0.000 (corrected): no regression" in done.stdout
    settings = 'qrels = "judgments.db"\nbaseline = "accepted.json"\ncandidate = "dense.run"\nassessor = "gpt"\n'
    (folder / "gate.toml").write_text(settings + 'correct_with = "people"\n')
    gated = run("gate", "--config", "gate.toml", "--format", "json", cwd=folder)
    assert json.loads(gated.stdout)["basis"]["model"] == "gpt"
    other = run("convert", "gpt.qrels", "judgments.db", "--assessor", "other", "--kind", "model", cwd=folder)
    assert other.returncode == 0
    refused = run(
        "gate",
        "judgments.db",
        "accepted.json",
        "dense.run",
        "--assessor",
        "other",
        "--correct-with",
        "people",
        cwd=folder,
    )
    assert refused.returncode == 2
    assert "a different model or prompt is a different judge" in refused.stderr


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("--correct-with", "people"), "name it with --assessor"),
        ((*MODEL, "--per-query"), "--per-query cannot be used with --correct-with"),
        ((*MODEL, "--bounds"), "--bounds cannot be used with --correct-with"),
        ((*MODEL, "--kind", "person"), "cannot be used with --kind or --pooled"),
        (("--assessor", "gpt", "--correct-with", "gpt"), "only people can correct a model"),
        (("--assessor", "gpt", "--correct-with", "bob"), "there is no assessor 'bob'"),
    ],
)
def test_invalid_combinations_of_options_are_refused(folder, words, fact):
    done = run("evaluate", "judgments.db", "bm25.run", *words, cwd=folder)
    assert done.returncode == 2
    assert fact in " ".join(done.stderr.split())


def test_compare_warns_about_a_run_that_was_not_pooled(folder):
    rows = [f"{q} Q0 {'d' if at < 3 else 'new'}{at} {at} {20 - at} other\n" for q in QUERIES for at in range(1, 6)]
    (folder / "other.run").write_text("".join(rows))
    output = " ".join(
        run("compare", "judgments.db", "bm25.run", "other.run", "-m", "nDCG@5", *MODEL, cwd=folder).stdout.split()
    )
    assert "Judged of the first 5: other " in output
    assert "count as not relevant, for people as for gpt, and no interval allows for that" in output
    data = run("evaluate", "judgments.db", "other.run", "-m", "nDCG@5", "--format", "json", *MODEL, cwd=folder).stdout
    assert json.loads(data)["runs"][0]["estimates"]["nDCG@5"]["judged"] < 0.5
    alone = run("evaluate", "judgments.db", "bm25.run", "-m", "nDCG@5", *MODEL, cwd=folder).stdout
    assert "Judged of the first" not in alone
