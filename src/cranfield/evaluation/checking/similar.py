"""Ids that look the same to people, but not to programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

HINT = "write ids the same way in both files; as they are, they never match"
FEW = 50


def bare(ids: Iterable[str]) -> list[str]:
    """Ids without details that people overlook: blanks around them, capitals, leading zeros.

    >>> bare(["D7", " d7", "007"])
    ['d7', 'd7', '7']
    """
    return [text.strip().casefold().lstrip("0") for text in ids]


def similar(found: Sequence[str], wanted: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Places in `found` of ids that are like one of `wanted`, and that one.

    >>> list(similar(["a", "007"], ["7", "b"]))
    [(1, '7')]
    """
    names = list(wanted)
    like = dict(zip(bare(names), names, strict=True))
    if len(like) < FEW:  # then it is faster to check first whether they occur at all
        text = "\n".join(found).casefold()
        if not any(name in text for name in like):
            return
    for at, name in enumerate(bare(found)):
        if name in like:
            yield at, like[name]


def difference(one: str, other: str) -> str:
    """How two similar ids differ.

    >>> difference("D7", "d07"), difference("a", "a ")
    ('capitals', 'blanks around it')
    """
    if one.strip() != one or other.strip() != other:
        return "blanks around it"
    return "leading zeros" if one.lstrip("0") == other.lstrip("0") else "capitals"
