"""What a model must still be asked, what that will cost, and how replies become grades."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.models import ledger
from cranfield.judging.models.assessor import Judge, ModelAssessor
from cranfield.judging.models.endpoint import NoReplyError, RawReply
from cranfield.judging.models.ledger import StoredReply
from cranfield.judging.models.prompts import Shown, sample_key, shown
from cranfield.judging.models.replies import ReadReply, read_grade
from cranfield.judging.models.requesting import Requests, most_tokens
from cranfield.judging.store.events import WaitingItem, item_of
from cranfield.judging.store.scale import GradeScale
from cranfield.judging.store.store import Store
from cranfield.judging.store.waiting import task_of

TYPICAL_LETTERS, TYPICAL_REPLY = 4, 40  # per token, and tokens of a grade and its reason: for estimates only


@dataclass(slots=True)
class Question:
    """A query and a text about which a model is asked. Documents with the same text share it."""

    key: str
    size: int  # bytes of the prompt
    text_sha256: str
    items: list[WaitingItem] = field(default_factory=list)
    known: dict[int, StoredReply] = field(default_factory=dict)  # already in the store, by sample

    def open_samples(self, samples: int, again: bool) -> list[int]:
        """The samples to ask for; with `again`, also those whose reply could not be read."""
        return [
            sample for sample in range(samples) if sample not in self.known or (again and self.known[sample].failure)
        ]

    def is_unread(self, samples: int, again: bool) -> bool:
        return not self.open_samples(samples, again) and grade_of(self.known, samples)[0] is None


def grade_of(known: Mapping[int, StoredReply], samples: int) -> tuple[float | None, str]:
    grades = sorted(reply.grade for reply in known.values() if reply.grade is not None)
    if 2 * len(grades) > samples:
        return grades[(len(grades) - 1) // 2], ""
    return None, next((reply.failure for reply in known.values() if reply.failure), "no reply")


@dataclass(frozen=True, slots=True)
class ModelWork:
    questions: list[Question]
    judged: int
    without_text: tuple[WaitingItem, ...]

    @property
    def documents(self) -> int:
        return self.judged + len(self.without_text) + sum(len(question.items) for question in self.questions)


def find_work(
    store: Store,
    assessor: ModelAssessor,
    judge: Judge,
    scale: GradeScale,
    only: Collection[tuple[str, str]] | None = None,
) -> ModelWork:
    questions: dict[str, Question] = {}
    without: list[WaitingItem] = []
    judged = 0
    empty = len(Shown("", "", "", 0, "").prompt(judge.prompt, scale, judge.asked).encode())
    with store._reading() as connection:
        done = ledger.judged_items(connection, assessor.name, judge.fingerprint)
        tasks = ledger.texts_to_judge(connection) if only is None else ledger.texts_of_documents(connection, only)
        for task in tasks:
            item, texts = item_of(task), shown(task, assessor.max_characters)
            if texts is None:
                without.append(item)
                continue
            if item in done and done[item][0] == texts.text_sha256:
                judged += 1
                continue
            key = texts.key(judge.asked)
            if key not in questions:
                size = empty + sum(len(text.encode()) for text in (texts.query, texts.narrative, texts.document))
                questions[key] = Question(key, size, texts.text_sha256)
            questions[key].items.append(item)
        keys = {sample_key(key, sample): (key, sample) for key in questions for sample in range(assessor.samples)}
        for name, reply in ledger.replies_of(connection, keys).items():
            key, sample = keys[name]
            questions[key].known[sample] = reply
    return ModelWork([*questions.values()], judged, tuple(without))


@dataclass(frozen=True, slots=True)
class AskingEstimate:
    """The cost of asking, if no request fails."""

    documents: int  # that are to be judged
    judged: int  # before
    unread: int  # had replies that could not be read
    requests: int  # with those of canaries and of the check of the order
    canaries: int
    tokens: int  # about
    most: int  # tokens
    cost: float | None = None  # about, if the assessor has prices
    most_cost: float | None = None


def estimate(
    work: ModelWork, assessor: ModelAssessor, again: bool, canaries: list[int], order_checks: list[int]
) -> AskingEstimate:
    sizes = [*canaries, *order_checks]
    for question in work.questions:
        sizes += [question.size] * len(question.open_samples(assessor.samples, again))
    documents = sum(len(question.items) for question in work.questions)
    unread = sum(len(question.items) for question in work.questions if question.is_unread(assessor.samples, again))
    reply = min(TYPICAL_REPLY * assessor.body.get("n", 1), assessor._reply_tokens)
    prompts = sum((size + assessor._body_tokens) // TYPICAL_LETTERS + 1 for size in sizes)
    most = sum(most_tokens(size, assessor) for size in sizes)
    replies, most_replies = reply * len(sizes), assessor._reply_tokens * len(sizes)
    costs = (assessor._cost(prompts, replies), assessor._cost(most - most_replies, most_replies))
    counts = (documents - unread, work.judged, unread, len(sizes), len(canaries))
    return AskingEstimate(*counts, prompts + replies, most, *costs)


class QuestionOutcome(NamedTuple):
    items: tuple[WaitingItem, ...]
    why: str = ""  # there is no grade: the code of a failure, or what went wrong
    asked: bool = False  # requests were sent for it
    failure: NoReplyError | None = None  # the endpoint did not answer


class AskedModel(NamedTuple):
    store: Store
    assessor: ModelAssessor
    judge: Judge
    scale: GradeScale
    requests: Requests

    @property
    def grades(self) -> list[float]:
        return [step.grade for step in self.scale]

    @property
    def named(self) -> dict[str, str]:
        return {"assessor": self.assessor.name, "judge": self.judge.fingerprint}


class Grading:
    def __init__(self, model: AskedModel, again: bool) -> None:
        self._model, self._again = model, again

    def grade(self, question: Question) -> QuestionOutcome:
        model, items = self._model, tuple(question.items)
        samples = model.assessor.samples
        with model.store._reading() as connection:
            texts = shown(task_of(connection, items[0]), model.assessor.max_characters)
            names = {sample_key(question.key, sample): sample for sample in range(samples)}
            # Another process may be asking the same.
            question.known.update({names[key]: row for key, row in ledger.replies_of(connection, names).items()})
        if texts is None or texts.key(model.judge.asked) != question.key:
            return QuestionOutcome(items, "the text has changed in the meantime")
        known = dict(question.known)
        wanted = question.open_samples(samples, self._again)
        if not wanted:
            commits = model.store._database.commits
            commits.run("a grade", lambda connection: self._conclude(connection, question, known))
        prompt = texts.prompt(model.judge.prompt, model.scale, model.judge.asked)
        for sample in wanted:

            def save(connection: sa.Connection, raw: RawReply, details: dict[str, Any], sample: int = sample) -> None:
                own = {**model.named, "sample": sample, "key": sample_key(question.key, sample)}
                row = ledger.reply_row(items[0], raw, read_raw(raw, model.grades), {**texts.details(), **details})
                known[sample] = ledger.add_reply(connection, {**row, **own})
                if sample == wanted[-1]:
                    self._conclude(connection, question, known)

            try:
                model.requests.ask(prompt, sample, save, query=texts.query, document=texts.document)
            except NoReplyError as failure:
                if failure.final:
                    raise
                return QuestionOutcome(items, failure.fact, asked=True, failure=failure)
        grade, why = grade_of(known, samples)
        return QuestionOutcome(items, "" if grade is not None else why, asked=bool(wanted))

    def _conclude(self, connection: sa.Connection, question: Question, known: Mapping[int, StoredReply]) -> None:
        """Write the grade of every document with this text, and which replies it comes from."""
        model = self._model
        grade, _ = grade_of(known, model.assessor.samples)
        if grade is None:
            return
        for item in question.items:
            row = {**model.named, "grade": grade, "text_sha256": question.text_sha256}
            if not ledger.add_grade(connection, item, row, model.store.name):
                continue
            for sample, reply in known.items():
                if (reply.item, reply.judge) != (item, model.judge.fingerprint):
                    ledger.copy_reply(connection, reply, item, {**model.named, "purpose": "grade", "sample": sample})


def read_raw(raw: RawReply, grades: list[float]) -> ReadReply:
    if raw.failure:
        return ReadReply(failure=raw.failure)
    return read_grade(raw.text, grades, raw.finish_reason, raw.refusal)
