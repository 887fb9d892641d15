"""A dialect: the conventions of a tool, and which of our measures its names mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from cranfield.dialects.conventions import Conventions
from cranfield.errors import MeasureError, choice_hint
from cranfield.measures import Measure, parse_measure
from cranfield.measures.scope import chosen_parameters

# What may stand in a name: a cutoff, a threshold, the highest grade, a share, the function that compares vectors.
_PLACES = {"k": r"\d+", "rel": r"\d+", "grade": r"\d+", "share": r"\d*\.?\d+"}
_PLACES["similarity"] = "cosine|dot|euclidean|manhattan|max"
_USUAL = {"k": "10", "rel": "2", "grade": "4", "share": "0.5", "similarity": "cosine"}


@dataclass(frozen=True)
class Name:
    """A name that a tool prints, and what it means.

    theirs: with places such as {k}
    ours: our measure with the same places
    settings: where it departs from the other names of its tool
    """

    theirs: str
    ours: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.theirs)
        text = "".join(f"(?P<{part}>{_PLACES[part]})" if at % 2 else re.escape(part) for at, part in enumerate(parts))
        return re.compile(text)

    def reads(self, text: str) -> bool:
        """Whether this is the name."""
        return self._pattern.fullmatch(text) is not None

    def read(self, text: str) -> Measure | None:
        """Our measure for a name as the tool prints it."""
        match = self._pattern.fullmatch(text)
        return parse_measure(self.ours.format(**match.groupdict())) if match else None

    @property
    def usual(self) -> str:
        """The name with a cutoff of 10."""
        return self.theirs.format(**_USUAL)

    @cached_property
    def example(self) -> Measure:
        return parse_measure(self.ours.format(**_USUAL))

    def written(self, measure: Measure) -> str:
        """The name that the tool prints for a measure of ours; empty if it cannot say this cutoff or threshold.

        A tool whose name has no cutoff is given only the first documents.
        """
        chosen = chosen_parameters(measure)
        cutoff, rel, share = chosen.get("cutoff"), chosen.get("rel"), chosen.get("recall", chosen.get("multiple"))
        highest = chosen.get("max_grade")
        if (cutoff is None and "{k}" in self.theirs) or ("{rel}" in self.theirs) != (rel not in (None, 1)):
            return ""
        if "{grade}" in self.theirs and not isinstance(highest, int | float):
            return ""
        known = {"k": cutoff, "rel": f"{rel:g}" if rel is not None else "", "grade": highest, "share": share}
        return self.theirs.format(**{**_USUAL, **known})


class Reading(NamedTuple):
    """What a name of a tool means: its own spelling, our measure with the tool's parameters, and the conventions."""

    theirs: str
    measure: Measure
    conventions: Conventions


@dataclass(frozen=True)
class Dialect:
    """The conventions of a tool in a version, and which of our measures its names mean.

    name, version: of the tool
    conventions: those of all its names, but for what a `Name` says
    names: what it prints
    note: what cannot be reproduced

    >>> from cranfield import known_dialects
    >>> spark = known_dialects()["Spark"]
    >>> spark.name, spark.version, spark.names[0].theirs, spark.note[:14], spark.conventions.ties
    ('Spark', '4.3.0', 'precisionAt({k})', 'RankingMetrics', 'file')
    >>> spark.knows("AP@5"), spark.knows("ERR@5"), spark.read("AP@5").measure.name
    (True, False, 'AP(denominator=min)@5')
    """

    name: str
    version: str
    conventions: Conventions
    names: tuple[Name, ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<Dialect of {self.name} {self.version}: {len(self.names)} names>"

    def _conventions_of(self, name: Name) -> Conventions:
        """The conventions of one of its names."""
        return replace(self.conventions, **name.settings)

    def read(self, text: str | Measure) -> Reading:
        """What a name means: its own spelling, our measure, and the conventions.

        text: a name as the tool prints it, or one of ours.
        Returns a `Reading`. A name that the tool does not have is an error.
        """
        if isinstance(text, str):
            for name in self.names:
                if measure := name.read(text):
                    return Reading(text, measure, self._conventions_of(name))
        try:
            wanted = parse_measure(text)
        except MeasureError:
            raise self._unknown(str(text)) from None
        for reading in self._readings(wanted):
            return reading
        raise self._unknown(str(text))

    def knows(self, text: str | Measure) -> bool:
        """Whether the tool has a measure.

        text: a name as the tool prints it, or one of ours.
        Returns True or False.
        """
        try:
            self.read(text)
        except MeasureError:
            return False
        return True

    def _readings(self, measure: Measure) -> list[Reading]:
        """What a measure of ours may be called, those with its own parameters first.

        Where no name has a cutoff, the tool is given so many documents, and measures them all.
        """
        cutoff = chosen_parameters(measure).get("cutoff")
        same = [name for name in self.names if _is_same(name.example, measure) and name.written(measure)]
        if cutoff is not None and any("{k}" in name.theirs for name in same):
            same = [name for name in same if "{k}" in name.theirs]
        found = []
        for name in sorted(same, key=lambda name: -len(_own(measure) & _own(name.example))):
            theirs = name.written(measure)
            ours, conventions = name.read(theirs), self._conventions_of(name)
            assert ours is not None, theirs
            if cutoff is not None and "{k}" not in name.theirs:
                conventions = replace(conventions, depth=cutoff)
                theirs = f"{theirs} of the first {cutoff}"
            found.append(Reading(theirs, ours, conventions))
        return found

    def _unknown(self, text: str) -> MeasureError:
        known = [name.usual for name in self.names if "{rel}" not in name.theirs]
        return MeasureError(f"{self.name} has no measure '{text}'.", hint=choice_hint("it has", known, text))


# The same without a cutoff: of all that was retrieved.
_WITHOUT_CUTOFF = {"P": "SetP", "R": "SetR", "F": "SetF"}


def _is_same(example: Measure, measure: Measure) -> bool:
    """Whether a name means one of our measures, whatever its parameters."""
    name, ours = example.definition.name, measure.definition.name
    return name == ours or name == _WITHOUT_CUTOFF.get(ours)


def _own(measure: Measure) -> set[tuple[str, Any]]:
    """The parameters that are not the cutoff or a threshold."""
    return {(name, value) for name, value in measure.parameters if name not in ("cutoff", "rel", "recall")}
