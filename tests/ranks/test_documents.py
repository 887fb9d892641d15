"""The documents of a run as numbers."""

import copy
import io
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Judgments, Policy, evaluate
from cranfield.io.shapes import Rankings
from cranfield.io.source import open_source
from cranfield.ranks.codes import codes_of
from cranfield.ranks.ranking import scan_source
from cranfield.ranks.run import EVERYTHING, NOTHING, Wants, open_run
from cranfield.ranks.scan import text
from tests import generated, oracle
from tests.generated import file, scan_with, trec_run, written
from tests.ranks.test_scan import TIES, scans

DEFAULT = Policy()
QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}, "3": {"a": 1}}
RANKINGS = {"1": ["x", "a", "y"], "2": ["z"], "9": ["a"]}
ROWS = [(query, document, -float(at)) for query, ranking in RANKINGS.items() for at, document in enumerate(ranking)]
TEXT = "".join(f"{query} Q0 {document} 1 {score} run\n" for query, document, score in ROWS)


def codes(run, policy=DEFAULT, depth=EVERYTHING, wants=NOTHING):
    judgments = Judgments.read(QRELS)
    reading = open_run(run).read(judgments, policy, wants)
    found = reading.codes(reading.ranks(), depth)
    return None if found is None else [found.of(query).tolist() for query in range(len(judgments))]


def hashes(*rankings):
    return [codes_of(list(ranking)).tolist() for ranking in rankings]


def scores(rows):
    found = {}
    for query, document, score in rows:
        found.setdefault(query, {})[document] = score
    return found


SCATTERED = "".join(sorted(TEXT.splitlines(keepends=True), key=lambda line: line.split()[2]))
SOURCES = {
    "lists": lambda: RANKINGS,
    "dicts": lambda: scores(ROWS),
    "unsorted": lambda: scores(ROWS[::-1]),
    "numbers": lambda: {int(query): ranking for query, ranking in RANKINGS.items()},
    "rows": lambda: ROWS,
    "iterator": lambda: iter(ROWS),
    "text": lambda: io.BytesIO(TEXT.encode()),
    "scattered": lambda: io.BytesIO(SCATTERED.encode()),
    "json": lambda: io.BytesIO(json.dumps(scores(ROWS)).encode()),
}


@pytest.mark.parametrize("depth", [EVERYTHING, 3, 2, 1])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("wanted", [False, True], ids=["later", "wanted"])
def test_every_source_has_the_same_documents(source, depth, wanted):
    wants = Wants(codes=depth) if wanted else NOTHING
    assert codes(SOURCES[source](), depth=depth, wants=wants) == hashes("xay"[:depth], "z", "")


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("wants", [NOTHING, Wants(first=9), Wants(first=9, held=True), Wants(codes=2, first=9)])
def test_every_source_has_the_same_first_documents(source, n, wants):
    reading = open_run(SOURCES[source]()).read(Judgments.read(QRELS), DEFAULT, wants)
    assert reading.first(["2", "1", "3"], n) == {"2": ["z"], "1": ["x", "a", "y"][:n]}


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames(frame):
    library = pytest.importorskip(frame)
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*ROWS, strict=True)), strict=True))
    assert codes(library.DataFrame(columns)) == hashes("xay", "z", "")
    assert codes(library.DataFrame(columns), depth=2) == hashes("xa", "z", "")
    assert codes(library.DataFrame(columns), Policy(ties="best"), depth=2) == hashes("xa", "z", "")


@pytest.mark.parametrize(
    ("run", "policy", "expected"),
    [
        ({"1": {"a": 1, "y": 1, "x": 1}}, Policy(), "yxa"),
        ({"1": {"a": 1, "y": 1, "x": 1}}, Policy(ties="smaller_doc_id"), "axy"),
        ({"1": {"a": 1, "y": 1, "x": 1}}, Policy(ties="file"), "ayx"),
        ({"1": {"a": 1, "y": 1, "x": 1}}, Policy(ties="worst"), "yxa"),
        ({"1": ["x", "a", "y"]}, Policy(depth=2), "xa"),
        ({"1": ["1", "a"]}, Policy(same_id="drop"), "a"),
        ({"1": ["a", "x", "a"]}, Policy(duplicates="last"), "xa"),
    ],
)
def test_documents_are_ranked_by_the_policy(run, policy, expected):
    assert codes(run, policy)[0] == hashes(expected)[0]


@scans
@settings(max_examples=150, deadline=None)
@given(
    generated.collections(),
    generated.layouts(),
    st.sampled_from([32, 100, 1 << 20]),
    st.sampled_from(TIES),
    st.sampled_from([1, 2, 3, 100]),
    st.booleans(),
)
def test_the_scan_numbers_the_first_documents(scan, collection, write, block, ties, depth, drop):
    """Each query's, whichever block has it, however its lines are written, in files and in memory."""
    qrels, run = collection
    lines = trec_run(run, write)
    if ties == "file":
        run = written(lines, run)
    kept = {query: {d: s for d, s in run[query].items() if not (drop and d == query)} for query in run}
    judgments, policy = Judgments.read(qrels), Policy(ties=ties, same_id="drop" if drop else "keep")
    with scan_with(scan, block):
        for source in (open_source(file(lines), "run", "trec"), open_source(run, "run")):
            scanned = scan_source(source, judgments, policy, depth)
            for number, query in enumerate(judgments.query_ids):
                expected = oracle.rank(kept[query], qrels[query], ties)[:depth] if query in run else []
                assert scanned.codes.of(number).tolist() == codes_of(expected).tolist()
            without = scan_source(source, judgments, policy) if isinstance(source, Rankings) else scanned
            assert [column.tolist() for column in without.found] == [column.tolist() for column in scanned.found]


def test_duplicates_are_numbered_once():
    lines = b"1 Q0 x 1 3 r\n1 Q0 a 2 2 r\n1 Q0 x 3 1 r\n1 Q0 y 4 0 r\n"
    for duplicates, expected in (("first", "xay"), ("last", "axy"), ("best", "xay")):
        assert codes(io.BytesIO(lines), Policy(duplicates=duplicates)) == hashes(expected, "", "")
        assert codes(io.BytesIO(lines), Policy(duplicates=duplicates), depth=2) == hashes(expected[:2], "", "")


def test_codes_do_not_leave_the_process():
    """Another process hashes ids differently."""
    found = scan_source(open_source(RANKINGS, "run"), Judgments.read(QRELS), DEFAULT, 2).codes
    assert found.of(0).tolist() == codes_of(["x", "a"]).tolist()
    assert pickle.loads(pickle.dumps(found)) is None
    assert copy.deepcopy(found) is None


def test_a_run_that_has_changed_has_no_documents(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(TEXT)
    result = evaluate(QRELS, path, "RR")
    assert result._evidence.reading.codes(result.ranks) is not None
    path.write_text(TEXT.replace(" a ", " b "))
    assert result._evidence.reading.codes(result.ranks) is None
    path.write_text(TEXT + "1 Q0 w 1 -9 run\n")
    assert result._evidence.reading.codes(result.ranks) is None


def test_a_pickled_evaluation_does_not_contain_the_run():
    result = evaluate(QRELS, {"1": [f"d{at}" for at in range(10_000)]}, "RR")
    assert len(pickle.dumps(result)) < 10_000
    again = pickle.loads(pickle.dumps(result))
    assert again._evidence.reading.codes(again.ranks) is None


def test_a_lazy_frame_has_no_documents():
    polars = pytest.importorskip("polars")
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*ROWS, strict=True)), strict=True))
    assert evaluate(QRELS, polars.DataFrame(columns).lazy(), "RR")._evidence.reading is None


@pytest.mark.parametrize("block", [1 << 20, 1])
def test_ids_of_any_alphabet_have_the_same_number_in_text_and_in_memory(block, monkeypatch):
    """Python reads blocks that are not plain; the native scan reads all others."""
    monkeypatch.setattr(text, "BLOCK", block)
    ranking = ["é", "文書", "a" * 40, "x", "😀"]
    qrels = Judgments.read({"1": {"x": 1}, "2": {"x": 1}})
    lines = [f"{query} Q0 {document} {at} {9 - at} r\n" for query in "12" for at, document in enumerate(ranking)]
    found = scan_source(open_source(io.BytesIO("".join(lines).encode()), "run"), qrels, DEFAULT, 4).codes
    assert [found.of(query).tolist() for query in (0, 1)] == [codes_of(ranking[:4]).tolist()] * 2


def test_an_id_that_utf8_cannot_encode_has_a_number():
    one, other, again = codes_of(["\ud800", "\ud801", "\ud800"]).tolist()
    assert one == again != other
