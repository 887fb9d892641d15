"""Where chunks are: the document that each was cut from, and its first and last character there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple

from cranfield.errors import DuplicateError, InputError
from cranfield.io.column_names import CHUNK_ID, CHUNK_OF, END, START, TEXT, TOKENS
from cranfield.io.placed_rows import PlacedRow, placed_rows, read_texts
from cranfield.io.streams import stream_name
from cranfield.ranks.passages import QuotedTexts, Span, checked_place

CountTokens = Callable[[str], Any]  # the number of tokens of a text, or the tokens themselves
_WIDTHS = {3: ("chunk_id", "doc_id", "text"), 4: ("chunk_id", "doc_id", "start", "end")}


class ChunkPlace(NamedTuple):
    """Characters `start` to `end` (not included) of a document; its number of words and tokens, if known."""

    document: str
    start: int
    end: int
    words: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The positions of chunks in their documents. Build them with `Chunks.read`.

    places: where each chunk is
    name: what errors call them
    tokeniser: what counted the tokens; empty if nothing did

    >>> chunks = Chunks.read({"d1#0": ("d1", 0, 20), "d1#1": ("d1", 15, 35)})
    >>> chunks, chunks.places["d1#1"].start
    (Chunks(chunks=2, documents=1), 15)
    """

    places: Mapping[str, ChunkPlace]
    name: str
    tokeniser: str = ""

    @classmethod
    def read(cls, chunks: Any, documents: Any = None, *, tokens: CountTokens | None = None) -> Chunks:
        """Read the places of chunks from a file or from what a splitter returned, or find them by their texts.

        chunks: JSON lines, CSV or TSV with the columns chunk_id, doc_id, and start and end, or a text; {chunk:
            (document, start, end)} or {chunk: (document, text)}; rows (chunk, document, start, end) or (chunk,
            document, text); documents of LangChain with ids and `start_index`, or nodes of LlamaIndex, as their
            splitters and retrievers return them.
        documents: the stored texts, in which the texts of chunks are found and places are checked: {document: text}, a
            corpus.jsonl, or a `Collection`.
        tokens: counts the tokens of a chunk's text, for budgets of tokens; without it, the column "tokens" does.
        Returns the chunks. A text that appears several times in its document takes the one place that is left between
        the chunks listed before and after it; if there is none, or more than one, that is an error.

        >>> texts = {"d": "One. Two. Three."}
        >>> Chunks.read({"a": ("d", "One."), "b": ("d", "Two. Three.")}, texts, tokens=str.split).places["b"]
        ChunkPlace(document='d', start=5, end=16, words=2, tokens=2)
        """
        if isinstance(chunks, Chunks):
            return chunks
        if tokens is not None and not callable(tokens):
            raise InputError("tokens", f"{tokens!r:.60} is not a function.")
        name = stream_name(chunks) if isinstance(chunks, str) or hasattr(chunks, "__fspath__") else "the chunks"
        rows: Any = _listed(chunks) if isinstance(chunks, Mapping) else chunks
        texts = QuotedTexts(read_texts(documents))
        listed: dict[str, _Located] = {}
        for row in placed_rows(rows, name, _WIDTHS):
            located = _located(row, texts)
            if located.chunk in listed:
                raise row.error(f"chunk '{located.chunk}' appears twice.", kind=DuplicateError)
            listed[located.chunk] = located
        if not listed:
            raise InputError(name, "it contains no chunks.")
        spans = _chosen(listed.values())
        places = {chunk: located.place(*spans[chunk], texts.texts, tokens) for chunk, located in listed.items()}
        counted = any(place.tokens is not None for place in places.values())
        named = getattr(tokens, "__qualname__", type(tokens).__name__)
        return cls(places, name, "" if not counted else "given" if tokens is None else named)

    def __repr__(self) -> str:
        documents = len({place.document for place in self.places.values()})
        return f"Chunks(chunks={len(self)}, documents={documents})"

    def __len__(self) -> int:
        return len(self.places)


def _listed(chunks: Mapping[Any, Any]) -> Iterable[Any]:
    for chunk, place in chunks.items():
        if isinstance(place, ChunkPlace):
            yield {"chunk_id": chunk, "doc_id": place.document, **place._asdict()}
            continue
        if not isinstance(place, tuple | list):
            fact = f"the place of chunk {chunk!r:.60} is {place!r:.60}."
            raise InputError("the chunks", fact, hint="it is (document, start, end), or (document, text)")
        yield (chunk, *place)


@dataclass(frozen=True, slots=True)
class _Located:
    row: PlacedRow
    chunk: str
    document: str
    text: str | None
    spans: list[Span]

    def place(self, start: int, end: int, texts: Mapping[str, str], tokens: CountTokens | None) -> ChunkPlace:
        text = texts[self.document][start:end] if self.document in texts else self.text
        count = self.row.whole(TOKENS, "number of tokens")
        if tokens is not None:
            if text is None:
                fact = f"cannot count the tokens of chunk '{self.chunk}' without its text."
                raise self.row.error(fact, hint="give the documents, or the texts of the chunks")
            count = self._count(tokens, self.text if self.text is not None else text)
        return ChunkPlace(self.document, start, end, None if text is None else len(text.split()), count)

    def _count(self, tokens: CountTokens, text: str) -> int:
        counted = tokens(text)
        if isinstance(counted, Sized):
            return len(counted)
        if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
            fact = f"tokens returned {counted!r:.60} for chunk '{self.chunk}', which is not a number of tokens."
            raise self.row.error(fact, hint="tokens is a function of a text that returns its tokens or their number")
        return counted


def _located(row: PlacedRow, texts: QuotedTexts) -> _Located:
    chunk, document = row.id(CHUNK_ID, "chunk"), row.id(CHUNK_OF, "document")
    text = row.text(TEXT, "text")
    start = row.whole(START, "start")
    if text and start is not None and row.find(END) is None:  # as LangChain has it
        return _Located(row, chunk, document, text, [_started(row, chunk, document, text, start, texts)])
    place = checked_place(row, document, texts.texts)
    if place is not None:
        return _Located(row, chunk, document, text, [place])
    if text is None:
        raise row.error(f"chunk '{chunk}' has no place.", hint="give start and end, or its text and the documents")
    if document not in texts.texts:
        fact = f"cannot locate chunk '{chunk}' without the text of document '{document}'."
        raise row.error(fact, hint="give the documents: {document: text}, or a corpus.jsonl")
    spans = texts.find(document, text)
    if not spans:
        raise row.error(f"the text of chunk '{chunk}' is not in document '{document}'.", hint="has the text changed?")
    return _Located(row, chunk, document, text, spans)


def _started(row: PlacedRow, chunk: str, document: str, text: str, start: int, texts: QuotedTexts) -> Span:
    """Where a chunk is by its start and its text, which must be there if the document is known."""
    span = (start, start + len(text))
    stored = texts.texts.get(document)
    if stored is None or stored.startswith(text, start):
        return span
    if span[1] > len(stored):
        fact = f"chunk '{chunk}' ends at {span[1]}, but document '{document}' has {len(stored)} characters."
        raise row.error(fact)
    place = next((place for place in texts.find(document, text) if place[0] == start), None)
    if place is None:
        fact = f"the text of chunk '{chunk}' is not at {start} of document '{document}'."
        raise row.error(fact, hint="has the text changed? Leave out the start to look for the text")
    return place


def _chosen(chunks: Iterable[_Located]) -> dict[str, Span]:
    """The place of each chunk; a repeated text is placed between the chunks of its document before and after it."""
    chosen: dict[str, Span] = {}
    by_document: dict[str, list[_Located]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document, []).append(chunk)
    for listed in by_document.values():
        for at, chunk in enumerate(listed):
            chosen[chunk.chunk] = chunk.spans[0] if len(chunk.spans) == 1 else _between(listed, at, chosen)
    return chosen


def _between(listed: list[_Located], at: int, chosen: Mapping[str, Span]) -> Span:
    """The one place of a repeated text after the chunk before it, and before the next one whose place is known."""
    chunk = listed[at]
    known = [other.spans[0] for other in listed if len(other.spans) == 1]
    before = chosen[listed[at - 1].chunk] if at else (-1, 0)
    after = next((other.spans[0] for other in listed[at + 1 :] if len(other.spans) == 1), None)
    left = [span for span in chunk.spans if before < span and (after is None or span < after)]
    if known != sorted(known) or len(left) != 1:
        fact = f"the text of chunk '{chunk.chunk}' appears {len(chunk.spans)} times in document '{chunk.document}'."
        hint = "give start and end, or list the chunks of a document in their order"
        raise chunk.row.error(fact, hint=hint)
    return left[0]
