"""prefs: trec_eval's judgments of preferences: which document is better, for each group of judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats.strata import STRATA, all_fives, repeated_column
from cranfield.io.formats.words import WordFormat
from cranfield.io.shapes import Layout, Text
from cranfield.io.streams import LOOK, Stream

if TYPE_CHECKING:
    from cranfield.io.records import RecordFile

PREFERENCES = Layout("query group subgroup document grade", 0, 3, 4, 5, 5, value_name="grade", groups=(1, 2))


def are_preferences(layout: Layout) -> bool:
    return layout.groups == PREFERENCES.groups and not layout.header


class Preferences(WordFormat):
    name = "prefs"
    meaning = "trec_eval's preferences: query, group, subgroup, document, grade"
    reads = ("qrels",)
    writes = ()
    layouts: ClassVar[dict[Role, Layout]] = {"qrels": PREFERENCES}

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        return PREFERENCES if len(fields) == PREFERENCES.least else None

    def layout(self, stream: Stream, first: bytes, role: Role, *, named: bool) -> Layout:
        if not named and repeated_column(stream.head(LOOK)) is None and all_fives(stream.head(LOOK)):
            fact = "five columns and no header: they may be preferences or a sampled pool."
            hint = f"give the format: 'prefs' for {PREFERENCES.shape}, 'strata' for {STRATA.shape}"
            raise InputError(stream.name, fact, hint=hint)
        return super().layout(stream, first, role, named=named)

    def open_strata(self, stream: Stream, *, named: bool) -> Text:
        self.open(stream, "qrels", named=named)  # raises an error if it is ambiguous
        fact = f"its lines are read as preferences: {PREFERENCES.shape}."
        raise InputError(stream.name, fact, hint=f"for strata, give the format 'strata': {STRATA.shape}")

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        fact = "its lines have 5 columns, like preferences, which can only be measured, not checked or converted."
        raise InputError(stream.name, fact)
