"""The file of a saved evaluation: JSON, one line for each column, so that two of them can be compared by eye."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

from cranfield.errors import InputError
from cranfield.read.streams import Stream
from cranfield.write.target import write_text

FORMAT = "cranfield evaluation"
EDITION = 1
COLUMNS = ("query_ids", "relevant", "found", "first", "retrieved", "unjudged")


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the content of an evaluation; the file appears only when it is complete."""
    whole = {"format": FORMAT, "edition": EDITION, **content}
    lines = [f"{json.dumps(name)}: {_line(value)}" for name, value in whole.items()]
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n", force=True)


def _line(value: Any) -> str:
    if isinstance(value, dict) and any(isinstance(inner, list) for inner in value.values()):
        inner = [f"  {json.dumps(name, ensure_ascii=False)}: {_line(each)}" for name, each in value.items()]
        return "{\n" + ",\n".join(inner) + "\n}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def is_saved(path: Any) -> bool:
    """Whether a path is that of a saved evaluation, by how the file begins."""
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return False
    return f'"format": "{FORMAT}"'.encode() in Stream(path).head(100)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a saved evaluation; an error where it is not one, or a broken one."""
    name = os.fspath(path)
    hint = "Evaluation.save and 'cranfield evaluate --save' write such a file"
    data = Stream(path).content()
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(name, f"this is not a saved evaluation: {error}.", hint=hint) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(name, "this is not a saved evaluation.", hint=hint)
    if content.get("edition") != EDITION:
        raise InputError(
            name, f"it was saved in edition {content.get('edition')} of the format, and this version reads {EDITION}."
        )
    try:
        lengths = {len(content[column]) for column in COLUMNS} | {len(each) for each in content["values"].values()}
        sound = len(lengths) == 1 and all(math.isfinite(x) for each in content["values"].values() for x in each)
    except (KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise InputError(name, "columns are missing, or have different lengths, or hold what is not a number.")
    return content
