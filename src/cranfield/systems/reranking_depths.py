"""rerank_by_depth(qrels, run, reranker, queries): what a reranker gains, where it hurts and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cranfield.errors import InputError
from cranfield.evaluation.evaluating import evaluate
from cranfield.evaluation.reranking import headroom
from cranfield.measures import Measure, parse_measure
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.systems.opening import open_reranker
from cranfield.systems.reranking import rerank

DEPTHS = (10, 20, 50, 100)
SAME = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class RerankedDepth:
    """What a reranker makes of the first documents of a run, down to one depth.

    depth: how many documents of each ranking it gets
    before, value, ideal: the mean of the measure without it, with it, and if the documents were in the ideal order
    recall: the share of the relevant documents that are among them
    gained: the share of the possible gain that it reaches; below 0 where it loses
    helped, hurt: the queries whose value rises and falls, with the difference, the largest first
    latency: seconds of a query: mean, p50, p90, p95, p99, max
    failed: how many queries failed, and count as they were

    >>> from cranfield import rerank_by_depth
    >>> qrels, first = {"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    >>> [at] = rerank_by_depth(qrels, first, lambda query, documents: [0, 1], {"q": "cats"}, depths=[2], measure="RR")
    >>> at.before, at.value, at.gained, at.helped, at.to_dict()["recall"]
    (0.5, 1.0, 1.0, (('q', 0.5),), 1.0)
    """

    depth: int
    before: float
    value: float
    ideal: float
    recall: float
    gained: float
    helped: tuple[tuple[str, float], ...]
    hurt: tuple[tuple[str, float], ...]
    latency: Mapping[str, float]
    failed: int

    def __repr__(self) -> str:
        return (
            f"<RerankedDepth {self.depth}: {self.before:.4f} → {self.value:.4f}, {self.gained:.0%} of what is possible>"
        )

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, ready for JSON."""
        return asdict(self)


def rerank_by_depth(
    qrels: Any,
    run: Any,
    reranker: Any,
    queries: Mapping[str, Any],
    documents: Any = None,
    depths: Sequence[int] = DEPTHS,
    measure: str | Measure = "nDCG@10",
    *,
    format: str | None = None,
    policy: Policy | None = None,
    **options: Any,
) -> list[RerankedDepth]:
    """What a reranker gains at several depths, where it hurts, and how long a query takes there.

    qrels: judgments, as `evaluate` takes them.
    run, reranker, queries, documents: those of `rerank`. The reranker is asked again for each depth.
    depths: how many documents of each ranking it gets.
    measure: its name, or a `Measure`.
    format, policy: how the run is read.
    options: those of `rerank`, such as jobs, retries and on_answer.
    Returns a `RerankedDepth` for each depth, the smallest first.

    >>> first = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
    >>> texts = {"d1": "dogs", "d2": "cats and dogs", "d3": "cats cats"}
    >>> def overlap(query, documents):
    ...     return [document.text.count(query) for document in documents]
    >>> qrels, queries = {"q1": {"d3": 1}, "q2": {"d1": 1}}, {"q1": "cats", "q2": "cats"}
    >>> for at in rerank_by_depth(qrels, first, overlap, queries, texts, [1, 3], "RR"):
    ...     print(at.depth, round(at.value, 2), round(at.ideal, 2), round(at.gained, 2), at.helped, at.hurt)
    1 0.67 0.67 0.0 () ()
    3 0.75 1.0 0.25 (('q1', 0.6667),) (('q2', -0.5),)
    """
    if not depths:
        raise InputError("depths", "no depth is given.", hint=f"such as {', '.join(map(str, DEPTHS))}")
    wanted = parse_measure(measure)
    judgments = Judgments.read(qrels)
    policy = policy or Policy()
    first = evaluate(judgments, run, [wanted], policy=policy, format=format)
    before = dict(zip(first.query_ids, first.column(wanted).tolist(), strict=True))
    target = open_reranker(reranker) if isinstance(reranker, str) else reranker
    asked = {query: text for query, text in queries.items() if query in before}
    sign = wanted.definition.sign
    found = []
    for depth in sorted(set(depths)):
        recorded = rerank(run, target, asked, documents, depth, format=format, policy=policy, **options)
        after = dict(before)
        if recorded.answered:
            again = evaluate(judgments, recorded, [wanted], policy=policy)
            known = dict(zip(again.query_ids, again.column(wanted).tolist(), strict=True))
            after |= {query: known[query] for query in asked if query not in recorded.failed and query in known}
        gaps = sorted(((query, after[query] - before[query]) for query in before), key=lambda its: -abs(its[1]))
        room = headroom(judgments, run, wanted, depth, policy=policy)
        value = room.before + sum(gap for _, gap in gaps) / len(gaps)
        found.append(
            RerankedDepth(
                *(depth, room.before, value, room.ideal, room.recall, room.gained(value)),
                helped=tuple((query, round(gap, 4)) for query, gap in gaps if sign * gap > SAME),
                hurt=tuple((query, round(gap, 4)) for query, gap in gaps if sign * gap < -SAME),
                latency=recorded.latency,
                failed=len(recorded.failed) + len(recorded.not_asked),
            )
        )
    return found
