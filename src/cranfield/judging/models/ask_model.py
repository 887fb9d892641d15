"""ask_model(store, assessor) → ModelReport: a model judges the documents that wait in a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cranfield.judging.models.assessor import ModelAssessor
from cranfield.judging.store.store import Store
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.judging.models.work import AskingEstimate


@dataclass(frozen=True, slots=True)
class MissingGrade:
    """A document without a grade, and why: a code such as "no JSON", or what went wrong with the request."""

    query_id: str
    doc_id: str
    part: tuple[int, int] | None
    why: str


@dataclass(frozen=True, slots=True)
class CanaryResult:
    asked: int
    read: int  # replies that could be read
    raised: int  # got more than the lowest grade
    lowest_raised: float
    by_kind: dict[str, tuple[int, int]] = field(default_factory=dict)  # of canaries: raised, read


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Over documents with at least two replies that could be read."""

    documents: int
    same: float  # the share of them whose replies all have one grade
    spread: float  # the highest minus the lowest grade of a document, on average


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """The result of asking about pairs of documents in both orders."""

    pairs: int
    read: int  # pairs of which both replies could be read
    depend: int  # of these, how many preferred another document when the order was reversed
    consistent: int  # pairs with different grades and one preferred document in both orders
    contradict: int  # of these, how many preferred the document with the lower grade


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What a model was asked and what it answered; returned by `ask_model`.

    assessor: the name of the model's assessor
    judge: the fingerprint of how it was asked, which its grades name
    documents: how many wait for it or were judged by it
    judged_before, graded: documents it had judged already, and those it has judged now
    reused: of these, those whose texts were paid for under another id
    missing: documents without a grade, and why
    without_text: of these, those without a text in the store
    requests, tokens: sent now, and spent now on replies
    spent: tokens spent on this assessor's replies in this store in all
    failed, failed_tokens: requests in this store in all that brought no reply but may have been worked on, and the
        most tokens that they can have taken; the budget counts them
    uncounted: replies now for which the endpoint counted no tokens: they count with the most that they can have taken
    cost: of the replies now, by the assessor's prices; None without prices
    stopped: why it ended early: "", "requests", "budget" or "interrupted"
    canaries, steadiness, order: what the checks found; None where there was none

    >>> import tempfile, cranfield
    >>> model = cranfield.ModelAssessor(name="words", call=lambda query, document: 2 if query in document else "?")
    >>> with tempfile.TemporaryDirectory() as folder, cranfield.open_store(f"{folder}/j.db", create=True) as store:
    ...     texts = {"1": "cats", "2": "dogs"}
    ...     pooled = cranfield.pool(store, {"q": "cats"}, {"bm25": {"q": ["1", "2", "3"]}}, documents=texts)
    ...     report = cranfield.ask_model(store, model, canaries=0, limit=1, jobs=1)
    >>> report.requests, report.left + len(report.missing) + report.graded, report.stopped, report.without_text
    (1, 3, 'requests', 1)
    """

    assessor: str
    judge: str
    documents: int
    judged_before: int
    graded: int
    reused: int
    missing: tuple[MissingGrade, ...]
    without_text: int
    requests: int
    tokens: int
    spent: int
    failed: int = 0
    failed_tokens: int = 0
    uncounted: int = 0
    cost: float | None = None
    stopped: str = ""
    canaries: CanaryResult | None = None
    steadiness: Steadiness | None = None
    order: OrderCheck | None = None

    def __repr__(self) -> str:
        return f"<ModelReport of {self.assessor}: {self.graded:,} of {count(self.documents, 'document')} graded>"

    @property
    def left(self) -> int:
        """Documents that were not asked about, because the run ended early."""
        return self.documents - self.judged_before - self.graded - len(self.missing)


CANARIES = 10


class ModelProgress:
    """Receives the progress; this base class ignores it."""

    def start(self, estimate: AskingEstimate) -> None:
        """The work is about to start."""

    def document(self, failed: bool) -> None:
        """One more document, canary or pair is done."""

    def stopping(self, under_way: int) -> None:
        """It was interrupted, and waits for the requests under way, which are paid for anyway."""


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
        never exceeded: before a request is sent, the most that it can cost is set aside.
    canaries: how many documents that answer nothing are planted, to see whether the model falls for them. Their grades
        are never judgments.
    check_order: for how many pairs of documents it is asked which of the two is better, in both orders.
    again: also ask about documents whose reply could not be read before.
    retries: further attempts at a request, if it may succeed later.
    wait: seconds before the second attempt; they double each time. An endpoint may ask for longer.
    Returns what was asked and graded, and what is missing. Every reply is on disk with the grade that it leads to
    before the next request, and is never paid for twice: after an interruption, call this again. Ctrl-C
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
