"""write_run(path, rankings): write a run from memory to a file, in the format of its extension."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from cranfield.errors import InputError, OutputError, choice_hint
from cranfield.io.formats import FORMATS, format_to_write, writable
from cranfield.io.formats.format import Plan
from cranfield.io.ids import check_name
from cranfield.io.mappings import finite, id_text
from cranfield.io.records import Records
from cranfield.io.target import open_target


def write_run(
    path: str | os.PathLike[str],
    rankings: Iterable[tuple[str, Iterable[tuple[str, float]]]],
    *,
    name: str,
    force: bool = False,
    format: str | None = None,
    digest: Any = None,
) -> int:
    """Write the ranking of each query, in the order given and with the scores given; returns the number of rows.

    name: of the run, for trec.
    force: replace a file that exists.
    format: one of those of `convert_file`, if the extension does not tell. msmarco has ranks instead of scores.
    digest: a hash that is updated with the content written.
    Ids that would not be read back unchanged, scores that are not finite numbers and a query given twice are errors,
    and nothing is written. A query without documents has no rows, so that no file names it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = write_run(f"{folder}/mine.run", [("q1", [("d7", 0.5), ("d2", 0.5)])], name="mine")
    ...     print(rows, Path(f"{folder}/mine.run").read_text(), end="")
    2 q1 Q0 d7 1 0.5 mine
    q1 Q0 d2 2 0.5 mine
    """
    target = os.fspath(path)
    known = writable(["run"])
    if (chosen := format or format_to_write(target).name) not in known:
        raise OutputError(
            target, f"there is no format '{chosen}' for runs.", hint=choice_hint("formats are", known, chosen)
        )
    check_name(name, target)
    rows, seen = 0, set()
    with open_target(path, force=force) as place, place.opened() as file:
        plan = Plan(target, "run", FORMATS[chosen], name=name, ranked=True)
        writer = plan.format.writer(plan, file if digest is None else _Hashed(file, digest))
        for query_id, ranking in rankings:
            records = _records(query_id, ranking, target)
            if records is None:
                continue
            query = records.query[0]
            if query in seen:
                raise InputError(target, f"the query '{query}' appears twice.", hint="give each query one ranking")
            seen.add(query)
            writer.write(records)
            rows += len(records.query)
        writer.close()
    return rows


class _Hashed:
    def __init__(self, file: Any, digest: Any) -> None:
        self._file, self._digest = file, digest

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        written: int = self._file.write(data)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _records(query_id: Any, ranking: Iterable[tuple[Any, Any]], target: str) -> Records | None:
    query = id_text(query_id, target, "a query")
    documents, scores = [], []
    for document, score in ranking:
        documents.append(id_text(document, target, f"query '{query}'"))
        scores.append(finite(score, target, f"query '{query}', document '{documents[-1]}'"))
    if not documents:
        return None
    return Records((), [query] * len(documents), documents, np.array(scores), list(map(repr, scores)))
