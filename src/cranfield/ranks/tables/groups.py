"""Judgment groups: one table in which each group of a query takes the role of a query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.grades import graded
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments


@dataclass(frozen=True, eq=False)
class GroupRanks:
    """Ordinary judged ranks for each group, and the query of each group."""

    ranks: JudgedRanks
    query: Integers
    queries: int

    def __len__(self) -> int:
        return self.queries

    def mean(self, values: Numbers) -> Numbers:
        total = np.bincount(self.query, weights=values, minlength=len(self))
        return total / np.maximum(np.bincount(self.query, minlength=len(self)), 1)

    @cached_property
    def condensed(self) -> GroupRanks:
        return replace(self, ranks=self.ranks.condensed)

    @classmethod
    def of(cls, grouped: GroupedJudgments, judged: JudgedRanks, policy: Policy) -> GroupRanks:
        grades = graded(grouped.grades, policy)
        grouped._refuse_subgroups()
        place = np.full(len(grouped.flat.grades), -1, dtype=np.int64)
        place[judged.row] = np.arange(len(judged.row))
        place = place[grouped.row]  # the row of each judgment's document in the table; -1: not retrieved
        rows = np.flatnonzero(place >= 0)
        rows = rows[np.lexsort((place[rows], grouped.group[rows]))]  # the table is in the order of the ranks
        at = place[rows]
        by_grade = np.lexsort((-grades, grouped.group))
        query_ids = zip(grouped.group_query.tolist(), grouped.group_ids, strict=True)
        ranks = JudgedRanks(
            query_ids=tuple(f"{judged.query_ids[query]} {group}" for query, group in query_ids),
            query=grouped.group[rows],
            rank=judged.rank[at],
            grade=grades[rows],
            tied=judged.tied[at],
            row=rows,
            retrieved=judged.retrieved[grouped.group_query],
            missing=judged.missing[grouped.group_query],
            all_judged=JudgedGrades(
                grades[by_grade],
                offsets(np.bincount(grouped.group, minlength=len(grouped.group_ids)).tolist()),
                by_grade,
            ),
            extra=judged.extra,
            complete=judged.complete,
        )
        return cls(ranks, grouped.group_query, len(judged))
