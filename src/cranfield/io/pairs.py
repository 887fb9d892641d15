"""Facts about queries or documents, one for each: weights, segments, lengths."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from cranfield.drawing import from_store
from cranfield.errors import InputError, choice_hint
from cranfield.io.column_names import DOCUMENT, QUERY, plain_name
from cranfield.io.formats.json import has_halves, parse_json
from cranfield.io.formats.store import JudgmentView, names_store
from cranfield.io.mappings import finite, id_text
from cranfield.io.queries import Queries, queries_of
from cranfield.io.query_columns import COLUMNS, FROM_FILE, KINDS, text_tier, words_of
from cranfield.io.query_tables import read_query_table
from cranfield.io.streams import BYTE_ORDER_MARK, Stream
from cranfield.words import joined

PROBABILITY = "probability"  # the column of a sample's queries that says with which each was drawn
_END = re.compile(r"\r\n|\r|\n")  # of a line
_WHITE = " \t\x0b\x0c"
_HEADS = {name.replace("_", "") for name in (*QUERY, *DOCUMENT)}


_YES, _NO = ("yes", "y", "true", "1", "1.0"), ("no", "n", "false", "0", "0.0")
_ANSWERS = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)
Check = Callable[[str], str]  # says what is wrong with a value; nothing if it may be one


class Facts(dict[str, str]):
    """A fact about each query, and the file that they come from."""

    def __init__(self, words: Mapping[str, str], place: str) -> None:
        super().__init__(words)
        self.place = place


def read_answerable(source: Any) -> dict[str, bool]:
    """Whether each query has an answer; of a store, those flagged as having none."""
    if isinstance(source, str | os.PathLike) and names_store(os.fspath(source)):
        source = from_store("answers", os.fspath(source), JudgmentView())[0]

    def check(word: str) -> str:
        return "" if word.lower() in _ANSWERS else "is neither yes nor no."

    return {query: _ANSWERS[word.lower()] for query, word in read_words(source, "answerable", check).items()}


def read_columns(source: Any) -> dict[str, Facts]:
    """By name, those columns of a file of queries that evaluations use; others are not read."""
    separator = ""
    if not isinstance(source, Queries):
        if not isinstance(source, str | os.PathLike | Stream) and not hasattr(source, "read"):
            hint = f"give a path, or {', '.join(column.parameter for column in COLUMNS.values())} as {{query: value}}"
            raise InputError(FROM_FILE, f"{type(source).__name__} is no file of queries.", hint=hint)
        table = read_query_table(source)
        source, separator = queries_of(table), table.separator
    named = {kind: [name for name in source.columns if words_of(name) == (kind,)] for kind in (*COLUMNS, PROBABILITY)}
    if not any(named[kind] for kind in COLUMNS):
        has = f"; it has {', '.join(source.columns)}" if source.columns else ""
        fact = f"it has none of the columns {joined(COLUMNS, 'and')}."
        raise InputError(source.place, fact, hint=f"name at least one of them so{has}")
    return {
        kind: _column(kind, source.facts(kind, source.place), source.place, separator)
        for kind, names in named.items()
        if names
    }


def read_sampled_weights(source: Any) -> tuple[dict[str, float], dict[str, float]]:
    """How much each query counts, and of queries that were sampled from a log the probability of each.

    "queries.tsv:distinct_weight" is another column of a file of queries than `weight`.
    """
    if not isinstance(source, str | os.PathLike):
        return read_numbers(source, "weight"), {}
    path, _, column = os.fspath(source).rpartition(":")
    if not os.path.isfile(path) or os.path.exists(source):
        path, column = os.fspath(source), ""
    stream = Stream(path)
    if not column and not _are_queries(stream.content()):
        return read_numbers(stream, "weight"), {}
    columns = queries_of(read_query_table(stream)).columns
    if column and column not in columns:
        raise InputError(stream.name, f"there is no column '{column}'.", hint=choice_hint("it has", columns, column))
    weights = read_numbers(columns[column] if column else stream, "weight")
    drawn = next((columns[name] for name in columns if plain_name(name) == PROBABILITY), {})
    return weights, read_probabilities(drawn, stream.name)


def read_probabilities(source: Any, place: str) -> dict[str, float]:
    """With which probability each query of a sample was drawn."""
    probabilities = read_numbers(source, PROBABILITY)
    for query, chance in probabilities.items():
        if not 0 < chance <= 1:
            raise InputError(place, f"{PROBABILITY} {chance:g} of '{query}' is not above 0 and up to 1.")
    return probabilities


def read_words(source: Any, what: str, check: Check = lambda word: "") -> dict[str, str]:
    """{id: word} from a mapping, or from a file of two columns, or of JSON. `what` names a value in errors."""
    given = "answerable" if what == "answerable" else f"the {what}s"
    if isinstance(source, Mapping):
        words = {str(name): str(value) for name, value in source.items()}
        _checked(getattr(source, "place", given), words, what, check)
        return words
    if not isinstance(source, str | os.PathLike | Stream):
        raise InputError(given, f"{source!r:.60} is neither a mapping nor a path.")
    stream = source if isinstance(source, Stream) else Stream(source)
    data = stream.content()
    if what in KINDS and _are_queries(data):
        table = read_query_table(stream)
        facts = queries_of(table).facts(what, table.name)
        return read_words(_column(what, facts, table.name, table.separator), what, check)
    if data.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
        words = _from_json(stream.name, data, what)
        _checked(stream.name, words, what, check)
        return words
    try:
        return _from_lines(stream.name, data.decode("utf-8-sig"), what, check)
    except UnicodeDecodeError as error:
        raise InputError(stream.name, f"byte {error.start + 1} is not UTF-8.") from None


def _are_queries(data: bytearray) -> bool:
    """Whether this is a file of queries that has this fact in a column of its own, and not two columns."""
    if data.startswith(b"PAR1"):
        return True
    first = data.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0].decode(errors="replace")
    if first.startswith(("{", "[{")):
        return first.startswith("[") or re.match(r'\{\s*"_?(id|query|qid|text|user_query)[^}]+\}', first) is not None
    names = re.split(r"[\t;,]", first)
    # Of two columns, one that names a text is not a fact.
    text = len(names) == 2 and text_tier(names[1 if _is_head(names[0]) else 0]) >= 2
    return text or len(names) > 2 or (len(names) == 2 and ";" in first)


def _is_head(name: str) -> bool:
    return plain_name(name).replace("_", "") in _HEADS


def _column(what: str, facts: Mapping[str, Any], place: str, separator: str) -> Facts:
    """A column of a file of queries."""
    words = {query: str(fact) for query, fact in facts.items()}
    grouped = [word for word in words.values() if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+", word)]
    if what == "weight" and separator == ";" and grouped:
        fact = f"it is not clear whether the point in {what} '{grouped[0]}' separates thousands."
        raise InputError(place, fact, hint=f"write {grouped[0].replace('.', '')}, or {grouped[0]}0")
    return Facts(words, place)


def read_numbers(source: Any, what: str) -> dict[str, float]:
    """{id: number}, none of them negative."""

    def check(word: str) -> str:
        try:
            return "" if 0 <= float(word) < math.inf else "is not a number from 0."
        except ValueError:
            return "is not a number from 0."

    return {key: float(word) for key, word in read_words(source, what, check).items()}


def read_numbers_by_run(source: Any, what: str) -> dict[str, float | dict[str, float]]:
    """{run: number} or {run: {query: number}}, from a mapping, or a file: one of JSON, or of two columns."""
    if isinstance(source, str | os.PathLike):
        stream = Stream(source)
        data = stream.content()
        if not data.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
            return dict(read_numbers(source, what))
        hint = f'it should be {{"run": {what}, …}}, or {{"run": {{"query": {what}, …}}, …}}'
        return _by_run(stream.name, parse_json(data, stream.name, hint=hint), what)
    if not isinstance(source, Mapping):
        raise InputError(f"the {what}", f"{source!r:.60} is neither a mapping nor a path.")
    return _by_run(f"the {what}", source, what)


def _by_run(place: str, content: Mapping[Any, Any], what: str) -> dict[str, float | dict[str, float]]:
    def number(value: Any, of: str) -> float:
        return finite(value, place, of)

    return {
        str(run): {str(query): number(each, f"query '{query}' of '{run}'") for query, each in value.items()}
        if isinstance(value, Mapping)
        else number(value, f"'{run}'")
        for run, value in content.items()
    }


def _checked(place: str, words: Mapping[str, str], what: str, check: Check, line: int | None = None) -> None:
    for key, word in words.items():
        if wrong := check(word):
            raise InputError(place, f"{what} '{word}' of '{key}' {wrong}", line=line)


def _from_json(name: str, data: bytearray, what: str) -> dict[str, str]:
    shape = f'it should be {{"id": {what}, …}}'
    content = parse_json(data, name, hint=shape)
    suspicious = has_halves(data)
    for key, value in content.items():
        if not isinstance(value, str | int | float):
            raise InputError(name, f"the {what} of '{key}' is {value!r:.60}.", hint=shape)
        if suspicious:
            id_text(key, name, "an id")
            id_text(str(value), name, f"the {what} of '{key}'")
    return {key: str(value) for key, value in content.items()}


def _from_lines(name: str, text: str, what: str, check: Check) -> dict[str, str]:
    words: dict[str, str] = {}
    lines = [(number, line) for number, line in enumerate(_END.split(text), 1) if line.strip(_WHITE) and line[0] != "#"]
    separator = next((mark for mark in "\t," if lines and mark in lines[0][1]), None)
    for number, line in lines:
        try:
            if separator:
                fields = next(csv.reader([line], delimiter=separator, strict=True))
            else:  # only white space of ASCII separates words, as in runs and judgments
                fields = [word.decode() for word in line.encode().split(None, 1)]
        except csv.Error as error:
            raise InputError(name, f"invalid quoting ({error}).", line=number) from None
        if len(fields) != 2 or not all(field.strip(_WHITE) for field in fields):
            fact = f"{len(fields)} column{'s' * (len(fields) != 1)} where an id and its {what} are needed."
            hint = f"a line is: id {what}, separated by a blank, a tab or a comma"
            raise InputError(name, fact, line=number, hint=hint)
        key, value = (field.strip(_WHITE) for field in fields)
        if not words and _is_head(key):
            continue  # a header
        if key in words:
            raise InputError(name, f"'{key}' appears twice.", line=number, hint=f"keep one {what} for each id")
        _checked(name, {key: value}, what, check, number)
        words[key] = value
    if not words:
        raise InputError(name, f"it contains no {what}s.")
    return words
