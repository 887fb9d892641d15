"""What a model sees: the texts of a query and a document, cut to a length, as a prompt."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from cranfield.judging.events import seen_sha256
from cranfield.judging.models.assessor import hash_of
from cranfield.judging.models.prompts import NO_NARRATIVE, PromptTemplate, fence_of, fenced, scale_text
from cranfield.judging.scale import GradeScale


class Shown(NamedTuple):
    """The texts of a query and a document as a model sees them.

    total: characters of the document; fewer are shown where it is longer than allowed
    text_sha256: of what is shown of the document, as events have it
    """

    query: str
    narrative: str
    document: str
    total: int
    text_sha256: str

    def details(self) -> dict[str, Any]:
        """What is recorded with every reply."""
        return {
            "query_sha256": hashlib.sha256(self.query.encode()).hexdigest(),
            "narrative_sha256": hashlib.sha256(self.narrative.encode()).hexdigest(),
            "shown_sha256": hashlib.sha256(self.document.encode()).hexdigest(),
            "shown_characters": len(self.document),
            "total_characters": self.total,
        }

    def key(self, asked: str) -> str:
        """The hash of everything that a reply depends on, except the number of the sample."""
        return hash_of([asked, self.query, self.narrative, self.document])

    def prompt(self, template: PromptTemplate, scale: GradeScale, asked: str) -> str:
        """The prompt about it."""
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


def shown(row: Any, max_characters: int) -> Shown | None:
    """The visible part of a row with query, narrative, title, text and part; None if there is no text."""
    part = (row.part_start, row.part_end) if row.part_end else None
    title, text = row.title or "", row.text or ""
    body = text[part[0] : part[1]] if part else text
    document = "\n\n".join(filter(None, (title, body)))
    if not document.strip() or not (row.query or "").strip():
        return None
    cut = document[:max_characters]
    seen = seen_sha256(title, text, part) if cut == document else hashlib.sha256(cut.encode()).hexdigest()
    return Shown(row.query, row.narrative or "", cut, len(document), seen)


def sample_key(key: str, sample: int) -> str:
    """The key under which one of several replies is kept."""
    return hashlib.sha256(f"{key} {sample}".encode()).hexdigest()
