"""Judgments that an order of judging chose, to decide a comparison or to find many relevant documents.

Which documents such an order chooses depends on the runs it is for, so other runs find fewer of theirs judged. The
provenance of the judgments counts them, as "chosen:decide=412", and so does every signature.
"""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.ranks.judgments import Judgments

NAME = "chosen:"
NOTICEABLE = 0.05  # of all judgments: from this share on, there is a warning


def chosen_part(counts: Mapping[str, int]) -> str:
    """The part of a provenance that counts the judgments chosen by each order; empty if there are none."""
    return NAME + ",".join(f"{order}={counts[order]}" for order in sorted(counts)) if counts else ""


def chosen_counts(provenance: str) -> dict[str, int]:
    parts = [part.removeprefix(NAME) for part in provenance.split("|") if part.startswith(NAME)]
    pairs = (choice.rpartition("=") for part in parts for choice in part.split(","))
    return {order: int(number) for order, _, number in pairs}


def chosen_warning(judgments: Judgments) -> str:
    """The warning about judgments of which orders chose a considerable part; otherwise empty."""
    if NAME not in judgments.provenance:
        return ""
    judged = int((judgments.grades >= 0).sum())  # others are only pooled
    return chosen_sentence(judgments.provenance, judged)


def chosen_sentence(provenance: str, judged: int) -> str:
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
