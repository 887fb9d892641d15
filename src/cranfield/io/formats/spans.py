"""Spans of traces, as exporters of OpenTelemetry write them, and the searches among them.

A file has one span, or one batch of OTLP, on each line; or one after the other over several lines; or all in an array.
Attributes are named by OpenInference (`retrieval.documents.0.document.id`) or by OpenTelemetry's conventions for
generative AI (`gen_ai.retrieval.documents`): flat, nested, in a column for each, or as a list of keys and values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT_ID, QUERY, TASK, plain_name
from cranfield.io.formats.json import parse_json
from cranfield.io.formats.json_lines import full_lines
from cranfield.io.formats.traces import BATCH
from cranfield.io.mappings import id_text
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream

_PARENT = re.compile(rb'"parent_?(?:[sS]pan_?)?[iI]d"\s*:\s*(null|"")?')
_DOCUMENTS = "retrieval.documents"
_FLAT = f"{_DOCUMENTS}."  # before the number of a document
_GEN_AI = "gen_ai.retrieval.documents"
_QUERY_IDS = tuple(name for name in QUERY if name.endswith("id"))
_TASK_IDS = tuple(name for name in TASK[:2])
_QUESTIONS = ("query", "question", "input", "text", "user_input", "q", "prompt")
_KINDS = ("openinference.span.kind", "gen_ai.operation.name")  # of a search that found nothing
_HINT = "spans are JSON as OpenTelemetry's exporters write them: a span on each line, or OTLP with resourceSpans"
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # times since 1970 from so much on are in so many to a second


Kept = TypeVar("Kept")


class TracedDocument(NamedTuple):
    id: str
    score: float | None
    text: str
    metadata: Any  # as it is written, which may be JSON

    @property
    def facts(self) -> Mapping[str, Any]:
        """The metadata by plain names."""
        return _mapping(self.metadata)


class Retrieval(NamedTuple):
    """One search: what was looked for, and what came back, best first.

    query_id: the id that the span has, or the text of the query
    trace, span: their ids; task: the id of the task, if the span has one
    times: when it began and ended, as it is written
    """

    query_id: str
    query: str
    documents: list[TracedDocument]
    trace: str
    span: str
    task: str
    times: tuple[Any, Any]
    line: int

    @property
    def start(self) -> float:
        """When it began, in seconds since 1970; 0 if that is not known."""
        return _seconds(self.times[0]) or 0.0

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if all(isinstance(time, str) and time.isdecimal() for time in self.times):
            return (int(self.times[1]) - int(self.times[0])) / 1e9  # exact before it is rounded
        start, end = map(_seconds, self.times)
        return None if start is None or end is None else round(end - start, 6)


class Root(NamedTuple):
    """The first span of a trace: the task that it is about, by its id or in words."""

    trace: str
    task: str
    question: str


def retrievals(stream: Stream) -> Iterator[Retrieval]:
    """The searches of a file of spans, in its order."""
    searches = (found for found in with_roots(stream, roots=False) if isinstance(found, Retrieval))
    first = next(searches, None)
    if first is None:
        hint = "a search has retrieval.documents (OpenInference) or gen_ai.retrieval.documents (OpenTelemetry)"
        raise InputError(stream.name, "none of its spans is a search.", hint=hint)
    yield first
    yield from searches


def with_roots(stream: Stream, *, roots: bool = True) -> Iterator[Retrieval | Root]:
    """The searches, and the first spans of traces."""
    for line, span in _spans(stream, roots):
        attributes = _attributes(span)
        retrieval = _retrieval(span, attributes, line, stream.name)
        if retrieval is not None:
            yield retrieval
        if roots and not _parent(span):
            yield _root(span, attributes)


def in_tasks(stream: Stream, kept: Callable[[Retrieval], Kept]) -> list[tuple[str, int, Kept]]:
    """The searches of each trace in the order of their times: the id of the task, the number of the search, the search.

    The id is the one that a span of the task has, else the text of its first span, else that of the trace; where two
    traces have the same text, both have that of the trace.

    kept: what to keep of a search, whose texts may be large
    """
    roots: dict[str, Root] = {}
    traces: dict[str, list[tuple[float, Kept]]] = {}
    named: dict[str, str] = {}
    for found in with_roots(stream):
        if isinstance(found, Root):
            roots.setdefault(found.trace, found)
            if found.task:
                named.setdefault(found.trace, found.task)
        else:
            traces.setdefault(found.trace, []).append((found.start, kept(found)))
            if found.task:
                named[found.trace] = found.task
    spoken = Counter(root.question for trace, root in roots.items() if trace in traces and trace not in named)
    tasks: list[tuple[str, int, Kept]] = []
    for trace, its in traces.items():
        question = roots[trace].question if trace in roots else ""
        task = named.get(trace) or (question if spoken[question] == 1 else "") or trace
        its.sort(key=lambda pair: pair[0])
        tasks.extend((task, step, search) for step, (_, search) in enumerate(its, 1))
    return tasks


# ---- From bytes to spans


def _spans(stream: Stream, roots: bool) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, item in _items(stream, roots):
        for span in _inside(item, stream.name, line):
            attributes = span.get("attributes")
            if not isinstance(attributes, list) or _searches(attributes) or (roots and not _parent(span)):
                yield line, span


def _searches(attributes: Sequence[Any]) -> bool:
    """Whether the attributes of OTLP may be those of a search."""
    for pair in attributes:
        if isinstance(pair, dict):
            key, value = str(pair.get("key")), pair.get("value")
            if "etrieval" in key:
                return True
            if key in _KINDS and isinstance(value, dict) and value.get("stringValue") in ("RETRIEVER", "retrieval"):
                return True
    return False


def _items(stream: Stream, roots: bool) -> Iterator[tuple[int, Any]]:
    head = stream.head(LOOK).removeprefix(BYTE_ORDER_MARK).lstrip()
    first, end, _ = head.partition(b"\n")
    if not head.startswith(b"{") or (end and not first.rstrip().endswith(b"}")):  # over several lines
        yield from _whole(stream)
        return
    batches = BATCH.search(first) is not None
    loads = json.loads
    for lines in full_lines(stream):
        for number, line in lines:
            # Most spans are neither searches nor the first of a trace; they are not even parsed.
            if b"etrieval" in line or b"RETRIEVER" in line or (roots and (batches or _is_root(line))):
                try:
                    yield number, loads(line)
                except (ValueError, RecursionError):
                    yield number, parse_json(line, stream.name, line=number, hint=_HINT)
            elif line[-1:] != b"}" and line.rstrip()[-1:] != b"}":
                parse_json(line, stream.name, line=number, hint=_HINT)


def _is_root(line: bytes) -> bool:
    """Whether a line is the first span of a trace, which has no parent."""
    at = line.find(b'"parent')
    while at >= 0:
        known = _PARENT.match(line, at)
        if known is not None and line[at - 1 : at] != b"\\":  # not inside of a text
            return known[1] is not None
        at = line.find(b'"parent', at + 1)
    return True


def _whole(stream: Stream) -> Iterator[tuple[int, Any]]:
    """Objects one after the other, each over several lines, as the console exporter writes them; or in an array."""
    text = bytes(stream.content()).decode("utf-8-sig", errors="surrogateescape")
    decoder, blank = json.JSONDecoder(), re.compile(r"[\s,]*")
    at = blank.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        try:
            item, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise InputError(stream.name, f"this is not JSON ({error.msg}).", line=error.lineno, hint=_HINT) from None
        except RecursionError:
            raise InputError(stream.name, "this JSON is nested too deep.", line=line, hint=_HINT) from None
        yield line, item
        at = blank.match(text, end).end()  # type: ignore[union-attr]


def _inside(item: Any, name: str, line: int) -> Iterator[Mapping[str, Any]]:
    """The spans of what one line holds: a span, a batch of OTLP, a list of either, or {"data": […]} of Phoenix."""
    if isinstance(item, list):
        for each in item:
            yield from _inside(each, name, line)
        return
    if not isinstance(item, dict):
        raise InputError(name, "this is not a span.", line=line, hint=_HINT)
    for key in ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans", "data"):
        if isinstance(item.get(key), list):
            yield from _inside(item[key], name, line)
            return
    yield item


# ---- From spans to searches


def _attributes(span: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = span.get("attributes")
    if isinstance(attributes, list):
        return {str(pair.get("key")): _value(pair.get("value")) for pair in attributes if isinstance(pair, dict)}
    if isinstance(attributes, dict):
        return attributes
    return {key.removeprefix("attributes."): value for key, value in span.items() if key.startswith("attributes.")}


def _value(typed: Any) -> Any:
    """A value of OTLP, which is in an object that says its type."""
    if not isinstance(typed, dict) or len(typed) != 1:
        return typed
    ((kind, value),) = typed.items()
    if kind == "intValue":
        return int(value) if isinstance(value, int) or str(value).lstrip("-").isdecimal() else None
    listed = value.get("values") if isinstance(value, dict) else None
    if kind == "arrayValue":
        return [_value(each) for each in listed] if isinstance(listed, list) else []
    if kind == "kvlistValue":
        pairs = [pair for pair in listed if isinstance(pair, dict)] if isinstance(listed, list) else []
        return {str(pair.get("key")): _value(pair.get("value")) for pair in pairs}
    return value if kind.endswith("Value") else typed


def _find(attributes: Mapping[str, Any], name: str) -> Any:
    """An attribute by its dotted name, whether names are flat or nested."""
    if name in attributes:
        return attributes[name]
    first, _, rest = name.partition(".")
    inside = attributes.get(first)
    return _find(inside, rest) if rest and isinstance(inside, dict) else None


def _retrieval(span: Mapping[str, Any], attributes: Mapping[str, Any], line: int, name: str) -> Retrieval | None:
    documents = _documents(attributes)
    if documents is None:
        kind = _find(attributes, "openinference.span.kind") or span.get("span_kind")
        if kind != "RETRIEVER" and _find(attributes, "gen_ai.operation.name") != "retrieval":
            return None
        documents = next(filter(None, map(_documents, _events(span))), [])
    its_id = _id(span, "span")
    query = _question(attributes)
    query_id = _named(attributes, _QUERY_IDS) or query
    if not query_id:
        hint = "input.value (OpenInference) or gen_ai.retrieval.query.text (OpenTelemetry) has it"
        raise InputError(name, f"span {its_id or '?'} does not say what was searched for.", line=line, hint=hint)
    return Retrieval(
        query_id,
        query or query_id,
        [_document(each, at, its_id, line, name) for at, each in enumerate(documents, 1)],
        _id(span, "trace"),
        its_id,
        _named(attributes, _TASK_IDS),
        (_time(span, "start"), _time(span, "end")),
        line,
    )


def _root(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> Root:
    task = _named(attributes, _TASK_IDS) or _named(attributes, _QUERY_IDS)
    return Root(_id(span, "trace"), task, _question(attributes))


def _events(span: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    events = span.get("events")
    return (_attributes(event) for event in (events if isinstance(events, list) else ()) if isinstance(event, dict))


def _documents(attributes: Mapping[str, Any]) -> Sequence[Mapping[str, Any]] | None:
    """The documents of a search, whatever way they are written; None if there are none."""
    for name in (_DOCUMENTS, _GEN_AI):
        listed = _find(attributes, name)
        if isinstance(listed, str):
            try:
                listed = json.loads(listed)
            except (ValueError, RecursionError):
                listed = None
        if isinstance(listed, list) and all(isinstance(each, dict) for each in listed):
            return listed
    flat: list[Mapping[str, Any]] = []
    gap = False
    while True:
        given = {field: attributes[key] for field, key in _keys(len(flat) + gap) if key in attributes}
        if given:
            flat.append(given)
            if gap:
                return _numbered(attributes)
        elif gap:
            return flat or None
        gap = not given


def _numbered(attributes: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Documents by their numbers, some of which are lacking."""
    flat: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(_FLAT):
            number, _, field = key.removeprefix(_FLAT).partition(".")
            if number.isdecimal():
                flat.setdefault(int(number), {})[field] = value
    return [flat[number] for number in sorted(flat)]


@lru_cache(maxsize=1000)  # the same few in every span
def _keys(number: int) -> tuple[tuple[str, str], ...]:
    """The fields of a document, and the attributes that have them."""
    fields = ("id", "score", "content", "metadata")
    return tuple((f"document.{field}", f"{_FLAT}{number}.document.{field}") for field in fields)


def _document(given: Mapping[str, Any], at: int, span: str, line: int, name: str) -> TracedDocument:
    fields = given["document"] if isinstance(given.get("document"), dict) else given
    find = fields.get
    text = find("document.content") or find("content") or find("text")
    text = text if isinstance(text, str) else ""
    metadata = find("document.metadata") or find("metadata")
    score = find("document.score", find("score"))
    doc_id = find("document.id", find("id"))
    if doc_id is None or doc_id == "":
        known = _mapping(metadata)
        doc_id = next((known[each] for each in DOCUMENT_ID if known.get(each) not in (None, "")), None)
        doc_id = " ".join(text.split()) if doc_id is None else doc_id
    if doc_id == "":
        fact = f"document {at} of span {span or '?'} has neither an id nor a text."
        raise InputError(name, fact, line=line, hint="document.id or document.content has it")
    if type(doc_id) is not str or not doc_id.isascii():
        doc_id = id_text(doc_id, name, f"span {span or '?'}, document {at}")
    if type(score) is not float:
        score = None if isinstance(score, bool) or not isinstance(score, int) else float(score)
    return TracedDocument(doc_id, score, text, metadata)


def _mapping(given: Any) -> Mapping[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return {plain_name(key): value for key, value in given.items()} if isinstance(given, dict) else {}


def _question(attributes: Mapping[str, Any]) -> str:
    """What was asked: the text, also of an input that is JSON."""
    text = _find(attributes, "gen_ai.retrieval.query.text") or _find(attributes, "input.value")
    if not isinstance(text, str):
        return "" if text is None else json.dumps(text, ensure_ascii=False)
    if text[:1] == "{":
        inside = _mapping(text)
        given = next((inside[name] for name in _QUESTIONS if isinstance(inside.get(name), str)), None)
        text = str(given or text)
    return text.strip()


def _named(attributes: Mapping[str, Any], names: Iterable[str]) -> str:
    """An id under one of these names, among the attributes or in their metadata; empty if there is none."""
    known = attributes.get("metadata")
    places = (attributes, _mapping(known)) if known else (attributes,)
    for place in places:
        for name in () if place.keys().isdisjoint(names) else names:
            value = place.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
    return ""


def _id(span: Mapping[str, Any], what: str) -> str:
    context = span.get("context")
    if isinstance(context, dict):
        return str(context.get(f"{what}_id", ""))
    return str(span.get(f"{what}Id") or span.get(f"{what}_id") or span.get(f"context.{what}_id") or "")


def _parent(span: Mapping[str, Any]) -> str:
    parent = span.get("parent")
    if isinstance(parent, dict):
        return str(parent.get("span_id", ""))
    return str(span.get("parent_id") or span.get("parentSpanId") or span.get("parentId") or "")


def _time(span: Mapping[str, Any], end: str) -> Any:
    for suffix in ("TimeUnixNano", "_time", "_time_unix_nano", "Time"):
        if (time := span.get(end + suffix)) is not None:
            return time
    return None


def _seconds(time: Any) -> float | None:
    if isinstance(time, bool) or time is None:
        return None
    if isinstance(time, str) and not time.isdecimal():
        try:
            read = datetime.fromisoformat(time)
        except ValueError:
            return None
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    if not isinstance(time, str | int | float):
        return None
    number = float(time)
    return number / next((unit for least, unit in _UNITS if number >= least), 1.0)
