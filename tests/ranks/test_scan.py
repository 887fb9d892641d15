"""The scan: native = pure = naive, whatever the file looks like."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, JudgedRanks, Judgments, Policy
from cranfield.io.formats.trec import TREC_RUN
from cranfield.io.source import open_source
from cranfield.native import native, native_layout
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.scan.text import scan_text
from tests import generated, oracle
from tests.generated import file, plain, scan_with, trec_qrels, trec_run

TIES = ("doc_id", "smaller_doc_id", "file", "best", "worst", "expected")
scans = pytest.mark.parametrize(
    "scan",
    [
        pytest.param(
            native, marks=pytest.mark.skipif(native is None, reason="the native scan is not built"), id="native"
        ),
        pytest.param(None, id="pure"),
    ],
)


def table(qrels, run, policy=None, format=None):
    """(query, rank, grade) of every judged document that was retrieved."""
    ranks = rank_run(Judgments.read(qrels, format), open_source(run, "run", format), policy or Policy())
    rows = zip(ranks.query.tolist(), ranks.rank.tolist(), ranks.grade.tolist(), strict=True)
    retrieved = {query: (int(n), bool(gone)) for query, n, gone in zip(ranks.query_ids, ranks.retrieved, ranks.missing)}
    return [(ranks.query_ids[query], rank, grade) for query, rank, grade in rows], retrieved, ranks.extra


def naive_table(qrels, run, ties, order):
    rows = []
    for query in order:
        ranking = oracle.rank(run.get(query, {}), qrels[query], ties)
        rows += [(query, i, qrels[query][d]) for i, d in enumerate(ranking, 1) if d in qrels[query]]
    retrieved = {query: (len(run.get(query, ())), query not in run) for query in order}
    return rows, retrieved, len(set(run) - set(qrels))


@scans
@settings(max_examples=150, deadline=None)
@given(generated.collections(), generated.layouts(), st.sampled_from([32, 100, 1 << 20]), st.sampled_from(TIES))
def test_ranks_match_a_naive_sort(scan, collection, write, block, ties):
    qrels, run = collection
    policy = Policy(ties=ties)
    order = Judgments.read(qrels).query_ids
    text = trec_run(run, write)
    if ties == "file":  # the order in the written file
        lines = [line.split() for line in text.decode().lstrip("\ufeff").split("\n")]
        lines = [line for line in lines if line and not line[0].startswith("#")]
        run = {query: {line[2]: run[query][line[2]] for line in lines if line[0] == query} for query in run}
    expected = naive_table(qrels, run, ties, order)
    with scan_with(scan, block):
        assert table(file(trec_qrels(qrels, write)), file(text), policy, "trec") == expected
        assert table(qrels, run, policy) == expected


@scans
@settings(max_examples=60, deadline=None)
@given(generated.collections())
def test_every_other_source_gives_the_same_table(scan, collection):
    arrow = pytest.importorskip("pyarrow")
    qrels, run = collection
    rows = [(q, d, score) for q, ranking in run.items() for d, score in ranking.items()]
    frame = arrow.table(dict(zip(("qid", "docno", "score"), zip(*rows))))
    expected = naive_table(qrels, run, "doc_id", Judgments.read(qrels).query_ids)
    with scan_with(scan):
        assert table(qrels, rows) == expected
        assert table(qrels, frame) == expected
        tabs = "query_id\tdoc_id\tscore\n" + "".join(f"{q}\t{d}\t{score!r}\n" for q, d, score in rows)
        assert table(qrels, file(tabs.encode()), format="tsv") == expected


@scans
def test_a_query_larger_than_a_block_and_many_blocks(scan):
    chance = random.Random(5)
    run = {str(q): {f"d{i}": chance.random() for i in range(n)} for q, n in enumerate([1, 3000, 2, 50, 700, 1])}
    qrels = {q: dict.fromkeys(chance.sample(sorted(ranking), min(len(ranking), 20)), 1) for q, ranking in run.items()}
    text = plain((q, "Q0", d, "1", repr(s), "t") for q, ranking in run.items() for d, s in ranking.items())
    with scan_with(scan, 1000):
        assert table(qrels, file(text)) == naive_table(qrels, run, "doc_id", sorted(qrels))


@scans
def test_a_scattered_file_is_exact_and_names_the_right_line(scan):
    chance = random.Random(6)
    lines = [(f"q{q}", "Q0", f"d{d}", "1", f"{chance.random():.4f}", "t") for q in range(40) for d in range(50)]
    chance.shuffle(lines)
    run = {}
    for query, _, document, _, score, _ in lines:
        run.setdefault(query, {})[document] = float(score)
    qrels = {query: {f"d{d}": d % 3 for d in range(0, 50, 3)} for query in run}
    with scan_with(scan, 500):
        assert table(qrels, file(plain(lines))) == naive_table(qrels, run, "doc_id", sorted(qrels))
        bad = [*lines[:700], lines[3], *lines[700:]]
        with pytest.raises(InputError, match=r":701: document 'd\d+' appears twice in the ranking of query 'q\d+'"):
            table(qrels, file(plain(bad)))
        bad = [*lines[:900], ("q1", "Q0", "new", "1", "high", "t"), *lines[900:]]
        with pytest.raises(InputError, match=r":901: score 'high' is not a number"):
            table(qrels, file(plain(bad)))


@scans
@pytest.mark.parametrize("block", [64, 1 << 20])
@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("q1 Q0 d2 2 abc t", "score 'abc' is not a number"),
        ("q1 Q0 d2 2 nan t", "score 'nan' is not a finite number"),
        ("q1 Q0 d2 2 -inf t", "score '-inf' is not a finite number"),
        ("q1 Q0 d2 2 1e999 t", "score '1e999' is not a finite number"),
        ("q1 Q0 d2 2 1_0 t", "score '1_0' is not a number"),
        ("q1 Q0 d2 2 0x10 t", "score '0x10' is not a number"),
        ("q1 Q0 d2 2 1.0", "5 columns where at least 6 are needed"),
        ("q1", "1 column where at least 6 are needed"),
        ("q1 Q0 d1 2 0.5 t", "document 'd1' appears twice in the ranking of query 'q1'"),
        ("q9 Q0 x 1 1 t\nq9 Q0 x 2 1 t", "document 'x' appears twice in the ranking of query 'q9'"),
        ("q1 Q0 d\udcff 2 1 t", "byte 0xff at column 8 is not UTF-8"),
    ],
)
def test_a_bad_line_is_reported_with_its_number(scan, block, line, fact):
    good = "".join(f"q{q} Q0 d1 1 1.5 t\n" for q in range(1, 9))
    text = (good.replace("q1 ", "q0 ") + "# comment\n\nq1 Q0 d1 1 1.5 t\n" + line + "\n").encode(
        errors="surrogateescape"
    )
    number = text.rstrip(b"\n").count(b"\n") + 1
    with scan_with(scan, block), pytest.raises(InputError) as error:
        table({"q1": {"d1": 1}}, file(text))
    assert str(error.value).startswith(f"an open file:{number}: {fact}")
    assert error.value.line == number


@scans
@pytest.mark.parametrize(("separator", "name"), [(" ", "x.run"), ("\t", "x.run"), ("\t", "x.tsv")])
def test_a_line_with_more_columns_must_hold_a_rank(scan, separator, name, tmp_path):
    lines = ["q Q0 a 1 .9 n e", "q Q0 b two .8 n e"]
    path = tmp_path / name
    path.write_text("".join(line.replace(" ", separator) + "\n" for line in lines))
    with scan_with(scan), pytest.raises(InputError, match=r":2: 7 columns, and 'two' is not a rank"):
        table({"q": {"a": 1}}, path)


@pytest.mark.skipif(native is None, reason="the native scan is not built")
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2"]),
            st.sampled_from(["1", "2", "-3", "+4", "--5", "1.5", "two", "-", "a1"]),
            st.sampled_from(["1", ".5", "2e0", "x"]),
            st.lists(st.sampled_from(["n", "e", "7"]), max_size=3),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([" ", "\t", "  "]),
)
def test_both_scans_accept_the_same_lines_with_more_columns(rows, blank):
    lines = [
        (query, "Q0", f"d{place}", rank, score, *rest) for place, (query, rank, score, rest) in enumerate(sorted(rows))
    ]
    text = "".join(blank.join(line) + "\n" for line in lines).encode()

    def outcome(scan, layout):
        with scan_with(scan):
            try:
                source = open_source(file(text), "run", "trec")._replace(layout=layout)
                found = scan_text(source, Judgments.read({"q1": {"d0": 1, "d3": 1}, "q2": {"d5": 1}}), Policy())
                return found.retrieved.tolist(), [column.tolist() for column in found.found]
            except InputError as error:
                return str(error)

    for layout in (TREC_RUN, TREC_RUN._replace(most=7), TREC_RUN._replace(separator=blank[0])):
        assert outcome(native, layout) == outcome(None, layout)


@scans
@pytest.mark.parametrize(("keep", "rank"), [("first", 2), ("last", 3), ("best", 1)])
def test_duplicates_are_resolved_by_the_policy(scan, keep, rank):
    scores = {"first": 5, "last": 2, "best": 9}
    lines = [("q", "Q0", "a", "1", "6", "t"), ("q", "Q0", "x", "1", str(scores["first"]), "t")]
    lines += [("q", "Q0", "x", "1", str(scores["best"]), "t"), ("q", "Q0", "b", "1", "3", "t")]
    lines += [("q", "Q0", "x", "1", str(scores["last"]), "t")]
    qrels = {"q": {"x": 1}}
    policy = Policy(duplicates=keep)
    arrow = pytest.importorskip("pyarrow")
    frame = arrow.table({"qid": ["q"] * 5, "docno": [line[2] for line in lines], "score": [float(x[4]) for x in lines]})
    with scan_with(scan):
        assert table(qrels, file(plain(lines)), policy) == ([("q", rank, 1.0)], {"q": (3, False)}, 0)
        assert table(qrels, frame, policy) == ([("q", rank, 1.0)], {"q": (3, False)}, 0)
    assert f"duplicates:{keep}" in cranfield.evaluate(qrels, file(plain(lines)), "RR", policy=policy).signature


@scans
@pytest.mark.parametrize("query", ["1", "9"])  # judged, and not
@pytest.mark.parametrize("ranking", [{"a": 1.0}, 7])
def test_a_query_as_both_number_and_text_is_an_error(scan, query, ranking):
    qrels, (text, number) = {"1": {"a": 1}}, ((query, {"b": 1.0}), (int(query), ranking))
    for run in (dict([text, number]), dict([number, text])):
        with scan_with(scan), pytest.raises(InputError, match=f"the query '{query}' appears twice, as a number and as"):
            table(qrels, run)


@scans
def test_a_document_with_the_id_of_its_query_may_be_dropped(scan):
    qrels, run = {"a": {"a": 1, "b": 1}}, {"a": {"a": 9.0, "c": 8.0, "b": 7.0}}
    text = plain((q, "Q0", d, "1", str(s), "t") for q, ranking in run.items() for d, s in ranking.items())
    arrow = pytest.importorskip("pyarrow")
    frame = arrow.table({"qid": ["a"] * 3, "docno": list(run["a"]), "score": list(run["a"].values())})
    with scan_with(scan):
        for source in (run, file(text), frame):
            assert table(qrels, source, Policy(same_id="drop")) == ([("a", 2, 1.0)], {"a": (2, False)}, 0)


@scans
def test_guessed_ranks_are_checked_before_anything_is_dropped(scan):
    with scan_with(scan), pytest.raises(InputError, match="says 1 where rank 2 is expected"):
        table({"q2": {"d2": 1}}, file(b"q2\tq2\t1\nq2\td2\t1\n"), Policy(same_id="drop"))


@scans
def test_a_scattered_table_with_some_quoted_ids(scan):
    rows = [(f"q{q}", f"d{part}", part) for part in (1, 2, 3) for q in range(60)]
    lines = [f'"{q}",{d},{s}' if s == 2 else f"{q},{d},{s}" for q, d, s in rows]
    text = "query_id,doc_id,score\n" + "\n".join(lines) + "\n"
    with scan_with(scan, 100):
        found, retrieved, _ = table({f"q{q}": {"d2": 1} for q in range(60)}, file(text.encode()))
    assert {rank for _, rank, _ in found} == {2}
    assert set(retrieved.values()) == {(3, False)}


@scans
def test_values_do_not_depend_on_the_order_of_lines(scan):
    chance = random.Random(9)
    lines = [(str(q), "Q0", f"d{d}", "1", f"{chance.randint(0, 9)}", "t") for q in range(30) for d in range(40)]
    qrels = {str(q): {f"d{d}": chance.randint(0, 3) for d in range(0, 60, 2)} for q in range(30)}
    with scan_with(scan, 2000):
        first = cranfield.evaluate(qrels, file(plain(lines)), "AP nDCG nDCG@10 RR")
        chance.shuffle(lines)
        again = cranfield.evaluate(dict(reversed(qrels.items())), file(plain(lines)), "AP nDCG nDCG@10 RR")
    for measure in first:
        assert np.array_equal(first.column(measure), again.column(measure))
        assert first[measure] == again[measure]


@settings(max_examples=60, deadline=None)
@given(generated.collections(), st.sampled_from(TIES), st.sampled_from([None, 2]))
def test_rows_refer_to_the_judgments(collection, ties, depth):
    qrels, run = collection
    judgments = Judgments.read(qrels)
    ranks = rank_run(judgments, open_source(run, "run"), Policy(ties=ties, depth=depth))
    for view in (ranks, ranks.condensed, ranks.ideal, ranks.cut(1)):
        assert judgments.grades[view.row].tolist() == view.grade.tolist()
        assert judgments.query[view.row].tolist() == view.query.tolist()
        assert len(set(view.row.tolist())) == len(view.row)
    assert judgments.grades[ranks.judged_row].tolist() == ranks.judged_grades.tolist()
    for row, query in zip(ranks.row.tolist(), ranks.query.tolist()):
        assert judgments.document_ids[row] in run[ranks.query_ids[query]]
    plain = JudgedRanks.of_grades([1, None, 2], [3, 0])
    assert np.array([1, 2, 3, 0])[plain.ideal.row].tolist() == plain.ideal.grade.tolist() == [3, 2, 1, 0]


def test_python_warns_of_a_large_file_without_the_compiled_scan(tmp_path, monkeypatch):
    (tmp_path / "long.run").write_text("".join(f"q Q0 d{i} {i} {-i} t\n" for i in range(1000)))
    monkeypatch.setattr("cranfield.ranks.scan.text.LARGE", 10_000)
    monkeypatch.setattr("cranfield.ranks.scan.text.BLOCK", 4096)
    monkeypatch.setattr("cranfield.ranks.scan.text.native", None)
    with pytest.warns(RuntimeWarning, match="about 20 times slower .*\nHint: ") as said:
        cranfield.evaluate({"q": {"d3": 1}}, tmp_path / "long.run", "RR")
    assert len(said) == 1


def test_depth_cuts_the_ranking():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    assert table(qrels, run, Policy(depth=2)) == ([("q", 1, 1.0)], {"q": (2, False)}, 0)


def test_the_share_of_tied_documents_is_counted():
    qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    assert cranfield.evaluate(qrels, {"q": {"a": 1.0, "b": 1.0, "c": 0.5, "x": 0.2}}, "AP").counts.tied == 2 / 3
    assert cranfield.evaluate(qrels, {"q": {"a": 1.0, "x": 1.0, "c": 0.5}}, "AP").counts.tied == 1 / 2


@pytest.mark.skipif(native is None, reason="the native scan is not built")
@pytest.mark.parametrize("name", ["{}", "1{:06d}", "q{:05d}", "query-number-{}"])
def test_sequential_query_ids_are_partitioned_evenly(name):
    """A scattered file needs as much memory as its largest part."""
    lines = "".join(f"{name.format(number)} Q0 d 1 1.5 tag\n" for number in range(6400)).encode()
    parts = native.partition(np.frombuffer(lines, np.uint8), native_layout(TREC_RUN), 1, 64)
    sizes = [part.count(b"\n") for part in parts]
    assert sum(sizes) == 6400
    assert max(sizes) < 200
