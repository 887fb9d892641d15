"""The result of tuning: which setting is best, and how good it is on queries that did not choose it.

Mixtures of runs (tuning_runs.py) and the parameters of a system (tuning_systems.py) are tuned alike: a table of values
by query and setting, settings chosen within folds, and the value that this reaches on the other queries.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.comparing import differences_of
from cranfield.comparison.differences import Difference
from cranfield.comparison.families import Procedure, usual_correction
from cranfield.comparison.pairing import Paired
from cranfield.drawing import drawn_curves
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.estimating import SAME, Columns, Estimate, estimated, estimates_of
from cranfield.evaluation.folds import CrossFitted
from cranfield.evaluation.folds import numbered as numbers_of
from cranfield.evaluation.naming import numbered
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.weighting import Weights
from cranfield.io.made import Tuned
from cranfield.measures import Measure
from cranfield.mixing.curves import Curve, curves_of
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import count, percent

PERMUTATIONS = 10_000
FIRST = 10  # documents of a ranking that are counted as unjudged, where the measure has no cutoff


@dataclass(frozen=True, slots=True, repr=False)
class Setting:
    """A setting that was tried.

    name: in words; arguments: those of `fuse` for a mixture, and of a system the values of its parameters
    seen: its mean on the queries that it was measured on, which for the best is too high
    chosen: in which share of the folds it was chosen
    queries: on how many it was measured; fewer than all if others were better on these
    returned, unjudged: how many documents it has among the first of these queries, and how many have no judgment
    """

    name: str
    arguments: Mapping[str, Any]
    seen: float
    chosen: float
    queries: int
    returned: int
    unjudged: int

    def __repr__(self) -> str:
        return f"<Setting {self.name}: {self.seen:.4f} on {count(self.queries, 'query', 'queries')}>"

    @property
    def share_unjudged(self) -> float:
        return self.unjudged / max(self.returned, 1)


class Baseline(NamedTuple):
    """What a tuned setting is compared with: its name, what it is in words, and its values by query."""

    name: str
    what: str
    values: Numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuning:
    """The result of `tune` or `tune_system`: how good tuning is as a procedure, and which setting it ends with.

    measure: the name of the measure
    runs: the names of the runs that are mixed, or that of the system
    queries: how many there are
    value: the mean of the measure that tuning reaches, by values of queries that did not choose the setting, with its
        interval
    final: the setting that is best on all queries; `seen` is its mean on them
    untuned: the setting without tuning
    settings: all that were tried, the best first
    baselines: what it is compared with, by name, and what each is: the best single run and reciprocal rank fusion
        without tuning, or the system as it is configured
    means: of tuning, of the baselines, and of each run
    differences: of tuning from each baseline, and of a second baseline from the first, as one family
    curves: how each parameter changes the measure
    rival: the setting that would be better than the final one if unjudged documents were left out; None if none would
    to_judge: the unjudged documents that the final setting and its rival do not both return first, with their queries,
        the highest first; judge them to learn which is better
    to_copy: the final setting as it is used: a command, or lines of cranfield.toml
    first: how many documents of a ranking are counted as judged or not
    requests: how many questions a system was asked
    alpha: the level of significance; repeats, folds, seed: of the cross-fitting
    warnings: reasons to doubt it, in sentences

    >>> from cranfield import tune
    >>> found = tune("builtin", ["builtin:plain", "builtin:tuned"], "nDCG@10", methods="combsum")
    >>> found.final.name
    'combsum of min-max, plain × 0.15, tuned × 0.85'
    >>> len(found.settings), round(found.optimism, 4), found.no_better_than
    (22, 0.0131, ('rrf, k = 60', 'tuned'))
    >>> found.sentence[:35], len(found.findings), found.to_dict()["queries"], found.to_json()[:13]
    ('Too close to call: tuned mixture vs', 6, 60, '{\\n  "measure"')
    >>> found.unjudged, [gain.baseline for gain in found.gains]
    ('146 of the 556 documents in its first 10 are unjudged (26%; untuned: 27%)', ['tuned', 'rrf, k = 60'])
    """

    measure: str
    runs: tuple[str, ...]
    queries: int
    value: Estimate
    final: Setting
    untuned: Setting
    settings: tuple[Setting, ...]
    baselines: dict[str, str]
    means: dict[str, float]
    differences: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    rival: Setting | None
    to_judge: tuple[tuple[str, str], ...]
    to_copy: str
    first: int
    requests: int
    alpha: float
    repeats: int
    folds: int
    seed: int
    warnings: tuple[str, ...]
    _query_ids: tuple[str, ...] = ()
    _make: Callable[..., Any] | None = None
    _numbers: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Tuning: {self.sentence}>"

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.findings])

    @property
    def optimism(self) -> float:
        """How much better the final setting looks on the queries that chose it than tuning is on others."""
        return self.final.seen - self.value.value

    @property
    def sentence(self) -> str:
        """The verdict, in the words used everywhere."""
        return self.differences[0].sentence

    @property
    def gains(self) -> tuple[Difference, ...]:
        """How much better tuning is than each baseline."""
        return tuple(pair for pair in self.differences if pair.run == self.differences[0].run)

    @property
    def no_better_than(self) -> tuple[str, ...]:
        """The baselines than which tuning is not significantly better."""
        return tuple(pair.baseline for pair in reversed(self.gains) if pair.verdict != "significantly better")

    @property
    def unjudged(self) -> str:
        """How many of the final setting's first documents are unjudged, beside the baseline, in words."""
        final, untuned = self.final, self.untuned
        told = f"{final.unjudged:,} of the {count(final.returned, 'document')} in its first {self.first} are unjudged"
        share = percent(final.share_unjudged)
        if untuned is final:
            return f"{told} ({share})"
        return f"{told} ({share}; untuned: {percent(untuned.share_unjudged)})"

    @property
    def findings(self) -> tuple[str, ...]:
        """What else is to be said, in sentences without a full stop."""
        tried, queries = count(len(self.settings), "setting"), count(self.queries, "query", "queries")
        found = [
            f"the final setting is {self.final.name}, chosen in {self.final.chosen:.0%} of the folds",
            f"it is the best of {tried} on these {queries}, where it looks better than it is: {self.measure} "
            f"{self.final.seen:.4f}, while settings chosen like this reach {self.value.value:.4f} on other queries",
        ]
        found += (
            f"tuning is not shown to be better than {name}, {self.baselines[name]}" for name in self.no_better_than
        )
        return (*found, self.unjudged, *self.warnings)

    def run(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        name: str = "tuned",
        force: bool = False,
        metadata: bool = True,
        setting: Setting | None = None,
    ) -> Any:
        """The run of the final setting. That of a system is made of its answers: nothing is asked again.

        path: the file to write; by default the run is in memory.
        name: of the run.
        force: replace a file that exists.
        metadata: begin a TREC file of a mixture with comments that say how it was made.
        setting: another of the settings; of a system, `rival` or `untuned`.
        Returns a `Fused` or a `Recorded`, which is a run wherever one is taken, and knows on which queries it was
        tuned, so that `compare` says so.

        >>> from cranfield import compare, tune
        >>> fused = tune("builtin", ["builtin:plain", "builtin:tuned"], methods="combsum").run()
        >>> [doubt.kind for doubt in compare("builtin", {"plain": "builtin:plain", "mixed": fused}).doubts][0]
        'tuned-here'
        """
        assert self._make is not None
        chosen = setting or self.final
        if chosen.name not in self._numbers or (self.requests and chosen not in (self.final, self.rival, self.untuned)):
            known = "final, rival and untuned" if self.requests else "those of settings"
            raise InputError(chosen.name, "there is no run of this setting.", hint=f"there are those of {known}")
        tuned = Tuned(chosen.name, len(self.settings), self.measure, frozenset(self._query_ids))
        how: dict[str, Any] = {"name": name, "force": force, "metadata": metadata}
        return self._make(self._numbers[chosen.name], path, tuned=None if chosen == self.untuned else tuned, **how)

    def plot(self) -> Any:
        """How the measure changes with each parameter, as a Vega-Lite specification.

        >>> from cranfield import tune
        >>> runs = ["builtin:plain", "builtin:tuned"]
        >>> tune("builtin", runs, methods="rrf", tried={"weights": False}).plot()["title"]
        'nDCG@10 by setting, on the queries that choose'
        """
        return drawn_curves(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        own = {name: getattr(self, name) for name in ("measure", "queries", "requests", "alpha", "repeats", "folds")}
        return {
            **own,
            "runs": list(self.runs),
            "value": self.value.value,
            "low": self.value.low,
            "high": self.value.high,
            "seen": self.final.seen,
            "optimism": self.optimism,
            "final": asdict(self.final),
            "to_copy": self.to_copy,
            "untuned": asdict(self.untuned),
            "rival": None if self.rival is None else asdict(self.rival),
            "to_judge": [{"query_id": query, "doc_id": document} for query, document in self.to_judge],
            "baselines": [{"name": name, "what": what} for name, what in self.baselines.items()],
            "no_better_than": list(self.no_better_than),
            "means": self.means,
            "differences": [difference.to_dict() for difference in self.differences],
            "curves": [curve.to_dict() for curve in self.curves],
            "seed": self.seed,
            "warnings": list(self.warnings),
            "sentence": self.sentence,
            "findings": list(self.findings),
            "settings": [asdict(setting) for setting in self.settings],
        }

    def to_json(self) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


class Tried(NamedTuple):
    """The settings that were tried, with a row of values for each query and a column for each setting.

    names, arguments: of the settings; parameters: those of `arguments` that are numbers, for curves
    first: how many documents of a ranking are counted as judged or not
    values: of the measure; NaN where it was not asked for
    without: the same where unjudged documents are left out
    returned, unjudged: how many of the first documents there are, and are unjudged
    """

    names: Sequence[str]
    arguments: Sequence[Mapping[str, Any]]
    parameters: Sequence[Mapping[str, float]]
    first: int
    values: Numbers
    without: Numbers
    returned: Numbers
    unjudged: Numbers


def first_counted(measure: Measure) -> int:
    """How many documents of a ranking are counted as judged or not: those that the measure looks at."""
    cutoff = dict(measure.parameters).get("cutoff")
    return cutoff if isinstance(cutoff, int) else FIRST


def measured(measure: Measure, ranks: JudgedRanks) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """What `Tried` holds of one setting, by query: values, those without unjudged documents, and the two counts."""
    first = first_counted(measure)
    returned = np.clip(ranks.retrieved, 0, first).astype(np.float64)
    judged = ranks.sum((ranks.rank <= first) & (ranks.grade >= 0))
    return measure(ranks), measure.replace(judged_only=True)(ranks), returned, returned - judged


@dataclass(frozen=True, slots=True)
class ChoosingQueries:
    """The queries that settings are chosen on: their rows of the judgments, groups, strata and weights."""

    rows: Integers
    ids: tuple[str, ...]
    group: Integers
    stratum: Integers
    weights: Weights | None
    grouped: bool
    alone: int  # queries without a segment
    unanswerable: int  # queries that are left out, since they have no answer

    @property
    def weight(self) -> Numbers | None:
        return None if self.weights is None else self.weights.column(self.ids)

    def columns(self, values: Numbers) -> Columns:
        return Columns(values, self.weight, self.group if self.grouped else None)

    @classmethod
    def of(
        cls, judgments: Judgments, missing: Any, policy: Policy, columns: QueryColumns, folds: int
    ) -> ChoosingQueries:
        """missing: whether each judged query is missing from all runs"""
        if policy.missing == "error" and missing.any():
            query = judgments.query_ids[int(np.flatnonzero(missing)[0])]
            raise InputError("the runs", f"the query '{query}' is missing from all of them.")
        rows = np.flatnonzero(~missing) if policy.missing == "skip" else np.arange(len(missing))
        ids = tuple(judgments.query_ids[row] for row in rows.tolist())
        weights = None if columns.weights is None else columns.weights.over(ids)
        group = None if weights is None else weights.group(ids)
        grouped, its_segment = group is not None, columns.segments or {}
        group = np.arange(len(ids)) if group is None else group
        stratum = numbers_of([its_segment.get(query, "") for query in ids])
        if folds < 2:
            raise ComparisonError("is too few.", parameter="folds", value=folds, hint="use 5 or more")
        groups = int(group.max(initial=-1)) + 1
        if groups < 2 * folds:
            what = "groups of queries" if grouped else "queries"
            fact = f"{groups} {what} are too few to choose on some and measure on others."
            raise ComparisonError(fact, hint=f"{2 * folds} are needed for {folds} folds, and 50 are not many")
        alone = sum(query not in its_segment for query in ids) if columns.segments is not None else 0
        return cls(rows, ids, group, stratum, weights, grouped, alone, columns.unanswerable)


def tuning_of(
    label: str,
    measure: Measure,
    tried: Tried,
    tuned: CrossFitted,
    baselines: Sequence[Baseline],
    queries: ChoosingQueries,
    *,
    others: Mapping[str, Numbers],
    warnings: Sequence[str],
    alpha: float,
    seed: int,
    judgments: Judgments,
    make: Callable[..., Any],
    **facts: Any,
) -> Tuning:
    """What was found, by the values of settings and what the folds chose.

    The first setting is the untuned one.
    label: what the tuned thing is called; others: further runs whose means are shown, with their values by query
    make: makes the run of a setting by its number
    """
    sign = measure.definition.sign
    columns = np.stack([*(baseline.values for baseline in baselines), sign * tuned.value], axis=1)
    names = [baseline.name for baseline in baselines]
    labels = (*names, numbered(label, [*names, *others]))
    mine = len(baselines)
    pairs = [(0, mine), *((0, at) for at in range(1, mine)), *((at, mine) for at in range(1, mine))]
    paired = Paired(labels, queries.ids, 0, {measure: columns}, weights=queries.weights)
    procedure = Procedure("t", usual_correction("t"), alpha, PERMUTATIONS, seed)
    [(_, differences)] = differences_of(paired, [[measure]], pairs, procedure)
    every = np.column_stack([columns, *others.values()])
    means = _means(queries, every)
    value = estimated(queries.columns(columns[:, mine:]))
    chosen = Counter(tuned.chosen.reshape(-1).tolist())
    settings = [
        Setting(
            name,
            arguments,
            _means(queries, tried.values[:, [at]])[0],
            chosen[at] / tuned.chosen.size,
            int((~np.isnan(tried.values[:, at])).sum()),
            int(np.nansum(tried.returned[:, at])),
            int(np.nansum(tried.unjudged[:, at])),
        )
        for at, (name, arguments) in enumerate(zip(tried.names, tried.arguments, strict=True))
    ]
    final = settings[tuned.best]
    rival = rival_of(tried, tuned.best, queries, sign)
    to_judge = (
        () if rival is None else _differing([make(at, None) for at in (tuned.best, rival)], judgments, tried.first)
    )
    order = sorted(settings, key=lambda its: (its.queries < final.queries, -sign * its.seen, -its.chosen))
    return Tuning(
        measure=measure.name,
        queries=len(queries.ids),
        value=estimates_of(value, alpha, *measure.definition.range)[0],
        final=final,
        untuned=settings[0],
        settings=(final, *(its for its in order if its is not final)),
        baselines={baseline.name: baseline.what for baseline in baselines},
        means=dict(zip([*labels, *others], means, strict=True)),
        differences=tuple(differences),
        curves=tuple(curves_of(tried.parameters, tried.values, tuned.best, baselines[0], queries.columns, alpha)),
        rival=None if rival is None else settings[rival],
        to_judge=to_judge,
        first=tried.first,
        alpha=alpha,
        seed=seed,
        warnings=(*warnings, *_left_to_judge(final, None if rival is None else settings[rival], to_judge, tried.first)),
        _query_ids=queries.ids,
        _make=make,
        _numbers={setting.name: at for at, setting in enumerate(settings)},
        **facts,
    )


def _means(queries: ChoosingQueries, values: Numbers) -> list[float]:
    """The mean of each column, over the queries that it has values for."""
    known = ~np.isnan(values)
    if known.all():
        return [float(value) for value in estimated(queries.columns(values)).value]
    weight = known * (np.ones(len(values)) if queries.weight is None else queries.weight)[:, None]
    total: list[float] = (np.where(known, values, 0.0) * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), SAME)
    return [float(value) for value in total]


def rival_of(tried: Tried, best: int, queries: ChoosingQueries, sign: float) -> int | None:
    """The setting that decides against the best one where unjudged documents are left out.

    It is better without them, by more than the best one is better with them.
    """
    whole = np.flatnonzero(~np.isnan(tried.values).any(axis=0))
    seen, without = (sign * np.array(_means(queries, its[:, whole])) for its in (tried.values, tried.without))
    at = int(np.flatnonzero(whole == best)[0])
    other = int(np.argmax(without >= without.max() - SAME))
    return int(whole[other]) if without[other] - without[at] > seen[at] - seen[other] + SAME else None


def _differing(runs: Sequence[Any], judgments: Judgments, first: int) -> tuple[tuple[str, str], ...]:
    """The unjudged documents that only one of two runs returns first, with their queries, the highest first."""
    tops = [open_run(run).first(first, Policy()) for run in runs]
    found = []
    for query in judgments.query_ids:
        one, other = (list(top.get(query, ())) for top in tops)
        judged = judgments.by_query[query]
        for its, beside in ((one, other), (other, one)):
            found += [
                (rank, query, document)
                for rank, document in enumerate(its)
                if document not in beside and judged.get(document, -1) < 0
            ]
    return tuple((query, document) for _, query, document in sorted(found, key=lambda its: its[0]))


def _left_to_judge(
    final: Setting, rival: Setting | None, to_judge: Sequence[tuple[str, str]], first: int
) -> Iterator[str]:
    """That unjudged documents decide rather than the settings."""
    if rival is not None:
        these = f": judge these {len(to_judge):,} first" if len(to_judge) > 1 else ""
        yield (
            f"unjudged documents decide, not the settings: {percent(final.share_unjudged)} of the winner's top {first} "
            f"are unjudged, and without all unjudged documents, {rival.name} would win{these}"
        )


def edge_warnings(edges: Iterable[tuple[str, float, str]]) -> Iterator[str]:
    """That better values may lie beyond those tried."""
    for name, value, which in edges:
        more = "larger" if which == "largest" else "smaller"
        yield f"{name} = {value:g} is the {which} value tried: try {more} ones, too"


def apart(queries: ChoosingQueries) -> Iterator[str]:
    """Queries of which the columns say something else than of the others."""
    if queries.unanswerable:
        yield f"{count(queries.unanswerable, 'query', 'queries')} without an answer are left out"
    if queries.alone:
        yield f"{count(queries.alone, 'query', 'queries')} without a segment are a stratum of their own"
