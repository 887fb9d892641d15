"""Lines of text files and JSON objects on them; queries, and what is relevant to them in words."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.io.formats.json_lines import full_lines
from cranfield.io.mappings import id_text
from cranfield.io.streams import Stream


def text_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; decompressed."""
    stream = Stream(path)
    for lines in full_lines(stream):
        for number, line in lines:
            yield number, _text(line, stream.name, number)


def _text(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise InputError(name, "this is not UTF-8 text.", line=number) from None


def record_of(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(name, f"this is not JSON: {error}.", line=number) from None
    except RecursionError:
        raise InputError(name, "this JSON is nested too deep.", line=number) from None
    if not isinstance(record, dict):
        raise InputError(name, "a JSON object is needed.", line=number)
    return record


def id_of(record: Mapping[str, Any], key: str, name: str, number: int) -> str:
    try:
        return id_text(record[key], key, name)
    except (KeyError, InputError):
        fact = f"'{key}' is missing or is not an id." if record else "an empty object."
        raise InputError(name, fact, line=number, hint="each line needs _id and text") from None


_IDS = ("query_id", "qid", "id", "_id")
_TEXTS = ("text", "query")
_NARRATIVE = "narrative"
HINT = "a line is: id <tab> text; or in a .txt file the text alone"


class QueryText(NamedTuple):
    """The text of a query and, where there is one, a narrative: what is relevant to it, in words."""

    text: str
    narrative: str = ""


QueryLine = tuple[int, str, Any, Any]  # line, query, text, narrative


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The texts of the queries of a file. See `read_query_texts`."""
    return {query: described.text for query, described in read_query_texts(path).items()}


def read_query_texts(path: str | os.PathLike[str]) -> dict[str, QueryText]:
    """Queries from JSON lines with `_id`, `text` and maybe `narrative`, from CSV, or from lines "id <tab> text".

    CSV and lines have a third column, the narrative, where a header names it. A .txt file without tabs has a query on
    each line, and its number is the id.
    """
    texts: dict[str, QueryText] = {}
    name = os.fspath(path)
    for line, query, text, narrative in _rows(path, name):
        if not isinstance(text, str) or not text.strip():
            raise InputError(name, f"query '{query}' has no text.", line=line)
        if not isinstance(narrative, str):
            raise InputError(name, f"the narrative of query '{query}' is not text.", line=line)
        if query in texts:
            raise InputError(name, f"query '{query}' appears twice.", line=line)
        texts[query] = QueryText(text.strip(), narrative.strip())
    if not texts:
        raise InputError(name, "it contains no queries.")
    return texts


def _rows(path: str | os.PathLike[str], name: str) -> Iterator[QueryLine]:
    base = Path(name).name
    if ".json" in base:
        return _json_rows(path, name)
    if ".csv" in base:
        return _csv_rows(path, name)
    lines = list(text_lines(path))
    plain = ".txt" in base and not any("\t" in line for _, line in lines)
    return _plain_rows(lines, name) if plain else _tab_rows(lines, name)


def _json_rows(path: str | os.PathLike[str], name: str) -> Iterator[QueryLine]:
    for number, line in text_lines(path):
        record = record_of(line, name, number)
        yield number, id_of(record, "_id", name, number), record.get("text"), record.get(_NARRATIVE) or ""


def _tab_rows(lines: list[tuple[int, str]], name: str) -> Iterator[QueryLine]:
    narrated = False
    for number, line in lines:
        query, tab, text = line.partition("\t")
        if not tab or not query.strip():
            raise InputError(name, "a query and its text are needed.", line=number, hint=HINT)
        names = [cell.strip().lower() for cell in line.split("\t")]
        if number == 1 and names[0] in _IDS and names[1] in _TEXTS and names[2:] in ([], [_NARRATIVE]):
            narrated = names[2:] == [_NARRATIVE]
            continue
        narrative = ""
        if narrated:
            text, _, narrative = text.partition("\t")
        yield number, query.strip(), text, narrative


def _csv_rows(path: str | os.PathLike[str], name: str) -> Iterator[QueryLine]:
    """Rows of CSV: with a header its columns are found by name, without one they are the id and the text."""
    lines = list(text_lines(path))
    first = next(csv.reader([lines[0][1]])) if lines else []
    names = [cell.strip().lower() for cell in first]
    query, text = (next((names.index(name) for name in known if name in names), -1) for known in (_IDS, _TEXTS))
    headed = query >= 0 and text >= 0
    query, text = (query, text) if headed else (0, 1)
    narrative = names.index(_NARRATIVE) if headed and _NARRATIVE in names else -1
    reader = csv.reader(line for _, line in lines)
    for at, cells in enumerate(reader):
        number = lines[reader.line_num - 1][0]
        if at == 0 and headed:
            continue
        if len(cells) <= max(query, text) or not cells[query].strip():
            hint = "the first line names the columns: query_id,text; without it, they are the id and the text"
            raise InputError(name, "a query and its text are needed.", line=number, hint=hint)
        narrative_text = cells[narrative] if 0 <= narrative < len(cells) else ""
        yield number, cells[query].strip(), cells[text], narrative_text


def _plain_rows(lines: list[tuple[int, str]], name: str) -> Iterator[QueryLine]:
    """A query on each line; its id is its number. Lines that may be something else are refused."""
    if any(line.lstrip().lower().startswith("<top>") for _, line in lines):
        raise InputError(name, "these are TREC topics between <top> tags.", hint=f"write them as lines: {HINT}")
    words = [line.split()[0] for _, line in lines]
    if len(words) > 1 and all(word.isdecimal() for word in words) and len(set(words)) == len(words):
        hint = "put a tab after each id; or write a file without tabs, with only a text on each line"
        raise InputError(name, "every line begins with a number: are these ids?", line=lines[0][0], hint=hint)
    for at, (number, line) in enumerate(lines, 1):
        yield number, str(at), line, ""
