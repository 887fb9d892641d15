"""Checking judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cranfield.evaluation.checking.problems import Problems
from cranfield.io.mappings import number_text
from cranfield.io.records import RecordFile, Records, rows_by_query
from cranfield.ranks.reading_judgments import duplicate_message
from cranfield.words import count

HINT = "keep one line for each query and document"


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the median and the most of some counts."""

    least: int
    median: float
    most: int

    @classmethod
    def of(cls, counts: Collection[int]) -> Spread:
        return cls(min(counts), float(np.median(list(counts))), max(counts)) if counts else cls(0, 0.0, 0)


@dataclass(frozen=True, slots=True)
class JudgmentFacts:
    """What a file of judgments holds. Documents are relevant from grade 1."""

    file: str
    queries: int
    judgments: int
    grades: dict[str, int]  # how many judgments have each, the lowest first
    documents: Spread  # of a query
    relevant: Spread  # of a query
    no_relevant: int  # queries
    grouped: bool  # documents have several grades, for subtopics or from several judges
    never_retrieved: int  # judged documents, by all runs; 0 without runs
    relevant_never_retrieved: int
    examples: tuple[tuple[str, str], ...]  # (query, document): some of those, relevant ones first

    def __repr__(self) -> str:
        judged, queries = count(self.judgments, "judgment"), count(self.queries, "query", "queries")
        return f"<JudgmentFacts of {self.file}: {judged} of {queries}>"


class JudgmentCheck:
    """The judgments of a file, and what is wrong with them."""

    def __init__(self, file: RecordFile, problems: Problems, *, scattered: bool = False) -> None:
        self.file = file
        self.problems = problems
        self.by_query: dict[str, dict[str, float]] = {}  # the highest grade of each document
        self.lines: dict[str, int | None] = {}  # where each query starts
        self.grouped = False
        self._grades: Counter[float] = Counter()
        for records in rows_by_query(file, problems.add_error, scattered=scattered):
            self._add(records)
        if not self.by_query and not problems.counts:
            problems.add("empty", "it contains no judgments.")
        for query, judged in self.by_query.items():
            if max(judged.values()) < 1:
                problems.add(
                    "no-relevant",
                    f"query '{query}' has no relevant document among {len(judged)} judged.",
                    line=self.lines[query],
                    hint="it scores 0 in most measures, whatever the run returns; leave it out, or judge more",
                )

    def _add(self, records: Records) -> None:
        query = records.query[0]
        judged: dict[str, float] = {}
        seen: dict[tuple[str, str], int] = {}
        groups = records.group or ["0"] * len(records.document)
        grades = records.value.tolist()
        for at, (document, group, grade) in enumerate(zip(records.document, groups, grades, strict=True)):
            first = seen.setdefault((document, group), at)
            if first != at:
                before = records.place(first)
                where = f", on {self.file.unit} {before} and here" if before else ""
                fact = duplicate_message(query, document, grades[first], grade, where)
                self.problems.add("duplicate", fact, line=records.place(at), hint=HINT)
                continue
            self._grades[grade] += 1
            self.grouped = self.grouped or document in judged
            judged[document] = max(grade, judged.get(document, grade))
        self.by_query[query] = judged
        self.lines[query] = records.place(0)

    def ask_about_negative_grades(self) -> None:
        """Warn about grades below -1: -1 usually means pooled but not judged, others seldom do."""
        low = sorted(grade for grade in self._grades if grade < -1)
        if low:
            listed, number = ", ".join(map(number_text, low)), sum(self._grades[grade] for grade in low)
            self.problems.add(
                "negative-grades",
                f"{count(number, 'judgment has', 'judgments have')} a grade below -1 ({listed}), which usually means "
                "junk or spam that was judged; here negative grades count as not judged.",
                hint="if they were judged, use --negative nonrelevant, here and when you evaluate; "
                "if not, --negative unjudged",
            )

    def facts(self, never: dict[str, set[str]]) -> JudgmentFacts:
        """The facts; `never`: judged documents by query that no run has."""
        relevant = [sum(grade >= 1 for grade in judged.values()) for judged in self.by_query.values()]
        pairs = [(query, document) for query, left in never.items() for document in sorted(left)]
        pairs.sort(key=lambda pair: -self.by_query[pair[0]][pair[1]])
        return JudgmentFacts(
            file=self.file.name,
            queries=len(self.by_query),
            judgments=self._grades.total(),
            grades={number_text(grade): count for grade, count in sorted(self._grades.items())},
            documents=Spread.of([len(judged) for judged in self.by_query.values()]),
            relevant=Spread.of(relevant),
            no_relevant=relevant.count(0),
            grouped=self.grouped,
            never_retrieved=len(pairs),
            relevant_never_retrieved=sum(self.by_query[query][document] >= 1 for query, document in pairs),
            examples=tuple(pairs[:3]),
        )
