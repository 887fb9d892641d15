"""The words for a comparison in every format: verdicts, sentences, and numbers in tables."""

from __future__ import annotations

from cranfield.comparison.conclusions import Comparison, described_method
from cranfield.comparison.differences import Difference, decisive_p, p_text, signed, span_text
from cranfield.comparison.significance import TESTS
from cranfield.comparison.standing import standings
from cranfield.comparison.unjudged import Reach
from cranfield.words import count


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
    return f"{as_sentence(described_method(comparison))}."


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


def span_and_p(difference: Difference) -> tuple[str, str]:
    """The interval and the p-value for a table: dashes where queries do not vary, or do not differ at all."""
    span = span_text(difference) if difference.spread else "-"
    return span, decisive_p(difference).removeprefix("= ") if difference.better or difference.worse else "-"


def interval_text(comparison: Comparison) -> str:
    one = comparison.differences[0]
    of = "" if one.of == "mean" else f" Like the test, it is for the {one.of}."
    if TESTS[comparison.test].studentised and any(pair.constant for pair in comparison):
        of += " p is that of the randomisation test where all queries differ by the same amount."
    if one.family == 1:
        return f"The interval excludes 0 exactly when p is at most {comparison.alpha:g}.{of}"
    together = "Intervals hold for all comparisons of a family at once" if one.together else "Each interval is separate"
    corrected = "p is corrected for the family" if comparison.correction != "none" else "p is not corrected"
    return f"{corrected}. {together}; each excludes 0 exactly when p is at most {comparison.alpha:g}.{of}"


def share_text(value: float | None, digits: int = 4) -> str:
    """A number with some decimals; a dash where there is none."""
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: there is no -0


def p_cell(difference: Difference) -> str:
    return p_number(difference.adjusted, difference.alpha)


def p_number(p: float, alpha: float) -> str:
    """A p-value in a table.

    >>> p_number(0.08704, 0.05), p_number(0.00001, 0.05)
    ('0.0870', '<0.0001')
    """
    return p_text(p, alpha).removeprefix("= ").replace(" ", "")


def reach_text(reach: Reach) -> str:
    """How low and high unjudged documents could make a difference; ~ where the true bounds may be narrower."""
    return f"{signed(reach.low)} to {signed(reach.high)}{'' if reach.exact else '~'}"


def effect_cell(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
