"""Prompts: our own, which are text files beside this one, and those of a project."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from cranfield.errors import InputError
from cranfield.judging.scale import GradeScale

GRADED, PAIRWISE = "graded", "pairwise"
OURS = {
    GRADED: "a grade with a short reason",
    PAIRWISE: "which of two documents is better, to check whether their order matters",
}
NO_NARRATIVE = "(nothing more is known)"
_PLACE = re.compile(r"\{(query|narrative|document|scale|fence|first|second)\}")
_NEEDED = {GRADED: ("query", "document"), PAIRWISE: ("query", "first", "second")}


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt with places such as {query}. Its version is the SHA-256 of its text."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def filled(self, values: Mapping[str, str]) -> str:
        """The prompt with its places filled in, all at once: braces in a document stay as they are.

        >>> PromptTemplate("own", '{query}: {document} {"grade": 1}').filled({"query": "cats", "document": "{query}"})
        'cats: {query} {"grade": 1}'
        """
        return _PLACE.sub(lambda place: values.get(place[1], place[0]), self.text)


def read_prompt(name: str | os.PathLike[str], folder: Path | None = None, kind: str = GRADED) -> PromptTemplate:
    """One of our prompts by its name, or a text file; an error where a place is missing that it needs."""
    named = os.fspath(name)
    if named in OURS:
        return PromptTemplate(named, (files(__package__) / f"{named}.txt").read_text(encoding="utf-8"))
    path = (folder or Path()) / named
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        fact = f"the prompt cannot be read: {(error.strerror or str(error)).lower()}."
        raise InputError(str(path), fact, hint=f"name a text file, or one of {', '.join(OURS)}") from None
    except UnicodeDecodeError:
        raise InputError(str(path), "the prompt is not UTF-8.") from None
    there = set(_PLACE.findall(text))
    for place in _NEEDED[kind]:
        if place not in there:
            hint = "a prompt has {query} and {document}, and may have {narrative}, {scale} and {fence}"
            raise InputError(str(path), f"the prompt has no {{{place}}}.", hint=hint)
    return PromptTemplate(named, text)


def fence_of(text: str, secret: str) -> str:
    """A mark that the text cannot contain: its author would have to know the hash of the text.

    It is the same each time, so that a request that was paid for is recognised.
    """
    return hashlib.sha256(f"{secret}\0{text}".encode()).hexdigest()[:16]


def fenced(text: str, fence: str) -> str:
    """A document between its two marks."""
    return f"[document {fence}]\n{text}\n[end of document {fence}]"


def scale_text(scale: GradeScale) -> str:
    """The grades, a line each, from the highest: 3 = Perfect: Answers it directly."""
    return "\n".join(
        f"{each.grade:g} = {each.name}" + (f": {each.meaning}" if each.meaning else "") for each in reversed([*scale])
    )
