"""What a model must still be asked, and what that will cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cranfield.judging.models import ledger
from cranfield.judging.models.assessor import Judge, ModelAssessor
from cranfield.judging.models.budget import most_tokens, typical_tokens
from cranfield.judging.models.ledger import StoredReply
from cranfield.judging.models.showing import Shown, sample_key, shown
from cranfield.judging.scale import GradeScale
from cranfield.judging.store import Store
from cranfield.judging.waiting import WaitingItem

TYPICAL_REPLY = 40  # tokens of a grade and its reason


@dataclass(slots=True)
class Question:
    """A query and a text about which a model is asked. Documents with the same text share it.

    size: bytes of the prompt
    known: replies that are already in the store, by sample
    """

    key: str
    size: int
    text_sha256: str
    items: list[WaitingItem] = field(default_factory=list)
    known: dict[int, StoredReply] = field(default_factory=dict)

    def open_samples(self, samples: int, again: bool) -> list[int]:
        """The samples to ask for; with `again`, also those whose reply could not be read."""
        return [each for each in range(samples) if each not in self.known or (again and self.known[each].failure)]

    def is_unread(self, samples: int, again: bool) -> bool:
        """Whether everything was asked without getting a grade."""
        return not self.open_samples(samples, again) and grade_of(self.known, samples)[0] is None


def grade_of(known: Mapping[int, StoredReply], samples: int) -> tuple[float | None, str]:
    """The lower median of the replies, if most of them could be read; otherwise the reason."""
    found = sorted(reply.grade for reply in known.values() if reply.grade is not None)
    if 2 * len(found) > samples:
        return found[(len(found) - 1) // 2], ""
    return None, next((reply.failure for reply in known.values() if reply.failure), "no reply")


@dataclass(frozen=True, slots=True)
class ModelWork:
    """The work for a model: the questions it has not judged, how many it has, and documents without text."""

    questions: list[Question]
    judged: int
    without_text: tuple[WaitingItem, ...]

    @property
    def documents(self) -> int:
        """How many documents wait for it or were judged by it."""
        return self.judged + len(self.without_text) + sum(len(each.items) for each in self.questions)


def find_work(
    store: Store,
    assessor: ModelAssessor,
    judge: Judge,
    scale: GradeScale,
    only: Collection[tuple[str, str]] | None = None,
) -> ModelWork:
    """The documents that the model has not judged yet, all or some of them, with the replies that already exist."""
    questions: dict[str, Question] = {}
    without: list[WaitingItem] = []
    judged = 0
    empty = len(Shown("", "", "", 0, "").prompt(judge.prompt, scale, judge.asked).encode())
    with store._reading() as connection:
        done = ledger.judged_items(connection, assessor.name, judge.fingerprint)
        rows = ledger.texts_to_judge(connection) if only is None else ledger.texts_of_documents(connection, only)
        for row in rows:
            item = (row.query_id, row.doc_id, row.part_start, row.part_end)
            texts = shown(row, assessor.max_characters)
            if texts is None:
                without.append(item)
                continue
            if item in done and done[item][0] == texts.text_sha256:
                judged += 1
                continue
            key = texts.key(judge.asked)
            if key not in questions:
                questions[key] = Question(key, empty + _size(texts), texts.text_sha256)
            questions[key].items.append(item)
        keys = {sample_key(key, sample): (key, sample) for key in questions for sample in range(assessor.samples)}
        for name, reply in ledger.replies_of(connection, keys).items():
            key, sample = keys[name]
            questions[key].known[sample] = reply
    return ModelWork([*questions.values()], judged, tuple(without))


def _size(texts: Shown) -> int:
    return sum(len(text.encode()) for text in (texts.query, texts.narrative, texts.document))


@dataclass(frozen=True, slots=True)
class AskingEstimate:
    """The cost of asking, if no request fails.

    documents: how many are to be judged; `judged` were before, and `unread` had replies that could not be read
    requests: with those of canaries and of the check of the order
    tokens: about how many, and `most` at most
    """

    documents: int
    judged: int
    unread: int
    requests: int
    canaries: int
    tokens: int
    most: int


def estimate(
    work: ModelWork, assessor: ModelAssessor, again: bool, canaries: list[int], order_checks: list[int], reply: int
) -> AskingEstimate:
    """Add it up. canaries, order_checks: the bytes of their prompts; reply: the most tokens of a reply."""
    sizes = [*canaries, *order_checks]
    for question in work.questions:
        sizes += [question.size] * len(question.open_samples(assessor.samples, again))
    documents = sum(len(question.items) for question in work.questions)
    unread = sum(len(question.items) for question in work.questions if question.is_unread(assessor.samples, again))
    typical = sum(typical_tokens(size) + min(TYPICAL_REPLY, reply) for size in sizes)
    most = sum(most_tokens(size, reply) for size in sizes)
    return AskingEstimate(documents - unread, work.judged, unread, len(sizes), len(canaries), typical, most)
