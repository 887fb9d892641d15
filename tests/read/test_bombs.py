"""A few bytes may stand for gigabytes: memory stays small, and work grows no faster than the content."""

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
from cranfield.ranks.scan.native import native
from cranfield.read.compression import COMPRESSED_CHUNK, CONTENT_CHUNK, decompressed
from cranfield.read.formats.trec import TREC_RUN
from cranfield.read.streams import LONGEST_LINE, Stream
from cranfield.read.text import blocks, cut, last_fields
from tests.generated import scan_with
from tests.program import printed

MEGABYTE = 1 << 20
FEW, MANY = 40, 160  # megabytes of content


def zstd():
    return pytest.importorskip("zstandard")


def stream(new, piece, count):
    undone = new()
    return b"".join([*(undone.compress(piece) for _ in range(count)), undone.flush()])


def bzip2(piece, count):
    """In members of 40 MB, which is quicker, and all of them fit into one chunk of a file."""
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
    """Data, a long stretch of nothing, and more data of the same query."""
    return compress(b"q Q0 d 1 2 t\n") + repeated(piece(stretch), size) + compress(b"q Q0 e 2 1 t\n")


def peak(path, script):
    """How much memory, in megabytes, a process needs that runs the script on a file and prints 'good'."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("where else a process finds its own peak, without that of its parent, is not known")
    measured = f"import re, sys\n{script}\nprint(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    said, size = printed(measured, path).rsplit(None, 1)
    assert said == "good"
    return int(size) / 1024


READ_ALL = """
from cranfield.read.formats import recognise
from cranfield.read.streams import Stream
from cranfield.read.text import blocks, last_fields
stream = Stream(sys.argv[1])
layout = recognise(stream, "run").open(stream, "run", named=False).layout
found = b"".join(bytes(block.data).strip() for block in blocks(stream, layout))
last = last_fields(stream, layout)
print("good" if found == b"q Q0 d 1 2 tq Q0 e 2 1 t" and last[2] == b"e" else found[:100])
"""


@compressions
def test_memory_is_that_of_a_chunk(tmp_path, compress, repeated):
    path = tmp_path / "run"
    path.write_bytes(bomb(compress, repeated, b"\n", MANY))
    assert path.stat().st_size < 3 * MEGABYTE
    assert peak(path, READ_ALL) < MANY


EVALUATE = """
import cranfield
print("good" if cranfield.evaluate({"q": {"d": 1}}, sys.argv[1], "AP")["AP"] == 1.0 else "bad")
"""


@stretches
def test_measuring_takes_no_more(tmp_path, stretch):
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


@pytest.mark.parametrize("name", ["run", "run.csv", "run.jsonl"])
def test_a_line_without_end_is_an_error(tmp_path, name):
    path = tmp_path / name
    head = gzip.compress(b"query_id,doc_id,score\n" if name == "run.csv" else b"")
    path.write_bytes(head + COMPRESSIONS["gzip"][1](b"x" * MEGABYTE, MANY))
    assert peak(path, NO_END) < MANY


@compressions
def test_pieces_are_bounded_and_nothing_is_lost(compress, repeated):
    data = bomb(compress, repeated, b"\n", FEW)
    file = io.BytesIO(data)
    pieces = list(decompressed(file.read(COMPRESSED_CHUNK), lambda: file.read(COMPRESSED_CHUNK), "it"))
    assert max(map(len, pieces)) <= CONTENT_CHUNK
    assert b"".join(pieces) == b"q Q0 d 1 2 t\n" + b"\n" * FEW * MEGABYTE + b"q Q0 e 2 1 t\n"


@compressions
@pytest.mark.parametrize("size", [1, 511, 512, 513, 65536])
def test_members_padding_and_ends(compress, repeated, size):
    """However few bytes come at a time, and whatever follows a member."""
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


def test_windows_that_need_too_much_memory():
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    data = lzma.compress(b"1 Q0 a 1 1 t\n", filters=filters)
    with pytest.raises(InputError, match="the xz data needs too much memory"):
        Stream(io.BytesIO(data)).head(10)
    parameters = zstd().ZstdCompressionParameters(window_log=30, enable_ldm=True)
    undone = zstd().ZstdCompressor(compression_params=parameters).compressobj()  # which declares no size
    with pytest.raises(InputError, match="the zstd data needs too much memory"):
        Stream(io.BytesIO(undone.compress(b"1 Q0 a 1 1 t\n") + undone.flush())).head(10)


@stretches
def test_every_byte_is_looked_at_a_few_times(stretch):
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


def test_a_stretch_does_not_part_a_query_needlessly():
    rows = "".join(f"{query} Q0 d{document} 1 1 t\n# a comment\n\n" for query in "ab" for document in range(3000))
    parts = [bytes(block.data) for block in blocks(Stream(io.BytesIO(rows.encode())), TREC_RUN, 1 << 12)]
    assert [part[:1] for part in parts] == [b"a", b"b"]


@scans
@stretches
@pytest.mark.parametrize("header", [b"", b"query_id\tdoc_id\tscore\n"], ids=["trec", "tsv"])
def test_data_behind_a_long_stretch(tmp_path, scan, stretch, header):
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
def test_only_blank_lines_and_comments(tmp_path, stretch):
    with pytest.raises(InputError, match="it contains only blank lines and comments"):
        cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(stretch * 100_000))
    assert last_fields(Stream(io.BytesIO(stretch * 100_000)), TREC_RUN) == []


def test_the_last_line_behind_a_long_stretch():
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


def test_long_rows_do_not_take_longer_and_longer(monkeypatch):
    """Lines of JSON are put together once, however many chunks they come in."""
    monkeypatch.setattr("cranfield.read.formats.json_lines.CHUNK", 1 << 10)
    monkeypatch.setattr("cranfield.read.streams.CHUNK", 1 << 10)
    row = json.dumps({"query_id": "q", "doc_id": "d", "score": 1, "text": "x" * 10_000_000}).encode()
    assert cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(row), "RR")["RR"] == 1.0


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"q":' * 100_000, b'{"q": {"d": ' + b"[" * 100_000])
def test_deep_json(deep):
    for format in ("json", "jsonl"):
        with pytest.raises(InputError, match="this JSON is nested too deep"):
            cranfield.evaluate({"q": {"d": 1}}, io.BytesIO(deep), format=format)


def test_whole_files_take_a_small_multiple(tmp_path):
    """JSON is held as bytes and as text, and no more, before it is parsed."""
    path = tmp_path / "run.json.gz"
    blanks = COMPRESSIONS["gzip"][1](b" " * MEGABYTE, MANY)
    path.write_bytes(gzip.compress(b'{"q": {"d": 1}') + blanks + gzip.compress(b"}"))
    assert peak(path, EVALUATE) < 3 * MANY
