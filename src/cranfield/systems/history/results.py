"""What a history holds of a measurement: when, of which commit, on which basis, with which values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure
from cranfield.ranks.columns import Numbers
from cranfield.systems.history.change import UNKNOWN, Change, Moment, stored_time
from cranfield.systems.history.packing import content_id, packed_numbers, packed_texts

BASELINE = "baseline"
_LEVEL = 0.05  # of the intervals that are kept beside the values
_NOT_SHOWN = {"change", "values", "gone", "settings", "documents", "corpus"}  # as they are, in JSON


class Value(NamedTuple):
    """The value of a measure over all queries; low and high: its 95% interval, None where it is not a mean."""

    value: float
    low: float | None = None
    high: float | None = None


class Basis(NamedTuple):
    """What values share that can be compared.

    id: follows from all of it
    queries: the id of the queries
    judgments: the hash of the judgments; judged: how many, 0 where that is not known
    provenance: whose judgments they are, and how many of their documents are gone
    weights: the hash of the weights of queries; empty where all count alike
    """

    id: str
    queries: str
    judgments: str
    judged: int = 0
    provenance: str = ""
    weights: str = ""
    policy: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A result in a history.

    id: follows from its content
    at: when it was measured, in UTC
    command: what appended it: test, gate or accept
    passed: whether it passed; None where it was not compared with anything
    accepted: the id of the result that was the accepted one then; empty where there was none
    latency: seconds: mean, p50, p90, p95, p99, max; empty where they are not known
    counts: of queries: judged, missing, and so on, and how many failed
    settings: of the system, as JSON; documents, corpus: how many there were, and a hash of their ids; empty and None
        where these are not known
    values: by measure, over all queries on this basis
    """

    id: str
    system: str
    at: datetime
    basis: str
    run_sha256: str
    command: str = ""
    change: Change = UNKNOWN
    passed: bool | None = None
    accepted: str = ""
    latency: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    signature: str = ""
    version: str = ""
    gone: tuple[str, ...] = field(default=(), repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    documents: int | None = None
    corpus: str = field(default="", repr=False)
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def commit(self) -> str:
        """The first seven letters of the commit; a + where files differed from it."""
        return f"{self.change.commit[:7]}{'+' if self.change.dirty else ''}" if self.change.commit else ""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        return {
            **{name: value for name, value in asdict(self).items() if name not in _NOT_SHOWN},
            "at": stored_time(self.at),
            **self.change._asdict(),
            "gone": len(self.gone),
            "values": {name: value._asdict() for name, value in self.values.items()},
        }


class Acceptance(NamedTuple):
    """That a result was accepted: by whom, when and why; worse: although it was worse than the one before."""

    id: str
    system: str
    at: datetime
    result: str
    who: str = ""
    because: str = ""
    worse: bool = False


class Note(NamedTuple):
    """A note at a time."""

    id: str
    at: datetime
    text: str
    who: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A result to be appended, complete: it may be appended again without doubling anything.

    command: that measured it; BASELINE if it is not known when that was, and it only serves others to be compared with
    evaluation: its values
    judged: how many judgments there are
    settings, documents, corpus: those of a `Result`
    texts: the texts of queries, as far as they are known
    """

    evaluation: Evaluation
    system: str
    moment: Moment
    command: str
    passed: bool | None = None
    accepted: str = ""
    latency: Mapping[str, float] | None = None
    failed: int = 0
    judged: int = 0
    gone: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    documents: int | None = None
    corpus: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Follows from the run, and from when it was measured, of which commit."""
        when = "" if self.command == BASELINE else self.moment.to_dict()
        return content_id(self.system, self.evaluation.run_sha256, when)

    @property
    def basis(self) -> Basis:
        return basis_of(self.evaluation, self.judged)

    @property
    def row(self) -> dict[str, Any]:
        evaluation = self.evaluation
        facts = {
            "latency": {name: float(seconds) for name, seconds in (self.latency or {}).items()},
            "counts": {name: int(number) for name, number in asdict(evaluation.counts).items()}
            | {"failed": self.failed},
            "gone": sorted(self.gone),
            "settings": dict(self.settings),
            "documents": self.documents,
            "corpus": self.corpus,
        }
        return {
            "id": self.id,
            "system": self.system,
            "at": stored_time(self.moment.at),
            "basis": self.basis.id,
            "run": evaluation.run_sha256,
            "command": self.command,
            **self.moment.change._asdict(),
            "signature": evaluation.signature,
            "version": evaluation.version,
            "passed": self.passed,
            "accepted": self.accepted,
            "facts": json.dumps(facts, sort_keys=True),
        }


class Again(NamedTuple):
    """A result whose run was measured on another basis; judged: how many judgments there are."""

    result: str
    evaluation: Evaluation
    judged: int = 0


class KeptRun(NamedTuple):
    """A run to be kept: the hash of its content, the name of its file, and how to get the content."""

    sha256: str
    name: str
    read: Callable[[], bytes]


def basis_of(evaluation: Evaluation, judged: int = 0) -> Basis:
    queries = content_id([*evaluation.query_ids])
    weights = evaluation.weights.sha256 if evaluation.weights else ""
    policy = "|".join((str(evaluation.policy), *evaluation._signed_answers()))
    parts = (queries, evaluation.qrels_sha256, evaluation.provenance, weights, policy)
    return Basis(content_id(*parts), queries, evaluation.qrels_sha256, judged, evaluation.provenance, weights, policy)


def basis_row(basis: Basis, evaluation: Evaluation) -> dict[str, Any]:
    weights = evaluation.weights
    weighting = None if weights is None else packed_numbers(plain_weights(weights, evaluation.query_ids))
    grouping = None if weights is None or weights.groups is None else packed_texts(weights.groups)
    return {**basis._asdict(), "weighting": weighting, "grouping": grouping}


def plain_weights(weights: Weights, query_ids: Sequence[str]) -> Numbers:
    """The weight of each query, whatever its group."""
    return replace(weights, groups=None).column(query_ids)


def query_row(evaluation: Evaluation, texts: Mapping[str, str]) -> dict[str, Any]:
    by_query = {query: str(texts.get(query, "")) for query in evaluation.query_ids}
    return {"id": content_id([*evaluation.query_ids]), "texts": packed_texts(by_query)}


def value_rows(result: str, basis: Basis, evaluation: Evaluation) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The value of each measure, and its column."""
    for place, measure in enumerate(evaluation.measures):
        column = np.ascontiguousarray(evaluation._columns[measure], dtype="<f8")
        name = hashlib.sha256(column.tobytes()).hexdigest()[:32]
        value = _value(evaluation, measure)
        row = {"result": result, "basis": basis.id, "measure": measure.name, "place": place, "column": name}
        yield {**row, **value._asdict()}, {"id": name, "packed": packed_numbers(column)}


def _value(evaluation: Evaluation, measure: Measure) -> Value:
    if measure.definition.aggregate != "mean" or evaluation.basis is not None or len(evaluation.query_ids) < 2:
        return Value(evaluation[measure])
    estimate = evaluation.estimate(measure, alpha=_LEVEL)
    return Value(estimate.value, estimate.low, estimate.high)
