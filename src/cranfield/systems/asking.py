"""Asking a system many queries: several at a time, with retries, and reporting every failure."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from cranfield.errors import SystemFailure
from cranfield.io.falling_scores import Scores
from cranfield.systems.answers import DocumentTexts, Ranking, Returned, Size, checked, size_of, texts_of
from cranfield.systems.collapse import Collapse, RolledUp, rolled_up
from cranfield.systems.opening import System
from cranfield.systems.queries import as_queries

LONGEST_WAIT = 30.0


class Answer(NamedTuple):
    """The result of one query. `ranking` is None where it failed, and `error` says why.

    seconds: how long one exchange took, the first: without failed attempts, waits, and questions for more chunks
    scores: what became of its scores: "kept", "parted" (equal ones) or "replaced" (they contradicted the order)
    final: it failed in a way in which every query would fail
    texts: of its documents, where they were asked for and the answer has them: title, text, url and image
    rolled: "rolled" where chunks count as their documents, "short" where there were too few of them
    id_place: where in the results the ids were found
    reasked: how often it was asked again for more chunks
    size: how many documents and chunks it returned, and how much text
    cost: as far as the answer says it
    """

    query_id: str
    ranking: Ranking | None
    seconds: float
    attempts: int = 1
    error: str = ""
    scores: Scores = "kept"
    final: bool = False
    texts: DocumentTexts = {}  # noqa: RUF012 (nobody changes it)
    rolled: RolledUp = ""
    id_place: str = ""
    reasked: int = 0
    size: Size = Size(0, 0)
    cost: float | None = None


class Silent:
    """Progress that is not shown."""

    def start(self, done: int, queries: int) -> None: ...

    def answer(self, answer: Answer) -> None: ...


class GaveUp(SystemFailure):
    """So many queries failed in a row that the rest was not asked."""


def ask(
    system: System,
    queries: Iterable[tuple[str, str]],
    k: int | None = None,
    *,
    jobs: int = 1,
    retries: int = 3,
    wait: float = 0.25,
    give_up: int = 10,
    to_document: Collapse | None = None,
    deepen: bool = False,
    tokens: Callable[[str], Any] | None = None,
    check: Callable[[str, Ranking], None] | None = None,
    texts: bool = False,
) -> Iterator[Answer]:
    """Ask every (query_id, text) once, and give the answers as they come.

    k: how many results to ask for; None leaves that to the system, as far as it can be asked without a number
    jobs: how many queries run at the same time, each in a thread
    retries, wait: after a failure that may pass, how often to try again; the wait doubles each time, with some chance
        in it, and is longer if the system asks for it
    give_up: raise GaveUp after this many failed queries in a row, 0 never; at once if the system denies access
    to_document: from the id of a chunk to that of its document, which counts once, at the place of its first chunk
    deepen: ask again for more chunks until k documents are found
    tokens: counts the tokens of a text, or returns them, for the size of answers
    check: raises an error for an answer that cannot be used, which then counts as failed
    texts: also keep the texts of documents that the answers hold; those of chunks are not texts of documents

    Memory does not grow with the number of queries.
    """
    stop = threading.Event()
    k = system.asked_for(k)

    def one(query_id: str, text: str) -> Answer:
        attempt = 0
        while True:
            attempt += 1
            start = time.perf_counter()
            exchanges: list[float] = []

            def search(wanted: int | None, start: float = start, exchanges: list[float] = exchanges) -> Returned:
                answer = system.answer(text, wanted)
                exchanges.append(time.perf_counter() - start)
                return answer

            try:
                documents, returned, rolled = rolled_up(search, k, to_document, deepen=deepen)
                ranking = checked(documents, k)
                if check is not None:
                    check(query_id, ranking)
                shown = texts_of(returned) if texts and to_document is None and not rolled else {}
                return Answer(
                    query_id,
                    ranking,
                    exchanges[0],
                    attempt,
                    scores=returned.scores,
                    texts=shown,
                    rolled=rolled,
                    id_place=returned.id_place,
                    reasked=len(exchanges) - 1,
                    size=size_of(ranking, returned, tokens),
                    cost=returned.cost,
                )
            except Exception as error:  # any exception is a failure of this query
                seconds = time.perf_counter() - start
                failure = system.failure(error)
                again = failure.retry and attempt <= retries
                if again:
                    pause = wait * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
                    again = not stop.wait(min(max(pause, failure.after or 0.0), LONGEST_WAIT))
                if not again:
                    return Answer(query_id, None, seconds, attempt, str(failure), final=failure.final)

    answers: Generator[Answer, None, None] = (
        (one(*query) for query in queries) if jobs == 1 else _several(one, queries, jobs, stop)
    )
    failed = 0
    try:
        for answer in answers:
            yield answer
            failed = failed + 1 if answer.ranking is None else 0
            if answer.final:
                raise GaveUp(f"no query can succeed: {answer.error}")
            if give_up and failed >= give_up:
                raise GaveUp(f"{failed} queries in a row failed; the last: {answer.error}")
    finally:
        stop.set()
        answers.close()


def _several(
    one: Callable[[str, str], Answer], queries: Iterable[tuple[str, str]], jobs: int, stop: threading.Event
) -> Generator[Answer, None, None]:
    waiting = iter(queries)
    lock = threading.Lock()
    done: queue.Queue[Answer | BaseException | None] = queue.Queue(maxsize=4 * jobs)

    def put(item: Answer | BaseException | None) -> None:
        while not stop.is_set():
            try:
                done.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        try:
            while not stop.is_set():
                with lock:
                    query = next(waiting, None)
                if query is None:
                    break
                put(one(*query))
        except BaseException as error:  # it must reach the reader of the answers
            put(error)
        finally:
            put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    running = jobs
    try:
        while running:
            item = done.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item
    finally:
        stop.set()


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """The first documents of a system.

    rankings: the documents of each query that was answered, best first
    texts: of these documents, as far as the answers hold them: title, text, url and image
    failed: the queries that failed, and why
    """

    system: str
    rankings: Mapping[str, list[str]]
    texts: Mapping[str, Mapping[str, str]]
    failed: Mapping[str, str]


def first_answers(
    system: System, queries: Mapping[str, str], k: int, progress: Silent | None = None, **options: Any
) -> FirstAnswers:
    """Ask a system all queries. `options` are those of `ask`."""
    progress = progress or Silent()
    progress.start(0, len(queries))
    rankings: dict[str, list[str]] = {}
    texts: dict[str, Mapping[str, str]] = {}
    failed: dict[str, str] = {}
    for answer in ask(system, as_queries(queries).items(), k, texts=True, **options):
        progress.answer(answer)
        if answer.ranking is None:
            failed[answer.query_id] = answer.error
            continue
        rankings[answer.query_id] = [document for document, _ in answer.ranking]
        texts.update(answer.texts)
    if failed and not rankings:
        raise SystemFailure(f"{system.name}: every query failed; the last: {list(failed.values())[-1]}")
    return FirstAnswers(system.name, rankings, texts, failed)
