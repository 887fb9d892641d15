"""The demonstration as text."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.layout import UNPAINTED, WIDTH, Paint, cut, fitted, wrapped
from cranfield.systems.demonstration import Demonstration, without_words
from cranfield.systems.text.tested import miss_lines

SHOWN = 3  # queries that perform poorly


def demonstration_lines(found: Demonstration, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    """What was asked, the values, whether the difference is real, which queries fail and why, and what to try."""
    collection, evaluations = found.collection, found.evaluations
    yield from wrapped(
        f"Two engines search {found.documents} short texts about search evaluation: SQLite's full-text search as it is "
        "(plain), and with stems, weights and no stop words (tuned).",
        width=width,
    )
    asked = f"Both were just asked {len(collection.queries)} queries whose relevant texts are known."
    yield from wrapped(asked, width=width)
    yield ""
    measures = list(evaluations[0])
    rows = [["run", *measures], *([each.run, *map(each.shown, measures)] for each in evaluations)]
    yield from fitted(rows, width, paint.strong)
    yield ""
    yield from _comparison_lines(found, width, paint)
    yield ""
    yield paint.strong("tuned's worst queries: expected vs returned")
    for miss in found.poor[:SHOWN]:
        yield from miss_lines(miss, width, paint)
    yield ""
    yield from _next_lines(found, width, paint)


def _comparison_lines(found: Demonstration, width: int, paint: Paint) -> Iterator[str]:
    [difference] = found.comparison
    yield paint.strong("Is tuned better than plain?")
    verdict = (
        f"{difference.sentence} (paired t-test); {difference.better} queries better, {difference.same} the same, "
        f"{difference.worse} worse."
    )
    headline = f"{difference.headline}:"
    first, *more = wrapped(verdict, "  ", width=width)
    yield f"  {paint.verdict(difference.verdict, headline)}{first.removeprefix(f'  {headline}')}"
    yield from more
    yield from wrapped(
        f"With {found.comparison.queries} queries, a true difference of {difference.detectable:.3f} would be detected "
        "80% of the time, if differences vary as they do here; detecting smaller ones takes more queries.",
        "  ",
        width=width,
    )
    for change in difference.changed[:2]:
        text = found.collection.queries[change.query_id]
        number = f"{change.difference:+.4f}"
        shown = cut(f"{change.query_id}: {text}", width - len(number) - 4)
        yield f"  {paint.signed(change.difference, number)}  {shown}"


def _next_lines(found: Demonstration, width: int, paint: Paint) -> Iterator[str]:
    yield paint.strong("What to try next")
    # Of the documents themselves: the mean of Judged@10 counts a query without documents as 0.
    unjudged = 1 - (found.evaluations[1].facts("nDCG@10").judged_share() or 0)
    apart = without_words(found.poor)
    yield from wrapped(
        f"Of the {len(found.poor)} worst queries, {apart} share no word with at least half of their relevant texts: "
        "synonyms or embeddings could find those texts, other weights could not.",
        "- ",
        width=width,
    )
    yield from wrapped(
        f"{unjudged:.0%} of tuned's first ten documents have no judgment and count as not relevant: judge them, and "
        "the values may change:",
        "- ",
        width=width,
    )
    yield f"    {paint.hint('cranfield init builtin; cranfield judge')}"
    yield from wrapped("Test your own engine the same way, and keep it from getting worse:", "- ", width=width)
    yield f"    {paint.hint('cranfield init; cranfield test; cranfield accept')}"
    yield from wrapped("Or measure and compare runs that you have:", "- ", width=width)
    yield f"    {paint.hint('cranfield compare qrels.txt old.run new.run')}"
