"""The documents of a run that was ranked before, read again as numbers when two runs are to share them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cranfield.ranks.codes import codes_of
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.read.shapes import Rankings, Source
from cranfield.read.source import open_source


class Documents:
    """What a run retrieved, judged or not, for whoever needs to know which documents two runs share.

    Nothing is read before `codes` is called, and nothing is kept but where to read: a file's name, or the very thing
    that was evaluated. A pickled one does not know that any more.

    >>> from cranfield import Judgments, Policy
    >>> from cranfield.ranks.codes import codes_of
    >>> from cranfield.ranks.ranking import rank_run
    >>> from cranfield.read.source import open_source
    >>> run, judgments = {"1": ["x", "a"]}, Judgments.read({"1": {"a": 1}})
    >>> judged = rank_run(judgments, open_source(run, "run"), Policy())
    >>> [codes] = Documents(run, None, judgments, Policy()).codes(judged)
    >>> codes.tolist() == codes_of(["x", "a"]).tolist()
    True
    """

    def __init__(self, run: Any, format: str | None, judgments: Judgments, policy: Policy) -> None:
        self._read_from = (run, format, judgments, policy)

    @classmethod
    def of(cls, run: Any, source: Source, format: str | None, judgments: Judgments, policy: Policy) -> Documents:
        """Those of a run that has been read: what can be read again is its file, or the thing itself."""
        again = source.stream or (source if isinstance(run, Iterator) else run)
        return cls(again, format, judgments, policy)

    def __getstate__(self) -> dict[str, Any]:
        return {"_read_from": None}

    def codes(self, judged: JudgedRanks) -> list[Integers] | None:
        """For each query a number for each document retrieved, best first: equal documents have equal numbers.

        None where the run is not the one that `judged` was made of any more.
        """
        if self._read_from is None:
            return None
        from cranfield.ranks.first_documents import all_codes
        from cranfield.ranks.whole_rankings import rankings_of

        run, format, judgments, policy = self._read_from
        source = run if isinstance(run, Rankings) else open_source(run, "run", format)
        if isinstance(source, Rankings):
            known = {query: _codes_of(ranking, query, policy) for query, ranking in _wanted(source, judgments)}
            slow = [query for query, codes in known.items() if codes is None]
            ordered = rankings_of(source, {query: judgments.by_query[query] for query in slow}, policy) if slow else {}
            found = {query: codes_of(ordered[query]) if each is None else each for query, each in known.items()}
        else:
            found = all_codes(source, judgments.by_query, policy)
        codes = [found.get(query, NOTHING) for query in judgments.query_ids]
        return codes if _same(codes, judged, judgments) else None


def _wanted(source: Rankings, judgments: Judgments) -> Iterator[tuple[str, Any]]:
    return ((str(query), ranking) for query, ranking in source.by_query.items() if str(query) in judgments.number)


def _codes_of(ranking: Any, query: str, policy: Policy) -> Integers | None:
    """The numbers of a ranking in memory; None where it takes more than sorting by score to rank it."""
    if set(map(type, ranking)) - {str} or (policy.same_id == "drop" and query in ranking):
        return None
    codes = codes_of(list(ranking))
    if isinstance(ranking, Mapping):
        try:
            scores = np.fromiter(ranking.values(), np.float64, len(ranking))
        except (TypeError, ValueError):
            return None
        order = np.argsort(-scores)
        if (np.diff(scores[order]) == 0).any():
            return None
        codes = codes[order]
    elif len(np.unique(codes)) < len(codes):  # duplicates, of which the policy keeps one
        return None
    return codes[: policy.depth]


def _same(codes: list[Integers], judged: JudgedRanks, judgments: Judgments) -> bool:
    """Whether the judged documents still stand where they stood."""
    if not np.array_equal([len(each) for each in codes], judged.retrieved):
        return False
    first = np.concatenate(([0], np.cumsum(judged.retrieved)))
    every = np.concatenate(codes) if codes else NOTHING
    there = every[first[judged.query] + judged.rank - 1]
    return np.array_equal(there, judgments._codes[judged.row])


NOTHING: Integers = np.zeros(0, np.int64)
