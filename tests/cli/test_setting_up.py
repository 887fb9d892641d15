"""`cranfield init`: the file that it writes and the next steps that it prints work."""

import json
import re

import pytest

from cranfield import open_collection, open_store
from cranfield.io.queries import read_queries
from tests.cli.test_judge import Served
from tests.program import run

CORPUS = "".join(
    json.dumps({"_id": name, "text": text}) + "\n"
    for name, text in {"d1": "red shoes for children", "d2": "a blue hat", "d3": "red hats"}.items()
)
QUERIES = {
    "queries.txt": "id|query\n1|red shoes\n2|blue hat\n",
    "queries.csv": 'query_id,text\n1,red shoes\n2,"blue hat"\n',
    "queries.tsv": "1\tred shoes\n2\tblue hat\n",
    "topics.jsonl": '{"_id": "1", "text": "red shoes"}\n{"_id": "2", "text": "blue hat"}\n',
}
TEXTS = {"1": "red shoes", "2": "blue hat"}


def steps(printed):
    """The commands that are printed to be copied."""
    return [line.partition("#")[0].split() for line in printed.splitlines() if line.startswith("  cranfield ")]


@pytest.mark.parametrize("queries", QUERIES)
def test_without_judgments_init_leads_to_judging(tmp_path, queries):
    pytest.importorskip("starlette")
    (tmp_path / queries).write_text(QUERIES[queries])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 queries, 0 of them judged" in done.stdout
    judge, *others = steps(done.stdout)
    assert (judge, others) == (["cranfield", "judge"], [["cranfield", "test"], ["cranfield", "accept"]])
    early = run("test", cwd=tmp_path)
    assert (early.returncode, "Hint: 'cranfield judge' opens a page" in early.stderr) == (2, True)
    served = Served(tmp_path, *judge[2:])
    assert served.address
    served.end()
    with open_store(tmp_path / "judgments.db") as store:
        store.judge("1", "d1", 1, assessor="ann")
        store.judge("2", "d2", 1, assessor="ann")
    for command in others:
        done = run(*command[1:], cwd=tmp_path)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    again = run("test", cwd=tmp_path)
    assert "since accepted" in again.stdout


def test_init_finds_judgments_in_csv(tmp_path):
    (tmp_path / "queries.csv").write_text(QUERIES["queries.csv"])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\n1,d1,1\n2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert "2 queries, 2 of them judged" in done.stdout
    assert steps(done.stdout) == [["cranfield", "test"], ["cranfield", "accept"]]
    for command in steps(done.stdout):
        assert run(*command[1:], cwd=tmp_path).returncode == 0


def test_without_documents_init_asks_for_a_system(tmp_path):
    (tmp_path / "queries.txt").write_text(QUERIES["queries.txt"])
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\n1,d1,1\n2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert "Describe your system in cranfield.toml" in done.stdout
    # Uncomment one of the examples in the file.
    written = (tmp_path / "cranfield.toml").read_text()
    described = re.sub(r"^# (\[systems\.mine\]|type = \"python\"|object = .*)$", r"\1", written, flags=re.MULTILINE)
    assert described != written
    (tmp_path / "cranfield.toml").write_text(described.replace("mypackage.search:search", "mine:search"))
    (tmp_path / "mine.py").write_text("def search(query, k):\n    return ['d1', 'd2']\n")
    for command in steps(done.stdout):
        found = run(*command[1:], cwd=tmp_path)
        assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("name", QUERIES)
def test_queries_in_all_formats(tmp_path, name):
    (tmp_path / name).write_text(QUERIES[name])
    assert open_collection(tmp_path).queries == TEXTS


def test_csv_without_a_header_and_with_a_narrative(tmp_path):
    (tmp_path / "q.csv").write_text("1,red shoes\n2,blue hat\n")
    assert read_queries(tmp_path / "q.csv") == TEXTS
    (tmp_path / "topics.csv").write_text('text,narrative,id\nred shoes,"For children, mostly.",1\nblue hat,,2\n')
    opened = open_collection(tmp_path)
    assert (opened.queries, opened.narratives) == (TEXTS, {"1": "For children, mostly."})


def test_judgments_of_other_ids_are_refused_before_anything_is_written(tmp_path):
    """The ids of queries in a file without ids are made from the texts, so judgments of q1 and q2 match none."""
    (tmp_path / "queries.txt").write_text("red shoes\nblue hat\n")
    (tmp_path / "qrels.csv").write_text("query,document,grade\nq1,d1,1\nq2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 2
    assert "2 judged queries have no text: q1, q2." in done.stderr
    assert "Hint: the ids of the queries are red-shoes-61959b3a, blue-hat-c1fb4ade; " in done.stderr
    assert not (tmp_path / "cranfield.toml").exists()


def test_nothing_can_be_accepted_before_anything_is_judged(tmp_path):
    (tmp_path / "queries.txt").write_text(QUERIES["queries.txt"])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    assert run("init", cwd=tmp_path).returncode == 0
    accepted, tested = run("accept", cwd=tmp_path), run("test", cwd=tmp_path)
    assert accepted.returncode == tested.returncode == 2
    assert "there are no judgments yet." in accepted.stderr
    assert accepted.stderr == tested.stderr
