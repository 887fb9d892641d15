"""Testing systems: ask them, measure, and compare with the accepted result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cranfield.comparison import GateResult
from cranfield.comparison.gate_checks import Check, floor_check
from cranfield.errors import InputError, choice_hint
from cranfield.evaluation.result import Evaluation
from cranfield.files.locking import locked
from cranfield.measures import Measure, parse_measure, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.systems.accepting import VALUES, beside_accepted
from cranfield.systems.collapse import collapse_by
from cranfield.systems.collection import Collection, kept_in_memory
from cranfield.systems.measuring import measured
from cranfield.systems.misses import Miss, misses
from cranfield.systems.opening import open_system
from cranfield.systems.project import Project
from cranfield.systems.recording import Recorded, record


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of testing a system.

    evaluation: over the queries that were answered; None if there is none
    accepted: the accepted run, measured again by today's judgments; None if nothing was accepted, or if a query failed
    accepted_path: the file of that run
    compared: the evaluation over the queries that were asked when that run was accepted
    gate: the comparison of the two
    checks: the minimums, where no gate checks them
    notes: what has changed since the run was accepted
    missed: the worst queries by the first measure, as many as were asked for
    """

    system: str
    recorded: Recorded
    evaluation: Evaluation | None
    accepted: Evaluation | None = None
    accepted_path: Path | None = None
    compared: Evaluation | None = None
    gate: GateResult | None = None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    missed: tuple[Miss, ...] = ()

    @property
    def passed(self) -> bool:
        """Every query was answered, nothing fell below its minimum, and nothing got worse than accepted."""
        return self.recorded.complete and not self.failed_checks

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        """What fell below its minimum, or got worse than accepted."""
        every = (*(self.gate.checks if self.gate is not None else ()), *self.checks)
        return tuple(check for check in every if not check.passed)


@dataclass(frozen=True, slots=True)
class ProjectTest:
    """The results of testing the systems of a project, and the collection used."""

    collection: Collection
    systems: tuple[Tested, ...]

    @property
    def passed(self) -> bool:
        """All systems passed."""
        return all(tested.passed for tested in self.systems)


Progress = Callable[[str], AbstractContextManager[Any]]


def run_test(project: Project, progress: Progress, systems: Sequence[str] = (), worst: int = 0) -> ProjectTest:
    """Test all systems of a project, or some, and look at the worst queries of each.

    The collection is opened and read once; the result holds it, to be shown.
    """
    for name in systems:
        if name not in project.systems:
            raise InputError(
                str(project.path),
                f"there is no system '{name}' in it.",
                hint=choice_hint("systems are", project.systems, name),
            )
    collection = kept_in_memory(project.open_collection())
    judgments = collection.judgments()
    with locked(project.result_path("lock"), "testing here"):
        found = [
            _test_one(project, collection, judgments, name, progress)
            for name in project.systems
            if not systems or name in systems
        ]
        return ProjectTest(collection, tuple(_with_missed(tested, collection, worst) for tested in found))


def _with_missed(tested: Tested, collection: Collection, worst: int) -> Tested:
    if tested.evaluation is None:
        return tested
    measure = tested.evaluation.measures[0]
    return replace(tested, missed=tuple(misses(tested.evaluation, tested.recorded.path, collection, measure, worst)))


def asked(
    project: Project,
    collection: Collection,
    system: Any,
    name: str,
    path: Path,
    progress: Progress,
    **read: str | None,
) -> Recorded:
    """Ask a system all judged queries, by the settings of the project; `read`: id, score and order of `open_system`."""
    timeout = None if isinstance(system, Mapping) and "timeout" in system else project.timeout
    opened = open_system(system, collection, name=name, timeout=timeout, **read)
    try:
        with progress(opened.name) as shown:
            return record(
                opened,
                collection.judged_queries(),
                path,
                project.k,
                force=True,
                on_start=shown.start,
                on_answer=shown.answer,
                known=collection.ids if collection.corpus else None,
                to_document=collapse_by(project.collapse) if project.collapse else None,
                **project.asking,
            )
    finally:
        opened.close()


def _test_one(project: Project, collection: Collection, judgments: Judgments, name: str, progress: Progress) -> Tested:
    out, saved = project.recorded_run(name), project.result_path(f"{name}{VALUES}")
    saved.unlink(missing_ok=True)
    recorded = asked(project, collection, dict(project.systems[name]), name, out, progress)
    measures = _wanted(project.measures, project.gate)
    evaluation = measured(recorded, judgments, measures, project.policy, name)
    if evaluation is None or not recorded.complete:
        return Tested(name, recorded, evaluation, checks=_floors(project, evaluation))
    evaluation.save(saved)
    beside = beside_accepted(project, judgments, evaluation, recorded, measures)
    if beside is None:
        return Tested(name, recorded, evaluation, checks=_floors(project, evaluation))
    return Tested(
        name,
        recorded,
        evaluation,
        accepted=beside.accepted,
        accepted_path=beside.path,
        compared=beside.compared,
        gate=beside.gate(project),
        notes=beside.notes,
    )


def _floors(project: Project, evaluation: Evaluation | None) -> tuple[Check, ...]:
    if evaluation is None:
        return ()
    floors = project.gate.get("minimum", {})
    wanted = {parse_measure(each): floor for each, floor in floors.items()}
    return tuple(floor_check(evaluation[measure], measure, floor) for measure, floor in wanted.items())


def _wanted(measures: Sequence[str], gate: Mapping[str, Any]) -> list[Measure]:
    """What is measured: the project's measures, those of the gate, and how much is judged."""
    named = parse_measures([*measures, *gate.get("measures", ()), *gate.get("minimum", {})])
    return list(dict.fromkeys((*named, parse_measure("Judged@10"))))
