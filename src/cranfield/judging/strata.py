"""The judgments of sampled pools with the stratum of each document, as xinfAP, infNDCG and statAP need them.

A stratum is a part of a query's pool of which a random sample is to be judged, or all of it. `judging/pool_choice.py`
says which stratum a document is in; the store remembers it. `read/formats/store.py` finds this module by its name,
because a room does not import an edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.store import open_store
from cranfield.judging.stored_judgments import StoredJudgments
from cranfield.judging.views import merged
from cranfield.ranks.grouped_judgments import ONLY, GroupedJudgments

if TYPE_CHECKING:
    from cranfield.read.formats.store import JudgmentView

ByStratum = dict[str, dict[str, dict[str, float]]]
OUTSIDE = "not sampled"  # the stratum of documents that are in no other: none of them was drawn


def open_strata(where: str, wanted: JudgmentView) -> tuple[ByStratum, str]:
    """The strata of a store that is named where judgments are expected, and their part of the signature."""
    with open_store(where, read_only=True) as store:
        return _by_stratum(store, wanted.assessors or None, wanted.merge or "majority", wanted.kinds or BY_PEOPLE)


def strata(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str]
) -> GroupedJudgments:
    """The judgments of a store by stratum. See `Store.to_strata`."""
    found, provenance = _by_stratum(store, assessors, merge, kinds)
    by_group = {query: {(name, ONLY): its for name, its in by_name.items()} for query, by_name in found.items()}
    grouped = GroupedJudgments(by_group, name=store.name)
    grouped.flat.provenance = provenance
    return grouped


def _by_stratum(
    store: StoredJudgments, assessors: Iterable[str] | None, merge: str, kinds: Iterable[str]
) -> tuple[ByStratum, str]:
    from cranfield.judging.waiting import strata_of_queries

    by_query, provenance = merged(store, assessors, merge, kinds, pooled=True)
    with store._reading() as connection:
        known = strata_of_queries(connection)
    if not known:
        raise InputError(
            store.name,
            "its documents have no strata, because they were judged without a pool.",
            hint=f"cranfield pool {store.name} QUERIES RUNS --sample-below 20, then judge; or take AP or nDCG",
        )
    found: ByStratum = {}
    for query, grades in by_query.items():
        its: dict[str, Any] = known.get(query, {})
        for document, grade in grades.items():
            found.setdefault(query, {}).setdefault(its.get(document, OUTSIDE), {})[document] = grade
    return found, provenance
