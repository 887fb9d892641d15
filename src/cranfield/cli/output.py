"""Where output goes: a terminal with its width and colours, a pipe, or a file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from cranfield.errors import OutputError
from cranfield.layout import Style, visible

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def width() -> int:
    """Columns to fill: those of the terminal, and 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def say(text: str, *, err: bool = False) -> None:
    """Print for people: a line or several."""
    print(_shown(text), file=sys.stderr if err else sys.stdout)


def head_style(file: str | None = None) -> Style | None:
    """How the head of a table stands out: bold on a terminal, unless NO_COLOR is set."""
    return None if file or not _styled() else lambda text: f"{BOLD}{text}{PLAIN}"


def remark(text: str) -> None:
    """Print what people may want to know, too: dim on a terminal."""
    say(f"{DIM}{text}{PLAIN}" if _styled() else text)


def write(lines: Iterable[str], file: str | None = None, *, data: bool = False) -> None:
    """Lines to standard output, or to a file that only appears when it is complete.

    Data is for programs: always UTF-8, and as it is, unless it goes to a terminal, where somebody reads it after all.
    """
    printed = file is None or file == "-"
    lines = map(_encodable if data and not (printed and sys.stdout.isatty()) else _shown, lines)
    if file is None or printed:
        for line in lines:
            if data:
                sys.stdout.buffer.write(f"{line}\n".encode())
            else:
                sys.stdout.write(line + "\n")
        return
    from cranfield.read.target import write_text

    write_text(file, (line + "\n" for line in lines), force=True)


def _shown(text: str) -> str:
    """What people may read: all that is printed for them passes here, and only our own codes reach the terminal."""
    shown = visible(text, keep="\n")
    if _styled():
        for code in (BOLD, DIM, PLAIN):
            shown = shown.replace(visible(code), code)
    return shown


def _styled() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _encodable(text: str) -> str:
    """A text without the bytes of names that are not UTF-8: these are written out."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def refuse_existing(path: Path) -> None:
    """An error where there is a file already that a command would write."""
    if os.path.lexists(path):
        raise OutputError(str(path), "this file exists and was left as it is.", hint="move it away first")
