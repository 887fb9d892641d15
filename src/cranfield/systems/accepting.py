"""The accepted result: saving it, and comparing a new result with it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cranfield.comparison import GateResult, gate
from cranfield.errors import InputError
from cranfield.evaluation.result import Evaluation
from cranfield.files.locking import locked
from cranfield.measures import Measure
from cranfield.ranks.judgments import Judgments
from cranfield.read.target import open_target
from cranfield.systems.measuring import evaluated, measured, of_queries
from cranfield.systems.project import Project
from cranfield.systems.recording import Recorded

ACCEPTED = "accepted"
VALUES, _RUN = ".json", ".run.tsv.gz"


class BesideAccepted(NamedTuple):
    """The accepted run and the new one, measured by the same judgments of the same queries, with notes.

    path: the file of the accepted run
    """

    path: Path
    accepted: Evaluation
    compared: Evaluation
    notes: tuple[str, ...]

    def gate(self, project: Project) -> GateResult:
        """Whether the new one is worse, by the rules of the project."""
        return gate(None, self.accepted, self.compared, **{"measures": project.measures[:1], **project.gate})


def beside_accepted(
    project: Project, judgments: Judgments, evaluation: Evaluation, recorded: Recorded, measures: Sequence[Measure]
) -> BesideAccepted | None:
    """The accepted run of the evaluated system beside the new one; None if nothing was accepted."""
    name = evaluation.run
    if not project.accepted_path(f"{name}{VALUES}").is_file():
        return None
    before = Evaluation.load(project.accepted_path(f"{name}{VALUES}"))
    run = project.accepted_path(f"{name}{_RUN}")
    if not run.is_file():
        raise InputError(str(run), "the accepted run is missing.", hint="'cranfield accept' saves it; commit it too")
    known = set(before.query_ids)
    new = [query for query in judgments.query_ids if query not in known]
    shared = of_queries(judgments, known) if new else judgments
    accepted = evaluated(run, shared, measures, project.policy, ACCEPTED)
    compared = measured(recorded, shared, measures, project.policy, name) if new else evaluation
    assert compared is not None
    notes = []
    if before.qrels_sha256 != judgments.sha256:
        measure = next(iter(accepted))
        then = f" (then {before.shown(measure)})" if measure in before else ""
        notes.append(
            "the judgments have changed since it was accepted, so the accepted run was measured again: "
            f"{measure} {accepted.shown(measure)}{then}"
        )
    if new:
        notes.append(
            f"{len(new)} {'query is' if len(new) == 1 else 'queries are'} new since then and not compared: "
            f"{', '.join(new[:5])}{', …' if len(new) > 5 else ''}"
        )
    return BesideAccepted(run, accepted, compared, tuple(notes))


def accept(project: Project, systems: Sequence[str] = ()) -> dict[str, tuple[Evaluation | None, Evaluation]]:
    """Make the results of the last test the accepted ones: {system: (accepted before, accepted now)}."""
    judgments = project.open_collection().judgments()
    with locked(project.result_path("lock"), "testing here"):
        found = {name: _acceptable(project, name, judgments) for name in systems or project.systems}
        for name in found:
            keep(project, name, project.result_path(f"{name}{VALUES}"), project.recorded_run(name))
    return found


def keep(project: Project, name: str, values: Path, run: Path) -> None:
    """Keep the saved values and the run of a system as the accepted ones."""
    project.accepted_path("").mkdir(parents=True, exist_ok=True)
    for path, ending in ((values, VALUES), (run, _RUN)):
        with (
            path.open("rb") as source,
            open_target(str(project.accepted_path(f"{name}{ending}")), force=True) as target,
            target.opened() as file,
        ):
            shutil.copyfileobj(source, file)


def _acceptable(project: Project, name: str, judgments: Judgments) -> tuple[Evaluation | None, Evaluation]:
    path = project.result_path(f"{name}{VALUES}")
    if name not in project.systems or not path.is_file():
        raise InputError(
            name, "there is no complete result to accept.", hint="run 'cranfield test'; every query must be answered"
        )
    now = Evaluation.load(path)
    if now.qrels_sha256 != judgments.sha256:
        raise InputError(name, "the judgments have changed since the last test.", hint="run 'cranfield test' again")
    earlier = project.accepted_path(f"{name}{VALUES}")
    return Evaluation.load(earlier) if earlier.is_file() else None, now
