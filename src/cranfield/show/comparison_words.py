"""What is said of a comparison, however it is shown: verdicts, sentences, and numbers in tables."""

from __future__ import annotations

from cranfield.comparison.conclusions import Comparison, described_method
from cranfield.comparison.differences import Difference, decisive_p, p_text
from cranfield.comparison.significance import TESTS
from cranfield.comparison.standing import standings
from cranfield.layout import count


def verdict(comparison: Comparison) -> str:
    """What follows by the primary measure, in one sentence."""
    measure = comparison.measures[0].name
    if comparison.pairs == 1:
        return comparison.of(measure)[0].sentence
    against = comparison.baseline or ""
    if comparison.baseline is None:
        return standings(comparison).sentence
    rest = [run for run in comparison.runs if run != against]
    verdicts = [_seen_from(comparison.between(measure, run, against), run) for run in rest]
    better, worse = verdicts.count("better"), verdicts.count("worse")
    are = "is" if better == 1 else "are"
    return (
        f"{better} of {len(rest)} runs {are} significantly better than {against} by {measure}, {worse} significantly "
        f"worse, {len(rest) - better - worse} too close to call"
    )


def _seen_from(difference: Difference, run: str) -> str:
    """The verdict on a run, whichever of the two was the baseline."""
    words = {"significantly better": ("better", "worse"), "significantly worse": ("worse", "better")}
    return words.get(difference.verdict, ("close", "close"))[difference.run != run]


def basis_text(comparison: Comparison) -> str:
    """What the differences rest on: the queries, the test and the correction."""
    left = f"; {_left_out(comparison.left_out)}" if comparison.left_out else ""
    return f"{comparison.queries} queries, matched by id{left}. {as_sentence(described_method(comparison))}."


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
    return "; ".join(parts)


def interval_text(comparison: Comparison) -> str:
    """What the intervals are, in words."""
    one = comparison.differences[0]
    of = "" if one.of == "mean" else f" It is of the {one.of}, as the test is."
    if TESTS[comparison.test].studentised and any(each.constant for each in comparison):
        of += " p is that of the randomisation test where all queries differ by the same amount."
    if one.family == 1:
        return f"The interval excludes 0 exactly where p is that small.{of}"
    together = "Intervals hold for all comparisons of a family at once" if one.together else "Each interval is separate"
    corrected = "p is corrected for the family" if comparison.correction != "none" else "p is not corrected"
    return f"{corrected}. {together}; each excludes 0 exactly where p is that small.{of}"


def share_text(value: float | None, digits: int = 4) -> str:
    """A number with some decimals; a dash where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: there is no -0


def p_cell(difference: Difference) -> str:
    """The p-value in a table."""
    return decisive_p(difference).removeprefix("= ").replace(" ", "")


def effect_cell(value: float | None) -> str:
    """The effect size in a table."""
    return "-" if value is None else f"{value:+.2f}"


def as_sentence(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
