"""Comparisons as text at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import UNDECIDED, Difference, signed
from cranfield.comparison.means import MeansTable, means_table
from cranfield.comparison.pairing import judged_beside
from cranfield.comparison.power import USUAL
from cranfield.comparison.reliability import Reliability
from cranfield.comparison.unjudged import estimates_unjudged
from cranfield.layout import WIDTH, columns, cut, fitted, padded, shortened, wrapped
from cranfield.measures import known_measure
from cranfield.show.comparison_words import (
    basis_text,
    effect_cell,
    interval_text,
    p_cell,
    share_text,
    verdict,
    within_text,
)

FEW = 3  # pairs of runs for which details are shown
MANY = 15  # pairs of runs from which on they are ranked instead of listed
LISTED = 3  # queries that changed most, for each of them
NAME = 24  # columns for the names of a pair; longer ones have a line of their own


def comparison_text(comparison: Comparison, reliability: Reliability, *, pairs: bool = False) -> str:
    """The whole comparison and how far it reaches, as plain text; with `pairs`, all pairs of many runs too."""
    ranked = comparison.baseline is None and comparison.pairs > MANY
    parts = ["\n".join(wrapped(verdict(comparison)))]
    if ranked:
        parts += ["\n".join(_ranking_lines(comparison, measure.name)) for measure in comparison.measures]
    else:
        parts.append("\n".join(_means_lines(means_table(comparison))))
    parts.append("\n".join(wrapped(basis_text(comparison))))
    if not ranked or pairs:
        parts += [_differences_part(comparison, measure.name) for measure in comparison.measures]
        parts.append("\n".join(_legend(comparison)))
    else:
        parts.append("\n".join(_ranking_legend(comparison)))
        parts.append(f"All {comparison.pairs:,} pairs: --pairs")
    if comparison.pairs <= FEW:
        parts.append("\n".join(_changed_lines(comparison)))
    parts.append("\n".join(_power_lines(comparison, reliability)))
    if len(comparison.runs) > 2:
        parts.append("\n".join(_measures_lines(comparison, reliability)))
    return "\n\n".join(part for part in parts if part)


def _ranking_lines(comparison: Comparison, measure: str) -> list[str]:
    """Many runs, the best first: how far each is behind it, and which ranks it may truly have."""
    order, ranks = comparison.best_first(measure), comparison.rank_intervals(measure)
    best = order[0]
    width = min(max(len("run"), *map(len, order)), 30)
    head = f"rank, {_level(comparison)}" if comparison.differences[0].together else "rank"
    lines = [f"{'#':>3}  {'run':<{width}}  {measure:>10}  {'vs best':>8}  {'p':>7}  {head:>10}"]
    for place, run in enumerate(order, 1):
        gap, p = "", ""
        if run != best:
            pair = comparison.between(measure, run, best)
            sign = 1 if pair.run == run else -1
            gap, p = signed(sign * pair.difference), p_cell(pair)
        low, high = ranks[run]
        value = comparison.means[measure][run]
        lines.append(
            f"{place:>3}  {shortened(run, width):<{width}}  {value:>10.4f}  {gap:>8}  {p:>7}  {f'{low} to {high}':>10}"
        )
    return lines


def _ranking_legend(comparison: Comparison) -> list[str]:
    corrected = "p is corrected for the family" if comparison.correction != "none" else "p is not corrected"
    said = "Ranks: from the runs that are significantly better to those that are significantly worse"
    if comparison.differences[0].together:
        said = f"Ranks: all true ranks lie within these at once with {_level(comparison)} confidence"
    return wrapped(f"{corrected}. {said}.")


def _level(comparison: Comparison) -> str:
    return f"{100 * (1 - comparison.alpha):g}%"


def _means_lines(table: MeansTable) -> list[str]:
    """Runs by measures; where that is too wide, one block below the other."""
    rows = [["run", *table.measures, *table.judged]]
    for row in table.rows:
        # Numbers stand under one another, and marks to the right of them.
        marked = (f"{cell.value:.4f} {cell.mark}".rstrip() for cell in row.cells)
        rows.append([row.run, *marked, *map(share_text, row.judged)])
    explained = (line for text in (*table.other_names, table.notes[0]) for line in wrapped(text))
    return [*fitted(rows, WIDTH, left=range(len(rows[0]))), *explained]


def _differences_part(comparison: Comparison, measure: str) -> str:
    listed = comparison.of(measure)
    beside = comparison.judged[judged_beside(known_measure(measure, comparison.measures)).name]
    second = "" if listed[0].primary else ", secondary"
    level = f"{_level(comparison)} interval"
    lines = _beside(measure + second, f"{'difference':>11}{level:>20}{'p':>9}{'effect':>8}")
    for each in listed:
        ends = f"{signed(each.low)} {signed(each.high)}"
        lines += _beside(
            f"{_marks(each):<3}{each.run} - {each.baseline}",
            f"{signed(each.estimate):>11}{ends:>20}{p_cell(each):>9}{effect_cell(each.effect):>8}",
        )
        judged = [beside[run] for run in (each.run, each.baseline)]
        seen = f"; judged {share_text(judged[0])} and {share_text(judged[1])}" if judged != [None, None] else ""
        lines.append(f"   queries: {each.better} better, {each.same} the same, {each.worse} worse{seen}")
        lines += wrapped(within_text(each), "   ") if each.within else []
        if each.reach and each.could_reverse and comparison.pairs <= FEW:
            wider = "" if each.reach.exact else "~"
            ends = f"{each.reach.low:+.4f} to {each.reach.high:+.4f}{wider}"
            lines += wrapped(f"{UNDECIDED} ({ends})", "   ", hang=5)
    return "\n".join(lines)


def _beside(name: str, numbers: str) -> list[str]:
    """Numbers beside a name, or below it where it takes their room."""
    shown = cut(name, WIDTH)
    return [padded(shown, NAME) + numbers] if columns(shown) <= NAME else [shown, padded("", NAME) + numbers]


def _marks(difference: Difference) -> str:
    sign = {"significantly better": "▲", "significantly worse": "▼"}.get(difference.verdict, " ")
    return f"{sign}{'?' if difference.could_reverse else ' '}"


def _legend(comparison: Comparison) -> Iterator[str]:
    yield from wrapped(
        f"▲ ▼ significantly better, worse: p is at most {comparison.alpha:g}. {interval_text(comparison)} "
        f"Effect: {comparison.differences[0].effect_name}."
    )
    known = [each for each in comparison if each.reach is not None]
    undecided = [each for each in known if each.could_reverse]
    if undecided:
        narrower = any(each.reach and not each.reach.exact for each in undecided)
        yield from wrapped(f"? {UNDECIDED}.{' ~ the true bounds may be narrower.' if narrower else ''}")
    estimates = [measure.name for measure in comparison.measures if estimates_unjudged(measure)]
    unknown = [each for each in comparison if each.reach is None]
    if any(each.measure in estimates for each in unknown):
        verb = "estimates" if len(estimates) == 1 else "estimate"
        yield from wrapped(f"{', '.join(estimates)} {verb} unjudged documents from those that were drawn and judged.")
    if any(each.measure not in estimates for each in unknown):
        yield from wrapped("For some differences it is not known whether unjudged documents could reverse them.")


def _changed_lines(comparison: Comparison) -> Iterator[str]:
    yield "Queries that changed most"
    for each in comparison:
        shown = [f"{shortened(change.query_id, 40)} {change.difference:+.4f}" for change in each.changed[:LISTED]]
        yield from wrapped(f"{each.measure}, {each.run} - {each.baseline}: {', '.join(shown) or 'none'}", "  ", hang=4)


def _power_lines(comparison: Comparison, reliability: Reliability) -> Iterator[str]:
    yield f"What {comparison.queries} queries can detect, if differences vary as in the pair that varies most"
    for measure in comparison.measures:
        widest = max(comparison.of(measure.name), key=lambda each: each.spread)
        if not widest.spread:
            yield from wrapped(f"{measure}: {_no_variation(comparison.of(measure.name))}", "  ", hang=4)
            continue
        sizes = [f"{row.difference:g} takes {row.queries[1]:,}" for row in reliability.sizes[measure.name]]
        yield from wrapped(
            f"{measure}: a true difference of {widest.detectable:.4f} is detected {USUAL:.0%} of the time "
            f"(paired t-test{_family(widest)}). {'Without a correction, a' if _family(widest) else 'A'} difference of "
            f"{', '.join(sizes)} queries.",
            "  ",
            hang=4,
        )


def _no_variation(differences: Sequence[Difference]) -> str:
    """Why the variation of the differences cannot be estimated."""
    if any(each.constant for each in differences):
        return "every pair differs by one amount on all queries, so their variation cannot be estimated"
    return "the runs do not differ, so the variation of their differences cannot be estimated"


def _family(difference: Difference) -> str:
    return f", corrected for {difference.family} comparisons" if difference.family > 1 else ""


def _measures_lines(comparison: Comparison, reliability: Reliability) -> Iterator[str]:
    yield "Pairs of runs that differ significantly (discriminative power)"
    for name, share in reliability.discriminative_power.items():
        yield f"  {name}: {share * comparison.pairs:.0f} of {comparison.pairs}"
    if reliability.measures:
        yield "How much they agree (Kendall's tau over runs, over queries)"
    for each in reliability.measures:
        yield f"  {each.one} and {each.other}: {share_text(each.runs, 2)}, {share_text(each.queries, 2)}"
    yield "How much runs agree on which queries are hard (Kendall's tau over queries)"
    if comparison.pairs > MANY:
        yield from (f"  {line}" for line in _agreement_ranges(comparison, reliability))
        return
    for pair in reliability.runs:
        yield from wrapped(
            f"{pair.one} and {pair.other}: {share_text(pair.queries, 2)} by {pair.measure}", "  ", hang=4
        )


def _agreement_ranges(comparison: Comparison, reliability: Reliability) -> Iterator[str]:
    """Over many pairs of runs: the range of the correlations, and their median."""
    for measure in comparison.measures:
        found = [each.queries for each in reliability.runs if each.measure == measure.name]
        known = [each for each in found if each is not None]
        if known:
            low, middle, high = (share_text(each, 2) for each in (min(known), median(known), max(known)))
            yield f"{measure}: {low} to {high}, median {middle}"
