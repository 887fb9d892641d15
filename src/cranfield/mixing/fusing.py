"""fuse(runs, method) → Fused: several runs made one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cranfield.errors import InputError
from cranfield.evaluation.naming import named_runs
from cranfield.io.facts import keep_beside
from cranfield.io.formats import FORMATS, format_to_write
from cranfield.io.made import Fusion, Made, Tuned, head_of, inherited
from cranfield.io.records import Lines, Records
from cranfield.io.shapes import Rankings
from cranfield.io.target import STANDARD_OUTPUT
from cranfield.io.text import located
from cranfield.io.writing import name_from, write_records
from cranfield.mixing.lists import Lists
from cranfield.mixing.mixture import DEPTH, USUAL, Mixture
from cranfield.mixing.reading import Part, RankingFile, chunks, open_rankings
from cranfield.native import CORES, native
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.words import count

Ranking = tuple[str, list[str], list[float]]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Fused:
    """A run that was made of others; a run wherever one is taken.

    path: the file of the run; empty if it is in memory
    name: of the run
    runs: the names of those that were fused
    mixture: how, in words
    queries: how many it has; partial: how many of them only some of the runs have
    documents: how many rows there are
    made: how it was made, as `compare` and the report know it

    >>> from cranfield import fuse
    >>> fused = fuse([{"q": {"a": 9.0, "b": 6.0}}, {"q": {"b": 0.8, "c": 0.4}}], "rrf")
    >>> fused
    <Fused: rrf, k = 60, of the run and the run (2); 1 query, in memory>
    >>> fused.rankings["q"], fused.warnings, fused.to_dict()["runs"]
    ({'b': 0.03252247488101534, 'a': 0.01639344262295082, 'c': 0.016129032258064516}, (), ('the run', 'the run (2)'))
    """

    path: str
    name: str
    runs: tuple[str, ...]
    mixture: str
    queries: int
    partial: int
    documents: int
    made: Made
    _sha256: str = field(default="", repr=False)
    _rankings: Mapping[str, Mapping[str, float]] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        of = " and ".join(self.runs) if len(self.runs) < 4 else count(len(self.runs), "run")
        return (
            f"<Fused: {self.mixture}, of {of}; {count(self.queries, 'query', 'queries')}, in {self.path or 'memory'}>"
        )

    @property
    def rankings(self) -> Mapping[str, Mapping[str, float]]:
        """The documents of each query with their scores, best first, of a run in memory."""
        if self._rankings is None:
            raise InputError(self.path, "this run is in a file.", hint="it can be given wherever a run is taken")
        return self._rankings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the runs, in sentences."""
        if not self.partial:
            return ()
        verb = "is" if self.partial == 1 else "are"
        return (f"{count(self.partial, 'query', 'queries')} {verb} missing from some of the runs",)

    def _rankings_source(self) -> Any:
        return self.path if self._rankings is None else Rankings(self.name, self._rankings)

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, ready for JSON."""
        values = {known.name: getattr(self, known.name) for known in fields(self) if known.name[0] != "_"}
        return {**values, "made": self.made.to_dict()}


def fuse(
    runs: Mapping[str, Any] | Iterable[Any],
    method: str = USUAL,
    path: str | os.PathLike[str] | None = None,
    *,
    normalisation: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    depth: int = DEPTH,
    name: str = "fused",
    force: bool = False,
    metadata: bool = True,
    format: str | None = None,
    policy: Policy | None = None,
    **parameters: float,
) -> Fused:
    """Fuse runs: make one ranking of the rankings of several, query by query.

    runs: {name: run}, or a list of runs: files, dicts, frames, recorded systems.
    method: one of those that `cranfield fuse --help` lists; "rrf" is reciprocal rank fusion.
    path: the file to write, in the format that its name ends in; by default the run is in memory.
    normalisation: how scores are made comparable, for methods that read scores: "min-max", "z-score", "sum", "rank" or
        "none".
    weights: how much each run counts: {name: weight}, or a number for each; by default all alike.
    depth: how many documents of each ranking are read, and how many the fused one has at most.
    name: of the run.
    force: replace a file that exists.
    metadata: begin a TREC file with comments that say how it was made; some tools do not read these.
    format: the format of the runs, if it cannot be detected.
    policy: the conventions by which the runs are read; see `Policy`.
    parameters: those of the method and of the normalisation, such as k=60; `constant` is what each document gets in a
        list of equal scores, or of one document, which has no scale.
    Returns a `Fused`, which is a run wherever one is taken, and knows what it was made of.

    A document that a run does not have gets nothing from it. Equal fused scores are ordered as everywhere: the larger
    id first.

    >>> lexical, dense = {"q": {"a": 12.0, "b": 8.0, "c": 4.0}}, {"q": {"b": 0.9, "d": 0.5, "a": 0.1}}
    >>> fused = fuse({"lexical": lexical, "dense": dense}, "combsum", weights={"lexical": 0.25, "dense": 0.75})
    >>> fused.rankings["q"]
    {'b': 0.875, 'd': 0.375, 'a': 0.25, 'c': 0.0}
    >>> from cranfield import evaluate
    >>> evaluate({"q": {"b": 1}}, fused, "RR")
    <Evaluation of fused: RR=1.0000; 1 query>
    """
    named = named_runs(runs)
    mixture = Mixture.of(method, normalisation, runs=list(named), weights=weights, depth=depth, **parameters)
    return fuse_as(named, mixture, path, name=name, force=force, metadata=metadata, format=format, policy=policy)


def fuse_as(
    named: Mapping[str, Any],
    mixture: Mixture,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str = "fused",
    force: bool = False,
    metadata: bool = True,
    format: str | None = None,
    policy: Policy | None = None,
    tuned: Tuned | None = None,
) -> Fused:
    """`fuse` for a mixture; tuned: how it was chosen"""
    if len(named) < 2:
        raise InputError(next(iter(named), "the runs"), "fusing takes at least two runs.", hint="add another run")
    policy = policy or Policy()
    runs = tuple(named)
    opened = {run_name: open_run(run, format, name=run_name) for run_name, run in named.items()}
    fusion = Fusion(runs, mixture.to_dict(), mixture.chosen)
    made = Made(fusion=fusion, tuned=inherited({name: run.made for name, run in opened.items()}, tuned))
    target = None if path is None else os.fspath(path)
    facts: dict[str, Any] = {"path": target or "", "name": name, "runs": runs, "made": made}
    facts["mixture"] = ", ".join(mixture.parts(runs))
    with ExitStack() as stack, located():
        files = open_rankings(list(opened.values()), policy, stack)
        queries = list(dict.fromkeys(query for file in files for query in file.sizes))
        partial = sum(not all(query in file.sizes for file in files) for query in queries)
        facts |= {"queries": len(queries), "partial": partial}
        if target is None:
            with closing(_fused(files, queries, mixture, Group.rankings)) as rankings:
                kept = {query: dict(zip(ids, scores, strict=True)) for query, ids, scores in rankings}
            return Fused(**facts, documents=sum(map(len, kept.values())), _rankings=kept)
        written = FORMATS["trec"] if target == STANDARD_OUTPUT else format_to_write(target)
        digest, tag = hashlib.sha256(), name_from(name)

        def rows_of(group: Group) -> Sequence[Records | Lines]:
            lines = group.lines(tag) if written.name == "trec" else None
            return records_of(group) if lines is None else [lines]

        with closing(_fused(files, queries, mixture, rows_of)) as groups:
            rows = write_records(
                target,
                groups,
                name=tag,
                force=force,
                format=written.name,
                digest=digest,
                head=head_of(made, tag) if metadata else b"",
            )
    if metadata and not written.takes_comments and os.path.isfile(target):
        keep_beside(target, {"made": made.to_dict()})
    return replace(Fused(**facts, documents=rows), _sha256=digest.hexdigest())


class Group(NamedTuple):
    """Fused rankings of some queries.

    sizes: how many documents each has; columns: of these in the lists; scores: of these
    """

    queries: list[str]
    sizes: Integers
    lists: Lists
    columns: Integers
    scores: Numbers

    def rankings(self) -> list[Ranking]:
        ids, scores, ends = self.lists.ids(self.columns), self.scores.tolist(), offsets(self.sizes).tolist()
        return [
            (query, ids[start:end], scores[start:end])
            for query, (start, end) in zip(self.queries, pairwise(ends), strict=True)
        ]

    def lines(self, tag: str) -> Lines | None:
        """The lines of a TREC file; None if an id needs a closer look."""
        if native is None:
            return None
        queries = [query.encode(errors="surrogatepass") for query in self.queries]
        places = self.lists.places(self.columns)
        data = native.run_lines(queries, self.sizes, *places, np.ascontiguousarray(self.scores), tag.encode())
        return None if data is None else Lines(data, len(self.columns))


def records_of(group: Group) -> list[Records]:
    """The rows of a group; the twin of the native `run_lines`, for all ids and formats."""
    return [
        Records((), [query] * len(ids), ids, np.array(scores), list(map(repr, scores)))
        for query, ids, scores in group.rankings()
    ]


def _fused(
    files: Sequence[RankingFile],
    queries: Sequence[str],
    mixture: Mixture,
    finish: Callable[[Group], Sequence[Result]],
) -> Generator[Result]:
    """The fused rankings; groups of queries are fused, and finished, in threads."""

    def work(group: tuple[list[str], list[Part]]) -> Sequence[Result]:
        names, parts = group
        lists = mixture.lists([part.ranked() for part in parts])
        columns, sizes, scores = lists.best(mixture.fused(lists), mixture.depth)
        if not np.isfinite(scores).all():
            raise InputError(", ".join(file.name for file in files[:2]), "the scores are too large to be added.")
        return finish(Group(names, sizes, lists, columns, scores))

    with closing(in_parallel(work, chunks(files, queries), CORES)) as groups:
        for group in groups:
            yield from group
