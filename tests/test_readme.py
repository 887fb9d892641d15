"""The README is short, shows what there is first, and its examples run (test_pages.py)."""

import re

from tests.pages import ROOT, blocks

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
README = list(blocks(TEXT))


def test_the_readme_shows_python_and_the_command_line():
    shown = {language: [block.text for block in README if block.language == language] for language in ("python", "sh")}
    assert any(">>> result = cranfield.evaluate" in text for text in shown["python"])
    typed = re.findall(
        r"cranfield (\w+)", "\n".join([*shown["sh"], *(each.text for each in README if each.title is None)])
    )
    assert {"demo", "evaluate", "compare", "test", "judge"} <= set(typed)
    assert sum(block.language == "console" for block in README) > 1


def test_the_readme_is_read_in_three_minutes():
    assert len(TEXT.split()) <= 900
    assert TEXT.count("<picture>") == 1


def test_the_two_commands_stand_on_its_first_screen():
    first = TEXT.split("\n## ")[1]
    assert "make demo" in first
    assert "make test" in first
