"""Testing systems: ask them, measure, and compare with the accepted result."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.comparison.comparing import compare_evaluations, shared_documents
from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Difference
from cranfield.comparison.gate_checks import Check, floor_check
from cranfield.comparison.gating import GateResult, compared_measures, deciding, gate
from cranfield.comparison.limits import ALONE, Asking, refuse_unknown_queries
from cranfield.comparison.pairing import same_weights
from cranfield.drawing import Written
from cranfield.errors import InputError, choice_hint
from cranfield.evaluation.evaluating import evaluate, evaluate_run
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import are_weighted
from cranfield.io.shapes import Rankings
from cranfield.io.streams import LOOK
from cranfield.io.target import locked
from cranfield.measures import Measure, parse_measure, parse_measures
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import FEW, few_queries
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Run, Wants, open_run
from cranfield.systems.accepting import (
    VALUES,
    Verdict,
    accepted_asking,
    accepted_judgments,
    accepted_run,
    accepted_values,
    check_accepted,
    save_result,
)
from cranfield.systems.asking import Answer, first_answers
from cranfield.systems.collection import BUILTIN, Collection, kept_in_memory, open_collection
from cranfield.systems.history.change import Moment
from cranfield.systems.misses import Lost, Miss, lost_most, misses
from cranfield.systems.opening import System, open_system
from cranfield.systems.project import Project
from cranfield.systems.recorded import Recorded
from cranfield.systems.recording import record
from cranfield.words import count, listed

SHOWN = 10  # documents of a ranking, of the worst queries and on a page
HELD = 1_000_000  # documents of a run that was just recorded, to be measured without reading it again
ACCEPTED = "accepted"


def measured(
    recorded: Recorded,
    judgments: Judgments,
    measures: Sequence[Measure],
    project: Project,
    name: str | None = None,
    gone: frozenset[str] = frozenset(),
) -> Evaluation | None:
    """Evaluate a recorded run over the queries that were answered; None if there is none.

    A query that failed or was not asked is left out: its value is unknown, not zero. So are documents that are gone.
    """
    if not recorded.answered:
        return None
    unknown = {*recorded.failed, *recorded.not_asked}
    if unknown:
        judgments = _of_queries(judgments, set(judgments.query_ids) - unknown)
    run = open_run(recorded)
    if gone:
        run = without_documents(run, gone, project.policy)
    evaluation = evaluated_run(run, judgments, measures, project, name or recorded.system)
    several = recorded.answered - len(recorded.empty) >= FEW
    if several and evaluation.ranks is not None and not len(evaluation.ranks.rank):  # ids that are not the judged ones
        where = f"ids were taken from {' and '.join(recorded.id_places)}; " if recorded.id_places else ""
        hint = f"{where}set id to where the judged ids are, such as 'metadata.source'; or collapse, if these are chunks"
        raise InputError(recorded.system, f"{evaluation.warnings[0]}.", hint=hint)
    return evaluation


def _of_queries(judgments: Judgments, queries: Container[str]) -> Judgments:
    kept = {query: grades for query, grades in judgments.by_query.items() if query in queries}
    return Judgments(kept, name=judgments.name, provenance=judgments.provenance)


def of_existing(judgments: Judgments, gone: frozenset[str]) -> Judgments:
    """The judgments of documents that exist; signatures say how many others there are."""
    empty = {query for query, grades in judgments.by_query.items() if not grades}  # which have no answer
    kept = {query: grades for query, grades in _without(judgments.by_query, gone).items() if grades or query in empty}
    provenance = "|".join(filter(None, (judgments.provenance, f"gone:{len(gone)}")))
    return Judgments(kept, name=judgments.name, provenance=provenance)


def _without(by_query: Mapping[str, Mapping[str, float]], documents: frozenset[str]) -> dict[str, Mapping[str, float]]:
    return {
        query: {document: numbers[document] for document in numbers if document not in documents}
        if documents
        else numbers
        for query, numbers in by_query.items()
    }


def without_documents(run: Run, documents: frozenset[str], policy: Policy) -> Run:
    """A run, read into memory, without some documents."""
    rankings = _without(run.scores(policy), documents)
    sha256 = (run.stream.sha256 or run.stream.hash_again()) if run.stream else run.sha256
    return Run(Rankings(run.place, rankings), name=run.name, sha256=sha256, made=run.made)


def evaluated_run(
    run: Run, judgments: Judgments, measures: Sequence[Measure], project: Project, name: str
) -> Evaluation:
    """Evaluate a recorded run, whatever its ids are."""
    if run.stream is not None and run.stream.head(LOOK).count(b"\n") < 2:  # a header alone: nothing was answered
        run = open_run({query: [] for query in judgments.query_ids})
    wants = shared_documents(measures)(judgments) | Wants(first=SHOWN)
    evaluation = evaluate_run(judgments, run, measures, project.policy, name=name, check_ids=False, wants=wants)
    # Every query was asked: one that the run lacks was answered with nothing, which is told by itself.
    evaluation._evidence.lacking = frozenset()
    lacks = few_queries(evaluation.counts.judged - evaluation.counts.missing, evaluation.counts.judged)
    warnings = tuple(warning for warning in evaluation._input_warnings if warning != lacks)
    evaluation = replace(evaluation, _input_warnings=warnings)
    return project.columns.applied(evaluation)


def beside_accepted(
    project: Project, collection: Collection, judged: Judged, evaluation: Evaluation, recorded: Recorded
) -> Tested | None:
    """The new run of a system beside the accepted one, by the same judgments; None if nothing was accepted.

    Queries that failed, and documents that are gone, are in neither.
    """
    judgments = judged.judgments
    name, measures = evaluation.run, evaluation.measures
    before = accepted_values(project, name)
    if before is None:
        return None
    path = accepted_run(project, before)
    run = open_run(path)
    known, unknown = set(before.query_ids), {*recorded.failed, *recorded.not_asked}
    new = [query for query in judgments.query_ids if query not in known]
    shared = _of_queries(judgments, known - unknown) if new or unknown else judgments
    assert run.stream is not None
    stream, gone = run.stream, judged.gone or frozenset()
    if gone:
        run = without_documents(run, gone, project.policy)
    accepted = evaluated_run(run, shared, measures, project, ACCEPTED)
    check_accepted(before, stream, accepted)
    made = before._evidence.made
    # What its answers held then is not what is left of them now.
    accepted._evidence.made = replace(made, size={}) if made is not None and gone else made
    compared = measured(recorded, shared, measures, project, name, gone) if new else evaluation
    assert compared is not None
    settings = {name: value for name, value in project.gate.items() if name not in ALONE}
    excepted = [query for query in map(str, settings.pop("except_queries", ())) if query in shared.number]
    decided = gate(
        None,
        accepted,
        compared,
        **{"measures": project.measures[:1], **settings},
        except_queries=excepted,
        recorded=(accepted_asking(project, name), Asking(recorded.latency, ())),
        texts=collection.queries,
    )
    alone = checks_alone(project, collection, evaluation, recorded)
    checks = tuple(check for check in alone if check not in decided.checks)
    notes = list(judged.notes)
    changed = accepted_judgments(project, before) != judged.sha256
    if changed or before.qrels_sha256 != judgments.sha256:
        measure = next(iter(accepted))
        then = f" (then {before.shown(measure)})" if measure in before else ""
        why = "the judgments have changed since it was accepted, so " if changed else ""
        notes.append(f"{why}the accepted run was measured again: {measure} {accepted.shown(measure)}{then}")
    if not same_weights(before, accepted):
        notes.append("the weights have changed since it was accepted, so both are measured by today's")
    if judged.gone is None and not decided.passed:
        notes += _vanished(accepted, compared, recorded)
    apart = tuple(_not_compared(new, [query for query in before.query_ids if query in unknown]))
    tested = Tested(name, recorded, evaluation, accepted, path, compared, decided, checks, tuple(notes), apart)
    differences = tuple(compared_measures(decided))
    return replace(tested, differences=differences, lost=lost_most(deciding(decided), (accepted, compared), collection))


def _not_compared(new: Sequence[str], failed: Sequence[str]) -> Iterator[str]:
    if new:
        which = "query is" if len(new) == 1 else "queries are"
        yield f"{len(new)} {which} new since then and not compared: {listed(new, 5)}"
    if failed:
        which = "query was" if len(failed) == 1 else "queries were"
        yield f"{len(failed)} {which} not answered and not compared: {listed(failed, 5)}"


def _vanished(accepted: Evaluation, compared: Evaluation, recorded: Recorded) -> Iterator[str]:
    """Say so if what was lost is mostly relevant documents that no ranking has any more."""
    lost = _relevant_found(accepted) - _relevant_found(compared)
    returned = {document for ranking in open_run(recorded).scores(Policy()).values() for document in ranking}
    nowhere = sorted({document for _, document in lost if document not in returned})
    if 2 * sum(document not in returned for _, document in lost) > len(lost):
        queries = count(len({query for query, _ in lost}), "query", "queries")
        these = count(len(nowhere), "relevant document is", "relevant documents are")
        yield (
            f"most of what {queries} lost is no longer returned for any query: {these} in no ranking now "
            f"({listed(nowhere)}); if they were deleted, say which documents exist, by corpus or exists"
        )


def _relevant_found(evaluation: Evaluation) -> set[tuple[str, str]]:
    """The relevant documents that were retrieved, each with its query."""
    ranks, reading = evaluation.ranks, evaluation._evidence.reading
    if ranks is None or reading is None:
        return set()
    rows = zip(ranks.query.tolist(), ranks.row.tolist(), ranks.grade.tolist(), strict=True)
    names = reading.judgments.document_ids
    return {(ranks.query_ids[query], names[row]) for query, row, grade in rows if grade > 0}


def enough(project: Project, recorded: Recorded) -> bool:
    """Whether no more queries failed than may."""
    return project.limits({}).may_fail(recorded.queries - recorded.answered, recorded.queries)


def checks_alone(
    project: Project, collection: Collection, evaluation: Evaluation, recorded: Recorded
) -> tuple[Check, ...]:
    """What a run must keep to by itself, whatever was accepted."""
    return tuple(
        project.limits(collection.queries).alone(evaluation, Asking.of(recorded), [*_queries(project, collection)])
    )


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of testing a system.

    evaluation: over the queries that were answered; None if there is none
    accepted: the accepted run, measured again by today's judgments; None if nothing was accepted, or if a query failed
    accepted_path: the file of that run
    compared: the evaluation over the queries that were asked when that run was accepted
    gate: the comparison of the two
    checks: what the run must keep to by itself, as far as no gate checks it
    notes: what has changed since the run was accepted
    not_compared: the queries that only one of the two has
    differences: of all measures, from the accepted run to this one, by the test of the gate; only the gate decides
    lost: the queries that got worse most, by the gate's measure
    missed: the worst queries by the first measure, as many as were asked for
    judged, moment: by which judgments it was measured, when, and of which commit
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
    not_compared: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    lost: tuple[Lost, ...] = ()
    missed: tuple[Miss, ...] = ()
    judged: Judged | None = field(default=None, repr=False)
    moment: Moment | None = None

    @property
    def passed(self) -> bool:
        """Some query was answered, all limits were kept, and nothing got worse than accepted."""
        return self.evaluation is not None and not self.failed_checks

    def to_dict(self) -> dict[str, Any]:
        """The result as plain dicts, ready for JSON."""
        recorded, evaluation = self.recorded, self.evaluation
        return {
            "system": self.system,
            "passed": self.passed,
            "queries": recorded.queries,
            "answered": recorded.answered,
            "failed": dict(recorded.failed),
            "not_asked": list(recorded.not_asked),
            "latency": dict(recorded.latency),
            "means": {name: evaluation[name] for name in evaluation} if evaluation else {},
            "accepted": {name: self.accepted[name] for name in self.accepted} if self.accepted else None,
            "gate": self.gate.to_dict() if self.gate is not None else None,
            "checks": [check._asdict() for check in self.checks],
            "differences": [difference.to_dict() for difference in self.differences],
            "notes": list(self.notes),
            "not_compared": list(self.not_compared),
            "lost": [lost.to_dict() for lost in self.lost],
            "worst": [miss.to_dict() for miss in self.missed],
            "signature": evaluation.signature if evaluation else None,
            **({"answering": evaluation.answering.to_dict()} if evaluation and evaluation.answering else {}),
        }

    @property
    def failed_checks(self) -> tuple[Check, ...]:
        every = (*(self.gate.checks if self.gate is not None else ()), *self.checks)
        return tuple(check for check in every if not check.passed)


@dataclass(frozen=True, slots=True)
class ProjectTest:
    """The results of testing the systems of a project, and the collection used."""

    collection: Collection
    systems: tuple[Tested, ...]
    unjudged: tuple[str, ...] = ()  # queries without judgments, which are not asked

    @property
    def passed(self) -> bool:
        return all(tested.passed for tested in self.systems)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain dicts, ready for JSON."""
        return {
            "passed": self.passed,
            "collection": self.collection.name,
            "systems": [tested.to_dict() for tested in self.systems],
            "unjudged": list(self.unjudged),
        }

    to_json = Written.to_json


class Judged(NamedTuple):
    """The judgments that a system is measured by.

    gone: judged documents that no longer exist, and count for nobody; None where nothing says which do
    sha256: of the collection's judgments
    notes: how many there are
    """

    judgments: Judgments
    gone: frozenset[str] | None
    sha256: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, judgments: Judgments, gone: frozenset[str] | None, name: str) -> Judged:
        lost = sorted(gone or ())
        if not lost:
            return cls(judgments, gone, judgments.sha256)
        every = len({*judgments.document_ids})
        if len(lost) == every:
            hint = "the corpus, or exists, must have the ids of the judgments"
            raise InputError(name, f"none of the {every:,} judged documents exists.", hint=hint)
        are = "exists, and is" if len(lost) == 1 else "exist, and are"
        note = (
            f"{len(lost):,} of {every:,} judged documents no longer {are} left out of the judgments and of all runs: "
            f"{listed(lost)}"
        )
        return cls(of_existing(judgments, frozenset(lost)), gone, judgments.sha256, (note,))


Progress = Callable[[str], AbstractContextManager[Any]]


def run_test(project: Project, progress: Progress, systems: Sequence[str] = (), worst: int = 0) -> ProjectTest:
    """Test all systems of a project, or some, and look at the worst queries of each.

    The collection is opened and read once; the result holds it, to be shown.
    """
    for name in systems:
        if name not in project.systems:
            hint = choice_hint("systems are", project.systems, name)
            raise InputError(str(project.path), f"there is no system '{name}' in it.", hint=hint)
    collection = kept_in_memory(project.open_collection())
    collection.judgments()  # an error if there are none
    project = project.expecting(collection.queries)
    excepted, place = project.gate.get("except_queries", ()), f"{project.path}: [gate] except_queries"
    for query, named_in in [
        *((str(query), place) for query in excepted),
        *((e.query, e.place) for e in project.expect),
    ]:
        refuse_unknown_queries([query], collection.queries, [*collection.queries], named_in)
    chosen = [name for name in project.systems if not systems or name in systems]
    with locked(project.result_path("lock"), "testing here"):
        tests = [_test_one(project, collection, name, progress) for name in chosen]
        for at, tested in enumerate(tests):
            if (evaluation := tested.evaluation) is not None:
                missed = misses(evaluation, collection, evaluation.measures[0], worst)
                tests[at] = replace(tested, missed=tuple(missed))
    wanted = _queries(project, collection)
    unjudged = tuple(query for query in collection.queries if query not in wanted)
    return ProjectTest(collection, tuple(tests), unjudged)


def _queries(project: Project, collection: Collection) -> dict[str, str]:
    """The queries to ask: those that are judged, and those that must find something."""
    wanted = {*collection.judged_queries(), *(expected.query for expected in project.expect if expected.find)}
    return {query: text for query, text in collection.queries.items() if query in wanted}


def asked(
    project: Project, collection: Collection, system: Any, name: str, path: Path, progress: Progress, **read: Any
) -> tuple[Recorded, Judged]:
    """Ask a system all judged queries, by the settings of the project; `read`: id, score and order of `open_system`.

    Also the judgments to measure it by, since only the system may know which documents exist.
    """
    timeout = None if isinstance(system, Mapping) and "timeout" in system else project.timeout
    opened = open_system(system, collection, name=name, timeout=timeout, **read)
    queries = _queries(project, collection)
    rankings: dict[str, dict[str, float]] = {}
    size = 0

    def hold(answer: Answer) -> None:
        nonlocal size
        shown.answer(answer)
        size += len(answer.ranking or ())
        if size > HELD:
            rankings.clear()
        elif answer.ranking is not None:
            rankings[answer.query_id] = dict(answer.ranking)

    try:
        with progress(opened.name) as shown:
            recorded = record(
                opened,
                queries,
                path,
                project.k,
                deepen=project.deepen,
                collapse=project.collapse,
                force=True,
                on_start=shown.start,
                on_answer=hold,
                known=collection.ids if collection.corpus else None,
                **project.asking,
            )
        judgments = collection._judged()
        gone = _gone(opened, collection, {*judgments.document_ids})
    finally:
        opened.close()
    in_order = {query: rankings[query] for query in queries if query in rankings}
    whole = recorded if size > HELD else replace(recorded, _rankings=in_order)
    return whole, Judged.of(judgments, gone, opened.name)


def _gone(system: System, collection: Collection, judged: set[str]) -> frozenset[str] | None:
    """Which judged documents no longer exist, by the system or by the corpus; None where neither knows."""
    ask = getattr(system._kind, "existing", None)
    if ask is None:
        return None if collection.corpus is None else frozenset(judged.difference(collection.ids()))
    try:
        return frozenset(judged.difference(ask(judged)))
    except Exception as error:
        raise system.failure(error) from None


def _floors(project: Project) -> dict[Measure, float]:
    return {parse_measure(measure): floor for measure, floor in project.gate.get("minimum", {}).items()}


def tested_measures(project: Project) -> list[Measure]:
    """What a test measures: the measures of the project, and those that its gate needs."""
    named = parse_measures([*project.measures, *project.gate.get("measures", ())])
    return list(dict.fromkeys((*named, *_floors(project), parse_measure("Judged@10"))))


def _test_one(project: Project, collection: Collection, name: str, progress: Progress) -> Tested:
    out, saved = project.recorded_run(name), project.result_path(f"{name}{VALUES}")
    saved.unlink(missing_ok=True)
    recorded, judged = asked(project, collection, dict(project.systems[name]), name, out, progress)
    floors = _floors(project)
    measures = tested_measures(project)
    evaluation = measured(recorded, judged.judgments, measures, project, name, judged.gone or frozenset())
    if evaluation is None:
        return Tested(name, recorded, None)
    checks = checks_alone(project, collection, evaluation, recorded)
    moment = Moment.now(project.folder, (project.baseline,))
    if recorded.complete:  # also where the accepted result turns out to be damaged: this one may replace it
        save_result(evaluation, recorded, judged, saved, moment)
    beside = beside_accepted(project, collection, judged, evaluation, recorded) if enough(project, recorded) else None
    if beside is not None:
        if recorded.complete and beside.accepted is not None:
            verdict = Verdict(beside.accepted.run_sha256, tuple(check.message for check in beside.failed_checks))
            save_result(evaluation, recorded, judged, saved, moment, verdict)
        return replace(beside, judged=judged, moment=moment)
    weighted = are_weighted(evaluation.weights)
    minima = (floor_check(evaluation[measure], measure, floor, weighted=weighted) for measure, floor in floors.items())
    alone = (*minima, *checks)
    return Tested(name, recorded, evaluation, checks=alone, notes=judged.notes, judged=judged, moment=moment)


MEASURES = ("nDCG@10", "RR", "R@100", "Judged@10")
POOR = 8  # queries looked at for what to try next


class Demonstration(NamedTuple):
    collection: Collection
    documents: int
    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    poor: tuple[Miss, ...]


def demonstrate() -> Demonstration:
    """Index the built-in collection twice, ask both engines every query, and compare them."""
    collection = kept_in_memory(open_collection(BUILTIN))
    evaluations = []
    for name, kind in (("plain", "sqlite"), ("tuned", "sqlite:tuned")):
        system = open_system(kind, collection, name=name)
        rankings = first_answers(system, collection.queries, 100).rankings
        evaluations.append(evaluate(collection.qrels, rankings, MEASURES, name=name))
        system.close()
    poor = misses(evaluations[1], collection, MEASURES[0], POOR)
    comparison = compare_evaluations(evaluations, "nDCG@10", baseline="plain")
    documents = sum(1 for _ in collection.documents())
    return Demonstration(collection, documents, tuple(evaluations), comparison, tuple(poor))


def without_words(poor: Sequence[Miss]) -> int:
    """How many of the queries have relevant documents that share no word with them, at least half of them."""
    return sum(2 * (miss.apart or 0) >= miss.facts.relevant > 0 for miss in poor)
