"""The card for other places: a picture, Markdown for chats and tickets, a row of a table in LaTeX."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import CranfieldError, OutputError, need
from cranfield.io.target import open_target
from cranfield.look import coloured
from cranfield.report.card import WIDTH
from cranfield.show.escaping import latex_text, markdown_text, markdown_warnings
from cranfield.show.layout import wrapped
from cranfield.show.pictures import drawn_svg
from cranfield.words import columns, count, cut, joined, shortened, visible

FORMATS = ("png", "svg", "md", "tex")
SIGNS = {"−": "$-$", "→": r"$\to$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "≤": r"$\leq$"}
# Sizes of letters, with the columns that fit on a line, and how many lines there is room for.
TITLES = ((44, 42, 1), (30, 62, 2))
LINE, SIDE, SMALL = 72, 46, 118  # columns of the whole width, of the left side, and of the whole in small letters
BESIDE = 16  # columns of a measure that fit beside its number


class Shared(NamedTuple):
    """What the card says, in the words and numbers of the page.

    found: on the two runs, where the verdict is on the order or on a test
    numbers: means, interval and p, in this order; counts: queries, or runs of an order, with their kinds
    """

    title: str
    kind: str
    verdict: str
    headline: str
    about: str
    found: str
    number: str
    measure: str
    numbers: tuple[str, ...]
    counts: tuple[tuple[str, str], ...]
    of: str
    warnings: tuple[str, ...]
    signature: str
    source: Mapping[str, Any]  # the card of the page: its drawings


def shared(content: Mapping[str, Any]) -> Shared | None:
    """The card of a page's content, to share; None if it has none."""
    card = content["card"]
    if card is None:
        return None
    order = card.get("order")
    measure = card["measure"] + (f", {card['of']}" if card["of"] else "")
    queries = count(content["queries"], "query", "queries")
    sentences = () if card["number"] else tuple(card["sentences"])
    return Shared(
        title=content["title"],
        kind={"passed": "better", "failed": "worse"}.get(card["outcome"], card["kind"]),
        verdict=card["outcome"].capitalize() or card["badge"] or "",
        headline=card.get("headline", ""),
        about=card["about"],
        found=card["verdict"] if order else "",
        number=card["number"] or "",
        measure=measure,
        numbers=tuple(filter(None, (*card["numbers"], card["two_sided"], *sentences))),
        counts=tuple(_counts(card)),
        of=f"{count(order['runs'], 'run')}, {queries}" if order else queries,
        warnings=tuple(card["warnings"]),
        signature=_short(content["signature"]),
        source=card,
    )


def _short(signature: str) -> str:
    """A signature that fits a line: how ties are broken, and the hash of the judgments with what follows it."""
    ties, *others = signature.split("|")
    hashes = next((at for at, part in enumerate(others) if part.startswith("qrels:")), 0)
    return "|".join([ties, *["…"] * (hashes > 0), *others[hashes:]])


def _counts(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if order := card.get("order"):
        leads, undecided, behind = (f"{order['counts'][kind]:,}" for kind in ("leads", "undecided", "behind"))
        yield "accent", f"{leads} lead{'s' if leads == '1' else ''}"
        yield "close", f"{undecided} undecided"
        yield "soft", f"{behind} worse ▼"
    elif "counts" in card:
        better, same, worse = (f"{card['counts'][kind]:,}" for kind in ("better", "same", "worse"))
        yield "better", f"▲ {better} better"
        yield "soft", f"{same} the same"
        yield "worse", f"▼ {worse} worse"


def card_markdown(card: Shared) -> str:
    """The card for a chat, a ticket or a pull request."""
    verdict = f"**{markdown_text(card.verdict)}**: " if card.verdict else ""
    value = f"**{card.number}** {markdown_text(card.measure)}" if card.number else ""
    counted = ", ".join(text for _, text in card.counts)
    about = ": ".join(map(markdown_text, filter(None, (card.about, card.found.lower()))))
    answer = ", ".join(filter(None, (about, value)))
    counts = [f"{card.of}: {counted}"] if counted else [] if card.of in card.numbers else [card.of]
    paragraphs = [
        f"### {markdown_text(card.title)}",
        *filter(None, markdown_warnings(card.warnings)),
        *([f"{verdict}{markdown_text(card.headline)}", answer] if card.headline else [f"{verdict}{answer}"]),
        " · ".join([*map(markdown_text, card.numbers), *counts]),
        f"`{card.signature}`",
    ]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def card_latex(card: Shared) -> str:
    """The card as a row of a table."""
    means, interval, p = (*card.numbers, "", "", "")[:3] if card.counts else ("", *card.numbers, "", "")[:3]
    cells = {
        "runs": card.about,
        "measure": card.measure,
        "value": card.number,
        "means": means,
        "interval": interval,
        "p": p,
        "verdict": card.found or card.verdict,
    }
    needed = r"% needs \usepackage{amssymb}"
    notes = [card.title, *(f"Warning: {text}" for text in card.warnings), card.signature]
    head = f"% {' & '.join(cells)}"
    row = rf"{' & '.join(map(_latex, cells.values()))} \\"
    return "\n".join([*(f"% {visible(note)}" for note in notes), needed, head, row]) + "\n"


def _latex(text: str) -> str:
    written = latex_text(text)
    for sign, command in SIGNS.items():
        written = written.replace(sign, command)
    return written


def card_svg(card: Shared) -> str:
    jinja = need("jinja2", extra="report", purpose="a card")
    environment = jinja.Environment(
        autoescape=True,
        loader=jinja.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    size, title = _title(card.title)
    pill = 48 + 11.5 * columns(card.verdict) if card.verdict else -20
    about = ": ".join(filter(None, (card.about, card.found.lower())))
    value = f"{card.number} {card.measure}"
    beside = columns(card.measure) <= BESIDE
    parts = card.numbers if beside or not card.number else (card.measure, *card.numbers)
    content = {
        "size": size,
        "title": title,
        "pill": pill,
        "headline": _lines(card.headline, LINE, 2),
        "about": _lines(about, int((1000 - pill) / 12), 2),
        "numbers": [line for text in parts for line in _lines(text, SIDE if card.number else LINE, 3)],
        "small": [*_lines(about, SMALL, 2), *_lines(" · ".join((value, *card.numbers)), SMALL, 2)],
        "warning": cut(f"Warning: {'; '.join(card.warnings)}", SMALL) if card.warnings else "",
        "signature": shortened(card.signature, SMALL),
        "beside": card.measure if beside else "",
        "wide": 1032 if card.headline else 480,
        "unit": WIDTH,
    }
    svg: str = environment.get_template("share.svg").render(card=card, source=card.source, **content)
    return coloured(svg)


def _title(text: str) -> tuple[int, list[str]]:
    for size, width, most in TITLES:
        if len(lines := _wrapped(text, width)) <= most:
            return size, lines
    return size, _lines(text, width, most)


def _lines(text: str, width: int, most: int) -> list[str]:
    """A text in a few lines, with its middle left out where it is too long."""
    lines, letters = _wrapped(text, width), width * most
    while len(lines) > most:
        lines, letters = _wrapped(shortened(text, letters), width), letters - 8
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of a text; capitals are wider than other letters."""
    letters = columns(text) or 1
    return wrapped(text, width=int(width * letters / (letters + 0.4 * sum(map(str.isupper, text)))))


def card_format(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower().removeprefix(".")
    if ending not in FORMATS:
        fact = f"a card cannot be written as '.{ending}'." if ending else "the file name has no extension."
        raise OutputError(name, fact, hint=f"end it in {joined((f'.{form}' for form in FORMATS), 'or')}")
    return ending


def write_cards(card: Shared | None, paths: Sequence[str | os.PathLike[str]]) -> None:
    """Write the card to files, each in the format of its extension."""
    if paths and card is None:
        raise CranfieldError("there is no card: no measure says how good a run is.", hint="add one, such as nDCG@10")
    for path in paths:
        form = card_format(path)
        assert card is not None
        if form in ("svg", "png"):
            drawn = drawn_svg(card_svg(card), form)
        else:
            drawn = (card_markdown if form == "md" else card_latex)(card).encode(errors="backslashreplace")
        with open_target(path, force=True) as target, target.opened() as file:
            file.write(drawn)
