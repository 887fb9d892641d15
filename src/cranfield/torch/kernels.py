"""Counting on a GPU, in Triton: every score is read once, and nothing but the counts is written."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from cranfield.ranks.columns import Integers
from cranfield.torch.counting import FEW_ON_A_DEVICE, Counted

_SPAN_ONE, _SPAN_MANY = 1 << 16, 1 << 19  # scores of a row that one program reads
_BLOCK_ONE, _WARPS_ONE = 1024, 8  # scores that it compares at once, and the warps that share them
_BLOCK_MANY, _WARPS_MANY = 1024, 4  # never fewer scores than threads, or some would be counted twice
_SIZE = 256  # judged scores among which one program searches, less one
_BUCKETS = 4096  # parts of the range of judged scores; most hold one or none


# Triton can add to memory of the whole device, or make a histogram with a vote for every bit and cell; counting in the
# memory that the threads of a program share is faster than either, and needs these few words of PTX.


@triton.jit
def _shared_words(anything):  # pragma: no cover - compiled for the device
    """The address of two words for each judged score, a byte for each bucket, and one that is never read."""
    return tl.inline_asm_elementwise(
        "{ .shared .align 8 .b32 words[1540]; mov.u32 $0, words; }", "=r,r", [anything], tl.int32, False, 1
    )


@triton.jit
def _write(word, value):  # pragma: no cover
    tl.inline_asm_elementwise("st.shared.u32 [$1], $2; mov.u32 $0, 0;", "=r,r,r", [word, value], tl.int32, False, 1)


@triton.jit
def _write_byte(byte, value):  # pragma: no cover
    tl.inline_asm_elementwise("st.shared.u8 [$1], $2; mov.u32 $0, 0;", "=r,r,r", [byte, value], tl.int32, False, 1)


@triton.jit
def _read_byte(byte):  # pragma: no cover
    return tl.inline_asm_elementwise("ld.shared.u8 $0, [$1];", "=r,r", [byte], tl.int32, False, 1)


@triton.jit
def _add_one(word):  # pragma: no cover
    tl.inline_asm_elementwise("red.shared.add.u32 [$1], 1; mov.u32 $0, 0;", "=r,r", [word], tl.int32, False, 1)


@triton.jit
def _read(word):  # pragma: no cover
    return tl.inline_asm_elementwise("ld.shared.u32 $0, [$1];", "=r,r", [word], tl.int32, False, 1)


@triton.jit
def _compared(scores, column, mine, n_above, n_tied, zero):  # pragma: no cover - compiled for the device
    value = tl.load(scores + column).to(mine.dtype)
    n_above += (value > mine).to(tl.int32)
    n_tied += (value == mine).to(tl.int32)
    return n_above, n_tied, zero + value * 0.0  # 0 stays 0 unless a score is not finite


@triton.jit
def _count_one(
    scores,
    stride,
    n,
    tile,
    query,
    own,
    document,
    seen,
    above,
    before,
    tied,
    odd,
    SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
):  # pragma: no cover
    """One judged document, one span of its row.

    Only in the block that holds the document do columns matter: ties before it come later, ties behind it earlier.
    """
    entry = tl.program_id(0)
    row = tl.load(query + entry)
    place = tl.load(document + entry) - tile
    scores += row * stride
    if own is None:
        mine = tl.load(scores + place, mask=place >= 0, other=float("-inf"))
        mine = mine.to(tl.float64 if scores.dtype.element_ty == tl.float64 else tl.float32)
        mine = tl.where(mine == float("-inf"), float("inf"), mine)  # not retrieved: nothing is above, nothing is equal
    else:
        mine = tl.load(own + entry)
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
    if seen is not None:
        here = (place >= first) & (place < last)
        tl.store(seen + entry, tl.load(scores + place, mask=here), mask=here)


@triton.jit
def _bucket(value, low, scale, BUCKETS: tl.constexpr):  # pragma: no cover
    """Which part of the range of judged scores a score is in: never a lower one than that of a lower score."""
    part = (value.to(tl.float32) - low) * scale
    return tl.minimum(tl.maximum(part, 0.0), BUCKETS - 1.0).to(tl.int32)


@triton.jit
def _smaller(one, other):  # pragma: no cover
    return tl.minimum(one, other)


@triton.jit
def _count_many(
    scores,
    stride,
    n,
    tile,
    query,
    limits,
    columns,
    slots,
    entries,
    seen,
    cells,
    before,
    odd,
    SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
    SIZE: tl.constexpr,
    BUCKETS: tl.constexpr,
):  # pragma: no cover
    """All judged documents of a row, one span of it: where every score is among theirs, and how many are there.

    limits: the different judged scores of each slab, ascending, and ∞ after them
    columns, slots, entries: of each judged document its column, ascending; which limit it has; and its number
    cells: for each limit, how many scores are below it but above the one before, and how many equal it
    before: of each judged document, how many scores that equal its own come later
    """
    slab = tl.program_id(0)
    row = tl.load(query + slab)
    scores += row * stride
    limits += slab * SIZE
    columns += slab * SIZE
    slots += slab * SIZE
    entries += slab * SIZE
    before += slab * SIZE
    first = tl.program_id(1) * SPAN
    last = tl.minimum(first + SPAN, n)
    slot = tl.arange(0, SIZE)
    bucket = tl.arange(0, BUCKETS)
    limit = tl.load(limits + slot)
    below = tl.load(limits + slot - 1, mask=slot > 0, other=0.0)
    low = tl.load(limits).to(tl.float32)
    high = tl.max(tl.where(limit < float("inf"), limit, low)).to(tl.float32)
    scale = tl.minimum((BUCKETS - 1) / tl.maximum(high - low, 1e-30), 1e30)
    cell = _shared_words(slab)
    table = cell + 8 * SIZE
    # The table has for each bucket the lowest limit that it or a higher bucket holds.
    _write_byte(table + bucket, tl.full([BUCKETS], SIZE - 1, tl.int32))
    _write(cell + 8 * slot, tl.zeros([SIZE], tl.int32))
    _write(cell + 8 * slot + 4, tl.zeros([SIZE], tl.int32))
    tl.debug_barrier()
    here = _bucket(limit, low, scale, BUCKETS)
    leads = (slot == 0) | (here > _bucket(below, low, scale, BUCKETS))
    _write_byte(table + tl.where(leads, here, BUCKETS), slot)
    tl.debug_barrier()
    _write_byte(table + bucket, tl.associative_scan(_read_byte(table + bucket), 0, _smaller, reverse=True))
    tl.debug_barrier()
    fullest = tl.max(tl.where(limit < float("inf"), slot + 1 - _read_byte(table + here), 0))
    column = tl.load(columns + slot)
    which = tl.sum((column < tile + first).to(tl.int32))
    its_column = tl.load(columns + which)
    lane = tl.arange(0, BLOCK)
    zero = tl.zeros([BLOCK], limits.dtype.element_ty)
    for start in range(first, last, BLOCK):
        inside = start + lane < n
        value = tl.load(scores + start + lane, mask=inside, other=0.0).to(limits.dtype.element_ty)
        zero += value * 0.0
        while its_column < tile + tl.minimum(start + BLOCK, n):  # what equals its score so far does not come later
            tl.debug_barrier()
            mine = tl.load(slots + which)
            behind = _read(cell + 8 * mine + 4)
            place = its_column - tile
            behind += tl.sum(((value == tl.load(limits + mine)) & (start + lane <= place)).to(tl.int32))
            tl.atomic_add(before + which, -behind, sem="relaxed")
            if seen is not None:
                tl.store(seen + tl.load(entries + which), tl.load(scores + place))
            which += 1
            its_column = tl.load(columns + which)
            tl.debug_barrier()
        value = tl.where(inside, value, float("-inf"))  # falls in the lowest cell, which is never read
        at = _read_byte(table + _bucket(value, low, scale, BUCKETS))
        near = tl.load(limits + at)
        for _ in range(1, fullest):
            higher = near < value
            at += higher.to(tl.int32)
            near = tl.load(limits + at, mask=higher, other=near)
        _add_one(cell + 8 * at + tl.where(near < value, 8, tl.where(near == value, 4, 0)))
    tl.debug_barrier()
    pair = tl.arange(0, 2 * SIZE)
    tl.atomic_add(cells + slab * 2 * SIZE + pair, _read(cell + 4 * pair), sem="relaxed")
    equal = _read(cell + 8 * tl.load(slots + slot) + 4)
    tl.atomic_add(before + slot, equal, mask=column < tile + last, sem="relaxed")
    strange = tl.max((zero != zero).to(tl.int32))
    tl.atomic_or(odd + row, strange, mask=strange > 0, sem="relaxed")


class DeviceCounter:
    """Counts by kernels: one judged document after another where they are few, and all of a row at once otherwise."""

    def __init__(
        self, query: Tensor, own: Tensor | None, document: Tensor, judged: Integers, seen: Tensor | None = None
    ) -> None:
        self._judged, self._seen, self._slabs = len(query), seen, None
        self._odd = torch.zeros(len(judged), dtype=torch.int32, device=query.device)
        document = document.to(torch.int32)
        if own is not None:
            own = own.to(torch.float64 if own.dtype == torch.float64 else torch.float32).contiguous()
            if judged.max(initial=0) > FEW_ON_A_DEVICE:
                self._slabs = _Slabs(query, own, document, judged)
        if not judged.all():  # rows without a judgment are read as well, to find numbers that are not finite
            unjudged = np.flatnonzero(judged == 0)
            query = torch.cat((query, torch.from_numpy(unjudged).to(query.device)))
            own = None if own is None else torch.cat((own, own.new_full((len(unjudged),), torch.inf)))
            document = torch.cat((document, document.new_full((len(unjudged),), -1)))
        self._query, self._own, self._document = query.contiguous(), own, document.contiguous()
        self._counts = torch.zeros((3, len(self._query)), dtype=torch.int32, device=query.device)

    def add(self, scores: Tensor, start: int = 0) -> None:
        scores = scores if scores.stride(1) == 1 else scores.contiguous()
        n = scores.shape[1]
        if not scores.numel():
            return
        with torch.cuda.device(scores.device) if scores.is_cuda else nullcontext():
            if self._slabs:
                self._slabs.add(scores, start, self._seen, self._odd)
                return
            judged = (self._query, self._own, self._document, self._seen, *self._counts, self._odd)
            block = min(_BLOCK_ONE, max(256, triton.next_power_of_2(n)))
            _count_one[(len(self._query), triton.cdiv(n, _SPAN_ONE))](
                scores, scores.stride(0), n, start, *judged, _SPAN_ONE, block, num_warps=_WARPS_ONE
            )

    def counted(self) -> Counted:
        above, before, tied = self._slabs.counts() if self._slabs else self._counts[:, : self._judged]
        return Counted(above, before, tied, self._odd)


class _Slabs:
    """The judged scores of each row, ascending, in slabs of as many as one program can search."""

    def __init__(self, query: Tensor, own: Tensor, document: Tensor, counts: Integers) -> None:
        judged, number = torch.from_numpy(counts).to(query.device), torch.arange(len(query), device=query.device)
        room = _SIZE - 1  # a place stays free, as the end
        slabs = (judged + room - 1).div(room, rounding_mode="floor").clamp(min=1)
        self._query = torch.repeat_interleave(torch.arange(len(judged), device=query.device), slabs)
        place = number - (judged.cumsum(0) - judged)[query]
        slab, place = (slabs.cumsum(0) - slabs)[query] + place.div(room, rounding_mode="floor"), place % room
        # By score, in which the limits ascend: documents with one score have one limit.
        order = own.argsort()
        order = order[query[order].argsort(stable=True)]
        value = own[order]
        differs = torch.ones_like(slab)
        differs[1:] = (value[1:] != value[:-1]) | (place[1:] == 0)
        limit = differs.cumsum(0)
        slot = limit - limit[number - place]
        self._limits = own.new_full((len(self._query), _SIZE), torch.inf)
        self._limits[slab, slot] = value
        # By column.
        its_slab, its_slot = torch.empty_like(slab), torch.empty_like(slot)
        its_slab[order], its_slot[order] = slab, slot
        by_column = its_slab.argsort(stable=True)
        self._columns, self._slots, self._entries, self._before = (
            torch.full((len(self._query), _SIZE), pad, dtype=torch.int32, device=query.device)
            for pad in (torch.iinfo(torch.int32).max, _SIZE - 1, 0, 0)
        )
        for table, column in ((self._columns, document), (self._slots, its_slot), (self._entries, number)):
            table[slab, place] = column[by_column].to(torch.int32)
        self._cells = torch.zeros((len(self._query), 2 * _SIZE), dtype=torch.int32, device=query.device)
        self._slab, self._slot, self._place = its_slab, its_slot, torch.empty_like(place)
        self._place[by_column] = place

    def add(self, scores: Tensor, start: int, seen: Tensor | None, odd: Tensor) -> None:
        n = scores.shape[1]
        judged = (self._query, self._limits, self._columns, self._slots, self._entries)
        counts, sizes = (seen, self._cells, self._before, odd), (_SPAN_MANY, _BLOCK_MANY, _SIZE, _BUCKETS)
        _count_many[(len(self._query), triton.cdiv(n, _SPAN_MANY))](
            scores, scores.stride(0), n, start, *judged, *counts, *sizes, num_warps=_WARPS_MANY
        )

    def counts(self) -> Tensor:
        """The documents above each judged one, those with its score before it, and all with its score."""
        cells, slab, equal = self._cells.long(), self._slab, 2 * self._slot + 1
        onward = cells.flip(1).cumsum(1).flip(1)  # each cell and all above it
        return torch.stack((onward[slab, equal + 1], self._before[slab, self._place], cells[slab, equal]))
