"""The file of a saved evaluation: JSON, one line for each column, so that two of them can be compared by eye."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from textwrap import indent
from typing import Any

from cranfield.errors import InputError, OutputError
from cranfield.read.formats.json import parse_json
from cranfield.read.streams import Stream
from cranfield.read.target import write_text

FORMAT = "cranfield evaluation"
EDITION = 2
FACTS = ("relevant", "found", "first", "retrieved", "unjudged", "deeper", "cutoff")  # of a query, for each measure
TEXTS = ("run", "qrels_sha256", "run_sha256", "version")
CHECKSUM = "checksum"
HINT = "Evaluation.save and 'cranfield evaluate --save' write such a file"


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the content of an evaluation; the file appears only when it is complete."""
    whole = {"format": FORMAT, "edition": EDITION, **content}
    try:
        lines = [
            f"{json.dumps(name)}: {_line(value)}" for name, value in [*whole.items(), (CHECKSUM, _checksum(whole))]
        ]
    except ValueError as error:  # JSON has neither NaN nor infinity
        raise OutputError(os.fspath(path), "a value that is not a finite number cannot be saved.") from error
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n", force=True)


def _line(value: Any) -> str:
    if isinstance(value, dict) and any(isinstance(inner, list | dict) for inner in value.values()):
        inner = [f"{json.dumps(name, ensure_ascii=False)}: {_line(each)}" for name, each in value.items()]
        return "{\n" + indent(",\n".join(inner), "  ") + "\n}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _checksum(content: Mapping[str, Any]) -> str:
    """A hash of what the file says, however it is laid out."""
    text = json.dumps({name: content[name] for name in content if name != CHECKSUM}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_saved(path: Any) -> bool:
    """Whether a path is that of a saved evaluation, by how the file begins."""
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return False
    return f'"format": "{FORMAT}"'.encode() in Stream(path).head(100)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a saved evaluation; an error where it is not one, or a broken one."""
    stream = Stream(path)
    content = parse_json(stream.content(), stream.name, hint=HINT)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(stream.name, "this is not a saved evaluation.", hint=HINT)
    if content.get("edition") != EDITION:
        fact = f"it was saved in edition {content.get('edition')} of the format, and this version reads {EDITION}."
        raise InputError(stream.name, fact, hint="evaluate the run again, and save it")
    if not _is_sound(content):
        raise InputError(stream.name, "columns are missing, or have different lengths, or hold what is not a number.")
    if content.get(CHECKSUM, "") not in ("", _checksum(content)):
        raise InputError(
            stream.name,
            "it is not as it was saved: the checksum is of other content.",
            hint=f"save it again; if you changed it on purpose, remove the line '{CHECKSUM}'",
        )
    return content


def _is_sound(content: Mapping[str, Any]) -> bool:
    """Whether all that an evaluation is made of is there, and of the right kind."""
    texts = [content.get(name) for name in TEXTS]
    ids, values, facts, counts, policy = (
        content.get(name) for name in ("query_ids", "values", "facts", "counts", "policy")
    )
    return (
        all(isinstance(each, str) for each in texts)
        and isinstance(ids, list)
        and all(isinstance(each, str) for each in ids)
        and len(set(ids)) == len(ids)
        and isinstance(values, dict)
        and len(values) > 0
        and all(_is_column(column, len(ids)) for column in values.values())
        and isinstance(facts, dict)
        and list(facts) == list(values)
        and all(_are_facts(columns, len(ids)) for columns in facts.values())
        and isinstance(counts, dict)
        and _is_column(list(counts.values()), len(counts))
        and isinstance(policy, dict)
        and all(isinstance(each, str | int | None) for each in policy.values())
    )


def _are_facts(columns: Any, length: int) -> bool:
    return (
        isinstance(columns, dict)
        and tuple(columns) == FACTS
        and all(_is_column(column, length, whole=True) for column in columns.values())
    )


def _is_column(column: Any, length: int, *, whole: bool = False) -> bool:
    """Whether these are so many finite numbers; `whole`: counts."""
    if not isinstance(column, list) or len(column) != length:
        return False
    return all(
        abs(each) < 2**63 if type(each) is int else type(each) is float and not whole and math.isfinite(each)
        for each in column
    )
