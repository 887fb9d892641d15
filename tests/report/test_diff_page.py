"""The page of a diff in a real browser, opened from a file without a network."""

import re

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("playwright", reason="Playwright is not installed")

from cranfield import diff, open_collection
from cranfield.report.diff import write_diff
from cranfield.systems.collection import Collection
from tests.chromium import CHROMIUM
from tests.report.page import EVIL

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture
def opened(tabs, tmp_path):
    def open_page(found, **settings):
        path = tmp_path / "diff.html"
        write_diff(found, path, command="cranfield diff")
        tab = tabs.open(path.as_uri(), offline=True, **settings)
        tab.wait_for_selector("html[data-page=interactive]")
        return tab

    yield open_page
    assert tabs.messages == []
    assert not [url for url in tabs.requests if not re.match("(file|data|blob):", url)]


def changes(**more):
    return diff("builtin:plain", "builtin:tuned", collection=open_collection("builtin"), **more)


def test_the_page_shows_numbers_lists_and_what_to_judge(opened):
    found = changes(qrels="builtin")
    tab = opened(found)
    assert tab.locator(".seen .delta").inner_text().startswith("93%")
    assert tab.locator(".bars g").count() == 11
    assert tab.locator(".shares rect").count() == 6
    card = tab.locator("#judged + .verdict")
    assert card.locator(".badge").inner_text() == "Too close to call"
    assert card.locator(".delta").inner_text().startswith("+0.037")
    assert card.locator(".interval circle").count() == 1
    assert "▲ 23 better" in card.inner_text()
    assert tab.locator(".changed details").count() == 10
    first = tab.locator(".changed details").first
    assert first.locator(".in").count() == first.locator(".out").count() == 7
    assert first.locator(".joined path").count() == 17
    assert first.locator("summary .change").inner_text() == "▲ +0.573"
    assert tab.locator(".first tbody tr").count() == 20


def test_colours_say_what_a_move_does_and_not_where_it_goes(opened):
    """Only what is judged relevant adds or takes away; nothing is known of what is not judged."""
    ids = ("good", "bad", "new", "lost", "stays")
    one, other = {"1": ["lost", "bad", "stays", "x"]}, {"1": ["good", "new", "stays", "bad"]}
    qrels = {"1": {"good": 2, "lost": 1, "bad": 0, "stays": 2}}
    tab = opened(diff({**one, "2": ["a"]}, {**other, "2": ["a"]}, k=4, qrels={**qrels, "2": {"a": 1}}))
    row = {name: tab.locator(f".joined li:has([title={name}])").first.get_attribute("class") for name in ids}
    assert row == {"good": "in better", "new": "in unknown", "lost": "out worse", "bad": None, "stays": None}
    kinds = [path.get_attribute("class") for path in tab.locator(".joined path").all()]
    assert kinds == ["leaves worse", "none", "none", "leaves unknown", "enters better", "enters unknown"]
    plain = opened(diff(one, other, k=4))
    kinds = [path.get_attribute("class") for path in plain.locator(".joined path").all()]
    assert kinds == ["leaves none", "none", "none", "leaves none", "enters none", "enters none"]
    assert plain.locator(".legend, .grade, .change").count() == 0


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    tab = opened(changes(qrels="builtin"), viewport={"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_the_theme_can_be_chosen(opened):
    tab = opened(changes())
    light = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.locator("#theme").select_option("dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_the_same_runs_have_a_short_page(opened):
    tab = opened(diff("builtin:plain", "builtin:plain"))
    assert tab.locator(".badge").inner_text() == "Nothing changed"
    assert tab.locator("#queries, #waiting, #judged").count() == 0


def test_hostile_names_stay_text(opened):
    collection = Collection("mine", {EVIL: EVIL})
    found = diff({EVIL: [EVIL, "b"], "2": ["a"]}, {EVIL: ["b", "c"], "2": ["a"]}, collection=collection, k=2)
    tab = opened(found)
    assert EVIL.split("\n")[0][:20] in tab.locator(".changed summary b").text_content()
