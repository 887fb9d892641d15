"""Spans of traces, as exporters of OpenTelemetry write them, and the searches among them.

A file has one span, or one batch of OTLP, on each line; or one after the other over several lines; or all in an array.
Attributes are named by OpenInference (`retrieval.documents.0.document.id`) or by OpenTelemetry's conventions for
generative AI (`gen_ai.retrieval.documents`): flat, nested, in a column for each, or as a list of keys and values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT_ID, plain_name
from cranfield.io.formats.json import parse_json
from cranfield.io.formats.json_lines import full_lines
from cranfield.io.formats.traces import BATCH
from cranfield.io.mappings import id_text
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream

_DECODER = json.JSONDecoder()
_PARENT = re.compile(rb'"parent_?(?:[sS]pan_?)?[iI]d"\s*:\s*(null|"")?')
_DOCUMENTS = "retrieval.documents"
_FLAT = f"{_DOCUMENTS}."  # before the number of a document
_GEN_AI = "gen_ai.retrieval.documents"
_OUTPUT = "output.value"
_QUERY_IDS = ("query_id", "qid", "q_id", "queryid", "topic_id")
_TASK_IDS = ("task_id",)
_QUESTIONS = ("query", "question", "input", "text", "user_input", "q", "prompt", "query_str", "query_text")
_KINDS = ("openinference.span.kind", "gen_ai.operation.name")  # of a search that found nothing
_HINT = "spans are JSON as OpenTelemetry's exporters write them: a span on each line, or OTLP with resourceSpans"
_BEGUN, _ENDED = (
    tuple(end + suffix for suffix in ("TimeUnixNano", "_time", "_time_unix_nano", "Time")) for end in ("start", "end")
)
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))  # times since 1970 from so much on are in so many to a second


_Fields = tuple[Any, ...]  # of a document, as they are written: its id, score, text and metadata
_NOTHING = (None,) * 4
_NAMES = ("id", "score", "content", "metadata")


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
    ids, scores, texts, metadata: of its documents; in columns, because there are millions of them
    trace, span, parent: their ids; task: the id of the task, if the span has one
    times: when it began and ended, as it is written; begun: in seconds since 1970
    """

    query_id: str
    query: str
    ids: list[str]
    scores: list[float | None]
    texts: list[str]
    metadata: list[Any]
    trace: str
    span: str
    parent: str
    task: str
    times: tuple[Any, Any]
    begun: float | None
    line: int

    @property
    def documents(self) -> list[TracedDocument]:
        return list(map(TracedDocument, self.ids, self.scores, self.texts, self.metadata))

    @property
    def start(self) -> float:
        """When it began, in seconds since 1970; 0 if that is not known."""
        return self.begun or 0.0

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        begun, ended = self.times
        if isinstance(begun, str) and isinstance(ended, str) and begun.isdecimal() and ended.isdecimal():
            return (int(ended) - int(begun)) / 1e9  # exact before it is rounded
        end = _seconds(ended)
        return None if self.begun is None or end is None else round(end - self.begun, 6)


class Root(NamedTuple):
    """The first span of a trace: the task that it is about, by its id or in words."""

    trace: str
    task: str
    question: str


def found_in(stream: Stream, *, roots: bool) -> Iterator[tuple[Retrieval | None, Root | None]]:
    """The searches of a file of spans, in its order; and, if wanted, the first spans of traces."""
    for line, span in _spans(stream, roots):
        attributes, parent = _attributes(span), _parent(span)
        search = _retrieval(span, attributes, parent, line, stream.name)
        yield search, _root(span, attributes) if roots and not parent else None


# ---- From bytes to spans


def _spans(stream: Stream, roots: bool) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, item in _items(stream, roots):
        alone = isinstance(item, dict) and "attributes" in item  # mostly
        for span in (item,) if alone else _inside(item, stream.name, line):
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
    for number, line in chain.from_iterable(full_lines(stream)):
        # Most spans are neither searches nor the first of a trace; they are not even parsed.
        if b"etrieval" in line or b"RETRIEVER" in line or (roots and (batches or _is_root(line))):
            try:
                yield number, _parsed(line)
            except (ValueError, RecursionError):
                yield number, parse_json(line, stream.name, line=number, hint=_HINT)
        elif line[-1:] != b"}" and line.rstrip()[-1:] != b"}":
            parse_json(line, stream.name, line=number, hint=_HINT)


def _parsed(line: bytes) -> Any:
    """What `json.loads` returns, without its search for the encoding and for blanks, a seventh of its time."""
    if line[:2] == b'{"':
        text = line.decode("utf-8", "surrogatepass")
        item, end = _DECODER.raw_decode(text)
        if end == len(text):
            return item
    return json.loads(line)


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
    if "attributes" in item:  # nothing that holds spans has any
        yield item
        return
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
    if (text := typed.get("stringValue")) is not None:  # nearly always
        return text
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


def _retrieval(
    span: Mapping[str, Any], attributes: Mapping[str, Any], parent: str, line: int, name: str
) -> Retrieval | None:
    documents = _documents(attributes)
    if documents is None:
        kind = _find(attributes, "openinference.span.kind") or span.get("span_kind")
        if kind != "RETRIEVER" and _find(attributes, "gen_ai.operation.name") != "retrieval":
            return None
        documents = next((each for each in map(_documents, _events(span)) if each and each[0]), _columns(()))
    its_id = _id(span, "span")
    query = _question(attributes)
    query_id = _named(attributes, _QUERY_IDS) or query
    if not query_id:
        hint = "input.value (OpenInference) or gen_ai.retrieval.query.text (OpenTelemetry, if told to record it) has it"
        raise InputError(name, f"span {its_id or '?'} does not say what was searched for.", line=line, hint=hint)
    return Retrieval(
        query_id,
        query or query_id,
        *_identified(documents, attributes, its_id, line, name),
        _id(span, "trace"),
        its_id,
        parent,
        _named(attributes, _TASK_IDS),
        (begun := _time(span, _BEGUN), _time(span, _ENDED)),
        _seconds(begun),
        line,
    )


def _root(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> Root:
    task = _named(attributes, _TASK_IDS) or _named(attributes, _QUERY_IDS)
    return Root(_id(span, "trace"), task, _question(attributes))


def _events(span: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    events = span.get("events")
    return (_attributes(event) for event in (events if isinstance(events, list) else ()) if isinstance(event, dict))


def _documents(attributes: Mapping[str, Any]) -> Sequence[Sequence[Any]] | None:
    """The documents of a search, whatever way they are written, in columns of fields; None if there are none."""
    if (numbered := _numbered(tuple(attributes))) is not None:
        columns = [list(map(attributes.get, names)) for names in numbered]
        if None not in columns[0]:
            return columns
    for name in (_DOCUMENTS, _GEN_AI):
        if (listed := _listed(_find(attributes, name))) is not None:
            return _columns(map(_fields, listed))
    find = attributes.get
    flat: list[_Fields] = []
    while (fields := tuple(map(find, _keys(len(flat))))) != _NOTHING:
        flat.append(fields)
    # A number may be lacking; then all names are looked at.
    if not attributes.keys().isdisjoint(_keys(len(flat) + 1)):
        known = (name.removeprefix(_FLAT).partition(".")[0] for name in attributes if name.startswith(_FLAT))
        numbers = sorted({int(number) for number in known if number.isdecimal()})
        return _columns(tuple(map(find, _keys(number))) for number in numbers)
    return _columns(flat) if flat else None


@lru_cache(maxsize=100)  # all spans of a retriever have the same few
def _numbered(names: tuple[str, ...]) -> list[tuple[str, ...]] | None:
    """The attributes that have the ids of documents, their scores, texts and metadata.

    None if documents may be written in another way, or if a number is lacking: then the values decide.
    """
    known = set(names)
    number = 0
    while _keys(number)[0] in known:
        number += 1
    others = {_DOCUMENTS, _GEN_AI, "retrieval", "gen_ai", *_keys(number), *_keys(number + 1)}
    return list(zip(*map(_keys, range(number)), strict=True)) if number and known.isdisjoint(others) else None


def _columns(documents: Iterable[_Fields]) -> Sequence[Sequence[Any]]:
    return list(zip(*documents, strict=True)) or ((),) * len(_NAMES)


def _listed(given: Any) -> list[dict[str, Any]] | None:
    """Documents in a list, which may be written as JSON."""
    listed = _json(given)
    return listed if isinstance(listed, list) and all(isinstance(each, dict) for each in listed) else None


@lru_cache(maxsize=1000)  # the same few in every span
def _keys(number: int) -> tuple[str, ...]:
    """The attributes that have the fields of a document."""
    return tuple(f"{_FLAT}{number}.document.{name}" for name in _NAMES)


def _fields(document: Mapping[str, Any]) -> _Fields:
    inside = document.get("document")
    find = (inside if isinstance(inside, dict) else document).get
    text = find("document.content") or find("content") or find("page_content") or find("text")
    metadata = find("document.metadata") or find("metadata")
    return find("document.id", find("id")), find("document.score", find("score")), text, metadata


def _identified(
    columns: Sequence[Sequence[Any]], attributes: Mapping[str, Any], span: str, line: int, name: str
) -> tuple[list[str], list[float | None], list[str], list[Any]]:
    """The columns of documents with an id for each, and without scores and texts of other types."""
    ids, scores, texts, metadata = columns
    texts = [text if isinstance(text, str) else "" for text in texts]
    if not _are_plain(ids):
        ids = _ids(ids, texts, metadata, attributes, span, line, name)
    return list(ids), [score if type(score) is float else _number(score) for score in scores], texts, list(metadata)


def _are_plain(ids: Sequence[Any]) -> bool:
    """Whether all are ids as they should be; joined, because that is faster than to look at each."""
    try:
        return "".join(ids).isascii() and "" not in ids
    except TypeError:
        return False


def _ids(
    given: Sequence[Any],
    texts: Sequence[str],
    metadata: Sequence[Any],
    attributes: Mapping[str, Any],
    span: str,
    line: int,
    name: str,
) -> list[str]:
    """The ids of documents; without one that in the metadata, or in the output of the span; else the text."""
    found = []
    output: Sequence[_Fields] | None = None
    for at, (doc_id, text, its_metadata) in enumerate(zip(given, texts, metadata, strict=True), 1):
        if doc_id is None or doc_id == "":
            known = _mapping(its_metadata)
            doc_id = next((known[each] for each in DOCUMENT_ID if known.get(each) not in (None, "")), None)
            if doc_id is None:
                output = _output(attributes) if output is None else output
                # LangChain's spans have ids there alone.
                same = len(output) == len(given) and output[at - 1][2] == text
                doc_id = (output[at - 1][0] if same else None) or " ".join(text.split())
        if doc_id == "":
            fact = f"document {at} of span {span or '?'} has neither an id nor a text."
            raise InputError(name, fact, line=line, hint="document.id or document.content has it")
        found.append(id_text(doc_id, name, f"span {span or '?'}, document {at}"))
    return found


def _number(score: Any) -> float | None:
    if isinstance(score, bool) or not isinstance(score, int):
        return None
    try:
        return float(score)
    except OverflowError:
        return math.inf  # as JSON reads 1e999


def _output(attributes: Mapping[str, Any]) -> list[_Fields]:
    """The documents that the output of a span lists."""
    output = _json(_find(attributes, _OUTPUT))
    listed = _listed(output.get("documents") if isinstance(output, dict) else output)
    return list(map(_fields, listed or ()))


def _json(given: Any) -> Any:
    """What a text says as JSON; None if it is none."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return None


def _mapping(given: Any) -> Mapping[str, Any]:
    known = _json(given)
    return {plain_name(key): value for key, value in known.items()} if isinstance(known, dict) else {}


def _question(attributes: Mapping[str, Any]) -> str:
    """What was asked: the text, also of an input that is JSON."""
    text = _find(attributes, "gen_ai.retrieval.query.text") or _find(attributes, "input.value")
    if text is None:
        return ""
    if not isinstance(text, str):
        return _asked(text) or json.dumps(text, ensure_ascii=False)
    return ((text[:1] == "{" and _asked(_json(text))) or text).strip()


def _asked(given: Any, deep: int = 3) -> str:
    """The question in an input: under a usual name, in the last message of a person, or further inside."""
    if not isinstance(given, dict):
        return ""
    known = {plain_name(key): value for key, value in given.items()}
    said = next((known[name] for name in _QUESTIONS if isinstance(known.get(name), str)), "")
    if not said and isinstance(messages := known.get("messages"), list):
        said = next(filter(None, map(_said, reversed(messages))), "")
    if said or not deep:
        return said
    inside = {_asked(value, deep - 1) for value in known.values()} - {""}
    return inside.pop() if len(inside) == 1 else ""


def _said(message: Any) -> str:
    """What a person says in a message, of whose three ways of writing LangGraph uses all."""
    if isinstance(message, list) and len(message) == 2:
        message = {"role": message[0], "content": message[1]}
    if not isinstance(message, dict) or (message.get("role") or message.get("type")) not in ("user", "human"):
        return ""
    inside = message.get("data")
    content = (inside if isinstance(inside, dict) else message).get("content")
    return content if isinstance(content, str) else ""


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


def _time(span: Mapping[str, Any], names: Iterable[str]) -> Any:
    for name in names:
        if (time := span.get(name)) is not None:
            return time
    return None


def _seconds(time: Any) -> float | None:
    if isinstance(time, str):
        if not time.isdecimal():
            try:
                read = datetime.fromisoformat(time)
            except ValueError:
                return None
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    elif isinstance(time, bool) or not isinstance(time, int | float):
        return None
    number = float(time)
    return number / next((unit for least, unit in _UNITS if number >= least), 1.0)
