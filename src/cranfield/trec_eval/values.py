"""The values of trec_eval's lines: one for every query it evaluates, and one for all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cranfield.measures.calculating import unchecked_values
from cranfield.measures.trec_eval_names import PrintedLine
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

FLOOR = 0.00001  # the lowest value in a geometric mean
NO_ZSCORE = -1000000.0
Tables = Mapping[str, Any]  # the tables for each kind of judgments; "ranks" are the ordinary judged ranks
ZScores = Mapping[tuple[str, str], tuple[float, float]]  # mean and deviation by query and name of the line


class Selection(NamedTuple):
    """The places of the queries that are evaluated, in order, and the query whose absence from the run ends it."""

    places: Integers
    lacking: str | None


def select(judged: JudgedRanks, *, complete: bool, skip: bool, only: str | None = None) -> Selection:
    """Choose the queries in the order of their ids' bytes.

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
    return Selection(np.array(places, dtype=np.int64), lacking)


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
    if is_geometric(line):
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
    if is_geometric(line):
        return math.exp((total + (queries - len(places)) * math.log(FLOOR)) / queries)
    return total if is_count(line) else total / queries


def is_count(line: PrintedLine) -> bool:
    return _aggregates(line) == ["sum"]


def is_geometric(line: PrintedLine) -> bool:
    return _aggregates(line) == ["geometric"]


def _aggregates(line: PrintedLine) -> Sequence[str]:
    return [measure.definition.aggregate for measure in line.measures]
