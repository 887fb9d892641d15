"""Colours have enough contrast with their background."""

import re
from pathlib import Path

import pytest

import cranfield.judging.page
from cranfield.look import DARK, LIGHT, READABLE, css_tokens


def luminance(colour):
    """How bright a colour is, as defined by WCAG."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("behind", ["paper", "ground"])
@pytest.mark.parametrize("name", READABLE)
def test_text_can_be_read(colours, behind, name):
    assert contrast(colours[name], colours[behind]) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["better", "worse", "close"])
def test_a_verdict_can_be_read_on_its_own_ground(colours, name):
    assert contrast(colours[name], colours[f"{name}-ground"]) >= 4.5


def test_light_and_dark_have_the_same_names():
    assert list(LIGHT) == list(DARK)
    assert all(f"--{name}: {colour};" in css_tokens() for name, colour in DARK.items())


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("grade", range(4))
def test_a_grade_can_be_read(colours, grade):
    assert contrast(colours[f"on-grade-{grade}"], colours[f"grade-{grade}"]) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_marked_words_can_be_read(colours):
    assert contrast(colours["ink"], colours["mark"]) >= 4.5


def test_the_judging_page_has_the_same_colours():
    static = Path(cranfield.judging.page.__file__).parent / "static"
    used = set(re.findall(r"var\(--([\w-]+)\)", (static / "page.css").read_text("utf-8")))
    assert used - {*LIGHT} == {"radius", "sans", "mono"}
    assert not [path.name for path in static.iterdir() if re.search(r"#[0-9a-f]{3,6}\b", path.read_text("utf-8"))]
