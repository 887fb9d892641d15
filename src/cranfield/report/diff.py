"""The page of a diff: what changed between two runs, in one file that works offline and needs no script to be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from cranfield.changes.listing import ChangedQuery, ListedDocument
from cranfield.changes.run_diff import JudgedShare, RunDiff
from cranfield.io.target import write_text
from cranfield.report.encoding import DataWriter
from cranfield.report.rendering import DIFF, rendered
from cranfield.report.writing import ReportFile
from cranfield.show.diff_text import facts, moved_text, ranks_text
from cranfield.version import __version__
from cranfield.words import count, percent

_ROW, _GUTTER = 36, 96  # of both lists, whose places lines join
_LISTED = 10  # documents of a list
_BINS = 10
_HIGHEST = 72  # of a bar


def write_diff(
    diff: RunDiff, path: str | os.PathLike[str], *, title: str | None = None, command: str | None = None
) -> ReportFile:
    """Write the page of a diff."""
    judged = diff.judged
    content = {
        "title": title or f"{diff.runs[1]} vs {diff.runs[0]}",
        "version": __version__,
        "written": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
        "command": command or "",
        "diff": diff,
        "queries": count(len(diff.query_ids), "query", "queries"),
        "changed": percent(diff.changed),
        "kind": "close" if diff.changed_queries else "same",
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
        "judged": any(share.judged for share in (judged.entered, judged.left)) if judged else False,
        "lists": [_listed(query, diff.k) for query in diff.changed_most],
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


def _listed(query: ChangedQuery, k: int) -> dict[str, Any]:
    one, other = query.one[:_LISTED], query.other[:_LISTED]
    left = [document for document in one if not _within(document, k)]
    return {
        "query": query,
        "overlap": f"{query.overlap:.2f}",
        "rbo": f"{query.rbo:.2f}",
        "one": [_document(document, k, _went(document, k)) for document in one],
        "other": [_document(document, k, moved_text(document)) for document in other],
        "left": [_document(document, k, _went(document, k)) for document in left],
        "height": _ROW * max(len(one), len(other), 1),
        "lines": list(_lines(one, len(other))),
        "more": max(len(query.one), len(query.other)) > _LISTED,
    }


def _within(document: ListedDocument, k: int) -> bool:
    return document.other_rank is not None and document.other_rank <= k


def _went(document: ListedDocument, k: int) -> str:
    """Where a document of the first run is now, if it is no longer among the first."""
    if _within(document, k):
        return ""
    return "gone" if document.other_rank is None else f"now {document.other_rank:,}"


def _document(document: ListedDocument, k: int, move: str) -> dict[str, Any]:
    grade = document.grade
    known = grade is not None and grade >= 0
    return {
        "id": document.doc_id,
        "title": document.title or document.doc_id,
        "rank": document.rank,
        "apart": not _within(document, k),
        "move": move,
        "grade": f"{grade:g}" if known else "?",
        "kind": f"g{min(max(int(grade or 0), 0), 3)}" if known else "none",
    }


def _lines(one: Sequence[ListedDocument], others: int) -> Iterator[dict[str, str]]:
    """The lines from the places in the first list to those in the second; what leaves it goes nowhere."""
    for document in one:
        y, half = (document.rank - 0.5) * _ROW, _GUTTER / 2
        if document.other_rank is not None and document.other_rank <= others:
            to = (document.other_rank - 0.5) * _ROW
            yield {"path": f"M0 {y:g}C{half:g} {y:g} {half:g} {to:g} {_GUTTER} {to:g}", "kind": "none"}
        else:
            yield {"path": f"M0 {y:g}H24m-6 -4l6 4l-6 4", "kind": "gone"}
