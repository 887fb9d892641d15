"""Counting on a GPU, in Triton: every score is read once, and nothing but the counts is written."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from cranfield.ranks.columns import Integers
from cranfield.torch.counting import Counted

_FEW = 8  # judged documents of a query that are faster compared one by one than searched
_MANY_EQUAL = 16  # judged documents of a query with one score, from where the same holds
_SPAN = 1 << 16  # scores of a row that one program reads
_BLOCK_ONE, _WARPS_ONE = 1024, 8  # scores that it compares at once, and the warps that share them
_BLOCK_MANY, _WARPS_MANY = 1024, 8  # never fewer scores than threads, or some would be counted twice
_STEPS = 8  # of the search among judged scores, at most: 255 of them for each time the scores are read


# Triton can add to memory of the whole device, or make a histogram with a vote for every bit and cell; counting in the
# memory that the threads of a program share is faster than either, and needs these few words of PTX.


@triton.jit
def _shared_cells(anything):  # pragma: no cover - compiled for the device
    """The address of as many cells as the longest search can end in, four kinds of each."""
    return tl.inline_asm_elementwise(
        "{ .shared .align 4 .b32 cells[1024]; mov.u32 $0, cells; }", "=r,r", [anything], tl.int32, False, 1
    )


@triton.jit
def _clear(cell):  # pragma: no cover
    tl.inline_asm_elementwise("st.shared.u32 [$1], 0; mov.u32 $0, 0;", "=r,r", [cell], tl.int32, False, 1)


@triton.jit
def _add_one(cell):  # pragma: no cover
    tl.inline_asm_elementwise("red.shared.add.u32 [$1], 1; mov.u32 $0, 0;", "=r,r", [cell], tl.int32, False, 1)


@triton.jit
def _read(cell):  # pragma: no cover
    return tl.inline_asm_elementwise("ld.shared.u32 $0, [$1];", "=r,r", [cell], tl.int32, False, 1)


@triton.jit
def _compared(scores, column, mine, n_above, n_tied, zero):  # pragma: no cover - compiled for the device
    value = tl.load(scores + column).to(mine.dtype)
    n_above += (value > mine).to(tl.int32)
    n_tied += (value == mine).to(tl.int32)
    return n_above, n_tied, zero + value * 0.0  # 0 stays 0 unless a score is not finite


@triton.jit
def _count_one(
    scores, stride, n, tile, query, own, document, above, before, tied, odd, SPAN: tl.constexpr, BLOCK: tl.constexpr
):  # pragma: no cover
    """One judged document, one span of its row.

    Only in the block that holds the document do columns matter: ties before it come later, ties behind it earlier.
    """
    entry = tl.program_id(0)
    row = tl.load(query + entry)
    mine = tl.load(own + entry)
    place = tl.load(document + entry) - tile
    scores += row * stride
    first = tl.program_id(1) * SPAN
    last = tl.minimum(first + SPAN, n)
    whole = first + (last - first) // BLOCK * BLOCK
    middle = first + (tl.minimum(tl.maximum(place, first), last) - first) // BLOCK * BLOCK
    lane = tl.arange(0, BLOCK)
    n_above = tl.zeros([BLOCK], tl.int32)
    n_tied = tl.zeros([BLOCK], tl.int32)
    zero = tl.zeros([BLOCK], mine.dtype)
    for start in range(first, tl.minimum(middle, whole), BLOCK):
        n_above, n_tied, zero = _compared(scores, start + lane, mine, n_above, n_tied, zero)
    n_behind = tl.sum(n_tied)
    for start in range(middle, last, tl.maximum(whole - middle, BLOCK)):  # that block, and what is left of the span
        column = start + lane
        inside = column < last
        value = tl.load(scores + column, mask=inside, other=0.0).to(mine.dtype)
        same = (value == mine) & inside
        n_above += ((value > mine) & inside).to(tl.int32)
        n_tied += same.to(tl.int32)
        n_behind += tl.sum((same & (column <= place)).to(tl.int32))
        zero += value * 0.0
    for start in range(middle + BLOCK, whole, BLOCK):
        n_above, n_tied, zero = _compared(scores, start + lane, mine, n_above, n_tied, zero)
    n_before = tl.sum(n_tied) - n_behind
    tl.atomic_add(above + entry, tl.sum(n_above), sem="relaxed")
    tl.atomic_add(before + entry, n_before, sem="relaxed")
    tl.atomic_add(tied + entry, tl.sum(n_tied), sem="relaxed")
    strange = tl.max((zero != zero).to(tl.int32))
    tl.atomic_or(odd + row, strange, mask=strange > 0, sem="relaxed")


@triton.jit
def _count_many(
    scores,
    stride,
    n,
    tile,
    query,
    limits,
    documents,
    largest_tie,
    cells,
    odd,
    SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
):  # pragma: no cover
    """All judged documents of a row, one span of it: a binary search for every score, and a count of where they end.

    cells: how many scores stand before so many judged documents by score and tie rule; first those that equal no judged
    score, then those that equal one but stand behind all judged documents that have it, then the others that equal one.
    """
    SIZE: tl.constexpr = 1 << STEPS
    slab = tl.program_id(0)
    row = tl.load(query + slab)
    rounds = tl.load(largest_tie + slab)
    scores += row * stride
    limits += slab * SIZE
    documents += slab * SIZE
    first = tl.program_id(1) * SPAN
    last = tl.minimum(first + SPAN, n)
    lane = tl.arange(0, BLOCK)
    cell = tl.arange(0, 4 * SIZE)
    shared = _shared_cells(slab)
    _clear(shared + 4 * cell)
    tl.debug_barrier()
    zero = tl.zeros([BLOCK], limits.dtype.element_ty)
    # The first three steps of every search need only these.
    half = tl.load(limits + SIZE // 2 - 1)
    fourth_1 = tl.load(limits + SIZE // 4 - 1)
    fourth_3 = tl.load(limits + 3 * SIZE // 4 - 1)
    eighth_1 = tl.load(limits + SIZE // 8 - 1)
    eighth_3 = tl.load(limits + 3 * SIZE // 8 - 1)
    eighth_5 = tl.load(limits + 5 * SIZE // 8 - 1)
    eighth_7 = tl.load(limits + 7 * SIZE // 8 - 1)
    for start in range(first, last, BLOCK):
        column = start + lane
        inside = column < last
        value = tl.load(scores + column, mask=inside, other=0.0).to(limits.dtype.element_ty)
        zero += value * 0.0
        value = tl.where(inside, value, float("-inf"))  # falls in the lowest cell, which nobody reads
        upper = half < value
        fourth = tl.where(upper, fourth_3, fourth_1)
        outer = fourth < value
        eighth = tl.where(upper, tl.where(outer, eighth_7, eighth_5), tl.where(outer, eighth_3, eighth_1))
        at = tl.where(upper, SIZE // 2, 0) + tl.where(outer, SIZE // 4, 0)  # how many judged scores are lower
        at += tl.where(eighth < value, SIZE // 8, 0)
        equal = (half == value) | (fourth == value) | (eighth == value)  # a score that a search seeks, it meets
        for step in tl.static_range(3, STEPS):
            further = at + (SIZE >> (step + 1))
            limit = tl.load(limits + further - 1)
            at = tl.where(limit < value, further, at)
            equal = equal | (limit == value)
        before = at + (equal & (tl.load(documents + at, mask=equal, other=0) < column + tile)).to(tl.int32)
        same = equal
        for other in range(1, rounds):
            same = same & (tl.load(limits + at + other, mask=same, other=0.0) == value)
            before += (same & (tl.load(documents + at + other, mask=same, other=0) < column + tile)).to(tl.int32)
        kind = tl.where(equal, tl.where(before == at, 1, 2), 0)
        _add_one(shared + 4 * (kind * SIZE + before))
    tl.debug_barrier()
    tl.atomic_add(cells + slab * 4 * SIZE + cell, _read(shared + 4 * cell), sem="relaxed")
    strange = tl.max((zero != zero).to(tl.int32))
    tl.atomic_or(odd + row, strange, mask=strange > 0, sem="relaxed")


class DeviceCounter:
    """Counts by kernels: one judged document after another where they are few, and all of a row at once otherwise."""

    def __init__(self, query: Tensor, own: Tensor, document: Tensor, judged: Integers) -> None:
        self._judged = len(query)
        self._odd = torch.zeros(len(judged), dtype=torch.int32, device=query.device)
        own = own.to(torch.float64 if own.dtype == torch.float64 else torch.float32)
        document = document.to(torch.int32)
        most = int(judged.max(initial=0))
        self._slabs = _Slabs(query, own, document, judged, most) if most > _FEW else None
        if self._slabs and int(self._slabs.largest_tie.max()) > _MANY_EQUAL:
            self._slabs = None
        unjudged = np.flatnonzero(judged == 0)
        if len(unjudged):  # those rows are read as well, for what is odd about them
            query = torch.cat((query, torch.from_numpy(unjudged).to(query.device)))
            own = torch.cat((own, own.new_full((len(unjudged),), torch.inf)))
            document = torch.cat((document, document.new_zeros(len(unjudged))))
        self._query, self._own, self._document = query.contiguous(), own.contiguous(), document.contiguous()
        self._counts = torch.zeros((3, len(self._query)), dtype=torch.int32, device=query.device)

    def add(self, scores: Tensor, start: int = 0) -> None:
        """Count in a tile of scores, whose first column is the document `start`."""
        scores = scores if scores.stride(1) == 1 else scores.contiguous()
        n = scores.shape[1]
        if not scores.numel():
            return
        with torch.cuda.device(scores.device) if scores.is_cuda else nullcontext():
            if self._slabs:
                self._slabs.add(scores, start, self._odd)
                return
            _count_one[(len(self._query), triton.cdiv(n, _SPAN))](
                scores,
                scores.stride(0),
                n,
                start,
                self._query,
                self._own,
                self._document,
                *self._counts,
                self._odd,
                _SPAN,
                min(_BLOCK_ONE, max(256, triton.next_power_of_2(n))),
                num_warps=_WARPS_ONE,
            )

    def counted(self) -> Counted:
        """All that was counted."""
        above, before, tied = self._slabs.counts() if self._slabs else self._counts[:, : self._judged]
        return Counted(above, before, tied, self._odd)


class _Slabs:
    """The judged scores of each row, ascending, in slabs of as many as one program can search."""

    def __init__(self, query: Tensor, own: Tensor, document: Tensor, counts: Integers, most: int) -> None:
        judged = torch.from_numpy(counts).to(query.device)
        order = own.argsort(stable=True)  # documents with one score stay in the order of their columns
        self.order = order[query[order].argsort(stable=True)]
        self.steps = min(_STEPS, max(4, most.bit_length()))
        size = 1 << self.steps
        room = size - 1  # a place stays free, as the end
        slabs = (judged + room - 1).div(room, rounding_mode="floor").clamp(min=1)
        first = slabs.cumsum(0) - slabs
        place = torch.arange(len(query), device=query.device) - (judged.cumsum(0) - judged)[query]
        self.slab, self.slot = first[query] + place.div(room, rounding_mode="floor"), place % room
        self.query = torch.repeat_interleave(torch.arange(len(judged), device=query.device), slabs)
        self.limits = own.new_full((len(self.query), size), torch.inf)
        self.limits[self.slab, self.slot] = own[self.order]
        self.documents = document.new_zeros((len(self.query), size))
        self.documents[self.slab, self.slot] = document[self.order]
        # Equal judged scores of a slab stand from `_first` to before `_end`.
        first_equal, end = (torch.searchsorted(self.limits, self.limits, right=right) for right in (False, True))
        self.largest_tie = ((end - first_equal) * (self.limits < torch.inf)).amax(1).to(torch.int32)
        self._first, self._end = (place[self.slab, self.slot] for place in (first_equal, end))
        self._cells = torch.zeros((len(self.query), 4, size), dtype=torch.int32, device=query.device)

    def add(self, scores: Tensor, start: int, odd: Tensor) -> None:
        """Search the place of every score of a tile."""
        n = scores.shape[1]
        _count_many[(len(self.query), triton.cdiv(n, _SPAN))](
            scores,
            scores.stride(0),
            n,
            start,
            self.query,
            self.limits,
            self.documents,
            self.largest_tie,
            self._cells,
            odd,
            _SPAN,
            _BLOCK_MANY,
            self.steps,
            num_warps=_WARPS_MANY,
        )

    def counts(self) -> Tensor:
        """The documents above each judged one, those with its score before it, and all with its score."""
        unequal, last, others, _ = (_from(kind) for kind in self._cells.unbind(1))
        slab, behind = self.slab, self.slot + 1
        higher = others[slab, self._end + 1]
        above = unequal[slab, behind] + last[slab, behind] + higher
        before = others[slab, behind] - higher
        tied = last[slab, self._first] - last[slab, self._first + 1] + others[slab, self._first + 1] - higher
        counts = torch.empty((3, len(self.order)), dtype=torch.int64, device=above.device)
        counts[:, self.order] = torch.stack((above, before, tied))
        return counts


def _from(cells: Tensor) -> Tensor:
    """How many scores fall in each cell and all that follow; two more, with none, are the end."""
    return torch.nn.functional.pad(cells.long().flip(1).cumsum(1).flip(1), (0, 2))
