"""Flat columns of grade, score and query, as for torchmetrics: at once, or in batches and across processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cranfield.errors import InputError
from cranfield.evaluation.result import Evaluation
from cranfield.measures import DEFAULT_MEASURES, Measures
from cranfield.ranks.policy import Policy
from cranfield.torch.counting import Counted, count, retrieved, taken
from cranfield.torch.judgments import TensorJudgments, read_judgments
from cranfield.torch.scores import check_measures, finish, scanned_of


def evaluate_flat(
    qrels: Tensor,
    run: Tensor,
    queries: Tensor,
    measures: Measures = DEFAULT_MEASURES,
    *,
    judged: Tensor | None = None,
    policy: Policy | None = None,
    name: str = "scores",
) -> Evaluation:
    """Measure scores in one flat column, for rankings of any length.

    qrels, run, queries: of each document its grade, its score and the number of its query, in any order. torchmetrics
        calls them target, preds and indexes.
    measures, policy, name: those of `evaluate`.
    judged: a mask of the grades that are judgments; without it a grade of 0 is none, as in `evaluate`.
    Returns an `Evaluation`.

    Every query that occurs counts, also one without a relevant document, which torchmetrics calls
    empty_target_action="neg". The tie rule takes the documents of a query in the order in which they are given:
    ties="doc_id" puts the later one first. torchmetrics leaves the order of ties open, and its average precision takes
    a relevant document with a score of 0 or less for one that is not relevant.

    >>> grades, scores = torch.tensor([0, 0, 1, 1]), torch.tensor([0.2, 0.9, 0.5, 0.4])
    >>> evaluate_flat(grades, scores, torch.tensor([0, 0, 0, 1]), "RR").by_query("RR")
    {'0': 0.5, '1': 1.0}
    """
    policy = policy or Policy()
    wanted = check_measures(measures, policy)
    grades, scores, numbers = (column.detach().flatten() for column in (qrels, run, queries))
    _check_columns(grades, scores, numbers, judged, name)
    if not len(scores):
        raise InputError(name, "it contains no rankings.")
    found_queries, query, sizes = numbers.unique(return_inverse=True, return_counts=True)
    order = query.argsort(stable=True)
    query, scores, grades = query[order], scores[order], grades[order]
    column = torch.arange(len(query), device=query.device) - (sizes.cumsum(0) - sizes)[query]
    mask = grades != 0 if judged is None else judged.flatten()[order]
    judgments = read_judgments(
        (query[mask], column[mask], grades[mask]),
        (len(found_queries), int(sizes.max())),
        scores.device,
        None,
        found_queries.tolist(),
        everybody=True,
    )
    counted, lengths = _count(scores, query, column, sizes, judgments)
    wrong = (lengths < 0).nonzero().flatten()
    if len(wrong):
        value = scores[query == wrong[0]]
        value = value[~(value < torch.inf)][0]
        raise InputError(name, f"a score of query {int(found_queries[wrong[0]])} is {float(value)}.")
    scanned = scanned_of(judgments, taken(counted), lengths.cpu().numpy(), policy)
    return finish(judgments, scanned, wanted, policy, name, judgments.digest())


def _check_columns(grades: Tensor, scores: Tensor, numbers: Tensor, judged: Tensor | None, name: str) -> None:
    sizes = [len(column) for column in (grades, scores, numbers)]
    if len(set(sizes)) > 1:
        raise InputError(name, "qrels, run and queries have {}, {} and {} rows.".format(*sizes))
    if not scores.is_floating_point() or numbers.is_floating_point():
        fact = "the run must be floating numbers, and the queries whole ones."
        raise InputError(name, fact, hint="the order is: qrels, run, queries")
    if judged is not None and (judged.dtype != torch.bool or judged.numel() != len(scores)):
        raise InputError("judged", "it must be a mask: one bool for each row.")


def _count(
    flat: Tensor, query: Tensor, column: Tensor, sizes: Tensor, judgments: TensorJudgments
) -> tuple[Counted, Tensor]:
    """Count in one dense tensor for all rankings of a similar length: less than half of each is padding."""
    above, before, tied = torch.zeros((3, len(judgments.row)), dtype=torch.int64, device=flat.device)
    lengths, odd = torch.zeros_like(sizes), torch.zeros(len(sizes), dtype=torch.int32, device=flat.device)
    kind = torch.frexp(sizes.double()).exponent  # the same for all lengths from one power of two up to the next
    row = torch.empty_like(sizes)
    for length in kind.unique():
        members = (kind == length).nonzero().flatten()
        row[members] = torch.arange(len(members), device=row.device)
        these = (kind[query] == length).nonzero().flatten()
        scores = flat.new_full((len(members), int(sizes[members].max())), -torch.inf)
        scores[row[query[these]], column[these]] = flat[these]
        hits = (kind[judgments.row] == length).nonzero().flatten()
        judged = judgments.judged[members.cpu().numpy()]
        part = count(scores, row[judgments.row[hits]], judgments.column[hits], judged)
        above[hits], before[hits], tied[hits], odd[members] = part
        lengths[members] = retrieved(scores, part.odd)
    return Counted(above, before, tied, odd), lengths


class RetrievalMeasures:
    """Collects scores in batches, and measures them all in the end, like a metric of torchmetrics.

    The documents of a query may come in several batches, and in several processes of torch.distributed: where that is
    initialised, `compute` gathers them, and gives the same in every process.

    >>> collected = RetrievalMeasures("RR")
    >>> collected.update(torch.tensor([1, 0]), torch.tensor([0.2, 0.9]), torch.tensor([0, 0]))
    >>> collected.update(torch.tensor([0, 1]), torch.tensor([0.1, 0.3]), torch.tensor([0, 1]))
    >>> collected.compute()["RR"]
    0.75
    >>> collected.reset()
    """

    def __init__(
        self,
        measures: Measures = DEFAULT_MEASURES,
        *,
        policy: Policy | None = None,
        name: str = "scores",
        group: Any = None,  # of processes that gather; all of them by default
    ) -> None:
        self._measures: Any = check_measures(measures, policy or Policy())
        self._policy: Any = policy
        self._name: str = name
        self._group: Any = group
        self._batches: list[tuple[Any, ...]] = []

    def update(self, qrels: Tensor, run: Tensor, queries: Tensor, judged: Tensor | None = None) -> None:
        """Add a batch of documents.

        qrels: the grade of each document.
        run: its score.
        queries: the number of its query.
        judged: whether it was judged; by default every document whose grade is not 0.
        """
        grades, scores, numbers = (column.detach().flatten() for column in (qrels, run, queries))
        _check_columns(grades, scores, numbers, judged, self._name)
        mask = grades != 0 if judged is None else judged.flatten()
        self._batches.append((grades, scores, numbers, mask))

    __call__ = update

    def reset(self) -> None:
        """Forget all batches."""
        self._batches.clear()

    def compute(self) -> Evaluation:
        """The evaluation of all batches, here and in the other processes."""
        if self._batches:
            columns = [torch.cat(column) for column in zip(*self._batches, strict=True)]
        else:  # in this process
            columns = [torch.empty(0, dtype=kind) for kind in (torch.float64, torch.float64, torch.int64, torch.bool)]
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size(self._group) > 1:
            columns = _gathered(columns, self._group)
        grades, scores, queries, mask = columns
        return evaluate_flat(grades, scores, queries, self._measures, judged=mask, policy=self._policy, name=self._name)


def _gathered(columns: Sequence[Tensor], group: Any) -> list[Tensor]:
    """The columns of all processes, one after another; float64 holds the numbers of every one of them exactly."""
    distributed = torch.distributed
    device = torch.device("cuda" if distributed.get_backend(group) == "nccl" else "cpu")
    kinds = (torch.float64, torch.float64, torch.int64, torch.int64)
    mine = [column.to(device=device, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]
    world = distributed.get_world_size(group)
    sizes = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(world)]
    distributed.all_gather(sizes, torch.tensor([len(mine[0])], device=device), group=group)
    longest = int(max(sizes))
    gathered = []
    for column in mine:
        padded = torch.cat((column, column.new_zeros(longest - len(column))))
        parts = [torch.empty_like(padded) for _ in range(world)]
        distributed.all_gather(parts, padded, group=group)
        gathered.append(torch.cat([part[: int(size)] for part, size in zip(parts, sizes, strict=True)]))
    return [*gathered[:3], gathered[3].bool()]
