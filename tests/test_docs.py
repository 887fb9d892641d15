"""The page about measures is what the registry says."""

from pathlib import Path

from cranfield import catalogue
from cranfield.show.catalogue import measures_page

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_current():
    assert (DOCS / "measures.md").read_text(encoding="utf-8") == measures_page()


def test_every_measure_is_on_it():
    page = measures_page()
    for name, definition in catalogue().items():
        assert f"### {name}\n" in page
        assert definition.advice in page
