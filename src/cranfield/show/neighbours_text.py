"""Recall of approximate search, as people read it in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from cranfield.changes.neighbours import IDS, NeighbourRecall
from cranfield.show.comparison_markup import markdown_table
from cranfield.show.comparison_text import difference_lines
from cranfield.show.escaping import markdown_text, markdown_warnings
from cranfield.show.layout import Paint, aligned, warning_lines, wrapped
from cranfield.words import count, cut, listed

WORST = 5  # queries in the text


def neighbours_lines(found: NeighbourRecall, width: int, paint: Paint) -> Iterator[str]:
    """What is found, in a sentence; the numbers; what the lost neighbours cost; the worst queries."""
    yield from warning_lines(found.warnings, width, paint)
    yield from map(paint.strong, wrapped(f"{found.sentence}.", width=width))
    yield ""
    yield from aligned([[name, value, told] for name, value, told in recall_facts(found)], (0, 2))
    yield ""
    if found.cost is None:
        yield from wrapped(found.meaning, width=width)
    else:
        yield from wrapped("Recall of neighbours is a means, not the end. What the lost ones cost:", width=width)
        yield from difference_lines(found.cost, width, paint)
    if found.worst:
        yield ""
        rows = [["worst queries", "recall", "not returned"]]
        for query in found.worst[:WORST]:
            name = cut(query.query_id, width // 3)
            rows.append([name, f"{query.recall:.2f}", cut(listed(query.missing), width - width // 3 - 14)])
        yield from aligned(rows, (0, 2), paint.strong)


def recall_facts(found: NeighbourRecall) -> Iterator[tuple[str, str, str]]:
    """The numbers over all queries: a name, the value, and what it means."""
    queries = len(found.query_ids)
    if found.by != IDS:
        yield f"recall@{found.k}", f"{found.recall:.1%}", f"by distances, from {found.by}; ε = {found.epsilon:g}"
    told = "by ids alone, which calls equally near documents lost" if found.by != IDS else "by ids"
    yield f"the same {found.k} ids", f"{found.by_ids:.1%}", told
    yield "all found", f"{found.perfect / queries:.1%}", f"{found.perfect:,} of {count(queries, 'query', 'queries')}"


def neighbours_markdown(found: NeighbourRecall) -> Iterator[str]:
    yield from markdown_warnings(found.warnings)
    yield f"**{markdown_text(found.sentence)}.**"
    yield ""
    rows = [[markdown_text(name), value, markdown_text(told)] for name, value, told in recall_facts(found)]
    yield from markdown_table(["", "", "what it is"], rows, words=("what it is",))
    yield f"\n{markdown_text(found.meaning)}"
    if found.worst:
        yield ""
        worst = [
            [markdown_text(its.query_id), f"{its.recall:.2f}", markdown_text(listed(its.missing))]
            for its in found.worst
        ]
        yield from markdown_table(["worst queries", "recall", "not returned"], worst, words=("not returned",))
