"""The values of many settings at once, without fusing a run: only judged documents are ranked, by counting.

rankings of a query ──each setting──▶ fused scores ──count above the judged ones──▶ their ranks ──▶ the measure
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.io.text import located
from cranfield.mixing.candidates import weights_of
from cranfield.mixing.lists import Lists, Ranked, settled
from cranfield.mixing.methods import METHODS
from cranfield.mixing.mixture import Mixture
from cranfield.mixing.reading import Part, chunks, open_rankings
from cranfield.native import CORES, native
from cranfield.ranks.codes import codes_of
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_counted
from cranfield.ranks.run import Run
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.tables.ranks import JudgedRanks

AT_ONCE = 100_000  # fused scores of a query to hold: they fit the cache
NOWHERE = np.iinfo(np.int32).max
Counts = np.ndarray[Any, np.dtype[np.int32]]


def count_above(scores: Numbers, documents: Integers) -> Integers:
    """The twin of the native `count_above`.

    For each ranking (a row of scores) and each of some documents (columns), how many documents come before it: those
    with a higher score, and of those with the same score the ones in earlier columns.
    """
    place, level = np.arange(scores.shape[1]), scores[:, documents]
    above = [
        ((scores > level[:, at, None]) | ((scores == level[:, at, None]) & (place < own))).sum(axis=1)
        for at, own in enumerate(documents.tolist())
    ]
    return np.stack(above, axis=1).reshape(-1) if above else np.zeros(0, np.int64)


class Counted(NamedTuple):
    """The judged documents that some run has, and how many documents each setting puts above them.

    row: of the judgments; above: a row for each setting; size: how many documents each query has, by depth
    """

    row: Integers
    above: Counts
    sizes: dict[int, Integers]

    def ranks(self, at: int, depth: int, judgments: Judgments, policy: Policy) -> JudgedRanks:
        """The table of a setting."""
        within = np.flatnonzero(self.above[at] < depth)
        above = self.above[at][within].astype(np.int64)
        none, one = np.zeros(len(within), np.int64), np.ones(len(within), np.int64)
        sizes = self.sizes[depth]
        retrieved = np.where(sizes < 0, -1, np.minimum(sizes, depth))
        scanned = Scanned(retrieved, 0, Places(self.row[within], above, none, one))
        return rank_counted(judgments, scanned, replace(policy, ties="doc_id", depth=None))


def count_settings(
    runs: Sequence[Run],
    mixtures: Sequence[Mixture],
    judgments: Judgments,
    policy: Policy,
    advance: Callable[[int], None],
) -> Counted:
    judged = _JudgedCodes(judgments)
    families = _families(mixtures)
    depths = sorted({mixture.depth for mixture in mixtures})
    sizes = {depth: np.full(len(judgments), -1, dtype=np.int64) for depth in depths}
    rows: list[Integers] = []
    above: list[Counts] = []

    def work(group: tuple[list[str], list[Part]]) -> tuple[list[str], Integers, Counts, dict[int, Integers]]:
        names, parts = group
        return names, *_counted(names, [part.ranked() for part in parts], judged, families, len(mixtures))

    with ExitStack() as stack, located():
        files = open_rankings(runs, policy, stack)
        queries = [query for query in judgments.query_ids if any(query in file.sizes for file in files)]
        if not queries:
            raise InputError(
                files[0].name, "no run has a query of the judgments.", hint="are they of another collection?"
            )
        with closing(in_parallel(work, chunks(files, queries), CORES)) as results:
            for names, its_rows, its_above, its_sizes in results:
                numbers = [judgments.number[name] for name in names]
                rows.append(its_rows)
                above.append(its_above)
                for depth, its in its_sizes.items():
                    sizes[depth][numbers] = its
                advance(len(names))
    return Counted(np.concatenate(rows), np.concatenate(above, axis=1), sizes)


class _JudgedCodes:
    """The judged documents of each query as numbers."""

    def __init__(self, judgments: Judgments) -> None:
        self._codes = codes_of(list(judgments.document_ids))
        self._first, self._number = judgments.first, judgments.number

    def found(self, query: str, code: Integers) -> tuple[Integers, Integers]:
        """The rows of the judgments whose documents are among these, and where they are."""
        start, end = (int(self._first[self._number[query] + step]) for step in (0, 1))
        order = np.argsort(code)
        its = self._codes[start:end]
        at = np.minimum(np.searchsorted(code[order], its), max(len(code) - 1, 0))
        here = code[order[at]] == its if len(code) else np.zeros(len(its), dtype=np.bool_)
        return start + np.flatnonzero(here), order[at[here]]


class Family(NamedTuple):
    """Settings that differ in the weights of the runs alone.

    mixture: one of them; numbers: of all of them; weights: a row for each, None where the runs have none
    """

    mixture: Mixture
    numbers: Integers
    weights: Numbers | None


def _families(mixtures: Sequence[Mixture]) -> list[list[Family]]:
    """The families whose lists are the same, those with the deepest lists first."""
    by_lists: dict[tuple[object, ...], dict[tuple[object, ...], list[int]]] = {}
    for at, mixture in sorted(enumerate(mixtures), key=lambda pair: -pair[1].depth):
        lists = mixture.depth, mixture.normalisation, mixture.parameters.get("constant"), METHODS[mixture.method].reads
        own = mixture.method, tuple(mixture.parameters.items()), bool(mixture.weights)
        by_lists.setdefault(lists, {}).setdefault(own, []).append(at)
    return [[_family(mixtures, its) for its in alike.values()] for alike in by_lists.values()]


def _family(mixtures: Sequence[Mixture], numbers: list[int]) -> Family:
    first = mixtures[numbers[0]]
    weights = weights_of([mixtures[at] for at in numbers]) if first.weights else None
    return Family(first, np.array(numbers), weights)


def _counted(
    names: Sequence[str],
    ranked: Sequence[Ranked],
    judged: _JudgedCodes,
    families: Sequence[Sequence[Family]],
    settings: int,
) -> tuple[Integers, Counts, dict[int, Integers]]:
    """The judged rows of some queries, how many documents each setting has above each, and how many there are."""
    sizes: dict[int, Integers] = {}
    rows: list[Integers] = []  # of each query, all that any setting can have
    above = np.zeros((settings, 0), dtype=np.int32)
    where = np.zeros(1, dtype=np.int64)
    for alike in families:
        lists = alike[0].mixture.lists(ranked).in_order_of_ids()
        sizes[alike[0].mixture.depth] = np.diff(lists.first)
        found = [judged.found(name, lists.part(query).code) for query, name in enumerate(names)]
        if not rows:
            rows = [row for row, _ in found]
            where = offsets(map(len, rows))
            above = np.full((settings, int(where[-1])), NOWHERE, dtype=np.int32)
        for query, (row, documents) in enumerate(found):
            if len(row):
                columns = where[query] + np.searchsorted(rows[query], row)
                for family in alike:
                    _count(above, columns, lists.part(query), documents, family)
    return np.concatenate(rows), above, sizes


def _count(above: Counts, columns: Integers, part: Lists, documents: Integers, family: Family) -> None:
    """Count for the settings of a family, a few at a time."""
    count = native.count_above if native else count_above
    step = max(1, AT_ONCE // max(part.rank.shape[1], 1))
    for start in range(0, len(family.numbers), step):
        numbers = family.numbers[start : start + step]
        weights = None if family.weights is None else family.weights[start : start + step]
        scores = settled(np.atleast_2d(family.mixture.fused(part, weights)))
        above[np.ix_(numbers, columns)] = count(np.ascontiguousarray(scores), documents).reshape(len(scores), -1)
