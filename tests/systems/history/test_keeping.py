"""What `test`, `accept` and `gate` append, and what `history` shows of it: the program as people call it."""

import csv
import io
import json

import pytest

from cranfield.io.settings import SETTINGS_FILE
from cranfield.systems.history.opening import open_history
from tests import program

CONFIG = """
collection = "."
measures = ["RR", "nDCG@10"]
[gate]
measures = ["RR"]
[history]
{history}
[systems.mine]
type = "python"
object = "search:search"
"""
SEARCH = "def search(query):\n    return {answer}\n"
GOOD = "['a'] if 'cats' in query else ['d']"
BAD = "['x', 'y', 'z', 'a', 'd']"
QUERIES = {str(number): f"{'cats' if number % 2 else 'dogs'} {number}" for number in range(12)}
ENVIRONMENT = {"GIT_CEILING_DIRECTORIES": "/", "GIT_AUTHOR_NAME": "Ann"}
HISTORY = ".cranfield/history.db"


@pytest.fixture
def project(tmp_path):
    """A project; a call with an answer changes its system."""
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUERIES.items()))
    qrels = "".join(f"{query} 0 {'a' if 'cats' in text else 'd'} 1\n" for query, text in QUERIES.items())
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / SETTINGS_FILE).write_text(CONFIG.format(history=""))
    return tmp_path


@pytest.fixture
def cranfield(project):
    def call(*arguments, answer=None, code=0, **environment):
        if answer is not None:
            (project / "search.py").write_text(SEARCH.format(answer=answer))
        env = {**ENVIRONMENT, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        called = program.run(*arguments, cwd=project, env=env)
        assert called.returncode == code, (called.stdout, called.stderr)
        return called

    return call


def kept(project):
    with open_history(project / HISTORY, read_only=True) as history:
        return history.results(), history.acceptances("mine")


def test_a_test_appends_what_it_measured(project, cranfield):
    cranfield("test", answer=GOOD)
    [result], acceptances = kept(project)
    assert (result.system, result.command, result.passed) == ("mine", "test", None)
    assert {name: value.value for name, value in result.values.items()} == {"RR": 1, "nDCG@10": 1, "Judged@10": 1}
    assert result.latency["p95"] > 0
    assert acceptances == ()
    with open_history(project / HISTORY, read_only=True) as history:
        assert history.texts(result.basis) == QUERIES
        name, content = history.run(result.run_sha256)
        assert content == (project / ".cranfield" / name).read_bytes()


def test_accepting_keeps_who_and_why_and_what_is_worse_needs_a_word(project, cranfield):
    cranfield("test", answer=GOOD)
    cranfield("accept", "--because", "the first")
    cranfield("test", answer=BAD, code=1)
    refused = cranfield("accept", code=2)
    assert "mine: this result failed beside the accepted one: RR fell significantly, 1.000 → 0.225" in refused.stderr
    assert "--worse --because" in refused.stderr
    cranfield("accept", "--worse", "--because", "cheaper")
    results, acceptances = kept(project)
    assert [result.passed for result in results] == [None, False]
    assert [(its.who, its.because, its.worse) for its in acceptances] == [
        ("Ann", "the first", False),
        ("Ann", "cheaper", True),
    ]
    assert [its.result for its in acceptances] == [result.id for result in results]
    review = json.loads((project / "baseline" / "mine.json").read_text())["accepted"]
    assert (review["who"], review["because"], review["worse"]) == ("Ann", "cheaper", True)
    cranfield("test")
    assert kept(project)[0][-1].accepted == results[1].id


def test_another_result_that_was_accepted_meanwhile_wants_a_new_test(project, cranfield):
    cranfield("test", answer=GOOD)
    cranfield("accept")
    good = {path.name: path.read_bytes() for path in (project / "baseline").iterdir()}
    cranfield("test", answer=BAD, code=1)
    cranfield("accept", "--worse")
    cranfield("test", answer="['a', 'd']", code=0)
    for path in (project / "baseline").iterdir():
        path.unlink()
    for name, content in good.items():
        (project / "baseline" / name).write_bytes(content)
    assert "another result was accepted since the last test" in cranfield("accept", code=2).stderr


def test_a_checkout_without_its_history_still_knows_what_was_accepted(project, cranfield):
    cranfield("test", answer=GOOD)
    cranfield("accept", "--because", "the first")
    before = kept(project)
    (project / HISTORY).unlink()
    cranfield("test", answer=BAD, code=1)
    results, acceptances = kept(project)
    assert acceptances == before[1]
    assert results[0].id == before[0][0].id  # the same result, from the accepted files
    shown = cranfield("history").stdout
    assert shown.startswith("\nWorse  mine: RR 0.225, accepted 1.000: -0.775")
    assert "by Ann: the first" in shown


def test_nothing_is_appended_where_that_is_not_wanted(project, cranfield):
    cranfield("test", "--no-history", answer=GOOD)
    cranfield("accept", "--no-history")
    assert not (project / HISTORY).exists()
    (project / SETTINGS_FILE).write_text(CONFIG.format(history="keep = false"))
    cranfield("test")
    assert not (project / HISTORY).exists()
    (project / SETTINGS_FILE).write_text(CONFIG.format(history='store = "quality.db"'))
    cranfield("test")
    assert (project / "quality.db").exists()
    (project / SETTINGS_FILE).write_text(CONFIG.format(history="kept = false"))
    assert "[history]: there is no setting 'kept'" in cranfield("test", code=2).stderr


def test_a_history_that_cannot_be_written_fails_no_test(project, cranfield):
    (project / ".cranfield").mkdir()
    (project / HISTORY).write_text("something else")
    called = cranfield("test", answer=GOOD)
    assert "not in the history: " in called.stderr
    assert "this is not a history of results" in called.stderr
    assert "measured" in called.stdout


def test_results_of_a_pull_request_join_no_line(project, cranfield):
    cranfield("test", answer=GOOD)
    pull = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/17/merge"}
    cranfield("test", answer=BAD, **pull)
    assert len(kept(project)[0]) == 1
    with open_history(project / HISTORY) as history:
        [result] = history.results(pulls=True)
        assert (result.change.pull, history.kept_runs()) == ("17", {kept(project)[0][0].run_sha256})
    assert "RR 1.000" in cranfield("history").stdout


def test_jobs_write_files_of_their_own_that_are_merged(project, cranfield):
    for number, answer in enumerate((GOOD, BAD)):
        (project / SETTINGS_FILE).write_text(CONFIG.format(history=f'store = "job-{number}.db"'))
        cranfield("test", answer=answer)
    (project / SETTINGS_FILE).write_text(CONFIG.format(history=""))
    assert "2 new results from 2 histories" in cranfield("history", "--merge", "job-0.db", "job-1.db").stdout
    assert "0 new results from 1 history" in cranfield("history", "--merge", "job-1.db").stdout
    assert len(kept(project)[0]) == 2


def test_runs_are_measured_again_by_new_judgments(project, cranfield):
    cranfield("test", answer="['a', 'd', 'x']")
    cranfield("test", answer="['d', 'a', 'x']")
    with (project / "qrels.txt").open("a") as file:
        file.write("".join(f"{query} 0 x 1\n" for query in QUERIES))
    cranfield("test")
    assert "┃" in cranfield("history").stdout
    assert "mine: 2 results measured again; 1 known" in cranfield("history", "--again").stdout
    shown = cranfield("history").stdout
    assert "12 grades added, joined" in shown
    assert "the 2 results before were measured again" in shown.replace("\n", " ")
    assert "mine: 0 results measured again; 3 known" in cranfield("history", "--again").stdout


def test_runs_are_not_measured_by_judgments_that_no_test_has_used(project, cranfield):
    cranfield("test", answer="['a', 'd', 'x']")
    cranfield("test", answer="['d', 'a', 'x']")
    (project / "qrels.txt").write_text("".join(f"{query} 0 x 1\n" for query in QUERIES))
    cranfield("test", answer="['x', 'a']")
    (project / "qrels.txt").write_text("".join(f"{query} 0 x 2\n" for query in QUERIES))
    assert "run 'cranfield test' first" in cranfield("history", "--again", code=2).stderr


def test_new_queries_are_not_measured_in_runs_that_were_not_asked_them(project, cranfield):
    cranfield("test", answer=GOOD)
    with (project / "queries.tsv").open("a") as file:
        file.write("new\tcats at night\n")
    with (project / "qrels.txt").open("a") as file:
        file.write("new 0 a 1\n")
    cranfield("test")
    assert "0 results measured again; 1 known, 1 not asked" in cranfield("history", "--again").stdout
    assert "13 queries, not 12" in cranfield("history").stdout


def test_an_alarm_is_exit_code_1(project, cranfield):
    cranfield("test", answer=GOOD)
    cranfield("accept")
    assert cranfield("history", "--check").stdout.startswith("Not tested  mine\n")
    cranfield("test", answer=BAD, code=1)
    shown = cranfield("history", "--check", code=1).stdout
    assert shown.startswith("Alarm  mine\n  ✗ RR fell by 0.7750 since it was accepted")
    [alert] = json.loads(cranfield("history", "--check", "--format", "json", code=1).stdout)
    assert (alert["passed"], alert["noise"]["kind"]) == (False, "queries vary on their own")
    tolerant = CONFIG.format(history="").replace("[gate]", "[gate]\ntolerance = 0.9")
    (project / SETTINGS_FILE).write_text(tolerant)
    cranfield("history", "--check")


def test_other_programs_get_rows(project, cranfield):
    cranfield("test", answer=GOOD)
    cranfield("test", answer=BAD)
    cranfield("history", "--note", "new synonyms")
    rows = list(csv.DictReader(io.StringIO(cranfield("history", "--format", "csv").stdout)))
    assert [float(row["value"]) for row in rows] == [1.0, 0.225]
    [line] = json.loads(cranfield("history", "--format", "json").stdout)
    assert (line["system"], line["measure"], len(line["results"])) == ("mine", "RR", 2)
    assert [note["text"] for note in line["notes"]] == ["new synonyms"]
    assert cranfield("history", "--format", "markdown").stdout.startswith("**Measured** mine: RR 0.225\n\n| date |")
    [day, *_] = json.loads(cranfield("history", "--query", "3", "--format", "json").stdout)
    assert (day["query"], day["value"]) == ("3", 1.0)
    assert "cats 3" in cranfield("history", "--query", "3").stdout
    assert "RR" in cranfield("history", "--since", "7d").stdout
    assert "there is no such result" in cranfield("history", "--since", "2199-01-01", code=2).stderr
    assert "write it as 7d" in cranfield("history", "--since", "soon", code=2).stderr


def test_without_a_history_it_says_what_makes_one(project, cranfield):
    error = cranfield("history", code=2).stderr
    assert "there is no such history" in error
    assert "cranfield test" in error


@pytest.mark.parametrize("given", [["--config", "gate.toml"], ["--history", ".cranfield/history.db"]])
def test_a_gate_appends_its_candidate(project, cranfield, given):
    (project / ".cranfield").mkdir()
    (project / "old.run").write_text("".join(f"{query} Q0 {doc} 1 1.0 old\n" for query in QUERIES for doc in "a"))
    (project / "new.run").write_text("".join(f"{query} Q0 {doc} 1 1.0 new\n" for query in QUERIES for doc in "d"))
    (project / "gate.toml").write_text("alpha = 0.05\n")
    called = cranfield("gate", "qrels.txt", "old.run", "new.run", "-m", "RR", *given)
    assert called.stderr == ""
    with open_history(project / HISTORY, read_only=True) as history:
        result = history.results(history.systems()[0])[-1]
        assert (result.command, result.passed) == ("gate", True)
        [acceptance] = history.acceptances(result.system)
        assert acceptance.result == result.accepted
        assert history.run(result.run_sha256)[1] == (project / "new.run").read_bytes()
    assert cranfield("history", "--history", HISTORY).stdout.startswith("\nToo close to call  new: RR 0.500")


def test_a_gate_of_two_files_alone_appends_nothing(project, cranfield):
    (project / "old.run").write_text("".join(f"{query} Q0 a 1 1.0 old\n" for query in QUERIES))
    cranfield("gate", "qrels.txt", "old.run", "old.run", "-m", "RR")
    assert not (project / ".cranfield").exists()
