"""Asking a system and writing its run to OUT, with latencies and failures in OUT.json.

Answers are kept in OUT.partial until every query is answered. A finished run is never overwritten unasked.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError, OutputError, given
from cranfield.io.formats import FORMATS, by_extension
from cranfield.io.formats.format import Plan
from cranfield.io.records import Records
from cranfield.io.streams import Stream
from cranfield.io.target import STANDARD_OUTPUT, write_text
from cranfield.io.writing import name_from, write_run
from cranfield.systems.answers import Ranking
from cranfield.systems.asking import Answer, GaveUp, ask
from cranfield.systems.opening import open_system
from cranfield.systems.partial import Partial
from cranfield.version import __version__
from cranfield.words import count


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording a run.

    failed: query → why; these are not in the run, and they are not zeros
    not_asked: queries that were not asked, because too many before them failed
    empty: queries answered with no document; short: how many were answered with fewer than k
    parted: in how many answers equal scores were lowered, each to the next 32-bit number, to keep the order returned
    replaced: in how many answers the scores contradicted the order returned, and were replaced by falling ones
    rolled_up: in how many answers several chunks of a document were counted once, at the best rank
    short_of_chunks: in how many of them the system had no more chunks, though k documents were not found
    id_places: where in the results ids were found, where these are more than ids and scores, such as "metadata.source"
    unknown: how many of the documents are not in the corpus, if that was checked; unknown_ids: a few of them
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
    not_asked: tuple[str, ...]
    empty: tuple[str, ...]
    short: int
    retried: int
    latency: dict[str, float]
    seconds: float
    parted: int = 0
    replaced: int = 0
    rolled_up: int = 0
    short_of_chunks: int = 0
    id_places: tuple[str, ...] = ()
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    gave_up: str = ""
    version: str = __version__
    # Of the run that was just written, and may be measured without reading it again.
    _sha256: str = field(default="", repr=False, compare=False)
    _rankings: Mapping[str, Mapping[str, float]] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        queries = count(self.queries, "query", "queries")
        return f"<Recorded {self.system}: {self.answered:,} of {queries} answered, in {self.path}>"

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
    force: bool = False,
    on_answer: Callable[[Answer], None] | None = None,
    on_start: Callable[[int, int], None] | None = None,
    known: Callable[[], Iterable[str]] | None = None,
    conditions: Mapping[str, str] | None = None,
    **options: Any,
) -> Recorded:
    """Ask a system all queries and write its run to a file, in the format that its name ends in, otherwise TREC's.

    system: what `open_system` returns, or takes where it needs no collection: a function (query, k), a retriever.
    queries: the text of each query.
    path: the file to write.
    k: how many documents to ask for.
    resume: continue where an earlier call ended.
    force: overwrite what an earlier call left.
    on_answer: called with each answer.
    on_start: called with the number of queries already answered, and of all queries.
    known: gives the ids of the corpus, to warn of documents that are not in it.
    conditions: what else must be the same to resume, such as the rule of `to_document`.
    options: those of `ask`: jobs, retries, wait, give_up, to_document.
    Returns a `Recorded`: how many were answered, which failed, how long it took.

    The run has the documents in the order that was returned: scores that do not fall are adjusted; see `Recorded`.

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
    system = open_system(system)
    if k < 1:
        raise InputError(system.name, f"k = {k} is not a number of documents.")
    output = _Output.at(os.fspath(path), system.name)
    for query in queries:
        output.check(query, [("document", 1.0)])
    told = "".join(f"{query}\t{text}\n" for query, text in queries.items()).encode(errors="surrogatepass")
    asked = {"system": system.name, "settings": system.settings, "k": k, "queries": hashlib.sha256(told).hexdigest()}
    asked |= conditions or {}
    with output.kept_beside() as place, closing(Partial(place, queries, k, asked)) as partial:
        earlier = output.earlier(asked) if resume and not partial.begun else None
        if earlier is not None and earlier.complete:
            return earlier
        output.begin(partial, resume=resume, force=force or earlier is not None)
        left = [(query, text) for query, text in queries.items() if query not in partial.places]
        if on_start:
            on_start(len(partial.places), len(queries))
        start = time.perf_counter()
        gave_up = ""
        try:
            for answer in ask(system, left, k, check=output.check, **options):
                partial.add(answer)
                if on_answer:
                    on_answer(answer)
        except GaveUp as error:
            gave_up = error.fact
        seconds = time.perf_counter() - start
        unknown: set[str] = set()
        if known:
            unknown = {doc_id for _, ranking in partial.rankings() for doc_id, _ in ranking}
            unknown.difference_update(known())
        recorded = Recorded(
            path=output.path,
            system=system.name,
            k=k,
            queries=len(queries),
            answered=len(partial.places),
            failed=dict(partial.failed),
            not_asked=tuple(query for query in queries if query not in partial.places and query not in partial.failed),
            empty=tuple(query for query in queries if query in partial.empty),
            latency=_percentiles(partial.latencies),
            seconds=round(seconds, 6),
            id_places=tuple(partial.id_places),
            unknown=len(unknown),
            unknown_ids=tuple(sorted(unknown)[:5]),
            gave_up=gave_up,
            **partial.counts,
        )
        sha256 = output.write(partial.rankings(), recorded, asked)
        partial.done = recorded.complete
        return replace(recorded, _sha256=sha256)


class _Output(NamedTuple):
    path: str
    plan: Plan
    is_file: bool  # not a device, a pipe or standard output: what was answered and what is known are kept beside it

    @classmethod
    def at(cls, path: str, system: str) -> _Output:
        other = path == STANDARD_OUTPUT or (os.path.exists(path) and not os.path.isfile(path))
        format = by_extension(path) or FORMATS["trec"]
        return cls(path, Plan(path, "run", format, name=name_from(system), ranked=True), not other)

    @contextmanager
    def kept_beside(self) -> Iterator[Path]:
        """Where unfinished answers are kept: beside the run, or only for this call if the run is not a file."""
        if self.is_file:
            yield Path(f"{self.path}.partial")
            return
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / "answers"

    def check(self, query: str, ranking: Ranking) -> None:
        if ranking:
            documents, scores = map(list, zip(*ranking))
            queries = [query] * len(ranking)
            self.plan.check(Records((), queries, documents, np.array(scores, np.float64), list(map(repr, scores))))

    def begin(self, partial: Partial, *, resume: bool, force: bool) -> None:
        """Continue an unfinished run, or start over if nothing is lost by that."""
        hint = f"{given('resume', True)} finishes it, {given('force', True)} replaces it"
        if partial.begun and resume:
            partial.resume()
        elif partial.begun and not force:
            raise OutputError(str(partial.path), "there is an unfinished run here.", hint=hint)
        elif self.is_file and os.path.exists(self.path) and not partial.begun and not force:
            what = (
                "this run was made in a different way, or has changed since" if resume else "this file already exists"
            )
            raise OutputError(self.path, f"{what}.", hint=f"{given('force', True)} replaces it")
        else:
            partial.start()

    def earlier(self, asked: Mapping[str, Any]) -> Recorded | None:
        """The result of an earlier call of the same kind, unless its file has changed since."""
        if not self.is_file:
            return None
        try:
            summary = json.loads(Path(f"{self.path}.json").read_text(encoding="utf-8"))
            same = summary.pop("asked") == asked and summary.pop("run_sha256") == Stream(self.path).hash_again()
            tuples = {name: tuple(summary[name]) for name in ("not_asked", "empty", "id_places", "unknown_ids")}
            recorded = Recorded(**{**summary, **tuples, "path": self.path})
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return recorded if same else None

    def write(self, rankings: Iterator[tuple[str, Ranking]], recorded: Recorded, asked: Mapping[str, Any]) -> str:
        """Write the run, and its facts beside it; returns the hash of the run."""
        digest, format = hashlib.sha256(), self.plan.format.name
        write_run(self.path, rankings, name=self.plan.name or "", force=True, format=format, digest=digest)
        if self.is_file:
            known = {name: value for name, value in asdict(recorded).items() if name[0] != "_"}
            summary = {**known, "asked": asked, "run_sha256": digest.hexdigest()}
            text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
            write_text(f"{self.path}.json", f"{text}\n", force=True)
        return digest.hexdigest()


def _percentiles(latencies: array[float]) -> dict[str, float]:
    if not latencies:
        return {}
    seconds = np.frombuffer(latencies)
    points = np.percentile(seconds, (50, 90, 95, 99, 100))
    named = zip(("mean", "p50", "p90", "p95", "p99", "max"), (seconds.mean(), *points), strict=True)
    return {name: round(float(value), 6) for name, value in named}
