"""What asking a model will take, and what came of it, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cranfield.judging.deciding.looks import Look
from cranfield.judging.models.model_report import MissingGrade, ModelReport
from cranfield.judging.models.replies import FAILURES
from cranfield.judging.models.work import AskingEstimate
from cranfield.layout import aligned, count, cut

_STOPPED = {
    "requests": "The request limit is reached.",
    "budget": "The token budget is reached.",
    "interrupted": "Interrupted.",
}


def estimate_lines(name: str, estimate: AskingEstimate, budget: int | None, spent: int, counted: bool) -> Iterator[str]:
    """What asking will take. counted: whether the model counts tokens."""
    before = f", {estimate.judged:,} judged before" if estimate.judged else ""
    before += f", {estimate.unread:,} whose reply could not be read" if estimate.unread else ""
    yield f"{name}: {count(estimate.documents, 'document')} to judge{before}"
    planted = f", {count(estimate.canaries, 'canary', 'canaries')} among them" if estimate.canaries else ""
    tokens = f"; about {estimate.tokens:,} tokens, at most {estimate.most:,}" if counted and estimate.requests else ""
    yield f"  {count(estimate.requests, 'request')}{planted}{tokens}"
    if budget is not None:
        yield f"  budget: {budget:,} tokens in all, {spent:,} spent before"


def most_lines(
    name: str, look: Look, most: AskingEstimate, budget: int | None, spent: int, counted: bool
) -> Iterator[str]:
    """What asking until it is decided takes at most: all documents that can still change the verdict."""
    if look.done:
        yield f"{name}: nothing to ask; the verdict is final."
        return
    first, *others = estimate_lines(name, most, budget, spent, counted)
    yield f"{first} at most; asking stops once the verdict is final"
    yield from others


def asked_lines(asked: ModelReport, width: int) -> Iterator[str]:
    """What came of it: grades, what is missing and why, and what the checks found."""
    tokens = f", {count(asked.tokens, 'token')}" if asked.tokens else ""
    reused = f", {asked.reused:,} of them from replies to the same text" if asked.reused else ""
    yield (
        f"{asked.assessor}: {count(asked.graded, 'document')} graded{reused}; "
        f"{count(asked.requests, 'request')}{tokens}"
    )
    yield f"  judge {asked.judge[:8]}: {asked.judged_before + asked.graded:,} of {asked.documents:,} graded"
    if asked.missing:
        yield f"  {count(len(asked.missing), 'document')} without a grade:"
        for why, number in Counter(each.why for each in asked.missing).most_common():
            yield cut(f"    {number:,}  {_told(why)}", width)
    yield from check_lines(asked)
    if asked.stopped:
        yield stopped_line(asked)


def stopped_line(asked: ModelReport) -> str:
    """Why it ended early, and how to go on."""
    left = f" {count(asked.left, 'document')} left;" if asked.left else ""
    onwards = "a larger budget" if asked.stopped == "budget" else "the same command"
    return f"{_STOPPED[asked.stopped]}{left} {onwards} continues from here."


def missing_lines(missing: tuple[MissingGrade, ...]) -> Iterator[str]:
    """Which documents have no grade: query, document, why."""
    rows = [["query", "document", "why it has no grade"]]
    for each in missing:
        part = f"[{each.part[0]}:{each.part[1]}]" if each.part else ""
        rows.append([each.query_id, f"{each.doc_id}{part}", _told(each.why)])
    yield from aligned(rows, left=(0, 1, 2)) if missing else ()


def _told(why: str) -> str:
    if why == "no text":
        return "no text: the store has no text for the document or the query"
    return f"{why}: {FAILURES[why]}" if why in FAILURES else why


def check_lines(asked: ModelReport) -> Iterator[str]:
    """What canaries, samples and pairs showed."""
    found = asked.canaries
    if found is not None:
        unread = f" ({found.asked - found.read:,} more could not be read)" if found.asked > found.read else ""
        were = "was" if found.raised == 1 else "were"
        yield f"  {found.raised:,} of {found.read:,} canaries {were} graded {found.lowest_raised:g} or higher{unread}"
        for kind, (raised, read) in sorted(found.by_kind.items()):
            if raised:
                yield f"    {raised:,} of {read:,} with {kind}"
    steady = asked.steadiness
    if steady is not None:
        yield (
            f"  {steady.same:.0%} of {count(steady.documents, 'document')} got the same grade in all samples; "
            f"mean spread {steady.spread:.2f}"
        )
    order = asked.order
    if order is not None:
        if order.pairs > order.read:
            silent, pairs = order.pairs - order.read, count(order.pairs, "pair")
            yield f"  {silent:,} of {pairs} of documents: no answer could be read"
        if order.read:
            yield f"  {order.depend:,} of {count(order.read, 'pair')} of documents: the answer depends on their order"
        if order.consistent:
            clear = count(order.consistent, "pair")
            yield f"  {order.contradict:,} of {clear} with a clear answer: it contradicts the grades"
