"""The workers of the tests: every test is run and reported once, and a worker that dies is reported."""

import os
import re
import subprocess
import sys

import pytest

from tests.pages import ROOT
from tests.workers import FORKS

pytestmark = pytest.mark.skipif(not FORKS, reason="workers are forks, which are safe on Linux only")

SETTINGS = """
from tests.workers import Workers

def pytest_configure(config):
    config.pluginmanager.register(Workers(2, lambda test: "together" if "shared" in test else None))
"""


@pytest.fixture
def run_tests(tmp_path):
    """Run these tests with two workers; the exit code, and the lines of the output."""

    def run(tests, *options):
        (tmp_path / "conftest.py").write_text(SETTINGS)
        (tmp_path / "test_some.py").write_text(tests)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:cranfield", *options]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    return run


def test_each_test_runs_once_and_groups_stay_in_one_process(run_tests, tmp_path):
    code, lines = run_tests(
        """
import os, pathlib, pytest

def note(name):
    with open("ran.txt", "a") as file:
        file.write(f"{name} {os.getpid()}\\n")

@pytest.mark.parametrize("n", range(20))
def test_cases(n):
    note("cases")

@pytest.mark.parametrize("n", range(40))
def test_shared_one(n):
    note("shared")

def test_shared_two():
    note("shared")

def test_fails(tmp_path):
    print("captured")
    assert tmp_path.parent.name.startswith("worker")
    assert "left" == "right"

def test_skipped():
    pytest.skip("for a reason")
"""
    )
    assert code == 1
    assert lines[-1].startswith("1 failed, 61 passed, 1 skipped")
    assert "captured" in lines
    assert any("assert 'left' == 'right'" in line for line in lines)
    ran = [line.split() for line in (tmp_path / "ran.txt").read_text().splitlines()]
    for name, times in (("cases", 20), ("shared", 41)):
        processes = [process for each, process in ran if each == name]
        assert (len(processes), len(set(processes))) == (times, 1)


def test_a_worker_that_dies_fails_its_tests(run_tests):
    code, lines = run_tests("import os\ndef test_a(): os._exit(3)\ndef test_b(): pass\n")
    assert code == 1
    assert any("A worker died before this test had ended" in line for line in lines)
    assert lines[-1].startswith(("1 failed, 1 passed", "2 failed"))


def test_fixtures_of_a_session_end_in_each_worker(run_tests, tmp_path):
    tests = """
import atexit, os, pytest

@pytest.fixture(scope="session")
def server():
    atexit.register(lambda: open(f"exit{os.getpid()}", "w"))
    yield
    open(f"ended{os.getpid()}", "w")

def test_a(server): pass
def test_b(server): pass
"""
    assert run_tests(tests)[0] == 0
    ended = {path.name[5:] for path in tmp_path.glob("ended*")}
    assert ended
    assert ended == {path.name[4:] for path in tmp_path.glob("exit*")}


def test_the_first_failure_stops_all(run_tests):
    code, lines = run_tests("import time\ndef test_a(): assert 0\ndef test_b(): time.sleep(60)\n", "-x")
    assert code == 1
    assert lines[-1].startswith("1 failed")


def test_the_settings_name_files_that_exist():
    """A test that has moved would otherwise lose its place among the slow ones without a word."""
    named = set(re.findall(r'"((?:tests|src)/[^"]+)"', (ROOT / "conftest.py").read_text()))
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []
