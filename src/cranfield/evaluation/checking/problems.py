"""The problems that a file can have, and how serious they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cranfield.errors import InputError
from cranfield.words import shortened

Severity = Literal["error", "warning"]

# What the program calls each kind. An error stops an evaluation or makes all of its values worthless.
KINDS: dict[str, Severity] = {
    "unreadable": "error",  # the whole file
    "malformed": "error",  # a row that cannot be read
    "duplicate": "error",  # a document twice for a query
    "empty": "error",  # not one row
    "no-common-query": "error",
    "no-common-document": "error",
    "similar-id": "warning",  # ids that differ in capitals, blanks or zeros between the files
    "missing-query": "warning",  # judged, but not in the run
    "negative-grades": "warning",  # grades below -1, which may be judgments or not
    "no-relevant": "warning",  # a query without a relevant document
    "contradictory-grades": "warning",  # documents with the same text and different grades
    "unjudged-copy": "warning",  # a document without a judgment, with the same text as one that has one
    "rank-order": "warning",  # ranks that disagree with the scores
    "reversed-scores": "warning",  # scores that may be distances
    "rank-number": "warning",  # a rank that is not a whole number
    "equal-scores": "warning",  # a ranking in which all scores are equal
    "mixed-names": "warning",  # several names in the last column of a run
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: what is wrong, where, and what to do about it.

    >>> import io, cranfield
    >>> qrels, run = io.BytesIO(b"1 0 a 1\\n2 0 a 1\\n"), io.BytesIO(b"1 Q0 a 1 0.5 x\\n")
    >>> [problem] = cranfield.check_files(qrels, [run]).problems
    >>> problem.kind, problem.severity, problem.file
    ('missing-query', 'warning', 'an open file')
    """

    file: str
    line: int | None  # from 1; rows where the format has no lines
    kind: str
    severity: Severity
    message: str
    hint: str

    def __repr__(self) -> str:
        return f"<{self.severity.capitalize()} {self.kind}: {shortened(str(self), 150)}>"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class More:
    """How many problems of a kind in a file are not listed."""

    file: str
    kind: str
    severity: Severity
    count: int


class Problems:
    """Collects the problems of a file: the first `most` of each kind, and how many there are."""

    def __init__(self, file: str, most: int) -> None:
        self.file = file
        self.counts: Counter[str] = Counter()
        self._most = most
        self._listed: list[Problem] = []

    def add(self, kind: str, message: str, *, line: int | None = None, hint: str = "") -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= self._most:
            self._listed.append(Problem(self.file, line, kind, KINDS[kind], message, hint))

    def add_error(self, error: InputError, kind: str = "malformed") -> None:
        """Add an error of a reader, without the place that its text begins with."""
        self.add(kind, error.fact.removeprefix(f"{error.place}: "), line=error.line, hint=error.hint)

    def listed(self) -> list[Problem]:
        """The problems, errors first, those of a kind together, then by line."""
        kinds = list(KINDS)
        return sorted(self._listed, key=lambda problem: (kinds.index(problem.kind), problem.line or 0))

    def more(self) -> Iterable[More]:
        for kind, count in self.counts.items():
            if count > self._most:
                yield More(self.file, kind, KINDS[kind], count - self._most)
