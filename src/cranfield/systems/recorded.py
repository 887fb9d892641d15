"""The result of recording a run: which queries were answered, what came back, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from cranfield.drawing import as_html
from cranfield.errors import InputError
from cranfield.io.made import Made
from cranfield.io.shapes import Rankings
from cranfield.systems.answers import ID_NAMES
from cranfield.version import __version__
from cranfield.words import count

_SHOWN = 5  # ids of queries in a sentence


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording a run; a run wherever one is taken.

    path: the file of the run; empty if it is in memory
    k: how many results the system was asked for; None if it was asked as it is
    failed: query → why; these are not in the run, and they are not zeros
    not_asked: queries that were not asked, because too many before them failed
    empty: queries answered with no document; short: how many were answered with fewer than k
    retried: attempts after a failure; reasked: questions for more chunks
    parted: in how many answers equal scores were lowered, each to the next 32-bit number, to keep the order returned
    replaced: in how many answers the scores contradicted the order returned, and were replaced by falling ones
    rolled_up: in how many answers several chunks of a document were counted once, at the place of the first
    short_of_chunks: in how many of them the system had no more chunks, though k documents were not found
    id_places: where in the results ids were found, where these are more than ids and scores, such as "metadata.source"
    unknown: how many of the documents are not in the corpus, if that was checked; unknown_ids: a few of them
    latency: seconds of one exchange, of the answered queries: mean, p50, p90, p95, p99, max
    cost: of the answers, as far as they say it: mean, total
    by_query: numbers of each answer: seconds, cost, documents, chunks, and characters, words and tokens of its texts
    made: how it was asked, and the means of what came back for a query
    seconds: how long it all took, in this call

    >>> from cranfield import evaluate, record
    >>> recorded = record(lambda query: ["a", "b"], {"1": "cats", "2": "dogs"}, name="mine")
    >>> recorded
    <Recorded mine: 2 of 2 queries answered, with 2 documents each; in memory>
    >>> recorded.complete, recorded.queries, recorded.made.size["documents"], sorted(recorded.latency)[:2]
    (True, 2, 2.0, ['max', 'mean'])
    >>> recorded.name, recorded.returned, recorded.to_dict()["by_query"]["documents"]
    ('mine', '2 documents', [2.0, 2.0])
    >>> evaluate({"1": {"b": 1}, "2": {"a": 1}}, recorded, "RR")
    <Evaluation of mine: RR=0.7500; 2 queries>
    """

    path: str
    system: str
    k: int | None
    queries: int
    answered: int
    failed: dict[str, str]
    not_asked: tuple[str, ...]
    empty: tuple[str, ...]
    short: int
    retried: int
    latency: dict[str, float]
    seconds: float
    made: Made = field(default_factory=Made)
    reasked: int = 0
    parted: int = 0
    replaced: int = 0
    rolled_up: int = 0
    short_of_chunks: int = 0
    id_places: tuple[str, ...] = ()
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    cost: dict[str, float] = field(default_factory=dict)
    gave_up: str = ""
    version: str = __version__
    by_query: Mapping[str, list[Any]] = field(default_factory=dict, repr=False)
    # Of the run that was just written, and may be measured without reading it again.
    _sha256: str = field(default="", repr=False, compare=False)
    _rankings: Mapping[str, Mapping[str, float]] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        parts = [f"{self.answered:,} of {count(self.queries, 'query', 'queries')} answered"]
        parts[0] += f", with {self.returned} each" if self.answered else ""
        parts += [*self.warnings, f"in {self.path or 'memory'}"]
        return f"<Recorded {self.name}: {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        return as_html("recorded", self)

    @property
    def name(self) -> str:
        """The system's name, and what was chosen in place of what it returns by itself."""
        return f"{self.system} ({self.made.choices})" if self.made.choices else self.system

    @property
    def complete(self) -> bool:
        """Whether every query was answered."""
        return self.answered == self.queries

    @property
    def returned(self) -> str:
        """How many documents came back for a query, in words: all of them, or from the fewest to the most."""
        documents = self.by_query.get("documents") or [0]
        least, most = int(min(documents)), int(max(documents))
        return count(most, "document") if least == most else f"{least:,} to {count(most, 'document')}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong, and what became of the answers, in sentences.

        >>> from cranfield import record
        >>> record(lambda query: [("a", 1.0), ("b", 1.0)], {"1": "cats"}).warnings
        ('1 query had tied scores; returned order kept',)
        """
        return (*self._problems(), *self._notes())

    def _problems(self) -> Iterator[str]:
        """Queries that failed, with a reason, and ids that the corpus lacks."""
        if self.failed:
            query, reason = next(iter(self.failed.items()))
            yield f"{count(len(self.failed), 'query', 'queries')} failed ({query}: {reason.partition(chr(10))[0]})"
        if self.gave_up:
            yield f"gave up: {count(len(self.not_asked), 'query was', 'queries were')} not asked"
        if self.unknown:
            yield self._not_in_corpus

    @property
    def _not_in_corpus(self) -> str:
        """The documents that the corpus lacks, in a sentence; empty if there is none."""
        listed = ", ".join(self.unknown_ids) + (", …" if self.unknown > len(self.unknown_ids) else "")
        return (
            f"{count(self.unknown, 'document is', 'documents are')} not in the corpus: {listed}" if self.unknown else ""
        )

    def _notes(self) -> Iterator[str]:
        """Empty answers, where ids are, chunks, scores that do not fall."""
        if self.empty:
            listed = ", ".join(self.empty[:_SHOWN]) + (", …" if len(self.empty) > _SHOWN else "")
            queries = count(len(self.empty), "query", "queries")
            yield f"{queries} returned no documents: {listed}"
        guessed = [place for place in self.id_places if place not in ID_NAMES]
        if guessed:
            yield f"the id of a document is its {', '.join(guessed)}"
        for number, text in (
            (self.short, f" returned fewer than {self.k} documents"),
            (self.rolled_up, ": chunks of one document count once, at the place of the first"),
            (self.short_of_chunks, f": the system returned too few chunks for {self.k} documents"),
            (self.parted, " had tied scores; returned order kept"),
            (self.replaced, " had scores that contradict the order returned, replaced by falling ones"),
        ):
            if number:
                yield f"{count(number, 'query', 'queries')}{text}"

    def _rankings_source(self) -> Any:
        """The rankings in memory, or the path of their file; an error with its reasons if no query was answered."""
        if not self.answered:
            _, _, hint = next(iter(self.failed.values()), "").partition("\nHint: ")
            raise InputError(self.system, f"no query was answered: {'; '.join(self._problems())}.", hint=hint)
        if self._rankings is None:
            return self.path
        rankings = {query: ranking for query, ranking in self._rankings.items() if ranking}
        return Rankings(self.path or self.name, rankings or dict(self._rankings))

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, ready for JSON."""
        values = {known.name: getattr(self, known.name) for known in fields(self) if known.name[0] != "_"}
        return {**values, "made": self.made.to_dict()}
