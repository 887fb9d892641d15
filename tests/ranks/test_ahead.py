"""Scanning ahead finds the same as an ordinary scan, and skips files that are not plain."""

import bz2
import gzip
import lzma
import random

import pytest

from cranfield import Judgments, Policy, evaluate_runs
from cranfield.io.source import open_source
from cranfield.io.streams import OPENED, Stream
from cranfield.native import native
from cranfield.ranks.scan import ahead
from cranfield.ranks.scan.text import scan_text

pytestmark = pytest.mark.skipif(native is None, reason="only the native part scans ahead")
MEASURES = "nDCG@10 AP RR Judged@5"


@pytest.fixture(autouse=True)
def forget_scans():
    yield
    ahead._scans.clear()
    for file, _ in OPENED.values():
        file.close()
    OPENED.clear()


def lines(chance, queries=40, documents=30, ties=False):
    """A run with unjudged queries, in any order of the scores."""
    text = []
    for query in chance.sample(range(60), queries):
        for rank, document in enumerate(chance.sample(range(99), documents), 1):
            score = chance.randrange(9) if ties else chance.random()
            text.append(f"{query} Q0 d{document} {rank} {score} tag\n")
    return "".join(text).encode()


@pytest.fixture
def qrels(tmp_path):
    chance = random.Random(1)
    rows = [f"{query} 0 d{each} {chance.randrange(-1, 4)}\n" for query in range(50) for each in range(query % 9 + 1)]
    chance.shuffle(rows)
    (tmp_path / "qrels.txt").write_text("".join(rows))
    return str(tmp_path / "qrels.txt")


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return write


def streams(paths):
    return {path: Stream(path, hashed=False) for path in paths}


def contents(results):
    """Everything that evaluations contain."""
    return [(name, each.to_dict(), list(each.per_query), each.ranks.row.tolist()) for name, each in results.items()]


def compressed(content):
    return content in (gzip.compress(PLAIN, mtime=0), bz2.compress(PLAIN), lzma.compress(PLAIN))


def scanned(qrels, path, policy=None):
    """The result of scanning a run ahead, or None if the run was left to the ordinary scan."""
    judgments = Judgments.read(Stream(qrels, hashed=False))
    return ahead.scanned_ahead(open_source(Stream(path, hashed=False), "run"), judgments, policy or Policy())


def test_scanning_ahead_gives_the_same_values(qrels, write):
    chance = random.Random(2)
    paths = [write(f"{number}.run", lines(chance, ties=number % 2 == 0)) for number in range(80)]
    expected = contents(evaluate_runs(Stream(qrels, hashed=False), streams(paths), MEASURES))
    ahead.scan_ahead(qrels, paths)
    assert contents(evaluate_runs(Stream(qrels, hashed=False), streams(paths), MEASURES)) == expected
    assert not ahead._scans[0]._number  # every run came from the scan ahead


def test_threads_wait_while_too_many_rows_are_pending(write):
    """Threads pause when the buffer is full and resume as rows are taken, also after a run that is not plain."""
    documents = [f"{query} {{}} d{each}" for query in range(100) for each in range(2000)]
    judged = write("all.qrels", "".join(f"{each.format(0)} 1\n" for each in documents).encode())
    one = "".join(f"{each.format('Q0')} 1 {-place} t\n" for place, each in enumerate(documents)).encode()
    paths = [write(f"{number}.run", one) for number in range(7)]  # 1.4 million rows
    paths[3:3] = [write("odd.run", one + b"100 Q0 d1 1 abc t\n")]
    ahead.scan_ahead(judged, paths)
    judgments = Judgments.read(Stream(judged, hashed=False))
    sources = [open_source(Stream(path, hashed=False), "run") for path in paths]
    found = [ahead.scanned_ahead(source, judgments, Policy()) for source in sources]
    assert [each is None for each in found] == [path.endswith("odd.run") for path in paths]
    assert {len(each.found.row) for each in found if each is not None} == {200_000}


def test_a_run_of_many_blocks(qrels, write):
    path = write(
        "long.run",
        lines(random.Random(3), 60, 99)
        + b"".join(b"x%d Q0 d%d 1 0.5 tag\n" % (query, document) for query in range(99) for document in range(1500)),
    )
    ahead.scan_ahead(qrels, [path])
    found = scanned(qrels, path)
    source = open_source(path, "run")
    again = scan_text(source, Judgments.read(qrels), Policy())
    assert found.extra == again.extra
    assert found.retrieved.tolist() == again.retrieved.tolist()
    assert [column.tolist() for column in found.found] == [column.tolist() for column in again.found]


PLAIN = b"1 Q0 d0 1 0.5 tag\n2 Q0 d0 1 0.5 tag\n"


@pytest.mark.parametrize(
    ("content", "plain"),
    [
        (PLAIN, True),
        (PLAIN.rstrip(), True),
        (PLAIN.replace(b"\n", b"\r\n"), True),
        (b"# a comment\n\n" + PLAIN, True),
        (b"\xef\xbb\xbf" + PLAIN, False),
        (gzip.compress(PLAIN, mtime=0), False),
        (bz2.compress(PLAIN), False),
        (lzma.compress(PLAIN), False),
        (PLAIN + PLAIN, False),  # a document twice
        (PLAIN + b"3 Q0 d0 1 nan tag\n", False),
        (PLAIN + b"3 Q0 d0 1\n", False),
        (b"\xff" + PLAIN, False),
    ],
    ids=["plain", "no end of line", "CRLF", "comment", "BOM", "gzip", "bzip2", "xz", "twice", "nan", "short", "bytes"],
)
def test_only_plain_runs_are_scanned_ahead(qrels, write, content, plain):
    path = write("some.run", content)
    ahead.scan_ahead(qrels, [path])
    assert ahead.is_scanning() == (not compressed(content) and not content.startswith(b"\xef\xbb\xbf"))
    try:
        assert (scanned(qrels, path) is not None) == plain
    except UnicodeDecodeError:
        assert not plain


def test_a_run_with_a_scattered_query_is_not_scanned_ahead(qrels, write):
    filling = b"".join(b"9 Q0 e%d 1 0.5 tag\n" % document for document in range(99_999))
    path = write("some.run", PLAIN + filling + b"1 Q0 d5 1 0.5 tag\n")
    ahead.scan_ahead(qrels, [path])
    assert scanned(qrels, path) is None


def test_scans_ahead_are_not_used_for_other_policies_or_judgments(qrels, write):
    path = write("some.run", PLAIN)
    for policy in (Policy(ties="file"), Policy(same_id="drop")):
        ahead.scan_ahead(qrels, [path])
        assert scanned(qrels, path, policy) is None
    source = open_source(Stream(path, hashed=False), "run")
    assert ahead.scanned_ahead(source, Judgments.read({"1": {"d0": 1}}), Policy()) is None
    assert ahead.scanned_ahead(open_source(path, "run"), Judgments.read(qrels), Policy()) is None  # its hash is wanted


def test_missing_and_bad_files_are_not_scanned_ahead(qrels, tmp_path, write):
    ahead.scan_ahead(qrels, [str(tmp_path / "missing.run")])
    assert not ahead._scans
    twice = write("twice.txt", b"1 0 d0 1\n1 0 d0 2\n")
    path = write("some.run", PLAIN)
    ahead.scan_ahead(twice, [path])
    assert ahead.judged_ahead(open_source(Stream(twice, hashed=False), "qrels")) is None


def test_wrong_arguments_are_refused(qrels, write):
    ahead.scan_ahead(qrels, [write("some.run", PLAIN)])
    with pytest.raises(IndexError, match=r"^number: "):
        native.scanned_ahead(ahead._scans[0]._threads, 1)
    layout = ahead.native_layout(ahead.TREC_RUN)
    with pytest.raises(ValueError, match=r"^threads: "):
        native.Ahead((0, b""), [], layout, layout, 0)
