"""What a check found, as plain text of 80 columns or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from cranfield.evaluation.advice import DEPTHS, depth_text
from cranfield.files.checking import CheckReport, JudgmentFacts, More, Problem, RunFacts, Spread
from cranfield.layout import count, visible, wrapped

GRADES = 8  # as many are listed


def check_text(report: CheckReport) -> str:
    """The problems, the facts, advice on measures, and last the verdict."""
    parts = [_problems(report.problems, report.more)] if report.problems else []
    parts.append("\n".join(_judgments(report.judgments)))
    parts += ["\n".join(_run(run)) for run in report.runs]
    if report.advice is not None:
        width = max((len(name) for name, _ in report.advice.recommended), default=0)
        suited = [_wrapped(why, f"  {name:<{width}}  ") for name, why in report.advice.recommended]
        beware = [_wrapped(warning, "  - ") for warning in report.advice.warnings]
        parts += ["\n".join([title, *lines]) for title, lines in (("Measures", suited), ("Beware", beware)) if lines]
    parts.append(f"{count(report.count('error'), 'error')}, {count(report.count('warning'), 'warning')}.")
    return "\n\n".join(parts)


def check_json(report: CheckReport) -> str:
    """One JSON object: problems, more, judgments, runs, advice, errors, warnings."""
    import json

    advice: dict[str, Any] | None = None
    if report.advice is not None:
        advice = {
            "recommended": [each._asdict() for each in report.advice.recommended],
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


def _problems(problems: tuple[Problem, ...], more: tuple[More, ...]) -> str:
    """A line for each, and below those that share it the hint."""
    hidden = {(each.file, each.kind): each.count for each in more}
    lines = []
    for kind, alike in groupby(problems, lambda problem: (problem.file, problem.kind)):
        hint = ""
        for problem in alike:
            if hint and problem.hint != hint:
                lines.append(_wrapped(hint, "    Hint: "))
            lines.append(_wrapped(str(problem), f"{problem.severity}: ", indent=4))
            hint = problem.hint
        if kind in hidden:
            lines.append(f"    … and {hidden[kind]:,} more")
        if hint:
            lines.append(_wrapped(hint, "    Hint: "))
    return "\n".join(lines)


def _judgments(facts: JudgmentFacts) -> Iterator[str]:
    yield visible(facts.file)
    yield _wrapped(
        f"{count(facts.queries, 'query', 'queries')}, {count(facts.judgments, 'judgment')}; "
        f"{_spread(facts.documents)} for a query, {_spread(facts.relevant)} relevant"
    )
    listed = list(facts.grades.items())
    shown = ", ".join(f"{grade} ({count:,})" for grade, count in listed[:GRADES])
    if listed:
        yield _wrapped(f"grades: {shown}{', …' if len(listed) > GRADES else ''}")
    if facts.no_relevant:
        yield _wrapped(f"{count(facts.no_relevant, 'query', 'queries')} without a relevant document")
    if facts.grouped:
        yield _wrapped(
            "documents have several grades, for subtopics or from several judges: for measures such as alpha_nDCG@10; "
            "others need one grade"
        )
    if facts.never_retrieved:
        some = ", ".join(f"'{document}' (query {query})" for query, document in facts.examples[:2])
        yield _wrapped(
            f"retrieved by no run: {facts.never_retrieved:,} of these documents, {facts.relevant_never_retrieved:,} of "
            f"them relevant; such as {some}"
        )


def _run(facts: RunFacts) -> Iterator[str]:
    yield visible(facts.file)
    yield _wrapped(
        f"{count(facts.queries, 'query', 'queries')}; {facts.missing:,} judged but not in the run, {facts.extra:,} "
        "not judged"
    )
    yield _wrapped(f"{count(facts.rows, 'document')}; {_spread(facts.documents)} for a query")
    depths = [*(depth for depth in DEPTHS if depth < facts.documents.most), None]
    shares = (f"{facts.judged[str(depth or 'all')]:.0%} of {depth_text(depth)}" for depth in depths)
    yield _wrapped(f"judged: {', '.join(shares)}")
    if facts.tied:
        query, one, other = facts.tie_examples[0]
        yield _wrapped(
            f"{max(facts.tied, 0.001):.1%} of the documents share their score with another, in "
            f"{count(facts.tied_queries, 'query', 'queries')}; such as '{one}' and '{other}' (query {query})"
        )
    else:
        yield _wrapped("no equal scores")
    if facts.names:
        yield _wrapped(f"name: {', '.join(facts.names[:5])}{', …' if len(facts.names) > 5 else ''}")


def _spread(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.least:,}"
    return f"{spread.least:,} to {spread.most:,} (median {spread.median:,g})"


def _wrapped(text: str, head: str = "  ", indent: int | None = None) -> str:
    return "\n".join(wrapped(text, head, hang=indent, break_words=False))  # a path can be copied as it is
