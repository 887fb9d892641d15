"""Random samples of queries that people judge completely, while a model judges all: how they are drawn and recorded.

Queries are drawn by a random order that depends on the seed alone, so a larger sample contains the smaller one. The
sample is recorded with all queries it was drawn from: only such a sample can correct a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from cranfield.errors import InputError, given
from cranfield.judging.store.event_log import now
from cranfield.judging.store.random_orders import drawn
from cranfield.judging.store.schema import QUERY_SAMPLES, SAMPLED_QUERIES
from cranfield.words import count


class QuerySample(NamedTuple):
    seed: int
    at: str
    drawn: frozenset[str]  # those that people judge completely
    others: frozenset[str]  # those that it was drawn from, besides

    @property
    def queries(self) -> frozenset[str]:
        return self.drawn | self.others


def read_sample(connection: sa.Connection) -> QuerySample | None:
    last = connection.execute(sa.select(QUERY_SAMPLES).order_by(QUERY_SAMPLES.c.number.desc()).limit(1)).one_or_none()
    if last is None:
        return None
    rows = sa.select(SAMPLED_QUERIES.c.query_id, SAMPLED_QUERIES.c.drawn).where(SAMPLED_QUERIES.c.sample == last.number)
    of_drawn: dict[bool, set[str]] = {True: set(), False: set()}
    for query, is_drawn in connection.execute(rows):
        of_drawn[bool(is_drawn)].add(query)
    return QuerySample(last.seed, last.at, frozenset(of_drawn[True]), frozenset(of_drawn[False]))


def drawn_queries() -> sa.Select[tuple[str]]:
    last = sa.select(sa.func.max(QUERY_SAMPLES.c.number)).scalar_subquery()
    return sa.select(SAMPLED_QUERIES.c.query_id).where(SAMPLED_QUERIES.c.sample == last, SAMPLED_QUERIES.c.drawn)


def sample_for(
    before: QuerySample | None, queries: Sequence[str], size: int, seed: int, source: str
) -> QuerySample | None:
    """A new one, the existing one, or a larger one that contains it; a size of 0 keeps what there is."""
    if before is not None:
        _check_same_queries(before, queries, source, all_of_them=size > 0)
        if size in (0, len(before.drawn)) and (not size or seed == before.seed):
            return before
        if seed != before.seed:
            fact = f"its sample of {len(before.drawn)} queries was drawn with seed {before.seed}, not {seed}; with "
            fact += "several draws, one could pick the most convenient."
            raise InputError(source, fact, hint=f"use {given('seed', before.seed)}, or another store")
        if size < len(before.drawn):
            fact = f"its sample has {len(before.drawn)} queries already, and a sample cannot shrink."
            raise InputError(source, fact, hint=f"use {given('sample', len(before.drawn))} or more")
    if not size:
        return None
    if size > len(queries):
        fact = f"a sample of {size} cannot be drawn from {count(len(queries), 'query', 'queries')}."
        raise InputError(source, fact, hint=f"use {given('sample', len(queries))} or fewer")
    chosen = frozenset(drawn(queries, size, "query sample", seed))
    return QuerySample(seed, now(), chosen, frozenset(queries) - chosen)


def _check_same_queries(before: QuerySample, queries: Sequence[str], source: str, *, all_of_them: bool) -> None:
    new = [query for query in queries if query not in before.queries]
    gone = len(before.queries) - (len(queries) - len(new)) if all_of_them else 0
    if new or gone:
        changes = [f"{len(new)} are new" if new else "", f"{gone} are missing" if gone else ""]
        fact = f"its sample was drawn from {count(len(before.queries), 'query', 'queries')}, but these are different: "
        fact += f"{' and '.join(filter(None, changes))}."
        raise InputError(source, fact, hint="pool the same queries, or use another store for others")


def write_sample(connection: sa.Connection, sample: QuerySample) -> None:
    if sample == read_sample(connection):
        return
    [number] = connection.execute(
        QUERY_SAMPLES.insert().returning(QUERY_SAMPLES.c.number), {"seed": sample.seed, "at": sample.at}
    ).one()
    rows = [
        {"sample": number, "query_id": query, "drawn": is_drawn}
        for is_drawn, queries in ((True, sample.drawn), (False, sample.others))
        for query in sorted(queries)
    ]
    connection.execute(SAMPLED_QUERIES.insert(), rows)
