"""The page's data as JSON that no HTML can end, made in parts so that it is never whole in memory twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class Encoded(str):
    """JSON that was made before."""

    __slots__ = ()


def safe_json(data: Any) -> Encoded:
    """JSON for a script element: no text in it can end the element or start another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Encoded(text)


def safe_pieces(data: Mapping[str, Any]) -> Iterator[str]:
    """The JSON of an object, piece by piece; lists in it may be of what is encoded already."""
    before = "{"
    for name, value in data.items():
        yield f"{before}{safe_json(name)}:"
        if isinstance(value, list) and value and isinstance(value[0], Encoded):
            yield f"[{','.join(value)}]"
        else:
            yield safe_json(value)
        before = ","
    yield "}"
