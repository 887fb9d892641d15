"""What clicks need of a store: its queries by name, and grades saved with the counts that they rest on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from cranfield.errors import InputError
from cranfield.judging.models.prompts import hash_of
from cranfield.judging.store.contents import import_rows
from cranfield.judging.store.event_log import NAMES, batches, now
from cranfield.judging.store.merging import CLICKS
from cranfield.judging.store.schema import EVENTS, JUDGES, QUERIES, WAITING
from cranfield.judging.store.store import Store
from cranfield.judging.store.views import known_assessors
from cranfield.judging.store.waiting import upsert
from cranfield.traffic.impressions import normalised

KEPT = ("impressions", "clicks", "examined")  # with the event


def queries_by_name(store: Store, assessor: str) -> dict[str, list[str]]:
    """Queries by their ids and by their texts; an id comes first. An error if the assessor is somebody else."""
    with store._reading() as connection:
        kind = known_assessors(connection).get(assessor, CLICKS)
        texts = connection.execute(sa.select(QUERIES.c.query_id, QUERIES.c.text)).all()
        judged = connection.execute(sa.select(EVENTS.c.query_id).distinct()).scalars().all()
    if kind != CLICKS:
        fact = f"there is an assessor '{assessor}' of the kind '{kind}' already."
        raise InputError(store.name, fact, hint="save the grades by clicks under another name")
    ids = dict.fromkeys([*(query for query, _ in texts), *judged])
    if not ids:
        raise InputError(store.name, "it has no queries.", hint="cranfield pool adds queries, and what runs return")
    names: dict[str, list[str]] = {}
    for query, text in texts:
        if text:
            names.setdefault(normalised(text), []).append(query)
    return {**names, **{query: [query] for query in ids}}


def save_grades(store: Store, rows: Iterable[Mapping[str, Any]], assessor: str, settings: Mapping[str, Any]) -> int:
    """Append grades that are not there yet by the same clicks; returns how many.

    settings: the rule by which clicks became grades: grades by another rule are not those of one judge
    """
    judge = {"judge": hash_of(dict(settings)), "settings": json.dumps(settings, sort_keys=True)}
    author = {"assessor": assessor, "kind": CLICKS, "at": now()}
    with store._writing("the grades by clicks") as connection:
        connection.execute(upsert(connection.dialect.name, JUDGES).on_conflict_do_nothing(), [judge])
        judged = ({**row, "judge": judge["judge"]} for row in rows)
        return import_rows(connection, judged, author, ("grade", "judge", *KEPT))


def pooled_pairs(store: Store, queries: Iterable[str]) -> set[tuple[str, str]]:
    """The documents that were pooled for some queries."""
    pairs: set[tuple[str, str]] = set()
    with store._reading() as connection:
        for some in batches(sorted(queries), NAMES):
            wanted = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(WAITING.c.query_id.in_(some))
            pairs.update((query, document) for query, document in connection.execute(wanted))
    return pairs
