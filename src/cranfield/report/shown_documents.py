"""The first documents of all runs, as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.evaluating import threads_for
from cranfield.evaluation.result import Evaluation
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.first_documents import first_documents
from cranfield.ranks.run import open_run
from cranfield.report.gathered import Gathered

TopDocuments = dict[str, list[str]]  # documents by query


class Numbering(defaultdict[Any, int]):
    """Numbers for things, from 0, in the order of appearance."""

    def __init__(self) -> None:
        super().__init__(self.__len__)


class Numbered(NamedTuple):
    """The first documents of a run, and where those of each query start."""

    documents: Integers
    starts: Integers


class ShownDocuments:
    """The first documents of each run, for the listed queries.

    numbers: of each query the documents that some run has among its first, with their numbers, once all runs are read
    """

    def __init__(self, gathered: Gathered) -> None:
        self._request, self._queries = gathered.request, gathered.listed
        judged = None if gathered.judgments is None else gathered.judgments.by_query
        self._grades = {} if judged is None else {query: judged[query] for query in self._queries}
        self.numbers = [Numbering() for _ in self._queries]
        self._runs = map(self._numbered, map(self._read, gathered.evaluations))
        # Files are read while the runs are compared, unless that reads these files, too. One thread is enough: most of
        # its time goes into ids and their numbers, which needs the interpreter's lock.
        ahead = threads_for(self._request.rankings.values()) > 1 and not self._request.bounds
        self._ahead = ThreadPoolExecutor(1).submit(list, self._runs) if ahead else None

    def by_run(self) -> Iterable[Numbered | None]:
        """None for a run whose rankings cannot be read."""
        return self._runs if self._ahead is None else self._ahead.result()

    def _read(self, evaluation: Evaluation) -> TopDocuments | None:
        source, reading = self._request.rankings.get(evaluation.run), evaluation._evidence.reading
        depth = self._request.depth
        if source is None or not self._grades:
            return None if source is None else {}
        if reading is not None and reading.run is not None:
            return reading.first(self._grades, depth)
        return first_documents(open_run(source, self._request.format).source, self._grades, depth, evaluation.policy)

    def _numbered(self, first: TopDocuments | None) -> Numbered | None:
        if first is None:
            return None
        tops = [first.get(query, []) for query in self._queries]
        starts = offsets(map(len, tops))
        numbers = (map(its.__getitem__, top) for its, top in zip(self.numbers, tops, strict=True))
        return Numbered(np.fromiter(chain.from_iterable(numbers), dtype=np.int64, count=starts[-1]), starts)
