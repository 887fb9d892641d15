"""Interactions of users with items: what a recommender learns from, and the last ones of each user to measure it by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT, GRADE, QUERY, RATING, TIME, USER
from cranfield.io.placed_rows import PlacedRow, placed_rows
from cranfield.io.streams import stream_name
from cranfield.ranks.columns import Integers, Numbers
from cranfield.words import count

_WIDTHS = {
    2: ("user_id", "item_id"),
    3: ("user_id", "item_id", "rating"),
    4: ("user_id", "item_id", "rating", "timestamp"),
}
_USERS = tuple(dict.fromkeys((*USER, *QUERY)))
_RATINGS = (*RATING, *GRADE)


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """What users have had, bought or rated, a row for each interaction in the order of the file.

    Build them with `read_interactions`.

    users, items: the ids of each row
    ratings, times: of each row; None if there are none
    name: what errors call them

    >>> from cranfield import read_interactions
    >>> import numpy as np
    >>> found = read_interactions([("ann", "tea", 5, 10), ("ann", "mug", 4, 20), ("bob", "tea", 3, 15)])
    >>> found, found.by_user["bob"], found.take(np.array([2])).items
    (<Interactions: 3 of 2 users with 2 items>, {'tea'}, ('tea',))
    """

    users: tuple[str, ...]
    items: tuple[str, ...]
    ratings: Numbers | None = None
    times: Numbers | None = None
    name: str = "the interactions"

    def __repr__(self) -> str:
        users, items = len(set(self.users)), len(set(self.items))
        return f"<Interactions: {len(self):,} of {count(users, 'user')} with {count(items, 'item')}>"

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def by_user(self) -> dict[str, set[str]]:
        """The items that each user knows."""
        known: dict[str, set[str]] = {}
        for user, item in zip(self.users, self.items, strict=True):
            known.setdefault(user, set()).add(item)
        return known

    def take(self, rows: Integers) -> Interactions:
        """Some of the rows.

        rows: their numbers, from 0.
        Returns interactions in this order.
        """
        places = rows.tolist()
        return Interactions(
            tuple(self.users[at] for at in places),
            tuple(self.items[at] for at in places),
            None if self.ratings is None else self.ratings[rows],
            None if self.times is None else self.times[rows],
            self.name,
        )

    def leave_last_out(self, n: int = 1) -> Split:
        """Hold the last interactions of each user out, to measure recommendations by.

        n: how many of each user; one with n or fewer keeps them all, and is not measured.
        Returns a `Split`, which states what was held out and what was not.

        Of interactions at the same time, those further down in the file are later. One with an item that the user
        already knows is not held out, since known items are not recommended: it is dropped.

        >>> from cranfield import read_interactions
        >>> rows = [("ann", "tea", 5, 10), ("ann", "mug", 4, 20), ("bob", "tea", 3, 15)]
        >>> split = read_interactions(rows).leave_last_out()
        >>> split.qrels, split.train
        ({'ann': {'mug': 1.0}}, <Interactions: 2 of 2 users with 1 item>)
        >>> print(split)
        leave-last-out, 1 of each user: 1 interaction of 1 user held out, 2 interactions to learn from
          1 user has too few interactions and is not measured
        """
        if self.times is None:
            hint = f"a column may be called {', '.join(TIME)}"
            raise InputError(self.name, "there are no times, so nobody knows which interactions are last.", hint=hint)
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            hint = "it is a whole number from 1"
            raise InputError(self.name, "is not a number of interactions.", parameter="n", value=n, hint=hint)
        _, user = np.unique(np.array(self.users, dtype=object), return_inverse=True)
        order = np.lexsort((np.arange(len(user)), self.times, user))
        user, times = user[order], self.times[order]
        sizes = np.bincount(user)
        from_end = np.cumsum(sizes)[user] - np.arange(len(user))  # 1 for the last of each user
        enough = (sizes > n)[user]
        out = enough & (from_end <= n)
        rows = order[out]
        train = self.take(np.sort(order[~out]))
        known = train.by_user
        new = np.array([self.items[row] not in known.get(self.users[row], ()) for row in rows.tolist()], dtype=np.bool_)
        first = np.flatnonzero(enough & (from_end == n))
        tied = int((times[first] == times[first - 1]).sum())
        few = int(((sizes > 0) & (sizes <= n)).sum())
        return Split(train, self.take(rows[new]), n, few, int((~new).sum()), tied)


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Interactions to learn from, and those that were held out to measure by.

    train, held_out: the interactions
    n: how many of each user were to be held out
    too_few: how many users have no more than these, and are not measured
    known: how many were dropped because the user knew the item already
    tied: for how many users the order in the file decided, since times are equal

    >>> from cranfield import read_interactions
    >>> split = read_interactions([("ann", "tea", 5, 10), ("ann", "mug", 4, 20)]).leave_last_out()
    >>> split, split.held_out.items
    (<Split: leave-last-out, 1 of each user: 1 interaction of 1 user held out, 1 interaction to learn from>, ('mug',))
    >>> split.notes, split.qrels, split.graded()
    ((), {'ann': {'mug': 1.0}}, {'ann': {'mug': 4.0}})
    """

    train: Interactions
    held_out: Interactions
    n: int
    too_few: int
    known: int
    tied: int

    def __repr__(self) -> str:
        return f"<Split: {self._sentence}>"

    def __str__(self) -> str:
        return "\n  ".join((self._sentence, *self.notes))

    @property
    def _sentence(self) -> str:
        users = count(len(set(self.held_out.users)), "user")
        out, left = (count(len(part), "interaction") for part in (self.held_out, self.train))
        return f"leave-last-out, {self.n} of each user: {out} of {users} held out, {left} to learn from"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not held out, and where equal times left a choice, in sentences."""
        few = f"{count(self.too_few, 'user has', 'users have')} too few interactions and "
        texts = (
            (self.too_few, few + ("is not measured" if self.too_few == 1 else "are not measured")),
            (self.known, f"{count(self.known, 'last interaction')} dropped: the user knew the item already"),
            (self.tied, f"{count(self.tied, 'user')} with equal times: the order in the file decided"),
        )
        return tuple(text for number, text in texts if number)

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        """The items held out as judgments: each is relevant, with the grade 1."""
        return self.graded(rating=False)

    def graded(self, *, rating: bool = True) -> dict[str, dict[str, float]]:
        """The items held out as judgments.

        rating: whether the grade is the rating; otherwise it is 1.
        Returns {user: {item: grade}}.
        """
        if rating and self.held_out.ratings is None:
            raise InputError(self.held_out.name, "there are no ratings.", hint="use qrels, in which each grade is 1")
        qrels: dict[str, dict[str, float]] = {}
        grades = self.held_out.ratings if rating else None
        for at, (user, item) in enumerate(zip(self.held_out.users, self.held_out.items, strict=True)):
            qrels.setdefault(user, {})[item] = 1.0 if grades is None else float(grades[at])
        return qrels


def write_split(split: Split, folder: str, *, ratings: bool = False, force: bool = False) -> tuple[str, str]:
    """Write train.csv and qrels.csv into a folder; returns their paths."""
    import csv
    import io
    import os

    from cranfield.io.target import make_folder, write_text

    if not split.held_out.users:
        hint = "are there users with more than one interaction?"
        raise InputError(split.train.name, "no interaction is left to hold out.", hint=hint)
    qrels = split.graded(rating=ratings)
    train = split.train
    further = [("rating", train.ratings), ("timestamp", train.times)]
    known = [(name, column.tolist()) for name, column in further if column is not None]
    rows: list[tuple[Any, ...]] = [("user_id", "item_id", *(name for name, _ in known))]
    rows += zip(train.users, train.items, *([f"{cell:.17g}" for cell in column] for _, column in known), strict=True)
    judged = [(user, item, f"{grade:g}") for user, items in qrels.items() for item, grade in items.items()]
    make_folder(folder)
    paths = []
    for name, table in (("train.csv", rows), ("qrels.csv", [("query_id", "doc_id", "relevance"), *judged])):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(table)
        paths.append(os.path.join(folder, name))
        write_text(paths[-1], text.getvalue(), force=force)
    return paths[0], paths[1]


def read_interactions(interactions: Any) -> Interactions:
    """Read interactions of users with items.

    interactions: CSV, TSV, JSON lines or Parquet with the columns user_id, item_id, and perhaps rating and timestamp
        (MovieLens' userId and movieId, too); a frame; or rows (user, item), (user, item, rating) or (user, item,
        rating, timestamp). Times are numbers, or dates such as 2026-03-01T12:00:00.
    Returns `Interactions`.

    >>> read_interactions([("ann", "tea"), ("bob", "mug")])
    <Interactions: 2 of 2 users with 2 items>
    """
    if isinstance(interactions, Interactions):
        return interactions
    path = isinstance(interactions, str) or hasattr(interactions, "__fspath__")
    name = stream_name(interactions) if path else "the interactions"
    if isinstance(interactions, Mapping):
        interactions = [(user, item) for user, items in interactions.items() for item in items]
    users: list[str] = []
    items: list[str] = []
    ratings: list[float] = []
    times: list[float] = []
    keep: dict[str, str] = {}
    for row in placed_rows(interactions, "the interactions", _WIDTHS):
        user, item = row.id(_USERS, "user"), row.id(DOCUMENT, "item")
        users.append(keep.setdefault(user, user))
        items.append(keep.setdefault(item, item))
        if row.find(_RATINGS) is not None:
            ratings.append(row.number_of(_RATINGS, "rating"))
        if (time := row.find(TIME)) is not None:
            times.append(_seconds(time, row))
        for what, column in (("rating", ratings), ("time", times)):
            if column and len(column) < len(users):
                raise row.error(f"some interactions have a {what}, and others have none.")
    if not users:
        raise InputError(name, "it contains no interactions.")
    rated, timed = (np.array(column, dtype=np.float64) if column else None for column in (ratings, times))
    return Interactions(tuple(users), tuple(items), rated, timed, name)


def _seconds(time: Any, row: PlacedRow) -> float:
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    if isinstance(time, str) and not time.strip().replace(".", "", 1).isdecimal():
        try:
            return _seconds(datetime.fromisoformat(time.strip()), row)
        except ValueError:
            hint = "a time is a number, or a date such as 2026-03-01T12:00:00"
            raise row.error(f"the time '{time:.40}' is not understood.", hint=hint) from None
    return row.number_of(TIME, "time")
