"""Look: what is known after some judgments, pair by pair, and whether judging may stop."""

from __future__ import annotations

from typing import Any, NamedTuple

from cranfield.comparison.differences import signed
from cranfield.drawing import as_html
from cranfield.judging.decide.outlook import BETTER, MUCH, NEITHER, WORSE
from cranfield.words import count

OPEN, ALL_JUDGED, NOT_WORTH, DECIDED = "open", "all judged", "not worth judging further", "decided"
STATES = {BETTER: BETTER, WORSE: WORSE, NEITHER: NOT_WORTH}  # of a final verdict


class PairLook(NamedTuple):
    """The state of a run and the baseline, or of two runs if all pairs are compared.

    baseline, run: their names
    measure: the name of the measure
    left: unjudged documents whose grade can change the difference
    likely_needed: few and many: in four decisions of five, this is how many of these must be judged before the verdict
        is final
    state: "better" or "worse"; "not worth judging further", if neither can be shown with these queries; "all judged",
        if no document is left that matters; otherwise "open"

    The others are None (`verdict` and `heading` are "") as long as nothing is judged:

    difference: run - baseline, estimated from the judged documents and the expected grades of the others
    low, high: its interval, which allows for unjudged documents and for the choice of queries
    full_low, full_high: the interval of the difference of these queries if everything were judged: it allows for
        unjudged documents only
    from_judging, from_queries: the shares of the variance that come from documents not judged, and from having no more
        queries; judging reduces the first, and only more queries the second
    better, worse, neither: how probable each verdict of the paired t-test is, if everything were judged
    verdict: the most probable of them
    heading: the state in which an open pair is likely to end, once 40 documents are judged; "" if that is not clear

    >>> from cranfield import Decision
    >>> decision = Decision.of({"old": {"q1": ["a"], "q2": ["b"]}, "new": {"q1": ["a"], "q2": ["c"]}})
    >>> [pair] = decision.look().pairs
    >>> pair.difference, pair.state, pair.likely_needed
    (None, 'open', (2, 2))
    >>> pair.outlook
    'too early to tell; a verdict probably takes 2 judgments'
    >>> [pair] = decision.with_grades({"q2": {"b": 0, "c": 3}}).look().pairs
    >>> pair.run, pair.difference, pair.verdict, pair.state
    ('new', 0.5, 'neither', 'all judged')
    >>> pair.probability, pair.reason
    (1.0, 'new beside old: no significant difference; all documents that matter are judged.')
    """

    baseline: str
    run: str
    measure: str
    left: int
    likely_needed: tuple[int, int]
    state: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    full_low: float | None = None
    full_high: float | None = None
    from_judging: float | None = None
    from_queries: float | None = None
    better: float | None = None
    worse: float | None = None
    neither: float | None = None
    verdict: str = ""
    heading: str = ""

    @property
    def probability(self) -> float | None:
        """Of the most probable verdict."""
        known = [chance for chance in (self.better, self.worse, self.neither) if chance is not None]
        return max(known, default=None)

    @property
    def reason(self) -> str:
        """Why the pair has this state, in a sentence."""
        return f"{self.run} beside {self.baseline}: {_reason(self)}."

    @property
    def outlook(self) -> str:
        """What is still to be done, in a few words."""
        return self.state if self.state != OPEN else _outlook(self)

    def __repr__(self) -> str:
        return f"<PairLook: {self.reason}>"


class Look(NamedTuple):
    """The state of a decision.

    state: that of the pair; of several pairs "open" while one of them is, and then "decided"
    judged, documents: how many of the first documents of all runs are judged, and how many there are
    left: how many unjudged ones still matter
    likely_needed: few and many: how many more probably must be judged; see `PairLook`. Of several pairs, few is what
        the one that needs most takes, and many what all take if no document tells about two of them
    pairs: each run beside the baseline, or beside each run before it if all pairs are compared

    >>> from cranfield import Decision
    >>> look = Decision.of({"old": {"q1": ["a"], "q2": ["b"]}, "new": {"q1": ["a"], "q2": ["b"]}}).look()
    >>> look.state, look.done
    ('not worth judging further', True)
    >>> print(look.reason)
    new beside old: both rank the same documents in the same order; no judgment can tell them apart.
    >>> look.ranks
    {'old': 1, 'new': 1}
    """

    state: str
    judged: int
    documents: int
    left: int
    likely_needed: tuple[int, int]
    pairs: tuple[PairLook, ...]

    def __repr__(self) -> str:
        return f"<Look: {self.state}; {count(self.judged, 'document')} judged, {self.left:,} left>"

    def __str__(self) -> str:
        return self.reason

    def _repr_html_(self) -> str:
        return as_html("text", str(self))

    @property
    def done(self) -> bool:
        """Whether no more judging is needed."""
        return self.state != OPEN

    @property
    def reason(self) -> str:
        """Why judging may stop or must go on, in a sentence for each pair; several are not corrected."""
        alone = ["Each pair is tested by itself, without a correction for their number."] if len(self.pairs) > 1 else []
        return "\n".join([*(pair.reason for pair in self.pairs), *alone])

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of each run, 1 plus the number of better runs by the most probable verdicts; needs all pairs.

        Runs without a significant difference can share a rank.
        """
        ranks = dict.fromkeys((name for pair in self.pairs for name in (pair.baseline, pair.run)), 1)
        for pair in self.pairs:
            ranks[pair.run] += pair.verdict == WORSE
            ranks[pair.baseline] += pair.verdict == BETTER
        return ranks


_IN_WORDS = {BETTER: BETTER, WORSE: WORSE, NEITHER: "no significant difference"}


def _reason(pair: PairLook) -> str:
    if pair.state == OPEN:
        return _outlook(pair)
    verdict = _IN_WORDS[pair.verdict]
    if pair.state == ALL_JUDGED:
        return f"{verdict}; all documents that matter are judged"
    if not pair.left:
        return "both rank the same documents in the same order; no judgment can tell them apart"
    more = "; more queries might" if pair.state == NOT_WORTH else ""
    return f"{verdict}; judging the rest is unlikely to change that ({_sure(pair)} sure){more}"


def _sure(pair: PairLook) -> str:
    probability = pair.probability or 0.0
    return f"{100 * probability:.0f}%" if probability < 0.995 else "more than 99%"


def _outlook(pair: PairLook) -> str:
    """Of an open pair. What more judgments and more queries would change is said here, and nowhere else."""
    if pair.from_judging is None:
        return f"too early to tell; a verdict probably takes {needed_text(pair.likely_needed)}"
    verdict = _IN_WORDS[pair.verdict]
    likely = f"likely outcome: {verdict} ({_sure(pair)})"
    told = likely if pair.heading else f"too early to tell ({_sure(pair)} for {verdict})"
    cause = f"{pair.from_judging:.0%} of the uncertainty comes from unjudged documents"
    if pair.from_judging <= MUCH:
        cause += ", so more queries would help more"
    return f"{told}; probably {needed_text(pair.likely_needed, more=True)}; {cause}"


def needed_text(needed: tuple[int, int], *, more: bool = False) -> str:
    few, many = needed
    what = "more judgment" if more else "judgment"
    return count(many, what) if few == many else f"{few:,} to {count(many, what)}"


def decision_summary(look: Look, measure: str, alpha: float) -> dict[str, Any]:
    pairs = [
        {
            "name": f"{pair.run} vs {pair.baseline}",
            "difference": None if pair.difference is None else _signed(pair.difference),
            "interval": _between(pair.low, pair.high),
            "full": _between(pair.full_low, pair.full_high),
            "state": pair.state,
            "verdict": pair.verdict,
            "runs": [pair.baseline, pair.run],
            "ends": [pair.low, pair.high],
            "told": pair.outlook,
            "reason": pair.reason,
        }
        for pair in look.pairs
    ]
    told = {"done": look.done, "measure": measure, "judged": look.judged, "documents": look.documents}
    told["level"] = f"{100 * (1 - alpha):g}%"  # of the intervals
    return {**told, "left": look.left, "needed": list(look.likely_needed), "pairs": pairs}


def _between(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{_signed(low)} to {_signed(high)}"


def _signed(value: float) -> str:
    return signed(value, 3).replace("-", "\N{MINUS SIGN}")
