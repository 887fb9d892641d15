"""store: the file or database in which `cranfield.open_store` keeps judgments."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from cranfield.errors import InputError
from cranfield.read.formats.format import Format
from cranfield.read.names import Role
from cranfield.read.shapes import Rankings
from cranfield.read.streams import Stream

if TYPE_CHECKING:
    from cranfield.read.records import RecordFile

VIEWS = "cranfield.judging.views"  # found by its name: a room does not import an edge


class StoreFormat(Format):
    """Judgments of all people, merged by majority. Others are chosen in Python."""

    name = "store"
    meaning = "a store of judgments: a SQLite file, or postgresql://user@host/name"
    addresses = ("postgresql://", "postgresql+psycopg://", "postgres://")
    reads = ("qrels",)
    writes = ()
    ids = "any"

    def begins(self, head: bytes, role: Role) -> bool:
        return head.startswith(b"SQLite format 3\0")

    def open(self, stream: Stream, role: Role, *, named: bool) -> Rankings:
        if stream.address is None:
            raise InputError(stream.name, "a store cannot be read from a pipe or an open file.", hint="give its path")
        by_query, provenance = import_module(VIEWS).open_view(stream.address)
        return Rankings(stream.name, by_query, None, provenance)

    def open_grouped(self, stream: Stream, *, named: bool) -> Rankings:
        return self.open(stream, "qrels", named=named)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.read.row_records import RankingRecords

        return RankingRecords(stream, role, self.open(stream, role, named=named).by_query)
