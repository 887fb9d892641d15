"""The benchmark's own collections, shaped like MS MARCO's: a thousand documents for each query, few of them judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

DATA = Path(__file__).with_name("data")
DOCUMENTS = 8_841_823
DEPTH = 1000


def collection(queries: int, copies: int = 1) -> tuple[Path, Path]:
    """(qrels, run) with so many queries, `copies` times over under other query ids; made once and kept."""
    qrels, run = DATA / f"{queries}x{copies}.qrels", DATA / f"{queries}x{copies}.run"
    if not run.exists():
        # In a process of its own: what a child is said to have used at most includes what its parent used before.
        subprocess.run([sys.executable, __file__, str(queries), str(copies)], check=True)
    return qrels, run


def make(queries: int, copies: int) -> None:
    """Write the files of a collection."""
    DATA.mkdir(exist_ok=True)
    qrels, run = DATA / f"{queries}x{copies}.qrels", DATA / f"{queries}x{copies}.run"
    print(f"making {run.name} …", file=sys.stderr)
    if copies > 1:
        _copy(collection(queries), (qrels, run), copies)
        return
    chance = np.random.default_rng(queries)
    ids = np.sort(chance.choice(1_100_000, queries, replace=False)).tolist()
    unfinished = run.with_suffix(".part")
    with unfinished.open("w") as run_file, qrels.open("w") as qrels_file:
        for query in ids:
            documents = np.unique(chance.integers(0, DOCUMENTS, DEPTH + 50))
            chance.shuffle(documents)
            listed = documents[:DEPTH].tolist()
            scores = np.sort(chance.gamma(4, 4, DEPTH))[::-1].tolist()
            run_file.write(
                "".join(f"{query} Q0 {d} {i} {s:.6f} bm25\n" for i, (d, s) in enumerate(zip(listed, scores), 1))
            )
            judged = {
                listed[min(int(chance.exponential(60)), DEPTH - 1)] if chance.random() < 0.55 else DOCUMENTS + 1
                for _ in range(1 + int(chance.random() < 0.07))
            }
            qrels_file.write("".join(f"{query} 0 {d} 1\n" for d in sorted(judged)))
    unfinished.rename(run)


def _copy(source: tuple[Path, Path], target: tuple[Path, Path], copies: int) -> None:
    for old, new in zip(source, target):
        unfinished = new.with_suffix(".part")
        data = b"\n" + old.read_bytes()[:-1]
        with unfinished.open("wb") as file:
            for copy in range(copies):
                letter = b"" if copy == 0 else b"abcdefghijklmnopqrstuvwxyz"[copy : copy + 1]
                file.write(data.replace(b"\n", b"\n" + letter)[copy == 0 :])
            file.write(b"\n")
        unfinished.rename(new)


if __name__ == "__main__":
    make(int(sys.argv[1]), int(sys.argv[2]))
