"""Draws all figures of docs/learn, by `make figures`: SVG in the colours of the look, light or dark as the page is."""

from __future__ import annotations

import json
import math
import os
import random
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cranfield
from cranfield.io.queries import read_queries
from cranfield.look import DARK, LIGHT
from cranfield.show.charts.cutoff import cutoff_chart
from cranfield.show.charts.parts import CONFIG

FOLDER = Path(__file__).parent / "learn" / "figures"
GUIDES = Path(__file__).parent / "guides"
FIFTEEN = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]  # the running example: what the engine returned …
MISSED = [1] * 5  # … and what it did not
GRADES = [3, 2, 3, 0, 1]
SHADES = {None: LIGHT["paper"], **{grade: LIGHT[f"grade-{grade}"] for grade in range(4)}}


def draw_all() -> None:
    """Every figure; the runs that some of them need are made first."""
    FOLDER.mkdir(exist_ok=True)
    collection = cranfield.open_collection("builtin")
    with tempfile.TemporaryDirectory() as folder:
        runs = [os.path.join(folder, f"{name}.run") for name in ("plain", "tuned")]
        for system, run in zip(("sqlite", "sqlite:tuned"), runs, strict=True):
            cranfield.record(cranfield.open_system(system, collection=collection), collection.queries, run)
        for name, kind, measures in (
            ("precision-recall", "precision-recall", None),
            ("distribution", "distribution", "AP"),
            ("stability", "stability", "AP nDCG@10 P@10 Bpref infAP"),
            ("judged", "cutoff", "Judged@20"),
            ("difference", "difference", "nDCG@10"),
            ("scatter", "scatter", "AP"),
            ("slopes", "slopes", "nDCG@10"),
        ):
            save(name, cranfield.draw_chart(kind, collection.qrels, runs, measures))
    save("response", response())
    save("discount", cranfield.draw_chart("discount"))
    save("gain", cranfield.draw_chart("gain"))
    save("fifteen", strip({"returned": FIFTEEN, "never returned": MISSED}))
    save("same-precision", strip({"A": [1, 1, 1, 0, 0], "B": [0, 0, 1, 1, 1]}))
    save("three-systems", strip({"1": [1, 1, 0, 0, 0, 1], "2": [1, 1, 1, 0, 0], "3": [0, 0, 1, 1, 0, 0, 1]}))
    save("ideal", strip({"the ranking": GRADES, "ideal": sorted(GRADES, reverse=True)}, grades=True))
    three = {"X": [3, *[0] * 9], "Y": [0, 1, 1, 1, *[0] * 6], "Z": [1, 0, 0, 0, 3, 0, 1, 0, 0, 1]}
    save("three-rankings", strip(three, grades=True))
    save("unjudged", strip({"all judged": FIFTEEN, "one unjudged": [*FIFTEEN[:5], None, *FIFTEEN[6:]]}))
    save("by-cutoff", by_rank("P and R down to each rank", "value", {"P@k": values("P"), "R@k": values("R")}))
    fs = {f"beta = {beta:g}": values(f"F(beta={beta:g})") for beta in (0.5, 1, 2)}
    save("f-by-cutoff", by_rank("F down to each rank", "F@k", fs))
    both = {gain: values(f"nDCG(gain={gain})", GRADES, ()) for gain in ("linear", "exponential")}
    save("ndcg-by-cutoff", by_rank("nDCG down to each rank", "nDCG@k", both))
    save("sawtooth", cranfield.draw_chart("precision-recall-full", grades=FIFTEEN, missed=MISSED))
    save("detectable", detectable())
    save("chunks", chunks())
    save("training", training())
    save("tools", tools())
    save("thresholds", thresholds())
    save("drawn", drawn())
    save("interleaved", interleaved())
    save("machines", machines())
    save("clicks", clicks())
    save("counted", counted())
    save("calls", calls())


def response() -> Mapping[str, Any]:
    """How nDCG@10 changes with the weight of titles, as in the guide about hybrid search."""
    tried = {"weights.title": [0.5, 1, 2, 4, 8, 16]}
    shop = {"type": "sqlite", "stem": True}
    chart: Mapping[str, Any] = cranfield.tune_system(shop, "builtin", tried=tried, name="shop").plot()
    return chart


def calls() -> dict[str, Any]:
    """An agent whose searches repeat themselves more and more."""
    chance = random.Random(7)
    qrels, searches = {}, {}
    for task in range(200):
        wanted = [f"w{task}-{number}" for number in range(4)]
        others = [f"x{task}-{number}" for number in range(20)]
        qrels[str(task)] = dict.fromkeys(wanted, 1)
        found = [[*chance.sample(wanted, 1 + chance.randrange(2)), *chance.sample(others, 3)] for _ in range(6)]
        searches[str(task)] = found
    rows = cranfield.calls(qrels, cranfield.read_searches(searches)).rows
    curves = {
        "all calls so far": {row.call: row.union for row in rows},
        "the call alone": {row.call: row.alone for row in rows},
        "fetched again": {row.call: row.again for row in rows},
    }
    spec = by_rank("What each call of an agent adds", "share", curves)
    spec["encoding"]["x"]["title"] = "call"
    return spec


def save(name: str, spec: Mapping[str, Any]) -> None:
    """Write a figure without a ground, in light colours that become dark ones on a dark page."""
    path = FOLDER / f"{name}.svg"
    cranfield.save_chart({**spec, "background": None, "padding": 6}, path)
    path.write_text(_for_both(path.read_text(encoding="utf-8")), encoding="utf-8")


def _for_both(svg: str) -> str:
    """The picture with a style that replaces every colour by its dark form on a dark page."""
    svg = svg.replace('"#888"', f'"{LIGHT["faint"]}"')  # the one colour that Vega brings: of the ends of an axis
    dark = {LIGHT[name]: DARK[name] for name in reversed(DARK)}  # paper before what is written on grades
    used = sorted(set(re.findall(r'(fill|stroke)="(#[0-9a-f]+)"', svg)))
    rules = "".join(f'[{where}="{colour}"]{{{where}:{dark[colour]}}}' for where, colour in used)
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>@media (prefers-color-scheme:dark){{{rules}}}</style>{svg[start:]}"


def values(measure: str, grades: Sequence[int] = FIFTEEN, missed: Sequence[int] = MISSED) -> dict[int, float]:
    """A measure of one ranking at every cutoff."""
    return {k: cranfield.value(f"{measure}@{k}", grades, missed) for k in range(1, len(grades) + 1)}


def by_rank(title: str, y: str, curves: Mapping[str, Mapping[int, float]]) -> dict[str, Any]:
    """Lines over the ranks of one ranking."""
    spec = cutoff_chart(y, curves)
    spec["title"] = title
    spec["encoding"]["y"]["title"] = y
    return spec


def strip(rankings: Mapping[str, Sequence[int | None]], *, grades: bool = False) -> dict[str, Any]:
    """Rankings as rows of boxes, the darker the more relevant, white if not judged."""
    rows = [
        {
            "ranking": name,
            "rank": rank,
            "colour": SHADES[grade if grades or not grade else 3],
            "text": "?" if grade is None else str(grade) if grades else "",
            "ink": "white" if grade in (2, 3) else LIGHT["ink"],
        }
        for name, row in rankings.items()
        for rank, grade in enumerate(row, start=1)
    ]
    y: dict[str, Any] = {"field": "ranking", "type": "nominal", "sort": list(rankings), "title": None}
    y["axis"] = {"ticks": False, "domain": False, "labelFontSize": 13, "labelPadding": 8}
    x: dict[str, Any] = {"field": "rank", "type": "ordinal", "title": "rank"}
    x["axis"] = {"orient": "top", "ticks": False, "domain": False, "labelAngle": 0}
    box = {"type": "rect", "stroke": LIGHT["faint"], "strokeWidth": 1, "cornerRadius": 3, "width": 24, "height": 24}
    plain = {"scale": None, "legend": None, "type": "nominal"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "; ".join(f"{name}: {' '.join(map(str, row))}" for name, row in rankings.items()),
        "title": "",
        "data": {"values": rows},
        "width": {"step": 30},
        "height": {"step": 36},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": box, "encoding": {"color": {"field": "colour", **plain}}},
            {
                "mark": {"type": "text", "fontSize": 13, "fontWeight": 600},
                "encoding": {"text": {"field": "text", "type": "nominal"}, "color": {"field": "ink", **plain}},
            },
        ],
        "config": CONFIG,
    }


def detectable() -> dict[str, Any]:
    """The smallest difference that a number of queries detects, for three spreads."""
    sizes = (10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)
    curves = {
        f"spread {spread:g}": {n: cranfield.detectable_difference(spread, n) for n in sizes}
        for spread in (0.1, 0.15, 0.25)
    }
    spec = by_rank("What a set of queries can detect", "difference detected 80% of the time", curves)
    spec["encoding"]["x"]["title"] = "queries"
    return spec


def chunks() -> dict[str, Any]:
    """Sentences against whole documents, as the guide about chunking makes them."""
    page = (GUIDES / "chunking.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {"cranfield": cranfield}
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
            if not block.startswith(">>>"):
                exec(block, found)
        os.chdir(before)
    two = {name: found["runs"][name] for name in ("documents", "sentences")}
    return cranfield.draw_chart("difference", found["passages"], two, "TextR(budget=600)")


def thresholds() -> dict[str, Any]:
    """What a threshold does to the search of the guide about queries, over all thresholds."""
    page = (GUIDES / "queries.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
            exec(block, found)
        texts = read_queries("queries.csv")
        run = cranfield.record(cranfield.open_system("sqlite", found["open_collection"]("builtin")), texts, None, 20)
        results = {
            score: cranfield.evaluate("builtin", run, "nDCG@10", query_columns="queries.csv", threshold=score).answering
            for score in range(13)
        }
        os.chdir(before)
    curves = {
        "rightly empty": {score: its.rightly_empty for score, its in results.items()},
        "wrongly empty": {score: its.wrongly_empty for score, its in results.items()},
        "nDCG@10 with one": {score: its.answered["nDCG@10"] for score, its in results.items()},
    }
    spec = by_rank("What a threshold does", "share of queries, or value", curves)
    spec["encoding"]["x"]["title"] = "threshold"
    return spec


def training() -> dict[str, Any]:
    """The values while a model trains, as the guide has recorded them."""
    page = (GUIDES / "training.md").read_text(encoding="utf-8")
    curves: dict[str, dict[int, float]] = {}
    for step, told in re.findall(r"^step +(\d+)  (.*?)  [\d,]+ documents", page, re.M):
        for name, value in re.findall(r"(\S+) ([\d.]+)", told):
            curves.setdefault(name, {})[int(step)] = float(value)
    spec = by_rank("A model in training", "value over the whole corpus", curves)
    spec["encoding"]["x"]["title"] = "step"
    return spec


def drawn() -> dict[str, Any]:
    """The probability with which queries of a log are drawn: by how often they are asked, alike, and half of both."""
    ranks = sorted({round(10 ** (step / 12)) for step in range(49)})  # to 10,000
    shares = {rank: 1 / rank for rank in range(1, 10_001)}
    total, distinct = sum(shares.values()), len(shares)
    curves: dict[str, dict[int, float]] = {"half of both": {}, "by frequency": {}, "all alike": {}}
    for rank in ranks:
        frequent, alike = 200 * shares[rank] / total, 200 / distinct
        for name, size in zip(curves, ((frequent + alike) / 2, frequent, alike), strict=True):
            curves[name][rank] = min(0.0, math.log10(size))  # labels are placed as on a linear scale
    spec = by_rank("Who is drawn: 200 of 10,000 queries", "probability", curves)
    tens: dict[str, Any] = {"values": [10**step for step in range(5)]}
    spec["encoding"]["x"] |= {"title": "queries, the most frequent first", "axis": tens}
    spec["encoding"]["x"]["scale"] = {"type": "log", "domain": [1, 10_000], "nice": False}
    powers = {"values": [-3, -2, -1, 0], "labelExpr": "format(pow(10, datum.value), '~g')"}
    spec["encoding"]["y"]["axis"] = {**(spec["encoding"]["y"].get("axis") or {}), **powers}
    return spec


def interleaved() -> dict[str, Any]:
    """Two rankings, and the list that is shown, in the colours of the teams."""
    a, b = ["d1", "d2", "d3", "d4", "d5"], ["d3", "d1", "d6", "d7", "d2"]
    shown = cranfield.TeamDraft(a, b, 6, experiment="spring", unit="person 1", query="red shoes")
    colours = {"a": LIGHT["run-1"], "b": LIGHT["run-2"]}
    rows = {"a": dict.fromkeys(a, "a"), "b": dict.fromkeys(b, "b"), "shown": shown.teams}
    spec = strip({name: [1] * len(teams) for name, teams in rows.items()})
    boxes = [(document, team) for teams in rows.values() for document, team in teams.items()]
    for row, (document, team) in zip(spec["data"]["values"], boxes, strict=True):
        row |= {"text": document, "ink": "white", "colour": colours[team]}
    told = "; ".join(f"{name}: {' '.join(teams)}" for name, teams in rows.items())
    return {**spec, "description": told, "title": ""}


def clicks() -> dict[str, Any]:
    """How well simulated clicks put documents in order, from the recorded simulation: a dot for each way to count."""
    recorded = json.loads((Path(__file__).parents[1] / "bench" / "clicks.json").read_text(encoding="utf-8"))
    ways = {"raw": "by impressions", "by_rank": "by the rate of the rank", "corrected": "corrected"}
    cases = {name: its for name, its in recorded["found"]["cases"].items() if "random" not in name}
    rows = [
        {"case": name, "way": told, "tau": its[way]}
        for name, its in cases.items()
        for way, told in ways.items()
        if its["identified"] or way != "corrected"
    ]
    y = {"field": "case", "type": "nominal", "sort": list(cases), "title": None, "axis": {"labelLimit": 220}}
    colours = {"domain": list(ways.values()), "range": [LIGHT["run-0"], LIGHT["worse"], LIGHT["run-1"]]}
    legend = {"title": None, "orient": "top"}
    way = {"field": "way", "type": "nominal", "legend": legend}
    shapes = {"domain": list(ways.values()), "range": ["circle", "cross", "diamond"]}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "; ".join(f"{row['case']}, {row['way']}: {row['tau']:.2f}" for row in rows),
        "title": "Clicks and the true order of documents",
        "data": {"values": rows},
        "width": 340,
        "height": {"step": 22},
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {
            "x": {"field": "tau", "type": "quantitative", "title": "Kendall's tau", "scale": {"domain": [0, 1]}},
            "y": y,
            "color": {**way, "scale": colours},
            "shape": {**way, "scale": shapes},
        },
        "config": CONFIG,
    }


def machines() -> dict[str, Any]:
    """Which machine measures which query, when one of them is lost."""
    rows = {"one": ["q1", "q4", "q5", "q2"], "two (lost)": ["q2", "q6"], "three": ["q3", "q7", "q6"]}
    spec = strip({name: [1] * len(queries) for name, queries in rows.items()})
    boxes = [(name, query) for name, queries in rows.items() for query in queries]
    for row, (name, query) in zip(spec["data"]["values"], boxes, strict=True):
        lost, again = name not in ("one", "three"), query in ("q2", "q6")
        colour = LIGHT["faint"] if lost else LIGHT["run-2"] if again else LIGHT["run-1"]
        row |= {"text": query, "ink": "white", "colour": colour}
    spec["encoding"]["x"]["axis"] = None
    told = "; ".join(f"machine {name}: {' '.join(queries)}" for name, queries in rows.items())
    return {**spec, "description": f"{told}; q2 and q6 are measured again", "title": ""}


def tools() -> dict[str, Any]:
    """How long the tools take for the same file, from the recorded benchmarks: a bar each."""
    recorded = json.loads((Path(__file__).parents[1] / "bench" / "results.json").read_text(encoding="utf-8"))
    rows = [{"tool": row["name"], "number": row["seconds"]} for row in next(iter(recorded.values()))["rows"]]
    rows = [{**row, "text": f"{row['number']:.3g} s"} for row in rows if "," not in row["tool"]]
    return bars("7 million lines, five measures", rows)


def counted() -> dict[str, Any]:
    """AP@10 of one run, as each tool counts it: a bar each."""
    collection, measure = cranfield.open_collection("builtin"), "AP@10"
    ours = cranfield.evaluate(collection.qrels, "builtin:plain", measure)[measure]
    found = {"cranfield": ours}
    for tool, dialect in cranfield.known_dialects().items():
        if dialect.knows(measure):
            like = cranfield.evaluate_like(collection.qrels, "builtin:plain", tool, measure)
            found[tool] = next(iter(like.values()))
    shared: dict[str, list[str]] = {}
    for tool, number in found.items():
        shared.setdefault(f"{number:.4f}", []).append(tool)
    rows = [{"tool": ", ".join(named), "number": float(text), "text": text} for text, named in shared.items()]
    return bars("AP@10 of the same run and judgments", rows)


def bars(title: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A bar for each number, the smallest first; ours stands out."""
    x = {"field": "number", "type": "quantitative", "axis": None}
    axis = {"ticks": False, "domain": False, "labelLimit": 420}
    y = {"field": "tool", "type": "nominal", "sort": "x", "title": None, "axis": axis}
    ours = {
        "condition": {"test": "indexof(datum.tool, 'cranfield') == 0", "value": LIGHT["run-1"]},
        "value": LIGHT["run-0"],
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": "; ".join(f"{row['tool']}: {row['text']}" for row in rows),
        "title": title,
        "data": {"values": rows},
        "width": 360,
        "height": {"step": 24},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "bar", "height": 14}, "encoding": {"color": ours}},
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "color": LIGHT["ink"]},
                "encoding": {"text": {"field": "text", "type": "nominal"}},
            },
        ],
        "config": CONFIG,
    }


if __name__ == "__main__":
    draw_all()
