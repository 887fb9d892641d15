"""How charts look: colours, names, counts and sizes, in light, in dark and on paper."""

import re

import pytest

pytest.importorskip("vl_convert")

from cranfield.errors import CranfieldError
from cranfield.look import DARK, LIGHT
from cranfield.report.plotting import draw_chart
from cranfield.show.charts import CHARTS, difference, distribution, precision_recall, runs, stability
from cranfield.show.pictures import darkened, picture, sized
from tests.show.test_charts import FILES, MORE, rows


def looks(spec, layer=0):
    """{run: (colour, dashes)} of a chart of lines."""
    scales = [spec["encoding"]["color"]["scale"], spec["layer"][layer]["encoding"]["strokeDash"]["scale"]]
    colours, dashes = (dict(zip(scale["domain"], scale["range"], strict=True)) for scale in scales)
    return {run: (colour, tuple(dashes[run])) for run, colour in colours.items()}


def written(spec):
    """All words that are written inside a chart, with where they are."""
    found = []
    for layer in spec["layer"]:
        if layer["mark"]["type"] == "text":
            values = layer.get("data", {}).get("values", [{}])
            field = layer["encoding"].get("text", {}).get("field")
            found += [(row.get(field) or layer["mark"].get("text"), row) for row in values]
    return dict(found)


def test_each_of_a_few_runs_has_a_look_of_its_own():
    spec = precision_recall.precision_recall_chart({f"run {n}": [n / 10] * 11 for n in range(8)})
    assert len(set(looks(spec).values())) == len({colour for colour, _ in looks(spec).values()}) == 8


def test_among_many_runs_only_the_best_and_the_highlighted_have_a_colour():
    curves = {f"run {n}": [n / 100] * 11 for n in range(30)}
    spec = precision_recall.precision_recall_chart(curves, highlight=["run 3"])
    coloured = [run for run, (colour, _) in looks(spec).items() if colour != LIGHT["run-0"]]
    assert coloured == ["run 29", "run 3"]
    assert list(written(spec)) == ["run 29", "run 3", "28 other runs"]
    few = precision_recall.precision_recall_chart({"a": [0.1] * 11, "b": [0.2] * 11, "c": [0.3] * 11}, highlight=["a"])
    assert looks(few)["b"][0] == LIGHT["run-0"]
    with pytest.raises(CranfieldError, match="there is no run 'x' to highlight"):
        precision_recall.precision_recall_chart(curves, highlight=["x"])


def test_names_are_at_the_ends_of_lines_and_do_not_overlap():
    ends = {"first": 0.30, "second": 0.31, "third": 0.9}
    spec = precision_recall.precision_recall_chart({run: [1.0] * 10 + [end] for run, end in ends.items()})
    places = {name: row["precision"] for name, row in written(spec).items()}
    assert places["third"] == pytest.approx(0.9)
    assert places["second"] - places["first"] >= runs.GAP - 1e-6
    assert all(row["end"] == ends[name] for name, row in written(spec).items())
    assert spec["encoding"]["color"]["legend"] is None


def test_names_without_room_are_below_the_chart():
    crowded = precision_recall.precision_recall_chart({f"run {n}": [1.0] * 10 + [0.0] for n in range(8)})
    long = precision_recall.precision_recall_chart({"a name that is much too long for it": [0.5] * 11})
    for spec in (crowded, long):
        assert not written(spec)
        assert spec["encoding"]["color"]["legend"]["orient"] == "bottom"
        assert spec["height"] > 260


def test_a_difference_chart_shows_counts_and_the_interval():
    gaps = {str(n): n / 100 for n in range(-16, 24)}
    spec = difference.difference_chart("AP", "old", "new", gaps, mean=difference.mean_difference(list(gaps.values())))
    drawn = picture(spec, "svg").decode()
    for words in ("▲ 23 better", "1 the same", "▼ 16 worse", "n = 40 queries", "no difference"):
        assert words in drawn
    assert "mean +0.035 (95% interval −0.002 to +0.072)" in drawn
    upside = difference.difference_chart("cost", "old", "new", gaps, lower_is_better=True)
    assert upside["data"]["values"][0]["query"] == "-16"
    assert "▲ 16 better" in picture(upside, "svg").decode()
    assert difference.mean_difference([0.1]) is None
    assert "old" in difference.difference_chart("AP", "old", "new", {})["title"]  # a template that a page fills


def test_many_differences_are_one_area():
    spec = difference.difference_chart("AP", "old", "new", {str(n): n / 1000 - 0.5 for n in range(1000)})
    assert picture(spec, "svg").decode().count("<path") < 100


def test_the_mean_is_told_where_no_bar_is():
    gaps = {str(n): 0.5 for n in range(20)}
    spec = difference.difference_chart("AP", "old", "new", gaps, mean=difference.mean_difference([0.4, 0.6]))
    assert not any("mean" in str(words) for words in written(spec))
    assert "mean +0.500" in spec["layer"][1]["encoding"]["x"]["title"][1]


@pytest.mark.parametrize("name", ["a-name-without-a-space-" * 8, "a name of many words " * 8, "稠密向量模型第二版" * 8])
@pytest.mark.parametrize("kind", ["difference", "scatter", "distribution", "cutoff", "ranks", "heatmap", "slopes"])
def test_long_names_make_no_chart_wider(kind, name):
    qrels, ranking = {"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["a", "b"]}
    spec = draw_chart(kind, qrels, {f"{name}1": ranking, f"{name}2": ranking})
    assert float(re.search(r'<svg[^>]* width="([\d.]+)"', picture(spec, "svg").decode())[1]) < 600


def test_a_chart_says_all_of_a_long_title():
    spec = precision_recall.precision_recall_chart({"run": [0.5] * 11})
    lines = re.findall(r">((?:word ?)+)<", picture({**spec, "title": "word " * 60}, "svg").decode())
    assert max(map(len, lines)) <= 66
    assert sum(line.count("word") for line in lines) == 60


def test_whiskers_span_the_5th_to_the_95th_percentile():
    spec = distribution.distribution_chart("AP", {"run": [n / 100 for n in range(101)]})
    [box] = rows(spec)
    assert [box["low"], box["q1"], box["median"], box["q3"], box["high"]] == [0.05, 0.25, 0.5, 0.75, 0.95]
    drawn = picture(spec, "svg").decode()
    for words in ("mean 0.500", "median 0.500", "n = 101 queries", "whiskers: 5–95%"):
        assert words in drawn


def test_many_rows_are_sorted_by_their_means():
    spec = distribution.distribution_chart("AP", {str(n): [n / 20] for n in range(20)})
    assert spec["layer"][0]["encoding"]["y"]["sort"][:2] == ["19", "18"]


@pytest.mark.parametrize("kind", CHARTS)
def test_colours_are_those_of_the_page_in_light_and_dark(kind):
    spec = draw_chart(kind, *FILES, **MORE.get(kind, {}))
    for drawn, colours in ((spec, LIGHT), (darkened(spec), DARK)):
        used = set(re.findall("#[0-9a-f]{6}", picture(drawn, "svg").decode().lower()))
        assert used <= {*colours.values(), "#000000"}
        assert "#000000" not in re.findall('<text[^>]*fill="(#[0-9a-f]{6})', picture(drawn, "svg").decode())


@pytest.mark.parametrize("kind", ["stability", "discount", "gain"])
def test_lines_that_are_not_runs_differ_without_the_colours_of_runs(kind):
    spec = draw_chart(kind, *FILES)
    used = set(re.findall("#[0-9a-f]{6}", picture(spec, "svg").decode().lower()))
    assert not used & {LIGHT[f"run-{number}"] for number in range(9)}
    line = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "line")
    names = spec["encoding"]["color"]["scale"]["domain"]
    for channel in ("strokeDash", "shape"):
        scale = line["encoding"][channel]["scale"]
        assert scale["domain"] == names
        assert len({str(look) for look in scale["range"]}) == len(names) > 1


def test_many_measures_are_told_apart_by_dashes_and_shade():
    rows = [(f"measure {n}", share, n / 10, 0.01) for n in range(8) for share in (0.0, 0.5)]
    found = looks(stability.stability_chart(rows), layer=1)
    assert len(set(found.values())) == 8
    assert {colour for colour, _ in found.values()} == {LIGHT["ink"], LIGHT["faint"]}


def test_a_name_that_looks_like_a_colour_stays():
    spec = darkened(precision_recall.precision_recall_chart({LIGHT["run-1"]: [0.5] * 11}))
    assert rows(spec)[0]["run"] == LIGHT["run-1"]
    assert looks(spec) == {LIGHT["run-1"]: (DARK["run-1"], (1, 0))}


def test_names_in_other_scripts_get_their_fonts_and_titles_that_fit():
    spec = difference.difference_chart("nDCG@10", "关键词基线", "稠密向量模型第二版", {"如何评价": 0.1, "検索": -0.2})
    assert spec["config"]["font"].startswith("PingFang SC")
    assert difference.difference_chart("AP", "old", "ハイブリッド", {"1": 0.1})["config"]["font"].startswith("Hiragino")
    assert difference.difference_chart("AP", "old", "naïve", {"1": 0.1})["config"]["font"].startswith("Helvetica")
    assert sized(spec, 1)["title"] == ["nDCG@10 by query: 稠密向量模型第二版 against", "关键词基线"]


def test_a_figure_for_a_paper_is_measured_in_points():
    drawn = picture(sized(draw_chart("difference", *FILES), 1), "svg").decode()
    assert re.search(r'<svg[^>]* width="2[34]\dpt" height="\d+pt"', drawn)
    assert {float(size) for size in re.findall(r'font-size="([\d.]+)px"', drawn)} <= {7, 8, 9}
