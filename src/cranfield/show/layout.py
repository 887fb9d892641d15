"""Plain text for people: what is safe to print, tables that fit the terminal, paragraphs, counts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partialmethod

from cranfield.words import _columns, columns, shortened, visible

Style = Callable[[str], str]
Tint = Callable[[int, int, str], str]  # a cell of a table by its row and column, as it is shown

WIDTH = 80  # the default number of columns


# The beginning and end of a colour, in texts for a terminal. No other text contains these: `visible` escapes them.
_WIDE, _GLUE = "\ufdef", "\ufdee"
GOOD, BAD, CLOSE, STRONG, DIM, HINT, END = map(chr, range(0xFDD0, 0xFDD7))
# Phrases to keep on one line: "p < 0.0001", "n = 60", "95% interval", "top 10", "grade 3", "'cranfield accept'".
_TOGETHER = re.compile(
    r"\w [=<>≤≥≈] [+-]?\d|\d% (?:simultaneous )?interval|\b(?:top|first|rank|grade|seed) \d|'cranfield \w+'"
)


class Paint:
    """Colours for terminal text; none if `on` is False, as in files and pipes.

    good, bad, close: better, worse, too close to call
    strong, dim: what counts, and what explains it
    hint: what to do next
    """

    __slots__ = ("_on",)

    def __init__(self, on: bool = False) -> None:
        self._on = on

    def _in(self, tone: str, text: str) -> str:
        return f"{tone}{text}{END}" if self._on and text else text

    good = partialmethod(_in, GOOD)
    bad = partialmethod(_in, BAD)
    close = partialmethod(_in, CLOSE)
    strong = partialmethod(_in, STRONG)
    dim = partialmethod(_in, DIM)
    hint = partialmethod(_in, HINT)

    def verdict(self, verdict: str, text: str) -> str:
        tones = {"significantly better": GOOD, "significantly worse": BAD}
        return self._in(tones.get(verdict, CLOSE), text)

    def signed(self, number: float, text: str, *, lower_is_better: bool = False) -> str:
        return self._in(GOOD if (number > 0) != lower_is_better else BAD, text) if number else text


UNPAINTED = Paint()


def padded(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * (width - columns(text))
    return blanks + text if right else text + blanks


def aligned(
    rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), style: Style | None = None, tint: Tint | None = None
) -> list[str]:
    """Rows as aligned columns: those in `left` to the left, the others to the right. The style is that of the head."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*shown, strict=True)]
    lines = []
    for at, row in enumerate(shown):
        cells = [padded(cell, its, right=i not in left) for i, (cell, its) in enumerate(zip(row, widths, strict=True))]
        line = "  ".join(cells).rstrip()
        if at == 0 and style is not None:
            line = style(line)
        elif tint is not None:
            line = "  ".join(_tinted(cell, tint, at, i) for i, cell in enumerate(cells)).rstrip()
        lines.append(line)
    return lines


def _tinted(cell: str, tint: Tint, row: int, column: int) -> str:
    bare = cell.strip()
    before, _, after = cell.partition(bare) if bare else ("", "", cell)
    return f"{before}{tint(row, column, bare)}{after}" if bare else cell


def fitted(
    rows: Sequence[Sequence[str]],
    width: int,
    style: Style | None = None,
    *,
    repeated: int = 1,
    left: Sequence[int] = (0,),
    tint: Tint | None = None,
) -> list[str]:
    """The same in several blocks, one below the other, where the columns do not fit beside each other.

    Every block repeats the first column, or several. The last of these is cut short where it takes more than half of
    the width.
    """
    shown = [[*row[: repeated - 1], shortened(row[repeated - 1], width // 2), *row[repeated:]] for row in rows]
    widths = [max(columns(visible(cell)) for cell in column) for column in zip(*shown, strict=True)]
    first = sum(widths[:repeated]) + 2 * (repeated - 1)
    blocks: list[list[int]] = [[]]
    used = first
    for column, its_width in enumerate(widths[repeated:], repeated):
        if blocks[-1] and used + 2 + its_width > width:
            blocks.append([])
            used = first
        blocks[-1].append(column)
        used += 2 + its_width
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        kept = [*range(repeated), *block]

        def toned(row: int, column: int, text: str, kept: Sequence[int] = kept) -> str:
            return text if tint is None else tint(row, kept[column], text)

        its_left = [kept.index(at) for at in left if at in kept]
        lines += aligned([[row[at] for at in kept] for row in shown], its_left, style, toned)
    return lines


def wrapped(
    text: str, head: str = "", *, hang: int | None = None, width: int = WIDTH, break_words: bool = True
) -> list[str]:
    """The lines of a paragraph after a head; later lines are indented by so many columns, or to the first.

    A number stays with what it belongs to: "p < 0.0001" and "95% interval" are not split over two lines.
    """
    lines = textwrap.wrap(
        _TOGETHER.sub(lambda phrase: phrase[0].replace(" ", _GLUE), _counted(visible(text))),
        width,
        initial_indent=head,
        subsequent_indent=" " * (len(head) if hang is None else hang),
        break_on_hyphens=False,
        break_long_words=break_words,
    )
    return [line.replace(_WIDE, "").replace(_GLUE, " ") for line in lines] or [head.rstrip()] * bool(head.strip())


def warning_lines(texts: Iterable[str], width: int, paint: Paint) -> Iterator[str]:
    """Reasons to doubt what follows."""
    for text in texts:
        first, *more = wrapped(f"warning: {text}", hang=2, width=width)
        yield paint.close("warning:") + first.removeprefix("warning:")
        yield from more


def _counted(text: str) -> str:
    """A text in which letters that take two columns count as two."""
    return text if text.isascii() else "".join(f"{_WIDE}{sign}" if _columns(sign) == 2 else sign for sign in text)


def folded(text: str, separator: str, width: int) -> list[str]:
    """A long text cut into lines after separators; joined, they are the text again."""
    lines = [""]
    for piece in text.split(separator):
        word = piece + separator
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    lines[-1] = lines[-1].removesuffix(separator)
    return lines
