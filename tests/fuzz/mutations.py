"""Random lines, ids and scores, and damaged bytes."""

import math
import random
from typing import NamedTuple

from cranfield.io.formats.msmarco import MSMARCO_RUN
from cranfield.io.formats.trec import TREC_QRELS, TREC_RUN
from cranfield.io.shapes import Layout

SIGNS = b'\n\r\t "#,;{}[]:\x00\xff\xc3e-_.0123456789'


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to six changes."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        kind = chance.randrange(5)
        at = chance.randrange(len(changed) + 1)
        if kind == 0 and changed:
            changed[at % len(changed)] = chance.randrange(256)
        elif kind == 1:
            changed[at:at] = bytes(chance.choices(SIGNS, k=chance.randint(1, 4)))
        elif kind == 2:
            del changed[at : at + chance.randint(1, 8)]
        elif kind == 3:
            changed[at:at] = changed[: chance.randint(0, 40)]
        else:
            del changed[at:]
    return bytes(changed)


QUERIES = ("q1", "q2", "q10", "1", "2", "#q", "é", "a-query-id-of-thirty-one-letters")
# All lengths that the hash and the comparison of ids treat differently.
SHORT = ("a", "b", "ab", "abc", "d1", "12", "012", "q1", "abcd", "12345", "é", "文書", "𝄞", "1234567")
LONG = ("abcdefgh", "abcdefgi", "nine-long", *("x" * length for length in (15, 16, 17, 24, 32, 33)), "y" * 40)
DOCUMENTS = SHORT + LONG
RANKS = ("1", "2", "3", "10", "+4", "-5")
NO_RANKS = ("two", "1.5", "-", "--6", "٣")
SCORES = ("1", "2", "3", "0", "-1", "+1", "1.5", "-.5", "5.", "1e3", "1E-3", "2.50", "00.50", "16777216", "16777217")
NO_SCORES = ("1e999", "1e-999", "nan", "inf", "-inf", "0x10", "1_0", "", ".", "-", "1e", "e5", "1.2.3", "٣", "1-")
# Adjacent floats, each written in several ways: wrong rounding would create or break ties.
NEAR = tuple(
    format(number, style)
    for middle in (0.1, 1 / 3, 123456.789, 9007199254740993.0, 1e23, 5e-324, 8.5e-308, 1.7976931348623157e308)
    for number in (math.nextafter(middle, 0), middle, -middle)
    for style in ("", ".16g", ".17g", ".18e", ".25g", ".1f", ".30f")
)
HEADERS = ("query_id,doc_id,score", "doc_id\tscore\tquery_id", "rank;query_id;doc_id", "score extra doc_id query_id")


def document(chance: random.Random) -> str:
    return chance.choice(DOCUMENTS) if chance.random() < 0.9 else f"d{chance.randrange(200)}"


def score(chance: random.Random) -> str:
    return chance.choice(chance.choices((SCORES, NEAR, NO_SCORES), (89, 10, 1))[0])


class Lines(NamedTuple):
    """Lines of text, in a layout that a reader may give them."""

    layout: Layout
    data: bytes


def lines(chance: random.Random, layout: Layout | None = None) -> Lines:
    """Some lines, most of them valid."""
    layout = layout or _layout(chance)
    alike = chance.random() < 0.5  # in most files, lines differ only in document, rank and score
    others = _other_columns(layout, chance) if alike else None
    rows = [
        _row(layout, others or _other_columns(layout, chance), chance)
        for _ in range(chance.choice((0, 1, 2, 3, 5, 8, 13)))
    ]
    if layout.counted:
        rows.sort(key=lambda row: row[layout.query])
        places: dict[str, int] = {}
        for row in rows:
            places[row[layout.query]] = place = places.get(row[layout.query], 0) + 1
            row[layout.value] = str(place)
    elif chance.random() < 0.7:
        rows.sort(key=lambda row: row[layout.query])
    rows = [row if chance.random() < 0.995 else row[: chance.randrange(len(row))] for row in rows]
    blank = layout.separator or chance.choice((" ", "\t", "  "))
    ending = "\n" if chance.random() < 0.9 else chance.choice(("\r\n", " \n", "\t\r\n", "\n\n", "\n# comment\n"))
    data = "".join(blank.join(row) + ending for row in rows).encode()
    if chance.random() < 0.3:
        data = mutated(data, chance)
    return Lines(layout, data if data.endswith(b"\n") or chance.random() < 0.02 else data + b"\n")


def _layout(chance: random.Random) -> Layout:
    layout = chance.choice((TREC_RUN, TREC_RUN, TREC_QRELS, MSMARCO_RUN, MSMARCO_RUN._replace(counted=True)))
    if chance.random() < 0.2:
        layout = layout._replace(separator=chance.choice(",;\t"))
    if chance.random() < 0.1:
        columns = chance.sample(range(layout.least), 3)
        layout = layout._replace(query=columns[0], document=columns[1], value=columns[2], rank=-1)
    if chance.random() < 0.1:
        layout = layout._replace(most=layout.least + chance.randint(0, 2))
    return layout._replace(single=True) if chance.random() < 0.05 else layout


def _other_columns(layout: Layout, chance: random.Random) -> list[str]:
    columns = [chance.choice(("Q0", "t", "7")) for _ in range(layout.least)]
    if chance.random() < (0.01 if 0 < layout.most <= layout.least else 0.2):
        columns += chance.choices(("7th", "8", "é"), k=chance.choice((1, 1, 2, 12)))
    return columns


def _row(layout: Layout, others: list[str], chance: random.Random) -> list[str]:
    row = list(others)
    if layout.rank >= 0:
        row[layout.rank] = chance.choice(RANKS if chance.random() < 0.98 else NO_RANKS)
    row[layout.query], row[layout.document] = chance.choice(QUERIES), document(chance)
    row[layout.value] = score(chance) if not layout.ranks else str(chance.randint(1, 20))
    return row


def file(chance: random.Random) -> tuple[bytes, str | None]:
    """A file, and a format that may be the right one."""
    match chance.randrange(10):
        case 0 | 1 | 2 | 3:
            return lines(chance, TREC_RUN).data, chance.choice((None, "trec"))
        case 4:
            return lines(chance, MSMARCO_RUN).data, "msmarco"
        case 5:
            return lines(chance, MSMARCO_RUN._replace(counted=True)).data, None
        case 6 | 7 | 8:
            return with_header(chance), chance.choice((None, None, "tsv", "csv"))
        case _:
            return lines(chance).data, chance.choice((None, "trec", "tsv", "csv", "msmarco"))


def with_header(chance: random.Random) -> bytes:
    """A file whose first line names its columns."""
    header = chance.choice(HEADERS)
    separator = next(sign for sign in ",\t; " if sign in header)
    made = {
        "query_id": lambda: chance.choice(QUERIES),
        "doc_id": lambda: document(chance),
        "score": lambda: score(chance),
    }
    rows = [
        separator.join(made.get(name, lambda: str(chance.randint(1, 9)))() for name in header.split(separator))
        for _ in range(chance.randrange(12))
    ]
    if chance.random() < 0.1:
        rows = [row.replace("q1", '"q1"') for row in rows]
    return "".join(line + "\n" for line in (header, *rows)).encode()
