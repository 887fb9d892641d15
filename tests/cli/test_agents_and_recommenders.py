"""`cranfield calls`, `cranfield split`, and the options about what users know already."""

import json

import jsonschema
import pytest

import cranfield
from cranfield import InputError, calls, read_searches
from cranfield.cli.json_schemas import schema_of
from cranfield.show.calls_text import calls_text
from tests.program import run

QRELS = "t1 0 a 1\nt1 0 b 1\nt2 0 c 2\nt3 0 d 1\n"
ROWS = [("t1", 1, "a x"), ("t1", 2, "b a"), ("t1", 3, "x"), ("t2", 1, "y"), ("t2", 2, "c y")]
RATINGS = "user_id,item_id,rating,timestamp\nann,tea,5,1\nann,mug,4,2\nbob,tea,3,1\nbob,pot,2,4\neve,tea,1,1\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "tasks.qrels").write_text(QRELS)
    rows = (
        {"task": task, "step": step, "doc_id": document, "rank": rank}
        for task, step, documents in ROWS
        for rank, document in enumerate(documents.split(), 1)
    )
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "run.csv").write_text("user_id,item_id,score\nann,tea,3\nann,mug,2\nbob,mug,1\n")
    return tmp_path


def naive(searches, qrels):
    """The rows of the table by plain loops."""
    most = max(map(len, searches.values()))
    for call in range(1, most + 1):
        alone, union, first, making, gaining, fetched, again = [], [], 0, 0, 0, 0, 0
        for task, wanted in qrels.items():
            its = searches.get(task, [])
            alone.append(len(wanted & set(its[call - 1])) / len(wanted) if call <= len(its) else 0)
            union.append(len(wanted & {d for search in its[:call] for d in search}) / len(wanted))
            if call > len(its):
                continue
            making += 1
            before = {d for search in its[: call - 1] for d in search}
            gaining += bool((wanted & set(its[call - 1])) - before)
            first += bool(wanted & set(its[call - 1])) and not wanted & before
            fetched += len(its[call - 1])
            again += len(before & set(its[call - 1]))
        tasks = len(qrels)
        yield (call, making, sum(alone) / tasks, sum(union) / tasks, first / tasks, gaining / making, again / fetched)


def test_rows_by_call_are_those_of_a_naive_loop(files):
    found = calls(files / "tasks.qrels", files / "run.jsonl")
    searches = {}
    for task, _, documents in ROWS:
        searches.setdefault(task, []).append(documents.split())
    expected = list(naive(searches, {"t1": {"a", "b"}, "t2": {"c"}, "t3": {"d"}}))
    for row, by_loop in zip(found, expected, strict=True):
        assert (row.call, row.tasks, row.alone, row.union, row.first, row.gain, row.again) == pytest.approx(by_loop)
    assert (found.tasks, found.searches, found.unanswered, found.none) == (3, 5, 1, pytest.approx(1 / 3))
    assert found.union.value == pytest.approx(2 / 3)


def test_the_command_calls(files):
    done = run("calls", "tasks.qrels", "run.jsonl", cwd=files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("run: 3 tasks, 5 searches\n")
    assert "1 task has no search." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    data = json.loads(run("calls", "tasks.qrels", "run.jsonl", "--format", "json", "--cutoff", 1, cwd=files).stdout)
    jsonschema.validate(data, schema_of("calls"))
    assert (data["cutoff"], [row["union"] for row in data["rows"]]) == (1, pytest.approx([1 / 6, 2 / 3, 2 / 3]))
    text = calls_text(calls({"t": {"a": 1}}, read_searches({"t": [["a"]]})), 40)
    assert "100%" in text
    many = calls({"t": {"a": 1}}, read_searches({"t": [["x"]] * 50 + [["a"]]}))
    assert (len(many.rows), many.most, many.union.value) == (50, 51, 1)
    assert "Only the first 50 calls are listed; a task has 51." in calls_text(many)


def test_the_command_split(files):
    done = run("split", "ratings.csv", "shop", cwd=files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "leave-last-out, 1 of each user: 2 interactions of 2 users held out, 3 interactions to learn from\n"
        "  1 user has too few interactions and is not measured\n"
        "Written: shop/train.csv and shop/qrels.csv.\n"
    )
    assert (files / "shop" / "qrels.csv").read_text() == "query_id,doc_id,relevance\nann,mug,1\nbob,pot,1\n"
    assert cranfield.read_interactions(files / "shop" / "train.csv").items == ("tea", "tea", "tea")
    assert run("split", "ratings.csv", "shop", cwd=files).returncode == 2  # it is there already
    graded = run("split", "ratings.csv", "shop", "--ratings", "--force", cwd=files)
    assert graded.returncode == 0
    assert "bob,pot,2" in (files / "shop" / "qrels.csv").read_text()
    assert "is not a number of interactions" in run("split", "ratings.csv", "x", "--hold-out", 0, cwd=files).stderr
    assert "no interaction is left" in run("split", "ratings.csv", "x", "--hold-out", 9, cwd=files).stderr


def test_recommenders_on_the_command_line(files):
    assert run("split", "ratings.csv", "shop", cwd=files).returncode == 0
    command = ["evaluate", "shop/qrels.csv", "run.csv", "--interactions", "shop/train.csv", "--items", "ratings.csv"]
    done = run(*command, "-m", "RR Coverage", "--format", "json", cwd=files)
    assert json.loads(done.stdout)["runs"][0]["mean"] == {"RR": 0.5, "Coverage": pytest.approx(1 / 3)}
    kept = run(*command, "-m", "RR", "--keep-known", "--format", "json", cwd=files)
    assert json.loads(kept.stdout)["runs"][0]["mean"] == {"RR": 0.25}
    refused = run("evaluate", "shop/qrels.csv", "run.csv", "--items", "ratings.csv", cwd=files)
    assert "need --interactions" in refused.stderr
    hint = run("evaluate", "shop/qrels.csv", "run.csv", "-m", "Coverage", cwd=files)
    assert "measured on lists of recommended items" in hint.stderr
    (files / "kinds.csv").write_text("item_id,genres\ntea,drink\nmug,drink|thing\npot,thing\n")
    alike = run(*command, "-m", "ILS", "--features", "kinds.csv", "--format", "json", cwd=files)
    assert json.loads(alike.stdout)["runs"][0]["mean"] == {"ILS": 0.0}


def test_keyphrases():
    for bad in ("a", {"d": "a"}, {"d": [1]}):
        with pytest.raises(InputError):
            cranfield.keyphrases(bad)
    with pytest.raises(InputError, match="is not a stemmer"):
        cranfield.keyphrases({}, stem="porter")
    assert cranfield.keyphrases({1: ["A  b", "a B", " "]}, stem=str.upper) == {"1": ["A B"]}
    # Three of six phrases are right: .5 of those extracted; three of five places.
    found = {"d": ["a", "b", "c", "x", "y", "z"]}
    assert cranfield.evaluate({"d": ["a", "b", "c"]}, found, "P@M P@5")["P@M"] == 0.5
    assert cranfield.evaluate({"d": ["a", "b", "c"]}, {"d": ["a", "b", "c"]}, "P@M P@5")["P@5"] == 0.6
