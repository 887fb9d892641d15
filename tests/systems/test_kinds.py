"""A kind of system is one module and one entry: settings, errors, help and documentation follow from it."""

import importlib
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import cranfield
from cranfield import InputError, open_system
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems import opening, presets
from cranfield.systems.answers import falling

TABLES = Path(cranfield.__file__).parents[2] / "docs" / "site" / "tables.py"


class ParrotSearch:
    """Finds the words of the query."""

    name = "parrot"
    needs_k = True

    def search(self, query, k):
        return falling([(word, 1.0) for word in query.split()[:k]])

    def close(self):
        pass


@pytest.fixture
def parrot(monkeypatch):
    home = ModuleType("cranfield.systems.parrot")
    home.SETTINGS = {"loud": TomlSetting(bool, "whether it can be heard", "false")}
    home.open_type = lambda kind, settings, name, secrets, collection: ParrotSearch()
    monkeypatch.setitem(sys.modules, "cranfield.systems.parrot", home)
    short = {"parrot": {}, "parrot:loud": {"loud": True}}
    monkeypatch.setitem(opening.KINDS, "parrot", opening.SystemKind("parrot", "repeats the query", short=short))


@pytest.mark.usefixtures("parrot")
def test_a_new_kind_is_opened():
    for what in ("parrot", "parrot:loud", {"type": "parrot", "loud": True}):
        assert [document for document, _ in open_system(what).search("who is it", 2)] == ["who", "is"]


@pytest.mark.usefixtures("parrot")
def test_a_new_kind_appears_in_errors_help_and_documentation(monkeypatch):
    with pytest.raises(InputError) as unknown:
        open_system({"type": "crow"})
    assert unknown.value.hint.endswith(", parrot")
    with pytest.raises(InputError) as none:
        open_system("crow")
    assert "bm25s, wordllama, parrot" in none.value.hint
    command = importlib.import_module("cranfield.cli.systems")
    shown = " ".join(CliRunner().invoke(importlib.reload(command).run, ["--help"]).output.split())
    assert "bm25s, wordllama, parrot" in shown
    assert "that sqlite, bm25s, wordllama and parrot search" in shown
    filled = runpy.run_path(str(TABLES))["filled"]
    assert "| `parrot` | repeats the query | `parrot`, `parrot:loud` |" in filled(
        "<!-- table: systems -->\n<!-- end -->"
    )
    monkeypatch.undo()
    importlib.reload(command)


def test_a_new_preset_is_a_kind_and_appears_in_documentation(monkeypatch):
    crow = presets.Preset("Crow's caw", {"method": "GET", "params": {"caw": "{query}"}, "results": "caws", "id": "id"})
    monkeypatch.setitem(presets.PRESETS, "crow", crow)
    assert runpy.run_path(opening.__file__)["KINDS"]["crow"][:3] == ("http", "Crow's caw", {})
    search = importlib.import_module("cranfield.systems.http").open_type(
        "crow", {"url": "http://localhost/"}, "crow", Secrets("crow"), None
    )
    assert search.name == "crow"
    filled = runpy.run_path(str(TABLES))["filled"]
    assert '| `crow` | `GET`, `params = { caw = "{query}" }` |' in filled("<!-- table: presets -->\n<!-- end -->")
