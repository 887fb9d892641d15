"""Counting on a GPU, in Triton: every score is read once, and nothing but the counts is written."""

from __future__ import annotations

from contextlib import nullcontext

import torch
import triton
import triton.language as tl
from torch import Tensor

from cranfield.torch.counting import Counted

_FEW = 8  # judged documents of a query that are faster compared one by one than searched
_MANY_EQUAL = 8  # judged documents of a query with one score, from where the same holds
_SPAN = 1 << 16  # scores of a row that one program reads
_BLOCK = 4096  # scores that it compares at once
_STEPS = 8  # of the search among judged scores, at most: 255 of them for each time the scores are read


@triton.jit
def _compared(
    scores, mine, column, inside, place, above, before, tied, high, low, TAIL: tl.constexpr
):  # pragma: no cover - compiled for the device
    if TAIL:
        value = tl.load(scores + column, mask=inside, other=float("-inf")).to(mine.dtype)
        same = (value == mine) & inside
        low = tl.minimum(low, tl.where(inside, value, float("inf")))
    else:
        value = tl.load(scores + column).to(mine.dtype)
        same = value == mine
        low = tl.minimum(low, value)
    above += (value > mine).to(tl.int32)
    tied += same.to(tl.int32)
    before += (same & (column > place)).to(tl.int32)
    high = tl.maximum(high, value, propagate_nan=tl.PropagateNan.ALL)
    return above, before, tied, high, low


@triton.jit
def _oddities(high, low):  # pragma: no cover
    wrong = tl.max(tl.where(high < float("inf"), 0, 1))  # NaN is not lower either
    left_out = tl.max(tl.where(low == float("-inf"), 2, 0))
    return wrong | left_out


@triton.jit
def _count_one(
    scores, stride, n, tile, query, own, document, above, before, tied, odd, SPAN: tl.constexpr, BLOCK: tl.constexpr
):  # pragma: no cover
    """One judged document, one span of its row."""
    entry = tl.program_id(0)
    row = tl.load(query + entry)
    mine = tl.load(own + entry)
    place = tl.load(document + entry) - tile
    scores += row * stride
    first = tl.program_id(1) * SPAN
    last = tl.minimum(first + SPAN, n)
    whole = first + (last - first) // BLOCK * BLOCK
    lane = tl.arange(0, BLOCK)
    n_above = tl.zeros([BLOCK], tl.int32)
    n_before = tl.zeros([BLOCK], tl.int32)
    n_tied = tl.zeros([BLOCK], tl.int32)
    high = tl.zeros([BLOCK], mine.dtype) - float("inf")
    low = tl.zeros([BLOCK], mine.dtype) + float("inf")
    for start in range(first, whole, BLOCK):
        n_above, n_before, n_tied, high, low = _compared(
            scores, mine, start + lane, True, place, n_above, n_before, n_tied, high, low, False
        )
    if whole < last:
        column = whole + lane
        n_above, n_before, n_tied, high, low = _compared(
            scores, mine, column, column < last, place, n_above, n_before, n_tied, high, low, True
        )
    tl.atomic_add(above + entry, tl.sum(n_above))
    tl.atomic_add(before + entry, tl.sum(n_before))
    tl.atomic_add(tied + entry, tl.sum(n_tied))
    strange = _oddities(high, low)
    tl.atomic_or(odd + row, strange, mask=strange > 0)


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
    before,
    tied,
    odd,
    SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
):  # pragma: no cover
    """All judged documents of a row, one span of it: a binary search for every score, and a histogram of its answers.

    Scores that equal a judged one are few, and are added one by one.
    """
    SIZE: tl.constexpr = 1 << STEPS
    slab = tl.program_id(0)
    row = tl.load(query + slab)
    rounds = tl.load(largest_tie + slab)
    scores += row * stride
    limits += slab * SIZE
    documents += slab * SIZE
    before += slab * SIZE
    tied += slab * SIZE
    first = tl.program_id(1) * SPAN
    last = tl.minimum(first + SPAN, n)
    lane = tl.arange(0, BLOCK)
    histogram = tl.zeros([SIZE], tl.int32)
    high = tl.zeros([BLOCK], limits.dtype.element_ty) - float("inf")
    low = tl.zeros([BLOCK], limits.dtype.element_ty) + float("inf")
    for start in range(first, last, BLOCK):
        column = start + lane
        inside = column < last
        value = tl.load(scores + column, mask=inside, other=float("-inf")).to(limits.dtype.element_ty)
        high = tl.maximum(high, value, propagate_nan=tl.PropagateNan.ALL)
        low = tl.minimum(low, tl.where(inside, value, float("inf")))
        at = tl.zeros([BLOCK], tl.int32)  # how many judged scores are lower
        for step in tl.static_range(STEPS):
            further = at + (SIZE >> (step + 1))
            at = tl.where(tl.load(limits + further - 1) < value, further, at)
        histogram += tl.histogram(at, SIZE)
        equal = inside
        for other in range(rounds):
            slot = at + other
            equal = equal & (tl.load(limits + slot, mask=equal, other=float("inf")) == value)
            tl.atomic_add(tied + slot, 1, mask=equal, sem="relaxed")
            earlier = equal & (column + tile > tl.load(documents + slot, mask=equal, other=0))
            tl.atomic_add(before + slot, 1, mask=earlier, sem="relaxed")
    tl.atomic_add(cells + slab * SIZE + tl.arange(0, SIZE), histogram, sem="relaxed")
    strange = _oddities(high, low)
    tl.atomic_or(odd + row, strange, mask=strange > 0)


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
                _block(n),
            )

    def counted(self) -> Counted:
        """All that was counted."""
        above, before, tied = self._slabs.counts() if self._slabs else self._counts[:, : self._judged].long()
        return Counted(above, before, tied, self._odd)


class _Slabs:
    """The judged scores of each row, ascending, in slabs of as many as one program can search."""

    def __init__(self, query: Tensor, own: Tensor, document: Tensor, judged: Tensor, most: int) -> None:
        order = own.argsort()
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

        self._tables = torch.zeros((3, *self.limits.shape), dtype=torch.int32, device=query.device)

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
            *self._tables,
            odd,
            _SPAN,
            _block(n),
            self.steps,
        )

    def counts(self) -> Tensor:
        """The documents above each judged one, those with its score before it, and all with its score."""
        cells, before, tied = self._tables
        above = cells.sum(1, keepdim=True) - cells.cumsum(1)
        counts = torch.empty((3, len(self.order)), dtype=torch.int64, device=cells.device)
        for column, table in zip(counts, (above, before, tied), strict=True):
            column[self.order] = table[self.slab, self.slot].long()
        return counts


def _block(n: int) -> int:
    return min(_BLOCK, max(128, 1 << (n - 1).bit_length()))
