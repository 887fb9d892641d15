"""No text ends the process: characters that cannot be drawn are escaped, and a renderer that dies costs a picture."""

import json
import os
import re
import sys
import threading
import unicodedata
from multiprocessing import get_context
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("vl_convert")

import cranfield
from cranfield.errors import OutputError
from cranfield.show.charts import CHARTS
from cranfield.show.charts.parts import SCHEMA
from cranfield.show.pictures import drawable, picture, sized

HARD = "\0\x01\x1b[2J\x7f\x85\u200b\u2028\u202e\ufdd0\ufffe\uffff\\u0001&#1;<b>]]>\"'"
QRELS = {f"q{HARD}{n}": {"a": 1, "b": 2} for n in range(5)}
RUNS = {
    f"{HARD}old\ud83d": {query: ["x", "a"] for query in QRELS},
    f"{HARD}new": {query: ["b", "x", "a"] for query in list(QRELS)[1:]},
}


def in_xml(text):
    return re.fullmatch("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*", text)


def texts(part):
    """All texts of a specification, names of its parts among them."""
    if isinstance(part, dict):
        return [text for pair in part.items() for each in pair for text in texts(each)]
    return [text for each in part for text in texts(each)] if isinstance(part, list) else [part]


def bare(*lines, **parts):
    return {"$schema": SCHEMA, "data": {"values": [{}]}, "mark": "text", "title": {"text": lines, "limit": 0}, **parts}


def test_of_all_characters_only_those_of_xml_reach_the_renderer():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = drawable(every)
    assert in_xml(shown)
    # Letters, digits and signs stay as they are.
    escaped = set(every) - set(shown)
    assert {unicodedata.category(sign) for sign in escaped} <= {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}
    nested = drawable({HARD: [HARD, {HARD: (HARD, 1, None)}]})
    assert all(in_xml(text) for text in texts(nested) if isinstance(text, str))


def test_characters_of_every_kind_are_drawn():
    # All of Unicode takes two minutes, so of letters and signs one in 1,024, and all others that are no letters.
    odd = [chr(code) for code in range(0x3000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zs", "Zl", "Zp")]
    ends = [chr(code + end) for code in range(0, sys.maxunicode, 0x10000) for end in (0, 0xFFFE, 0xFFFF)]
    some = [*odd, *ends, *map(chr, range(0xFDD0, 0xFDF0)), *map(chr, range(0, sys.maxunicode, 1024))]
    lines = ["".join(some[at : at + 64]) for at in range(0, len(some), 64)]
    svg = ElementTree.fromstring(picture(bare(*lines, description="".join(some)), "svg"))
    assert r"\u0000\u0001" in "".join(svg.itertext())
    assert r"\u0000\u0001" in svg.attrib["aria-label"]


def test_a_name_that_is_too_long_is_not_cut_within_a_character():
    runs = {f"{n} {'😀' * 60}": {"q1": ["a"], "q2": ["b"]} for n in range(3)}
    for kind in ("cutoff", "distribution"):
        spec = cranfield.draw_chart(kind, {"q1": {"a": 1}, "q2": {"a": 1}}, runs)
        assert "😀" * 60 in picture(sized(spec, 1), "svg").decode()


# What a chart needs besides judgments and runs.
MORE = {
    "frontier": {"by": "cost", "values": dict.fromkeys(RUNS, 1.0)},
    "thresholds": {"answerable": {"nothing to find": False}},
}


@pytest.mark.fault("characters of all kinds in names in charts", "They are drawn, or shown escaped.")
@settings(max_examples=40)
@example(["if"])
@given(st.lists(st.text(st.characters() | st.sampled_from("\0\x1b\ufffe\\u01'\"<&;]{}\n"), max_size=30), max_size=8))
def test_mixtures_are_drawn(names):
    values = [{"name": name, name: name} for name in names]
    encoding = {"y": {"field": "name", "sort": names}, "color": {"field": "name", "scale": {"domain": names}}}
    ElementTree.fromstring(picture(bare(*names, data={"values": values}, encoding=encoding), "svg"))


@pytest.mark.fault("characters of all kinds in names in charts", "They are drawn, or shown escaped.")
@pytest.mark.parametrize("kind", CHARTS)
def test_every_chart_shows_names_of_any_characters(kind):
    spec = cranfield.draw_chart(kind, QRELS, RUNS, "nDCG@10 AP" if kind == "stability" else None, **MORE.get(kind, {}))
    words = "".join(ElementTree.fromstring(picture(spec, "svg")).itertext())
    assert in_xml(words)
    if kind not in ("discount", "gain", "stability"):
        assert r"\u0000\u0001\u001b[2J" in words


def test_pictures_of_all_formats_and_notebooks_take_any_names(tmp_path):
    found = cranfield.compare(QRELS, RUNS, "RR")
    assert "<svg" in found._repr_html_()
    assert "<svg" in found.evaluations[0]._repr_html_()
    spec = cranfield.draw_chart("distribution", QRELS, RUNS, "RR")
    assert spec._repr_svg_().startswith("<svg")
    for ending in ("svg", "png", "pdf", "json"):
        cranfield.save_chart(spec, tmp_path / f"chart.{ending}", columns=1)
        assert (tmp_path / f"chart.{ending}").stat().st_size > 1000
    kept = json.loads((tmp_path / "chart.json").read_text(encoding="utf-8"))
    assert "\0\x01\x1b" in kept["data"]["values"][0]["run"]  # the specification keeps names as they are


@pytest.fixture
def fragile(monkeypatch, tmp_path):
    """A library that aborts its process, as a panic does, unless the specification says otherwise."""
    package = tmp_path / "vl_convert"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import os, sys\n"
        "def vegalite_to_svg(spec):\n"
        "    print('noise', flush=True)\n"
        "    if 'fine' in spec: return f'<svg >{os.getpid()}</svg>'\n"
        "    if 'refused' in spec: raise ValueError('no such mark\\n    at somewhere')\n"
        "    if 'exits' in spec: sys.exit(3)\n"
        "    os.abort()\n"
        "vegalite_to_png = vegalite_to_pdf = lambda spec, **options: vegalite_to_svg(spec)\n",
        encoding="utf-8",
    )
    monkeypatch.delitem(sys.modules, "vl_convert")
    monkeypatch.syspath_prepend(tmp_path)


def process_of(svg):
    return int("".join(ElementTree.fromstring(svg).itertext()))


@pytest.mark.fault("a renderer that panics", "An error instead of one picture; the program goes on.")
def test_a_renderer_that_aborts_costs_one_picture(fragile, tmp_path):
    first = process_of(picture({"title": "fine"}, "svg"))
    assert first == process_of(picture({"title": "fine"}, "svg")) != os.getpid()  # it is kept
    for ending in ("svg", "png", "pdf"):
        with pytest.raises(OutputError, match=r"the chart: vl-convert crashed \("):
            cranfield.save_chart({"title": "aborts"}, tmp_path / f"chart.{ending}")
        assert not (tmp_path / f"chart.{ending}").exists()
    with pytest.raises(OutputError, match=r"crashed \(exit status 3\)"):
        picture({"title": "exits"}, "svg")
    assert process_of(picture({"title": "fine"}, "svg")) != first
    with pytest.raises(OutputError, match=r"cannot be drawn: no such mark$"):
        picture({"title": "refused"}, "svg")


def test_a_notebook_shows_its_tables_where_the_renderer_aborts(fragile):
    found = cranfield.compare(QRELS, RUNS, "RR")
    html = found._repr_html_()
    assert "<table>" in html
    assert "<p>the chart: vl-convert crashed (" in html
    assert cranfield.draw_chart("gain")._repr_svg_() is None


@pytest.mark.fault("a renderer that panics", "An error instead of one picture; the program goes on.")
def test_a_picture_too_large_for_the_renderer_is_an_error():
    with pytest.raises(OutputError, match="vl-convert crashed"):
        picture(bare("huge", width=10**6, height=10**6), "png")
    assert picture(bare("small"), "svg").startswith(b"<svg")


def test_a_renderer_that_does_not_start_is_an_error(fragile, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(OutputError, match="vl-convert did not start"):
        picture({"title": "fine"}, "svg")


def test_threads_take_turns(fragile):
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.append(process_of(picture({"title": "fine"}, "svg")))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 8
    assert len(set(drawn)) == 1


def _in_a_fork(pipe):
    pipe.send(process_of(picture({"title": "fine"}, "svg")))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_has_a_renderer_of_its_own(fragile):
    ours = process_of(picture({"title": "fine"}, "svg"))
    fork = get_context("fork")
    here, there = fork.Pipe()
    process = fork.Process(target=_in_a_fork, args=(there,))
    process.start()
    theirs = here.recv()
    process.join()
    assert theirs != ours
    assert process_of(picture({"title": "fine"}, "svg")) == ours  # still there
