"""The page of a test of systems."""

from __future__ import annotations

import os

from cranfield.evaluation.result import Evaluation
from cranfield.report.writing import ReportFile, write_report
from cranfield.systems.testing import ProjectTest


def write_test(path: str | os.PathLike[str], found: ProjectTest, *, command: str | None = None) -> ReportFile | None:
    """A page of the systems that answered, each beside what was accepted of it; None if none of them did."""
    runs: dict[str, Evaluation] = {}
    baselines: dict[str, str] = {}
    results, collection = found.systems, found.collection
    for tested in results:
        if tested.evaluation is None:
            continue
        accepted = tested.accepted
        # What was accepted over other queries cannot stand beside what was found now.
        if accepted is not None and accepted.qrels_sha256 == tested.evaluation.qrels_sha256:
            baselines[tested.system] = f"{tested.system}, accepted"
            runs[baselines[tested.system]] = accepted
        runs[tested.system] = tested.evaluation
    if not runs:
        return None
    # The page tests as the gate of the project does, so both decide alike.
    gate = next((tested.gate for tested in results if tested.gate is not None), None)
    rankings = {tested.system: tested.recorded.path for tested in results if tested.recorded.answered}
    empty = {tested.system for tested in results if len(tested.recorded.empty) == tested.recorded.answered}
    return write_report(
        path,
        collection.qrels,
        runs,
        rankings={name: place for name, place in rankings.items() if name not in empty},
        title=None if len(results) == 1 and len(runs) == 2 else f"Test of {', '.join(each.system for each in results)}",
        baseline=baselines or None,
        command=command,
        collection=collection,
        test="t" if gate is None else gate.test,
        alpha=0.05 if gate is None else gate.alpha,
    )
