"""Lines of text: blocks, whole files, the first documents of rankings, and lines shared out by query."""

import bz2
import functools
import gzip
import io
import lzma
import random
from dataclasses import replace

import numpy as np

from cranfield import CranfieldError, Judgments, Policy
from cranfield.io.shapes import Text
from cranfield.io.source import open_source
from cranfield.io.streams import Stream
from cranfield.io.text import BadLine, Block, partition
from cranfield.mixing.reading import places_of_lines, ranked_lines
from cranfield.native import native, native_layout
from cranfield.ranks.first_documents import first_of_block
from cranfield.ranks.judgments import laid_out
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.reading_judgments import read_lines
from cranfield.ranks.scan import pure
from tests.fuzz.mutations import DOCUMENTS, QUERIES, Lines, file, lines, mutated
from tests.generated import scan_with

COMPARED, LEFT, REFUSED = "compared", "left to the twin", "refused"
TIES = ("doc_id", "smaller_doc_id", "file")
DEPTHS = (0, 0, 1, 2, 5, 2**63 - 1)


@functools.cache
def judgments(number: int) -> Judgments:
    """One of several sets of judgments of the documents in the lines."""
    chance = random.Random(number)
    queries = chance.sample(QUERIES, chance.randint(1, len(QUERIES)))
    return Judgments.read(
        {query: dict.fromkeys(chance.sample(DOCUMENTS, chance.randint(1, len(DOCUMENTS))), 1) for query in queries}
    )


def any_judgments(chance: random.Random) -> Judgments:
    return judgments(chance.randrange(40))


def exact(array: np.ndarray) -> np.ndarray:
    """A copy in its own memory, so that a sanitizer sees reads beyond its end; bytes have an extra 0 there."""
    return np.array(array)


@functools.cache
def index_of(judged: Judgments):
    columns = (*laid_out(judged.query_ids), *laid_out(judged.document_ids), judged.first)
    return native.Index(*map(exact, columns))


def any_policy(chance: random.Random) -> Policy:
    duplicates = "error" if chance.random() < 0.8 else chance.choice(("first", "last", "best"))
    same_id = "keep" if chance.random() < 0.8 else "drop"
    return Policy(ties=chance.choice(TIES), duplicates=duplicates, same_id=same_id)


def plain(part: pure.Part) -> tuple:
    found = [column.tolist() for column in part.found]
    return list(part.queries), part.retrieved.tolist(), found, part.codes.tolist()


def scanned(block: Block, judged: Judgments, policy: Policy, depth: int) -> str:
    """Scan a block natively: an answer other than None must match the twin."""
    answer = native.scan_text(
        exact(np.frombuffer(block.data, np.uint8)),
        native_layout(block.layout),
        index_of(judged),
        TIES.index(policy.ties),
        policy.same_id == "drop",
        depth,
    )
    try:
        expected = plain(pure.scan(block, judged, policy, depth))
    except BadLine:
        expected = None
    if answer is None:
        return REFUSED if expected is None else LEFT
    assert plain(pure.Part(*answer)) == expected, (block, answer, expected)
    return COMPARED


NO_FILE = Stream(io.BytesIO())


def block_of(text: Lines) -> Block:
    return Block(Stream(io.BytesIO()), text.layout, 0, text.data)


def blocks(chance: random.Random) -> str:
    return scanned(block_of(lines(chance)), any_judgments(chance), any_policy(chance), chance.choice(DEPTHS))


def judged_lines(chance: random.Random) -> str:
    """The columns of judgments, and what the native scan finds with their index."""
    text = lines(chance)
    layout = text.layout._replace(ranks=False, counted=False, single=False, header=False)
    answer = native.read_judgments(exact(np.frombuffer(text.data, np.uint8)), native_layout(layout))
    try:
        expected = Judgments(read_lines(Text("lines", Stream(io.BytesIO(text.data)), layout)), name="lines")
    except CranfieldError:
        assert answer is None, (text, answer)
        return REFUSED
    if answer is None:
        return LEFT
    queries, documents, first, grades, index = answer
    assert (tuple(queries), documents) == (expected.query_ids, expected.document_ids), text
    assert (first.tolist(), grades.tobytes()) == (expected.first.tolist(), expected.grades.tobytes()), text
    run = exact(np.frombuffer(text.data, np.uint8)), native_layout(layout)
    found, again = (native.scan_text(*run, each, 0, False, 3) for each in (index, index_of(expected)))
    assert plain(pure.Part(*found)) == plain(pure.Part(*again)), text
    return COMPARED


def shared_out(chance: random.Random) -> str:
    """Both partition any lines in the same way; the parts are then scanned as blocks of numbered lines."""
    text = lines(chance)
    count, first = chance.choice((1, 2, 3, 64)), chance.choice((1, 2, 10**9))
    block = block_of(text)
    data = exact(np.frombuffer(text.data, np.uint8))
    shares = native.partition(data, native_layout(text.layout), first, count)
    expected = partition(block, first, count)
    if shares is None:
        assert text.layout.separator
        assert b'"' in text.data
    else:
        assert shares == expected, (block, shares, expected)
    judged, policy = any_judgments(chance), any_policy(chance)
    for share in expected:
        if share:
            scanned(Block(None, text.layout.with_line_numbers(), 0, share), judged, policy, chance.choice(DEPTHS))
    return LEFT if shares is None else COMPARED


def first_documents(chance: random.Random) -> str:
    """The first documents of a block that the scan has accepted, which has no duplicates."""
    text, judged, policy = lines(chance), any_judgments(chance), Policy(ties=chance.choice(TIES))
    block, n = block_of(text), chance.choice((0, 1, 2, 5, 100))
    data = exact(np.frombuffer(text.data, np.uint8))
    known = native_layout(text.layout), index_of(judged), n, TIES.index(policy.ties), False
    answer = native.first_of_text(data, *known)
    try:
        pure.scan(block, judged, policy)
    except BadLine:
        return REFUSED
    if answer is None:
        return LEFT
    assert answer == first_of_block(block, judged.by_query, n, policy)
    return COMPARED


def whole_rankings(chance: random.Random) -> str:
    """Where the lines of each query are, and all documents of its ranking with their scores, for fusing."""
    text, policy = lines(chance), replace(any_policy(chance), duplicates="error", depth=chance.choice((None, 1, 2, 5)))
    layout = text.layout._replace(header=False)
    block, data = Block(Stream(io.BytesIO()), layout, 0, text.data), exact(np.frombuffer(text.data, np.uint8))
    places = native.places_of_text(data, native_layout(layout))
    depth, drop = policy.depth or len(text.data), policy.same_id == "drop"
    answer = native.ranked_text(data, native_layout(layout), TIES.index(policy.ties), drop, depth)
    try:
        expected = ranked_lines(block, policy)
    except (BadLine, CranfieldError):
        return REFUSED if answer is None else LEFT
    if places is not None:
        assert places == places_of_lines(text.data, layout), (text, places)
    if answer is None:
        return LEFT
    names, count, code, score, start, length = answer
    ids = [text.data[at : at + size].decode() for at, size in zip(start.tolist(), length.tolist(), strict=True)]
    assert code.tolist() == native.codes(ids).tolist(), text
    pairs = iter(zip(ids, score.tolist(), strict=True))
    found = [
        (name.decode(), [next(pairs) for _ in range(size)]) for name, size in zip(names, count.tolist(), strict=True)
    ]
    assert found == expected, (block, policy, found, expected)
    return COMPARED


COMPRESSORS = (gzip.compress, bz2.compress, functools.partial(lzma.compress, preset=0))


def files(chance: random.Random) -> str:
    """Whole files, in blocks of any size: both scans give one table, or one error."""
    data, format = file(chance)
    if chance.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    if chance.random() < 0.1:
        data = chance.choice(COMPRESSORS)(data)
        data = mutated(data, chance) if chance.random() < 0.5 else data
    judged, policy = any_judgments(chance), any_policy(chance)
    block = chance.choice((32, 64, 100, 1 << 20))
    # Starting threads or opening many temporary files would take most of the time.
    settings = {"CORES": 2 if chance.random() < 0.1 else 1, "parts": chance.choice((1, 2, 3))}
    ways = [scan_with(scan, block, **settings) for scan in (None, native)]
    answers = [outcome(data, judged, policy, format, way) for way in ways]
    assert answers[0] == answers[1], (data, *answers)
    return REFUSED if isinstance(answers[0], str) else COMPARED


def outcome(data: bytes, judged: Judgments, policy: Policy, format: str | None, way):
    """The table of a file, or its error."""
    with way:
        try:
            ranks = rank_run(judged, open_source(io.BytesIO(data), "run", format), policy)
        except CranfieldError as error:
            return f"{type(error).__name__}: {error}"
    columns = (ranks.query, ranks.rank, ranks.row, ranks.tied, ranks.retrieved, ranks.missing)
    return [column.tolist() for column in columns], ranks.extra
