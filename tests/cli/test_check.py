"""`cranfield check`, as people run it."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

import cranfield
from tests.program import run

DATA = Path(cranfield.__file__).parent / "data"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    (tmp_path / "good.run").write_text("1 Q0 a 1 2 t\n2 Q0 c 1 1 t\n")
    (tmp_path / "short.run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    (tmp_path / "bad.run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 x t\n1 Q0 b 2 1 t\n2 Q0 c 1 1 t\n")
    (tmp_path / "cut.run.gz").write_bytes(b"\x1f\x8b\x08\0\0")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("good.run",), 0),
        (("good.run", "--strict"), 0),
        (("short.run",), 0),
        (("short.run", "--strict"), 1),
        (("bad.run",), 1),
        (("good.run", "bad.run"), 1),
        (("cut.run.gz",), 2),
        (("cut.run.gz", "bad.run"), 2),
        (("none.run",), 2),
        ((), 2),
        (("good.run", "--format", "yaml"), 2),
        (("good.run", "--run-format", "jsonl"), 1),
        (("good.run", "--qrels-format", "odd"), 2),
    ],
)
def test_exit_codes(files, arguments, code):
    done = run("check", "qrels", *arguments, cwd=files)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_all_problems_then_facts_then_advice(files):
    done = run("check", "qrels", "good.run", "bad.run", cwd=files)
    assert done.stdout.splitlines() == [
        "error: bad.run:2: score 'x' is not a number.",
        "    Hint: a line is: query Q0 document rank score name",
        "error: bad.run:3: document 'b' appears twice in the ranking of query '1', on",
        "    line 1 and here (2 and 1).",
        "    Hint: keep one of them; or evaluate with --duplicates first, last or best",
        "",
        "qrels",
        "  2 queries, 3 judgments; 1 to 2 (median 1.5) for a query, 1 relevant",
        "  grades: 0 (1), 1 (1), 2 (1)",
        "",
        "good.run",
        "  2 queries; 0 judged but not in the run, 0 not judged",
        "  2 documents; 1 for a query",
        "  judged: 100% of all retrieved",
        "  no equal scores",
        "  name: t",
        "",
        "bad.run",
        "  2 queries; 0 judged but not in the run, 0 not judged",
        "  3 documents; 1 to 2 (median 1.5) for a query",
        "  judged: 100% of all retrieved",
        "  no equal scores",
        "  name: t",
        "",
        "2 errors, 0 warnings.",
    ]
    assert done.stderr == ""
    clean = run("check", "qrels", "good.run", cwd=files).stdout
    assert clean.index("name: t") < clean.index("Measures") < clean.index("Beware") < clean.index("0 errors")


def test_json(files):
    done = run("check", "qrels", "short.run", "--format", "json", cwd=files)
    content = json.loads(done.stdout)
    assert [problem["kind"] for problem in content["problems"]] == ["missing-query"]
    assert (done.returncode, content["errors"], content["warnings"]) == (0, 0, 1)


def test_standard_input(files):
    done = run("check", "qrels", "-", cwd=files, input="1 Q0 a 1 x t\n2 Q0 c 1 1 t\n2 Q0 c 2 1 t\n1 Q0 a 3 0 t\n")
    assert "error: standard input:1: score 'x' is not a number." in done.stdout
    assert "error: standard input:3: document 'c' appears twice" in done.stdout
    assert done.returncode == 1
    clean = run("check", "qrels", "-", cwd=files, input="1 Q0 a 1 1 t\n2 Q0 c 1 1 t\n")
    assert clean.returncode == 0
    assert "Measures" in clean.stdout


def test_unreadable_judgments(files):
    done = run("check", "gone", "good.run", cwd=files)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cranfield: gone: cannot be read: no such file or directory.\n"
    swapped = run("check", "good.run", "qrels", cwd=files)
    assert swapped.returncode == 2
    assert "are the judgments and the run in the wrong order?" in swapped.stderr


@pytest.mark.parametrize("command", ["check", "convert"])
def test_the_examples_of_the_help_work(tmp_path, command):
    for file in DATA.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    shown = run(command, "--help").stdout
    examples = re.findall(rf"^ +cranfield ({command} .*)$", shown, re.M)
    assert examples
    for example in examples:
        done = run(*shlex.split(example), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert command in run("--help").stdout
