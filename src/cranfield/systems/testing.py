"""Testing systems: ask them, measure, and compare with what was accepted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from cranfield.comparison import GateResult, gate
from cranfield.comparison.checks import Check, floor_check
from cranfield.errors import InputError
from cranfield.evaluation import evaluate
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.measures import parse_measure, parse_measures
from cranfield.result import Evaluation
from cranfield.systems.collapse import collapse_by
from cranfield.systems.collection import Collection
from cranfield.systems.opening import open_system
from cranfield.systems.project import Project
from cranfield.systems.recording import Recorded, record

ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test found out about a system.

    evaluation: over the queries that were answered; None if there is none
    gate: the comparison with the accepted result; None if nothing was accepted, or if a query failed
    checks: the minimums, where there is no gate that holds them
    """

    system: str
    recorded: Recorded
    evaluation: Evaluation | None
    accepted: Evaluation | None
    gate: GateResult | None
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Every query was answered, nothing fell below its minimum, and nothing got worse than accepted."""
        gated = self.gate is None or self.gate.passed
        return self.recorded.complete and gated and all(check.passed for check in self.checks)


Progress = Callable[[str], AbstractContextManager[Any]]


def run_test(project: Project, progress: Progress, systems: Sequence[str] = ()) -> list[Tested]:
    """Test all systems of a project, or some."""
    for name in systems:
        if name not in project.systems:
            raise InputError(
                str(project.path), f"there is no system '{name}' in it.", hint=f"it has {', '.join(project.systems)}"
            )
    collection = project.open_collection()
    queries = _asked(collection)
    return [
        _test_one(project, collection, queries, name, progress)
        for name in project.systems
        if not systems or name in systems
    ]


def _asked(collection: Collection) -> dict[str, str]:
    if collection.qrels is None:
        raise InputError(collection.name, "it has no judgments.", hint="put them into qrels/test.tsv or qrels.txt")
    lacking = [query for query in Judgments.read(collection.qrels).query_ids if query not in collection.queries]
    if lacking:
        listed = ", ".join(lacking[:5]) + (", …" if len(lacking) > 5 else "")
        raise InputError(collection.name, f"{len(lacking)} judged queries have no text: {listed}.")
    return collection.judged_queries()


def _test_one(
    project: Project, collection: Collection, queries: dict[str, str], name: str, progress: Progress
) -> Tested:
    out, saved = project.result_path(name, ".run.tsv"), project.result_path(name, ".json")
    for stale in (saved, out.with_name(f"{out.name}.partial")):
        stale.unlink(missing_ok=True)
    settings = dict(project.systems[name])
    timeout = None if "timeout" in settings else project.timeout
    system = open_system(settings, collection, name=name, timeout=timeout)
    try:
        with progress(name) as shown:
            recorded = record(
                system,
                queries,
                out,
                project.k,
                on_start=shown.start,
                on_answer=shown.answer,
                known=collection.ids if collection.corpus else None,
                to_document=collapse_by(project.collapse) if project.collapse else None,
                **project.asking,
            )
    finally:
        system.close()
    evaluation = measured(recorded, collection, project.measures, project.policy, name, project.gate)
    if evaluation is not None and recorded.complete:
        evaluation.save(saved)
    path = project.accepted_path(name)
    accepted = Evaluation.load(path) if path.is_file() else None
    found: GateResult | None = None
    checks: tuple[Check, ...] = ()
    if recorded.complete and evaluation is not None and accepted is not None:
        accepted.run = ACCEPTED
        options = {"measures": project.measures[:1], **project.gate}
        found = gate(None, accepted, evaluation, **options)
    elif evaluation is not None:
        floors = project.gate.get("minimum", {})
        checks = tuple(floor_check(evaluation, parse_measure(each), floor) for each, floor in floors.items())
    return Tested(name, recorded, evaluation, accepted, found, checks)


def measured(
    recorded: Recorded,
    collection: Collection,
    measures: Sequence[str],
    policy: Policy | None = None,
    name: str | None = None,
    gate: Any = None,
) -> Evaluation | None:
    """Evaluate a recorded run. A query that failed is left out: nobody knows its value, and it is not zero."""
    if not recorded.answered:
        return None
    wanted = parse_measures([*measures, *(gate or {}).get("measures", ()), *(gate or {}).get("minimum", {})])
    judged = parse_measure("Judged@10")
    every = list(dict.fromkeys((*wanted, judged)))
    qrels = collection.qrels
    if not recorded.complete:
        from_all = Judgments.read(qrels)
        done = {query: grades for query, grades in from_all.by_query.items() if query not in recorded.failed}
        qrels = Judgments(done, name=from_all.name)
    run: Any = recorded.path
    if recorded.empty == recorded.answered:  # a file without a ranking would be taken for a mistake
        run = {query: [] for query in collection.queries}
    return evaluate(qrels, run, every, policy=policy, name=name or recorded.system)


def accept(project: Project, systems: Sequence[str] = ()) -> dict[str, tuple[Evaluation | None, Evaluation]]:
    """Make the results of the last test the accepted ones: {system: (accepted before, accepted now)}."""
    judgments = Judgments.read(project.open_collection().qrels)
    found: dict[str, tuple[Evaluation | None, Evaluation]] = {}
    for name in systems or project.systems:
        path = project.result_path(name, ".json")
        if name not in project.systems or not path.is_file():
            raise InputError(
                name,
                "there is no complete result to accept.",
                hint="run 'cranfield test'; every query must be answered",
            )
        now = Evaluation.load(path)
        if now.qrels_sha256 != judgments.sha256:
            raise InputError(name, "the judgments have changed since the last test.", hint="run 'cranfield test' again")
        earlier = project.accepted_path(name)
        found[name] = (Evaluation.load(earlier) if earlier.is_file() else None, now)
    for name in found:
        target = project.accepted_path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project.result_path(name, ".json"), target)
    return found
