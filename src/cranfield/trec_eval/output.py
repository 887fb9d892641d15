"""Values as trec_eval prints them, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cranfield.measures.trec_eval_names import PrintedLine, definition_of
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.trec_eval.values import Tables, ZScores, grades_text, is_count, is_geometric, summary, values


class PrintedColumns(NamedTuple):
    """The values of every line, by query."""

    judged: JudgedRanks
    lines: Sequence[PrintedLine]
    values: Sequence[Numbers | list[str]]
    zscores: bool

    @classmethod
    def of(cls, lines: Sequence[PrintedLine], tables: Tables, zscores: ZScores | None = None) -> PrintedColumns:
        """Compute all lines; with reference values, as z-scores."""
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
        """The lines for all queries together."""
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
    """Descriptions of the measures of these names, for the help."""
    for name in names:
        if name == "runid":
            yield "\nrunid\n  The name of the run, from its last line."
        elif name == "relstring":
            yield "\nrelstring\n  The grades of the first documents, a character each."
        else:
            ours = definition_of(name)[0]
            yield f"\n{name}\n  {ours.summary}\n  {ours.formula}"
