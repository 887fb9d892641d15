"""The scores of rankings, best first: for thresholds below which nothing is returned."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import numpy as np

from cranfield.io.shapes import Source, Text
from cranfield.io.text import blocks, located
from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy
from cranfield.ranks.whole_rankings import scores_of

NONE = np.empty(0)


def scores_best_first(source: Source, number: Mapping[str, int], policy: Policy) -> list[Numbers]:
    """The scores of some queries, by their numbers, the highest first; of a text file, only numbers are held."""
    plain = policy.duplicates == "error" and policy.same_id == "keep"  # otherwise documents must be known
    if isinstance(source, Text) and plain:
        found = _from_text(source, number)
    else:
        found = [NONE] * len(number)
        for query, scores in scores_of(source, policy, number).items():
            kept = [score for document, score in scores.items() if policy.same_id == "keep" or document != query]
            found[number[query]] = np.array(kept, dtype=np.float64)
    return [-np.sort(-scores)[: policy.depth] for scores in found]


@located()
def _from_text(source: Text, number: Mapping[str, int]) -> list[Numbers]:
    parts: list[list[Numbers]] = [[] for _ in number]
    known = {query.encode(): at for query, at in number.items()}
    sign = -1 if source.layout.ranks else 1
    for block in blocks(source.stream, source.layout, held=True):
        columns, start = block.columns(), 0
        for query, its in groupby(columns.query):
            end = start + sum(1 for _ in its)
            if query in known:
                parts[known[query]].append(sign * columns.value[start:end])
            start = end
    return [np.concatenate(its) if its else NONE for its in parts]
