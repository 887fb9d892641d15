"""Results in notebooks: tables always, charts if the libraries are installed."""

import sys
from re import search

import pytest

import cranfield
from cranfield.look import DARK, LIGHT

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
RUNS = {
    "<b>old</b>": {"q1": ["x", "a"], "q2": ["b"], "q3": ["x", "y", "c"]},
    "new": {"q1": ["a"], "q2": ["b"], "q3": ["x", "c"]},
    "other": {"q1": ["a"], "q2": ["x", "b"], "q3": ["c"]},
}


@pytest.fixture
def drawing():
    pytest.importorskip("vl_convert")


def picture(html):
    return search(r"<svg.*</svg>", html)[0]


def test_an_evaluation_is_a_table_and_a_chart(drawing):
    html = cranfield.evaluate(QRELS, RUNS["new"], "RR", name="<i>")._repr_html_()
    assert '<td>&lt;i&gt;</td><td class="n">0.8333</td>' in html
    assert "How RR is spread over the queries" in html
    assert "<path" in picture(html)
    alone = cranfield.evaluate({"q1": {"a": 1}}, RUNS["new"], "RR")._repr_html_()
    assert "<svg" not in alone  # one query has no spread


def test_several_evaluations_are_one_table(drawing):
    html = cranfield.evaluate_runs(QRELS, RUNS, "RR P@1")._repr_html_()
    assert html.count("<tr>") == 4
    assert '<td>&lt;b&gt;old&lt;/b&gt;</td><td class="n">0.6111</td><td class="n">0.3333</td>' in html
    assert "<path" in picture(html)
    assert "no run" in cranfield.evaluate_runs(QRELS, {}, "RR")._repr_html_()


@pytest.mark.parametrize("count", [2, 3])
def test_a_comparison_is_tables_and_a_chart(drawing, count):
    found = cranfield.compare(QRELS, dict(list(RUNS.items())[:count]), "RR P@1")
    html = found._repr_html_()
    assert "<b>" not in html
    for name, value in found.means["RR"].items():
        assert f"{value:.3f}" in html
        assert name.replace("<", "&lt;").replace(">", "&gt;") in html
    for each in found.differences:
        assert f'<td class="n">{each.difference:+.3f}</td>' in html
    title = "RR by query" if count == 2 else "RR of the queries"
    assert title in search(r'aria-label="([^"]+)"', html)[1]
    assert "<path" in picture(html)


def test_the_worst_queries_are_a_table():
    html = cranfield.evaluate(QRELS, RUNS["<b>old</b>"], "RR").worst(n=2)._repr_html_()
    assert "<th>query</th>" in html
    assert '<th class="n">RR</th>' in html
    assert html.count("<tr>") == 3
    assert "the first at rank 3" in html


def test_an_explanation_shows_grades_in_their_colours():
    html = cranfield.explain({"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["x", "a", "c"]}, "q", "P nDCG")._repr_html_()
    for cell in ('class="grade none">?', 'class="grade g2">2', 'class="grade g0">0', 'class="grade g1">1'):
        assert cell in html
    assert "nothing retrieved" in cranfield.explain({"q": {"a": 2}}, {}, "q")._repr_html_()


def test_dark_notebooks_have_dark_colours(drawing):
    html = cranfield.draw_chart("cutoff", QRELS, RUNS)._repr_html_()
    assert f".cranfield {{ --paper: {LIGHT['paper']};" in html
    dark = search(r'\nbody\[data-jp-theme-light="false"\] \.cranfield, ([^{]+) \{ ([^}]+) \}', html)
    assert "vscode-dark" in dark[1]
    assert 'html[theme="dark"]' in dark[1]
    assert f"--run-1: {DARK['run-1']};" in dark[2]
    assert f'.cranfield [stroke="{LIGHT["run-2"]}"] {{ stroke: var(--run-2); }}' in html


def test_a_chart_is_a_picture(drawing):
    assert "<path" in cranfield.draw_chart("gain")._repr_svg_()
    assert "<path" in picture(cranfield.draw_chart("gain")._repr_html_())


def test_without_the_drawing_library_only_tables_are_shown(monkeypatch):
    found = cranfield.compare(QRELS, RUNS, "RR")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    html = found._repr_html_()
    assert "<table>" in html
    assert "<svg" not in html
    assert "<svg" not in found.evaluations[0]._repr_html_()


def test_equal_runs_have_no_interval_and_no_p_value():
    qrels, run = {str(q): {"a": 1} for q in range(9)}, {str(q): ["a", "b"] for q in range(9)}
    found = cranfield.compare(qrels, {"old": run, "new": run}, "RR")
    shown = found._repr_html_()
    assert "RR is the same on all 9 queries" in shown
    assert "+0.0000 to +0.0000" not in shown
    assert "interval +0.000" not in shown
    assert "1.0000</td><td" not in found.differences[0]._repr_html_()
