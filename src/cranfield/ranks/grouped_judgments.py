"""Judgments in which a document may have several grades for a query: one for each subtopic, or group of judges."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cranfield.errors import DuplicateError, InputError
from cranfield.io.mappings import id_text
from cranfield.io.shapes import Grouped, Rankings, Rows, Text
from cranfield.io.source import open_grouped
from cranfield.io.text import blocks, decoded, located
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.reading_judgments import duplicate_message, graded, refuse_none

# {query: {(group, subgroup): {document: grade}}}
ByGroup = Mapping[str, Mapping[tuple[str, str], Mapping[str, float]]]
_Found = defaultdict[str, defaultdict[tuple[str, str], dict[str, float]]]

ONLY = "0"  # the group of judgments without one
MANY = (Mapping, list, tuple, set, frozenset)  # the types of a group in a mapping, in which a grade is a number


class GroupedJudgments:
    """Judged documents by query and group, as columns. Build them with `GroupedJudgments.read`.

    A group is a subtopic of the query, a judge or group of judges, or a stratum of a sampled pool; subgroups only
    matter to preferences.

    flat: the judgments with the highest grade of each document, which a run is scanned with
    group_ids, group_query: the groups, ordered by query and id, and the query of each
    row: for every judgment, the row of `flat` that its document is
    group: its group
    subgroup: its subgroup, counted from 0 in each group
    grades: its grade

    >>> from cranfield import evaluate
    >>> judgments = GroupedJudgments.read({"q": {"history": {"a": 1}, "price": {"a": 1, "b": 2}}})
    >>> judgments.group_ids, judgments.flat.by_query
    (('history', 'price'), {'q': {'a': 1.0, 'b': 2.0}})
    >>> evaluate(judgments, {"q": ["b", "a"]}, "StRecall@1")["StRecall@1"]
    0.5
    >>> GroupedJudgments.read({"q": {"history": {"a": 1}}}).to_judgments()
    Judgments(queries=1, judgments=1)
    """

    def __init__(self, by_query: ByGroup, *, name: str, sha256: str = "") -> None:
        self.name = name
        self.flat = Judgments({query: _highest(groups) for query, groups in by_query.items()}, name=name, sha256=sha256)
        group_ids: list[str] = []
        group_query: list[int] = []
        columns: list[tuple[int, int, int, float]] = []
        first = self.flat.first.tolist()
        for number, query in enumerate(self.flat.query_ids):
            documents = self.flat.document_ids[first[number] : first[number + 1]]
            row = {document: at for at, document in enumerate(documents, first[number])}
            before, subgroup = None, 0
            for (group, _), judged in sorted(by_query[query].items()):
                if not judged:
                    continue  # groups without judgments do not count
                if group != before:
                    before, subgroup = group, 0
                    group_ids.append(group)
                    group_query.append(number)
                else:
                    subgroup += 1
                columns += [(row[d], len(group_ids) - 1, subgroup, judged[d]) for d in sorted(judged)]
        self.group_ids = tuple(group_ids)
        self.group_query: Integers = np.array(group_query, dtype=np.int64)
        self.row: Integers = np.array([row for row, *_ in columns], dtype=np.int64)
        self.group: Integers = np.array([group for _, group, *_ in columns], dtype=np.int64)
        self.subgroup: Integers = np.array([subgroup for *_, subgroup, _ in columns], dtype=np.int64)
        self.grades: Numbers = np.array([grade for *_, grade in columns], dtype=np.float64)
        if not sha256 and set(group_ids) != {ONLY}:
            self.flat.sha256 = self._digest()

    @classmethod
    def read(cls, qrels: Any, format: str | None = None, *, strata: bool = False) -> GroupedJudgments:
        """Read judgments that name a group for every grade.

        qrels: what `Judgments.read` takes, where the group is the second column of a TREC file. Also a file with five
            columns (query group subgroup document grade, or query iteration document stratum grade),
            {query: {group: {document: grade}}}, rows (query, group, document, grade), and tables with a column called
            group, subtopic, stratum or iteration.
        format: the format of the file, if it cannot be detected.
        strata: read the strata of a sampled pool as groups; needed for a store.
        Returns the judgments; those without groups are one group.

        >>> GroupedJudgments.read({"q1": {"s1": {"d1": 1, "d2": 0}, "s2": {"d1": 2}}})
        GroupedJudgments(queries=1, groups=2, judgments=3)
        """
        if isinstance(qrels, GroupedJudgments):
            return qrels
        if strata and hasattr(type(qrels), "to_strata"):  # a store of judgments
            return cls.read(qrels.to_strata())
        if isinstance(qrels, Judgments) or hasattr(type(qrels), "to_judgments"):  # such as a store of judgments
            flat = Judgments.read(qrels)
            by_group = {query: {(ONLY, ONLY): judged} for query, judged in flat.by_query.items()}
            grouped = cls(by_group, name=flat.name, sha256=flat.sha256)
            grouped.flat.provenance = flat.provenance
            return grouped
        source = open_grouped(qrels, format, strata=strata)
        by_query = _READERS[type(source)](source)
        refuse_none(source.name, (judged for groups in by_query.values() for judged in groups.values()))
        grouped = cls(by_query, name=source.name, sha256=source.stream.sha256 if source.stream else "")
        grouped.flat.provenance = getattr(source, "provenance", "")
        return grouped

    def __repr__(self) -> str:
        sizes = f"queries={len(self)}, groups={len(self.group_ids)}, judgments={len(self.row)}"
        return f"GroupedJudgments({sizes})"

    def __len__(self) -> int:
        return len(self.flat)

    def to_judgments(self) -> Judgments:
        """The same as ordinary judgments; an error if a document has several grades, since its grade is ambiguous."""
        counts = np.bincount(self.row, minlength=len(self.flat.grades))
        several = np.flatnonzero(counts > 1)
        if len(several):
            row = int(several[0])
            raise InputError(
                self.name,
                f"{self._named(row)} is judged {counts[row]} times, so its grade is ambiguous.",
                hint="ordinary measures can take the highest grade of each document: "
                "evaluate(GroupedJudgments.read(qrels).flat, run)",
            )
        return self.flat

    def _named(self, row: int) -> str:
        """The document of a row of `flat`, in errors."""
        query = self.flat.query_ids[int(np.searchsorted(self.flat.first, row, side="right")) - 1]
        return f"document '{self.flat.document_ids[row]}' of query '{query}'"

    def _refuse_subgroups(self) -> None:
        """Refuse a document with several grades in one group: only preferences can come in subgroups."""
        pairs, counts = np.unique(np.stack((self.group, self.row)), axis=1, return_counts=True)
        several = pairs[:, counts > 1]
        if several.size:
            group, row = several[:, 0].tolist()
            fact = f"{self._named(row)} is judged in several subgroups of group '{self.group_ids[group]}'."
            raise InputError(self.name, fact, hint="subgroups are for measures of preferences, such as prefs_simp")

    def _digest(self) -> str:
        digest = hashlib.sha256("\n".join((self.flat.sha256, *self.group_ids)).encode())
        for column in (self.group_query, self.row, self.group, self.subgroup, self.grades):
            digest.update(column.tobytes())
        return digest.hexdigest()


def _highest(groups: Mapping[tuple[str, str], Mapping[str, float]]) -> dict[str, float]:
    highest: dict[str, float] = {}
    for judged in groups.values():
        for document, grade in judged.items():
            highest[document] = max(grade, highest.get(document, grade))
    return highest


def _nothing() -> _Found:
    return defaultdict(lambda: defaultdict(dict))


def _where(group: str, subgroup: str) -> str:
    return f" in group '{group}'" + (f", subgroup '{subgroup}'" if subgroup != ONLY else "")


@located()
def _from_text(source: Text) -> _Found:
    by_query = _nothing()
    for block in blocks(source.stream, source.layout, held=True):
        columns = block.columns()
        groups = [decoded(ids) for ids in columns.groups]
        while len(groups) < 2:
            groups.append([ONLY] * len(columns.query))
        rows = zip(decoded(columns.query), *groups, decoded(columns.document), columns.value.tolist(), strict=True)
        for place, (query, group, subgroup, document, grade) in enumerate(rows):
            line = columns.line[place] if columns.line else place
            if not group or not subgroup:
                raise block.error(line, "the group is empty.", hint=f"a line is: {source.layout.shape}")
            judged = by_query[query][group, subgroup]
            if document in judged:
                fact = duplicate_message(query, document, judged[document], grade, _where(group, subgroup))
                hint = "keep one line for each query, group and document"
                raise block.error(line, fact, hint=hint, kind=DuplicateError)
            judged[document] = grade
    return by_query


def _from_rows(source: Rows) -> _Found:
    by_query = _nothing()
    for row in source.rows:
        group, subgroup = (*row.groups, ONLY, ONLY)[:2]
        judged = by_query[row.query][group, subgroup]
        if row.document in judged:
            fact = duplicate_message(row.query, row.document, judged[row.document], row.value, _where(group, subgroup))
            raise DuplicateError(source.name, f"{row.where}: {fact}")
        judged[row.document] = row.value
    return by_query


def _from_mapping(source: Rankings) -> _Found:
    by_query = _nothing()
    for query, judged in source.by_query.items():
        query_id = id_text(query, source.name, "a query")
        if query_id in by_query:
            raise InputError(source.name, f"the query '{query_id}' appears twice, as a number and as text.")
        if not isinstance(judged, Mapping) or not any(isinstance(value, MANY) for value in judged.values()):
            by_query[query_id][ONLY, ONLY] = graded(judged, query_id, source.name)
            continue
        for group, its_judged in judged.items():
            group_id = id_text(group, source.name, f"query '{query_id}', a group")
            if (group_id, ONLY) in by_query[query_id]:
                raise InputError(source.name, f"query '{query_id}': the group '{group_id}' appears twice.")
            by_query[query_id][group_id, ONLY] = graded(its_judged, query_id, source.name)
    return by_query


_READERS: dict[type[Grouped], Callable[[Any], _Found]] = {Text: _from_text, Rows: _from_rows, Rankings: _from_mapping}
