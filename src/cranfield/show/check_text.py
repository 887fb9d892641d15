"""The result of a check and advice on measures, as text or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain, groupby
from typing import TYPE_CHECKING

from cranfield.evaluation.advice import DEPTHS, Advice, Facts, depth_text
from cranfield.evaluation.checking import CheckReport, JudgmentFacts, More, Problem, RunFacts, Spread
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, wrapped
from cranfield.words import count, visible

if TYPE_CHECKING:
    from cranfield.io.queries import Queries
    from cranfield.io.query_tables import QueryTable

GRADES = 8  # as many are listed
READABLE = 30  # columns that a paragraph beside a name needs


def check_text(report: CheckReport, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    parts = [_problems(report.problems, report.more, width, paint)] if report.problems else []
    for name, *facts in (_judgments(report.judgments), *map(_run, report.runs)):
        parts.append([paint.strong(visible(name)), *(line for fact in facts for line in _wrapped(fact, width))])
    if report.advice is not None and report.advice.recommended:
        parts.append([paint.strong("Measures"), *_measures(report.advice.recommended, width, paint)])
    if report.advice is not None and report.advice.warnings:
        beware = [line for warning in report.advice.warnings for line in _wrapped(warning, width, "  - ")]
        parts.append([paint.strong("Beware"), *beware])
    errors, warnings = report.count("error"), report.count("warning")
    tone = paint.bad if errors else paint.close if warnings else paint.good
    parts.append([tone(f"{count(errors, 'error')}, {count(warnings, 'warning')}.")])
    return "\n\n".join("\n".join(lines) for lines in parts)


def check_json(report: CheckReport) -> str:
    import json

    advice = report.advice and {
        "recommended": [recommendation._asdict() for recommendation in report.advice.recommended],
        "warnings": list(report.advice.warnings),
    }
    content = {
        "problems": [asdict(problem) for problem in report.problems],
        "more": [asdict(more) for more in report.more],
        "judgments": asdict(report.judgments),
        "runs": [asdict(run) for run in report.runs],
        "advice": advice,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)


def queries_text(table: QueryTable, queries: Queries, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """How a file of queries was read."""
    separated = f", separated by {table.separated_by}" if table.separator else ""
    header = f", {'with' if table.header else 'without'} a header" if table.separator or table.format == "lines" else ""
    given, text = ("" if at is None else f"the column {_column(table, at)}" for at in table.roles)
    facts = [
        f"{table.format}{separated}{header}",
        f"text: {text if len(table.names) > 1 else 'the whole line' if table.format == 'lines' else text}",
        f"ids: {given or 'made from the texts'}",
        f"further columns: {', '.join(table.names[at] or '(no name)' for at in table.further) or 'none'}",
        f"{count(len(queries), 'query', 'queries')}; the first:",
    ]
    lines = [line for fact in facts for line in _wrapped(fact, width)]
    for query, text in list(queries.items())[:2]:
        further = {name: value for name, value in queries.row(query).items() if name != "text"}
        beside = "".join(f"; {name or '(no name)'}: {value}" for name, value in further.items())
        lines += _wrapped(visible(f"{query}: {text}{beside}"), width, "    ")
    return "\n".join([paint.strong(visible(table.name)), *lines])


def _column(table: QueryTable, at: int) -> str:
    return f"'{visible(table.names[at])}'" if table.header else f"{at + 1}"


def queries_json(table: QueryTable, queries: Queries) -> str:
    import json

    given, text = (None if at is None else table.names[at] for at in table.roles)
    content = {
        "file": table.name,
        "format": table.format,
        "separator": table.separator,
        "header": table.header,
        "id": given,  # null: the ids are made from the texts
        "text": text,
        "columns": [table.names[at] for at in table.further],
        "queries": len(queries),
        "first": [{"query_id": query, **queries.row(query)} for query in list(queries)[:2]],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, default=str)


def _problems(problems: tuple[Problem, ...], more: tuple[More, ...], width: int, paint: Paint) -> list[str]:
    hidden = {(rest.file, rest.kind): rest.count for rest in more}
    lines: list[str] = []

    def add_hint(hint: str) -> None:
        first, *rest = _wrapped(hint, width, "    Hint: ")
        lines.extend([first.replace("Hint:", paint.hint("Hint:"), 1), *rest])

    for kind, alike in groupby(problems, lambda problem: (problem.file, problem.kind)):
        hint = ""
        for problem in alike:
            if hint and problem.hint != hint:
                add_hint(hint)
            head = f"{problem.severity}:"
            first, *rest = _wrapped(str(problem), width, f"{head} ", hang=4)
            tone = paint.bad if problem.severity == "error" else paint.close
            lines += [tone(head) + first.removeprefix(head), *rest]
            hint = problem.hint
        if kind in hidden:
            lines.append(paint.dim(f"    … and {hidden[kind]:,} more"))
        if hint:
            add_hint(hint)
    return lines


def _measures(recommended: Sequence[tuple[str, str]], width: int, paint: Paint) -> Iterator[str]:
    """Each measure and why: beside its name, or below it where the window is narrow."""
    room = max(len(name) for name, _ in recommended)
    beside = width - room - 4 >= READABLE
    for name, why in recommended:
        head = f"  {name:<{room}}  " if beside else "    "
        if not beside:
            yield f"  {name}"
        first, *rest = _wrapped(why, width, head)
        yield from (head + paint.dim(first.removeprefix(head)), *map(paint.dim, rest))


def _judgments(facts: JudgmentFacts) -> Iterator[str]:
    yield facts.file
    yield (
        f"{count(facts.queries, 'query', 'queries')}, {count(facts.judgments, 'judgment')}; "
        f"{_spread(facts.documents)} for a query, {_spread(facts.relevant)} relevant"
    )
    listed = list(facts.grades.items())
    shown = ", ".join(f"{grade} ({count:,})" for grade, count in listed[:GRADES])
    if listed:
        yield f"grades: {shown}{', …' if len(listed) > GRADES else ''}"
    if facts.no_relevant:
        yield f"{count(facts.no_relevant, 'query', 'queries')} without a relevant document"
    if facts.grouped:
        yield (
            "documents have several grades, for subtopics or from several judges: for measures such as alpha_nDCG@10; "
            "others need one grade"
        )
    if facts.never_retrieved:
        some = ", ".join(f"'{document}' (query {query})" for query, document in facts.examples[:2])
        yield (
            f"retrieved by no run: {facts.never_retrieved:,} of these documents, {facts.relevant_never_retrieved:,} of "
            f"them relevant; such as {some}"
        )


def _run(facts: RunFacts) -> Iterator[str]:
    yield facts.file
    yield (
        f"{count(facts.queries, 'query', 'queries')}; {facts.missing:,} judged but not in the run, {facts.extra:,} "
        "not judged"
    )
    yield f"{count(facts.rows, 'document')}; {_spread(facts.documents)} for a query"
    depths = [*(depth for depth in DEPTHS if depth < facts.documents.most), None]
    shares = (f"{facts.judged[str(depth or 'all')]:.0%} of {depth_text(depth)}" for depth in depths)
    yield f"judged: {', '.join(shares)}"
    if facts.tied:
        query, one, other = facts.tie_examples[0]
        yield (
            f"{max(facts.tied, 0.001):.1%} of the documents share their score with another, in "
            f"{count(facts.tied_queries, 'query', 'queries')}; such as '{one}' and '{other}' (query {query})"
        )
    else:
        yield "no equal scores"
    if facts.names:
        yield f"name: {', '.join(facts.names[:5])}{', …' if len(facts.names) > 5 else ''}"


def _spread(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.least:,}"
    return f"{spread.least:,} to {spread.most:,} (median {spread.median:,g})"


def _wrapped(text: str, width: int, head: str = "  ", hang: int | None = None) -> list[str]:
    return wrapped(text, head, hang=hang, width=width, break_words=False)  # a path can be copied as it is


def advice_text(advice: Advice) -> str:
    width = max((len(measure) for measure, _ in advice.recommended), default=0)
    parts = [
        ("The data", [wrapped(line, "  ") for line in _described(advice.facts)]),
        ("Measures that suit them", [wrapped(why, f"  {name:<{width}}  ") for name, why in advice.recommended]),
        ("Beware", [wrapped(warning, "  - ") for warning in advice.warnings]),
    ]
    return "\n\n".join("\n".join([title, *chain(*paragraphs)]) for title, paragraphs in parts if paragraphs)


def _described(facts: Facts) -> Iterator[str]:
    queries = count(facts.queries, "query", "queries")
    yield f"{queries}; median {facts.judged:g} judged and {facts.relevant:g} relevant documents"
    yield f"{facts.one_relevant:.0%} of the queries have one relevant document, {facts.none_relevant:.0%} have none"
    shown = ", ".join(f"{grade:g}" for grade in facts.grades[:8]) + (", …" if len(facts.grades) > 8 else "")
    kind = "graded" if facts.graded else "binary"
    yield f"{kind} judgments{f', grades {shown}' if facts.grades else ''}; {facts.nonrelevant} say 'not relevant'"
    if facts.pooled:
        yield f"{count(facts.pooled, 'document', 'documents')} pooled but not judged"
    for run in facts.runs:
        yield (
            f"{run.run}: rankings up to {count(run.deepest, 'document', 'documents')}; judged: "
            f"{', '.join(f'{run.judged(depth):.0%} of {depth_text(depth)}' for depth in run.depths)}; "
            f"{run.tied:.1%} tied; {count(run.missing, 'query', 'queries')} missing"
        )
