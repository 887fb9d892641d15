"""The contents of the README; test_pages.py runs its examples."""

from docs.site.tables import filled
from tests.pages import ROOT, blocks

README = list(blocks((ROOT / "README.md").read_text(encoding="utf-8")))


def test_the_readme_shows_python_and_the_command_line():
    held = {language: [block.text for block in README if block.language == language] for language in ("python", "sh")}
    assert any(">>> result = cranfield.evaluate" in text for text in held["python"])
    assert sum("cranfield " in line for text in held["sh"] for line in text.splitlines()) > 4
    assert sum(block.language == "console" for block in README) > 1


def test_the_figures_of_the_readme_are_the_measured_ones():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- table: speed -->" in text
    assert filled(text) == text
