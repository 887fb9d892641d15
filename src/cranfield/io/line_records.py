"""The rows of a file of lines, with all columns and line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cranfield.io.column_names import Role, unused_columns
from cranfield.io.records import Bad, Records
from cranfield.io.shapes import Text
from cranfield.io.text import BadLine, Block, Line, blocks, decoded, header_lines


class LineRecords:
    unit = "line"
    empty_queries = 0
    provenance = ""

    def __init__(self, text: Text, role: Role) -> None:
        self.name, self.stream, self.layout = text
        self.role, self.ranks = role, self.layout.ranks
        self.left_out = unused_columns(self.layout.names, role)

    def batches(self, bad: Bad) -> Iterator[Records]:
        line = 1 + header_lines(self.stream, self.layout)
        for block in blocks(self.stream, self.layout):
            yield block_records(block, line, bad)
            line += bytes(block.data).count(b"\n")


def block_records(block: Block, line: int, bad: Bad) -> Records:
    layout, found = block.layout, block.fields_at_once()
    sign = -1 if layout.ranks else 1
    group = layout.groups[0] if layout.groups else -1
    if found is not None:
        fields, values = found
        step = layout.least + 1

        def column(place: int) -> list[str] | None:
            return decoded(fields[place::step]) if place >= 0 else None

        numbers: Sequence[int] = list(map(int, fields[::step])) if layout.numbered else range(line, line + len(values))
    else:
        lines: list[Line] = []
        for each in block.lines():
            if isinstance(each, BadLine):
                bad(each.located(line))
            else:
                lines.append(each)

        def column(place: int) -> list[str] | None:
            if place == layout.name >= 0:
                return [b" ".join(each.fields[place:]).decode() for each in lines]
            return [each.fields[place].decode() for each in lines] if place >= 0 else None

        values = np.array([each.value for each in lines], dtype=np.float64)
        numbers = [each.number if layout.numbered else line + each.number for each in lines]
    query, document, text = column(layout.query), column(layout.document), column(layout.value)
    assert query is not None
    assert document is not None
    assert text is not None
    return Records(
        numbers, query, document, sign * values, text, column(layout.rank), column(layout.name), column(group)
    )
