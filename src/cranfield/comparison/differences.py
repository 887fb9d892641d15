"""The difference of two runs, with everything needed to judge it, and its verdict in one sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import floor, isfinite, log10
from typing import Any, NamedTuple

from cranfield.comparison.unjudged import Reach
from cranfield.drawing import as_html
from cranfield.evaluation.estimating import GROUPED, PLAIN, SAME, WEIGHTED, CorrectedParts
from cranfield.evaluation.weighting import plural

UNDECIDED = "unjudged documents could reverse this"
DIGITS = 3  # decimals of values and p-values in prose and in comparisons; data have all of them


class Change(NamedTuple):
    """A query and its values in both runs."""

    query_id: str
    baseline: float
    run: float

    @property
    def difference(self) -> float:
        """By how much the run is above the baseline."""
        return self.run - self.baseline


class Detection(NamedTuple):
    """How well a true difference that matters is detected, if queries vary as they do here.

    power: the chance that so many queries find it significant, by the test and the correction of the comparison
    queries: how many queries it takes to find it 80% of the time
    """

    difference: float
    power: float
    queries: int


class Within(NamedTuple):
    """Whether a run is shown to be close to its baseline, by one-sided tests against a margin fixed beforehand.

    not_worse: the p-value of "it is worse by the margin or more" (non-inferiority)
    equivalent: the p-value of "it differs by the margin or more" (two one-sided tests)
    Like the interval, both are corrected for the family.
    """

    margin: float
    not_worse: float
    equivalent: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference run - baseline of a measure, and how far it can be trusted.

    difference: of the means
    estimate: of what the test is about (`of`): the mean, the median or the pseudo-median of the queries that differ
    low, high: the interval of the estimate. It belongs to the test and to the family of the p-value beside it: it
        excludes 0 exactly where `adjusted` is at most alpha. Of one comparison, or without a correction, its level is
        1 - alpha; with `together`, that is the level of all intervals of the family at once; with other corrections,
        it has no level of its own.
    p, adjusted: the two-sided p-value, and the same corrected for the `family` of so many comparisons.
    direction: 1 where the test points up, -1 down, 0 neither; rank tests may point elsewhere than the mean.
    effect: the size of the difference on the test's own scale (`effect_name`); None where there is no scale.
    primary: whether it is by the first measure; other measures are families of their own.
    better, same, worse: queries for which the run is better (higher, unless lower is better), the same, or worse.
    spread: the standard deviation of the differences of the queries.
    detectable: the true difference that this test and this correction find significant 80% of the time, if queries vary
        as they do here; of tests that are not about means, that of a t-test. In families of more than 45 comparisons
        with "holm" or "bh" it is that of Bonferroni's correction, and found at least 80% of the time. Infinite where
        no difference that the measure can have is found so often.
    detection: the same for the difference that matters, `detect`: its power, and how many queries it takes; None where
        queries do not vary.
    changed: the queries that differ most, the most first.
    reach: how low and high unjudged documents could make it, and which are meant; None where that is not known.
    within: whether the run is shown not to be worse than a margin; None where none was given.
    corrected: of a difference by a model's grades that people correct, its parts; otherwise None. Queries are then
        the sampled ones, by people's grades.
    finest: the smallest value that `adjusted` can have where it was counted in draws; otherwise 0.
    unit: what is counted as better or worse: a query, or a group of them.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(8)}
    >>> old, new = {str(q): ["b", "a"] for q in range(8)}, {str(q): ["a", "b"][: q + 1] for q in range(8)}
    >>> [difference] = compare(qrels, {"old": old, "new": new}, "RR")
    >>> difference.difference, difference.verdict, difference.could_reverse, difference.changed[0].query_id
    (0.5, 'significantly better', False, '0')
    >>> print(difference.sentence)
    Better: new vs old, RR +0.500 on each of 8 queries, p = 0.008
    >>> difference.headline, difference.constant, difference.has_interval, difference.units
    ('Better', True, False, 'queries')
    >>> difference.to_dict()["verdict"]
    'significantly better'
    """

    measure: str
    baseline: str
    run: str
    difference: float
    estimate: float
    of: str
    low: float
    high: float
    p: float
    adjusted: float
    alpha: float
    family: int
    together: bool
    significant: bool
    direction: int
    effect: float | None
    effect_name: str
    primary: bool
    better: int
    same: int
    worse: int
    spread: float
    detectable: float
    changed: tuple[Change, ...]
    reach: Reach | None
    within: Within | None = None
    lower_is_better: bool = False
    corrected: CorrectedParts | None = None
    finest: float = 0.0
    detection: Detection | None = None
    unit: str = "query"

    def __repr__(self) -> str:
        return f"<Difference: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        return as_html("difference", self)

    @property
    def units(self) -> str:
        """Several of what is counted, in a word."""
        return plural(self.unit)

    @property
    def could_reverse(self) -> bool | None:
        """Whether unjudged documents could reverse the difference, those of `reach`; None if that is not known."""
        return None if self.reach is None else self.reach.could_reverse(self.difference)

    @property
    def verdict(self) -> str:
        """Whether the run is better, in words."""
        if not self.significant or self.direction == 0:
            return "no significant difference"
        improved = (self.direction > 0) != self.lower_is_better
        return f"significantly {'better' if improved else 'worse'}"

    @property
    def headline(self) -> str:
        """The verdict in as few words as possible."""
        if not self.better and not self.worse:
            return "No difference"
        words = {"significantly better": "Better", "significantly worse": "Worse"}
        return words.get(self.verdict, "Too close to call")

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, the same in the terminal, on the page, in notebooks and in the gate."""
        text = f"{self.headline}: {self.run} vs {self.baseline}, {self.measure} "
        queries = self.better + self.same + self.worse
        interval = f" ({interval_name(self)} {span_text(self)})" if self.has_interval else ""
        if queries == self.same:
            return f"{text}is the same on {f'all {queries}' if queries > 2 else 'both'} {self.units}{interval}"
        if self.constant:
            text += f"{estimate_text(self)} on each of {queries} {self.units}{interval}, p {decisive_p(self)}"
        else:
            of = f" ({self.of})" if self.of != "mean" else ""
            text += f"{estimate_text(self)}{of}{interval}, p {decisive_p(self)}"
        if self.family > 1:
            text += f" corrected for {self.family} comparisons"
        if self.significant and self.direction * self.difference < 0:
            text += f"; the mean moves the other way ({signed(self.difference)})"
        if self.significant and self.could_reverse:
            text += f"; {UNDECIDED}"
        return text

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval to show: none where all queries differ by the same amount, but in a family.

        Then p is that of the randomisation test, which takes the differences as symmetric; what little so many equal
        queries say about others, they say of both sides.
        """
        if not self.spread and not isfinite(self.high - self.low):
            return False
        return not self.constant or self.finest > 0

    @property
    def _of_means(self) -> bool:
        """Whether the estimate is the difference of the means that the runs have."""
        return self.of in (PLAIN.of, WEIGHTED.of, GROUPED.of)

    @property
    def constant(self) -> bool:
        """Whether all queries differ by the same amount, so their variation is unknown."""
        return self.spread == 0 and self.difference != 0

    def to_dict(self) -> dict[str, Any]:
        """The difference as plain dicts, ready for JSON."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            # JSON has no infinite numbers: None where an interval has no end.
            "low": self.low if isfinite(self.low) else None,
            "high": self.high if isfinite(self.high) else None,
            "detectable": self.detectable if isfinite(self.detectable) else None,
            "detection": self.detection._asdict() if self.detection else None,
            "changed": [change._asdict() for change in self.changed],
            "reach": self.reach.to_dict() if self.reach else None,
            "within": self.within._asdict() if self.within else None,
            "corrected": asdict(self.corrected) if self.corrected else None,
            "verdict": self.verdict,
            "headline": self.headline,
            "sentence": self.sentence,
            "could_reverse": self.could_reverse,
        }


def interval_name(difference: Difference) -> str:
    """What kind of interval it is, in words; those of corrections in steps have no level, see `Difference`."""
    if difference.family > 1 and not difference.together:
        return "interval"
    together = "simultaneous " if difference.family > 1 else ""
    return f"{100 * (1 - difference.alpha):g}% {together}interval"


def span_text(difference: Difference) -> str:
    """The interval of a difference, as it is shown everywhere."""
    digits = digits_for(difference.low, difference.high)
    return f"{signed(difference.low, digits)} to {signed(difference.high, digits)}"


def estimate_text(difference: Difference) -> str:
    """What the test is about, with as many decimals as its interval."""
    return signed(difference.estimate, digits_for(difference.low, difference.high))


def digits_for(low: float, high: float) -> int:
    """Decimals that show two digits of the width of an interval.

    >>> digits_for(-0.006, 0.080), digits_for(0.0002, 0.0026), digits_for(0.0, float("inf"))
    (3, 4, 3)
    """
    wide = high - low
    return min(max(DIGITS, 1 - floor(log10(wide))), 9) if isfinite(wide) and wide > 0 else DIGITS


def value_text(value: float, beside: float | None = None) -> str:
    """A value, with more decimals where three would not tell it from the one beside it.

    >>> value_text(0.4719), value_text(0.69996, 0.7), value_text(0.43461, 0.43456), value_text(0.5, 0.5)
    ('0.472', '0.69996', '0.43461', '0.500')
    """
    for digits in range(DIGITS, 10):
        text = f"{value + 0.0:.{digits}f}"
        if beside is None or abs(value - beside) < SAME or text != f"{beside + 0.0:.{digits}f}":
            break
    return text


def change_text(before: float, now: float) -> str:
    """Two values in the order of time, told apart where they differ at all.

    >>> change_text(0.4346, 0.4719), change_text(0.43461, 0.43456)
    ('0.435 → 0.472', '0.43461 → 0.43456')
    """
    return f"{value_text(before, now)} → {value_text(now, before)}"


def decisive_p(difference: Difference) -> str:
    """The p-value that decides, as it is shown everywhere."""
    return p_text(difference.adjusted, difference.alpha, difference.finest)


def p_text(p: float, alpha: float, finest: float = 0.0) -> str:
    """A p-value after the letter p, with enough decimals to show on which side of alpha it is.

    finest: the smallest that could have been counted

    >>> p_text(0.08704, 0.05), p_text(0.00001, 0.05), p_text(0.05003, 0.05)
    ('= 0.087', '< 0.001', '= 0.05003')
    >>> p_text(1 / 201, 0.05, finest=1 / 201)
    '< 0.01'
    """
    digits = DIGITS
    if 0 < p <= finest * (1 + 1e-9):
        digits = min(digits, int(-log10(finest)))
        p = 0.0
    least = 10.0**-digits
    if p < least < alpha:
        return f"< {least:.{digits}f}"
    texts = (f"{p:.{decimals}f}" for decimals in range(digits, 17))
    return f"= {next((text for text in texts if (float(text) <= alpha) == (p <= alpha)), p)}"


def signed(number: float, digits: int = DIGITS) -> str:
    """A difference with its sign, shown as 0 only if it is 0, and as "no end" if it is infinite.

    >>> signed(0.0373), signed(-0.00002), signed(float("-inf")), signed(0.0373, 4)
    ('+0.037', '-0.00002', 'no end', '+0.0373')
    """
    if not isfinite(number):
        return "no end"
    for decimals in range(digits, 10):
        text = f"{number + 0.0:+.{decimals}f}"  # + 0.0: there is no -0
        if float(text) or abs(number) < SAME:
            return text
    return f"{number:+.0e}"
