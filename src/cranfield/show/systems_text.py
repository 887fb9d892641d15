"""What asking and testing systems, and the demo, print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cranfield.comparison.differences import change_text, signed, value_text
from cranfield.evaluation.from_ranks import recording_warnings
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import MARK, plural
from cranfield.show.answers_text import answers_lines
from cranfield.show.comparison_words import power_sentence
from cranfield.show.gate_text import check_lines
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, fitted, warning_lines, wrapped
from cranfield.show.segments_text import segments_text
from cranfield.systems.misses import Miss
from cranfield.systems.recorded import Recorded
from cranfield.systems.testing import Demonstration, ProjectTest, Tested, without_words
from cranfield.words import count, cut, visible

_SHOWN = 5
MEASURED = "measured"
WORST = 3  # queries shown of a test that failed, and of the first one, which people look at before they accept it


def recorded_lines(recorded: Recorded, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    yield f"{recorded.path}: {recorded.answered} of {recorded.queries} queries answered by {recorded.name}"
    if recorded.answered:
        yield from map(paint.dim, wrapped(returned_text(recorded), "  returned ", width=width))
    repeated = [f"{count(recorded.retried, 'attempt')} repeated"] if recorded.retried else []
    repeated += [f"{count(recorded.reasked, 'question')} for more chunks"] if recorded.reasked else []
    if repeated:
        yield f"  {', '.join(repeated)}"
    if recorded.latency:
        points = "  ".join(f"{name} {milliseconds(recorded.latency[name])}" for name in ("p50", "p95", "p99", "max"))
        yield from map(paint.dim, wrapped(points, "  latency  ", width=width))
    if recorded.unknown:
        first, *rest = _wrapped(recorded._not_in_corpus, width, "  warning: ")
        yield from (first.replace("warning:", paint.close("warning:"), 1), *rest)
    yield from order_lines(recorded, width)
    yield from failure_lines(recorded, width, paint)


def returned_text(recorded: Recorded) -> str:
    """How much came back for a query: documents, and on average chunks, characters, words, tokens and cost."""
    size = dict(recorded.made.size)
    several = size.get("chunks", 0) > size.get("documents", 0)
    parts = [
        f"{size[name]:,.0f} {name}" if size[name] >= 10 else f"{size[name]:,.1f} {name}"
        for name in ("chunks", "characters", "words", "tokens")
        if name in size and (name != "chunks" or several)
    ]
    if recorded.cost:
        parts.append(f"a cost of {recorded.cost['mean']:.4g}")
    average = f"; on average {', '.join(parts)}" if parts else ""
    return f"{recorded.returned} for a query{average}"


def order_lines(recorded: Recorded, width: int = WIDTH) -> Iterator[str]:
    """The queries without a document, and what became of the answers."""
    for note in recorded._notes():
        yield from _wrapped(note, width)


def failure_lines(recorded: Recorded, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    if recorded.failed:
        failed = count(len(recorded.failed), "query failed and is", "queries failed and are")
        yield paint.bad(f"  {failed} not in the run:")
        for query, error in list(recorded.failed.items())[:_SHOWN]:
            yield from _wrapped(f"{query}: {error.partition(chr(10))[0]}", width, "    ")
        if len(recorded.failed) > _SHOWN:
            yield f"    … and {len(recorded.failed) - _SHOWN} more, in {recorded.path}.json"
        hints = {error.partition("\nHint: ")[2] for error in recorded.failed.values()} - {""}
        for hint in sorted(hints):
            first, *rest = _wrapped(hint, width, "    Hint: ")
            yield from (first.replace("Hint:", paint.hint("Hint:"), 1), *rest)
    if recorded.gave_up:
        yield f"  gave up: {count(len(recorded.not_asked), 'query was', 'queries were')} not asked"


def _wrapped(text: str, width: int, head: str = "  ") -> list[str]:
    return wrapped(text, head, hang=len(head) - len(head.lstrip()) + 2, width=width, break_words=False)


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"


def tested_lines(project: ProjectTest, worst: int | None, width: int, paint: Paint) -> Iterator[str]:
    """What a test found; `worst`: how many queries of each system to show, by default none of one that passed."""
    yield from _table(project.systems, width, paint)
    answering = [its for tested in project.systems if (its := tested.evaluation) is not None and its.answering]
    if answering:
        yield ""
        yield from answers_lines(answering, width, paint)
    yield from _unjudged_queries(project.unjudged, width)
    for tested in project.systems:
        yield ""
        word, _, details = _verdict(tested).partition(", ")
        name = f"{visible(tested.system)}: "
        first, *rest = wrapped(f"{name}{word}, {details}", hang=2, width=width)
        tone = paint.strong if word == MEASURED else paint.good if tested.passed else paint.bad
        yield first.replace(f"{name}{word}", f"{name}{tone(word)}", 1)
        yield from rest
        if _unaccepted(tested):
            yield f"  nothing accepted yet: {paint.hint('cranfield accept')}"
        yield from failure_lines(tested.recorded, width, paint)
        yield from _warnings(tested, width)
        for check in (*(tested.gate.checks if tested.gate is not None else ()), *tested.checks):
            yield from check_lines(check, width, paint)
        if tested.gate is not None and tested.gate.segments is not None:
            yield ""
            yield from segments_text(tested.gate.segments, width=width, paint=paint).split("\n")
        shown = worst if worst is not None else 0 if tested.passed and tested.gate is not None else WORST
        yield from _got_worse(tested, project.collection.queries, shown, width, paint)
        if tested.evaluation and shown:
            measure = next(iter(tested.evaluation))
            yield ""
            head = paint.strong(f"  the worst {'query' if len(tested.missed) == 1 else 'queries'} by {measure}")
            yield head if tested.missed else f"{head}: none, all are perfect"
            for miss in tested.missed:
                yield from miss_lines(miss, width, paint)


def _unjudged_queries(queries: Sequence[str], width: int) -> Iterator[str]:
    if queries:
        listed = ", ".join(map(visible, queries[:5])) + (", …" if len(queries) > 5 else "")
        counted = count(len(queries), "query has no judgments and was", "queries have no judgments and were")
        yield ""
        yield from wrapped(f"{counted} not asked: {listed}", hang=2, width=width)


def _table(results: Sequence[Tested], width: int, paint: Paint) -> Iterator[str]:
    measured = [tested for tested in results if tested.evaluation]
    measures = list(measured[0].evaluation or ()) if measured else []
    first = measured[0].evaluation if measured else None
    rows = [["system", *(first.heading(name) if first else name for name in measures), "p95"]]
    for tested in results:
        evaluation, latency = tested.evaluation, tested.recorded.latency
        values = [evaluation.shown(name) if evaluation else "-" for name in measures]
        rows.append([tested.system, *values, milliseconds(latency["p95"]).rjust(7) if latency else "-"])
        if tested.accepted and tested.compared:
            if (compared := len(tested.compared.query_ids)) < len(evaluation.query_ids if evaluation else ()):
                its = [tested.compared.shown(name) for name in measures]
                rows.append([f"  {count(compared, 'query', 'queries')} compared", *its, ""])
            changes = [f"{tested.compared[m] - tested.accepted[m]:+.4f}" for m in measures]
            rows.append(["  since accepted", *changes, ""])

    def tint(row: int, column: int, text: str) -> str:
        if rows[row][0].startswith("  "):
            return paint.dim(text) if column == 0 or not text.strip("+-0.") else text
        return text

    yield from fitted(rows, width, paint.strong, tint=tint)
    if first is not None and first.weights is not None:
        yield from map(paint.dim, wrapped(f"{MARK} {first.weights.sentence}", hang=2, width=width))


def _verdict(tested: Tested) -> str:
    recorded = tested.recorded
    answered = f"{recorded.answered} of {recorded.queries} queries answered"
    note = "" if recorded.complete else "; the values are over these queries only"
    passed = MEASURED if _unaccepted(tested) and not tested.checks else "passed"  # nothing to compare, and no limits
    return f"{passed if tested.passed else 'FAILED'}, {answered}{note}"


def _unaccepted(tested: Tested) -> bool:
    return tested.passed and tested.gate is None


def _warnings(tested: Tested, width: int) -> Iterator[str]:
    recorded, evaluation = tested.recorded, tested.evaluation
    if recorded.unknown:
        yield from wrapped(recorded._not_in_corpus, "  warning ", width=width)
    if evaluation is not None and not evaluation["Judged@10"] and len(recorded.empty) < recorded.answered:
        hint = "none of the first 10 documents is judged: does the system use the same ids as the judgments?"
        yield from wrapped(hint, "  warning ", width=width)
    doubts: tuple[str, ...] = ()
    if evaluation is not None and evaluation.ranks is not None:
        doubts = tuple(recording_warnings(evaluation._evidence.made, evaluation.measures, evaluation.ranks))
    for text in (*doubts, *(tested.gate.warnings if tested.gate is not None else ())):
        yield from wrapped(text, "  warning ", width=width)
    yield from order_lines(recorded, width)
    for note in (*tested.notes, *tested.not_compared):
        yield from wrapped(note, "  note    ", width=width)


def _got_worse(tested: Tested, texts: Mapping[str, str], shown: int, width: int, paint: Paint) -> Iterator[str]:
    for measure in tested.gate.measures if tested.gate is not None else ():
        if not measure.worse:
            continue
        unit = measure.difference.unit
        compared = measure.better + measure.same + measure.worse
        yield ""
        yield f"  {measure.measure} got worse for {measure.worse} of {count(compared, unit, plural(unit))}"
        for query in measure.worse_queries[: max(shown, 1)]:
            change = change_text(query.baseline, query.candidate)
            line = cut(f"{query.query_id}: {texts.get(query.query_id, '')}", width - len(change) - 6)
            yield f"    {paint.bad(change)}  {line}"
            yield from map(paint.dim, wrapped(query.moved, " " * (len(change) + 6), width=width))


def miss_lines(miss: Miss, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    yield ""
    yield cut(f"  {value_text(miss.facts.value)}  {miss.facts.query_id}: {miss.text}", width)
    reasons = "; ".join(filter(None, (miss.facts.reason, miss.why)))
    yield from map(paint.dim, wrapped(reasons, " " * 9, width=width))
    for title, places in (("expected", miss.expected), ("returned", miss.returned)):
        for at, place in enumerate(places):
            grade = "not judged" if place.grade is None else f"grade {place.grade:g}"
            rank = "none " if place.rank is None else f"{place.rank:>4}."
            name = f"{place.doc_id}  {place.title}" if place.title else place.doc_id
            yield cut(f"    {title if at == 0 else '':<9} {rank} {grade:<11}  {name}", width)


def accepted_line(name: str, before: Evaluation | None, now: Evaluation) -> str:
    measure = next(iter(now))
    earlier = f", previously {before.shown(measure)}" if before and measure in before else ""
    return f"{name}: accepted {now.heading(measure)} {now.shown(measure)}{earlier}"


SHOWN = 3  # queries that perform poorly


def demonstration_lines(demo: Demonstration, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    collection, evaluations = demo.collection, demo.evaluations
    yield from wrapped(
        f"Two engines search {demo.documents} short texts about search evaluation: SQLite's full-text search as it is "
        "(plain), and with stems, weights and no stop words (tuned).",
        width=width,
    )
    asked = f"Both were just asked {len(collection.queries)} queries whose relevant texts are known."
    yield from wrapped(asked, width=width)
    yield ""
    measures = list(evaluations[0])
    rows = [["run", *measures], *([result.run, *map(result.shown, measures)] for result in evaluations)]
    yield from fitted(rows, width, paint.strong)
    yield ""
    yield from _comparison_lines(demo, width, paint)
    yield ""
    yield paint.strong("tuned's worst queries: expected vs returned")
    for miss in demo.poor[:SHOWN]:
        yield from miss_lines(miss, width, paint)
    yield ""
    yield from _next_lines(demo, width, paint)


def _comparison_lines(demo: Demonstration, width: int, paint: Paint) -> Iterator[str]:
    [difference] = demo.comparison
    yield from warning_lines(demo.comparison.warnings, width, paint)
    yield paint.strong("Is tuned better than plain?")
    verdict = (
        f"{difference.sentence} (paired t-test); {difference.better} queries better, {difference.same} the same, "
        f"{difference.worse} worse."
    )
    headline = f"{difference.headline}:"
    first, *more = wrapped(verdict, "  ", width=width)
    yield f"  {paint.verdict(difference.verdict, headline)}{first.removeprefix(f'  {headline}')}"
    yield from more
    yield from wrapped(f"{power_sentence(difference, demo.comparison.units)}.", "  ", width=width)
    for change in difference.changed[:2]:
        number = signed(change.difference)
        shown = cut(f"{change.query_id}: {demo.collection.queries[change.query_id]}", width - len(number) - 4)
        yield f"  {paint.signed(change.difference, number)}  {shown}"


def _next_lines(demo: Demonstration, width: int, paint: Paint) -> Iterator[str]:
    yield paint.strong("What to try next")
    # Of the documents themselves: the mean of Judged@10 counts a query without documents as 0.
    unjudged = 1 - (demo.evaluations[1].facts("nDCG@10").judged_share() or 0)
    apart = without_words(demo.poor)
    yield from wrapped(
        f"Of the {len(demo.poor)} worst queries, {apart} share no word with at least half of their relevant texts: "
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
