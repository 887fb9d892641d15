"""A folder made of traces: the queries, the texts of documents, all searches, and a run of them with its latency."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cranfield.io.column_names import FIELDS
from cranfield.io.formats.spans import Retrieval, TracedDocument
from cranfield.io.formats.traced_searches import collection_paused, in_tasks, several_traces
from cranfield.io.formats.traces import Traces, pairs_of
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream
from cranfield.io.target import make_folder, open_target
from cranfield.words import count

QUERIES, CORPUS, SEARCHES, RUN = "queries.jsonl", "corpus.jsonl", "searches.jsonl", "run.jsonl"


class TraceFolder(NamedTuple):
    """What was written; `notes` say what is not there, and why."""

    files: tuple[str, ...]
    searches: int
    notes: tuple[str, ...]


Found = tuple[str, int, Retrieval]  # the task, the number of the search, the search


def are_traces(stream: Stream) -> bool:
    return Traces().claims(stream.head(LOOK).removeprefix(BYTE_ORDER_MARK))


def convert_traces(source: str | os.PathLike[str] | Stream, folder: str, *, force: bool = False) -> TraceFolder:
    """Write what traces hold as a collection: queries, documents with texts, searches by task and step, and a run."""
    stream = source if isinstance(source, Stream) else Stream(source, hashed=False)
    with collection_paused():
        searches, over_traces = in_tasks(stream, lambda search: search)
        found = list(searches)
    make_folder(folder)
    notes: list[str] = []
    documents = _documents(found, notes)
    last, again = _last_of_each_query(found)
    queries = ({"query_id": query, "text": search.query} for query, search in last.items())
    files = [
        _write(folder, QUERIES, queries, force),
        _write(folder, SEARCHES, _search_rows(found), force),
    ]
    if documents:
        files.insert(1, _write(folder, CORPUS, documents, force))
    else:
        notes.append(f"no document has a text, so there is no {CORPUS}")
    if over_traces:
        notes.append(several_traces(over_traces))
    if again:
        notes.append(
            f"{count(again, 'query was', 'queries were')} searched for again with another result: {RUN} has the last "
            f"one, {SEARCHES} has all"
        )
    path = _write(folder, RUN, _run_rows(last), force)
    _write(folder, f"{RUN}.json", [_facts(stream.name, path, last)], force)
    files.append(path)
    return TraceFolder(tuple(files), len(found), tuple(notes))


def _last_of_each_query(found: Iterable[Found]) -> tuple[dict[str, Retrieval], int]:
    """The last search of each query, and how many queries were searched for again with another result."""
    last: dict[str, Retrieval] = {}
    again: set[str] = set()
    for _, _, search in found:
        known = last.setdefault(search.query_id, search)
        if known.ids != search.ids:
            again.add(search.query_id)
        if search.start >= known.start:
            last[search.query_id] = search
    return last, len(again)


def _documents(found: Iterable[Found], notes: list[str]) -> list[dict[str, Any]]:
    """The documents that have a text, once each; of several texts the last."""
    rows: dict[str, dict[str, Any]] = {}
    changed: set[str] = set()
    for document in (document for _, _, search in found for document in search.documents if document.text):
        row = _document_row(document)
        if rows.setdefault(document.id, row)["text"] != row["text"]:
            changed.add(document.id)
            rows[document.id] = row
    if changed:
        verb = "has" if len(changed) == 1 else "have"
        notes.append(f"{count(len(changed), 'document')} {verb} several texts; the last is kept")
    return list(rows.values())


def _document_row(document: TracedDocument) -> dict[str, Any]:
    facts = document.facts
    fields = {
        name: next((facts[word] for word in spellings if isinstance(facts.get(word), str)), None)
        for name, spellings in FIELDS.items()
        if name != "text"
    }
    return {"_id": document.id, "text": document.text, **{name: value for name, value in fields.items() if value}}


def _search_rows(found: Iterable[Found]) -> Iterator[dict[str, Any]]:
    for task, step, search in found:
        facts = {} if search.seconds is None else {"seconds": search.seconds}
        rows = [{"doc_id": document, "score": score} for document, score in pairs_of(search)]
        for row in rows or [{}]:  # one that found nothing is a search, too
            yield {"task": task, "step": step, "query": search.query, **row, **facts}


def _run_rows(searches: dict[str, Retrieval]) -> Iterator[dict[str, Any]]:
    for query, search in searches.items():
        for document, score in pairs_of(search):
            yield {"query_id": query, "doc_id": document, "score": score}


def _facts(name: str, path: str, searches: dict[str, Retrieval]) -> dict[str, Any]:
    """How long each search took, as it is kept beside the runs that cranfield records."""
    timed = {query: search.seconds for query, search in searches.items() if search.seconds is not None}
    seconds = np.array(list(timed.values()), dtype=np.float64)
    latency: dict[str, float] = {}
    if len(seconds):
        points = (seconds.mean(), *np.percentile(seconds, (50, 90, 95, 99, 100)))
        latency = {
            name: round(float(value), 6)
            for name, value in zip(("mean", "p50", "p90", "p95", "p99", "max"), points, strict=True)
        }
    by_query = {"query_id": list(timed), "seconds": seconds.tolist()}
    return {"system": name, "latency": latency, "by_query": by_query, "made": {}, "run_bytes": os.path.getsize(path)}


def _write(folder: str, name: str, rows: Iterable[dict[str, Any]], force: bool) -> str:
    path = os.path.join(folder, name)
    with open_target(path, force=force) as place, place.opened() as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode(errors="surrogatepass") + b"\n")
    return path
