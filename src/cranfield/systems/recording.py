"""Asking a system and writing its run, so that a process killed at any moment loses nothing.

Every answered query is one line of JSON, appended in one write to OUT.partial. What a kill can leave behind is a last
line that is not whole; resuming cuts it off and asks what is missing. When all is asked, OUT is written in the order of
the queries, beside it OUT.json with latencies and failures, and OUT.partial goes, unless a query failed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cranfield.errors import InputError
from cranfield.systems.answers import Ranking
from cranfield.systems.asking import Answer, GaveUp, ask
from cranfield.systems.opening import open_system
from cranfield.version import __version__


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a run.

    failed: query → why; these are not in the run, and they are not zeros
    not_asked: queries left when the system was given up
    empty, short: answered with no document, or with fewer than k
    unknown: how many of the documents are not in the corpus, where that was checked; unknown_ids: a few of them
    latency: seconds of the answered queries: mean, p50, p90, p95, p99, max
    seconds: how long it all took, in this call

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorded = record(lambda query, k: ["a"], {"1": "cats", "2": "dogs"}, f"{folder}/mine.run", k=5)
    >>> recorded.complete, recorded.queries, recorded.short, sorted(recorded.latency)[:2]
    (True, 2, 2, ['max', 'mean'])
    """

    path: str
    system: str
    k: int
    queries: int
    answered: int
    failed: dict[str, str]
    not_asked: int
    empty: int
    short: int
    retried: int
    latency: dict[str, float]
    seconds: float
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    gave_up: str = ""
    version: str = __version__

    @property
    def complete(self) -> bool:
        """Whether every query was answered."""
        return self.answered == self.queries


def record(
    system: Any,
    queries: Mapping[str, str],
    path: str | os.PathLike[str],
    k: int = 100,
    *,
    resume: bool = False,
    on_answer: Callable[[Answer], None] | None = None,
    on_start: Callable[[int, int], None] | None = None,
    known: Callable[[], Iterable[str]] | None = None,
    conditions: Mapping[str, str] | None = None,
    **options: Any,
) -> Recorded:
    """Ask a system all queries and write its run to a file: TREC's format, or a table with a header for .tsv.

    system: what `open_system` returns, or takes where it needs no collection: a function (query, k), a retriever
    queries: the text of each query
    k: how many documents to ask for
    resume: go on from where an earlier call ended
    on_start: called with the number of queries answered already and of all; on_answer: with each answer
    known: gives the ids of the corpus, to warn of documents that are not in it
    conditions: what else must be the same to resume, such as the rule of `to_document`
    options: those of `ask`: jobs, retries, wait, give_up, to_document

    >>> import tempfile
    >>> from pathlib import Path
    >>> def search(query, k):
    ...     return ["d7", "d2"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorded = record(search, {"q1": "cats"}, f"{folder}/mine.run")
    ...     print(recorded.answered, Path(recorded.path).read_text(), end="")
    1 q1 Q0 d7 1 2.0 search
    q1 Q0 d2 2 1.0 search
    """
    if not all(hasattr(system, each) for each in ("name", "search", "close")):
        system = open_system(system)
    if k < 1:
        raise InputError(system.name, f"k = {k} asks for nothing.")
    out = Path(path)
    _check_ids(queries, out)
    partial = _Partial(out, system.name, queries, k, resume, dict(conditions or {}))
    if partial.finished is not None:
        return partial.finished
    left = [(query, text) for query, text in queries.items() if query not in partial.places]
    if on_start:
        on_start(len(partial.places), len(queries))
    start = time.perf_counter()
    gave_up = ""
    try:
        for answer in ask(system, left, k, **options):
            partial.add(answer)
            if on_answer:
                on_answer(answer)
    except GaveUp as error:
        gave_up = error.fact
    finally:
        partial.close()
    return partial.finish(time.perf_counter() - start, gave_up, known)


@dataclass
class _Partial:
    """The answers so far, and where each of them stands in the file."""

    out: Path
    system: str
    queries: Mapping[str, str]
    k: int
    resume: bool
    conditions: dict[str, str]
    places: dict[str, int] = field(default_factory=dict)  # query → where its line begins
    failed: dict[str, str] = field(default_factory=dict)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    empty: int = 0
    short: int = 0
    retried: int = 0
    finished: Recorded | None = None

    def __post_init__(self) -> None:
        self.path = self.out.with_name(f"{self.out.name}.partial")
        texts = "\n".join(f"{query}\t{text}" for query, text in self.queries.items())
        digest = hashlib.sha256(texts.encode()).hexdigest()
        self._head = {"system": self.system, "k": self.k, "queries": digest, **self.conditions}
        if self.path.exists():
            if not self.resume:
                raise InputError(
                    str(self.path), "an unfinished run is here.", hint="add --resume to finish it, or delete this file"
                )
            self._size = self._read()
        else:
            self.finished = _earlier(self.out, self._head) if self.resume else None
            if self.finished is not None:
                return
            self._size = 0
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
            os.ftruncate(self._file, self._size)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        if not self._size:
            self._write(self._head)

    def _write(self, thing: Any) -> int:
        data = json.dumps(thing, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        place, rest = self._size, memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._size += len(data)
        return place

    def add(self, answer: Answer) -> None:
        """Append an answer; then count it."""
        line = [answer.query_id, answer.ranking, round(answer.seconds, 6), answer.attempts, answer.error]
        self._count(self._write(line), *line)

    def _count(self, place: int, query: Any, ranking: Any, seconds: Any, attempts: Any, error: Any) -> None:
        self.retried += attempts - 1
        if ranking is None:
            self.failed[query] = error
            return
        self.failed.pop(query, None)
        self.places[query] = place
        self.latencies.append(seconds)
        self.empty += not ranking
        self.short += len(ranking) < self.k

    def _read(self) -> int:
        """Read what is there; the size of what is whole."""
        size = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break  # torn off by a kill: asked again
                try:
                    row = json.loads(line)
                    if number > 1:
                        self._count(size, *row)
                except (ValueError, TypeError):
                    raise InputError(str(self.path), "this is not a line of an unfinished run.", line=number) from None
                if number == 1 and row != self._head:
                    raise InputError(
                        str(self.path),
                        "it was begun with another system, k, queries or rule.",
                        hint="resume with the same, or delete this file",
                    )
                size += len(line)
        self.failed.clear()  # to be asked again
        return size

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def rankings(self) -> Iterator[tuple[str, Ranking]]:
        """The answers in the order of the queries."""
        with self.path.open("rb") as file:
            for query in self.queries:
                if query in self.places:
                    file.seek(self.places[query])
                    yield query, json.loads(file.readline())[1]

    def finish(self, seconds: float, gave_up: str, known: Callable[[], Iterable[str]] | None) -> Recorded:
        """Write the run and what is known of it."""
        unknown: set[str] = set()
        if known:
            unknown = {doc_id for _, ranking in self.rankings() for doc_id, _ in ranking}
            unknown.difference_update(known())
        recorded = Recorded(
            path=str(self.out),
            system=self.system,
            k=self.k,
            queries=len(self.queries),
            answered=len(self.places),
            failed=dict(self.failed),
            not_asked=len(self.queries) - len(self.places) - len(self.failed),
            empty=self.empty,
            short=self.short,
            retried=self.retried,
            latency=_percentiles(self.latencies),
            seconds=round(seconds, 6),
            unknown=len(unknown),
            unknown_ids=tuple(sorted(unknown)[:5]),
            gave_up=gave_up,
        )
        with _replaced(self.out) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
            table = self.out.suffix == ".tsv"
            name = "_".join(self.system.split()) or "cranfield"
            if table:
                file.write("query_id\tdoc_id\tscore\n")
            for query, ranking in self.rankings():
                _check_documents(ranking, self.out, table)
                file.writelines(
                    f"{query}\t{doc_id}\t{score!r}\n" if table else f"{query} Q0 {doc_id} {rank} {score!r} {name}\n"
                    for rank, (doc_id, score) in enumerate(ranking, 1)
                )
        with _replaced(_summary(self.out)) as unfinished:
            told = {**asdict(recorded), "queries_sha256": self._head["queries"]}
            unfinished.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if recorded.complete:
            self.path.unlink()
        return recorded


class _replaced:
    """Write a file under another name and put it in place when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path, self._unfinished = path, path.with_name(f"{path.name}.unfinished")

    def __enter__(self) -> Path:
        return self._unfinished

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            os.replace(self._unfinished, self._path)
        else:
            self._unfinished.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(str(path), f"cannot be written: {(error.strerror or str(error)).lower()}.")


def _summary(out: Path) -> Path:
    return out.with_name(f"{out.name}.json")


def _earlier(out: Path, head: Mapping[str, Any]) -> Recorded | None:
    """What a finished call of the same kind has left, so that there is nothing to resume."""
    try:
        told = json.loads(_summary(out).read_text(encoding="utf-8"))
        same = told.pop("queries_sha256") == head["queries"] and out.exists()
        recorded = Recorded(**{**told, "unknown_ids": tuple(told["unknown_ids"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    same = same and (recorded.system, recorded.k) == (head["system"], head["k"])
    return recorded if same and recorded.complete else None


def _percentiles(latencies: array[float]) -> dict[str, float]:
    if not latencies:
        return {}
    import numpy as np

    seconds = np.frombuffer(latencies)
    points = np.percentile(seconds, (50, 90, 95, 99, 100))
    named = zip(("mean", "p50", "p90", "p95", "p99", "max"), (seconds.mean(), *points), strict=True)
    return {name: round(float(value), 6) for name, value in named}


def _check_ids(queries: Mapping[str, str], out: Path) -> None:
    allowed = "\t\n\r" if out.suffix == ".tsv" else None
    for query in queries:
        if not _plain(query, allowed):
            raise InputError(str(out), f"the query id '{query}' holds a blank, which no TREC run can hold.", hint=_HINT)


def _check_documents(ranking: Ranking, out: Path, table: bool) -> None:
    if not table and len(" ".join(doc_id for doc_id, _ in ranking).split()) == len(ranking):
        return
    for doc_id, _ in ranking:
        if not _plain(doc_id, "\t\n\r" if table else None):
            raise InputError(str(out), f"the id '{doc_id}' holds a blank, which no TREC run can hold.", hint=_HINT)


_HINT = "write a table instead: -o NAME.tsv"


def _plain(text: str, forbidden: str | None) -> bool:
    return text.split() == [text] if forbidden is None else not any(letter in text for letter in forbidden)
