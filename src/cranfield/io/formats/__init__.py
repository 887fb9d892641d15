"""All formats of judgments and runs, and which one a file has: by its extension, then by its content.

A guess that may be wrong is an error. A new format is one file beside this one and one entry below; command line, help,
errors and documentation follow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError, OutputError, choice_hint, given
from cranfield.io.column_names import Role
from cranfield.io.compression import EXTENSIONS as COMPRESSED
from cranfield.io.formats.beir import Beir
from cranfield.io.formats.csv import Csv
from cranfield.io.formats.delimited import DelimitedFormat
from cranfield.io.formats.format import ROLES, Format
from cranfield.io.formats.json import Json
from cranfield.io.formats.json_lines import JsonLines
from cranfield.io.formats.msmarco import MsMarco
from cranfield.io.formats.parquet import Parquet
from cranfield.io.formats.prefs import Preferences
from cranfield.io.formats.store import StoreFormat, not_a_store
from cranfield.io.formats.strata import Strata
from cranfield.io.formats.traces import Traces
from cranfield.io.formats.trec import Trec
from cranfield.io.formats.tsv import Tsv
from cranfield.io.formats.words import WordFormat, data_line, unknown_width, words
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        *(Trec(), MsMarco(), Preferences(), Strata(), Csv(), Tsv(), Beir(), Json(), JsonLines(), Parquet()),
        *(Traces(), StoreFormat()),
    )
}


def readable(roles: Iterable[Role] = ROLES) -> list[str]:
    return [name for name, format in FORMATS.items() if set(roles) & set(format.reads)]


def writable(roles: Iterable[Role] = ROLES) -> list[str]:
    return [name for name, format in FORMATS.items() if set(roles) & set(format.writes)]


def recognise(stream: Stream, role: Role, name: str | None = None) -> Format:
    format = _recognised(stream, role, name)
    if stream.view is not None and not isinstance(format, StoreFormat):
        raise not_a_store(stream.name, stream.view)
    return format


def _recognised(stream: Stream, role: Role, name: str | None) -> Format:
    known = readable([role])
    if name is not None and name not in known:
        raise InputError(stream.name, f"there is no format '{name}'.", hint=choice_hint("formats are", known, name))
    for format in FORMATS.values():
        if stream.name.startswith(format.addresses or "\0"):
            return _able(format, stream, role)
    head = stream.head(LOOK).removeprefix(BYTE_ORDER_MARK)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            stream.name, "this is UTF-16 text.", hint="save it as UTF-8, for instance with: iconv -f UTF-16 -t UTF-8"
        )
    if not head:
        raise InputError(stream.name, "it is empty.")
    if name is not None:
        return FORMATS[name]
    for format in FORMATS.values():
        if format.claims(head):
            return _able(format, stream, role)
    by_name = by_extension(stream.name)
    if by_name and role in by_name.reads and not isinstance(by_name, WordFormat):  # .run and .txt may be anything
        return by_name
    for format in FORMATS.values():
        if format.begins(head, role):
            return _able(format, stream, role)
    first = data_line(stream)
    for kind in (DelimitedFormat, WordFormat):  # a header takes precedence over the number of columns
        for format in FORMATS.values():
            if isinstance(format, kind) and role in format.reads and format.fits(first, role):
                return format
    raise unknown_width(stream, words(first), role)


def _able(format: Format, stream: Stream, role: Role) -> Format:
    """A format that a file certainly has; an error if that cannot contain what is wanted."""
    if role not in format.reads:
        held, wanted = ("a run", "judgments") if role == "qrels" else ("judgments", "a run")
        raise InputError(stream.name, f"a {format.name} contains {held}, not {wanted}.")
    return format


def fitting_roles(stream: Stream, name: str | None = None) -> dict[Role, InputError | None]:
    """For judgments and for a run: why a file cannot be that, or None if it can."""
    reasons: dict[Role, InputError | None] = dict.fromkeys(ROLES)
    for role in ROLES:
        try:
            recognise(stream, role, name).check_role(stream, role, named=name is not None)
        except InputError as error:
            reasons[role] = error
    return reasons


def open_records(source: Any, role: Role, name: str | None = None) -> RecordFile:
    stream = source if isinstance(source, Stream) else Stream(source)
    return recognise(stream, role, name).open_records(stream, role, named=name is not None)


def extension_of(name: str) -> str:
    """The extension of a file's name, without that of a compression."""
    stem, extension = os.path.splitext(name.lower())
    return os.path.splitext(stem)[1] if extension in COMPRESSED else extension


def by_extension(name: str) -> Format | None:
    extension = extension_of(name)
    return next((format for format in FORMATS.values() if extension in format.extensions), None)


def format_to_write(path: str) -> Format:
    from cranfield.io.target import STANDARD_OUTPUT

    hint = f"give {given('target_format')}: {', '.join(writable())}"
    if path == STANDARD_OUTPUT:
        raise OutputError("standard output", "its format must be given.", hint=hint)
    extension = extension_of(path)
    format = by_extension(path) or (FORMATS["trec"] if not extension else None)
    if format is None:
        fact = f"the extension '{extension}' is not that of a known format."
        raise OutputError(path, fact, hint=hint)
    return format


def without_extensions(name: str) -> str:
    known = {*COMPRESSED, *(extension for format in FORMATS.values() for extension in format.extensions)}
    for _ in range(2):
        stem, extension = os.path.splitext(name)
        if stem and extension.lower() in known:
            name = stem
    return name
