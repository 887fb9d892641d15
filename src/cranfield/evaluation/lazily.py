"""evaluate_lazily(qrels, run, measures): judged rows and values stay in the engine; only totals come back.

The judgments may be in the engine too. Run and judgments meet there, the judged rows are grouped by query, and the same
measure functions run on each group: inside the tasks of a cluster, or on one batch after another of a Parquet file in a
temporary folder. The folder lasts as long as the process; the environment variable TMPDIR says where.
"""

from __future__ import annotations

import atexit
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from cranfield.engines.engine_rows import EngineRows
from cranfield.engines.lazy_run import JudgedRows, collected
from cranfield.engines.measuring import Measuring, Totals
from cranfield.engines.registry import engine_of, frames_taken, readers
from cranfield.engines.sources import Lazy, open_judgments, open_lazily, stays_in_engine
from cranfield.errors import InputError, given
from cranfield.evaluation.from_ranks import missing_error
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.summary import Summary
from cranfield.evaluation.values import Counts
from cranfield.io.source import run_name
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measures
from cranfield.measures.over_orders import averages_exactly, sampled_text
from cranfield.measures.registry import require_ranks
from cranfield.ranks.chosen_warning import chosen_warning
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import (
    least_queries,
)
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LazyEvaluation(Summary):
    """The result of `evaluate_lazily`: means in memory, the values of the queries in the engine.

    A mean is the exact sum of the values, rounded once, over the number of queries: the same to the last bit as that of
    an `Evaluation`, however the queries are shared out.

    >>> import polars
    >>> from cranfield import evaluate_lazily
    >>> qrels = polars.LazyFrame({"query_id": ["1", "2"], "doc_id": ["a", "b"], "grade": [1, 1]})
    >>> run = polars.LazyFrame({"query_id": ["1", "1", "2"], "doc_id": ["x", "a", "b"], "score": [3.0, 2.0, 1.0]})
    >>> result = evaluate_lazily(qrels, run, "RR")
    >>> result["RR"], sorted(result.per_query.collect()["value"].to_list())
    (0.75, [0.5, 1.0])
    """

    # Every value, as a lazy frame: run, query_id, measure, value. `to_native()` gives the engine's own kind.
    per_query: Any
    _totals: Totals = field(repr=False)
    _input_warnings: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        dict(self)  # an error, if the values of a measure are too large to add up

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the values: judgments chosen for other runs, queries that hardly match. Not ties.

        >>> import polars
        >>> from cranfield import evaluate_lazily
        >>> run = polars.LazyFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
        >>> evaluate_lazily({query: ["a"] for query in "123"}, run, "RR").warnings
        ('only 1 of the 3 judged queries is in the run; the others count 0',)
        """
        return self._input_warnings

    def __getitem__(self, measure: str | Measure) -> float:
        wanted = self._find(measure)
        how = wanted.definition.aggregate
        return self._totals.aggregate(self.measures.index(wanted), how, of=wanted.name)


def evaluate_lazily(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    name: str | None = None,
    engine: str | None = None,
    check_ids: bool = True,
) -> LazyEvaluation:
    """Measure a run in its engine, and leave the values of the queries there; `evaluate` brings them into memory.

    qrels: whatever `evaluate` takes; a lazy frame of the same engine as the run is never collected.
    run: a lazy frame, or the path of Parquet files and an `engine` to read them.
    measures: names such as "nDCG@10", separated by spaces or in a list; those of judgments with groups need `evaluate`.
    policy: the conventions; see `Policy`. The rows of a lazy frame have no order, so nothing may depend on it.
    format, qrels_format: the format of the run and of the judgments, if it cannot be detected from the file.
    name: the run's name in the result.
    engine: the name of an engine, such as "duckdb", that reads the Parquet files of a path, a pattern or a folder.
    check_ids: False warns about a run that has no ids in common with the judgments, instead of raising an error.
    Returns a `LazyEvaluation`: a mapping from measure to mean, whose `per_query` is a lazy frame of all values.

    >>> import polars
    >>> run = polars.LazyFrame({"query_id": ["1", "1"], "doc_id": ["x", "a"], "score": [2.0, 1.0]})
    >>> result = evaluate_lazily({"1": {"a": 1}}, run, "RR")
    >>> result["RR"], result.per_query.collect()["value"].to_list()
    (0.5, [0.5])
    """
    policy, wanted = policy or Policy(), tuple(parse_measures(measures))
    if not stays_in_engine(run, engine):
        raise _not_in_an_engine(run)
    opened = open_lazily(run, engine, format)
    for measure in wanted:
        require_ranks(measure)
        # Errors about measures come before the work, not from its tasks.
        measure(replace(JudgedRanks.of_grades([1.0]), complete=policy.complete))
    rows = EngineRows(opened.frame, opened.name, policy, as_text=True)
    judgments, provenance, doubt = _judgments(qrels, rows, engine, qrels_format)
    measuring = Measuring(name or run_name(opened.name), wanted, policy)
    result = _evaluated(rows, judgments, measuring, least_queries(in_memory=engine is None), check_ids)
    sampled = [measure.name for measure in wanted if not averages_exactly(measure)] if result.counts.tied else []
    drawn = sampled_text(sampled) if sampled and policy.ties == "expected" else ""
    warnings = (*filter(None, [doubt, drawn]), *result.warnings)
    return replace(result, provenance=provenance, _input_warnings=warnings)


def _not_in_an_engine(run: Any) -> InputError:
    names = (engine.name for engine in readers())
    return InputError(
        "the run",
        f"evaluate_lazily needs a run in an engine, not a {type(run).__name__}.",
        hint=f"give {frames_taken()}; or the path of Parquet files and {given('engine', *names)}",
    )


def _judgments(qrels: Any, run: EngineRows, engine: str | None, format: str | None) -> tuple[EngineRows, str, str]:
    """The judgments in the engine of the run, their provenance, and doubts about them."""
    opened = open_judgments(qrels, engine, format, beside=run.native)
    if isinstance(opened, Lazy) and type(engine_of(opened.frame, opened.name)) is not type(run.engine):
        opened = Judgments.read(collected(opened.frame, opened.name))
    provenance = doubt = ""
    if isinstance(opened, Judgments):
        provenance, doubt = opened.provenance, chosen_warning(opened)
        queries = [opened.query_ids[at] for at in opened.query.tolist()]
        columns = {"query_id": run.engine.text(queries), "doc_id": run.engine.text(opened.document_ids)}
        opened = Lazy(opened.name, run.engine.send({**columns, "grade": opened.grades}).to_native())
    return EngineRows(opened.frame, opened.name, run.policy, "qrels", as_text=True), provenance, doubt


def _evaluated(
    run: EngineRows, judgments: EngineRows, measuring: Measuring, least: int, check_ids: bool
) -> LazyEvaluation:
    """The result; the judgments and the run are in one engine."""
    engine = run.engine
    with ExitStack() as stack:  # the files written are deleted at once if anything fails
        folder = tempfile.TemporaryDirectory(prefix="cranfield-", ignore_cleanup_errors=True)
        stack.enter_context(folder)
        judged = JudgedRows(run, judgments, folder.name)
        extra = engine.guarded(judged.check)
        totals, per_query = engine.guarded(lambda: engine.measured(judged.table, measuring, folder.name))
        warnings = engine.guarded(lambda: judged.overlap(totals, least, check_ids))
        judged.forget()
        atexit.register(stack.pop_all().close)
    _refuse_missing(totals, run)
    return LazyEvaluation(
        run=measuring.run,
        measures=measuring.measures,
        policy=measuring.policy,
        counts=_counts(totals, extra),
        _inputs=InputHashes(f"rows-{totals.qrels_digest % 2**64:016x}", f"rows-{totals.ranks_digest % 2**64:016x}"),
        per_query=per_query,
        _totals=totals,
        _input_warnings=warnings,
    )


def _refuse_missing(totals: Totals, run: EngineRows) -> None:
    if run.policy.missing == "error" and totals.missing:
        raise missing_error(run.source, totals.missing, totals.lacking)


def _counts(totals: Totals, extra: int) -> Counts:
    return Counts(
        queries=totals.queries,
        judged=totals.judged,
        missing=totals.missing,
        extra=extra,
        no_relevant=totals.no_relevant,
        no_relevant_for_all=totals.no_relevant_for_all,
        tied=totals.tied / totals.found if totals.found else 0.0,
    )
