"""Runs that are read once, to be measured again and again as judgments are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.naming import named_runs
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.overlap import SourceIds, check_overlap
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_scanned, scan_source
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.read.source import open_source


def averaged_measures(measures: Measures) -> Sequence[Measure]:
    """Measures of ranks and grades; one that is not a mean over queries is refused."""
    wanted = parse_measures(measures)
    for measure in wanted:
        require_ranks(measure)
        if measure.definition.aggregate != "mean":
            raise ComparisonError(f"{measure} is not a mean over queries ({measure.definition.aggregate}).")
    return wanted


def scanned_runs(
    judgments: Judgments, runs: Any, policy: Policy, format: str | None, check_ids: bool
) -> dict[str, JudgedRanks]:
    """The table of each run; one that is a table already is taken as it is."""
    tables: dict[str, JudgedRanks] = {}
    for name, run in named_runs(runs).items():
        if isinstance(run, JudgedRanks):
            tables[name] = run
            continue
        source = open_source(run, "run", format)
        scanned, ids = scan_source(source, judgments, policy), SourceIds(source, judgments, policy)
        tables[name] = rank_scanned(judgments, scanned, policy, source.name)
        check_overlap(judgments, scanned, ids, in_memory=not source.stream, refuse=check_ids)
        if policy.missing == "error" and tables[name].missing.any():
            raise InputError(source.name, f"{int(tables[name].missing.sum())} judged queries are not in the run.")
    if not tables:
        raise ComparisonError("there is no run.", hint="give at least one")
    return tables
