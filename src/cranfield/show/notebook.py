"""Results as notebooks show them: what they say, tables, and a chart where the libraries for it are installed."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.corrected import CorrectedEvaluation
from cranfield.comparison.corrected_pairs import CorrectedComparison
from cranfield.comparison.differences import Difference, signed
from cranfield.comparison.gating import GateResult
from cranfield.comparison.means import means_table
from cranfield.comparison.reuse import Reusability
from cranfield.comparison.thinning import Stability
from cranfield.evaluation.explaining import Explanation
from cranfield.evaluation.query_facts import QueryList
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.summary import Summary
from cranfield.layout import count
from cranfield.show.cells import HtmlCell, chart, frame, grade_cell, notes, paragraph, table
from cranfield.show.charts.difference import MeanDifference, difference_chart
from cranfield.show.charts.distribution import distribution_chart
from cranfield.show.charts.drawing import Spec
from cranfield.show.charts.stability import of_stability
from cranfield.show.comparison_words import interval_text, span_and_p, verdict
from cranfield.show.corrected_text import corrected_comparison_text, corrected_text
from cranfield.show.reusability_text import reusability_text

LISTED = 10  # differences in the table of a comparison
KINDS = {1: "better", 0: "close", -1: "worse"}
SIGNS = {"better": "▲ ", "worse": "▼ "}


def chart_html(spec: Spec) -> str | None:
    """A chart, in the colours of the notebook; None where the library that draws it is not installed."""
    drawn = chart(lambda: spec)
    return frame(drawn) if drawn else None


def text_html(text: str) -> str:
    """A result whose text says it all."""
    return frame(f"<pre>{HtmlCell(text).html()}</pre>")


def summary_html(result: Summary) -> str:
    """The means of one run; of an evaluation with values of queries, how the first measure is spread over them."""
    parts = [table(["run", *result], [[result.run, *map(result.shown, result)]]), _about(result)]
    if isinstance(result, Evaluation) and len(result.query_ids) > 1:
        name, definition = next(iter(result)), result.measures[0].definition
        columns = {result.run: result.column(name).tolist()}
        lower = definition.lower_is_better
        parts.append(chart(lambda: distribution_chart(name, columns, lower_is_better=lower)))
    return frame(*parts)


def _about(result: Summary) -> str:
    alarms = [f"warning: {warning}" for warning in result.warnings]
    return notes([*alarms, result.describe_counts(), result.signature])


def evaluations_html(evaluations: Sequence[Evaluation]) -> str:
    """The means of several runs, and how the first measure is spread over the queries of each."""
    if not evaluations:
        return frame(paragraph("no run"))
    measures = list(evaluations[0])
    rows = [[each.run, *(each.shown(name) for name in measures)] for each in evaluations]
    columns = {each.run: each.column(measures[0]).tolist() for each in evaluations}
    lower = evaluations[0].measures[0].definition.lower_is_better
    spread = chart(lambda: distribution_chart(measures[0], columns, lower_is_better=lower))
    return frame(table(["run", *measures], rows), spread)


def comparison_html(comparison: Comparison) -> str:
    """The verdict, the means with their marks, the differences, and a chart: two runs by query, several as spreads."""
    means = means_table(comparison)
    rows = [[row.run, *(f"{cell.value:.4f} {cell.mark}".rstrip() for cell in row.cells)] for row in means.rows]
    said = [*means.notes, interval_text(comparison)]
    if len(comparison.differences) > LISTED:
        said.append(f"{len(comparison.differences) - LISTED} more differences are in .differences")
    return frame(
        paragraph(verdict(comparison), "said"),
        table(["run", *means.measures], rows),
        _differences(comparison.differences[:LISTED]),
        notes(said),
        chart(lambda: _comparison_chart(comparison)),
    )


def _comparison_chart(comparison: Comparison) -> Spec:
    measure, values = comparison.measures[0], comparison._paired.columns[comparison.measures[0]]
    lower = measure.definition.lower_is_better
    if len(comparison.runs) > 2:
        columns = dict(zip(comparison.runs, values.T.tolist(), strict=True))
        return distribution_chart(measure.name, columns, lower_is_better=lower)
    found = comparison.differences[0]
    at, baseline = comparison.runs.index(found.run), comparison.runs.index(found.baseline)
    gaps = dict(zip(comparison._paired.query_ids, (values[:, at] - values[:, baseline]).tolist(), strict=True))
    mean = MeanDifference(found.difference, found.low, found.high, found.alpha) if found.of == "mean" else None
    return difference_chart(measure.name, found.baseline, found.run, gaps, mean=mean, lower_is_better=lower)


def difference_html(difference: Difference) -> str:
    """What follows from a difference, and its numbers."""
    counted = f"{difference.better} better, {difference.same} the same, {difference.worse} worse"
    return frame(paragraph(difference.sentence, "said"), _differences([difference]), notes([counted]))


def _differences(found: Sequence[Difference]) -> str:
    head = ["measure", "run", "against", "difference", "interval", "p", "verdict"]
    rows: list[list[str | HtmlCell]] = [
        [
            each.measure + ("" if each.primary else " (secondary)"),
            each.run,
            each.baseline,
            signed(each.estimate),
            *span_and_p(each),
            _verdict(each),
        ]
        for each in found
    ]
    return table(head, rows, words=(0, 1, 2, 6))


def _verdict(difference: Difference) -> HtmlCell:
    way = difference.direction * (-1 if difference.lower_is_better else 1) if difference.significant else 0
    kind = KINDS[way]
    return HtmlCell(f"{SIGNS.get(kind, '')}{difference.verdict}", f"badge {kind}")


def queries_html(queries: QueryList) -> str:
    """Queries with their values and what happened."""
    if not queries:
        return frame(paragraph("no query"))
    rows = [[each.query_id, f"{each.value:.4f}", each.reason] for each in queries]
    return frame(table(["query", queries.measure, "what happened"], rows, words=(0, 2)))


def explanation_html(explanation: Explanation) -> str:
    """A ranking rank by rank, with each measure down to there, and the ideal ranking below it."""
    title = f"query {explanation.query_id}" if explanation.query_id else "ranking"
    rows: list[list[str | HtmlCell]] = [
        [
            str(each.rank),
            each.doc_id,
            grade_cell(each.grade),
            f"{each.gain:g}",
            f"{each.gain / each.discount:.4f}",
            *(f"{each.values[name]:.4f}" for name in explanation.measures),
        ]
        for each in explanation.positions
    ]
    head = ["rank", "document", "grade", "gain", "gain / log2(rank+1)", *explanation.measures]
    best = [(document, grade) for document, grade in explanation.ideal if grade > 0]
    ideal: list[list[str | HtmlCell]] = [
        [str(at), document, grade_cell(grade)] for at, (document, grade) in enumerate(best, 1)
    ]
    return frame(
        paragraph(title, "said"),
        table(head, rows, words=(1,)) if rows else paragraph("nothing retrieved"),
        paragraph("the ideal ranking, relevant documents only") if ideal else "",
        table(["rank", "document", "grade"], ideal, words=(1,)) if ideal else "",
    )


def gate_html(result: GateResult) -> str:
    """Whether a change passes, and each check."""
    said = f"{'Passed' if result.passed else 'Failed'}: {result.candidate} against {result.baseline}"
    checks: list[list[str | HtmlCell]] = [
        [
            HtmlCell("passed", "badge better") if each.passed else HtmlCell("failed", "badge worse"),
            each.name,
            each.message,
        ]
        for each in result.checks
    ]
    seen: list[list[str | HtmlCell]] = [
        [
            each.measure,
            f"{each.baseline:.4f}",
            f"{each.candidate:.4f}",
            *(
                HtmlCell(f"{number:,}", kind)
                for number, kind in ((each.better, "better"), (each.same, ""), (each.worse, "worse"))
            ),
        ]
        for each in result.measures
    ]
    return frame(
        paragraph(said, "said"),
        table(["", "check", "why"], checks, words=(0, 1, 2)),
        table(["measure", result.baseline, result.candidate, "▲ better", "the same", "▼ worse"], seen),
        notes([count(result.queries, "query", "queries")]),
    )


def stability_html(found: Stability) -> str:
    """The measures as judgments are removed."""
    rows: list[list[str | HtmlCell]] = [
        [row.measure, f"{row.removed:.0%}", f"{row.mean:.4f}", f"{row.spread:.4f}", _correlation(row.tau)]
        for row in found.rows
    ]
    head = ["measure", "removed", "mean", "spread", "tau"]
    return frame(table(head, rows), chart(lambda: of_stability(found)))


def reusability_html(found: Reusability) -> str:
    """What becomes of runs that were left out of the pool."""
    return text_html(reusability_text(found))


def corrected_html(found: CorrectedEvaluation) -> str:
    """Means by a model's grades that people's grades correct."""
    return text_html(corrected_text(found))


def corrected_comparison_html(found: CorrectedComparison) -> str:
    """Runs compared by such means."""
    return text_html(corrected_comparison_text(found))


def _correlation(tau: float | None) -> str:
    return "" if tau is None else f"{tau:.3f}"
