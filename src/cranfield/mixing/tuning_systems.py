"""tune_system(system, collection, measure) → Tuning: which parameters of a live system are best, within a budget."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from cranfield.comparison.comparing import SEED
from cranfield.errors import InputError, OutputError, given
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.folds import FOLDS, REPEATS, folds_of
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.io.made import Tuned
from cranfield.measures import Measure, parse_measure
from cranfield.measures.registry import require_ranks
from cranfield.mixing.answers import Answers
from cranfield.mixing.halving import BUDGET, best_of_whole, halved, planned
from cranfield.mixing.points import Parameter, Point, at_edges, in_words, parameters_of, paths_of, points
from cranfield.mixing.tuning import Baseline, ChoosingQueries, Tuning, apart, edge_warnings, rival_of, tuning_of
from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy
from cranfield.systems.asking import Answer
from cranfield.systems.collapse import Collapse, collapse_by
from cranfield.systems.collection import Collection, kept_in_memory, open_collection
from cranfield.systems.opening import TUNE, System, described, from_settings, known_settings, open_system
from cranfield.systems.partial import Partial
from cranfield.systems.queries import as_queries, placed
from cranfield.systems.recorded import Recorded
from cranfield.systems.recording import record, rule_name
from cranfield.words import count

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def tune_system(
    system: Any,
    collection: Any,
    measure: str | Measure = "nDCG@10",
    *,
    tried: Mapping[str, Any] | None = None,
    budget: int = BUDGET,
    path: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    name: str = "",
    k: int | None = None,
    deepen: bool = False,
    collapse: str | Mapping[str, str] | Collapse | None = None,
    timeout: float | None = None,
    segments: Any = None,
    groups: Any = None,
    weights: Any = None,
    query_columns: Any = None,
    alpha: float = 0.05,
    repeats: int = REPEATS,
    folds: int = FOLDS,
    seed: int = SEED,
    policy: Policy | None = None,
    on_start: Callable[[int, int], None] | None = None,
    on_answer: Callable[[Answer], None] | None = None,
    **options: Any,
) -> Tuning:
    """Choose the parameters of a live system within a budget of requests, and find out how good that is.

    As in `tune`, settings are chosen on four fifths of the queries and measured on the others. Where the budget is
    smaller than settings × queries, they are chosen by successive halving on these four fifths: all on few queries, the
    better half on twice as many, and so on. No answer to a query that measures a setting takes part in choosing it.

    system: settings as a dict, a function (query, k, *, boost=1), or a name, as `open_system` takes them.
    collection: the queries with their judgments: a `Collection`, or what `open_collection` takes.
    measure: the one by which settings are chosen.
    tried: the values of each parameter, {"boost": [0.5, 1, 2], "body.size": [10, 20]}; by default those of the table
        `tune` among the system's settings. A parameter is a path into the settings, or else an argument: what a
        function takes by name, and a request or SQL has a place for, such as {boost}. Of more than 512 combinations of
        three parameters or more, 512 are tried.
    budget: how many questions may be asked; attempts after failures are not counted.
    path: the file in which answers are kept; by default they are lost at the end.
    resume: continue where an earlier call ended, and ask nothing again that the file has an answer to.
    force: overwrite the answers of an earlier call.
    name: the name of the system.
    k, deepen, collapse: how it is asked, as in `record`.
    timeout: seconds to wait for an answer, as in `open_system`.
    segments, groups, weights, query_columns, alpha, repeats, folds, seed: as in `tune`; repeats is how many there are
        at most.
    policy: that of `evaluate`.
    on_start: called with how many answers are already there, and how many there will be at most.
    on_answer: called with each answer.
    options: jobs, retries, wait and give_up, as in `record`.
    Returns a `Tuning`, whose `run` has the answers of the final setting.

    >>> def search(query, k=10, *, boost=1):
    ...     words = query.split()
    ...     return sorted(titles, key=lambda d: -sum(boost * (w in titles[d]) + (w in texts[d]) for w in words))
    >>> titles = {f"d{at}": f"w{at}" for at in range(20)}
    >>> texts = {f"d{at}": f"w{at} w{(at + 1) % 20} v{(at + 1) % 20}" for at in range(20)}
    >>> from cranfield import Collection
    >>> queries = {str(at): f"w{at} v{at}" for at in range(20)}
    >>> mine = Collection("mine", queries, {str(at): {f"d{at}": 1, f"d{(at - 1) % 20}": 0} for at in range(20)})
    >>> found = tune_system(search, mine, "RR", tried={"boost": [0, 1, 2]}, budget=60)
    >>> found.final.name, found.requests, found.differences[0].headline
    ('boost = 2', 60, 'Better')
    """
    wanted = parse_measure(measure)
    require_ranks(wanted)
    policy = policy or Policy()
    if budget < 1:
        raise InputError("budget", f"{budget} is not a number of requests.")
    opened = kept_in_memory(collection if isinstance(collection, Collection) else open_collection(collection))
    known = QueryColumns.read(query_columns, weights=weights, segments=segments, groups=groups)
    judgments = known.answered(opened.judgments())
    texts = as_queries({query: opened.queries[query] for query in judgments.query_ids})
    queries = ChoosingQueries.of(judgments, np.zeros(len(texts), np.bool_), policy, known, folds)
    with closing(_Tuned(system, opened, tried, name, timeout)) as opened_system:
        asked_k = opened_system.base.asked_for(k)
        asked: dict[str, Any] = {"system": opened_system.base.name, "settings": opened_system.digest}
        asked |= {"k": asked_k, "deepen": deepen, "collapse": rule_name(collapse)}
        chance = np.random.default_rng(seed % 2**64)
        fold = folds_of(queries.group, queries.stratum, chance, repeats, folds)
        plan = planned(queries.stratum, fold[0], len(opened_system.points), budget, chance)
        with _kept_at(path) as place, closing(Partial(place, {}, asked_k, asked)) as kept:
            _begin(kept, resume=resume, force=force)
            if on_start:
                on_start(len(kept.places), max(min(budget, len(texts) * len(opened_system.points)), len(kept.places)))
            to_document = None if collapse is None else collapse_by(collapse)
            how: dict[str, Any] = {"deepen": deepen, "to_document": to_document, **options}
            answers = Answers(
                *(opened_system.points, opened_system.open, texts, judgments, wanted, policy, kept),
                budget=budget,
                k=asked_k,
                on_answer=on_answer,
                **how,
            )
            answers.refuse_strangers(opened_system.base.name)
            found = best_of_whole(
                halved(answers.scores, answers.fill, plan, fold, queries.weight), answers.scores, queries.weight
            )
            every = answers.tried()
            sign = wanted.definition.sign
            shown = {0, found.best, rival_of(every, found.best, queries, sign)} - {None}
            answered = {at: answers.kept(at) for at in shown if at is not None}
    before, needs_k, tried_points = opened_system.base.name, opened_system.base._kind.needs_k, opened_system.points

    def make(
        at: int, path: Any, tuned: Tuned | None = None, name: str = before, force: bool = False, metadata: bool = True
    ) -> Recorded:
        system = System(_Kept(name, needs_k), settings=asked["settings"])
        system._tuned, system._answers = tuned, partial(_again, answered[at])
        return record(system, texts, path, k, deepen=deepen, collapse=collapse, force=force)

    return tuning_of(
        f"tuned {before}",
        wanted,
        every,
        found,
        [
            Baseline(
                before, f"as configured, {tried_points[0].name}".removesuffix(", as configured"), every.values[:, 0]
            )
        ],
        queries,
        others={},
        warnings=[
            *edge_warnings(_at_edges(found.best, opened_system, answers.scores)),
            *_failures(answers),
            *_repeats(len(found.chosen), repeats),
            *apart(queries),
        ],
        alpha=alpha,
        seed=seed,
        runs=(before,),
        requests=answers.requests,
        repeats=len(found.chosen),
        folds=folds,
        judgments=judgments,
        make=make,
        to_copy=_to_copy(tried_points[found.best], opened_system),
    )


class _Tuned:
    """A system with its settings to try. It is opened again only where its settings differ, not its arguments."""

    def __init__(
        self, system: Any, collection: Collection, tried: Mapping[str, Any] | None, name: str, timeout: float | None
    ) -> None:
        self._collection, self._timeout = collection, timeout
        self._settings: dict[str, Any] = {}
        known: Mapping[str, Any] = {}
        if isinstance(system, str | Mapping):
            settings, usual = described(system)
            name = name or usual
            own = settings.pop(TUNE, {})
            tried = own if tried is None else tried
            self._settings = settings
            known = known_settings(settings)
        named = [path for path in paths_of(tried or {}) if path[0] not in known]
        self._settings = dict(placed(self._settings, named))
        self._name = name
        self._mine: Any = None if self._settings else system
        told = {**self._settings, "timeout": None}
        self.digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest() if self._settings else ""
        self.base = self._opened(self._settings)
        self._open: tuple[Any, System] = (self._key(self._settings), self.base)
        self.parameters: list[Parameter] = parameters_of(tried or {}, self._settings, known, self.base._kind.takes)
        self.points: list[Point] = points(self.parameters, self._settings)
        for point in self.points[1:2]:
            self.base._told(point.settings.get("arguments", {}))  # an argument that it does not take is an error now

    def _opened(self, settings: Mapping[str, Any]) -> System:
        """The system with these settings, but without their arguments."""
        if self._mine is not None:
            return open_system(self._mine, name=self._name, timeout=self._timeout)
        timeout = None if "timeout" in settings else self._timeout
        return from_settings(self._key(settings), self._collection, self._name, timeout)

    @staticmethod
    def _key(settings: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in settings.items() if name != "arguments"}

    def open(self, point: Point) -> System:
        key = self._key(point.settings)
        if key != self._open[0]:
            if self._open[1] is not self.base:
                self._open[1].close()
            self._open = key, self.base if key == self._key(self._settings) else self._opened(point.settings)
        return self._open[1]._told(point.settings.get("arguments", {}))

    def close(self) -> None:
        for system in {id(its): its for its in (self._open[1], self.base)}.values():
            if system is not self._mine:
                system.close()


class _Kept:
    """A system whose answers are already there."""

    takes: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, name: str, needs_k: bool) -> None:
        self.name, self.needs_k = name, needs_k

    def search(self, query: str, k: int | None) -> Any:
        raise AssertionError

    def close(self) -> None: ...


def _again(kept: Mapping[str, Answer], left: list[tuple[str, str]], k: int | None, **options: Any) -> Iterator[Answer]:
    """What was answered; a query that failed did so."""
    for query, _ in left:
        yield kept.get(query, Answer(query, None, 0.0, error="it failed while the system was tuned"))


@contextmanager
def _kept_at(path: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Where answers are kept: in a file of the caller, or only for this call."""
    if path is not None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "answers"


def _begin(kept: Partial, *, resume: bool, force: bool) -> None:
    if kept.begun and resume:
        kept.resume()
    elif kept.begun and not force:
        hint = f"{given('resume', True)} continues with them, {given('force', True)} replaces them"
        raise OutputError(str(kept.path), "there are answers of an earlier call here.", hint=hint)
    else:
        kept.start()


def _at_edges(best: int, system: _Tuned, scores: Numbers) -> Iterator[tuple[str, float, str]]:
    """The parameters at the edge of what was tried; without those that make no difference."""
    final = system.points[best].values
    for name, value, which in at_edges(system.points[best], system.parameters):
        others = {key: its for key, its in final.items() if key != name}
        beside = [
            at
            for at, point in enumerate(system.points)
            if at != best and {key: its for key, its in point.values.items() if key != name} == others
        ]
        gaps = (scores[:, beside] - scores[:, [best]]) if beside else np.ones((1, 1))
        if np.nanmax(np.abs(gaps), initial=0.0) > SAME:
            yield name, value, which


def _to_copy(point: Point, system: _Tuned) -> str:
    """A setting as lines of cranfield.toml, or of a function as an argument of `open_system`."""
    if system._mine is not None:
        return f"arguments={dict(point.settings.get('arguments', {}))!r}"
    lines = [f"[systems.{system.base.name}]"]
    for parameter in system.parameters:
        if parameter.name in point.values:
            keys = (step if _BARE.fullmatch(step) else json.dumps(step) for step in parameter.path)
            lines.append(f"{'.'.join(keys)} = {in_words(point.values[parameter.name])}")
    return "\n".join(lines)


def _failures(answers: Answers) -> Iterator[str]:
    if answers.failed:
        reason = next(iter(answers.failed.values())).partition("\n")[0]
        yield f"{count(len(answers.failed), 'question')} failed and count as answered with nothing ({reason})"


def _repeats(done: int, repeats: int) -> Iterator[str]:
    if done < repeats:
        yield f"the budget was enough for {count(done, 'repeat')} of {repeats} of the cross-fitting"
