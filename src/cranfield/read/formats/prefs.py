"""prefs: trec_eval's judgments of preferences, which say for a group of judges which document is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from cranfield.errors import InputError
from cranfield.read.formats.words import WordFormat
from cranfield.read.layout import Layout
from cranfield.read.names import Role
from cranfield.read.records import RecordFile
from cranfield.read.streams import Stream

PREFERENCES = Layout("query group subgroup document grade", 0, 3, 4, 5, 5, value_name="grade", groups=(1, 2))


class Preferences(WordFormat):
    """query group subgroup document grade."""

    name = "prefs"
    meaning = "trec_eval's preferences: query, group, subgroup, document, grade"
    reads = ("qrels",)
    writes = ()
    layouts: ClassVar[dict[Role, Layout]] = {"qrels": PREFERENCES}

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        return PREFERENCES if len(fields) == PREFERENCES.least else None

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        fact = "its lines have 5 columns, like preferences, which can only be measured, not checked or converted."
        raise InputError(stream.name, fact)
