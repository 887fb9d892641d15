"""Which of the documents that runs return for a query are to be judged, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cranfield.errors import InputError
from cranfield.judging.places import ENDS, drawn, place

NAMED = 3  # runs that the reason of a document names

FoundByRuns = dict[str, dict[str, int]]  # of a query, by document: the rank in each run that returned it


class PoolPlan(NamedTuple):
    """How far down a pool goes, and how many it takes of what is there. See `pool`."""

    depth: int
    sample: int
    sample_depth: int
    limit: int | None
    overlap: float
    seed: int

    @property
    def deepest(self) -> int:
        """The last rank that matters."""
        return max(self.depth, self.sample_depth) if self.sample else self.depth

    def check(self) -> None:
        """Refuse what cannot be meant."""
        for name in ("depth", "sample", "sample_depth", "limit"):
            given = getattr(self, name)
            if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
                raise InputError("pool", f"{name} is {given!r}.", hint="give a whole number")
        if not self.depth and not self.sample:
            raise InputError("pool", "depth is 0, so that nothing is pooled.", hint="give a depth or a sample")
        if self.sample and self.sample_depth <= self.depth:
            fact = f"a sample from below rank {self.depth} down to rank {self.sample_depth} is empty."
            raise InputError("pool", fact, hint="sample_depth must be larger than depth")
        if self.limit is not None and self.sample:
            raise InputError("pool", "a sample with a limit by rank is no longer random.", hint="leave one of them out")
        if self.limit == 0:
            raise InputError("pool", "limit is 0, so that nothing is pooled.", hint="leave it out for no limit")
        if not isinstance(self.overlap, int | float) or not 0 <= self.overlap <= 1:
            raise InputError("pool", f"overlap is {self.overlap!r}.", hint="give a share from 0 to 1")


class PoolOfQuery(NamedTuple):
    """What becomes of the documents that runs return for a query; of those that wait, why."""

    waiting: dict[str, str]
    not_drawn: dict[str, str]
    pooled: int
    judged: int
    sampled: int
    beyond_limit: int


def choose(query: str, found: FoundByRuns, judged: set[str], plan: PoolPlan) -> PoolOfQuery:
    """Choose from what runs return for a query, of which some is judged."""
    best = {document: min(ranks.values()) for document, ranks in found.items()}
    first = [document for document, rank in best.items() if rank <= plan.depth]
    below = [document for document, rank in best.items() if rank > plan.depth]
    sample = set(drawn(below, plan.sample, "sample", plan.seed, query)) if plan.sample else set()
    waiting = [document for document in first if document not in judged]
    beyond = 0
    if plan.limit is not None and len(waiting) > plan.limit:
        beyond = len(waiting) - plan.limit
        waiting = sorted(waiting, key=lambda document: (best[document], place(query, document)))[: plan.limit]
    sampled = [document for document in below if document in sample and document not in judged]
    not_drawn = [document for document in below if document not in sample and document not in judged]
    to_rank = f"sample down to rank {plan.sample_depth} of"
    return PoolOfQuery(
        waiting={
            **{document: _why(f"first {plan.depth} of", found[document], plan.depth) for document in waiting},
            **{document: _why(to_rank, found[document], plan.deepest) for document in sampled},
        },
        not_drawn={document: _why(f"not drawn: {to_rank}", found[document], plan.deepest) for document in not_drawn},
        pooled=len(found) - beyond,
        judged=sum(document in judged for document in found),
        sampled=len(sampled),
        beyond_limit=beyond,
    )


def _why(what: str, ranks: Mapping[str, int], depth: int) -> str:
    runs = [run for run, rank in ranks.items() if rank <= depth]
    more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
    return f"{what} {', '.join(runs[:NAMED])}{more}"


def assessors_of(query: str, document: str, plan: PoolPlan) -> int:
    """Two for a random share of the documents, which is the same every time."""
    return 2 if plan.overlap and place("overlap", plan.seed, query, document) < plan.overlap * ENDS else 1
