"""Every id and number that is written is read back exactly, or refused when it is written."""

import json
import os
import tempfile
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, Judgments, OutputError, Policy, convert_file
from cranfield.io.formats import FORMATS as FORMAT
from cranfield.io.formats import open_records, writable
from cranfield.io.formats.format import Plan
from cranfield.io.records import Records
from cranfield.io.source import open_source
from cranfield.io.target import open_target
from cranfield.io.writing import write_run
from cranfield.native import native
from cranfield.ranks.first_documents import first_documents
from tests.generated import ids as usual_ids
from tests.generated import scan_with

FORMATS, RUN_FORMATS = writable(), writable(["run"])
WORDS, TABLES = ("trec", "msmarco"), ("csv", "tsv", "beir")
WHITE = " \t\n\r\x0b\x0c"
SPECIAL = f"{WHITE}\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000\ufeff\0\"'#,;{{}}[]:\\/"
hostile_ids = st.one_of(
    usual_ids,
    st.text(st.sampled_from(list("ab1é文" + SPECIAL)), max_size=6),
    st.text(max_size=4),
    st.sampled_from(["\ud800", "a\udcff", "", "#1", "# c", "\ufeffq", "1e5", "1_000", "-0", "nan", "NULL", "null"]),
    # Ids that look like a header, another format, or a compressed file.
    st.sampled_from(["query_id", "doc_id", "score", "rank", "query", "doc", "query_id,doc_id,score,x", "relevance"]),
    st.sampled_from(["PAR1", "PAR1x", '{"a":', "[[", "{}", "[]", "BZh91AY&SY", "Q0", "0"]),
)
hostile_numbers = st.one_of(
    st.sampled_from([-0.0, 0.0, 1e-300, 5e-324, 1e308, -1e308, 2.0**53, 2.0**53 + 2, 2.0**60 + 1024, 1e22, 1e23, 0.1]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
)
compressions = st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"])
scans = [None, native] if native else [None]


@st.composite
def rankings(draw, ids=hostile_ids):
    """[(query, [(document, number)])], each query once, and each document once for a query."""
    queries = draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    documents = st.lists(ids, min_size=1, max_size=4, unique=True)
    return [(query, [(document, draw(hostile_numbers)) for document in draw(documents)]) for query in queries]


def fits(name, format, *, starts_line=False):
    """Whether a format can store an id, decided independently of the program."""
    try:
        data = name.encode()
    except UnicodeEncodeError:
        return False
    if not data or (len(name) > 1 << 17 and format not in ("json", "parquet")):
        return False
    if format in WORDS:
        return data.split() == [data] and not (starts_line and name[0] in "#\ufeff")
    return format not in TABLES or (data == data.strip() and not {10, 13} & set(data))


@contextmanager
def folder():
    """A new folder for each example, because a fixture is shared by all of them."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def rows(content):
    return [(query, document, number) for query, ranking in content for document, number in ranking]


def exactly(found):
    """Rows whose numbers can be compared bit by bit."""
    return [(query, document, float(number).hex()) for query, document, number in found]


def read_rows(path, role, format):
    def refuse(error):
        raise error

    found = []
    for records in open_records(path, role, "tsv" if format == "beir" else format).batches(refuse):
        found += zip(records.query, records.document, records.value.tolist())
    return found


def names(folder, format, compression):
    """A file name that tells the format, and one without an extension where the content is enough."""
    extension = "tsv" if format == "beir" else format
    yield folder / f"out.{extension}{compression}", None if format not in WORDS else format
    if format in (*WORDS, "jsonl", "parquet", "json"):
        yield folder / f"out{compression}", None


def refused(content, format, write):
    """Whether writing is refused; if it is, the error must name an id that does not fit."""
    try:
        write()
        return False
    except InputError as refusal:
        error = refusal
    odd = {query for query, _ in content if not fits(query, format, starts_line=True)}
    odd |= {document for _, document, _ in rows(content) if not fits(document, format)}
    assert "first line" in error.fact or "" in odd or any(repr(each)[:80] in error.fact for each in odd)
    assert "change the id" in error.hint or "" in odd
    assert str(error).encode()
    return True


@settings(deadline=None, max_examples=250)
@given(content=rankings(), format=st.sampled_from(RUN_FORMATS), compression=compressions)
@example([("query", [("doc", 1.0)])], "trec", "")
@example([("a\xa0b", [("c", 1.0)])], "trec", "")
def test_runs_are_read_back_exactly(content, format, compression):
    check_run(content, format, compression)


@pytest.mark.parametrize("format", RUN_FORMATS)
@pytest.mark.parametrize("size", [70_000, 1 << 17, (1 << 17) + 1])
def test_very_long_ids(format, size):
    check_run([("é" * size, [("d", 1.0)])], format, "")
    check_run([("q", [('"' + "x" * (size - 1), 1.0), ("文" * size, 1.0)])], format, ".gz")


def check_run(content, format, compression):
    expected = rows(content)
    if format == "msmarco":
        expected = [(query, document, -float(at)) for query, its in content for at, (document, _) in enumerate(its, 1)]
    with folder() as place:
        for path, declared in names(place, format, compression):
            if refused(content, format, partial(write_run, path, content, name="score", format=format)):
                assert os.listdir(place) == []
                return
            assert exactly(read_rows(path, "run", declared)) == exactly(expected)
            grades = {query: {document: at % 3 for at, (document, _) in enumerate(its)} for query, its in content}
            memory = {query: {document: number for q, document, number in expected if q == query} for query in grades}
            for scan in scans:
                with scan_with(scan, 64):
                    for ties in ("doc_id", "file"):
                        found = cranfield.evaluate(grades, path, "nDCG RR", format=declared, policy=Policy(ties=ties))
                        wanted = cranfield.evaluate(grades, memory, "nDCG RR", policy=Policy(ties=ties))
                        assert found.per_query == [each._replace(run=found.run) for each in wanted.per_query]
                    first = first_documents(open_source(path, "run", declared), grades, 9, Policy(ties="file"))
                assert first == {query: sorted(its, key=its.get, reverse=True) for query, its in memory.items()}


def write_judgments(path, content, format, groups):
    documents = rows(content)
    values = np.array([number for *_, number in documents])
    columns = [query for query, *_ in documents], [document for _, document, _ in documents]
    records = Records((), *columns, values, list(map(repr, values.tolist())), group=groups)
    kept = groups is not None and format not in ("json", "beir")
    with open_target(path) as target, target.opened() as file:
        writer = FORMAT[format].writer(Plan("here", "qrels", FORMAT[format], groups=kept), file)
        for part in records.by_query() if format == "json" else [records]:
            writer.write(part)
        writer.close()


@settings(deadline=None, max_examples=250)
@given(content=rankings(), format=st.sampled_from(FORMATS), compression=compressions, group=st.none() | hostile_ids)
@example([("a\xa0b", [("c", 1.0)])], "trec", "", None)
@example([("query", [("doc", 1.0)])], "trec", "", "rel")
def test_judgments_are_read_back_exactly(content, format, compression, group):
    expected = rows(content)
    groups = None if group is None else [group] * len(expected)
    kept = [*content, *([("1", [(group, 0.0)])] if groups and format not in ("json", "beir") else [])]
    with folder() as place:
        for path, declared in names(place, format, compression):
            if refused(kept, format, partial(write_judgments, path, content, format, groups)):
                assert os.listdir(place) == []
                return
            assert exactly(read_rows(path, "qrels", declared)) == exactly(expected)
            read = Judgments.read(path, "tsv" if declared == "beir" else declared).by_query
            assert read == {query: dict(its) for query, its in content}
            if groups and format not in ("json", "beir"):
                [found] = [batch.group for batch in open_records(path, "qrels", declared).batches(None)]
                assert found == groups


@settings(deadline=None, max_examples=150)
@given(content=rankings(), one=st.sampled_from(RUN_FORMATS), other=st.sampled_from(RUN_FORMATS))
def test_conversions_keep_all_rows(content, one, other):
    """The target format may refuse ids that the source format can store."""
    with folder() as place:
        source, target = place / "source", place / "target"
        if refused(content, one, partial(write_run, source, content, name="t", format=one)):
            return
        convert = partial(convert_file, source, target, format=one, target_format=other, role="run")
        if not refused(content, other, convert) and "msmarco" not in (one, other):
            before = exactly(read_rows(source, "run", one))
            assert sorted(exactly(read_rows(target, "run", other))) == sorted(before)


def test_order_and_scores_are_written_as_given(tmp_path):
    content = [("q2", [("b", 1.0), ("a", 2.0), ("c", 2.0)]), ("q1", [("z", -0.0)])]
    assert write_run(tmp_path / "out.run", content, name="mine") == 4
    assert (tmp_path / "out.run").read_text().splitlines() == [
        "q2 Q0 b 1 1.0 mine",
        "q2 Q0 a 2 2.0 mine",
        "q2 Q0 c 3 2.0 mine",
        "q1 Q0 z 1 -0.0 mine",
    ]
    write_run(tmp_path / "out.tsv.gz", content, name="mine")
    assert read_rows(tmp_path / "out.tsv.gz", "run", None) == rows(content)


@pytest.mark.parametrize(
    ("content", "options", "fact"),
    [
        ([("q", [("a", float("nan"))])], {}, "query 'q', document 'a': nan is not a finite number"),
        ([("q", [("a", "high")])], {}, "'high' is not a number"),
        ([("q", [("a", 1.0)]), ("q", [("b", 1.0)])], {}, "the query 'q' appears twice"),
        ([("q", [("a", 1.0), ("a", 0.5)])], {"format": "json"}, "document 'a' appears twice for query 'q'"),
        ([("q", [("a", 1.0)])], {"name": "a b"}, "'a b' is not a name for a run"),
        ([("q", [("a", 1.0)])], {"name": ""}, "'' is not a name for a run"),
        ([("q", [("a", 1.0)])], {"name": "\ud800"}, r"'\\ud800' is not a name for a run"),
        ([("q", [("a", 1.0)])], {"format": "beir"}, "there is no format 'beir' for runs"),
        ([("q", [(None, 1.0)])], {}, "None is not an id"),
        ([("#1", [("a", 1.0)])], {}, r"the id '#1' looks like a comment, which trec cannot store(.|\n)*write jsonl"),
        ([("q", [(" d1 ", 1.0)])], {"format": "tsv"}, "the id ' d1 ' has blanks around it, which tsv cannot store"),
        ([("q", [("d\n1", 1.0)])], {"format": "csv"}, r"the id 'd\\n1' contains a line break"),
        (
            [("query", [("doc", 1.0)])],
            {"name": "rank"},
            "the first line, 'query Q0 doc 1 1.0 rank', looks like another",
        ),
    ],
)
def test_bad_runs_are_refused(tmp_path, content, options, fact):
    with pytest.raises((InputError, OutputError), match=fact):
        write_run(tmp_path / "out", content, **{"name": "t", "format": "trec", **options})
    assert os.listdir(tmp_path) == []


def test_a_run_name_that_is_not_utf8_is_escaped(tmp_path):
    (tmp_path / "\udcff.json").write_text(json.dumps({"q": {"a": 1.5}}))
    convert_file(tmp_path / "\udcff.json", tmp_path / "out.run", role="run")
    assert (tmp_path / "out.run").read_text() == "q Q0 a 1 1.5 \\udcff\n"


def test_rows_of_a_query_stay_together(tmp_path):
    content = [(str(query), [(f"d{document}", 1.0) for document in range(5)]) for query in range(2000)]
    write_run(tmp_path / "out.run", content, name="t")
    found = read_rows(tmp_path / "out.run", "run", None)
    assert [query for query, _ in groupby(found, lambda row: row[0])] == [query for query, _ in content]
