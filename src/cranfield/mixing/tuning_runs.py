"""tune(qrels, runs, measure) → Tuning: which mixture is best, and how good it is on queries that did not choose it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.comparison.comparing import SEED, spooled
from cranfield.errors import InputError
from cranfield.evaluation.evaluating import evaluate_run, read_judgments
from cranfield.evaluation.folds import FOLDS, REPEATS, CrossFitted, cross_fitted, folds_of
from cranfield.evaluation.naming import named_runs, numbered
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.result import Evaluation
from cranfield.io.made import Tuned
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import require_ranks
from cranfield.mixing.candidates import candidates, edges
from cranfield.mixing.counting import count_settings
from cranfield.mixing.fusing import Fused, fuse_as
from cranfield.mixing.methods import METHODS
from cranfield.mixing.mixture import DEPTH, Mixture
from cranfield.mixing.registry import WEIGHTS
from cranfield.mixing.tuning import (
    Baseline,
    ChoosingQueries,
    Tried,
    Tuning,
    apart,
    edge_warnings,
    first_counted,
    measured,
    tuning_of,
)
from cranfield.ranks.columns import Numbers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import Run, open_run
from cranfield.systems.settling_commands import readable_name
from cranfield.words import count, listed

TUNED = "tuned mixture"


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
    >>> found.final.name, found.queries
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
    judgments = known.answered(known.judged(judgments))
    opened = {name: open_run(run, format, name=name) for name, run in named.items()}
    mixtures = candidates(list(named), [methods] if isinstance(methods, str) else methods or (), tried, depth)
    if on_start:
        on_start(len(judgments))
    counted = count_settings(list(opened.values()), mixtures, judgments, policy, advance=on_queries or (lambda _: None))
    if not len(counted.row):
        raise InputError(next(iter(named)), "no run has a judged document.", hint="are they of another collection?")
    missing = counted.sizes[mixtures[0].depth] < 0
    queries = ChoosingQueries.of(judgments, missing, policy, known, folds)
    single = [evaluate_run(judgments, run, [wanted], policy, check_ids=False) for run in opened.values()]
    singles = np.stack([_by_query(its, wanted, judgments) for its in single], axis=1)[queries.rows]
    names = tuple(named)
    tables = (counted.ranks(at, mixture.depth, judgments, policy) for at, mixture in enumerate(mixtures))
    columns = zip(*(measured(wanted, table) for table in tables), strict=True)
    tables_of = [np.stack(its, axis=1)[queries.rows] for its in columns]
    every = Tried(
        [", ".join(mixture.parts(names)) for mixture in mixtures],
        [mixture.to_dict() for mixture in mixtures],
        [_parameters(mixture, names) for mixture in mixtures],
        first_counted(wanted),
        *tables_of,
    )
    sign = wanted.definition.sign
    fold = folds_of(queries.group, queries.stratum, np.random.default_rng(seed % 2**64), repeats, folds)
    tuned = cross_fitted(sign * every.values, fold, queries.weight)
    best = cross_fitted(sign * singles, fold, queries.weight)
    plain = numbered(str(mixtures[0]), names)

    readable = [readable_name(run) or name for name, run in named.items()]

    def make(at: int, path: Any, tuned: Tuned | None = None, **options: Any) -> Fused:
        return fuse_as(opened, mixtures[at], path, policy=policy, tuned=tuned, **options)

    return tuning_of(
        TUNED,
        wanted,
        every,
        tuned,
        [
            Baseline(names[best.best], "the best single run", singles[:, best.best]),
            Baseline(plain, "plain reciprocal rank fusion", every.values[:, 0]),
        ],
        queries,
        others={name: singles[:, at] for at, name in enumerate(names) if at != best.best},
        warnings=[*_unlike(opened, single, queries.ids), *_warnings(tuned, best, mixtures, names), *apart(queries)],
        alpha=alpha,
        seed=seed,
        runs=names,
        requests=0,
        repeats=repeats,
        folds=folds,
        judgments=judgments,
        make=make,
        to_copy=shlex.join(fuse_command(mixtures[tuned.best].to_dict(), readable, "fused.run")),
    )


def _by_query(evaluation: Evaluation, measure: Measure, judgments: Judgments) -> Numbers:
    """The values of a single run, a row for each judged query."""
    values = dict(zip(evaluation.query_ids, evaluation.column(measure).tolist(), strict=True))
    return np.array([values.get(query, 0.0) for query in judgments.query_ids])


def fuse_command(arguments: Mapping[str, Any], runs: Iterable[str], path: str) -> list[str]:
    """The command that makes a mixture, given as the arguments of `fuse`."""
    words = ["cranfield", "fuse", *runs]
    for name, value in arguments.items():
        if name == WEIGHTS:
            words += ["--run-weights", ",".join(f"{weight:g}" for weight in value)]
        elif (name, value) != ("depth", DEPTH):
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return [*words, "-o", path]


def _parameters(mixture: Mixture, names: Sequence[str]) -> dict[str, float]:
    """What of a mixture is a number that may vary: of two runs, the weight of the first says that of the second.

    All weights alike are those of a mixture without any.
    """
    kind = {f"{mixture.method} of {mixture.normalisation}": 0.0}
    weights = mixture.weights or (1 / len(names),) * len(names)
    of_runs = zip(names if len(names) > 2 else names[:1], weights, strict=False)
    weighted = {f"weight of {name}": weight for name, weight in of_runs} if METHODS[mixture.method].weighted else {}
    return {**kind, **mixture.parameters, **weighted, "depth": float(mixture.depth)}


def _unlike(runs: Mapping[str, Run], evaluations: Sequence[Evaluation], query_ids: Sequence[str]) -> Iterator[str]:
    """What makes a run unlike the others: queries that it lacks, or that chose its settings, so that no fold is
    without them.
    """
    every = count(len(query_ids), "query", "queries")
    for (name, run), evaluation in zip(runs.items(), evaluations, strict=True):
        lacking = evaluation.counts.missing
        if lacking > min(its.counts.missing for its in evaluations):
            yield f"{name} lacks {lacking:,} of {every}"
        tuned = run.made.tuned if run.made is not None else None
        if tuned is not None and (seen := len(tuned.queries.intersection(query_ids))):
            looks = "so it looks better than it is, and so does what is mixed with it"
            yield f"{name} was tuned on {seen:,} of these {every}, {looks}"


def _warnings(
    tuned: CrossFitted, best: CrossFitted, mixtures: Sequence[Mixture], names: Sequence[str]
) -> Iterator[str]:
    final = mixtures[tuned.best]
    yield from edge_warnings(edges(final, mixtures))
    unused = [run for run, weight in zip(names, final.weights, strict=False) if weight == 0]
    if unused:
        yield f"the final setting gives {listed(unused)} no weight"
    others = {names[at] for at in best.chosen.reshape(-1).tolist()} - {names[best.best]}
    if others:
        share = float((best.chosen == best.best).mean())
        yield f"which run is the best by itself is not clear: {names[best.best]} in {share:.0%} of the folds"
