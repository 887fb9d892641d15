"""Runs that are read once, to be measured again and again as judgments are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.errors import ComparisonError
from cranfield.evaluation.evaluating import threads_for
from cranfield.evaluation.from_ranks import refuse_missing
from cranfield.evaluation.naming import named_runs
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import check_overlap
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.tables.ranks import JudgedRanks


def averaged_measures(measures: Measures, *, strata: bool = False) -> Sequence[Measure]:
    """Measures of ranks and grades, or also of strata; one that is not a mean over queries is refused."""
    wanted = parse_measures(measures)
    for measure in wanted:
        if not strata or measure.definition.table != "strata":
            require_ranks(measure)
        if measure.definition.aggregate != "mean":
            raise ComparisonError(f"{measure} is not a mean over queries ({measure.definition.aggregate}).")
    return wanted


def scanned_runs(
    judgments: Judgments, runs: Any, policy: Policy, format: str | None, check_ids: bool
) -> dict[str, JudgedRanks]:
    """The table of each run; a run that is already a table stays as it is."""
    named = named_runs(runs)

    def scanned(run: Any) -> JudgedRanks:
        if isinstance(run, JudgedRanks):
            return run
        opened = open_run(run, format)
        reading = opened.read(judgments, policy)
        table = reading.ranks()
        check_overlap(judgments, reading.scanned, reading, in_memory=not opened.stream, refuse=check_ids)
        refuse_missing(table, policy, opened.place)
        return table

    if not named:
        raise ComparisonError("there is no run.", hint="give at least one")
    return dict(zip(named, in_parallel(scanned, named.values(), threads_for(named.values())), strict=True))
