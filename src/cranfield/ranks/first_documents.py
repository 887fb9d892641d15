"""The documents of rankings, best first, of a run that the scan has read before, for showing or numbering them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TypeVar

import numpy as np

from cranfield.ranks.codes import codes_of
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import laid_out
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan import text as scan
from cranfield.ranks.scan.native import CORES, native, native_layout
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.ties import ordered
from cranfield.ranks.whole_rankings import rankings_of
from cranfield.read.shapes import Source, Text
from cranfield.read.text import Block, blocks, located

Grades = Mapping[str, Mapping[str, float]]
Ranked = TypeVar("Ranked")
Kept = Callable[[list[str]], Ranked]
Compiled = Callable[..., list[tuple[str, Ranked]] | None]

_TIES = {"doc_id": 0, "smaller_doc_id": 1, "file": 2}  # as the native scan numbers them; others need the grades


def first_documents(source: Source, grades: Grades, n: int, policy: Policy) -> dict[str, list[str]]:
    """The first n documents of the queries of `grades`: `rankings_of`, cut off, but faster for text."""
    return _each_ranking(source, grades, n, policy, list, native.first_of_text if native else None)


def all_codes(source: Source, grades: Grades, policy: Policy) -> dict[str, Integers]:
    """The numbers of all documents of the queries of `grades`, best first."""
    return _each_ranking(source, grades, sys.maxsize, policy, codes_of, native.codes_of_text if native else None)


def _each_ranking(
    source: Source, grades: Grades, n: int, policy: Policy, kept: Kept[Ranked], compiled: Compiled[Ranked] | None
) -> dict[str, Ranked]:
    """What to keep of the first n documents of each query of `grades`; `compiled` finds it in plain text.

    Lines of other queries are skipped unread, and memory is a few blocks besides what is kept.
    """
    most = min(n, policy.depth or n, sys.maxsize)
    if isinstance(source, Text) and policy.duplicates == "error":
        found = _from_text(source, grades, most, policy, kept, compiled)
        if found is not None:
            return found
    return {query: kept(ranking[:most]) for query, ranking in rankings_of(source, grades, policy).items()}


@located()
def _from_text(
    source: Text, grades: Grades, n: int, policy: Policy, kept: Kept[Ranked], compiled: Compiled[Ranked] | None
) -> dict[str, Ranked] | None:
    """None if the lines of a query are in more than one block."""
    found: dict[str, Ranked] = {}
    pieces = blocks(source.stream, source.layout, scan.BLOCK, hashed=False)

    def work(block: Block) -> list[tuple[str, Ranked]]:
        return [(query, kept(documents)) for query, documents in first_of_block(block, grades, n, policy)]

    if native is not None and compiled is not None and policy.ties in _TIES:
        index = native.Index(
            *laid_out(list(grades)), np.empty(0, np.uint8), np.zeros(1, np.int64), np.zeros(len(grades) + 1, np.int64)
        )
        known = (native_layout(source.layout), index, n, _TIES[policy.ties], policy.same_id == "drop")

        def natively(block: Block) -> list[tuple[str, Ranked]]:
            answer = compiled(np.frombuffer(block.data, np.uint8), *known)
            return work(block) if answer is None else answer

        results = in_parallel(natively, pieces, CORES)
    else:
        results = (work(block) for block in pieces)
    with closing(results):
        for part in results:
            for query, its in part:
                if query in found:
                    return None
                found[query] = its
    return found


def first_of_block(block: Block, grades: Grades, n: int, policy: Policy) -> list[tuple[str, list[str]]]:
    """The twin of the native `first_of_text`; that of `codes_of_text` has the numbers of what this finds."""
    columns = block.columns()
    sign = -1 if block.layout.ranks else 1
    scores: dict[str, dict[str, float]] = {}
    for its_query, document, value in zip(columns.query, columns.document, columns.value.tolist(), strict=True):
        query = its_query.decode()
        if query in grades:
            scores.setdefault(query, {})[document.decode()] = sign * value
    return [(query, ordered(its, query, grades[query], policy)[:n]) for query, its in scores.items()]
