"""Streams: pipes, standard input, slow files, and the hash of what was read."""

import gzip
import hashlib
import io
import os
import subprocess
import sys

import pytest

import cranfield
from cranfield import Judgments
from cranfield.io.streams import Stream
from tests.io.same_values import EXPECTED, MEASURES, QRELS, TREC_QRELS, TREC_RUN, check


def test_standard_input_and_pipes(tmp_path):
    (tmp_path / "qrels").write_bytes(TREC_QRELS)
    code = f"import cranfield; print(dict(cranfield.evaluate('qrels', '-', {MEASURES!r})) == {EXPECTED!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(TREC_RUN), capture_output=True, cwd=tmp_path, check=True
    )
    assert done.stdout.strip() == b"True"


def test_a_pipe_with_scattered_queries_is_read_twice():
    lines = sorted(TREC_RUN.splitlines(keepends=True), key=lambda line: line[::-1])
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(b"".join(lines))
    from cranfield.native import native
    from tests.generated import scan_with

    with os.fdopen(reader, "rb") as pipe, scan_with(native, 40):
        check(QRELS, pipe)


def test_a_file_is_read_from_its_current_position():
    stream = io.BytesIO(b"a header that is not ours\n" + TREC_RUN)
    stream.readline()
    check(QRELS, stream)
    check(QRELS, io.StringIO(TREC_RUN.decode()))


def test_the_hash_is_of_the_uncompressed_content(tmp_path):
    import hashlib

    (tmp_path / "run").write_bytes(TREC_RUN)
    (tmp_path / "run.gz").write_bytes(gzip.compress(TREC_RUN))
    for name in ("run", "run.gz"):
        result = cranfield.evaluate(io.BytesIO(TREC_QRELS), tmp_path / name, "AP")
        assert result.run_sha256 == hashlib.sha256(TREC_RUN).hexdigest()
        assert result.qrels_sha256 == hashlib.sha256(TREC_QRELS).hexdigest()
    one, other = Judgments.read(QRELS), Judgments.read(dict(reversed(QRELS.items())))
    assert one.sha256 == other.sha256 != Judgments.read({"1": {"a": 1}}).sha256


def test_short_reads_do_not_end_a_stream():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7) if size >= 0 else 7)

    check(Slow(TREC_QRELS), Slow(TREC_RUN))
    check(Slow(TREC_QRELS), Slow(gzip.compress(TREC_RUN)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipes(tmp_path):
    import threading

    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(TREC_RUN))
    writer.start()
    check(QRELS, tmp_path / "pipe")
    writer.join()


def test_a_skipped_hash_is_computed_on_demand(tmp_path):
    (tmp_path / "some.run").write_bytes(TREC_RUN)
    stream = Stream(tmp_path / "some.run", hashed=False)
    result = cranfield.evaluate(QRELS, stream, "AP")
    assert not stream.sha256
    assert result.run_sha256 == hashlib.sha256(TREC_RUN).hexdigest()
