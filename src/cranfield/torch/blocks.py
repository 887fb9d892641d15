"""Products of queries and documents, a block at a time, and the counts above judged documents in them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from cranfield.ranks.columns import Integers
from cranfield.torch.counting import Counted, counter

_AT_ONCE = 1 << 30  # products held at a time


class Multiplier(Protocol):
    """Multiplies queries by tiles of documents, and counts what is above judged documents."""

    def add(self, documents: Tensor, start: int) -> None:
        """Count in a tile of documents, the first of which is `start`."""

    def seen(self) -> Tensor:
        """The scores that judged documents had in their tiles."""

    def counted(self) -> Counted:
        """The counts."""


class BlockMultiplier:
    """Makes the scores of a block of queries at a time, and counts in them.

    row, own, column: of each judged document its query, its score and its number; they ascend.
    judged: how many of them each query has.
    scores: makes the scores of queries and documents.
    tile: how many documents are multiplied at once; scores depend on it in their last bit.
    """

    def __init__(
        self,
        queries: Tensor,
        row: Tensor,
        own: Tensor,
        column: Tensor,
        judged: Integers,
        scores: Callable[[Tensor, Tensor], Tensor],
        tile: int,
    ) -> None:
        self._scores, self._tile, self._seen, self._blocks = scores, tile, own.clone(), []
        step, first = max(1, _AT_ONCE // tile), np.concatenate(([0], np.cumsum(judged)))
        for start in range(0, len(queries), step):
            counts = judged[start : start + step]
            its = slice(int(first[start]), int(first[start + len(counts)]))
            counting = counter(row[its] - start, own[its], column[its], counts, self._seen[its])
            self._blocks.append((queries[start : start + step], counting))

    def add(self, documents: Tensor, start: int) -> None:
        """Count in a tile of documents, the first of which is `start`."""
        size = len(documents)
        if size < self._tile:
            documents = torch.cat((documents, documents.new_zeros(self._tile - size, documents.shape[1])))
        for queries, counting in self._blocks:
            counting.add(self._scores(queries, documents)[:, :size], start)

    def seen(self) -> Tensor:
        """The scores that judged documents had in their tiles."""
        return self._seen

    def counted(self) -> Counted:
        """The counts."""
        parts = [counting.counted() for _, counting in self._blocks]
        return Counted(*(torch.cat(column) for column in zip(*parts, strict=True)))


def can_fuse(queries: Tensor, dtype: torch.dtype, judged: Integers) -> bool:
    """Whether a kernel can compare such products where it makes them."""
    if not (queries.is_cuda and torch.version.cuda and find_spec("triton")):
        return False
    if not find_spec("triton.tools.tensor_descriptor"):  # Triton before 3.4
        return False
    from cranfield.torch.fused import fits

    return fits(queries, dtype, judged)
