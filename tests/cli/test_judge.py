"""`cranfield judge`: the page opens, people judge, Ctrl-C stops it; in a project it pools by itself."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from cranfield import open_store
from cranfield.judging.store.schema import WAITING
from tests.cli.test_help import examples
from tests.judging_person import ask, judge
from tests.program import run, shims

SEARCH = """
TEXTS = {"a": "red shoes", "b": "blue shoes", "c": "a red hat"}

def search(query, k):
    found = [name for name, text in TEXTS.items() if set(query.split()) & set(text.split())]
    return [{"id": name, "title": TEXTS[name].title(), "text": TEXTS[name]} for name in found][:k]
"""
PROJECT = """
collection = "."
measures = ["nDCG@10", "Judged@10"]
[judgments]
store = "mine.db"
[systems.shop]
type = "python"
object = "shop:search"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "shop.py").write_text(SEARCH)
    (tmp_path / "cranfield.toml").write_text(PROJECT)
    (tmp_path / "queries.tsv").write_text("id\ttext\tnarrative\nq1\tred\tAnything red.\nq2\tshoes\t\nq3\tnothing\t\n")
    return tmp_path


class Served:
    """A running `cranfield judge` whose page can be requested."""

    def __init__(self, folder, *words):
        command = [str(shims() / "cranfield"), "judge", *words, "--no-browser", "--port", "0"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        # The address must arrive at once, even if Python buffers its output.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self.program = subprocess.Popen(command, cwd=folder, text=True, env=environment, **streams)
        self.printed = ""
        self.address = None
        for line in self.program.stdout:
            self.printed += line
            if found := re.search(r"http://\S+", line):
                self.address = found[0]
                break

    def end(self):
        """Press Ctrl-C and return all output.

        Once is not enough if the tests run in the background of a shell: processes started there ignore Ctrl-C until
        the server handles it.
        """
        for _ in range(6):
            self.program.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                rest, _ = self.program.communicate(timeout=10)
                return self.printed + rest
        self.program.kill()
        raise AssertionError("Ctrl-C does not stop the server")


def test_people_judge_and_ctrl_c_stops_the_server(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.wait([("q1", "d1"), ("q1", "d2")])
    served = Served(tmp_path, "judgments.db")
    judge(served.address, {("q1", "d1"): 3, ("q1", "d2"): 0})
    output = served.end()
    assert served.program.returncode == 0
    assert output.splitlines()[0] == "Judging in judgments.db, 2 documents left. Ctrl-C ends it."
    assert output.splitlines()[-1] == "judgments.db: 2 of 2 documents judged, 0 left"
    with open_store(tmp_path / "judgments.db") as store:
        assert store.view().by_query == {"q1": {"d1": 3.0, "d2": 0.0}}


def test_help_examples_work(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.wait([("q1", "d1")])
    for name, documents in (("old", "abc"), ("new", "cba"), ("bm25", "abc"), ("dense", "cab")):
        rows = [f"q{query} Q0 {each} 1 {3 - at} x\n" for query in range(3) for at, each in enumerate(documents)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    lines = [line for line in examples("judge") if "--clicks" not in line]  # see test_judge_clicks.py
    lines.append("cranfield judge judgments.db --decide --all '*.run'")
    assert len(lines) == 6
    (tmp_path / "cranfield.toml").write_text('[assessors.small]\nurl = "http://localhost:1/v1"\nmodel = "small"\n')
    for line in lines:
        if "--assessor" in line:  # opens no page
            done = run(*shlex.split(line)[1:], cwd=tmp_path)
            assert (done.stdout.startswith("small: 0 documents to judge"), done.stderr) == (True, "")
            continue
        served = Served(tmp_path, *shlex.split(line)[2:])
        served.end()
        assert served.address
        assert served.program.returncode == 0
    with open_store(tmp_path / "judgments.db") as store, store._reading() as connection:
        chosen_by = {(row.query_id, row.doc_id): row.chosen_by for row in connection.execute(WAITING.select())}
    assert chosen_by.pop(("q1", "d1")) == ""
    assert set(chosen_by.values()) == {"decide"}
    assert len(chosen_by) == 9


def test_a_project_pools_returned_documents_and_tests_with_the_judgments(project):
    unjudged = run("test", cwd=project)
    assert (unjudged.returncode, "there are no judgments yet" in unjudged.stderr) == (2, True)
    assert "'cranfield judge' opens a page" in unjudged.stderr
    served = Served(project)
    assert "mine.db: 4 documents of 2 queries wait to be judged" in served.printed
    assert "1 query got no document from any run: q3" in served.printed
    with open_store(project / "mine.db") as store:
        tasks = store.next_several("bob", 10)
        assert {(task.query_id, task.doc_id) for task in tasks} == {("q1", "a"), ("q1", "c"), ("q2", "a"), ("q2", "b")}
        assert {task.narrative for task in tasks if task.query_id == "q1"} == {"Anything red."}
        assert {task.title for task in tasks} == {"Red Shoes", "A Red Hat", "Blue Shoes"}
        store.give_back("bob")
    judge(served.address, {("q1", "a"): 1, ("q1", "c"): 3, ("q2", "a"): 3, ("q2", "b"): 3})
    served.end()
    tested = run("test", cwd=project).stdout
    assert re.search(r"^shop +0\.\d{4} +1\.0000", tested, flags=re.MULTILINE)
    assert "A Red Hat" in tested  # the texts of answers are kept in the store
    page = run("test", "--report", "page.html", cwd=project)
    assert "A Red Hat" in (project / "page.html").read_text(), page.stderr
    assert "1 query has no judgments and was not asked: q3" in tested
    assert "To judge" not in tested
    (project / "shop.py").write_text(SEARCH.replace("a red hat", "a red hat and shoes"))
    assert "1 document in the first 10 of 2 queries is unjudged. To judge it:\n  cranfield judge" in (
        run("test", cwd=project).stdout
    )
    again = Served(project)
    assert "mine.db: 1 document of 1 query waits to be judged" in again.printed
    again.end()


def test_documents_to_add_are_searched_by_the_system_of_a_project_without_a_corpus(project):
    served = Served(project)
    found = ask(served.address, "find", query_id="q3", words="hat")["documents"]
    assert [(each["doc_id"], each["title"], each["text"]) for each in found] == [("c", "A Red Hat", "a red hat")]
    ask(served.address, "add", query_id="q3", doc_id="c")
    assert "it has not returned a document 'made-up'" in refused(served.address, "add", query_id="q3", doc_id="made-up")
    ask(served.address, "leave")
    served.end()
    with open_store(project / "mine.db") as store:
        assert [task.title for task in store.next_several("bob", 9, first="q3") if task.query_id == "q3"] == [
            "A Red Hat"
        ]


def test_a_system_that_fails_to_search_is_said_on_the_page(project):
    (project / "shop.py").write_text(
        SEARCH.replace("    found =", "    if query == 'hat':\n        raise ValueError('no hats')\n    found =")
    )
    served = Served(project)
    assert "shop: every query failed; the last: ValueError: no hats" in refused(served.address, "find", words="hat")
    assert ask(served.address, "find", words="blue")["documents"] != []
    served.end()


def refused(address, name, **body):
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(address, name, **body)
    with caught.value as answer:
        return answer.read().decode()


def test_a_decision_names_the_next_steps_and_the_end_what_is_unclear(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({f"q{n}": "words" for n in range(3)})
    for name in ("old", "it's new"):
        (tmp_path / f"{name}.run").write_text("".join(f"q{n} Q0 {name[:2]}{n} 1 1 x\n" for n in range(3)))
    served = Served(tmp_path, "judgments.db", "--decide", "old.run", "it's new.run", "-m", "P@1")
    steps = ask(served.address, "start")["next_steps"]
    for query in ("q1", "q0"):
        ask(served.address, "flag", query_id=query)
    ask(served.address, "flag", query_id="q1", withdrawn=True)
    output = served.end()
    assert output.splitlines()[-1] == "  flagged as unclear: q0"
    assert "judgments.db: 0 of 6 documents judged\n  it's new beside old: too early to tell; a verdict" in output
    assert [step["name"] for step in steps] == ["Compare them", "Estimate their values", "Write a report"]
    store = tmp_path / "judgments.db"
    with open_store(store) as opened:
        opened.import_qrels({f"q{n}": {f"ol{n}": 1, f"it{n}": 0} for n in range(3)}, "ann", kind="person")
    for step in steps:  # they work as they are shown
        words = shlex.split(step["command"])
        done = run(*words[1:], cwd=tmp_path)
        assert (words[0], done.returncode) == ("cranfield", 0), done.stderr
        assert "P@1" in step["command"]
    assert (tmp_path / "report.html").is_file()
    served = Served(tmp_path, "judgments.db", "--decide", "old.run", "it's new.run", "-m", "P@1")
    told = "no significant difference; all documents that matter are judged. flagged as unclear"
    assert f"judgments.db: 6 of 6 documents judged it's new beside old: {told}" in " ".join(served.end().split())


def test_existing_judgments_of_a_project_are_imported(project):
    settings = (project / "cranfield.toml").read_text().replace('[judgments]\nstore = "mine.db"\n', "")
    (project / "cranfield.toml").write_text(settings)
    (project / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    assert run("test", cwd=project).returncode == 0
    served = Served(project)
    output = served.end()
    assert "2 new judgments by collection" in output
    assert "2 documents of 2 queries wait" in output
    assert 'add to cranfield.toml:\n  [judgments]\n  store = "judgments.db"\n' in output
    (project / "cranfield.toml").write_text(f'{settings}\n[judgments]\nstore = "judgments.db"\n')
    assert "2 documents in the first 10" in run("test", cwd=project).stdout


def test_rankings_recorded_by_the_last_test_are_reused(project):
    (project / "corpus.jsonl").write_text('{"_id": "a", "text": "red shoes"}\n{"_id": "b", "text": "blue shoes"}\n')
    (project / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    (project / "cranfield.toml").write_text(PROJECT.replace('[judgments]\nstore = "mine.db"\n', ""))
    run("test", cwd=project)
    (project / "shop.py").write_text(SEARCH.replace("    found =", "    assert query == 'nothing'\n    found ="))
    output = Served(project).end()
    assert "2 documents of 2 queries wait" in output
    assert "failed" not in output
    assert "1 document has no text: c" in output


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("texts.csv", ["--corpus", "texts.csv"]),
        ("shop/corpus.csv", ["--corpus", "shop"]),
        ("corpus.csv", []),  # beside the store
    ],
)
def test_the_page_has_texts_from_a_corpus(tmp_path, file, words):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("sku;name;description\n000444;Raincoat;Yellow\n000445;Hat;Blue\n")
    with open_store(tmp_path / "mine.db", create=True) as store:
        store.add_queries({"q1": "coat"})
        store.wait([("q1", "000444"), ("q1", "gone")])
    output = Served(tmp_path, "mine.db", *words).end()
    assert ("1 document is not in it" in output) == bool(words)
    with open_store(tmp_path / "mine.db") as store:
        assert {task.doc_id: task.title for task in store.next_several("ann", 9)} == {"000444": "Raincoat", "gone": ""}


def test_a_corpus_that_is_not_understood_is_said(tmp_path):
    (tmp_path / "corpus.xlsx").write_text("?")
    with open_store(tmp_path / "mine.db", create=True) as store:
        store.wait([("q1", "000444")])
    served = Served(tmp_path, "mine.db")
    assert served.address
    assert "corpus.xlsx: this is not a format of documents." in served.end()
    refused = run("judge", "mine.db", "--corpus", "corpus.xlsx", cwd=tmp_path)
    assert (refused.returncode, "this is not a format of documents" in refused.stderr) == (2, True)


def test_grades_are_set_by_the_project_or_by_options(project):
    (project / "cranfield.toml").write_text(
        PROJECT.replace("[systems", 'scale = [[0, "Off"], [1, "On", "It answers."]]\n[systems')
    )
    Served(project).end()
    with open_store(project / "mine.db") as store:
        assert store.scale.names == {0.0: "Off", 1.0: "On"}
    Served(project, "mine.db", "--grade", "0=No", "--grade", "2.5=Yes: all of it").end()
    with open_store(project / "mine.db") as store:
        assert [tuple(each) for each in store.scale] == [(0.0, "No", ""), (2.5, "Yes", "all of it")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.db"], "there is no such store"),
        ([], "no STORE is given"),
        (["judgments.db", "--grade", "high=Good"], "'high=Good' is not a grade and its name"),
        (["judgments.db", "--grade", "1=Good"], "a scale has 2 to 11 grades, not 1"),
        (["judgments.db", "--grade", "1", "--grade", "0=Bad"], "the grade 1 has no name"),
        (["judgments.db", "--host", "no.such.host.invalid"], "cannot listen on no.such.host.invalid"),
        (["judgments.db", "--port", "99999"], "99999"),
        (["judgments.db", "--decide"], "--decide and --order need RUNs"),
        (["judgments.db", "--order", "mtf"], "--decide and --order need RUNs"),
        (["judgments.db", "some.run"], "RUNs need one of them"),
        (["judgments.db", "--all"], "--all and --depth need --decide or --order"),
        (["judgments.db", "--decide", "--order", "mtf", "some.run"], "--decide is the order decide"),
        (["judgments.db", "--order", "mtf", "some.run", "--depth", "0"], "--depth: 0 is not a rank."),
        (["judgments.db", "--order", "mtf", "some.run", "-m", "AP"], "the order mtf compares no runs"),
        (["judgments.db", "--decide", "some.run"], "a decision needs at least two runs"),
        (["judgments.db", "--host", "0.0.0.0", "--me", "ann"], "everyone enters their own name"),
        (["judgments.db", "--known-as", "judge.example.com", "--me", "ann"], "everyone enters their own name"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path, words, message):
    open_store(tmp_path / "judgments.db", create=True).close()
    done = run("judge", *words, "--no-browser", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_reported(tmp_path):
    open_store(tmp_path / "judgments.db", create=True).close()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("judge", "judgments.db", "--no-browser", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert done.returncode == 2
    assert "address already in use" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="all of 127.0.0.0/8 is this machine only on Linux")
def test_other_addresses_need_the_printed_token(tmp_path):
    open_store(tmp_path / "judgments.db", create=True).close()
    served = Served(tmp_path, "judgments.db", "--host", "0.0.0.0", "--known-as", "127.0.0.2")
    try:
        assert re.fullmatch(r"http://\S+:\d+/\?token=[\w-]{30,}", served.address)
        port, token = re.search(r":(\d+)/\?token=(.*)", served.address).groups()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.2:{port}/", timeout=20)
        opened = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"<main" in opened.open(f"http://127.0.0.2:{port}/?token={token}", timeout=20).read()
        with pytest.raises(urllib.error.HTTPError, match="421"):
            urllib.request.urlopen(f"http://127.0.0.3:{port}/?token={token}", timeout=20)
    finally:
        served.end()
