"""Everything that reads texts does about twice the work for twice the input: its lines and its calls are counted."""

import json
import sys
import threading
from functools import partial

import pytest

from cranfield import advise, record
from cranfield.cli.commands import program
from cranfield.io.corpus import read_texts
from cranfield.io.queries import read_queries
from cranfield.judging.page.desk import Desk
from cranfield.judging.store import open_store, save_sheet
from tests.growth import LINEAR

SIZE = 40  # queries, or documents of a query


def collection(folder, size, deep):
    """A collection of `size` queries, or of three with as many documents each; two runs, texts, chunks, quotes."""
    folder.mkdir()
    queries = ["q0", "q1", "q2"] if deep else [f"q{number}" for number in range(size)]
    documents = [f"d{number}" for number in range(size if deep else 8)]
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": q, "text": f"about {q}"}) + "\n" for q in queries))
    texts = {each: f"This is {each}. It is about nothing else than {each}." for each in documents}
    (folder / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": each, "title": each, "text": text}) + "\n" for each, text in texts.items())
    )
    (folder / "corpus.csv").write_text("id,text\n" + "".join(f"{each},{text}\n" for each, text in texts.items()))
    rows = [(query, each, at % 3) for query in queries for at, each in enumerate(documents)]
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {each} {grade}\n" for query, each, grade in rows))
    for name, sign in (("one", -1), ("two", 1)):
        lines = (f"{query} Q0 {each} 0 {sign * int(each[1:])} {name}\n" for query, each, _ in rows)
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "chunks.jsonl").write_text(
        "".join(
            json.dumps({"chunk_id": f"{each}#{at}", "doc_id": each, "text": f"{part}."}) + "\n"
            for each, text in texts.items()
            for at, part in enumerate(filter(None, (part.strip() for part in text.split("."))))
        )
    )
    (folder / "quotes.jsonl").write_text(
        "".join(
            json.dumps({"query_id": query, "doc_id": each, "quote": f"about nothing else than {each}", "grade": 1})
            + "\n"
            for query, each, _ in rows
        )
    )
    chunked = (f"{query} Q0 {each}#0 0 {int(each[1:])} chunked\n" for query, each, _ in rows)
    (folder / "chunked.run").write_text("".join(chunked))
    with open_store(folder / "two.db", create=True) as store:
        for who in ("ann", "bob"):
            store.import_qrels(folder / "qrels.txt", assessor=who, kind="person")
        store.wait([(query, each) for query, each, _ in rows])
        save_sheet(store, str(folder / "filled.csv"))
    filled = (folder / "filled.csv").read_text().replace(",,", ",1,")
    (folder / "filled.csv").write_text(filled)
    return folder


COMMANDS = {
    "evaluate": "evaluate qrels.txt one.run -m nDCG@10",
    "compare": "compare qrels.txt one.run two.run -m nDCG@10",
    "explain": "explain qrels.txt one.run q0",
    "check": "check qrels.txt one.run",
    "convert": "convert one.run out.jsonl",
    "pool": "pool judgments.db . one.run two.run",
    "report": "report qrels.txt one.run two.run -o report.html",
    "gate": "gate qrels.txt one.run two.run",
    "stability": "stability qrels.txt one.run two.run",
    "quotes": "evaluate quotes.jsonl chunked.run --chunks chunks.jsonl --documents corpus.jsonl",
    "agreement": "agreement two.db",
    "sheet": "pool judgments.db . one.run two.run --sheet sheet.csv",
    "sheet in": "convert filled.csv two.db --assessor eve",
    "run": "run sqlite . -o out.run",
}


def command(words):
    try:
        code = program(words.split(), prog_name="cranfield", standalone_mode=False)
    except SystemExit as end:
        code = end.code
    assert code in (None, 0, 1), words


def recorded():
    ids = [f"{each}#{at}" for each in read_texts("corpus.jsonl") for at in range(2)]
    record(lambda query, k: ids, read_queries("queries.jsonl"), "recorded.run", collapse="#")


def judged():
    with open_store("two.db") as store:
        desk = Desk(store)
        for name in ("start", "queries", "judged", "conflicts", "next"):
            json.dumps(desk.calls[name]({"assessor": "eve", "words": "about"}))
        for document in ("d0", "d1"):
            json.dumps(desk.calls["judge"]({"assessor": "eve", "query_id": "q0", "doc_id": document, "grade": 1}))
        json.dumps(desk.calls["query"]({"assessor": "eve", "query_id": "q0"}))


WORK = {
    **{name: partial(command, words) for name, words in COMMANDS.items()},
    "record": recorded,
    "judge": judged,
    "advise": lambda: advise("qrels.txt", ["one.run", "two.run"]),
    "queries": lambda: read_queries("queries.jsonl"),
    "corpus.jsonl": lambda: read_texts("corpus.jsonl"),
    "corpus.csv": lambda: read_texts("corpus.csv"),
}


def steps(work):
    """How many lines of ours run and how many functions are called, those of C included: no clock is asked."""
    counted = 0

    def call(frame, event, argument):
        nonlocal counted
        counted += event in ("call", "c_call")

    def line(frame, event, argument):
        nonlocal counted
        counted += 1
        return line

    def trace(frame, event, argument):
        return line if "cranfield" in frame.f_globals.get("__name__", "") else None

    before = sys.gettrace(), sys.getprofile()
    for setter in (threading.settrace, sys.settrace):
        setter(trace)
    for setter in (threading.setprofile, sys.setprofile):
        setter(call)
    try:
        work()
    finally:
        sys.setprofile(before[1])
        sys.settrace(before[0])
        threading.setprofile(None)
        threading.settrace(None)
    return counted


@pytest.mark.parametrize("deep", [False, True], ids=["queries", "documents"])
@pytest.mark.parametrize("name", WORK)
def test_work_grows_with_the_input(name, deep, tmp_path, monkeypatch):
    taken = []
    for size in (SIZE // 2, SIZE, 2 * SIZE, 4 * SIZE):  # the first fills caches
        monkeypatch.chdir(collection(tmp_path / f"{size}", size, deep))
        taken.append(steps(WORK[name]))
    _, few, more, most = taken
    assert most - more <= LINEAR * max(more - few, 0) + SIZE  # what does not depend on the input cancels out
