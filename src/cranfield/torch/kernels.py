"""Counting on a GPU, in Triton: every score is read once, and nothing but the counts is written."""

from __future__ import annotations

from contextlib import nullcontext

import torch
import triton
import triton.language as tl
from torch import Tensor

from cranfield.torch.counting import Counted

_FEW = 8  # judged documents of a query that are faster compared one by one than searched
_MANY_EQUAL = 16  # judged documents of a query with one score, from where the same holds
_SPAN = 1 << 16  # scores of a row that one program reads
_BLOCK_ONE, _WARPS_ONE = 2048, 4  # scores that it compares at once, and the warps that share them
_BLOCK_MANY, _WARPS_MANY = 1024, 4
_STEPS = 8  # of the search among judged scores, at most: 255 of them for each time the scores are read


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
    by_score,
    by_order,
    odd,
    SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
):  # pragma: no cover
    """All judged documents of a row, one span of it: a binary search for every score, and histograms of its answers.

    by_score: how many scores have so many lower judged scores; first those that equal none, then those that do.
    by_order: the same with the tie rule, by which no two documents are equal.
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
    scored = tl.zeros([2 * SIZE], tl.int32)
    ordered = tl.zeros([SIZE], tl.int32)
    zero = tl.zeros([BLOCK], limits.dtype.element_ty)
    # The first two steps of every search need only these.
    one_half = tl.load(limits + SIZE // 2 - 1)
    one_fourth = tl.load(limits + SIZE // 4 - 1)
    three_fourths = tl.load(limits + SIZE // 2 + SIZE // 4 - 1)
    for start in range(first, last, BLOCK):
        column = start + lane
        inside = column < last
        value = tl.load(scores + column, mask=inside, other=0.0).to(limits.dtype.element_ty)
        zero += value * 0.0
        value = tl.where(inside, value, float("-inf"))  # falls in the lowest cell, which nobody reads
        upper = one_half < value
        at = tl.where(upper, SIZE // 2, 0)  # how many judged scores are lower
        at += tl.where(tl.where(upper, three_fourths, one_fourth) < value, SIZE // 4, 0)
        for step in tl.static_range(2, STEPS):
            further = at + (SIZE >> (step + 1))
            at = tl.where(tl.load(limits + further - 1) < value, further, at)
        equal = tl.load(limits + at) == value
        scored += tl.histogram(tl.where(equal, at + SIZE, at), 2 * SIZE)
        behind = at
        for other in range(rounds):
            slot = at + other
            equal = equal & (tl.load(limits + slot, mask=equal, other=0.0) == value)
            behind += (equal & (tl.load(documents + slot, mask=equal, other=0) < column + tile)).to(tl.int32)
        ordered += tl.histogram(behind, SIZE)
    tl.atomic_add(by_score + slab * 2 * SIZE + tl.arange(0, 2 * SIZE), scored, sem="relaxed")
    tl.atomic_add(by_order + slab * SIZE + tl.arange(0, SIZE), ordered, sem="relaxed")
    strange = tl.max((zero != zero).to(tl.int32))
    tl.atomic_or(odd + row, strange, mask=strange > 0, sem="relaxed")


class DeviceCounter:
    """Counts by kernels: one judged document after another where they are few, and all of a row at once otherwise."""

    def __init__(self, rows: int, query: Tensor, own: Tensor, document: Tensor) -> None:
        self._judged = len(query)
        self._odd = torch.zeros(rows, dtype=torch.int32, device=query.device)
        own = own.to(torch.float64 if own.dtype == torch.float64 else torch.float32)
        document = document.to(torch.int32)
        judged = torch.bincount(query, minlength=rows)
        most = int(judged.max()) if rows else 0
        self._slabs = _Slabs(query, own, document, judged, most) if most > _FEW else None
        if self._slabs and int(self._slabs.largest_tie.max()) > _MANY_EQUAL:
            self._slabs = None
        # A row without a judged document is read as well, for what is odd about it.
        unjudged = (judged == 0).nonzero().flatten()
        self._query = torch.cat((query, unjudged))
        self._own = torch.cat((own, own.new_full((len(unjudged),), torch.inf)))
        self._document = torch.cat((document, document.new_zeros(len(unjudged))))
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
                _block(n, _BLOCK_ONE),
                num_warps=_WARPS_ONE,
            )

    def counted(self) -> Counted:
        """All that was counted."""
        above, before, tied = self._slabs.counts() if self._slabs else self._counts[:, : self._judged].long()
        return Counted(above, before, tied, self._odd)


class _Slabs:
    """The judged scores of each row, ascending, in slabs of as many as one program can search."""

    def __init__(self, query: Tensor, own: Tensor, document: Tensor, judged: Tensor, most: int) -> None:
        order = own.argsort(stable=True)  # documents with one score stay in the order of their columns
        self.order = order[query[order].argsort(stable=True)]
        self.steps = min(_STEPS, max(4, most.bit_length()))
        size = 1 << self.steps
        room = size - 1  # a place stays free, as the end
        counts = (judged + room - 1).div(room, rounding_mode="floor").clamp(min=1)
        first = counts.cumsum(0) - counts
        place = torch.arange(len(query), device=query.device) - (judged.cumsum(0) - judged)[query]
        self.slab, self.slot = first[query] + place.div(room, rounding_mode="floor"), place % room
        self.query = torch.repeat_interleave(torch.arange(len(judged), device=query.device), counts)
        self.limits = own.new_full((len(self.query), size), torch.inf)
        self.limits[self.slab, self.slot] = own[self.order]
        self.documents = document.new_zeros((len(self.query), size))
        self.documents[self.slab, self.slot] = document[self.order]
        # How often the most frequent judged score of a slab occurs: runs of equal numbers.
        column = torch.arange(size, device=query.device).expand_as(self.limits)
        new = torch.ones_like(self.limits, dtype=torch.bool)
        new[:, 1:] = self.limits[:, 1:] != self.limits[:, :-1]
        run = column - (column * new).cummax(1).values + 1
        self.largest_tie = (run * (self.limits < torch.inf)).amax(1).to(torch.int32)

        self._first_equal = (column - run + 1)[self.slab, self.slot]
        self._by_score = torch.zeros((len(self.query), 2, size), dtype=torch.int32, device=query.device)
        self._by_order = torch.zeros_like(self.documents)

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
            self._by_score,
            self._by_order,
            odd,
            _SPAN,
            _block(n, _BLOCK_MANY),
            self.steps,
            num_warps=_WARPS_MANY,
        )

    def counts(self) -> Tensor:
        """The documents above each judged one, those with its score before it, and all with its score."""
        above = _beyond(self._by_score.sum(1))[self.slab, self.slot]
        before = _beyond(self._by_order)[self.slab, self.slot] - above
        tied = self._by_score[self.slab, 1, self._first_equal].long()
        counts = torch.empty((3, len(self.order)), dtype=torch.int64, device=above.device)
        counts[:, self.order] = torch.stack((above, before, tied))
        return counts


def _beyond(cells: Tensor) -> Tensor:
    """How many scores fall in the cells behind each one."""
    return cells.sum(1, keepdim=True) - cells.cumsum(1)


def _block(n: int, most: int) -> int:
    return min(most, max(128, 1 << (n - 1).bit_length()))
