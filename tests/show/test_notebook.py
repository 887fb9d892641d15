"""Results in notebooks: tables always, charts where the libraries are."""

import subprocess
import sys
from base64 import b64decode
from re import search

import pytest

import cranfield

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RUNS = {
    "<b>old</b>": {"q1": ["x", "a"], "q2": ["b"], "q3": ["x", "y", "c"]},
    "new": {"q1": ["a"], "q2": ["b"], "q3": ["x", "c"]},
    "other": {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"]},
}


def picture(html):
    return b64decode(search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1]).decode()


def test_an_evaluation_is_a_table_and_a_chart():
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    html = cranfield.evaluate(QRELS, RUNS["new"], "RR", name="<i>")._repr_html_()
    assert "<td>&lt;i&gt;</td><td>0.8333</td>" in html
    assert "How RR is spread over the queries" in html
    assert "<path" in picture(html)
    alone = cranfield.evaluate({"q1": {"a": 1}}, RUNS["new"], "RR")._repr_html_()
    assert "<img" not in alone  # one query has no spread


def test_several_evaluations_are_one_table():
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    html = cranfield.evaluate_runs(QRELS, RUNS, "RR P@1")._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>&lt;b&gt;old&lt;/b&gt;</td><td>0.6111</td><td>0.3333</td>" in html
    assert "<path" in picture(html)
    assert "no run" in cranfield.evaluate_runs(QRELS, {}, "RR")._repr_html_()


@pytest.mark.parametrize("count", [2, 3])
def test_a_comparison_is_tables_and_a_chart(count):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    found = cranfield.compare(QRELS, dict(list(RUNS.items())[:count]), "RR P@1")
    html = found._repr_html_()
    assert "<b>" not in html
    for name, value in found.means["RR"].items():
        assert f"{value:.4f}" in html
        assert name.replace("<", "&lt;").replace(">", "&gt;") in html
    for each in found.differences:
        assert f"<td>{each.difference:+.4f}</td>" in html
    told = "query by query" if count == 2 else "RR of the queries"
    assert told in search(r'alt="([^"]+)"', html)[1]
    assert "<path" in picture(html)


def test_a_chart_is_a_picture():
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    assert "<path" in cranfield.draw_chart("gain")._repr_svg_()


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_tables_are_enough_without_libraries(library, monkeypatch):
    found = cranfield.compare(QRELS, RUNS, "RR")
    monkeypatch.setitem(sys.modules, library, None)
    html = found._repr_html_()
    assert "<table>" in html
    assert "<img" not in html
    assert "<img" not in found.evaluations[0]._repr_html_()


def test_nothing_is_imported_before_it_is_shown():
    code = "import sys, cranfield; cranfield.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'RR'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"altair", "vl_convert", "jinja2", "cranfield.show.notebook", "cranfield.show.charts"}
