"""The request for a page, and the evaluations for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cranfield.comparison.comparing import shared_documents
from cranfield.comparison.conclusions import Comparison
from cranfield.errors import CranfieldError, InputError, MeasureError
from cranfield.evaluation import saving as saved
from cranfield.evaluation.evaluating import read_runs
from cranfield.evaluation.naming import named_runs
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.result import Evaluation
from cranfield.io.query_columns import FROM_FILE
from cranfield.io.streams import Stream
from cranfield.measures import Measure
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.passages import PassageJudgments
from cranfield.ranks.run import Run, Wants
from cranfield.systems.collection import Collection

LARGEST = 1e100  # a value that can be rounded, squared and drawn


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of `write_report`, read and checked.

    qrels: what the judgments were read from
    judgments: None if only evaluations are known, and no grades
    rankings: by name of a run, what its rankings can be read from
    baseline: the run that all others are compared with; own_baselines: of some runs, each the one of its own
    command: the command line
    given: a comparison that was made before
    passed: whether a test passed, of which this is the page; None if it is of none
    reasons: why it passed or failed, the most important first
    """

    qrels: Any
    judgments: Judgments | GroupedJudgments | None
    runs: Mapping[str, Evaluation]
    rankings: Mapping[str, Any]
    measures: Sequence[Measure]
    title: str | None
    notes: tuple[str, ...]
    baseline: str | None
    own_baselines: Mapping[str, str]
    command: str | None
    collection: Collection | None
    segments: Mapping[str, str]
    bounds: bool
    unseen: int
    queries: int
    depth: int
    charts: bool
    removal: bool | None
    test: str
    correction: str | None
    alpha: float
    format: str | None
    given: Comparison | None = None
    passed: bool | None = None
    reasons: tuple[str, ...] = ()

    @property
    def flat(self) -> Judgments | None:
        return self.judgments.flat if isinstance(self.judgments, GroupedJudgments) else self.judgments

    @property
    def ordinary(self) -> bool:
        """Whether all measures need only ranks and grades, so that more can be measured on the same ranks."""
        return all(measure.definition.table == "ranks" for measure in self.measures)


def readable_runs(runs: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    """Runs by name: evaluations, or sources that can be read repeatedly."""
    named = named_runs(runs, opened=_kept)
    if not named:
        raise CranfieldError("a report needs a run.", hint="give at least one")
    return named


def _kept(run: Any) -> Any:
    """A run in a form that can be read twice; a stream keeps its content."""
    if isinstance(run, str | os.PathLike) or (hasattr(run, "read") and not isinstance(run, Run)):
        run = Stream(run)
    if isinstance(run, Stream):
        return saved.opened(run)
    return list(run) if isinstance(run, Iterator) else run


def usual_measures(runs: Mapping[str, Any], otherwise: Sequence[str]) -> Sequence[str]:
    """The default measures of a page: those that all evaluations among the runs have."""
    known = [run for run in runs.values() if isinstance(run, Evaluation)]
    if not known:
        return otherwise
    shared = [name for name in known[0] if all(name in run for run in known)]
    if not shared:
        raise CranfieldError("the evaluations share no measure.", hint=f"{known[0].run} has {', '.join(known[0])}")
    return shared


def evaluated(
    judgments: Judgments | GroupedJudgments | PassageJudgments | None,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    shown: int,
    *,
    query_columns: QueryColumns,
    **options: Any,
) -> dict[str, Evaluation]:
    """Each run by the measures; one that was saved must have them, and the same judgments.

    shown: how many documents of each ranking the page may show
    """
    new = {name: run for name, run in runs.items() if not isinstance(run, Evaluation)}
    if new and judgments is None:
        raise CranfieldError(f"{next(iter(new))} cannot be evaluated without judgments.", hint="give qrels")
    shared = shared_documents(measures)
    measured: Mapping[str, Evaluation] = {}
    if new:
        options[FROM_FILE] = query_columns
        measured = read_runs(judgments, new, measures, lambda grades: shared(grades) | Wants(first=shown), **options)
    results = {
        name: query_columns.applied(_fitting(run, name, judgments, measures))
        if isinstance(run, Evaluation)
        else measured[name]
        for name, run in runs.items()
    }
    for name, result in results.items():
        for measure in result.measures:
            largest = float(np.abs(result.column(measure)).max(initial=0.0))
            if largest > LARGEST:
                fact = f"{measure} of {name} is as large as {largest:g}, and a page shows no more than {LARGEST:g}."
                raise MeasureError(fact, hint="use smaller grades, or less extreme parameters")
    return results


def _fitting(
    run: Evaluation,
    name: str,
    judgments: Judgments | GroupedJudgments | PassageJudgments | None,
    measures: Sequence[Measure],
) -> Evaluation:
    lacking = [measure for measure in measures if measure not in run.measures]
    if lacking and run._has_ranks:
        run = run.extended(lacking)
    elif lacking:
        raise InputError(name, f"it was saved without {', '.join(map(str, lacking))}.", hint=f"it has {', '.join(run)}")
    flat = judgments.flat if isinstance(judgments, GroupedJudgments) else judgments
    if not run._has_ranks and flat is not None and run.qrels_sha256 != flat.sha256:
        hashes = f"SHA-256 {run.qrels_sha256[:12]}, not {flat.sha256[:12]}"
        raise InputError(name, f"it was measured with other judgments ({hashes}).", hint="evaluate the run again")
    known = set(run.query_ids if flat is None or isinstance(flat, PassageJudgments) else flat.query_ids)
    if others := [query for query in run.query_ids if query not in known]:
        fact = f"it was measured with other judgments: query '{others[0]}' is not in these."
        raise InputError(name, fact, hint="evaluate the run again")
    run._refuse_corrected("values of queries")
    return run.renamed(name)
