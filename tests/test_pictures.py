"""The pictures of the documentation show what the program shows now: `make figures` takes them again."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

from tests.chromium import CHROMIUM

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GUIDES = sorted(path for path in (DOCS / "guides").glob("*.md") if path.name != "index.md")
WRITTEN = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_pages_show_the_texts_of_their_pictures():
    pytest.importorskip("playwright", reason="Playwright is not installed")
    from docs.site import pictures

    kept = json.loads(pictures.SHOWN.read_text(encoding="utf-8"))
    with pictures.opened() as (pages, browser):
        assert {name: pictures.shown(pictures.taken(browser, shot)) for name, shot in pages.items()} == kept
    for name in kept:
        assert (pictures.IMAGES / f"{name}.png").exists()
        assert (pictures.IMAGES / f"{name}-dark.png").exists()


def test_figures_show_the_texts_that_are_drawn_now(tmp_path, monkeypatch):
    from docs import figures

    kept = figures.FOLDER
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    figures.draw_all()
    drawn = {path.name: WRITTEN.findall(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    assert {path.name: WRITTEN.findall(path.read_text(encoding="utf-8")) for path in kept.iterdir()} == drawn


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_every_guide_has_a_picture(guide):
    shown = re.findall(r"!\[[^\]]+\]\(([^)#]+)", guide.read_text(encoding="utf-8"))
    assert shown
    assert all((guide.parent / name).resolve().is_file() for name in shown)
