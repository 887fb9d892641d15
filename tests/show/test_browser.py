"""The page in a real browser, opened from a file without a network."""

import re
from urllib.parse import urlencode

import pytest

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

import cranfield
from tests.chromium import CHROMIUM, launched
from tests.show.page import ENDING, EVIL, FILES, evil

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser():
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    segments = {query: "long" if len(query) > 18 else "short" for query in results()["keywords"].query_ids}
    cranfield.write_report(path, *FILES, segments=segments)
    return path


@pytest.fixture
def opened(browser):
    """A function that opens a page and waits for its charts; in the end no message and no request may have come."""
    contexts, messages, requests = [], [], []

    def open_page(path, place="", **settings):
        context = browser.new_context(offline=True, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + place)
        page.wait_for_selector("html[data-charts=drawn]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert messages == []
    assert not [url for url in requests if not re.match("(file|data|blob):", url)]


def results():
    return cranfield.evaluate_runs(*FILES)


def place(**parts):
    return "#" + urlencode(parts)


def listed(page):
    """The list of queries: each row as the texts of its cells."""
    return page.eval_on_selector_all(
        "#query-list tbody tr", "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )


def test_charts_are_drawn_and_told_in_words(opened, report):
    page = opened(report)
    charts = page.locator(".chart")
    assert charts.count() == 9
    for at in range(9):
        chart = charts.nth(at)
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 50
        assert chart.locator("svg path").count() > 10
    picked = page.locator("figure select").first
    picked.select_option(label="P by cutoff")
    page.wait_for_selector("html[data-charts=drawn]")
    assert "mean of P at each cutoff" in page.locator("figure:has(select) .chart").first.get_attribute("aria-label")


def test_the_leaderboard_sorts(opened, report):
    page = opened(report)
    head = page.locator(".board thead th", has_text="nDCG@10")
    best_first = sorted(results(), key=lambda run: -results()[run]["nDCG@10"])

    def runs():
        return page.locator(".board tbody th").all_text_contents()

    head.locator("button").click()
    assert runs() == best_first
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert runs() == best_first[::-1]
    assert head.get_attribute("aria-sort") == "ascending"


def test_the_values_are_those_of_the_evaluation(opened, report):
    page = opened(report, place(a="keywords", b="meaning", m="AP"))
    one, other = (results()[run].by_query("AP") for run in ("keywords", "meaning"))
    rows = listed(page)
    assert len(rows) == 10
    for query, _, first, second, difference, _ in rows:
        assert (first, second) == (f"{one[query]:.4f}", f"{other[query]:.4f}")
        assert float(difference.replace("−", "-")) == pytest.approx(other[query] - one[query], abs=1e-4)
    board = page.locator(".board tbody .value").all_text_contents()
    means = [result.shown(name) for result in results().values() for name in result]
    assert [text.split()[0] for text in board] == means


def test_filters(opened, report):
    page = opened(report, place(m="nDCG@10"))
    one, other = (each.by_query("nDCG@10") for each in results().values())
    page.locator("#change").select_option("down")
    assert {row[0] for row in listed(page)} == {query for query in one if other[query] < one[query]}
    page.locator("#change").select_option("")
    page.locator("#segment").select_option("long")
    assert {row[0] for row in listed(page)} == {query for query in one if len(query) > 18}
    page.locator("#segment").select_option("")
    page.locator("#filter").fill("RELEV")
    assert {row[0] for row in listed(page)} == {query for query in one if "relev" in query}
    assert page.locator("#query-count").text_content().startswith(f"{len(listed(page))} of 10 queries")
    page.locator("#filter").fill("")
    page.locator("#order").select_option("gain")
    gains = [other[row[0]] - one[row[0]] for row in listed(page)]
    assert gains == sorted(gains, reverse=True)


def test_a_query_opens_by_click_link_and_key(opened, report):
    page = opened(report)  # which follows its address a moment later: `expect` waits for that
    first, second = (row[0] for row in listed(page)[:2])
    page.locator("#query-list a").first.click()
    heading = page.locator("#query h3").first
    expect(heading).to_have_text(first)
    assert f"q={first}" in page.url
    page.keyboard.press("j")
    expect(heading).to_have_text(second)
    page.keyboard.press("k")
    expect(heading).to_have_text(first)
    page.keyboard.press("Escape")
    expect(page.locator("#query")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()


def test_a_link_shows_what_explain_says(opened, report):
    page = opened(report, place(q="graded-relevance"))
    assert page.locator("#query").is_visible()
    told = cranfield.explain(FILES[0], FILES[1][1], "graded-relevance", "nDCG AP RR P")
    side = page.locator("#query .side > div").nth(1)
    assert side.locator("ol .grade").all_text_contents() == [
        "?" if each.grade is None else f"{each.grade:g}" for each in told.positions
    ]
    side.locator("summary").click()
    rows = side.locator("details tbody tr").all()
    assert len(rows) == len(told.positions)
    for row, each in zip(rows, told.positions, strict=True):
        terms = (each.gain / each.discount, *each.values.values())
        shown = row.locator("td").all_text_contents()
        assert shown[1] == each.doc_id
        assert shown[5:] == [f"{term:.4f}" for term in terms]
    assert opened(report, place(q="no such query")).locator("#query").is_hidden()


def test_a_bar_opens_its_query(opened, report):
    page = opened(report)
    one, other = (each.by_query("nDCG@10") for each in results().values())
    page.locator("#difference path[aria-roledescription=bar]").first.click()
    gained = max(one, key=lambda query: other[query] - one[query])
    expect(page.locator("#query h3").first).to_have_text(gained)


def test_two_other_systems_are_chosen(opened, report):
    page = opened(report)
    page.locator("#run-a").select_option(label="meaning")
    page.locator("#run-b").select_option(label="keywords")
    page.locator("#measure").select_option(label="RR")
    page.wait_for_selector("html[data-charts=drawn]")
    assert page.locator("#two-summary").text_content().startswith("keywords is better than meaning for ")
    gap = results()["meaning"]["RR"] - results()["keywords"]["RR"]
    assert f"meaning vs keywords, RR {gap:+.4f}" in page.locator("#two-summary").text_content()
    assert page.url.endswith(place(a="meaning", b="keywords", m="RR"))


def test_dark_and_print(opened, report):
    def colours(page):
        return page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('.chart svg text')).fill]"
        )

    page = opened(report, color_scheme="dark")
    ground, ink, chart = colours(page)
    assert ground == "rgb(20, 23, 26)"
    assert ink == chart == "rgb(230, 233, 236)"
    page.emulate_media(media="print")
    assert colours(page) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)", "rgb(0, 0, 0)"]
    assert page.locator("nav").is_hidden()
    assert page.locator(".board").is_visible()


def test_a_phone_needs_no_sideways_scrolling(opened, report):
    page = opened(report, place(q="graded-relevance"), viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#query h3").first.is_visible()


def test_names_and_texts_run_nothing(opened, tmp_path):
    evil(tmp_path, charts=True)
    page = opened(tmp_path / "report.html", place(q=f"{EVIL}1"))
    assert page.locator("#query h3").first.text_content() == f"{EVIL}1: {ENDING} query 1"
    assert page.locator(".ranking b").first.text_content() == f"{EVIL} title 0"
    assert page.locator("img").count() == 0
    for at in range(page.locator(".chart").count()):
        page.locator(".chart").nth(at).hover()
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.scripts.length") == 3


def test_a_saved_evaluation_has_no_rankings(opened, tmp_path):
    results()["keywords"].save(tmp_path / "old.json")
    cranfield.write_report(tmp_path / "report.html", FILES[0], [tmp_path / "old.json", FILES[1][1]])
    page = opened(tmp_path / "report.html", place(q="graded-relevance"))
    old, new = page.locator("#query .side > div").all()
    assert "The ranking is not known" in old.text_content()
    assert new.locator("ol li").count() > 5
    assert "Rankings of keywords are not known" in page.locator("#queries .notes").text_content()
