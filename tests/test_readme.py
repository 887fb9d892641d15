"""What the README shows is what happens."""

import doctest
import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import cranfield
from tests.cli.test_program import PROGRAM

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_python_examples():
    examples = "\n".join(block for block in re.findall(r"```python\n(.*?)```", README, re.S) if block.startswith(">>>"))
    assert ">>> result = cranfield.evaluate" in examples
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0


def test_sessions_print_what_is_shown():
    sessions = re.findall(r"```console\n\$ cranfield (.*?)\n(.*?)```", README, re.S)
    assert len(sessions) > 1
    data = Path(cranfield.__file__).with_name("data")
    environment = {**os.environ, "COLUMNS": "80"}
    for typed, shown in sessions:
        done = subprocess.run(
            [PROGRAM, *typed.split()], cwd=data, capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout == shown, typed


def test_commands_work_as_typed(tmp_path):
    shutil.copytree(Path(cranfield.__file__).with_name("data"), tmp_path / "data")
    (tmp_path / "data" / "meaning.run.gz").write_bytes(gzip.compress((tmp_path / "data" / "meaning.run").read_bytes()))
    lines = "".join(re.findall(r"```sh\n(.*?)```", README, re.S)).splitlines()
    commands = [line for line in lines if "cranfield " in line and not line.startswith(("make", "pip"))]
    assert len(commands) > 4
    for command in commands:
        typed = re.sub(r"\bcranfield (?=[a-z])", f"'{PROGRAM}' ", command)
        done = subprocess.run(["bash", "-c", typed], cwd=tmp_path / "data", capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout or done.stderr or "-o " in command


def test_pages_that_are_linked_exist():
    for page in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / page).exists(), page
