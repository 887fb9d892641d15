"""evaluate(qrels, run, measures): from a tensor of scores on any device to an Evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cranfield.errors import InputError, MeasureError, PolicyError
from cranfield.evaluation.from_ranks import digest_of, evaluation_of, refuse_missing
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.result import Evaluation
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measures
from cranfield.ranks.columns import Integers
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import Graded, TieOrders, rank_counted
from cranfield.ranks.scan.counting import Places, Scanned
from cranfield.torch.counting import Taken, count, retrieved, taken
from cranfield.torch.judgments import TensorJudgments, read_judgments


def evaluate(
    qrels: Any,
    run: Tensor,
    measures: Measures = DEFAULT_MEASURES,
    *,
    judged: Any = None,
    policy: Policy | None = None,
    query_ids: Sequence[Any] | None = None,
    name: str = "scores",
) -> Evaluation:
    """Measure how good a tensor of scores is: one row for each query, one column for each document.

    rank(d) = 1 + #{documents scored higher} + #{documents with the same score that the tie rule puts before d}

    That is counted where the scores are; only the ranks of judged documents leave the device.

    qrels: the grades, in one of three shapes.
        A dense tensor of the run's shape: each row is a judged query; NaN is no judgment, and neither is 0 unless the
        mask `judged` (of bools, or True for all) says so. That matters only to measures that tell documents judged not
        relevant from unjudged ones, such as bpref and Judged@10. With a mask, a row without a judgment is not judged.
        A sparse tensor, or a tuple of tensors (query, document, grade) with rows and columns of the run: all that is
        listed is judged, 0 as well; queries without a judgment are left out and counted as extra.
        A negative grade means "pooled, not judged", as everywhere, unless the policy says otherwise.
    run: the scores: half, bfloat16, float32 or float64. -∞ means "not retrieved", for rows of different lengths; a row
        of nothing else is a query that the run lacks. NaN and ∞ are errors.
    measures: names such as "nDCG@10", separated by spaces or in a list.
    judged: with dense grades, which of them are judgments.
    policy: the conventions. A document's id is its column: ties="doc_id" puts the larger column first, "smaller_doc_id"
        and "file" the smaller. Scores tie if they are equal in their own precision: 1.0001 and 1.0002 tie in half.
    query_ids: names for the rows; by default their numbers.
    name: the run's name in the result.
    Returns an `Evaluation`.

    >>> scores = torch.tensor([[0.2, 0.9, 0.5], [0.1, 0.2, 0.3]])
    >>> evaluate(torch.tensor([[1, 0, 0], [0, 0, 2]]), scores, "RR nDCG@3")
    <Evaluation of scores: RR=0.6667, nDCG@3=0.7500; 2 queries>
    """
    policy = policy or Policy()
    wanted = check_measures(measures, policy)
    if not isinstance(run, Tensor) or run.dim() != 2 or not run.is_floating_point():
        kind = f"{tuple(run.shape)} of {run.dtype}" if isinstance(run, Tensor) else type(run).__name__
        raise InputError(name, f"the run cannot be {kind}.", hint="a tensor (queries, documents) of floating numbers")
    scores = run.detach()
    judgments = read_judgments(qrels, (scores.shape[0], scores.shape[1]), scores.device, judged, query_ids)
    scanned = scan_scores(scores, judgments, policy, name)
    return finish(judgments, scanned, wanted, policy, name, judgments.digest())


def scan_scores(scores: Tensor, judgments: TensorJudgments, policy: Policy, name: str) -> Scanned:
    counted = count(scores, judgments.row, judgments.column, judgments.judged)
    counts = taken(counted)
    sizes = np.full(len(scores), scores.shape[1])
    if counts.odd.any():
        sizes = retrieved(scores, counted.odd).cpu().numpy()
        if sizes.min() < 0:
            row = int(np.flatnonzero(sizes < 0)[0])
            column = int((~(scores[row] < torch.inf)).nonzero()[0])
            fact = f"the score of document {column} for query {row} is {float(scores[row, column])}."
            raise InputError(name, fact, hint="a document that was not retrieved has the score -inf")
    return scanned_of(judgments, counts, sizes, policy)


def scanned_of(judgments: TensorJudgments, counts: Taken, sizes: Integers, policy: Policy) -> Scanned:
    """The counts as a scan: `sizes` are the lengths of the rankings, one for each row of the scores."""
    before = counts.tied - 1 - counts.before if policy.ties == "file" else counts.before
    places = Places(np.arange(len(before)), counts.above, before, counts.tied)
    if not counts.tied.all():
        row = np.flatnonzero(counts.tied)
        places = Places(*(column[row] for column in places))
    by_query = sizes[judgments.rows] if judgments.extra else sizes
    return Scanned(np.where(by_query > 0, by_query, -1), judgments.extra, places)


def finish(
    judgments: Graded, scanned: Scanned, wanted: Sequence[Measure], policy: Policy, name: str, qrels: Callable[[], str]
) -> Evaluation:
    if not scanned.extra and (scanned.retrieved < 0).all():
        raise InputError(name, "it contains no rankings.")
    judged = rank_counted(judgments, scanned, policy)
    refuse_missing(judged, policy, name)
    orders = TieOrders(judgments, scanned, policy)
    return evaluation_of(name, wanted, judged, policy, InputHashes(qrels, partial(digest_of, judged)), orders=orders)


def check_measures(measures: Measures, policy: Policy) -> Sequence[Measure]:
    if policy.same_id == "drop":
        fact, hint = "compares ids, which columns do not have.", "give those documents the score -inf"
        raise PolicyError(fact, parameter="same_id", value="drop", hint=hint)
    wanted = parse_measures(measures)
    for measure in wanted:
        if measure.definition.table != "ranks":
            raise MeasureError(
                f"{measure.name} is measured on {measure.definition.table}, which tensors do not provide.",
                hint="use cranfield.evaluate with judgments that name a group for every grade",
            )
    return wanted
