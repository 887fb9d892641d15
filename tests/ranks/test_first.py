"""The first documents of rankings: native = pure = a naive sort, cut off."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Judgments, Policy
from cranfield.errors import DuplicateError
from cranfield.io.source import open_source
from cranfield.ranks.first_documents import first_documents
from cranfield.ranks.run import Wants, open_run
from cranfield.ranks.scan import text as text_scan
from tests import generated, oracle
from tests.generated import file, plain, scan_with, trec_run, written
from tests.ranks.test_scan import TIES, scans


def first(run, qrels, n, policy=None, format=None):
    return first_documents(open_source(run, "run", format), Judgments.read(qrels).by_query, n, policy or Policy())


@scans
@settings(max_examples=150, deadline=None)
@given(
    generated.collections(),
    generated.layouts(),
    st.sampled_from([32, 100, 1 << 20]),
    st.sampled_from(TIES),
    st.integers(1, 5),
)
def test_first_documents_match_a_naive_sort(scan, collection, write, block, ties, n):
    qrels, run = collection
    text = trec_run(run, write)
    if ties == "file":
        run = written(text, run)
    expected = {query: oracle.rank(run[query], qrels[query], ties)[:n] for query in qrels if query in run}
    with scan_with(scan, block):
        assert first(file(text), qrels, n, Policy(ties=ties), "trec") == expected
        assert first(run, qrels, n, Policy(ties=ties)) == expected


@scans
def test_first_documents_of_queries_with_a_common_prefix(scan):
    lines = [(q, "Q0", d, "1", s, "tag") for q in ("q1", "q10", "q", "#q") for d, s in (("a", "1"), ("q1", "3"))]
    qrels = {query: {"a": 1} for query in ("q1", "q", "#q")}
    both = {"q1": ["q1", "a"], "q": ["q1", "a"]}  # a line that starts with # is a comment
    rows = "query_id,doc_id,score\n" + "".join(f"{q} ,{d},{s}\n" for q, _, d, _, s, _ in lines)
    quoted = 'query_id,doc_id,score\n"q1",a,1\nq1,q1,3\n'
    ranked = "q1\tq1\t1\nq1\ta\t2\nq10\tb\t1\n"
    with scan_with(scan):
        assert first(file(plain(lines)), qrels, 5, format="trec") == both
        assert first(file(plain(lines)), qrels, 5, Policy(same_id="drop"), "trec") == {"q1": ["a"], "q": ["q1", "a"]}
        assert first(file(plain(lines)), qrels, 5, Policy(depth=1), "trec") == {"q1": ["q1"], "q": ["q1"]}
        assert first(file(rows.encode()), {"q1": {"a": 1}}, 5, format="csv") == {"q1": ["q1", "a"]}
        assert first(file(quoted.encode()), {"q1": {"a": 1}}, 5, format="csv") == {"q1": ["q1", "a"]}
        assert first(file(ranked.encode()), {"q1": {"a": 1}}, 1, format="msmarco") == {"q1": ["q1"]}


@scans
def test_duplicate_documents_follow_the_policy(scan):
    lines = plain([("q", "Q0", d, "1", s, "tag") for d, s in (("a", "1"), ("b", "2"), ("a", "3"))])
    qrels = {"q": {"a": 1}}
    with scan_with(scan):
        assert first(file(lines), qrels, 2, Policy(duplicates="first"), "trec") == {"q": ["b", "a"]}
        assert first(file(lines), qrels, 2, Policy(duplicates="best"), "trec") == {"q": ["a", "b"]}
    with pytest.raises(DuplicateError):
        first({"q": ["a", "b", "a"]}, qrels, 2)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_documents_read_from_their_places_match_a_naive_sort(tmp_path_factory, data):
    """Of some queries of a file, next to each other or not, with lines of no document or of other queries between."""
    queries = [f"q{number}" for number in range(data.draw(st.integers(1, 9)))]
    score = st.integers(0, 4).map(float)
    run = {q: data.draw(st.dictionaries(st.sampled_from("abcdef"), score, min_size=1)) for q in queries}
    lines = [f"{q} Q0 {d} 1 {s} tag\n" for q in queries for d, s in run[q].items()]
    if data.draw(st.booleans()):
        lines = data.draw(st.permutations(lines))
    for _ in range(data.draw(st.integers(0, 2))):
        lines.insert(data.draw(st.integers(0, len(lines))), "\n")
    path = tmp_path_factory.mktemp("places") / "a.run"
    path.write_text("".join(lines).removesuffix("\n" * data.draw(st.integers(0, 1))))
    qrels = {query: {"a": 1} for query in queries}
    n, wanted = data.draw(st.integers(1, 4)), data.draw(st.lists(st.sampled_from(queries), unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scan, "BLOCK", data.draw(st.sampled_from([40, 200, 1 << 20])))
        reading = open_run(str(path), "trec").read(Judgments.read(qrels), Policy(), Wants(first=4))
        assert reading.first(wanted, n) == {query: oracle.rank(run[query], qrels[query])[:n] for query in wanted}


def test_a_file_that_was_changed_is_read_again(tmp_path):
    path, qrels = tmp_path / "a.run", Judgments.read({"q1": {"a": 1}, "q2": {"a": 1}})
    path.write_text(plain([("q1", "Q0", "a", "1", "2", "tag"), ("q2", "Q0", "a", "1", "2", "tag")]).decode())
    reading = open_run(str(path), "trec").read(qrels, Policy(), Wants(first=4))
    path.write_text(plain([("q1", "Q0", d, "1", s, "tag") for d, s in (("b", "1"), ("c", "2"))]).decode())
    assert reading.first(["q1", "q2"], 4) == {"q1": ["c", "b"]}
