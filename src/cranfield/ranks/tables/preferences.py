"""Preferences: which documents the judges prefer to which, and how many of these preferences a ranking fulfils.

In a subgroup, a document is preferred to all documents with a lower grade. The preferences of the subgroups of one
group are combined, with everything that follows from them; different groups may disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    from cranfield.ranks.grouped_judgments import GroupedJudgments

NOT_RETRIEVED = np.iinfo(np.int64).max


class GroupCounts(NamedTuple):
    """Columns of counts, one for each group. A preference has both documents retrieved, one of them, or none."""

    query: Integers
    fulfilled_ret: Integers  # both retrieved, the better one above
    possible_ret: Integers  # both retrieved
    fulfilled_imp: Integers  # the better one retrieved, the other one not
    possible_imp: Integers  # one of them retrieved
    possible_none: Integers  # none of them
    # The same where as many documents are not relevant as are relevant: trec_eval's "Rnonrel".
    balanced_fulfilled: Integers
    balanced_possible: Integers
    balanced_fulfilled_ret: Integers
    balanced_possible_ret: Integers


class PairCounts(NamedTuple):
    """Pairs of documents of each query with a preference; one agrees by the share of those for the higher document."""

    agreeing_ret: Numbers  # both retrieved
    ret: Numbers
    agreeing_imp: Numbers  # one of them
    imp: Numbers
    none: Numbers  # none of them


@dataclass(frozen=True, eq=False)
class PreferenceRanks:
    groups: GroupCounts
    pairs: PairCounts

    def __len__(self) -> int:
        return len(self.pairs.ret)

    def sum(self, values: Integers | Numbers) -> Numbers:
        return np.bincount(self.groups.query, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def mean(self, values: Numbers) -> Numbers:
        return self.sum(values) / np.maximum(np.bincount(self.groups.query, minlength=len(self)), 1)

    @property
    def condensed(self) -> PreferenceRanks:
        """The same: unjudged documents have no part in preferences."""
        return self

    @classmethod
    def of(cls, grouped: GroupedJudgments, judged: JudgedRanks) -> PreferenceRanks:
        rank = np.full(len(grouped.flat.grades), NOT_RETRIEVED)
        rank[judged.row] = judged.rank
        starts = np.searchsorted(grouped.group, np.arange(len(grouped.group_ids) + 1))
        groups_of = np.searchsorted(grouped.group_query, np.arange(len(judged) + 1)).tolist()
        groups: list[tuple[int, ...]] = []
        pairs: list[tuple[float, ...]] = []
        for query in range(len(judged)):
            first, last = grouped.flat.first[query : query + 2].tolist()
            # Documents that were not retrieved are below all others, in the order of their ids.
            place = np.argsort(np.argsort(rank[first:last], kind="stable"))
            retrieved = int(np.count_nonzero(rank[first:last] < NOT_RETRIEVED))
            preferring = np.zeros((len(place), len(place)), dtype=np.int64)
            for group in range(groups_of[query], groups_of[query + 1]):
                prefers = _GroupPreferences.of_group(grouped, group, starts[group], starts[group + 1], place, first)
                preferring[np.ix_(prefers.place, prefers.place)] += prefers.better
                groups.append((query, *prefers.counts(retrieved)))
            pairs.append(_count_pairs(preferring, retrieved))
        return cls(
            GroupCounts(*np.array(groups, dtype=np.int64).reshape(-1, len(GroupCounts._fields)).T),
            PairCounts(*np.array(pairs, dtype=np.float64).reshape(-1, len(PairCounts._fields)).T),
        )


class _GroupPreferences(NamedTuple):
    """The preferences of one group, between its documents in the order they are retrieved in."""

    place: Integers  # of each document, among all judged documents of the query
    grade: Numbers
    better: Flags  # better[x, y]: x is preferred to y
    subgroups: bool

    @classmethod
    def of_group(
        cls, grouped: GroupedJudgments, group: int, first: int, last: int, place: Integers, first_row: int
    ) -> _GroupPreferences:
        """Read the judgments first to last; `place` is that of every judged document of the query."""
        rows, document = np.unique(grouped.row[first:last], return_inverse=True)
        grade, subgroup = grouped.grades[first:last], grouped.subgroup[first:last]
        better = np.zeros((len(rows), len(rows)), dtype=np.bool_)
        its_grade = np.zeros(len(rows))
        for number in np.unique(subgroup).tolist():
            here = subgroup == number
            better[np.ix_(document[here], document[here])] |= grade[here, None] > grade[None, here]
            its_grade[document[here]] = grade[here]
        if subgroup.any():
            mixed = np.flatnonzero((grade > 0) != (its_grade[document] > 0))
            if len(mixed):
                fact = "is relevant in one subgroup and not in another"
                raise _inconsistent(grouped, group, rows[document[mixed[0]]], fact)
            for middle in range(len(rows)):  # preferences are transitive
                better |= np.outer(better[:, middle], better[middle])
            circle = np.flatnonzero(better.diagonal())
            if len(circle):
                raise _inconsistent(grouped, group, rows[circle[0]], "is indirectly preferred to itself")
        at = place[rows - first_row]
        order = np.argsort(at)
        return cls(at[order], its_grade[order], better[np.ix_(order, order)], bool(subgroup.any()))

    def counts(self, retrieved: int) -> tuple[int, ...]:
        """The columns of `GroupCounts` but the first, where so many judged documents of the query were retrieved."""
        k, better = int(np.searchsorted(self.place, retrieved)), self.better
        return (
            _above(better[:k, :k]),
            int(better[:k, :k].sum()),
            int(better[:k, k:].sum()),
            int(better[:k, k:].sum() + better[k:, :k].sum()),
            int(better[k:, k:].sum()),
            *self._balanced(k, len(better)),
            *self._balanced(k, k),
        )

    def _balanced(self, k: int, n: int) -> tuple[int, int]:
        """Preferences fulfilled and possible among the first n documents, k of them retrieved, in trec_eval's balance.

        With R relevant documents, R - N others are added below all, or the R highest are kept.
        trec_eval, where there are no subgroups, then also compares those that are not relevant with each other, and
        counts none of these comparisons as fulfilled unless one is above; this gives the same values.
        """
        relevant = self.grade > 0
        better = self.better[:n, :n]
        total, others = int(relevant[:n].sum()), int((~relevant[:n]).sum())
        if total >= others:
            added = total - others
            fulfilled = _above(better[:k]) + int(relevant[:k].sum()) * added
            return fulfilled, int(better.sum()) + int(relevant.sum()) * added
        counted = better.copy()
        if self.subgroups:
            left_out = np.flatnonzero(~relevant[:n])[int(relevant.sum()) :]
            counted[left_out] = False
        else:
            left_out = np.flatnonzero(self.grade[:n] == self.grade.min())
            counted[:, left_out[:total]] = True
            left_out = left_out[total:]
        counted[:, left_out] = False
        return _above(counted[:k]), int(counted.sum())


def _above(better: Flags) -> int:
    return int(np.triu(better, 1).sum())


def _count_pairs(preferring: Integers, k: int) -> tuple[float, ...]:
    """The columns of `PairCounts`: how many groups prefer x to y, where the first k documents are retrieved."""
    either = np.triu(preferring + preferring.T, 1)
    share = np.divide(preferring, either, out=np.zeros(either.shape), where=either > 0)
    some = either > 0
    return (
        float(share[:k, :k].sum()),
        int(some[:k, :k].sum()),
        float(share[:k, k:].sum()),
        int(some[:k, k:].sum()),
        int(some[k:, k:].sum()),
    )


def _inconsistent(grouped: GroupedJudgments, group: int, row: int, what: str) -> InputError:
    fact = f"{grouped._named(row)} {what} of group '{grouped.group_ids[group]}'."
    return InputError(grouped.name, fact, hint="the preferences of one group must agree; different groups need not")
