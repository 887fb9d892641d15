"""Parquet files as a run: one file, a pattern, a folder with partitions, in every engine and from the command line."""

import re

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import cranfield
from cranfield.cli.evaluate import command
from cranfield.engines import spark as spark_engine
from tests.engines.conftest import WARNINGS_OF_SPARK, arrow
from tests.program import run as program

pytestmark = WARNINGS_OF_SPARK
QRELS = {"007": {"a": 1, "b": 0}, "7": {"a": 1, "c": 2}, "x": {"a": 1}}
ROWS = [("007", "a", 1.0), ("007", "b", 2.0), ("7", "a", 1.0), ("7", "c", 3.0), ("7", "d", 2.0)]
VALUES = {"007": 0.5, "7": 1.0, "x": 0.0}


@pytest.fixture(params=["polars", "duckdb", "spark"])
def engine(request):
    pytest.importorskip({"spark": "pyspark"}.get(request.param, request.param))
    if request.param == "spark":
        request.getfixturevalue("spark")
    return request.param


@pytest.fixture
def folder(tmp_path):
    """bm25/one.parquet and two.parquet; parted/query_id=…/part.parquet; qrels."""
    for name in ("bm25", "parted/query_id=007", "parted/query_id=7"):
        (tmp_path / name).mkdir(parents=True)
    pa.parquet.write_table(arrow(ROWS[:3]), tmp_path / "bm25/one.parquet")
    pa.parquet.write_table(arrow(ROWS[3:]), tmp_path / "bm25/two.parquet")
    pa.parquet.write_table(arrow(ROWS), tmp_path / "all.parquet")
    for query in ("007", "7"):
        rows = [row for row in ROWS if row[0] == query]
        pa.parquet.write_table(arrow(rows).drop(["query_id"]), tmp_path / f"parted/query_id={query}/part.parquet")
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, j in QRELS.items() for d, g in j.items()))
    return tmp_path


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("all.parquet", "all"),
        ("bm25/*.parquet", "bm25"),
        ("bm25", "bm25"),
        ("parted", "parted"),
        ("parted/*/part.parquet", "part"),
    ],
)
def test_paths(folder, engine, path, name):
    result = cranfield.evaluate(QRELS, folder / path, "RR", engine=engine)
    assert result.by_query("RR") == VALUES
    assert result.run == name


def test_a_folder_with_the_other_extensions_of_the_format(folder, engine):
    (folder / "bm25/one.parquet").rename(folder / "bm25/one.pq")
    assert cranfield.evaluate(QRELS, folder / "bm25", "RR", engine=engine).by_query("RR") == VALUES


def test_anything_but_parquet_files_is_refused(folder, engine):
    (folder / "text.parquet").write_text("this is not Parquet")
    with pytest.raises(cranfield.InputError, match=rf"text.*: the engine {engine} (failed|cannot read it) \("):
        cranfield.evaluate(QRELS, folder / "text.parquet", "RR", engine=engine)
    for path in ("none.parquet", "none/*.parquet"):
        with pytest.raises(cranfield.InputError, match="there is no such Parquet file"):
            cranfield.evaluate(QRELS, folder / path, "RR", engine=engine)
    with pytest.raises(cranfield.InputError, match="reads Parquet, not trec"):
        cranfield.evaluate(QRELS, folder / "qrels", "RR", engine=engine, format="trec")
    with pytest.raises(cranfield.InputError, match="needs the path of Parquet files, not a dict"):
        cranfield.evaluate(QRELS, {"7": ["a"]}, "RR", engine=engine)


def test_an_engine_that_does_not_exist(folder):
    with pytest.raises(cranfield.InputError, match=r"there is no engine 'abacus'.\nHint: engines are duckdb, polars"):
        cranfield.evaluate(QRELS, folder / "all.parquet", "RR", engine="abacus")


def test_a_library_that_is_not_installed(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        cranfield.MissingLibrary, match=r"the engine duckdb needs .*\n.*pip install 'cranfield\[duckdb\]'"
    ):
        cranfield.evaluate(QRELS, folder / "all.parquet", "RR", engine="duckdb")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_command_line(folder, engine):
    pytest.importorskip(engine)
    done = program("evaluate", "qrels", "bm25", "all.parquet", "-m", "RR", "--engine", engine, cwd=folder)
    assert done.stderr == ""
    assert re.match(r"run +RR\nbm25 +0.5000\*?\nall +0.5000", done.stdout)
    done = program("evaluate", "qrels", "none/*.parquet", "--engine", engine, cwd=folder)
    assert (done.returncode, done.stderr) == (2, "cranfield: none/*.parquet: there is no such Parquet file.\n")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_command_line_with_judgments_in_parquet(folder, engine):
    pytest.importorskip(engine)
    rows = [(query, document, grade) for query, judged in QRELS.items() for document, grade in judged.items()]
    (folder / "judged").mkdir()
    for number, some in enumerate((rows[:2], rows[2:])):
        table = arrow(some, names=("query_id", "doc_id", "grade"))
        pa.parquet.write_table(table, folder / f"judged/{number}.parquet")
    for qrels in ("judged", "judged/*.parquet"):
        done = program("evaluate", qrels, "bm25", "-m", "RR", "--engine", engine, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.match(r"run +RR\nbm25 +0.5000", done.stdout)
    done = program("evaluate", "judged/1.parquet", "bm25", "-m", "RR", "--engine", engine, cwd=folder)
    assert re.match(r"run +RR\nbm25 +0.5000", done.stdout)


def test_command_line_with_spark(folder, spark):
    arguments = [
        str(folder / "qrels"),
        str(folder / "bm25"),
        "-m",
        "RR",
        "--engine",
        "spark",
        "--spark-master",
        "local[1]",
    ]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert re.match(r"run +RR\nbm25 +0.5000", done.stdout)


def test_options_that_do_not_fit(folder):
    for arguments, fact in [
        (["--spark-master", "local[1]"], "--spark-master needs --engine spark"),
        (["--engine", "polars", "--names", "tag"], "--names tag needs TREC runs"),
        (["--engine", "polars", "--run-format", "csv"], "reads Parquet, not csv"),
    ]:
        done = program("evaluate", "qrels", "all.parquet", *arguments, cwd=folder)
        assert done.returncode == 2
        assert fact in done.stderr


def test_spark_without_java(monkeypatch):
    class Builder:
        pass

    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(cranfield.CranfieldError, match="needs Java"):
        spark_engine._started(Builder(), "local[*]")
