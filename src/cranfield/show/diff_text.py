"""What changed between two runs, as people read it in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.changes.listing import ChangedQuery, ListedDocument, WaitingDocument
from cranfield.changes.run_diff import JudgedChange, JudgedShare, RunDiff
from cranfield.show.escaping import markdown_text, markdown_warnings
from cranfield.show.layout import Paint, aligned, padded, warning_lines, wrapped
from cranfield.words import columns, count, cut, named_query, percent, shortened, visible

QUERIES = 3  # in the text, those that changed most
_LINES = 10  # of a list
_WAITING = 5  # documents to judge, in the text


def diff_lines(diff: RunDiff, width: int, paint: Paint, *, most: int = QUERIES) -> Iterator[str]:
    """What changed, in a sentence; the numbers; what of it is judged; the queries that changed most."""
    yield from warning_lines(diff.warnings, width, paint)
    first, *more = wrapped(f"{diff.runs[1]} vs {diff.runs[0]}: {diff.sentence}.", width=width)
    yield paint.strong(first)
    yield from map(paint.strong, more)
    yield ""
    yield from aligned([[name, value, told] for name, value, told in facts(diff)], (0, 2))
    for text in diff.between:
        yield from wrapped(text, "also changed: ", hang=2, width=width)
    yield from _judged(diff, width, paint)
    for query in diff.changed_most[:most]:
        yield ""
        yield from _query(query, diff.judged, width, paint)
    yield from _waiting(diff, width, paint)


def facts(diff: RunDiff) -> Iterator[tuple[str, str, str]]:
    """The numbers over all queries: a name, the value, and what it means."""
    queries, k = len(diff.query_ids), diff.k
    same = round(diff.same_first * queries), queries - diff.changed_queries
    yield f"overlap@{k}", f"{diff.overlap:.2f}", f"of the first {k} documents are in both, on average"
    yield "RBO", f"{diff.rbo:.2f}", f"rank-biased overlap, p = {diff.p:g}"
    yield "same first result", percent(diff.same_first), f"{same[0]:,} of {count(queries, 'query', 'queries')}"
    yield f"same top {k}", percent(1 - diff.changed), f"{same[1]:,} of {queries:,}, in the same order"
    if diff.moved is not None:
        largest, query = diff.largest
        told = f"places moved, on average{f'; at most {largest:,} ({cut(query, 20)})' if largest else ''}"
        yield "rank change", f"{diff.moved:.1f}", told
    for name, missing in zip(reversed(diff.runs), diff.missing, strict=True):
        if missing:
            yield (
                "missing",
                f"{len(missing):,}",
                f"{'query is' if len(missing) == 1 else 'queries are'} not in {cut(name, 30)}",
            )


def share_text(share: JudgedShare, what: str) -> str:
    """How many of the documents that enter or leave are judged, in words."""
    if not share.documents:
        return f"no document {what}s"
    return f"{share.judged:,} of {share.documents:,} that {what} ({share.relevant:,} relevant)"


def _judged(diff: RunDiff, width: int, paint: Paint) -> Iterator[str]:
    judged = diff.judged
    if judged is None:
        return
    from cranfield.comparison.differences import change_text
    from cranfield.show.comparison_text import balance_lines, difference_lines

    yield ""
    told = f"Judged: {share_text(judged.entered, 'enter')}, {share_text(judged.left, 'leave')}."
    yield from wrapped(told, width=width)
    if judged.difference is not None:
        yield from difference_lines(judged.difference, width, paint)
        yield from balance_lines(judged.difference, width, paint)
    else:
        yield f"{judged.measure} {change_text(judged.before, judged.now)}"


def _query(query: ChangedQuery, judged: JudgedChange | None, width: int, paint: Paint) -> Iterator[str]:
    """Both lists side by side, as a diff: what left is marked - and what entered +."""
    name = query.query_id if not query.text or query.text == query.query_id else f"{query.query_id}  {query.text}"
    overlap, change, toned = f"overlap {query.overlap:.2f}, RBO {query.rbo:.2f}", "", ""
    if judged is not None and (change := change_of(query)):
        overlap = f"{overlap}, {judged.measure} "
        toned = paint.signed(float(change), change, lower_is_better=judged.lower_is_better)
    yield f"{paint.strong(cut(name, width - len(overlap + change) - 2))}  {paint.dim(overlap)}{toned}"
    room = (width - 3) // 2
    graded = judged is not None
    left, right = ([*_list(side, its, room, graded=graded)] for side, its in enumerate((query.one, query.other)))
    blank = ("", "")
    for at in range(max(len(left), len(right))):
        (mark, one), (other_mark, other) = (lines[at] if at < len(lines) else blank for lines in (left, right))
        one = padded(one, room)
        yield f"{paint.bad(one) if mark == '-' else one}   {paint.good(other) if other_mark == '+' else other}".rstrip()


def change_of(query: ChangedQuery) -> str:
    """By how much the measure changed; empty where nobody has judged the query."""
    if query.before is None or query.now is None:
        return ""
    from cranfield.comparison.differences import signed  # with all tests of differences

    return signed(query.now - query.before)


def _list(side: int, documents: Sequence[ListedDocument], room: int, *, graded: bool) -> Iterator[tuple[str, str]]:
    """Lines of a list with their marks: whether the document is not among the first of the other run."""
    grades = [f"[{grade_text(document)}] " if graded else "" for document in documents[:_LINES]]
    widest = max(map(len, grades), default=0)
    for document, grade in zip(documents, grades, strict=False):
        here = document.other_rank is not None and document.other_rank <= len(documents)
        mark = "" if here else "-+"[side]
        was = moved_text(document) if side else ""
        width = room - 5 - widest - (columns(was) + 1 if was else 0)
        name = shortened(document.title or document.doc_id, width)
        place = f"{mark or ' '}{document.rank:>3} {grade:{widest}}"
        yield mark, f"{place}{padded(name, width) if was else name}{f' {was}' if was else ''}"
    if len(documents) > _LINES:
        yield "", f"    … {len(documents) - _LINES:,} more"


def grade_text(document: ListedDocument) -> str:
    """The grade of a document, ? where nobody has judged it."""
    return "?" if document.grade is None or document.grade < 0 else f"{document.grade:g}"


def moved_text(document: ListedDocument) -> str:
    """Where a document was before, where that is elsewhere."""
    if document.other_rank is None:
        return "new"
    return "" if document.other_rank == document.rank else f"was {document.other_rank:,}"


def _waiting(diff: RunDiff, width: int, paint: Paint) -> Iterator[str]:
    if not diff.to_judge:
        return
    yield ""
    more = len(diff.to_judge) - _WAITING
    told = "Judge these first to know whether it is better"
    yield paint.strong(f"{told}{f' (the first {_WAITING} of {len(diff.to_judge)})' if more > 0 else ''}")
    rows = [["query", "document", "rank"], *(_waiting_row(its, width) for its in diff.to_judge[:_WAITING])]
    yield from aligned(rows, (0, 1), paint.dim)


def _waiting_row(document: WaitingDocument, width: int) -> list[str]:
    room = (width - 16) // 2
    query = cut(named_query(document.query_id, {document.query_id: document.text}, room), room)
    name = cut(document.title or document.doc_id, room)
    return [query, name, ranks_text(document)]


def ranks_text(document: WaitingDocument) -> str:
    """The ranks of a document in both runs: 3 → 12, or – where one lacks it."""
    one, other = (f"{rank:,}" if rank else "–" for rank in document.ranks)
    return f"{one} → {other}"


def diff_markdown(diff: RunDiff) -> Iterator[str]:
    """The same as Markdown: the sentence, the numbers, and the queries that changed most."""
    from cranfield.show.comparison_markup import markdown_table

    yield from markdown_warnings(diff.warnings)
    yield f"**{markdown_text(f'{diff.runs[1]} vs {diff.runs[0]}: {diff.sentence}.')}**"
    yield ""
    rows = [[markdown_text(name), markdown_text(value), markdown_text(told)] for name, value, told in facts(diff)]
    yield from markdown_table(["", "", "what it is"], rows, words=("what it is",))
    for text in diff.between:
        yield f"\nAlso changed: {markdown_text(text)}."
    if diff.judged is not None:
        judged = diff.judged
        yield f"\nJudged: {share_text(judged.entered, 'enter')}, {share_text(judged.left, 'leave')}."
        if judged.difference is not None:
            yield f"\n{markdown_text(judged.difference.sentence)}."
    if diff.changed_most:
        yield "\n<details><summary>The queries that changed most</summary>\n"
        measured = [] if diff.judged is None else [markdown_text(diff.judged.measure)]
        head = ["query", "overlap", "RBO", *measured, "enter", "leave"]
        rows = []
        for query in diff.changed_most:
            entered = [its for its in query.other if its.other_rank is None or its.other_rank > diff.k]
            left = [its for its in query.one if its.other_rank is None or its.other_rank > diff.k]
            name = named_query(query.query_id, {query.query_id: query.text})
            numbers = [f"{query.overlap:.2f}", f"{query.rbo:.2f}", *([change_of(query)] if measured else [])]
            rows.append([markdown_text(name), *numbers, _named(entered), _named(left)])
        yield from markdown_table(head, rows, words=("enter", "leave"))
        yield "\n</details>"
    if diff.to_judge:
        yield "\n<details><summary>What to judge first to know whether it is better</summary>\n"
        rows = [
            [markdown_text(its.query_id), markdown_text(its.title or its.doc_id), ranks_text(its)]
            for its in diff.to_judge
        ]
        yield from markdown_table(["query", "document", "rank"], rows, words=("document",))
        yield "\n</details>"


def _named(documents: Sequence[ListedDocument]) -> str:
    names = [cut(visible(document.title or document.doc_id), 40) for document in documents]
    told = markdown_text(", ".join(names[:4]))
    return f"{told} and {len(names) - 4} more" if len(names) > 4 else told
