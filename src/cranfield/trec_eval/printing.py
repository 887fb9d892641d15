"""The lines of trec_eval, byte for byte: one for every query that it evaluates, and one for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.io.streams import Stream
from cranfield.measures.calculating import unchecked_values
from cranfield.measures.trec_eval_names import PrintedLine, definition_of
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

FLOOR = 0.00001  # the lowest value in a geometric mean
NO_ZSCORE = -1000000.0
ZSCORE_HINT = "a line is: query measure mean deviation"
Tables = Mapping[str, Any]  # the tables for each kind of judgments; "ranks" are the ordinary judged ranks
ZScores = Mapping[tuple[str, str], tuple[float, float]]  # mean and deviation by query and name of the line


def select(judged: JudgedRanks, *, complete: bool, skip: bool, only: str | None = None) -> tuple[Integers, str | None]:
    """The places of the queries that are evaluated, by their ids, and the query whose absence from the run ends it.

    Without -c, trec_eval 10 ends at the first query that the run lacks; trec_eval 9 skips such queries, also under -c.
    """
    ids = judged.query_ids
    places = [place for place in sorted(range(len(ids)), key=ids.__getitem__) if only is None or ids[place] == only]
    gone = [place for place in places if judged.missing[place]]
    lacking = None
    if skip:
        places = [place for place in places if not judged.missing[place]]
    elif gone and not complete:
        places, lacking = places[: places.index(gone[0])], ids[gone[0]]
    return np.array(places, dtype=np.int64), lacking


def with_dummies(judged: JudgedRanks) -> JudgedRanks:
    """The table where a query that the run lacks has a ranking of one unjudged document, as -c has it."""
    return replace(judged, retrieved=np.where(judged.missing, 1, judged.retrieved))


def values(line: PrintedLine, tables: Tables, zscores: ZScores | None = None) -> Numbers:
    """The value of every query, 0 for text. Where the mean is geometric, it is that of the logarithm.

    A missing query keeps what its dummy document scores, except in a few lines whose names trec_eval knows.
    """
    judged = tables["ranks"]
    column: Numbers = np.zeros(len(judged))
    for measure in reversed(line.measures):
        column += unchecked_values(measure, tables[measure.definition.table])  # trec_eval prints inf and nan
    column /= max(len(line.measures), 1)
    if line.name in ("num_ret", "utility", "rbp_resid") or line.entry.name == "unj":
        column[judged.missing] = 0
    if line.least is not None:
        column[judged.n_relevant(line.least) == 0] = 0
    if _has_aggregate(line, "geometric"):
        column = np.log(np.maximum(column, FLOOR))
    if zscores is not None:
        pairs = zip(judged.query_ids, column.tolist(), strict=True)
        column = np.array([_zscore(value, zscores.get((query, line.name))) for query, value in pairs])
    return column


def _zscore(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return NO_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else NO_ZSCORE


def grades_text(line: PrintedLine, judged: JudgedRanks) -> list[str]:
    """relstring: the grades of the first documents of every query, a character each.

    `-` is an unjudged document, `.` a negative grade, `>` a grade above 9.
    """
    depth = np.minimum(judged.retrieved, line.length)
    if line.name == line.entry.name:
        depth = np.where(judged.missing, 0, depth)
    texts = [["-"] * length for length in depth.tolist()]
    here = judged.rank <= depth[judged.query]
    rows = zip(judged.query[here].tolist(), judged.rank[here].tolist(), judged.grade[here].tolist(), strict=True)
    for query, rank, grade in rows:
        texts[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else f"{grade:.0f}"
    return ["".join(text) for text in texts]


def summary(line: PrintedLine, column: Numbers, places: Integers, judged: JudgedRanks, *, complete: bool) -> float:
    """The value of a line for all queries: of those at `places`, added in this order, or under -c of all judged ones.

    A missing query that is not among the places counts 0. Under -c, num_rel is the number of grades above 0, whatever
    -l says.
    """
    queries = len(judged) if complete else len(places)
    if line.name == "num_q":
        return queries
    if line.name == "num_rel" and complete:
        return float((judged.judged_grades > 0).sum())
    # One after the other, as trec_eval adds: numpy's sum would round differently.
    total = float(np.cumsum(column[places])[-1])
    if _has_aggregate(line, "geometric"):
        return math.exp((total + (queries - len(places)) * math.log(FLOOR)) / queries)
    return total if _has_aggregate(line, "sum") else total / queries


def _has_aggregate(line: PrintedLine, how: str) -> bool:
    return [measure.definition.aggregate for measure in line.measures] == [how]


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
        formats = [
            (self._label(line), self._format(line), column)
            for line, column in zip(self.lines, self.values, strict=True)
            if line.name not in ("runid", "num_q") and not _has_aggregate(line, "geometric")  # which are for all only
        ]
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
        return "{:.0f}" if _has_aggregate(line, "sum") and not self.zscores else "{:6.4f}"


def about(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name == "runid":
            yield "\nrunid\n  The name of the run, from its last line."
        elif name == "relstring":
            yield "\nrelstring\n  The grades of the first documents, a character each."
        else:
            ours = definition_of(name)[0]
            yield f"\n{name}\n  {ours.summary}\n  {ours.formula}"


def read_zscores(source: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and deviation by query and measure; a deviation may be nan, as trec_eval's own example has it."""
    references: dict[tuple[str, str], tuple[float, float]] = {}
    data = Stream(source).content()
    if not data:
        raise InputError(source, "it is empty.", hint=ZSCORE_HINT)
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        try:
            fields = line.decode().split()
        except UnicodeDecodeError:
            raise InputError(source, "this is not UTF-8 text.", line=number) from None
        if len(fields) != 4:
            raise InputError(source, f"{len(fields)} columns where 4 are needed.", line=number, hint=ZSCORE_HINT)
        query, name, *numbers = fields
        try:
            mean, deviation = map(float, numbers)
        except ValueError:
            raise InputError(
                source, f"'{' '.join(numbers)}' are not two numbers.", line=number, hint=ZSCORE_HINT
            ) from None
        if (query, name) in references:
            raise InputError(source, f"the query '{query}' has '{name}' twice.", line=number)
        references[query, name] = mean, deviation
    return references
