"""Checks of what goes into a store: ids, texts, grades and parts that any database can hold unchanged, or an error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.errors import InputError, choice_hint
from cranfield.io.mappings import id_text
from cranfield.judging.store.events import DocumentPart, StoredQuery, text_names
from cranfield.judging.store.merging import KINDS

LONGEST = 366 * 24 * 60 * 60  # seconds for a document: a sum of any number of these is finite


def checked_id(value: Any, source: str, what: str) -> str:
    text = id_text(value, source, what)
    if "\0" in text:
        raise InputError(source, f"{what}: the id {text!r} contains a NUL character.", hint="change the id")
    return text


def checked_text(value: Any, source: str, what: str) -> str:
    text = "" if value is None else value
    if not isinstance(text, str):
        raise InputError(source, f"{what}: {value!r:.60} is not text.")
    # PostgreSQL cannot hold a NUL character, and no database half of a surrogate pair: both mean nothing to a reader.
    if "\0" in text or not text.isascii():
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
    return text


def checked_if_given(value: Any, source: str, what: str) -> str | None:
    return None if value is None else checked_text(value, source, what)


def checked_part(part: DocumentPart | None, source: str) -> DocumentPart:
    """The ends of a part as the tables hold them: 0 and 0 for a whole document."""
    if part is None:
        return 0, 0
    try:
        start, end = part
        good = 0 <= int(start) == start < int(end) == end < 2**31
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        hint = "a part is (start, end), from 0, start < end"
        raise InputError(source, f"{part!r:.60} is not a part of a text.", hint=hint)
    return int(start), int(end)


def checked_grade(grade: Any, source: str) -> float | None:
    if grade is None:
        return None
    try:
        number = float(grade)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(grade, str | bytes | bool) or not math.isfinite(number):
        hint = "a grade is a number; None if it cannot be judged"
        raise InputError(source, f"{grade!r:.60} is not a grade.", hint=hint)
    return number + 0.0  # -0 is 0


def checked_kind(kind: str, source: str) -> str:
    if kind not in KINDS:
        raise InputError(source, f"there is no kind of assessor '{kind}'.", hint=choice_hint("kinds are", KINDS, kind))
    return kind


def refuse_unknown(source: str, names: Sequence[str], known: Mapping[str, str]) -> None:
    if not names:
        raise InputError(source, "no assessor is selected.", hint="leave out assessors to use all of them")
    for name in names:
        if name not in known:
            listed = ", ".join(list(known)[:10]) or "nobody"
            raise InputError(source, f"there is no assessor '{name}'.", hint=f"assessors who judged: {listed}")


def checked_seconds(seconds: Any, source: str) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST:
        raise InputError(
            source, f"{seconds!r:.60} is not a number of seconds.", hint=f"a document takes {LONGEST:,} at most: a year"
        )
    return float(seconds)


def checked_item(item: Sequence[Any], source: str) -> tuple[str, str, int, int]:
    if isinstance(item, str | bytes) or not 2 <= len(item) <= 3:
        raise InputError(source, f"{item!r:.60} is not a query and a document to judge.", hint="give (query, document)")
    query = checked_id(item[0], source, "a query")
    document = checked_id(item[1], source, f"query '{query}'")
    return query, document, *checked_part(item[2] if len(item) == 3 else None, source)


def text_rows(things: Any, kind: type, source: str) -> Iterator[dict[str, str]]:
    """Queries or documents as rows with all their columns: {id: text}, {id: {field: text}}, or rows (id, text, …)."""
    key, what = ("query_id", "query") if kind is StoredQuery else ("doc_id", "document")
    fields = text_names(kind)
    for pair in things.items() if isinstance(things, Mapping) else things:
        name, *values = (pair,) if isinstance(pair, str) else pair
        identity = checked_id(name, source, f"a {what}")
        given: Mapping[Any, Any] = {**dict(zip(fields, values)), **dict.fromkeys(values[len(fields) :])}
        if len(values) == 1:  # a single text is the text
            given = values[0] if isinstance(values[0], Mapping) else {"text": values[0]}
        if unknown := [name for name in given if name not in fields]:
            fact = f"{what} '{identity}': there is no field {unknown[0]!r}."
            raise InputError(source, fact, hint=f"it has {', '.join(fields)}")
        texts = {name: checked_text(given.get(name), source, f"{what} '{identity}'") for name in fields}
        yield {key: identity, **texts}
