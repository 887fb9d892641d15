"""The C/W/L framework: a user model is the probability of going on from each rank to the next, and nothing else.

From the continuation C(i) follow the probability of seeing rank i, S(i) = Π C(j) over j < i; the share of attention it
gets, W(i) = S(i) / Σ S; and the probability of stopping there, L(i) = S(i) - S(i + 1). A measure of this family has
four views: "utility", the gain for each document seen, Σ W · gain, which is what is usually reported; "total", the gain
collected until stopping, Σ L · Σ gain; "depth", how many documents are seen, 1 / W(1); and "residual", by how much the
utility would be higher if every unjudged document had the highest grade.

A ranking counts as 1,000 documents long, as in the reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield.judge.judgments import Numbers
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures.arithmetic import MaxGrade, scaled_gain
from cranfield.measures.registry import measure

DEPTH = 1000
BATCH = 64  # rankings that are laid out at a time: what fits the cache

# Of the rank, the gain at it, and the gain collected down to it: whether the user goes on.
Continuation = Callable[[Numbers, Numbers, Numbers], Numbers]


def user_model(
    judged: JudgedRanks, goes_on: Continuation, *, max_grade: MaxGrade, view: str, depth: int = DEPTH
) -> Numbers:
    """One view of the measure that a continuation makes; `depth` is the rank from which nobody goes on."""
    depth = min(depth, DEPTH)
    worth = scaled_gain(judged, max_grade)
    known = judged.judged if view == "residual" else worth > 0
    rows = np.flatnonzero((judged.rank <= depth) & known)
    # All rankings without a row look alike, so one of them is enough.
    busy, place = np.unique(judged.query[rows], return_inverse=True)
    values = np.empty(len(busy) + 1)
    for start in range(0, len(values), BATCH):
        batch = slice(*np.searchsorted(place, (start, start + BATCH)))
        here = rows[batch]
        at = place[batch] - start, judged.rank[here] - 1
        gain = np.zeros((min(BATCH, len(values) - start), depth))
        gain[at] = worth[here]
        value = _view(gain, goes_on, "utility" if view == "residual" else view)
        if view == "residual":
            best = np.ones_like(gain)
            best[at] = worth[here]
            value = _view(best, goes_on, "utility") - value
        values[start : start + BATCH] = value
    spread = np.full(len(judged), values[-1])
    spread[busy] = values[:-1]
    return spread


def _view(gain: Numbers, goes_on: Continuation, view: str) -> Numbers:
    rank = np.arange(1.0, gain.shape[1] + 1)
    collected = np.cumsum(gain, axis=1)
    going = np.broadcast_to(goes_on(rank, gain, collected), gain.shape)
    seen = np.ones_like(gain)
    np.cumprod(going[:, :-1], axis=1, out=seen[:, 1:])
    if view == "depth":
        return np.asarray(seen.sum(axis=1))
    if view == "total":
        stopping = seen - np.append(seen[:, 1:], np.zeros((len(seen), 1)), axis=1)
        return np.asarray((stopping * collected).sum(axis=1))
    return np.asarray((seen * gain).sum(axis=1) / seen.sum(axis=1))


@measure(
    "INSQ",
    reference="Moffat, Scholer & Thomas 2012",
    advice="For a user who expects to need T documents, and is the more patient the deeper they have come.",
)
def insq(judged: JudgedRanks, *, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain for each document seen by a user whose patience grows with the rank.

    C(i) = ( (i + 2T - 1) / (i + 2T) )²
    """
    return user_model(
        judged, lambda i, gain, all_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2, max_grade=max_grade, view=view
    )


@measure(
    "INST",
    reference="Bailey et al. 2015",
    advice="For a user who wants T useful documents and stops when they have been found.",
)
def inst(judged: JudgedRanks, *, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """INSQ for a user who knows how much of the goal T has been reached.

    C(i) = ( (i + T + T_i - 1) / (i + T + T_i) )², T_i = T - gain collected down to i
    """

    def goes_on(i: Numbers, gain: Numbers, collected: Numbers) -> Numbers:
        left = i + 2 * T - collected
        return np.asarray(((left - 1) / left) ** 2)

    return user_model(judged, goes_on, max_grade=max_grade, view=view)


@measure(
    "BPM",
    reference="Zhang et al. 2017",
    advice="For a user who stops after k documents, or when the gain T has been collected.",
)
def bejeweled_player_model(
    judged: JudgedRanks, *, cutoff: int, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility"
) -> Numbers:
    """Expected gain of a user who stops at a target or a limit, whichever comes first.

    C(i) = 1 while gain collected < T and i < k, then 0
    """
    return user_model(
        judged,
        lambda i, gain, collected: np.where(collected < T, 1.0, 0.0),
        max_grade=max_grade,
        view=view,
        depth=cutoff,
    )


CHAPELLE = "Azzopardi, Mackenzie & Moffat 2021"


@measure("NERR8", reference=CHAPELLE, advice="ERR as a user model: whoever is satisfied stops, and all stop at k.")
def nerr8(judged: JudgedRanks, *, cutoff: int, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, at rank k at the latest.

    C(i) = 1 - gain_i for i < k, then 0
    """
    return user_model(judged, lambda i, gain, all_: 1 - gain, max_grade=max_grade, view=view, depth=cutoff)


@measure("NERR9", reference=CHAPELLE, advice="NERR8 for a user whose patience shrinks as 1/i.")
def nerr9(judged: JudgedRanks, *, cutoff: int, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """NERR8 with the discount of ERR.

    C(i) = i / (i + 1) · (1 - gain_i) for i < k, then 0
    """
    return user_model(
        judged, lambda i, gain, all_: i / (i + 1) * (1 - gain), max_grade=max_grade, view=view, depth=cutoff
    )


@measure("NERR10", reference=CHAPELLE, advice="NERR8 for a user with the constant patience of RBP.")
def nerr10(judged: JudgedRanks, *, p: float = 0.9, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, and otherwise goes on with probability p.

    C(i) = p · (1 - gain_i)
    """
    return user_model(judged, lambda i, gain, all_: p * (1 - gain), max_grade=max_grade, view=view)


@measure("NERR11", reference=CHAPELLE, advice="NERR8 for a user with the growing patience of INSQ.")
def nerr11(judged: JudgedRanks, *, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, and otherwise goes on as in INSQ.

    C(i) = ( (i + 2T - 1) / (i + 2T) )² · (1 - gain_i)
    """
    return user_model(
        judged, lambda i, gain, all_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - gain), max_grade=max_grade, view=view
    )
