"""Every source a user may have, as judgments and as a run: the same numbers from all of them."""

import bz2
import gzip
import io
import json
import lzma
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import cranfield
from cranfield import InputError, Judgments
from tests.io.same_values import EXPECTED, QRELS, QRELS_ROWS, RUN, RUN_ROWS, TREC_QRELS, TREC_RUN, check


def test_expected_values_match_a_calculation_by_hand():
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


def test_files_of_every_text_format(tmp_path):
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
        ({"qid": ["q"], "docno": ["a"], "score": ["high"]}, "column 'score' contains"),
        ({"qid": ["q"], "docno": ["a"], "score": [float("inf")]}, "row 0: inf is not a finite number"),
        ({"qid": ["q"], "title": ["a"], "score": [1.0]}, "required columns are missing; it has qid, title, score"),
    ):
        with pytest.raises(InputError) as error:
            cranfield.evaluate({"q": {"a": 1}}, pandas.DataFrame(bad), "RR")
        assert fact in str(error.value)


def test_a_run_without_judged_queries_has_value_0(tmp_path):
    result = cranfield.evaluate({"q": {"a": 1}}, {"other": {"a": 1.0}}, "AP", check_ids=False)
    assert (result["AP"], result.counts.missing, result.counts.extra) == (0.0, 1, 1)


def test_the_extension_decides_the_separator(tmp_path):
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


def test_dicts_with_deleted_keys_are_read():
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
