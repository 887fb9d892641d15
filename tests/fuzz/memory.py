"""Runs in memory: dicts with any keys and values, some that change the run when they are compared, and columns."""

import math
import random

import numpy as np
import pandas
import pyarrow

from cranfield import CranfieldError, Judgments, Policy
from cranfield.io.shapes import Rankings
from cranfield.io.source import open_source
from cranfield.native import native
from cranfield.ranks.scan.memory import scan_rankings, scan_table
from tests.fuzz.mutations import DOCUMENTS, QUERIES
from tests.fuzz.texts import COMPARED, REFUSED, any_judgments, any_policy
from tests.generated import scan_with


class Name(str):
    """A subclass of str."""

    __slots__ = ()


class Whole:
    """An object that converts to an integer."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class Hostile:
    """A key with the hash of an id, which changes things when it is compared."""

    def __init__(self, text, things, chance):
        self.text, self.things, self.chance = text, things, chance

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        if not self.things:  # the run is still being made
            return False
        thing = self.chance.choice(self.things)
        act = self.chance.randrange(6)
        if act == 0:
            thing.clear()
        elif act == 1 and thing:
            thing.pop(next(iter(thing)))
        elif act == 2:
            thing.update({f"new {number}": 1.0 for number in range(self.chance.randrange(40))})
        elif act == 3:
            thing.update(dict.fromkeys(thing, math.nan))
        elif act == 4:
            raise ZeroDivisionError
        return self.chance.random() < 0.3


SCORES = (1.0, 2.0, 0.5, -1.5, 0.0, -0.0, 1e300, 16777217.0)
ODD_NUMBERS = (3, True, 10**400, math.nan, math.inf, np.float64(1.5), np.float32(0.5), np.int64(2))
ODD_SCORES = (*ODD_NUMBERS, "1.0", None, b"1", [1.0])
NUMBERED_IDS = (12, 1, 2, 12345, -1, True, 1.5, Whole(12))
ODD_IDS = (*NUMBERED_IDS, "", b"d1", b"", b"\xff", None, ("a",), Name("d1"), Name("q1"), "\ud800")


def any_id(chance, ids, odd):
    return chance.choice(ODD_IDS) if chance.random() < odd else chance.choice(ids)


def any_score(chance, odd):
    # A new float each time, so that a sanitizer sees freed ones.
    return chance.choice(ODD_SCORES) if chance.random() < odd else chance.choice(SCORES) + 0.0


def any_run(chance: random.Random) -> dict:
    odd = chance.choice((0, 0, 0, 0.02, 0.2))
    run = {}
    for _ in range(chance.choice((0, 1, 2, 4, 6))):
        ranking = {
            any_id(chance, DOCUMENTS, odd): any_score(chance, odd) for _ in range(chance.choice((0, 1, 3, 9, 20)))
        }
        if chance.random() < odd:
            ranking = chance.choice((list(ranking), tuple(ranking), None, 7, "text", {**ranking}.items()))
        run[any_id(chance, QUERIES, odd)] = ranking
    if chance.random() < 0.02:  # more than a hundred are counted in threads
        run.update({f"another {number}": {"a": 1.0, "b": 1.0} for number in range(120)})
    return run


# Both scans must raise the same error, even if it is not a CranfieldError.
ERRORS = (CranfieldError, TypeError, ValueError, OverflowError)


def outcome(scan_source, source, judged: Judgments, policy: Policy, scan, errors=ERRORS):
    """What a scan found, or what it raised."""
    with scan_with(scan):
        try:
            found = scan_source(source, judged, policy)
        except errors as error:
            return f"{type(error).__name__}: {error}"
    # Tied rankings are counted last, and odd ones by the twin: the order of the rows is not part of the answer.
    rows = sorted(zip(*(column.tolist() for column in found.found), strict=True))
    return found.retrieved.tolist(), found.extra, rows


def same_outcome(scan_source, source, judged: Judgments, policy: Policy) -> str:
    answers = [outcome(scan_source, source, judged, policy, scan) for scan in (None, native)]
    assert answers[0] == answers[1], (source, *answers)
    return REFUSED if isinstance(answers[0], str) else COMPARED


def dicts(chance: random.Random) -> str:
    return same_outcome(scan_rankings, Rankings("run", any_run(chance)), any_judgments(chance), any_policy(chance))


def hostile_dicts(chance: random.Random) -> str:
    """Keys that change the run: any answer or error will do, but the scan must not crash."""
    run = any_run(chance)
    things = []
    rankings = [ranking for ranking in run.values() if type(ranking) is dict]
    for ranking in rankings:
        if chance.random() < 0.5:
            texts = chance.choices(DOCUMENTS, k=chance.randint(1, 3))
            ranking.update({Hostile(text, things, chance): 1.0 for text in texts})
    if chance.random() < 0.2:
        run[Hostile(chance.choice(QUERIES), things, chance)] = {"a": 1.0}
    things += [run, *rankings]
    found = outcome(scan_rankings, Rankings("run", run), any_judgments(chance), any_policy(chance), native, Exception)
    things.clear()
    return REFUSED if isinstance(found, str) else COMPARED


TEXTS = (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())
SCORE_TYPES = (pyarrow.float64(), pyarrow.float64(), pyarrow.float32(), pyarrow.int8(), pyarrow.uint64())


def any_column(chance: random.Random, values: list, kind: pyarrow.DataType) -> pyarrow.ChunkedArray:
    """A column in chunks, which may be slices of longer ones; now and then a value is missing."""
    if values and chance.random() < 0.02:
        values[chance.randrange(len(values))] = None
    places = sorted(chance.choices(range(len(values) + 1), k=chance.choice((0, 0, 1, 3))))
    chunks = []
    for start, stop in zip([0, *places], [*places, len(values)], strict=True):
        before = values[: chance.choice((0, 0, 3))]
        chunks.append(pyarrow.array(before + values[start:stop], kind).slice(len(before)))
    return pyarrow.chunked_array(chunks, kind)


def any_ids(chance: random.Random, ids: list[str]):
    """Ids as frames have them: text in any layout, or codes into a dictionary."""
    kind = chance.choice(TEXTS)
    if ids and chance.random() < 0.02:
        ids[chance.randrange(len(ids))] = ""
    if chance.random() < 0.2:
        return any_column(chance, ids, pyarrow.dictionary(chance.choice((pyarrow.int8(), pyarrow.uint32())), TEXTS[0]))
    return any_column(chance, ids, kind)


def columns(chance: random.Random) -> str:
    queries = chance.sample(QUERIES, chance.randint(1, len(QUERIES)))
    count = chance.choice((0, 1, 2, 5, 10, 30))
    names = [chance.choice(queries) for _ in range(count)]
    if chance.random() < 0.7:
        names.sort()
    unique = chance.random() < 0.7
    drawn = chance.sample(DOCUMENTS, min(count, len(DOCUMENTS))) + [f"d{number}" for number in range(30)]
    documents = drawn[:count] if unique else chance.choices(DOCUMENTS, k=count)
    kind = chance.choice(SCORE_TYPES)
    values = [chance.choice(SCORES) if pyarrow.types.is_floating(kind) else chance.randrange(5) for _ in range(count)]
    if pyarrow.types.is_floating(kind) and values and chance.random() < 0.02:
        values[chance.randrange(count)] = chance.choice((math.nan, math.inf))
    frame = pyarrow.table(
        {"qid": any_ids(chance, names), "docno": any_ids(chance, documents), "score": any_column(chance, values, kind)}
    )
    if chance.random() < 0.2:
        objects = {name: np.array(frame.column(name).to_pylist(), object) for name in ("qid", "docno")}
        frame = pandas.DataFrame({**objects, "score": frame.column("score").to_pandas()})
    return same_outcome(scan_frame, frame, any_judgments(chance), any_policy(chance))


def scan_frame(frame, judged: Judgments, policy: Policy):
    return scan_table(open_source(frame, "run"), judged, policy)
