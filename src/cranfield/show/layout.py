"""Tables of plain text that fit the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Style = Callable[[str], str]


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), style: Style | None = None) -> list[str]:
    """Columns of one width: those in `left` begin, the others end at one place. The style is that of the head.

    >>> print("\\n".join(aligned([["run", "AP"], ["bm25", "0.25"]])))
    run     AP
    bm25  0.25
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            text.ljust(width) if at in left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [style(lines[0]), *lines[1:]] if style else lines


def fitted(rows: Sequence[Sequence[str]], width: int, style: Style | None = None) -> list[str]:
    """The same in several blocks, one below the other, where the columns do not fit beside each other.

    Every block repeats the first column, which is cut short where it takes more than half of the width.
    """
    names = [shortened(row[0], width // 2) for row in rows]
    first = max(map(len, names))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][1:]
    blocks: list[list[int]] = [[]]
    used = first
    for column, its_width in enumerate(widths, 1):
        if blocks[-1] and used + 2 + its_width > width:
            blocks.append([])
            used = first
        blocks[-1].append(column)
        used += 2 + its_width
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        lines += aligned(
            [[name, *(row[at] for at in block)] for name, row in zip(names, rows, strict=True)], style=style
        )
    return lines


def shortened(text: str, width: int) -> str:
    """A text that fits, with its middle left out.

    >>> shortened("a-very-long-query-id", 11)
    'a-ver…ry-id'
    """
    if len(text) <= width:
        return text
    keep = width - 1
    return f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"


def folded(text: str, separator: str, width: int) -> list[str]:
    """A long text cut into lines behind separators; joined again they are the text."""
    lines = [""]
    for piece in text.split(separator):
        word = piece + separator
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    lines[-1] = lines[-1].removesuffix(separator)
    return lines
