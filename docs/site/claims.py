"""The page about what the printed sentences promise: `python -m docs.site.claims docs/claims.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cranfield.comparison.doubts import ENOUGH
from cranfield.show.escaping import markdown_text
from tests.claims import CLAIMS, GROUPS, Claim, example
from tests.comparison.populations import missed_by_one_mean, missed_where_few_differ, missed_with_weights

BENCH = Path(__file__).parents[2] / "bench"
QUERIES = (10, 20, 50)

INTRODUCTION = """\
# What we promise

Look up how far you can trust a sentence about your numbers. Each kind is quoted once, as today's version prints it
about small examples, with what it promises, where that ends, and the tests that would fail if it were not true. They
are simulations on values as skewed as real ones, brute force over all possibilities, loops straight from the formula,
and comparisons with other tools. The page is made from a list in the tests, one of which looks for sentences that the
list lacks.
"""

SIMULTANEOUS = """\
## How often the intervals of all pairs miss {{ #simultaneous }}

Populations of queries with known means, like those of nDCG@10, AP and RR: skewed, with many equal values, and with runs
that are near twins. {kinds} kinds of values × {seeds} populations, {draws} samples each; a sample misses if *any*
interval does not hold its true difference, which should happen in 5%. Two runs are compared by the paired t-test, more
by bootstrapped max-t (the usual correction), and by the t-test with Bonferroni's. The mean over populations, and the
highest in brackets:

{missed}

Width is that of the intervals divided by Bonferroni's, on average over all pairs, and over the tenth of the pairs that
vary least (near twins). A false alarm is any significant difference between equal runs:

{widths}

Measured by `bench/simultaneous.py`.
"""

ONE_MEAN = """\
## How often the interval of one mean misses {{ #mean }}

Populations of the same kinds, and the 95% interval of a single run's mean. Values are more skewed than their
differences, so with few queries it misses more often:

{table}
"""

FEW = """\
## Where few queries differ {{ #few }}

The mean of a hundred queries of which five differ rests on these five. If nearly all of them gain, the interval is too
short above: most samples lack the few large gains. So `compare` warns where fewer than {enough} queries differ. In a
simulation of 100 queries, 19 in 20 of those that differ gain, by an exponential amount. The 95% interval of the paired
t-test misses the true difference in this share of the samples:

{table}
"""

WEIGHTED = """\
## How often weighted values mislead {{ #weighted }}

Populations of the same kinds, and queries with weights: those of Zipf's law, of which 50 are as precise as 12 equally
weighted queries and 200 as 21, and log-normal ones, of which 50 are about as precise as 24 and 200 as 84. The share of
samples in which the 95% interval misses; for differences also the share of gates that stop a candidate that is no
worse, at alpha 0.05. The interval of one run's mean misses more often, because values are more skewed than their
differences and few queries decide:

{table}
"""

DECIDING = """\
## How often an early verdict is that of all judgments {{ #deciding }}

{table}

Measured by `bench/deciding.py`: nDCG@10, against the verdict with all first ten documents judged.
"""

SAMPLING = """\
## How precise planned samples are {{ #sampling }}

Collections with full judgments: {queries} queries, two to six runs of {ranks} documents, and about {many} (many),
{some} (some) or {few} (few) relevant documents for a query, or very different numbers. Samples for xinfAP and infNDCG
are planned before anything is judged, and again with the first ten ranks judged. Then they are drawn {draws} times, and
the estimates are compared with the values that all judgments give. A plan held if the real half width was at most the
planned one. After that, the planned one as a multiple of the real one: the median, and in brackets the lowest and the
highest 5% of the plans:

{planned}

The means of infNDCG are off by this share of nDCG, from the lowest to the highest of {seeds} collections. A part of the
pool is drawn, from all ranks or from below the first ten, which are then all judged. sample_eval drops fractions of
documents from the ideal ranking:

{bias}

Measured by `bench/sampling.py`.
"""


ALERTING = """\
## How often `history --check` raises an alarm {{ #alarms }}

Months of thirty daily looks at 200 queries, at a level of 0.05 for all of them, with values like nDCG@10 and RR:
skewed, cut at 0 and 1, those of RR tied. The values of a query vary by 0.05 from day to day, with an autocorrelation of
0.5. Where days shake all queries together, they do so by up to 0.05, with an autocorrelation of 0 or 0.5. {months:,}
months each; the highest share of months with an alarm:

{false}

A slide of 0.02 in twenty days, in which three of ten queries move, is found in so many months:

{found}

Measured by `bench/alerting.py`.
"""

NEARBY = """\
## How often runs are called dominated, and intervals of recall miss {{ #nearby }}

Runs with values like nDCG@10 and RR, and latencies that depend on the query and have a long tail. {worlds:,} worlds
each; the highest share over the kinds of values and over 50 and 500 queries, with a margin of 0.01. A run is wrongly
called dominated, by the tests of `frontier`, or by comparing means and medians:

{false}

The last two are runs with the same values for nearly all queries. A rare loss may then be missing from the sample, and
no test of means can see it. So `frontier` warns where two runs differ for fewer than {enough} queries: without a
warning, it was wrong in at most {quiet} of these worlds.

A run that is twice as slow and worse by 0.02 is found to be dominated in
{found}.

The interval of recall is that of Student's t with two more queries, one that finds nothing and one that finds
everything. The share of {worlds:,} samples in which it holds the true mean, and in brackets that of Student's t alone:

{held}

Measured by `bench/nearby.py`.
"""


def page() -> str:
    """The page, in Markdown: a section for each group of claims, then what was measured."""
    text = [INTRODUCTION]
    for group, where in GROUPS.items():
        text += [f"## {group}", "", where, ""]
        text += [line for claim in CLAIMS if claim.group == group for line in _lines(claim)]
    return (
        "\n".join(
            [*text, _simultaneous(), _one_mean(), _weighted(), _few(), _sampling(), _deciding(), _alerting(), _nearby()]
        ).rstrip()
        + "\n"
    )


def _lines(claim: Claim) -> Iterator[str]:
    """The sentences, the promise, and the names of the tests, which are sentences themselves."""
    yield "\n>\n".join(f"> {markdown_text(example(sentence))}" for sentence in claim.sentences)
    files: dict[str, list[str]] = {}
    for test in claim.tests:
        file, _, name = test.partition("::test_")
        files.setdefault(file.removeprefix("tests/"), []).append(name.replace("_", " "))
    held = "; ".join(f"{', '.join(names)} (`{file}`)" for file, names in files.items())
    yield from ("", claim.promise, "", f"<small>Held by: {held}.</small>", "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _simultaneous() -> str:
    cells: list[dict[str, Any]] = json.loads((BENCH / "simultaneous.json").read_text(encoding="utf-8"))
    every = sorted({cell["systems"] for cell in cells})

    def shown(key: str, told: Callable[[list[float]], str], runs: int) -> list[str]:
        return [
            told([cell[key] for cell in cells if (cell["systems"], cell["queries"]) == (runs, queries)])
            for queries in QUERIES
        ]

    missed, widths = [], []
    for runs in every:
        ours, usual = shown("missed", _share, runs), shown("bonferroni_missed", _share, runs)
        means = [" / ".join(shown(key, lambda values: f"{_mean(values):.2f}", runs)) for key in ("width", "twins")]
        if runs == 2:  # there is nothing to correct for
            missed.append([f"{runs}, t-test", *ours])
            means = ["–", "–"]
        else:
            missed += [[f"{runs}, max-t", *ours], [f"{runs}, Bonferroni", *usual]]
        widths.append([f"{runs}", *means, " / ".join(shown("false", lambda values: f"{_mean(values):.1%}", runs))])
    head = ["runs", *(f"{queries} queries" for queries in QUERIES)]
    each = f"{' / '.join(map(str, QUERIES))} queries"
    draws = sorted({cell["draws"] for cell in cells})
    return SIMULTANEOUS.format(
        kinds=len({cell["kind"] for cell in cells}),
        seeds=len({cell["seed"] for cell in cells}),
        draws=" or ".join(f"{number:,}" for number in draws),
        missed="\n".join(_table(head, missed)),
        widths="\n".join(_table(["runs", f"width, {each}", "of near twins", "false alarms"], widths)),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _share(values: Sequence[float]) -> str:
    return f"{_mean(values):.1%} ({max(values):.1%})"


def _one_mean() -> str:
    kinds = {"graded": "like nDCG@10", "ap": "like AP", "rr": "like RR"}
    rows = [
        [name, *(f"{missed_by_one_mean(kind, queries):.1%}" for queries in QUERIES)] for kind, name in kinds.items()
    ]
    return ONE_MEAN.format(table="\n".join(_table(["values", *(f"{queries} queries" for queries in QUERIES)], rows)))


def _weighted() -> str:
    kinds = {"graded": "like nDCG@10", "ap": "like AP", "rr": "like RR"}
    rows = []
    for weights, name in (("zipf", "1, 1/2, 1/3, …"), ("lognormal", "log-normal")):
        for queries in (50, 200):
            for differences, of in ((True, "differences"), (False, "means")):
                found = [missed_with_weights(kind, weights, queries, differences=differences) for kind in kinds]
                rows.append(
                    [f"{name}, {queries} queries, {of}"]
                    + [f"{missed:.1%} / {alarms:.1%}" if differences else f"{missed:.1%}" for missed, alarms in found]
                )
    return WEIGHTED.format(table="\n".join(_table(["weights", *kinds.values()], rows)))


def _few() -> str:
    numbers = (2, 5, ENOUGH, 20, 60)
    shares = [f"{missed_where_few_differ(number):.0%}" for number in numbers]
    head = ["queries that differ, about", *map(str, numbers)]
    return FEW.format(enough=ENOUGH, table="\n".join(_table(head, [["misses", *shares]])))


def _sampling() -> str:
    found = json.loads((BENCH / "sampling.json").read_text(encoding="utf-8"))
    planned = [
        [f"{kind} relevant" if kind != "skewed" else "very different numbers", *map(_held, cases.values())]
        for kind, cases in found["planned"].items()
    ]
    bias = [
        [f"{kind} relevant, {drawn}", *(f"{low:+.1%} to {high:+.1%}" for low, high in by_way.values())]
        for kind, cases in found["bias"].items()
        for drawn, by_way in cases.items()
    ]
    return SAMPLING.format(
        **found["made"],
        planned="\n".join(_table(["", "before judging", "first ten ranks judged"], planned)),
        bias="\n".join(_table(["", "infNDCG", "fractions dropped"], bias)),
    )


def _held(case: dict[str, Any]) -> str:
    width = case["half width"]
    return f"{width['held']:.0%} held, {width['median']:.1f} ({width['5%']:.1f} to {width['95%']:.1f})"


def _deciding() -> str:
    cases = json.loads((BENCH / "deciding.json").read_text(encoding="utf-8"))
    rows = [
        [name, *(f"{found[key]:.1%}" for key in ("same verdict", "opposite", "judged, mean")), f"{found['pairs']:,}"]
        for name, case in cases.items()
        for found in [case["figures"]]
    ]
    head = ["", "the same verdict", "the opposite one", "documents judged", "pairs of runs"]
    return DECIDING.format(table="\n".join(_table(head, rows)))


def _alerting() -> str:
    worlds = json.loads((BENCH / "alerting.json").read_text(encoding="utf-8"))
    names = {
        "own": "queries vary on their own",
        "shaken": "days shake all queries together, as seen in earlier results",
        "faint": "they do so by less than queries vary",
    }
    rules = ("either", "gate_alone", "means_alone")
    false = [
        [name, *(f"{max(world[rule] for world in worlds[kind]):.1%}" for rule in rules)] for kind, name in names.items()
    ]
    found = [
        [
            f"values like {'nDCG@10' if world['kind'] == 'graded' else 'RR'}, "
            f"{'days shaken by ' + format(world['shake'], 'g') if world['shake'] else 'queries on their own'}, "
            f"{world['earlier']} result{'s' if world['earlier'] > 1 else ''} before",
            *(f"{world[rule]:.0%}" for rule in ("either", "by_drop", "by_slide")),
        ]
        for world in worlds["sliding"]
    ]
    head = ["", "an alarm", "a gate at 0.05 alone", "the slope of ten means at 0.05 / 30"]
    return ALERTING.format(
        months=worlds["months"],
        false="\n".join(_table(head, false)),
        found="\n".join(_table(["", "found", "beside the accepted result", "by the slope"], found)),
    )


def _nearby() -> str:
    known = json.loads((BENCH / "nearby.json").read_text(encoding="utf-8"))
    worlds: dict[str, list[dict[str, Any]]] = {}
    for world in known["frontier"]:
        worlds.setdefault(world["world"], []).append(world)
    better = worlds.pop("twice as fast, and better by 0.02")
    false = [
        [name, *(f"{max(world[rule] for world in its):.1%}" for rule in ("tests", "points"))]
        for name, its in worlds.items()
    ]
    by_size = {
        size: min(world["tests"] for world in better if world["queries"] == size)
        for size in sorted({world["queries"] for world in better})
    }
    held: dict[str, list[str]] = {}
    for its in known["recall"]:
        held.setdefault(its["population"], []).append(f"{its['held']:.1%} ({its['student']:.1%})")
    sizes = sorted({its["queries"] for its in known["recall"]})
    return NEARBY.format(
        worlds=known["worlds"],
        false="\n".join(_table(["", "by the tests", "by means and medians"], false)),
        enough=ENOUGH,
        quiet=f"{max(world['quiet'] for its in worlds.values() for world in its if 'quiet' in world):.1%}",
        found=" and ".join(f"{share:.0%} of the worlds with {size} queries" for size, share in by_size.items()),
        held="\n".join(
            _table(["recall", *(f"{size:,} queries" for size in sizes)], [[name, *row] for name, row in held.items()])
        ),
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
