"""Runs of many systems for the same queries, as an evaluation campaign collects: `python bench/many.py` writes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).with_name("data") / "many"
RUNS, QUERIES, DEPTH, JUDGED, POOL = 63, 200, 240, 200, 600


def campaign() -> tuple[Path, list[Path]]:
    """(qrels, runs); made once in a separate process, and kept."""
    if not (FOLDER / "qrels").exists():
        subprocess.run([sys.executable, __file__], check=True)
    return FOLDER / "qrels", sorted(FOLDER.glob("*.run"))


def make() -> None:
    """Write the files: systems draw from a pool of documents for each query, of which a third is judged."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("making runs of many systems …", file=sys.stderr)
    chance = np.random.default_rng(0)
    grades = chance.choice([0, 0, 0, 0, 1, 1, 2, 3], size=(QUERIES, JUDGED))
    for system in range(RUNS):
        lines = []
        for query in range(QUERIES):
            worth = chance.normal(size=POOL)
            worth[:JUDGED] += (0.2 + 0.01 * system) * grades[query]
            best = np.argsort(-worth)[:DEPTH]
            lines += [
                f"{query} Q0 document-{query:05d}-{document:09d} {rank} {score:.6f} s{system}\n"
                for rank, (document, score) in enumerate(zip(best.tolist(), worth[best].tolist()), 1)
            ]
        (FOLDER / f"s{system:02d}.run").write_text("".join(lines))
    unfinished = FOLDER / "qrels.part"
    unfinished.write_text(
        "".join(
            f"{query} 0 document-{query:05d}-{document:09d} {grade}\n"
            for query, row in enumerate(grades.tolist())
            for document, grade in enumerate(row)
        )
    )
    unfinished.rename(FOLDER / "qrels")


if __name__ == "__main__":
    make()
