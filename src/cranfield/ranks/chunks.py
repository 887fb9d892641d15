"""Where chunks are: the document that each was cut from, and its first and last character there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, NamedTuple

from cranfield.errors import DuplicateError, InputError
from cranfield.io.column_names import CHUNK_ID, CHUNK_OF, END, START, TEXT, TOKENS
from cranfield.io.corpus import read_texts
from cranfield.io.placed_rows import PlacedRow, placed_rows
from cranfield.io.streams import stream_name
from cranfield.ranks.passages import checked_place
from cranfield.ranks.quotes import Quoted, QuotedText, Span

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
        texts = read_texts(documents)
        listed: dict[str, str] = {}
        by_document: dict[str, list[PlacedRow]] = {}
        for row in placed_rows(rows, name, _WIDTHS):
            chunk, document = row.id(CHUNK_ID, "chunk"), row.id(CHUNK_OF, "document")
            if chunk in listed:
                raise row.error(f"chunk '{chunk}' appears twice.", kind=DuplicateError)
            listed[chunk] = document
            by_document.setdefault(document, []).append(row)
        if not listed:
            raise InputError(name, "it contains no chunks.")
        found: dict[str, ChunkPlace] = {}
        for document, its in by_document.items():
            stored = QuotedText(texts[document]) if document in texts else None  # whose index is dropped after this
            located = [_located(row, document, stored) for row in its]
            for each, span in zip(located, _chosen(located), strict=True):
                found[each.chunk] = each.place(span, stored, tokens)
        places = {chunk: found[chunk] for chunk in listed}
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
    span: Span | None  # None: several places are possible
    found: Quoted | None = None

    def place(self, span: Span, stored: QuotedText | None, tokens: CountTokens | None) -> ChunkPlace:
        text = stored.text[slice(*span)] if stored is not None else self.text
        count = self.row.whole(TOKENS, "number of tokens")
        if tokens is not None:
            if text is None:
                fact = f"cannot count the tokens of chunk '{self.chunk}' without its text."
                raise self.row.error(fact, hint="give the documents, or the texts of the chunks")
            count = self._count(tokens, self.text if self.text is not None else text)
        return ChunkPlace(self.document, *span, None if text is None else len(text.split()), count)

    def _count(self, tokens: CountTokens, text: str) -> int:
        counted = tokens(text)
        if isinstance(counted, Sized):
            return len(counted)
        if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
            fact = f"tokens returned {counted!r:.60} for chunk '{self.chunk}', which is not a number of tokens."
            raise self.row.error(fact, hint="tokens is a function of a text that returns its tokens or their number")
        return counted


def _located(row: PlacedRow, document: str, stored: QuotedText | None) -> _Located:
    chunk = row.id(CHUNK_ID, "chunk")
    text = row.text(TEXT, "text")
    start = row.whole(START, "start")
    if text and start is not None and row.find(END) is None:  # as LangChain has it
        return _Located(row, chunk, document, text, _started(row, chunk, document, text, start, stored))
    place = checked_place(row, document, {} if stored is None else {document: stored.text})
    if place is not None:
        return _Located(row, chunk, document, text, place)
    if text is None:
        raise row.error(f"chunk '{chunk}' has no place.", hint="give start and end, or its text and the documents")
    if stored is None:
        fact = f"cannot locate chunk '{chunk}' without the text of document '{document}'."
        raise row.error(fact, hint="give the documents: {document: text}, or a corpus.jsonl")
    found = stored.find(text)
    if not found.first:
        raise row.error(f"the text of chunk '{chunk}' is not in document '{document}'.", hint="has the text changed?")
    return _Located(row, chunk, document, text, found.first[0] if len(found.first) == 1 else None, found)


def _started(row: PlacedRow, chunk: str, document: str, text: str, start: int, stored: QuotedText | None) -> Span:
    """Where a chunk is by its start and its text, which must be there if the document is known."""
    span = (start, start + len(text))
    if stored is None or stored.text.startswith(text, start):
        return span
    if span[1] > len(stored.text):
        fact = f"chunk '{chunk}' ends at {span[1]}, but document '{document}' has {len(stored.text)} characters."
        raise row.error(fact)
    place = next(stored.find(text).since(start), None)
    if place is None or place[0] != start:
        fact = f"the text of chunk '{chunk}' is not at {start} of document '{document}'."
        raise row.error(fact, hint="has the text changed? Leave out the start to look for the text")
    return place


def _chosen(listed: list[_Located]) -> list[Span]:
    """The places of a document's chunks; a repeated text is placed between the chunks before and after it."""
    known = [chunk.span for chunk in listed if chunk.span is not None]
    in_order = known == sorted(known)
    coming = iter([*known, None])
    after = next(coming)
    chosen: list[Span] = []
    for chunk in listed:
        if chunk.span is not None:
            chosen.append(chunk.span)
            after = next(coming)
            continue
        assert chunk.found is not None
        left = _between(chunk.found, chosen[-1] if chosen else (-1, 0), after)
        if not in_order or len(left) != 1:
            times = chunk.found.count()
            fact = f"the text of chunk '{chunk.chunk}' appears {times} times in document '{chunk.document}'."
            hint = "give start and end, or list the chunks of a document in their order"
            raise chunk.row.error(fact, hint=hint)
        chosen += left
    return chosen


def _between(found: Quoted, before: Span, after: Span | None) -> list[Span]:
    """The first two places of a repeated text between the chunk before it and the next whose place is known."""
    later = (span for span in found.since(max(before[0], 0)) if span > before)
    return list(islice(takewhile(lambda span: after is None or span < after, later), 2))
