"""Arguments that come from scripts rather than people: each ends in a message that says what is wrong."""

import os
import subprocess
import sys

import pytest

import cranfield
from tests import program

HUGE = "9" * 20

OWN = """\
import sys
import cranfield, numpy as np
@cranfield.measure("Raises")
def raises(judged):
    raise RuntimeError("boom")
@cranfield.measure("Exits")
def exits(judged):
    sys.exit(0)
@cranfield.measure("Short")
def short(judged):
    return np.zeros(1)
@cranfield.measure("Nothing")
def nothing(judged):
    return None
@cranfield.measure("Word")
def word(judged):
    return "x"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n2 0 b 1\n")
    (tmp_path / "a.run").write_text("1 Q0 a 1 2 t\n2 Q0 x 1 2 t\n")
    (tmp_path / "b.run").write_text("1 Q0 x 1 2 t\n2 Q0 b 1 2 t\n")
    (tmp_path / "exits.py").write_text("import sys\n\nsys.exit(0)\n")
    (tmp_path / "syntax.py").write_text("x = 1\ndef (\n")
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "empty").mkdir()
    return tmp_path


def run(folder, arguments, **options):
    done = program.run(*arguments, cwd=folder, **options)
    assert "Traceback" not in done.stderr
    assert "unexpected error" not in done.stderr
    return done


@pytest.mark.fault("odd arguments", "A message, no traceback.")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate q a.run --import exits.py", "exits.py:3: SystemExit: 0."),
        ("evaluate q a.run --import syntax.py", "syntax.py:2: SyntaxError: invalid syntax."),
        ("measures --import exits.py", "exits.py:3: SystemExit: 0."),
        ("evaluate q a.run --import empty", "there is no such file"),
        ("evaluate q a.run --import own.py -m Raises", "Raises failed: RuntimeError: boom.\nHint: look at own.py:5\n"),
        ("evaluate q a.run --import own.py -m Exits", "Exits failed: SystemExit: 0.\nHint: look at own.py:8\n"),
        ("evaluate q a.run --import own.py -m Short", "Short gave values of the shape (1,) for 2 queries."),
        ("evaluate q a.run --import own.py -m Nothing", "Nothing gave values of the shape () for 2 queries."),
        ("evaluate q a.run --import own.py -m Word", "Word gave 'x' in place of a value for each query."),
        ("explain q a.run 1 --import own.py -m Raises", "Raises failed: RuntimeError: boom."),
        ("evaluate q a.run -o @", "--output: a file name is needed"),
        ("evaluate q a.run --save @", "--save: a file name is needed"),
        ("evaluate q a.run --by @", "--segments: a file name is needed"),
        ("evaluate q a.run --weights @", "--weights: a file name is needed"),
        ("report q a.run -o @", "--output: a file name is needed"),
        ("run sqlite builtin -o @", "--output: a file name is needed"),
        ("evaluate @ a.run", "cranfield: '': cannot be read: no such file or directory."),
        ("evaluate q @", "cranfield: '': cannot be read: no such file or directory."),
        ("convert a.run @", "cranfield: '': "),
        ("init @", "cranfield: '': there are no queries in it"),
        ("evaluate q empty", "there is no file in this folder"),
        ("evaluate q no*.run", "no file matches this pattern"),
        ("evaluate q a.run --by none", "none: cannot be read: no such file or directory."),
        (f"report q a.run -o x.html -k {HUGE}", "Hint: show 1 to 1,000 documents"),
        ("plot", "missing argument 'KIND'.\nHint: choose one of precision-recall, precision-recall-full, "),
        ("plot pie q a.run -o x.svg", "'pie' is not one of precision-recall, "),
        ("evaluate q - -", "standard input: - (standard input) is given twice, but can be read only once."),
        ("compare q - -", "standard input: - (standard input) is given twice, but can be read only once."),
        ("gate q - -", "standard input: - (standard input) is given twice, but can be read only once."),
    ],
)
def test_odd_arguments_end_in_a_message(folder, line, message):
    """@ stands for an empty argument."""
    done = run(folder, [word if word != "@" else "" for word in line.split(" ")], input="1 Q0 a 1 1 t\n")
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "line",
    [
        f"evaluate q a.run --worst {HUGE}",
        f"explain q a.run 1 -k {HUGE}",
        f"run sqlite builtin -o x.run -k {HUGE}",
        f"evaluate q a.run --depth {HUGE}",
        "evaluate q a.run a.run",
        "compare q a.run b.run --seed -1 --test bootstrap",
        f"compare q a.run b.run --seed {HUGE} --test randomisation",
        "compare q a.run b.run --seed -1 --test tukey",
        "stability q a.run --seed -1 --repeats 2",
    ],
)
def test_unusual_but_valid_arguments_are_accepted(folder, line):
    assert run(folder, line.split()).returncode == 0


def test_standard_output_holds_only_the_page(folder):
    done = run(folder, ["report", "q", "a.run", "-o", "-", "--no-charts"])
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
    assert "MB" in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
def test_a_read_error_is_reported(folder):
    done = run(folder, ["evaluate", "q", "/proc/self/mem"])
    assert done.returncode == 2
    assert done.stderr == "cranfield: /proc/self/mem: cannot be read: input/output error.\n"


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 5000])
def test_impossible_file_names_are_reported(name):
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    for read in (
        lambda: cranfield.evaluate(qrels, name),
        lambda: cranfield.evaluate(name, run),
        lambda: cranfield.explain(qrels, name, "q"),
        lambda: cranfield.compare(qrels, [name, run], "AP"),
        lambda: cranfield.gate(qrels, name, run, "AP"),
        lambda: cranfield.convert_file(name, "out.csv"),
    ):
        with pytest.raises(cranfield.InputError, match="cannot be read"):
            read()


@pytest.mark.skipif(os.name == "nt", reason="a name that Windows forbids")
def test_run_names_that_are_not_utf_8_are_escaped_in_files(folder):
    os.rename(folder / "a.run", os.fsencode(folder) + b"/n\xff.run")
    name = os.fsdecode(b"n\xff.run")
    assert run(folder, ["evaluate", "q", name, "--save", "saved.json"]).returncode == 0
    assert run(folder, ["report", "q", name, "-o", "page.html", "--no-charts"]).returncode == 0
    for file in ("saved.json", "page.html"):
        assert "udcff" in (folder / file).read_text("utf-8")
    assert cranfield.Evaluation.load(folder / "saved.json").run == r"n\udcff"


BROKEN = """\
import cranfield.evaluation.evaluating
def evaluate_runs(*_, **__):
    raise ZeroDivisionError("odd")
cranfield.evaluation.evaluating.evaluate_runs = evaluate_runs
from cranfield.cli.main import main
main()
"""


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_is_reported_and_debug_shows_the_traceback(folder, debug):
    """A defect of cranfield is reported as such, and --debug shows where it is."""
    command = [sys.executable, "-c", BROKEN, *["--debug"] * debug, "evaluate", "q", "a.run"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert "cranfield: unexpected error: ZeroDivisionError: odd\nHint: run it again as" in done.stderr
    assert ("Traceback" in done.stderr) == debug
