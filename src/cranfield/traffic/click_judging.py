"""judge_by_clicks(store, log) → ClickReport: grades of the kind `clicks`, with the counts that they rest on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cranfield.drawing import as_html, as_text
from cranfield.errors import InputError
from cranfield.judging.store.checked_input import checked_id
from cranfield.judging.store.store import Store, open_store
from cranfield.traffic.click_model import RankExamination
from cranfield.traffic.clicks import LEAST, AttractionRule, fit_clicks
from cranfield.words import count


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
    >>> report, report.corrected, report.grades, report.to_dict()["rule"]
    (<ClickReport: 1 document of 1 query graded>, False, {2.0: 1}, {'0': 0.0, '1': 0.125, '2': 0.25, '3': 0.5})
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
    from cranfield.traffic.click_store import KEPT, pooled_pairs, queries_by_name, save_grades

    who = checked_id(assessor, store.name, "the assessor")
    rule = AttractionRule.of(store.scale, attraction, least)
    names = queries_by_name(store, who)
    clicks = fit_clicks(log)
    # By its id or, of a log without ids, by its text as it is; then by its text.
    found = [names.get(query.query_id) or names.get(query.text) or () for query in clicks._queries]
    if not any(found):
        hint = f"it searches for '{clicks._queries[0].text:.40}'; queries are compared by id, then by text"
        raise InputError(clicks.source, f"none of its queries is in {store.name}.", hint=hint)
    wanted = np.array([bool(ids) for ids in found])
    of_query = {query.text: ids for query, ids in zip(clicks._queries, found, strict=True) if ids}
    documents = clicks._documents(wanted, rule.least)
    grades = rule.grade(np.array([document.attraction for document in documents])).tolist()
    rows = [
        {
            "query_id": query,
            "doc_id": document.doc_id,
            "grade": grade,
            **{name: getattr(document, name) for name in KEPT},
        }
        for document, grade in zip(documents, grades, strict=True)
        for query in of_query[document.query]
    ]
    settings = {"clicks": "corrected" if clicks.identified else "uncorrected", **rule._asdict()}
    new = 0 if dry_run else save_grades(store, rows, who, settings)
    pooled = pooled_pairs(store, {query for ids in of_query.values() for query in ids})
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
        seldom=len(clicks._pairs(wanted)) - len(documents),
        pooled=len(pooled),
        pooled_graded=len(pooled & {(row["query_id"], row["doc_id"]) for row in rows}),
        new=new,
        left_out=clicks.left_out,
    )
