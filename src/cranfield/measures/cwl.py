"""The C/W/L framework: a user model is the probability of going on from each rank to the next.

From the continuation C(i) follow the probability of seeing rank i, S(i) = Π C(j) over j < i; the share of attention it
gets, W(i) = S(i) / Σ S; and the probability of stopping there, L(i) = S(i) - S(i + 1). A measure of this family has
four views: "utility", the gain for each document seen, Σ W · gain, which is what is usually reported; "total", the gain
collected until stopping, Σ L · Σ gain = Σ S · gain; "depth", how many documents are seen, 1 / W(1) = Σ S; and
"residual", by how much the utility would be higher if every unjudged document had the highest grade.

A ranking counts as 1,000 documents long, as in the reference implementation; only the totals of TBG and U, which are
those of their papers, go to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cranfield.measures.arithmetic import MaxGrade, ratio, scaled_gain
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

DEPTH = 1000
BATCH = 1 << 14  # rankings that are followed at a time
ROOM = 1 << 22  # probabilities kept for ranks without gain

# Whether the user goes on: of the rank, the gain at it, and the gain collected down to it.
Continuation = Callable[[Numbers, Numbers, Numbers], Numbers]


def user_model(
    judged: JudgedRanks,
    goes_on: Continuation,
    max_grade: MaxGrade,
    view: str,
    *,
    depth: int = DEPTH,
    remembers: bool = False,
) -> Numbers:
    """One view of the measure that a continuation makes.

    `depth` is the rank at which every user stops; `remembers` says that the gain collected makes a difference.
    """
    depth = min(depth, DEPTH)
    judged = judged.cut(depth)
    follow = _with_memory if remembers else _without_memory
    gained, seen = follow(judged, scaled_gain(judged, max_grade), goes_on, depth)
    if view == "depth":
        return seen
    if view == "total":
        return gained
    utility = gained / seen
    if view == "utility":
        return utility
    best = _with_all_ranks(judged, depth)
    gain = np.where(best.judged, scaled_gain(best, max_grade), 1.0)
    if remembers:  # nearly every rank has a gain
        gained, seen = _rank_by_rank(gain.reshape(len(judged), depth), goes_on)
    else:
        gained, seen = follow(best, gain, goes_on, depth)
    return gained / seen - utility


def _without_memory(judged: JudgedRanks, worth: Numbers, goes_on: Continuation, depth: int) -> tuple[Numbers, Numbers]:
    """For each query Σ S · gain and Σ S, where only the gain at a rank itself makes users stop there.

    A gain then changes the chance to see all later ranks by one factor.
    """
    nothing, ranks = np.zeros(1), np.arange(1, depth + 1, dtype=np.float64)
    going = goes_on(ranks, 0 * ranks, nothing)
    still = np.concatenate(([1.0], np.cumprod(going[:-1])))
    left = np.append(np.cumsum(still[::-1])[::-1], 0.0)  # Σ S from each rank down
    rank = judged.rank
    usual = going[rank - 1]
    actual = goes_on(rank.astype(np.float64), worth, nothing)
    if np.array_equal(actual, usual):  # gains make nobody stop
        return judged.sum(worth * still[rank - 1]), np.full(len(judged), left[0])
    factor = np.where(usual > 0, ratio(actual, usual), 1.0)
    before = judged.running_product_before(factor)
    gained = judged.sum(worth * still[rank - 1] * before)
    return gained, left[0] - judged.sum(before * (1 - factor) * left[rank])


def _with_memory(judged: JudgedRanks, worth: Numbers, goes_on: Continuation, depth: int) -> tuple[Numbers, Numbers]:
    """The same where everything collected makes a difference."""
    rows = np.flatnonzero(worth > 0)
    query, rank, gain, collected = judged.query[rows], judged.rank[rows], worth[rows], judged.running_sum(worth)[rows]
    gained, seen = np.empty(len(judged)), np.empty(len(judged))
    low, size = 0, BATCH
    while low < len(judged):
        high = min(low + size, len(judged))
        these = slice(*np.searchsorted(query, (low, high)).tolist())
        answer = _batch(query[these] - low, rank[these], gain[these], collected[these], high - low, goes_on, depth)
        if answer is None:  # too many different gains at once
            size = max(size // 4, 1)
            continue
        gained[low:high], seen[low:high] = answer
        low = high
    return gained, seen


def _batch(
    query: Integers, rank: Integers, gain: Numbers, collected: Numbers, count: int, goes_on: Continuation, depth: int
) -> tuple[Numbers, Numbers] | None:
    """The same for some queries, whose documents with a gain these are.

    Between two of those documents, the probability of going on is the same for all users who have collected as much. So
    it is calculated once for every amount, for all ranks, and each ranking goes from gain to gain.
    """
    first = np.searchsorted(query, np.arange(count + 1))
    place = np.arange(len(query)) - first[query]
    amounts, level = _levels(np.append(np.round(collected, 12), 0.0))
    if len(amounts) * depth > ROOM and count > 1:
        return None
    # still[c, i]: the chance to pass i ranks without a gain, having collected c; sums[c, i]: Σ of those before.
    # Nobody can have collected more than one at each rank.
    ranks, amount = np.arange(1, depth + 1, dtype=np.float64), amounts[:, None]
    still = np.ones((len(amounts), depth + 1))
    going = goes_on(ranks, np.zeros(1), np.minimum(amount, ranks - 1))
    np.cumprod(np.where(amount < ranks, going, 1.0), axis=1, out=still[:, 1:])
    sums = np.concatenate((np.zeros((len(amounts), 1)), np.cumsum(still[:, :-1], axis=1)), axis=1)

    passed = np.zeros(count, dtype=np.int64)
    having = np.full(count, level[-1])
    here = np.ones(count)  # the chance to come to the next rank
    gained, seen = np.zeros(count), np.zeros(count)
    order = np.argsort(place.astype(np.uint16), kind="stable")  # no more than 1,000; small numbers are sorted fast
    for rows in np.split(order, np.cumsum(np.bincount(place))[:-1]) if len(order) else []:
        who = query[rows]
        start, stop, has = passed[who], rank[rows] - 1, having[who]
        share = ratio(here[who], still[has, start])
        seen[who] += share * (sums[has, stop + 1] - sums[has, start])
        arrived = share * still[has, stop]
        gained[who] += arrived * gain[rows]
        here[who] = arrived * goes_on(rank[rows].astype(np.float64), gain[rows], collected[rows])
        passed[who], having[who] = stop + 1, level[rows]
    seen += ratio(here, still[having, passed]) * (sums[having, depth] - sums[having, passed])
    return gained, seen


def _rank_by_rank(gain: Numbers, goes_on: Continuation) -> tuple[Numbers, Numbers]:
    """The same from the gains at all ranks: a row for each query."""
    ranks = np.arange(1, gain.shape[1] + 1, dtype=np.float64)
    still = np.ones_like(gain)
    np.cumprod(goes_on(ranks, gain, np.cumsum(gain, axis=1))[:, :-1], axis=1, out=still[:, 1:])
    return (still * gain).sum(axis=1), still.sum(axis=1)


def _levels(collected: Numbers) -> tuple[Numbers, Integers]:
    """The different amounts, and for each value the number of its amount."""
    unit = collected[collected > 0].min(initial=1.0)
    steps = np.rint(collected / unit)
    if steps.max() < DEPTH and np.allclose(steps * unit, collected, rtol=0, atol=1e-12):
        return np.arange(steps.max() + 1) * unit, steps.astype(np.int64)  # as with whole grades; no need to sort
    return np.unique(collected, return_inverse=True)


def _with_all_ranks(judged: JudgedRanks, depth: int) -> JudgedRanks:
    """The table with a row for every rank down to the depth; grade -1 where nothing is judged."""
    grade = np.full((len(judged), depth), -1.0)
    grade[judged.query, judged.rank - 1] = judged.grade
    return replace(
        judged,
        query=np.repeat(np.arange(len(judged)), depth),
        rank=np.tile(np.arange(1, depth + 1), len(judged)),
        grade=grade.reshape(-1),
        tied=np.zeros(grade.size, dtype=np.bool_),
    )


@measure(
    "INSQ",
    reference="Moffat, Scholer & Thomas 2012",
    advice="For a user who expects to need T documents, and gets more patient further down.",
    averages_ties=True,
)
def insq(judged: JudgedRanks, *, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain for each document seen by a user whose patience grows with the rank.

    C(i) = ( (i + 2T - 1) / (i + 2T) )²
    """
    return user_model(judged, lambda i, gain, all_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2, max_grade, view)


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

    return user_model(judged, goes_on, max_grade, view, remembers=True)


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

    def goes_on(i: Numbers, gain: Numbers, collected: Numbers) -> Numbers:
        return np.where(collected < T, 1.0, 0.0)

    return user_model(judged, goes_on, max_grade, view, depth=cutoff, remembers=True)


AZZOPARDI = "Azzopardi, Mackenzie & Moffat 2021"


@measure("NERR8", reference=AZZOPARDI, advice="ERR as a user model: a satisfied user stops, and all stop at rank k.")
def nerr8(judged: JudgedRanks, *, cutoff: int, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, at rank k at the latest.

    C(i) = 1 - gain_i for i < k, then 0
    """
    return user_model(judged, lambda i, gain, all_: 1 - gain, max_grade, view, depth=cutoff)


@measure("NERR9", reference=AZZOPARDI, advice="NERR8 for a user whose patience shrinks as 1/i.")
def nerr9(judged: JudgedRanks, *, cutoff: int, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """NERR8 with the discount of ERR.

    C(i) = i / (i + 1) · (1 - gain_i) for i < k, then 0
    """
    return user_model(judged, lambda i, gain, all_: i / (i + 1) * (1 - gain), max_grade, view, depth=cutoff)


@measure("NERR10", reference=AZZOPARDI, advice="NERR8 for a user with the constant patience of RBP.")
def nerr10(judged: JudgedRanks, *, p: float = 0.9, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, and otherwise goes on with probability p.

    C(i) = p · (1 - gain_i)
    """
    return user_model(judged, lambda i, gain, all_: p * (1 - gain), max_grade, view)


@measure("NERR11", reference=AZZOPARDI, advice="NERR8 for a user with the growing patience of INSQ.")
def nerr11(judged: JudgedRanks, *, T: float = 1, max_grade: MaxGrade = 1, view: str = "utility") -> Numbers:
    """Expected gain of a user who stops when satisfied, and otherwise goes on as in INSQ.

    C(i) = ( (i + 2T - 1) / (i + 2T) )² · (1 - gain_i)
    """
    return user_model(judged, lambda i, gain, all_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - gain), max_grade, view)


@measure(
    "TBG",
    reference="Smucker & Clarke 2012",
    advice="For a user with limited time: long documents count less, and so does everything below them.",
    range=(0.0, np.inf),
)
def time_biased_gain(judged: JudgedRanks, *, h: float = 224, max_grade: MaxGrade = 1, view: str = "total") -> Numbers:
    """Expected gain, if half of the users have given up after the time h.

    TBG = Σ gain_i · 2^(-time_i / h), time_i = Σ length_j over j < i

    Lengths are those given to `evaluate`, as seconds for the half-life of the paper, 224; without them every document
    takes 1. The paper counts 4.4 seconds for a result and (0.018 · words + 7.8) · the chance of a click for its
    document, and gives a relevant document the gain 0.4928 where ours is 1.
    Other views are those of a user model with C(i) = 2^(-length_i / h): view="utility" is the gain for each document
    seen. There a rank below the end of the ranking counts as long as its longest document.
    """
    if view == "total":
        return judged.sum(scaled_gain(judged, max_grade) * np.exp2(-_read_before(judged) / h))
    return _by_length(judged, lambda spent: np.exp2(-spent / h), max_grade, view)


@measure(
    "U",
    aliases=("Umeasure", "U-measure", "U_measure"),
    reference="Sakai & Dou 2013",
    advice="For results that are read as one text: attention falls linearly and ends after the length L.",
    range=(0.0, np.inf),
)
def u_measure(judged: JudgedRanks, *, L: float = 132000, max_grade: MaxGrade = 1, view: str = "total") -> Numbers:
    """Gain of the results read as one text: a document counts less, the later it ends.

    U = Σ gain_i · max(0, 1 - end_i / L), end_i = Σ length_j over j ≤ i

    Lengths are those given to `evaluate`, as characters for the paper's L; without them every document has length 1.
    Other views are those of a user model with C(i) = D(i + 1) / D(i), D(i) = max(0, 1 - Σ length_j / L over j < i), in
    which a document counts by the text before it.
    """
    if view == "total":
        read = _read_before(judged) + _lengths(judged)
        return judged.sum(scaled_gain(judged, max_grade) * np.maximum(0.0, 1 - read / L))
    return _by_length(judged, lambda spent: np.maximum(0.0, 1 - spent / L), max_grade, view)


def _lengths(judged: JudgedRanks) -> Numbers:
    """The length of each row's document; 1 where none are known."""
    if judged.lengths is None:
        return np.ones(len(judged.rank))
    return _by_row(judged, judged.lengths)


def _read_before(judged: JudgedRanks) -> Numbers:
    """For each row, the length of all documents above it."""
    if judged.lengths is None:
        return judged.rank.astype(np.float64) - 1
    return _by_row(judged, [np.cumsum(lengths) - lengths for lengths in judged.lengths])


def _by_row(judged: JudgedRanks, by_rank: Sequence[Numbers]) -> Numbers:
    rows = [by_rank[query][rank - 1] for query, rank in zip(judged.query.tolist(), judged.rank.tolist())]
    return np.array(rows, dtype=np.float64)


def _by_length(judged: JudgedRanks, attention: Callable[[Numbers], Numbers], max_grade: MaxGrade, view: str) -> Numbers:
    """A user model in which the chance to see a document depends on the lengths of those above it."""

    def followed(table: JudgedRanks, lengths: Numbers) -> Numbers:
        longest = lengths.max(initial=0.0) if len(lengths) else 1.0
        read = np.concatenate((lengths, np.full(max(DEPTH - len(lengths), 0), longest)))[:DEPTH]
        seen = attention(np.concatenate(([0.0], np.cumsum(read))))
        chance = ratio(seen[1:], seen[:-1])
        return user_model(table, lambda i, gain, all_: chance[i.astype(np.int64) - 1], max_grade, view)

    if judged.lengths is None:
        return followed(judged, np.ones(DEPTH))
    values = [followed(judged.only(query), lengths)[0] for query, lengths in enumerate(judged.lengths)]
    return np.array(values)
