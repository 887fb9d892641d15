"""Long work says how far it is, on a terminal only; quick work says nothing."""

import sys

import pytest

from cranfield.layout import columns as columns_of
from tests.program import run
from tests.terminal import on_terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs pseudo-terminals of Linux")

TEN = ("builtin:ten", "builtin:keywords", "builtin:meaning")


def slow_measure(folder):
    """A measure that takes its time, until whoever waits must have been told."""
    (folder / "slow.py").write_text(
        "import time\n"
        "import cranfield\n"
        "waits = [0.8, 0.8]\n"
        "@cranfield.measure('Slow')\n"
        "def slow(judged):\n"
        "    '''Waits.'''\n    time.sleep(waits.pop() if waits else 0)\n    return judged.n_relevant(1) * 0.0\n"
    )
    return ("--import", "slow.py", "-m", "Slow", "-m", "RR")


@pytest.mark.parametrize(
    "command",
    [("evaluate", *TEN), ("compare", *TEN), ("gate", *TEN), ("stability", *TEN, "--repeats", "1"), ("report", *TEN)],
    ids=lambda command: command[0],
)
def test_long_work_shows_progress_and_leaves_nothing_behind(tmp_path, command):
    more = ("-o", "report.html", "--no-charts") if command[0] == "report" else ()
    said, code = on_terminal(*command, *slow_measure(tmp_path), *more, cwd=tmp_path, err_only=True)
    assert code in (0, 1)
    *drawn, last = said.split("\r")
    assert any(part.rstrip().endswith(" s") for part in drawn), said
    assert all(columns_of(part) < 80 for part in drawn)
    # The last line is blanks, and the cursor is where it was.
    assert (drawn[-1].strip(), last) == ("", "")
    piped = run(*command, *slow_measure(tmp_path), *more, cwd=tmp_path)
    assert piped.stderr == ""


def test_quick_work_shows_none(tmp_path):
    assert on_terminal("evaluate", *TEN, err_only=True)[0] == ""
    assert on_terminal("compare", *TEN, err_only=True)[0] == ""
