"""Asking a system, and keeping its run in memory or writing it to OUT, with latencies and failures in OUT.json.

Answers are kept in OUT.partial until every query is answered. A finished run is never overwritten unasked.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial as partial_of
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError, OutputError, given
from cranfield.io.formats import FORMATS, by_extension
from cranfield.io.formats.format import Plan
from cranfield.io.made import Made, made_from
from cranfield.io.records import Records
from cranfield.io.streams import Stream
from cranfield.io.target import STANDARD_OUTPUT, write_text
from cranfield.io.writing import name_from, write_run
from cranfield.ranks.columns import Numbers
from cranfield.systems.answers import Ranking, Size
from cranfield.systems.asking import Answer, GaveUp, ask
from cranfield.systems.collapse import Collapse, collapse_by
from cranfield.systems.opening import System, open_system
from cranfield.systems.partial import Partial
from cranfield.systems.queries import as_queries, told
from cranfield.systems.recorded import Recorded


def record(
    system: Any,
    queries: Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    k: int | None = None,
    *,
    deepen: bool = False,
    collapse: str | Mapping[str, str] | Collapse | None = None,
    name: str = "",
    resume: bool = False,
    force: bool = False,
    on_answer: Callable[[Answer], None] | None = None,
    on_start: Callable[[int, int], None] | None = None,
    known: Callable[[], Iterable[str]] | None = None,
    **options: Any,
) -> Recorded:
    """Ask a system all queries, each once and as it is, and keep what it returns, in its order.

    system: what `open_system` returns, or takes where it needs no collection: a function (query, k), a retriever.
    queries: the text of each query, or a row {"text": …, "language": …} whose columns the system takes by name.
    path: the file to write, in the format that its name ends in, otherwise TREC's; by default the run is in memory.
    k: how many results to ask for; by default as many as the system returns by itself, and 100 if it must be told.
    deepen: ask again for more chunks until there are k documents.
    collapse: how a chunk's id becomes its document's, as `collapse_run` takes it; a document counts once, at the place
        of its first chunk.
    name: the name of the system, if it has none or another.
    resume: continue where an earlier call ended.
    force: overwrite what an earlier call left.
    on_answer: called with each answer.
    on_start: called with the number of queries already answered, and of all queries.
    known: gives the ids of the corpus, to warn of documents that are not in it.
    options: those of `open_system` (timeout, id, score, order), and jobs, retries, wait, give_up and tokens, which
        counts the tokens of a text.
    Returns a `Recorded`, which is a run wherever one is taken: what came back, which queries failed, how long it took.

    The run has the documents in the order that was returned: scores that do not fall are adjusted; see `Recorded`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> def search(query, k=2):
    ...     return ["d7", "d2", "d5"][:k]
    >>> record(search, {"q1": "cats"})
    <Recorded search: 1 of 1 query answered, with 2 documents each; in memory>
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorded = record(search, {"q1": "cats"}, f"{folder}/mine.run", k=1)
    ...     print(recorded.name, Path(recorded.path).read_text(), sep=": ", end="")
    search (k=1): q1 Q0 d7 1 1.0 search_(k=1)
    """
    opening = {option: options.pop(option) for option in ("timeout", "id", "score", "order") if option in options}
    queries = as_queries(queries)
    how: dict[str, Any] = {"deepen": deepen, "to_document": None if collapse is None else collapse_by(collapse)}
    with _opened(system, name=name, **opening) as opened:
        if k is not None and k < 1:
            raise InputError(opened.name, f"k = {k} is not a number of documents.")
        if deepen and k is None:
            raise InputError(opened.name, "to how many documents is not said.", hint=f"{given('k')} says how many")
        made = Made(
            opened.asked_for(k), k is not None, deepen, rule_name(collapse), reranks=opened.reranks, tuned=opened._tuned
        )
        output = _Output.at(path, f"{opened.name} ({made.choices})" if made.choices else opened.name)
        for query in queries:
            output.check(query, [("document", 1.0)])
        asked = {"system": opened.name, "settings": opened.settings, "k": made.k}
        asked |= {"queries": hashlib.sha256(told(queries)).hexdigest(), "collapse": made.collapse, "deepen": deepen}
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
                asked_by = opened._answers or partial_of(ask, opened)
                for answer in asked_by(left, made.k, check=output.check, **how, **options):
                    partial.add(answer)
                    if on_answer:
                        on_answer(answer)
            except GaveUp as error:
                gave_up = error.fact
            seconds = round(time.perf_counter() - start, 6)
            unknown: set[str] = set()
            if known:
                unknown = {doc_id for _, ranking in partial.rankings() for doc_id, _ in ranking}
                unknown.difference_update(known())
            recorded = Recorded(
                path=output.path,
                system=opened.name,
                k=made.k,
                queries=len(queries),
                seconds=seconds,
                unknown=len(unknown),
                unknown_ids=tuple(sorted(unknown)[:5]),
                gave_up=gave_up,
                **_answered(partial, queries, made),
            )
            sha256 = output.write(partial.rankings(), recorded, asked)
            rankings = None if output.path else {query: dict(ranking) for query, ranking in partial.rankings()}
            partial.done = recorded.complete
            return replace(recorded, _sha256=sha256, _rankings=rankings)


@contextmanager
def _opened(system: Any, **options: Any) -> Iterator[System]:
    """An open system; one that was not open before is closed again."""
    opened = open_system(system, **options)
    try:
        yield opened
    finally:
        if opened is not system:
            opened.close()


def rule_name(rule: str | Mapping[str, str] | Collapse | None) -> str:
    if rule is None or isinstance(rule, str):
        return rule or ""
    if isinstance(rule, Mapping):
        return f"mapping-{hashlib.sha256(json.dumps(sorted(rule.items())).encode()).hexdigest()[:8]}"
    return getattr(rule, "__name__", "function")


def _answered(partial: Partial, queries: Iterable[str], made: Made) -> dict[str, Any]:
    """What the answers say: which queries have one, and their numbers by query and in all."""
    place = {query: at for at, query in enumerate(partial.places)}
    answered = [query for query in queries if query in place]
    rows = [place[query] for query in answered]
    columns = {name: np.frombuffer(column)[rows] for name, column in partial.columns.items() if rows}
    columns = {name: column for name, column in columns.items() if not np.isnan(column).all()}
    cost = columns.get("cost")
    size = {name: round(float(np.nanmean(columns[name])), 3) for name in Size._fields if name in columns}
    by_query = {
        name: [None if number != number else number for number in column.tolist()] for name, column in columns.items()
    }
    return {
        "answered": len(answered),
        "failed": dict(partial.failed),
        "not_asked": tuple(query for query in queries if query not in place and query not in partial.failed),
        "empty": tuple(query for query in queries if query in partial.empty),
        "latency": _percentiles(columns["seconds"]) if rows else {},
        "cost": {} if cost is None else {"mean": float(np.nanmean(cost)), "total": float(np.nansum(cost))},
        "made": replace(made, failed=len(partial.failed), size=size),
        "id_places": tuple(partial.id_places),
        "by_query": {"query_id": answered, **by_query},
        **partial.counts,
    }


class _Output(NamedTuple):
    path: str  # empty: the run stays in memory, where ids may be any
    plan: Plan | None
    is_file: bool  # not a device, a pipe or standard output: what was answered and what is known are kept beside it

    @classmethod
    def at(cls, place: str | os.PathLike[str] | None, system: str) -> _Output:
        if place is None:
            return cls("", None, False)
        path = os.fspath(place)
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
        if ranking and self.plan:
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
            summary.pop("run_bytes")
            recorded = Recorded(
                **{**summary, **tuples, "path": self.path, "made": made_from(summary["made"]) or Made()}
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return recorded if same else None

    def write(self, rankings: Iterator[tuple[str, Ranking]], recorded: Recorded, asked: Mapping[str, Any]) -> str:
        """Write the run, and its facts beside it; returns the hash of the run."""
        if self.plan is None:
            return ""
        digest, format = hashlib.sha256(), self.plan.format.name
        write_run(self.path, rankings, name=self.plan.name or "", force=True, format=format, digest=digest)
        if self.is_file:
            size = os.path.getsize(self.path)
            summary = {**recorded.to_dict(), "asked": asked, "run_bytes": size, "run_sha256": digest.hexdigest()}
            lines = (f"{json.dumps(name)}: {_line(value)}" for name, value in summary.items())
            write_text(f"{self.path}.json", "{\n" + ",\n".join(lines) + "\n}\n", force=True)
        return digest.hexdigest()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _percentiles(seconds: Numbers) -> dict[str, float]:
    points = np.percentile(seconds, (50, 90, 95, 99, 100))
    named = zip(("mean", "p50", "p90", "p95", "p99", "max"), (seconds.mean(), *points), strict=True)
    return {name: round(float(value), 6) for name, value in named}
