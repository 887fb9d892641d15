"""An evaluation from ranks, wherever these come from: a file, memory, an engine, a device, chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

from cranfield.errors import InputError
from cranfield.evaluation.evidence import RankedEvidence
from cranfield.evaluation.hashes import InputHashes, column_digest
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.values import Counts, measured
from cranfield.measures import Measure, Measures, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.measures.scope import Scope
from cranfield.ranks.overlap import FEW, little_in_common
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import TieOrders
from cranfield.ranks.run import Reading
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import count, joined

if TYPE_CHECKING:
    from cranfield.io.made import Made


def evaluate_ranks(judged: JudgedRanks, measures: Measures, policy: Policy, name: str) -> Evaluation:
    """The evaluation of ranks about whose run nothing else is known."""
    wanted = parse_measures(measures)
    for measure in wanted:
        require_ranks(measure)
    refuse_missing(judged, policy, name)
    inputs = InputHashes(partial(_digest_of_grades, judged), partial(digest_of, judged))
    return evaluation_of(name, wanted, judged, policy, inputs)


def evaluation_of(
    run: str,
    measures: Sequence[Measure],
    judged: JudgedRanks,
    policy: Policy,
    inputs: InputHashes,
    tables: Mapping[str, Any] | None = None,
    *,
    reading: Reading | None = None,
    warnings: Sequence[str] = (),
    doubts: Sequence[str] = (),
    orders: TieOrders | None = None,
    rising: bool = False,
    provenance: str = "",
) -> Evaluation:
    """The evaluation of judged ranks by measures.

    inputs: the hashes of the judgments and of the run
    tables: by name, those of judgments with groups, where a measure needs them
    warnings: about ids of the run and of the judgments
    doubts: about the judgments
    rising: whether the scores rise down the rankings, as they are written
    """
    drawn = _averaged(measures, judged) if policy.ties == "expected" else ""
    evidence = RankedEvidence(
        judged, policy, reading, orders, rising=rising or (reading is not None and reading.rising)
    )
    kept, every = evidence.kept, {"ranks": judged, **(tables or {})}
    query_ids = judged.query_ids if kept.all() else tuple(compress(judged.query_ids, kept))
    return Evaluation(
        run=run,
        measures=tuple(measures),
        policy=policy,
        counts=Counts.of(measures, judged, kept),
        _inputs=inputs,
        provenance=provenance,
        query_ids=query_ids,
        _columns=measured(measures, every, kept),
        _evidence=evidence,
        _input_warnings=(
            *doubts,
            *(warnings or little_in_common(judged, policy)),
            *filter(None, [drawn]),
            *recording_warnings(evidence.made, measures, judged),
        ),
    )


def _averaged(measures: Sequence[Measure], judged: JudgedRanks) -> str:
    from cranfield.measures.over_orders import refuse_groups, sampled_warning  # hardly ever needed

    refuse_groups(measures)
    return sampled_warning(measures, judged)


def recording_warnings(made: Made | None, measures: Sequence[Measure], judged: JudgedRanks) -> Iterator[str]:
    """What a recording makes doubtful: that it was tuned on these queries, that some failed, and measures that look
    deeper than what came back.
    """
    tuned = made.tuned if made is not None else None
    if tuned is not None and (seen := len(tuned.queries.intersection(judged.query_ids))):
        which = f"made of {tuned.part}," if tuned.part else "chosen as"
        best = f"the best of {count(tuned.tried, 'setting')} on {seen:,} of these {len(judged):,} queries"
        yield f"{which} {best}, so its values are too good to be true"
    if made is None or made.fusion is not None:
        return
    if made.failed:
        failed = count(made.failed, "query", "queries")
        yield f"{failed} failed when the run was recorded and {'counts' if made.failed == 1 else 'count'} 0 here"
    most = int(judged.retrieved.max(initial=0))
    # Asked for more, it has no more; unless all of several answers end at the same rank, as if it were cut there.
    same_length = len(judged) >= FEW and made.size.get("chunks", 0) >= most
    if made.k is not None and made.k > most and not same_length:
        return
    deeper = [measure.name for measure in measures if most and _looks_deeper(measure, most, judged)]
    if deeper:
        look = f"{joined(deeper, 'and')} {'looks' if len(deeper) == 1 else 'look'} deeper than what came back"
        yield f"{look}: at most {count(most, 'document')} for a query"


def _looks_deeper(measure: Measure, most: int, judged: JudgedRanks) -> bool:
    """Whether more documents than came back could count: down to the cutoff; without one, all relevant ones."""
    scope = Scope.of(measure)
    if not scope.one_depth or measure.definition.table != "ranks" or measure.definition.of_holes:
        return False
    if scope.cutoff is not None:
        return scope.cutoff > most
    return bool((judged.n_relevant(1 if scope.rel is None else scope.rel) > most).any())


def refuse_missing(judged: JudgedRanks, policy: Policy, source: str) -> None:
    """Refuse a run that lacks judged queries, where the policy says so."""
    if policy.missing == "error" and judged.missing.any():
        lacking = [query for query, gone in zip(judged.query_ids, judged.missing, strict=True) if gone]
        raise missing_error(source, len(lacking), lacking)


def missing_error(source: str, missing: int, some: Sequence[str]) -> InputError:
    """The error for a run that lacks so many judged queries, some of which are given.

    >>> str(missing_error("bm25.run", 1, ["q7"]))
    'bm25.run: 1 judged query is not in the run: q7.'
    """
    queries = count(missing, "judged query is", "judged queries are")
    shown = ", ".join(some[:5]) + (", …" if missing > 5 else "")
    return InputError(source, f"{queries} not in the run: {shown}.")


def digest_of(judged: JudgedRanks) -> str:
    """A hash of the judged ranks, for a run that is not a file: hashing all of it would take far longer."""
    columns = (judged.query, judged.rank, judged.grade, judged.retrieved)
    return f"ranks-{column_digest(judged.query_ids, columns)}"


def _digest_of_grades(judged: JudgedRanks) -> str:
    """A hash of the judgments, for those of which only the grades are known."""
    return f"grades-{column_digest(judged.query_ids, (judged.judged_first, judged.judged_grades))}"
