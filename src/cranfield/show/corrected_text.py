"""Corrected evaluations and comparisons as text at 80 columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cranfield.comparison.corrected import ROUGH, CorrectedEvaluation, CorrectedValue, CorrectionBasis
from cranfield.comparison.corrected_pairs import CorrectedComparison, CorrectedDifference
from cranfield.comparison.correcting import FEW
from cranfield.comparison.corrections import CORRECTIONS
from cranfield.comparison.differences import Difference, signed, span_text
from cranfield.layout import UNPAINTED, WIDTH, Paint, Style, count, fitted, folded, wrapped
from cranfield.measures.scope import Scope
from cranfield.show.comparison_words import p_cell, within_text
from cranfield.show.data import separated_rows

_MOSTLY_JUDGED = 0.9  # of the first documents: a pool of other runs holds fewer
VALUE_FIELDS = (
    *("value", "low", "high", "model", "correction", "weight"),
    *("people", "people_low", "people_high", "worth", "differing"),
)


def corrected_text(
    found: CorrectedEvaluation, width: int = WIDTH, paint: Paint = UNPAINTED, *, signatures: bool = True
) -> str:
    """Corrected means with what they are made of, what they rest on, and what the model saved."""
    parts = [wrapped(_title(found.basis), width=width)]
    for measure in found.measures:
        values = {run: found.values[run][measure.name] for run in found.runs}
        parts.append(_table(measure.name, values, found.basis, width, paint.strong))
    everything = [found.values[run][measure.name] for run in found.runs for measure in found.measures]
    parts.append(list(map(paint.dim, _legend(found, everything, width))))
    parts.append(list(map(paint.dim, _signatures(found, width))) if signatures else [])
    return "\n\n".join("\n".join(part) for part in parts if part)


def corrected_comparison_text(found: CorrectedComparison, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """The verdicts, the corrected differences with what they are made of, and the means."""
    evaluation = found.evaluation
    parts = [[line for each in found for line in _verdict_lines(each.difference, width, paint)]]
    parts.append(wrapped(f"{_title(evaluation.basis)}. {_method(found)}.", width=width))
    for measure in evaluation.measures:
        listed = found.of(measure)
        parts.append(_differences(measure.name, listed, evaluation, width, paint.strong))
        told = [within_text(each.difference) for each in listed if each.difference.within]
        parts.append([line for each in told for line in wrapped(each, hang=2, width=width)])
    parts += [
        _table(
            measure.name,
            {run: evaluation.values[run][measure.name] for run in evaluation.runs},
            evaluation.basis,
            width,
            paint.strong,
        )
        for measure in evaluation.measures
    ]
    note = "A difference is weighted separately, so it is not exactly the difference of the means."
    parts.append([*wrapped(note, width=width), *_legend(evaluation, [each.value for each in found], width)])
    parts.append(list(_signatures(evaluation, width)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _verdict_lines(difference: Difference, width: int, paint: Paint) -> list[str]:
    """The verdict on a pair, its first words in the colour of what they say."""
    first, *more = wrapped(difference.sentence, hang=2, width=width)
    lead = f"{difference.headline}:"
    return [paint.verdict(difference.verdict, lead) + first.removeprefix(lead), *more]


def corrected_data(found: CorrectedEvaluation, form: str) -> Iterator[str]:
    """For programs: everything as JSON, or as csv, tsv or jsonl a row for each run and measure."""
    if form == "json":
        yield found.to_json()
        return
    names = ("run", "measure", *VALUE_FIELDS)
    rows = [
        (run, name, *(getattr(value, each) for each in VALUE_FIELDS))
        for run in found.runs
        for name, value in found.values[run].items()
    ]
    if form == "jsonl":
        yield from (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)
    else:
        yield from separated_rows(names, rows, "," if form == "csv" else "\t")


def basis_sentence(basis: CorrectionBasis) -> str:
    """Whose grades are corrected by whom, on what."""
    return f"{basis.model} corrected by {_people(basis)} on {basis.sampled} of {basis.queries} queries"


def _title(basis: CorrectionBasis) -> str:
    return f"{basis_sentence(basis)}, drawn at random (seed {basis.seed})"


def _people(basis: CorrectionBasis) -> str:
    return "people" if set(basis.people) == {"person", "imported"} else ", ".join(basis.people)


def _differences(
    name: str, listed: Sequence[CorrectedDifference], found: CorrectedEvaluation, width: int, style: Style | None
) -> list[str]:
    level = f"{100 * (1 - found.alpha):g}% interval"
    rows = [[name, "corrected", level, "p", f"by {found.basis.model}", "correction", "weight", "people alone", "worth"]]
    for each in listed:
        value, pair = each.value, each.difference
        rows.append(
            [
                f"{pair.run} - {pair.baseline}",
                signed(pair.estimate),
                span_text(pair),
                p_cell(pair),
                signed(value.model),
                signed(value.correction),
                f"{value.weight:.2f}",
                f"{signed(value.people)} ± {(value.people_high - value.people_low) / 2:.4f}",
                _worth(value),
            ]
        )
    return fitted(rows, width, style)


def _worth(value: CorrectedValue) -> str:
    return "-" if value.worth is None else f"{value.worth:,}"


def _table(
    name: str, values: dict[str, CorrectedValue], basis: CorrectionBasis, width: int, style: Style | None
) -> list[str]:
    rows = [[name, "corrected", f"by {basis.model}", "correction", "weight", "people alone", "worth"]]
    for label, each in values.items():
        half, people_half = (each.high - each.low) / 2, (each.people_high - each.people_low) / 2
        rows.append(
            [
                label,
                f"{each.value:.4f} ± {half:.4f}",
                f"{each.model:.4f}",
                signed(each.correction),
                f"{each.weight:.2f}",
                f"{each.people:.4f} ± {people_half:.4f}",
                _worth(each),
            ]
        )
    return fitted(rows, width, style)


def _method(found: CorrectedComparison) -> str:
    pairs = len(found.of(found.evaluation.measures[0]))
    if pairs == 1:
        return "t-test of the corrected difference, two-sided; one comparison"
    title = CORRECTIONS[found.correction].title
    said = f"no correction for {pairs} comparisons" if found.correction == "none" else f"{title} over {pairs} pairs"
    return f"t-test of the corrected differences, two-sided; {said}"


def _legend(found: CorrectedEvaluation, values: Sequence[CorrectedValue], width: int) -> Iterator[str]:
    basis, level = found.basis, f"{100 * (1 - found.alpha):g}%"
    yield from wrapped(
        f"± {level} intervals for the mean over all queries, of which these are a sample; they rest on the random "
        "sample, not on the model. Worth: how many queries people alone would have to judge for as narrow an interval; "
        f"they judged {basis.sampled}. {told_worth(basis, values)}",
        width=width,
    )
    fewest = min(each.differing for each in values)
    if fewest < FEW:
        yield from wrapped(
            f"Some values of people and {basis.model} differ on {fewest} of the {basis.sampled} sampled queries only; "
            "their intervals are wider, to allow for what the sample does not show.",
            width=width,
        )
    for note in (*_outside_notes(found), *_notes(basis)):
        yield from wrapped(note, width=width)


def _outside_notes(found: CorrectedEvaluation) -> Iterator[str]:
    """Runs that return much that neither people nor the model judged: no correction makes up for that."""
    depths = {Scope.of(measure).cutoff: measure for measure in found.measures if Scope.of(measure).one_depth}
    for depth, measure in depths.items():
        shares = {run: found.judged_share(run, measure) for run in found.runs}
        few = {run: share for run, share in shares.items() if share is not None and share < _MOSTLY_JUDGED}
        if few and depth is not None:
            told = ", ".join(f"{run} {share:.0%}" for run, share in few.items())
            yield (
                f"Judged of the first {depth}: {told}. The other documents count as not relevant, for people as for "
                f"{found.basis.model}, and no interval allows for that: pool these runs too, and judge what is new."
            )


def told_worth(basis: CorrectionBasis, values: Sequence[CorrectedValue]) -> str:
    """What the model saved, or that it saved nothing."""
    worth = [each.worth for each in values if each.worth is not None]
    more = [each - basis.sampled for each in worth]
    if not more or max(more) <= 0:
        return f"{basis.model} saved nothing here."
    if min(more) <= 0:
        return (
            f"{basis.model} saved up to {count(max(more), 'query', 'queries')}, and nothing where worth is not larger."
        )
    told = f"{min(more):,} to {max(more):,} queries" if min(more) < max(more) else count(max(more), "query", "queries")
    return f"{basis.model} saved people about {told.replace(' q', ' more q')}."


def _notes(basis: CorrectionBasis) -> Iterator[str]:
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


def _signatures(found: CorrectedEvaluation, width: int) -> Iterator[str]:
    """What all runs share, then what is of each."""
    signatures = [each.signature.split("|") for each in found._by_model]
    shared = [part for part in signatures[0] if all(part in each for each in signatures)]
    known = set(found.basis.signature.split("|"))  # the provenance of the model's view says some of it again
    yield from folded("|".join([found.basis.signature, *(part for part in shared if part not in known)]), "|", width)
    for run, parts in zip(found.runs, signatures, strict=True):
        own = [part for part in parts if part not in shared]
        if own:
            yield from wrapped(f"{run}: {'|'.join(own)}", hang=2, width=width)
