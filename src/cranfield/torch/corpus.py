"""Embeddings of queries and of a whole corpus: exact ranks of the judged documents, a tile of products at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from cranfield.errors import CranfieldError, InputError
from cranfield.evaluation.result import Evaluation
from cranfield.io.progress import watched
from cranfield.measures import DEFAULT_MEASURES, Measures
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_counted
from cranfield.ranks.scan.counting import Scanned
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.torch import products
from cranfield.torch.counting import Counted, taken
from cranfield.torch.judgments import TensorJudgments, read_judgments
from cranfield.torch.processes import Alone, Group, Sharing
from cranfield.torch.scores import check_measures, finish, scanned_of

ProgressBar = Callable[..., Iterable[Any]]  # of an iterable and its `total`
Similarity = Literal["dot", "cosine", "l2"]


_LONGER = 16  # times the tile: what is multiplied by one launch where no scores are written and nothing is moved


class _Survey(NamedTuple):
    judgments: TensorJudgments
    start: int  # the first document of this process
    size: int  # of the corpus
    tile: int  # documents that are multiplied at once
    shards: list[tuple[int, bool]]  # of this process: the size of each, and whether it is multiplied where it is
    documents: Tensor  # the judged ones, each once
    which: Tensor  # the index of each judgment among these


class FullCorpus:
    """The ranks that judged documents have among all documents of a corpus, by the similarity of embeddings.

    qrels: sparse, dense or a tuple of tensors (query, document, grade), as for `evaluate`.
    queries: a tensor (queries, dimensions), on the device that is to compute.
    documents: a tensor (documents, dimensions), a NumPy array (it may be memory-mapped), a list of such shards, or a
        function that returns an iterable of shards, which is called for each pass over the corpus. A shard that is
        elsewhere is moved to the device of the queries, a tile at a time.
    similarity: "dot", "cosine", or "l2" (the nearest first).
    tile: documents that are multiplied at once.
    dtype: the precision of the scores, in which they are compared; by default that of the embeddings, as of their
        product in PyTorch (for "l2" at least float32). torch.float32 tells more scores of half or bfloat16 embeddings
        apart, and may take longer. Embeddings of 8 bits: the scores of torch.int8 are whole numbers and exact, those of
        torch.float8_e4m3fn and torch.float8_e5m2 are float32.
    devices: share the tiles among several, such as ["cuda:0", "cuda:1"]; each holds a copy of the queries.
    group: a process group of torch.distributed, such as `torch.distributed.group.WORLD`. All of its processes give the
        same judgments and queries, and each gives its own part of the documents, which are numbered in the order of the
        processes. All get the same result.
    progress: True draws a bar while the tiles are counted; or a function that is called with an iterable and its
        `total` and yields from it, as tqdm does.

    The score of a judged document must equal, bit for bit, what its tile gives for it. It is computed ahead, in a
    product of the same shape; when its tile comes the two are compared, and if one differs all is counted again with
    the scores of the tiles.

    >>> queries, documents = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5], [0.9, 0.1], [0.0, 1.0]])
    >>> FullCorpus(([0], [0], [1]), queries, documents).evaluate("RR")
    <Evaluation of embeddings: RR=0.5000; 1 query>
    >>> FullCorpus(([0], [0], [1]), queries, documents).ranks().rank.tolist()
    [2]
    """

    def __init__(
        self,
        qrels: Any,
        queries: Tensor,
        documents: Any,
        similarity: Similarity = "dot",
        *,
        tile: int = 1 << 16,
        dtype: torch.dtype | None = None,
        query_ids: Sequence[Any] | None = None,
        devices: Sequence[str | torch.device] = (),
        group: Any = None,
        progress: bool | ProgressBar = False,
    ) -> None:
        if similarity not in ("dot", "cosine", "l2"):
            fact = f"there is no similarity '{similarity}'."
            raise InputError("similarity", fact, hint="it is 'dot', 'cosine' or 'l2'")
        embeddings = isinstance(queries, Tensor) and (queries.is_floating_point() or queries.dtype == torch.int8)
        if not embeddings or queries.dim() != 2:
            raise InputError("queries", "they are not embeddings.", hint="a tensor (queries, dimensions) of numbers")
        if isinstance(documents, Iterator):
            hint = "give a function that returns a new iterator each time"
            raise InputError("documents", "an iterator can be read only once.", hint=hint)
        self._documents: Any = documents
        self._given: Any = qrels
        self._query_ids: Sequence[Any] | None = query_ids
        self._similarity: Similarity = similarity
        self._queries: Any = queries.detach()
        if similarity == "cosine":
            self._queries = torch.nn.functional.normalize(self._queries.float(), dim=1).to(queries.dtype)
        products.check_eight_bit(queries.dtype, similarity, dtype)
        self._queries = products.padded(self._queries)
        self._dtype: Any = dtype or products.usual_dtype(queries.dtype, similarity)
        self._dimensions: int = queries.shape[1]
        self._most: int = max(1, tile)
        self._devices: list[Any] = [torch.device(one) for one in devices] or [queries.device]
        self._processes: Sharing = Alone() if group is None else Group(group)
        self._progress: Any = progress

    def evaluate(
        self, measures: Measures = DEFAULT_MEASURES, *, policy: Policy | None = None, name: str = "embeddings"
    ) -> Evaluation:
        """Measure how good the embeddings are.

        measures: names such as "nDCG@10", separated by spaces or in a list.
        policy: the conventions; see `Policy`.
        name: the run's name in the result.
        Returns an `Evaluation`. The similarities are computed once, however often this is called.
        """
        policy = policy or Policy()
        wanted = check_measures(measures, policy)
        judgments, scanned = self._survey.judgments, self._scanned(policy)
        return finish(judgments, scanned, wanted, policy, name, judgments.digest())

    def ranks(self, policy: Policy | None = None) -> JudgedRanks:
        """The ranks of the judged documents among all documents.

        policy: the conventions; see `Policy`.
        Returns the table that measures are functions of.
        """
        policy = policy or Policy()
        return rank_counted(self._survey.judgments, self._scanned(policy), policy)

    def _scanned(self, policy: Policy) -> Scanned:
        sizes = np.full(len(self._queries), self._survey.size)
        return scanned_of(self._survey.judgments, taken(self._counted), sizes, policy)

    # The documents.

    def _shards(self) -> Iterator[Any]:
        if isinstance(self._documents, Tensor | np.ndarray):
            yield self._documents
        else:
            yield from self._documents() if callable(self._documents) else self._documents

    def _pieces(self) -> Iterator[tuple[int, Any]]:
        """The first document of every tile, and the tile as it is stored."""
        start = self._survey.start
        for shard in self._shards():
            step = self._step(self._stays(shard))
            for at in range(0, len(shard), step):
                yield start + at, shard[at : at + step]
            start += len(shard)

    def _stays(self, shard: Any) -> bool:
        """Whether a shard is multiplied as it is, where it is."""
        if not isinstance(shard, Tensor) or self._similarity == "cosine":
            return False
        return [shard.device] == self._devices and shard.dtype == self._queries.dtype

    def _step(self, stays: bool) -> int:
        """How many documents are multiplied at once: many more where nothing is copied, and only counts are written."""
        return self._survey.tile * (_LONGER if stays and self._fuses else 1)

    @cached_property
    def _survey(self) -> _Survey:
        """A pass over the documents without a product: how many there are, and the judged ones."""
        device, shards = self._queries.device, []
        first = start = self._processes.first(lambda: sum(map(self._length, self._shards())), device)
        judgments = read_judgments(self._given, (len(self._queries), self._promised()), device, None, self._query_ids)
        wanted, which = judgments.column.unique(return_inverse=True)
        documents, places = self._queries.new_zeros(len(wanted), self._queries.shape[1]), wanted.cpu()
        for shard in self._shards():
            size = self._length(shard)
            low, high = torch.searchsorted(places, torch.tensor([start, start + size])).tolist()
            rows = places[low:high] - start
            rows = shard[rows.to(shard.device)] if isinstance(shard, Tensor) else torch.from_numpy(shard[rows.numpy()])
            documents[low:high] = products.padded(self._same_kind(rows.detach()).to(device))
            shards.append((size, self._stays(shard)))
            start += size
        mine = (wanted >= first) & (wanted < start)
        size, longest = self._processes.whole(start - first, max((size for size, _ in shards), default=0), device)
        if len(wanted) and int(wanted[-1]) >= size:
            fact = f"document {int(wanted[-1])} is judged, but the corpus has {size} of them."
            raise InputError("qrels", fact, hint="queries and documents are numbers from 0")
        tile = max(1, min(self._most, longest))
        if products.is_eight_bit(self._queries.dtype):
            tile += -tile % products.STEP
        return _Survey(judgments, first, size, tile, shards, self._processes.known(documents, mine), which)

    def _length(self, shard: Any) -> int:
        if len(shard.shape) != 2 or shard.shape[1] != self._dimensions:
            shapes = f"{tuple(shard.shape)} does not go with queries of {(len(self._queries), self._dimensions)}"
            raise InputError("documents", f"the shape {shapes}.")
        return len(shard)

    def _promised(self) -> int:
        """How many documents there are; an upper limit if only a pass over the shards can tell."""
        if isinstance(self._documents, Tensor | np.ndarray) and isinstance(self._processes, Alone):
            return len(self._documents)
        return int(self._given.shape[1]) if isinstance(self._given, Tensor) else 1 << 36

    def _on_device(self, piece: Any, device: torch.device) -> Tensor:
        rows = piece if isinstance(piece, Tensor) else torch.from_numpy(np.array(piece))
        rows = products.padded(self._same_kind(rows.detach()).to(device, non_blocking=True))
        if self._similarity == "cosine":
            rows = torch.nn.functional.normalize(rows.float(), dim=1).to(rows.dtype)
        return rows

    # The scores.

    def _same_kind(self, rows: Tensor) -> Tensor:
        """Documents in the precision of the queries; rounding them to whole numbers is refused."""
        kind = self._queries.dtype
        if rows.dtype != kind and torch.int8 in (rows.dtype, kind):
            raise InputError("documents", f"they are {rows.dtype}, and the queries {kind}.", hint="make both the same")
        return rows.to(kind)

    def _scores(self, queries: Tensor, tile: Tensor) -> Tensor:
        scores = products.product(queries, tile, self._dtype)
        if self._similarity == "l2":  # |q - d|² = |q|² - (2 q·d - |d|²), and |q|² is the same for all documents
            scores.mul_(2).sub_(tile.to(self._dtype).square().sum(1, dtype=self._dtype))
        return scores

    def _multiplier(self, device: torch.device, column: Tensor, own: Tensor) -> products.Multiplier:
        judgments = self._survey.judgments
        queries, row, own, column = (part.to(device) for part in (self._queries, judgments.row, own, column))
        if self._fuses:
            from cranfield.torch.fused import FusedMultiplier

            return FusedMultiplier(queries, row, own, column, judgments.judged)
        return products.BlockMultiplier(queries, row, own, column, judgments.judged, self._scores, self._survey.tile)

    @cached_property
    def _fuses(self) -> bool:
        """Whether products are counted where they are made, and no scores are written."""
        judged = self._survey.judgments.judged
        return self._similarity != "l2" and products.can_fuse(self._queries, self._dtype, judged)

    def _ahead(self) -> Tensor:
        """The scores of the judged documents, in products of the shape that their tiles will have."""
        device, documents, which = self._queries.device, self._survey.documents, self._survey.which
        multiplier = self._multiplier(device, which, torch.zeros(len(which), dtype=self._dtype, device=device))
        for at in range(0, len(documents), self._survey.tile):
            multiplier.add(self._on_device(documents[at : at + self._survey.tile], device), at)
        return multiplier.seen()

    @cached_property
    def _counted(self) -> Counted:
        own = self._ahead()
        for _ in range(2):
            counted, seen = self._count(own)
            if torch.equal(own, seen):
                return counted
            own = seen
        raise CranfieldError(
            "the same product gave different scores each time.",
            hint="torch.use_deterministic_algorithms(True), or a device that computes reproducibly",
        )

    def _count(self, own: Tensor) -> tuple[Counted, Tensor]:
        """One pass over the corpus: the counts above scores, and the scores of the same documents in their tiles."""
        column = self._survey.judgments.column
        shares = [(device, self._multiplier(device, column, own)) for device in self._devices]
        for number, (start, piece) in enumerate(self._watched(self._pieces())):
            device, multiplier = shares[number % len(shares)]
            multiplier.add(self._on_device(piece, device), start)
        first, *others = [Counted(*(part.to(own.device) for part in multiplier.counted())) for _, multiplier in shares]
        for other in others:
            for column, more in zip(first, other, strict=True):
                column += more
        whole = Counted(*map(self._processes.sum, first))
        wrong = whole.odd.nonzero().flatten()
        if len(wrong):
            hint = "look for NaN in the embeddings; half overflows above 65504, which dtype=torch.float32 avoids"
            raise InputError("embeddings", f"a score of query {int(wrong[0])} is not a finite number.", hint=hint)
        seen = own
        for _, multiplier in shares:
            its = multiplier.seen().to(own.device)
            seen = torch.where(its == own, seen, its)
        differs = seen != own
        others = self._processes.known(seen, differs)
        return whole, torch.where(self._processes.sum(differs.int()) > 0, others, own)

    def _watched(self, pieces: Iterator[Any]) -> Iterable[Any]:
        if not self._progress:
            return pieces
        total = sum(-(-size // self._step(stays)) for size, stays in self._survey.shards)
        if self._progress is not True:
            return cast("Iterable[Any]", self._progress(pieces, total=total))
        return watched(pieces, "counting", total)
