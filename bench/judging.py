"""A store of a million waiting documents and a million judgments: `python bench/judging.py`; see case_judging."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

QUERIES, EACH = 5_000, 200
ASSESSORS, GRADES = 20, 100


def made() -> Path:
    """The store, made once and kept."""
    from collection import DATA

    from cranfield import open_store

    path = DATA / "judgments-3.db"
    DATA.mkdir(exist_ok=True)
    if not path.exists():
        unfinished = path.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        text = "What a document says about what was asked. " * 20
        with open_store(unfinished, create=True) as store:
            store.add_queries({f"q{query}": f"what is asked number {query}" for query in range(QUERIES)})
            store.add_documents({f"w{number}": {"title": f"Document {number}", "text": text} for number in range(EACH)})
            store.wait((f"q{query}", f"w{number}") for query in range(QUERIES) for number in range(EACH))
            judged = {f"d{number}": number % 4 for number in range(EACH)}
            store.import_qrels({f"q{query}": judged for query in range(QUERIES)}, "earlier")
        unfinished.rename(path)
    return path


def percentile(times: list[float], share: float = 0.99) -> float:
    """The time that this share of all times stays below."""
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def timed(work: Callable[[], object]) -> float:
    """The seconds that something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def synced(folder: Path) -> list[float]:
    """The times of the disk for the work of a grade: to write a few pages and sync them."""
    with open(folder / "synced", "wb") as file:

        def write() -> None:
            file.write(b"x" * 32_768)
            file.flush()
            os.fsync(file.fileno())

        return [timed(write) for _ in range(300)]


def judge_at_once(where: Path) -> tuple[list[float], list[float]]:
    """Twenty assessors who judge without a pause: the times to get a document, and to save a grade."""
    from cranfield import open_store

    getting: list[float] = []
    saving: list[float] = []
    with open_store(where) as store:

        def assess(name: str) -> None:
            for number in range(GRADES):
                start = time.perf_counter()
                [task] = store.next_several(name, 1)
                getting.append(time.perf_counter() - start)
                seen, key = task.text_sha256, f"{name}-{number}"  # as the page sends them
                given = {"assessor": name, "seconds": 1.0, "text_sha256": seen, "key": key}
                got = time.perf_counter()
                store.judge(task.query_id, task.doc_id, number % 4, **given)
                saving.append(time.perf_counter() - got)

        threads = [threading.Thread(target=assess, args=(f"assessor {number}",)) for number in range(ASSESSORS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return getting, saving


def one_alone(where: Path) -> list[float]:
    """The times that one assessor waits for the next document."""
    from cranfield import open_store

    times = []
    with open_store(where) as store:
        for number in range(200):
            start = time.perf_counter()
            [task] = store.next_several("ann", 1)
            times.append(time.perf_counter() - start)
            store.judge(task.query_id, task.doc_id, number % 4, assessor="ann")
    return times


def main() -> None:
    """Print all times, in seconds, as JSON."""
    from cranfield import Judgments

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "judgments.db"
        shutil.copy(made(), copy)
        view = timed(lambda: Judgments.read(copy))
        alone = one_alone(copy)
        getting, saving = judge_at_once(copy)
        results = {
            "synced": percentile(synced(Path(folder))),
            "next": percentile(alone),
            "next, 20 at once": percentile(getting),
            "grade, 20 at once": percentile(saving),
            "grade, 20 at once, median": percentile(saving, 0.5),
            "view": view,
        }
    print(json.dumps(results))


if __name__ == "__main__":
    main()
