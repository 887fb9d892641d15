"""The part that all evaluations share: the mean of each measure, the counts, and a signature."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cranfield.drawing import as_html
from cranfield.errors import MeasureError
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.values import Counts
from cranfield.measures import Measure, known_measure
from cranfield.measures.registry import Definition
from cranfield.measures.scope import rels_of
from cranfield.ranks.policy import Policy
from cranfield.version import __version__
from cranfield.words import count, listed


@dataclass(frozen=True, init=False, eq=False, repr=False, kw_only=True)
class Summary(Mapping[str, float]):
    """A mapping from measure to its mean over the queries, and what two of them must share to be comparable."""

    run: str
    measures: tuple[Measure, ...]
    policy: Policy
    counts: Counts
    _inputs: InputHashes
    version: str = __version__
    provenance: str = ""  # of the judgments, where they are a view of a store

    @property
    def qrels_sha256(self) -> str:
        """The SHA-256 of the judgments: of their file, or of their columns.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").qrels_sha256[:8]
        'ded2d8a9'
        """
        return self._inputs.qrels

    @property
    def run_sha256(self) -> str:
        """The SHA-256 of the run: of its file, or of the ranks of judged documents.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").run_sha256[:14]
        'ranks-80edade7'
        """
        return self._inputs.run

    @property
    @abstractmethod
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the values."""

    @abstractmethod
    def __getitem__(self, measure: str | Measure) -> float: ...

    def __iter__(self) -> Iterator[str]:
        return (measure.name for measure in self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def _find(self, measure: str | Measure) -> Measure:
        try:
            wanted = known_measure(measure, self.measures)
        except (MeasureError, AttributeError, TypeError):
            raise KeyError(measure) from None
        if wanted not in self.measures:
            raise KeyError(f"{wanted.name} was not measured; available: {', '.join(self)}")
        return wanted

    def definition(self, measure: str | Measure) -> Definition:
        """What the registry says about a measure.

        measure: any of its names, or a `Measure`.
        Returns its definition, with its formula, its reference and its parameters.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").definition("recip_rank").name
        'RR'
        """
        return self._find(measure).definition

    @property
    def signature(self) -> str:
        """Everything that two values must share to be comparable, in one line.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").signature.split("|")[:3]
        ['ties:doc_id', 'missing:zero', 'duplicates:error']
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", weights={"1": 5}).signature.split("|")[-3]
        'weights:b7deb95f1c97'
        """
        counts = self.counts
        return "|".join(
            (
                str(self.policy),
                f"rel:{_listed(rels_of(self.measures))}",
                f"judged:{counts.judged}",
                f"queries:{counts.queries}",
                f"missing_queries:{counts.missing}",
                f"extra_queries:{counts.extra}",
                f"no_relevant:{counts.no_relevant}",
                f"tied:{counts.tied:.1%}",
                f"qrels:{_short(self.qrels_sha256)}",
                *([self.provenance] if self.provenance else []),
                *self._signed_weights(),
                f"run:{_short(self.run_sha256)}",
                *self._choices_of_run(),
                f"version:{self.version}",
            )
        )

    def _choices_of_run(self) -> Iterable[str]:
        """What the signature says about how the run was made."""
        return ()

    def _signed_weights(self) -> tuple[str, ...]:
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as plain dicts, ready for JSON.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").to_dict()["mean"]
        {'RR': 1.0}
        """
        return {
            "run": self.run,
            "measures": list(self),
            "mean": dict(self),
            "warnings": list(self.warnings),
            "counts": asdict(self.counts),
            "policy": asdict(self.policy),
            "qrels_sha256": self.qrels_sha256,
            **({"provenance": self.provenance} if self.provenance else {}),
            "run_sha256": self.run_sha256,
            "signature": self.signature,
        }

    def __str__(self) -> str:
        width = max(len(self.heading(name)) for name in self)
        lines = [f"{self.heading(name):<{width}}  {self.shown(name)}" for name in self]
        alarms = [f"warning: {warning}" for warning in self.warnings]
        return "\n".join((self.run, *alarms, *lines, self.describe_counts()))

    def heading(self, measure: str | Measure) -> str:
        """The name of a measure above its values.

        measure: any of its names, or a `Measure`.
        Returns the name.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR").heading("recip_rank")
        'RR'
        """
        return self._find(measure).name

    def shown(self, measure: str | Measure) -> str:
        """The value of a measure over all queries as text.

        measure: any of its names, or a `Measure`.
        Returns it with four decimals; a sum without any.

        >>> from cranfield import evaluate
        >>> result = evaluate({"1": {"a": 1}}, {"1": ["x", "a"]}, "RR NumRel")
        >>> result.shown("RR"), result.shown("NumRel")
        ('0.5000', '1')
        """
        wanted = self._find(measure)
        return f"{self[wanted]:.0f}" if wanted.definition.aggregate == "sum" else f"{self[wanted]:.4f}"

    def describe_counts(self) -> str:
        """The counts in words.

        >>> from cranfield import evaluate
        >>> evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"]}, "RR").describe_counts()
        '2 queries; 1 judged but not in the run (counts 0)'
        """
        counts = self.counts
        notes = [f"{counts.queries} {'query' if counts.queries == 1 else 'queries'}"]
        if counts.missing:
            fate = "left out" if self.policy.missing == "skip" else _count_0(counts.missing)
            notes.append(f"{counts.missing} judged but not in the run ({fate})")
        if counts.extra:
            notes.append(f"{counts.extra} in the run but not judged (ignored)")
        if counts.no_relevant:
            alike = counts.no_relevant == counts.no_relevant_for_all
            zero = _count_0(counts.no_relevant)
            where = f"({zero})" if alike else f"for some measures ({zero} there)"
            notes.append(f"{counts.no_relevant} without a relevant document {where}")
        if counts.tied:
            notes.append(f"{counts.tied:.1%} of the retrieved judged documents have tied scores")
        return "; ".join(notes)

    def __repr__(self) -> str:
        means = listed([f"{self.heading(name)}={self.shown(name)}" for name in self], 6)
        return f"<{type(self).__name__} of {self.run}: {means}; {count(self.counts.queries, 'query', 'queries')}>"

    def _repr_html_(self) -> str:
        return as_html("summary", self)


def _count_0(queries: int) -> str:
    return "counts 0" if queries == 1 else "count 0"


def _listed(rels: Iterable[float]) -> str:
    return ",".join(f"{rel:g}" for rel in rels) or "none"


def _short(digest: str) -> str:
    """A hash as a signature shows it, after what it is a hash of: ranks-…, rows-…, or nothing for a file's bytes."""
    return digest[: digest.find("-") + 13]
