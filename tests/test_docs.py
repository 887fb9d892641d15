"""The page about measures matches the registry."""

import re
from pathlib import Path

from cranfield import catalogue
from cranfield.show.formulas import latex
from cranfield.show.measure_text import measures_page

DOCS = Path(__file__).parents[1] / "docs"


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
