"""Every kind of problem, with its line and its message."""

import gzip

import pytest

from cranfield import InputError, check_files
from cranfield.evaluation.checking.problems import KINDS
from cranfield.ranks.rising import RISING
from cranfield.show.check_text import check_text
from tests.io.conftest import LINE, QRELS, RUN

QRELS_LINE = "a line is: query iteration document grade"


KEEP = "keep one of them; or evaluate with --duplicates first, last or best"


KEEP_LINE = "keep one line for each query and document"


SAME_WAY = "write ids the same way in both files; as they are, they never match"


MISSING = "run the system on it too; 'cranfield evaluate --missing skip' leaves such queries out"


BY_SCORE = "documents are ordered by score and the rank column is ignored; make sure that the scores are right"


OTHER_QUERIES = "the judgments belong to other queries, or the ids are written differently"


OTHER_COLLECTION = "the judgments belong to another collection, or the ids are written differently"


def found(report):
    return [(problem.kind, str(problem), problem.hint) for problem in report.problems]


# kind of the problem: judgments, run, message, hint
CASES = {
    "malformed": [
        (QRELS, RUN + b"2 Q0 x 2 abc t\n", "run:4: score 'abc' is not a number.", LINE),
        (QRELS, RUN + b"2 Q0 x 2 inf t\n", "run:4: score 'inf' is not a finite number.", LINE),
        (QRELS, RUN + b"\n# comment\n2 Q0 x\n", "run:6: 3 columns where at least 6 are needed.", LINE),
        (
            QRELS,
            RUN + b"2 Q0 an id 2 0 t\n",
            "run:4: 7 columns, and 'id' is not a rank: an id may contain a blank.",
            LINE,
        ),
        (QRELS + b"2 0 x\n", RUN, "qrels:4: 3 columns where 4 are needed.", QRELS_LINE),
        (QRELS + b"2 0 x high\n", RUN, "qrels:4: grade 'high' is not a number.", QRELS_LINE),
        (
            QRELS + b"2 0 \xff 1\n",
            RUN,
            "qrels:4: byte 0xff at column 5 is not UTF-8.",
            "save the file as UTF-8, for instance with: iconv -f LATIN1 -t UTF-8",
        ),
        (
            QRELS,
            b"1\ta\t1\n1\tb\t2\n2\tc\t1\n2\td\t3\n",
            "run:4: the third column says 3 where rank 2 is expected, so it may not be a rank.",
            "give the format: 'msmarco' for query, document, rank; 'tsv' for query, document, score",
        ),
    ],
    "duplicate": [
        (
            QRELS + b"1 0 a 1\n",
            RUN,
            "qrels:4: document 'a' is judged twice for query '1', on line 1 and here (both times 1).",
            KEEP_LINE,
        ),
        (
            QRELS + b"2 0 c 0\n",
            RUN,
            "qrels:4: document 'c' is judged twice for query '2', on line 3 and here (2 and 0).",
            KEEP_LINE,
        ),
        (
            QRELS,
            RUN + b"2 Q0 c 1 1.0 t\n",
            "run:4: document 'c' appears twice in the ranking of query '2', on line 3 and here (both times 1).",
            KEEP,
        ),
        (
            QRELS,
            RUN + b"2 Q0 c 2 0.5 t\n",
            "run:4: document 'c' appears twice in the ranking of query '2', on line 3 and here (1 and 0.5).",
            KEEP,
        ),
        (
            QRELS,
            RUN + b"1 Q0 a 3 0.5 t\n",  # far from the other
            "run:4: document 'a' appears twice in the ranking of query '1', on line 1 and here (2 and 0.5).",
            KEEP,
        ),
    ],
    "no-common-query": [
        (
            QRELS,
            b"q1 Q0 a 1 2 t\nq2 Q0 c 1 1 t\n",
            "run: none of its 2 queries is judged: it has 'q1', the judgments have '1'.",
            OTHER_QUERIES,
        ),
    ],
    "no-common-document": [
        (
            QRELS,
            b"1 Q0 x 1 2 t\n2 Q0 y 1 1 t\n",
            "run: none of its documents is judged for its query, so every value is 0.",
            OTHER_COLLECTION,
        ),
    ],
    "missing-query": [
        (QRELS, b"1 Q0 a 1 2 t\n", "run: query '2' is judged, but not in the run; it counts 0.", MISSING),
    ],
    "no-relevant": [
        (
            QRELS + b"1 1 x 0\n3 0 a 0\n",
            RUN + b"3 Q0 a 1 1 t\n",
            "qrels:5: query '3' has no relevant document among 1 judged.",
            "it scores 0 in most measures, whatever the run returns; leave it out, or judge more",
        ),
    ],
    "similar-id": [
        (
            QRELS + b"2 0 D7 1\n",
            RUN + b"2 Q0 d7 2 0 t\n",
            "run:4: document 'd7' is not judged for query '2', but 'D7' is; they differ only in capitals.",
            SAME_WAY,
        ),
        (
            QRELS + b"2 0 7 1\n",
            RUN + b"2 Q0 007 2 0 t\n",
            "run:4: document '007' is not judged for query '2', but '7' is; they differ only in leading zeros.",
            SAME_WAY,
        ),
    ],
    "rank-order": [
        (
            QRELS,
            b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 x 3 1 t\n2 Q0 c 1 1 t\n",
            "run:2: query '1': rank 2 has the score 2, and rank 1 above it only 1.",
            BY_SCORE,
        ),
    ],
    "rank-number": [
        (
            QRELS,
            RUN + b"2 Q0 x first 0 t\n",
            "run:4: rank 'first' is not a whole number.",
            "the column is ignored, but the columns may be in the wrong order",
        ),
    ],
    "equal-scores": [
        (
            QRELS,
            RUN + b"2 Q0 x 2 1 t\n2 Q0 y 3 1.0 t\n",
            "run:3: query '2': all 3 documents have the score 1.",
            "they are ordered by id, whatever order the system gave them",
        ),
    ],
    "mixed-names": [
        (
            QRELS,
            RUN + b"2 Q0 x 2 0 other\n2 Q0 y 3 -1 other\n",
            "run:4: the run is called 'other' here and 't' before.",
            "does the file mix several runs? A run is the result of one system",
        ),
    ],
}


@pytest.mark.parametrize(
    ("kind", "qrels", "run", "message", "hint"), [(kind, *case) for kind, cases in CASES.items() for case in cases]
)
def test_each_problem_is_reported_with_line_and_hint(check, kind, qrels, run, message, hint):
    report = check(qrels, run)
    assert found(report) == [(kind, message, hint)]
    assert report.problems[0].severity == KINDS[kind]
    assert report.passes() == (KINDS[kind] == "warning")
    assert not report.passes(strict=True)
    assert (report.advice is None) == (KINDS[kind] == "error")


def test_problems_that_occur_together_are_both_reported(check):
    report = check(b"01 0 a 1\n2 0 c 1\n", b"1 Q0 a 1 2 t\n2 Q0 c 1 1 t\n")
    assert found(report) == [
        ("similar-id", "run:1: query '1' is not judged, but '01' is; they differ only in leading zeros.", SAME_WAY),
        ("missing-query", "run: query '01' is judged, but not in the run; it counts 0.", MISSING),
    ]
    rising = b"".join(b"1 Q0 d%d %d %d t\n" % (rank, rank, rank) for rank in range(21, 0, -1))
    report = check(QRELS, b"1 Q0 a 22 22 t\n" + rising + b"2 Q0 c 1 1 t\n2 Q0 x 2 3 t\n")
    assert [problem.kind for problem in report.problems] == ["rank-order", "rank-order", "reversed-scores"]
    assert str(report.problems[2]) == f"run: {RISING}."
    assert report.problems[2].hint == "higher scores are better"


def test_every_kind_is_tested():
    elsewhere = {"unreadable", "empty", "reversed-scores", "negative-grades"}  # the last in cli/test_policies.py
    elsewhere |= {"contradictory-grades", "unjudged-copy"}  # in ranks/test_same_text.py
    assert set(CASES) | elsewhere == set(KINDS)


def test_all_problems_are_listed_up_to_a_cap(check):
    bad = b"".join(b"3 Q0 d%d 1 x t\n" % number for number in range(133))
    report = check(QRELS, RUN + bad + b"2 Q0 c 1 5 t\n")
    assert [problem.line for problem in report.problems] == [*range(4, 14), 137]
    assert [(more.kind, more.count) for more in report.more] == [("malformed", 123)]
    assert (report.count("error"), report.count("warning")) == (134, 0)
    text = check_text(report).splitlines()
    assert text[9] == "error: run:13: score 'x' is not a number."
    assert text[10:12] == ["    … and 123 more", f"    Hint: {LINE}"]
    assert text[-1] == "134 errors, 0 warnings."
    assert len(check(QRELS, RUN + bad, most=200).problems) == 133


def test_problems_of_scattered_lines_keep_their_numbers(check):
    lines = [f"{query} Q0 d{document} {document} {-document} t\n" for document in range(2000) for query in range(30)]
    lines[40000] = "broken\n"
    lines[50000] = "caf\xe9\n"
    lines.append("7 Q0 d3 1 5 t\n")
    report = check(b"".join(b"%d 0 d1 1\n" % query for query in range(30)), "".join(lines).encode("latin1"))
    where = [(problem.kind, problem.line) for problem in report.problems if problem.severity == "error"]
    assert where == [("malformed", 40001), ("malformed", 50001), ("duplicate", 60001)]
    assert "on line 98 and here" in next(problem.message for problem in report.problems if problem.kind == "duplicate")
    assert report.runs[0].rows == 59999


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.csv", b"qid,docno,score\n1,a,2\n2,c,high\n", "run.csv:3: score 'high' is not a number."),
        ("run.csv", b'qid,docno,score\n1,a,2\n2,"c,1\n', "run.csv:3: invalid quoting (unexpected end of data)."),
        ("run.tsv", b"qid\tdocno\tscore\n1\ta\t2\n2\t\t1\n2\tc\t1\n", "run.tsv:3: the document id is empty."),
        (
            "run.jsonl",
            b'{"qid": 1, "docno": "a", "score": 1}\n{"qid": 2, "docno": "c", "score": "x"}\n',
            "run.jsonl:2: 'x' is not a number.",
        ),
        ("run.jsonl", b'{"qid": 1, "docno": "a", "score": 1}\n[]\n', "run.jsonl:2: this line is not a JSON object."),
        (
            "run.json",
            b'{"1": {"a": 1, "b": null}, "2": {"c": 1}}',
            "run.json: query '1', document 'b': None is not a number.",
        ),
        ("run.json", b'{"1": {"a": 1}, "2": "c"}', "run.json: query '2': 'c' is not a ranking of a query."),
        (
            "run.json",
            b'[{"qid": "1", "docno": "a", "score": 1}, {"qid": "2", "docno": "c", "score": true}]',
            "run.json:2: True is not a number.",
        ),
    ],
)
def test_other_formats(check, name, content, message):
    report = check(QRELS, content, name)
    assert str(report.problems[0]) == message
    assert report.problems[0].kind == "malformed"


def test_blanks_around_ids(check):
    report = check(QRELS, b'{"1": {"a ": 2, "b": 1}, "2": {"c": 1}}', "run.json")
    assert found(report) == [
        (
            "similar-id",
            "run.json: document 'a ' is not judged for query '1', but 'a' is; they differ only in blanks around it.",
            SAME_WAY,
        )
    ]


def test_parquet(check, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = {"query_id": ["1", "2", "2"], "doc_id": ["a", "c", "c"], "score": [1.0, 2.0, 2.0]}
    parquet.write_table(arrow.table(table), tmp_path / "file.parquet")
    report = check(QRELS, (tmp_path / "file.parquet").read_bytes(), "run.parquet")
    assert [str(problem) for problem in report.problems] == [
        "run.parquet:3: document 'c' appears twice in the ranking of query '2', on row 2 and here (both times 2)."
    ]


def test_unreadable_and_empty_files_are_reported(check):
    report = check(QRELS, gzip.compress(RUN * 100)[:-10])
    assert [problem.kind for problem in report.problems] == ["unreadable"]
    assert report.problems[0].message == "the gzip data stops before its end."
    assert report.unreadable
    assert check_files("qrels", ["none"]).problems[0].message == "cannot be read: no such file or directory."
    with pytest.raises(InputError, match="none: cannot be read"):
        check_files("none", ["run"])
    report = check(QRELS, b"", "empty")
    assert (report.problems[0].kind, report.problems[0].message) == ("unreadable", "it is empty.")
    report = check(QRELS, b"qid,docno,score\n", "run.csv")
    assert found(report) == [("empty", "run.csv: it contains no documents.", "")]
