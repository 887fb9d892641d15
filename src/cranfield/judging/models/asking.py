"""ask_model(store, assessor) → Asked: a model judges what waits in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.judging.models.assessor import ModelAssessor
from cranfield.judging.models.model_report import ModelReport
from cranfield.judging.store import Store

if TYPE_CHECKING:
    from cranfield.judging.models.work import AskingEstimate

CANARIES = 10


class ModelProgress:
    """What whoever watches is told; here nobody does."""

    def start(self, estimate: AskingEstimate) -> None:
        """What is about to be asked."""

    def document(self, failed: bool) -> None:
        """One more document, or canary, or pair."""

    def stopping(self, under_way: int) -> None:
        """It was interrupted, and waits for requests that are paid for anyway."""


def ask_model(
    store: Store,
    assessor: ModelAssessor,
    *,
    jobs: int = 4,
    limit: int | None = None,
    budget: int | None = None,
    canaries: int = CANARIES,
    check_order: int = 0,
    again: bool = False,
    retries: int = 5,
    wait: float = 1.0,
) -> ModelReport:
    """Let a model judge the documents that wait in a store and that it has not judged.

    store: an open store.
    assessor: the model, and how it is asked.
    jobs: how many requests are sent at a time.
    limit: the most requests to send, failed ones included.
    budget: the most tokens to spend on this assessor in this store, in all; by default that of the assessor. It is
        never exceeded: before a request is sent, the most that it can take is set aside.
    canaries: how many documents that answer nothing are planted, to see whether the model falls for them. Their grades
        are never judgments.
    check_order: about how many pairs of documents it is asked in both orders, which of the two is better.
    again: also ask about documents whose reply could not be read before.
    retries: further attempts at a request, if it may succeed later.
    wait: seconds before the second attempt; they double each time. An endpoint may ask for longer.
    Returns what was asked and graded, and what is missing. Every reply is on disk with the grade that it leads to
    before the next one is asked for, and is never paid for twice: after an interruption, call this again. Ctrl-C
    waits for the requests under way, and then this returns. A reply that cannot be read leads to no grade.

    >>> import tempfile
    >>> from cranfield import open_store
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(f"{folder.name}/judgments.db", create=True)
    >>> store.add_queries({"q1": "red shoes"}), store.add_documents({"d1": "red shoes", "d2": "a blue hat"})
    (1, 2)
    >>> store.wait([("q1", "d1"), ("q1", "d2")])
    2
    >>> words = ModelAssessor(name="words", call=lambda query, document: 3 if query in document else 0)
    >>> asked = ask_model(store, words, canaries=4)
    >>> asked.graded, asked.requests, asked.canaries.asked, asked.missing
    (2, 6, 4, ())
    >>> store.view(["words"], kinds=["model"]).by_query
    {'q1': {'d1': 3.0, 'd2': 0.0}}
    >>> ask_model(store, words, canaries=4).requests
    0
    >>> store.close()
    >>> folder.cleanup()
    """
    from cranfield.judging.models.session import Asking

    asking = Asking(store, assessor, jobs=jobs, limit=limit, budget=budget, retries=retries, wait=wait, again=again)
    with asking:
        asking.plan(canaries, check_order)
        return asking.run(ModelProgress())
