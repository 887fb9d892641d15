"""Whose grades count, and how the grades of several assessors become one.

Each kind of assessor is an entry in KINDS and each rule one in RULES; options, help and errors follow. Adjudicated
documents need no rule: the adjudicator's grade counts, the last one if there are several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cranfield.errors import InputError, choice_hint


class AssessorKind(NamedTuple):
    meaning: str
    people: bool  # by default only their judgments count


PERSON, MODEL, CLICKS = "person", "model", "clicks"  # a person judges on the page and in a sheet
KINDS: dict[str, AssessorKind] = {
    PERSON: AssessorKind("a person who read the document", people=True),
    "imported": AssessorKind("judgments from a file", people=True),
    MODEL: AssessorKind("a model that was asked", people=False),
    CLICKS: AssessorKind("what users of the system clicked on", people=False),
}
BY_PEOPLE = tuple(name for name, kind in KINDS.items() if kind.people)
NOT_BY_PEOPLE = tuple(name for name in KINDS if name not in BY_PEOPLE)


class Rule(NamedTuple):
    meaning: str
    merge: Callable[[Sequence[float]], float]  # takes grades in the order in which they were given


def _majority(grades: Sequence[float]) -> float:
    counts = Counter(grades)
    most = max(counts.values())
    return min(grade for grade, count in counts.items() if count == most)


RULES: dict[str, Rule] = {
    "majority": Rule("the grade that most assessors gave; in a tie, the lowest", _majority),
    "median": Rule(
        "the middle grade; of two, the lower one, so it is always a grade that was given",
        lambda grades: sorted(grades)[(len(grades) - 1) // 2],
    ),
    "max": Rule("the highest grade", max),
    "min": Rule("the lowest grade", min),
    "latest": Rule("the grade that was given last", lambda grades: grades[-1]),
}


def find_rule(name: str, source: str) -> Rule:
    if name not in RULES:
        fact = f"there is no rule '{name}' to merge grades."
        raise InputError(source, fact, hint=choice_hint("rules are", RULES, name))
    return RULES[name]
