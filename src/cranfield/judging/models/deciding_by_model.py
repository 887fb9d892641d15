"""A model judges until it is decided which run is better, by its own grades alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cranfield.errors import InputError
from cranfield.judging.deciding.deciding import note_chosen
from cranfield.judging.deciding.decision import BATCH, Decision
from cranfield.judging.deciding.looks import Look
from cranfield.judging.deciding.resuming import resumed
from cranfield.judging.models import ledger
from cranfield.judging.models.asking import ModelProgress
from cranfield.judging.models.model_report import ModelReport
from cranfield.judging.models.session import Asking
from cranfield.judging.models.work import AskingEstimate
from cranfield.judging.schema import EVENTS
from cranfield.judging.store import Store


def decide_by_model(
    store: Store, asking: Asking, make: Callable[[Any], Decision], canaries: int
) -> tuple[Decision, list[ModelReport]]:
    """Ask about what can still change the verdict, until it stands or a limit is reached.

    make: makes the decision from the grades that the model gave before, or from None
    Returns the decision as it stands, and a report of each batch; requests and tokens are those of all up to it.
    """
    decision = _begun(store, asking, make)
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
        found: dict[str, dict[str, float | None]] = {}
        for query, document in chosen:  # a reply that could not be read says nothing, and is not asked for again
            found.setdefault(query, {})[document] = grades.get(query, {}).get(document)
        decision = decision.with_grades(found)
    return decision, reports


def most_to_ask(
    store: Store, asking: Asking, make: Callable[[Any], Decision], canaries: int
) -> tuple[Look, AskingEstimate]:
    """Where the decision stands, and what asking takes if all documents that matter must be judged."""
    decision = _begun(store, asking, make)
    look = decision.look()
    estimate = asking.plan(0 if look.done else canaries, 0, only=[] if look.done else decision._open_pairs())
    _refuse_without_text(store, asking)
    return look, estimate


def _begun(store: Store, asking: Asking, make: Callable[[Any], Decision]) -> Decision:
    """The decision by the grades that the model gave before."""
    own = (EVENTS.c.assessor == asking.assessor.name, EVENTS.c.judge == asking.judge.fingerprint)
    return resumed(make(_graded(store, asking) or None), store, *own)


def _graded(store: Store, asking: Asking) -> dict[str, dict[str, float]]:
    """What the model says of whole documents, asked in this way."""
    with store._reading() as connection:
        items = ledger.judged_items(connection, asking.assessor.name, asking.judge.fingerprint)
    found: dict[str, dict[str, float]] = {}
    for (query, document, _, end), (_, grade) in items.items():
        if not end:
            found.setdefault(query, {})[document] = grade
    return found


def _refuse_without_text(store: Store, asking: Asking) -> None:
    if asking.work.without_text:
        query, document, *_ = asking.work.without_text[0]
        fact = f"it has no text of document '{document}' of query '{query}', so no model can judge it."
        raise InputError(store.name, fact, hint=f"cranfield pool {store.name} COLLECTION RUNS imports the texts")
