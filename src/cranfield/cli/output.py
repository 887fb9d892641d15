"""Where output goes: a terminal with its width and colours, a pipe, or a file that is complete or not there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from cranfield.errors import InputError
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
    """Lines to standard output, or to a file that only appears when it is complete."""
    if file is None or file == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    with complete(file) as path, open(path, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line + "\n")


@contextmanager
def complete(file: str) -> Iterator[str]:
    """A path beside the file to write to: it becomes the file at the end, and goes away if there is an error."""
    unfinished = f"{file}.{os.getpid()}.part"
    try:
        yield unfinished
        os.replace(unfinished, file)
    except OSError as error:
        raise InputError(file, f"cannot be written: {(error.strerror or str(error)).lower()}.") from error
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)
