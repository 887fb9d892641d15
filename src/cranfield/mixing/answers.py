"""The answers of a live system with many settings: asked when their values are needed, within a budget, and kept.

Every answer is appended to a file before the next question is asked. A process that was killed continues there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cranfield.errors import InputError, SystemFailure, given
from cranfield.evaluation.evaluating import evaluate_run
from cranfield.measures import Measure
from cranfield.mixing.halving import Spent
from cranfield.mixing.points import Point
from cranfield.mixing.tuning import Tried, first_counted, measured
from cranfield.ranks.columns import Integers
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.run import open_run
from cranfield.systems.asking import Answer, GaveUp, ask
from cranfield.systems.opening import System
from cranfield.systems.partial import Partial
from cranfield.systems.queries import told
from cranfield.words import count

FAILING = 3  # answers; if a setting fails on so many queries and answers none of them, tuning stops


class Answers:
    """A table of values, a row for each query and a column for each setting, filled in as it is asked for.

    scores: the values, higher is better; failed: how many questions failed, which count as answered with nothing
    """

    def __init__(
        self,
        points: Sequence[Point],
        open_point: Callable[[Point], System],
        queries: Mapping[str, str],
        judgments: Judgments,
        measure: Measure,
        policy: Policy,
        partial: Partial,
        *,
        budget: int,
        k: int | None,
        on_answer: Callable[[Answer], None] | None,
        **options: Any,
    ) -> None:
        self.points, self._open, self._partial = points, open_point, partial
        self._texts, self._judgments = queries, judgments
        self._ids = judgments.query_ids
        self._measure, self._policy = measure, replace(policy, missing="zero")
        self._budget, self._k, self._options = budget, k, options
        self._on_answer = on_answer or (lambda answer: None)
        self._sign = measure.definition.sign
        shape = len(self._ids), len(points)
        self.scores, self._without, self._returned, self._unjudged = (np.full(shape, np.nan) for _ in range(4))
        self.requests = 0
        self.failed: dict[str, str] = {}

    def fill(self, rows: Integers, settings: Integers, spare: int = 0) -> None:
        """Make the values of these queries with these settings known.

        spare: `Spent` is raised if fewer requests than these would be left
        """
        unknown = {at: rows[np.isnan(self.scores[rows, at])] for at in settings.tolist()}
        wanted = sum(map(len, unknown.values()))
        if wanted and self.requests + wanted > self._budget - spare:
            raise Spent
        self.requests += wanted
        for at, its in unknown.items():
            if len(its):
                self._answered(at, its)

    def _answered(self, at: int, rows: Integers) -> None:
        """The values of some queries with one setting; what the file has is not asked again."""
        point = self.points[at]
        keys = {self.key(point, self._ids[row]): self._ids[row] for row in rows.tolist()}
        rankings: dict[str, dict[str, float]] = {query: {} for query in keys.values()}
        for answer in self._partial.answers(keys):
            rankings[keys[answer.query_id]] = dict(answer.ranking or [])
        left = [(key, self._texts[query]) for key, query in keys.items() if key not in self._partial.places]
        if left:
            failed = {}
            for answer in self._asked(point, left):
                if answer.ranking is None:
                    failed[answer.query_id] = answer.error
                else:
                    rankings[keys[answer.query_id]] = dict(answer.ranking)
            if len(failed) == len(left) >= FAILING:
                raise self._stopped(point, next(iter(failed.values())))
            self.failed.update(failed)
        some = Judgments({query: self._judgments.by_query[query] for query in rankings}, name=self._judgments.name)
        found = evaluate_run(some, open_run(rankings), [self._measure], self._policy, check_ids=False).ranks
        assert found is not None
        values, *others = measured(self._measure, found)
        order = [some.number[query] for query in rankings]
        tables = self.scores, self._without, self._returned, self._unjudged
        for table, column in zip(tables, (self._sign * values, *others), strict=True):
            table[rows, at] = column[order]

    def _asked(self, point: Point, left: Sequence[tuple[str, str]]) -> list[Answer]:
        found = []
        try:
            for answer in ask(self._open(point), left, self._k, **self._options):
                self._partial.add(answer)
                self._on_answer(answer)
                found.append(answer)
        except GaveUp as error:
            raise self._stopped(point, error.fact) from None
        return found

    def _stopped(self, point: Point, reason: str) -> SystemFailure:
        hint = f"what was answered is kept: {given('resume', True)} continues; or leave this value out"
        return SystemFailure(f"with {point.name}, {reason.partition(chr(10))[0]}", hint=hint)

    def refuse_strangers(self, name: str) -> None:
        """Ask the untuned system; an error if it returns documents, but none that is judged."""
        self.fill(np.arange(len(self._ids)), np.array([0]))
        returned, unjudged = self._returned[:, 0].sum(), self._unjudged[:, 0].sum()
        if returned and returned == unjudged:
            fact = f"none of the {count(int(returned), 'document')} that it returns first is judged."
            raise InputError(name, fact, hint="set id to where the judged ids are; or collapse, if these are chunks")

    def key(self, point: Point, query: str) -> str:
        """The name of an answer in the file: an answer to a query that was changed is another one."""
        asked = hashlib.sha256(told({query: self._texts[query]})).hexdigest()
        return f"{point.key}\t{asked[:8]}\t{query}"

    def kept(self, at: int) -> dict[str, Answer]:
        """The answers with one setting, by query."""
        keys = {self.key(self.points[at], query): query for query in self._ids}
        return {
            keys[answer.query_id]: answer._replace(query_id=keys[answer.query_id])
            for answer in self._partial.answers(keys)
        }

    def tried(self) -> Tried:
        return Tried(
            [point.name for point in self.points],
            [dict(point.values) for point in self.points],
            [point.numbers for point in self.points],
            first_counted(self._measure),
            self._sign * self.scores,
            self._without,
            self._returned,
            self._unjudged,
        )
