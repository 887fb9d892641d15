"""Corrected evaluations and comparisons as text at 80 columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cranfield.comparison.corrected import CorrectedEvaluation, CorrectedValue
from cranfield.comparison.corrected_pairs import CorrectedComparison
from cranfield.comparison.differences import Difference
from cranfield.show import corrected_words as words
from cranfield.show.comparison_words import within_text
from cranfield.show.evaluation_markup import separated_rows
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, fitted, folded, wrapped

VALUE_FIELDS = (
    *("value", "low", "high", "model", "correction", "weight"),
    *("people", "people_low", "people_high", "worth"),
)


def corrected_text(
    found: CorrectedEvaluation, width: int = WIDTH, paint: Paint = UNPAINTED, *, signatures: bool = True
) -> str:
    """Corrected means and their parts, the sample they rest on, and what the model saved."""
    parts = [wrapped(words.title(found.basis), width=width)]
    parts += [fitted(words.value_rows(measure, found), width, paint.strong) for measure in found.measures]
    everything = [found.values[run][measure.name] for run in found.runs for measure in found.measures]
    parts.append(list(map(paint.dim, _legend(found, everything, width))))
    parts.append(list(map(paint.dim, _signatures(found, width))) if signatures else [])
    return "\n\n".join("\n".join(part) for part in parts if part)


def corrected_comparison_text(found: CorrectedComparison, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """The verdicts, the corrected differences with their parts, and the means."""
    evaluation = found.evaluation
    parts = [[line for each in found for line in _verdict_lines(each.difference, width, paint)]]
    parts.append(wrapped(f"{words.title(evaluation.basis)}. {words.method(found)}.", width=width))
    for measure in evaluation.measures:
        listed = found.of(measure)
        parts.append(fitted(words.difference_rows(measure.name, listed, evaluation), width, paint.strong))
        margins = [within_text(each.difference) for each in listed if each.difference.within]
        parts.append([line for each in margins for line in wrapped(each, hang=2, width=width)])
    parts += [fitted(words.value_rows(measure, evaluation), width, paint.strong) for measure in evaluation.measures]
    parts.append([*wrapped(words.WEIGHED, width=width), *_legend(evaluation, [each.value for each in found], width)])
    parts.append(list(_signatures(evaluation, width)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _verdict_lines(difference: Difference, width: int, paint: Paint) -> list[str]:
    """The verdict on a pair, its first words in their colour."""
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


def _legend(found: CorrectedEvaluation, values: Sequence[CorrectedValue], width: int) -> list[str]:
    return [line for text in words.legend(found, values) for line in wrapped(text, width=width)]


def _signatures(found: CorrectedEvaluation, width: int) -> Iterator[str]:
    """The shared part of the signatures, then the part of each run."""
    signatures = [each.signature.split("|") for each in found._by_model]
    shared = [part for part in signatures[0] if all(part in each for each in signatures)]
    known = set(found.basis.signature.split("|"))  # the provenance of the model's view repeats some of it
    yield from folded("|".join([found.basis.signature, *(part for part in shared if part not in known)]), "|", width)
    for run, parts in zip(found.runs, signatures, strict=True):
        own = [part for part in parts if part not in shared]
        if own:
            yield from wrapped(f"{run}: {'|'.join(own)}", hang=2, width=width)
