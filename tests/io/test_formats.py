"""A format is one file and one entry: everything else follows from it."""

import importlib
import io
import runpy

import pytest

import cranfield
from cranfield import InputError, OutputError, convert_file
from cranfield.io import formats
from cranfield.io.formats.delimited import DelimitedFormat
from tests.program import ROOT


class Piped(DelimitedFormat):
    """A table whose columns are separated by bars."""

    name = "piped"
    meaning = "a table with a header, separated by bars"
    extensions = (".piped",)
    separators = ("|",)


@pytest.fixture
def piped(monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "piped", Piped())


def test_a_new_format_is_read_and_written(piped, tmp_path):
    run = tmp_path / "mine.piped"
    run.write_text("query_id|doc_id|score\nq1|a b|2\nq1|c|1\n")
    result = cranfield.evaluate({"q1": {"c": 1}}, run, "RR")
    assert result["RR"] == 0.5
    assert result.run == "mine"
    convert_file(run, tmp_path / "mine.run.jsonl")
    convert_file(tmp_path / "mine.run.jsonl", tmp_path / "run.piped.gz")
    convert_file(tmp_path / "run.piped.gz", tmp_path / "again.piped")
    assert (tmp_path / "again.piped").read_text() == run.read_text()


def test_a_new_format_is_recognised_by_its_content(piped):
    run = io.BytesIO(b"query_id|doc_id|score\nq1|a b|2\nq1|c|1\n")
    assert cranfield.evaluate({"q1": {"c": 1}}, run, "RR")["RR"] == 0.5


def test_a_new_format_appears_in_errors(piped, tmp_path):
    with pytest.raises(InputError) as read:
        cranfield.evaluate({"q1": {"c": 1}}, io.BytesIO(b"q1 Q0 a 1 1 x\n"), "RR", format="xml")
    assert "piped" in read.value.hint
    with pytest.raises(OutputError) as written:
        convert_file("builtin:keywords", tmp_path / "mine.xml")
    assert ", piped" in written.value.hint


def test_a_new_format_appears_in_help(piped):
    from click.testing import CliRunner

    options = importlib.reload(importlib.import_module("cranfield.cli.input_options"))
    files = importlib.reload(importlib.import_module("cranfield.cli.files"))
    evaluate, systems = (importlib.import_module(f"cranfield.cli.{name}") for name in ("evaluate", "systems"))
    try:
        shown = CliRunner().invoke(files.convert, ["--help"]).output
        assert "or piped [from its" in " ".join(shown.split())
        for option, _ in options.FormatOptions.declared.values():
            assert "piped, if it" in option.attributes["help"]
        shown = CliRunner().invoke(importlib.reload(evaluate).command, ["--help"]).output
        assert "parquet, traces or piped" in " ".join(shown.split())
        shown = CliRunner().invoke(importlib.reload(systems).run, ["--help"]).output
        assert ".parquet or .piped" in " ".join(shown.split())
    finally:
        formats.FORMATS.pop("piped")
        for module in (options, files, evaluate, systems):
            importlib.reload(module)


@pytest.mark.parametrize("format", formats.FORMATS.values(), ids=lambda format: format.name)
def test_every_format_is_documented(format):
    assert format.meaning
    assert set(format.reads) | set(format.writes)
    assert f"| `{format.name}` | {format.meaning} |" in (ROOT / "docs" / "formats.md").read_text()


def test_a_new_format_appears_in_the_documentation(piped):
    tables = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))
    assert "| `piped` | a table with a header, separated by bars | `.piped` |" in tables["filled"](
        "<!-- table: formats -->\n<!-- end -->"
    )
