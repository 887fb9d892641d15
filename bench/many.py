"""Runs of many systems for the same queries, as campaigns collect them: `python bench/many.py NAME` writes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).with_name("data")


class Campaign(NamedTuple):
    runs: int
    queries: int
    depth: int
    judged: int  # documents of a query
    pool: int  # documents of a query that systems draw from


CAMPAIGNS = {"many": Campaign(63, 200, 240, 200, 600), "hundred": Campaign(100, 1000, 100, 60, 200)}


def campaign(name: str = "many") -> tuple[Path, list[Path]]:
    """(qrels, runs); made once in a separate process, and kept."""
    if not (DATA / name / "qrels").exists():
        subprocess.run([sys.executable, __file__, name], check=True)
    return DATA / name / "qrels", sorted((DATA / name).glob("*.run"))


def make(name: str) -> None:
    """Write the files: systems draw from a pool of documents for each query, of which a third is judged."""
    runs, queries, depth, judged, pool = CAMPAIGNS[name]
    folder = DATA / name
    folder.mkdir(parents=True, exist_ok=True)
    print("making runs of many systems …", file=sys.stderr)
    chance = np.random.default_rng(0)
    grades = chance.choice([0, 0, 0, 0, 1, 1, 2, 3], size=(queries, judged))
    for system in range(runs):
        lines = []
        for query in range(queries):
            worth = chance.normal(size=pool)
            worth[:judged] += (0.2 + 0.01 * system) * grades[query]
            best = np.argsort(-worth)[:depth]
            lines += [
                f"{query} Q0 document-{query:05d}-{document:09d} {rank} {score:.6f} s{system}\n"
                for rank, (document, score) in enumerate(zip(best.tolist(), worth[best].tolist()), 1)
            ]
        (folder / f"s{system:02d}.run").write_text("".join(lines))
    unfinished = folder / "qrels.part"
    unfinished.write_text(
        "".join(
            f"{query} 0 document-{query:05d}-{document:09d} {grade}\n"
            for query, row in enumerate(grades.tolist())
            for document, grade in enumerate(row)
        )
    )
    unfinished.rename(folder / "qrels")


if __name__ == "__main__":
    make(*sys.argv[1:])
