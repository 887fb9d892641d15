"""What a comparison says: its differences, and the table of the runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import ceil, log10
from typing import Any, NamedTuple

from cranfield.comparison.correlation import MeasureAgreement, RunAgreement, measure_agreement, run_agreement
from cranfield.comparison.differences import Difference
from cranfield.comparison.pairing import Paired, judged_cutoff
from cranfield.comparison.power import USUAL, SizeRow, query_set_sizes
from cranfield.errors import ComparisonError
from cranfield.measures import Measure, parse_measure
from cranfield.result import Evaluation

UNDECIDED = "not decided: unjudged documents could reverse this"


class Cell(NamedTuple):
    """A mean in the table; `mark` is ▲ or ▼ against the baseline, or the letters of its groups."""

    value: float
    mark: str
    best: bool


class Row(NamedTuple):
    """A run in the table: a cell for each measure, and Judged at each of the table's cutoffs (None: not known)."""

    run: str
    cells: tuple[Cell, ...]
    judged: tuple[float | None, ...]


class Table(NamedTuple):
    """Means of runs by measures, with marks, and what they mean."""

    measures: tuple[str, ...]
    judged: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


class Inputs(NamedTuple):
    """What `compare` was given: the judgments, and the runs by name, as far as they can be read again."""

    qrels: Any
    runs: dict[str, Any]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`: a `Difference` for each pair and measure, and the means of all runs.

    Measures are found by any of their names.

    >>> from cranfield import compare
    >>> qrels = {str(q): {"a": 1} for q in range(8)}
    >>> old, new = {str(q): ["b", "a"] for q in range(7)}, {str(q): ["a", "b"] for q in range(8)}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR P@1")
    >>> comparison
    <Comparison of old, new by RR, P@1: 8 queries>
    >>> print(comparison)
    RR: new - old = +0.5625 (95% interval +0.4147 to +0.7103), corrected p < 0.0001: significantly better
    P@1: new - old = +1.0000 (95% interval +1.0000 to +1.0000), corrected p = 0.0078: significantly better
    8 queries; paired t-test, two-sided; Holm over a family of 2 (1 pair × 2 measures)
    >>> comparison.find("recip_rank", "new", "old").better, len(comparison.of("RR")), comparison.pairs
    (8, 1, 1)
    >>> comparison.means["RR"], comparison.groups("RR"), comparison.discriminative_power()
    ({'old': 0.4375, 'new': 1.0}, [('new',), ('old',)], {'RR': 1.0, 'P@1': 1.0})
    >>> comparison.judged_of("P@1", "new"), [row.run for row in comparison.table().rows]
    (1.0, ['old', 'new'])
    >>> comparison.query_set_sizes("RR")[-1].difference, comparison.to_dict()["correction"], comparison.to_json()[:8]
    (0.1, 'holm', '{\\n  "run')
    >>> comparison.described() == f"paired t-test, two-sided; {comparison.family}"
    True
    >>> [(each.one, each.other) for each in (*comparison.agreement(), *comparison.run_agreement())]
    [('RR', 'P@1'), ('old', 'new'), ('old', 'new')]
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    baseline: str | None
    queries: int
    left_out: int
    test: str
    correction: str
    alpha: float
    permutations: int
    seed: int
    means: dict[str, dict[str, float]]  # by measure and run
    judged: dict[str, dict[str, float | None]]  # by Judged@k and run
    differences: tuple[Difference, ...]
    signatures: dict[str, str]
    values: Paired = field(repr=False)
    evaluations: tuple[Evaluation, ...] = field(repr=False)
    inputs: Inputs | None = field(default=None, repr=False)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __repr__(self) -> str:
        measures = ", ".join(measure.name for measure in self.measures)
        return f"<Comparison of {', '.join(self.runs)} by {measures}: {_count(self.queries, 'query', 'queries')}>"

    def __str__(self) -> str:
        lines = [
            f"{each.measure}: {each.run} - {each.baseline} = {each.difference:+.4f} ({1 - self.alpha:.0%} interval "
            f"{each.low:+.4f} to {each.high:+.4f}), corrected p {_p(each.adjusted)}: {each.verdict}"
            for each in self.differences
        ]
        return "\n".join((*lines, f"{_count(self.queries, 'query', 'queries')}; {self.described()}"))

    def find(self, measure: str | Measure, run: str, baseline: str | None = None) -> Difference:
        """The difference of a measure between two runs, as it was computed: run - baseline."""
        name, base = parse_measure(measure).name, baseline or self.baseline
        for each in self.differences:
            if (each.measure, each.run, each.baseline) == (name, run, base):
                return each
        raise ComparisonError(
            f"{name}: {run} was not compared with {base}.", hint=f"the runs are {', '.join(self.runs)}"
        )

    @property
    def pairs(self) -> int:
        """How many pairs of runs were compared."""
        return len(self.differences) // len(self.measures)

    @property
    def family(self) -> str:
        """What the p-values are corrected for, in words."""
        size = f"{_count(self.pairs, 'pair')} × {_count(len(self.measures), 'measure')}"
        if self.test == "tukey":
            over = "Tukey over the pairs of a measure"
            if len(self.measures) > 1 and self.correction != "none":
                over += f", Bonferroni over the {len(self.measures)} measures"
            return f"{over}: a family of {len(self.differences)} ({size})"
        names = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg (false discovery rate)"}
        if self.correction == "none":
            return f"no correction for the {len(self.differences)} comparisons made ({size})"
        return f"{names[self.correction]} over a family of {len(self.differences)} ({size})"

    def discriminative_power(self) -> dict[str, float]:
        """For each measure the share of the pairs that it separates (Sakai 2006)."""
        return {
            measure.name: sum(each.significant for each in self.of(measure)) / self.pairs for measure in self.measures
        }

    def agreement(self) -> list[MeasureAgreement]:
        """How much each pair of measures agrees, over the runs and over the queries."""
        return measure_agreement(self.values)

    def run_agreement(self) -> list[RunAgreement]:
        """How much each pair of runs agrees on which queries are hard."""
        return run_agreement(self.values)

    def of(self, measure: str | Measure) -> list[Difference]:
        """The differences of a measure."""
        wanted = parse_measure(measure)
        if wanted not in self.measures:
            known = ", ".join(each.name for each in self.measures)
            raise ComparisonError(f"the runs were not compared by {wanted}.", hint=f"the measures are {known}")
        return [each for each in self.differences if each.measure == wanted.name]

    def groups(self, measure: str | Measure) -> list[tuple[str, ...]]:
        """The largest groups of runs that are not separable by a measure, the best first; groups may overlap.

        Only where all pairs were compared.
        """
        if self.baseline is not None:
            raise ComparisonError("runs were only compared with the baseline.", hint="compare without one for groups")
        name = parse_measure(measure).name
        apart = [{each.run, each.baseline} for each in self.of(name) if each.significant]
        groups = [frozenset(self.runs)]
        for pair in apart:
            split = [group - {run} if pair <= group else group for group in groups for run in sorted(pair)]
            groups = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
        order = self._best_first(name)
        listed = [tuple(sorted(group, key=order.index)) for group in groups]
        return sorted(listed, key=lambda group: [order.index(run) for run in group])

    def _best_first(self, measure: str) -> list[str]:
        lower = parse_measure(measure).definition.lower_is_better
        return sorted(self.runs, key=lambda run: self.means[measure][run] * (1 if lower else -1))

    def table(self) -> Table:
        """Means of runs by measures, with marks of significance: what `show` prints."""
        marks = {measure.name: self._marks(measure.name) for measure in self.measures}
        best = {name: self.means[name][self._best_first(name)[0]] for name in marks}
        rows = tuple(
            Row(
                run,
                tuple(
                    Cell(self.means[name][run], marks[name][run], self.means[name][run] == best[name]) for name in marks
                ),
                tuple(self.judged[name][run] for name in self.judged),
            )
            for run in self.runs
        )
        level = f"at alpha {self.alpha:g}"
        note = f"runs that share a letter are not significantly different {level}"
        if self.baseline is not None:
            note = f"▲ ▼ significantly better, worse than {self.baseline} {level}"
        return Table(tuple(marks), tuple(self.judged), rows, (note, self.described()))

    def described(self) -> str:
        """The test and the correction, in words."""
        names = {
            "t": "paired t-test",
            "randomisation": f"randomisation test ({self.permutations:,} permutations, seed {self.seed})",
            "bootstrap": f"paired bootstrap ({self.permutations:,} draws, seed {self.seed})",
            "wilcoxon": "Wilcoxon's signed-rank test",
            "sign": "sign test",
            "tukey": f"randomised Tukey HSD ({self.permutations:,} permutations, seed {self.seed})",
        }
        return f"{names[self.test]}, two-sided; {self.family}"

    def _marks(self, measure: str) -> dict[str, str]:
        if self.baseline is not None:
            signs = {"significantly better": "▲", "significantly worse": "▼"}
            return {self.baseline: ""} | {each.run: signs.get(each.verdict, "") for each in self.of(measure)}
        groups = self.groups(measure)
        return {run: "".join(_letter(place) for place, group in enumerate(groups) if run in group) for run in self.runs}

    def query_set_sizes(self, measure: str | Measure) -> list[SizeRow]:
        """How many queries would show a given difference, if differences vary as those of the widest pair here do.

        The differences are 0.01, 0.02, 0.05 and 0.1, or as many times ten of that as the measure's scale needs.
        """
        spread = max(each.spread for each in self.of(measure))
        scale = 10 ** max(0, ceil(log10(spread))) if spread else 1
        return query_set_sizes(spread, [scale * each for each in (0.01, 0.02, 0.05, 0.1)], alpha=self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain dicts, ready for JSON."""
        verdicts = [{"verdict": each.verdict, "could_reverse": each.could_reverse} for each in self.differences]
        return {
            "runs": list(self.runs),
            "baseline": self.baseline,
            "measures": [measure.name for measure in self.measures],
            "queries": self.queries,
            "queries_left_out": self.left_out,
            "test": self.test,
            "correction": self.correction,
            "family": self.family,
            "alpha": self.alpha,
            "power": USUAL,
            "permutations": self.permutations,
            "seed": self.seed,
            "means": self.means,
            "judged": self.judged,
            "groups": {} if self.baseline else {each.name: self.groups(each.name) for each in self.measures},
            "discriminative_power": self.discriminative_power(),
            "differences": [
                {
                    **asdict(each),
                    "changed": [change._asdict() for change in each.changed],
                    "reach": each.reach.to_dict() if each.reach else None,
                    **words,
                }
                for each, words in zip(self.differences, verdicts, strict=True)
            ],
            "agreement": [each._asdict() for each in self.agreement()],
            "run_agreement": [each._asdict() for each in self.run_agreement()],
            "signatures": self.signatures,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The comparison as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write one HTML page about the comparison, with the options of `write_report`; it returns a `ReportFile`.

        The page shows rankings where `compare` read the runs from files or from memory.

        >>> import os, tempfile
        >>> from cranfield import compare
        >>> comparison = compare("builtin:qrels", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = comparison.report(f"{folder}/report.html", charts=False)
        ...     page.size > 10_000
        True
        """
        from cranfield.show.report import write_comparison

        return write_comparison(path, self, **options)

    def _repr_html_(self) -> str:
        from cranfield.show.notebook import comparison_html

        return comparison_html(self)

    def judged_of(self, measure: str | Measure, run: str) -> float | None:
        """The share of a run's first documents that is judged, down to the measure's cutoff or 10."""
        return self.judged[f"Judged@{judged_cutoff(parse_measure(measure))}"][run]


def all_pairs(count: int) -> list[tuple[int, int]]:
    """Pairs of columns (baseline, run): the later against the earlier."""
    return list(combinations(range(count), 2))


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"= {value:.4f}"


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"
