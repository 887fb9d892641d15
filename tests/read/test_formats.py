"""A format is one file and one entry: everything else follows from it."""

import importlib
import io
import runpy

import pytest

import cranfield
from cranfield import InputError, OutputError, convert_file
from cranfield.read import formats
from cranfield.read.formats.delimited import DelimitedFormat
from tests.source import SOURCE, names_compared


class Piped(DelimitedFormat):
    """A table whose columns are separated by bars."""

    name = "piped"
    meaning = "a table with a header, separated by bars"
    extensions = (".piped",)
    separators = ("|",)


def _command_with(option):
    import click

    return click.command()(option(lambda **_: None))


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
    assert "|piped" in written.value.hint


def test_a_new_format_appears_in_help(piped):
    from click.testing import CliRunner

    options = importlib.reload(importlib.import_module("cranfield.cli.reading_options"))
    convert = importlib.reload(importlib.import_module("cranfield.cli.convert"))
    commands = [importlib.import_module(f"cranfield.cli.{name}") for name in ("evaluate", "run")]
    try:
        shown = CliRunner().invoke(convert.command, ["--help"]).output
        assert "|piped" in shown.replace("\n", "").replace(" ", "")
        for option in (options.RUN_FORMAT, options.QRELS_FORMAT):
            assert "piped, if it" in " ".join(CliRunner().invoke(_command_with(option), ["--help"]).output.split())
        shown = [CliRunner().invoke(importlib.reload(command).command, ["--help"]).output for command in commands]
        assert "parquet or piped." in " ".join(shown[0].split())
        assert ".parquet or .piped" in " ".join(shown[1].split())
    finally:
        formats.FORMATS.pop("piped")
        for module in (options, convert, *commands):
            importlib.reload(module)


@pytest.mark.parametrize("format", formats.FORMATS.values(), ids=lambda format: format.name)
def test_every_format_is_documented(format):
    assert format.meaning
    assert set(format.reads) | set(format.writes)
    assert f"| `{format.name}` | {format.meaning} |" in (SOURCE.parents[1] / "docs" / "formats.md").read_text()


def test_a_new_format_appears_in_the_documentation(piped):
    tables = runpy.run_path(str(SOURCE.parents[1] / "docs" / "site" / "tables.py"))
    assert "| `piped` | a table with a header, separated by bars | `.piped` |" in tables["filled"](
        "<!-- table: formats -->\n<!-- end -->"
    )


# Names and extensions of formats that mean something else: in these files, for this reason.
OTHER_MEANINGS = {
    "cli/": ("json jsonl csv", "what a command prints"),
    "show/": ("json jsonl csv", "what a command prints, and a kind of picture"),
    "comparison/unjudged.py": ("strata", "the judgments that a measure needs"),
    "evaluation/evaluating.py": ("strata", "the judgments that measures need"),
    "judging/deciding/decision.py": ("strata", "the judgments that a measure needs"),
    "measures/incomplete.py": ("trec", "a variant of a measure"),
    "measures/trec_eval_names.py": ("prefs", "the judgments that trec_eval's measures need"),
    "trec_eval/reading.py": ("prefs", "trec_eval's own name of its format"),
    "systems/query_files.py": (".json .csv .txt", "files of queries"),
}


def test_no_other_module_compares_with_the_name_or_extension_of_a_format():
    words = {word for format in formats.FORMATS.values() for word in (format.name, *format.extensions)}
    found = {each for each in names_compared(words) if not each[0].startswith("read/formats/")}
    allowed = {
        (path, word)
        for path, word in found
        for start, (known, _) in OTHER_MEANINGS.items()
        if path.startswith(start) and word in known.split()
    }
    assert found == allowed
    assert all(any(path.startswith(start) for path, _ in allowed) for start in OTHER_MEANINGS)
