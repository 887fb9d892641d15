"""How a run was made, where cranfield asked the system itself: what was chosen, and how much came back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from cranfield.words import count


@dataclass(frozen=True, slots=True)
class Made:
    """How a run was recorded.

    k: how many results the system was asked for; None if it was asked as it is
    chosen: whether somebody chose this k; otherwise the system had to be told one
    deepened: whether it was asked again for more chunks until there were k documents
    collapse: the rule by which ids of chunks became those of documents
    failed: how many queries failed, so that the run lacks them
    size: means of what came back for a query: documents, chunks, characters, words, tokens

    >>> Made(k=10, chosen=True, deepened=True).choices, Made().how
    ('k=10, deepened', 'with its own settings')
    """

    k: int | None = None
    chosen: bool = False
    deepened: bool = False
    collapse: str = ""
    failed: int = 0
    size: Mapping[str, float] = field(default_factory=dict)

    @property
    def choices(self) -> str:
        """What was chosen, in short; empty if the system was asked as it is."""
        return ", ".join(self._choices())

    def _choices(self) -> Iterator[str]:
        if self.k is not None and self.chosen:
            yield f"k={self.k}"
        if self.deepened:
            yield "deepened"
        if self.collapse:
            yield f"collapse={self.collapse}"

    @property
    def how(self) -> str:
        """How the system was asked, in words."""
        asked = "with its own settings"
        if self.k is not None:
            asked = f"for {count(self.k, 'document' if self.deepened else 'result')}"
            asked += ", and again for more chunks where it had fewer" if self.deepened else ""
        return asked + (f", chunks counted as documents by '{self.collapse}'" if self.collapse else "")

    @property
    def signature(self) -> Iterator[str]:
        if self.k is not None:
            yield f"k:{self.k}"
        if self.deepened:
            yield "deepened"
        if self.collapse:
            yield f"collapse:{self.collapse}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def made_from(known: Any) -> Made | None:
    """What `Made.to_dict` returned; None where that is not known, or is something else."""
    try:
        return Made(**known)
    except TypeError:
        return None


def made_beside(path: str) -> Made | None:
    """How a file was recorded, by the file of facts beside it; None where there is none for a file of this size."""
    try:
        with open(f"{path}.json", "rb") as file:
            facts = json.loads(file.read())
        return made_from(facts["made"]) if facts["run_bytes"] == os.path.getsize(path) else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
