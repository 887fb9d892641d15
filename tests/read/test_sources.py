"""Every source a user may have, as judgments and as a run: the same numbers from all of them."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import cranfield
from cranfield import InputError, Judgments
from cranfield.read.hashing import hash_ahead
from cranfield.read.streams import Stream

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "10": {"x": 1.5, "y": -1}}
RUN = {"1": {"b": 3.5, "a": 2.5, "z": 1.25}, "2": {"z": 2.0, "a": 1.0}, "10": {"y": 0.5, "x": 0.25}, "7": {"a": 1.0}}
MEASURES = "AP RR nDCG@10 P@2 R@2 Judged@2 NumRet NumRel"

QRELS_ROWS = [(q, d, grade) for q, judged in QRELS.items() for d, grade in judged.items()]
RUN_ROWS = [(q, d, score) for q, ranking in RUN.items() for d, score in ranking.items()]
TREC_QRELS = "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in QRELS_ROWS).encode()
TREC_RUN = "".join(f"{q} Q0 {d} 0 {score} name\n" for q, d, score in RUN_ROWS).encode()
EXPECTED = dict(cranfield.evaluate(QRELS, RUN, MEASURES))


def check(qrels, run, **options):
    result = cranfield.evaluate(qrels, run, MEASURES, **options)
    assert dict(result) == EXPECTED
    assert (result.counts.missing, result.counts.extra) == (0, 1)


def test_expected_by_hand():
    assert EXPECTED["RR"] == (1 / 2 + 1 / 2 + 1 / 2) / 3
    assert EXPECTED["AP"] == pytest.approx((1 / 2 / 2 + 1 / 2 + 1 / 2) / 3)
    assert EXPECTED["Judged@2"] == (2 / 2 + 1 / 2 + 1 / 2) / 3
    assert (EXPECTED["NumRet"], EXPECTED["NumRel"]) == (7, 4)


COMPRESSIONS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pytest.importorskip("zstandard").compress(data),
}


@pytest.mark.parametrize("extension", COMPRESSIONS)
@pytest.mark.parametrize("named", [True, False], ids=["by extension", "by content"])
def test_compressed_files(tmp_path, extension, named):
    compress = COMPRESSIONS[extension]
    qrels, run = tmp_path / f"qrels{extension * named}", tmp_path / f"bm25.run{extension * named}"
    qrels.write_bytes(compress(TREC_QRELS))
    run.write_bytes(compress(TREC_RUN))
    check(qrels, run)
    with run.open("rb") as stream:
        check(str(qrels), stream)
    if extension:
        run.write_bytes(compress(TREC_RUN[:50]) + compress(TREC_RUN[50:]))  # as `cat a.gz b.gz` makes it
        check(qrels, run)
        for size in (len(run.read_bytes()) - 3, 12):
            run.write_bytes(run.read_bytes()[:size])
            with pytest.raises(InputError, match=r"stops before its end|is damaged"):
                check(qrels, run)


def test_files_of_every_kind(tmp_path):
    names = {
        "r.tsv": ("query-id\tcorpus-id\tscore\n", "{}\t{}\t{}\n"),
        "r.csv": ('"qid","docno",score\r\n', '"{}",{},{}\r\n'),
        "semicolons.csv": ("q_id;doc_id;score\n", "{};{};{}\n"),
        "columns.txt": ("doc_id score query_id\n", "{1} {2} {0}\n"),
        "r.jsonl": ("", '{{"query_id": "{}", "doc_id": "{}", "score": {}}}\n'),
        "extra.csv": ("note,query_id,doc_id,score\n", '"a, b",{},{},{}\n'),
    }
    for name, (head, line) in names.items():
        qrels, run = tmp_path / f"qrels_{name}", tmp_path / name
        qrels.write_text(head + "".join(line.format(*row) for row in QRELS_ROWS))
        run.write_text(head + "".join(line.format(*row) for row in RUN_ROWS))
        check(qrels, run)
        check(io.BytesIO(qrels.read_bytes()), io.BytesIO(run.read_bytes()))  # content alone
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    check(tmp_path / "qrels.json", tmp_path / "run.json")
    check(io.BytesIO(json.dumps(QRELS).encode()), io.BytesIO(json.dumps(RUN).encode()))
    rows = [{"qid": q, "docno": d, "score": score} for q, d, score in RUN_ROWS]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    check(QRELS, tmp_path / "rows.json")


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ("query_id", "doc_id", "relevance"), ("q_id", "doc_id", "score")
    for path, rows, columns in (("q.parquet", QRELS_ROWS, names[0]), ("r", RUN_ROWS, names[1])):
        table = arrow.table({name: list(column) for name, column in zip(columns, zip(*rows))})
        parquet.write_table(table, tmp_path / path)
    check(tmp_path / "q.parquet", tmp_path / "r")


def test_ms_marco_runs_have_ranks(tmp_path):
    run = {q: sorted(ranking, key=ranking.get, reverse=True) for q, ranking in RUN.items()}
    lines = [f"{q}\t{d}\t{i}\n" for q, ranking in run.items() for i, d in enumerate(ranking, 1)]
    (tmp_path / "run.tsv").write_text("".join(lines))
    check(QRELS, tmp_path / "run.tsv")
    shuffled = "".join(sorted(lines))
    check(QRELS, io.BytesIO(shuffled.encode()), format="msmarco")
    scores = "".join(f"{q}\t{d}\t{score}\n" for q, d, score in RUN_ROWS).encode()
    check(QRELS, io.BytesIO(scores), format="tsv")
    # three bare columns that might be scores are not guessed at
    with pytest.raises(InputError, match="ambiguous"):
        check(QRELS, io.BytesIO(scores))
    tricky = b"1\ta\t1\n1\tb\t3\n1\tc\t2\n"
    with pytest.raises(InputError, match=r":2: the third column says 3 where rank 2 is expected"):
        check(QRELS, io.BytesIO(tricky))


def test_mappings():
    check(QRELS, RUN)
    check({int(q): judged for q, judged in QRELS.items()}, {int(q): ranking for q, ranking in RUN.items()})
    numbers = {q: {d: np.float32(score) for d, score in ranking.items()} for q, ranking in RUN.items()}
    check({q: {d: np.float64(grade) for d, grade in judged.items()} for q, judged in QRELS.items()}, numbers)
    check(QRELS, {q: sorted(ranking, key=ranking.get, reverse=True) for q, ranking in RUN.items()})
    integers = {"q": {1: 1, 2: 0}}
    for run in ({"q": {2: 3, 1: 2}}, {"q": {"2": 3, 1: np.int64(2)}}, {"q": [2, "1"]}, {"q": {np.int64(2): 3, 1: 2}}):
        assert cranfield.evaluate(integers, run, "RR")["RR"] == 0.5
    assert cranfield.evaluate({"q": ["a", "b"]}, {"q": ["x", "a"]}, "RR R@2") == {"RR": 0.5, "R@2": 0.5}
    assert cranfield.evaluate({"q": {"a"}}, {"q": ("x", "a")}, "RR")["RR"] == 0.5


def test_rows():
    Judged = namedtuple("Judged", "query_id doc_id relevance iteration")
    Scored = namedtuple("Scored", "query_id doc_id score")
    check(QRELS_ROWS, RUN_ROWS)
    check(iter([Judged(*row, "0") for row in QRELS_ROWS]), (Scored(*row) for row in RUN_ROWS))
    check([{"qid": q, "docno": d, "label": grade} for q, d, grade in QRELS_ROWS], RUN_ROWS)
    ir_measures = pytest.importorskip("ir_measures")
    check([ir_measures.Qrel(*row, "0") for row in QRELS_ROWS], [ir_measures.ScoredDoc(*row) for row in RUN_ROWS])


def test_frames():
    for library in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(library)
        make = module.table if library == "pyarrow" else module.DataFrame
        qrels = make(
            {
                "qid": [r[0] for r in QRELS_ROWS],
                "docno": [r[1] for r in QRELS_ROWS],
                "label": [float(r[2]) for r in QRELS_ROWS],
            }
        )
        run = make(
            {"qid": [r[0] for r in RUN_ROWS], "docno": [r[1] for r in RUN_ROWS], "score": [r[2] for r in RUN_ROWS]}
        )
        check(qrels, run)
        numbered = make({"query_id": [1, 1, 2], "doc_id": [10, 11, 10], "relevance": [1, 0, 2]})
        ranked = make({"query_id": ["1", "1", "2"], "doc_id": [10, 11, 10], "rank": [2, 1, 1]})
        assert cranfield.evaluate(numbered, ranked, "RR")["RR"] == 0.75


def test_frames_of_mixed_objects():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": ["q", "q"], "docno": ["a", 5], "score": [1.0, 2.0]}, dtype=object)
    assert cranfield.evaluate({"q": {"5": 1}}, frame.astype({"score": float}), "RR")["RR"] == 1.0
    category = pandas.DataFrame({"qid": pandas.Categorical(["q"]), "docno": ["5"], "score": [1]})
    assert cranfield.evaluate({"q": {"5": 1}}, category, "RR")["RR"] == 1.0
    for bad, fact in (
        ({"qid": ["q"], "docno": [1.5], "score": [1.0]}, "column 'docno', row 0: 1.5 is not an id"),
        ({"qid": ["q", None], "docno": ["a", "b"], "score": [1.0, 2.0]}, "column 'qid', row 1"),
        ({"qid": ["q"], "docno": [""], "score": [1.0]}, "the id is empty"),
        ({"qid": ["q"], "docno": ["a"], "score": ["high"]}, "column 'score' holds"),
        ({"qid": ["q"], "docno": ["a"], "score": [float("inf")]}, "row 0: inf is not a finite number"),
        ({"qid": ["q"], "title": ["a"], "score": [1.0]}, "its columns are qid, title, score"),
    ):
        with pytest.raises(InputError) as error:
            cranfield.evaluate({"q": {"a": 1}}, pandas.DataFrame(bad), "RR")
        assert fact in str(error.value)


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
    from cranfield.ranks.scan.native import native
    from tests.generated import scan_with

    with os.fdopen(reader, "rb") as pipe, scan_with(native, 40):
        check(QRELS, pipe)


def test_a_file_is_read_from_where_it_stands():
    stream = io.BytesIO(b"a header that is not ours\n" + TREC_RUN)
    stream.readline()
    check(QRELS, stream)
    check(QRELS, io.StringIO(TREC_RUN.decode()))


def test_the_hash_is_that_of_the_content(tmp_path):
    import hashlib

    (tmp_path / "run").write_bytes(TREC_RUN)
    (tmp_path / "run.gz").write_bytes(gzip.compress(TREC_RUN))
    for name in ("run", "run.gz"):
        result = cranfield.evaluate(io.BytesIO(TREC_QRELS), tmp_path / name, "AP")
        assert result.run_sha256 == hashlib.sha256(TREC_RUN).hexdigest()
        assert result.qrels_sha256 == hashlib.sha256(TREC_QRELS).hexdigest()
    one, other = Judgments.read(QRELS), Judgments.read(dict(reversed(QRELS.items())))
    assert one.sha256 == other.sha256 != Judgments.read({"1": {"a": 1}}).sha256


def test_a_run_of_nothing_that_is_judged(tmp_path):
    result = cranfield.evaluate({"q": {"a": 1}}, {"other": {"a": 1.0}}, "AP", check_ids=False)
    assert (result["AP"], result.counts.missing, result.counts.extra) == (0.0, 1, 1)


BAD = [
    # qrels, run, what the error says
    (b"", RUN, "this file is empty"),
    (b"# nothing\n\n", RUN, "only blank lines and comments"),
    (QRELS, b"", "this file is empty"),
    (QRELS, b"query_id,doc_id,score\n", "not one ranking"),
    (b"query_id,doc_id,score\n", RUN, "not one judgment"),
    ({}, RUN, "not one judgment"),
    (b"1 0 a 1\n1 0 a 0\n", RUN, ":2: document 'a' is judged twice for query '1' (1 and 0)"),
    (b"1 0 a 1\n1 0 b x\n", RUN, ":2: grade 'x' is not a number"),
    (b"1 0 a 1\n1 0 b nan\n", RUN, ":2: grade 'nan' is not a finite number"),
    (b"1 0 a 1\n1 0 b\n", RUN, ":2: 3 columns where 4 are needed"),
    (b"1 0 a 1\n1 0 b 1 1\n", RUN, ":2: 5 columns where 4 are needed"),
    (TREC_RUN, TREC_RUN, "judgments are needed, but its lines have 6 columns like a run's"),
    (TREC_QRELS, TREC_QRELS, "a run is needed, but its lines have 4 columns like those of judgments"),
    (b"1 a 1\n", RUN, "three columns and no header"),
    (QRELS, b"a b\n", "its lines have 2 columns"),
    (QRELS, b"query_id\tdoc_id\tscore\n1\t\t2\n", ":2: the document id is empty"),
    (QRELS, b'query_id,doc_id,score\n1,"a,2\n', ":2: "),
    (QRELS, b"\xff\xfe1\x00", "UTF-16"),
    (QRELS, b'{"', "this is not JSON"),
    (QRELS, b'{"1": {"a": 1, "a": 2}}', "the key 'a' appears twice"),
    (QRELS, b'{"1": {"a": NaN}}', "is not a finite number"),
    (QRELS, b'{"1": {"a": "high"}}', "'high' is not a number"),
    (QRELS, b'{"1": 5}', "5 is not a ranking"),
    (QRELS, b'{"query_id": "1", "doc_id": "a", "score": 1}\n{"query_id": "1", "doc_id": "a", "score": 1}', "twice"),
    (QRELS, b'{"query_id": "1", "doc_id": "a", "score": 1}\n[1]\n', ":2: this line is not a JSON object"),
    (QRELS, b"PAR1\x15 and then nothing", "this Parquet file cannot be read"),
    (QRELS, {"1": {"a": float("nan")}}, "query '1', document 'a': nan is not a finite number"),
    (QRELS, {"1": {"a": "0.5"}}, "'0.5' is not a number"),
    (QRELS, {"1": {"a": True}}, "True is not a number"),
    (QRELS, {"1": {"a": 1.0, "": 1.0}}, "the id is empty"),
    (QRELS, {"1": {None: 1.0}}, "None is not an id"),
    (QRELS, {"1": {"a": 1.0, "1": 1.0, 1: 2.0}}, "document '1' appears twice"),
    (QRELS, {"1": {"a": 1.0}, 1: {"a": 2.0}}, "appears twice, as a number and as text"),
    (QRELS, {"1": ["a", "b", "a"]}, "document 'a' appears twice"),
    (QRELS, {"1": "abc"}, "'abc' is not a ranking"),
    (QRELS, [("1", "a")], "row 1 has 2 columns where 3 are needed"),
    (QRELS, [("1", "a", 1.0), ("1", "a", 2.0)], "document 'a' appears twice in the ranking of query '1'"),
    (QRELS, [5], "row 1 is 5, not a row"),
    (QRELS, {}, "not one ranking"),
    (QRELS, [], "not one ranking"),
    (QRELS, b"{}", "not one ranking"),
    (QRELS, {"1": {"a": 10**400}}, "is not a finite number"),
    ({"1": {"a": 10**400}}, RUN, "is not a finite number"),
    ({1: {"a": 1}, "1": {"b": 1}}, RUN, "appears twice, as a number and as text"),
    (QRELS, {"1": {b"\xff": 1.0}}, "is not UTF-8"),
    (QRELS, {"": {"a": 1.0}}, "the id is empty"),
    (QRELS, b"1 Q0 a 1 9 t\r1 Q0 b 2 8 t\r", "a carriage return stands in the middle of the line"),
    (QRELS, b"1\tQ0\ta x\t1\t9.5\tt\n", ":1: 7 columns, and 'x' is not a rank: an id may hold a blank"),
    (b"query_id,doc_id,rank,score\n1,a,1,2.5\n", RUN, "its lines have 1 column"),
    (QRELS, b"query_id,doc_id,score,score\n1,a,1,2.5\n", "its lines have 1 column"),
    (QRELS, b'{"qid": "1", "docno": "a", "score": 3}\n\n{"qid": "1", "docno": "b", "score": "x"}', "line 3: 'x'"),
    (QRELS, 5, "cannot be read from int"),
    ({"1": {"a": None}}, RUN, "None is not a number"),
    ({"1": 5}, RUN, "does not say which documents are judged"),
    ({"1": {"\udcff": 1, "b": 1.5}}, {"1": {"\udcff": 1.0}}, "cannot be written as UTF-8"),
    (b'{"1": {"\\udcff": 1}}', RUN, "query '1': the id '\\udcff' has half of a character in it"),
    (b'{"\\ud800": {"a": 1}}', RUN, "the id '\\ud800' has half of a character in it"),
    (b'{"1": ["\\uDFFF"]}', RUN, "query '1': the id '\\udfff' has half of a character in it"),
    (b'{"query_id": "1", "doc_id": "\\ud800", "grade": 1}\n', RUN, "line 1: the id '\\ud800' has half"),
    (QRELS, b'{"1": {"a": 1, "x\\ud83d": 2}}', "query '1': the id 'x\\ud83d' has half of a character in it"),
    (QRELS, b'[["\\ud800", "a", 1]]', "row 1: the id '\\ud800' has half"),
    (QRELS, b'{"query_id": "\\ud800", "doc_id": "a", "score": 1}\n', "line 1: the id '\\ud800' has half"),
    (QRELS, {"1": ["\ud800"]}, "query '1': the id '\\ud800' has half of a character in it"),
    (QRELS, {"1": {"a": np.array([1.0])}}, "array([1.]) is not a number"),
    (QRELS, [("1", "a", np.array([1.0, 2.0]))], "row 1: array([1., 2.]) is not a number"),
    ({"1": {"a": np.datetime64("2020")}}, RUN, "np.datetime64('2020') is not a number"),
]


@pytest.mark.parametrize(("qrels", "run", "fact"), BAD, ids=[fact for *_, fact in BAD])
def test_bad_input_is_an_error_of_ours(qrels, run, fact):
    qrels, run = (io.BytesIO(source) if isinstance(source, bytes) else source for source in (qrels, run))
    with pytest.raises(InputError) as error:
        cranfield.evaluate(qrels, run)
    assert fact in str(error.value)


def test_a_wrong_format_is_an_error():
    for format in ("csv", "json", "jsonl", "parquet", "tsv", "msmarco"):
        with pytest.raises(InputError):
            cranfield.evaluate(QRELS, io.BytesIO(TREC_RUN), format=format)
    with pytest.raises(InputError, match="there is no format 'xml'"):
        cranfield.evaluate(QRELS, io.BytesIO(TREC_RUN), format="xml")


def test_paths_that_cannot_be_read(tmp_path):
    for path, fact in ((tmp_path / "none", "no such file"), (tmp_path, "is a directory"), ("a\nb", "io.BytesIO")):
        with pytest.raises(InputError) as error:
            cranfield.evaluate(path, RUN)
        assert fact in str(error.value)


def test_extensions_that_promise_a_separator(tmp_path):
    (tmp_path / "ranks.csv").write_text("1,a,1\n1,b,2\n")
    with pytest.raises(InputError, match="does not name the columns"):
        cranfield.evaluate(QRELS, tmp_path / "ranks.csv")
    (tmp_path / "blanks.tsv").write_text("q1\tdoc 1\t1\nq1\tdoc 2\t0\n")
    with pytest.raises(InputError, match="three columns and no header"):
        cranfield.evaluate(tmp_path / "blanks.tsv", RUN)
    (tmp_path / "qrels.tsv").write_text("q1\t0\tdoc 1\t1\n")
    (tmp_path / "run.tsv").write_text("q1\tQ0\tdoc 2\t1\t9\tt\nq1\tQ0\tdoc 1\t1\t8\tt\n")
    assert cranfield.evaluate(tmp_path / "qrels.tsv", tmp_path / "run.tsv", "RR")["RR"] == 0.5


def test_comments_before_a_header():
    text = b"# ours\n\nquery_id\tdoc_id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in RUN_ROWS).encode()
    check(QRELS, io.BytesIO(text))


def test_rows_honour_the_policy_for_duplicates():
    rows = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)]
    for keep, value in {"first": 1.0, "last": 0.5, "best": 1.0}.items():
        policy = cranfield.Policy(duplicates=keep)
        assert cranfield.evaluate({"q": {"a": 1}}, rows, "RR", policy=policy)["RR"] == value


def test_short_reads_are_not_the_end():
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


def test_dicts_that_once_held_other_keys():
    documents = [f"doc{j}" for j in range(50)]
    run = {}
    for query in range(300):
        run[str(query)] = {0: 1.0} | {"".join(document): float(j) for j, document in enumerate(documents)}
        del run[str(query)][0]
    qrels = {str(query): {"doc7": 1} for query in range(300)}
    assert cranfield.evaluate(qrels, run, "RR")["RR"] == pytest.approx(1 / 43)


def test_beir_folders_work_as_they_are(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t2\n1\tc\t1\n")
    assert len(Judgments.read(Path(tmp_path, "qrels", "test.tsv")).grades) == 2


@pytest.mark.parametrize("size", [0, 1, 100_000, (1 << 23) + 12_345])
def test_hashing_ahead_gives_the_same_hash(tmp_path, size):
    path = tmp_path / "some.run"
    path.write_bytes((b"1 Q0 d 1 0.5 tag\n" * (size // 17 + 1))[:size])
    hash_ahead(str(path))
    stream = Stream(path)
    for _ in stream.pieces(1 << 16, len):
        pass
    assert stream.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_hashing_ahead_waits_for_what_is_compressed(tmp_path):
    path = tmp_path / "some.run.gz"
    path.write_bytes(gzip.compress(b"1 Q0 d 1 0.5 tag\n"))
    hash_ahead(str(path))
    stream = Stream(path)
    for _ in stream.pieces(1 << 16, len):
        pass
    assert stream.sha256 == hashlib.sha256(b"1 Q0 d 1 0.5 tag\n").hexdigest()


def test_half_a_character_is_no_error_where_it_is_no_id():
    row = b'{"query_id": "1", "doc_id": "a", "score": 1, "text": "cut \\ud83d"}\n'
    assert cranfield.evaluate({"1": {"a": 1}}, io.BytesIO(row), "RR")["RR"] == 1.0
    whole = b'{"1": {"a": 1, "\\ud83d\\ude00": 2}}'
    assert cranfield.evaluate({"1": {"\U0001f600": 1}}, io.BytesIO(whole), "RR")["RR"] == 1.0
