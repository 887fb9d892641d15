"""The demonstration: two engines over the built-in collection, asked and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cranfield.comparison import Comparison, compare_evaluations
from cranfield.evaluation.evaluating import evaluate
from cranfield.evaluation.result import Evaluation
from cranfield.systems.collection import BUILTIN, Collection, kept_in_memory, open_collection
from cranfield.systems.misses import Miss, misses
from cranfield.systems.opening import open_system
from cranfield.systems.recording import record

MEASURES = ("nDCG@10", "RR", "R@100", "Judged@10")
POOR = 8  # queries looked at for what to try next


class Demonstration(NamedTuple):
    collection: Collection
    documents: int
    evaluations: tuple[Evaluation, ...]
    comparison: Comparison
    poor: tuple[Miss, ...]


def demonstrate() -> Demonstration:
    """Index the built-in collection twice, ask both engines every query, and compare them."""
    collection = kept_in_memory(open_collection(BUILTIN))
    systems = open_system("sqlite", collection, name="plain"), open_system("sqlite:tuned", collection, name="tuned")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{system.name}.run" for system in systems]
        for system, path in zip(systems, paths, strict=True):
            record(system, collection.queries, path)
            system.close()
        evaluations = [evaluate(collection.qrels, path, MEASURES) for path in paths]
        poor = misses(evaluations[1], collection, MEASURES[0], POOR)
        comparison = compare_evaluations(evaluations, "nDCG@10", baseline="plain")
    documents = sum(1 for _ in collection.documents())
    return Demonstration(collection, documents, tuple(evaluations), comparison, tuple(poor))


def without_words(poor: Sequence[Miss]) -> int:
    """How many of the queries have relevant documents that share no word with them, at least half of them."""
    return sum(2 * (miss.apart or 0) >= miss.facts.relevant > 0 for miss in poor)
