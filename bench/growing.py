"""How the work of each command grows: `python bench/growing.py` gives it an input and twice that input.

Work is processor time, of which what the same command takes for a tiny input is the start. Queries grow; each has a
hundred documents, thirty of them judged. Of logs, lines grow, and of histories, results.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from record import record_growth

CRANFIELD = str(Path(sys.executable).with_name("cranfield"))
HERE = Path(__file__).parent
TINY, SIZE = 40, 4000
DEPTH, JUDGED, TIMES = 100, 30, 2
SYSTEM = """
import sqlite3
from pathlib import Path

answers = sqlite3.connect(Path(__file__).with_name("answers.db"), check_same_thread=False)

def search(text, k):
    rows = answers.execute("SELECT document FROM answers WHERE query = ? ORDER BY place", (text,))
    return [document for document, in rows][:k]
"""


def make(folder: Path, queries: int) -> None:
    """Judgments, three runs, a log, searches of tasks, interactions, a store, a system, and a history."""
    import numpy as np  # only here: the peak of a process includes what the one that started it had

    chance = np.random.default_rng(queries)
    worth = chance.normal(size=(3, queries, DEPTH))
    grades = chance.choice([0, 0, 0, 1, 2], size=(queries, JUDGED))
    worth[:, :, :JUDGED] += 0.5 * grades
    names = [[f"document-{query}-{place}" for place in range(DEPTH)] for query in range(queries)]
    rows = [
        f"{query} 0 {name} {grade}\n"
        for query, its in enumerate(grades.tolist())
        for name, grade in zip(names[query], its)
    ]
    (folder / "qrels").write_text("".join(rows))
    for run, name in zip(worth, "abc"):
        order = np.argsort(-run, axis=1)
        lines = (
            f"{query} Q0 {names[query][at]} {rank} {run[query, at]:.6f} {name}\n"
            for query in range(queries)
            for rank, at in enumerate(order[query].tolist(), 1)
        )
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "queries.tsv").write_text("".join(f"{query}\ta question {query}\n" for query in range(queries)))
    with (folder / "log.tsv").open("w") as log:
        log.write("query\n")
        log.writelines(f"words {number}\n" for number in chance.zipf(1.3, 100 * queries).tolist())
    with (folder / "tasks.tsv").open("w") as tasks:
        tasks.write("task\tstep\tquery\tdoc_id\trank\n")
        for query in range(queries):
            for step in range(3):
                found = zip(names[query][30 * step :], range(1, 11))
                tasks.writelines(f"{query}\t{step}\twords\t{name}\t{rank}\n" for name, rank in found)
    with (folder / "ratings.csv").open("w") as ratings:
        ratings.write("user_id,item_id,rating,timestamp\n")
        for user in range(queries):
            items = chance.choice(5000, 20, replace=False).tolist()
            ratings.writelines(f"u{user},i{item},{1 + item % 5},{time}\n" for time, item in enumerate(items))
    (folder / "system.py").write_text(SYSTEM)
    with sqlite3.connect(folder / "answers.db") as answers:
        answers.execute("CREATE TABLE answers (query TEXT, place INTEGER, document TEXT)")
        its = [
            (f"a question {query}", place, name) for query in range(queries) for place, name in enumerate(names[query])
        ]
        answers.executemany("INSERT INTO answers VALUES (?, ?, ?)", its)
        answers.execute("CREATE INDEX by_query ON answers (query)")
    answers.close()
    for assessor in ("ann", "bob"):
        called(folder, "convert", "qrels", "judgments.db", "--assessor", assessor)
    subprocess.run(
        [sys.executable, HERE / "overtime.py", "history.db", str(queries // 4), "500"],
        cwd=folder,
        check=True,
        capture_output=True,
    )


class Command(NamedTuple):
    arguments: str
    grows: str = "queries"
    before: Callable[[Path], object] | None = None


def without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink(missing_ok=True)


COMMANDS = (
    Command("evaluate qrels a.run -m nDCG@10 -m AP"),
    Command("evaluate qrels a.run -m nDCG@10 -m AP --bounds --worst 5"),
    Command("evaluate qrels a.run -m nDCG@10 --theirs 0.5"),
    Command("explain qrels a.run 7"),
    Command("trec_eval qrels a.run"),
    Command("calls qrels tasks.tsv", "tasks"),
    Command("compare qrels a.run b.run c.run"),
    Command("gate qrels a.run b.run"),
    Command("diff a.run b.run --qrels qrels"),
    Command("diff a.run b.run --exact"),
    Command("stability qrels a.run b.run"),
    Command("report qrels a.run b.run c.run -o report.html"),
    Command("plot difference qrels a.run b.run -o difference.svg"),
    Command("fuse a.run b.run c.run -o fused.run --force"),
    Command("tune qrels a.run b.run"),
    Command("sample log.tsv -n 200", "lines"),
    Command("pool pooled.db queries.tsv a.run b.run c.run --depth 10", "queries", without("pooled.db")),
    Command("agreement judgments.db"),
    Command("run system:search queries.tsv -o asked.run --force -k 100"),
    Command("history --history history.db", "results"),
    Command("check qrels a.run"),
    Command("convert a.run a.jsonl --force"),
    Command("split ratings.csv split --force", "users", lambda folder: shutil.rmtree(folder / "split", True)),
)


def called(folder: Path, *arguments: str) -> tuple[float, float]:
    """The processor time of a command, its own processes included, and its peak memory in MB."""
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen([CRANFIELD, *arguments], cwd=folder, stdout=told, stderr=told)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            told.seek(0)
            raise SystemExit(f"failed: cranfield {' '.join(arguments)}\n{told.read().decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def grown(command: Command, folders: list[Path]) -> dict[str, object]:
    """What a command takes: the best of a few times for each size, the sizes in turns."""
    best = [(float("inf"), float("inf"))] * len(folders)
    for _ in range(TIMES):
        for at, folder in enumerate(folders):
            if command.before:
                command.before(folder)
            best[at] = min(best[at], called(folder, *command.arguments.split()))
    (start, _), (once, memory), (twice, more) = best
    row = {"command": command.arguments, "grows": command.grows, "start": start, "seconds": once - start}
    row |= {"work": (twice - start) / (once - start), "mb": memory, "memory": more / memory}
    print(f"{command.arguments:62}{row['seconds']:8.2f}{row['work']:7.2f}{memory:8.0f}{row['memory']:7.2f}", flush=True)
    return row


def main(*names: str) -> None:
    chosen = [command for command in COMMANDS if not names or command.arguments.split()[0] in names]
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place, str(size)) for size in (TINY, SIZE, 2 * SIZE)]
        for folder in folders:
            folder.mkdir()
            subprocess.run([sys.executable, __file__, "make", folder, folder.name], check=True)
        print(f"{'':62}{'seconds':>8}{'work':>7}{'MB':>8}{'memory':>7}")
        rows = [grown(command, folders) for command in chosen]
    if not names:
        record_growth(f"{SIZE:,} queries × {DEPTH} documents", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*sys.argv[1:])
