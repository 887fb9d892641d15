"""From any argument of `evaluate` to one of the three shapes of judgments and rankings, and its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats import recognise, without_extensions
from cranfield.io.shapes import Rankings, Source, Table
from cranfield.io.streams import Stream


def open_source(thing: Any, role: Role, format: str | None = None) -> Source:
    """Recognise a source; `format` overrides the guess for files."""
    what = "the judgments" if role == "qrels" else "the run"
    if isinstance(thing, Stream):
        return _open_stream(thing, role, format)
    if isinstance(thing, str | os.PathLike) or hasattr(thing, "read"):
        return _open_stream(Stream(thing), role, format)
    if isinstance(thing, Mapping):
        if hasattr(thing, "column_names"):  # a DatasetDict of Hugging Face
            raise InputError(what, f"it has the splits {', '.join(thing)}.", hint="give one of them: dataset['test']")
        return Rankings(what, thing)
    from cranfield.io import frames, mappings
    from cranfield.io.contexts import column_names, has_contexts

    if frames.is_frame(thing):
        if has_contexts(column_names(thing)):
            return Rankings(what, mappings.from_rows(frames.frame_rows(thing, what), role, what))
        return Table(what, frames.from_frame(thing, role, what))
    if isinstance(thing, Iterable) and not isinstance(thing, bytes):
        rows: Any = thing
        return Rankings(what, mappings.from_rows(rows.to_list() if hasattr(rows, "samples") else rows, role, what))
    raise unreadable(thing, what)


def unreadable(thing: Any, what: str) -> InputError:
    if hasattr(thing, "collect"):
        return InputError(
            what,
            f"a {type(thing).__name__} has no rows yet.",
            hint="call its .collect() first; evaluate() takes it as it is",
        )
    return InputError(
        what,
        f"cannot be read from {type(thing).__name__} ({thing!r:.60}).",
        hint="give a path, '-', an open binary file, a dict of dicts, a frame, or rows (query, document, value)",
    )


def _open_stream(stream: Stream, role: Role, format: str | None) -> Source:
    return recognise(stream, role, format).open(stream, role, named=format is not None)


def run_name(source: str) -> str:
    # Bytes that are not UTF-8 are escaped: a name goes into files, pages and pictures, which cannot contain them.
    name = os.path.basename(source).removeprefix("builtin:").encode(errors="backslashreplace").decode()
    return without_extensions(name)
