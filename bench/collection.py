"""The benchmark's own collections, shaped like MS MARCO's: a thousand documents for each query, few of them judged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).with_name("data")
DOCUMENTS = 8_841_823
DEPTH = 1000


def collection(queries: int, copies: int = 1) -> tuple[Path, Path]:
    """(qrels, run) with this many queries, repeated `copies` times with other query ids; made once and kept."""
    qrels, run = DATA / f"{queries}x{copies}.qrels", DATA / f"{queries}x{copies}.run"
    if not run.exists():
        # In a separate process, because the peak memory of a child includes what its parent used before.
        subprocess.run([sys.executable, __file__, str(queries), str(copies)], check=True)
    return qrels, run


def another(queries: int) -> Path:
    """A second run for the queries of `collection`: most documents are the same, in a similar order; made once."""
    run = DATA / f"{queries}x1.other.run"
    if not run.exists():
        collection(queries)
        subprocess.run([sys.executable, __file__, str(queries)], check=True)
    return run


def make_another(queries: int) -> None:
    """Write the file of `another`: scores move a little, and a fourth of the documents are others."""
    source, run = DATA / f"{queries}x1.run", DATA / f"{queries}x1.other.run"
    print(f"making {run.name} …", file=sys.stderr)
    chance = np.random.default_rng(queries + 1)
    unfinished = run.with_suffix(".part")
    with source.open() as lines, unfinished.open("w") as out:
        for _ in range(queries):
            ranking = [next(lines).split(" ", 5) for _ in range(DEPTH)]
            scores = np.array([float(line[4]) for line in ranking]) * chance.lognormal(0, 0.2, DEPTH)
            new = iter((DOCUMENTS + 2 + chance.permutation(DEPTH)).tolist())  # unlike any other document
            changed = (chance.random(DEPTH) < 0.25).tolist()
            query = ranking[0][0]
            order = np.argsort(-scores).tolist()
            for rank, at in enumerate(order, 1):
                document = next(new) if changed[at] else ranking[at][2]
                out.write(f"{query} Q0 {document} {rank} {scores[at]:.6f} dense\n")
    unfinished.rename(run)


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


def compressed(file: Path) -> dict[str, Path]:
    """The same content, compressed by gzip, bzip2, xz and zstd with their defaults; made once and kept."""
    made = {}
    for tool, ending in (("gzip", ".gz"), ("bzip2", ".bz2"), ("xz", ".xz"), ("zstd", ".zst")):
        target = file.with_name(file.name + ending)
        if not target.exists() and shutil.which(tool):
            print(f"making {target.name} …", file=sys.stderr)
            unfinished = target.with_suffix(".part")
            with file.open("rb") as source, unfinished.open("wb") as out:
                subprocess.run([tool, "-c"], stdin=source, stdout=out, check=True)
            unfinished.rename(target)
        if target.exists():
            made[tool] = target
    return made


def judged_ranks(queries: int, judged: int) -> Any:
    """A table of judged ranks: `judged` documents for each query, among a thousand, with grades from 0 to 3."""
    from cranfield import JudgedRanks
    from cranfield.ranks.columns import offsets
    from cranfield.ranks.tables.judged_grades import JudgedGrades

    chance = np.random.default_rng(queries)
    rank = np.sort(np.argsort(chance.random((queries, DEPTH), dtype=np.float32), axis=1)[:, :judged], axis=1) + 1
    grade = chance.choice([0, 0, 0, 0, 1, 1, 2, 3], size=(queries, judged)).astype(np.float64)
    return JudgedRanks(
        query_ids=tuple(map(str, range(queries))),
        query=np.repeat(np.arange(queries), judged),
        rank=rank.reshape(-1),
        grade=grade.reshape(-1),
        tied=np.zeros(queries * judged, dtype=np.bool_),
        row=np.arange(queries * judged),
        retrieved=np.full(queries, DEPTH),
        missing=np.zeros(queries, dtype=np.bool_),
        all_judged=JudgedGrades(
            -np.sort(-grade, axis=1).reshape(-1), offsets([judged] * queries), np.arange(queries * judged)
        ),
    )


if __name__ == "__main__":
    sizes = [int(size) for size in sys.argv[1:]]
    make_another(*sizes) if len(sizes) == 1 else make(*sizes)
