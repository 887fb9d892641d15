"""traces: spans of OpenInference or OpenTelemetry, of which the searches are the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from cranfield.errors import InputError
from cranfield.io.column_names import Role
from cranfield.io.formats.format import Format
from cranfield.io.formats.json import first_marks, is_row
from cranfield.io.mappings import Pairs
from cranfield.io.shapes import Rankings
from cranfield.io.streams import LOOK, Stream
from cranfield.words import count, shortened

if TYPE_CHECKING:
    from cranfield.io.formats.spans import Retrieval
    from cranfield.io.records import RecordFile

Ranking = dict[str, float] | Pairs
BATCH = re.compile(rb'"resource_?[sS]pans"\s*:')
_TRACE = re.compile(rb'"(?:context\.)?trace_?[iI]d"\s*:')
_SPAN = re.compile(rb'"(?:context\.)?span_?[iI]d"\s*:')


def holds_spans(head: bytes) -> bool:
    """Whether a file with these first bytes contains spans."""
    if first_marks(head)[:1] not in (b"{", b"["):
        return False
    return BATCH.search(head) is not None or (_TRACE.search(head) is not None and _SPAN.search(head) is not None)


class Traces(Format):
    """One ranking for each query; a query that was searched again must have found the same, in the same order."""

    name = "traces"
    meaning = "spans of OpenInference or OpenTelemetry's GenAI: JSON lines, or OTLP as JSON"
    held = "ids and scores of all documents that were found"
    reads = ("run",)
    writes = ()
    ids = "any"

    def claims(self, head: bytes) -> bool:
        """Also not rows that happen to name their span; a first line that is too long to read here is no row."""
        whole = len(head) < LOOK or b"\n" in head
        return holds_spans(head) and not (whole and head.lstrip().startswith(b"{") and is_row(head, "run"))

    def open(self, stream: Stream, role: Role, *, named: bool) -> Rankings:
        return Rankings(stream.name, _by_query(stream), stream)

    def open_records(self, stream: Stream, role: Role, *, named: bool) -> RecordFile:
        from cranfield.io.records import RankingRecords

        file = RankingRecords(stream, role, _by_query(stream))
        file.left_out = ("texts", "latency")
        return file

    def by_query(self, role: Role) -> bool:
        return True


def pairs_of(
    search: Retrieval, keep: Callable[[str, str], str] = lambda known, _: known
) -> Iterable[tuple[str, float]]:
    """The documents of a search in the order returned, with scores that agree with it.

    keep: a dict's setdefault, for one text for each id, however often it is found
    """
    from cranfield.io.falling_scores import falling_scores

    scores, _ = falling_scores(search.scores)
    return zip(map(keep, search.ids, search.ids), scores, strict=True)


def _ranking(search: Retrieval, keep: Callable[[str, str], str]) -> Ranking:
    ranking = dict(pairs_of(search, keep))
    return ranking if len(ranking) == len(search.ids) else Pairs(pairs_of(search, keep))


def _by_query(stream: Stream) -> dict[str, Ranking]:
    from cranfield.io.formats.traced_searches import collection_paused, searches

    by_query: dict[str, Ranking] = {}
    keep: Callable[[str, str], str] = {}.setdefault  # type: ignore[assignment]
    with collection_paused():
        for query_id, line, ranking in searches(stream, lambda each: (each.query_id, each.line, _ranking(each, keep))):
            known = by_query.setdefault(query_id, ranking)
            if known is not ranking and _ids(known) != _ids(ranking):
                raise _again(stream.name, query_id, line, known, ranking)
    return by_query


def _ids(ranking: Ranking) -> list[str]:
    return list(ranking) if isinstance(ranking, dict) else [document for document, _ in ranking]


def _again(name: str, query_id: str, line: int, known: Ranking, ranking: Ranking) -> InputError:
    found = f"{count(len(known), 'document')} before, {count(len(ranking), 'document')} here"
    differ = "other documents" if len(known) == len(ranking) else found
    return InputError(
        name,
        f"'{shortened(query_id, 60)}' was searched for again, with another result ({differ}).",
        line=line,
        hint="measure all searches of each task: UnionR, CallR, CallRR; or keep the last search of each query: "
        f"cranfield convert {name} folder/",
    )
