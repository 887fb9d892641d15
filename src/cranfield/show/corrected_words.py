"""The words for corrected values in every format: titles, cells of tables, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.comparison.corrected import ROUGH, CorrectedEvaluation, CorrectedValue, CorrectionBasis
from cranfield.comparison.corrected_pairs import CorrectedComparison, CorrectedDifference
from cranfield.comparison.differences import signed, span_text
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.show.comparison_words import p_cell
from cranfield.words import count

_MOSTLY_JUDGED = 0.9  # of the first documents: a pool of other runs holds fewer
WEIGHED = "A difference is weighted separately, so it is not exactly the difference of the means."


def basis_sentence(basis: CorrectionBasis) -> str:
    """Whose grades are corrected by whom, on what."""
    return f"{basis.model} corrected by {_people(basis)} on {basis.sampled} of {basis.queries} queries"


def title(basis: CorrectionBasis) -> str:
    """The same, with how the queries were drawn."""
    return f"{basis_sentence(basis)}, drawn at random (seed {basis.seed})"


def _people(basis: CorrectionBasis) -> str:
    return "people" if set(basis.people) == {"person", "imported"} else ", ".join(basis.people)


def method(found: CorrectedComparison) -> str:
    """The test of differences, and how p is corrected for their number."""
    pairs = len(found.of(found.evaluation.measures[0]))
    if pairs == 1:
        return "t-test of the corrected difference, two-sided; one comparison"
    title = CORRECTIONS[found.correction].title
    correction = (
        f"no correction for {pairs} comparisons" if found.correction == "none" else f"{title} over {pairs} pairs"
    )
    return f"t-test of the corrected differences, two-sided; {correction}"


def value_rows(measure: Measure, found: CorrectedEvaluation) -> list[list[str]]:
    """A head and a row for each run, with the parts of its value."""
    name, basis = measure.name, found.basis
    values = {run: found.values[run][name] for run in found.runs}
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
    return rows


def difference_rows(name: str, listed: Sequence[CorrectedDifference], found: CorrectedEvaluation) -> list[list[str]]:
    """A head and a row for each difference, with its parts."""
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
    return rows


def _worth(value: CorrectedValue) -> str:
    return "-" if value.worth is None else f"{value.worth:,}"


def legend(found: CorrectedEvaluation, values: Sequence[CorrectedValue]) -> Iterator[str]:
    """What the columns mean, what the model saved, and what to beware of."""
    basis, level = found.basis, f"{100 * (1 - found.alpha):g}%"
    yield (
        f"± {level} intervals for the mean over all queries, of which these are a sample; they rest on the random "
        "sample, not on the model. Worth: how many queries people alone would have to judge for as narrow an interval; "
        f"they judged {basis.sampled}. {_saved_text(basis, values)}"
    )
    yield from _outside_notes(found)
    yield from _notes(basis)


def _outside_notes(found: CorrectedEvaluation) -> Iterator[str]:
    """Runs that return many documents that neither people nor the model judged: no correction makes up for that."""
    depths = {Scope.of(measure).cutoff: measure for measure in found.measures if Scope.of(measure).one_depth}
    for depth, measure in depths.items():
        shares = {run: found.judged_share(run, measure) for run in found.runs}
        few = {run: share for run, share in shares.items() if share is not None and share < _MOSTLY_JUDGED}
        if few and depth is not None:
            judged = ", ".join(f"{run} {share:.0%}" for run, share in few.items())
            yield (
                f"Judged of the first {depth}: {judged}. The other documents count as not relevant, for people as for "
                f"{found.basis.model}, and no interval allows for that: pool these runs too, and judge what is new."
            )


def _saved_text(basis: CorrectionBasis, values: Sequence[CorrectedValue]) -> str:
    """What the model saved, or that it saved nothing."""
    worth = [each.worth for each in values if each.worth is not None]
    more = [each - basis.sampled for each in worth]
    if not more or max(more) <= 0:
        return f"{basis.model} saved nothing here."
    if min(more) <= 0:
        return (
            f"{basis.model} saved up to {count(max(more), 'query', 'queries')}, and nothing where worth is not larger."
        )
    queries = (
        f"{min(more):,} to {max(more):,} queries" if min(more) < max(more) else count(max(more), "query", "queries")
    )
    return f"{basis.model} saved people about {queries.replace(' q', ' more q')}."


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
