"""A decision as the page shows it: the difference, its interval, where the uncertainty comes from, when to stop."""

from __future__ import annotations

from typing import Any

from cranfield.comparison.differences import signed
from cranfield.judging.deciding.looks import NOT_WORTH, OPEN, Look, PairLook
from cranfield.layout import count


def decision_summary(look: Look, measure: str) -> dict[str, Any]:
    """A look as the page shows it: one entry for each pair, and a message once judging may stop."""
    return {
        "done": look.done,
        "measure": measure,
        "judged": look.judged,
        "needed": look.likely_needed,
        "pairs": [_pair(pair) for pair in look.pairs],
    }


def _pair(pair: PairLook) -> dict[str, Any]:
    return {
        "name": f"{pair.run} vs {pair.baseline}",
        "difference": _signed(pair.difference),
        "interval": f"{_signed(pair.low)} to {_signed(pair.high)}",
        "state": pair.state,
        "told": _outlook(pair),
        "reason": pair.reason,
    }


def _outlook(pair: PairLook) -> str:
    """Where it is heading, in a few words."""
    if pair.state != OPEN:
        return pair.state
    share = f"{pair.from_judging:.0%} of the uncertainty comes from unjudged documents"
    heading = f"heading for {pair.heading}; " if pair.heading == NOT_WORTH else ""
    return f"{heading}about {count(pair.likely_needed, 'more document')} to decide; {share}"


def _signed(value: float) -> str:
    return signed(value, 3).replace("-", "\N{MINUS SIGN}")
