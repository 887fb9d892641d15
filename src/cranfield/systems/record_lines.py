"""Lines of text files, and JSON objects on them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.read.mappings import id_text
from cranfield.read.streams import BYTE_ORDER_MARK, Stream


def text_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; decompressed."""
    rest, number = b"", 0
    stream = Stream(path)
    for chunk in stream.chunks():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            number += 1
            if line.strip():
                yield number, _text(line, stream.name, number)
    if rest.strip():
        yield number + 1, _text(rest, stream.name, number + 1)


def _text(line: bytes, name: str, number: int) -> str:
    try:
        return (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).decode().rstrip("\r")
    except UnicodeDecodeError:
        raise InputError(name, "this is not UTF-8 text.", line=number) from None


def record_of(line: str, name: str, number: int) -> dict[str, Any]:
    """The object on a line."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise InputError(name, f"this is not JSON: {error}.", line=number) from None
    if not isinstance(record, dict):
        raise InputError(name, "a JSON object is needed.", line=number)
    return record


def id_of(record: Mapping[str, Any], key: str, name: str, number: int) -> str:
    """The id that an object has under a key."""
    try:
        return id_text(record[key], key, name)
    except (KeyError, InputError):
        fact = f"'{key}' is missing or is not an id." if record else "an empty object."
        raise InputError(name, fact, line=number, hint="each line needs _id and text") from None
