"""judge_by_clicks(store, log) → ClickReport: grades of the kind `clicks`, with the counts that they rest on."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import sqlalchemy as sa

from cranfield.drawing import as_html, as_text
from cranfield.errors import InputError
from cranfield.judging.models.prompts import hash_of
from cranfield.judging.store.checked_input import checked_id
from cranfield.judging.store.contents import import_rows, read_scale
from cranfield.judging.store.event_log import NAMES, batches, now
from cranfield.judging.store.merging import CLICKS
from cranfield.judging.store.schema import EVENTS, JUDGES, QUERIES, WAITING
from cranfield.judging.store.store import Store, open_store
from cranfield.judging.store.views import known_assessors
from cranfield.judging.store.waiting import upsert
from cranfield.traffic.click_model import RankExamination
from cranfield.traffic.clicks import LEAST, AttractionRule, ClickedDocument, Clicks, fit_clicks
from cranfield.traffic.impressions import LogQuery, normalised
from cranfield.words import count

_KEPT = ("impressions", "clicks", "examined")  # with the event


@dataclass(frozen=True, slots=True)
class ClickReport:
    """What the clicks of a log say, and which grades came of it; returned by `judge_by_clicks`.

    store, source, assessor: where grades are, where clicks come from, and under which name
    impressions, clicks, queries: of the log
    examination: by rank, how many people look at it for each who looks at the topmost one, with its 95% interval; empty
        if the log does not identify it
    tied_documents, tied_queries: from which it is estimated
    unexplained: impressions at ranks whose examination is not identified, although that of others is
    rule: from which attraction on a document has which grade
    least: how many people must have looked at a document
    matched: queries of the log that are in the store
    grades: how many documents have which grade
    seldom: documents of these queries that fewer people looked at
    pooled, pooled_graded: documents that were pooled in the store for these queries, and how many of them have a grade
    new: grades that were appended; those that the assessor had given already by the same clicks are not among them
    left_out: rows of the log that do not count, by reason

    >>> import tempfile
    >>> from cranfield import open_store
    >>> rows = [{"query": "Shoes", "doc_id": "a", "rank": 1, "impressions": 50, "clicks": 20}]
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     added = store.add_queries({"q1": "shoes"})
    ...     report = judge_by_clicks(store, rows)
    >>> report, report.corrected, report.grades
    (<ClickReport: 1 document of 1 query graded>, False, {2.0: 1})
    """

    store: str
    source: str
    assessor: str
    impressions: int
    clicks: int
    queries: int
    examination: Mapping[int, RankExamination]
    tied_documents: int
    tied_queries: int
    unexplained: int
    rule: Mapping[float, float]
    least: float
    matched: int
    grades: Mapping[float, int]
    seldom: int
    pooled: int
    pooled_graded: int
    new: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        graded = f"{count(sum(self.grades.values()), 'document')} of {count(self.matched, 'query', 'queries')}"
        return f"<ClickReport: {graded} graded>"

    def __str__(self) -> str:
        return as_text("click_text.click_text", self)

    def _repr_html_(self) -> str:
        return as_html("text", str(self))

    @property
    def corrected(self) -> bool:
        """Whether clicks are corrected for how many people look at each rank."""
        return bool(self.examination)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, ready for JSON."""
        plain = {**asdict(self), "corrected": self.corrected}
        plain["examination"] = {str(rank): its._asdict() for rank, its in self.examination.items()}
        for name in ("rule", "grades"):
            plain[name] = {f"{grade:g}": number for grade, number in getattr(self, name).items()}
        return plain


def judge_by_clicks(
    store: Store | str | os.PathLike[str],
    log: Any,
    *,
    assessor: str = "clicks",
    attraction: Sequence[float] | None = None,
    least: float = LEAST,
    dry_run: bool = False,
) -> ClickReport:
    """Grade the documents of a store's queries by the clicks of a log, as an assessor of the kind "clicks".

    store: a `Store`, or where it is.
    log: as for `fit_clicks`. A query is one of the store if it has its id, or its text but for case and blanks.
    assessor: the name under which grades are saved.
    attraction: from which attraction on a document has each grade but the lowest; by default 0.5 for the highest, and
        half as much for each grade below it.
    least: how many people must have looked at a document; fewer give it no grade.
    dry_run: only say which grades there would be.
    Returns a `ClickReport`. All documents of these queries are graded, pooled or not; what nobody was shown has no
    grade. The grades are never merged with those of people unless you choose this kind. Their events keep the counts.

    >>> import tempfile
    >>> from cranfield import open_store
    >>> rows = [{"query": "shoes", "doc_id": "a", "rank": 1, "impressions": 50, "clicks": 30}]
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     added = store.add_queries({"q1": "shoes"})
    ...     new = [judge_by_clicks(store, rows).new for time in range(2)]
    ...     [event] = store.events()
    ...     new, event.grade, event.impressions, event.clicks, store.view(kinds=["clicks"]).by_query
    ([1, 0], 3.0, 50, 30, {'q1': {'a': 3.0}})
    """
    if not isinstance(store, Store):
        with open_store(store) as opened:
            return judge_by_clicks(opened, log, assessor=assessor, attraction=attraction, least=least, dry_run=dry_run)
    who = checked_id(assessor, store.name, "the assessor")
    with store._reading() as connection:
        rule = AttractionRule.of(read_scale(connection), attraction, least)
        kind = known_assessors(connection).get(who, CLICKS)
        names = _names(connection)
    if kind != CLICKS:
        fact = f"there is an assessor '{who}' of the kind '{kind}' already."
        raise InputError(store.name, fact, hint="save the grades by clicks under another name")
    if not any(names.values()):
        raise InputError(store.name, "it has no queries.", hint="cranfield pool adds queries and what runs return")
    clicks = fit_clicks(log)
    found = [_ids_of(query, names) for query in clicks._queries]
    if not any(found):
        hint = f"it searches for '{clicks._queries[0].text:.40}'; queries are compared by id, then by text"
        raise InputError(clicks.source, f"none of its queries is in {store.name}.", hint=hint)
    wanted = np.array([bool(ids) for ids in found])
    graded = list(_graded(clicks, wanted, rule))
    of_query = {query.text: ids for query, ids in zip(clicks._queries, found, strict=True) if ids}
    judge = _judge(rule, clicks.identified)
    rows = [
        {
            "query_id": query,
            "doc_id": document.doc_id,
            "grade": grade,
            "judge": judge["judge"],
            **{name: getattr(document, name) for name in _KEPT},
        }
        for document, grade in graded
        for query in of_query[document.query]
    ]
    new = 0
    if not dry_run:
        with store._writing("the grades by clicks") as connection:
            connection.execute(upsert(connection.dialect.name, JUDGES).on_conflict_do_nothing(), [judge])
            author = {"assessor": who, "kind": CLICKS, "at": now()}
            new = import_rows(connection, rows, author, ("grade", "judge", *_KEPT))
    with store._reading() as connection:
        pooled = _pooled(connection, {query for ids in of_query.values() for query in ids})
    said = {(row["query_id"], row["doc_id"]) for row in rows}
    return ClickReport(
        store=store.name,
        source=clicks.source,
        assessor=who,
        impressions=clicks.impressions,
        clicks=clicks.clicks,
        queries=len(clicks._queries),
        examination=clicks.examination,
        tied_documents=clicks.tied_documents,
        tied_queries=clicks.tied_queries,
        unexplained=clicks.unexplained,
        rule=dict(zip(rule.grades, (0.0, *rule.lowest), strict=True)),
        least=rule.least,
        matched=len(of_query),
        grades=dict(sorted(Counter(row["grade"] for row in rows).items())),
        seldom=len(clicks._pairs(wanted)) - len(graded),
        pooled=len(pooled),
        pooled_graded=len(pooled & said),
        new=new,
        left_out=clicks.left_out,
    )


def _names(connection: sa.Connection) -> dict[str, list[str]]:
    """The store's queries by their ids and by their texts; an id comes first."""
    names: dict[str, list[str]] = {}
    rows = connection.execute(sa.select(QUERIES.c.query_id, QUERIES.c.text)).all()
    judged = connection.execute(sa.select(EVENTS.c.query_id).distinct()).scalars()
    ids = dict.fromkeys([row.query_id for row in rows]) | dict.fromkeys(judged)
    for query, text in rows:
        if text and (plain := normalised(text)) not in ids:
            names.setdefault(plain, []).append(query)
    return {**names, **{query: [query] for query in ids}}


def _ids_of(query: LogQuery, names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """A query of a log in the store: by its id or, of a log without ids, its text as it is; then by its text."""
    return names.get(query.query_id) or names.get(query.text) or ()


def _graded(clicks: Clicks, wanted: Any, rule: AttractionRule) -> Iterator[tuple[ClickedDocument, float]]:
    documents = list(clicks._documents(wanted, rule.least))
    grades = rule.grade(np.array([document.attraction for document in documents]))
    return zip(documents, grades.tolist(), strict=True)


def _judge(rule: AttractionRule, corrected: bool) -> dict[str, str]:
    """How clicks became grades, as a row of the table of judges: grades by another rule are not those of one judge."""
    settings = {"clicks": "corrected" if corrected else "uncorrected", **rule._asdict()}
    return {"judge": hash_of(settings), "settings": json.dumps(settings, sort_keys=True)}


def _pooled(connection: sa.Connection, queries: Iterable[str]) -> set[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for some in batches(sorted(queries), NAMES):
        wanted = sa.select(WAITING.c.query_id, WAITING.c.doc_id).where(WAITING.c.query_id.in_(some))
        pairs.update((row.query_id, row.doc_id) for row in connection.execute(wanted))
    return pairs
