"""cranfield run, on a terminal and when it is interrupted."""

import os
import signal
import subprocess
import sys

import pytest

from tests.waiting import LIMIT, until

PROGRAM = [sys.executable, "-c", "from cranfield.cli.main import main; main()", "run"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal and signals")

ENGINE = """
import time
def search(query, k):
    time.sleep(0.02)
    if query == "bad":
        raise RuntimeError("no index")
    return [query]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slow_engine_under_test.py").write_text(ENGINE)
    lines = [f"{n}\ttext-{n}\n" for n in range(60)]
    (tmp_path / "queries.tsv").write_text("".join([*lines, "x\tbad\n"]))
    return tmp_path


def command(*more):
    return [*PROGRAM, "slow_engine_under_test:search", "queries.tsv", "-o", "out.run", *more]


def test_progress_is_shown_on_a_terminal(folder):
    import pty

    (folder / "slow_engine_under_test.py").write_text(ENGINE.replace("0.02", "0.1"))
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command("--jobs", "4"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(slave)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # the program has closed its end
        pass
    finally:
        os.close(master)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert b"60 of 61 queries answered by search" in output
    assert b" of 61, " in shown
    assert b"/s, " in shown
    assert shown.endswith(b"\r")  # the line is cleared at the end


def test_no_progress_is_shown_without_a_terminal(folder):
    done = subprocess.run(command("--jobs", "8"), cwd=folder, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "out.run: 60 of 61 queries answered by search"


def test_an_interrupted_run_keeps_its_answers_and_can_be_resumed(folder):
    (folder / "slow_engine_under_test.py").write_text(ENGINE.replace("0.02", "0.1"))
    process = subprocess.Popen(command("--jobs", "2"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    partial = folder / "out.run.partial"
    until(lambda: partial.exists() and partial.read_bytes().count(b"\n") > 5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    kept = partial.read_bytes().count(b"\n") - 1
    assert 5 <= kept < 61
    (folder / "slow_engine_under_test.py").write_text(ENGINE.replace('"bad"', '"never"'))
    done = subprocess.run(command("--resume", "--jobs", "8"), cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert len((folder / "out.run").read_text().splitlines()) == 61
