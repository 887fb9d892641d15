"""How often `history --check` raises an alarm: `python bench/alerting.py [MONTHS]`.

`> bench/alerting.json` keeps the results for docs/claims.md. A month is thirty daily looks at a level of .05 for all of
them, on values as skewed and as tied as real ones.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"  # worlds run in parallel
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.comparison.days import World, alarms  # noqa: E402

MONTHS = 1000
BEFORE = 40  # results before the first look: the last ten of a look, and thirty before them
OWN = [World(kind=kind, earlier=earlier) for kind in ("graded", "rr") for earlier in (1, BEFORE)]
SHAKEN = [
    World(kind=kind, shake=shake, shake_autocorrelation=autocorrelation, earlier=BEFORE)
    for kind in ("graded", "rr")
    for shake in (0.01, 0.02, 0.05)
    for autocorrelation in (0.0, 0.5)
]
# Shakes that are hardly larger than what queries do on their own, which are the hardest to see.
FAINT = [
    World(shake=shake, shake_autocorrelation=autocorrelation, earlier=BEFORE)
    for shake in (0.002, 0.004)
    for autocorrelation in (0.0, 0.5)
]
SLIDING = [
    World(kind=kind, slide=0.02, shake=shake, earlier=earlier)
    for kind, shake, earlier in (
        ("graded", 0.0, 1),
        ("graded", 0.0, BEFORE),
        ("rr", 0.0, 1),
        ("graded", 0.01, BEFORE),
    )
]


def main(months: int) -> None:
    worlds = {"own": OWN, "shaken": SHAKEN, "faint": FAINT, "sliding": SLIDING}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        futures = {name: [pool.submit(alarms, world, months) for world in its] for name, its in worlds.items()}
        results = {
            name: [
                {**world._asdict(), **future.result()._asdict()}
                for world, future in zip(worlds[name], its, strict=True)
            ]
            for name, its in futures.items()
        }
    print(json.dumps({"months": months, **results}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MONTHS)
