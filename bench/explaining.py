"""How often `why` finds the rule: `python bench/explaining.py [CASES [WORKERS]]` writes explaining.json.

A case is one or two rules of one tool, drawn among those that change the number, and a generated run of 1,000 queries;
there are ten cases for each run. The right explanation is the one with the same value for every query. Nothing was
tuned on these seeds.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).parents[1]))

from cranfield import Judgments, parse_measure
from cranfield.dialects.conventions import Convention, Conventions
from cranfield.dialects.run_ranks import RunRanks
from cranfield.dialects.search import Explained, Given, Search
from cranfield.dialects.tools import known_dialects
from cranfield.dialects.why import explained
from cranfield.ranks.run import open_run
from tests.dialects.made import collection

QUERIES, DECIMALS = 1000, 4
TOGETHER = 10  # disagreements about one run, for which the search is made only once
FIRST_SEED = 20_000
MEASURES = ("nDCG@10", "AP@10", "P@10", "RR@10", "R@10", "AP", "nDCG", "nDCG@5", "P@5", "AP@5", "R@5", "Success@5")


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seeds = range(FIRST_SEED, FIRST_SEED + cases // TOGETHER)
    rows: list[dict[str, Any]] = []
    with get_context("spawn").Pool(workers) as pool:
        for found in pool.imap_unordered(case, seeds):
            rows += found
            for row in found:
                if row["two numbers"]["place"] != 0 or row["one number"]["place"] not in (0, 1, 2):
                    print(json.dumps(row), file=sys.stderr, flush=True)
            write(rows)


def write(rows: list[dict[str, Any]]) -> None:
    results = {"queries": QUERIES, "decimals": DECIMALS, "cases": len(rows), **summary(rows)}
    target = Path(os.environ.get("OUT", Path(__file__).parent)) / "explaining.json"
    target.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = sorted(row["seconds"] for row in rows)
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


def case(seed: int) -> list[dict[str, Any]]:
    """Ten disagreements about one run and two measures: the places of the right explanation."""
    draw = random.Random(seed)
    qrels, run = collection(
        QUERIES,
        seed,
        own_id=draw.random() < 0.5,
        negative=0.02 * (draw.random() < 0.3),
        near=draw.random() < 0.5,
        depth=draw.choice((8, 15, 25)),
        highest=draw.choice((1, 2, 3)),
    )
    names = draw.sample(MEASURES, 2)
    ranks = RunRanks(open_run(run), Judgments.read(qrels))
    start = time.process_time()
    two = _search(ranks, names)
    _ = two.explanations
    seconds = time.process_time() - start
    one = _search(ranks, names[:1])
    rows = []
    while len(rows) < TOGETHER:
        tool, rules = _disagreement(draw, one)
        if rules:
            row = {"seed": seed, "tool": tool, "measures": names, "rules": [rule.says for rule in rules]}
            row |= {"seconds": seconds, "one number": _asked(one, rules), "two numbers": _asked(two, rules)}
            rows.append({**row, "by query": _asked(one, rules, by_query=True)})
    return rows


def _search(ranks: RunRanks, names: list[str]) -> Search:
    given = [Given(name, parse_measure(name), 0.0, DECIMALS) for name in names]
    return Search(ranks, given, Conventions(), known_dialects().values())


def _disagreement(draw: random.Random, search: Search) -> tuple[str, list[Convention]]:
    """One or two rules of a tool that change what is printed of the first measure; none if it has none."""
    assert search.ours is not None
    shown = round(search.ours[0].mean, DECIMALS)

    def changes(rules: list[Convention]) -> bool:
        values = search.values(rules)
        return values is not None and round(values[0].mean, DECIMALS) != shown

    tool = draw.choice(list(known_dialects()))
    matter = [search.rules[at] for at in sorted(search.rules_of[tool]) if changes([search.rules[at]])]
    rules = draw.sample(matter, min(draw.choice((1, 2)), len(matter)))
    usable = bool(rules) and len({rule.axis for rule in rules}) == len(rules) and changes(rules)
    return tool, rules if usable else []


def _asked(search: Search, rules: list[Convention], *, by_query: bool = False) -> dict[str, Any]:
    """Where the right explanation stands."""
    own = [rule for rule in search.rules if rule.says in {its.says for its in rules}]
    values = search.values(own)
    assert values is not None
    given = [
        replace(each, mean=None, by_query={query: round(value, DECIMALS) for query, value in its.by_query.items()})
        if by_query
        else replace(each, mean=round(its.mean, DECIMALS))
        for each, its in zip(search.given, values, strict=True)
    ]
    found = explained(search.given_others(given))
    truth = Explained((), None, 0.0, values).key
    place = next((at for at, reason in enumerate(found.reasons) if reason.key == truth), None)
    return {"place": place, "fitting": found.fitting, "tried": found.tried, "decided": found.decided}


if __name__ == "__main__":
    main()
