"""Measuring stored runs again by the judgments of today, so that a line that broke is joined."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import InputError
from cranfield.evaluation.result import Evaluation
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.run import open_run
from cranfield.systems.history.results import Again, Result, basis_of
from cranfield.systems.project import Project
from cranfield.systems.testing import evaluated_run, of_existing, tested_measures, without_documents

if TYPE_CHECKING:
    from cranfield.systems.history.history import History


class MeasuredAgain(NamedTuple):
    """How many results of a system were measured again.

    known: that were on the basis of the last result already
    lost: whose runs are no longer kept
    not_asked: whose systems were not asked all of today's queries
    """

    measured: int
    known: int
    lost: int
    not_asked: int


def measure_again(project: Project, history: History, system: str) -> MeasuredAgain:
    """Measure the runs that are kept by the queries, judgments, weights and policy of the last result."""
    results = history.results(system)
    complete = [result for result in results if not result.counts.get("failed", 0)]
    if not complete:
        raise InputError(history.name, f"there is no complete result of '{system}' in it.")
    last = complete[-1]
    judgments = project.open_collection()._judged()
    if last.gone:
        judgments = of_existing(judgments, frozenset(last.gone))
    wanted = set(history.texts(last.basis))
    known = {id for name in last.values for id in history.values(name, last.basis)}
    kept = history.kept_runs()
    measured: list[Again] = []
    found = {"known": 0, "lost": 0, "not_asked": 0}
    for result in (*complete, *_accepted(history, system, complete)):
        if result.id in known:
            found["known"] += 1
        elif result.run_sha256 not in kept:
            found["lost"] += 1
        elif not wanted <= set(history.texts(result.basis)):
            found["not_asked"] += 1
        else:
            evaluation = _evaluated(project, history, result, last, judgments)
            measured.append(Again(result.id, evaluation, len(judgments.grades)))
    for _, evaluation, judged in measured[:1]:
        if basis_of(evaluation, judged).id != last.basis:
            fact = "the judgments, the queries, the weights or the policy have changed since the last result."
            raise InputError(system, fact, hint="run 'cranfield test' first")
    history.append(again=measured)
    return MeasuredAgain(len(measured), **found)


def _accepted(history: History, system: str, others: list[Result]) -> list[Result]:
    """The results that were accepted, where they are not among the others."""
    names = {result.id for result in others}
    accepted = dict.fromkeys(its.result for its in history.acceptances(system))
    return [result for name in accepted if name not in names and (result := history.result(name)) is not None]


def _evaluated(project: Project, history: History, result: Result, last: Result, judgments: Judgments) -> Evaluation:
    name, content = history.run(result.run_sha256)
    with TemporaryDirectory(prefix="cranfield-") as folder:
        path = Path(folder) / os.path.basename(name)
        path.write_bytes(content)
        run = open_run(path)
        if last.gone:
            run = without_documents(run, frozenset(last.gone), project.policy)
        return evaluated_run(run, judgments, tested_measures(project), project, result.system)
