"""Where output goes: a terminal with its width and colours, a pipe, or a file; and the progress of commands."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from cranfield.errors import OutputError
from cranfield.show.layout import BAD, CLOSE, DIM, END, GOOD, HINT, STRONG, WIDTH, Paint
from cranfield.words import visible

if TYPE_CHECKING:
    from pathlib import Path

    from cranfield.io.progress import WorkProgress
    from cranfield.io.streams import Stream
    from cranfield.systems.asking import Silent

# The colours that every terminal has, in the shades that its owner chose.
CODES = {
    GOOD: "\x1b[32m",
    BAD: "\x1b[31m",
    CLOSE: "\x1b[33m",
    STRONG: "\x1b[1m",
    DIM: "\x1b[2m",
    HINT: "\x1b[36m",
    END: "\x1b[0m",
}
_TONES = f"([{''.join(CODES)}])"


def width(file: str | None = None) -> int:
    """Columns to fill: those of the terminal, and 80 where there is none or a file is written."""
    return WIDTH if _named(file) else _terminal_width() or WIDTH


def _terminal_width() -> int:
    """The columns from COLUMNS or the terminal; 0 if there is none. shutil does the same, but is slow to import."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (ValueError, OSError):
        return 0


def paint(file: str | None = None, *, err: bool = False) -> Paint:
    return Paint(on=not _named(file) and _coloured(sys.stderr if err else sys.stdout))


_before: list[Callable[[], None]] = []  # called before anything is printed


@contextmanager
def interrupted_by(clear: Callable[[], None]) -> Iterator[None]:
    """While the block runs, call `clear` before anything is printed: a progress line gives way."""
    _before.append(clear)
    try:
        yield
    finally:
        _before.remove(clear)


def say(text: str, *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    for clear in _before:
        clear()
    print(_shown(text, stream), file=stream)


def remark(text: str) -> None:
    """Print a side note: dim on a terminal."""
    say(paint().dim(text))


def say_error(program: str, message: str) -> None:
    """Print an error for people: where it comes from, the fact, and the hints."""
    tones = paint(err=True)
    fact, *hints = visible(message, keep="\n").split("\nHint: ")
    say(f"{tones.bad(f'{visible(program)}:')} {fact}", err=True)
    for hint in hints:
        say(f"{tones.hint('Hint:')} {hint}", err=True)


def write(lines: Iterable[str], file: str | None = None, *, data: bool = False) -> None:
    """Lines to standard output, or to a file that only appears when it is complete.

    Data is for programs: always UTF-8 and unchanged, except on a terminal, where a person reads it.
    """
    if data and (_named(file) or not sys.stdout.isatty()):
        lines = map(_encodable, lines)
    elif data or _named(file):
        lines = (visible(line, keep="\n") for line in lines)
    else:
        lines = (_shown(line, sys.stdout) for line in lines)
    ended = (f"{line}\n" for line in lines)
    if file is None or file == "-":
        sys.stdout.buffer.writelines(map(str.encode, ended)) if data else sys.stdout.writelines(ended)
        return
    from cranfield.io.target import write_text

    write_text(file, ended, force=True)


def _shown(text: str, stream: TextIO) -> str:
    """Text as people may see it: everything printed passes through here, and only our own codes reach the terminal."""
    if not _coloured(stream):
        return visible(text, keep="\n")
    return "".join(CODES.get(part) or visible(part, keep="\n") for part in re.split(_TONES, text))


def _coloured(stream: TextIO) -> bool:
    """Whether a stream shows colours: a terminal does, and the environment can switch them on or off.

    See no-color.org, force-color.org and bixense.com/clicolors.
    """
    asked = os.environ.get
    if asked("NO_COLOR"):
        return False
    if asked("FORCE_COLOR") or asked("CLICOLOR_FORCE", "0") != "0":
        return asked("FORCE_COLOR") != "0"
    return stream.isatty() and asked("TERM") != "dumb" and asked("CLICOLOR") != "0"


def _named(file: str | None) -> bool:
    return file is not None and file != "-"


def _encodable(text: str) -> str:
    """A text in which bytes that are not UTF-8 are escaped."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise OutputError(str(path), "this file already exists and was not changed.", hint="move it away first")


@contextmanager
def shown_progress(what: str, total: int = 0, *, unit: str = "") -> Iterator[WorkProgress]:
    """While the block runs, a line on standard error: on a terminal only, after a second, and removed at the end."""
    from cranfield.io.progress import StatusLine, WorkProgress

    progress = WorkProgress(what, total, unit=unit)
    if not sys.stderr.isatty():
        yield progress
        return
    line = StatusLine(progress)
    with interrupted_by(line.clear):
        line.start()
        try:
            yield progress
        finally:
            line.end()


@contextmanager
def shown_reading(what: str, streams: Sequence[Stream]) -> Iterator[WorkProgress]:
    """Show how much of some files has been read, and how long the next step takes."""
    with shown_progress(what, sum(stream.size or 0 for stream in streams), unit="bytes") as progress:
        for stream in streams:
            stream.on_read = progress.advance
        yield progress


@contextmanager
def shown_asking(name: str) -> Iterator[Silent]:
    """Show how many queries a system has answered."""
    from cranfield.systems.asking import Answer, Silent

    class AskingProgress(Silent):
        def start(self, done: int, queries: int) -> None:
            shown.begin(done, queries)

        def answer(self, answer: Answer) -> None:
            shown.advance(failed=answer.ranking is None)

    with shown_progress(name) as shown:
        yield AskingProgress()


LONGEST = 500  # letters
_PASSWORD = r"(://[^/\s:@]*:)[^@\s/]+(?=@)|(\b(?:password|passwd|token|key|secret)=)[^\s&']+"


def command_line(arguments: Sequence[str] | None = None) -> str:
    """The command line without passwords, because its output is shared; a long one is cut off.

    >>> command_line(["report", "postgresql://me:s3cret@host/db", "my run.txt"])
    "cranfield report postgresql://me:***@host/db 'my run.txt'"
    """
    import shlex

    called = visible(shlex.join(["cranfield", *(sys.argv[1:] if arguments is None else arguments)]))
    hidden = re.sub(_PASSWORD, lambda match: f"{match[1] or match[2]}***", called, flags=re.IGNORECASE)
    shown = hidden if len(hidden) <= LONGEST else f"{hidden[:LONGEST].rstrip()} …"
    return shown.encode(errors="replace").decode()
