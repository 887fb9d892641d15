"""Means and differences by a model's grades that people correct: their tables and notes, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cranfield.comparison.conclusions import Comparison, described_method
from cranfield.comparison.differences import DIGITS, Difference, estimate_text, signed, span_text
from cranfield.evaluation.corrected import ROUGH, CorrectionBasis
from cranfield.evaluation.estimating import CorrectedParts, Estimate
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.show.comparison_markup import markdown_table
from cranfield.show.comparison_words import p_cell, within_text
from cranfield.show.escaping import latex_text, markdown_text
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, fitted, folded, warning_lines, wrapped
from cranfield.words import count

MOSTLY_JUDGED = 0.9  # of the first documents: a pool of other runs holds fewer
WEIGHED = "A difference is weighted separately, so it is not exactly the difference of the means."
FIELDS = (
    *("run", "measure", "value", "low", "high", "model", "correction", "weight"),
    *("people", "people_low", "people_high", "worth"),
)

TextRows = list[list[str]]


def _estimates(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, Estimate]]:
    return {name: {result.run: result.estimate(name) for result in evaluations} for name in evaluations[0]}


def evaluations_text(
    evaluations: Sequence[Evaluation], width: int = WIDTH, paint: Paint = UNPAINTED, *, signatures: bool = True
) -> str:
    """Corrected means and their parts, the sample they rest on, and what the model saved."""
    basis, estimates = _basis(evaluations), _estimates(evaluations)
    parts = [wrapped(title(basis), width=width)]
    parts += [fitted(_mean_rows(name, runs, basis), width, paint.strong) for name, runs in estimates.items()]
    notes = _legend(evaluations, evaluations[0].measures, _corrections(runs.values() for runs in estimates.values()))
    parts.append([paint.dim(line) for text in notes for line in wrapped(text, width=width)])
    parts.append(list(map(paint.dim, _signatures(evaluations, width))) if signatures else [])
    return "\n\n".join("\n".join(part) for part in parts if part)


def compared_text(comparison: Comparison, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """The verdicts, the corrected differences with their parts, and the means."""
    basis = _basis(comparison.evaluations)
    parts = [list(warning_lines(comparison.warnings, width, paint))]
    parts.append([line for difference in comparison for line in _verdict_lines(difference, width, paint)])
    parts.append(wrapped(f"{title(basis)}. {described_method(comparison)}.", width=width))
    for measure in comparison.measures:
        listed = comparison.of(measure)
        parts.append(fitted(_difference_rows(measure.name, listed, basis), width, paint.strong))
        margins = [within_text(difference) for difference in listed if difference.within]
        parts.append([line for text in margins for line in wrapped(text, hang=2, width=width)])
    parts += [fitted(_mean_rows(name, runs, basis), width, paint.strong) for name, runs in comparison.estimates.items()]
    notes = [WEIGHED, *_compared_legend(comparison)]
    parts.append([line for text in notes for line in wrapped(text, width=width)])
    parts.append(list(_signatures(comparison.evaluations, width)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def evaluations_markup(evaluations: Sequence[Evaluation], form: str) -> str:
    """A table of Markdown or LaTeX for each measure, below a title that says who corrects which model."""
    basis, estimates = _basis(evaluations), _estimates(evaluations)
    tables = [_mean_rows(name, runs, basis) for name, runs in estimates.items()]
    notes = [*_legend(evaluations, evaluations[0].measures, _corrections(runs.values() for runs in estimates.values()))]
    return _MARKUP[form]([f"{title(basis)}."], tables, notes)


def compared_markup(comparison: Comparison, form: str) -> str:
    """The verdicts, then tables of the differences and of the means."""
    basis = _basis(comparison.evaluations)
    tables = [_difference_rows(measure.name, comparison.of(measure), basis) for measure in comparison.measures]
    tables += [_mean_rows(name, runs, basis) for name, runs in comparison.estimates.items()]
    notes = [WEIGHED, *_compared_legend(comparison)]
    sentences = [f"Warning: {text}." for text in comparison.warnings]
    sentences += [difference.sentence for difference in comparison]
    return _MARKUP[form]([*sentences, f"{title(basis)}. {described_method(comparison)}."], tables, notes)


def value_rows(evaluations: Sequence[Evaluation]) -> Iterator[dict[str, Any]]:
    """For programs: a row for each run and measure."""
    for result in evaluations:
        for name in result:
            estimate = result.estimate(name)
            known = {"run": result.run, "measure": name}
            yield known | {
                field: getattr(estimate if field in ("value", "low", "high") else estimate.corrected, field)
                for field in FIELDS[2:]
            }


def title(basis: CorrectionBasis) -> str:
    return f"{basis.sentence}, drawn at random (seed {basis.seed})"


def _basis(evaluations: Sequence[Evaluation]) -> CorrectionBasis:
    basis = evaluations[0].basis
    assert basis is not None
    return basis


def _corrections(groups: Iterable[Iterable[Estimate] | Iterable[Difference]]) -> list[CorrectedParts]:
    return [part.corrected for group in groups for part in group if part.corrected is not None]


def _mean_rows(name: str, runs: dict[str, Estimate], basis: CorrectionBasis) -> TextRows:
    rows = [[name, "corrected", f"by {basis.model}", "correction", "weight", "people alone", "worth"]]
    for run, estimate in runs.items():
        model, *parts = _parts(estimate.corrected, 4)
        rows.append([run, f"{estimate.value:.4f} ± {estimate.margin:.4f}", model, *parts])
    return rows


def _difference_rows(name: str, listed: Sequence[Difference], basis: CorrectionBasis) -> TextRows:
    level = f"{100 * (1 - listed[0].alpha):g}% interval"
    rows = [[name, "corrected", level, "p", f"by {basis.model}", "correction", "weight", "people alone", "worth"]]
    for pair in listed:
        ends = [estimate_text(pair), span_text(pair), p_cell(pair)]
        rows.append([f"{pair.run} - {pair.baseline}", *ends, *_parts(pair.corrected, DIGITS, signed)])
    return rows


def _unsigned(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


def _parts(correction: CorrectedParts | None, digits: int, shown: Callable[[float, int], str] = _unsigned) -> list[str]:
    """The cells of model, correction, weight, people alone and worth."""
    assert correction is not None
    half = (correction.people_high - correction.people_low) / 2
    return [
        shown(correction.model, digits),
        signed(correction.correction, digits),
        f"{correction.weight:.2f}",
        f"{shown(correction.people, digits)} ± {half:.{digits}f}",
        "-" if correction.worth is None else f"{correction.worth:,}",
    ]


def _verdict_lines(difference: Difference, width: int, paint: Paint) -> list[str]:
    """The verdict on a pair, its first words in their colour."""
    first, *more = wrapped(difference.sentence, hang=2, width=width)
    lead = f"{difference.headline}:"
    return [paint.verdict(difference.verdict, lead) + first.removeprefix(lead), *more]


def _legend(
    evaluations: Sequence[Evaluation],
    measures: Sequence[Measure],
    corrections: Sequence[CorrectedParts],
    alpha: float = 0.05,
) -> Iterator[str]:
    """What the columns mean, what the model saved, and what to beware of."""
    basis = _basis(evaluations)
    yield (
        f"± {100 * (1 - alpha):g}% intervals for the mean over all queries, of which these are a sample; they rest on "
        "the random sample, not on the model. Worth: how many queries people alone would have to judge for as narrow "
        f"an interval; they judged {basis.sampled}. {_saved_text(basis, corrections)}"
    )
    # Documents that neither people nor the model judged: no correction makes up for that.
    depths = {Scope.of(measure).cutoff: measure for measure in measures if Scope.of(measure).one_depth}
    for depth, measure in depths.items():
        shares = {result.run: result.facts(measure).judged_share() for result in evaluations}
        few = {run: share for run, share in shares.items() if share is not None and share < MOSTLY_JUDGED}
        if few and depth is not None:
            judged = ", ".join(f"{run} {share:.0%}" for run, share in few.items())
            yield (
                f"Judged of the first {depth}: {judged}. The other documents count as not relevant, for people as for "
                f"{basis.model}, and no interval allows for that: pool these runs too, and judge what is new."
            )
    if basis.sampled < ROUGH:
        yield (
            f"With fewer than {ROUGH} sampled queries, intervals can be too narrow if {basis.model} is far off on rare "
            "queries only: sample more if you can."
        )
    if basis.missing:
        share = basis.missing / basis.pooled
        yield (
            f"{basis.model} has no grade for {basis.missing:,} of {basis.pooled:,} documents ({share:.1%}); they count "
            "as unjudged on its side."
        )
    if basis.not_judged:
        yield f"People could not judge {count(basis.not_judged, 'document')} of the sampled queries."
    if basis.unused:
        outside = count(basis.unused, "query", "queries")
        yield f"People also judged {outside} outside the sample; these are not used, because they were not drawn."


def _compared_legend(comparison: Comparison) -> Iterator[str]:
    return _legend(comparison.evaluations, comparison.measures, _corrections([comparison]), comparison.alpha)


def _saved_text(basis: CorrectionBasis, corrections: Sequence[CorrectedParts]) -> str:
    """What the model saved, or that it saved nothing."""
    more = [part.worth - basis.sampled for part in corrections if part.worth is not None]
    if not more or max(more) <= 0:
        return f"{basis.model} saved nothing here."
    most = count(max(more), "query", "queries")
    if min(more) <= 0:
        return f"{basis.model} saved up to {most}, and nothing where worth is not larger."
    queries = f"{min(more):,} to {max(more):,} queries" if min(more) < max(more) else most
    return f"{basis.model} saved people about {queries.replace(' q', ' more q')}."


def _signatures(evaluations: Sequence[Evaluation], width: int) -> Iterator[str]:
    """The shared part of the signatures, then the part of each run."""
    signatures = [result.signature.split("|") for result in evaluations]
    shared = [part for part in signatures[0] if all(part in other for other in signatures)]
    yield from folded("|".join(shared), "|", width)
    for result, parts in zip(evaluations, signatures, strict=True):
        own = [part for part in parts if part not in shared]
        if own:
            yield from wrapped(f"{result.run}: {'|'.join(own)}", hang=2, width=width)


def _markdown(sentences: Sequence[str], tables: Sequence[TextRows], notes: Sequence[str]) -> str:
    blocks = [markdown_text(text) for text in sentences]
    for head, *rows in tables:
        escaped = [[markdown_text(cell) for cell in row] for row in rows]
        blocks.append("\n".join(markdown_table([markdown_text(cell) for cell in head], escaped)))
    return "\n\n".join([*blocks, *map(markdown_text, notes)])


def _latex(sentences: Sequence[str], tables: Sequence[TextRows], notes: Sequence[str]) -> str:
    """Tables for the package booktabs; everything else is in comments."""

    def escaped(text: str) -> str:
        return latex_text(text).replace("±", r"$\pm$")

    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(escaped, cells)) + r" \\"

    lines = [r"% needs \usepackage{booktabs}", *(f"% {escaped(text)}" for text in sentences)]
    for head, *rows in tables:
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", line(head), r"\midrule"]
        lines += [*map(line, rows), r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join([*lines[:-1], *(f"% {escaped(text)}" for text in notes)])


_MARKUP = {"markdown": _markdown, "latex": _latex}
