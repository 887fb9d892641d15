"""decide(store, runs, measure, assessor=…) → Look: judge document after document until the verdict is final."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from cranfield.errors import ComparisonError
from cranfield.judging.deciding.decision import BATCH, Decision
from cranfield.judging.deciding.looks import Look
from cranfield.judging.kinds import BY_PEOPLE
from cranfield.judging.ordering import DECIDE
from cranfield.judging.store import Store, open_store
from cranfield.judging.views import graded_documents
from cranfield.measures import Measure

Assessor = Callable[[str, str], float | None]


def decide(
    store: Store | str | os.PathLike[str],
    runs: Mapping[str, Any] | Iterable[Any],
    measure: str | Measure = "nDCG@10",
    *,
    assessor: Assessor,
    name: str = "assessor",
    kind: str = "person",
    alpha: float = 0.05,
    confidence: float = 0.95,
    depth: int | None = None,
    queries: Sequence[str] | None = None,
    all_pairs: bool = False,
    batch: int = BATCH,
    most: int | None = None,
    seed: int = 0,
    format: str | None = None,
) -> Look:
    """Let an assessor judge what can still change the verdict on runs, until it is final. Grades go into the store.

    store: a `Store`, or where it is; a file that does not exist yet is created. Judgments in it count from the start.
    runs: {name: run} or a list of runs, which are what `evaluate` takes; the first is the baseline.
    measure: the measure that decides, as in `Decision.of`.
    assessor: a function of the ids of a query and of a document, which returns the grade; None if it cannot be judged.
    name: the name of the assessor in the store.
    kind: what the assessor is, such as "person" or "model". People's grades always count; other kinds
        count only if the assessor is of that kind.
    alpha: the level of significance.
    confidence: how probable a verdict must be before it is final.
    depth: how many documents of each ranking count; by default the cutoff of the measure, or 10 without one.
    queries: their ids; by default all that any run has.
    all_pairs: compare every pair of runs, not only each run with the first.
    batch: how many documents are judged between two looks.
    most: stop after this many judgments, decided or not.
    seed: the seed of the random draws.
    format: of the runs, if it cannot be detected.
    Returns the last `Look`; its `state` says why it is the last one.

    >>> import tempfile
    >>> bad = {f"q{q}": [f"n{d}" for d in range(10)] for q in range(20)}
    >>> good = {f"q{q}": [f"r{d}" for d in range(10)] for q in range(20)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     look = decide(f"{folder}/judgments.db", {"bad": bad, "good": good}, assessor=lambda q, d: 2 * (d[0] == "r"))
    >>> look.state, look.judged, look.left
    ('better', 50, 350)
    """
    if batch < 1 or (most is not None and most < 0):
        raise ComparisonError(
            f"batch={batch}, most={most} is not possible.", hint="a batch is 1 or more, most is 0 or more"
        )
    from cranfield.judging.deciding.resuming import resumed
    from cranfield.judging.schema import EVENTS

    with ExitStack() as opened:
        if not isinstance(store, Store):
            store = opened.enter_context(open_store(store, create=True))
        decision = Decision.of(
            runs,
            measure,
            judged_so_far(store, kind),
            scale=[each.grade for each in store.scale],
            alpha=alpha,
            confidence=confidence,
            depth=depth,
            queries=queries,
            all_pairs=all_pairs,
            seed=seed,
            format=format,
        )
        decision = resumed(decision, store, EVENTS.c.kind.in_(_kinds(kind)))
        done = 0
        while not decision.look().done and (most is None or done < most):
            chosen = decision.next(batch if most is None else min(batch, most - done))
            note_chosen(store, chosen)
            grades: dict[str, dict[str, float | None]] = {}
            for query, document in chosen:
                grade = assessor(query, document)
                store.judge(query, document, grade, assessor=name, kind=kind)
                grades.setdefault(query, {})[document] = grade
            done += len(chosen)
            decision = decision.with_grades(grades)
        return decision.look()


def note_chosen(store: Store, chosen: Sequence[tuple[str, str]]) -> None:
    """Record that these documents were chosen by grades; no other assessor is asked to judge them."""
    from cranfield.judging.waiting import WaitingRow, add_waiting

    rows = (WaitingRow(*pair, 0, 0, "to decide", 0, chosen_by=DECIDE.chosen_by) for pair in chosen)
    with store._writing("what is judged") as connection:
        add_waiting(connection, rows)


def _kinds(kind: str) -> tuple[str, ...]:
    """The kinds of judgments that count; people's always do."""
    return tuple(dict.fromkeys((*BY_PEOPLE, kind)))


def judged_so_far(store: Store, kind: str) -> Any:
    """The judgments that count; None if there are none yet."""
    kinds = _kinds(kind)
    with closing(graded_documents(store, None, kinds)) as judged:
        nothing = next(judged, None) is None
    return None if nothing else store.view(kinds=kinds)
