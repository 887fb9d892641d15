"""A significance test is one file and one entry: command line, help, gate, errors and documentation follow from it."""

import importlib
import runpy

import numpy as np
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import ComparisonError
from cranfield.comparison import multiple_testing, significance
from cranfield.comparison.significance.test import Outcome, Test
from tests.program import ROOT

RUNS = {"one": {"1": ["b", "a"], "2": ["b", "a"]}, "two": {"1": ["a"], "2": ["a"]}}
QRELS = {"1": {"a": 1}, "2": {"a": 1}}


class Certain(Test):
    """Every difference is beyond doubt."""

    def outcome(self, columns, settings):
        means = columns.values.mean(axis=0)
        none = np.zeros(len(means))
        return Outcome(none, none + 1, none, means, [None] * len(none))

    def interval(self, columns, alpha, settings):
        means = columns.values.mean(axis=0)
        return means, means


@pytest.fixture
def certain(monkeypatch):
    test = Certain("certain", "certainty", "for those who do not doubt")
    monkeypatch.setitem(significance.TESTS, "certain", test)


def test_a_new_test_is_used_and_named(certain):
    found = cranfield.compare(QRELS, RUNS, "RR", test="certain")
    assert found.differences[0].significant
    assert found.differences[0].p == 0
    with pytest.raises(ComparisonError) as caught:
        cranfield.compare(QRELS, RUNS, "RR", test="unheard")
    assert caught.value.hint.endswith(", certain")


def test_a_new_test_appears_in_help_and_documentation(certain, monkeypatch):
    gating = importlib.import_module("cranfield.comparison.gating")
    monkeypatch.setattr(gating, "GATE_TESTS", (*gating.GATE_TESTS, "certain"))
    commands = [importlib.import_module(f"cranfield.cli.{name}") for name in ("compare", "gate")]
    for command in commands:
        shown = " ".join(CliRunner().invoke(importlib.reload(command).command, ["--help"]).output.split())
        assert "or certain [t]." in shown
    filled = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))["filled"]
    assert "| `certain` | certainty: for those who do not doubt |" in filled("<!-- table: tests -->\n<!-- end -->")
    monkeypatch.undo()
    for command in commands:
        importlib.reload(command)


def test_a_new_correction_is_one_entry(monkeypatch):
    lax = multiple_testing.Correction("half of each", lambda p: p / 2, False)
    monkeypatch.setitem(multiple_testing.CORRECTIONS, "half", lax)
    found = cranfield.compare(QRELS, {**RUNS, "three": {"1": ["a"]}}, "RR", test="sign", correction="half")
    assert all(each.adjusted == each.p / 2 for each in found.differences)
    with pytest.raises(ComparisonError) as caught:
        cranfield.compare(QRELS, RUNS, "RR", correction="unheard")
    assert caught.value.hint.endswith(", half")
    commands = [importlib.import_module(f"cranfield.cli.{name}") for name in ("compare", "gate")]
    for command in commands:
        shown = " ".join(CliRunner().invoke(importlib.reload(command).command, ["--help"]).output.split())
        assert "or half [" in shown
    monkeypatch.undo()
    for command in commands:
        importlib.reload(command)
