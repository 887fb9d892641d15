"""Every format keeps its promise about memory: bombs are read in little memory, or refused with the limit named."""

import bz2
import lzma
import os
import re
import sqlite3
import zlib

import numpy as np
import pytest

from cranfield.io.formats import FORMATS
from cranfield.judging.store import open_store
from tests.program import run

MEGABYTE = 1 << 20
HELD = 4 * MEGABYTE  # instead of 128, and for a line instead of 16
CONTENT = 32  # megabytes that a bomb contains
MEMORY = 52  # megabytes, at most, that reading a bomb may add

LINES = {
    "trec": (b"q Q0 d%d 1 1 t\n", b"q 0 d%d 1\n"),
    "msmarco": (b"q d%d 1\n", b"q 0 d%d 1\n"),
    "prefs": (None, b"q g s d%d 1\n"),
    "strata": (None, b"q 0 d%d 1 1\n"),
    "csv": (b"q,d%d,1\n", b"q,d%d,1\n"),
    "tsv": (b"q\td%d\t1\n", b"q\td%d\t1\n"),
    "beir": (None, b"q\td%d\t1\n"),
    "jsonl": (b'{"query_id": "q", "doc_id": "d%d", "score": 1}\n', b'{"query_id": "q", "doc_id": "d%d", "grade": 1}\n'),
    "json": (b'{"q": {"d%d": 1}}', b'{"q": {"d%d": 1}}'),
    "traces": (
        b'{"context": {"trace_id": "t", "span_id": "s%d"}, "attributes": {"openinference.span.kind": "RETRIEVER", '
        b'"input.value": "q", "retrieval.documents.0.document.id": "d"}}\n',
        None,
    ),
}
HEADS = {
    "csv": (b"query_id,doc_id,score\n", b"query_id,doc_id,grade\n"),
    "tsv": (b"query_id\tdoc_id\tscore\n", b"query_id\tdoc_id\tgrade\n"),
    "beir": (b"", b"query-id\tcorpus-id\tscore\n"),
}


def compressed(before, piece, after=b"", new=lambda: zlib.compressobj(1, wbits=31)):
    """A compressed file with a long stretch of the piece in it."""
    made = new()
    stretch = piece * (MEGABYTE // len(piece))
    return b"".join(
        [made.compress(before), *(made.compress(stretch) for _ in range(CONTENT)), made.compress(after), made.flush()]
    )


def text_bombs(name, role):
    """Blanks, one endless id, and one endless query of lines, each in a file that is small."""
    head = HEADS.get(name, (b"", b""))[role == "qrels"]
    line = LINES[name][role == "qrels"]
    before, after = line.split(b"%d")
    yield "query", compressed(head, b"".join(line % number for number in range(10)))
    if name in ("trec", "csv", "json", "jsonl"):  # the other formats read lines as these do
        yield "blanks", compressed(head + line % 1, b" " * 1023 + b"\n")
        yield "id", compressed(head + before, b"x" * 64, after)
    if name == "json":
        yield "bz2", compressed(b"{", b" " * 64, new=bz2.BZ2Compressor)
        yield "xz", compressed(b"{", b" " * 64, new=lambda: lzma.LZMACompressor(preset=0))
        yield "zst", compressed(b"{", b" " * 64, new=pytest.importorskip("zstandard").ZstdCompressor().compressobj)
    if "json" in name:
        yield "nested", compressed(head + before.removesuffix(b'd"').removesuffix(b'"d'), b"[" * 64)


def parquet_bombs():
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def written(**columns):
        sink = arrow.BufferOutputStream()
        parquet.write_table(arrow.table(columns), sink, compression="zstd")
        return sink.getvalue().to_pybytes()

    rows = 50_000
    yield "id", written(query_id=["q"], doc_id=["x" * CONTENT * MEGABYTE], score=[1.0])
    repeated = arrow.DictionaryArray.from_arrays(arrow.array([0] * rows, arrow.int32()), arrow.array(["y" * 4096]))
    yield "dictionary", written(query_id=["q"] * rows, doc_id=repeated, score=[1.0] * rows)
    runs = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(5_000_000, np.int8)), arrow.array(["d"]))
    yield "rows", written(query_id=runs, doc_id=runs, score=arrow.array(np.ones(5_000_000)))
    yield "lies", lying(written(query_id=["q"], doc_id=["x" * CONTENT * MEGABYTE], score=[1.0]))
    yield "lists", written(query_id=["q"], doc_id=[["x"] * MEGABYTE], score=[1.0])


def lying(data):
    """The Parquet file with another size of its content at its end, in as many bytes."""

    def number(value):
        return bytes([value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, value >> 21])

    from pyarrow import BufferReader, parquet

    size = parquet.ParquetFile(BufferReader(data)).metadata.row_group(0).column(1).total_uncompressed_size
    before, found, after = data.rpartition(number(2 * size))
    assert found
    return before + number(200) + after


def store_bombs(path):
    with open_store(path, create=True) as store:
        store.judge("q", "d", 1, assessor="a")
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE events RENAME TO others")
        columns = ", ".join(f"1 AS {name}" for _, name, *_ in database.execute("PRAGMA table_info(others)").fetchall())
        endless = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)"
        database.execute(f"CREATE VIEW events AS {endless} SELECT {columns} FROM n")
    yield "view", path.read_bytes()


READ = """
import re, sys
import cranfield
from cranfield.io import streams
def peak(): return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
path, format, role, held = sys.argv[1:]
if format == "parquet":
    import pyarrow.parquet, pyarrow.compute
streams.HELD = streams.LONGEST_LINE = int(held)
cranfield.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP")
before = peak()
try:
    if role == "run":
        cranfield.evaluate({"q": {"d1": 1}}, path, "AP", format=format)
    elif format in ("prefs", "strata"):
        cranfield.evaluate(path, {"q": ["d"]}, "prefs_simp" if format == "prefs" else "infAP", qrels_format=format)
    else:
        cranfield.Judgments.read(path, format=format if format != "store" else None)
    print("read", end=" ")
except cranfield.CranfieldError as error:
    print(str(error).replace("\\n", " "), end=" ")
print((peak() - before) // 1024)
"""
LIMITS = "a line is longer than 4 MB|more than 4 MB of it must be held at once|nested too deep|contains lists|the view"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="a process's own peak memory is read from /proc")
@pytest.mark.parametrize(("name", "role"), [(name, role) for name, each in FORMATS.items() for role in each.reads])
def test_a_bomb_takes_little_memory_or_is_refused(tmp_path, name, role):
    store = tmp_path / "bomb.db"
    bombs = parquet_bombs() if name == "parquet" else store_bombs(store) if name == "store" else text_bombs(name, role)
    for what, data in bombs:
        assert len(data) < MEGABYTE
        path = store if name == "store" else tmp_path / f"{what}.gz"
        path.write_bytes(data)
        done = run(READ, path, name, role, HELD, program="script")
        verdict, _, size = done.stdout.rpartition(" ")
        assert verdict == "read" or (path.name in verdict and re.search(LIMITS, verdict)), (what, verdict, done.stderr)
        assert int(size) < MEMORY, (what, verdict)
