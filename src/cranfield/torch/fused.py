"""Products of embeddings that are compared where they are made, in Triton: the scores of a tile are never written."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from cranfield.ranks.columns import Integers
from cranfield.torch.counting import Counted
from cranfield.torch.products import largest_finite, rounding_edges

MOST = 8  # judged documents of a query: each of them is compared with every product
_QUERIES, _DOCUMENTS = 128, 256  # that one program multiplies at once
_DEPTH = 128  # bytes of each that it takes at a time
_GROUP = 2  # blocks of documents that stay in the cache for all queries


def fits(queries: Tensor, dtype: torch.dtype, judged: Integers) -> bool:
    """Whether such queries can be multiplied here: the device copies rows in units of 16 bytes."""
    halves = (torch.bfloat16, torch.float16)
    kinds = {torch.int8: (torch.int32,), **{half: (half, torch.float32) for half in halves}}  # and their scores
    return (
        dtype in kinds.get(queries.dtype, ())
        and queries.shape[1] * queries.element_size() % 16 == 0
        and int(judged.max(initial=0)) <= MOST
        and torch.cuda.get_device_capability(queries.device) >= (9, 0)
    )


@triton.jit
def _larger(one, other):  # pragma: no cover - compiled for the device
    return tl.maximum(one, other, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _products(
    queries,
    documents,
    down,
    across,
    kind: tl.constexpr,
    DIMENSIONS: tl.constexpr,
    DEPTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # pragma: no cover
    """A block of products: the same bits for the same query and document, wherever in a block they are."""
    product = tl.zeros([ROWS, COLUMNS], kind)
    for depth in range(0, DIMENSIONS, DEPTH):
        its_queries, its_documents = queries.load([down, depth]), documents.load([across, depth])
        product = tl.dot(its_queries, its_documents.T, product, out_dtype=kind)
    return product


@triton.jit
def _count_blocks(
    queries,
    documents,
    low,
    high,
    column,
    above,
    before,
    tied,
    odd,
    n_queries,
    n_documents,
    start,
    largest,
    DIMENSIONS: tl.constexpr,
    DEPTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    GROUP: tl.constexpr,
    JUDGED: tl.constexpr,
):  # pragma: no cover
    """Blocks of products, one after another; each is compared with the judged scores of its queries.

    low, high: the least and the greatest product that is rounded to the score of a judged document; ∞ where is none
    column: of the judged documents
    largest: the largest product that is rounded to a finite score
    Ties in the block that holds the document itself are `_count_beside`'s: a branch would keep the device from
    multiplying the next block while it counts in this one.
    """
    kind: tl.constexpr = low.dtype.element_ty
    n_down = tl.cdiv(n_queries, ROWS)
    n_across = tl.cdiv(n_documents, COLUMNS)
    for block in tl.range(tl.program_id(0), n_down * n_across, tl.num_programs(0), flatten=True):
        group = block // (GROUP * n_down) * GROUP
        width = tl.minimum(n_across - group, GROUP)
        rest = block % (GROUP * n_down)
        across, down = (group + rest % width) * COLUMNS, rest // width * ROWS
        product = _products(queries, documents, down, across, kind, DIMENSIONS, DEPTH, ROWS, COLUMNS)
        row = down + tl.arange(0, ROWS)
        is_query = row < n_queries
        # After the last document come products that are 0; their counts are subtracted again.
        lacking = tl.maximum(across + COLUMNS - n_documents, 0)
        for which in tl.static_range(JUDGED):
            entry = which * n_queries + row
            least = tl.load(low + entry, mask=is_query, other=0)
            most = tl.load(high + entry, mask=is_query, other=0)
            is_later = tl.load(column + entry, mask=is_query, other=0) < start + across
            # Counted in float32, which holds so few exactly, and takes fewer instructions.
            n_above = tl.sum((product > most[:, None]).to(tl.float32), 1).to(tl.int32)
            n_least = tl.sum((product >= least[:, None]).to(tl.float32), 1).to(tl.int32)
            n_above -= lacking * (most < 0).to(tl.int32)
            n_tied = n_least - lacking * (least <= 0).to(tl.int32) - n_above
            tl.atomic_add(above + entry, n_above, mask=is_query, sem="relaxed")
            tl.atomic_add(tied + entry, n_tied, mask=is_query, sem="relaxed")
            tl.atomic_add(before + entry, n_tied, mask=is_query & is_later, sem="relaxed")
        if kind != tl.int32:
            farthest = tl.reduce(tl.abs(product), 1, _larger)
            tl.atomic_or(odd + row, 1, mask=is_query & ~(farthest <= largest), sem="relaxed")


@triton.jit
def _count_beside(
    queries,
    documents,
    low,
    high,
    column,
    seen,
    before,
    n_queries,
    n_documents,
    start,
    DIMENSIONS: tl.constexpr,
    DEPTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # pragma: no cover
    """The score of one judged document, and those that tie with it later in its block."""
    entry = tl.program_id(0)
    place = tl.load(column + entry) - start
    if (place >= 0) & (place < n_documents):
        kind: tl.constexpr = low.dtype.element_ty
        down, across = entry % n_queries // ROWS * ROWS, place // COLUMNS * COLUMNS
        product = _products(queries, documents, down, across, kind, DIMENSIONS, DEPTH, ROWS, COLUMNS)
        row, at = down + tl.arange(0, ROWS)[:, None], across + tl.arange(0, COLUMNS)[None, :]
        mine = row == entry % n_queries
        later = mine & (product >= tl.load(low + entry)) & (product <= tl.load(high + entry)) & (at > place)
        tl.store(seen + entry, tl.sum(tl.where(mine & (at == place), product, 0)))
        tl.atomic_add(before + entry, tl.sum((later & (at < n_documents)).to(tl.int32)), sem="relaxed")


class FusedMultiplier:
    """A `Multiplier`; its arguments are those of `BlockMultiplier`."""

    def __init__(self, queries: Tensor, row: Tensor, own: Tensor, column: Tensor, judged: Integers) -> None:
        self._queries = _aligned(queries)
        counts = torch.from_numpy(judged).to(row.device)
        place = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
        self._entry, self._kind = place * len(queries) + row, own.dtype
        shape = (triton.next_power_of_2(max(1, int(judged.max(initial=0)))), len(queries))
        wide = own if own.dtype == torch.int32 else own.float()
        none = torch.inf if wide.is_floating_point() else torch.iinfo(wide.dtype).max  # no product is above that
        self._low, self._high = (self._spread(shape, edge, none) for edge in rounding_edges(own, wide))
        self._column, self._seen = self._spread(shape, column.to(torch.int32), -1), self._spread(shape, wide, 0)
        self._counts = torch.zeros((3, *shape), dtype=torch.int32, device=row.device)
        self._odd = torch.zeros(len(queries), dtype=torch.int32, device=row.device)

    def _spread(self, shape: tuple[int, int], column: Tensor, otherwise: float) -> Tensor:
        """A column of the judgments as a table: the first of every query, then the second and so on."""
        table = column.new_full(shape, otherwise)
        table.view(-1)[self._entry] = column
        return table

    def add(self, documents: Tensor, start: int) -> None:
        documents = _aligned(documents)
        depth = _DEPTH // documents.element_size()
        tiles = [
            TensorDescriptor.from_tensor(rows, [size, depth])
            for rows, size in ((self._queries, _QUERIES), (documents, _DOCUMENTS))
        ]
        above, before, tied = self._counts
        sizes = (len(self._queries), len(documents), start)
        shape = (documents.shape[1], depth, _QUERIES, _DOCUMENTS)
        largest, how = largest_finite(self._kind), {"num_warps": 8, "num_stages": 3}
        judged = (self._low, self._high, self._column)
        programs = int(torch.cuda.get_device_properties(documents.device).multi_processor_count)
        with torch.cuda.device(documents.device):
            _count_blocks[(programs,)](
                *tiles, *judged, above, before, tied, self._odd, *sizes, largest, *shape, _GROUP, len(self._low), **how
            )
            _count_beside[(self._low.numel(),)](*tiles, *judged, self._seen, before, *sizes, *shape, **how)

    def seen(self) -> Tensor:
        return self._seen.view(-1)[self._entry].to(self._kind)

    def counted(self) -> Counted:
        above, before, tied = self._counts.view(3, -1)[:, self._entry]
        return Counted(above, before, tied, self._odd)


def _aligned(rows: Tensor) -> Tensor:
    rows = rows.contiguous()
    return rows.clone() if rows.data_ptr() % 16 else rows
