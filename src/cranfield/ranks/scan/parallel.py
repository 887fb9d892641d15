"""Work on the pieces of a stream in threads, for work that releases the interpreter's lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

WAITING = 4  # finished results that may wait for each thread
_END: Any = object()
_team = threading.local()  # `member` is set in threads that belong to a team


def in_parallel(work: Callable[[Piece], Result], pieces: Iterable[Piece], threads: int) -> Generator[Result]:
    """The results, in the order of the pieces, up to the first that raises. A single piece is not worth a thread.

    Each thread fetches its own next piece, under a lock, so that one reads while another works. Work inside a team is
    not split again: with many files each thread scans one, with a single file each scans a block.
    """
    rest = iter(pieces)
    started = list(islice(rest, 2))
    rest = chain(started, rest)
    if len(started) < 2 or threads == 1 or hasattr(_team, "member"):
        yield from map(work, rest)
    else:
        yield from _Team(work, rest).results(threads)


class _Raised(NamedTuple):
    error: BaseException


class _Team:
    def __init__(self, work: Callable[[Piece], Result], pieces: Iterator[Piece]) -> None:
        from queue import SimpleQueue  # small files need no team

        self._work = work
        self._pieces = pieces
        self._fetched = 0
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
                if number < 0:
                    busy -= 1
                else:
                    early[number] = result
                while awaited in early:
                    if isinstance(first := early.pop(awaited), _Raised):
                        raise first.error
                    yield first  # type: ignore[misc]  # what was not raised is a result
                    awaited += 1
                    self._room.release()
        finally:
            self._stopped = True
            self._room.release(threads)
            for thread in team:
                thread.join()

    def _run(self) -> None:
        number = 0
        _team.member = True
        try:
            while not self._stopped:
                self._room.acquire()
                with self._reading:
                    number, self._fetched = self._fetched, self._fetched + 1
                    piece = next(self._pieces, _END)
                if piece is _END:
                    break
                self._done.put((number, self._work(piece)))
        except BaseException as error:  # raised again by the reader of the results
            self._done.put((number, _Raised(error)))
        self._done.put((-1, None))
