"""Ids that people take for the same, and programs do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

HINT = "write ids the same way in both files; as they are, they never match"


def bare(ids: Iterable[str]) -> list[str]:
    """Ids without what people overlook: blanks around them, capitals, leading zeros.

    >>> bare(["D7", " d7", "007"])
    ['d7', 'd7', '7']
    """
    return [text.strip().casefold().lstrip("0") for text in ids]


def similar(found: Sequence[str], wanted: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Places in `found` of ids that are like one of `wanted`, and that one."""
    names = list(wanted)
    like = dict(zip(bare(names), names, strict=True))
    for at, name in enumerate(bare(found)):
        if name in like:
            yield at, like[name]


def difference(one: str, other: str) -> str:
    """In what two similar ids differ.

    >>> difference("D7", "d07"), difference("a", "a ")
    ('capitals', 'blanks around it')
    """
    if one.strip() != one or other.strip() != other:
        return "blanks around it"
    return "leading zeros" if one.lstrip("0") == other.lstrip("0") else "capitals"
