"""Results that a history keeps, in place of runs: found by commit or id, with what else changed between them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from cranfield import InputError, diff
from cranfield.evaluation.hashes import InputHashes
from cranfield.systems.history.change import Change, Moment
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.results import KeptRun, Measured
from tests import program
from tests.systems.history.measuring import QUERIES, START, judgments, measured, run_of

OLD, NEW, OTHER = "3d9c172" + "0" * 33, "90c192c" + "0" * 33, "aaaa111" + "0" * 33


def content(ranks: list[int]) -> bytes:
    rankings = run_of(ranks).items()
    return "".join(f"{q} Q0 {d} {at} {100 - at} x\n" for q, its in rankings for at, d in enumerate(its, 1)).encode()


def result(ranks: list[int], day: int, commit: str, *, more: int = 0, system: str = "mine") -> tuple[Measured, KeptRun]:
    run = content(ranks)
    sha256 = hashlib.sha256(run).hexdigest()
    moment = Moment(START, Change(commit, f"change {day}", "main", False, ""))
    qrels = judgments(more=more)
    its = measured(ranks, day, qrels, moment=moment._replace(at=START.replace(day=1 + day)), system=system)
    evaluation = replace(its.evaluation, _inputs=InputHashes(its.evaluation.qrels_sha256, sha256))
    return replace(its, evaluation=evaluation), KeptRun(sha256, "mine.run", lambda: run)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Two results on one basis, one on another, and one of another system at the commit of the second."""
    path = tmp_path / ".cranfield" / "history.db"
    path.parent.mkdir()
    known = [
        result([1] * 40, 0, OLD),
        result([2] * 10 + [1] * 30, 3, NEW),
        result([1] * 40, 5, OTHER, more=2),
    ]
    with open_history(path, create=True) as opened:
        opened.append([its for its, _ in known], runs=[run for _, run in known])
    return path


def test_commits_name_results(history: Path) -> None:
    found = diff("3d9c172", "90c192c", history=history)
    assert found.runs == ("mine 3d9c172", "mine 90c192c")
    assert found.changed_queries == 10
    assert found.changed_most[0].text == f"text of {found.changed_most[0].query_id}"
    assert found.between == (
        "3 days later",
        "the commit says: change 3",
        "RR 1.000 → 0.875, nDCG@10 1.000 → 0.908, by the same queries, judgments and conventions",
    )


def test_what_else_changed_is_said(history: Path) -> None:
    found = diff("3d9c172", "aaaa111", history=history)
    assert found.same()
    assert "other judgments" in found.between


def test_settings_and_documents_that_changed_are_said(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "queries.tsv").write_text("1\tred cat\n2\tdog\n")
    (shop / "qrels.txt").write_text("1 0 a 1\n2 0 b 1\n")
    corpus, config = tmp_path / "corpus.jsonl", tmp_path / "cranfield.toml"
    documents = {"a": "cat", "b": "dog", "c": "a red cat"}
    settings = 'type = "python"\nobject = "mine:search"\n[systems.mine.arguments]\napi_key = "{key}"\nboost = {boost}\n'
    (tmp_path / "mine.py").write_text("def search(query, k=2, boost=1, api_key=''):\n    return ['a', 'b', 'c'][:k]\n")
    for boost, key in ((1, "first"), (2, "second")):
        corpus.write_text("".join(f'{{"_id": "{name}", "text": "{text}"}}\n' for name, text in documents.items()))
        config.write_text(
            f'collection = "shop"\ncorpus = "corpus.jsonl"\nk = {boost}\n[systems.mine]\n'
            + settings.format(boost=boost, key=key)
        )
        done = program.run("test", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        documents["d"] = "another"
    path = tmp_path / ".cranfield" / "history.db"
    assert b"second" not in path.read_bytes()
    with open_history(path) as opened:
        one, other = opened.beginning_with("", None)
    found = diff(one.id, other.id, history=path).between
    assert "settings arguments.boost 1 → 2, k 1 → 2" in found
    assert "4 documents, not 3" in found
    assert other.settings["arguments.api_key"] == "hidden"


def test_a_kept_result_beside_a_run(history: Path) -> None:
    found = diff("90c192c", run_of([1] * 40), history=history)
    assert found.runs == ("mine 90c192c", "the run")
    assert found.between == ()
    assert len(found.query_ids) == len(QUERIES)


def test_a_name_that_is_no_result_or_several_is_an_error(history: Path) -> None:
    with pytest.raises(InputError, match="there is no such file, and no such result in"):
        diff("beef1234", "90c192c", history=history)
    with open_history(history) as opened:
        its, run = result([3] * 40, 6, NEW, system="dense")
        opened.append([its], runs=[run])
    with pytest.raises(InputError, match="results of several systems begin with it: mine, dense") as caught:
        diff("3d9c172", "90c192c", history=history)
    assert caught.value.hint == "name the system, too: mine@90c192c"
    assert diff("3d9c172", "dense@90c192c", history=history).changed_queries == 40


def test_the_program_looks_commits_up_where_history_is_kept(history: Path) -> None:
    done = program.run("diff", "3d9c172", "90c192c", cwd=history.parents[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mine 90c192c vs mine 3d9c172: the top 10 changed for 10 of 40 queries (25%)")
    assert "also changed: 3 days later" in done.stdout
    missing = program.run("diff", "beef1234", "90c192c", cwd=history.parents[1])
    assert missing.returncode == 2
    assert "no such result" in missing.stderr
