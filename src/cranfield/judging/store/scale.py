"""GradeScale: the grades that assessors choose from, and what each means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.words import listed

MOST_GRADES = 11  # one key each: 0 to 9, and T for ten


class GradeMeaning(NamedTuple):
    grade: float
    name: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class GradeScale:
    """From the lowest grade to the highest."""

    grades: tuple[GradeMeaning, ...]

    def __repr__(self) -> str:
        return f"<GradeScale {listed([f'{step.grade:g} {step.name}' for step in self.grades], 6)}>"

    @classmethod
    def of(cls, grades: Mapping[Any, Any] | Iterable[Any], source: str = "the scale") -> GradeScale:
        """From {grade: name}, {grade: (name, meaning)}, or rows (grade, name, meaning); `source` is for errors."""
        if isinstance(grades, Mapping):
            grades = [(grade, told) if isinstance(told, str) else (grade, *told) for grade, told in grades.items()]
        made = tuple(sorted(_checked(row, source) for row in grades))
        if not 2 <= len(made) <= MOST_GRADES:
            raise InputError(source, f"a scale has 2 to {MOST_GRADES} grades, not {len(made)}.")
        for one, other in pairwise(made):
            if one.grade == other.grade:
                raise InputError(source, f"the grade {one.grade:g} appears twice.")
        return cls(made)

    def __contains__(self, grade: object) -> bool:
        return any(step.grade == grade for step in self.grades)

    def __iter__(self) -> Iterator[GradeMeaning]:
        return iter(self.grades)

    @property
    def names(self) -> dict[float, str]:
        return {step.grade: step.name for step in self.grades}

    def listed(self) -> str:
        return ", ".join(f"{step.grade:g}" for step in self.grades)


def _checked(row: Any, source: str) -> GradeMeaning:
    try:
        grade, name, meaning = (*row, "")[:3]
        number = float(grade)
    except (TypeError, ValueError):
        raise InputError(source, f"{row!r:.60} is not a grade and its name.") from None
    if not math.isfinite(number) or number < 0 or isinstance(grade, bool):
        raise InputError(source, f"{grade!r} is not a grade.", hint="a grade is 0 or more; negative means not judged")
    if not isinstance(name, str) or not name.strip() or not isinstance(meaning, str):
        raise InputError(source, f"the grade {number:g} has no name.", hint="give each grade a name and a sentence")
    return GradeMeaning(number + 0.0, name.strip(), meaning.strip())


DEFAULT_SCALE = GradeScale.of(
    [
        (0, "Not relevant", "About something else"),
        (1, "Related", "Touches it, no answer"),
        (2, "Relevant", "Part of the answer"),
        (3, "Perfect", "Answers it directly"),
    ]
)
