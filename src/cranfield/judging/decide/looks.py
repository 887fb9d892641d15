"""Look: what is known after some judgments, pair by pair, and whether judging may stop."""

from __future__ import annotations

from typing import Any, NamedTuple

from cranfield.comparison.differences import signed
from cranfield.drawing import as_html
from cranfield.judging.decide.compared_pair import BETTER, NEITHER, WORSE
from cranfield.words import count

OPEN, ALL_JUDGED, NOT_WORTH, DECIDED = "open", "all judged", "not worth judging further", "decided"
STATES = {BETTER: BETTER, WORSE: WORSE, NEITHER: NOT_WORTH}  # of a final verdict


class PairLook(NamedTuple):
    """The state of a run and the baseline, or of two runs if all pairs are compared.

    baseline, run: their names
    measure: the name of the measure
    difference: run - baseline, estimated from the judged documents and the expected grades of the others
    low, high: its interval, which allows for unjudged documents and for the choice of queries
    from_judging, from_queries: the shares of the variance that come from documents not judged, and from having no more
        queries; judging reduces the first, and only more queries the second
    better, worse, neither: how probable each verdict of the paired t-test is, if everything were judged
    verdict: the most probable of them
    left: unjudged documents whose grade can change the difference
    likely_needed: about how many of these must be judged before the verdict is final. It assumes that the estimate
        stays the same while its uncertainty falls as the model expects, and is rough: half of the time within a factor
        of two.
    state: "better" or "worse"; "not worth judging further", if neither can be shown with these queries; "all judged",
        if no document is left that matters; otherwise "open"
    heading: the state in which an open pair is likely to end, once 50 documents are judged; "" if that is not clear
    reason: why the pair has this state, in a sentence

    >>> from cranfield import Decision
    >>> decision = Decision.of({"old": {"q1": ["a"], "q2": ["b"]}, "new": {"q1": ["a"], "q2": ["c"]}})
    >>> [pair] = decision.with_grades({"q2": {"b": 0, "c": 3}}).look().pairs
    >>> pair.run, pair.difference, pair.verdict, pair.state
    ('new', 0.5, 'neither', 'all judged')
    """

    baseline: str
    run: str
    measure: str
    difference: float
    low: float
    high: float
    from_judging: float
    from_queries: float
    better: float
    worse: float
    neither: float
    verdict: str
    left: int
    likely_needed: int
    state: str
    heading: str
    reason: str

    def __repr__(self) -> str:
        return f"<PairLook: {self.reason}>"


class Look(NamedTuple):
    """The state of a decision.

    state: that of the pair; of several pairs "open" while one of them is, and then "decided"
    judged, left: how many of the first documents of all runs are judged, and how many unjudged ones still matter
    likely_needed: about how many more must be judged; see `PairLook`
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
    left: int
    likely_needed: int
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


def reason_of(
    state: str, pair: str, probability: float, verdict: str, left: int, heading: str, from_queries: float
) -> str:
    shown = f"{100 * probability:.0f}%" if probability < 0.995 else "more than 99%"
    lasting = f"the other {left} documents are unlikely to change that ({shown} sure, twice in a row)"
    sentences = {
        BETTER: f"{pair}: better; {lasting}.",
        WORSE: f"{pair}: worse; {lasting}.",
        NOT_WORTH: f"{pair}: no significant difference, and {lasting}; more queries might.",
        ALL_JUDGED: f"{pair}: {_IN_WORDS[verdict]}; all documents that matter are judged.",
    }
    if state == NOT_WORTH and not left:
        return f"{pair}: both rank the same documents in the same order; no judgment can tell them apart."
    if heading == NOT_WORTH:
        queries = ", and more queries would help more than more judgments" if from_queries > 0.5 else ""
        return f"{pair}: heading for not worth judging further: no significant difference is likely ({shown}){queries}."
    so_far = f"{_IN_WORDS[verdict]} is the most likely verdict so far ({shown})"
    return sentences.get(state, f"{pair}: {so_far}; it is final once it is sure twice in a row.")


def decision_summary(look: Look, measure: str) -> dict[str, Any]:
    pairs = [
        {
            "name": f"{pair.run} vs {pair.baseline}",
            "difference": _signed(pair.difference),
            "interval": f"{_signed(pair.low)} to {_signed(pair.high)}",
            "state": pair.state,
            "told": _outlook(pair),
            "reason": pair.reason,
        }
        for pair in look.pairs
    ]
    told = {"done": look.done, "measure": measure, "judged": look.judged, "needed": look.likely_needed}
    return {**told, "pairs": pairs}


def _outlook(pair: PairLook) -> str:
    if pair.state != OPEN:
        return pair.state
    share = f"{pair.from_judging:.0%} of the uncertainty comes from unjudged documents"
    heading = f"heading for {pair.heading}; " if pair.heading == NOT_WORTH else ""
    return f"{heading}about {count(pair.likely_needed, 'more document')} to decide; {share}"


def _signed(value: float) -> str:
    return signed(value, 3).replace("-", "\N{MINUS SIGN}")
