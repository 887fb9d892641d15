"""Long commands show their progress, on a terminal only; quick commands show none."""

import sys

import pytest

from cranfield.show.layout import columns as columns_of
from tests.program import run
from tests.terminal import on_terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs pseudo-terminals of Linux")

TEN = ("builtin:ten", "builtin:keywords", "builtin:meaning")


def slow_measure(folder):
    """A measure that is slow enough for progress to be shown."""
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
    output, code = on_terminal(*command, *slow_measure(tmp_path), *more, cwd=tmp_path, err_only=True)
    assert code in (0, 1)
    *drawn, last = output.split("\r")
    assert any(part.rstrip().endswith(" s") for part in drawn), output
    assert all(columns_of(part) < 80 for part in drawn)
    # The line is overwritten with blanks, and the cursor is back at its start.
    assert (drawn[-1].strip(), last) == ("", "")
    piped = run(*command, *slow_measure(tmp_path), *more, cwd=tmp_path)
    assert piped.stderr == ""


def test_quick_commands_show_no_progress(tmp_path):
    assert on_terminal("evaluate", *TEN, err_only=True)[0] == ""
    assert on_terminal("compare", *TEN, err_only=True)[0] == ""
