"""The page about measures matches the registry, and contributors are sent to files that exist."""

import re
from pathlib import Path

from cranfield import catalogue
from docs.site.measures import latex, measures_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_the_page_is_current():
    assert (DOCS / "measures.md").read_text(encoding="utf-8") == measures_page()


def test_every_measure_is_on_the_page():
    page = measures_page()
    for name, definition in catalogue().items():
        assert f"### {name}\n" in page
        assert definition.advice in page


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
