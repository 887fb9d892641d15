"""Hostile names and ids in everything that is printed: they are shown as text, never interpreted."""

import contextlib
import csv
import io
import json
import os
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import compare, evaluate_runs, explain, gate, reusability, stability
from cranfield.cli import output
from cranfield.comparison.correlation import reliability
from cranfield.evaluation.overview import overview
from cranfield.show import evaluation_markup as data
from cranfield.show import evaluation_markup as markup
from cranfield.show import evaluation_text as text
from cranfield.show.comparison_markup import comparison_latex, comparison_markdown
from cranfield.show.comparison_text import comparison_text
from cranfield.show.escaping import latex_text, markdown_text
from cranfield.show.explanation_text import explanation_text
from cranfield.show.gate_text import gate_text
from cranfield.show.stability_text import reusability_text, stability_text
from cranfield.show.view import View
from cranfield.words import columns, visible
from tests.program import run
from tests.reviews import as_junit, as_markdown

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
SIGNS = (
    "\x00\x07\x08\t\n\r\x0b\x1b\x7f\x85\x9b\u200b\u2028\u202e\u2066\ufeff\ufffe=+-@|`\\*_<>&%$#{}[]()~^!\"';:, ab1é検"
)
names = st.text(st.sampled_from(SIGNS), min_size=1, max_size=12)
DANGEROUS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("x")')


@st.composite
def evaluated(draw):
    """Two runs over a few queries and documents, all with hostile names, as (qrels, runs)."""
    runs = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    queries = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    documents = draw(st.lists(names, min_size=3, max_size=4, unique=True))
    qrels = {query: {documents[0]: 2, documents[1]: 1} for query in queries}
    rankings = ({query: [documents[at % 3], documents[2]] for at, query in enumerate(queries)} for _ in runs)
    found = dict(zip(runs, rankings, strict=True))
    found[runs[1]] = {query: [*ranking[1:], ranking[0]] for query, ranking in found[runs[1]].items()}
    return qrels, {name: {q: list(dict.fromkeys(r)) for q, r in run.items()} for name, run in found.items()}


def captured(words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        output.say(words)
    return out.getvalue()


@pytest.mark.fault(
    "control characters, markup and formulas in names that are printed", "They are shown as text, in every format."
)
@settings(max_examples=60, deadline=None)
@given(evaluated(), st.lists(names, min_size=4, max_size=4))
def test_printed_text_has_no_control_characters(collection, words):
    qrels, runs = collection
    results = evaluate_runs(qrels, runs, "nDCG@2 AP")
    segments = dict(zip(qrels, words, strict=False))
    view = View(overview(list(results.values()), per_query=True, worst=3, bounds=True, segments=segments))
    compared, gated = compare(qrels, runs, "nDCG@2 AP"), gate(qrels, *runs.values(), "AP", max_worse_queries=0)
    query = next(iter(qrels))
    for shown in (
        text.table(view),
        text.table(view, 40),
        comparison_text(compared, reliability(compared)),
        comparison_markdown(compared),
        comparison_latex(compared),
        gate_text(gated),
        as_markdown(gated),
        as_junit(gated),
        markup.markdown(view),
        markup.latex(view),
        stability_text(stability(qrels, runs, "AP", [0.5], repeats=1)),
        reusability_text(reusability(qrels, runs, "AP", groups={next(iter(runs)): words[0]})),
        explanation_text(explain(qrels, next(iter(runs.values())), query), 80),
    ):
        printed = captured(shown)
        assert not CONTROL.search(printed)
        assert printed == f"{shown}\n"  # safe, and so of the right width, even before it is printed
        printed.encode()
    lines = text.table(view, 400).split("\n")
    assert sum(line.startswith("query ") for line in lines) >= len(runs)
    for start in (at for at, line in enumerate(lines) if line.endswith(", query by query")):
        rows = lines[start + 1 : start + 2 + len(qrels)]
        assert {columns(row) for row in rows} == {columns(rows[0])}


@pytest.mark.fault(
    "control characters, markup and formulas in names that are printed", "They are shown as text, in every format."
)
@settings(max_examples=60, deadline=None)
@given(evaluated())
def test_csv_tsv_json_lines_and_junit_can_be_parsed(collection):
    qrels, runs = collection
    view = View(overview(list(evaluate_runs(qrels, runs, "nDCG@2 AP").values()), per_query=True))
    expected = [[row.run, row.query_id, row.measure, row.value] for row in view.rows()]
    for separator in ",\t":
        lines = "\n".join(data.separated(view, separator)) + "\n"
        _, *rows = csv.reader(io.StringIO(lines, newline=""), delimiter=separator)
        assert [[*row[:3], float(row[3])] for row in rows] == [
            [*(with_apostrophe(cell) if separator == "," else cell for cell in row[:3]), row[3]] for row in expected
        ]
    assert [list(json.loads(line).values()) for line in data.json_lines(view)] == expected
    gated = gate(qrels, *runs.values(), "AP", max_worse_queries=0)
    assert ElementTree.fromstring(as_junit(gated)).tag == "testsuites"


def with_apostrophe(cell):
    formula = cell[0] in "=+-@\t\r\n" and not re.fullmatch(r"[+-]?\d+", cell)
    return f"'{cell}" if formula else cell


@pytest.mark.fault(
    "control characters, markup and formulas in names that are printed", "They are shown as text, in every format."
)
@pytest.mark.parametrize("name", DANGEROUS)
def test_csv_holds_no_formula(name):
    view = View(overview(list(evaluate_runs({"q": {"a": 1}}, {name: {"q": ["a"]}}, "AP").values())))
    [_, [run, *_]] = csv.reader(io.StringIO("\n".join(data.separated(view, ",")), newline=""))
    assert run == f"'{name}"
    [_, [run, *_]] = csv.reader(io.StringIO("\n".join(data.separated(view, "\t")), newline=""), delimiter="\t")
    assert run == name


def test_numbers_stay_numbers():
    runs = {"-12": {"-1": ["x"], "+3.5e1": ["a"]}}
    view = View(
        overview(list(evaluate_runs({"-1": {"a": 1}, "+3.5e1": {"a": 1}}, runs, "AP").values()), per_query=True)
    )
    assert not any("'" in line for line in data.separated(view, ","))


@pytest.mark.fault(
    "control characters, markup and formulas in names that are printed", "They are shown as text, in every format."
)
@settings(max_examples=200, deadline=None)
@given(st.lists(names, min_size=1, max_size=4))
def test_markdown_shows_names_as_they_are(cells):
    markdown_it = pytest.importorskip("markdown_it")
    page = "\n".join(
        f"| {' | '.join(row)} |" for row in (["h"] * len(cells), ["--"] * len(cells), [*map(markdown_text, cells)])
    )
    tokens = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page)
    inline = [token for token in tokens if token.type == "inline"]
    assert len(inline) == 2 * len(cells)
    shown = ["".join(part.content for part in token.children) for token in inline[len(cells) :]]
    assert [each.strip() for each in shown] == [visible(cell).strip() for cell in cells]
    assert {part.type for token in inline for part in token.children} <= {"text", "text_special"}


LATEX = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    "{[}": "[",
    "{*}": "*",
    "{}": "",
    **{f"\\{sign}": sign for sign in "&%$#_{}"},
}


@pytest.mark.fault(
    "control characters, markup and formulas in names that are printed", "They are shown as text, in every format."
)
@settings(max_examples=200, deadline=None)
@given(names)
def test_latex_prints_names_as_they_are(name):
    """Every sign that LaTeX would take for its own is in one of the forms above, and comes back from it."""
    token = re.compile("|".join(map(re.escape, sorted(LATEX, key=len, reverse=True))) + r"|[^\\{}~^<>|&%$#_*\[]")
    written = latex_text(name)
    assert "".join(LATEX.get(found[0], found[0]) for found in token.finditer(written)) == visible(name)
    assert sum(len(found[0]) for found in token.finditer(written)) == len(written)
    assert "--" not in written


@settings(max_examples=60, deadline=None)
@given(evaluated())
def test_latex_rows_have_as_many_cells_as_their_head(collection):
    qrels, runs = collection
    view = View(overview(list(evaluate_runs(qrels, runs, "nDCG@2 AP").values()), per_query=True))
    for table in (markup.latex(view), comparison_latex(compare(qrels, runs, "nDCG@2 AP"))):
        rows = [line for line in table.split("\n") if line.endswith(r" \\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
        assert all(line.startswith(("\\", "%")) for line in table.split("\n") if line not in rows)


HOSTILE = "\x1b[31mred\x07\u202e"


@pytest.fixture
def folder(tmp_path):
    """A run with a hostile name, whose ids are hostile, too."""
    (tmp_path / "qrels.json").write_text(json.dumps({f"q{HOSTILE}": {f"d{HOSTILE}": 1}, "r": {"d": 1}}))
    (tmp_path / f"{HOSTILE}.json").write_text(json.dumps({f"q{HOSTILE}": {f"d{HOSTILE}": 1.0, "e": 0.5}, "r": {}}))
    (tmp_path / "bad.run").write_text(f"q Q0 d{HOSTILE} 1 high{HOSTILE} t\n")
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="a name that Windows forbids")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.json", f"{HOSTILE}.json", "-q", "--worst", "1", "--bounds"],
        ["evaluate", "qrels.json", f"{HOSTILE}.json", "--format", "markdown", "-o", "-"],
        ["evaluate", "qrels.json", f"no{HOSTILE}"],
        ["evaluate", "qrels.txt", "bad.run"],
        ["evaluate", "qrels.txt", "bad.run", "-m", HOSTILE],
        ["evaluate", "qrels.txt", "bad.run", f"--{HOSTILE}"],
        [HOSTILE],
        ["explain", "qrels.json", f"{HOSTILE}.json", f"q{HOSTILE}"],
        ["explain", "qrels.json", f"{HOSTILE}.json", "other"],
        ["check", "qrels.json", f"{HOSTILE}.json"],
        ["check", "qrels.txt", "bad.run"],
        ["compare", "qrels.json", f"{HOSTILE}.json", f"./{HOSTILE}.json"],
        ["gate", "qrels.json", f"{HOSTILE}.json", f"{HOSTILE}.json"],
        ["gate", "qrels.json", f"{HOSTILE}.json", f"{HOSTILE}.json", "--format", "junit", "--min", "AP=1"],
        ["convert", f"no{HOSTILE}", "x.csv"],
        ["report", "qrels.json", f"{HOSTILE}.json", "-o", f"{HOSTILE}.html", "--no-charts"],
        ["trec_eval", "qrels.txt", "bad.run"],
        ["trec_eval", "-m", HOSTILE, "qrels.txt", "bad.run"],
        ["run", f"no.such:{HOSTILE}", "builtin", "-o", "x.run"],
        ["test", HOSTILE, "--config", HOSTILE],
        ["init", HOSTILE],
    ],
)
def test_the_program_prints_no_control_character(folder, arguments):
    done = run(*arguments, cwd=folder)
    printed = done.stdout + done.stderr
    assert not CONTROL.search(printed)
    assert "red" in printed
    assert "Traceback" not in printed
    assert "unexpected error" not in printed


@pytest.mark.skipif(os.name == "nt", reason="a name that Windows forbids")
def test_data_is_unchanged_in_a_pipe_and_safe_on_a_terminal(folder):
    from tests.terminal import on_terminal

    for form in ("csv", "json"):
        words = ["evaluate", "qrels.json", f"{HOSTILE}.json", "--format", form]
        piped = run(*words, cwd=folder).stdout
        assert HOSTILE in (json.loads(piped)["runs"][0]["run"] if form == "json" else piped)
        shown, _ = on_terminal(*words, cwd=folder)
        assert "red" in shown
        assert not CONTROL.search(shown)
