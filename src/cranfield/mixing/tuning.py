"""tune(qrels, runs, measure) → Tuning: which mixture is best, and how good it is on queries that did not choose it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cranfield.comparison.comparing import SEED, differences_of, spooled
from cranfield.comparison.differences import Difference
from cranfield.comparison.families import Procedure, usual_correction
from cranfield.comparison.pairing import Paired
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.estimating import Columns, Estimate, estimated, estimates_of
from cranfield.evaluation.evaluating import evaluate_run, read_judgments
from cranfield.evaluation.folds import FOLDS, REPEATS, CrossFitted, cross_fitted, folds_of
from cranfield.evaluation.folds import numbered as numbers_of
from cranfield.evaluation.naming import named_runs, numbered
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.weighting import Weights
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import require_ranks
from cranfield.mixing.candidates import candidates, edges
from cranfield.mixing.counting import values_of
from cranfield.mixing.fusing import Fused, fuse_as
from cranfield.mixing.mixture import DEPTH, Mixture
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.made import Fusion
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Run, open_run
from cranfield.words import count, listed

TUNED = "tuned mixture"
PERMUTATIONS = 10_000


@dataclass(frozen=True, slots=True)
class Setting:
    """A mixture that was tried.

    mixture: in words; arguments: those of `fuse` for it
    seen: its mean on all queries, which for the best is too high
    chosen: in which share of the folds it was chosen
    """

    mixture: str
    arguments: Mapping[str, Any]
    seen: float
    chosen: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuning:
    """The result of `tune`: how good tuning is as a procedure, and which setting it ends with.

    measure: the name of the measure
    runs: the names of the runs that are mixed
    queries: how many there are
    value: the mean of the measure that tuning reaches, by values of queries that did not choose the setting, with its
        interval
    final: the setting that is best on all queries; `seen` is its mean on them
    settings: all that were tried, the best first
    plain: reciprocal rank fusion without tuning, in words; best_run: the single run with the best mean
    means: of tuning, plain fusion and each run
    differences: of tuning and plain fusion from the best single run, and of tuning from plain fusion, as one family
    alpha: the level of significance; repeats, folds, seed: of the cross-fitting
    warnings: reasons to doubt it, in sentences

    >>> from cranfield import tune
    >>> found = tune("builtin", ["builtin:plain", "builtin:tuned"], "nDCG@10", methods="combsum")
    >>> found.final.mixture
    'combsum of min-max, plain × 0.15, tuned × 0.85'
    >>> len(found.settings), round(found.optimism, 4), found.no_better_than
    (22, 0.0131, ('rrf, k = 60', 'tuned'))
    >>> found.sentence[:35], len(found.findings), found.to_dict()["queries"], found.to_json()[:13]
    ('Too close to call: tuned mixture vs', 4, 60, '{\\n  "measure"')
    """

    measure: str
    runs: tuple[str, ...]
    queries: int
    value: Estimate
    final: Setting
    settings: tuple[Setting, ...]
    plain: str
    best_run: str
    means: dict[str, float]
    differences: tuple[Difference, ...]
    alpha: float
    repeats: int
    folds: int
    seed: int
    warnings: tuple[str, ...]
    _named: Mapping[str, Any] = field(default_factory=dict)
    _mixture: Mixture = field(default_factory=Mixture)
    _query_ids: tuple[str, ...] = ()
    _policy: Policy = field(default_factory=Policy)
    _table: Numbers | None = None
    _crossed: Numbers | None = None

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
    def no_better_than(self) -> tuple[str, ...]:
        """Plain fusion and the best single run, where tuning is not significantly better."""
        pairs = (self.differences[-1], self.differences[0])
        return tuple(pair.baseline for pair in pairs if pair.verdict != "significantly better")

    @property
    def findings(self) -> tuple[str, ...]:
        """What else is to be said, in sentences without a full stop."""
        tried, queries = count(len(self.settings), "setting"), count(self.queries, "query", "queries")
        name = self.final.mixture
        found = [
            f"the final setting is {name}, chosen in {self.final.chosen:.0%} of the folds",
            f"it is the best of {tried} on these {queries}, where it looks better than it is: {self.measure} "
            f"{self.final.seen:.4f}, while settings chosen like this reach {self.value.value:.4f} on other queries",
        ]
        for pair in (self.differences[-1], self.differences[0]):
            if pair.baseline in self.no_better_than:
                what = "plain reciprocal rank fusion" if pair.baseline == self.plain else "the best single run"
                found.append(f"tuning is not shown to be better than {pair.baseline}, {what}")
        return (*found, *self.warnings)

    def fuse(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        name: str = "tuned",
        force: bool = False,
        metadata: bool = True,
    ) -> Fused:
        """The runs fused with the final setting.

        path: the file to write; by default the run is in memory.
        name: of the run.
        force: replace a file that exists.
        metadata: begin a TREC file with comments that say how it was made.
        Returns a `Fused` that knows on which queries it was tuned, so that `compare` says so.

        >>> from cranfield import compare, tune
        >>> fused = tune("builtin", ["builtin:plain", "builtin:tuned"], methods="combsum").fuse()
        >>> [doubt.kind for doubt in compare("builtin", {"plain": "builtin:plain", "mixed": fused}).doubts][0]
        'tuned-here'
        """
        settings = len(self.settings)
        fusion = Fusion(self.runs, self._mixture.to_dict(), frozenset(self._query_ids), settings, self.measure)
        return fuse_as(
            self._named,
            self._mixture,
            path,
            name=name,
            force=force,
            metadata=metadata,
            policy=self._policy,
            fusion=fusion,
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        from dataclasses import asdict

        return {
            "measure": self.measure,
            "runs": list(self.runs),
            "queries": self.queries,
            "value": self.value.value,
            "low": self.value.low,
            "high": self.value.high,
            "seen": self.final.seen,
            "optimism": self.optimism,
            "final": asdict(self.final),
            "plain": self.plain,
            "best_run": self.best_run,
            "no_better_than": list(self.no_better_than),
            "means": self.means,
            "differences": [difference.to_dict() for difference in self.differences],
            "alpha": self.alpha,
            "repeats": self.repeats,
            "folds": self.folds,
            "seed": self.seed,
            "warnings": list(self.warnings),
            "sentence": self.sentence,
            "findings": list(self.findings),
            "settings": [asdict(setting) for setting in self.settings],
        }

    def to_json(self) -> str:
        """The result as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


def tune(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measure: str | Measure = "nDCG@10",
    *,
    methods: str | Sequence[str] | None = None,
    tried: Mapping[str, Any] | None = None,
    depth: int = DEPTH,
    segments: Any = None,
    groups: Any = None,
    weights: Any = None,
    query_columns: Any = None,
    alpha: float = 0.05,
    repeats: int = REPEATS,
    folds: int = FOLDS,
    seed: int = SEED,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    on_start: Callable[[int], None] | None = None,
    on_queries: Callable[[int], None] | None = None,
) -> Tuning:
    """Choose how to mix runs, and find out how good that is without fooling yourself.

    Settings are chosen on four fifths of the queries and measured on the others, 20 times over 5 folds. So the value is
    that of tuning as a procedure: what to expect of a setting that is chosen like this, on queries that did not choose
    it. The value of the best setting on all queries is higher, by luck.

    qrels, policy, format, qrels_format: those of `evaluate`.
    runs: {name: run}, or a list of runs, at least two.
    measure: the one by which settings are chosen.
    methods: of fusion; by default "rrf" and "combsum".
    tried: what is tried, {parameter: values}, such as {"k": [10, 60], "normalisation": ["min-max", "z-score"]}; by
        default a grid of each method's parameters and of the weights of the runs. {"weights": False} leaves all runs
        alike. Of more than two parameters, 512 points that cover their ranges evenly are tried.
    depth: how many documents of each ranking are read.
    segments: the segment of each query, as {query: segment} or a file of both; each fold has its share of all.
    groups: queries that belong together, such as paraphrases, as {query: group} or a file of both; a group stays in one
        fold, and counts as one query.
    weights, query_columns: how much each query counts, and a file of all of these, as in `evaluate`.
    alpha: the level of significance.
    repeats, folds: of the cross-fitting.
    seed: of the folds.
    on_start, on_queries: called with how many queries there are, and with how many more are done.
    Returns a `Tuning`.

    >>> qrels = {str(q): {"a": 2, "b": 1} for q in range(12)}
    >>> lexical = {str(q): {"a": 3.0, "c": 2.0, "b": 1.0} for q in range(12)}
    >>> dense = {str(q): {"b": 0.9, "a": 0.5, "c": 0.2} if q % 3 else {"c": 0.9, "b": 0.1} for q in range(12)}
    >>> found = tune(qrels, {"lexical": lexical, "dense": dense}, "nDCG@2")
    >>> found.final.mixture, found.queries
    ('rrf, k = 0, lexical × 0.7, dense × 0.3', 12)
    """
    wanted = parse_measure(measure)
    require_ranks(wanted)
    policy = policy or Policy()
    named = {name: spooled(run) for name, run in named_runs(runs).items()}
    if len(named) < 2:
        raise InputError(next(iter(named), "the runs"), "mixing takes at least two runs.", hint="add another run")
    judgments = read_judgments(qrels, qrels_format, [wanted])
    if not isinstance(judgments, Judgments):
        judgments = judgments.to_judgments()
    known = QueryColumns.read(query_columns, weights=weights, segments=segments, groups=groups)
    judgments = known.judged(judgments)
    opened = {name: open_run(run, format, name=name) for name, run in named.items()}
    mixtures = candidates(list(named), [methods] if isinstance(methods, str) else methods or (), tried, depth)
    if on_start:
        on_start(len(judgments))
    every, counted = values_of(
        list(opened.values()), mixtures, wanted, judgments, policy, advance=on_queries or (lambda _: None)
    )
    if not len(counted.row):
        raise InputError(next(iter(named)), "no run has a judged document.", hint="are they of another collection?")
    single = [_measured(run, wanted, judgments, policy) for run in opened.values()]
    queries = _Queries.of(judgments, counted.sizes[mixtures[0].depth], policy, known, folds)
    table, singles = every[queries.rows], np.stack(single, axis=1)[queries.rows]
    sign = -1.0 if wanted.definition.lower_is_better else 1.0
    fold = folds_of(queries.group, queries.stratum, np.random.default_rng(seed % 2**64), repeats, folds)
    tuned = cross_fitted(sign * table, fold, queries.weight)
    best = cross_fitted(sign * singles, fold, queries.weight)
    names = tuple(named)
    best_run = names[best.best]
    plain = numbered(str(mixtures[0]), names)
    columns = np.stack([singles[:, best.best], table[:, 0], sign * tuned.value], axis=1)
    labels = (best_run, plain, numbered(TUNED, [*names, plain]))
    paired = Paired(labels, queries.ids, 0, {wanted: columns}, weights=queries.weights)
    procedure = Procedure("t", usual_correction("t"), alpha, PERMUTATIONS, seed)
    [(_, differences)] = differences_of(paired, [[wanted]], [(0, 2), (0, 1), (1, 2)], procedure)
    means = _means(paired.of(wanted)._replace(values=np.hstack([columns, singles])))
    value = estimated(paired.of(wanted)._replace(values=columns[:, 2:]))
    chosen = Counter(tuned.chosen.reshape(-1).tolist())
    seen = _means(paired.of(wanted)._replace(values=table))
    settings = [
        Setting(", ".join(mixture.parts(names)), mixture.to_dict(), seen[at], chosen[at] / tuned.chosen.size)
        for at, mixture in enumerate(mixtures)
    ]
    final = settings[tuned.best]
    return Tuning(
        measure=wanted.name,
        runs=names,
        queries=len(queries.ids),
        value=estimates_of(value, alpha, *wanted.definition.range)[0],
        final=final,
        settings=tuple(sorted(settings, key=lambda its: (-sign * its.seen, -its.chosen))),
        plain=plain,
        best_run=best_run,
        means={labels[2]: means[2], plain: means[1], **dict(zip(names, means[3:], strict=True))},
        differences=tuple(differences),
        alpha=alpha,
        repeats=repeats,
        folds=folds,
        seed=seed,
        warnings=tuple(_warnings(tuned, best, mixtures, names, sign * table, queries)),
        _named=opened,
        _mixture=mixtures[tuned.best],
        _query_ids=queries.ids,
        _policy=policy,
        _table=table,
        _crossed=sign * tuned.value,
    )


def _measured(run: Run, measure: Measure, judgments: Judgments, policy: Policy) -> Numbers:
    """The values of a single run, a row for each judged query."""
    evaluation = evaluate_run(judgments, run, [measure], policy, check_ids=False)
    values = dict(zip(evaluation.query_ids, evaluation.column(measure).tolist(), strict=True))
    return np.array([values.get(query, 0.0) for query in judgments.query_ids])


def _means(columns: Columns) -> list[float]:
    return [float(value) for value in estimated(columns).value]


@dataclass(frozen=True, slots=True)
class _Queries:
    """The queries that settings are chosen on: their rows of the judgments, groups, strata and weights."""

    rows: Integers
    ids: tuple[str, ...]
    group: Integers
    stratum: Integers
    weights: Weights | None
    alone: int  # queries without a segment

    @property
    def weight(self) -> Numbers | None:
        return None if self.weights is None else self.weights.column(self.ids)

    @classmethod
    def of(cls, judgments: Judgments, sizes: Integers, policy: Policy, columns: QueryColumns, folds: int) -> _Queries:
        missing = sizes < 0
        if policy.missing == "error" and missing.any():
            query = judgments.query_ids[int(np.flatnonzero(missing)[0])]
            raise InputError("the runs", f"the query '{query}' is missing from all of them.")
        rows = np.flatnonzero(~missing) if policy.missing == "skip" else np.arange(len(missing))
        ids = tuple(judgments.query_ids[row] for row in rows.tolist())
        weights = None if columns.weights is None else columns.weights.over(ids)
        group = None if weights is None else weights.group(ids)
        what = "queries" if group is None else "groups of queries"
        group = np.arange(len(ids)) if group is None else group
        its_segment = columns.segments or {}
        stratum = numbers_of([its_segment.get(query, "") for query in ids])
        if folds < 2:
            raise ComparisonError("is too few.", parameter="folds", value=folds, hint="use 5 or more")
        groups = int(group.max(initial=-1)) + 1
        if groups < 2 * folds:
            fact = f"{groups} {what} are too few to choose on some and measure on others."
            raise ComparisonError(fact, hint=f"{2 * folds} are needed for {folds} folds, and 50 are not many")
        alone = sum(query not in its_segment for query in ids) if columns.segments is not None else 0
        return cls(rows, ids, group, stratum, weights, alone)


def _warnings(
    tuned: CrossFitted,
    best: CrossFitted,
    mixtures: Sequence[Mixture],
    names: Sequence[str],
    table: Numbers,
    queries: _Queries,
) -> Iterable[str]:
    final = mixtures[tuned.best]
    for name, value, which in edges(final, mixtures):
        wider = "larger" if which == "largest" else "smaller"
        yield f"{name} = {value:g} is the {which} value tried: try {wider} ones, too"
    unused = [run for run, weight in zip(names, final.weights, strict=False) if weight == 0]
    if unused:
        yield f"the final setting gives {listed(unused)} no weight"
    others = {names[at] for at in best.chosen.reshape(-1).tolist()} - {names[best.best]}
    if others:
        share = float((best.chosen == best.best).mean())
        yield f"which run is the best by itself is not clear: {names[best.best]} in {share:.0%} of the folds"
    if queries.alone:
        yield f"{count(queries.alone, 'query', 'queries')} without a segment are a stratum of their own"
