"""The documents of a run, read again as numbers."""

import io
import json
import pickle

import pytest

from cranfield import Judgments, Policy, evaluate
from cranfield.ranks.codes import codes_of
from cranfield.ranks.documents import Documents
from cranfield.ranks.first_documents import all_codes
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.scan import text
from cranfield.read.source import open_source

DEFAULT = Policy()
QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 1}, "3": {"a": 1}}
RANKINGS = {"1": ["x", "a", "y"], "2": ["z"], "9": ["a"]}
ROWS = [(query, document, -float(at)) for query, ranking in RANKINGS.items() for at, document in enumerate(ranking)]
TEXT = "".join(f"{query} Q0 {document} 1 {score} run\n" for query, document, score in ROWS)


def codes(run, policy=DEFAULT):
    judgments = Judgments.read(QRELS)
    source = open_source(run, "run")
    documents = Documents.of(run, source, None, judgments, policy)
    found = documents.codes(rank_run(judgments, source, policy))
    return None if found is None else [each.tolist() for each in found]


def hashes(*rankings):
    return [codes_of(list(ranking)).tolist() for ranking in rankings]


def scores(rows):
    found = {}
    for query, document, score in rows:
        found.setdefault(query, {})[document] = score
    return found


@pytest.mark.parametrize(
    "run",
    [
        RANKINGS,
        scores(ROWS),
        scores(ROWS[::-1]),
        {int(query): ranking for query, ranking in RANKINGS.items()},
        ROWS,
        iter(ROWS),
        io.BytesIO(TEXT.encode()),
        io.BytesIO("".join(sorted(TEXT.splitlines(keepends=True), key=lambda line: line.split()[2])).encode()),
        io.BytesIO(json.dumps(scores(ROWS)).encode()),
    ],
    ids=["lists", "dicts", "unsorted", "numbers", "rows", "iterator", "text", "scattered", "json"],
)
def test_every_source_has_the_same_documents(run):
    assert codes(run) == hashes("xay", "z", "")


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames(frame):
    library = pytest.importorskip(frame)
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*ROWS, strict=True)), strict=True))
    assert codes(library.DataFrame(columns)) == hashes("xay", "z", "")


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


def test_a_run_that_has_changed_has_no_documents(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(TEXT)
    result = evaluate(QRELS, path, "RR")
    assert result._evidence.documents.codes(result.ranks) is not None
    path.write_text(TEXT.replace(" a ", " b "))
    assert result._evidence.documents.codes(result.ranks) is None
    path.write_text(TEXT + "1 Q0 w 1 -9 run\n")
    assert result._evidence.documents.codes(result.ranks) is None


def test_a_pickled_evaluation_does_not_contain_the_run():
    result = evaluate(QRELS, {"1": [f"d{at}" for at in range(10_000)]}, "RR")
    assert len(pickle.dumps(result)) < 10_000
    again = pickle.loads(pickle.dumps(result))
    assert again._evidence.documents.codes(again.ranks) is None


def test_a_lazy_frame_has_no_documents():
    polars = pytest.importorskip("polars")
    columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*ROWS, strict=True)), strict=True))
    assert evaluate(QRELS, polars.DataFrame(columns).lazy(), "RR")._evidence.documents is None


@pytest.mark.parametrize("block", [1 << 20, 1])
def test_ids_of_any_alphabet_have_the_same_number_in_text_and_in_memory(block, monkeypatch):
    """Python reads blocks that are not plain; the native scan reads all others."""
    monkeypatch.setattr(text, "BLOCK", block)
    ranking = ["é", "文書", "a" * 40, "x", "😀"]
    qrels = Judgments.read({"1": {"x": 1}, "2": {"x": 1}})
    lines = [f"{query} Q0 {document} {at} {9 - at} r\n" for query in "12" for at, document in enumerate(ranking)]
    found = all_codes(open_source(io.BytesIO("".join(lines).encode()), "run"), qrels.by_query, DEFAULT)
    assert {query: each.tolist() for query, each in found.items()} == dict.fromkeys("12", codes_of(ranking).tolist())


def test_an_id_that_utf8_cannot_encode_has_a_number():
    one, other, again = codes_of(["\ud800", "\ud801", "\ud800"]).tolist()
    assert one == again != other
