"""The evaluation of a run of chunks by judged passages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from cranfield.errors import InputError, MeasureError
from cranfield.evaluation.from_ranks import digest_of, evaluation_of, refuse_missing
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.naming import own_name
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.over_orders import one_order
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.chunk_runs import ChunkRun
from cranfield.ranks.chunks import Chunks
from cranfield.ranks.overlap import refused
from cranfield.ranks.passages import PassageJudgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking_chunks import nothing_in_common, rank_chunks
from cranfield.ranks.tables.passages import PassageRanks

TABLES = ("ranks", "passages")


def evaluate_chunks(
    qrels: Any,
    run: Any,
    measures: Sequence[Measure],
    policy: Policy,
    *,
    name: str | None,
    format: str | None,
    check_ids: bool,
) -> Evaluation:
    """Measure a run of chunks by judged passages; ordinary judgments are of whole documents."""
    if not isinstance(run, ChunkRun):
        fact = "passages are measured on chunks, but this run has no chunks."
        raise InputError(own_name(run), fact, hint="give the run with its chunks: ChunkRun(run, chunks)")
    for measure in measures:
        if measure.definition.table not in TABLES:
            other = measure.definition.table
            raise MeasureError(f"{measure.name} is measured on {other}, which judgments of passages do not provide.")
    if policy.ties == "expected":
        raise one_order("is not available for chunks, which are measured in one order.")
    passages, chunks = PassageJudgments.read(qrels), Chunks.read(run.chunks)
    table = rank_chunks(passages, ChunkRun(run.run, chunks), policy, format)
    problem = nothing_in_common(passages, chunks, table, run, own_name(run))
    warnings = refused(problem, check_ids) if problem else ()
    refuse_missing(table.ranks, policy, own_name(run))
    return evaluation_of(
        name or own_name(run),
        measures,
        table.ranks,
        policy,
        InputHashes(passages.sha256, partial(_digest, table)),
        {"passages": table},
        warnings=(*warnings, *_nothing_fits(table, measures)),
        provenance="|".join(_provenance(passages, chunks, measures, policy)),
    )


def _nothing_fits(table: PassageRanks, measures: Sequence[Measure]) -> Iterator[str]:
    """Warnings about budgets that are too small for the first chunk: such a query counts as if nothing were read."""
    limits = ("cutoff", "budget", "unit", "fit")
    chosen = (chosen_parameters(measure) for measure in measures if measure.definition.table == "passages")
    for cutoff, budget, unit, fit in dict.fromkeys(tuple(known[name] for name in limits) for known in chosen):
        if budget is None or fit == "cut" or unit not in table.costs:  # a chunk that is cut always fits
            continue
        nothing = int(((table.ranks.retrieved > 0) & (table.read(cutoff, budget, unit, fit).total == 0)).sum())
        if nothing:
            yield f"the first chunk of {nothing} of {len(table)} queries is larger than the budget of {budget} {unit}"


def _provenance(
    passages: PassageJudgments, chunks: Chunks, measures: Sequence[Measure], policy: Policy
) -> Iterator[str]:
    """What the signature adds: how many passages there are, how much of one is enough, and the unit of budgets."""
    if passages.provenance:
        yield passages.provenance
    yield f"passages:{len(passages.grades)}"
    if "cover" not in str(policy):
        yield f"cover:{policy.cover:g}"
    chosen = map(chosen_parameters, measures)
    units = dict.fromkeys(parameters["unit"] for parameters in chosen if parameters.get("budget") is not None)
    if units:
        named = {"tokens": f"tokens({chunks.tokeniser})"}
        yield f"budget:{','.join(named.get(unit, unit) for unit in units)}"


def _digest(table: PassageRanks) -> str:
    digest = hashlib.sha256(digest_of(table.ranks).encode())
    for column in (table.chunks.query, table.chunks.start, table.chunks.end):
        digest.update(column.tobytes())
    return f"chunks-{digest.hexdigest()}"
