"""Counts above the judged documents, on the device of the scores. Only judged scores are sorted."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from cranfield.ranks.columns import Integers

_FEW = 6  # up to this many judged documents of a query, comparing one by one is faster
_AT_ONCE = {"cpu": 1 << 20}  # scores compared at once: as many as fit the cache; elsewhere more, to fill the device
FEW_ON_A_DEVICE = 8  # judged documents of a query that its kernels compare one by one


class Counted(NamedTuple):
    """For each judged document the documents above it, those with its score before it, and all with its score."""

    above: Tensor
    before: Tensor
    tied: Tensor
    odd: Tensor  # for each row of the scores, whether it contains a number that is not finite


class Taken(NamedTuple):
    """The same on the host. A document was retrieved if at least one has its score: itself."""

    above: Integers
    before: Integers
    tied: Integers
    odd: Integers


def taken(counted: Counted) -> Taken:
    size = len(counted.above)
    flat = torch.cat(counted).cpu().numpy().astype(np.int64)
    return Taken(flat[:size], flat[size : 2 * size], flat[2 * size : 3 * size], flat[3 * size :])


class Counter(Protocol):
    """Compares rows of scores with those of their judged documents, a tile of columns after another."""

    def add(self, scores: Tensor, start: int = 0) -> None: ...  # `start`: the first document of the tile
    def counted(self) -> Counted: ...


def counter(query: Tensor, own: Tensor, document: Tensor, judged: Integers, seen: Tensor | None = None) -> Counter:
    """A counter above judged documents in rows of scores.

    query, own, document: of each judged document its row, its score and its column; rows ascend, and columns in them.
    judged: how many of them each row has.
    seen: where the scores of the judged documents are written that the tiles have.
    Among equal scores the larger column comes first.
    """
    own = own if own.is_floating_point() else own.double()  # which holds all whole scores exactly
    own = own.masked_fill(own == -torch.inf, torch.inf)  # not retrieved: nothing is above, nothing is equal
    if _has_kernels(own):
        from cranfield.torch.kernels import DeviceCounter

        return DeviceCounter(query, own, document, judged, seen)
    return PlainCounter(query, own, document, judged, seen)


def count(scores: Tensor, query: Tensor, document: Tensor, judged: Integers) -> Counted:
    if _has_kernels(scores) and judged.max(initial=0) <= FEW_ON_A_DEVICE:  # the kernel looks up their scores
        from cranfield.torch.kernels import DeviceCounter

        counting: Counter = DeviceCounter(query, None, document, judged)
    else:
        counting = counter(query, scores[query, document], document, judged)
    counting.add(scores)
    return counting.counted()


def _has_kernels(scores: Tensor) -> bool:
    """Whether the kernels can run on the scores; they contain instructions that only NVIDIA's devices have."""
    return bool(scores.is_cuda and torch.version.cuda and find_spec("triton"))


class PlainCounter:
    """Counts by the functions of PyTorch, a block of rows after another."""

    def __init__(
        self, query: Tensor, own: Tensor, document: Tensor, judged: Integers, seen: Tensor | None = None
    ) -> None:
        self._query, self._own, self._document, self._seen = query, own, document, seen
        above, before, tied = torch.zeros((3, len(query)), dtype=torch.int64, device=query.device)
        self._counted = Counted(above, before, tied, torch.zeros(len(judged), dtype=torch.int32, device=query.device))

    def add(self, scores: Tensor, start: int = 0) -> None:
        tile = _count_in_blocks(scores, self._query, self._own, self._document - start)
        for column, more in zip(self._counted[:3], tile[:3], strict=True):
            column += more
        self._counted.odd.bitwise_or_(tile.odd)
        if self._seen is not None:
            place, size = self._document - start, scores.shape[1]
            here = ((place >= 0) & (place < size)).nonzero().flatten()
            self._seen[here] = scores[self._query[here], place[here]]

    def counted(self) -> Counted:
        return self._counted


def retrieved(scores: Tensor, odd: Tensor) -> Tensor:
    """How many documents each row retrieved: those above -∞. It is -1 for a row that holds NaN or ∞."""
    sizes = torch.full((len(scores),), scores.shape[1], dtype=torch.int64, device=scores.device)
    for part in odd.nonzero().flatten().split(_rows_at_once(scores)):
        rows = scores[part]
        sizes[part] = torch.where(rows.amax(1) < torch.inf, (rows > -torch.inf).sum(1), -1)
    return sizes


def _rows_at_once(scores: Tensor) -> int:
    return max(1, _AT_ONCE.get(scores.device.type, 1 << 27) // max(1, int(scores.shape[1])))


def _count_in_blocks(scores: Tensor, query: Tensor, own: Tensor, document: Tensor) -> Counted:
    above, tied = torch.zeros_like(query), torch.zeros_like(query)
    odd = torch.zeros(len(scores), dtype=torch.int32, device=scores.device)
    step = _rows_at_once(scores)
    bounds = range(0, len(scores), step)
    starts = torch.searchsorted(query, torch.tensor([*bounds, len(scores)], device=query.device)).tolist()
    for block, start, stop in zip(bounds, starts, starts[1:]) if scores.shape[1] else ():
        rows = scores[block : block + step]
        low, high = rows.amin(1), rows.amax(1)  # both are NaN where one score is; aminmax() takes ten times as long
        odd[block : block + step] = ~(low.isfinite() & high.isfinite())
        if start < stop:
            its_query, its_own = query[start:stop] - block, own[start:stop]
            place = torch.arange(stop - start, device=query.device) - torch.searchsorted(its_query, its_query)
            most = int(place.max()) + 1
            compare = _by_comparing if most <= _FEW else _by_searching
            above[start:stop], tied[start:stop] = compare(rows, its_query, its_own, place, most)
    return Counted(above, _before(scores, query, own, document, tied), tied, odd)


def _by_comparing(rows: Tensor, query: Tensor, own: Tensor, place: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Higher and equal scores, by comparing all with the first judged document of each row, the second and so on."""
    above, tied = torch.empty_like(query), torch.empty_like(query)
    for which in range(most):
        these = (place == which).nonzero().flatten()
        their_rows = rows if len(these) == len(rows) else rows[query[these]]
        limit = own[these, None]
        above[these] = _how_many(torch.gt, their_rows, limit)
        tied[these] = _how_many(torch.eq, their_rows, limit)
    return above, tied


def _how_many(compare: Callable[..., Tensor], rows: Tensor, limit: Tensor) -> Tensor:
    if rows.shape[1] < 1 << 24:  # below that, float32 counts exactly, and several times faster than bools
        return compare(rows, limit, out=torch.empty(rows.shape, dtype=torch.float32, device=rows.device)).sum(1).long()
    return compare(rows, limit).sum(1)


def _by_searching(rows: Tensor, query: Tensor, own: Tensor, place: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Higher and equal scores, by finding the place of every score among the judged ones of its row."""
    if rows.dtype != own.dtype:
        rows = rows.to(own.dtype)
    if rows.dtype not in (torch.float32, torch.float64):
        rows, own = rows.float(), own.float()
    rows = rows.contiguous()
    limits = rows.new_full((len(rows), most), torch.inf)
    limits[query, place] = own
    limits, order = limits.sort(dim=1)
    counts = []
    for right in (False, True):  # how many scores are higher than each limit, and how many at least as high
        cell = torch.searchsorted(limits, rows, right=right)
        cell += torch.arange(len(rows), device=rows.device)[:, None] * (most + 1)
        cells = torch.bincount(cell.flatten(), minlength=len(rows) * (most + 1)).view(len(rows), most + 1)
        beyond = cells.sum(1, keepdim=True) - cells.cumsum(1)
        counts.append(torch.empty_like(order).scatter_(1, order, beyond[:, :most])[query, place])
    higher, at_least = counts
    return higher, at_least - higher


def _before(scores: Tensor, query: Tensor, own: Tensor, document: Tensor, tied: Tensor) -> Tensor:
    """How many documents with the same score have a larger column."""
    before = torch.zeros_like(query)
    column = torch.arange(scores.shape[1], device=scores.device)
    # Outside of the tile of the document itself, one document with its score is a tie already.
    inside = (document >= 0) & (document < scores.shape[1])
    for part in (tied > inside.long()).nonzero().flatten().split(_rows_at_once(scores)):
        same = scores[query[part]] == own[part, None]
        before[part] = (same & (column > document[part, None])).sum(1)
    return before
