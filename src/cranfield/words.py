"""Words for people, wherever they are written: what is safe to print, how wide it is, counts and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

# Characters that control a terminal, change the direction of text, take no space, or are not allowed in text: XML
# forbids some of them, UTF-8 the rest.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufdd0-\ufdef\ufeff\ufffe\uffff\ud800-\udfff]"
_LETTERS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, keep: str = "") -> str:
    """A text with its control characters escaped as in JSON, except those to keep: they could move the cursor."""
    others = text.translate(dict.fromkeys(map(ord, keep))) if keep else text
    if others.isprintable():
        return text

    def written(sign: re.Match[str]) -> str:
        return sign[0] if sign[0] in keep else _LETTERS.get(sign[0]) or f"\\u{ord(sign[0]):04x}"

    return re.sub(_UNSEEN, written, text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia take two, accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(letter: str) -> int:
    import unicodedata  # not needed for ASCII, the most frequent case

    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def shortened(text: str, width: int) -> str:
    """A text that is safe to print and fits, with its middle left out."""
    shown = visible(text)
    if columns(shown) <= width:
        return shown
    keep = width - 1
    return f"{_start(shown, (keep + 1) // 2)}…{_start(shown[::-1], keep // 2)[::-1]}"


def cut(text: str, width: int) -> str:
    """A text that is safe to print and fits, with its end left out."""
    shown = visible(text)
    return shown if columns(shown) <= width else f"{_start(shown, width - 1)}…"


def _start(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    ends = accumulate(map(_columns, text))
    return "".join(letter for letter, end in zip(text, ends, strict=True) if end <= width)


def count(number: int, one: str, many: str = "") -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def percent(share: float) -> str:
    """A share, never rounded to nothing or to all.

    >>> percent(0.26), percent(0.001), percent(0.999), percent(1.0)
    ('26%', 'under 1%', 'over 99%', '100%')
    """
    if 0 < share < 0.01:
        return "under 1%"
    return "over 99%" if 0.99 < share < 1 else f"{share:.0%}"


def joined(names: Iterable[str], word: str) -> str:
    """Names in a sentence, with "and" or "or" before the last."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a row, the rest counted where they are many."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} more"


def named_query(query: str, texts: Mapping[str, str], width: int = 60) -> str:
    """The id of a query, and the beginning of its text where it is known.

    >>> named_query("q17", {"q17": "red shoes"}), named_query("q18", {})
    ('q17 (red shoes)', 'q18')
    """
    text = texts.get(query, "")
    return f"{query} ({cut(text, width)})" if text and text != query else query
