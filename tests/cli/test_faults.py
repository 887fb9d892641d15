"""How the program behaves if its environment fails: a full disk, a closed stream, a reader that quits, Ctrl-C."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

from tests.program import run as program
from tests.waiting import LIMIT, until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")

PROGRAM = f"{sys.executable} -c 'from cranfield.cli.main import main; main()'"
TREC_EVAL = f"{sys.executable} -c 'from cranfield.cli.trec_eval import main; main()'"
# Each command, and its exit code if nothing goes wrong.
COMMANDS = {
    f"{PROGRAM} evaluate builtin:qrels builtin:keywords": 0,
    f"{PROGRAM} evaluate builtin:qrels builtin:keywords -q --format csv": 0,
    f"{PROGRAM} explain builtin:qrels builtin:keywords graded-relevance": 0,
    f"{PROGRAM} measures": 0,
    f"{PROGRAM} compare builtin:qrels builtin:keywords builtin:meaning": 0,
    f"{PROGRAM} gate builtin:qrels builtin:meaning builtin:keywords": 1,
    f"{PROGRAM} check builtin:qrels builtin:keywords": 0,
    f"{PROGRAM} convert builtin:qrels - --to beir": 0,
    f"{PROGRAM} demo": 0,
    f"{PROGRAM} completion bash": 0,
    f"{PROGRAM} --help": 0,
    f"{TREC_EVAL} -q qrels.txt a.run": 0,
    f"{TREC_EVAL} -h": 0,
}


@pytest.fixture
def shell(tmp_path):
    """Runs a command line in a folder with two files, and checks that no error is unexpected."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\n")

    def run(line, **settings):
        env = {**os.environ, "PYTHONUNBUFFERED": "", **settings}
        done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, cwd=tmp_path, timeout=LIMIT, env=env)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert b"unexpected error" not in done.stderr, done.stderr.decode()
        return done

    run.folder = tmp_path
    return run


@pytest.mark.parametrize("command", COMMANDS)
class TestEveryCommand:
    @pytest.mark.fault("every command with a full disk or closed streams", "One line says so; no traceback.")
    def test_unwritable_output_is_reported(self, shell, command):
        for fault, reason in ((">/dev/full", b"no space left on device"), (">&-", b"bad file descriptor")):
            done = shell(f"{command} {fault}")
            assert done.returncode == 2
            assert done.stderr.endswith(b": standard output: cannot be written: %s.\n" % reason)
            assert done.stderr.count(b"\n") == 1

    def test_a_reader_that_quits_does_not_change_the_exit_code(self, shell, command):
        """Nobody reads the rest, but the result stays the same: a gate that fails still fails."""
        done = shell(f"{command} | true; exit ${{PIPESTATUS[0]}}", PYTHONUNBUFFERED="1")
        assert (done.returncode, done.stderr) == (COMMANDS[command], b"")

    def test_closed_streams_and_limited_encodings_do_not_change_the_output(self, shell, command):
        """Standard input and error may be closed, and the encoding may lack characters."""
        name, words = ("cranfield-trec_eval", TREC_EVAL) if command.startswith(TREC_EVAL) else ("cranfield", PROGRAM)
        usual = program(*shlex.split(command.removeprefix(words)), program=name, cwd=shell.folder)
        assert usual.returncode == COMMANDS[command]
        closed = shell(f"{command} <&- 2>&-", PYTHONIOENCODING="ascii")  # ASCII is ignored: UTF-8 is printed
        assert (closed.returncode, closed.stdout.decode()) == (usual.returncode, usual.stdout)


COMPARE = f"{PROGRAM} compare builtin:qrels builtin:keywords builtin:meaning"


def test_several_faults_at_once(shell):
    evaluate = f"{PROGRAM} evaluate builtin:qrels builtin:keywords builtin:meaning"
    for faults in (">/dev/full 2>/dev/full", "<&- >&- 2>&-", ">/dev/full 2>&-"):
        assert shell(f"{evaluate} {faults}").returncode == 2
    assert shell(f"{COMPARE} | true; exit ${{PIPESTATUS[0]}}").returncode == 0  # the pipe breaks at the very end


def test_encodings(shell):
    usual = shell(COMPARE)
    assert "▲".encode() in usual.stdout
    bare = shell(COMPARE, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert (bare.returncode, bare.stdout) == (0, usual.stdout)
    narrow = shell(COMPARE, PYTHONIOENCODING="latin-1:strict")
    assert (narrow.returncode, narrow.stdout.count(b"\n")) == (0, usual.stdout.count(b"\n"))
    assert rb"\u25b2" in narrow.stdout


def test_data_is_utf_8_whatever_the_encoding(shell, tmp_path):
    (tmp_path / "данные.run").write_text("q1 Q0 a 1 2 t\n")
    for form in ("csv", "tsv", "json", "jsonl"):
        done = shell(f"{PROGRAM} evaluate qrels.txt данные.run --format {form}", PYTHONIOENCODING="latin-1")
        assert "данные" in done.stdout.decode("utf-8")


def test_closed_standard_input_is_reported(shell):
    for command in (
        f"{PROGRAM} evaluate qrels.txt -",
        f"{TREC_EVAL} qrels.txt -",
        f"{PROGRAM} convert - x.csv --from trec",
    ):
        done = shell(f"{command} <&-")
        assert done.returncode == 2
        assert b"standard input: cannot be read: bad file descriptor." in done.stderr


def test_a_file_does_not_take_the_place_of_a_closed_stream(shell, tmp_path):
    """The first file that is opened gets the lowest free descriptor."""
    assert shell(f"{PROGRAM} evaluate qrels.txt a.run -o out.txt <&- >&- 2>&-").returncode == 0
    assert b"nDCG@10" in (tmp_path / "out.txt").read_bytes()


@pytest.mark.parametrize(
    "command", ["evaluate qrels.txt {}", "evaluate {} a.run", "check {} a.run", "report {} a.run -o x"]
)
def test_names_that_are_not_utf_8_are_escaped_in_messages(shell, command):
    done = shell(f"{PROGRAM} {command}".replace("{}", r"$'no\xff\xe9.run'"))
    assert done.returncode == 2
    assert rb"no\udcff\udce9.run" in done.stderr + done.stdout


def test_run_names_that_are_not_utf_8_are_escaped_in_output(shell, tmp_path):
    os.rename(tmp_path / "a.run", os.fsencode(tmp_path) + b"/n\xff.run")
    for form in ("text", "csv", "json", "markdown", "latex"):
        done = shell(f"{PROGRAM} evaluate qrels.txt n*.run --format {form}")
        assert done.returncode == 0
        assert b"udcff" in done.stdout


def interrupted(command, folder, started, **options):
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **options)
    try:
        until(started.exists, "it did not start")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT)
        return process.returncode, errors.decode().strip()  # click ends the line of ^C
    finally:
        process.kill()
        process.communicate()


SLOW = "import pathlib, time; pathlib.Path('started').touch(); time.sleep(60)"


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_while_libraries_are_imported(tmp_path, module):
    (tmp_path / f"{module}.py").write_text(SLOW)
    run = "from cranfield.cli.main import main; main()"
    command = [sys.executable, "-c", run, "evaluate", "builtin:qrels", "builtin:keywords"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert interrupted(command, tmp_path, tmp_path / "started", env=env) == (130, "")


def test_ctrl_c_while_an_imported_file_runs(tmp_path):
    (tmp_path / "own.py").write_text(SLOW)
    run = "from cranfield.cli.main import main; main()"
    command = [sys.executable, "-c", run, "evaluate", "builtin:qrels", "builtin:keywords", "--import", "own.py"]
    assert interrupted(command, tmp_path, tmp_path / "started") == (130, "")


def test_ctrl_c_while_output_is_not_read(tmp_path):
    """At the end the program flushes its output, which blocks while nobody reads it."""
    run = (
        "import pathlib, sys; from cranfield.cli import process; process.start(); "
        "process.run('cranfield', lambda: (pathlib.Path('started').touch(), sys.stdout.write('x' * 1_000_000), 0)[2])"
    )
    assert interrupted([sys.executable, "-c", run], tmp_path, tmp_path / "started") == (130, "")
