"""Tables of rankings in which every unjudged document has been given a grade."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks


def complete_table(grades: Numbers, judged: Numbers, retrieved: int, lengths: Numbers | None = None) -> JudgedRanks:
    """Fully judged rankings of `retrieved` documents, of which each line of `grades` has the first, `judged` all."""
    count, depth = grades.shape
    return JudgedRanks(
        query_ids=("",) * count,
        query=np.repeat(np.arange(count), depth),
        rank=np.tile(np.arange(1, depth + 1), count),
        grade=grades.reshape(-1),
        tied=np.zeros(grades.size, dtype=np.bool_),
        row=np.arange(grades.size),
        retrieved=np.full(count, retrieved),
        missing=np.zeros(count, dtype=np.bool_),
        all_judged=JudgedGrades(
            -np.sort(-judged, axis=1).reshape(-1), offsets([judged.shape[1]] * count), np.arange(judged.size)
        ),
        lengths=None if lengths is None else (lengths,) * count,
    )


def matrix(rows: Iterable[tuple[float, ...]], count: int, width: int) -> Numbers:
    return np.fromiter(chain.from_iterable(rows), np.float64, count * width).reshape(count, width)


def joined(tables: Sequence[JudgedRanks]) -> JudgedRanks:
    before = np.cumsum([0, *map(len, tables)])[:-1].tolist()

    def column(name: str) -> Any:
        return np.concatenate([getattr(table, name) for table in tables])

    return JudgedRanks(
        query_ids=("",) * sum(map(len, tables)),
        query=np.concatenate([table.query + first for table, first in zip(tables, before, strict=True)]),
        rank=column("rank"),
        grade=column("grade"),
        tied=column("tied"),
        row=column("row"),
        retrieved=column("retrieved"),
        missing=column("missing"),
        all_judged=JudgedGrades(
            column("judged_grades"),
            offsets(chain.from_iterable(np.diff(table.judged_first).tolist() for table in tables)),
            column("judged_row"),
        ),
        lengths=None
        if tables[0].lengths is None
        else tuple(chain.from_iterable(table.lengths or () for table in tables)),
    )


def filled_rankings(judged: JudgedRanks, grade: float) -> dict[str, Any]:
    place = offsets(judged.retrieved)
    full = np.full(place[-1], grade)
    known = judged.judged
    full[place[judged.query[known]] + judged.rank[known] - 1] = judged.grade[known]
    whose = np.repeat(np.arange(len(judged)), judged.retrieved)
    rank = np.arange(len(full)) - place[whose] + 1
    untied = np.zeros(len(full), dtype=np.bool_)
    row = np.arange(len(full))
    return {"query": whose, "rank": rank, "grade": full, "tied": untied, "row": row, "tied_rows": None}


def filled_judgments(judged: JudgedRanks, grade: float, unseen: Integers) -> dict[str, Any]:
    """The columns of judgments in which unjudged documents, and this many that were not retrieved, have this grade.

    Together with `filled_rankings` of the same grade they are a completion. With those of another grade they are not,
    but no completion of a monotone measure lies beyond one end's rankings with the other end's judgments.
    """
    known = judged.judged_grades >= 0
    added = (judged.retrieved - judged.sum(judged.judged)).astype(np.int64) + unseen
    query, grades = judged.judged_query[known], judged.judged_grades[known]
    judged_first = offsets(np.bincount(query, minlength=len(judged)))
    first = judged_first + offsets(added)
    everything = np.full(first[-1], grade)
    # The judged grades fall already; those below this one come after all that are added.
    place = np.arange(len(grades)) + (first - judged_first)[query] + np.where(grades < grade, added[query], 0)
    everything[place] = grades
    return {"all_judged": JudgedGrades(everything, first, np.arange(len(everything)))}


def single_documents(depth: int, grade: float) -> JudgedRanks:
    """Rankings of which one document is judged: at rank 1, 2, and so on down to the depth."""
    return replace(
        complete_table(np.full((depth, 1), grade), np.full((depth, 1), grade), depth), rank=np.arange(1, depth + 1)
    )


def table_of_grades(grades: Sequence[float | None], missed: Sequence[float]) -> JudgedRanks:
    if isinstance(grades, str | bytes):
        raise InputError("the grades", f"{grades!r:.60} is not a list of numbers.", hint="for instance [3, 0, None, 1]")
    judged = [(rank, _number(grade, f"rank {rank}")) for rank, grade in enumerate(grades, 1) if grade is not None]
    rank = np.array([rank for rank, _ in judged], dtype=np.int64)
    grade = np.array([grade for _, grade in judged], dtype=np.float64)
    more = [_number(grade, "a missed document") for grade in missed]
    every = np.concatenate((grade, np.array(more, dtype=np.float64)))
    best_first = np.argsort(-every, kind="stable")
    return JudgedRanks(
        query_ids=("",),
        query=np.zeros(len(rank), dtype=np.int64),
        rank=rank,
        grade=grade,
        tied=np.zeros(len(rank), dtype=np.bool_),
        row=np.arange(len(rank)),
        retrieved=np.array([len(grades)], dtype=np.int64),
        missing=np.array([False]),
        all_judged=JudgedGrades(every[best_first], offsets([len(every)]), best_first),
    )


def _number(grade: Any, where: str) -> float:
    try:
        if isinstance(grade, str | bytes | bool) or not math.isfinite(grade):
            raise TypeError
    except (TypeError, OverflowError):
        raise InputError("the grades", f"{where}: {grade!r:.60} is not a finite number.") from None
    return float(grade)
