"""Every command explains itself, and its example works as typed, anywhere."""

import re
import subprocess

import pytest

import cranfield
from cranfield.cli.commands import COMMANDS
from cranfield.cli.options import SECTIONS
from tests.program import run, shims


def examples(command):
    """The example commands in the help of a command."""
    text = re.sub(r" \\\n +", " ", run(command, "--help").stdout)
    return re.findall(r"^ +((?:eval \"\$\()?cranfield .*)$", text.partition("Example")[2], flags=re.MULTILINE)


def test_the_program_lists_its_commands():
    shown = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", shown, flags=re.MULTILINE), command
    alone = run()
    assert (alone.returncode, alone.stdout, alone.stderr) == (2, "", shown)


def test_commands_are_shown_in_groups():
    groups = re.findall(r"^(\w[\w ]*):$", run("--help").stdout, flags=re.MULTILINE)
    assert groups == ["Measure", "Compare", "Mix", "Judge", "Live systems", "Files", "Options"]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "trec_eval"])
def test_options_are_shown_in_groups(command):
    groups = re.findall(r"^(\w[\w ]*):$", run(command, "--help").stdout, flags=re.MULTILINE)
    assert groups == [section for section in SECTIONS if section in groups]
    assert groups[-1] == "Help"


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in ("demo", "trec_eval", "judge")]
)  # see test_judge.py
def test_examples_work_as_typed(command, tmp_path):
    lines = examples(command)
    assert lines
    if command == "agreement":
        judged_twice(tmp_path)
    if command == "sample":
        (tmp_path / "searches.tsv").write_text("time\tquery\n10:00\tred shoes\n10:01\tlamp\n")
    (tmp_path / "tasks.qrels").write_text("t 0 a 1\n")
    (tmp_path / "traces.jsonl").write_text('{"task": "t", "step": 1, "doc_id": "a", "rank": 1}\n')
    rows = "".join(f"ann,item{time},{time}\n" for time in range(4))
    (tmp_path / "ratings.csv").write_text(f"user_id,item_id,timestamp\n{rows}")
    if command == "mcp":
        pytest.importorskip("mcp.server.mcpserver", reason="needs mcp 2")
    for line in lines:
        typed = re.sub(r"\bcranfield (?=[a-z])", f"'{shims() / 'cranfield'}' ", line)
        done = subprocess.run(["bash", "-c", typed], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout or done.stderr or "eval" in line or "-o" in line or command == "mcp"
        assert done.stderr == "" or command == "convert"  # convert reports what the other format cannot store


def judged_twice(folder):
    """The store and the runs that the examples use."""
    pytest.importorskip("sqlalchemy")
    (folder / "runs").mkdir()
    for name in ("keywords", "meaning"):
        cranfield.convert_file(f"builtin:{name}", folder / "runs" / f"{name}.run")
    with cranfield.open_store(folder / "judgments.db", create=True) as store:
        for assessor in ("ann", "bob"):
            store.import_qrels("builtin:qrels", assessor)
        for number in range(3):
            store.judge(f"q{number}", "rbo", number, assessor="cy")
            store.judge(f"q{number}", "rbo", 1, assessor="small", kind="model")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns(command):
    shown = run(command, "--help").stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("demo", "trec_eval")])
def test_several_examples_are_called_examples(command):
    assert (len(examples(command)) > 1) == ("Examples:" in run(command, "--help").stdout)


def test_trec_eval_has_help():
    assert "QRELS RUN" in run("trec_eval", "-h").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert "_CRANFIELD_COMPLETE" in run("completion", shell).stdout
