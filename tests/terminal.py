"""The program's output in a terminal of a given width, with its escape codes."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from contextlib import suppress

from tests import program

CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments, columns=80, cwd=None, env=None, err_only=False):
    """The output of a call, and its exit code. With `err_only`, standard output goes nowhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    started = subprocess.Popen(
        [program.shims() / "cranfield", *map(str, arguments)],
        cwd=cwd,
        env={**settings, "TERM": "xterm", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if err_only else theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux raises it when the other side has been closed
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), started.wait(60)


def without_codes(text):
    """The text that a person reads."""
    return CODE.sub("", text)
