"""Runs with several searches for each task, as agents make them: never one ranking by accident."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from cranfield.errors import DuplicateError, InputError, choice_hint
from cranfield.io.column_names import DOCUMENT, QUERY, RANK, SCORE, SECONDS, STEP, TASK, TEXT, TOKENS
from cranfield.io.formats.traces import Traces, pairs_of
from cranfield.io.mappings import id_text
from cranfield.io.placed_rows import PlacedRow, placed_rows
from cranfield.io.shapes import Rankings
from cranfield.io.streams import BYTE_ORDER_MARK, LOOK, Stream, as_stream, stream_name
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.tables.searches import SearchRanks
from cranfield.ranks.ties import ordered
from cranfield.ranks.whole_rankings import without_duplicates
from cranfield.words import count, listed

CountTokens = Callable[[str], Any]  # the number of tokens of a text, or the tokens themselves
Choice = Literal["first", "last"]
_WIDTHS = {4: ("task", "step", "doc_id", "score")}
_TASKS = (*TASK, *QUERY)


class Search(NamedTuple):
    """One search of a task.

    step: its place among the searches of the task, in any numbers that rise
    ranking: (document, score) pairs; a higher score is better
    query: what was searched for; empty if that is not known
    tokens: of each document, in the order of `ranking`; None if not known
    seconds: how long it took; None if not known

    >>> Search("t1", 1, (("a", 2.0), ("b", 1.0)), "red shoes").documents
    ['a', 'b']
    """

    task: str
    step: float
    ranking: Sequence[tuple[str, float]]
    query: str = ""
    tokens: Sequence[int] | None = None
    seconds: float | None = None

    def __repr__(self) -> str:
        return f"<Search {self.step:g} of {self.task}: {count(len(self.ranking), 'document')}>"

    @property
    def documents(self) -> list[str]:
        """The documents in the order in which they are listed."""
        return [document for document, _ in self.ranking]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchRun:
    """A run in which each task has several searches. Build it with `read_searches`.

    It works wherever a run does, with measures of searches: UnionR, CallR, CallRR, FoundBy, NoGain, Refetched, Calls.

    searches: those of all tasks, each task's in their order
    name: what errors call it
    texts: of documents, where they are known
    notes: what was decided in reading them, such as tasks whose searches are in several traces

    >>> from cranfield import evaluate, read_searches
    >>> run = read_searches({"t1": [["a", "x"], ["x", "b"]], "t2": [["y"], ["y"], ["c"]]})
    >>> run
    <SearchRun: 2 tasks, 5 searches>
    >>> evaluate({"t1": {"a": 1, "b": 1}, "t2": {"c": 1, "d": 1}}, run, "UnionR CallR(call=1) NoGain Refetched")
    <Evaluation of the run: UnionR=0.7500, CallR=0.2500, NoGain=0.3333, Refetched=0.2917; 2 queries>
    """

    searches: tuple[Search, ...]
    name: str = "the run"
    texts: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()
    _evaluated_by: ClassVar[str] = "cranfield.evaluation.searched"

    def __repr__(self) -> str:
        tasks = len({search.task for search in self.searches})
        return f"<SearchRun: {count(tasks, 'task')}, {count(len(self.searches), 'search', 'searches')}>"

    def __len__(self) -> int:
        return len(self.searches)

    def one(self, which: Choice) -> dict[str, dict[str, float]]:
        """A run of one search for each task, chosen by you.

        which: "first" or "last".
        Returns {task: {document: score}}, a run that `evaluate` takes.

        >>> from cranfield import evaluate, read_searches
        >>> run = read_searches({"t": [["x"], ["a"]]})
        >>> [evaluate({"t": {"a": 1}}, run.one(which), "RR")["RR"] for which in ("first", "last")]
        [0.0, 1.0]
        """
        if which not in get_args(Choice):
            raise InputError(
                self.name, f"there is no search '{which}'.", hint=choice_hint("give", get_args(Choice), which)
            )
        chosen: dict[str, Search] = {}
        for search in self.searches:
            if which == "last" or search.task not in chosen:
                chosen[search.task] = search
        return {
            task: without_duplicates(list(search.ranking), task, Policy(), self.name) for task, search in chosen.items()
        }


# ---- Reading


def read_searches(run: Any, *, tokens: CountTokens | None = None, format: str | None = None) -> SearchRun:
    """Read the searches of tasks.

    run: traces, in which a task is a trace and its searches are in the order of their times; or JSON lines, CSV,
        TSV or Parquet, a frame or rows with the columns task, step, doc_id, and score or rank, and perhaps query,
        tokens, text and seconds, where a search that found nothing has a row without a document; or
        {task: [search, …]} with a list of documents or {document: score} for each.
    tokens: counts the tokens of a document's text, for budgets of tokens; without it, the column "tokens" does.
    format: "traces", if it cannot be detected.
    Returns the searches. The id of a traced task is the task_id of its searches or of the first span (also in their
    metadata), or else its text: the input of the first span. If two traces have the same text, it is the id of the
    trace. A search within a search, as of a retriever that asks others, is a part of that.

    >>> from cranfield import read_searches
    >>> read_searches([("t", 1, "a", 0.9), ("t", 1, "b", 0.8), ("t", 2, "c", 0.7)]).searches
    (<Search 1 of t: 2 documents>, <Search 2 of t: 1 document>)
    """
    if isinstance(run, SearchRun):
        return run
    name = stream_name(run) if isinstance(run, str) or hasattr(run, "__fspath__") else "the run"
    stream = as_stream(run)
    name = name if stream is None else stream.name
    if stream is not None and stream is not run:
        stream.hashed = False  # nobody sees it
    if isinstance(run, Mapping):
        searches = list(_of_mapping(run, name))
    elif stream is not None and (
        format == Traces.name or Traces().claims(stream.head(LOOK).removeprefix(BYTE_ORDER_MARK))
    ):
        return _traced(stream, tokens)
    else:
        searches = list(_of_rows(run if stream is None else stream, name, tokens))
    if not searches:
        raise InputError(name, "it contains no searches.")
    return SearchRun(tuple(searches), name)


def _of_mapping(run: Mapping[Any, Any], name: str) -> Iterator[Search]:
    for key, searches in run.items():
        task = id_text(key, name, "a task")
        if not isinstance(searches, Sequence) or isinstance(searches, str | bytes):
            hint = "each task has a list of searches: {task: [[documents, best first], …]}"
            raise InputError(name, f"task '{task}': {searches!r:.60} is not a list of searches.", hint=hint)
        for step, search in enumerate(searches, 1):
            where = f"task '{task}', search {step}"
            if isinstance(search, Mapping):
                pairs = [(id_text(each, name, where), float(score)) for each, score in search.items()]
            elif isinstance(search, Sequence) and not isinstance(search, str | bytes):
                pairs = [(id_text(each, name, where), -float(at)) for at, each in enumerate(search)]
            else:
                hint = "a search is a list of documents, best first, or {document: score}"
                raise InputError(name, f"{where}: {search!r:.60} is not a search.", hint=hint)
            yield Search(task, step, tuple(pairs))


def _of_rows(run: Any, name: str, tokens: CountTokens | None) -> Iterator[Search]:
    tasks: dict[str, dict[float, _Rows]] = {}
    for row in placed_rows(run, name, _WIDTHS):
        task, step = row.id(_TASKS, "task"), row.number_of(STEP, "step")
        query = (row.text(("query",), "query") if row.find(TASK) is not None else None) or ""
        steps = tasks.setdefault(task, {})
        if (rows := steps.get(step)) is None:
            rows = steps[step] = _Rows(query, _seconds(row), [], [])
        if query != rows.query:
            fact = f"search {step:g} of task '{task}' is for '{query:.60}' here, and for '{rows.query:.60}' above."
            raise row.error(fact, hint="number the searches of a task: each has a step of its own")
        if all(row.find(names) is None for names in (DOCUMENT, SCORE, RANK)):
            continue  # a search that found nothing has a row without a document
        document = row.id(DOCUMENT, "document")
        scored = row.find(SCORE) is not None
        value = row.number_of(SCORE, "score") if scored else -row.number_of(RANK, "score or rank")
        rows.pairs.append((document, value))
        text = row.text(TEXT, "text")
        rows.tokens.append(_tokens(tokens, text) if tokens and text is not None else row.whole(TOKENS, "tokens"))
    if tasks and not any(rows.pairs for steps in tasks.values() for rows in steps.values()):
        hint = f"the column of the document may be called {', '.join(DOCUMENT)}"
        raise InputError(name, "none of its searches has a document.", hint=hint)
    for task, steps in tasks.items():
        for step, rows in sorted(steps.items()):
            whole = [number for number in rows.tokens if number is not None]
            counted = tuple(whole) if len(whole) == len(rows.tokens) else None
            yield Search(task, step, tuple(rows.pairs), rows.query, counted, rows.seconds)


class _Rows(NamedTuple):
    query: str
    seconds: float | None
    pairs: list[tuple[str, float]]
    tokens: list[int | None]


def _seconds(row: PlacedRow) -> float | None:
    return None if row.find(SECONDS) is None else row.number_of(SECONDS, "time")


def _tokens(tokens: CountTokens, text: str) -> int:
    counted = tokens(text)
    return len(counted) if hasattr(counted, "__len__") else int(counted)


def _traced(stream: Stream, tokens: CountTokens | None) -> SearchRun:
    from cranfield.io.formats.spans import Retrieval
    from cranfield.io.formats.traced_searches import collection_paused, in_tasks, several_traces

    keep: Callable[[str, str], str] = {}.setdefault  # type: ignore[assignment]
    texts: dict[str, str] = {}

    def kept(found: Retrieval) -> tuple[Any, ...]:
        pairs = tuple(pairs_of(found, keep))
        counted = None if tokens is None else tuple(_tokens(tokens, text) for text in found.texts)
        for (document, _), text in zip(pairs, found.texts, strict=True):
            if document not in texts and text:
                texts[document] = text
        return pairs, found.query, counted, found.seconds

    with collection_paused():
        found, over_traces = in_tasks(stream, kept)
        searches = tuple(Search(task, step, *search) for task, step, search in found)
    notes = (several_traces(over_traces),) if over_traces else ()
    return SearchRun(searches, stream.name, texts or None, notes)


# ---- The table


def rank_searches(judgments: Judgments, run: SearchRun, policy: Policy) -> SearchRanks:
    """The table of the searches of the judged tasks."""
    by_task: dict[str, list[Search]] = {}
    for search in run.searches:
        by_task.setdefault(search.task, []).append(search)
    columns: tuple[list[Any], ...] = ([], [], [], [], [], [])
    union: dict[str, list[str]] = {}
    further = 0
    calls = np.zeros(len(judgments), dtype=np.int64)
    for number, task in enumerate(judgments.query_ids):
        grades = judgments.by_query.get(task, {})
        known: dict[str, int] = {}  # the number of each document of the task
        searches = by_task.get(task, [])
        calls[number] = len(searches)
        for call, search in enumerate(searches, 1):
            tokens = dict(zip(search.documents, search.tokens, strict=True)) if search.tokens is not None else {}
            for rank, document in enumerate(_documents(search, grades, policy, run.name), 1):
                code = known.setdefault(document, further + len(known))
                row = (number, call, rank, code, grades.get(document, np.nan), tokens.get(document))
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
        further += len(known)
        if task in by_task:
            union[task] = list(known)
    for task in by_task.keys() - union.keys():
        union[task] = []
    query, call_, rank_, document_, grade, cost = columns
    costs = {"documents": np.ones(len(query), dtype=np.int64)}
    if cost and None not in cost:
        costs["tokens"] = np.array(cost, dtype=np.int64)
    return SearchRanks(
        judged=_union(judgments, union, policy, run.name),
        query=np.array(query, dtype=np.int64),
        call=np.array(call_, dtype=np.int64),
        rank=np.array(rank_, dtype=np.int64),
        document=np.array(document_, dtype=np.int64),
        grade=np.array(grade, dtype=np.float64),
        costs=costs,
        calls=calls,
    )


def _documents(search: Search, grades: Mapping[str, float], policy: Policy, name: str) -> list[str]:
    where = f"{search.task}, search {search.step:g}"
    try:
        scores = without_duplicates(list(search.ranking), where, policy, name)
    except DuplicateError as error:
        raise DuplicateError(name, error.fact.removeprefix(f"{name}: "), hint=error.hint) from None
    return ordered(scores, search.task, grades, policy)[: policy.depth]


def _union(judgments: Judgments, union: Mapping[str, list[str]], policy: Policy, name: str) -> JudgedRanks:
    return rank_run(judgments, Rankings(name, union), replace(policy, depth=None))


def nothing_in_common(judgments: Judgments, run: SearchRun) -> InputError | None:
    """The error for a run without a judged task."""
    tasks = dict.fromkeys(search.task for search in run.searches)
    if not tasks.keys().isdisjoint(judgments.query_ids):
        return None
    fact = f"no task of the run is judged: run: {_some(tasks)}; judgments: {_some(judgments.query_ids)}."
    hint = "a traced task is named by task_id of its searches or first span, by its input, or by the id of the trace"
    return InputError(run.name, fact, hint=hint)


def _some(ids: Iterable[str]) -> str:
    return listed([f"'{each}'" for each in list(ids)[:3]])
