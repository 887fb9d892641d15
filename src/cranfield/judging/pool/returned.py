"""What runs return first: the one place of judging where runs are read, each of them once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.errors import InputError
from cranfield.judging.pool.order import RankedPool
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import SHOWN
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Wants, open_run

FoundByRuns = dict[str, dict[str, int]]  # of a query, by document: the rank in each run that returned it
NO_RANKINGS = "it contains no rankings."


def returned_first(
    runs: Mapping[str, Any], known: Sequence[str], wanted: Sequence[str], depth: int, format: str | None = None
) -> tuple[dict[str, FoundByRuns], dict[str, int]]:
    """The first documents of runs for the wanted queries; and for each run, how many of its queries are unknown."""
    by_query: dict[str, FoundByRuns] = {query: {} for query in wanted}
    unknown: dict[str, int] = {}
    unjudged = Judgments({query: {} for query in known}, name="the queries")
    for name, run in runs.items():
        reading = open_run(run, format).read(unjudged, Policy(), Wants(first=depth, held=True))
        if (reading.scanned.retrieved < 0).all():
            theirs = _some(reading.queries(SHOWN + 1))
            fact = f"no query of the run is among the queries: run: {theirs}; queries: {_some(known)}."
            raise InputError(reading.place, fact if reading.scanned.extra else NO_RANKINGS)
        if reading.scanned.extra:
            unknown[name] = reading.scanned.extra
        _add(by_query, name, reading.first(wanted, depth))
    return by_query, unknown


class ReturnedByRuns(NamedTuple):
    runs: tuple[str, ...]
    by_query: Mapping[str, FoundByRuns]


def all_returned_first(runs: Mapping[str, Any], depth: int, format: str | None = None) -> ReturnedByRuns:
    by_query: dict[str, FoundByRuns] = {}
    for name, thing in runs.items():
        run = open_run(thing, format)
        rankings = run.first(depth, Policy())
        if not rankings:
            raise InputError(run.place, NO_RANKINGS)
        _add(by_query, name, rankings)
    return ReturnedByRuns(tuple(runs), by_query)


def _add(by_query: dict[str, FoundByRuns], name: str, rankings: Mapping[str, Sequence[str]]) -> None:
    for query, documents in rankings.items():
        ranks = by_query.setdefault(query, {})
        for rank, document in enumerate(documents, 1):
            ranks.setdefault(document, {})[name] = rank


def pool_of_runs(runs: Mapping[str, Any], depth: int, seed: int, format: str | None = None) -> RankedPool:
    if depth < 1:
        raise InputError("the runs", "is not a rank.", parameter="depth", value=depth, hint="give 1 or more")
    by_query = all_returned_first(runs, depth, format).by_query
    return RankedPool({query: rankings(by_document) for query, by_document in by_query.items()}, depth, seed)


def rankings(by_document: FoundByRuns) -> dict[str, list[str]]:
    by_run: dict[str, dict[int, str]] = {}
    for document, ranks in by_document.items():
        for run, rank in ranks.items():
            by_run.setdefault(run, {})[rank] = document
    return {run: [its[rank] for rank in sorted(its)] for run, its in by_run.items()}


def chosen_queries(query_ids: Sequence[str], known: Sequence[str], source: str) -> list[str]:
    names = list(dict.fromkeys([query_ids] if isinstance(query_ids, str) else query_ids))
    there = set(known)
    for name in names:
        if name not in there:
            raise InputError(source, f"query '{name}' is not among the queries.", hint=f"there are {_some(known)}")
    return names


def _some(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
