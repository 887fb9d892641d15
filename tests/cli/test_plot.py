"""The command plot, as people run it."""

import json

import pytest

from cranfield.look import DARK
from tests.program import run


def test_one_query_of_a_full_curve(files):
    command = ("plot", "precision-recall-full", "qrels", "bad.run", "-o", "full.json", "--query")
    done = run(*command, "1", cwd=files)
    assert done.returncode == 0, done.stderr
    spec = json.loads((files / "full.json").read_text(encoding="utf-8"))
    assert done.stdout == "wrote full.json: precision-recall-full of query 1, 1 run\n"
    assert "of query 1" in spec["title"]
    [points] = spec["layer"][1]["data"]["values"]
    assert (points["rank"], points["recall"]) == ([1, 2], [0, 1])
    done = run(*command, "7", cwd=files)
    assert done.stderr == "cranfield: there is no query '7' among the judged ones.\nHint: there are 1, 2\n"
    done = run("plot", "scatter", "qrels", "bad.run", "good.run", "--query", "1", "-o", "x.json", cwd=files)
    assert "query belongs to the chart 'precision-recall-full', not to 'scatter'" in done.stderr


def test_rel_changes_the_precision_recall_curves(files):
    for kind in ("precision-recall", "precision-recall-full"):
        for level, highest in (("1", 1), ("2", 0.5)):
            done = run("plot", kind, "qrels", "good.run", "--rel", level, "-o", f"{kind}.json", cwd=files)
            assert done.returncode == 0, done.stderr
            spec = json.loads((files / f"{kind}.json").read_text(encoding="utf-8"))
            data = spec.get("data") or spec["layer"][1]["data"]
            assert data["values"][0]["precision"] in (highest, [highest])


def test_a_run_is_highlighted_and_a_picture_is_dark(files):
    command = ("plot", "cutoff", "qrels", "good.run", "bad.run", "-o", "cutoff.json", "--dark", "--highlight")
    done = run(*command, "bad", cwd=files)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote cutoff.json: cutoff of nDCG@10, 2 runs\n"
    spec = json.loads((files / "cutoff.json").read_text(encoding="utf-8"))
    assert spec["background"] == DARK["paper"]
    colours = spec["encoding"]["color"]["scale"]
    assert dict(zip(colours["domain"], colours["range"], strict=True))["bad"] == DARK["run-2"]
    done = run(*command, "none", cwd=files)
    assert done.returncode == 2
    assert "there is no run 'none' to highlight.\nHint: runs are good, bad" in done.stderr
    done = run("plot", "scatter", "qrels", "good.run", "bad.run", "--highlight", "bad", "-o", "x.json", cwd=files)
    assert "highlight belongs to the charts 'precision-recall'" in done.stderr


def test_names_of_any_characters_are_drawn(tmp_path):
    pytest.importorskip("vl_convert")
    names = {"q\0": {"a": 1}, "q\x1b[2J": {"b": 1}, "q\ufffe \\u0001": {"c": 1}}
    (tmp_path / "qrels.json").write_text(json.dumps(names), encoding="utf-8")
    for run_name in ("one", "two"):
        (tmp_path / f"{run_name}.json").write_text(json.dumps(names), encoding="utf-8")
    for ending in ("svg", "png", "pdf"):
        file = f"chart.{ending}"
        done = run("plot", "difference", "qrels.json", "one.json", "two.json", "-o", file, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / file).stat().st_size > 1000
    assert r"q\u001b[2J" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
