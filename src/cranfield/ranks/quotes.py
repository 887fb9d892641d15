"""Finding a quote in a text: exactly, or else with other white space and case."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

Span = tuple[int, int]


class QuotedTexts:
    """The texts of documents, to find quotes in."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._plain = cache(lambda document: _plain(texts[document]))

    def find(self, document: str, quote: str) -> list[Span]:
        """The places of a quote in a document, in code points; none where it does not occur."""
        exact = [(start, start + len(quote)) for start in _occurrences(quote, self.texts[document])]
        if exact:
            return exact
        text, place = self._plain(document)
        wanted = _plain(quote.strip())[0]
        return [(place[start], place[start + len(wanted) - 1] + 1) for start in _occurrences(wanted, text)]


def _occurrences(quote: str, text: str) -> list[int]:
    """Where each occurrence begins; they may overlap."""
    found: list[int] = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        found.append(at)
        at = text.find(quote, at + 1)
    return found


def _plain(text: str) -> tuple[str, list[int]]:
    """A text without case and with one blank for any white space, and the place of each character of it."""
    letters: list[str] = []
    place: list[int] = []
    for at, letter in enumerate(text):
        if not letter.isspace():
            folded = letter.casefold()  # which may be two letters, as for ß
            letters.append(folded)
            place += [at] * len(folded)
        elif not letters or letters[-1] != " ":
            letters.append(" ")
            place.append(at)
    return "".join(letters), place
