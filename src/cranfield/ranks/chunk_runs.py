"""A run of chunks with the places of its chunks, and which judgments are of passages.

Every evaluation checks whether it uses these, so nothing else is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from cranfield.ranks.passages import PassageJudgments


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChunkRun:
    """A run of chunks, with the places of its chunks: what is measured against `PassageJudgments`.

    It works wherever a run does: in `evaluate`, `compare`, `gate` and `write_report`. Each run brings its own
    chunks, so that two ways to cut documents into chunks can be compared.

    run: anything that `evaluate` takes as a run, with the ids of chunks for those of documents
    chunks: `Chunks`, or anything that `Chunks.read` takes

    >>> from cranfield import PassageJudgments, evaluate
    >>> passages = PassageJudgments.read([("q", "d", 10, 20, 1), ("q", "d", 30, 50, 1)])
    >>> run = ChunkRun({"q": ["c2", "c1"]}, {"c1": ("d", 0, 20), "c2": ("d", 60, 70)})
    >>> evaluate(passages, run, "RR PassageR@2 TextR@2 TextP@2")
    <Evaluation of the run: RR=0.5000, PassageR@2=0.5000, TextR@2=0.3333, TextP@2=0.3333; 1 query>
    """

    run: Any
    chunks: Any

    def __repr__(self) -> str:
        return f"<ChunkRun of {type(self.run).__name__}>"


def are_of_passages(qrels: Any) -> TypeGuard[PassageJudgments]:
    return hasattr(type(qrels), "of_documents")


def passages_for(qrels: Any, runs: Iterable[Any]) -> Any:
    """The judgments that runs are measured by: of passages, if one of the runs is of chunks; otherwise as they are."""
    if not any(isinstance(run, ChunkRun) for run in runs):
        return qrels
    from cranfield.ranks.passages import PassageJudgments

    return PassageJudgments.read(qrels)
