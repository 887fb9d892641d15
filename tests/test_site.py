"""The documentation site: it builds without a warning, asks no other server for anything, and shows its formulas."""

import os
import re
import subprocess
import sys

import pytest

from tests.pages import ROOT

pytest.importorskip("mkdocs", reason="the extra docs is not installed; make docs builds the site")
pytest.importorskip("latex2mathml", reason="the extra docs is not installed; make docs builds the site")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page


def test_nothing_comes_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe|source)[^>]* src="?(?:https?:)?//[^>]*>', text), page
        assert not re.findall(
            r'<link[^>]* rel="?(?:stylesheet|preconnect|icon)"? [^>]*href="?(?:https?:)?//[^>]*>', text
        )
    style = (site / "site" / "style.css").read_text()
    assert "url(" not in style
    assert "@import" not in style


def test_formulas_are_drawn_by_the_browser(site):
    page = (site / "measures.html").read_text(encoding="utf-8")
    assert page.count('class="formula"') > 80
    assert "arithmatex" not in page


def test_search_works_from_files(site):
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    assert "IFrameWorker" in (site / "site" / "iframe-worker.js").read_text(encoding="utf-8")
    assert 'src="site/iframe-worker.js"' in (site / "index.html").read_text(encoding="utf-8")
