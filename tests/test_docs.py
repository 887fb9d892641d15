"""The pages about measures and Python match the code, and contributors are sent to files that exist."""

import re
from pathlib import Path

import pytest

import cranfield
from cranfield import catalogue
from docs.site import api, benchmarks
from docs.site.measures import latex, pages

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.mark.parametrize(("folder", "written"), [("measures", pages), ("api", api.pages)])
def test_the_pages_are_current(folder, written):
    there = {DOCS / f"{folder}.md", *(DOCS / folder).rglob("*.md")}
    assert {path: path.read_text(encoding="utf-8") for path in there} == {
        DOCS / path: page for path, page in written().items()
    }


def test_every_measure_has_its_place_and_a_row_in_the_overview():
    written = pages()
    for name, definition in catalogue().items():
        [home] = [path for path, page in written.items() if f"\n## {name}\n" in page]
        assert definition.advice in written[home]
        assert f'<a id="{name.lower()}" class="moved"></a>[{name}]({home}#{name.lower()})' in written["measures.md"]


def test_every_public_name_has_its_place_and_a_row_in_the_overview():
    written = api.pages()
    for name in set(cranfield.__all__) - {"__version__"}:
        [home] = [path for path, page in written.items() if f"## {name} {{ #{name} }}\n" in page]
        assert f'<a id="{name}" class="moved"></a>[`{name}`]({home}#{name})' in written["api.md"]


def test_benchmarks_are_told_in_sentences_and_bars_and_name_no_targets():
    page = benchmarks.page()
    assert "arget" not in page
    assert page.count('<span class="bar') == page.count("</span>") > 80
    case = {"base": "cranfield", "rows": [{"name": "cranfield", "seconds": 0.5}, {"name": "ranx", "seconds": 6}]}
    assert benchmarks.sentence("A new one", case) == (
        "cranfield takes 0.50 s; the fastest other tool, ranx, takes 12 times as long."
    )
    case = {"base": "7", "rows": [{"name": "7", "seconds": 2}, {"name": "70", "seconds": 13}]}
    assert benchmarks.sentence("Ten times the lines", case) == "Ten times the lines take 6.5 times as long."


def test_formulas_are_latex_that_can_be_rendered():
    for name, definition in catalogue().items():
        formula = latex(definition.formula)
        assert formula.isascii(), name
        assert formula.count("{") == formula.count("}"), name
        outside = re.sub(r"\\(text|mathrm)\{[^{}]*\}|\\[a-z]+", " ", formula)
        assert not re.search(r"[a-zA-Z]{3,}", outside), (name, outside)


def test_files_that_contributors_are_sent_to_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w.]+/)+[\w.*]*)`", text)) - {"build/docs"}
    assert len(named) > 30
    folders = ROOT, ROOT / "src" / "cranfield"
    there = {name for name in named for base in folders if any(base.glob(f"{name}*.*" if name[-1] == "/" else name))}
    assert named - there == set()
