"""What is known of a run in a file: facts in a file beside it, or at the head of a TREC file, in comments after
ir_metadata. How the run was made is one of them: see made.py, which few runs need.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from cranfield.io.streams import Stream

START, END, FACTS = "# ir_metadata.start", "# ir_metadata.end", "# cranfield: "


def facts_of(stream: Stream) -> dict[str, Any]:
    """What is known of how a run in a file was made, as plain values: by the file of facts beside it, if that is of a
    file of this size, or by the comments at its head.
    """
    known = _beside(stream.address)
    if known and known.get("run_bytes") == _size(stream.address):
        return known
    if not stream.begins or not START.encode().startswith(stream.begins):
        return {}
    return _at_head(line for data in stream.whole_lines() for line in bytes(data).split(b"\n"))


def keep_beside(path: str, facts: Mapping[str, Any]) -> None:
    """Keep the facts of a run in a file beside it."""
    known = {**facts, "run_bytes": os.path.getsize(path)}
    import json

    from cranfield.io.target import write_text  # it imports much, and most programs only read

    write_text(f"{path}.json", json.dumps(known) + "\n", force=True)


def _beside(path: str | None) -> dict[str, Any]:
    try:
        with open(f"{path}.json", "rb") as file:
            return _read(file.read()) if path is not None else {}
    except OSError:
        return {}


def _read(text: bytes) -> dict[str, Any]:
    import json  # few runs have facts

    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _size(path: str | None) -> int | None:
    return os.path.getsize(path) if path is not None and os.path.isfile(path) else None


def _at_head(lines: Iterator[bytes]) -> dict[str, Any]:
    start = FACTS.encode()
    for line in lines:
        if line.startswith(start):
            return _read(line.removeprefix(start))
        if not line.startswith(b"#") or line.startswith(END.encode()):
            break
    return {}


def asked_numbers(run: Any, name: str) -> dict[str, float]:
    """A number of each answer, such as its seconds, of a recording or by the file of facts beside it; or nothing."""
    known = getattr(run, "by_query", None)
    address = getattr(run, "address", None) or (os.fspath(run) if isinstance(run, str | os.PathLike) else None)
    if address is not None:
        known = _beside(address).get("by_query")
    if not isinstance(known, Mapping) or not {"query_id", name} <= known.keys():
        return {}
    pairs = zip(known["query_id"], known[name], strict=False)
    return {str(query): float(number) for query, number in pairs if isinstance(number, int | float)}
