"""The judgments: for every query the documents that were judged, and their grades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from cranfield.errors import InputError
from cranfield.io.formats.prefs import are_preferences
from cranfield.io.shapes import Rankings, Source, Table, Text
from cranfield.io.source import open_source
from cranfield.io.streams import Stream
from cranfield.io.text import blocks
from cranfield.native import native, native_layout
from cranfield.ranks.chunk_runs import are_of_passages
from cranfield.ranks.codes import codes_of
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.scan.ahead import judged_ahead
from cranfield.ranks.tables.judged_grades import JudgedGrades

if TYPE_CHECKING:
    import numpy.typing as npt

    from cranfield.evaluation.corrected import CorrectedJudgments


class Judgments:
    """Judged documents by query, as columns. Build them with `Judgments.read`.

    Queries are in their natural order (by number if all ids are numbers), the documents of a query in the order of
    their ids, so that equal judgments are equal columns whatever they were read from.

    query_ids: the judged queries
    first: rows first[q] to first[q + 1] belong to query q
    grades: the grade of every row
    provenance: which assessors and which rule they come from, as signatures show it; empty for files

    >>> judgments = Judgments.read({"10": {"d1": 2}, "9": {"d3": 0, "d2": 1}})
    >>> len(judgments), judgments.query_ids, judgments.document_ids, judgments.grades.tolist()
    (2, ('9', '10'), ['d2', 'd3', 'd1'], [1.0, 0.0, 2.0])
    >>> judgments.by_query["10"], judgments.number["10"], judgments.query.tolist()
    ({'d1': 2.0}, 1, [0, 0, 1])
    """

    _file: Stream | None  # that they were read from

    def __init__(
        self, by_query: Mapping[str, Mapping[str, float]], *, name: str, sha256: str = "", provenance: str = ""
    ) -> None:
        queries = in_order(by_query)
        rows = [by_query[query] for query in queries]
        rows = [row if len(row) == 1 else dict(sorted(row.items())) for row in rows]
        self.name = name
        self.provenance = provenance
        self.query_ids = tuple(queries)
        self.document_ids = list(chain.from_iterable(rows))
        grades = list(chain.from_iterable(row.values() for row in rows))
        self.first = offsets(map(len, rows))
        self.grades: Numbers = np.array(grades, dtype=np.float64) + 0.0  # -0 is 0
        self.sha256 = sha256 or self._digest()

    @classmethod
    def read(cls, qrels: Any, format: str | None = None) -> Judgments:
        """Read judgments from a file or from memory.

        qrels: a path, "-" for standard input, an open binary file, a dict of dicts, rows (query, document, grade) or a
            frame; a `Store` and other judgments too.
        format: the format of the file, if it cannot be detected.
        Returns the judgments. It is an error if there are none, or if a document is judged twice for a query.

        >>> Judgments.read({"q1": {"d1": 2, "d2": 0}})
        Judgments(queries=1, judgments=2)
        """
        if isinstance(qrels, Judgments):
            return qrels
        if hasattr(type(qrels), "to_judgments"):  # judgments of another kind, such as GroupedJudgments
            converted: Judgments = qrels.to_judgments()
            return converted
        if are_of_passages(qrels):
            raise InputError(
                qrels.name,
                "these are judgments of passages, but one grade for each document is needed.",
                hint="passages.of_documents() gives the highest of each; evaluate, compare, gate and write_report "
                "take passages with a ChunkRun",
            )
        if are_corrected(qrels):
            raise InputError(
                repr(qrels), "only evaluate, compare and gate take judgments of a model that people correct."
            )
        source = open_source(qrels, "qrels", format)
        if judgments := cls._read_natively(source):
            return judgments
        # Imported only here, since plain sources are read natively.
        from cranfield.ranks.reading_judgments import read_grades

        by_query = read_grades(source)
        stream, provenance = getattr(source, "stream", None), getattr(source, "provenance", "")
        return cls(by_query, name=source.name, sha256=stream.sha256 if stream else "", provenance=provenance)

    @classmethod
    def _read_natively(cls, source: Source) -> Judgments | None:
        """The judgments of a source with only plain rows; None for any other."""
        judged = _judged_natively(source) if native is not None else None
        if judged is None:
            return None
        queries, documents, first, grades, index = judged
        judgments = cls.__new__(cls)
        judgments.name, judgments.provenance = source.name, getattr(source, "provenance", "")
        judgments.query_ids, judgments.document_ids = tuple(queries), documents
        judgments.first, judgments.grades = first, grades
        judgments._index, judgments._file = index, source.stream
        return judgments

    def __repr__(self) -> str:
        return f"Judgments(queries={len(self.query_ids)}, judgments={len(self.grades)})"

    def __len__(self) -> int:
        return len(self.query_ids)

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_index", "_known", "_codes", "_file")
        known = {name: value for name, value in self.__dict__.items() if name not in left_out}
        return {**known, "sha256": self.sha256}

    @cached_property
    def sha256(self) -> str:
        """The hash of the file's bytes, or of the columns where the judgments came from memory.

        >>> Judgments.read({"q1": {"d1": 2}}).sha256[:8]
        '06a52fc6'
        """
        return (self._file.sha256 or self._file.hash_again()) if self._file else self._digest()

    def _hash(self) -> str:
        return self.sha256

    @property
    def _best_first(self) -> dict[float, tuple[Numbers, JudgedGrades]]:
        """The grades by the lowest grade that is a judgment, unsorted and best first: kept for the next run."""
        known: dict[float, tuple[Numbers, JudgedGrades]] = self.__dict__.setdefault("_known", {})  # one for all threads
        return known

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each query."""
        return {query: number for number, query in enumerate(self.query_ids)}

    @cached_property
    def by_query(self) -> dict[str, dict[str, float]]:
        """The grades of each query's documents."""
        grades, first = self.grades.tolist(), self.first.tolist()
        return {
            query: dict(
                zip(self.document_ids[first[at] : first[at + 1]], grades[first[at] : first[at + 1]], strict=True)
            )
            for at, query in enumerate(self.query_ids)
        }

    @cached_property
    def _number_of_bytes(self) -> dict[bytes, int]:
        """The number of each query, for ids as bytes of a file."""
        return {query.encode(): number for number, query in enumerate(self.query_ids)}

    @cached_property
    def _document_bytes(self) -> list[bytes]:
        """The document ids of all rows, as bytes of a file."""
        return [document.encode() for document in self.document_ids]

    @cached_property
    def _codes(self) -> Integers:
        """The numbers of the document ids of all rows, in this process."""
        return codes_of(self.document_ids)

    @cached_property
    def _document_numbers(self) -> list[int | None]:
        """The document ids of all rows as whole numbers; None if they are not."""
        return [
            int(document) if document.isdecimal() and len(document) < 20 and str(int(document)) == document else None
            for document in self.document_ids
        ]

    @cached_property
    def query(self) -> Integers:
        """The query of every row."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first))

    @cached_property
    def _index(self) -> native.Index:
        """The index in which the native scan looks up documents."""
        assert native is not None
        return native.Index(*laid_out(self.query_ids), *laid_out(self.document_ids), self.first)

    def _digest(self) -> str:
        import hashlib

        try:
            digest = hashlib.sha256("\n".join((*self.query_ids, "", *self.document_ids)).encode())
        except UnicodeEncodeError as error:  # a lone surrogate: the only text without bytes
            bad = error.object[error.start]
            raise InputError(self.name, f"an id contains {bad!a}, which UTF-8 cannot encode.") from None
        digest.update(self.first.tobytes())
        digest.update(self.grades.tobytes())
        return digest.hexdigest()


def are_corrected(qrels: Any) -> TypeGuard[CorrectedJudgments]:
    """Whether these are a model's judgments that people correct; their class stands further to the right."""
    return hasattr(type(qrels), "judges")


def laid_out(ids: Sequence[str]) -> tuple[npt.NDArray[np.uint8], Integers]:
    """Ids end to end in UTF-8, and where each one ends."""
    pieces = [text.encode() for text in ids]
    return np.frombuffer(b"".join(pieces), np.uint8), offsets(map(len, pieces))


def in_order(queries: Iterable[str]) -> list[str]:
    """Queries in their natural order: by number if all ids are numbers."""
    # Only plain decimal numbers are ordered as numbers; "007" and "7" are different ids, so the text comes first.
    ids = list(queries)
    digits = "".join(ids)
    if not (digits.isdecimal() and digits.isascii() and max(map(len, ids)) < 20):
        return sorted(ids)
    numbered = sorted(ids, key=int)  # which takes hardly any time if they are in order, as in most files
    return numbered if len(set(map(int, ids))) == len(ids) else sorted(sorted(ids), key=int)


def _judged_natively(source: Source) -> native.Judged | None:
    match source:
        case Text() if are_preferences(source.layout):
            return None
        case Text():
            ahead = judged_ahead(source)
            if ahead is not None:
                return ahead
            lines = b"".join(block.data for block in blocks(source.stream, source.layout, held=True))
            return native.read_judgments(np.frombuffer(lines, np.uint8), native_layout(source.layout))
        case Table():
            return next(filter(None, starmap(native.judge_frame, source.columns.lent())), None)
        case Rankings():
            return native.judge_dicts(source.by_query) if type(source.by_query) is dict else None
