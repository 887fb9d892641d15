"""What any evaluation says as a whole: the mean of each measure, the counts, and a signature."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cranfield.errors import MeasureError
from cranfield.judge.judgments import Numbers
from cranfield.judge.policy import Policy
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import Aggregate, Definition


@dataclass(frozen=True, slots=True)
class Counts:
    """What an evaluation is made of, in queries, and the share of retrieved judged documents whose score is tied."""

    queries: int  # averaged over
    judged: int
    missing: int  # judged, but not in the run
    extra: int  # in the run, but not judged
    no_relevant: int  # without a judgment of grade 1 or higher
    tied: float


def aggregate(values: Numbers, how: Aggregate, weights: Numbers | None = None) -> float:
    """Values of queries as one number; 0 where there is no query.

    A sum is exact before it is rounded, so that neither the order of the queries nor who adds them up matters.
    """
    if how == "sum":
        return math.fsum(values.tolist())
    if not len(values) or (weights is not None and not weights.sum()):
        return 0.0
    if how == "geometric":
        logs = np.log(np.maximum(values, 0.00001))
        return float(
            np.exp(math.fsum(logs.tolist()) / len(logs) if weights is None else np.average(logs, weights=weights))
        )
    if how == "median":
        return float(np.median(values))
    return math.fsum(values.tolist()) / len(values) if weights is None else float(np.average(values, weights=weights))


class Summary(Mapping[str, float]):
    """A mapping from measure to its mean over the queries, and what two of them must share to be comparable."""

    run: str
    measures: tuple[Measure, ...]
    policy: Policy
    counts: Counts
    qrels_sha256: str
    run_sha256: str
    version: str

    @abstractmethod
    def __getitem__(self, measure: str | Measure) -> float: ...

    def __iter__(self) -> Iterator[str]:
        return (measure.name for measure in self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def _find(self, measure: str | Measure) -> Measure:
        try:
            wanted = measure if isinstance(measure, Measure) else parse_measure(measure)
        except (MeasureError, AttributeError, TypeError):
            raise KeyError(measure) from None
        if wanted not in self.measures:
            raise KeyError(wanted.name)
        return wanted

    def definition(self, measure: str | Measure) -> Definition:
        """What the registry says of a measure."""
        return self._find(measure).definition

    @property
    def signature(self) -> str:
        """Everything that two values must share to be comparable, in one line."""
        counts = self.counts
        return "|".join(
            (
                str(self.policy),
                "rel:1",
                f"judged:{counts.judged}",
                f"queries:{counts.queries}",
                f"missing_queries:{counts.missing}",
                f"extra_queries:{counts.extra}",
                f"no_relevant:{counts.no_relevant}",
                f"tied:{counts.tied:.1%}",
                f"qrels:{_short(self.qrels_sha256)}",
                f"run:{_short(self.run_sha256)}",
                f"version:{self.version}",
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as plain dicts, ready for JSON."""
        return {
            "run": self.run,
            "measures": list(self),
            "mean": dict(self),
            "counts": asdict(self.counts),
            "policy": asdict(self.policy),
            "qrels_sha256": self.qrels_sha256,
            "run_sha256": self.run_sha256,
            "signature": self.signature,
        }

    def __str__(self) -> str:
        width = max(len(name) for name in self)
        lines = [f"{name:<{width}}  {self.shown(name)}" for name in self]
        return "\n".join((self.run, *lines, self.describe_counts()))

    def shown(self, measure: str | Measure) -> str:
        """The mean of a measure with four decimals, or its sum."""
        counted = self._find(measure).definition.aggregate == "sum"
        return f"{self[measure]:.0f}" if counted else f"{self[measure]:.4f}"

    def describe_counts(self) -> str:
        """The counts in words."""
        counts = self.counts
        notes = [f"{counts.queries} {'query' if counts.queries == 1 else 'queries'}"]
        if counts.missing:
            fate = "left out" if self.policy.missing == "skip" else "count 0"
            notes.append(f"{counts.missing} judged but not in the run ({fate})")
        if counts.extra:
            notes.append(f"{counts.extra} in the run but not judged (ignored)")
        if counts.no_relevant:
            notes.append(f"{counts.no_relevant} without a relevant document (count 0)")
        if counts.tied:
            notes.append(f"{counts.tied:.1%} of the judged documents tied")
        return "; ".join(notes)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={self.shown(name)}" for name in self)
        return f"<{type(self).__name__} of {self.run}: {means}; {self.describe_counts()}>"

    def _repr_html_(self) -> str:
        from html import escape

        heads = "".join(f"<th>{escape(name)}</th>" for name in self)
        cells = "".join(f"<td>{self.shown(name)}</td>" for name in self)
        return (
            f"<table><thead><tr><th>run</th>{heads}</tr></thead>"
            f"<tbody><tr><td>{escape(self.run)}</td>{cells}</tr></tbody></table>"
            f"<small>{escape(self.describe_counts())}<br><code>{escape(self.signature)}</code></small>"
        )


def _short(digest: str) -> str:
    """A hash as a signature shows it, after what it is a hash of: ranks-…, rows-…, or nothing for a file's bytes."""
    return digest[: digest.find("-") + 13]
