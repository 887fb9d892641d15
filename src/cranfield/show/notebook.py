"""Results as notebooks show them: what they say, tables, and a chart where the libraries for it are installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice

from cranfield.changes.neighbours import NeighbourRecall
from cranfield.changes.run_diff import RunDiff
from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import DIGITS, Difference, estimate_text, interval_name, signed, value_text
from cranfield.comparison.frontier import Frontier
from cranfield.comparison.gating import GateResult
from cranfield.comparison.means import means_table
from cranfield.comparison.reusability import Reusability
from cranfield.comparison.segments import SegmentComparison
from cranfield.comparison.stability import Stability
from cranfield.dialects.why import Why
from cranfield.errors import CranfieldError, MissingLibrary
from cranfield.evaluation.explaining import Explanation
from cranfield.evaluation.query_facts import QueryList
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.summary import Summary
from cranfield.evaluation.weighting import MARK
from cranfield.look import DARK, LIGHT
from cranfield.show import corrected
from cranfield.show.charts.difference import MeanDifference, difference_chart
from cranfield.show.charts.distribution import distribution_chart, weighted_means
from cranfield.show.charts.frontier import frontier_chart
from cranfield.show.charts.parts import Spec
from cranfield.show.charts.stability import of_stability
from cranfield.show.comparison_words import estimate_name, interval_text, p_number, span_and_p, verdict
from cranfield.show.diff_text import facts
from cranfield.show.frontier_text import spent_cells, standing_text
from cranfield.show.neighbours_text import recall_facts
from cranfield.show.pictures import picture
from cranfield.show.stability_text import reusability_text
from cranfield.show.systems_text import milliseconds, returned_text
from cranfield.systems.recorded import Recorded
from cranfield.words import count

# Notebooks have their own rules for tables; ours name the class twice, so that they take precedence.
DARK_PAGES = (
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "body.vscode-high-contrast",
    'html[theme="dark"]',
    'html[data-theme="dark"]',
    'body[data-theme="dark"]',
)
_RULES = """
.cranfield { color: var(--ink); font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; max-width: 60rem; }
.cranfield.cranfield table { border-collapse: collapse; border: 0; margin: 0.5em 0; font-size: 13px;
  table-layout: auto; }
.cranfield.cranfield table tr { background: none; }
.cranfield.cranfield table th, .cranfield.cranfield table td { padding: 4px 14px 4px 0; border: 0; color: var(--ink);
  border-bottom: 1px solid var(--line); background: none; vertical-align: top; text-align: left; max-width: 36em;
  overflow-wrap: anywhere; }
.cranfield.cranfield table th { color: var(--soft); font-weight: 550; white-space: nowrap; }
.cranfield.cranfield table .n { text-align: right; white-space: nowrap; }
.cranfield p { margin: 0.4em 0; }
.cranfield .headline { font-size: 15px; font-weight: 600; }
.cranfield .note { color: var(--soft); font-size: 12px; overflow-wrap: anywhere; }
.cranfield .badge, .cranfield .grade { border-radius: 5px; padding: 1px 7px; font-weight: 600; white-space: nowrap; }
.cranfield .better { color: var(--better); } .cranfield .badge.better { background: var(--better-ground); }
.cranfield .worse { color: var(--worse); } .cranfield .badge.worse { background: var(--worse-ground); }
.cranfield .close { color: var(--close); } .cranfield .badge.close { background: var(--close-ground); }
.cranfield .g3 { background: var(--grade-3); color: var(--on-grade-3); }
.cranfield .g2 { background: var(--grade-2); color: var(--on-grade-2); }
.cranfield .g1 { background: var(--grade-1); color: var(--on-grade-1); }
.cranfield .g0 { background: var(--grade-0); color: var(--on-grade-0); }
.cranfield .grade.none { border: 1px dashed var(--faint); color: var(--faint); }
.cranfield pre { color: var(--ink); background: none; border: 0; padding: 0; margin: 0.4em 0; white-space: pre-wrap;
  font: 12.5px/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.cranfield svg { max-width: 100%; height: auto; background: none; }
"""


def frame(*parts: str) -> str:
    """Parts of HTML as one piece, in the look of all pages, that changes nothing around it."""
    page = ", ".join(f"{page} .cranfield" for page in DARK_PAGES)
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in look.items()) for look in (LIGHT, DARK))
    style = f".cranfield {{ {light} }}\n{page} {{ {dark} }}{_RULES}"
    return f'<div class="cranfield"><style>{style}</style>{"".join(parts)}</div>'


@dataclass(frozen=True)
class HtmlCell:
    """A text in a table, and the classes that say how it looks."""

    text: str
    kind: str = ""

    def html(self) -> str:
        return f'<span class="{self.kind}">{escape(self.text)}</span>' if self.kind else escape(self.text)


Rows = list[list[str | HtmlCell]]


def recorded_html(recorded: Recorded) -> str:
    """A recorded run: how much was answered, what came back, what went wrong."""
    answered = f"{recorded.name}: {recorded.answered:,} of {count(recorded.queries, 'query', 'queries')} answered"
    returned = [f"returned {returned_text(recorded)}"] if recorded.answered else []
    returned += [
        ", ".join(f"{name} {milliseconds(recorded.latency[name])}" for name in ("p50", "p95") if recorded.latency)
    ]
    failed: Rows = [[query, reason.partition("\n")[0]] for query, reason in islice(recorded.failed.items(), 5)]
    return frame(
        paragraph(answered, "headline"),
        *(paragraph(text, "worse" if text in list(recorded._problems()) else "") for text in recorded.warnings),
        table(["failed query", "reason"], failed, words=(0, 1)) if failed else "",
        notes([*returned, f"in {recorded.path}" if recorded.path else "in memory"]),
    )


def grade_cell(grade: float | None) -> HtmlCell:
    if grade is None:
        return HtmlCell("?", "grade none")
    return HtmlCell(f"{grade:g}", f"grade g{min(max(int(grade), 0), 3)}")


def table(head: Sequence[str], rows: Iterable[Sequence[str | HtmlCell]], words: Sequence[int] = (0,)) -> str:
    """A table; columns of words are aligned left, all others hold numbers."""

    def side(at: int) -> str:
        return "" if at in words else ' class="n"'

    def line(row: Sequence[str | HtmlCell]) -> str:
        cells = (cell if isinstance(cell, HtmlCell) else HtmlCell(cell) for cell in row)
        return "".join(f"<td{side(at)}>{cell.html()}</td>" for at, cell in enumerate(cells))

    heads = "".join(f"<th{side(at)}>{escape(name)}</th>" for at, name in enumerate(head))
    body = "".join(f"<tr>{line(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def paragraph(text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escape(text)}</p>" if text else ""


def notes(texts: Iterable[str]) -> str:
    lines = "<br>".join(escape(text) for text in texts if text)
    return f'<p class="note">{lines}</p>' if lines else ""


def warnings(texts: Iterable[str]) -> str:
    return "".join(paragraph(f"warning: {text}", "close") for text in texts)


def chart(drawn: Callable[[], Spec]) -> str:
    """A picture in the colours of the notebook around it, or why there is none; nothing without the library for it."""
    try:
        svg = picture({**drawn(), "padding": 4}, "svg").decode()
    except MissingLibrary:
        return ""
    except CranfieldError as error:
        return f"<p>{escape(error.fact)}</p>"
    names = {LIGHT[name]: name for name in reversed(LIGHT)}
    rules = "".join(
        f'.cranfield [{part}="{colour}"] {{ {part}: var(--{names[colour]}); }}\n'
        for part, colour in sorted(set(re.findall(r' (fill|stroke)="(#[0-9a-f]{6})"', svg)))
        if colour in names
    )
    return f"<style>{rules}</style><p>{svg}</p>"


LISTED = 10  # differences in the table of a comparison
KINDS = {1: "better", 0: "close", -1: "worse"}
SIGNS = {"better": "▲ ", "worse": "▼ "}


def chart_html(spec: Spec) -> str | None:
    """A chart, in the colours of the notebook; None where the library that draws it is not installed."""
    drawn = chart(lambda: spec)
    return frame(drawn) if drawn else None


def text_html(text: str) -> str:
    return frame(f"<pre>{HtmlCell(text).html()}</pre>")


def summary_html(result: Summary) -> str:
    if isinstance(result, Evaluation) and result.basis is not None:
        return text_html(corrected.evaluations_text([result]))
    alarms = [f"warning: {warning}" for warning in result.warnings]
    about = notes([*alarms, result.describe_counts(), result.signature])
    parts = [table(["run", *map(result.heading, result)], [[result.run, *map(result.shown, result)]]), about]
    if isinstance(result, Evaluation) and len(result.query_ids) > 1:
        name, definition = next(iter(result)), result.measures[0].definition
        columns = {result.run: result.column(name).tolist()}
        lower, means = definition.lower_is_better, weighted_means([result], name)
        parts.append(chart(lambda: distribution_chart(name, columns, means=means, lower_is_better=lower)))
    return frame(*parts)


def evaluations_html(evaluations: Sequence[Evaluation]) -> str:
    if not evaluations:
        return frame(paragraph("no run"))
    if evaluations[0].basis is not None:
        return text_html(corrected.evaluations_text(evaluations))
    measures = list(evaluations[0])
    rows = [[result.run, *map(result.shown, measures)] for result in evaluations]
    columns = {result.run: result.column(measures[0]).tolist() for result in evaluations}
    lower = evaluations[0].measures[0].definition.lower_is_better
    means = weighted_means(evaluations, measures[0])
    spread = chart(lambda: distribution_chart(measures[0], columns, means=means, lower_is_better=lower))
    weighting = dict.fromkeys(f"{MARK} {result.weights.sentence}" for result in evaluations if result.weights)
    heads = [evaluations[0].heading(measure) for measure in measures]
    return frame(table(["run", *heads], rows), notes(weighting), spread)


def comparison_html(comparison: Comparison) -> str:
    if comparison.basis is not None:
        return text_html(corrected.compared_text(comparison))
    means = means_table(comparison)
    rows = [[row.run, *(f"{cell.value:.{DIGITS}f} {cell.mark}".rstrip() for cell in row.cells)] for row in means.rows]
    remarks = [*means.other_names, *means.notes, interval_text(comparison)]
    if len(comparison.differences) > LISTED:
        remarks.append(f"{len(comparison.differences) - LISTED} more differences are in .differences")
    return frame(
        warnings(comparison.warnings),
        paragraph(verdict(comparison), "headline"),
        table(["run", *means.heads], rows),
        _differences(comparison.differences[:LISTED]),
        notes(remarks),
        chart(lambda: _comparison_chart(comparison)),
    )


def _comparison_chart(comparison: Comparison) -> Spec:
    measure, values = comparison.measures[0], comparison._paired.columns[comparison.measures[0]]
    lower = measure.definition.lower_is_better
    if len(comparison.runs) > 2:
        columns = dict(zip(comparison.runs, values.T.tolist(), strict=True))
        means = weighted_means(comparison.evaluations, measure)
        return distribution_chart(measure.name, columns, means=means, lower_is_better=lower)
    first = comparison.differences[0]
    at, baseline = comparison.runs.index(first.run), comparison.runs.index(first.baseline)
    gaps = dict(zip(comparison._paired.query_ids, (values[:, at] - values[:, baseline]).tolist(), strict=True))
    mean = MeanDifference(first.difference, first.low, first.high, first.alpha) if first._of_means else None
    return difference_chart(measure.name, first.baseline, first.run, gaps, mean=mean, lower_is_better=lower)


def difference_html(difference: Difference) -> str:
    counted = f"{difference.better} better, {difference.same} the same, {difference.worse} worse"
    return frame(paragraph(difference.sentence, "headline"), _differences([difference]), notes([counted]))


def _differences(differences: Sequence[Difference]) -> str:
    one = differences[0]
    head = ["measure", "run", "against", estimate_name(one), interval_name(one), "p", "verdict"]
    rows: Rows = []
    for its in differences:
        kind = KINDS[its.direction * (-1 if its.lower_is_better else 1) if its.significant else 0]
        verdict = HtmlCell(f"{SIGNS.get(kind, '')}{its.verdict}", f"badge {kind}")
        measure = its.measure + ("" if its.primary else " (secondary)")
        rows.append([measure, its.run, its.baseline, estimate_text(its), *span_and_p(its), verdict])
    return table(head, rows, words=(0, 1, 2, 6))


def segments_html(found: SegmentComparison) -> str:
    head = ["measure", "run", "against", "segment", "queries", "difference", "interval", "p", "verdict"]
    kinds = {"significantly better": "better", "significantly worse": "worse", "no significant difference": "close"}
    rows: Rows = []
    for its in found:
        kind = kinds.get(its.verdict, "")
        p = "-" if its.adjusted is None else p_number(its.adjusted, its.alpha)
        verdict = HtmlCell(f"{SIGNS.get(kind, '')}{its.verdict}", f"badge {kind}" if kind else "")
        names = (its.measure, its.run, its.baseline, its.segment, f"{its.queries:,}")
        rows.append([*names, signed(its.difference), its.span or "-", p, verdict])
    weighting = [found.weights.sentence] if found.weights else []
    sentences = notes([*(test.sentence for test in found.interactions), *weighting])
    return frame(table(head, rows, words=(0, 1, 2, 3, 8)), sentences)


def queries_html(queries: QueryList) -> str:
    if not queries:
        return frame(paragraph("no query"))
    rows = [[query.query_id, f"{query.value:.4f}", query.reason] for query in queries]
    return frame(table(["query", queries.measure, "what happened"], rows, words=(0, 2)))


def explanation_html(explanation: Explanation) -> str:
    title = f"query {explanation.query_id}" if explanation.query_id else "ranking"
    rows: Rows = []
    for place in explanation.positions:
        gains = (f"{place.gain:g}", f"{place.gain / place.discount:.4f}")
        values = (f"{place.values[name]:.4f}" for name in explanation.measures)
        rows.append([str(place.rank), place.doc_id, grade_cell(place.grade), *gains, *values])
    head = ["rank", "document", "grade", "gain", "gain / log2(rank+1)", *explanation.measures]
    best = [(document, grade) for document, grade in explanation.ideal if grade > 0]
    ideal: Rows = [[str(at), document, grade_cell(grade)] for at, (document, grade) in enumerate(best, 1)]
    return frame(
        paragraph(title, "headline"),
        table(head, rows, words=(1,)) if rows else paragraph("nothing retrieved"),
        paragraph("the ideal ranking, relevant documents only") if ideal else "",
        table(["rank", "document", "grade"], ideal, words=(1,)) if ideal else "",
    )


def why_html(found: Why) -> str:
    from cranfield.show.why_text import compared_rows, here, listed_tools

    given = [row.measure for row in found.compared]
    reasons: Rows = [
        [" ".join(each.says), listed_tools(each), "" if not found.reasons else here(each, given)]
        for each in found.reasons or found.nearest
    ]
    fitting = f"{count(found.fitting, 'explanation')} of {found.tried:,} fit" if found.reasons else "nothing fits"
    return frame(
        paragraph("the numbers are the same" if found.agrees else fitting, "headline"),
        table([found.run, "ours", "theirs"], compared_rows(found)),
        "" if found.agrees else table(["because", "default of", "here"], reasons, words=(0, 1, 2)),
        "" if found.decided else paragraph(f"their {found.ask or 'values by query'} would decide"),
    )


def gate_html(result: GateResult) -> str:
    headline = f"{'Passed' if result.passed else 'Failed'}: {result.candidate} against {result.baseline}"
    badges = {True: HtmlCell("passed", "badge better"), False: HtmlCell("failed", "badge worse")}
    checks: Rows = [[badges[check.passed], check.name, check.message] for check in result.checks]
    seen: Rows = []
    for its in result.measures:
        counts = ((its.better, "better"), (its.same, ""), (its.worse, "worse"))
        numbers = [HtmlCell(f"{number:,}", kind) for number, kind in counts]
        values = (value_text(its.baseline, its.candidate), value_text(its.candidate, its.baseline))
        seen.append([its.measure, *values, *numbers])
    return frame(
        warnings(result.warnings),
        paragraph(headline, "headline"),
        table(["", "check", "why"], checks, words=(0, 1, 2)),
        table(["measure", result.baseline, result.candidate, "▲ better", "the same", "▼ worse"], seen),
        notes([result._counted]),
    )


def stability_html(result: Stability) -> str:
    rows = []
    for row in result.rows:
        tau = "" if row.tau is None else f"{row.tau:.3f}"
        rows.append([row.measure, f"{row.removed:.0%}", f"{row.mean:.4f}", f"{row.spread:.4f}", tau])
    head = ["measure", "removed", "mean", "spread", "tau"]
    weighting = notes([result.weights.sentence] if result.weights else [])
    return frame(table(head, rows), weighting, chart(lambda: of_stability(result)))


def reusability_html(result: Reusability) -> str:
    return text_html(reusability_text(result))


def diff_html(found: RunDiff) -> str:
    """What changed between two runs: the numbers, and the queries that changed most."""
    numbers: Rows = [[name, value, told] for name, value, told in facts(found)]
    changed: Rows = [
        [query.query_id, query.text, f"{query.overlap:.2f}", f"{query.rbo:.2f}", str(query.entered), str(query.left)]
        for query in found.changed_most
    ]
    judged = found.judged
    said = judged.difference.sentence if judged is not None and judged.difference is not None else ""
    return frame(
        warnings(found.warnings),
        paragraph(f"{found.runs[1]} vs {found.runs[0]}: {found.sentence}", "headline"),
        table(["", "", ""], numbers, words=(0, 2)),
        paragraph(said),
        table(["query", "text", "overlap", "RBO", "in", "out"], changed, words=(0, 1)) if changed else "",
        notes(f"also changed: {text}" for text in found.between),
    )


def neighbours_html(found: NeighbourRecall) -> str:
    """The recall of approximate search, and the queries that lose most."""
    worst: Rows = [[query.query_id, f"{query.recall:.2f}", ", ".join(query.missing)] for query in found.worst]
    return frame(
        warnings(found.warnings),
        paragraph(found.sentence, "headline"),
        table(["", "", ""], [[name, value, told] for name, value, told in recall_facts(found)], words=(0, 2)),
        paragraph(found.meaning),
        table(["worst queries", "recall", "not returned"], worst, words=(0, 2)) if worst else "",
    )


def frontier_html(found: Frontier) -> str:
    """The frontier as a table and a chart."""
    head, cells = spent_cells(found)
    rows: Rows = []
    for point, numbers in zip(found.points, cells, strict=True):
        on = not point.dominated_by
        standing = HtmlCell("on the frontier", "badge better") if on else HtmlCell(standing_text(point), "badge")
        rows.append([point.run, f"{point.value:.4f}", f"{point.low:.3f} to {point.high:.3f}", *numbers, standing])
    names = ["run", found.measure, "95% interval", *head, "standing"]
    return frame(
        paragraph(found.sentence, "headline"),
        table(names, rows, words=(0, len(names) - 1)),
        chart(lambda: frontier_chart(found)),
        notes([found.method]),
    )
