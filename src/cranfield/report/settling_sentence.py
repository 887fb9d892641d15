"""How to settle a difference, in a sentence of the page."""

from __future__ import annotations

import shlex

from cranfield.report.pair import VerdictPair
from cranfield.report.request import Request
from cranfield.systems.settling_commands import ADVICE, settling_commands

UNKNOWN = (
    f"{ADVICE}, with cranfield judge --decide. It needs a store of judgments, which cranfield pool fills, and the "
    "files of both runs; this page does not know where they all are."
)


def settling_sentence(request: Request, pair: VerdictPair) -> str:
    """How to settle a difference: on lines of its own the commands, where all that they need is known."""
    runs = [request.rankings.get(name) for name in (pair.baseline, pair.run)]
    commands = settling_commands(request.qrels, runs, pair.measure.canonical)
    if not commands:
        return UNKNOWN
    return "\n".join([f"{ADVICE}:", *map(shlex.join, commands)])
