"""Charts say what their data says, in marks and in words, and become pictures."""

import json
import re
import struct
import sys
import zlib
from html import escape
from math import log2
from pathlib import Path

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

import cranfield
from cranfield.errors import CranfieldError, MissingLibrary, OutputError
from cranfield.show import charts
from cranfield.show.pictures import KINDS, draw_chart, picture, save_chart, sized

FILES = ("builtin:qrels", ["builtin:keywords", "builtin:meaning"])


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


def test_the_penalties_of_dcg():
    kept = [row["kept"] for row in rows(charts.discount_chart(5)) if row["run"].startswith("DCG")]
    assert kept == [1 / log2(i + 1) for i in range(1, 6)]
    assert "100%, 63%, 50%, 43%, 39%" in charts.discount_chart(5)["description"]


def test_gains():
    found = {(row["run"].partition(":")[0], row["grade"]): row["gain"] for row in rows(charts.gain_chart(3))}
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
    boxes = {row["run"]: row for row in spec["layer"][0]["data"]["values"]}
    for run, evaluation in result.items():
        assert boxes[run]["mean"] == pytest.approx(evaluation["nDCG@10"])
        assert boxes[run]["median"] == pytest.approx(evaluation.aggregate("nDCG@10", "median"))
    assert len(spec["layer"][-1]["data"]["values"]) == 20
    many = charts.distribution_chart("AP", {"run": [0.5] * (charts.FEW + 1)})
    assert len(many["layer"]) == 4
    assert len(json.dumps(many)) < 5000


def test_differences_are_sorted_and_add_up():
    result = cranfield.evaluate_runs(*FILES, "nDCG@10")
    spec = draw_chart("difference", *FILES, "nDCG@10")
    values = [row["difference"] for row in rows(spec)]
    assert values == sorted(values, reverse=True)
    gap = result["meaning"]["nDCG@10"] - result["keywords"]["nDCG@10"]
    assert sum(values) / len(values) == pytest.approx(gap)
    assert spec["description"] == "meaning is higher than keywords for 8 queries, lower for 2, the same for 0."


def test_scatter():
    spec = charts.scatter_chart("AP", "old", "new", {"q1": (0.1, 0.7), "q2": (0.5, 0.4), "q3": (1.0, 1.0)})
    assert spec["layer"][1]["data"]["values"][0] == {"query": "q1", "one": 0.1, "other": 0.7}
    assert spec["description"] == "1 queries have a higher AP in new, 1 a higher one in old."


def test_stability_starts_at_the_complete_judgments():
    spec = draw_chart("stability", *FILES, "nDCG@10", repeats=3)
    first = spec["data"]["values"][0]
    results = cranfield.evaluate_runs(*FILES, "nDCG@10").values()
    assert first["removed"] == 0
    assert first["mean"] == pytest.approx(sum(each["nDCG@10"] for each in results) / 2)
    uniform = draw_chart("stability", *FILES, "nDCG@10", repeats=3, design="uniform")
    assert uniform["layer"][1]["encoding"]["x"]["title"] == "share of all judgments removed"
    assert spec["layer"][1]["encoding"]["x"]["title"] == "share of each query's judgments removed"


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_describes_itself_and_is_not_blank(kind):
    spec = draw_chart(kind, *FILES)
    assert spec["title"]
    assert spec["description"].endswith((".", "…"))
    drawn = picture(sized(spec, 1), "svg").decode()
    assert f'role="img" aria-label="{escape(spec["title"])}. {escape(spec["description"])}"' in drawn
    assert len(re.findall(r"<path [^>]*d=", drawn)) > 10
    assert float(re.search(r'<svg[^>]* width="([\d.]+)"', drawn)[1]) == pytest.approx(240, abs=2)


def test_many_lines_are_told_apart():
    spec = charts.precision_recall_chart({f"run {n}": [0.5] * 11 for n in range(30)})
    looks = [spec["encoding"][channel]["scale"]["range"] for channel in ("color", "strokeDash")]
    assert len({(colour, tuple(dash)) for colour, dash in zip(*looks, strict=True)}) == 30
    few = charts.precision_recall_chart({"run": [0.5] * 11})
    assert spec["height"] > few["height"]  # room for the legend


def test_pictures(tmp_path):
    spec = charts.discount_chart()
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


def test_what_cannot_be_drawn():
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


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_library_that_is_not_there(library, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibrary, match=r"pip install 'cranfield\[report\]'"):
        save_chart(draw_chart("gain"), tmp_path / "gain.svg")


def test_names_stay_text():
    evil = '<script>alert(1)</script>" & {datum.x}'
    spec = charts.precision_recall_chart({evil: [1.0] * 11, "line\u2028end\\' + alert(1) + '": [0.5] * 11})
    assert "<script" not in picture(spec, "svg").decode()
    assert rows(spec)[0]["run"] == evil


@pytest.mark.parametrize("kind", KINDS)
def test_specifications_stay_as_they_are(kind):
    # One is written again by: cranfield plot KIND builtin:qrels builtin:keywords builtin:meaning -o KIND.json
    kept = json.loads((Path(__file__).with_name("charts") / f"{kind}.json").read_text(encoding="utf-8"))
    measures = "nDCG@10 AP" if kind == "stability" else None
    assert _flat(draw_chart(kind, *FILES, measures)) == pytest.approx(_flat(kept))


def _flat(value, path=""):
    """{path: number or text} of a specification, without the version of its schema."""
    if not isinstance(value, dict | list):
        return {path: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    every = [_flat(part, f"{path}/{name}") for name, part in parts if name != "$schema"]
    return {place: part for each in every for place, part in each.items()}
