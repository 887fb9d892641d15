"""Judgments of passages: a grade for a part of a document, which stays valid however documents are cut into chunks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import DuplicateError, InputError
from cranfield.io.column_names import DOCUMENT, END, GRADE, QUERY, QUOTE, START
from cranfield.io.corpus import read_texts
from cranfield.io.formats.store import is_store
from cranfield.io.placed_rows import PlacedRow, is_table, placed_rows
from cranfield.io.streams import Stream
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.judgments import Judgments, in_order
from cranfield.ranks.quotes import QuotedText, Span

WHOLE = -1  # the end of a document that is judged as a whole and whose length is not known
SHOWN = 40  # characters of a quote in an error
_WIDTHS = {
    3: ("query", "document", "grade"),
    4: ("query", "document", "quote", "grade"),
    5: ("query", "document", "start", "end", "grade"),
}


class Passage(NamedTuple):
    """One judgment: characters `start` to `end` (not included) of a document have a grade for a query.

    A document that is judged as a whole starts at None; it ends at its length, or at None if that is not known.
    """

    query: str
    document: str
    start: int | None
    end: int | None
    grade: float


@dataclass(frozen=True, slots=True, eq=False)
class PassageJudgments:
    """Judged passages by query, as columns. Build them with `PassageJudgments.read`.

    A passage is a part of a document's stored text, counted in characters (Unicode code points) from 0, without the
    one at `end`. It does not depend on how documents are cut into chunks.

    name: what errors call them
    query_ids: the judged queries
    query, document_ids, start, end, grades: of each passage; `query` is a number
    whole: whether the document is judged as a whole; any chunk of it finds it
    sha256: of the columns, so that quotes and places that mean the same passages are the same judgments
    provenance: which assessors and which rule they come from, as signatures show it; empty for files

    >>> passages = PassageJudgments.read([("q1", "d1", 10, 20, 2), ("q1", "d1", 30, 50, 1), ("q2", "d2", 0)])
    >>> passages
    PassageJudgments(queries=2, passages=3)
    >>> len(passages), passages.query.tolist(), passages.start.tolist(), passages.whole.tolist()
    (2, [0, 0, 1], [10, 30, 0], [False, False, True])
    >>> passages.passages[0]
    Passage(query='q1', document='d1', start=10, end=20, grade=2.0)
    """

    name: str
    query_ids: tuple[str, ...]
    query: Integers
    document_ids: tuple[str, ...]
    start: Integers
    end: Integers
    whole: Flags
    grades: Numbers
    sha256: str
    provenance: str = ""

    @classmethod
    def read(cls, passages: Any, documents: Any = None) -> PassageJudgments:
        """Read judgments of passages from a file or from memory.

        passages: JSON lines, CSV or TSV with the columns query_id, doc_id, grade, and start and end or a quote; rows
            (query, document, start, end, grade), (query, document, quote, grade) or (query, document, grade), mappings
            of these names, or a frame. Ordinary judgments are of whole documents.
        documents: the stored texts, to find quotes and check places: {document: text}, a corpus.jsonl, or a
            `Collection`.
        Returns the judgments. A quote must be found once, exactly or with other white space and case; one that is not
        found, or found twice, is an error, and so is a passage that is judged twice for a query.

        >>> texts = {"d1": "Cats sleep a lot. Dogs do not."}
        >>> found = PassageJudgments.read([{"query": "q", "document": "d1", "quote": "dogs do not", "grade": 1}], texts)
        >>> found.passages
        (Passage(query='q', document='d1', start=18, end=29, grade=1.0),)
        """
        if isinstance(passages, PassageJudgments):
            return passages
        if hasattr(type(passages), "to_passages"):  # a store of judgments
            return cls.read(passages.to_passages(), documents)
        texts = read_texts(documents)
        opened = Stream(passages) if isinstance(passages, str) or hasattr(passages, "__fspath__") else passages
        stored = is_store(opened) if isinstance(opened, Stream) else None
        if stored is not None:
            marked, provenance = stored.open_passages(opened)
            rows = [
                Passage(query, document, start, _length(document, texts) if start is None else end, grade)
                for query, document, start, end, grade in marked
            ]
            return cls._of(rows, opened.name, provenance)
        # Judgments of whole documents have their own class, or are {query: {document: grade}}.
        whole = isinstance(opened, Judgments | Mapping) or hasattr(type(opened), "to_judgments")
        if whole or (isinstance(opened, Stream) and not is_table(opened, (*QUERY, *DOCUMENT))):
            flat = Judgments.read(opened)
            rows = [
                Passage(query, document, None, _length(document, texts), grade)
                for query, judged in flat.by_query.items()
                for document, grade in judged.items()
            ]
            return cls._of(rows, flat.name, flat.provenance)
        name = opened.name if isinstance(opened, Stream) else "the passages"
        quoted = cache(lambda document: QuotedText(texts[document]))
        by_place: dict[tuple[str, str, int | None, int | None], Passage] = {}
        for row in placed_rows(opened, name, _WIDTHS):
            passage = _passage(row, texts, quoted)
            if passage[:4] in by_place:
                what = f"document '{passage.document}'"
                if passage.start is not None:
                    what = f"the passage {passage.start} to {passage.end} of {what}"
                fact = f"{what} is judged twice for query '{passage.query}'."
                raise row.error(fact, kind=DuplicateError, hint="keep one row for each query and passage")
            by_place[passage[:4]] = passage
        if not by_place:
            raise InputError(name, "it contains no judgments.")
        return cls._of(list(by_place.values()), name)

    @classmethod
    def _of(cls, passages: list[Passage], name: str, provenance: str = "") -> PassageJudgments:
        query_ids = in_order({passage.query for passage in passages})
        number = {query: at for at, query in enumerate(query_ids)}
        rows = sorted(passages, key=lambda row: (number[row.query], row.document, row.start or 0, row.end or 0))
        query = np.array([number[row.query] for row in rows], dtype=np.int64)
        documents = tuple(row.document for row in rows)
        start = np.array([row.start or 0 for row in rows], dtype=np.int64)
        end = np.array([WHOLE if row.end is None else row.end for row in rows], dtype=np.int64)
        whole = np.array([row.start is None for row in rows], dtype=np.bool_)
        grades = np.array([row.grade for row in rows], dtype=np.float64) + 0.0  # -0 is 0
        digest = hashlib.sha256("\n".join((*query_ids, "", *documents)).encode())
        for column in (query, start, np.where(whole, WHOLE, end), grades):  # whether lengths are known does not matter
            digest.update(column.tobytes())
        digested = f"passages-{digest.hexdigest()}"
        return cls(name, tuple(query_ids), query, documents, start, end, whole, grades, digested, provenance)

    def of_documents(self) -> Judgments:
        """Judgments of whole documents: each has the highest grade of its passages.

        >>> PassageJudgments.read([("q", "d", 10, 20, 2), ("q", "d", 30, 50, 1)]).of_documents().by_query
        {'q': {'d': 2.0}}
        """
        by_query: dict[str, dict[str, float]] = {query: {} for query in self.query_ids}
        for passage in self._rows():
            judged = by_query[passage.query]
            judged[passage.document] = max(passage.grade, judged.get(passage.document, passage.grade))
        return Judgments(by_query, name=self.name, provenance=self.provenance)

    def __repr__(self) -> str:
        return f"PassageJudgments(queries={len(self)}, passages={len(self.grades)})"

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every passage, by query, document and place."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[Passage]:
        columns = (self.query, self.start, self.end, self.whole, self.grades)
        for document, (query, start, end, whole, grade) in zip(
            self.document_ids, zip(*(column.tolist() for column in columns), strict=True), strict=True
        ):
            place = (None if whole else start), (None if end == WHOLE else end)
            yield Passage(self.query_ids[query], document, *place, grade)


def _length(document: str, texts: Mapping[str, str]) -> int | None:
    text = texts.get(document)
    return len(text) if text else None


def _passage(row: PlacedRow, texts: Mapping[str, str], quoted: Callable[[str], QuotedText]) -> Passage:
    query, document = row.id(QUERY, "query"), row.id(DOCUMENT, "document")
    grade = row.number_of(GRADE, "grade")
    quote = row.text(QUOTE, "quote")
    place = checked_place(row, document, texts)
    if place is None and quote is None:
        return Passage(query, document, None, _length(document, texts), grade)
    if quote is not None and (place is None or document in texts):
        if document not in texts:
            fact = f"cannot locate {_shown(quote)} without the text of document '{document}'."
            raise row.error(fact, hint="give the documents: {document: text}, or a corpus.jsonl")
        place = _quoted(row, document, quote, place, quoted(document))
    assert place is not None
    return Passage(query, document, *place, grade)


def checked_place(row: PlacedRow, document: str, texts: Mapping[str, str]) -> Span | None:
    start, end = row.whole(START, "start"), row.whole(END, "end")
    if start is None and end is None:
        return None
    if start is None or end is None:
        lacking = "start" if start is None else "end"
        raise row.error(f"there is no {lacking}.", hint="give both start and end, or neither")
    if end <= start:
        raise row.error(f"{start} to {end} is empty.", hint="end is the position after the last character")
    if document in texts and end > len(texts[document]):
        raise row.error(f"it ends at {end}, but document '{document}' has {len(texts[document])} characters.")
    return start, end


def _quoted(row: PlacedRow, document: str, quote: str, place: Span | None, text: QuotedText) -> Span:
    """The one place of a quote; if a place is given as well, the quote must be there."""
    found = text.find(quote)
    if place is not None:
        if place not in takewhile(lambda span: span[0] == place[0], found.since(place[0])):
            fact = f"{_shown(quote)} is not at {place[0]} to {place[1]} of document '{document}'."
            raise row.error(fact, hint="has the text changed? Leave out start and end to look for the quote")
        return place
    if not found.first:
        raise row.error(f"{_shown(quote)} is not in document '{document}'.", hint="has the text changed?")
    if len(found.first) > 1:
        fact = f"{_shown(quote)} appears {found.count()} times in document '{document}'."
        raise row.error(fact, hint="quote more of it, or give start and end")
    return found.first[0]


def _shown(quote: str) -> str:
    return f"the quote '{quote[:SHOWN]}{'…' if len(quote) > SHOWN else ''}'"
