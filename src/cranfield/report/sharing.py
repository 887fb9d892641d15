"""The card for other places: a picture, Markdown for chats and tickets, a row of a table in LaTeX."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import CranfieldError, OutputError, need
from cranfield.io.target import open_target
from cranfield.look import coloured
from cranfield.report.verdict import WIDTH
from cranfield.show.escaping import latex_text, markdown_text, markdown_warnings
from cranfield.show.pictures import drawn_svg
from cranfield.words import columns, count, joined, shortened, visible

FORMATS = ("png", "svg", "md", "tex")
SIGNS = {"−": "$-$", "→": r"$\to$", "▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$", "≤": r"$\leq$"}
WIDE, SIDE, BESIDE = 1032, 520, 200  # the whole card, its left side, and what fits beside the number, in pixels
TITLES = ((44, 1), (30, 2))  # sizes of letters, with the lines that there is room for
HEADLINE, ABOUT, TEXT, SMALL = 26, 22, 24, 18  # sizes of letters
# Widths of letters in Helvetica, bold, as parts of their size.
NARROW, MIDDLE, BROAD = "ijl.,:;|!'’I ", "ftr()-[]/", "mw@%MW−+→"
LETTERS = dict.fromkeys(NARROW, 0.3) | dict.fromkeys(MIDDLE, 0.36) | dict.fromkeys(BROAD, 0.92)
LETTER, CAPITAL, ASIAN = 0.58, 0.72, 1.0
THIN = 1.1  # so many more letters fit on a line if they are not bold


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
    day: str
    warnings: tuple[str, ...]
    foot: str
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
        foot=" · ".join(filter(None, (_judgments(content["judgments"]), card["judged"]))),
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
        day=content["day"],
        warnings=tuple(card["warnings"]),
        signature=_short(content["signature"]),
        source=card,
    )


def _judgments(number: int | None) -> str:
    return count(number, "judgment") if number else ""


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
    about = markdown_text(_about(card))
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
    sign = {"better": "▲ ", "worse": "▼ "}.get(card.kind, "") if card.verdict in ("Better", "Worse") else ""
    badge = f"{sign}{card.verdict}"
    pill = 44 + _wide(badge, TEXT) if card.verdict else -20
    about = "" if card.source["asked"] else _about(card)
    beside = _wide(card.measure, TEXT) <= BESIDE
    parts = card.numbers if beside or not card.number else (card.measure, *card.numbers)
    told = [card.foot, card.signature] if not card.warnings else [card.signature]
    content = {
        "size": size,
        "title": title,
        "badge": badge,
        "pill": round(pill, 1),
        "headline": _lines(card.headline, HEADLINE, WIDE, 2),
        "about": _lines(about, ABOUT, WIDE - pill - 20, 2),
        "numbers": [line for text in parts for line in _lines(text, TEXT, SIDE if card.number else WIDE, 3)],
        "small": [
            *_lines(about, SMALL, THIN * WIDE, 2),
            *_lines(" · ".join((f"{card.number} {card.measure}", *card.numbers)), SMALL, THIN * WIDE, 2),
        ],
        "warning": _lines(f"Warning: {'; '.join(card.warnings)}", SMALL, THIN * WIDE, 1)[0] if card.warnings else "",
        "foot": _lines(" · ".join(filter(None, told)), SMALL, THIN * WIDE, 1)[0],
        "beside": card.measure if beside else "",
        "wide": WIDE if card.headline else 480,
        "unit": WIDTH,
    }
    svg: str = environment.get_template("share.svg").render(card=card, source=card.source, **content)
    return coloured(svg)


def _about(card: Shared) -> str:
    return ", ".join(filter(None, (card.about, card.found.lower())))


def _title(text: str) -> tuple[int, list[str]]:
    for size, most in TITLES:
        if len(lines := _wrapped(text, WIDE / size)) <= most:
            return size, lines
    return size, _lines(text, size, WIDE, most)


def _lines(text: str, size: int, room: float, most: int) -> list[str]:
    """A text in a few lines of about equal length, with its middle left out where it is too long."""
    fit, letters = room / size, columns(text)
    lines = _wrapped(text, fit)
    while len(lines) > most:
        letters -= 4
        lines = _wrapped(shortened(text, letters), fit)
    if len(lines) > 1:
        shown = " ".join(lines)
        while len(tighter := _wrapped(shown, 0.97 * fit)) == len(lines):
            lines, fit = tighter, 0.97 * fit
    return lines


def _wrapped(text: str, fit: float) -> list[str]:
    """The lines of a text that are at most so wide; a word that is wider is broken."""
    lines = [""]
    for word in visible(text).split():
        joined_on = f"{lines[-1]} {word}".strip()
        if _wide(joined_on) <= fit:
            lines[-1] = joined_on
            continue
        lines += [""] * bool(lines[-1])
        for letter in word:
            if _wide(lines[-1] + letter) > fit:
                lines.append("")
            lines[-1] += letter
    return list(filter(None, lines))


def _wide(text: str, size: float = 1) -> float:
    """About how wide a text is, in bold letters of a size."""
    return size * sum(
        LETTERS.get(letter) or (ASIAN if columns(letter) > 1 else CAPITAL if letter.isupper() else LETTER)
        for letter in text
    )


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
