"""The page of a diff: what changed between two runs, in one file that works offline and needs no script to be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import inf
from typing import Any

from cranfield.changes.listing import ChangedQuery, ListedDocument
from cranfield.changes.run_diff import JudgedShare, RunDiff
from cranfield.evaluation.estimating import SAME
from cranfield.io.target import write_text
from cranfield.report.card import TITLE
from cranfield.report.encoding import DataWriter
from cranfield.report.rendering import DIFF, rendered
from cranfield.report.sentences import rounded, signed
from cranfield.report.verdict import verdict_content
from cranfield.report.writing import ReportFile
from cranfield.show.diff_text import facts, grade_text, moved_text, ranks_text
from cranfield.version import __version__
from cranfield.words import count, percent, shortened

_ROW, _GUTTER = 36, 96  # of both lists, whose places lines join
_LISTED = 10  # documents of a list
_BINS = 10
_HIGHEST = 72  # of a bar


def write_diff(
    diff: RunDiff, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None
) -> ReportFile:
    """Write the page of a diff."""
    judged = diff.judged
    one, other = (shortened(run, TITLE) for run in diff.runs)
    content = {
        "title": title or f"{other} vs {one}",
        "version": __version__,
        "written": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
        "command": command or "",
        "diff": diff,
        "queries": count(len(diff.query_ids), "query", "queries"),
        "changed": percent(diff.changed),
        "badge": "Changed" if diff.changed_queries else "Nothing changed",
        "bars": list(_bars(diff)),
        "highest": _HIGHEST,
        "facts": [fact for fact in facts(diff) if fact[0] != "missing"],
        "notes": [
            *diff.warnings,
            *(f"{name}: {value} {told}" for name, value, told in facts(diff) if name == "missing"),
        ],
        "shares": [_share("Documents that enter", judged.entered), _share("Documents that leave", judged.left)]
        if judged
        else [],
        "verdict": verdict_content(judged.difference, judged.before, judged.now)
        if judged and judged.difference
        else None,
        "lists": [_listed(query, diff) for query in diff.changed_most],
        "waiting": [(document, ranks_text(document)) for document in diff.to_judge],
        "rows": _ROW,
        "gutter": _GUTTER,
    }
    size = write_text(path, rendered(content, DataWriter(), False, DIFF), force=True)
    return ReportFile(os.fspath(path), size, ())


def _bars(diff: RunDiff) -> Iterator[dict[str, Any]]:
    """How many queries have which overlap: those from 0 to below a tenth, …, and those of 1 alone."""
    bins = [0] * (_BINS + 1)
    for change in diff.by_query.values():
        bins[min(int(change.overlap * _BINS + 1e-9), _BINS)] += 1
    for at, number in enumerate(bins):
        low = f"{at / _BINS:g}"
        yield {
            "height": round(_HIGHEST * number / max(bins), 1),
            "number": number,
            "label": low if at % 5 == 0 else "",
            "all": at == _BINS,
            "told": f"overlap {low if at == _BINS else f'{low} to below {(at + 1) / _BINS:g}'}: "
            f"{count(number, 'query', 'queries')}",
        }


def _share(name: str, share: JudgedShare) -> dict[str, Any]:
    """How a bar of documents is divided, in percent of its width."""
    counts = {
        "relevant": share.relevant,
        "not relevant": share.judged - share.relevant,
        "not judged": share.documents - share.judged,
    }
    parts, start = [], 0.0
    for (what, number), kind in zip(counts.items(), ("g3", "g0", "none"), strict=True):
        width = 100 * number / share.documents if share.documents else 0.0
        parts.append({"what": what, "number": number, "kind": kind, "start": round(start, 3), "width": round(width, 3)})
        start += width
    return {"name": name, "documents": share.documents, "parts": parts}


def _listed(query: ChangedQuery, diff: RunDiff) -> dict[str, Any]:
    """Both lists of a query, the lines between them, and by how much the measure changes."""
    k, judged = diff.k, diff.judged
    rel = judged.rel if judged else None
    one, other = query.one[:_LISTED], query.other[:_LISTED]
    rows = [_document(document, k, rel, 0, _went(document, k)) for document in one]
    change = None
    if judged and query.before is not None and query.now is not None:
        gain = (query.now - query.before) * (-1 if judged.lower_is_better else 1)
        change = {
            "values": (rounded(query.before), rounded(query.now)),
            "number": signed(query.now - query.before),
            "kind": "better" if gain > SAME else "worse" if gain < -SAME else "soft",
            "mark": "▲ " if gain > SAME else "▼ " if gain < -SAME else "",
        }
    return {
        "query": query,
        "overlap": f"{query.overlap:.2f}",
        "rbo": f"{query.rbo:.2f}",
        "change": change,
        "one": rows,
        "other": [_document(document, k, rel, 1, moved_text(document)) for document in other],
        "left": [row for row in rows if row["apart"]],
        "height": _ROW * max(len(one), len(other), 1),
        "lines": list(_lines(one, other, rel)),
        "more": max(len(query.one), len(query.other)) > _LISTED,
    }


def _within(document: ListedDocument, k: int) -> bool:
    return document.other_rank is not None and document.other_rank <= k


def _went(document: ListedDocument, k: int) -> str:
    """Where a document of the first run is now, if it is no longer among the first."""
    if _within(document, k):
        return ""
    return "gone" if document.other_rank is None else f"now {document.other_rank:,}"


def _document(document: ListedDocument, k: int, rel: float | None, side: int, move: str) -> dict[str, Any]:
    grade = document.grade
    known = grade is not None and grade >= 0
    return {
        "id": document.doc_id,
        "title": document.title or document.doc_id,
        "rank": document.rank,
        "apart": not _within(document, k),
        "effect": _effect(document, rel, side),
        "move": move,
        "grade": grade_text(document),
        "kind": f"g{min(max(int(grade or 0), 0), 3)}" if known else "none",
    }


def _effect(document: ListedDocument, rel: float | None, side: int) -> str:
    """What a move does, not where it goes: nothing follows from one that is not relevant.

    side: of the list that it is in; rel: None without judgments
    """
    ranks = document.rank, document.other_rank or inf
    before, now = ranks if side == 0 else reversed(ranks)
    if rel is None or before == now:
        return "none"
    if document.grade is None or document.grade < 0:
        return "unknown"
    if document.grade < rel:
        return "none"
    return "better" if now < before else "worse"


def _lines(
    one: Sequence[ListedDocument], other: Sequence[ListedDocument], rel: float | None
) -> Iterator[dict[str, str]]:
    """The lines from the places in the first list to those in the second; what leaves or enters has an arrow."""
    for document in one:
        y, half = (document.rank - 0.5) * _ROW, _GUTTER / 2
        effect = _effect(document, rel, 0)
        if document.other_rank is not None and document.other_rank <= len(other):
            to = (document.other_rank - 0.5) * _ROW
            yield {"path": f"M0 {y:g}C{half:g} {y:g} {half:g} {to:g} {_GUTTER} {to:g}", "kind": effect}
        else:
            yield {"path": f"M0 {y:g}H24m-6 -4l6 4l-6 4", "kind": f"leaves {effect}"}
    for document in other:
        if document.other_rank is None or document.other_rank > len(one):
            y = (document.rank - 0.5) * _ROW
            yield {
                "path": f"M{_GUTTER - 24} {y:g}H{_GUTTER}m-6 -4l6 4l-6 4",
                "kind": f"enters {_effect(document, rel, 1)}",
            }
