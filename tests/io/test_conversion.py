"""Conversion from every format to every other keeps the values and reports losses."""

import bz2
import gzip
import itertools
import json
import lzma
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, OutputError, convert_file
from cranfield.io.formats import writable
from tests.generated import collections

MEASURES = "AP RR nDCG@10 P@2 R@3 Judged@3 NumRet NumRel"
FORMATS = writable()
KEPT = [format for format in FORMATS if format != "msmarco"]
RUN = b"1 Q0 a 1 2.50 mine\n1 Q0 b 2 2.5 mine\n2 Q0 a 1 1e-3 mine\n"
QRELS = b"1 0 a 2\n1 0 b 0.5\n2 0 a -1\n"


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode())
    return path


def reading(format):
    return "tsv" if format == "beir" else format


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=collections(), formats=st.tuples(st.sampled_from(KEPT), st.sampled_from(KEPT)))
def test_values_survive_two_conversions(tmp_path, data, formats):
    qrels, run = data
    expected = cranfield.evaluate(qrels, run, MEASURES, check_ids=False)
    files = {}
    for role, content in (("qrels", qrels), ("run", run)):
        path, format = write(tmp_path / f"{role}.json", content), "json"
        for step, wanted in enumerate(formats):
            target_format = "tsv" if role == "run" and wanted == "beir" else wanted
            target = tmp_path / f"{role}{step}"
            convert_file(path, target, format=format, target_format=target_format, role=role, force=True)
            path, format = target, target_format
        files[role] = path, reading(format)
    result = cranfield.evaluate(
        files["qrels"][0],
        files["run"][0],
        MEASURES,
        qrels_format=files["qrels"][1],
        format=files["run"][1],
        check_ids=False,
    )
    assert dict(result) == dict(expected)
    assert result.by_query("nDCG@10") == expected.by_query("nDCG@10")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=collections())
def test_ranks_alone_give_the_same_values(tmp_path, data):
    qrels, run = data
    source = write(tmp_path / "run.json", run)
    done = convert_file(source, tmp_path / "out", target_format="msmarco", force=True)
    assert "the scores are not kept" in done.notes[0]
    values = cranfield.evaluate(qrels, tmp_path / "out", MEASURES, format="msmarco", check_ids=False)
    assert dict(values) == dict(cranfield.evaluate(qrels, run, MEASURES, check_ids=False))
    convert_file(tmp_path / "out", tmp_path / "out", format="msmarco", target_format="trec", role="run", force=True)
    again = cranfield.evaluate(qrels, tmp_path / "out", MEASURES, format="trec", check_ids=False)
    assert dict(again) == dict(values)


@pytest.mark.parametrize(("one", "other"), list(itertools.permutations(FORMATS, 2)))
def test_every_format_to_every_other(tmp_path, one, other):
    source = write(tmp_path / "qrels.txt", QRELS)
    convert_file(source, tmp_path / "one", target_format=one)
    convert_file(tmp_path / "one", tmp_path / "other", format=one, target_format=other, role="qrels")
    judged = cranfield.Judgments.read(tmp_path / "other", reading(other))
    assert judged.by_query == {"1": {"a": 2.0, "b": 0.5}, "2": {"a": -1.0}}


def test_written_text(tmp_path):
    source = write(tmp_path / "my.run", RUN)
    written = {}
    for format in ("trec", "msmarco", "csv", "tsv", "json", "jsonl"):
        convert_file(source, tmp_path / "out", target_format=format, force=True)
        written[format] = (tmp_path / "out").read_text()
    assert written["trec"] == "1 Q0 b 1 2.5 mine\n1 Q0 a 2 2.50 mine\n2 Q0 a 1 1e-3 mine\n"
    assert written["msmarco"] == "1\tb\t1\n1\ta\t2\n2\ta\t1\n"
    assert written["csv"] == "query_id,doc_id,score\n1,a,2.50\n1,b,2.5\n2,a,1e-3\n"
    assert written["tsv"] == "query_id\tdoc_id\tscore\n1\ta\t2.50\n1\tb\t2.5\n2\ta\t1e-3\n"
    assert written["json"] == '{\n"1": {"a": 2.50, "b": 2.5},\n"2": {"a": 1e-3}\n}\n'
    assert written["jsonl"].splitlines()[0] == '{"query_id": "1", "doc_id": "a", "score": 2.50}'
    convert_file(write(tmp_path / "qrels", QRELS), tmp_path / "out", target_format="beir", force=True)
    assert (tmp_path / "out").read_text() == "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0.5\n2\ta\t-1\n"
    convert_file(tmp_path / "qrels", tmp_path / "out", target_format="msmarco", force=True)
    assert (tmp_path / "out").read_text() == "1\t0\ta\t2\n1\t0\tb\t0.5\n2\t0\ta\t-1\n"


def test_odd_numbers_become_json(tmp_path):
    source = write(tmp_path / "odd.run", b"1 Q0 a 1 +1.5 t\n1 Q0 b 2 .5 t\n1 Q0 c 3 007 t\n1 Q0 d 4 -2. t\n")
    convert_file(source, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == {"1": {"a": 1.5, "b": 0.5, "c": 7, "d": -2}}


def notes(tmp_path, source, content, target, **options):
    return list(convert_file(write(tmp_path / source, content), tmp_path / target, force=True, **options).notes)


def test_losses_are_reported(tmp_path):
    no_name = "the name of the run is not kept: 'mine'."
    no_rank = "the rank column is not kept; ranks follow from the scores."
    moved = "the lines of 1 query were put in the order of their scores."
    renumbered = "the ranks of 1 query were recalculated from the scores."
    made = "there are ranks but no scores; minus the rank was written as the score."
    assert notes(tmp_path, "a.run", RUN, "out.csv") == [no_name, no_rank]
    assert notes(tmp_path, "a.run", RUN, "out.run") == [moved, renumbered]
    assert notes(tmp_path, "a.run", RUN, "out.run", name="you") == ["the run is now called 'you'.", moved, renumbered]
    straight = b"1 Q0 b 1 3 mine\n1 Q0 a 2 2 mine\n"
    assert notes(tmp_path, "b.run", straight, "out.run") == []
    assert notes(tmp_path, "ranks.run", b"1 a 1\n1 b 2\n", "out.run") == [made]
    assert (tmp_path / "out.run").read_text() == "1 Q0 a 1 -1 ranks\n1 Q0 b 2 -2 ranks\n"
    assert notes(tmp_path, "ranks.run", b"1 a 1\n1 b 2\n", "out.json") == [made]
    assert notes(tmp_path, "ranks.run", b"1 a 1\n1 b 2\n", "out.csv") == []
    assert (tmp_path / "out.csv").read_text() == "query_id,doc_id,rank\n1,a,1\n1,b,2\n"
    groups = b"1 1 a 1\n1 2 a 0\n"
    assert notes(tmp_path, "qrels", groups, "out.tsv") == []
    assert (tmp_path / "out.tsv").read_text().splitlines()[1:] == ["1\t1\ta\t1", "1\t2\ta\t0"]
    assert notes(tmp_path, "qrels", groups, "out.beir", target_format="beir") == [
        "the second column, of subtopics or judges, is not kept: beir has no place for it."
    ]
    assert notes(tmp_path, "run.csv", b"qid,docno,score,text\n1,a,2,hello\n", "out.json") == [
        "columns that are not kept: text."
    ]
    assert notes(tmp_path, "run.json", {"1": {"a": 1}, "2": {}}, "out.csv") == [
        "queries without documents are not kept: 1."
    ]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet", "trec"])
def test_groups_survive_conversion(tmp_path, format):
    source = write(tmp_path / "qrels", b"1 1 a 1\n1 2 a 0\n1 2 b 1\n")
    convert_file(source, tmp_path / "out", target_format=format)
    measures = "alpha_nDCG@10"
    run = {"1": {"b": 2, "a": 1}}
    expected = cranfield.evaluate(source, run, measures)
    assert dict(cranfield.evaluate(tmp_path / "out", run, measures, qrels_format=format)) == dict(expected)
    convert_file(tmp_path / "out", tmp_path / "back", format=format, target_format="trec", role="qrels")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()


def test_scattered_rows_are_grouped_by_query(tmp_path):
    lines = [f"{query} Q0 d{document} 0 {document} t\n" for document in range(3000) for query in range(20)]
    source = write(tmp_path / "scattered.run", "".join(lines).encode())
    assert convert_file(source, tmp_path / "out.run").rows == 60000
    rows = [line.split() for line in (tmp_path / "out.run").read_text().splitlines()]
    assert len(list(itertools.groupby(rows, lambda row: row[0]))) == 20
    assert all(row[3] == str(at % 3000 + 1) for at, row in enumerate(rows))
    convert_file(source, tmp_path / "out.jsonl")
    convert_file(tmp_path / "out.jsonl", tmp_path / "out.json", role="run")
    content = json.loads((tmp_path / "out.json").read_text())
    assert len(content) == 20
    assert content["7"] == {f"d{document}": document for document in range(3000)}


@pytest.mark.parametrize(
    ("extension", "undo"),
    [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress), (".zst", None)],
)
def test_compressed_targets_can_be_read_back(tmp_path, extension, undo):
    if undo is None:
        pytest.importorskip("zstandard")
    source = write(tmp_path / "a.run", RUN)
    for name in ("out.csv", "out.parquet"):
        convert_file(source, tmp_path / f"{name}{extension}")
        convert_file(tmp_path / f"{name}{extension}", tmp_path / "back.csv", role="run", force=True)
        assert "1,a,2.5" in (tmp_path / "back.csv").read_text()
    if undo:
        assert undo((tmp_path / f"out.csv{extension}").read_bytes()).startswith(b"query_id,doc_id,score\n1,a,2.50\n")


@pytest.mark.parametrize(
    ("name", "content", "role"),
    [
        ("x", RUN, "run"),
        ("x", QRELS, "qrels"),
        ("x", b"1\ta\t1\n1\tb\t2\n", "run"),
        ("x.csv", b"query_id,doc_id,relevance\n1,a,1\n", "qrels"),
        ("x.csv", b"query_id,doc_id,rank\n1,a,1\n", "run"),
        ("x.jsonl", b'{"qid": "1", "docno": "a", "similarity": 1}\n', "run"),
        ("x.jsonl", b'{"qid": "1", "docno": "a", "label": 1}\n', "qrels"),
        ("qrels.json", b'{"1": {"a": 1}}', "qrels"),
        ("my-run.json", b'{"1": {"a": 1}}', "run"),
        ("x.run", b'{"1": {"a": 1}}', "run"),
        ("qrels/test.tsv", b"query-id\tcorpus-id\tscore\n1\ta\t1\n", "qrels"),
    ],
)
def test_roles_are_detected(tmp_path, name, content, role):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    assert convert_file(write(tmp_path / name, content), tmp_path / "out.csv").role == role


def test_ambiguous_and_impossible_conversions_are_an_error(tmp_path):
    source = write(tmp_path / "x.json", b'{"1": {"a": 1}}')
    with pytest.raises(InputError, match=r"these may be judgments or a run(.|\n)*Hint: add role='qrels' or 'run'"):
        convert_file(source, tmp_path / "out.csv")
    assert convert_file(source, tmp_path / "out.csv", role="qrels").rows == 1
    with pytest.raises(
        OutputError, match=r"the extension '.xyz' is not that of a known format\.\nHint: give target_format: trec"
    ):
        convert_file(source, tmp_path / "out.xyz")
    with pytest.raises(OutputError, match="its format must be given"):
        convert_file(source, "-")
    with pytest.raises(OutputError, match="beir is a format of judgments"):
        convert_file(source, tmp_path / "out", target_format="beir", role="run")
    with pytest.raises(OutputError, match="only runs in the format trec have a name"):
        convert_file(source, tmp_path / "x.csv", role="run", name="me")
    with pytest.raises(OutputError, match="'a b' is not a name for a run"):
        convert_file(source, tmp_path / "x.run", role="run", name="a b")
    with pytest.raises(InputError, match=r"x.tsv:2: the third column says 3 where rank 2 is expected"):
        convert_file(write(tmp_path / "x.tsv", b"1\ta\t1\n1\tb\t3\n"), tmp_path / "out2.csv")
    with pytest.raises(InputError, match=r"appears twice for query '1', which json cannot store"):
        convert_file(write(tmp_path / "twice.run", b"1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n"), tmp_path / "out.json")
    with pytest.raises(InputError, match="5 columns, like preferences"):
        convert_file(write(tmp_path / "prefs", b"1 0 0 a 1\n"), tmp_path / "out3.csv")


def test_a_failure_leaves_files_as_they_were(tmp_path):
    source = write(tmp_path / "bad.run", RUN * 10000 + b"9 Q0 z 1 abc t\n")
    with pytest.raises(InputError, match=r"bad.run:30001: score 'abc' is not a number"):
        convert_file(source, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["bad.run"]
    good = write(tmp_path / "good.run", RUN)
    (tmp_path / "out.csv").write_text("precious")
    with pytest.raises(OutputError, match=r"out.csv: this file already exists\.\nHint: force=True replaces it"):
        convert_file(good, tmp_path / "out.csv")
    with pytest.raises(InputError, match="abc"):
        convert_file(source, tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_text() == "precious"
    convert_file(good, tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_text().startswith("query_id,")
    with pytest.raises(OutputError, match="cannot be written: no such file or directory"):
        convert_file(good, tmp_path / "none" / "out.csv")
    with pytest.raises(OutputError, match="this is a folder"):
        convert_file(good, tmp_path, target_format="csv", force=True)
    assert sorted(os.listdir(tmp_path)) == ["bad.run", "good.run", "out.csv"]


def test_an_interruption_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    source = write(tmp_path / "good.run", RUN)
    monkeypatch.setattr("cranfield.io.formats.csv.Csv.writer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_file(source, tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["good.run"]


def test_a_file_can_be_converted_in_place_through_a_link(tmp_path):
    source = write(tmp_path / "a.run", RUN)
    (tmp_path / "link.run").symlink_to(source)
    convert_file(source, tmp_path / "link.run", name="new", force=True)
    assert (tmp_path / "link.run").is_symlink()
    assert source.read_text().splitlines()[0] == "1 Q0 b 1 2.5 new"


def test_built_in_data_survive_conversion(tmp_path):
    data = Path(cranfield.__file__).parent / "data"
    expected = cranfield.evaluate(data / "qrels.txt", data / "keywords.run")
    for format in FORMATS:
        convert_file(data / "qrels.txt", tmp_path / "q", target_format=format, force=True)
        run_format = "tsv" if format == "beir" else format
        convert_file(data / "keywords.run", tmp_path / "r", target_format=run_format, force=True)
        options = {"qrels_format": reading(format), "format": run_format}
        assert dict(cranfield.evaluate(tmp_path / "q", tmp_path / "r", **options)) == dict(expected), format
