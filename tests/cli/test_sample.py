"""`cranfield sample`: what it prints, what it writes, and what it says of logs that it cannot read."""

import gzip
import json

import pytest

from cranfield.io.queries import read_queries
from tests.program import run

LOG = "time\tquery\n" + "".join(f"10:00\t{text}\n" for text in ["red shoes", "Red  Shoes", "lamp", "ann@example.org"])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log.tsv").write_text(LOG)
    (tmp_path / "day1.txt.gz").write_bytes(gzip.compress(b"red shoes\nlamp\n"))
    (tmp_path / "day2.txt").write_text("red shoes\nsofa\n")
    return tmp_path


def test_without_a_file_it_only_says_what_the_sample_would_stand_for(folder):
    done = run("sample", "log.tsv", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 queries. It stands for 75% of traffic: 3 searches for 2 distinct queries;" in " ".join(
        done.stdout.split()
    )
    assert "1 search (1 query) with what looks like e-mail addresses (email)." in done.stdout
    assert "example.org" not in done.stdout
    assert sorted(each.name for each in folder.iterdir()) == ["day1.txt.gz", "day2.txt", "log.tsv"]


@pytest.mark.parametrize("name", ["queries.tsv", "queries.csv", "queries.jsonl", "queries.tsv.gz"])
def test_the_file_is_written_and_not_replaced(name, folder):
    done = run("sample", "log.tsv", "-o", name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Written: {name}, 2 queries.")
    assert sorted(read_queries(str(folder / name)).values()) == ["lamp", "red shoes"]
    again = run("sample", "log.tsv", "-o", name, cwd=folder)
    assert again.returncode == 2
    assert "this file already exists" in again.stderr
    assert run("sample", "log.tsv", "-o", name, "--force", cwd=folder).returncode == 0


def test_queries_on_standard_output_have_nothing_beside_them(folder):
    done = run("sample", "log.tsv", "--format", "tsv", cwd=folder)
    assert done.stdout.splitlines()[0] == "query_id\ttext\tcount\tprobability\tweight\tdistinct_weight"
    assert len(done.stdout.splitlines()) == 3
    assert "It stands for" in done.stderr
    assert run("sample", "log.tsv", "--format", "csv", "-o", "-", cwd=folder).stdout.startswith("query_id,text,")


def test_json_has_the_queries_and_the_facts(folder):
    facts = json.loads(run("sample", "log.tsv", "--format", "json", "--keep", "email", cwd=folder).stdout)
    assert (facts["distinct"], facts["searches"], facts["left_out"]) == (3, 4, {})
    assert facts["columns"] == {"log.tsv": {"query": "query"}}
    run("sample", "log.tsv", "-o", "facts.json", cwd=folder)
    assert json.loads((folder / "facts.json").read_text())["left_out"] == {"email": {"queries": 1, "searches": 1}}


def test_several_logs_patterns_and_standard_input(folder):
    several = run("sample", "day*", "--format", "json", cwd=folder)
    facts = json.loads(several.stdout)
    assert {query["text"]: query["count"] for query in facts["queries"]} == {"red shoes": 2, "lamp": 1, "sofa": 1}
    piped = json.loads(run("sample", "-", "--format", "json", cwd=folder, input=LOG).stdout)
    assert piped["columns"] == {"standard input": {"query": "query"}}


@pytest.mark.parametrize(
    ("log", "options", "said"),
    [
        ("a\tb\n1\tx y\n2\tz w\n", (), "Hint: name the column: --query-column a; it has a and b"),
        ("query,n\nred,1,2\nblue,1\nlamp,2\n", (), "--skip-bad leaves such lines out"),
        ("query,n\nred,1\n", ("--query-column", "qery"), "did you mean query?"),
        ("query,n\nred,x\n", ("--count-column", "n"), "'x' is not how often a query was asked"),
        ("", (), "it contains no lines"),
        ("red\n", ("-n", "1"), "--size: 1 is not a whole number from 2"),
        ("red\n", ("--keep", "names"), "--keep"),
        ("red\n", ("--spread", "nan"), "--spread: nan is not a spread."),
        ("red\n", ("--spread", "0"), "Hint: a standard deviation is above 0"),
    ],
)
def test_errors_say_what_to_do(log, options, said, folder):
    (folder / "bad.csv").write_text(log)
    done = run("sample", "bad.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_lines_that_cannot_be_read_are_counted(folder):
    (folder / "bad.csv").write_text("query,n\nred,1,2\nblue,1\nlamp,2\n")
    done = run("sample", "bad.csv", "--skip-bad", cwd=folder)
    assert "Left out: 1 line that could not be read." in done.stdout
