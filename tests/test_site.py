"""The documentation site: it builds without a warning, needs no other server, and shows its formulas."""

import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from cranfield.look import DARK, LIGHT, READABLE
from tests.chromium import CHROMIUM
from tests.pages import ROOT

SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for library in ("zensical", "latex2mathml"):
        pytest.importorskip(library, reason="the extra docs is not installed; make docs builds the site")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")  # the site is built beside its sources
    shutil.copy(ROOT / "mkdocs.yml", folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "docs"


def test_every_page_is_built(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page


def test_the_navigation_has_every_page_once():
    named = Counter(re.findall(r"([\w/.-]+\.md)$", SETTINGS, re.M))
    assert named == Counter(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))


def test_pages_load_nothing_from_other_servers(site):
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
    drawn = [page.read_text(encoding="utf-8") for page in (site / "measures").glob("*.html")]
    assert sum(page.count('class="formula"') for page in drawn) > 80
    assert not any("arithmatex" in page for page in drawn)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize(
    ("old", "now"),
    [
        ("measures.html#ndcg", "measures/gain.html#ndcg"),
        ("measures.html#sets-the-documents-retrieved-in-any-order", "measures/sets.html"),
        ("api.html#compare", "api/compare-systems.html#compare"),
        ("api.html#Evaluation-by_query", "api/evaluate-runs.html#Evaluation-by_query"),
        ("api.html#torch-FullCorpus-evaluate", "api/pytorch.html#torch-FullCorpus-evaluate"),
    ],
)
def test_what_moved_to_a_page_of_its_own_is_found_under_its_old_address(site, tabs, old, now):
    page = tabs.open(f"{site.as_uri()}/{old}")
    page.wait_for_url(f"{site.as_uri()}/{now}")
    name = now.partition("#")[2]
    assert not name or page.evaluate("name => document.getElementById(name) !== null", name)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_measures_are_filtered_by_name_family_and_tool(site, tabs):
    page = tabs.open((site / "measures.html").as_uri())
    table = page.locator(".filtered")
    first = table.locator("tbody tr:visible td:first-child")
    table.get_by_role("searchbox").fill("recip_rank")
    assert first.all_inner_texts() == ["RR"]
    table.get_by_role("searchbox").fill("")
    table.get_by_label("family").select_option("Similarity")
    assert first.all_inner_texts() == ["Compat"]
    table.get_by_label("family").select_option("")
    table.get_by_label("in other tools").select_option("tools for RAG")
    assert {"RR", "Success"} <= set(first.all_inner_texts())
    assert table.locator("output").inner_text() == f"{first.count()} of {table.locator('tbody tr').count()}"
    table.get_by_role("searchbox").fill("zebra")
    assert first.count() == 0
    assert "None" in table.locator("output").inner_text()


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_search_works_from_files_without_a_server(site, tabs):
    page = tabs.open((site / "index.html").as_uri())
    page.get_by_role("button", name="Search").first.click()
    field = page.get_by_placeholder("Search").last
    field.press_sequentially("bpref", delay=50)  # each letter asks again, and must not take the others' place
    page.get_by_text(re.compile(r"^\d\d results$")).wait_for()  # of its last letter alone, it would be hundreds
    assert field.input_value() == "bpref"
    assert [url for url in tabs.requests if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_terminals_have_the_colours_of_the_terminal(site, tabs):
    page = tabs.open((site / "index.html").as_uri())
    page.wait_for_selector(".tone-better")
    tones = {
        tone: page.eval_on_selector_all(f".language-console .tone-{tone}", "all => all.map(each => each.textContent)")
        for tone in ("better", "worse", "close")
    }
    assert tones["better"][:2] == ["Better", "▲"]
    assert re.fullmatch(r"├[─●]+┤", tones["better"][2])
    assert tones["better"][3:5] == ["▲ 8 better", "  +0.933"]
    assert tones["worse"][:2] == ["▼ 2 worse", "  -0.235"]
    assert tones["close"] == []
    page.goto((site / "guides/ci-gate.html").as_uri())
    page.wait_for_selector(".tone-worse")
    assert "  FAILED" in page.eval_on_selector_all(".tone-worse", "all => all.map(each => each.textContent)")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_code_and_tables_scroll_inside_a_page_on_a_phone(site, tabs):
    wide = """() => [...document.querySelectorAll(".md-content :is(pre, table, code, math, svg)")].filter(each => {
      if (each.getBoundingClientRect().right <= innerWidth + 1) return false
      for (let around = each.parentElement; around && !around.matches(".md-content"); around = around.parentElement)
        if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false
      return true
    }).map(each => each.outerHTML.slice(0, 80))"""
    cut = """() => [...document.querySelectorAll(".md-content pre > code")].filter(each =>
      each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX !== "auto").length"""
    page = tabs.open((site / "index.html").as_uri(), viewport={"width": 390, "height": 800})
    for name in ("index", "start", "measures", "measures/gain", "api", "api/compare-systems", "benchmarks", "systems"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate(wide) == [], name
        assert page.evaluate(cut) == 0, name


def test_the_site_has_the_colours_of_the_pages_and_charts():
    from docs.site.colours import sheet

    assert (ROOT / "docs" / "site" / "colours.css").read_text(encoding="utf-8") == sheet()


def test_style_uses_no_colour_of_its_own():
    style = (ROOT / "docs" / "site" / "style.css").read_text(encoding="utf-8")
    assert not re.findall(r"#[0-9a-f]{3,8}\b(?![\w-]* *\{)", style)
    assert set(re.findall(r"var\(--(?!md-)([\w-]+)\)", style)) <= set(LIGHT)


@pytest.mark.parametrize("picture", ["logo.svg", "favicon.svg"])
def test_the_logo_has_the_same_colours(picture):
    text = (ROOT / "docs" / "site" / picture).read_text(encoding="utf-8")
    assert set(re.findall(r"#[0-9a-f]{6}", text)) <= {*LIGHT.values(), *DARK.values()}


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", READABLE)
def test_text_has_enough_contrast_on_paper_and_ground(name, colours):
    for behind in ("paper", "ground"):
        assert contrast(colours[name], colours[behind]) >= 4.5


def contrast(one, other):
    """The contrast of two colours as the WCAG define it: 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    "figure", sorted((ROOT / "docs" / "learn" / "figures").glob("*.svg")), ids=lambda path: path.stem
)
def test_every_colour_of_a_figure_has_a_dark_variant(figure):
    style, drawn = re.fullmatch(
        r"<svg[^>]*><style>(.*?)</style>(.*)", figure.read_text(encoding="utf-8"), re.S
    ).groups()
    used = set(re.findall(r'(fill|stroke)="(#[^"]*)"', drawn))
    assert used
    for where, colour in used:
        [name, *_] = [name for name, light in LIGHT.items() if light == colour]
        assert f'[{where}="{colour}"]{{{where}:{DARK[name]}}}' in style


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_is_accessible(site, tabs, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    for name in ("index.html", "systems.html", "measures.html", "learn/11-comparing.html"):
        page = tabs.open((site / name).as_uri(), color_scheme=scheme)
        found = (
            axe.Axe()
            .run(page, options={"runOnly": ["wcag2a", "wcag2aa"], "resultTypes": ["violations"]})
            .response["violations"]
        )
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], name
        tabs.clear()
