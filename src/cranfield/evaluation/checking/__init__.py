"""check_files(qrels, runs) → CheckReport: everything that is wrong with files, and what they contain.

An evaluation stops at the first error; a check goes on to the end. It reads every file once, a query at a time, and
keeps only the judgments, the ids of the queries, and the first problems of each kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

from cranfield.drawing import as_html
from cranfield.errors import InputError
from cranfield.evaluation.advice import Advice, advice_on
from cranfield.evaluation.advice.collection_facts import RUN_MEASURES
from cranfield.evaluation.checking.copies import CopyCheck
from cranfield.evaluation.checking.judged import JudgmentCheck, JudgmentFacts, Spread
from cranfield.evaluation.checking.problems import KINDS, More, Problem, Problems, Severity
from cranfield.evaluation.checking.retrieved import RunCheck, RunFacts
from cranfield.evaluation.from_ranks import digest_of, evaluation_of
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.naming import named_runs
from cranfield.evaluation.result import Evaluation
from cranfield.io.formats import open_records
from cranfield.io.streams import Stream
from cranfield.io.text import Scattered
from cranfield.measures import parse_measures
from cranfield.ranks.grades import lowest_judged
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_scanned
from cranfield.ranks.rising import RISING
from cranfield.words import count

__all__ = ["KINDS", "CheckReport", "JudgmentFacts", "More", "Problem", "RunFacts", "Spread", "check_files"]

MOST = 10
_Checked = TypeVar("_Checked", JudgmentCheck, RunCheck)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What is wrong with judgments and runs, and what they contain.

    >>> import io
    >>> qrels, run = io.BytesIO(b"1 0 a 1\\n2 0 a 1\\n"), io.BytesIO(b"1 Q0 a 1 0.5 x\\n")
    >>> report = check_files(qrels, [run])
    >>> report.passes(), report.passes(strict=True), report.count("warning"), report.unreadable
    (True, False, 1, False)
    >>> report.judgments.queries, report.runs[0].rows
    (2, 1)
    """

    problems: tuple[Problem, ...]
    more: tuple[More, ...]  # problems that are not listed
    judgments: JudgmentFacts
    runs: tuple[RunFacts, ...]  # without those that cannot be read
    advice: Advice | None  # None where there are errors, or documents with several grades

    def __repr__(self) -> str:
        errors, warnings = count(self.count("error"), "error"), count(self.count("warning"), "warning")
        return f"<CheckReport: {errors}, {warnings}; {count(len(self.runs), 'run')}>"

    def __str__(self) -> str:
        return "\n".join([repr(self).strip("<>"), *map(str, self.problems)])

    def _repr_html_(self) -> str:
        return as_html("text", str(self))

    def count(self, severity: Severity) -> int:
        """Count the problems of a severity, listed or not.

        severity: "error" or "warning".
        Returns how many there are.
        """
        listed = sum(problem.severity == severity for problem in self.problems)
        return listed + sum(more.count for more in self.more if more.severity == severity)

    @property
    def unreadable(self) -> bool:
        """Whether a file could not be read at all."""
        return any(problem.kind == "unreadable" for problem in self.problems)

    def passes(self, *, strict: bool = False) -> bool:
        """Whether the files are good enough to go on.

        strict: let warnings fail too, not only errors.
        Returns True if there is no error and, if strict, no warning.
        """
        return not self.count("error") and not (strict and self.count("warning"))


def check_files(
    qrels: Any,
    runs: Any,
    *,
    format: str | None = None,
    qrels_format: str | None = None,
    policy: Policy | None = None,
    most: int = MOST,
    corpus: Any = None,
) -> CheckReport:
    """Find all problems in judgments and runs, and list the first `most` of each kind and file.

    Files are paths, "-" for standard input, or open binary files; of runs, one or several. Judgments that cannot be
    read at all raise an InputError; such a run is a problem of the kind "unreadable", and the others are still checked.

    qrels, runs: the files.
    format, qrels_format: the format of the runs and of the judgments, if it cannot be detected from the file.
    policy: what negative grades mean, and whether the judgments are complete. Without one, a warning asks what grades
        below -1 mean.
    most: how many problems of each kind and file are listed.
    corpus: a file of documents, a folder with one, {document: text} or a `Collection`: judged documents whose text has
        other ids too are found, with contradictory grades or without a judgment.
    Returns a `CheckReport`.

    >>> import io
    >>> report = check_files(io.BytesIO(b"1 0 a 1\\n"), [io.BytesIO(b"1 Q0 a 1 0.5 x\\n1 Q0 a 2 0.4 x\\n")])
    >>> print(report.problems[0])
    an open file:2: document 'a' appears twice in the ranking of query '1', on line 1 and here (0.5 and 0.4).
    """
    file = open_records(qrels, "qrels", qrels_format)
    judged = _whether_scattered(lambda scattered: JudgmentCheck(file, Problems(file.name, most), scattered=scattered))
    if policy is None:
        judged.ask_about_negative_grades()
    collected = [judged.problems]
    policy = policy or Policy()
    lowest = lowest_judged(policy)
    never = {
        query: {document for document, grade in grades.items() if grade >= lowest}
        for query, grades in judged.by_query.items()
    }
    judgments = Judgments(judged.by_query, name=file.name, provenance=file.provenance)
    copies = None if corpus is None else CopyCheck.of(judged, corpus)
    if copies:
        copies.follow(never)
    checks = []
    for run in [runs] if isinstance(runs, str | os.PathLike) else runs:
        stream = run if isinstance(run, Stream) else Stream(run)
        try:
            check = _check_run(stream, format, judgments, never, most, policy)
        except InputError as error:
            problems = Problems(stream.name, most)
            problems.add_error(error, "unreadable")
            collected.append(problems)
            continue
        checks.append(check)
        collected.append(check.problems)
    if copies:
        copies.report(never, any_runs=bool(checks))
    results: list[Evaluation] = []
    sound = not any(problem.severity == "error" for problems in collected for problem in problems.listed())
    if sound and not judged.grouped:
        names = named_runs([check.file.stream for check in checks])
        results = [_evaluated(name, judgments, check, policy) for name, check in zip(names, checks, strict=True)]
    for check, result in zip_longest(checks, results):
        if why := result._evidence.distances if result else RISING * check.rising:
            check.problems.add("reversed-scores", f"{why}.", hint="higher scores are better")
    listed = tuple(problem for problems in collected for problem in problems.listed())
    return CheckReport(
        problems=listed,
        more=tuple(more for problems in collected for more in problems.more()),
        judgments=judged.facts(never if checks else {}),
        runs=tuple(check.facts() for check in checks),
        advice=advice_on(judgments, results, policy) if sound and not judged.grouped else None,
    )


def _evaluated(name: str, judgments: Judgments, check: RunCheck, policy: Policy) -> Evaluation:
    """The evaluation of a run whose rows were checked; nothing is read again."""
    ranks = rank_scanned(judgments, check.scanned, policy, check.file.name)
    inputs = InputHashes(judgments.sha256, partial(digest_of, ranks))
    return evaluation_of(
        name,
        parse_measures(RUN_MEASURES),
        ranks,
        policy,
        inputs,
        rising=check.rising,
        provenance=judgments.provenance,
    )


def _check_run(
    stream: Stream, format: str | None, judgments: Judgments, never: dict[str, set[str]], most: int, policy: Policy
) -> RunCheck:
    file = open_records(stream, "run", format)
    return _whether_scattered(
        lambda scattered: RunCheck(file, judgments, never, Problems(file.name, most), policy, scattered=scattered)
    )


def _whether_scattered(check: Callable[[bool], _Checked]) -> _Checked:
    """Check a file as if the rows of every query were together, and check again if they are not."""
    try:
        return check(False)
    except Scattered:
        return check(True)
