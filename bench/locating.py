"""Chunks and quotes located by their texts, and one query explained: `python bench/locating.py JOB`.

It prints seconds of processor time, and the peak memory of its process in MB, the texts included. Texts are words at
random; a third of the chunks are one of twenty notices, which documents repeat.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.ranks.quotes import QuotedText

DOCUMENTS, CHUNKS, SIZE = 300, 100_000, 600
QUOTES, LONG = 4000, 1_000_000
JUDGED = 40_000


def texts() -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """The chunks, 60 MB, and the documents that they were cut from."""
    chance = random.Random(1)
    notices = [_words(chance, SIZE) for _ in range(20)]
    rows, stored = [], {}
    for number in range(DOCUMENTS):
        cut = range(number * CHUNKS // DOCUMENTS, (number + 1) * CHUNKS // DOCUMENTS)
        pieces = [chance.choice(notices) if at % 3 == 2 else _words(chance, SIZE) for at in cut]
        stored[f"d{number}"] = "".join(pieces)
        rows += [(f"c{at}", f"d{number}", piece) for at, piece in zip(cut, pieces, strict=True)]
    return rows, stored


def _words(chance: random.Random, size: int) -> str:
    return " ".join(f"{chance.getrandbits(20):x}" for _ in range(size // 5)).ljust(size)[:size]


def chunks() -> Callable[[], object]:
    from cranfield import Chunks

    rows, stored = texts()
    return lambda: Chunks.read(rows, stored)


def quotes(loose: bool = False) -> Callable[[], object]:
    from cranfield import PassageJudgments

    chance = random.Random(2)
    text = _words(chance, LONG)
    starts = range(0, LONG - 200, (LONG - 200) // QUOTES)
    found = (text[at : at + chance.randrange(30, 200)] for at in starts[:QUOTES])
    rows = [("q", "d", quote.upper() if loose else quote, 1) for quote in found]
    return lambda: PassageJudgments.read(rows, {"d": text})


NOTICE = "All rights reserved. No part of this page may be reproduced without permission. "


def near_copies(absent: bool = False) -> Callable[[], object]:
    """Quotes of a text whose pages all differ from one another in a letter; absent ones differ in one more."""
    from cranfield.ranks.quotes import QuotedText

    chance = random.Random(3)
    size = len(NOTICE)
    pages = [NOTICE[:at] + chance.choice("xyz") + NOTICE[at + 1 :] for at in range(size)]
    text = "".join(chance.choice(pages) for _ in range(LONG // size))
    found = [text[at : at + 100] for at in (chance.randrange(len(text) - 100) for _ in range(QUOTES))]
    if absent:
        found = [quote[:at] + "#" + quote[at + 1 :] for quote in found for at in [chance.randrange(100)]]
    return lambda: _first_places(QuotedText(text), found)


def numbered() -> Callable[[], object]:
    from cranfield.ranks.quotes import QuotedText

    notices = [f"Notice {number}: {NOTICE}" for number in range(LONG // len(NOTICE))]
    return lambda: _first_places(QuotedText("".join(notices)), random.Random(4).sample(notices, QUOTES))


def _first_places(text: QuotedText, found: list[str]) -> list[object]:
    return [text.find(quote).first for quote in found]


def explained() -> Callable[[], object]:
    from cranfield import explain

    ids = [f"d{number}" for number in range(JUDGED)]
    qrels = {"q": {each: at % 3 for at, each in enumerate(ids)}}
    return lambda: explain(qrels, {"q": ids[::2]}, "q")


JOBS = {
    "chunks": chunks,
    "quotes": quotes,
    "loose": lambda: quotes(loose=True),
    "near": near_copies,
    "absent": lambda: near_copies(absent=True),
    "numbered": numbered,
    "explained": explained,
}

if __name__ == "__main__":
    job = JOBS[sys.argv[1]]()
    start = time.process_time()
    job()
    seconds = time.process_time() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
