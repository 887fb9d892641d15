"""The demonstration as text, 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.layout import aligned, wrapped
from cranfield.systems.demonstration import Demonstration, without_words
from cranfield.systems.text.tested import miss_lines

SHOWN = 3  # queries that perform poorly


def demonstration_lines(found: Demonstration) -> Iterator[str]:
    """What was asked, the values, whether the difference is real, which queries fail and why, and what to try."""
    collection, evaluations = found.collection, found.evaluations
    yield f"Two engines search {found.documents} short texts about search evaluation: SQLite's full-text"
    yield "search as it is (plain), and with stems, weights and no stop words (tuned)."
    yield f"Both were just asked {len(collection.queries)} queries whose relevant texts are known."
    yield ""
    measures = list(evaluations[0])
    yield from aligned([["run", *measures], *([each.run, *map(each.shown, measures)] for each in evaluations)])
    yield ""
    yield from _comparison_lines(found)
    yield ""
    yield "tuned's worst queries: expected vs returned"
    for miss in found.poor[:SHOWN]:
        yield from miss_lines(miss)
    yield ""
    yield from _next_lines(found)


def _comparison_lines(found: Demonstration) -> Iterator[str]:
    [difference] = found.comparison
    yield "Is tuned better than plain?"
    yield from wrapped(
        f"{difference.sentence} (paired t-test); {difference.better} queries better, {difference.same} the same, "
        f"{difference.worse} worse.",
        "  ",
    )
    yield from wrapped(
        f"With {found.comparison.queries} queries, a true difference of {difference.detectable:.3f} would be detected "
        "80% of the time, if differences vary as they do here; detecting smaller ones takes more queries.",
        "  ",
    )
    for change in difference.changed[:2]:
        text = found.collection.queries[change.query_id]
        yield f"  {change.difference:+.4f}  {change.query_id}: {text}"


def _next_lines(found: Demonstration) -> Iterator[str]:
    yield "What to try next"
    unjudged = 1 - found.evaluations[1]["Judged@10"]
    apart = without_words(found.poor)
    yield from wrapped(
        f"Of the {len(found.poor)} worst queries, {apart} share no word with at least half of their relevant texts: "
        "synonyms or embeddings could find those texts, other weights could not.",
        "- ",
    )
    yield from wrapped(
        f"{unjudged:.0%} of tuned's first ten documents have no judgment and count as not relevant: judge them, and "
        "the values may change:",
        "- ",
    )
    yield "    cranfield init builtin; cranfield judge"
    yield "- Test your own engine the same way, and keep it from getting worse:"
    yield "    cranfield init; cranfield test; cranfield accept"
    yield "- Or measure and compare runs that you have:"
    yield "    cranfield compare qrels.txt old.run new.run"
