"""Judgments with groups, from every source, and what is wrong with some."""

import collections
import gzip
import hashlib
import io
import json
import random
import subprocess
import sys

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


def test_every_source_gives_the_same(tmp_path):
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
    (b"", "this file is empty"),
    ([("q", "s", "a", 1), ("q", "s", "a", 1)], "row 2: document 'a' is judged twice for query 'q' in group 's' (both"),
    ([("q", "s", "a", 1), ("q", "a")], "row 2 has 2 columns where 3, 4 or 5 are needed"),
    ([("q", None, "a", 1)], "row 1: None is not an id"),
    ({"q": {"s": {"a": 1}, "t": 5}}, "query 'q': 5 does not say which documents are judged"),
    ({"q": {"s": {"a": "1"}}}, "query 'q', document 'a': '1' is not a number"),
    ({"q": {1: {"a": 1}, "1": {"a": 1}}}, "query 'q': the group '1' appears twice"),
    ({"q": {"a": 1}, 1: {"s": {"a": 1}}, "1": {"a": 1}}, "the query '1' appears twice"),
    ({"q": {"s": {}}}, "there is not one judgment in it"),
    (5, "cannot be read from int"),
]


@pytest.mark.parametrize(("qrels", "fact"), BAD, ids=[fact for _, fact in BAD])
def test_bad_judgments_are_an_error_of_ours(qrels, fact):
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


def test_ordinary_measures_need_one_grade():
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


def test_grades_alone_do_not_tell():
    for name in ("alpha_nDCG@5", "prefs_simp", "P_avgjg@5"):
        for call in (lambda name: cranfield.value(name, [1, 0]), lambda name: cranfield.explain([1, 0], measures=name)):
            with pytest.raises(MeasureError, match=r"is measured on (subtopics|preferences|groups), which one grade"):
                call(name)


def test_groups_are_imported_only_where_they_are_needed():
    program = (
        "import sys, cranfield; cranfield.evaluate({'q': {'a': 1}}, {'q': ['a']});"
        "print(*[name for name in sys.modules if name.startswith('cranfield.') and name.split('.')[1] != 'measures'"
        " and name.split('.')[-1] in ('grouped', 'subtopics', 'preferences', 'groups')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


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
