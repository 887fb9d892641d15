"""What a run and its judgments have in common: nothing is an error, very little a warning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from cranfield.errors import InputError, given
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.counting import Scanned
from cranfield.ranks.tables.ranks import JudgedRanks

SHOWN = 3  # ids of each side in an error
FEW = 5  # queries of a run in memory: with fewer, as when each is evaluated by itself, finding nothing may be right
PAGE = 10  # documents of a ranking, of which hardly ever none is judged
HARDLY = 0.1  # of the queries
HINT = f"are the ids written differently? To evaluate the run anyway: {given('check_ids', False)}"


class RunIds(Protocol):
    @property
    def place(self) -> str: ...

    def queries(self, n: int) -> Sequence[str]: ...

    def documents(self, query: str, n: int) -> Sequence[str]: ...


def check_overlap(
    judgments: Judgments, scanned: Scanned, run: RunIds, *, in_memory: bool, refuse: bool = True
) -> tuple[str, ...]:
    """Refuse a run that shares no query with the judgments, or of whose documents not one is judged; or warn of it.

    A run in memory may have no judged document for a few queries: such a value of 0 is meant.
    """
    if len(scanned.found.row):
        return ()
    shared = np.flatnonzero(scanned.retrieved >= 0)
    if not len(shared) and not scanned.extra:
        raise InputError(run.place, "it contains no rankings.")
    if not len(shared):
        return refused(no_common_query(run.place, run.queries(SHOWN), judgments.query_ids[:SHOWN]), refuse)
    answered = shared[scanned.retrieved[shared] > 0]
    if not len(answered) or len(shared) < least_queries(in_memory):
        return ()
    numbers, first = answered[:SHOWN].tolist(), judgments.first.tolist()
    judged = (judgments.document_ids[first[query] : first[query + 1]] for query in numbers)
    retrieved = (run.documents(judgments.query_ids[query], SHOWN) for query in numbers)
    return refused(no_common_document(run.place, len(shared), _some(retrieved), _some(judged)), refuse)


def least_queries(in_memory: bool) -> int:
    return FEW if in_memory else 1


def refused(problem: InputError, refuse: bool) -> tuple[str, ...]:
    if refuse:
        raise problem
    return (problem.fact.removeprefix(f"{problem.place}: ").removesuffix("."),)


def _some(by_query: Iterable[Sequence[str]]) -> list[str]:
    """The first few ids of some queries: those of the first, and of the next ones where it has too few."""
    some: dict[str, None] = {}
    for ids in by_query:
        some.update(dict.fromkeys(ids))
        if len(some) >= SHOWN:
            break
    return list(some)[:SHOWN]


def no_common_query(name: str, run: Sequence[str], judged: Sequence[str]) -> InputError:
    return InputError(name, f"no query of the run is judged: {_both(run, judged)}.", hint=HINT)


def no_common_document(name: str, queries: int, run: Sequence[str], judged: Sequence[str]) -> InputError:
    all_queries = "the one query" if queries == 1 else f"any of the {queries} queries"
    fact = f"no judged document is retrieved for {all_queries} that run and judgments share"
    return InputError(name, f"{fact}: {_both(run, judged)}.", hint=HINT)


def _both(run: Sequence[str], judged: Sequence[str]) -> str:
    sides = (", ".join(f"'{text[:60]}…'" if len(text) > 60 else f"'{text}'" for text in ids) for ids in (run, judged))
    return "run: {}; judgments: {}".format(*sides)


def little_in_common(judged: JudgedRanks, policy: Policy) -> tuple[str, ...]:
    warnings = []
    shared = len(judged) - int(np.count_nonzero(judged.missing))
    if lacks_most(shared, len(judged), policy):
        warnings.append(few_queries(shared, len(judged)))
    hit = np.bincount(judged.query, minlength=len(judged)) > 0
    deep = judged.retrieved >= PAGE
    hits, queries = int(np.count_nonzero(hit & deep)), int(np.count_nonzero(deep))
    if 0 < hits < HARDLY * queries:
        warnings.append(
            f"a judged document is retrieved for only {hits} of the {queries} queries with {PAGE} documents or more; "
            "are document ids written differently?"
        )
    return tuple(warnings)


def lacks_most(shared: int, judged: int, policy: Policy) -> bool:
    """Whether fewer than half of the judged queries are in the run, and the others count."""
    return policy.missing == "zero" and 0 < 2 * shared < judged


def few_queries(shared: int, judged: int) -> str:
    return (
        f"only {shared} of the {judged} judged queries {'is' if shared == 1 else 'are'} in the run; the others count 0"
    )
