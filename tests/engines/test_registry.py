"""Every list of engines is made from the registry, and only an engine's own file compares with its name."""

import runpy
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import InputError
from cranfield.cli.evaluate import command
from cranfield.engines import registry, sources
from cranfield.engines.polars import Polars
from cranfield.engines.protocol import EngineSetting
from tests.engines.conftest import arrow
from tests.pages import ROOT


class Beads:
    """A frame of the engine below."""


@pytest.fixture
def abacus(monkeypatch):
    polars = pytest.importorskip("polars")
    scanned = []

    class Abacus(Polars):
        name = "abacus"
        title = "Abacus"
        takes = "a frame of beads"
        memory = "what ten fingers hold"
        package = "wood"
        settings: ClassVar = {"rows": EngineSetting("N", "How many rows of beads.")}
        frames = frozenset({(Beads.__module__.partition(".")[0], "Beads")})

        @classmethod
        def scan(cls, files, partitions, beside, **settings):
            scanned.append(settings)
            return polars.scan_parquet(files)

    monkeypatch.setattr(registry, "ENGINES", dict(registry.ENGINES))
    registry.register(Abacus)
    return scanned


@pytest.fixture
def files(tmp_path):
    pa.parquet.write_table(arrow([("q", "a", 1.0)]), tmp_path / "run.parquet")
    pa.parquet.write_table(arrow([("q", "a", 1)], names=("query_id", "doc_id", "grade")), tmp_path / "qrels.parquet")
    return [str(tmp_path / name) for name in ("qrels.parquet", "run.parquet")]


def table():
    return runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))["filled"]("<!-- table: engines -->\n<!-- end -->")


@pytest.mark.usefixtures("abacus")
def test_the_command_line_offers_a_new_engine():
    done = CliRunner().invoke(command, ["--help"], terminal_width=200).stdout
    assert "Let duckdb, polars, spark or abacus read Parquet" in done
    assert "Let duckdb, polars, spark or abacus read Parquet" in done
    assert "--abacus-rows N" in done
    assert "How many rows of beads." in done
    refused = CliRunner().invoke(command, ["qrels", "run", "--engine", "slide-rule"])
    assert refused.exit_code == 2
    assert "'duckdb', 'polars', 'spark', 'abacus'" in refused.stderr


def test_the_command_line_uses_a_new_engine(abacus, files):
    done = CliRunner().invoke(command, [*files, "-m", "RR", "--engine", "abacus", "--abacus-rows", "7"])
    assert done.exit_code == 0, done.output
    assert "1.0000" in done.stdout
    assert {"rows": "7"} in abacus
    done = CliRunner().invoke(command, [*files, "--engine", "polars", "--abacus-rows", "7"])
    assert "--abacus-rows needs --engine abacus." in done.stderr


@pytest.mark.usefixtures("abacus")
def test_functions_use_a_new_engine(files):
    assert cranfield.evaluate(*files, "RR", engine="abacus")["RR"] == 1
    assert cranfield.evaluate_lazily(*files, "RR", engine="abacus")["RR"] == 1


@pytest.mark.usefixtures("abacus")
def test_errors_name_a_new_engine(files):
    with pytest.raises(InputError, match=r"no engine 'slide rule'.\nHint: engines are duckdb, polars, spark, abacus"):
        cranfield.evaluate(*files, engine="slide rule")
    with pytest.raises(InputError, match=r"or a frame of beads; or .* engine='duckdb', 'polars', 'spark' or 'abacus'"):
        cranfield.evaluate_lazily({"q": {"a": 1}}, {"q": ["a"]})


def test_frames_of_a_new_engine_are_recognised(abacus):
    assert sources.is_lazy(Beads())
    assert registry.engine_of(Beads(), "the run").name == "abacus"


def test_frames_of_no_engine():
    assert not sources.is_lazy(Beads())
    with pytest.raises(InputError, match=r"the run: no engine can read a tests.Beads.\nHint: give a DuckDB"):
        registry.engine_of(Beads(), "the run")


def test_an_engine_that_opens_no_files(files):
    pytest.importorskip("ibis")
    with pytest.raises(
        cranfield.CranfieldError, match=r"ibis cannot open files .*\nHint: open .* and give an Ibis table"
    ):
        cranfield.evaluate(*files, engine="ibis")


@pytest.mark.usefixtures("abacus")
def test_the_documentation_lists_a_new_engine():
    row = "| Abacus | a frame of beads | `abacus` | `pip install 'cranfield[frames]' wood` | what ten fingers hold |"
    assert row in table()


def test_the_page_is_current():
    assert table() in (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
