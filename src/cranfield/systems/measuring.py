"""Measuring what a system returned, over the queries that it answered."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from cranfield.errors import InputError
from cranfield.evaluation.evaluating import evaluate
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import FEW
from cranfield.ranks.policy import Policy
from cranfield.systems.recording import Recorded


def measured(
    recorded: Recorded, judgments: Judgments, measures: Sequence[Measure], policy: Policy, name: str | None = None
) -> Evaluation | None:
    """Evaluate a recorded run over the queries that were answered; None if there is none.

    A query that failed or was not asked is left out: its value is unknown, not zero.
    """
    if not recorded.answered:
        return None
    unknown = {*recorded.failed, *recorded.not_asked}
    if unknown:
        judgments = of_queries(judgments, set(judgments.query_ids) - unknown)
    evaluation = evaluated(Path(recorded.path), judgments, measures, policy, name or recorded.system)
    _refuse_other_ids(evaluation, recorded)
    return evaluation


def _refuse_other_ids(evaluation: Evaluation, recorded: Recorded) -> None:
    """An error where no judged document is found for any of several queries: its ids are not those of the judgments."""
    if recorded.answered - len(recorded.empty) < FEW or evaluation.ranks is None or len(evaluation.ranks.rank):
        return
    where = f"ids were taken from {' and '.join(recorded.id_places)}; " if recorded.id_places else ""
    hint = f"{where}set id to where the judged ids are, such as 'metadata.source'; or collapse, if these are chunks"
    raise InputError(recorded.system, f"{evaluation.warnings[0]}.", hint=hint)


def of_queries(judgments: Judgments, queries: Container[str]) -> Judgments:
    """The judgments of some queries."""
    kept = {query: grades for query, grades in judgments.by_query.items() if query in queries}
    return Judgments(kept, name=judgments.name)


def evaluated(path: Path, judgments: Judgments, measures: Sequence[Measure], policy: Policy, name: str) -> Evaluation:
    """Evaluate a recorded run, whatever its ids are."""
    from cranfield.systems.record_lines import text_lines

    run: Any = path
    if len(list(zip(range(2), text_lines(path)))) < 2:  # a header alone: every query was answered with no document
        run = {query: [] for query in judgments.query_ids}
    return evaluate(judgments, run, measures, policy=policy, name=name, check_ids=False)
