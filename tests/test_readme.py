"""What the README holds; that its examples do what they show is tested with the pages."""

from docs.site.tables import filled
from tests.pages import ROOT, blocks

README = list(blocks((ROOT / "README.md").read_text(encoding="utf-8")))


def test_it_shows_every_way_to_use_the_tool():
    held = {language: [block.text for block in README if block.language == language] for language in ("python", "sh")}
    assert any(">>> result = cranfield.evaluate" in text for text in held["python"])
    assert sum("cranfield " in line for text in held["sh"] for line in text.splitlines()) > 4
    assert sum(block.language == "console" for block in README) > 1


def test_its_figures_are_those_that_were_measured():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- table: speed -->" in text
    assert filled(text) == text
