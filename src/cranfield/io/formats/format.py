"""What a format is: how it is recognised, read and written. Each has a file of its own beside this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cranfield.io.column_names import Role
from cranfield.io.shapes import Grouped, Source
from cranfield.io.streams import HELD, PROPORTION, Stream

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile, Records

ROLES: tuple[Role, ...] = ("qrels", "run")


class Format:
    """One format of judgments and runs. A subclass defines what it can do; an instance is in the registry."""

    name: ClassVar[str]
    meaning: ClassVar[str]  # in a few words, for help and documentation
    held: ClassVar[str]  # what is in memory at once while it is read
    refused: ClassVar[str] = f"more than {HELD >> 20} MB that are {PROPORTION} times the file"
    extensions: ClassVar[tuple[str, ...]] = ()
    addresses: ClassVar[tuple[str, ...]] = ()  # how the URLs begin, if it is not a file
    reads: ClassVar[tuple[Role, ...]] = ROLES
    writes: ClassVar[tuple[Role, ...]] = ROLES
    ids: ClassVar[str] = "lines"  # which ids it can hold; see io/writing.py
    # What it keeps of a row besides the query, the document and the value:
    keeps_scores: ClassVar[bool] = True
    keeps_ranks: ClassVar[bool] = False  # beside the scores
    keeps_ranks_alone: ClassVar[bool] = True  # a column may hold ranks in place of scores
    keeps_name: ClassVar[bool] = False  # of the run
    keeps_groups: ClassVar[bool] = True  # of judgments
    takes_comments: ClassVar[bool] = False  # before its lines

    def begins(self, head: bytes, role: Role) -> bool:
        """Whether a file with these first bytes has this format and no other."""
        return False

    def claims(self, head: bytes) -> bool:
        """The same for a format whose files have the extensions of others."""
        return False

    def open(self, stream: Stream, role: Role, *, named: bool) -> Source:
        """The content, to be measured. named: the format was given, not detected."""
        raise NotImplementedError

    def open_grouped(self, stream: Stream, *, named: bool) -> Grouped:
        raise NotImplementedError

    def open_strata(self, stream: Stream, *, named: bool) -> Grouped:
        return self.open_grouped(stream, named=named)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        raise NotImplementedError

    def check_role(self, stream: Stream, role: Role, *, named: bool) -> None: ...

    def by_query(self, role: Role) -> bool:
        """Whether all rows of a query must be written together."""
        return False

    def columns(self, plan: Plan) -> tuple[str, ...]:
        value = "relevance" if plan.role == "qrels" else "rank" if plan.ranks else "score"
        return ("query_id", *(["iteration"] if plan.groups else []), "doc_id", value)

    def writer(self, plan: Plan, file: Any) -> Writer:
        raise NotImplementedError


class Plan(NamedTuple):
    source: str  # for errors
    role: Role
    format: Format
    ranks: bool = False  # the rows have ranks and no scores
    groups: bool = False  # the judgments have groups worth keeping
    whole: bool = False  # all values are whole numbers
    name: str | None = None  # of the run, instead of that of the rows
    ranked: bool = False  # the rows are in rank order, whatever their scores

    def groups_of(self, records: Records) -> list[str]:
        return (records.group or ["0"] * len(records.query)) if self.groups else []

    def cells(self, records: Records) -> list[list[str]]:
        return [records.query, *([self.groups_of(records)] if self.groups else []), records.document, records.text]

    def check(self, records: Records, groups: Sequence[str] = ()) -> None:
        """Refuse ids that would not be read back unchanged."""
        from cranfield.io.writing import check_ids

        check_ids(records.query, self.format, self.source, records.line, first=True)
        check_ids(records.document, self.format, self.source, records.line)
        check_ids(groups, self.format, self.source, records.line)


class Writer:
    def __init__(self, plan: Plan, file: Any) -> None:
        self._plan, self._file = plan, file

    def write(self, records: Records) -> None:
        raise NotImplementedError

    def write_lines(self, data: bytes) -> None:
        """Write lines that are in this format already."""
        raise NotImplementedError

    def close(self) -> None:
        """Write what comes after the last row."""
