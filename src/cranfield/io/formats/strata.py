"""strata: the judgments of sampled pools that NIST's sample_eval reads, which name the stratum of each document."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import ClassVar

from cranfield.io.column_names import Role
from cranfield.io.formats.words import WordFormat, is_number
from cranfield.io.shapes import Layout
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK

STRATA = Layout("query iteration document stratum grade", 0, 2, 4, 5, 5, value_name="grade", groups=(3,))


class Strata(WordFormat):
    """query iteration document stratum grade, where the grade -1 is that of a document pooled, but not judged."""

    name = "strata"
    meaning = "sample_eval's sampled pools: query, iteration, document, stratum, grade"
    reads = ("qrels",)
    writes = ()
    layouts: ClassVar[dict[Role, Layout]] = {"qrels": STRATA}

    def begins(self, head: bytes, role: Role) -> bool:
        return role == "qrels" and repeated_column(head) == STRATA.groups[0]

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        return None  # preferences have as many columns: it takes several lines to decide


def repeated_column(head: bytes) -> int | None:
    """Which of the third and fourth of five columns appears again for a query, in the first lines of a file.

    With preferences, query group subgroup document grade, it is the third (2): a subgroup has several documents. With
    sampled pools it is the fourth (3): a stratum has several documents, and each document appears once. None where
    neither appears again, or where lines do not have five columns.
    """
    seen: tuple[set[tuple[bytes, bytes]], set[tuple[bytes, bytes]]] = (set(), set())
    repeated = None
    for fields in _first_lines(head):
        if len(fields) != 5:
            return repeated
        query, _, third, fourth, grade = fields
        if not repeated and not seen[0] and not is_number(grade):
            return None  # a header
        if (query, third) in seen[0]:
            return 2
        if (query, fourth) in seen[1]:
            repeated = 3
        seen[0].add((query, third))
        seen[1].add((query, fourth))
    return repeated


def all_fives(head: bytes) -> bool:
    return all(len(fields) == 5 for fields in _first_lines(head))


def _first_lines(head: bytes) -> Iterator[list[bytes]]:
    """The columns of the first lines, except one that is cut off. Between tabs, a blank belongs to an id."""
    for line in io.BytesIO(head.removeprefix(BYTE_ORDER_MARK)):
        fields = line.split(b"\t") if line.count(b"\t") == 4 else line.split()
        whole = line.endswith(b"\n") or len(head) < LOOK
        if whole and line.strip() and not line.startswith(b"#"):
            yield fields
