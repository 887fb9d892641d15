"""Testing systems: ask them, measure, and compare with what was accepted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cranfield.comparison import GateResult, gate
from cranfield.comparison.checks import Check, floor_check
from cranfield.errors import InputError
from cranfield.evaluation.evaluating import evaluate
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure, parse_measure, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.read.target import open_target
from cranfield.systems.collapse import collapse_by
from cranfield.systems.collection import Collection, kept_in_memory
from cranfield.systems.locking import locked
from cranfield.systems.misses import Miss, misses
from cranfield.systems.opening import open_system
from cranfield.systems.project import Project
from cranfield.systems.recording import Recorded, record

ACCEPTED = "accepted"
_RUN, _VALUES, _ACCEPTED_RUN = ".run.tsv", ".json", ".run.tsv.gz"


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test found out about a system.

    evaluation: over the queries that were answered; None if there is none
    accepted: the accepted run, measured again by today's judgments; None if nothing was accepted, or if a query failed
    compared: the evaluation over the queries that were asked when that run was accepted
    gate: the comparison of the two
    checks: the minimums, where there is no gate that holds them
    notes: what has changed since the run was accepted
    missed: the worst queries by the first measure, as many as were asked for
    """

    system: str
    recorded: Recorded
    evaluation: Evaluation | None
    accepted: Evaluation | None = None
    compared: Evaluation | None = None
    gate: GateResult | None = None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    missed: tuple[Miss, ...] = ()

    @property
    def passed(self) -> bool:
        """Every query was answered, nothing fell below its minimum, and nothing got worse than accepted."""
        gated = self.gate is None or self.gate.passed
        return self.recorded.complete and gated and all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class ProjectTest:
    """What a test of a project found out about its systems, and the collection they were asked about."""

    collection: Collection
    systems: tuple[Tested, ...]

    @property
    def passed(self) -> bool:
        """All systems passed."""
        return all(tested.passed for tested in self.systems)


Progress = Callable[[str], AbstractContextManager[Any]]


def run_test(project: Project, progress: Progress, systems: Sequence[str] = (), worst: int = 0) -> ProjectTest:
    """Test all systems of a project, or some, and look at the worst queries of each.

    The collection is opened here and read once; whoever shows the result takes it from there.
    """
    for name in systems:
        if name not in project.systems:
            raise InputError(
                str(project.path), f"there is no system '{name}' in it.", hint=f"it has {', '.join(project.systems)}"
            )
    collection = project.open_collection()
    if collection.qrels is None:
        raise InputError(
            collection.name,
            "there are no judgments yet.",
            hint="'cranfield judge' opens a page to judge on; or put judgments into qrels/test.tsv or qrels.txt",
        )
    collection = kept_in_memory(collection)
    judgments = Judgments.read(collection.qrels)
    _check_texts(collection, judgments)
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


def _check_texts(collection: Collection, judgments: Judgments) -> None:
    lacking = [query for query in judgments.query_ids if query not in collection.queries]
    if lacking:
        listed = ", ".join(lacking[:5]) + (", …" if len(lacking) > 5 else "")
        raise InputError(collection.name, f"{len(lacking)} judged queries have no text: {listed}.")


def asked(project: Project, collection: Collection, system: Any, name: str, path: Path, progress: Progress) -> Recorded:
    """Ask a system all judged queries, as the project says."""
    timeout = None if isinstance(system, Mapping) and "timeout" in system else project.timeout
    opened = open_system(system, collection, name=name, timeout=timeout)
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
    out, saved = project.recorded_run(name), project.result_path(f"{name}{_VALUES}")
    saved.unlink(missing_ok=True)
    recorded = asked(project, collection, dict(project.systems[name]), name, out, progress)
    measures = _wanted(project.measures, project.gate)
    evaluation = measured(recorded, judgments, measures, project.policy, name)
    if evaluation is None or not recorded.complete:
        return Tested(name, recorded, evaluation, checks=_floors(project, evaluation))
    evaluation.save(saved)
    if not project.accepted_path(f"{name}{_VALUES}").is_file():
        return Tested(name, recorded, evaluation, checks=_floors(project, evaluation))
    accepted, compared, notes = _beside_accepted(project, judgments, evaluation, recorded, measures)
    found = gate(None, accepted, compared, **{"measures": project.measures[:1], **project.gate})
    return Tested(name, recorded, evaluation, accepted, compared, found, notes=notes)


def _floors(project: Project, evaluation: Evaluation | None) -> tuple[Check, ...]:
    if evaluation is None:
        return ()
    floors = project.gate.get("minimum", {})
    wanted = {parse_measure(each): floor for each, floor in floors.items()}
    return tuple(floor_check(evaluation[measure], measure, floor) for measure, floor in wanted.items())


def _beside_accepted(
    project: Project, judgments: Judgments, evaluation: Evaluation, recorded: Recorded, measures: Sequence[Measure]
) -> tuple[Evaluation, Evaluation, tuple[str, ...]]:
    """The accepted run and the new one, measured by the same judgments of the same queries, and what to say of it."""
    name = evaluation.run
    before = Evaluation.load(project.accepted_path(f"{name}{_VALUES}"))
    run = project.accepted_path(f"{name}{_ACCEPTED_RUN}")
    if not run.is_file():
        raise InputError(str(run), "the accepted run is not here.", hint="'cranfield accept' keeps it; commit it too")
    known = set(before.query_ids)
    new = [query for query in judgments.query_ids if query not in known]
    shared = _of_queries(judgments, known) if new else judgments
    accepted = _evaluated(run, shared, measures, project.policy, ACCEPTED)
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
    return accepted, compared, tuple(notes)


def _wanted(measures: Sequence[str], gate: Mapping[str, Any]) -> list[Measure]:
    """What is measured: what is asked for, what the gate needs, and how much is judged."""
    named = parse_measures([*measures, *gate.get("measures", ()), *gate.get("minimum", {})])
    return list(dict.fromkeys((*named, parse_measure("Judged@10"))))


def measured(
    recorded: Recorded, judgments: Judgments, measures: Sequence[Measure], policy: Policy, name: str | None = None
) -> Evaluation | None:
    """Evaluate a recorded run over the queries that were answered; None if there is none.

    A query that failed or was not asked is left out: nobody knows its value, and it is not zero.
    """
    if not recorded.answered:
        return None
    unknown = {*recorded.failed, *recorded.not_asked}
    if unknown:
        judgments = _of_queries(judgments, set(judgments.query_ids) - unknown)
    return _evaluated(Path(recorded.path), judgments, measures, policy, name or recorded.system)


def _of_queries(judgments: Judgments, queries: Container[str]) -> Judgments:
    kept = {query: grades for query, grades in judgments.by_query.items() if query in queries}
    return Judgments(kept, name=judgments.name)


def _evaluated(path: Path, judgments: Judgments, measures: Sequence[Measure], policy: Policy, name: str) -> Evaluation:
    from cranfield.systems.collection import text_lines

    run: Any = path
    if len(list(zip(range(2), text_lines(path)))) < 2:  # a header alone: every query was answered with no document
        run = {query: [] for query in judgments.query_ids}
    return evaluate(judgments, run, measures, policy=policy, name=name, check_ids=False)


def accept(project: Project, systems: Sequence[str] = ()) -> dict[str, tuple[Evaluation | None, Evaluation]]:
    """Make the results of the last test the accepted ones: {system: (accepted before, accepted now)}."""
    judgments = Judgments.read(project.open_collection().qrels)
    with locked(project.result_path("lock"), "testing here"):
        found = {name: _acceptable(project, name, judgments) for name in systems or project.systems}
        for name in found:
            project.accepted_path("").mkdir(parents=True, exist_ok=True)
            for result, kept in ((_VALUES, _VALUES), (_RUN, _ACCEPTED_RUN)):
                with (
                    project.result_path(f"{name}{result}").open("rb") as source,
                    open_target(str(project.accepted_path(f"{name}{kept}")), force=True) as target,
                    target.opened() as file,
                ):
                    shutil.copyfileobj(source, file)
    return found


def _acceptable(project: Project, name: str, judgments: Judgments) -> tuple[Evaluation | None, Evaluation]:
    path = project.result_path(f"{name}{_VALUES}")
    if name not in project.systems or not path.is_file():
        raise InputError(
            name, "there is no complete result to accept.", hint="run 'cranfield test'; every query must be answered"
        )
    now = Evaluation.load(path)
    if now.qrels_sha256 != judgments.sha256:
        raise InputError(name, "the judgments have changed since the last test.", hint="run 'cranfield test' again")
    earlier = project.accepted_path(f"{name}{_VALUES}")
    return Evaluation.load(earlier) if earlier.is_file() else None, now
