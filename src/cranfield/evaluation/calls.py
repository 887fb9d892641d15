"""What each search of an agent adds: recall by call, the call that first finds something, calls without gain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from cranfield.evaluation.estimating import Estimate
from cranfield.evaluation.evaluating import evaluate
from cranfield.measures import catalogue
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.searches import SearchRun, rank_searches, read_searches
from cranfield.words import count

MOST = 50  # calls that are listed


@dataclass(frozen=True, slots=True)
class Call:
    """What one call, such as the second search of each task, finds.

    call: its number
    tasks: how many tasks make it
    alone: the recall of this call by itself, over all tasks: 0 for one that does not make it
    union: the recall of all calls up to this one together
    first: the share of all tasks in which it is the first to find something
    gain: of the tasks that make it, the share in which it finds something new
    again: of the documents that it fetches, the share that an earlier call had fetched

    >>> from cranfield import calls, read_searches
    >>> run = read_searches({"t": [["x"], ["a", "x"]]})
    >>> calls({"t": {"a": 1, "b": 1}}, run).rows[1]
    Call(call=2, tasks=1, alone=0.5, union=0.5, first=1.0, gain=1.0, again=0.5)
    """

    call: int
    tasks: int
    alone: float
    union: float
    first: float
    gain: float
    again: float


@dataclass(frozen=True, slots=True, repr=False)
class Calls:
    """The result of `calls`: a row for each call, and what all of them find together.

    run: the name of the run
    tasks, searches: how many there are
    most: how many searches the task with most has; the first 50 are listed
    unanswered: tasks without a search
    none: the share of tasks in which no call finds anything
    union, no_gain, refetched: estimates of UnionR, NoGain and Refetched, each with an interval
    rows: by call
    cutoff, rel: the deepest rank of each search that counts, and the lowest relevant grade
    signature: the conventions
    warnings: what may make these numbers misleading, in sentences

    >>> from cranfield import calls, read_searches
    >>> found = calls({"t": {"a": 1, "b": 1}}, read_searches({"t": [["x"], ["a", "x"]]}))
    >>> print(found)
    the run: 1 task, 2 searches; recall 0.5000 together
    >>> found.counted, found.to_dict()["none"], len(found.to_json()) > 100
    ('1 task, 2 searches', 0.0, True)
    """

    run: str
    tasks: int
    searches: int
    most: int
    unanswered: int
    none: float
    union: Estimate
    no_gain: Estimate
    refetched: Estimate
    rows: tuple[Call, ...] = field(default=())
    cutoff: int | None = None
    rel: float = 1
    signature: str = ""
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Calls of {self}>"

    def __str__(self) -> str:
        return f"{self.run}: {self.counted}; recall {self.union.value:.4f} together"

    def __iter__(self) -> Iterator[Call]:
        return iter(self.rows)

    @property
    def counted(self) -> str:
        """How many tasks and searches there are, in words."""
        return f"{count(self.tasks, 'task')}, {count(self.searches, 'search', 'searches')}"

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, ready for JSON."""
        return asdict(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as JSON.

        indent: blanks for each level; None writes one line.
        Returns the text.
        """
        return json.dumps(self.to_dict(), indent=indent)


def calls(
    qrels: Any,
    run: Any,
    *,
    cutoff: int | None = None,
    rel: float = 1,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
) -> Calls:
    """Show what each search of an agent adds to those before it.

    qrels: the judgments of tasks, as `evaluate` takes them.
    run: a `SearchRun`, or anything that `read_searches` takes.
    cutoff: the deepest rank of each search that counts; by default all.
    rel: the lowest grade that is relevant.
    policy: the conventions; see `Policy`.
    format, qrels_format: those of the run and of the judgments, if they cannot be detected.
    Returns `Calls`, with a row for each call.

    >>> run = read_searches({"t": [["x"], ["a", "x"], ["x"]], "u": [["c"]]})
    >>> found = calls({"t": {"a": 1, "b": 1}, "u": {"c": 1}}, run)
    >>> [(row.call, row.tasks, row.alone, row.union) for row in found]
    [(1, 2, 0.5, 0.5), (2, 1, 0.25, 0.75), (3, 1, 0.0, 0.75)]
    """
    searches = run if isinstance(run, SearchRun) else read_searches(run, format=format)
    policy, judgments = policy or Policy(), Judgments.read(qrels, qrels_format)
    known = catalogue()
    wanted = [known["UnionR"](cutoff=cutoff, rel=rel), known["NoGain"](cutoff=cutoff, rel=rel)]
    wanted.append(known["Refetched"](cutoff=cutoff))
    result = evaluate(judgments, searches, wanted, policy=policy)
    union, no_gain, refetched = (result.estimate(measure) for measure in wanted)
    table = rank_searches(judgments, searches, policy)
    kept = table.within(cutoff)
    hit = kept & table.relevant(rel)
    new, fresh, first = table.first(hit), table.first(kept), table.first_call(hit)
    rows = []
    tasks = len(table)
    most = int(table.calls.max(initial=0))
    for call in range(1, min(most, MOST) + 1):
        making = int((table.calls >= call).sum())
        of_call = table.call == call
        fetched = int((kept & of_call).sum())
        alone = known["CallR"](call=call, cutoff=cutoff, rel=rel)(table)
        together = known["UnionR"](calls=call, cutoff=cutoff, rel=rel)(table)
        gaining = int((table.sum(new & of_call) > 0).sum())
        again = fetched - int((fresh & of_call).sum())
        rows.append(
            Call(
                call,
                making,
                float(alone.mean()),
                float(together.mean()),
                float((first == call).mean()),
                gaining / making,
                again / fetched if fetched else 0.0,
            )
        )
    return Calls(
        run=result.run,
        tasks=tasks,
        searches=int(table.calls.sum()),
        most=most,
        unanswered=int((table.calls == 0).sum()),
        none=float((first == float("inf")).mean()),
        union=union,
        no_gain=no_gain,
        refetched=refetched,
        rows=tuple(rows),
        cutoff=cutoff,
        rel=rel,
        signature=result.signature,
        warnings=result.warnings,
    )
