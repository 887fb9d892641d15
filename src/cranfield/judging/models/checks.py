"""The checks that go with asking: canaries, and whether the order of two documents matters. None becomes a judgment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import sqlalchemy as sa

from cranfield.judging.models import ledger
from cranfield.judging.models.assessor import Judge, ModelAssessor, hash_of
from cranfield.judging.models.canaries import Canary, make_canaries
from cranfield.judging.models.endpoint import NoReplyError, RawReply
from cranfield.judging.models.grading import read_raw
from cranfield.judging.models.model_report import CanaryResult, OrderCheck
from cranfield.judging.models.order_check import (
    DocumentPair,
    choose_pairs,
    order_key,
    order_prompt,
    summed_up,
)
from cranfield.judging.models.prompts import PAIRWISE, read_prompt
from cranfield.judging.models.replies import PARSER, ReadReply, read_better
from cranfield.judging.models.requesting import Requests
from cranfield.judging.models.showing import Shown, sample_key, shown
from cranfield.judging.models.work import ModelWork
from cranfield.judging.scale import GradeScale
from cranfield.judging.schema import REPLIES
from cranfield.judging.store import Store


class Checks:
    """Canaries and order checks of one assessor; for several threads."""

    def __init__(
        self, store: Store, assessor: ModelAssessor, judge: Judge, scale: GradeScale, requests: Requests
    ) -> None:
        self._store, self._assessor, self._judge, self._scale = store, assessor, judge, scale
        self._requests = requests
        self._grades = [each.grade for each in scale]
        self._canaries: list[Canary] = []
        self._canary_grades: dict[str, tuple[str, float | None]] = {}  # by document: its kind, and the grade
        self._answers: dict[DocumentPair, tuple[str, str]] = {}

    def plant(self, count: int) -> list[int]:
        """Make those canaries that were not asked about yet; the bytes of their prompts."""
        columns = [REPLIES.c[name] for name in ("doc_id", "grade", "details")]
        own = (REPLIES.c.judge == self._judge.fingerprint, REPLIES.c.purpose == "canary")
        with self._store._reading() as connection:
            for name, grade, details in connection.execute(sa.select(*columns).where(*own)):
                self._canary_grades[name] = (json.loads(details).get("canary", ""), grade)
            made = make_canaries(connection, count, self._scale, self._judge.fingerprint, self._assessor.max_characters)
        self._canaries = [each for each in made if _name(each) not in self._canary_grades]
        return [len(self._canary_prompt(each).encode()) for each in self._canaries]

    def _canary_prompt(self, canary: Canary) -> str:
        return canary.shown.prompt(self._judge.prompt, self._scale, self._judge.asked)

    def canary_tasks(self) -> Iterator[Callable[[], None]]:
        """Ask about the canaries, one each."""
        return (partial(self._ask_canary, canary) for canary in self._canaries)

    def _ask_canary(self, canary: Canary) -> None:
        def save(connection: sa.Connection, raw: RawReply, details: dict[str, Any]) -> None:
            read = read_raw(raw, self._grades)
            told = {**canary.shown.details(), **details, "canary": canary.kind, "text": canary.shown.document}
            key = hash_of(["canary", canary.shown.key(self._judge.asked)])
            self._save(connection, raw, read, told, "canary", canary.query_id, _name(canary), key)
            self._canary_grades[_name(canary)] = (canary.kind, read.value)

        texts = canary.shown
        self._requests.ask(self._canary_prompt(canary), 0, save, query=texts.query, document=texts.document)

    def canary_result(self) -> CanaryResult | None:
        """How many canaries got more than the lowest grade, of all that were asked about; None if none was."""
        if not self._canary_grades:
            return None
        lowest = self._grades[0]
        by_kind: dict[str, tuple[int, int]] = {}
        for kind, grade in self._canary_grades.values():
            if grade is not None:
                raised, read = by_kind.get(kind, (0, 0))
                by_kind[kind] = (raised + (grade > lowest), read + 1)
        raised, read = (sum(counts) for counts in zip(*by_kind.values())) if by_kind else (0, 0)
        return CanaryResult(len(self._canary_grades), read, raised, self._grades[1], by_kind)

    def order_sizes(self, count: int, work: ModelWork) -> list[int]:
        """How many bytes the prompts about pairs of documents will have at most, two for each pair."""
        longest = max((question.size for question in work.questions), default=self._assessor.max_characters)
        return [2 * longest] * 2 * count

    def order_tasks(self, count: int) -> Iterator[Callable[[], None]]:
        """Ask about pairs of documents that the model has graded, in both orders."""
        with self._store._reading() as connection:
            done = ledger.judged_items(connection, self._assessor.name, self._judge.fingerprint)
        grades = {item: grade for item, (_, grade) in done.items()}
        return (partial(self._ask_pair, pair) for pair in choose_pairs(grades, count, self._judge.fingerprint))

    def _ask_pair(self, pair: DocumentPair) -> None:
        template = read_prompt(PAIRWISE)
        asked = hash_of([self._judge.asked, template.sha256])
        with self._store._reading() as connection:
            texts = [
                shown(ledger.texts_of(connection, item), self._assessor.max_characters)
                for item in (pair.one, pair.other)
            ]
        one, other = texts
        if one is None or other is None:
            return
        answers = [self._preferred(template, pair, *order, asked) for order in ((one, other), (other, one))]
        self._answers[pair] = (answers[0], answers[1])

    def _preferred(self, template: Any, pair: DocumentPair, first: Shown, second: Shown, asked: str) -> str:
        key = sample_key(order_key(first, second, asked), 0)
        with self._store._reading() as connection:
            known = ledger.replies_of(connection, [key]).get(key)
        if known is not None:
            return str(read_better(known.reply, json.loads(known.details).get("finish_reason", "")).value or "")

        def save(connection: sa.Connection, raw: RawReply, details: dict[str, Any]) -> str:
            read = (
                read_better(raw.text, raw.finish_reason, raw.refusal) if not raw.failure else ReadReply("", raw.failure)
            )
            told = {**details, "prompt_sha256": template.sha256, "documents": [pair.one[1], pair.other[1]]}
            named = ReadReply(None, read.failure)
            self._save(connection, raw, named, told, "order", pair.one[0], pair.one[1], key)
            return str(read.value or "")

        try:
            return self._requests.ask(order_prompt(template, first, second, asked), 0, save)
        except NoReplyError as failure:
            if failure.final:
                raise
            return ""

    def order_result(self) -> OrderCheck | None:
        """What came of the pairs; None if there were none."""
        return summed_up(self._answers) if self._answers else None

    def _save(
        self,
        connection: sa.Connection,
        raw: RawReply,
        read: ReadReply,
        details: dict[str, Any],
        purpose: str,
        query_id: str,
        doc_id: str,
        key: str,
    ) -> None:
        ledger.add_reply(
            connection,
            {
                "key": key,
                "query_id": query_id,
                "doc_id": doc_id,
                "part_start": 0,
                "part_end": 0,
                "assessor": self._assessor.name,
                "judge": self._judge.fingerprint,
                "sample": 0,
                "grade": read.value,
                "failure": read.failure,
                "reply": raw.refusal or raw.text,
                "details": {**details, "finish_reason": raw.finish_reason, "parser": PARSER},
                "purpose": purpose,
                "tokens": details.get("tokens", 0),
            },
        )


def _name(canary: Canary) -> str:
    return f"canary {canary.number + 1}"
