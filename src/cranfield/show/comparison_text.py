"""Comparisons as people read them in a terminal: the verdict in one line, then the evidence, then the details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest
from math import inf
from operator import attrgetter
from statistics import median

from cranfield.comparison.conclusions import Comparison, median_pair
from cranfield.comparison.correlation import Reliability
from cranfield.comparison.differences import (
    Change,
    Difference,
    decisive_p,
    estimate_text,
    interval_name,
    signed,
    span_text,
)
from cranfield.comparison.standing import standings
from cranfield.comparison.unjudged import estimates_unjudged
from cranfield.evaluation.estimating import SAME
from cranfield.measures import known_measure
from cranfield.show.answers_text import answers_lines
from cranfield.show.comparison_words import (
    as_sentence,
    basis_text,
    effect_cell,
    estimate_name,
    how_often,
    if_the_test_holds,
    interval_promise,
    interval_text,
    method_text,
    p_cell,
    power_basis,
    power_sentence,
    reach_text,
    share_text,
    verdict,
    within_text,
)
from cranfield.show.corrected import compared_text
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, Style, padded, warning_lines, wrapped
from cranfield.show.run_table_text import run_table_lines, verdict_tone
from cranfield.words import columns, count, cut, percent, shortened, visible

FEW = 3  # up to this many pairs of runs, everything is shown
MANY = 15  # from this many pairs of runs on, correlations are summarised
NUMBERS = 37  # columns for the interval, p and the effect of a pair; names that leave less have a line of their own


def details_lines(
    comparison: Comparison, reliability: Reliability | None, *, pairs: bool, width: int, paint: Paint
) -> Iterator[list[str]]:
    """The parts after the evidence: all pairs, what the marks mean, what can be detected, and what agrees."""
    if pairs:
        for measure in comparison.measures:
            yield list(_differences_lines(comparison, measure.name, width, paint))
        yield list(map(paint.dim, _legend(comparison, width)))
    if reliability is not None:
        yield list(_power_lines(comparison, reliability, width, paint))
        if len(comparison.runs) > 2:
            yield list(_measures_lines(comparison, reliability, width, paint))


def _differences_lines(comparison: Comparison, measure: str, width: int, paint: Paint) -> Iterator[str]:
    listed = comparison.of(measure)
    shares = comparison.judged[measure]
    second = "" if listed[0].primary else ", secondary"
    gap, ends = estimate_name(listed[0]), interval_name(listed[0]).replace("simultaneous ", "")
    first = max(len(gap) + 1, 11)
    names = [f"{_marks(pair)}{pair.run} - {pair.baseline}" for pair in listed]
    room = width - NUMBERS - first
    wide = min(max(map(columns, (measure + second, *names))), room)
    yield from map(
        paint.strong, _beside(measure + second, f"{gap:>{first}}{ends:>20}{'p':>9}{'effect':>8}", wide, width)
    )
    for name, pair in zip(names, listed, strict=True):
        numbers = f"{estimate_text(pair):>{first}}{span_text(pair):>20}{p_cell(pair):>9}{effect_cell(pair.effect):>8}"
        tone = verdict_tone(pair, paint)
        yield from (tone(line) if pair.significant else line for line in _beside(name, numbers, wide, width))
        judged = [percent(share) for run in (pair.run, pair.baseline) if (share := shares[run]) is not None]
        seen = f"; judged of what {measure} reads: {' and '.join(judged)}" if judged else ""
        counts = f"{pair.units}: {pair.better} better, {pair.same} the same, {pair.worse} worse{seen}"
        if known_measure(measure, comparison.measures).definition.of_run:
            counts = OF_RUN
        yield from map(paint.dim, wrapped(counts, "   ", width=width))
        if pair.within:
            yield from wrapped(within_text(pair), "   ", width=width)
        if pair.reach and pair.could_reverse and comparison.pairs <= FEW:
            could = f"{pair.reach.documents} could reverse this ({reach_text(pair.reach)})"
            yield from wrapped(could, "   ", hang=5, width=width)


def _beside(name: str, numbers: str, room: int, width: int) -> list[str]:
    """Numbers beside a name, or below a long one."""
    shown = cut(name, width)
    if columns(shown) <= room:
        return [padded(shown, room) + numbers]
    if room < 0:  # a very narrow window
        return [shown, *wrapped(numbers, "  ", width=width)]
    return [shown, padded("", room) + numbers]


def _marks(difference: Difference) -> str:
    sign = {"significantly better": "▲", "significantly worse": "▼"}.get(difference.verdict, " ")
    return f"{sign}{'?' if difference.could_reverse else ' '} "


def _legend(comparison: Comparison, width: int) -> Iterator[str]:
    yield from wrapped(
        f"▲ ▼ significantly better, worse: p is at most {comparison.alpha:g}. {interval_text(comparison)} "
        f"Effect: {comparison.differences[0].effect_name}.",
        width=width,
    )
    undecided = [pair.reach for pair in comparison if pair.reach is not None and pair.could_reverse]
    if undecided:
        narrower = "" if all(reach.exact for reach in undecided) else " ~ the true bounds may be narrower."
        yield from wrapped(f"? {undecided[0].documents} could reverse this.{narrower}", width=width)


def _power_lines(comparison: Comparison, reliability: Reliability, width: int, paint: Paint) -> Iterator[str]:
    like = "they do here" if comparison.pairs == 1 else "in the median pair"
    title = f"What {_units(comparison)} can detect, if differences vary as {like}"
    yield from map(paint.strong, wrapped(title, width=width))
    for measure in comparison.measures:
        pair = median_pair(comparison.of(measure.name))
        if not pair.detectable or not pair.spread:
            yield from wrapped(f"{measure}: {_no_variation(comparison.of(measure.name))}", "  ", hang=4, width=width)
            continue
        sizes = [f"{row.difference:g} takes {row.queries[1]:,}" for row in reliability.sizes[measure.name]]
        what = f"a true difference of {pair.detectable:.3f}" if pair.detectable < inf else "no true difference"
        equally = " equally weighted" if comparison.weights and not comparison.weights.equal else ""
        alone = "Of two runs alone, a" if comparison.pairs > 1 else "A"
        yield from wrapped(
            f"{measure}: {what} is detected {how_often(pair)} of the time "
            f"({power_basis(comparison, pair)}). {alone} difference of {', '.join(sizes)}{equally} {pair.units}.",
            "  ",
            hang=4,
            width=width,
        )


def _units(comparison: Comparison) -> str:
    one = comparison.differences[0]
    return count(comparison.units, one.unit, one.units)


def _no_variation(differences: Sequence[Difference]) -> str:
    if any(pair.constant for pair in differences):
        return "every pair differs by the same amount on all queries, so the variation cannot be estimated"
    return "the runs do not differ, so the variation of their differences cannot be estimated"


def _measures_lines(comparison: Comparison, reliability: Reliability, width: int, paint: Paint) -> Iterator[str]:
    def title(text: str) -> Iterator[str]:
        return map(paint.strong, wrapped(text, width=width))

    yield from title("Pairs of runs that differ significantly (discriminative power)")
    for name, share in reliability.discriminative_power.items():
        yield f"  {name}: {share * comparison.pairs:,.0f} of {comparison.pairs:,}"
    if reliability.measures:
        yield from title("How much they agree (Kendall's tau over runs, over queries)")
    for agreement in reliability.measures:
        runs, queries = share_text(agreement.runs, 2), share_text(agreement.queries, 2)
        yield f"  {agreement.one} and {agreement.other}: {runs}, {queries}"
    yield from title("How much runs agree on which queries are hard (Kendall's tau over queries)")
    if comparison.pairs > MANY:
        yield from (f"  {line}" for line in _agreement_ranges(comparison, reliability))
        return
    for pair in reliability.runs:
        yield from wrapped(
            f"{pair.one} and {pair.other}: {share_text(pair.queries, 2)} by {pair.measure}", "  ", hang=4, width=width
        )


def _agreement_ranges(comparison: Comparison, reliability: Reliability) -> Iterator[str]:
    """Over many pairs of runs: the range of the correlations, and their median."""
    for measure in comparison.measures:
        shares = [agreement.queries for agreement in reliability.runs if agreement.measure == measure.name]
        known = [share for share in shares if share is not None]
        if known:
            low, middle, high = (share_text(share, 2) for share in (min(known), median(known), max(known)))
            yield f"{measure}: {low} to {high}, median {middle}"


LISTED = 3  # queries that gained most, and as many that lost most
NAMED = 24  # columns for the id of a query

NO_TEXTS: Mapping[str, str] = {}


def comparison_text(
    comparison: Comparison,
    reliability: Reliability | None = None,
    *,
    pairs: bool = False,
    width: int = WIDTH,
    paint: Paint = UNPAINTED,
    texts: Mapping[str, str] = NO_TEXTS,
) -> str:
    """A comparison as text.

    reliability: what it can detect; if given, everything is explained.
    pairs: also list all pairs of runs.
    texts: the texts of queries, as far as they are known.
    """
    if comparison.basis is not None:
        return compared_text(comparison, width, paint)
    parts = [
        list(warning_lines(comparison.warnings, width, paint)),
        list(_verdict_lines(comparison, width, paint)),
        list(run_table_lines(comparison, width, paint)),
    ]
    one = comparison.of(comparison.measures[0])[0] if comparison.pairs == 1 else None
    if one is not None:
        parts.append(list(_changed_lines(comparison, one, width, paint, texts)))
    if comparison.evaluations[0].answering is not None:
        parts.append(list(answers_lines(comparison.evaluations, width, paint)))
    pairs = pairs or (reliability is not None and comparison.pairs <= FEW)
    parts.append(list(_remarks(comparison, one, width, paint, explained=reliability is not None, pairs=pairs)))
    parts += details_lines(comparison, reliability, pairs=pairs, width=width, paint=paint)
    return "\n\n".join("\n".join(part) for part in parts if part)


def _verdict_lines(comparison: Comparison, width: int, paint: Paint) -> Iterator[str]:
    if comparison.pairs == 1:
        yield from difference_lines(comparison.of(comparison.measures[0])[0], width, paint)
        return
    lead, _, rest = verdict(comparison).partition("; ")
    rest = f"; {rest}" if rest else ""
    tone = paint.strong
    if comparison.baseline is None:
        close = any(row.not_worse for row in standings(comparison).others)
        tone = paint.close if close else paint.good
    yield from _led(lead, rest, tone, width)


def difference_lines(difference: Difference, width: int, paint: Paint) -> Iterator[str]:
    """The verdict on one difference, its first words in their colour."""
    yield from _led(difference.headline, f"  {_found(difference)}", verdict_tone(difference, paint), width)


def _led(lead: str, rest: str, tone: Style, width: int) -> Iterator[str]:
    kept = rest.replace("  ", " \u00a0")  # the verdict and what it is about stay on one line
    first, *more = wrapped(lead + kept, width=width)
    first, *more = (line.replace("\u00a0", " ") for line in (first, *more))
    yield tone(first) if len(first) <= len(lead) else tone(first[: len(lead)]) + first[len(lead) :]
    yield from more


OF_RUN = "a value of the whole run, to which each query contributes"


def _found(difference: Difference) -> str:
    names = f"{visible(difference.run)} vs {visible(difference.baseline)}: {difference.measure}"
    queries = difference.better + difference.same + difference.worse
    interval = f" ({span_text(difference)})" if difference.has_interval else ""
    if difference.same == queries:
        return f"{names} is the same on {f'all {queries}' if queries > 2 else 'both'} {difference.units}{interval}"
    of = f" ({difference.of})" if difference.of != "mean" else ""
    ends = f" on each of {queries} {difference.units}" if difference.constant else ""
    p = decisive_p(difference)
    return f"{names} {estimate_text(difference)}{of}{ends}{interval}, p {p}"


def _changed_lines(
    comparison: Comparison, difference: Difference, width: int, paint: Paint, texts: Mapping[str, str]
) -> Iterator[str]:
    queries = difference.better + difference.same + difference.worse
    if known_measure(difference.measure, comparison.measures).definition.of_run:
        yield f"{count(queries, 'query', 'queries')}: {OF_RUN}"
        return
    better, worse = f"▲ {difference.better} better", f"▼ {difference.worse} worse"
    total, same = count(queries, difference.unit, difference.units), f"{difference.same} the same"
    narrow = len("   ".join((total, better, same, worse))) > width
    better, worse = (paint.good if difference.better else str)(better), (paint.bad if difference.worse else str)(worse)
    if narrow:
        yield total
        yield "  ".join((better, same, worse))
    else:
        yield "   ".join((total, better, same, worse))
    if comparison.weights is not None and comparison.weights.groups is not None:
        noise = comparison.within_groups(difference.measure, difference.run, difference.baseline)
        yield from map(paint.dim, wrapped(f"{noise.sentence[:1].upper()}{noise.sentence[1:]}.", width=width))
    lower = difference.lower_is_better
    shown = [change for most in most_changed(comparison, difference, LISTED) for change in most]
    named = min(max([columns(visible(change.query_id)) for change in shown], default=0), NAMED if texts else width - 12)
    for change in shown:
        yield _changed_line(change, named, width, paint, texts.get(change.query_id, ""), lower=lower)


def most_changed(comparison: Comparison, difference: Difference, count: int) -> tuple[list[Change], list[Change]]:
    """The queries, or groups of them, that gained most and those that lost most, the most first."""
    measure = known_measure(difference.measure, comparison.measures)
    runs = {result.run: result.of_groups().by_query(measure) for result in comparison.evaluations}
    one, other = runs[difference.baseline], runs[difference.run]
    changes, gain = (
        [Change(query, one[query], other[query]) for query in one if query in other],
        attrgetter("difference"),
    )
    up = [change for change in nlargest(count, changes, key=gain) if change.difference > SAME]
    down = [change for change in nsmallest(count, changes, key=gain) if change.difference < -SAME]
    return (down, up) if difference.lower_is_better else (up, down)


def _changed_line(change: Change, named: int, width: int, paint: Paint, text: str, *, lower: bool) -> str:
    number = signed(change.difference)
    name = shortened(change.query_id, named)
    toned = paint.signed(change.difference, number, lower_is_better=lower)
    line = f"  {toned}  {padded(name, named) if text else name}"
    room = width - 2 - len(number) - 2 - named - 2
    return f"{line}  {paint.dim(cut(text, room))}" if text and room > 10 else line


def _remarks(
    comparison: Comparison, one: Difference | None, width: int, paint: Paint, *, explained: bool, pairs: bool
) -> Iterator[str]:
    for remark in _warnings(comparison, one):
        yield from wrapped(remark, width=width)
    quiet = [*_method(comparison, one, listed=pairs), *_more(comparison, explained=explained, pairs=pairs)]
    for remark in quiet:
        yield from map(paint.dim, wrapped(remark, width=width))


def _warnings(comparison: Comparison, one: Difference | None) -> Iterator[str]:
    if one is None:
        significant = [pair for pair in comparison.of(comparison.measures[0]) if pair.significant]
        known = [pair.reach for pair in significant if pair.reach is not None and pair.could_reverse]
        if known:
            total = len(significant)
            every = {1: "the significant difference", 2: "both significant differences"}
            which = every.get(total, f"all {total:,} significant differences")
            if len(known) < total:
                which = f"{len(known):,} of the {total:,} significant differences"
            yield f"{as_sentence(known[0].documents)} could reverse {which}."
        return
    if one.reach is not None and one.could_reverse:
        at_most = "" if one.reach.exact else " at the widest"
        ends = f"{reach_text(one.reach).rstrip('~')}{at_most}"
        yield f"{as_sentence(one.reach.documents)} could reverse this ({ends})."
    if one.significant and one.direction * one.difference < 0:
        yield f"The mean moves the other way ({signed(one.difference)})."
    if one.within:
        yield f"{one.measure}: {within_text(one)}."


def _method(comparison: Comparison, one: Difference | None, *, listed: bool) -> Iterator[str]:
    if one is not None:
        yield from _power(comparison, one)
        others = [pair for pair in comparison.differences if not pair.primary]
        if others:
            secondary = ", ".join(f"{pair.measure} {estimate_text(pair)} (p {decisive_p(pair)})" for pair in others)
            yield f"Secondary: {secondary}."
    yield from _not_known(comparison)
    yield basis_text(comparison) if one is None or comparison.left_out else method_text(comparison)
    order = standings(comparison) if one is None and comparison.baseline is None else None
    drawn = order is None or comparison.differences[0]._of_means
    told = listed or (one is not None and one.family == 1)  # by the legend, or beside the test
    if order and order.level is not None:
        level = f"{100 * order.level:g}%"
        yield (
            f"The intervals hold for all pairs at once, and so do the ranks: all true ranks lie within them with "
            f"{level} confidence{if_the_test_holds(comparison)}."
        )
    elif drawn and not told:
        yield interval_promise(comparison)
    if order and order.level is None:
        yield "Ranks: below the runs that are significantly better, above those that are significantly worse."


def _not_known(comparison: Comparison) -> Iterator[str]:
    estimates = [measure.name for measure in comparison.measures if estimates_unjudged(measure)]
    unknown = [pair for pair in comparison if pair.reach is None]
    if any(pair.measure in estimates for pair in unknown):
        verb = "estimates" if len(estimates) == 1 else "estimate"
        yield f"{', '.join(estimates)} {verb} unjudged documents from those that were drawn and judged."
    if not comparison.bounds:
        which = "this difference" if len(comparison.differences) == 1 else "the differences"
        yield f"Whether unjudged documents could reverse {which} was not checked."
    elif any(pair.measure not in estimates for pair in unknown):
        which, it = ("this difference", "it") if len(comparison.differences) == 1 else ("some differences", "them")
        yield f"For {which} it is not known whether unjudged documents could reverse {it}."


def _power(comparison: Comparison, one: Difference) -> Iterator[str]:
    """What this many queries can detect, and how many it takes to detect a difference that matters."""
    if not one.detectable or not one.spread:
        return
    weighted = comparison.weights is not None and not comparison.weights.equal
    yield f"{power_sentence(one, comparison.units, ' equally weighted ones' if weighted else '')}."


def _more(comparison: Comparison, *, explained: bool, pairs: bool) -> Iterator[str]:
    asked = []
    if comparison.pairs > 1 and not pairs:
        asked.append(f"{'Both' if comparison.pairs == 2 else f'All {comparison.pairs:,}'} pairs: --pairs")
    if not explained:
        asked.append("effect sizes, power and agreement: --explain" if not asked else "power and agreement: --explain")
    if asked:
        sentence = "; ".join(asked)
        yield f"{sentence[:1].upper()}{sentence[1:]}."
