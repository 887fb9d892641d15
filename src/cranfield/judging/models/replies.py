"""From a model's reply to a grade, or to a reason why it cannot be read; never a guess.

A reply is one JSON object with the field "grade". Prose around it is allowed, as long as it has no brace in it: with a
second object, or half of one, it is unclear which is the answer and which is quoted from the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

PARSER = 1  # raise this with every change of how replies are read

# Why there is no grade: errors in a reply, and errors of the endpoint.
FAILURES = {
    "empty": "the reply is empty",
    "refused": "the model or a filter of the endpoint refused",
    "cut short": "the reply was cut off at max_tokens",
    "no JSON": "the reply has no JSON object",
    "several objects": "the reply has more than one JSON object, or a part of one",
    "no grade": "the JSON object has no grade",
    "several grades": "the JSON object has more than one grade",
    "not a number": "the grade is not a number",
    "not on the scale": "the grade is not on the scale",
    "not A or B": "the reply chooses neither A nor B",
    "no choices": "the endpoint returned no reply",
    "too long": "the endpoint says that the prompt is too long for the model",
}


class ReadReply(NamedTuple):
    """What was read: a value, or the code of a failure."""

    value: Any = None
    failure: str = ""


class _RepeatedKeyError(Exception):
    pass


def read_grade(text: str, grades: Iterable[float], finish_reason: str = "", refusal: str = "") -> ReadReply:
    read = _field(text, "grade", finish_reason, refusal)
    if read.failure:
        return read
    if isinstance(read.value, bool) or not isinstance(read.value, int | float):
        return ReadReply(failure="not a number")
    return ReadReply(float(read.value)) if read.value in {*grades} else ReadReply(failure="not on the scale")


def read_better(text: str, finish_reason: str = "", refusal: str = "") -> ReadReply:
    read = _field(text, "better", finish_reason, refusal)
    if read.failure:
        return read
    return read if read.value in ("A", "B") else ReadReply(failure="not A or B")


def read_reason(text: str) -> str:
    read = _field(text, "reason", "", "")
    return read.value if isinstance(read.value, str) else ""


def _field(text: str, name: str, finish_reason: str, refusal: str) -> ReadReply:
    if refusal or finish_reason == "content_filter":
        return ReadReply(failure="refused")
    if finish_reason == "length":  # even if there is an object: the rest of the reply is unknown
        return ReadReply(failure="cut short")
    text = _without_thoughts(text).strip()
    if not text:
        return ReadReply(failure="empty")
    start = text.find("{")
    if start < 0:
        return ReadReply(failure="no JSON")
    try:
        table, end = _DECODER.raw_decode(text, start)
    except _RepeatedKeyError:
        return ReadReply(failure="several grades")
    except (ValueError, RecursionError):
        return ReadReply(failure="no JSON")
    rest = text[:start] + text[end:]
    if "{" in rest or "}" in rest:
        return ReadReply(failure="several objects")
    return ReadReply(table[name]) if name in table else ReadReply(failure="no grade")


def _without_thoughts(text: str) -> str:
    """A reply without the reasoning that some servers leave at its beginning. The text after its first end counts."""
    if not text.lstrip().startswith("<think>"):
        return text
    return text.partition("</think>")[2]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise _RepeatedKeyError
    return table


def _no_number(text: str) -> Any:
    raise ValueError(text)  # NaN and Infinity are not JSON


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)
