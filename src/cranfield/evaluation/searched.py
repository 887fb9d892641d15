"""The evaluation of a run whose tasks have several searches each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from cranfield.errors import MeasureError
from cranfield.evaluation.from_ranks import evaluation_of, refuse_missing
from cranfield.evaluation.hashes import InputHashes, column_digest
from cranfield.evaluation.naming import own_name
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import refused
from cranfield.ranks.policy import Policy
from cranfield.ranks.searches import nothing_in_common, rank_searches, read_searches
from cranfield.ranks.tables.searches import SearchRanks
from cranfield.words import joined


def evaluate_kind(
    qrels: Any,
    run: Any,
    measures: Sequence[Measure],
    policy: Policy,
    *,
    name: str | None,
    format: str | None,
    qrels_format: str | None,
    check_ids: bool,
) -> Evaluation:
    """Measure the searches of tasks; measures of one ranking are refused, since there is none."""
    others = [measure.name for measure in measures if measure.definition.table != "searches"]
    if others:
        raise MeasureError(
            f"{joined(others, 'and')} {'is' if len(others) == 1 else 'are'} measured on one ranking for each query, "
            "but each task has several searches.",
            hint="use UnionR, CallR, CallRR, FoundBy, NoGain, Refetched or Calls; or choose one search: "
            "read_searches(run).one('last')",
        )
    judgments, searches = Judgments.read(qrels, qrels_format), read_searches(run, format=format)
    problem = nothing_in_common(judgments, searches)
    warnings = (*searches.notes, *(refused(problem, check_ids) if problem else ()))
    table = rank_searches(judgments, searches, policy)
    called = name or own_name(searches)
    refuse_missing(table.judged, policy, called)
    return evaluation_of(
        called,
        measures,
        table.judged,
        policy,
        InputHashes(judgments._hash, partial(_digest, table)),
        {"searches": table},
        warnings=warnings,
        provenance="|".join(filter(None, (judgments.provenance, _searched(table, measures)))),
    )


def _searched(table: SearchRanks, measures: Sequence[Measure]) -> str:
    """What the signature adds: how many searches there are, and what a document that is fetched again costs."""
    budgets = [chosen for chosen in map(chosen_parameters, measures) if chosen.get("budget") is not None]
    again = dict.fromkeys(chosen["again"] for chosen in budgets)
    return "|".join((f"searches:{int(table.calls.sum())}", *(f"again:{how}" for how in again)))


def _digest(table: SearchRanks) -> str:
    columns = (table.query, table.call, table.rank, table.document, table.grade)
    return f"searches-{column_digest(table.judged.query_ids, columns)}"
