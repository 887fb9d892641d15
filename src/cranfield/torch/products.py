"""Products of embeddings, a block at a time in the arithmetic of the device, and the counts above judged documents."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from cranfield.errors import InputError
from cranfield.ranks.columns import Integers
from cranfield.torch.counting import Counted, counter

# And what holds them exactly.
EIGHT_BIT_FLOATS = {torch.float8_e4m3fn: torch.bfloat16, torch.float8_e5m2: torch.float16}
STEP = 16  # 8-bit products need multiples of this for dimensions and documents


def is_eight_bit(dtype: torch.dtype) -> bool:
    return dtype == torch.int8 or dtype in EIGHT_BIT_FLOATS


def usual_dtype(embeddings: torch.dtype, similarity: str) -> torch.dtype:
    if embeddings == torch.int8:
        return torch.int32  # in which the products of 8-bit integers are exact
    if embeddings in EIGHT_BIT_FLOATS:
        return torch.float32
    return torch.promote_types(embeddings, torch.float32) if similarity == "l2" else embeddings


def check_eight_bit(dtype: torch.dtype, similarity: str, scores: torch.dtype | None) -> None:
    if not is_eight_bit(dtype):
        return
    if similarity == "cosine":
        raise InputError(
            "similarity",
            f"embeddings of {dtype} cannot be normalised without being rounded again.",
            hint="normalise them before they are made smaller, and choose 'dot'",
        )
    if scores is not None and scores != torch.int32 and not scores.is_floating_point:
        raise InputError("dtype", f"scores cannot be {scores}.", hint="torch.float32, or torch.int32 for int8")


def padded(rows: Tensor) -> Tensor:
    """Embeddings of 8 bits with as many dimensions as a product can have; those that are added are 0."""
    lacking = -rows.shape[1] % STEP
    if not lacking or not is_eight_bit(rows.dtype):
        return rows
    return torch.cat((rows, rows.new_zeros(len(rows), lacking)), 1)


def product(queries: Tensor, documents: Tensor, dtype: torch.dtype) -> Tensor:
    if queries.dtype == torch.int8 and dtype == torch.int32:  # exact; on a GPU they take more than 16 rows
        rows = len(queries)
        if queries.is_cuda and rows <= STEP:
            queries = torch.cat((queries, queries.new_zeros(STEP + 1 - rows, queries.shape[1])))
        return torch._int_mm(queries, documents.T)[:rows]
    if queries.dtype in EIGHT_BIT_FLOATS:
        scaled = queries.dtype == torch.float8_e4m3fn and dtype in (torch.float32, torch.bfloat16, torch.float16)
        if scaled and _has_eight_bit_floats(queries.device):
            one = torch.ones((), device=queries.device)
            return torch._scaled_mm(queries, documents.T, one, one, out_dtype=dtype, use_fast_accum=False)
        wide = EIGHT_BIT_FLOATS[queries.dtype]
        queries, documents = queries.to(wide), documents.to(wide)
    if dtype == queries.dtype:
        return queries @ documents.T
    if dtype == torch.float32 and queries.is_cuda and queries.is_floating_point():
        return torch.mm(queries, documents.T, out_dtype=torch.float32)
    return queries.to(dtype) @ documents.to(dtype).T


@lru_cache
def _has_eight_bit_floats(device: torch.device) -> bool:
    return (
        device.type == "cuda" and torch.version.cuda is not None and torch.cuda.get_device_capability(device) >= (8, 9)
    )


def largest_finite(kind: torch.dtype) -> float:
    """The largest float32 that is rounded to a finite number of a kind."""
    if kind.itemsize == 4:
        return float(torch.finfo(torch.float32).max)
    limits = torch.finfo(kind)
    half_a_step = limits.max / (2 - limits.eps) * limits.eps / 2
    return float(torch.nextafter(torch.tensor(limits.max + half_a_step), torch.tensor(0.0)))


def rounding_edges(own: Tensor, wide: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the greatest float32 that is rounded to each score: numbers between them tie with it."""
    if own.dtype == wide.dtype:
        return own, own
    bits = own.view(torch.int16).int()
    order = torch.where(bits < 0, -(bits & 0x7FFF), bits)  # which has the order of the numbers
    edges = []
    for near in (order - 1, order + 1):
        neighbour = torch.where(near < 0, -0x8000 - near, near).to(torch.int16).view(own.dtype).float()
        middle = wide + (neighbour - wide) / 2
        edges.append(torch.where(middle.to(own.dtype) == own, middle, torch.nextafter(middle, wide)))
    return edges[0], edges[1]


_AT_ONCE = 1 << 30  # products held at a time


class Multiplier(Protocol):
    """Multiplies queries by tiles of documents, and counts what is above judged documents."""

    def add(self, documents: Tensor, start: int) -> None: ...  # `start`: the first document of the tile
    def seen(self) -> Tensor: ...  # the scores that judged documents had in their tiles
    def counted(self) -> Counted: ...


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
        size = len(documents)
        if size < self._tile:
            documents = torch.cat((documents, documents.new_zeros(self._tile - size, documents.shape[1])))
        for queries, counting in self._blocks:
            counting.add(self._scores(queries, documents)[:, :size], start)

    def seen(self) -> Tensor:
        return self._seen

    def counted(self) -> Counted:
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
