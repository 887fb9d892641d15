"""How often `why` finds the rule: `python bench/explaining.py [CASES [WORKERS]]` writes explaining.json.

A case is a generated collection of 1,000 queries, and one or two rules of one tool, drawn among those that change the
number. The right explanation is the one with the same value for every query. Nothing was tuned on these seeds.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).parents[1]))

from cranfield import Judgments, parse_measure
from cranfield.dialects.conventions import Convention, Conventions
from cranfield.dialects.run_ranks import RunRanks
from cranfield.dialects.search import Explained, Given, Search
from cranfield.dialects.tools import dialects
from cranfield.dialects.why import explained
from cranfield.ranks.run import open_run
from tests.dialects.made import collection

QUERIES, DECIMALS = 1000, 4
FIRST_SEED = 20_000
MEASURES = ("nDCG@10", "AP@10", "P@10", "RR@10", "R@10", "AP", "nDCG", "nDCG@5", "P@5", "AP@5", "R@5", "Success@5")


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seeds = range(FIRST_SEED, FIRST_SEED + cases)
    rows: list[dict[str, Any]] = []
    with get_context("spawn").Pool(workers) as pool:
        for row in filter(None, pool.imap_unordered(case, seeds)):
            rows.append(row)
            if row["two numbers"]["place"] != 0 or row["one number"]["place"] not in (0, 1, 2):
                print(json.dumps(row), file=sys.stderr, flush=True)
            if len(rows) % 50 == 0 or len(rows) == cases:
                write(rows)
    write(rows)


def write(rows: list[dict[str, Any]]) -> None:
    results = {"queries": QUERIES, "decimals": DECIMALS, "cases": len(rows), **summary(rows)}
    target = Path(os.environ.get("OUT", Path(__file__).parent)) / "explaining.json"
    target.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = sorted(row["two numbers"]["seconds"] for row in rows)
    found: dict[str, Any] = {
        "processor seconds for two numbers": {"median": seconds[len(seconds) // 2], "most": seconds[-1]}
    }
    for kind in ("one number", "two numbers", "by query"):
        places = [row[kind]["place"] for row in rows]
        found[kind] = {
            "first": sum(place == 0 for place in places) / len(places),
            "among three": sum(place is not None and place < 3 for place in places) / len(places),
            "found": sum(place is not None for place in places) / len(places),
            "explanations that fit": sum(row[kind]["fitting"] for row in rows) / len(rows),
            "tried": sum(row[kind]["tried"] for row in rows) / len(rows),
            "said to be decided": sum(row[kind]["decided"] for row in rows) / len(rows),
            "wrong where decided": sum(row[kind]["decided"] and row[kind]["place"] != 0 for row in rows),
        }
    return found


def case(seed: int) -> dict[str, Any] | None:
    """The places of the right explanation, given one number, two, and values by query; None if no rule matters."""
    draw = random.Random(seed)
    for attempt in range(20):
        drawn = _disagreement(draw, seed * 20 + attempt)
        if drawn is not None:
            ranks, names, tool, rules = drawn
            return {
                "seed": seed,
                "tool": tool,
                "measures": names,
                "rules": [rule.says for rule in rules],
                "two numbers": _asked(RunRanks(ranks.run, ranks.judgments), names, rules),
                "one number": _asked(ranks, names[:1], rules),
                "by query": _asked(ranks, names[:1], rules, by_query=True),
            }
    return None


def _disagreement(draw: random.Random, seed: int) -> tuple[RunRanks, list[str], str, list[Convention]] | None:
    """A collection, two measures, and one or two rules of a tool that change the first."""
    qrels, run = collection(
        QUERIES,
        seed,
        own_id=draw.random() < 0.5,
        negative=0.02 * (draw.random() < 0.3),
        near=draw.random() < 0.5,
        depth=draw.choice((8, 15, 25)),
        highest=draw.choice((1, 2, 3)),
    )
    ranks = RunRanks(open_run(run), Judgments.read(qrels))
    tool = draw.choice(list(dialects().values()))
    names = draw.sample(MEASURES, 2)
    search = _search(ranks, [(names[0], "0")])
    ours = search.values(())
    assert ours is not None
    matter = []
    for at in sorted(search.rules_of[tool.name]):
        values = search.values([search.rules[at]])
        if values is not None and round(values[0].mean, DECIMALS) != round(ours[0].mean, DECIMALS):
            matter.append(search.rules[at])
    rules = draw.sample(matter, min(draw.choice((1, 2)), len(matter)))
    if not rules or len({rule.axis for rule in rules}) < len(rules):
        return None
    values = search.values(rules)
    if values is None or round(values[0].mean, DECIMALS) == round(ours[0].mean, DECIMALS):
        return None
    return ranks, names, tool.name, rules


def _search(ranks: RunRanks, numbers: list[tuple[str, Any]]) -> Search:
    given = []
    for name, value in numbers:
        if isinstance(value, dict):
            given.append(Given(name, parse_measure(name), None, DECIMALS, value))
        else:
            given.append(Given(name, parse_measure(name), float(value), DECIMALS))
    return Search(ranks, given, Conventions(), dialects().values())


def _asked(ranks: RunRanks, names: list[str], rules: list[Convention], *, by_query: bool = False) -> dict[str, Any]:
    """Where the right explanation stands, and how long the search took, but for ranks that are known already."""
    search = _search(ranks, [(name, "0") for name in names])
    own = [rule for rule in search.rules if rule.says in {its.says for its in rules}]
    values = search.values(own)
    assert values is not None
    if by_query:
        given: list[Any] = [{query: round(value, DECIMALS) for query, value in values[0].by_query.items()}]
    else:
        given = [f"{its.mean:.{DECIMALS}f}" for its in values]
    start = time.process_time()
    search = _search(ranks, list(zip(names, given, strict=True)))
    found = explained(search)
    seconds = time.process_time() - start
    truth = Explained((), None, 0.0, values).key
    place = next((at for at, reason in enumerate(found.reasons) if reason.key == truth), None)
    return {
        "place": place,
        "fitting": found.fitting,
        "tried": found.tried,
        "decided": found.decided,
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
