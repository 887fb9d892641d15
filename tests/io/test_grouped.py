"""Judgments with groups, from every source, and the errors that bad ones raise."""

import collections
import gzip
import hashlib
import io
import json
import random

import pytest
from hypothesis import given, settings

import cranfield
from cranfield import CranfieldError, GroupedJudgments, InputError, Judgments, MeasureError, evaluate
from tests import generated
from tests.fuzz.mutations import mutated

GROUPED = {"1": {"s1": {"a": 1, "b": 0}, "s2": {"a": 2.5, "c": -1}}, "2": {"s1": {"b": 1}}}
ROWS = [
    (q, g, d, grade) for q, groups in GROUPED.items() for g, judged in groups.items() for d, grade in judged.items()
]
TREC = "".join(" ".join(map(str, row)) + "\n" for row in ROWS).encode()


def table(qrels, format=None):
    """(query, group, subgroup, document, grade) of every judgment."""
    read = GroupedJudgments.read(qrels, format)
    return [
        (
            read.flat.query_ids[read.group_query[group]],
            read.group_ids[group],
            subgroup,
            read.flat.document_ids[row],
            grade,
        )
        for group, subgroup, row, grade in zip(
            *(c.tolist() for c in (read.group, read.subgroup, read.row, read.grades))
        )
    ]


EXPECTED = [(q, g, 0, d, grade) for q, g, d, grade in ROWS]


def test_every_source_gives_the_same_judgments(tmp_path):
    Qrel = collections.namedtuple("Qrel", "query_id doc_id relevance iteration")
    named = [Qrel(q, d, grade, g) for q, g, d, grade in ROWS]
    assert table(GROUPED) == table(ROWS) == table(named) == table(io.BytesIO(TREC)) == EXPECTED
    assert table(reversed(ROWS)) == EXPECTED
    messy = b"\xef\xbb\xbf# comment\n\n" + TREC.replace(b" ", b" \t ").replace(b"\n", b"\r\n")
    assert table(io.BytesIO(messy)) == table(io.BytesIO(gzip.compress(TREC))) == EXPECTED
    files = {
        "q.csv": "query_id,subtopic,doc_id,grade\n" + "".join(f"{q},{g},{d},{grade}\n" for q, g, d, grade in ROWS),
        "q.tsv": "".join(f"{q}\t{g}\t{d}\t{grade}\n" for q, g, d, grade in ROWS),
        "q.json": json.dumps(GROUPED),
        "rows.json": json.dumps([row._asdict() for row in named]),
        "q.jsonl": "".join(json.dumps(row._asdict()) + "\n" for row in named),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        assert table(tmp_path / name) == EXPECTED, name
    assert len(GroupedJudgments.read(GROUPED)) == 2


def test_frames(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(("qid", "iteration", "docno", "label"), map(list, zip(*ROWS))))
    columns["label"] = [float(grade) for grade in columns["label"]]
    for library in (pandas.DataFrame, polars.DataFrame, arrow.table):
        assert table(library(columns)) == EXPECTED
    parquet.write_table(arrow.table(columns | {"note": ["x"] * len(ROWS)}), tmp_path / "q.parquet")
    assert table(tmp_path / "q.parquet") == EXPECTED
    with pytest.raises(InputError, match=r"a LazyFrame has no rows yet"):
        GroupedJudgments.read(polars.LazyFrame(columns))


def test_subgroups():
    rows = [("q", "g", "x", "a", 1), ("q", "g", "y", "a", 2), ("q", "h", "x", "b", 0)]
    expected = [("q", "g", 0, "a", 1), ("q", "g", 1, "a", 2), ("q", "h", 0, "b", 0)]
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()
    names = ("query_id", "group", "subgroup", "doc_id", "grade")
    assert table(rows) == table(io.BytesIO(text)) == table(io.BytesIO(text), "prefs") == expected
    assert table([dict(zip(names, row)) for row in rows]) == expected
    with pytest.raises(InputError, match=r"its lines have 5 columns, like preferences"):
        Judgments.read(io.BytesIO(text))
    with pytest.raises(InputError, match=r"there is no format 'prefs'"):
        evaluate(rows, io.BytesIO(b"q Q0 a 1 1 t\n"), "prefs_simp", format="prefs")


SAMPLED = [
    *(("1", "0", "a", "top", 2), ("1", "0", "b", "top", 0), ("1", "0", "c", "rest", -1)),
    *(("1", "0", "d", "rest", 1), ("2", "0", "a", "rest", -1), ("2", "0", "e", "rest", 1)),
]
BY_STRATUM = {
    "1": {"rest": {"c": -1, "d": 1}, "top": {"a": 2, "b": 0}},
    "2": {"rest": {"a": -1, "e": 1}},
}


def test_strata_from_every_source(tmp_path):
    expected = table(BY_STRATUM)
    header = ("query_id", "iteration", "doc_id", "stratum", "relevance")
    for separator in (" ", "\t", "  \t"):
        lines = "".join(separator.join(map(str, row)) + "\n" for row in SAMPLED)
        for name in ("plain", "sampled.qrels", "sampled.txt", *(["sampled.tsv"] if separator == "\t" else [])):
            (tmp_path / name).write_text("# comment\n" * (name != "sampled.tsv") + lines)
            assert table(tmp_path / name) == expected, name
        assert table(io.BytesIO(lines.encode()), "strata") == expected
        assert table(io.BytesIO(lines.replace("\n", "\r\n").encode())) == expected
    blanks = "".join("\t".join(map(str, row)) + "\n" for row in SAMPLED).replace("top", "the top").encode()
    (tmp_path / "blanks.tsv").write_bytes(blanks)
    assert {group for _, group, *_ in table(tmp_path / "blanks.tsv")} == {"rest", "the top"}
    (tmp_path / "s.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in (header, *SAMPLED)))
    assert table(tmp_path / "s.csv") == expected
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(dict(zip(header, row))) + "\n" for row in SAMPLED))
    assert table(tmp_path / "s.jsonl") == expected
    assert table([(q, s, d, grade) for q, _, d, s, grade in SAMPLED]) == expected


def test_ordinary_measures_read_strata_too(tmp_path):
    lines = "".join(" ".join(map(str, row)) + "\n" for row in SAMPLED).encode()
    run = {"1": ["a", "c", "d"], "2": ["e"]}
    flat = {q: {d: grade for s in strata.values() for d, grade in s.items()} for q, strata in BY_STRATUM.items()}
    assert Judgments.read(io.BytesIO(lines)).by_query == flat
    found = evaluate(io.BytesIO(lines), run, "infAP nDCG xinfAP")
    assert found["infAP"] == evaluate(flat, run, "infAP")["infAP"]
    assert found["nDCG"] == evaluate(flat, run, "nDCG")["nDCG"]


def test_five_ambiguous_columns_need_a_format():
    one = b"q 0 x a 1\nq 0 y b 1\n"
    for measures in ("xinfAP", "prefs_simp", "nDCG"):
        with pytest.raises(InputError, match="they may be preferences or a sampled pool") as e:
            evaluate(io.BytesIO(one), {"q": ["a", "x"]}, measures)
        assert "'prefs' for query group subgroup document grade, 'strata' for query iteration" in e.value.hint
    assert evaluate(io.BytesIO(one), {"q": ["x", "y"]}, "statAP", qrels_format="strata")["statAP"] == 1
    assert evaluate(io.BytesIO(one), {"q": ["a", "b"]}, "prefs_simp", qrels_format="prefs")["prefs_simp"] == 0


def test_preferences_are_not_read_as_strata():
    text = b"q g x a 1\nq g x b 2\n"
    with pytest.raises(InputError, match="its lines are read as preferences") as caught:
        evaluate(io.BytesIO(text), {"q": ["a"]}, "xinfAP")
    assert "give the format 'strata'" in caught.value.hint


def test_a_document_in_two_strata_is_an_error():
    lines = b"q 0 a top 1\nq 0 b top 1\nq 0 a rest 0\n"
    with pytest.raises(InputError, match="read as preferences"):
        evaluate(io.BytesIO(lines), {"q": ["a"]}, "xinfAP")
    with pytest.raises(InputError, match="document 'a' of query 'q' is in 2 strata"):
        evaluate(io.BytesIO(lines), {"q": ["a"]}, "xinfAP", qrels_format="strata")


@settings(max_examples=60, deadline=None)
@given(generated.collections(), generated.layouts())
def test_judgments_without_groups_are_one_group(collection, write):
    qrels, _ = collection
    rows = [(q, d, grade) for q, judged in qrels.items() for d, grade in judged.items()]
    expected = table(qrels)
    assert sorted((q, d, grade) for q, _, _, d, grade in expected) == sorted(rows)
    assert {(group, subgroup) for _, group, subgroup, _, _ in expected} == {("0", 0)}
    assert table(rows) == table(Judgments.read(qrels)) == expected
    assert table(generated.file(generated.trec_qrels(qrels, write)), "trec") == expected
    assert GroupedJudgments.read(qrels).flat.sha256 == Judgments.read(qrels).sha256


def test_equal_judgments_have_equal_hashes():
    def digest(qrels):
        return GroupedJudgments.read(qrels).flat.sha256

    assert digest(GROUPED) == digest(list(reversed(ROWS)))
    other = {"1": {"s2": {"a": 1, "b": 0}, "s3": {"a": 2.5, "c": -1}}, "2": {"s1": {"b": 1}}}
    assert digest(GROUPED) != digest(other)
    assert digest(io.BytesIO(TREC)) == hashlib.sha256(TREC).hexdigest()


BAD = [
    (b"q s a 1\nq t a 1\nq s a 2\n", ":3: document 'a' is judged twice for query 'q' in group 's' (1 and 2)"),
    (b"q s x a 1\nq s y a 1\nq s y a 1\n", ":3: document 'a' is judged twice for query 'q' in group 's', subgroup 'y'"),
    (b"q s a 1\nq s b high\n", ":2: grade 'high' is not a number"),
    (b"q s x a 1\nq s a 1\n", ":2: 4 columns where 5 are needed"),
    (b"query_id,group,doc_id,grade\nq,,a,1\n", ":2: the group is empty"),
    (b"", "it is empty"),
    ([("q", "s", "a", 1), ("q", "s", "a", 1)], "row 2: document 'a' is judged twice for query 'q' in group 's' (both"),
    ([("q", "s", "a", 1), ("q", "a")], "row 2 has 2 columns where 3, 4 or 5 are needed"),
    ([("q", None, "a", 1)], "row 1: None is not an id"),
    ({"q": {"s": {"a": 1}, "t": 5}}, "query 'q': 5 does not say which documents are judged"),
    ({"q": {"s": {"a": "1"}}}, "query 'q', document 'a': '1' is not a number"),
    ({"q": {1: {"a": 1}, "1": {"a": 1}}}, "query 'q': the group '1' appears twice"),
    ({"q": {"a": 1}, 1: {"s": {"a": 1}}, "1": {"a": 1}}, "the query '1' appears twice"),
    ({"q": {"s": {}}}, "it contains no judgments"),
    (5, "cannot be read from int"),
]


@pytest.mark.parametrize(("qrels", "fact"), BAD, ids=[fact for _, fact in BAD])
def test_bad_judgments_raise_an_input_error(qrels, fact):
    with pytest.raises(InputError) as error:
        evaluate(io.BytesIO(qrels) if isinstance(qrels, bytes) else qrels, {"q": ["a"]}, "prefs_simp")
    assert fact in str(error.value)


INCONSISTENT = [
    ([("q", "g", "x", "a", 2), ("q", "g", "x", "b", 1), ("q", "g", "y", "b", 2), ("q", "g", "y", "a", 1)], "itself"),
    ([("q", "g", "x", "a", 1), ("q", "g", "y", "a", 0)], "is relevant in one subgroup and not in another"),
]


@pytest.mark.parametrize(("rows", "fact"), INCONSISTENT)
def test_preferences_of_a_group_must_agree(rows, fact):
    with pytest.raises(InputError, match=rf"document 'a' of query 'q' .*{fact}.* of group 'g'"):
        evaluate(rows, {"q": ["a"]}, "prefs_simp")
    with pytest.raises(InputError, match=r"document 'a' of query 'q' is judged in several subgroups of group 'g'"):
        evaluate(rows, {"q": ["a"]}, "StRecall")


def test_ordinary_measures_need_one_grade_per_document():
    run = {"1": ["a"], "2": ["b"]}
    for measures in ("AP", "AP StRecall"):
        with pytest.raises(InputError) as error:
            evaluate(GroupedJudgments.read(GROUPED), run, measures)
        assert str(error.value).startswith("the judgments: document 'a' of query '1' is judged 2 times")
        assert "Hint: ordinary measures can take the highest grade" in str(error.value)
    flat = GroupedJudgments.read(GROUPED).flat
    assert list(zip(flat.document_ids, flat.grades)) == [("a", 2.5), ("b", 0), ("c", -1), ("b", 1)]
    assert evaluate(flat, run, "RR")["RR"] == 1
    once = GroupedJudgments.read({"1": {"s": {"a": 1}, "t": {"b": 1}}})
    assert evaluate(once, run, "AP StRecall")["AP"] == evaluate(once, run, "AP")["AP"] == 0.5


def test_grouped_measures_need_more_than_grades():
    for name in ("alpha_nDCG@5", "prefs_simp", "P_avgjg@5"):
        for call in (lambda name: cranfield.value(name, [1, 0]), lambda name: cranfield.explain_grades([1, 0], name)):
            with pytest.raises(MeasureError, match=r"is measured on (subtopics|preferences|groups), which one grade"):
                call(name)


@pytest.mark.parametrize("seed", range(6))
def test_mutated_files(seed):
    chance = random.Random(seed)
    csv = "query_id,group,doc_id,grade\n" + "".join(f'"{q}",{g},{d},{grade}\n' for q, g, d, grade in ROWS)
    five = "".join(f"{q} {g} x {d} {grade}\n" for q, g, d, grade in ROWS)
    for data in (TREC, csv.encode(), five.encode(), json.dumps(GROUPED).encode(), gzip.compress(TREC)):
        for _ in range(40):
            damaged = io.BytesIO(mutated(data, chance))
            try:
                result = evaluate(damaged, {"1": ["a", "b"]}, "prefs_simp StRecall AP_avgjg")
            except CranfieldError:
                continue
            assert all(0 <= value <= 1 for value in result.values())


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_of_strata(seed):
    chance = random.Random(seed)
    lines = "".join(" ".join(map(str, row)) + "\n" for row in SAMPLED).encode()
    for format in (None, "strata"):
        for _ in range(60):
            try:
                found = evaluate(
                    io.BytesIO(mutated(lines, chance)), {"1": ["a", "c"]}, "xinfAP infNDCG statAP", qrels_format=format
                )
            except CranfieldError:
                continue
            assert all(value >= 0 for value in found.values())
