"""Each file is read only as often as a command needs it: complete readings are counted by file name."""

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from cranfield.cli.commands import program
from cranfield.ranks.judgments import Judgments
from cranfield.read.streams import Stream

QRELS, KEYWORDS, MEANING = RUNS = ("builtin:qrels", "builtin:keywords", "builtin:meaning")

PROJECT = """
collection = "builtin"
measures = ["nDCG@10", "RR"]
[systems.plain]
type = "sqlite"
[systems.tuned]
type = "sqlite"
tuned = true
"""


@pytest.fixture
def readings(monkeypatch):
    """How often each file was read from its first byte; reading only its head does not count."""
    counted = Counter()
    chunks, pieces = Stream.chunks, Stream.pieces

    def counted_chunks(stream):
        counted[Path(stream.name).name] += 1
        yield from chunks(stream)

    def counted_pieces(stream, *arguments, **options):
        counted[Path(stream.name).name] += 1
        yield from pieces(stream, *arguments, **options)

    monkeypatch.setattr(Stream, "chunks", counted_chunks)
    monkeypatch.setattr(Stream, "pieces", counted_pieces)
    return counted


@pytest.fixture
def parsed(monkeypatch):
    """All judgments that were made, from any source."""
    made = []
    build, read = Judgments.__init__, Judgments._read_natively.__func__

    def counted(judgments, *arguments, **options):
        made.append(judgments)
        build(judgments, *arguments, **options)

    def counted_read(kind, *arguments):
        found = read(kind, *arguments)
        made.extend([] if found is None else [found])
        return found

    monkeypatch.setattr(Judgments, "__init__", counted)
    monkeypatch.setattr(Judgments, "_read_natively", classmethod(counted_read))
    return made


def ran(*arguments):
    result = CliRunner().invoke(program, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    return result.output


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cranfield.toml").write_text(PROJECT)
    return tmp_path


def test_a_test_with_a_report_opens_its_collection_once(project, readings, parsed):
    text = ran("test", "--worst", "2", "--report", "page.html")
    assert text.count("the worst queries by nDCG@10") == 2
    assert "page.html" in text
    assert len(parsed) == 1
    assert {name: readings[name] for name in ("test.tsv", "queries.jsonl", "corpus.jsonl")} == {
        "test.tsv": 1,
        "queries.jsonl": 1,
        "corpus.jsonl": 1,
    }


def test_a_test_beside_accepted_values_opens_its_collection_once(project, readings, parsed):
    ran("test")
    ran("accept")
    readings.clear()
    parsed.clear()
    text = ran("test", "--report", "page.html")
    assert "since accepted" in text
    assert len(parsed) == 1
    assert {readings[name] for name in ("test.tsv", "queries.jsonl", "corpus.jsonl")} == {1}


def test_the_demonstration_opens_its_collection_once(readings, parsed):
    assert "tuned's worst queries" in ran("demo")
    assert len(parsed) == 1
    assert {readings[name] for name in ("test.tsv", "queries.jsonl", "corpus.jsonl")} == {1}


def test_a_report_reads_runs_again_only_for_the_rankings_it_shows(tmp_path, readings, parsed):
    # The queries to show are known only when all runs are measured, and measuring keeps no rankings. The verdict also
    # needs the unjudged documents, so the two runs are read once more.
    page = str(tmp_path / "page.html")
    ran("report", *RUNS, "--collection", "builtin", "-o", page)
    assert len(parsed) == 1
    assert readings == {QRELS: 1, KEYWORDS: 3, MEANING: 3, "queries.jsonl": 1, "corpus.jsonl": 1}
    readings.clear()
    ran("report", *RUNS, "--queries", "0", "--no-charts", "-o", page)
    assert readings == {QRELS: 1, KEYWORDS: 2, MEANING: 2}


def test_a_comparison_reads_runs_again_only_for_the_unjudged_documents_they_share(readings, parsed):
    ran("compare", *RUNS, "--no-bounds")
    assert len(parsed) == 1
    assert readings == {QRELS: 1, KEYWORDS: 1, MEANING: 1}
    readings.clear()
    ran("compare", *RUNS)
    assert len(parsed) == 2
    assert readings == {QRELS: 1, KEYWORDS: 2, MEANING: 2}


def test_an_evaluation_reads_each_file_once(readings, parsed):
    text = ran("evaluate", *RUNS, "--worst", "3", "--bounds", "-q")
    assert "3 worst queries" in text
    assert len(parsed) == 1
    assert readings == {QRELS: 1, KEYWORDS: 1, MEANING: 1}
