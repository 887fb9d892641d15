"""Searches of a task: what an agent finds that searches several times, and what each search adds.

The documents of a task are read search by search, best first. U are those that are read: the first ones of each search,
of the first searches, or as far as a budget reaches. R is the number of relevant documents of the task. These measures
need a `SearchRun`, or a file with the columns task and step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.searches import SearchRanks


@measure(
    "UnionR",
    aliases=("union_recall", "agent_recall"),
    advice="For agents that search several times: how much of what the task needs was read, wherever it was found.",
    table="searches",
)
def union_recall(
    judged: SearchRanks,
    *,
    cutoff: int | None = None,
    calls: int | None = None,
    budget: int | None = None,
    unit: str = "documents",
    again: str = "paid",
    rel: float = 1,
) -> Numbers:
    """Share of a task's relevant documents that its searches found together, each counted once.

    UnionR = |{ relevant documents in U }| / R

    With a budget, reading stops before the first document that exceeds it.
    """
    read = judged.fitting(judged.within(cutoff, calls), budget, unit, again=again == "paid")
    return ratio(judged.sum(judged.first(read & judged.relevant(rel))), judged.n_relevant(rel))


@measure(
    "CallR",
    aliases=("call_recall",),
    advice="Recall by call: compare CallR(call=1), CallR(call=2) and so on.",
    table="searches",
)
def call_recall(judged: SearchRanks, *, call: int = 1, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Share of a task's relevant documents that one of its searches found by itself; 0 without such a search.

    CallR = |{ relevant documents of that search, down to the cutoff }| / R
    """
    hit = judged.within(cutoff) & (judged.call == call) & judged.relevant(rel)
    return ratio(judged.sum(judged.first(hit)), judged.n_relevant(rel))


@measure(
    "CallRR",
    aliases=("first_call",),
    advice="Shows how soon an agent's searches find anything.",
    table="searches",
)
def reciprocal_call(judged: SearchRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """One over the number of the first search that finds a relevant document; 0 if none does.

    CallRR = 1 / min { n : search n has a relevant document down to the cutoff }
    """
    return np.asarray(1 / judged.first_call(judged.within(cutoff) & judged.relevant(rel)), dtype=np.float64)


@measure(
    "FoundBy",
    aliases=("found_by",),
    advice="The share of tasks in which the first searches find anything.",
    table="searches",
)
def found_by(judged: SearchRanks, *, calls: int = 1, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """1 if one of the first searches finds a relevant document, otherwise 0.

    FoundBy = [ one of the first searches has a relevant document down to the cutoff ]
    """
    hit = judged.within(cutoff, calls) & judged.relevant(rel)
    return np.asarray(judged.first_call(hit) < np.inf, dtype=np.float64)


@measure(
    "NoGain",
    aliases=("searches_without_gain",),
    advice="Shows how many searches an agent could have saved itself.",
    lower_is_better=True,
    table="searches",
)
def no_gain(judged: SearchRanks, *, cutoff: int | None = None, rel: float = 1) -> Numbers:
    """Share of a task's searches that find no relevant document beyond those found before; 1 without a search.

    NoGain = |{ searches without a new relevant document down to the cutoff }| / |{ searches }|
    """
    gaining = judged.calls_with(judged.first(judged.within(cutoff) & judged.relevant(rel)))
    return np.where(judged.calls > 0, 1 - ratio(gaining, judged.calls), 1.0)


@measure(
    "Refetched",
    aliases=("refetch_rate",),
    advice="Shows how much of what an agent reads it has read before.",
    lower_is_better=True,
    table="searches",
)
def refetched(judged: SearchRanks, *, cutoff: int | None = None) -> Numbers:
    """Share of the documents fetched that an earlier search of the task, or the same, had fetched already.

    Refetched = 1 - |{ different documents fetched }| / |{ documents fetched }|
    """
    kept = judged.within(cutoff)
    fetched = judged.sum(kept)
    return ratio(fetched - judged.sum(judged.first(kept)), fetched)


@measure(
    "Calls",
    aliases=("n_searches",),
    advice="What the other values cost.",
    range=(0.0, np.inf),
    lower_is_better=True,
    table="searches",
)
def number_of_calls(judged: SearchRanks) -> Numbers:
    """How many searches a task has.

    Calls = |{ searches }|
    """
    return judged.calls.astype(np.float64)
