"""Work on the pieces of a stream in threads, for work that lets go of the interpreter's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from itertools import chain, islice
from queue import SimpleQueue
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

WAITING = 4  # results for each thread that may wait to be taken


def in_parallel(work: Callable[[Piece], Result], pieces: Iterable[Piece], threads: int) -> Generator[Result]:
    """The results, in the order of the pieces. A single piece is not worth a thread.

    Each thread fetches its own next piece, under a lock, so that one reads while another works.
    """
    rest = iter(pieces)
    started = list(islice(rest, 2))
    rest = chain(started, rest)
    if len(started) < 2 or threads == 1:
        yield from map(work, rest)
    else:
        yield from _Team(work, rest).results(threads)


class _Team:
    """Threads that share an iterator of pieces."""

    def __init__(self, work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> None:
        self._work = work
        self._pieces = enumerate(pieces)
        self._reading = threading.Lock()
        self._done: SimpleQueue[tuple[int, object]] = SimpleQueue()
        self._stopped = False

    def results(self, threads: int) -> Generator[Result]:
        self._room = threading.Semaphore(WAITING * threads)
        team = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]
        for thread in team:
            thread.start()
        early: dict[int, object] = {}
        awaited, busy = 0, threads
        try:
            while busy:
                number, result = self._done.get()
                if isinstance(result, BaseException):
                    raise result
                if number < 0:
                    busy -= 1
                else:
                    early[number] = result
                while awaited in early:
                    yield early.pop(awaited)  # type: ignore[misc]
                    awaited += 1
                    self._room.release()
        finally:
            self._stopped = True
            self._room.release(threads)
            for thread in team:
                thread.join()

    def _run(self) -> None:
        try:
            while not self._stopped:
                self._room.acquire()
                with self._reading:
                    numbered = next(self._pieces, None)
                if numbered is None:
                    break
                self._done.put((numbered[0], self._work(numbered[1])))
            self._done.put((-1, None))
        except BaseException as error:  # the reader of the results raises it
            self._done.put((-1, error))
