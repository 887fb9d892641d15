"""A measure's name is parsed only once, where it is given."""

from collections import Counter
from itertools import pairwise

import pytest

from cranfield.cli.commands import program
from cranfield.measures import syntax

RUNS = ["builtin:qrels", "builtin:keywords", "builtin:meaning"]
MEASURES = ["-m", "nDCG@10", "-m", "map", "-m", "P(rel=2)@5"]


@pytest.fixture
def parsed(monkeypatch):
    """How often each name has been parsed."""
    counted = Counter()
    read = syntax._parsed

    def counting(text, *registered):
        counted[text] += 1
        return read(text, *registered)

    monkeypatch.setattr(syntax, "_parsed", counting)
    return counted


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", *RUNS, *MEASURES],
        ["evaluate", *RUNS, *MEASURES, "-q", "--worst", "3", "--bounds"],
        ["evaluate", *RUNS, *MEASURES, "-q", "--worst", "3", "--bounds", "--format", "json"],
        ["evaluate", *RUNS, *MEASURES, "--format", "csv"],
        ["evaluate", *RUNS, *MEASURES, "--format", "latex"],
        ["compare", *RUNS, *MEASURES],
        ["compare", *RUNS, *MEASURES, "--format", "json"],
        ["compare", *RUNS, *MEASURES, "--format", "markdown", "-b", "builtin:keywords"],
        ["gate", *RUNS, *MEASURES],
        ["stability", *RUNS, *MEASURES, "--repeats", "1"],
        ["report", *RUNS, *MEASURES, "-o", "page.html"],
        ["plot", "difference", *RUNS, "-m", "map", "-o", "chart.json"],
    ],
    ids=lambda arguments: " ".join(each for each in arguments if each not in (*RUNS, *MEASURES)),
)
def test_each_name_is_parsed_once_in_a_whole_command(parsed, arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program(arguments, prog_name="cranfield", standalone_mode=False)
    named = [name for option, name in pairwise(arguments) if option == "-m"]
    assert {*named} <= {*parsed}
    assert dict(parsed) == dict.fromkeys(parsed, 1)
