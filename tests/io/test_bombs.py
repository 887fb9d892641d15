"""Decompression bombs: memory stays small, and work grows no faster than the content."""

import bz2
import gzip
import io
import json
import lzma
import os
import zlib

import pytest

import cranfield
from cranfield import InputError
from cranfield.io.compression import COMPRESSED_CHUNK, CONTENT_CHUNK, decompressed
from cranfield.io.formats.trec import TREC_RUN
from cranfield.io.streams import LONGEST_LINE, Stream
from cranfield.io.text import blocks, cut, last_fields
from cranfield.native import native
from tests.generated import scan_with
from tests.program import printed

MEGABYTE = 1 << 20
FEW, MANY = 40, 160  # megabytes of content


def zstd():
    return pytest.importorskip("zstandard")


def stream(new, piece, count):
    compressor = new()
    return b"".join([*(compressor.compress(piece) for _ in range(count)), compressor.flush()])


def bzip2(piece, count):
    """Members of 40 MB compress faster, and all of them fit into one chunk of a file."""
    return bz2.compress(piece * FEW) * (count // FEW)


COMPRESSIONS = {
    "gzip": (gzip.compress, lambda *size: stream(lambda: zlib.compressobj(1, wbits=31), *size)),
    "bzip2": (bz2.compress, bzip2),
    "xz": (lzma.compress, lambda *size: stream(lambda: lzma.LZMACompressor(preset=0), *size)),
    "zstd": (lambda data: zstd().compress(data), lambda *size: stream(zstd().ZstdCompressor().compressobj, *size)),
}
compressions = pytest.mark.parametrize(("compress", "repeated"), COMPRESSIONS.values(), ids=COMPRESSIONS)
stretches = pytest.mark.parametrize("stretch", [b"\n", b"# \n", b" \r\n"], ids=["blank", "comment", "white"])
scans = pytest.mark.parametrize(
    "scan", [None, native] if native else [None], ids=["pure", "native"][: 1 + bool(native)]
)


def piece(text):
    return text * (MEGABYTE // len(text))


def bomb(compress, repeated, stretch, size):
    """Data, a long stretch of blank lines or comments, and more data of the same query."""
    return compress(b"q Q0 d 1 2 t\n") + repeated(piece(stretch), size) + compress(b"q Q0 e 2 1 t\n")


def peak(path, script):
    """Peak memory, in megabytes, of a process that runs the script on a file and prints 'good'."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("a process's own peak memory can be read only from /proc")
    measured = f"import re, sys\n{script}\nprint(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    verdict, size = printed(measured, path).rsplit(None, 1)
    assert verdict == "good"
    return int(size) / 1024


READ_ALL = """
from cranfield.io.formats import recognise
from cranfield.io.streams import Stream
from cranfield.io.text import blocks, last_fields
stream = Stream(sys.argv[1])
layout = recognise(stream, "run").open(stream, "run", named=False).layout
found = b"".join(bytes(block.data).strip() for block in blocks(stream, layout))
last = last_fields(stream, layout)
print("good" if found == b"q Q0 d 1 2 tq Q0 e 2 1 t" and last[2] == b"e" else found[:100])
"""


@pytest.mark.fault("compressed files that expand to far more than their size", "They are read in bounded memory.")
@compressions
def test_reading_a_bomb_takes_the_memory_of_a_chunk(tmp_path, compress, repeated):
    path = tmp_path / "run"
    path.write_bytes(bomb(compress, repeated, b"\n", MANY))
    assert path.stat().st_size < 3 * MEGABYTE
    assert peak(path, READ_ALL) < MANY


EVALUATE = """
import cranfield
print("good" if cranfield.evaluate({"q": {"d": 1}}, sys.argv[1], "AP")["AP"] == 1.0 else "bad")
"""


@pytest.mark.fault("compressed files that expand to far more than their size", "They are read in bounded memory.")
@stretches
def test_evaluating_a_bomb_takes_little_memory(tmp_path, stretch):
    path = tmp_path / "run"
    path.write_bytes(bomb(*COMPRESSIONS["gzip"], stretch, FEW))
    assert peak(path, EVALUATE) < 100


NO_END = """
import cranfield
try:
    cranfield.evaluate({"q": {"d": 1}}, sys.argv[1], "AP")
except cranfield.InputError as error:
    print("good" if "a line is longer than 16 MB" in str(error) else error)
"""


@pytest.mark.fault("lines without an end, JSON that is nested too deep", "An error of ours, in bounded memory.")
@pytest.mark.parametrize("name", ["run", "run.csv", "run.jsonl"])
def test_an_endless_line_is_an_error(tmp_path, name):
    path = tmp_path / name
    head = gzip.compress(b"query_id,doc_id,score\n" if name == "run.csv" else b"")
    path.write_bytes(head + COMPRESSIONS["gzip"][1](b"x" * MEGABYTE, MANY))
    assert peak(path, NO_END) < MANY


@compressions
def test_decompressed_pieces_are_bounded_and_complete(compress, repeated):
    data = bomb(compress, repeated, b"\n", FEW)
    file = io.BytesIO(data)
    pieces = list(decompressed(file.read(COMPRESSED_CHUNK), lambda: file.read(COMPRESSED_CHUNK), "it"))
    assert max(map(len, pieces)) <= CONTENT_CHUNK
    assert b"".join(pieces) == b"q Q0 d 1 2 t\n" + b"\n" * FEW * MEGABYTE + b"q Q0 e 2 1 t\n"


@compressions
@pytest.mark.parametrize("size", [1, 511, 512, 513, 65536])
def test_concatenated_members_and_padding_are_read(compress, repeated, size):
    """Any number of bytes may come at a time."""
    content = bytes(range(256)) * 1000
    whole = compress(content) + b"\0" * 700 + compress(b"") + compress(b"end")

    def read(data):
        file = io.BytesIO(data)
        first = file.read(max(size, 10))
        return b"".join(decompressed(first, lambda: file.read(size), "it"))

    assert read(whole) == content + b"end"
    with pytest.raises(InputError, match="stops before its end"):
        read(whole[:-1])
    with pytest.raises(InputError, match="is damaged"):
        read(whole + b"garbage that is none of these" * 9)


def test_compression_windows_that_are_too_large_are_refused():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    data = lzma.compress(b"1 Q0 a 1 1 t\n", filters=filters)
    with pytest.raises(InputError, match="the xz data needs too much memory"):
        Stream(io.BytesIO(data)).head(10)
    parameters = zstd().ZstdCompressionParameters(window_log=30, enable_ldm=True)
    compressor = zstd().ZstdCompressor(compression_params=parameters).compressobj()  # which declares no size
    with pytest.raises(InputError, match="the zstd data needs too much memory"):
        Stream(io.BytesIO(compressor.compress(b"1 Q0 a 1 1 t\n") + compressor.flush())).head(10)


@stretches
def test_every_byte_is_scanned_only_a_few_times(stretch):
    seen = []

    def counted(data):
        seen.append(len(data))
        return cut(data, TREC_RUN)

    data = b"q Q0 d 1 2 t\n" + piece(stretch) * 20 + b"q Q0 e 2 1 t\n" * 100_000
    for opened in (io.BytesIO(data), io.BytesIO(gzip.compress(data, 1))):
        seen.clear()
        found = list(Stream(opened).pieces(1 << 16, counted))
        assert sum(seen) < 5 * len(data)
        assert b"".join(part for _, part in found) == data


def test_comments_do_not_split_a_query_across_blocks():
    rows = "".join(f"{query} Q0 d{document} 1 1 t\n# a comment\n\n" for query in "ab" for document in range(3000))
    parts = [bytes(block.data) for block in blocks(Stream(io.BytesIO(rows.encode())), TREC_RUN, 1 << 12)]
    assert [part[:1] for part in parts] == [b"a", b"b"]


@scans
@stretches
@pytest.mark.parametrize("header", [b"", b"query_id\tdoc_id\tscore\n"], ids=["trec", "tsv"])
def test_data_after_a_long_stretch_is_read(tmp_path, scan, stretch, header):
    if header and b"#" in stretch:
        pytest.skip("a table has comments only before its header")
    rows = [b"q\te\t3\n", b"q\td\t2\n"] if header else [b"q Q0 e 1 3 t\n", b"q Q0 d 1 2 t\n"]
    path = tmp_path / "run"
    path.write_bytes(stretch * 100_000 + header + stretch * 100_000 + rows[0] + stretch * 100_000 + rows[1])
    with scan_with(scan, 1 << 12):
        assert cranfield.evaluate({"q": {"d": 1}}, path, "RR")["RR"] == 0.5
    path.write_bytes(path.read_bytes().replace(b"d\t2", b"d\tx").replace(b" 2 ", b" x "))
    with scan_with(scan, 1 << 12), pytest.raises(InputError, match=rf"run:{300_002 + bool(header)}: score 'x'"):
        cranfield.evaluate({"q": {"d": 1}}, path, "RR")
    with pytest.raises(InputError, match=rf"run:{300_002 + bool(header)}: score 'x'"):
        cranfield.convert_file(path, tmp_path / "out.csv", role="run")


@stretches
def test_a_file_of_only_blank_lines_and_comments_is_an_error(tmp_path, stretch):
    with pytest.raises(InputError, match="contains only blank lines and comments"):
        cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(stretch * 100_000))
    assert last_fields(Stream(io.BytesIO(stretch * 100_000)), TREC_RUN) == []


def test_the_last_line_before_a_long_stretch_is_found():
    data = b"1 Q0 a 1 1 x\n1 Q0 b 1 1 tag\n" + b"# nothing\n" * 100_000
    for opened in (io.BytesIO(data), io.BytesIO(gzip.compress(data))):
        assert last_fields(Stream(opened), TREC_RUN)[5] == b"tag"


@pytest.mark.parametrize("size", [70_000, 2_000_000, LONGEST_LINE - 100])
def test_long_lines_are_read(size):
    name = "x" * size
    for data in (f"{name} Q0 d 1 1 t\n", json.dumps({"query_id": name, "doc_id": "d", "score": 1}) + "\n"):
        assert cranfield.evaluate({name: {"d": 1}}, io.BytesIO(data.encode()), "RR")["RR"] == 1.0
    data = json.dumps({name: {"d": 1}})
    assert cranfield.evaluate({name: {"d": 1}}, io.BytesIO(data.encode()), "RR")["RR"] == 1.0


def test_a_json_line_in_many_chunks_is_read(monkeypatch):
    """Joining the line again for every chunk would take quadratic time."""
    monkeypatch.setattr("cranfield.io.formats.json_lines.CHUNK", 1 << 10)
    monkeypatch.setattr("cranfield.io.streams.CHUNK", 1 << 10)
    row = json.dumps({"query_id": "q", "doc_id": "d", "score": 1, "text": "x" * 10_000_000}).encode()
    assert cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(row), "RR")["RR"] == 1.0


@pytest.mark.fault("lines without an end, JSON that is nested too deep", "An error of ours, in bounded memory.")
@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"q":' * 100_000, b'{"q": {"d": ' + b"[" * 100_000])
def test_deeply_nested_json_is_an_error(deep):
    for format in ("json", "jsonl"):
        with pytest.raises(InputError, match="this JSON is nested too deep"):
            cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(deep), format=format)
