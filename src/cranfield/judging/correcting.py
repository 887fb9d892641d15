"""evaluate_corrected, compare_corrected, gate_corrected: by a model's grades that people correct on a sample."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, Unpack

from cranfield.comparison.comparing import spooled
from cranfield.comparison.corrected import CorrectedEvaluation, corrected_evaluation
from cranfield.comparison.corrected_gating import corrected_gate
from cranfield.comparison.corrected_pairs import CorrectedComparison, corrected_comparison
from cranfield.comparison.corrected_saving import is_saved_corrected
from cranfield.comparison.gating import GATE_MEASURES, GateResult, by_role
from cranfield.errors import InputError, MeasureError
from cranfield.evaluation.evaluating import Options, evaluate_runs
from cranfield.evaluation.naming import named_runs
from cranfield.io.mappings import id_text
from cranfield.judging.pool.sampled_views import PEOPLE, SampledViews, sampled_views
from cranfield.judging.store.store import Store, open_store
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measure, parse_measures


def evaluate_corrected(
    store: Store | str | os.PathLike[str],
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = DEFAULT_MEASURES,
    *,
    model: str,
    people: str | Iterable[str] = PEOPLE,
    merge: str = "majority",
    alpha: float = 0.05,
    **options: Unpack[Options],
) -> CorrectedEvaluation:
    """Measure runs by a model's grades of all queries, corrected by people's grades of a random sample of them.

    store: a `Store`, or where it is. Its queries were drawn by `pool(…, sample=20)`.
    runs: {name: run}, or a list of runs or paths; a run is what `evaluate` takes.
    measures: names such as "nDCG@10", separated by spaces or in a list; means over queries, of ranks and grades.
    model: the name of the assessor whose grades all queries have, of the kind "model".
    people: who judged the sampled queries: "people" for all, or their names.
    merge: the rule where several people judged a document; see `Store.view`.
    alpha: the intervals are at the level 1 - alpha.
    options: policy, format, lengths and check_ids, as in `evaluate`.
    Returns a `CorrectedEvaluation`. The intervals are for the mean over all queries that could be asked, and rest on
    the random sample, not on the model being right; with fewer than 30 sampled queries they can be too short if it is
    far off on rare queries only. Anything that would make them wrong is an error: a sample that was not drawn at random
    or is not judged completely, fewer than ten sampled queries, a model that was asked in several ways or lacks more
    than 5% of its grades. Documents outside the pool count as unjudged on both sides, and so do the model's missing
    grades on its side; both leave the correction valid, because sampled queries are treated as all others are.

    >>> import tempfile
    >>> from cranfield import pool
    >>> queries = {f"q{n}": f"question {n}" for n in range(40)}
    >>> run = {query: ["a", "b"] for query in queries}
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, queries, {"bm25": run}, sample=10, seed=7).drawn
    ...     people = {query: {"a": len(query) % 2, "b": 1} for query in drawn}
    ...     said = store.import_qrels(people, "ann", kind="person")
    ...     said = store.import_qrels({query: {"a": 1, "b": 1} for query in queries}, "gpt", kind="model")
    ...     found = evaluate_corrected(store, {"bm25": run}, "P@1", model="gpt")
    >>> value = found.value("bm25", "P@1")
    >>> value.model, value.weight, value.value == value.people, found.basis.sampled
    (1.0, 0.0, True, 10)
    """
    with ExitStack() as opened:
        views = sampled_views(_opened(store, opened), model, people, merge)
    return evaluated(views, named_runs(runs), parse_measures(measures), alpha, **options)


def compare_corrected(
    store: Store | str | os.PathLike[str],
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = ("nDCG@10",),
    *,
    model: str,
    people: str | Iterable[str] = PEOPLE,
    merge: str = "majority",
    baseline: str | None = None,
    correction: str = "bonferroni",
    alpha: float = 0.05,
    margin: float | None = None,
    **options: Unpack[Options],
) -> CorrectedComparison:
    """Compare runs by a model's grades, corrected by people's grades of a random sample of the queries.

    store, runs, measures, model, people, merge, options: those of `evaluate_corrected`.
    baseline: the name of the run that the others are compared with; without one, all pairs are.
    correction: of p-values and intervals, over the pairs of a measure: "bonferroni", "holm", "bh" or "none".
    alpha: the level of significance.
    margin: also test whether each run is shown not to be worse by this much, and not to differ by this much.
    Returns a `CorrectedComparison`. Every difference is corrected by itself, with a weight of its own: it is not the
    difference of two corrected means.

    >>> import tempfile
    >>> from cranfield import pool
    >>> old = {f"q{n}": ["a", "b"] for n in range(40)}
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, dict.fromkeys(old, "a question"), {"old": old}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": int(q in drawn[:3]), "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels({q: {"a": int(q < "q2"), "b": 1} for q in old}, "gpt", kind="model")
    ...     runs = {"old": old, "new": {query: ["b", "a"] for query in old}}
    ...     found = compare_corrected(store, runs, "P@1", model="gpt")
    >>> [difference] = found
    >>> difference.difference.headline, difference.value.worth
    ('Better', 17)
    """
    found = evaluate_corrected(store, runs, measures, model=model, people=people, merge=merge, alpha=alpha, **options)
    return corrected_comparison(found, baseline=baseline, correction=correction, margin=margin)


def gate_corrected(
    store: Store | str | os.PathLike[str],
    baseline: Any,
    candidate: Any,
    measures: Measures = GATE_MEASURES,
    *,
    model: str,
    people: str | Iterable[str] = PEOPLE,
    merge: str = "majority",
    tolerance: float | Mapping[str, float] = 0.0,
    alpha: float = 0.05,
    minimum: Mapping[str, float] | None = None,
    require_improvement: bool = False,
    non_inferiority: float | None = None,
    max_worse_queries: int | None = None,
    correction: str = "holm",
    **options: Unpack[Options],
) -> GateResult:
    """Let a candidate pass unless it is worse than the baseline by a model's grades that people correct.

    store, measures, model, people, merge, options: those of `evaluate_corrected`.
    baseline, candidate: runs, or saved corrected evaluations (a `CorrectedEvaluation`, or the path of its file). A
        saved one remembers its judge: another model, another prompt, another sample or other judgments are an error.
    tolerance, alpha, minimum, require_improvement, non_inferiority, correction: those of `gate`, for corrected values.
    max_worse_queries: how many of the sampled queries may get worse, by people's grades.
    Returns a `GateResult`, which is true where the candidate passes.

    >>> import tempfile
    >>> from cranfield import pool
    >>> old = {f"q{n}": ["b", "a"] for n in range(40)}
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, dict.fromkeys(old, "a question"), {"old": old}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": int(q in drawn[:3]), "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels(dict.fromkeys(old, {"a": 1, "b": 1}), "gpt", kind="model")
    ...     result = gate_corrected(store, old, dict.fromkeys(old, ["a", "b"]), "P@1", model="gpt")
    >>> result.passed, result.basis.sampled
    (False, 10)
    """
    wanted = parse_measures(measures)
    floors = {parse_measure(name): float(value) for name, value in (minimum or {}).items()}
    every = tuple(dict.fromkeys((*wanted, *floors)))
    given = {"baseline": _saved(baseline), "candidate": _saved(candidate)}
    runs = {role: each for role, each in given.items() if not isinstance(each, CorrectedEvaluation)}
    named = dict(zip(given, by_role(*(_run_of(each) for each in given.values())), strict=True))
    found = {role: each.renamed(named[role]) for role, each in given.items() if role not in runs}
    if runs:
        with ExitStack() as opened:
            views = sampled_views(_opened(store, opened), model, people, merge)
        # The level of the gate is that of its tests; it does not use the intervals of single means.
        found |= {role: evaluated(views, {named[role]: run}, every, 0.05, **options) for role, run in runs.items()}
    return corrected_gate(
        found["baseline"],
        found["candidate"],
        wanted,
        tolerance=tolerance,
        alpha=alpha,
        floors=floors,
        require_improvement=require_improvement,
        non_inferiority=non_inferiority,
        max_worse_queries=max_worse_queries,
        correction=correction,
    )


def _saved(run: Any) -> Any:
    return CorrectedEvaluation.load(run) if is_saved_corrected(run) else run


def _run_of(run: Any) -> Any:
    """The run itself, or its evaluation, which has a name."""
    return run._by_model[0] if isinstance(run, CorrectedEvaluation) else run


def _opened(store: Store | str | os.PathLike[str], opened: ExitStack) -> Store:
    return store if isinstance(store, Store) else opened.enter_context(open_store(store, read_only=True))


def evaluated(
    views: SampledViews,
    runs: Mapping[str, Any],
    measures: tuple[Measure, ...],
    alpha: float,
    **options: Unpack[Options],
) -> CorrectedEvaluation:
    """Evaluate runs by both views, and correct the values."""
    policy = options.get("policy")
    if policy is not None and policy.missing == "skip":
        raise InputError(
            "missing='skip'",
            "queries missing from a run would be left out of the sample, so it would no longer be random.",
            hint="let them count 0, as they do by default",
        )
    for measure in measures:
        if measure.definition.table != "ranks":
            raise MeasureError(f"{measure} needs judgments with groups, which cannot be corrected.")
    if options.get("engine") is not None:
        raise InputError("engine", "runs that stay in an engine cannot be corrected.", hint="leave out the engine")
    again = {name: spooled(run) for name, run in runs.items()}
    by_model = evaluate_runs(views.by_model, again, measures, **options)
    # Ids were checked with all queries; the few sampled ones may have nothing in common with a run.
    unchecked: Options = {**options, "check_ids": False}
    sampled = {name: _of_queries(run, views.by_people.by_query) for name, run in again.items()}
    by_people = evaluate_runs(views.by_people, sampled, measures, **unchecked)
    return corrected_evaluation(list(by_model.values()), list(by_people.values()), measures, views.basis, alpha)


def _of_queries(run: Any, queries: Mapping[str, Any]) -> Any:
    """Some queries of a run in memory, which was checked before with all of them; other runs as they are."""
    if not isinstance(run, Mapping):
        return run
    return {query: ranking for query, ranking in run.items() if id_text(query, "run", "query") in queries} or run
