"""The table of one ranking from a plain list of its grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.ranks.columns import offsets
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks


def table_of_grades(grades: Sequence[float | None], missed: Sequence[float]) -> JudgedRanks:
    """See `JudgedRanks.of_grades`."""
    judged = [
        (rank, _number(grade, f"rank {rank}")) for rank, grade in enumerate(_listed(grades), 1) if grade is not None
    ]
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


def _listed(grades: Sequence[float | None]) -> Sequence[float | None]:
    if isinstance(grades, str | bytes):
        raise InputError("the grades", f"{grades!r:.60} is not a list of numbers.", hint="for instance [3, 0, None, 1]")
    return grades


def _number(grade: Any, where: str) -> float:
    try:
        if isinstance(grade, str | bytes | bool) or not math.isfinite(grade):
            raise TypeError
    except (TypeError, OverflowError):
        raise InputError("the grades", f"{where}: {grade!r:.60} is not a finite number.") from None
    return float(grade)
