"""Where output goes: a terminal with its width and colours, a pipe, or a file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from cranfield.errors import OutputError
from cranfield.show.layout import Style


def width() -> int:
    """Columns to fill: those of the terminal, and 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def head_style(file: str | None) -> Style | None:
    """How the head of a table stands out: bold on a terminal, unless NO_COLOR is set."""
    if file or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return None
    return lambda text: click.style(text, bold=True)


def write(lines: Iterable[str], file: str | None) -> None:
    """Lines to standard output, or to a file: compressed by its extension, and complete or not there."""
    if file is None or file == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    from cranfield.write.target import write_text

    write_text(file, (line + "\n" for line in lines), force=True)


def refuse_existing(path: Path) -> None:
    """An error where there is a file already that a command would write."""
    if os.path.lexists(path):
        raise OutputError(str(path), "this file exists and was left as it is.", hint="move it away first")
