"""Which ids a format can store: those that are read back exactly as they were. All others are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cranfield.errors import InputError, OutputError
from cranfield.io.formats.format import Format

LONGEST = 1 << 17  # characters: the longest cell that csv readers accept, and lines have a limit

_WHITE = " \t\n\r\x0b\x0c"  # of ASCII; other blanks of Unicode are ordinary letters
_HALF = re.compile("[\ud800-\udfff]")  # half of a surrogate pair: it has no bytes
_IN_WORDS = re.compile(f"[{_WHITE}]")
_IN_CELLS = re.compile("\\A[ \t\x0b\x0c]|[\n\r]|[ \t\x0b\x0c]\\Z")


def check_ids(ids: Sequence[str], format: Format, source: str, lines: Sequence[int], *, first: bool = False) -> None:
    """Raise an error for the first id that the format cannot store; `lines` are the places of the ids, if known.

    first: whether the column is the first one of a line.
    """
    if not _may_be_odd(ids, "".join(ids)):
        return
    for at, name in enumerate(ids):
        fault, hint = _fault(name, format, first)
        if fault:
            fact = f"the id {short(name)} {fault}, which {format.name} cannot store."
            raise InputError(source, fact, line=lines[at] if lines else None, hint=hint)


def _may_be_odd(ids: Sequence[str], text: str) -> bool:
    if any(mark in text for mark in f"{_WHITE}#") or "" in ids:
        return True
    return (not text.isascii() and ("\ufeff" in text or _HALF.search(text) is not None)) or (
        len(text) > LONGEST and max(map(len, ids)) > LONGEST
    )


def _fault(name: str, format: Format, first: bool) -> tuple[str, str]:
    if not name:
        return "is empty", "no format can store it; change the id"
    if _HALF.search(name):
        return "contains half of a surrogate pair", "no format can store it; change the id"
    if format.ids == "any":
        return "", ""
    if len(name) > LONGEST:
        return f"is longer than {LONGEST:,} characters", "write json or parquet, or change the id"
    others = "write jsonl, json or parquet, or change the id"
    if format.ids == "words":  # white space separates the columns
        if _IN_WORDS.search(name):
            return "contains a blank", others
        if first and name[0] in "#\ufeff":
            return "looks like a comment" if name[0] == "#" else "starts with a byte-order mark", others
    # In csv and tsv, white space around a cell is dropped.
    if format.ids == "cells" and (found := _IN_CELLS.search(name)):
        return "contains a line break" if found.group() in "\n\r" else "has blanks around it", others
    return "", ""


def check_name(name: str, target: str) -> None:
    if name != name_from(name):
        raise OutputError(
            target, f"'{name}' is not a name for a run.", hint="a name has at least one letter and no blanks"
        )


def name_from(text: str) -> str:
    """A name for a run: the text without characters that a name cannot have."""
    return "_".join(text.encode(errors="backslashreplace").decode().split()) or "run"


def short(name: str) -> str:
    return repr(name) if len(name) <= 100 else f"{name[:100]!r}…"
