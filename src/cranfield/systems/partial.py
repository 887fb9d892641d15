"""The answers of an unfinished run, so that a process killed at any moment loses nothing.

Every answered query is one line, appended in one write: a checksum and JSON. A kill can leave an incomplete last line;
resuming cuts it off and asks for what is missing. A line that was changed is an error, never an answer.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield.errors import InputError
from cranfield.io.target import open_locked, unwritable
from cranfield.systems.answers import Ranking, Size
from cranfield.systems.asking import Answer

COLUMNS = ("seconds", "cost", *Size._fields)  # numbers of each answer; NaN where it does not have one
_DELETE = "delete this file to ask everything again"


class Partial:
    """The file of the answers so far, which is locked until it is closed.

    conditions: what must be the same to continue, such as the system and k
    failed: query → why; empty: the queries answered with no document
    counts: how many answers were short, had their scores parted or replaced, and so on: see `Recorded`
    id_places: where in the results the ids were found
    columns: of the answered queries, in the order of their answers: what `COLUMNS` lists
    done: set when all of it has been written elsewhere; then the file is removed when it is closed
    """

    def __init__(self, path: Path, queries: Mapping[str, str], k: int | None, conditions: Mapping[str, Any]) -> None:
        self.path = path
        self._queries, self._k = queries, k
        self._conditions = dict(conditions)
        self.places: dict[str, int] = {}  # query → where its line begins
        self.failed: dict[str, str] = {}
        self.empty: set[str] = set()
        self.columns: dict[str, array[float]] = {name: array("d") for name in COLUMNS}
        counted = ("short", "retried", "reasked", "parted", "replaced", "rolled_up", "short_of_chunks")
        self.counts: dict[str, Any] = dict.fromkeys(counted, 0)
        self.id_places: dict[str, None] = {}
        self.done = False
        self._file = open_locked(path, "writing this run")
        self._size = os.fstat(self._file).st_size

    @property
    def begun(self) -> bool:
        return self._size > 0

    def start(self) -> None:
        self._cut(0)
        self._write(self._conditions)

    def resume(self) -> None:
        self._cut(self._read())
        if not self._size:  # not even the first line is complete
            self._write(self._conditions)
        self.failed.clear()  # to be asked again

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError as error:
            raise unwritable(self.path, error) from None
        self._size = size

    def _write(self, thing: Any) -> int:
        content = json.dumps(thing, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        data = b"%08x %s\n" % (zlib.crc32(content), content)
        place, rest = self._size, memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise unwritable(self.path, error) from None
        self._size += len(data)
        return place

    def add(self, answer: Answer) -> None:
        line = [
            *(answer.query_id, answer.ranking, round(answer.seconds, 6), answer.attempts, answer.error),
            *(answer.scores, answer.rolled, answer.id_place, answer.reasked, answer.cost, *answer.size),
        ]
        self._count(self._write(line), line)

    def _count(self, place: int, line: Sequence[Any]) -> None:
        query, ranking, seconds, attempts, error, scores, rolled, id_place, reasked, cost, *size = line
        self.counts["retried"] += attempts - 1
        self.counts["reasked"] += reasked
        if ranking is None:
            self.failed[query] = error
            return
        self.failed.pop(query, None)
        self.places[query] = place
        for column, number in zip(self.columns.values(), (seconds, cost, *size), strict=True):
            column.append(math.nan if number is None else number)
        if not ranking:
            self.empty.add(query)
        self.counts["short"] += self._k is not None and len(ranking) < self._k
        if scores != "kept":
            self.counts[scores] += 1
        self.counts["rolled_up"] += rolled != ""
        self.counts["short_of_chunks"] += rolled == "short"
        if id_place:
            self.id_places.setdefault(id_place)

    def _read(self) -> int:
        """Read the answers in the file; returns the size of its complete lines."""
        size = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break  # torn off by a kill: asked again
                row = self._content(line, number)
                if number == 1 and row != self._conditions:
                    fact = f"it was begun with {_changed(row, self._conditions)}."
                    raise InputError(str(self.path), fact, hint="resume with the same settings, or delete this file")
                if number > 1:
                    if row[0] in self.places:
                        fact = f"query '{row[0]}' is answered twice."
                        raise InputError(str(self.path), fact, line=number, hint=_DELETE)
                    self._count(size, row)
                size += len(line)
        return size

    def _content(self, line: bytes, number: int | None = None) -> Any:
        content = line[9:-1]
        if line[:9] != b"%08x " % zlib.crc32(content):
            fact = "this line was changed, or was not written by cranfield."
            raise InputError(str(self.path), fact, line=number, hint=_DELETE)
        return json.loads(content)

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        for answer in self.answers(self._queries):
            yield answer.query_id, answer.ranking or []

    def answers(self, queries: Iterable[str]) -> Iterator[Answer]:
        """The answers to those of these queries that have one."""
        with self.path.open("rb") as file:
            for query in queries:
                if query in self.places:
                    file.seek(self.places[query])
                    answered, ranking, seconds, attempts, error, scores, rolled, id_place, reasked, cost, *size = (
                        self._content(file.readline())
                    )
                    if answered != query:
                        fact = f"the answer to '{query}' is no longer where it was."
                        raise InputError(str(self.path), fact, hint=_DELETE)
                    yield Answer(
                        query,
                        [(doc_id, score) for doc_id, score in ranking],
                        seconds,
                        attempts,
                        error,
                        scores,
                        rolled=rolled,
                        id_place=id_place,
                        reasked=reasked,
                        size=Size(*size),
                        cost=cost,
                    )

    def close(self) -> None:
        """Close the file; remove it if all of it is written elsewhere, or if it is empty."""
        remove = self.done or not self._size
        if remove and os.name != "nt":  # while it is locked, so that no other process can have started with it
            self.path.unlink(missing_ok=True)
        os.close(self._file)
        if remove and os.name == "nt":  # which removes no open file
            self.path.unlink(missing_ok=True)


def _changed(before: Any, now: Mapping[str, Any]) -> str:
    names = [name for name in now if not isinstance(before, dict) or before.get(name) != now[name]]
    return f"another {' and another '.join(name.replace('_', ' ') for name in names)}" if names else "other conditions"
