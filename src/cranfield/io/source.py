"""From any argument of `evaluate` to one of the three shapes of judgments and rankings, and its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats import recognise, without_extensions
from cranfield.io.mappings import column_names, from_rows, has_contexts, read_rows
from cranfield.io.shapes import Grouped, Rankings, Rows, Source, Table
from cranfield.io.streams import as_stream


def is_recorded(thing: Any) -> bool:
    """Whether a thing is the recording of a run, which knows where its rankings are."""
    return hasattr(type(thing), "_rankings_source")


def open_source(thing: Any, role: Role, format: str | None = None) -> Source:
    what = "the judgments" if role == "qrels" else "the run"
    if is_recorded(thing) and role == "run":
        thing = thing._rankings_source()
        if isinstance(thing, Rankings):
            return thing
    stream = as_stream(thing)
    if stream is not None:
        return recognise(stream, role, format).open(stream, role, named=format is not None)
    if isinstance(thing, Mapping):
        if hasattr(thing, "column_names"):  # a DatasetDict of Hugging Face
            raise InputError(what, f"it has the splits {', '.join(thing)}.", hint="give one of them: dataset['test']")
        return Rankings(what, thing)
    from cranfield.io import frames

    if frames.is_frame(thing):
        if has_contexts(column_names(thing)):
            return Rankings(what, from_rows(frames.frame_rows(thing, what), role, what))
        return Table(what, frames.from_frame(thing, role, what))
    if isinstance(thing, Iterable) and not isinstance(thing, bytes):
        rows: Any = thing
        return Rankings(what, from_rows(rows.to_list() if hasattr(rows, "samples") else rows, role, what))
    raise _unreadable(thing, what)


def _unreadable(thing: Any, what: str) -> InputError:
    if hasattr(thing, "collect"):
        fact = f"a {type(thing).__name__} has no rows yet."
        return InputError(what, fact, hint="call its .collect() first; evaluate() takes it as it is")
    hint = "give a path, '-', an open binary file, a dict of dicts, a frame, or rows (query, document, value)"
    return InputError(what, f"cannot be read from {type(thing).__name__} ({thing!r:.60}).", hint=hint)


def run_name(source: str) -> str:
    # Bytes that are not UTF-8 are escaped: a name goes into files, pages and pictures, which cannot contain them.
    name = os.path.basename(source).removeprefix("builtin:").encode(errors="backslashreplace").decode()
    return without_extensions(name)


def open_grouped(thing: Any, format: str | None = None, *, strata: bool = False) -> Grouped:
    """Recognise a source of judgments, as `open_source` does, with its columns of groups, or with its strata."""
    what = "the judgments"
    stream = as_stream(thing)
    if stream is not None:
        recognised = recognise(stream, "qrels", format)
        return (recognised.open_strata if strata else recognised.open_grouped)(stream, named=format is not None)
    if isinstance(thing, Mapping):
        return Rankings(what, thing)
    from cranfield.io import frames

    rows: Any = frames.frame_rows(thing, what) if frames.is_frame(thing) else thing
    if isinstance(rows, Iterable) and not isinstance(rows, bytes):
        return Rows(what, read_rows(rows, "qrels", what, grouped=True))
    raise _unreadable(thing, what)
