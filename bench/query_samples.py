"""Samples of the queries of a log: how long they take, and whether their intervals hold.

    python bench/query_samples.py speed          a log of 10 million lines with 2 million distinct queries
    python bench/query_samples.py coverage 4000  samples of 200 queries of logs by Zipf's law

`> bench/query_samples.json` keeps the results of the latter for docs/guides/traffic.md.

The values of queries are few, tied or skewed, and frequent queries do better, as they do where people search.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cranfield.evaluation.estimating import SAMPLED, Columns
from cranfield.traffic.sampling import draw

SIZE = 200
LINES, DISTINCT = 10_000_000, 2_000_000
# Distinct queries before those that nobody asks are left out, exponent, searches.
LOGS = {"Zipf 1.0": (100_000, 1.0, 1_000_000), "Zipf 1.2": (20_000, 1.2, 200_000), "Zipf 0.8": (2_000, 0.8, 20_000)}
RESAMPLED = 5  # one of so many samples is also resampled

Numbers = np.ndarray
Kind = Callable[[Numbers, np.random.Generator], Numbers]
# By how often a query is asked, from 0 to 1.
KINDS: dict[str, Kind] = {
    "found or not": lambda often, rng: (rng.random(len(often)) < 0.3 + 0.4 * often).astype(float),
    "found by one in ten": lambda often, rng: (rng.random(len(often)) < 0.05 + 0.1 * often).astype(float),
    "skewed": lambda often, rng: rng.beta(0.5 + 2 * often, 1.0),
    "few values": lambda often, rng: rng.choice([0.0, 0.0, 0.0, 0.5, 0.63, 1.0], len(often)),
    "differences, mostly 0": lambda often, rng: np.where(
        rng.random(len(often)) < 0.25, rng.normal(0.05 + 0.1 * often, 0.3), 0.0
    ),
}


def coverage(samples: int) -> None:
    found = []
    for log, (vocabulary, exponent, searches) in LOGS.items():
        rng = np.random.default_rng([5, vocabulary])
        shares = 1 / np.arange(1, vocabulary + 1) ** exponent
        counts = rng.multinomial(searches, shares / shares.sum())
        counts = counts[counts > 0]
        often = np.log1p(counts) / np.log1p(counts).max()
        values = np.stack([kind(often, rng) for kind in KINDS.values()], axis=1)
        truth = {"search": counts @ values / counts.sum(), "distinct query": values.mean(axis=0)}
        held = {of: np.zeros(len(KINDS)) for of in truth}
        redrawn = {of: np.zeros(len(KINDS)) for of in truth}
        for sample in range(samples):
            drawn, chance = draw(rng.random(len(counts)), counts, SIZE)
            for of, weight in (("search", counts[drawn] / chance), ("distinct query", 1 / chance)):
                columns = Columns(values[drawn], weight, probability=chance)
                estimates = SAMPLED.estimate(columns)
                low, high = estimates.interval(0.05)
                held[of] += (low <= truth[of]) & (truth[of] <= high)
                if sample % RESAMPLED == 0:
                    parts = list(SAMPLED.resample(columns, rng, 999))
                    value, error = (np.concatenate(part) for part in zip(*parts, strict=True))
                    t = np.sort(np.abs(value - estimates.value) / np.maximum(error, 1e-12), axis=0)[949]
                    redrawn[of] += np.abs(estimates.value - truth[of]) <= t * estimates.error
        for of in truth:
            for at, kind in enumerate(KINDS):
                found.append(
                    {
                        "log": log,
                        "distinct": len(counts),
                        "values": kind,
                        "of": of,
                        "samples": samples,
                        "held": round(float(held[of][at]) / samples, 4),
                        "held_resampled": round(float(redrawn[of][at]) / -(-samples // RESAMPLED), 3),
                    }
                )
                print(found[-1], file=sys.stderr, flush=True)
    print(json.dumps(found, indent=1))


def write_log(path: Path, lines: int, distinct: int) -> None:
    """Words at random; every query is asked once, and what remains by Zipf's law. A fifth begins with a capital."""
    rng = np.random.default_rng(0)
    letters = list("abcdefghiklmnoprstuvw")
    words = ["".join(rng.choice(letters, int(rng.integers(3, 9)))) for _ in range(5000)]
    parts = rng.integers(0, len(words), (distinct, 2)).tolist()
    texts = [
        f"{words[one]} {words[two]} {at % 300 if at % 5 else words[at % 977]}" for at, (one, two) in enumerate(parts)
    ]
    texts = [f"{text} {np.base_repr(at, 36).lower()}" if at % 3 else text for at, text in enumerate(texts)]
    shares = np.cumsum(1 / np.arange(1, distinct + 1))
    asked = np.searchsorted(shares / shares[-1], rng.random(lines - distinct)).clip(0, distinct - 1)
    asked = np.concatenate([np.arange(distinct), asked])
    rng.shuffle(asked)
    with path.open("w", encoding="utf-8") as file:
        file.write("timestamp\tuser\tquery\n")
        for first in range(0, lines, 100_000):
            rows = enumerate(asked[first : first + 100_000].tolist(), first)
            file.writelines(
                f"2026-11-{1 + at % 28:02}T10:{at % 60:02}:00\tu{at * 7919 % 99991}\t"
                f"{texts[query] if at % 5 else texts[query].capitalize()}\n"
                for at, query in rows
            )


def speed() -> None:
    """In processor time and at the peak, reading and writing included."""
    program = str(Path(sys.executable).with_name("cranfield"))
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        # In another process: its memory would count for the next.
        subprocess.run([sys.executable, __file__, "write", log], check=True)
        begun = time.perf_counter()
        sampling = subprocess.Popen([program, "sample", log, "-o", Path(folder) / "queries.tsv"])
        _, status, used = os.wait4(sampling.pid, 0)
        seconds = time.perf_counter() - begun
        assert status == 0
        processor, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        print(
            f"{log.stat().st_size / 1e6:,.0f} MB: {seconds:.1f} s, {processor:.1f} s of processor time, {peak:,.0f} MB"
        )
        print("  target: 20 s and 300 MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write_log(Path(sys.argv[2]), LINES, DISTINCT)
    elif sys.argv[1:2] == ["coverage"]:
        coverage(int(sys.argv[2]))
    else:
        speed()
