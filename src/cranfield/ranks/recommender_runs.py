"""Runs of recommenders: lists of items for users, with what their users know already and what the items are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from cranfield.errors import InputError, choice_hint, given
from cranfield.io.column_names import DOCUMENT_ID
from cranfield.io.placed_rows import placed_rows
from cranfield.io.source import open_source
from cranfield.io.streams import as_stream
from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.interactions import Interactions, read_interactions
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.lists import RecommendedLists
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.ties import ordered
from cranfield.ranks.whole_rankings import scores_of
from cranfield.words import count, joined, listed

Known = Literal["exclude", "keep"]
_WIDTHS = {1: ("item_id",)}
_VECTORS = ("vector", "embedding")
_ALIKE = "give every item equally many numbers, such as [0.5, 1], or labels, such as comedy|drama"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecommenderRun:
    """The lists of a recommender, with the interactions that it has learnt from.

    It works wherever a run does. Besides all measures of one list, there are those of a whole run: Coverage, Gini,
    Novelty, Popularity and ILS.

    run: anything that `evaluate` takes as a run, with users for queries and items for documents
    interactions: anything that `read_interactions` takes
    items: the catalogue, as ids or a file with a column item_id; by default the items of the interactions
    features: {item: numbers} or {item: labels}, such as genres, for ILS; or a file of both
    known: "exclude" takes items that the user knows already out of the list, and counts them; "keep" leaves them

    >>> from cranfield import RecommenderRun, evaluate
    >>> before = [("ann", "tea"), ("ann", "mug"), ("bob", "tea"), ("eve", "pot")]
    >>> run = RecommenderRun({"ann": ["tea", "pot"], "bob": ["mug", "pot"]}, before)
    >>> evaluate({"ann": {"pot": 1}, "bob": {"mug": 1}}, run, "RR Coverage@1 Novelty@1")
    <Evaluation of the run: RR=1.0000, Coverage@1=0.6667, Novelty@1=1.5850; 2 queries>
    >>> run.name
    'the run'
    """

    run: Any
    interactions: Any
    items: Any = None
    features: Any = None
    known: Known = "exclude"
    _evaluated_by: ClassVar[str] = "cranfield.evaluation.recommended"

    def __repr__(self) -> str:
        return f"<RecommenderRun of {type(self.run).__name__}>"

    @property
    def name(self) -> str:
        """What errors call it: the name of its file."""
        stream = as_stream(self.run)
        return "the run" if stream is None else stream.name


class Recommended(NamedTuple):
    """A run as it is measured: {user: {item: score}}, and how many known items were taken out of it."""

    name: str
    lists: dict[str, dict[str, float]]
    excluded: int
    sha256: str


def recommended(run: RecommenderRun, policy: Policy, format: str | None) -> Recommended:
    """The lists of a run, without items that their users know already."""
    if run.known not in get_args(Known):
        hint = choice_hint("give", get_args(Known), run.known)
        raise InputError("the run", f"known items cannot be '{run.known}'.", hint=hint)
    source = open_source(run.run, "run", format)
    lists = scores_of(source, policy)
    if not lists:
        raise InputError(source.name, "it contains no rankings.")
    sha256 = source.stream.sha256 if source.stream is not None and source.stream.hashed else ""
    if run.known == "keep":
        return Recommended(source.name, lists, 0, sha256)
    known = read_interactions(run.interactions).by_user
    kept = {user: _without(scores, known.get(user)) for user, scores in lists.items()}
    return Recommended(source.name, kept, sum(map(len, lists.values())) - sum(map(len, kept.values())), sha256)


def _without(scores: dict[str, float], known: set[str] | None) -> dict[str, float]:
    if not known or known.isdisjoint(scores):
        return scores
    return {item: score for item, score in scores.items() if item not in known}


def list_table(
    run: RecommenderRun, made: Recommended, judged: JudgedRanks, counted: Flags, policy: Policy
) -> RecommendedLists:
    """The table of the lists of the judged users."""
    interactions = read_interactions(run.interactions)
    number = {item: at for at, item in enumerate(_catalogue(run, interactions))}
    columns: tuple[list[int], list[int], list[int]] = ([], [], [])
    unknown: dict[str, None] = {}
    for user, query_id in enumerate(judged.query_ids):
        items = ordered(made.lists.get(query_id, {}), query_id, {}, _plain(policy))[: policy.depth]
        unknown.update(dict.fromkeys(item for item in items if item not in number))
        codes = [number.get(item, -1) for item in items]
        for column, cells in zip(columns, ([user] * len(codes), codes, range(1, len(codes) + 1)), strict=True):
            column.extend(cells)
    if unknown:
        fact = f"{count(len(unknown), 'recommended item is', 'recommended items are')} not in the catalogue: "
        hint = f"give all items that could be recommended: {given('items')}"
        raise InputError(made.name, f"{fact}{listed(list(unknown))}.", hint=hint)
    pairs = dict.fromkeys(zip(interactions.users, interactions.items, strict=True))
    query, item, rank = (np.array(column, dtype=np.int64) for column in columns)
    return RecommendedLists(
        judged,
        counted,
        query,
        item,
        rank,
        interactions=_times(interactions.items, number),
        users=_times((item for _, item in pairs), number),
        n_users=len(set(interactions.users)),
        n_interactions=len(interactions),
        features=None if run.features is None else _features(run.features, number, columns[1], made.name),
    )


def _plain(policy: Policy) -> Policy:
    """The same without ties by grade: a list is what its user sees, whatever is relevant."""
    return replace(policy, ties="doc_id") if policy.ties in ("best", "worst") else policy


def _times(items: Iterable[str], number: Mapping[str, int]) -> Any:
    return np.bincount([number[item] for item in items if item in number], minlength=len(number)).astype(np.int64)


def _catalogue(run: RecommenderRun, interactions: Interactions) -> list[str]:
    if run.items is None:
        return list(dict.fromkeys(interactions.items))
    if isinstance(run.items, Iterable) and not isinstance(run.items, str | bytes) and as_stream(run.items) is None:
        rows: Any = [(item,) if isinstance(item, str | int) else item for item in run.items]
    else:
        rows = run.items
    items = dict.fromkeys(row.id(DOCUMENT_ID, "item") for row in placed_rows(rows, "the items", _WIDTHS))
    if not items:
        raise InputError("the items", "there are none.")
    return list(items)


def _features(given: Any, number: Mapping[str, int], wanted: Iterable[int], name: str) -> Numbers:
    """A row of numbers for each item of the catalogue; labels become one column each."""
    by_item = dict(given) if isinstance(given, Mapping) else dict(_feature_rows(given))
    ids = list(number)
    lacking = [ids[code] for code in dict.fromkeys(wanted) if ids[code] not in by_item]
    if lacking:
        fact = (
            f"{count(len(lacking), 'recommended item has', 'recommended items have')} no features: {listed(lacking)}."
        )
        raise InputError(name, fact, hint="give those of all items")
    known = {item: _as_row(item, by_item[item]) for item in ids if item in by_item}
    if len(set(map(type, known.values()))) > 1:
        raise InputError("the features", "some items have labels, and others have numbers.", hint=_ALIKE)
    labels = sorted({label for row in known.values() if isinstance(row, frozenset) for label in row})
    if labels:
        place = {label: at for at, label in enumerate(labels)}
        table = np.zeros((len(ids), len(labels)))
        for item, row in known.items():
            table[number[item], [place[label] for label in row]] = 1.0
        return table
    widths = sorted({len(row) for row in known.values()})
    if len(widths) != 1:
        raise InputError("the features", f"items have {joined(map(str, widths), 'or')} numbers.", hint=_ALIKE)
    table = np.zeros((len(ids), widths[0]))
    for item, row in known.items():
        table[number[item]] = np.asarray(row)
    return table


def _as_row(item: str, features: Any) -> Numbers | frozenset[str]:
    """Numbers as an array, labels as a set."""
    if isinstance(features, str) and features.lstrip().startswith("["):  # as tables have vectors
        features = _json(features)
    if isinstance(features, str):
        return frozenset(filter(None, (label.strip() for label in features.split("|"))))
    try:
        if isinstance(features, set | frozenset) or all(isinstance(each, str) for each in features):
            return frozenset(map(str, features))
        row = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row = np.array(np.nan)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise InputError("the features", f"those of item '{item}' are not a row of finite numbers.", hint=_ALIKE)
    return row


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _feature_rows(given: Any) -> Iterable[tuple[str, Any]]:
    for row in placed_rows(given, "the features", {2: ("item_id", "features")}):
        item = row.id(DOCUMENT_ID, "item")
        features = row.find(("features", "genres", "labels", "categories", *_VECTORS))
        if features is None:
            raise row.error("there are no features.", hint="a column may be called features, genres, labels or vector")
        if isinstance(vector := row.find(_VECTORS), str) and not vector.lstrip().startswith("["):
            raise row.error(f"'{vector:.40}' is not a vector.", hint=_ALIKE)
        yield item, features
