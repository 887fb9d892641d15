"""Reviews as the comment of a pull request: read in ten seconds, and never longer than a comment may be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote

from cranfield.show.comparison_markup import markdown_table
from cranfield.show.escaping import markdown_text
from cranfield.show.review import BETTER, BROKEN, FAILED, NEW, PASSED, WORSE, Review, Reviewed, Row, arrow
from cranfield.show.segments_text import segments_markdown
from cranfield.systems.misses import Lost, Place
from cranfield.words import cut, visible

LIMIT = 65_536  # of GitHub's comments, in characters; here in bytes, of which there are never fewer
SUMMARY = 1 << 20  # of a step summary, in bytes
_WORDS = {FAILED: "Failed", PASSED: "Passed", NEW: "Neutral"}
_IN_ADDRESSES = ":/.?#=&%~+,;@-_"
_LONGEST = 400  # letters of a text of somebody else's
_MENTION = re.compile(r"(?<!\w)([@#!])(?=\w)")
_APART = "\u200b"  # takes no space, and keeps @name and #17 from becoming mentions and links; no text has one
_APART_SEEN = markdown_text(_APART)


def comment(reviewed: Reviewed, limit: int = LIMIT) -> str:
    """The body of the comment, with a hidden mark by which it is found again."""
    head, foot = marker(reviewed), _foot(reviewed)
    room = limit - _size(head) - _size(foot) - 200  # for what is said of the rest
    body, whole = _fitting(_blocks(reviewed), room)
    said = ["Some parts are left out, to keep this short: the full report has everything."] * (not whole)
    return "\n\n".join(filter(None, (head, *body, *said, foot)))


def marker(reviewed: Reviewed) -> str:
    """The hidden mark of the comments of a command and its settings."""
    where = f"{reviewed.source} {reviewed.file}".strip()
    return f"<!-- cranfield: {re.sub(r'[^a-zA-Z0-9_./ ]+', '-', where)[:200]} -->"


def _fitting(blocks: Iterable[str], room: int) -> tuple[list[str], bool]:
    """As many blocks as there is room for, in their order, and whether these are all."""
    kept, whole = [], True
    for block in blocks:
        size = _size(block) + 2
        if size <= room:
            kept.append(block)
            room -= size
        else:
            whole = False
            if room < _LONGEST:  # for hardly any other
                break
    return kept, whole


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _blocks(reviewed: Reviewed) -> Iterator[str]:
    """What the comment says, each block by itself whole; what failed first."""
    if reviewed.title:
        yield f"### {_text(reviewed.title)}"
    for review in reviewed.failed_first:
        several = f"{_text(review.name, 80)}: " if len(reviewed.reviews) > 1 else ""
        yield f"###{'#' * bool(reviewed.title)} {several}{_text(review.heading)}"
        yield from (f"**Warning:** {_text(doubt)}" for doubt in review.doubts[:10])
        yield _verdict(review)
        details = [*_table(review), *_lost(review), *_segments(review), *_notes(review)]
        if review.state == FAILED:
            yield from details
        elif details:  # nothing to do: what there is to see is folded
            folded = "\n\n".join(details)
            and_queries = ", and the queries that lost most" if review.lost else ""
            yield f"<details><summary>Values{and_queries}</summary>\n\n{folded}\n\n</details>"
        yield from _next(review)


def _verdict(review: Review) -> str:
    """An alert, or where nothing is wrong a paragraph of two lines."""
    first, *more = review.sentences or ("",)
    if review.state != FAILED:
        return " ".join((f"**{_WORDS[review.state]}.**", *map(_text, review.sentences)))
    lines = ["> [!CAUTION]", f"> **{_WORDS[review.state]}.** {_text(first)}"]
    return "\n".join([*lines, *(f"> {_text(sentence)}" for sentence in more[:12])])


def _table(review: Review) -> Iterator[str]:
    if not review.rows:
        return
    with_interval = any(row.interval for row in review.rows)
    with_before = any(row.before for row in review.rows)
    kept = [True, with_before, True, with_before, with_interval, any(row.said for row in review.rows)]
    head = [_text(review.name, 80), _text(review.before, 80), "now", "difference", review.interval, " "]
    rows = [[cell for cell, shown in zip(_cells(row), kept, strict=True) if shown] for row in review.rows[:40]]
    yield "\n".join(markdown_table([cell for cell, shown in zip(head, kept, strict=True) if shown], rows, words=[" "]))


def _cells(row: Row) -> list[str]:
    bold = "**" if row.said.startswith((WORSE, BROKEN, BETTER)) else ""
    strong = [f"{bold}{_text(text, 80)}{bold}" if text else "" for text in (row.what, row.now, row.difference)]
    return [strong[0], row.before, strong[1], strong[2], row.interval, _text(row.said)]


def _lost(review: Review) -> Iterator[str]:
    """The queries that lost most; the first is open where something failed."""
    if not review.lost:
        return
    worst = "worst query" if len(review.lost) == 1 else f"{len(review.lost)} worst queries"
    yield f"**The {worst}** by {_text(review.lost[0].measure)}"
    for at, lost in enumerate(review.lost):
        shown = " open" if at == 0 and review.state == FAILED else ""
        name = _html(lost.text or lost.query_id)
        gist = f"<b>{name}</b> &nbsp; {arrow(lost.before, lost.now)} &nbsp; {_html(lost.moved)}"
        table = "\n".join(_documents(lost)) or "Its documents are not known here."
        yield f"<details{shown}><summary>{gist}</summary>\n\n{table}\n\n</details>"


def _documents(lost: Lost) -> Iterator[str]:
    """What was expected, with its ranks before and now, beside what is returned now."""
    if lost.miss is None:
        return
    expected, returned = lost.miss.expected, lost.miss.returned
    rows = []
    for at in range(max(len(expected), len(returned))):
        left, right = (places[at] if at < len(places) else None for places in (expected, returned))
        was = lost.was[at] if at < len(lost.was) else None
        ranks = f"{was or '–'} → {left.rank or '–'}" if left else ""
        rows.append([_place(left), ranks, _place(right) or ("–" if at == 0 else "")])
    yield from markdown_table(["expected", "rank", "returned now"], rows, words=["returned now"])


def _place(place: Place | None) -> str:
    if place is None:
        return ""
    grade = "not judged" if place.grade is None else f"{place.grade:g}"
    name = _text(place.title or place.doc_id, 120)
    return f"{f'**{name}**' if (place.grade or 0) > 0 else name} ({grade})"


def _segments(review: Review) -> Iterator[str]:
    if review.segments is not None:
        table = segments_markdown(review.segments)
        yield f"<details><summary>Segments of the queries</summary>\n\n{table}\n\n</details>"


def _notes(review: Review) -> Iterator[str]:
    if review.notes:
        yield "\n".join(("**Not compared, and other remarks**", "", *(f"- {_text(n)}" for n in review.notes[:20])))


def _next(review: Review) -> Iterator[str]:
    told = [f"{_text(review.hint[0])}: `{_code(review.hint[1])}`"] if review.hint else []
    small = f"<sub>{_text(review.method)}</sub>" if review.method else ""
    if told or small:
        yield " · ".join(filter(None, (*told, small)))


def _foot(reviewed: Reviewed) -> str:
    shown = [(_text(name, 40), quote(url[:300], safe=_IN_ADDRESSES, errors="replace")) for name, url in reviewed.links]
    return " · ".join(f"[{name}]({address})" for name, address in shown[:3])


def _text(text: str, most: int = _LONGEST) -> str:
    """A text of somebody else's in Markdown: one line, cut, with nothing in it that is read as markup."""
    return markdown_text(_apart(_short(text, most))).replace(_APART_SEEN, "&#8203;")


def _html(text: str, most: int = _LONGEST) -> str:
    """The same inside an HTML element, where Markdown is not read."""
    apart = escape(_apart(_short(text, most)))
    return apart.replace("[", "&#91;").replace("`", "&#96;").replace(_APART, "&#8203;")


def _apart(text: str) -> str:
    return _MENTION.sub(rf"\1{_APART}", text)


def _code(text: str) -> str:
    return visible(_short(text, _LONGEST)).replace("`", "'")


def _short(text: str, most: int) -> str:
    """At most so many columns, and characters: some take no column."""
    return cut(" ".join(text[: 4 * most].split()), most)[:most]
