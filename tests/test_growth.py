"""Every command that reads texts does about twice the work for twice the input: calls of functions are counted."""

import json

import pytest

from cranfield.judging.store import open_store
from tests.growth import LINEAR
from tests.program import run

SIZE = 20  # queries, or documents of a query


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
    "run": "run sqlite . -o out.run",
}


COUNT = """
import sys
from cranfield.cli.commands import program
counted = 0
def count(frame, event, argument):
    global counted
    counted += event in ("call", "c_call")
sys.setprofile(count)
try:
    code = program(prog_name="cranfield", standalone_mode=False) or 0
except SystemExit as end:
    code = end.code
finally:
    sys.setprofile(None)
print("\\n", code, counted, file=sys.stderr)
"""


def calls(words, folder):
    """How many functions a command calls, those of C included, whatever the speed of the machine."""
    done = run(COUNT, *words.split(), cwd=folder, program="script")
    assert done.returncode == 0, done.stderr
    code, number = done.stderr.split()[-2:]
    assert code in ("None", "0", "1"), done.stderr
    return int(number)


@pytest.mark.parametrize("deep", [False, True], ids=["queries", "documents"])
@pytest.mark.parametrize("name", COMMANDS)
def test_work_grows_with_the_input(name, deep, tmp_path):
    sizes = (SIZE, 2 * SIZE, 4 * SIZE)
    few, more, most = (calls(COMMANDS[name], collection(tmp_path / f"{size}", size, deep)) for size in sizes)
    # What does not depend on the input cancels out, nearly: some branches depend on the number of queries.
    assert most - more <= LINEAR * (more - few) + few // 10
