"""Modules of `show` only show: none of them measures, tests or reads anything."""

import ast
import re
from pathlib import Path

import pytest

import cranfield.show

FOLDER = Path(cranfield.show.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))
# Functions and methods that measure, test, read or write.
FORBIDDEN = re.compile(
    r"evaluate\w*|open\w*|read\w*|write_\w+|compare\w*|gate|stability|reusability|first_documents|rankings_of|load|save\w*"
    r"|aggregate|combined|bounds|worst|by_segment|tie_range|extended"
    r"|precision_recall_curve|agreement|run_agreement|query_set_sizes"
)


def called(tree):
    """The names of all functions that are called, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            yield name, node.lineno


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_of_show_only_shows(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [f"line {line}: {name}()" for name, line in called(tree) if FORBIDDEN.fullmatch(name)] == []
    assert [name for name in imported(tree) if f"{name}.".startswith("cranfield.read.")] == []
    assert "cached_property" not in path.read_text(encoding="utf-8")


def test_the_rule_finds_forbidden_calls_and_imports():
    tree = ast.parse("evaluate_runs(a)\nresult.worst(3)\nfrom cranfield.read.source import open_source")
    assert [name for name, _ in called(tree) if FORBIDDEN.fullmatch(name)] == ["evaluate_runs", "worst"]
    assert list(imported(tree)) == ["cranfield.read.source"]
