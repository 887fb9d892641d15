"""The grade of one text for one query: all samples are requested, and the grade is written with the last of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from cranfield.judging.models import ledger
from cranfield.judging.models.assessor import Judge, ModelAssessor
from cranfield.judging.models.endpoint import NoReplyError, RawReply
from cranfield.judging.models.ledger import StoredReply
from cranfield.judging.models.replies import PARSER, ReadReply, read_grade
from cranfield.judging.models.requesting import Requests
from cranfield.judging.models.showing import sample_key, shown
from cranfield.judging.models.work import Question, grade_of
from cranfield.judging.scale import GradeScale
from cranfield.judging.schema import ITEM
from cranfield.judging.store import Store
from cranfield.judging.waiting import WaitingItem


class QuestionOutcome(NamedTuple):
    """The result of one question.

    why: why there is no grade: the code of a failure, or what went wrong
    asked: whether requests were sent for it
    failure: whether the endpoint did not answer
    """

    items: tuple[WaitingItem, ...]
    why: str = ""
    asked: bool = False
    failure: NoReplyError | None = None


class Grading:
    """Grades questions; for several threads."""

    def __init__(
        self,
        store: Store,
        assessor: ModelAssessor,
        judge: Judge,
        scale: GradeScale,
        requests: Requests,
        again: bool,
    ) -> None:
        self._store, self._assessor, self._judge, self._scale = store, assessor, judge, scale
        self._requests, self._again = requests, again
        self._grades = [each.grade for each in scale]

    def grade(self, question: Question) -> QuestionOutcome:
        """Request the missing samples of a question, and write its grade."""
        items = tuple(question.items)
        with self._store._reading() as connection:
            texts = shown(ledger.texts_of(connection, items[0]), self._assessor.max_characters)
            names = {sample_key(question.key, sample): sample for sample in range(self._assessor.samples)}
            # Another process may be asking the same.
            question.known.update({names[key]: row for key, row in ledger.replies_of(connection, names).items()})
        if texts is None or texts.key(self._judge.asked) != question.key:
            return QuestionOutcome(items, "the text has changed in the meantime")
        known = dict(question.known)
        wanted = question.open_samples(self._assessor.samples, self._again)
        if not wanted:
            self._store._database.commits.run("a grade", lambda connection: self._conclude(connection, question, known))
        prompt = texts.prompt(self._judge.prompt, self._scale, self._judge.asked)
        for sample in wanted:

            def save(connection: sa.Connection, raw: RawReply, details: dict[str, Any], sample: int = sample) -> None:
                row = self._row(items[0], raw, {**texts.details(), **details}, sample)
                row["key"] = sample_key(question.key, sample)
                known[sample] = ledger.add_reply(connection, row)
                if sample == wanted[-1]:
                    self._conclude(connection, question, known)

            try:
                self._requests.ask(prompt, sample, save, query=texts.query, document=texts.document)
            except NoReplyError as failure:
                if failure.final:
                    raise
                return QuestionOutcome(items, failure.fact, asked=True, failure=failure)
        grade, why = grade_of(known, self._assessor.samples)
        return QuestionOutcome(items, "" if grade is not None else why, asked=bool(wanted))

    def _row(self, item: WaitingItem, raw: RawReply, details: dict[str, Any], sample: int) -> dict[str, Any]:
        read = read_raw(raw, self._grades)
        return {
            **dict(zip(ITEM, item, strict=True)),
            "assessor": self._assessor.name,
            "judge": self._judge.fingerprint,
            "sample": sample,
            "grade": read.value,
            "failure": read.failure,
            "reply": raw.refusal or raw.text,
            "purpose": "grade",
            "details": {**details, "finish_reason": raw.finish_reason, "parser": PARSER},
            "tokens": details.get("tokens", 0),
        }

    def _conclude(self, connection: sa.Connection, question: Question, known: Mapping[int, StoredReply]) -> None:
        """Write the grade of every document with this text, and which replies it comes from."""
        grade, _ = grade_of(known, self._assessor.samples)
        if grade is None:
            return
        own = {"assessor": self._assessor.name, "judge": self._judge.fingerprint, "purpose": "grade"}
        for item in question.items:
            if not ledger.add_grade(
                connection,
                item,
                grade,
                self._assessor.name,
                self._judge.fingerprint,
                question.text_sha256,
                self._store.name,
            ):
                continue
            for sample, reply in known.items():
                if (reply.item, reply.judge) != (item, self._judge.fingerprint):
                    ledger.copy_reply(connection, reply, item, {**own, "sample": sample})


def read_raw(raw: RawReply, grades: list[float]) -> ReadReply:
    """The grade in a reply, or the failure of the endpoint."""
    return (
        ReadReply(failure=raw.failure) if raw.failure else read_grade(raw.text, grades, raw.finish_reason, raw.refusal)
    )
