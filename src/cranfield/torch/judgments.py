"""Judgments in tensors: dense, sparse, or columns of query, document and grade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cranfield.errors import DuplicateError, InputError
from cranfield.evaluation.hashes import column_digest
from cranfield.ranks.columns import Integers, Numbers

SHAPES = (
    "judgments are a dense tensor of the scores' shape, a sparse one, or a tuple of tensors (query, document, grade)"
)


@dataclass(frozen=True, eq=False)
class TensorJudgments:
    """Judged documents by query, as columns; rows ascend by query and document.

    On the device: `row` and `column`, where each stands in the scores.
    On the host: `query_ids` of the judged queries, `rows` (where those stand in the scores), of each judgment the
    `query` (its place among the judged ones), the `document` (its column once more) and the grade, and how many
    judgments each row of the scores has.
    """

    row: Tensor
    column: Tensor
    rows: Integers
    query_ids: tuple[str, ...]
    query: Integers
    document: Integers
    grades: Numbers
    judged: Integers
    extra: int

    @cached_property
    def first(self) -> Integers:
        """Judgments first[q] to first[q + 1] are about query q."""
        return np.concatenate(([0], np.cumsum(self.judged[self.rows])))

    def digest(self) -> Callable[[], str]:
        """A function that hashes the columns; it holds none of the device's memory."""
        return partial(column_digest, self.query_ids, (self.first, self.document, self.grades))


def read_judgments(
    qrels: Any,
    shape: tuple[int, int],
    device: torch.device,
    judged: Any,
    query_ids: Sequence[Any] | None,
    *,
    everybody: bool = False,
) -> TensorJudgments:
    """Judgments of (queries, documents) from tensors.

    In a dense tensor NaN is no judgment, and neither is 0 unless `judged` says so; each row is a judged query, unless
    `judged` has nothing in it. Of sparse judgments and of columns all are taken, 0 as well; queries without one are
    not judged, unless `everybody` is.
    """
    names = _names(query_ids, shape[0])
    dense = isinstance(qrels, Tensor) and qrels.layout == torch.strided
    if dense:
        row, column, grade = _dense(qrels, shape, judged)
        everybody = judged is None
    elif judged is not None:
        raise InputError("qrels", "only dense judgments can have a mask of what is judged.", hint=SHAPES)
    else:
        row, column, grade = _columns(qrels, shape)
    # One copy to the host: each copy stalls the device, and the columns can be checked there as well.
    query, document, bits = torch.stack((row, column, grade.double().view(torch.int64))).cpu().numpy()
    grades = bits.view(np.float64)
    if dense and (unknown := np.isnan(grades)).any():  # rare, and cheaper to find here than on the device
        query, document, grades = (column[~unknown] for column in (query, document, grades))
        row, column = torch.from_numpy(query), torch.from_numpy(document)
    if not len(grades):
        raise InputError("qrels", "it contains no judgments.")
    order = None if dense else _checked_order(query, document, shape)
    if order is not None:
        query, document, grades = query[order], document[order], grades[order]
        row, column = torch.from_numpy(query), torch.from_numpy(document)
    if not np.isfinite(grades).all():
        at = int(np.flatnonzero(~np.isfinite(grades))[0])
        where = f"document {document[at]} for query '{names[query[at]]}'"
        raise InputError("qrels", f"the grade of {where} is {grades[at]}, not a number.")
    counts = np.bincount(query, minlength=shape[0])
    rows = np.arange(shape[0]) if everybody else np.flatnonzero(counts)
    return TensorJudgments(
        row=row.to(device),
        column=column.to(device),
        rows=rows,
        query_ids=names if len(rows) == shape[0] else tuple(names[at] for at in rows.tolist()),
        query=query if len(rows) == shape[0] else np.searchsorted(rows, query),
        document=document,
        grades=grades,
        judged=counts,
        extra=shape[0] - len(rows),
    )


def _checked_order(query: Integers, document: Integers, shape: tuple[int, int]) -> Integers | None:
    """The order of judgments by query and document, or None if they are sorted; all must be within the scores."""
    for name, part, size in (("query", query, shape[0]), ("document", document, shape[1])):
        if part.min() < 0 or part.max() >= size:
            outside = part[(part < 0) | (part >= size)][0]
            fact = f"{name} {outside} is judged, but the scores have {size} of them."
            raise InputError("qrels", fact, hint="queries and documents are numbers from 0")
    key = query * shape[1] + document
    if (key[1:] > key[:-1]).all():
        return None
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if len(again):
        at = order[again[0]]
        raise DuplicateError("qrels", f"document {document[at]} is judged twice for query {query[at]}.")
    return order


@lru_cache(maxsize=4)
def _numbers(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


def _names(query_ids: Sequence[Any] | None, size: int) -> tuple[str, ...]:
    if query_ids is None:
        return _numbers(size)
    names = tuple(map(str, query_ids.tolist() if hasattr(query_ids, "tolist") else query_ids))
    if len(names) != size:
        raise InputError("query_ids", f"there are {len(names)} for {size} rows of scores.")
    if len(set(names)) < size:
        again, _ = Counter(names).most_common(1)[0]
        raise InputError("query_ids", f"the query '{again}' appears twice.")
    return names


def _dense(qrels: Tensor, shape: tuple[int, int], judged: Any) -> tuple[Tensor, Tensor, Tensor]:
    if qrels.shape != shape:
        raise InputError("qrels", f"its shape is {tuple(qrels.shape)}, that of the scores {shape}.", hint=SHAPES)
    if judged is None:
        mask = qrels != 0
    else:
        mask = torch.as_tensor(judged, device=qrels.device)
        if mask.dtype != torch.bool:
            raise InputError("judged", f"it is a tensor of {mask.dtype}.", hint="a mask is a tensor of bool")
        mask = mask.expand(shape)
    if mask.is_cuda:
        row, column = mask.nonzero(as_tuple=True)
    else:  # NumPy finds them ten times as fast
        places = torch.from_numpy(np.flatnonzero(mask.cpu().numpy()))
        row, column = places.div(shape[1], rounding_mode="floor"), places % shape[1]
        row, column = row.to(mask.device), column.to(mask.device)
    return row, column, qrels[row, column]


def _columns(qrels: Any, shape: tuple[int, int]) -> tuple[Tensor, Tensor, Tensor]:
    if isinstance(qrels, Tensor):
        if qrels.shape != shape:
            raise InputError("qrels", f"its shape is {tuple(qrels.shape)}, that of the scores {shape}.")
        sparse = qrels if qrels.layout == torch.sparse_coo else qrels.to_sparse_coo()
        # Not coalesce(): it would add up the grades of a document that is judged twice.
        (row, column), grade = sparse._indices(), sparse._values()
    elif isinstance(qrels, Sequence) and len(qrels) == 3:
        row, column, grade = (torch.as_tensor(part) for part in qrels)
        if not len(row) == len(column) == len(grade):
            raise InputError("qrels", f"its columns have {len(row)}, {len(column)} and {len(grade)} rows.")
        row, column, grade = row.long(), column.to(row.device).long(), grade.to(row.device)
    else:
        raise InputError("qrels", f"cannot be read from {type(qrels).__name__}.", hint=SHAPES)
    return row, column, grade
