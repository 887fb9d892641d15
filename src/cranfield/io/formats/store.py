"""store: the file or database in which `cranfield.open_store` keeps judgments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.drawing import from_store
from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats.format import Format
from cranfield.io.shapes import Rankings
from cranfield.io.streams import Stream, beginning

if TYPE_CHECKING:
    from cranfield.io.corpus import Document
    from cranfield.io.records import RecordFile

HEAD = b"SQLite format 3\0"
STORE = "judgments.db"  # the default store


class JudgmentView(NamedTuple):
    """A choice from a store, as for `Store.view`; None means the default of the store."""

    assessors: tuple[str, ...] | None = None
    merge: str | None = None
    kinds: tuple[str, ...] | None = None
    pooled: bool = False

    def of(self, qrels: Any) -> Stream:
        if not isinstance(qrels, str | os.PathLike):
            raise not_a_store("the judgments", self)
        stream = Stream(qrels)
        stream.view = self
        return stream


def names_store(source: str | Stream) -> bool:
    """Whether this is a store: a database, or a file that is one or has its extension."""
    path = source if isinstance(source, str) else source.name
    if path.startswith(StoreFormat.addresses):
        return True
    if not os.path.isfile(path):
        return os.path.splitext(path)[1].lower() in (".db", ".sqlite", ".sqlite3")
    return ((source.begins if isinstance(source, Stream) else b"") or beginning(path)) == HEAD


def same_store(one: Any, other: Any) -> bool:
    """Whether two sources of judgments are one store, however each is written."""
    names = [str(getattr(source, "name", source)) for source in (one, other)]
    return names[0] == names[1] or (all(map(os.path.isfile, names)) and os.path.samefile(*names))


def stored_documents(path: str) -> Iterator[Document]:
    """The documents of a store that have a text."""
    from cranfield.io.corpus import Document

    return (Document(*row) for row in from_store("documents", path, JudgmentView())[0])


def not_a_store(name: str, view: JudgmentView) -> InputError:
    problems = {
        "assessors cannot be chosen": view.assessors or view.kinds,
        "there are no grades to merge": view.merge,
        "it is not known which documents were pooled": view.pooled,
    }
    problem = next((problem for problem, given in problems.items() if given), "they have no assessors")
    hint = "leave this out, or import the file into a store: cranfield convert FILE judgments.db"
    return InputError(name, f"these judgments are not in a store, so {problem}.", hint=hint)


class StoreFormat(Format):
    """Judgments of all people, merged by majority, unless a `JudgmentView` says otherwise."""

    name = "store"
    meaning = "a store of judgments: a SQLite file, or postgresql://user@host/name"
    held = "the judgments that are chosen"
    refused = "in SQLite: a value of more than 64 MB, views, triggers"
    addresses = ("postgresql://", "postgresql+psycopg://", "postgres://")
    reads = ("qrels",)
    writes = ()
    ids = "any"

    def begins(self, head: bytes, role: Role) -> bool:
        return head.startswith(HEAD)

    def open(self, stream: Stream, role: Role, *, named: bool) -> Rankings:
        by_query, provenance = from_store("view", _path(stream), stream.view or JudgmentView())
        return Rankings(stream.name, by_query, None, provenance)

    def open_grouped(self, stream: Stream, *, named: bool) -> Rankings:
        return self.open(stream, "qrels", named=named)

    def open_strata(self, stream: Stream, *, named: bool) -> Rankings:
        by_query, provenance = from_store("strata", _path(stream), stream.view or JudgmentView())
        return Rankings(stream.name, by_query, None, provenance)

    def open_passages(self, stream: Stream) -> tuple[list[Any], str]:
        """Grades of parts of documents as (query, document, start, end, grade), and which assessors they come from."""
        return from_store("passages", _path(stream), stream.view or JudgmentView())

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.records import RankingRecords

        view = self.open(stream, role, named=named)
        return RankingRecords(stream, role, view.by_query, view.provenance)


def _path(stream: Stream) -> str:
    if stream.address is None:
        raise InputError(stream.name, "a store cannot be read from a pipe or an open file.", hint="give its path")
    return stream.address


def is_store(stream: Stream) -> StoreFormat | None:
    named = stream.name.startswith(StoreFormat.addresses)
    return StoreFormat() if named or stream.head(len(HEAD)).startswith(HEAD) else None
