"""Progress of long work is one line on a terminal that is gone at the end."""

import io
import sys

from cranfield.io import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_things_are_watched_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    quiet, terminal = io.StringIO(), Terminal()

    def things():
        yield 1
        while sys.stderr is terminal and "counting  ━━━━━━━━━━──────────  1 of 2" not in terminal.getvalue():
            pass
        yield 2

    for stream in (quiet, terminal):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress.watched(things(), "counting", 2)) == [1, 2]
    assert quiet.getvalue() == ""
    assert terminal.getvalue().endswith(" \r")  # written over with blanks
