"""Checking judged documents whose text has several ids."""

from __future__ import annotations

from typing import Any, NamedTuple

from cranfield.evaluation.checking.judged import JudgmentCheck
from cranfield.evaluation.checking.problems import Problems
from cranfield.ranks.same_text import Copied, copied, copies, copies_text, documents_of

JUDGED_AGAIN = "judge them again, together; or keep the judgment of one"
INHERITED = "'cranfield evaluate --same-text CORPUS' gives copies the same grade, and inherit_grades() does in Python"


class CopyCheck(NamedTuple):
    """The copies of judged documents, by query, and the problems of the judgments."""

    found: tuple[Copied, ...]
    problems: Problems

    @classmethod
    def of(cls, judged: JudgmentCheck, corpus: Any) -> CopyCheck:
        every = {document for grades in judged.by_query.values() for document in grades}
        groups = copies(every, documents_of(corpus))
        return cls(tuple(copied(judged.by_query, groups)), judged.problems)

    def follow(self, never: dict[str, set[str]]) -> None:
        """Add the copies without a judgment to the documents that no run has yet."""
        for its in self.found:
            never[its.query].update(its.unjudged)

    def report(self, never: dict[str, set[str]], *, any_runs: bool) -> None:
        """Add what is wrong, worst first, and take the copies out of those documents again."""
        halves: list[tuple[bool, float, str]] = []
        for its in self.found:
            returned = [document for document in its.unjudged if document not in never[its.query]] if any_runs else []
            never[its.query].difference_update(its.unjudged)
            if its.disagree:
                fact = f"query '{its.query}': documents with the same text have different grades: {its.grades}."
                self.problems.add("contradictory-grades", fact, hint=JUDGED_AGAIN)
            if its.unjudged:
                named = returned or its.unjudged
                have, them = ("has", "it") if len(named) == 1 else ("have", "them")
                alike = f"{copies_text(named)} {have} the same text as {its.grades}"
                ending = f", and a run returns {them}" if returned else ""
                fact = f"query '{its.query}': {alike}, but no judgment{ending}."
                halves.append((bool(returned), its.highest, fact))
        for _, _, fact in sorted(halves, key=lambda half: (-half[0], -half[1])):
            self.problems.add("unjudged-copy", fact, hint=INHERITED)
