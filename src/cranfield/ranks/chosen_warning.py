"""Judgments that an order of judging chose, to decide a comparison or to find much that is relevant.

Which documents such an order chooses depends on the runs it is for, so other runs find fewer of theirs judged. The
provenance of the judgments counts them, as "chosen:decide=412", and so does every signature.
"""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.ranks.judgments import Judgments

NAME = "chosen:"
NOTICEABLE = 0.05  # of all judgments: from here on it is said


def chosen_part(counts: Mapping[str, int]) -> str:
    """What a provenance says of the number of judgments that each order chose; nothing where there are none.

    >>> chosen_part({"move-to-front": 3, "decide": 412})
    'chosen:decide=412,move-to-front=3'
    """
    return NAME + ",".join(f"{order}={counts[order]}" for order in sorted(counts)) if counts else ""


def chosen_counts(provenance: str) -> dict[str, int]:
    """How many judgments each order chose, as a provenance says it.

    >>> chosen_counts("judges:2|merge:majority|chosen:decide=412")
    {'decide': 412}
    """
    parts = [part.removeprefix(NAME) for part in provenance.split("|") if part.startswith(NAME)]
    pairs = (each.rpartition("=") for part in parts for each in part.split(","))
    return {order: int(number) for order, _, number in pairs}


def chosen_warning(judgments: Judgments) -> str:
    """What is to be said of judgments of which orders chose a noticeable part; nothing of others.

    >>> chosen_warning(Judgments({"q": {"a": 1, "b": 0}}, name="mine", provenance="chosen:decide=1"))
    "1 of the 2 judgments was chosen by the order 'decide', not by rank alone, which favours the runs it was chosen for"
    """
    if NAME not in judgments.provenance:
        return ""
    judged = int((judgments.grades >= 0).sum())  # others are only pooled
    return chosen_sentence(judgments.provenance, judged)


def chosen_sentence(provenance: str, judged: int) -> str:
    """The same for so many judgments."""
    counts = chosen_counts(provenance)
    total = sum(counts.values())
    if total == 0 or total < NOTICEABLE * judged:
        return ""
    was, it = ("was", "it was") if total == 1 else ("were", "they were")
    if len(counts) == 1:
        by = f"the order '{next(iter(counts))}'"
    else:
        *most, last = (f"'{order}' ({number:,})" for order, number in counts.items())
        by = f"the orders {', '.join(most)} and {last}"
    return (
        f"{total:,} of the {judged:,} judgments {was} chosen by {by}, not by rank alone, which favours the runs {it} "
        "chosen for"
    )
