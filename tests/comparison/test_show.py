"""Comparisons and gates as text, Markdown, LaTeX and JUnit."""

import re
from xml.etree import ElementTree

import pytest

from cranfield import compare, gate, stability
from cranfield.comparison.correlation import reliability
from cranfield.comparison.means import means_table
from cranfield.show.comparison_markup import comparison_latex, comparison_markdown
from cranfield.show.comparison_text import comparison_text, most_changed
from cranfield.show.escaping import latex_text, markdown_text
from cranfield.show.gate_text import gate_text
from cranfield.show.stability_text import stability_text
from tests.comparison.made import qrels_for, random_runs
from tests.reviews import as_junit, as_markdown

N = 30
QRELS = qrels_for(N)
RUNS = random_runs(3, N, 5, worse=6)
LONG = {f"a-system-with-quite-a-long-name-and-number-{name}": run for name, run in RUNS.items()}


def compared_text(found):
    return comparison_text(found, reliability(found))


@pytest.mark.parametrize("runs", [RUNS, LONG, dict(list(RUNS.items())[:2]), dict(list(LONG.items())[:2])])
@pytest.mark.parametrize("measures", ["RR", "nDCG@10 AP RR P@10 P@5 P@1 R@100 Bpref ERR RBP"])
def test_text_keeps_to_80_columns(runs, measures):
    for found in (compare(QRELS, runs, measures), compare(QRELS, runs, measures, baseline=next(iter(runs)))):
        text = compared_text(found)
        assert max(map(len, text.splitlines())) <= 80
        assert ("one comparison" if found.pairs == 1 else f"family of {found.pairs}") in " ".join(text.split())
        for name in means_table(found).measures:
            assert name in text
    for text in (
        stability_text(stability(QRELS, runs, measures, [0.5], repeats=2)),
        gate_text(gate(QRELS, *list(runs.values())[:2], measures)),
    ):
        assert max(map(len, text.splitlines())) <= 80


def test_text_shows_the_test_the_counts_and_what_could_reverse():
    unjudged = {q: {"r": 1} for q in QRELS}
    text = compared_text(compare(unjudged, {"old": RUNS["run4"], "new": RUNS["run0"]}, "RR"))
    assert "▲? new - old" in text
    assert "unjudged documents the runs returned could reverse this" in " ".join(text.split())
    assert "\n30 queries   ▲ " in text
    assert "\nPaired t-test, two-sided, 95% interval; one comparison.\n" in text
    assert re.search(r"queries: \d+ better, \d+ the same, \d+ worse; judged of what RR\s+reads: \d+% and\s+\d+%", text)
    assert re.search(r"\n  \+0\.\d{3}  \d+\n", text)  # the queries that gained most
    same = compared_text(compare(QRELS, {"a": RUNS["run0"], "b": RUNS["run0"]}, "RR"))
    assert "the runs do not differ, so the variation of their differences cannot be estimated" in " ".join(same.split())
    assert "nan" not in same
    skipped = compared_text(compare(QRELS, RUNS, "RR", bounds=False))
    assert "Whether unjudged documents could reverse the differences was not checked." in " ".join(skipped.split())


def test_markdown_is_a_table_whatever_the_names():
    found = compare(QRELS, {"a|b": RUNS["run0"], "c_d": RUNS["run4"]}, "RR AP", baseline="c_d")
    lines = [line for line in comparison_markdown(found).splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]}
    assert widths == {5}
    assert "a\\|b" in lines[2]
    assert "▲" in lines[2]
    assert "**" in lines[2]
    assert "significantly better" in lines[-1]


def test_latex_is_escaped():
    found = compare(QRELS, {"50%_of_$x": RUNS["run0"], "a&b\\c{d}~^#": RUNS["run4"]}, "RR", baseline="a&b\\c{d}~^#")
    text = comparison_latex(found)
    assert r"50\%\_of\_\$x & \textbf{" in text
    assert r"a\&b\textbackslash{}c\{d\}\textasciitilde{}\textasciicircum{}\#" in text
    assert r"$^{\blacktriangle}$" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert latex_text("AP × 2") == r"AP $\times$ 2"
    letters = comparison_latex(compare(QRELS, RUNS, "RR"))
    assert r"$^{\mathrm{a}}$" in letters


def test_junit_and_markdown_of_a_gate():
    result = gate(QRELS, RUNS["run0"], RUNS["run4"], "RR", minimum={"RR": 0.01})
    root = ElementTree.fromstring(as_junit(result).partition("\n")[2])
    [suite] = root
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    assert [case.find("failure") is None for case in suite.iter("testcase")] == [False, True]
    assert "RR fell significantly" in suite[0].find("failure").get("message")
    markdown = as_markdown(result).splitlines()
    assert markdown[2].startswith("### ▼ Search got worse: RR 0.")
    alert = markdown.index("> [!CAUTION]")
    assert markdown[alert : alert + 2] == ["> [!CAUTION]", f"> **Failed.** {markdown_text(result.checks[0].message)}."]
    text = gate_text(result)
    assert "\nFAILED: candidate against baseline" in text
    assert "would be stopped 80% of the time" in " ".join(text.split())
    assert "… and" in text
    assert gate_text(gate(QRELS, RUNS["run0"], RUNS["run0"], "RR")).startswith("PASSED")


def test_canonical_names_are_given_for_names_of_other_tools():
    found = compare(QRELS, RUNS, "hit_rate@5 RR")
    assert "\nhit_rate@5 is Success@5\n" in compared_text(found)
    assert "RR is RR" not in compared_text(found)
    assert r"hit\_rate@5 is Success@5." in comparison_markdown(found)
    assert r"% hit\_rate@5 is Success@5" in comparison_latex(found)


def test_queries_that_changed_most():
    qrels, old = {str(q): {"a": 1} for q in range(4)}, {str(q): ["b", "a"] for q in range(4)}
    new = {"0": ["a"], "1": ["b", "a"], "2": ["b", "c", "a"], "3": ["a"]}
    comparison = compare(qrels, {"old": old, "new": new}, "RR")
    up, down = most_changed(comparison, comparison.differences[0], 3)
    assert ([change.query_id for change in up], [change.query_id for change in down]) == (["0", "3"], ["2"])


def test_the_reliability_of_two_runs():
    known = reliability(compare("builtin:ten", ["builtin:keywords", "builtin:meaning"], "nDCG@10"))
    assert [row.difference for row in known.sizes["nDCG@10"]] == [0.01, 0.02, 0.05, 0.1]
    assert (known.discriminative_power, known.runs) == ({"nDCG@10": 1.0}, ())
