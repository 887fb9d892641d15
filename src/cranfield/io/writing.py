"""write_run(path, rankings): write a run from memory to a file, in the format of its extension."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cranfield.errors import InputError, OutputError, choice_hint
from cranfield.io.formats import FORMATS, format_to_write, writable
from cranfield.io.formats.format import Format, Plan
from cranfield.io.mappings import finite, id_text
from cranfield.io.records import Lines, Records
from cranfield.io.target import open_target

LONGEST = 1 << 17  # characters: the longest cell that csv readers accept, and lines have a limit
_WHITE = " \t\n\r\x0b\x0c"  # of ASCII; other blanks of Unicode are ordinary letters
_HALF = re.compile("[\ud800-\udfff]")  # half of a surrogate pair: it has no bytes


def write_run(
    path: str | os.PathLike[str],
    rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]],
    *,
    name: str,
    force: bool = False,
    format: str | None = None,
    digest: Any = None,
) -> int:
    """Write the ranking of each query, in the order given and with the scores given; returns the number of rows.

    name: of the run, for trec.
    force: replace a file that exists.
    format: one of those of `convert_file`, if the extension does not tell. msmarco has ranks instead of scores.
    digest: a hash that is updated with the content written.
    Ids that would not be read back unchanged, scores that are not finite numbers and a query given twice are errors,
    and nothing is written. A query without documents has no rows, so that no file names it.
    """
    target, seen = os.fspath(path), set()

    def records() -> Iterator[Records]:
        for query_id, ranking in rankings:
            query = id_text(query_id, target, "a query")
            documents, scores = [], []
            for document, score in ranking:
                documents.append(id_text(document, target, f"query '{query}'"))
                scores.append(finite(score, target, f"query '{query}', document '{documents[-1]}'"))
            if not documents:
                continue
            if query in seen:
                raise InputError(target, f"the query '{query}' appears twice.", hint="give each query one ranking")
            seen.add(query)
            yield Records((), [query] * len(documents), documents, np.array(scores), list(map(repr, scores)))

    return write_records(target, records(), name=name, force=force, format=format, digest=digest)


def write_records(
    target: str,
    rankings: Iterable[Records | Lines],
    *,
    name: str,
    force: bool = False,
    format: str | None = None,
    digest: Any = None,
    head: bytes = b"",
) -> int:
    """The same for rankings whose ids and scores are sound; `head`: comments before the lines of a TREC file."""
    known = writable(["run"])
    if (chosen := format or format_to_write(target).name) not in known:
        fact = f"there is no format '{chosen}' for runs."
        raise OutputError(target, fact, hint=choice_hint("formats are", known, chosen))
    check_name(name, target)
    rows = 0
    with open_target(target, force=force) as place, place.opened() as opened:
        file = opened if digest is None else _Hashed(opened, digest)
        plan = Plan(target, "run", FORMATS[chosen], name=name, ranked=True)
        if plan.format.takes_comments:
            file.write(head)
        writer = plan.format.writer(plan, file)
        for ranking in rankings:
            if isinstance(ranking, Lines):
                writer.write_lines(ranking.data)
                rows += ranking.rows
            else:
                writer.write(ranking)
                rows += len(ranking.document)
        writer.close()
    return rows


class _Hashed:
    def __init__(self, file: Any, digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        written: int = self._file.write(data)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def check_ids(ids: Sequence[str], format: Format, source: str, lines: Sequence[int], *, first: bool = False) -> None:
    """Raise an error for the first id that the format cannot store; first: whether the column begins a line."""
    text = "".join(ids)
    if not (
        any(mark in text for mark in f"{_WHITE}#")
        or "" in ids
        or (not text.isascii() and ("\ufeff" in text or _HALF.search(text)))
        or (len(text) > LONGEST and max(map(len, ids)) > LONGEST)
    ):
        return  # nothing that needs a closer look
    for at, name in enumerate(ids):
        fault, hint = _fault(name, format, first)
        if fault:
            fact = f"the id {short(name)} {fault}, which {format.name} cannot store."
            raise InputError(source, fact, line=lines[at] if lines else None, hint=hint)


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
        if any(mark in name for mark in _WHITE):
            return "contains a blank", others
        if first and name[0] in "#\ufeff":
            return "looks like a comment" if name[0] == "#" else "starts with a byte-order mark", others
    # In csv and tsv, white space around a cell is dropped.
    if format.ids == "cells" and (bad := re.search("\\A[ \t\x0b\x0c]|[\n\r]|[ \t\x0b\x0c]\\Z", name)):
        return "contains a line break" if bad.group() in "\n\r" else "has blanks around it", others
    return "", ""


def check_name(name: str, target: str) -> None:
    if name != name_from(name):
        fact = f"'{name}' is not a name for a run."
        raise OutputError(target, fact, hint="a name has at least one letter and no blanks")


def name_from(text: str) -> str:
    """A name for a run: the text without characters that a name cannot have."""
    return "_".join(text.encode(errors="backslashreplace").decode().split()) or "run"


def short(name: str) -> str:
    return repr(name) if len(name) <= 100 else f"{name[:100]!r}…"
