"""Look: where a decision stands."""

from __future__ import annotations

from typing import NamedTuple

from cranfield.evaluation.notebook_display import notebook_html
from cranfield.judging.deciding.verdicts import BETTER, NEITHER, WORSE
from cranfield.layout import count

OPEN, ALL_JUDGED, NOT_WORTH, DECIDED = "open", "all judged", "not worth judging on", "decided"
STATES = {BETTER: BETTER, WORSE: WORSE, NEITHER: NOT_WORTH}  # of a verdict that stands


class PairLook(NamedTuple):
    """What is known about a run and the baseline, or about two runs if all pairs are compared.

    baseline, run: their names
    measure: the name of the measure
    difference: run - baseline, as estimated from what is judged and what the model expects of the rest
    low, high: its interval, wide enough for both what is not judged and the choice of queries
    from_judging, from_queries: the shares of the variance that come from documents not judged, and from having no more
        queries; judging takes away the first, and only more queries the second
    better, worse, neither: how probable each verdict of the paired t-test is, if everything were judged
    verdict: the most probable of them
    left: unjudged documents whose grade can change the difference
    likely_needed: about how many of these must be judged before the verdict stands. The estimate is taken to stay where
        it is, while its uncertainty falls as the model says; it is rough: half of the time within a factor of two.
    state: "better" or "worse"; "not worth judging on", if neither can be shown with these queries; "all judged", if
        no document is left that matters; otherwise "open"
    heading: the state in which an open pair is likely to end, once 50 documents are judged; "" if that is not clear
    reason: why it is so, in a sentence

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
    """Where a decision stands.

    state: that of the pair; of several pairs "open" while one of them is, and then "decided"
    judged, left: how many documents of the first ones of all runs are judged, and how many are not and still matter
    likely_needed: about how many more must be judged; see `PairLook`
    pairs: each run beside the baseline, or beside each run before it if all pairs are compared

    >>> from cranfield import Decision
    >>> look = Decision.of({"old": {"q1": ["a"], "q2": ["b"]}, "new": {"q1": ["a"], "q2": ["b"]}}).look()
    >>> look.state, look.done
    ('not worth judging on', True)
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
        return notebook_html("text_html", str(self))

    @property
    def done(self) -> bool:
        """Whether no more judging is needed."""
        return self.state != OPEN

    @property
    def reason(self) -> str:
        """Why judging may stop or must go on, in a sentence for each pair."""
        return "\n".join(pair.reason for pair in self.pairs)

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of each run, 1 plus the number of better runs by the most probable verdicts; needs all pairs.

        Runs without a significant difference can share a rank.
        """
        found = dict.fromkeys((name for pair in self.pairs for name in (pair.baseline, pair.run)), 1)
        for pair in self.pairs:
            found[pair.run] += pair.verdict == WORSE
            found[pair.baseline] += pair.verdict == BETTER
        return found


def state_of_all(states: list[str]) -> str:
    """One state for several pairs."""
    if len(states) == 1:
        return states[0]
    return OPEN if OPEN in states else DECIDED


def heading_of(state: str, probability: float, verdict: str, enough: bool) -> str:
    """Where an open pair is heading, if enough is judged to say so.

    >>> heading_of("open", 0.7, "neither", enough=True)
    'not worth judging on'
    """
    return STATES[verdict] if state == OPEN and enough and probability > 0.5 else ""


_IN_WORDS = {BETTER: BETTER, WORSE: WORSE, NEITHER: "no significant difference"}


def reason_of(state: str, pair: str, probability: float, verdict: str, left: int, heading: str = "") -> str:
    """Why a pair has its state."""
    shown = f"{100 * probability:.0f}%" if probability < 0.995 else "more than 99%"
    lasting = f"the other {left} documents are unlikely to change that ({shown} sure, twice in a row)"
    told = {
        BETTER: f"{pair}: better; {lasting}.",
        WORSE: f"{pair}: worse; {lasting}.",
        NOT_WORTH: f"{pair}: no significant difference, and {lasting}; more queries might.",
        ALL_JUDGED: f"{pair}: {_IN_WORDS[verdict]}; all documents that matter are judged.",
    }
    if state == NOT_WORTH and not left:
        return f"{pair}: both rank the same documents in the same order; no judgment can tell them apart."
    if heading == NOT_WORTH:
        return (
            f"{pair}: heading for not worth judging on: no significant difference is likely ({shown}), "
            "and more queries would help more than more judgments."
        )
    return told.get(state, f"{pair}: {_IN_WORDS[verdict]} is likely ({shown}), and must be likely twice in a row.")
