"""How far the values that `cranfield tune` reports are from the truth: `python bench/tuning.py`.

Its arguments are the number of samples of each case (6,000), and the queries of a sample (50). The cases and what is
found are described in tests/mixing/simulated.py; the results of 6,000 or more are kept in bench/tuning.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.mixing.simulated import CASES, population, simulated  # noqa: E402

FILE = Path(__file__).with_name("tuning.json")
RECORDED = 6000  # samples from which on the results are kept


def main(times: int = 6000, queries: int = 50) -> None:
    found = {}
    for name, case in CASES.items():
        values = population(case, 4000, 1)
        outcome = simulated(values, queries, times, 2, budget=case.budget)
        found[name] = {"measure": case.measure, "settings": values.shape[1], "queries": queries, "samples": times}
        found[name] |= {"budget": case.budget} if case.budget else {}
        found[name] |= {what: round(value, 5) for what, value in outcome._asdict().items()}
        print(name, found[name], flush=True)
    if times >= RECORDED:
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
