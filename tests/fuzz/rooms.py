"""What other people's texts, stores, models and names can do: quotes, chunks, damaged stores, replies, and pages."""

import functools
import json
import random
import sqlite3
import tempfile
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from unittest import mock

from cranfield import Chunks, CranfieldError, Judgments, write_report
from cranfield.judging.models.replies import FAILURES, read_better, read_grade
from cranfield.judging.page.desk import Desk, TakenError
from cranfield.judging.store import open_store
from cranfield.ranks import quotes as searching
from tests.fuzz.mutations import mutated
from tests.fuzz.texts import COMPARED, REFUSED
from tests.judging.store.test_damaged import CALLS, whole_store
from tests.ranks.test_quotes import agree, naive, naive_chunks

PARTS = ("a", "b", "ab", " ", "\n", "ß", "İ", "検", "𝄞", "Notice. ", "notice.  ", "aaaa", "One. ", "é", "\ud800")


def any_words(chance: random.Random, most: int = 40) -> str:
    parts = chance.sample(PARTS, chance.randint(1, 4))
    return "".join(chance.choices(parts, k=chance.randint(1, most)))


def searched(chance: random.Random):
    """A way of searching: without an index, by blocks or by suffixes, whatever the size of the text."""
    return mock.patch.multiple(
        searching,
        SHORT=chance.choice((0, 0, searching.SHORT)),
        PATIENCE=chance.choice((-1, 1, searching.PATIENCE)),
        RARE=chance.choice((0, 1, searching.RARE)),
    )


def quotes(chance: random.Random) -> str:
    text = any_words(chance)
    start = chance.randrange(len(text))
    quote = text[start : start + chance.randint(1, 40)] if chance.random() < 0.8 else any_words(chance, 5)
    quote = chance.choice((quote, quote.upper(), quote.swapcase(), f" {quote}\n"))
    with searched(chance):
        stored = searching.QuotedText(text)
        for each in (quote, quote[:-1], quote):  # the second may be found otherwise than the first
            agree(stored.find(each), naive(text, each))
    return COMPARED


def chunks(chance: random.Random) -> str:
    text = any_words(chance)
    cuts = sorted({0, len(text), *(chance.randrange(len(text)) for _ in range(chance.randrange(6)))})
    pieces = [text[start:end] for start, end in pairwise(cuts) if text[start:end].strip()]
    if chance.random() < 0.2:
        chance.shuffle(pieces)
    if pieces and chance.random() < 0.1:
        pieces[chance.randrange(len(pieces))] += "#"
    rows = [(f"c{number}", "d", piece) for number, piece in enumerate(pieces)]
    known = all(naive(text, piece) for piece in pieces)
    expected = naive_chunks(text, pieces) if known else None
    try:
        with searched(chance):
            found = [place[1:3] for place in Chunks.read(rows, {"d": text}).places.values()]
    except CranfieldError:
        assert expected is None or not rows, (text, pieces)
        return REFUSED
    assert found == expected, (text, pieces)
    return COMPARED


THINGS = ("1", "0", "3", "2.0", "-1", "true", "null", '"2"', "1e999", "[1]", "{}", "NaN", "9" * 5000, '"A"', '"B"')


def replies(chance: random.Random) -> str:
    """Any reply is a grade on the scale, or a failure that has a name."""
    name = chance.choice(("grade", "grade", "better", "Grade", "reason"))
    text = f'{{"{name}": {chance.choice(THINGS)}}}'
    if chance.random() < 0.3:
        text = text[:-1] + f', "{chance.choice(("grade", "reason", "better"))}": {chance.choice(THINGS)}}}'
    text = chance.choice(("", "", "So: ", "```json\n", "<think>{</think>", "{", "[" * 3000)) + text
    if chance.random() < 0.4:
        text = mutated(text.encode(), chance).decode(errors="surrogateescape")
    grades, reason = chance.choice(((0, 1, 2, 3), (0, 1), (0.5, 2))), chance.choice(("stop", "stop", "", "length"))
    read = read_grade(text, grades, reason)
    assert read.value in grades if not read.failure else read.value is None and read.failure in FAILURES, text
    better = read_better(text, reason)
    assert better.value in ("A", "B") if not better.failure else better.failure in FAILURES, text
    return COMPARED


@functools.cache
def content() -> bytes:
    with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
        return whole_store(Path(folder))


VALUES = (
    None,
    "",
    "x",
    -1,
    2**63 - 1,
    1e308,
    float("inf"),
    b"\xff",
    "9" * 400,
    "{",
    "[" * 2000,
    "2030-13-99",
)


def stores(chance: random.Random) -> str:
    """A damaged store is read, by a program and by the page, or refused with an error of ours."""
    with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
        path = Path(folder) / "damaged.db"
        path.write_bytes(content())
        try:
            (damage if chance.random() < 0.5 else change)(path, chance)
            Judgments.read(path)
            with open_store(path, read_only=chance.random() < 0.5) as store:
                for _ in store.events():
                    pass
                desk = Desk(store)
                for name, asked in CALLS.items():
                    with suppress(CranfieldError, TakenError):  # of a store that is read only, and of this call
                        json.dumps(desk.calls[name]({"assessor": "ann", **asked}))
        except (CranfieldError, sqlite3.IntegrityError):  # the latter where a rule of the table forbids the change
            return REFUSED
    return COMPARED


def damage(path: Path, chance: random.Random) -> None:
    changed = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 8)):
        changed[chance.choice((chance.randrange(100), chance.randrange(len(changed))))] = chance.randrange(256)
    path.write_bytes(changed[: chance.choice((len(changed), len(changed), chance.randrange(len(changed))))])


def change(path: Path, chance: random.Random) -> None:
    """Any value in any column: SQLite does not check types."""
    with closing(sqlite3.connect(path)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice([name for name in tables if not name.startswith("sqlite_")])
        columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        database.execute(f"UPDATE {table} SET {chance.choice(columns)} = ?", (chance.choice(VALUES),))


MARK = "<x-mark"
HOSTILE = (
    f"</script>{MARK}>",
    f'"{MARK} onload=a>',
    f"'{MARK}>",
    f"<!--{MARK}>",
    f"]]>{MARK}>",
    "\u2028\u2029",
    "\x00\x1b[31m",
    "{{7*7}}",
    "=1+1",
    "&lt;",
    "\u202e",
    "__proto__",
)


def any_name(chance: random.Random, number: int) -> str:
    return f"{''.join(chance.choices(HOSTILE, k=chance.randint(1, 3)))}{number}"


def pages(chance: random.Random) -> str:
    """Names, ids and texts in a report and in what the judging page is sent: shown as text, never as markup."""
    queries, documents = ([any_name(chance, number) for number in range(4)] for _ in range(2))
    qrels = {query: {document: chance.randrange(3) for document in documents[:3]} for query in queries}
    runs = {any_name(chance, at): {query: chance.sample(documents, 3) for query in queries} for at in range(2)}
    with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
        path = Path(folder) / "report.html"
        write_report(qrels, runs, path, measures="nDCG@3")
        assert MARK not in path.read_text(encoding="utf-8")
        with open_store(Path(folder) / "page.db", create=True) as store, suppress(CranfieldError):
            store.add_queries([(query, any_name(chance, 0), "") for query in queries])
            store.add_documents({document: {"title": any_name(chance, 1), "text": "text"} for document in documents})
            store.wait([(query, documents[0]) for query in queries], why=next(iter(runs)))
            for call in Desk(store).calls.values():
                body = {"assessor": "ann", "query_id": queries[0], "doc_id": documents[0], "grade": 1, "words": MARK}
                with suppress(CranfieldError, TakenError):
                    json.dumps(call(body)).encode()
    return COMPARED
