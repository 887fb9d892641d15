"""Charts show their data in marks and in words, and are saved as pictures."""

import json
import re
import struct
import sys
import zlib
from html import escape
from itertools import accumulate, pairwise
from math import log2
from pathlib import Path

import pytest

pytest.importorskip("vl_convert")

import cranfield
from cranfield.comparison.standing import standings
from cranfield.errors import CranfieldError, MissingLibrary, OutputError
from cranfield.report.plotting import draw_chart, save_chart
from cranfield.show.charts import (
    CHARTS,
    discount,
    distribution,
    gain,
    heatmap,
    precision_recall,
    scatter,
    slopes,
)
from cranfield.show.pictures import picture, sized

FILES = ("builtin:qrels", ["builtin:keywords", "builtin:meaning"])
# What a chart needs besides judgments and runs.
MORE = {
    "frontier": {"by": "cost", "values": {"keywords": 1.0, "meaning": 3.0}},
    "thresholds": {"answerable": {"nothing to find": False}},
}


def rows(spec):
    return spec["data"]["values"]


def test_the_precision_recall_curve_of_a_lecture():
    # Ten relevant documents, of which ranks 1, 3, 6, 10 and 15 hold one each.
    relevant = {f"d{n}": 1 for n in (3, 5, 9, 25, 39, 44, 56, 71, 89, 123)}
    ranking = [f"d{n}" for n in (123, 84, 56, 6, 8, 9, 511, 129, 187, 25, 38, 48, 250, 113, 3)]
    spec = draw_chart("precision-recall", {"q": relevant}, {"lecture": {"q": ranking}})
    points = [(row["recall"], round(row["precision"], 4)) for row in rows(spec)]
    assert points == [
        *((0.0, 1.0), (0.1, 1.0), (0.2, 0.6667), (0.3, 0.5), (0.4, 0.4), (0.5, 0.3333)),
        *((level / 10, 0.0) for level in range(6, 11)),
    ]
    assert "lecture from 1.00 to 0.00" in spec["description"]


FIFTEEN = [1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]
FULL = "precision-recall-full"


def drawn(spec, layer, run=None):
    """The points or the steps of a full curve, by row."""
    found = []
    for each in spec["layer"][("steps", "points").index(layer)]["data"]["values"]:
        columns = {name: column for name, column in each.items() if name != "run"}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        found += rows if run in (None, each["run"]) else []
    return found


def height(steps, recall):
    """How high the staircase is at a recall."""
    return next(row["precision"] for row in steps if row["recall"] >= recall - 1e-4)


def test_every_rank_of_a_list_of_grades_is_drawn():
    spec = draw_chart(FULL, grades=FIFTEEN, missed=[1] * 5)
    points = drawn(spec, "points")
    assert [row["rank"] for row in points] == list(range(1, 16))
    for row in points:
        for name, measure in (("precision", "P"), ("recall", "R")):
            value = cranfield.value(f"{measure}@{row['rank']}", FIFTEEN, [1] * 5)
            assert row[name] == pytest.approx(value, abs=1e-4)


def test_the_steps_are_the_interpolated_precision():
    spec = draw_chart(FULL, grades=FIFTEEN, missed=[1] * 5)
    steps = drawn(spec, "steps")
    for recall in (0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.45, 0.5):
        value = cranfield.value(f"IPrec@{recall}", FIFTEEN, [1] * 5)
        assert height(steps, recall) == pytest.approx(value, abs=1e-4)
    assert steps[-1]["recall"] == 0.5
    assert spec["layer"][0]["mark"]["interpolate"] == "step-before"  # a step ends at its level of recall
    assert (
        "from precision 1.00 and recall 0.10 at rank 1 to precision 0.33 and recall 0.50 at rank 15"
        in spec["description"]
    )


def test_a_curve_that_rises_is_interpolated_from_the_right():
    steps = drawn(draw_chart(FULL, grades=[0, 1, 1, 0, 0, 0, 0, 0, 0, 1]), "steps")
    assert [height(steps, recall) for recall in (0, 0.3333, 0.6667, 0.7, 1)] == [0.66667, 0.66667, 0.66667, 0.3, 0.3]


def test_the_mean_over_queries_and_one_query():
    qrels = {"1": {"a": 1, "b": 1}, "2": {"c": 1}, "3": {"d": 1}, "none": {"e": 0}}
    run = {"1": ["x", "a", "b"], "2": ["c"], "none": ["e", "f", "g", "h"]}
    result = cranfield.evaluate(qrels, run, [f"{name}@{k}" for name in "PR" for k in range(1, 5)])
    for row in drawn(draw_chart(FULL, qrels, {"mine": run}), "points"):
        assert row["precision"] == pytest.approx(result[f"P@{row['rank']}"], abs=1e-4)
        assert row["recall"] == pytest.approx(result[f"R@{row['rank']}"], abs=1e-4)
    skipping = draw_chart(FULL, qrels, {"mine": run}, policy=cranfield.Policy(missing="skip"))
    assert drawn(skipping, "points")[0]["precision"] == pytest.approx(1 / 3, abs=1e-4)
    one = draw_chart(FULL, qrels, {"mine": run, "other": {"1": ["a"]}}, query="1")
    assert [row["recall"] for row in drawn(one, "points", "mine")] == [0, 0.5, 1]
    assert [row["recall"] for row in drawn(one, "points", "other")] == [0.5]
    assert one["title"] == "Precision and recall of query 1, rank by rank"
    stricter = draw_chart(FULL, {"1": {"a": 1, "b": 2}}, {"mine": run}, "P(rel=2)@1")
    assert [(row["rank"], row["recall"]) for row in drawn(stricter, "points")] == [(1, 0), (3, 1)]  # rank 2 falls on 1
    condensed = draw_chart(FULL, {"1": {"a": 1, "b": 2}}, {"mine": run}, "P(judged_only=True)@1")
    assert [row["precision"] for row in drawn(condensed, "points")] == [1, 1]


@pytest.mark.parametrize(("missed", "wide", "high"), [(50, 1, 1), (20_000, 0.05, 1)])
def test_points_are_left_out_only_where_they_fall_on_another(missed, wide, high):
    grades = [int(rank % 7 == 0 or rank < 20) for rank in range(1, 5001)]
    kept = drawn(draw_chart(FULL, grades=grades, missed=[1] * missed), "points")
    at = [(row["rank"], row["recall"], row["precision"]) for row in kept]
    found = list(accumulate(grades))
    for (rank, recall, precision), (below, *_) in pairwise(at):
        for between in range(rank, below):
            assert abs(found[between - 1] / (found[-1] + missed) - recall) / wide * 420 <= 1
            assert abs(found[between - 1] / between - precision) / high * 260 <= 1
    assert kept[-1]["rank"] == 5000
    assert len(kept) < 900


def test_a_full_curve_refuses_invalid_options():
    qrels, run = {"1": {"a": 1}}, {"1": ["a"]}
    for options, fact in (
        ({"query": "7"}, "there is no query '7'"),
        ({"grades": [1]}, "either grades or judgments and runs"),
        ({"measures": "nDCG@10"}, "shows precision and recall, not nDCG@10"),
    ):
        with pytest.raises(CranfieldError, match=fact):
            draw_chart(FULL, qrels, {"mine": run}, **options)
    for option in ({"query": "1"}, {"grades": [1]}):
        with pytest.raises(CranfieldError, match=f"{next(iter(option))} belongs to the chart 'precision-recall-full'"):
            draw_chart("cutoff", qrels, {"mine": run}, **option)


def test_discounts_of_dcg():
    kept = [row["kept"] for row in rows(discount.discount_chart(5)) if row["discount"].startswith("DCG")]
    assert kept == [1 / log2(i + 1) for i in range(1, 6)]
    assert "100%, 63%, 50%, 43%, 39%" in discount.discount_chart(5)["description"]


def test_gains():
    found = {(row["formula"].partition(":")[0], row["grade"]): row["gain"] for row in rows(gain.gain_chart(3))}
    assert found["linear", 3] == 3
    assert found["exponential", 3] == 7
    assert found["exponential", 0] == 0


def test_precision_by_cutoff():
    spec = draw_chart("cutoff", {"q": {"a": 1, "c": 1, "e": 1}}, {"five": {"q": list("abcde")}}, "P@5")
    assert [round(row["value"], 4) for row in rows(spec)[:5]] == [1.0, 0.5, 0.6667, 0.5, 0.6]
    assert spec["encoding"]["y"]["title"] == "P@k"


def test_values_of_queries():
    result = cranfield.evaluate_runs(*FILES, "nDCG@10")
    spec = draw_chart("distribution", *FILES, "nDCG@10")
    boxes = {row["run"]: row for row in rows(spec)}
    for run, evaluation in result.items():
        assert boxes[run]["mean"] == pytest.approx(evaluation["nDCG@10"])
        assert boxes[run]["median"] == pytest.approx(evaluation.aggregate("nDCG@10", "median"))
    assert len(spec["layer"][-1]["data"]["values"]) == 20
    many = distribution.distribution_chart("AP", {"run": [0.5] * (distribution.FEW + 1)})
    assert not any("value" in row for layer in many["layer"] for row in layer.get("data", {}).get("values", ()))
    assert len(json.dumps(many)) < 6000


def test_differences_are_sorted_and_add_up():
    result = cranfield.evaluate_runs(*FILES, "nDCG@10")
    spec = draw_chart("difference", *FILES, "nDCG@10")
    values = [row["difference"] for row in rows(spec)]
    assert values == sorted(values, reverse=True)
    gap = result["meaning"]["nDCG@10"] - result["keywords"]["nDCG@10"]
    assert sum(values) / len(values) == pytest.approx(gap)
    assert spec["description"].startswith("meaning is higher than keywords for 8 queries, lower for 2, the same for 0.")


def test_scatter():
    spec = scatter.scatter_chart("AP", "old", "new", {"q1": (0.1, 0.7), "q2": (0.5, 0.4), "q3": (1.0, 1.0)})
    assert spec["layer"][1]["data"]["values"][0] == {"query": "q1", "one": 0.1, "other": 0.7}
    assert spec["description"] == "new has a higher AP than old for 1 query, a lower one for 1."


def test_ranks_are_those_of_the_standings():
    found = standings(cranfield.compare(*FILES, "nDCG@10"))
    spec = draw_chart("ranks", *FILES)
    assert [(row["run"], row["first"] + 0.5, row["last"] - 0.5) for row in rows(spec)] == [
        (row.run, row.first, row.last) for row in found.rows
    ]
    assert found.sentence in spec["description"]
    with pytest.raises(CranfieldError, match="two runs"):
        draw_chart("ranks", FILES[0], FILES[1][:1])


def test_a_heat_map_is_sorted_by_difficulty():
    values = {"worse": {"easy": 0.9, "hard": 0.0, "between": 0.1}, "better": {"easy": 1.0, "hard": 0.15}}
    spec = heatmap.heatmap_chart("AP", values, means={"worse": 0.3, "better": 0.6})
    shown = spec["layer"][0]["encoding"]
    assert (shown["x"]["sort"], shown["y"]["sort"]) == (["better", "worse"], ["hard", "between", "easy"])
    levels = {(row["query"], row["run"]): row["level"] for row in rows(spec)}
    assert levels["hard", "worse"] == "0"
    assert levels["hard", "better"] == "to 0.20"
    assert levels["easy", "better"] == "to 1.00"
    assert ("between", "better") not in levels
    lower = heatmap.heatmap_chart("cost", values, means={"worse": 0.3, "better": 0.6}, lower_is_better=True)
    assert lower["layer"][0]["encoding"]["y"]["sort"][0] == "easy"


def test_a_heat_map_of_many_shows_the_best_runs_and_queries_of_every_difficulty():
    values = {f"run {n}": {f"q{q}": q / 1000 for q in range(1000)} for n in range(150)}
    spec = heatmap.heatmap_chart("AP", values, means={run: -n for n, run in enumerate(values)})
    shown = spec["layer"][0]["encoding"]
    assert shown["x"]["sort"] == [f"run {n}" for n in range(100)]
    assert shown["x"]["title"] == "best run on the left: 100 of 150 runs"
    assert [shown["y"]["sort"][at] for at in (0, -1)] == ["q0", "q999"]
    assert shown["y"]["title"] == "hardest query on top, 200 of 1,000 queries"


def test_slopes_name_the_largest_changes():
    values = {f"q{n}": (0.5, 0.5 + n / 20) for n in range(-4, 5)}
    spec = slopes.slopes_chart("AP", "old", "new", values, means=(0.5, 0.6))
    named = [row["name"] for row in spec["layer"][2]["data"]["values"]]
    assert {"q4", "q-4", "q3", "q-3"} < {*named[:5]}
    assert named[-1] == "mean 0.600"
    assert "4 queries are better by AP, 4 worse. The mean goes from 0.500 to 0.600." in spec["description"]
    lines = {row["query"]: row["way"] for row in spec["layer"][0]["data"]["values"]}
    assert (lines["q4"], lines["q0"], lines["q-4"]) == ("better", "same", "worse")
    cheaper = slopes.slopes_chart("cost", "old", "new", values, lower_is_better=True)
    assert {row["query"]: row["way"] for row in cheaper["layer"][0]["data"]["values"]}["q-4"] == "better"


def test_stability_starts_at_the_complete_judgments():
    spec = draw_chart("stability", *FILES, "nDCG@10", repeats=3)
    first = spec["data"]["values"][0]
    results = cranfield.evaluate_runs(*FILES, "nDCG@10").values()
    assert first["removed"] == 0
    assert first["mean"] == pytest.approx(sum(each["nDCG@10"] for each in results) / 2)
    uniform = draw_chart("stability", *FILES, "nDCG@10", repeats=3, design="uniform")
    assert uniform["encoding"]["x"]["title"] == "share of all judgments removed"
    assert spec["encoding"]["x"]["title"] == "share of each query's judgments removed"


@pytest.mark.parametrize("kind", CHARTS)
def test_every_chart_describes_itself_and_is_not_blank(kind):
    spec = draw_chart(kind, *FILES, **MORE.get(kind, {}))
    assert spec["title"]
    assert spec["description"].endswith((".", "…"))
    drawn = picture(sized(spec, 1), "svg").decode()
    assert f'role="img" aria-label="{escape(spec["title"])}. {escape(spec["description"])}"' in drawn
    assert len(re.findall(r"<path [^>]*d=", drawn)) > 10
    assert float(re.search(r'<svg[^>]* width="([\d.]+)pt"', drawn)[1]) == pytest.approx(240, abs=2)


@pytest.mark.parametrize("kind", [kind for kind, chart in CHARTS.items() if chart.of in ("evaluations", "curves")])
def test_results_draw_the_same_charts_themselves(kind):
    more = MORE.get(kind, {})
    wanted = draw_chart(kind, *FILES, **more)
    results = cranfield.evaluate_runs(*FILES, "nDCG@10", **more)
    measure = None if CHARTS[kind].only else "nDCG@10"
    assert results.plot(kind, measure) == wanted
    assert cranfield.compare(*FILES, "nDCG@10", **more).plot(kind, measure) == wanted
    if CHARTS[kind].runs is None:
        assert results["keywords"].plot(kind, measure) == draw_chart(kind, FILES[0], FILES[1][:1], **more)


def test_thresholds_are_drawn_as_shares_that_are_rightly_and_wrongly_empty():
    run = {"1": {"a": 0.9}, "2": {"b": 0.4}, "3": {"x": 0.6}, "4": {"x": 0.1}}
    options = {"answerable": {"3": False, "4": False}}
    spec = draw_chart("thresholds", {"1": {"a": 1}, "2": {"b": 1}}, {"mine": run}, **options)
    points = [(row["rightly_empty"], row["wrongly_empty"]) for row in rows(spec)]
    assert points == [(0, 0), (0, 0), (0.5, 0), (0.5, 0.5), (1, 0.5), (1, 1)]
    assert spec["description"] == "mine: where 50% are rightly empty, 0% are wrongly."
    with pytest.raises(CranfieldError, match="about queries without an answer, and none is known"):
        draw_chart("thresholds", *FILES)


def test_a_baseline_comes_first_only_in_charts_of_two_runs():
    compared = cranfield.compare(*FILES, "nDCG@10", baseline="meaning")
    assert compared.plot().get("title") == "nDCG@10 by query: keywords against meaning"
    assert [row["run"] for row in rows(compared.plot("distribution"))] == ["keywords", "meaning"]


def test_plot_refuses_charts_that_the_evaluation_cannot_draw(tmp_path):
    result = cranfield.evaluate(FILES[0], FILES[1][0], "nDCG@10")
    for kind, options, fact in (
        ("difference", {}, "shows two runs, not 1"),
        ("stability", {}, "not made of evaluations"),
        ("cutoff", {"depth": 3}, "has no option 'depth'"),
        ("pie", {}, "there is no chart 'pie'"),
    ):
        with pytest.raises(CranfieldError, match=fact):
            result.plot(kind, **options)
    result.save(tmp_path / "saved.json")
    saved = cranfield.Evaluation.load(tmp_path / "saved.json")
    assert saved.plot() == result.plot()
    with pytest.raises(CranfieldError):
        saved.plot("cutoff")  # this chart needs the ranks


def test_pictures(tmp_path):
    spec = discount.discount_chart()
    for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("json", b"{")):
        save_chart(spec, tmp_path / f"figure.{ending}", columns=2)
        assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)
    content = (tmp_path / "figure.png").read_bytes()
    width, _ = struct.unpack(">II", content[16:24])
    assert width == pytest.approx(504 / 72 * 300, abs=10)
    pixels = zlib.decompressobj().decompress(_image_data(content))
    assert len(set(pixels[: 4 * width * 300])) > 20  # many shades: not a blank sheet
    save_chart(spec, tmp_path / "bare.svg", title=False)
    assert spec["title"] not in (tmp_path / "bare.svg").read_text(encoding="utf-8")
    assert escape(spec["description"]) in (tmp_path / "bare.svg").read_text(encoding="utf-8")
    with pytest.raises(OutputError, match=r"end it in \.svg"):
        save_chart(spec, tmp_path / "figure.gif")


def _image_data(content):
    at, data = 8, b""
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        data += content[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return data


def test_draw_chart_refuses_invalid_requests():
    with pytest.raises(CranfieldError, match="there is no chart 'pie'"):
        draw_chart("pie", *FILES)
    with pytest.raises(CranfieldError, match="made of judgments and runs"):
        draw_chart("cutoff")
    with pytest.raises(CranfieldError, match="shows two runs, not 1"):
        draw_chart("scatter", FILES[0], FILES[1][:1])
    with pytest.raises(CranfieldError, match="shows one measure, not 2"):
        draw_chart("cutoff", *FILES, "P@5 R@5")
    with pytest.raises(CranfieldError, match="has no cutoff"):
        draw_chart("cutoff", *FILES, "Rprec")


def test_a_missing_library_is_reported(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'cranfield\[report\]'"):
        save_chart(draw_chart("gain"), tmp_path / "gain.svg")


def test_names_stay_text():
    evil = '<script>alert(1)</script>" & {datum.x}'
    spec = precision_recall.precision_recall_chart({evil: [1.0] * 11, "line\u2028end\\' + alert(1) + '": [0.5] * 11})
    assert "<script" not in picture(spec, "svg").decode()
    assert rows(spec)[0]["run"] == evil


@pytest.mark.parametrize("kind", CHARTS)
def test_specifications_stay_as_they_are(kind):
    # To update one: cranfield plot KIND builtin:qrels builtin:keywords builtin:meaning -o KIND.json
    kept = json.loads((Path(__file__).with_name("charts") / f"{kind}.json").read_text(encoding="utf-8"))
    measures = "nDCG@10 AP" if kind == "stability" else None
    assert _flat(draw_chart(kind, *FILES, measures, **MORE.get(kind, {}))) == pytest.approx(_flat(kept))


def _flat(value, path=""):
    """{path: number or text} of a specification, without the version of its schema."""
    if not isinstance(value, dict | list):
        return {path: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    every = [_flat(part, f"{path}/{name}") for name, part in parts if name != "$schema"]
    return {place: part for each in every for place, part in each.items()}
