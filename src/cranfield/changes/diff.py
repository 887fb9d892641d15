"""diff(one, other) → RunDiff: both runs are read once, a few queries at a time, and compared as they come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.changes.counting import Counted, JudgedPlaces, matched_by_group
from cranfield.changes.listing import (
    DECIDING,
    FirstRanks,
    WaitingDocument,
    changed_query,
    first_to_judge,
    most_changed_first,
    read_first,
)
from cranfield.changes.opening import OpenSide, opened_files, opened_sides
from cranfield.changes.run_diff import JudgedChange, JudgedShare, RunDiff, with_texts
from cranfield.errors import InputError, MeasureError
from cranfield.io.made import Made
from cranfield.io.text import located
from cranfield.measures import Measure, parse_measure
from cranfield.measures.completion import cutoff_of
from cranfield.mixing.reading import RankingFile
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.rising import RISING
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.systems.collection import Collection

USUAL_K = 10
MEASURE = "nDCG@10"
MOST_CHANGED, FIRST_TO_JUDGE = 10, 20


def diff(
    one: Any,
    other: Any,
    *,
    k: int = USUAL_K,
    depth: int | None = None,
    p: float = 0.9,
    qrels: Any = None,
    measure: str | Measure = MEASURE,
    rel: float = 1,
    most_changed: int = MOST_CHANGED,
    to_judge: int = FIRST_TO_JUDGE,
    collection: Any = None,
    history: Any = None,
    format: str | None = None,
    qrels_format: str | None = None,
    policy: Policy | None = None,
) -> RunDiff:
    """What changed between two runs, with judgments or without.

    one, other: the runs, each anything that `evaluate` reads; with a history also a result that it keeps, by the first
        letters of its commit or of its id.
    k: how many documents of each ranking a user sees.
    depth: the deepest rank read; by default all, so that rank changes are known however large they are.
    p: that of rank-biased overlap: how likely a reader goes on from one rank to the next.
    qrels: judgments, to see what of the change is judged, and what it does to a measure.
    measure: this measure; it also decides which documents are worth judging.
    rel: the lowest grade that is relevant.
    most_changed: how many of the queries that changed most are listed.
    to_judge: how many documents to judge first are sought.
    collection: the texts of queries and documents: a `Collection`, or its name.
    history: the history in which results are looked up, a file or a URL.
    format, qrels_format: the format of the runs and of the judgments, if they cannot be detected.
    policy: the conventions by which the runs are read; see `Policy`.
    Returns a `RunDiff`.

    Ranks are those that measures see: equal scores are ordered by the policy. Memory stays small whatever the size of
    the runs: they are read a few queries at a time.

    >>> from cranfield import diff
    >>> old, new = {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 1.0}}, {"1": {"b": 9.0, "a": 8.0}, "2": {"c": 5.0}}
    >>> diff(old, new, qrels={"1": {"a": 1}, "2": {"c": 1}}).judged.difference.sentence
    'Too close to call: the run (2) vs the run, nDCG@10 -0.185 (95% interval -1.000 to +1.000), p = 0.500'
    """
    wanted = parse_measure(measure)
    for name, number, least in (("k", k, 1), ("most_changed", most_changed, 0), ("to_judge", to_judge, 0)):
        require_number(name, number, least)
    if not 0 < p < 1:
        raise InputError("diff", "is not between 0 and 1.", parameter="p", value=p)
    policy = policy or Policy()
    policy = policy if depth is None else replace(policy, depth=depth)
    judgments = None if qrels is None else Judgments.read(qrels, qrels_format)
    with ExitStack() as stack, located():
        sides = opened_sides(one, other, history, format, stack)
        files = opened_files([side.run for side in sides], policy, stack)
        found = _counted(files, k, p, judgments)
        order = most_changed_first(found.changes).tolist()
        deciding = cutoff_of(wanted) or USUAL_K
        wide = _listed(files, found.ids, order[: max(most_changed, DECIDING if to_judge else 0)], max(k, deciding))
    names = sides[0].name, sides[1].name
    at = dict(zip(found.ids, range(len(found.ids)), strict=True))
    judged: JudgedChange | None = None
    values: dict[str, tuple[float, float]] = {}
    if judgments is not None:
        judged, values = _judged(names, judgments, found, wanted, policy, k, rel)
    waiting, unknown = _first_to_judge(wide, judgments, wanted, deciding, to_judge)
    changes = RunDiff(
        names,
        k,
        policy.depth,
        p,
        tuple(found.ids),
        _missing(files, found.ids),
        tuple(
            changed_query(query, at[query], found.changes, its, judgments, k, values.get(query))
            for query, its in islice(wide.items(), most_changed)
        ),
        judged,
        waiting,
        (*_made_otherwise(sides), *_between(sides)),
        (*(f"{side.name}: {RISING}" for side in sides if side.rising), *unknown),
        _counted=found.changes,
    )
    return with_texts(changes, _collection(collection, sides))


def require_number(name: str, number: int, least: int) -> None:
    if not isinstance(number, Integral) or number < least:
        raise InputError("diff", f"is not a whole number from {least}.", parameter=name, value=number)


def _first_to_judge(
    wide: Mapping[str, FirstRanks], judgments: Judgments | None, measure: Measure, deciding: int, n: int
) -> tuple[tuple[WaitingDocument, ...], tuple[str, ...]]:
    """The documents to judge first; where the measure says nothing about single documents, why there are none."""
    try:
        return first_to_judge(wide, judgments, measure, deciding, n), ()
    except MeasureError as error:
        return (), (f"no document is suggested for judging: {error.fact.removesuffix('.')}",)


def _missing(files: Sequence[RankingFile], queries: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The queries that the second run lacks, and those that the first one lacks."""
    one, other = (tuple(query for query in queries if query not in file.sizes) for file in files)
    return other, one


class _CountedQueries(NamedTuple):
    """What changed in each query, and where both runs have the judged documents."""

    ids: list[str]
    changes: Counted
    judged: JudgedPlaces | None


def _counted(files: Sequence[RankingFile], k: int, p: float, judgments: Judgments | None) -> _CountedQueries:
    """All queries of both runs."""
    queries = list(dict.fromkeys(query for file in files for query in file.sizes))
    changes, judged = matched_by_group(files, queries, judgments, lambda _, one, other, both: both.changes(k, p))
    return _CountedQueries(queries, Counted.joined(changes), judged)


def _listed(
    files: Sequence[RankingFile], queries: Sequence[str], order: Sequence[int], k: int
) -> dict[str, FirstRanks]:
    """Some queries with the first documents of both runs, in a given order."""
    known = read_first(files, [queries[at] for at in sorted(order)], k)
    return {queries[at]: known[queries[at]] for at in order}


def _judged(
    names: tuple[str, str],
    judgments: Judgments,
    found: _CountedQueries,
    measure: Measure,
    policy: Policy,
    k: int,
    rel: float,
) -> tuple[JudgedChange, dict[str, tuple[float, float]]]:
    """What of the change is judged, and by how much the measure changes; and its values, by query."""
    from cranfield.changes.measuring import measured_pair  # with all tests of differences

    judged = found.judged
    assert judged is not None
    grade = judgments.grades[judged.row]
    first = [(rank > 0) & (rank <= k) for rank in judged.ranks]
    sizes, shared = np.minimum(found.changes.sizes, k), found.changes.shared
    shares = []
    for side in (1, 0):
        moved = first[side] & ~first[1 - side] & (grade >= 0)
        documents = int((sizes[:, side] - shared).sum())
        shares.append(JudgedShare(documents, int(moved.sum()), int((moved & (grade >= rel)).sum())))
    pair = measured_pair(names, judgments, found.ids, found.changes.sizes, judged, measure, policy)
    entered, left = shares
    lower = measure.definition.lower_is_better
    change = JudgedChange(entered, left, rel, measure.name, lower, pair.before, pair.now, pair.difference)
    return change, pair.values


def _made_otherwise(sides: Sequence[OpenSide]) -> Iterator[str]:
    """What was set differently when the runs were made, as far as their files say it."""
    one, other = (side.run.made for side in sides)
    if one is None or other is None:
        return
    if one.how != other.how:
        yield f"{sides[1].name} was made {_how(other)}; {sides[0].name} {_how(one)}"
    if one.failed != other.failed:
        yield f"{count(other.failed, 'query', 'queries')} failed when {sides[1].name} was recorded, not {one.failed}"


def _between(sides: Sequence[OpenSide]) -> Iterator[str]:
    """What else changed between two results of a history."""
    one, other = (side.kept for side in sides)
    if one is not None and other is not None:
        from cranfield.changes.kept import changed_between

        yield from changed_between(one, other)


def _how(made: Made) -> str:
    return f"by {made.how}" if made.fusion or made.reranks else f"by asking {made.how}"


def _collection(given: Any, sides: Sequence[OpenSide]) -> Collection | None:
    texts = {query: text for side in sides if side.kept for query, text in side.kept.texts.items() if text}
    if given is None and not texts:
        return None
    from cranfield.systems.collection import Collection, open_collection  # few diffs have texts

    if given is not None:
        return given if isinstance(given, Collection) else open_collection(given)
    return Collection("the history", texts)
