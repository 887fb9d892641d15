"""The result of a test of systems as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cranfield.evaluation.result import Evaluation
from cranfield.layout import UNPAINTED, WIDTH, Paint, count, cut, fitted, visible, wrapped
from cranfield.ranks.judgments import Judgments
from cranfield.show.gate_text import check_lines
from cranfield.systems.misses import Miss, Place
from cranfield.systems.testing import ProjectTest, Tested
from cranfield.systems.text.recorded import failure_lines, milliseconds, order_lines


def tested_lines(found: ProjectTest, worst: int, width: int, paint: Paint) -> Iterator[str]:
    """The table of systems; then for each what failed, what got worse, and its worst queries."""
    yield from _table(found.systems, width, paint)
    yield from _unjudged_queries(found, width)
    for tested in found.systems:
        yield ""
        word, _, details = _verdict(tested).partition(", ")
        name = f"{visible(tested.system)}: "
        first, *rest = wrapped(f"{name}{word}, {details}", hang=2, width=width)
        yield first.replace(f"{name}{word}", f"{name}{(paint.good if tested.passed else paint.bad)(word)}", 1)
        yield from rest
        yield from failure_lines(tested.recorded, width, paint)
        yield from _warnings(tested, width)
        for check in (*(tested.gate.checks if tested.gate is not None else ()), *tested.checks):
            yield from check_lines(check, width, paint)
        yield from _got_worse(tested, found.collection.queries, worst, width, paint)
        if tested.evaluation and worst:
            measure = next(iter(tested.evaluation))
            yield ""
            head = paint.strong(f"  the worst {'query' if len(tested.missed) == 1 else 'queries'} by {measure}")
            yield head if tested.missed else f"{head}: none, all are perfect"
            for miss in tested.missed:
                yield from miss_lines(miss, width, paint)


def _unjudged_queries(found: ProjectTest, width: int) -> Iterator[str]:
    """The queries without judgments: they were not asked, and no value says anything about them."""
    judged = Judgments.read(found.collection.qrels).number
    lacking = [query for query in found.collection.queries if query not in judged]
    if lacking:
        listed = ", ".join(map(visible, lacking[:5])) + (", …" if len(lacking) > 5 else "")
        queries = count(len(lacking), "query has no judgments and was", "queries have no judgments and were")
        yield ""
        yield from wrapped(f"{queries} not asked: {listed}", hang=2, width=width)


def _table(results: Sequence[Tested], width: int, paint: Paint) -> Iterator[str]:
    measured = [tested for tested in results if tested.evaluation]
    measures = list(measured[0].evaluation or ()) if measured else []
    rows = [["system", *measures, "p95"]]
    for tested in results:
        evaluation, latency = tested.evaluation, tested.recorded.latency
        values = [evaluation.shown(name) if evaluation else "-" for name in measures]
        rows.append([tested.system, *values, milliseconds(latency["p95"]).rjust(7) if latency else "-"])
        if tested.accepted and tested.compared:
            changes = [f"{tested.compared[m] - tested.accepted[m]:+.4f}" for m in measures]
            rows.append(["  since accepted", *changes, ""])

    def tint(row: int, column: int, text: str) -> str:
        if rows[row][0].startswith("  "):
            return paint.dim(text) if column == 0 or not text.strip("+-0.") else text
        return text

    yield from fitted(rows, width, paint.strong, tint=tint)


def _verdict(tested: Tested) -> str:
    recorded = tested.recorded
    answered = f"{recorded.answered} of {recorded.queries} queries answered"
    if not recorded.complete:
        return f"FAILED, {answered}; the values are over these queries only"
    if not tested.passed:
        return f"FAILED, {answered}"
    if tested.gate is None:
        return f"passed, {answered}; nothing is accepted yet ('cranfield accept')"
    return f"passed, {answered}"


def _warnings(tested: Tested, width: int) -> Iterator[str]:
    recorded, evaluation = tested.recorded, tested.evaluation
    if recorded.unknown:
        listed = ", ".join(recorded.unknown_ids)
        yield from wrapped(
            f"{count(recorded.unknown, 'document is', 'documents are')} not in the corpus: {listed}",
            "  warning ",
            width=width,
        )
    if evaluation is not None and not evaluation["Judged@10"]:
        hint = "none of the first 10 documents is judged: does the system use the same ids as the judgments?"
        yield from wrapped(hint, "  warning ", width=width)
    yield from order_lines(recorded, width)
    for note in tested.notes:
        yield from wrapped(note, "  note    ", width=width)


def _got_worse(tested: Tested, texts: Mapping[str, str], shown: int, width: int, paint: Paint) -> Iterator[str]:
    for measure in tested.gate.measures if tested.gate is not None else ():
        if not measure.worse:
            continue
        yield ""
        yield f"  {measure.measure} got worse for {measure.worse} of {tested.recorded.queries} queries"
        for query in measure.worse_queries[: max(shown, 1)]:
            change = f"{query.baseline:.4f} → {query.candidate:.4f}"
            line = cut(f"{query.query_id}: {texts.get(query.query_id, '')}", width - len(change) - 6)
            yield f"    {paint.bad(change)}  {line}"
            yield from map(paint.dim, wrapped(query.moved, " " * (len(change) + 6), width=width))


def miss_lines(miss: Miss, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    """A query that performs poorly: what was expected and what was returned."""
    yield ""
    yield cut(f"  {miss.facts.value:.4f}  {miss.facts.query_id}: {miss.text}", width)
    yield from map(
        paint.dim, wrapped("; ".join(filter(None, (miss.facts.reason, miss.why))), "          ", width=width)
    )
    for title, places in (("expected", miss.expected), ("returned", miss.returned)):
        for at, place in enumerate(places):
            yield cut(f"    {title if at == 0 else '':<9} {_where(place, title)}  {_named(place)}", width)


def _where(place: Place, title: str) -> str:
    grade = "not judged" if place.grade is None else f"grade {place.grade:g}"
    if title == "returned":
        return f"{place.rank:>4}. {grade:<11}"
    return f"{'none' if place.rank is None else f'{place.rank:>4}.':<5} {grade:<11}"


def _named(place: Place) -> str:
    return f"{place.doc_id}  {place.title}" if place.title else place.doc_id


def accepted_line(name: str, before: Evaluation | None, now: Evaluation) -> str:
    """What is accepted now, and what was."""
    measure = next(iter(now))
    earlier = f", previously {before.shown(measure)}" if before and measure in before else ""
    return f"{name}: accepted {measure} {now.shown(measure)}{earlier}"
