"""Facts about queries or documents, one for each: weights, segments, lengths."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.read.names import DOCUMENT, QUERY
from cranfield.read.streams import Stream

_HEADS = {name.replace("_", "") for name in (*QUERY, *DOCUMENT)}


def read_words(source: Any, what: str) -> dict[str, str]:
    """{id: word} from a mapping, or from a file of two columns, or of JSON. `what` names a value in errors.

    >>> read_words({1: "short", "2": "long"}, "segment")
    {'1': 'short', '2': 'long'}
    """
    if isinstance(source, Mapping):
        return {str(name): str(value) for name, value in source.items()}
    stream = Stream(os.fspath(source))
    try:
        text = stream.content().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(stream.name, f"byte {error.start + 1} is not UTF-8.") from None
    return (
        _from_json(stream.name, text, what) if text.lstrip().startswith("{") else _from_lines(stream.name, text, what)
    )


def read_numbers(source: Any, what: str) -> dict[str, float]:
    """{id: number}, none of them negative."""
    numbers = {}
    name = "the mapping" if isinstance(source, Mapping) else str(source)
    for key, word in read_words(source, what).items():
        try:
            numbers[key] = float(word)
        except ValueError:
            numbers[key] = math.nan
        if not 0 <= numbers[key] < math.inf:
            raise InputError(name, f"{what} '{word}' of '{key}' is not a number from 0.")
    return numbers


def _from_json(name: str, text: str, what: str) -> dict[str, str]:
    import json

    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(name, f"is not JSON ({error.msg}).", line=error.lineno) from None
    if not all(isinstance(value, str | int | float) for value in content.values()):
        raise InputError(name, f"has more than one {what} for an id.", hint=f'it should be {{"id": {what}, …}}')
    return {str(key): str(value) for key, value in content.items()}


def _from_lines(name: str, text: str, what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    separator = "\t" if "\t" in first else "," if "," in first else None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = next(csv.reader(io.StringIO(line), delimiter=separator)) if separator else line.split(None, 1)
        if len(fields) != 2 or not fields[0].strip() or not fields[1].strip():
            raise InputError(
                name,
                f"{len(fields)} column{'s' * (len(fields) != 1)} where an id and its {what} are needed.",
                line=number,
                hint=f"a line is: id {what}, separated by a blank, a tab or a comma",
            )
        key, value = (field.strip() for field in fields)
        if not found and key.lower().replace("-", "").replace("_", "") in _HEADS:
            continue  # a header
        if key in found:
            raise InputError(name, f"'{key}' stands twice.", line=number, hint=f"keep one {what} for each id")
        found[key] = value
    if not found:
        raise InputError(name, f"there is not one {what} in it.")
    return found
