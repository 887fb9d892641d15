"""The page of a history in a real browser, opened from a file without a network."""

import re
from datetime import timedelta

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("sqlalchemy")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

from cranfield.report.history import write_history
from cranfield.systems.history.change import Change, Moment
from cranfield.systems.history.lines import line_of
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.results import Again
from tests.chromium import CHROMIUM
from tests.report.page import EVIL
from tests.systems.history.measuring import START, accepting, evaluated, judgments, measured

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

GOOD, BAD = [1] * 40, [3] * 30 + [1] * 10


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Four good results, one that lost thirty queries; new judgments, by which the last was measured again; a note."""
    folder = tmp_path_factory.mktemp("history")
    with open_history(folder / "history.db", create=True) as history:
        results = [measured(ranks, day) for day, ranks in enumerate((GOOD, GOOD, BAD, GOOD))]
        results += [measured(GOOD, 4, judgments(more=2), judged=120), measured(GOOD, 5, judgments(more=2), judged=120)]
        hostile = Change("0" * 40, EVIL, EVIL, True)
        results.append(
            measured(BAD, 6, judgments(more=2), judged=120, moment=Moment(START + timedelta(days=6), hostile))
        )
        history.append(results, acceptances=[accepting(results[4], because=EVIL)])
        history.append(again=[Again(results[3].id, evaluated(GOOD, judgments(more=2)), 120)])
        history.note(EVIL, at=START + timedelta(days=2))
        yield [line_of(history, "mine", name) for name in ("RR", "nDCG@10")]


@pytest.fixture(scope="module")
def page(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "history.html"
    write_history(lines, path, limit=0.1)
    return path


@pytest.fixture
def opened(tabs, page):
    def open_page(place="", **settings):
        tab = tabs.open(page.as_uri() + place, offline=True, **settings)
        tab.wait_for_selector("html[data-page=interactive]")
        return tab

    yield open_page
    assert tabs.messages == []
    assert not [url for url in tabs.requests if not re.match("(file|data|blob):", url)]


def test_the_chart_shows_breaks_marks_notes_and_what_was_measured_again(opened):
    tab = opened()
    chart = tab.locator("#line-0 .timeline svg")
    assert chart.locator(".ring").count() == 1  # measured again: hollow
    assert chart.locator(".line-1").count() == 2  # two stretches: no line through the change of judgments
    assert chart.locator(".note-chip").count() == 1
    assert chart.locator(".mark.worse").count() == 2
    assert chart.locator(".mark.better").count() == 1
    expect(chart.locator(".joined-at")).to_have_count(1)
    assert "80 grades added · joined" in chart.text_content()
    assert "limit 100" in chart.text_content()


def test_a_mark_leads_to_the_queries_that_moved(opened):
    tab = opened()
    tab.locator("#line-0 .mark.worse text").first.click()
    move = tab.locator("#line-0 .moves details[open]")
    expect(move).to_have_count(1)
    expect(move.locator("li").first).to_contain_text("text of q00")


def test_another_measure_has_its_own_line(opened):
    tab = opened()
    expect(tab.locator("#line-1")).to_be_hidden()
    tab.get_by_role("button", name="nDCG@10").click()
    expect(tab.locator("#line-0")).to_be_hidden()
    assert tab.locator("#line-1 .timeline svg").count() == 1


def test_keys_walk_through_the_results(opened):
    tab = opened()
    tab.locator("#line-0 .timeline").focus()
    tab.keyboard.press("ArrowLeft")
    expect(tab.locator(".tip")).to_contain_text("RR 0.500")
    tab.keyboard.press("ArrowLeft")
    expect(tab.locator(".tip")).to_contain_text("RR 1.000")
    tab.keyboard.press("Escape")
    expect(tab.locator(".tip")).to_have_count(0)


def test_hostile_texts_stay_texts(opened):
    tab = opened()
    assert tab.evaluate("window.broken === undefined")
    assert EVIL in tab.locator("#line-0 .past").text_content()


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_at_any_width(opened, width, scheme):
    tab = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    box = tab.locator("#line-0 .timeline").bounding_box()
    assert tab.locator("#line-0 .timeline svg").bounding_box()["width"] <= box["width"] + 1


def test_the_text_says_what_the_chart_shows(opened):
    tab = opened()
    verdict = tab.locator("#line-0 .verdict").text_content()
    assert "Worse than accepted" in verdict
    rows = tab.locator("#line-0 .past tbody tr").all_text_contents()
    assert "80 grades added; the result before was measured again." in rows
    assert tab.locator("#line-0 .past tbody tr:not(.cut)").count() == 7


def test_it_can_be_read_by_machines(opened):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for scheme in ("light", "dark"):
        tab = opened(color_scheme=scheme, bypass_csp=True)  # axe is a script from elsewhere
        found = axe.Axe().run(tab).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
