"""ModelReport: what asking a model led to."""

from __future__ import annotations

from dataclasses import dataclass, field

from cranfield.layout import count


@dataclass(frozen=True, slots=True)
class MissingGrade:
    """A document without a grade, and why: a code such as "no JSON", or what went wrong with the request."""

    query_id: str
    doc_id: str
    part: tuple[int, int] | None
    why: str


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """How many canaries were asked about, how many replies could be read, and how many got more than the lowest grade.

    by_kind: the same for each kind of canary: (raised, read)
    """

    asked: int
    read: int
    raised: int
    lowest_raised: float
    by_kind: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Over documents with at least two replies that could be read.

    documents: how many there are
    same: the share of them whose replies all have one grade
    spread: the highest minus the lowest grade of a document, on average
    """

    documents: int
    same: float
    spread: float


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """What came of asking about pairs of documents in both orders.

    pairs: that were asked about
    read: pairs of which both replies could be read
    depend: of these, how many preferred another document when the order was reversed
    consistent: pairs with different grades and one preferred document in both orders
    contradict: of these, how many preferred the document with the lower grade
    """

    pairs: int
    read: int
    depend: int
    consistent: int
    contradict: int


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What a model was asked and what it answered; returned by `ask_model`.

    assessor: the name of the model's assessor
    judge: the fingerprint of how it was asked, which its grades name
    documents: that wait for it or were judged by it
    judged_before, graded: documents it had judged already, and those it has judged now
    reused: of these, those whose texts were paid for under another id
    missing: documents without a grade, and why
    without_text: of these, those without a text in the store
    requests, tokens: sent now, and spent now
    spent: tokens spent on this assessor in this store in all
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
