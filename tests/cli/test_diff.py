"""`cranfield diff` and `cranfield frontier`, as people call them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.program import run

TWO = ("builtin:plain", "builtin:tuned")


def test_the_text_leads_with_one_sentence_and_fits_80_columns() -> None:
    done = run("diff", *TWO, "--qrels", "builtin")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert " ".join(lines[:2]) == (
        "tuned vs plain: the top 10 changed for 55 of 59 queries (93%); 220 documents entered, 212 left."
    )
    assert max(map(len, lines)) <= 80
    assert "Judged: 125 of 220 that enter (25 relevant), 123 of 212 that leave (12" in done.stdout
    assert "Too close to call  tuned vs plain: nDCG@10 +0.037 (-0.006 to +0.080), p = 0.087" in done.stdout
    assert "60 queries   ▲ 23 better   21 the same   ▼ 16 worse" in done.stdout
    assert "overlap 0.30, RBO 0.16, nDCG@10 +0.573\n" in done.stdout
    assert "-  1 [0] The same document twice         +  1 [3] Retrieve, then rerank     new" in done.stdout
    assert "[?] Weak baselines" in done.stdout
    assert "Judge these first to know whether it is better (the first 5 of 20)" in done.stdout


def test_a_refactoring_that_changes_too_much_fails() -> None:
    same = run("diff", "builtin:plain", "builtin:plain", "--max-changed", "0")
    assert same.returncode == 0, same.stderr
    assert "the top 10 is the same for all 59 queries" in same.stdout
    assert run("diff", *TWO, "--max-changed", "95%").returncode == 0
    failed = run("diff", *TWO, "--max-changed", "0.2")
    assert failed.returncode == 1
    assert failed.stdout.endswith("\nfailed: 93% of the queries changed; --max-changed allows 20%\n")


def test_markdown_and_json_say_the_same() -> None:
    markdown = run("diff", *TWO, "--qrels", "builtin", "--format", "markdown").stdout
    found = json.loads(run("diff", *TWO, "--qrels", "builtin", "--format", "json").stdout)
    assert found["sentence"] in markdown
    assert f"| overlap@10 | {found['overlap']:.2f} |" in markdown
    assert found["judged"]["difference"]["sentence"] in markdown
    assert len(found["to_judge"]) == len(found["changed_most"]) == 20


def test_recall_of_neighbours_from_runs_and_from_vectors(tmp_path: Path) -> None:
    done = run("diff", *TWO, "--exact", "--qrels", "builtin")
    assert done.returncode == 0, done.stderr
    assert "tuned finds 63.1% of the 10 nearest neighbours (56.6% to 68.8%, 59 queries)." in done.stdout
    assert "Recall of neighbours is a means, not the end. What the lost ones cost:\nToo close to call" in done.stdout
    chance = np.random.default_rng(0)
    ids = [f"d{at}" for at in range(50)]
    arrays = {"queries": chance.integers(0, 3, (5, 4)), "documents": chance.integers(0, 3, (50, 4))}
    np.savez(tmp_path / "vectors.npz", query_ids=list("12345"), document_ids=ids, **arrays)
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 d{at} {at + 1} {9 - at} x\n" for q in "12345" for at in range(3)))
    alone = run("diff", "a.run", "--exact", "--vectors", "vectors.npz", "-k", "3", "--format", "json", cwd=tmp_path)
    found = json.loads(alone.stdout)
    assert found["by"] == "vectors"
    assert found["queries"] == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["builtin:plain"], "missing argument 'B': diff takes two runs; with --exact and --vectors, one."),
        (["builtin:plain", "--exact"], "missing argument 'B': --exact takes two runs; with --vectors, one."),
        ([*TWO, "--vectors", "v.npz"], "--vectors needs --exact."),
        ([*TWO, "--metric", "l2"], "--metric needs --exact."),
        ([*TWO, "--exact", "--metric", "l2"], "--metric needs --vectors."),
        ([*TWO, "--exact", "--max-changed", "0.1"], "--max-changed cannot be used with --exact."),
        ([*TWO, "--exact", "--depth", "10"], "--depth cannot be used with --exact."),
        ([*TWO, "--exact", "-o", "page.html"], "--exact has no page; write .txt, .md or .json."),
        ([*TWO, "-m", "AP", "-m", "RR"], "a diff is by one measure; give one -m."),
        ([*TWO, "--rbo-p", "2"], "--rbo-p: 2 is not between 0 and 1."),
        ([*TWO, "--merge", "max"], "these options choose assessors from --qrels, which is missing."),
        (["none.run", "builtin:tuned"], "none.run: cannot be read: no such file or directory."),
        (["abcd1234", "builtin:tuned"], "abcd1234: cannot be read: no such file or directory."),
    ],
)
def test_errors_are_told(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run("diff", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_frontier_as_text_and_markdown(tmp_path: Path) -> None:
    (tmp_path / "costs.txt").write_text("plain 1\ntuned 0.5\n")
    text = run("frontier", "builtin", *TWO, "--cost", "--values", "costs.txt", cwd=tmp_path)
    assert text.returncode == 0, text.stderr
    assert text.stdout.startswith("On the frontier: tuned; plain is dominated by tuned.\n")
    assert max(map(len, text.stdout.splitlines())) <= 80
    markdown = run("frontier", "builtin", *TWO, "--cost", "--values", "costs.txt", "-o", "f.md", cwd=tmp_path)
    assert markdown.returncode == 0
    assert "| plain | 0.4346 | 0.361 to 0.508 | 1 | dominated by tuned |" in (tmp_path / "f.md").read_text()
    unknown = run("frontier", "builtin", *TWO, cwd=tmp_path)
    assert "its latency by query is not known.\nHint: 'cranfield run' keeps it beside the run" in unknown.stderr
