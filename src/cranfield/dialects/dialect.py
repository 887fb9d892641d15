"""A dialect: the conventions of a tool, and which of our measures its names mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cranfield.dialects.conventions import Conventions
from cranfield.errors import MeasureError, choice_hint
from cranfield.measures import Measure, parse_measure
from cranfield.measures.scope import chosen_parameters

# What may stand in a name: a cutoff, a threshold, a share, the function that compares vectors.
_PLACES = {"k": r"\d+", "rel": r"\d+", "share": r"\d*\.?\d+", "similarity": r"cosine|dot|euclidean|manhattan|max"}
_USUAL = {"k": "10", "rel": "1", "share": "0.5", "similarity": "cosine"}


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

    def read(self, text: str) -> Measure | None:
        """Our measure for a name as the tool prints it."""
        match = self._pattern.fullmatch(text)
        return parse_measure(self.ours.format(**match.groupdict())) if match else None

    @cached_property
    def example(self) -> Measure:
        return parse_measure(self.ours.format(**_USUAL))

    def written(self, measure: Measure) -> str:
        """The name that the tool prints for a measure of ours; empty if it cannot say this cutoff or threshold."""
        chosen = chosen_parameters(measure)
        cutoff, rel, share = chosen.get("cutoff"), chosen.get("rel"), chosen.get("recall")
        if ("{k}" in self.theirs) != (cutoff is not None) or ("{rel}" not in self.theirs and rel not in (None, 1)):
            return ""
        known = {"k": cutoff, "rel": f"{rel:g}" if rel is not None else "", "share": share}
        return self.theirs.format(**{**_USUAL, **known})


@dataclass(frozen=True)
class Dialect:
    """The conventions of a tool in a version, and which of our measures its names mean.

    name, version: of the tool
    conventions: those of all its names, but for what a `Name` says
    names: what it prints
    note: what cannot be reproduced
    """

    name: str
    version: str
    conventions: Conventions
    names: tuple[Name, ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<Dialect of {self.name} {self.version}: {len(self.names)} names>"

    def conventions_of(self, name: Name) -> Conventions:
        """The conventions of one of its names."""
        return replace(self.conventions, **name.settings)

    def read(self, text: str | Measure) -> tuple[str, Measure, Conventions]:
        """What a name means: its own spelling, our measure, and the conventions.

        text: a name as the tool prints it, or one of ours.
        Returns the tool's name, the measure with the tool's parameters, and the conventions. A name that the tool does
        not have is an error.
        """
        if isinstance(text, str):
            for name in self.names:
                if measure := name.read(text):
                    return text, measure, self.conventions_of(name)
        try:
            wanted = parse_measure(text)
        except MeasureError:
            raise self._unknown(str(text)) from None
        for name in self.meaning(wanted):
            theirs = name.written(wanted)
            if theirs and (measure := name.read(theirs)):
                return theirs, measure, self.conventions_of(name)
        raise self._unknown(str(text))

    def meaning(self, measure: Measure) -> Iterator[Name]:
        """The names whose measure is one of ours, whatever its parameters; those with the same parameters first."""
        of_measure = [name for name in self.names if name.example.definition is measure.definition]
        ours = _own(measure)
        return iter(sorted(of_measure, key=lambda name: -len(ours & _own(name.example))))

    def _unknown(self, text: str) -> MeasureError:
        known = [name.theirs.format(**_USUAL) for name in self.names]
        return MeasureError(f"{self.name} has no measure '{text}'.", hint=choice_hint("it has", known, text))


def _own(measure: Measure) -> set[tuple[str, Any]]:
    """The parameters that are not the cutoff or a threshold."""
    return {(name, value) for name, value in measure.parameters if name not in ("cutoff", "rel", "recall")}
