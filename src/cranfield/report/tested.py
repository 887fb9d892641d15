"""The page of a test of systems."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cranfield.evaluation.result import Evaluation
from cranfield.layout import count
from cranfield.report.writing import ReportFile, write_report

if TYPE_CHECKING:
    from cranfield.systems.testing import ProjectTest, Tested


def write_test(found: ProjectTest, path: str | os.PathLike[str], *, command: str | None = None) -> ReportFile | None:
    """A page of the systems that answered, each beside its accepted run; None if none of them did."""
    runs: dict[str, Evaluation] = {}
    baselines: dict[str, str] = {}
    rankings: dict[str, Any] = {}
    results, collection = found.systems, found.collection
    for tested in results:
        if tested.evaluation is None:
            continue
        accepted = tested.accepted
        # An accepted run of other queries cannot be compared with this one.
        if accepted is not None and accepted.qrels_sha256 == tested.evaluation.qrels_sha256:
            baselines[tested.system] = f"{tested.system}, accepted"
            runs[baselines[tested.system]] = accepted
            rankings[baselines[tested.system]] = tested.accepted_path
        runs[tested.system] = tested.evaluation
    if not runs:
        return None
    # The page tests as the gate of the project does, so both decide alike.
    gate = next((tested.gate for tested in results if tested.gate is not None), None)
    empty = {tested.system for tested in results if len(tested.recorded.empty) == tested.recorded.answered}
    rankings |= {
        tested.system: tested.recorded.path
        for tested in results
        if tested.recorded.answered and tested.system not in empty
    }
    return write_report(
        collection.qrels,
        runs,
        path,
        rankings=rankings,
        title=None if len(results) == 1 and len(runs) == 2 else f"Test of {', '.join(each.system for each in results)}",
        baseline=baselines or None,
        notes=[note for tested in results for note in _failures(tested)],
        command=command,
        collection=collection,
        test="t" if gate is None else gate.test,
        alpha=0.05 if gate is None else gate.alpha,
    )


def _failures(tested: Tested) -> Iterator[str]:
    """Why each system failed its test, in a sentence: the page itself tests two-sided, and may find less."""
    for check in tested.failed_checks:
        yield f"{tested.system} failed its test: {check.message}."
    if not tested.recorded.complete:
        lacking = tested.recorded.queries - tested.recorded.answered
        yield f"{tested.system} failed its test: {count(lacking, 'query was', 'queries were')} not answered."
