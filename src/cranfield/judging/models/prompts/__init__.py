"""Prompts: our own, which are text files beside this one, and those of a project; what a model sees in them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.store.events import Task
from cranfield.judging.store.scale import GradeScale

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
        return hashlib.sha256(self.text.encode()).hexdigest()

    def filled(self, values: Mapping[str, str]) -> str:
        """All places at once: braces in a document stay as they are."""
        return _PLACE.sub(lambda place: values.get(place[1], place[0]), self.text)


def read_prompt(name: str | os.PathLike[str], folder: Path | None = None, kind: str = GRADED) -> PromptTemplate:
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
    """A mark that the text cannot contain, the same each time: a request that was paid for is recognised."""
    return hashlib.sha256(f"{secret}\0{text}".encode()).hexdigest()[:16]


def fenced(text: str, fence: str) -> str:
    return f"[document {fence}]\n{text}\n[end of document {fence}]"


def scale_text(scale: GradeScale) -> str:
    return "\n".join(
        f"{step.grade:g} = {step.name}" + (f": {step.meaning}" if step.meaning else "") for step in reversed([*scale])
    )


class Shown(NamedTuple):
    """The texts of a query and a document as a model sees them."""

    query: str
    narrative: str
    document: str
    total: int  # characters of the document; fewer are shown where it is longer than allowed
    text_sha256: str  # of what is shown of the document, as events have it

    def details(self) -> dict[str, Any]:
        texts = {"query": self.query, "narrative": self.narrative, "shown": self.document}
        return {
            **{f"{name}_sha256": hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()},
            "shown_characters": len(self.document),
            "total_characters": self.total,
        }

    def key(self, asked: str) -> str:
        """The hash of everything that a reply depends on, except the number of the sample."""
        return hash_of([asked, self.query, self.narrative, self.document])

    def prompt(self, template: PromptTemplate, scale: GradeScale, asked: str) -> str:
        fence = fence_of(self.document, asked)
        return template.filled(
            {
                "query": self.query,
                "narrative": self.narrative or NO_NARRATIVE,
                "document": fenced(self.document, fence),
                "scale": scale_text(scale),
                "fence": fence,
            }
        )


def order_prompt(template: PromptTemplate, first: Shown, second: Shown, asked: str) -> str:
    texts = {"query": first.query, "narrative": first.narrative or NO_NARRATIVE}
    for name, text in (("first", first.document), ("second", second.document)):
        texts[name] = fenced(text, fence_of(text, asked))
    return template.filled(texts)


def shown(task: Task, max_characters: int) -> Shown | None:
    body = task.text[slice(*task.part)] if task.part else task.text
    document = "\n\n".join(filter(None, (task.title, body)))
    if not document.strip() or not task.query.strip():
        return None
    cut = document[:max_characters]
    seen = task.text_sha256 if cut == document else hashlib.sha256(cut.encode()).hexdigest()
    return Shown(task.query, task.narrative, cut, len(document), seen)


def sample_key(key: str, sample: int) -> str:
    return hashlib.sha256(f"{key} {sample}".encode()).hexdigest()


def hash_of(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=os.fspath)
    return hashlib.sha256(text.encode()).hexdigest()
