"""Values as trec_eval prints them, byte for byte, and its file of reference values of other systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cranfield.errors import InputError
from cranfield.io.streams import Stream
from cranfield.measures.trec_eval_names import PrintedLine, definition_of
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.trec_eval.values import Tables, ZScores, grades_text, is_count, is_geometric, summary, values


class PrintedColumns(NamedTuple):
    judged: JudgedRanks
    lines: Sequence[PrintedLine]
    values: Sequence[Numbers | list[str]]
    zscores: bool

    @classmethod
    def of(cls, lines: Sequence[PrintedLine], tables: Tables, zscores: ZScores | None = None) -> PrintedColumns:
        judged = tables["ranks"]
        columns = [
            grades_text(line, judged) if line.entry.name == "relstring" else values(line, tables, zscores)
            for line in lines
        ]
        return cls(judged, lines, columns, zscores is not None)

    def by_query(self, places: Integers) -> Iterator[str]:
        """The lines of each query: all but those that are only for all queries together."""
        shown = [
            (line, column)
            for line, column in zip(self.lines, self.values, strict=True)
            if line.name not in ("runid", "num_q") and not is_geometric(line)
        ]
        formats = [(self._label(line), self._format(line), column) for line, column in shown]
        for place in places.tolist():
            query = self.judged.query_ids[place]
            for label, form, column in formats:
                yield f"{label}\t{query}\t{form.format(column[place])}\n"

    def for_all(self, places: Integers, run_id: str, *, complete: bool) -> Iterator[str]:
        for line, column in zip(self.lines, self.values, strict=True):
            if line.name == "runid":
                yield f"{self._label(line)}\tall\t{run_id}\n"
            elif not isinstance(column, list):
                value = summary(line, column, places, self.judged, complete=complete)
                yield f"{self._label(line)}\tall\t{self._format(line).format(value)}\n"

    def _label(self, line: PrintedLine) -> str:
        mark = "Z" if self.zscores and line.entry.name not in ("runid", "relstring") else ""
        return f"{mark}{line.name:<22}"

    def _format(self, line: PrintedLine) -> str:
        if line.entry.name == "relstring":
            return "'{}'"
        return "{:.0f}" if is_count(line) and not self.zscores else "{:6.4f}"


def about(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name == "runid":
            yield "\nrunid\n  The name of the run, from its last line."
        elif name == "relstring":
            yield "\nrelstring\n  The grades of the first documents, a character each."
        else:
            ours = definition_of(name)[0]
            yield f"\n{name}\n  {ours.summary}\n  {ours.formula}"


HINT = "a line is: query measure mean deviation"


def read_zscores(source: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and deviation by query and measure; a deviation may be nan, as trec_eval's own example has it."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    data = Stream(source).content()
    if not data:
        raise InputError(source, "it is empty.", hint=HINT)
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        try:
            fields = line.decode().split()
        except UnicodeDecodeError:
            raise InputError(source, "this is not UTF-8 text.", line=number) from None
        if len(fields) != 4:
            raise InputError(source, f"{len(fields)} columns where 4 are needed.", line=number, hint=HINT)
        query, name, *numbers = fields
        try:
            mean, deviation = map(float, numbers)
        except ValueError:
            raise InputError(source, f"'{' '.join(numbers)}' are not two numbers.", line=number, hint=HINT) from None
        if (query, name) in found:
            raise InputError(source, f"the query '{query}' has '{name}' twice.", line=number)
        found[query, name] = mean, deviation
    return found
