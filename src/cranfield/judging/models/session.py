"""A model at work: its requests, several at a time, until all is judged or a comparison is decided."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from itertools import islice
from typing import Any

from cranfield.errors import CranfieldError, InputError, OutputError, SystemFailure
from cranfield.judging.decide.decide import note_chosen
from cranfield.judging.decide.decision import BATCH, Decision
from cranfield.judging.decide.looks import Look
from cranfield.judging.models import ledger
from cranfield.judging.models.ask_model import MissingGrade, ModelProgress, ModelReport
from cranfield.judging.models.assessor import ModelAssessor
from cranfield.judging.models.checks import Checks, measure_steadiness
from cranfield.judging.models.endpoint import NoReplyError
from cranfield.judging.models.requesting import Allowance, ExhaustedError, Requests
from cranfield.judging.models.work import AskedModel, AskingEstimate, Grading, QuestionOutcome, estimate, find_work
from cranfield.judging.store.store import Store
from cranfield.words import count

GIVE_UP = 10  # requests in a row that failed


class Asking:
    """The work of one call: planned first, so that its cost is known, and then run; one at a time."""

    def __init__(
        self,
        store: Store,
        assessor: ModelAssessor,
        *,
        jobs: int = 4,
        limit: int | None = None,
        budget: int | None = None,
        retries: int = 5,
        wait: float = 1.0,
        again: bool = False,
    ) -> None:
        for what, value in (("jobs", jobs), ("limit", limit), ("budget", budget)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                hint = "give a whole number, 1 or more"
                raise InputError(assessor.name, f"{value!r} is not a value of {what}.", hint=hint)
        if assessor.call is not None and budget is not None:
            raise InputError(assessor.name, "a function counts no tokens, so it cannot have a budget.")
        self.assessor = assessor
        self._store, self._again, self._jobs = store, again, jobs
        self._limit, self._retries, self._wait = limit, retries, wait
        self._scale = store.scale
        self.judge = assessor._judge(self._scale)
        self.budget = assessor.budget if budget is None else budget
        self._stop = threading.Event()
        self._stopped, self._error = "", None  # type: tuple[str, CranfieldError | None]
        self._failed_in_a_row = 0

    def __enter__(self) -> Asking:
        store, assessor = self._store, self.assessor
        with ExitStack() as held:
            # Requests of another process are not in the store until they are answered: both would pay for them.
            hold = held.enter_context(store._database.only_one(f"asking {assessor.name}"))
            if hold.can_be_lost:  # a process that lost it may still wait for replies
                self._refuse_under_way()
            with store._reading() as connection:
                self._before = ledger.costs(connection, assessor.name)
            self._allowance = Allowance(self._limit, self.budget, self._before)
            self._requests = Requests(
                store,
                assessor,
                self._allowance,
                self._stop,
                before=hold.check,
                retries=self._retries,
                wait=self._wait,
            )
            held.callback(self._requests.close)
            model = AskedModel(store, assessor, self.judge, self._scale, self._requests)
            self._grading, self._checks = Grading(model, self._again), Checks(model)
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def _refuse_under_way(self) -> None:
        with self._store._reading() as connection:
            number, seconds = ledger.under_way(connection, self.assessor.name)
        if number:
            left = count(number, "reply", "replies")
            fact = f"another process that was asking {self.assessor.name} may still get {left}."
            hint = f"try again in {math.ceil(seconds)} s: until then, the same documents could be paid for twice"
            raise OutputError(self._store.name, fact, hint=hint)

    @property
    def costs(self) -> ledger.Costs:
        return self._allowance.costs

    def plan(self, canaries: int, check_order: int, only: Collection[tuple[str, str]] | None = None) -> AskingEstimate:
        """Find the questions to ask; `only`: about these documents of these queries, not about all that wait."""
        if check_order and not self._requests.takes_prompts:
            fact = "a function of a query and a document cannot compare two documents."
            raise InputError(self.assessor.name, fact, hint="give a function of a prompt, or leave the check out")
        self.work = find_work(self._store, self.assessor, self.judge, self._scale, only)
        planted = self._checks.plant(canaries)
        self._pairs = check_order
        self.estimate = estimate(
            self.work, self.assessor, self._again, planted, self._checks.order_sizes(check_order, self.work)
        )
        return self.estimate

    def run(self, progress: ModelProgress) -> ModelReport:
        self._requests.open()
        with self._store._writing("the assessor") as connection:
            ledger.remember_judge(connection, self.judge)
        progress.start(self.estimate)
        self._outcomes: list[QuestionOutcome] = []
        self._run(self._checks.canary_tasks(), progress)
        self._run((partial(self._grading.grade, question) for question in self.work.questions), progress)
        if self._pairs:
            self._run(self._checks.order_tasks(self._pairs), progress)
        if self._error is not None:
            raise self._error
        return self._result()

    def _run(self, tasks: Iterable[Callable[[], QuestionOutcome | None]], progress: ModelProgress) -> None:
        waiting: Iterator[Callable[[], QuestionOutcome | None]] = iter(tasks)
        under_way: set[Future[QuestionOutcome | None]] = set()
        pool = ThreadPoolExecutor(self._jobs)
        try:
            while not self._stop.is_set():
                under_way.update(pool.submit(task) for task in islice(waiting, self._jobs - len(under_way)))
                if not under_way:
                    return
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for task in done:
                    self._ended(task, progress)
        except KeyboardInterrupt:
            self._halt("interrupted")
            progress.stopping(len(under_way))
        finally:
            for task in wait(under_way).done:  # they are paid for
                self._ended(task, progress)
            pool.shutdown()

    def _ended(self, task: Future[QuestionOutcome | None], progress: ModelProgress) -> None:
        try:
            outcome = task.result()
        except ExhaustedError as end:
            if str(end) != "stopped":
                self._halt(str(end))
            return
        except NoReplyError as failure:
            outcome = QuestionOutcome((), failure.fact, asked=True, failure=failure)
        except CranfieldError as error:
            self._fail(error)
            return
        if outcome is not None:
            self._outcomes.append(outcome)
        self._count_failure(outcome.failure if outcome else None)
        progress.document(failed=outcome is not None and bool(outcome.why))

    def _count_failure(self, failure: NoReplyError | None) -> None:
        self._failed_in_a_row = self._failed_in_a_row + 1 if failure else 0
        if failure is not None and (failure.final or self._failed_in_a_row >= GIVE_UP):
            many = "" if failure.final else f"{self._failed_in_a_row} requests in a row failed; the last: "
            kept = "all grades are saved, and the same call continues from there"
            hint = f"{failure.hint}; {kept}" if failure.hint else kept
            self._fail(SystemFailure(f"{self.assessor.name}: {many}{failure.fact}", hint=hint, final=failure.final))

    def _halt(self, why: str) -> None:
        self._stopped = self._stopped or why
        self._stop.set()
        self._allowance.stop()

    def _fail(self, error: CranfieldError) -> None:
        self._error = self._error or error
        self._halt("failed")

    def _result(self) -> ModelReport:
        lacking = [(item, "no text") for item in self.work.without_text]
        lacking += [(item, outcome.why) for outcome in self._outcomes if outcome.why for item in outcome.items]
        missing = [MissingGrade(item[0], item[1], item[2:] if item[3] else None, why) for item, why in lacking]
        graded = [outcome for outcome in self._outcomes if not outcome.why]
        with self._store._reading() as connection:
            steadiness = measure_steadiness(connection, self.assessor.name, self.judge.fingerprint)
        return ModelReport(
            assessor=self.assessor.name,
            judge=self.judge.fingerprint,
            documents=self.work.documents,
            judged_before=self.work.judged,
            graded=sum(len(outcome.items) for outcome in graded),
            reused=sum(len(outcome.items) - bool(outcome.asked) for outcome in graded),
            missing=tuple(missing),
            without_text=len(self.work.without_text),
            requests=self._allowance.requests,
            tokens=self.costs.spent - self._before.spent,
            spent=self.costs.spent,
            failed=self.costs.failed,
            failed_tokens=self.costs.failed_tokens,
            uncounted=self._allowance.uncounted,
            cost=None if self.assessor.prompt_price is None else self._allowance.cost,
            stopped=self._stopped,
            canaries=self._checks.canary_result(),
            steadiness=steadiness,
            order=self._checks.order_result(),
        )


def decide_by_model(
    store: Store, asking: Asking, make: Callable[[Any], Decision], canaries: int
) -> tuple[Decision, list[ModelReport]]:
    """Until the verdict is final or a limit is reached; each report has the requests and tokens up to it."""
    decision = make(_graded(store, asking) or None)
    reports: list[ModelReport] = []
    while not decision.look().done:
        chosen = decision.next(BATCH)
        note_chosen(store, chosen)
        asking.plan(0 if reports else canaries, 0, only=chosen)
        _refuse_without_text(store, asking)
        reports.append(asking.run(ModelProgress()))
        if reports[-1].stopped:
            break
        grades = _graded(store, asking)
        judged: dict[str, dict[str, float | None]] = {}
        for query, document in chosen:  # a reply that could not be read has no grade, and is not requested again
            judged.setdefault(query, {})[document] = grades.get(query, {}).get(document)
        decision = decision.with_grades(judged)
    return decision, reports


def most_to_ask(
    store: Store, asking: Asking, make: Callable[[Any], Decision], canaries: int
) -> tuple[Look, AskingEstimate]:
    decision = make(_graded(store, asking) or None)
    look = decision.look()
    estimate = asking.plan(0 if look.done else canaries, 0, only=[] if look.done else decision._open_pairs())
    _refuse_without_text(store, asking)
    return look, estimate


def _graded(store: Store, asking: Asking) -> dict[str, dict[str, float]]:
    with store._reading() as connection:
        items = ledger.judged_items(connection, asking.assessor.name, asking.judge.fingerprint)
    grades: dict[str, dict[str, float]] = {}
    for (query, document, _, end), (_, grade) in items.items():
        if not end:
            grades.setdefault(query, {})[document] = grade
    return grades


def _refuse_without_text(store: Store, asking: Asking) -> None:
    if asking.work.without_text:
        query, document, *_ = asking.work.without_text[0]
        fact = f"it has no text of document '{document}' of query '{query}', so no model can judge it."
        raise InputError(store.name, fact, hint=f"cranfield pool {store.name} COLLECTION RUNS imports the texts")
