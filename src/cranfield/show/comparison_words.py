"""The words for a comparison in every format: verdicts, sentences, and numbers in tables."""

from __future__ import annotations

from math import inf

from cranfield.comparison.conclusions import Comparison, described_method
from cranfield.comparison.detecting import is_bound
from cranfield.comparison.differences import DIGITS, Difference, decisive_p, digits_for, p_text, signed, span_text
from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.power import USUAL, about
from cranfield.comparison.significance import TESTS
from cranfield.comparison.standing import standings
from cranfield.comparison.unjudged import Reach
from cranfield.words import count, listed, percent


def verdict(comparison: Comparison) -> str:
    measure = comparison.measures[0].name
    if comparison.pairs == 1:
        return comparison.of(measure)[0].sentence
    against = comparison.baseline or ""
    if comparison.baseline is None:
        return standings(comparison).sentence
    rest = [run for run in comparison.runs if run != against]
    verdicts = [_seen_from(comparison.between(measure, run, against), run) for run in rest]
    better, worse = verdicts.count("better"), verdicts.count("worse")
    return (
        f"{measure} vs {against}: {better} of {len(rest)} runs significantly better, {worse} worse, "
        f"{len(rest) - better - worse} too close to call"
    )


def _seen_from(difference: Difference, run: str) -> str:
    """The verdict on a run, whichever of the two was the baseline."""
    words = {"significantly better": ("better", "worse"), "significantly worse": ("worse", "better")}
    return words.get(difference.verdict, ("close", "close"))[difference.run != run]


def basis_text(comparison: Comparison) -> str:
    """What the differences rest on: the queries, the test and the correction."""
    left = f"; {_left_out(comparison.left_out)}" if comparison.left_out else ""
    return f"{comparison.queries} queries, matched by id{left}. {method_text(comparison)}"


def method_text(comparison: Comparison) -> str:
    lower = [measure.name for measure in comparison.measures if measure.definition.lower_is_better]
    better = f" Lower values of {listed(lower)} are better." if lower else ""
    return f"{as_sentence(described_method(comparison))}.{better}"


def _left_out(queries: int) -> str:
    are = "is" if queries == 1 else "are"
    return f"{count(queries, 'query', 'queries')} that only some of the runs have {are} left out"


def within_text(difference: Difference) -> str:
    """What was shown about a margin, in words; nothing where none was given."""
    within = difference.within
    if within is None:
        return ""
    parts = []
    for what, p in (("not worse by", within.not_worse), ("equivalent within", within.equivalent)):
        shown = "shown" if p <= difference.alpha else "not shown"
        parts.append(f"{what} {within.margin:g}: {shown} (one-sided p {p_text(p, difference.alpha)})")
    if "median" in difference.of:  # a shift by the margin leaves no query without a difference
        parts.append(f"both for the {estimate_name(difference)} of all queries")
    return "; ".join(parts)


def span_and_p(difference: Difference) -> tuple[str, str]:
    """The interval and the p-value for a table: dashes where there is none, or queries do not differ at all."""
    p = decisive_p(difference).removeprefix("= ") if difference.better or difference.worse else "-"
    return span_text(difference) if difference.has_interval else "-", p


def estimate_name(difference: Difference) -> str:
    """What a column of differences holds."""
    return difference.of.partition(" of ")[0] if "median" in difference.of else "difference"


def interval_text(comparison: Comparison) -> str:
    """What is corrected, and what the intervals promise."""
    one = comparison.differences[0]
    of = "" if one._of_means else f" Like the test, it is for the {one.of}."
    if comparison.test in ("t", "bootstrap") and any(pair.constant for pair in comparison):
        of += " p is that of the randomisation test where all queries differ by the same amount."
    corrected = ""
    if len(comparison.differences) > 1:
        together = one.together or comparison.correction != "none"
        corrected = "p is corrected for the family. " if together else "p is not corrected. "
    return f"{corrected}{interval_promise(comparison)}{of}"


def interval_promise(comparison: Comparison) -> str:
    """What the intervals promise, and how they go with the p-values."""
    one, level = comparison.differences[0], f"{100 * (1 - comparison.alpha):g}%"
    excludes = f"excludes 0 exactly when p is at most {comparison.alpha:g}"
    if comparison.pairs == 1 and one.family == 1:
        return f"The {level} interval {excludes}."
    if one.together:
        holds = f"hold for all comparisons of a family at once{if_the_test_holds(comparison)}"
        return f"The {level} intervals {holds}; each {excludes}."
    if one.family == 1:
        return f"Each {level} interval is for one comparison alone, and {excludes}."
    return f"Each interval {excludes}, and has no level of its own."


def if_the_test_holds(comparison: Comparison) -> str:
    """What intervals assume that are not drawn from the values themselves."""
    return "" if comparison.correction == MAX_T else ", if the test holds for values like these"


def share_text(value: float | None, digits: int) -> str:
    """A number with some decimals; a dash where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: there is no -0


def judged_cell(share: float | None) -> str:
    return "-" if share is None else percent(share)


def how_often(difference: Difference) -> str:
    """How often the detectable difference is detected."""
    bound = is_bound(difference.family, together=difference.together)
    return f"{'at least ' if bound else ''}{USUAL:.0%}"


def by_t_test(difference: Difference) -> str:
    """Whether what is detectable is that of another test: the power of those about medians is not computed."""
    return " by a t-test" if "median" in difference.of else ""


def power_sentence(difference: Difference, queries: int, weighted: str = "") -> str:
    """What so many queries can detect, and how many it takes to detect a difference that matters."""
    what = f"{difference.detectable:.{DIGITS}f}" if difference.detectable < inf else "no difference"
    over = f" over {difference.family:,} comparisons" if difference.family > 1 else ""
    sentence = f"{count(queries, difference.unit, difference.units)} can detect {what}"
    sentence += f"{over} ({how_often(difference)} power{by_t_test(difference)})"
    matters = difference.detection
    if matters is not None and matters.difference < difference.detectable:
        sentence += f"; {matters.difference:g} takes {about(matters.queries)}{weighted}"
    return sentence


def power_basis(comparison: Comparison, difference: Difference) -> str:
    """The test and the correction by which a difference is detectable."""
    test = TESTS[comparison.test]
    title = test.title if test.of_means else "paired t-test"
    if comparison.pairs > 1 and comparison.correction == "none" and not test.all_at_once:
        return f"{title}, no correction"
    corrected = difference.family > 1 and not test.all_at_once
    return (
        f"{title}, {CORRECTIONS[comparison.correction].title} over {difference.family:,} comparisons"
        if corrected
        else title
    )


def p_cell(difference: Difference) -> str:
    return p_number(difference.adjusted, difference.alpha, difference.finest)


def p_number(p: float, alpha: float, finest: float = 0.0) -> str:
    """A p-value in a table; `finest` as for `p_text`.

    >>> p_number(0.08704, 0.05), p_number(0.00001, 0.05)
    ('0.087', '<0.001')
    """
    return p_text(p, alpha, finest).removeprefix("= ").replace(" ", "")


def reach_text(reach: Reach) -> str:
    """How low and high unjudged documents could make a difference; ~ where the true bounds may be narrower."""
    digits = digits_for(reach.low, reach.high)
    return f"{signed(reach.low, digits)} to {signed(reach.high, digits)}{'' if reach.exact else '~'}"


def effect_cell(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
