"""The evaluation of a recommender: of each list against what its user wanted, and of the whole run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cranfield.errors import MeasureError
from cranfield.evaluation.evaluating import evaluate_run, read_judgments
from cranfield.evaluation.evidence import RankedEvidence
from cranfield.evaluation.naming import own_name
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Counts, measured
from cranfield.io.shapes import Rankings
from cranfield.measures import Measure, parse_measure
from cranfield.ranks.interactions import read_interactions
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.recommender_runs import Recommended, RecommenderRun, list_table, recommended
from cranfield.ranks.run import Run
from cranfield.ranks.tables.lists import RecommendedLists
from cranfield.words import count


def evaluate_kind(
    qrels: Any,
    run: RecommenderRun,
    measures: Sequence[Measure],
    policy: Policy,
    *,
    name: str | None,
    format: str | None,
    qrels_format: str | None,
    check_ids: bool,
) -> Evaluation:
    run = replace(run, interactions=read_interactions(run.interactions))  # which is read once
    of_lists = [measure for measure in measures if measure.definition.table == "lists"]
    others = [measure for measure in measures if measure.definition.table != "lists"]
    for measure in others:
        if measure.definition.table == "searches":
            raise MeasureError(f"{measure.name} is measured on searches, but a recommender makes none.")
    judgments = read_judgments(qrels, qrels_format, others)
    made = recommended(run, policy, format)
    opened = Run(Rankings(made.name, made.lists), name=name or own_name(run), sha256=made.sha256)
    ranked = others or [parse_measure("NumRet")]  # which has ranks to begin with; only what is asked for is kept
    result = evaluate_run(judgments, opened, ranked, policy, name=name or own_name(run), check_ids=check_ids)
    flat = judgments if isinstance(judgments, Judgments) else judgments.flat
    warnings = (*result._input_warnings, *_wanted_but_known(run, flat))
    provenance = [result.provenance] if result.provenance else []
    provenance += [f"known:{run.known}d({made.excluded})" if run.known == "exclude" else "known:kept"]
    columns = dict(result._columns)
    if of_lists:
        evidence = result._evidence
        assert isinstance(evidence, RankedEvidence)
        table = list_table(run, made, evidence.ranks, evidence.kept, policy)
        columns |= measured(of_lists, {"ranks": evidence.ranks, "lists": table}, evidence.kept)
        provenance += _lists(table)
        result = replace(result, counts=Counts.of(measures, evidence.ranks, evidence.kept))
    return replace(
        result,
        measures=tuple(measures),
        _columns={measure: columns[measure] for measure in measures},
        _input_warnings=(*warnings, *_excluded(made)),
        provenance="|".join(provenance),
    )


def _lists(table: RecommendedLists) -> list[str]:
    """What the signature adds: the size of the catalogue, and the interactions that popularity is counted in."""
    return [f"catalogue:{table.catalogue}", f"interactions:{table.n_interactions}"]


def _excluded(made: Recommended) -> Iterator[str]:
    items = sum(map(len, made.lists.values())) + made.excluded
    if made.excluded:
        were = "was known to its user and was" if made.excluded == 1 else "were known to their users and were"
        yield f"{made.excluded:,} of {count(items, 'recommended item')} {were} left out"


def _wanted_but_known(run: RecommenderRun, judgments: Judgments) -> Iterator[str]:
    """Relevant items that nobody can find, because they are left out as known."""
    if run.known != "exclude":
        return
    known = read_interactions(run.interactions).by_user
    lost = sum(
        grade > 0 and item in known.get(user, ())
        for user, items in judgments.by_query.items()
        for item, grade in items.items()
    )
    if lost:
        known_items = count(lost, "relevant item is", "relevant items are")
        yield f"{known_items} known to the user already and cannot be found; check the split"
