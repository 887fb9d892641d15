"""Which documents of a query several runs share, without sorting any: the twin of `src/native/matching.hpp`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Integers, offsets


def match_documents(
    codes: Integers, start: Integers, count: Integers, pairs: Integers
) -> tuple[npt.NDArray[np.int32], Integers, Integers]:
    """The twin of the native `match_documents`.

    codes: of documents; those of a query (row) and run (column) are `count` of them from `start` on
    pairs: of runs, for which shared documents are counted
    Returns a number for each document, from 0 within its query in order of appearance; how many different documents
    each query has; and for each query and pair how many both runs have.
    """
    column = np.zeros(len(codes), dtype=np.int32)
    sizes, shared = np.zeros(len(start), dtype=np.int64), np.zeros((len(start), len(pairs)), dtype=np.int64)
    for query, (its_start, its_count) in enumerate(zip(start, count, strict=True)):
        places = np.repeat(its_start - offsets(its_count)[:-1], its_count) + np.arange(its_count.sum())
        known, appeared, number = np.unique(codes[places], return_index=True, return_inverse=True)
        in_order = np.empty(len(known), dtype=np.int32)
        in_order[np.argsort(appeared)] = np.arange(len(known), dtype=np.int32)
        column[places] = in_order[number]
        sizes[query] = len(known)
        has = np.zeros((len(its_count), len(known)), dtype=np.float32)
        has[np.repeat(np.arange(len(its_count)), its_count), number] = 1
        shared[query] = (has @ has.T)[pairs[:, 0], pairs[:, 1]]
    return column, sizes, shared.reshape(-1)
