"""People mark passages: text that is selected in a browser gets a grade of its own."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

from cranfield import open_store
from tests.chromium import CHROMIUM
from tests.judging.page.servers import running

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

TEXT = "Cats 🐈 sleep a lot.\n\nThey are fed twice a day, and 𝒄ats purr.\nNot always."

SELECT = """([first, last]) => {
  const holder = document.querySelector(".document .text");
  const walker = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const start = node.data.indexOf(first);
    if (start >= 0) range.setStart(node, start);
    const end = node.data.indexOf(last);
    if (end >= 0) range.setEnd(node, end + last.length);
  }
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


__all__ = ["running"]


@pytest.fixture
def judging(running, tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({"q1": "feeding cats"})
        store.add_documents({"d1": {"title": "Cats", "text": TEXT}, "d2": "Dogs bark."})
        store.wait([("q1", "d1")])
        yield store


@pytest.fixture
def page(judging, running, tabs):
    address = running.start(judging.name)
    running.wait_for(address)
    page = tabs.open(address)
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    expect(page.locator(".document .text")).to_contain_text("sleep")
    yield page
    running.kill(address)


def marked(store):
    return [(TEXT[each.start : each.end], each.grade) for each in store.to_passages() if each.end]


def test_a_selected_passage_is_graded_and_the_document_stays(judging, page):
    page.evaluate(SELECT, ["They", "day"])
    expect(page.locator(".passage-hint")).to_contain_text("They are fed twice a day")
    page.keyboard.press("3")
    expect(page.locator(".passages li")).to_have_count(1)
    expect(page.locator(".passage-hint")).to_be_empty()
    assert marked(judging) == [("They are fed twice a day", 3.0)]
    expect(page.locator(".document")).to_contain_text("Cats")
    # Across paragraphs, with characters that JavaScript counts as two.
    page.evaluate(SELECT, ["🐈", "purr"])
    page.locator(".grades button").nth(1).click()
    expect(page.locator(".passages li")).to_have_count(2)
    assert marked(judging)[0] == (TEXT[TEXT.index("🐈") : TEXT.index("purr") + 4], 1.0)
    # Finally, the document itself is judged.
    page.keyboard.press("2")
    expect(page.locator("h1")).to_have_text("Everything is judged")
    assert judging.view().by_query == {"q1": {"d1": 2.0}}


def test_marked_passages_survive_a_reload_and_can_be_removed(judging, page):
    page.evaluate(SELECT, ["They", "day"])
    page.keyboard.press("3")
    expect(page.locator(".passages li")).to_have_count(1)
    page.reload()
    expect(page.locator(".passages li q")).to_have_text("They are fed twice a day")
    assert page.evaluate("[...CSS.highlights.get('passage')].map(String)") == ["They are fed twice a day"]
    page.get_by_role("button", name="Remove this passage").click()
    expect(page.locator(".passages li")).to_have_count(0)
    assert [event.grade for event in judging.events()] == [3.0, None]


def test_a_selection_snaps_to_words(judging, page):
    page.evaluate(SELECT, ["ey are", "twi"])
    expect(page.locator(".passage-hint q")).to_have_text("They are fed twice")
    page.keyboard.press("2")
    expect(page.locator(".passages li")).to_have_count(1)
    assert marked(judging) == [("They are fed twice", 2.0)]


def test_a_selection_snaps_to_chinese_words(judging, page):
    judging.add_documents({"d1": {"text": "我们每天喂猫两次。"}})
    page.reload()
    expect(page.locator(".document .text")).to_contain_text("我们")
    page.evaluate(SELECT, ["们每", "每"])
    quote = page.locator(".passage-hint q")
    expect(quote).not_to_be_empty()
    assert quote.inner_text() in ("我们每", "我们每天")  # dictionaries differ
    assert page.evaluate("String(CSS.highlights.get('chosen').values().next().value)") == quote.inner_text()


def test_the_ends_of_a_selection_are_moved_by_words(judging, page):
    page.evaluate(SELECT, ["fed", "twice"])
    quote = page.locator(".passage-hint q")
    expect(quote).to_have_text("fed twice")
    for name, shown in [
        ("Start one word earlier", "are fed twice"),
        ("End one word later", "are fed twice a"),
        ("Start one word later", "fed twice a"),
        ("Start one word later", "twice a"),
        ("End one word earlier", "twice"),
        ("End one word earlier", "twice"),  # it is never empty
    ]:
        page.get_by_role("button", name=name).click()
        expect(quote).to_have_text(shown)
    page.keyboard.press("1")
    expect(page.locator(".passages li")).to_have_count(1)
    assert marked(judging) == [("twice", 1.0)]


def test_a_saved_passage_is_adjusted_and_replaced(judging, page):
    page.evaluate(SELECT, ["They", "day"])
    page.keyboard.press("3")
    page.get_by_title("Adjust this passage").click()
    expect(page.locator(".passage-hint")).to_contain_text("You are adjusting: They are fed twice a day")
    page.get_by_role("button", name="Start one word later").click()
    page.get_by_role("button", name="save with grade 3").click()
    expect(page.locator(".passages q")).to_have_text("are fed twice a day")
    assert marked(judging) == [("are fed twice a day", 3.0)]
    # One that is left as it was stays.
    page.get_by_title("Adjust this passage").click()
    page.get_by_role("button", name="End one word earlier").click()
    page.keyboard.press("Escape")
    expect(page.locator(".passage-hint")).to_be_empty()
    assert marked(judging) == [("are fed twice a day", 3.0)]
    page.reload()
    expect(page.locator(".passages q")).to_have_text("are fed twice a day")


def test_escape_clears_the_selection_and_undo_removes_a_passage(judging, page):
    page.evaluate(SELECT, ["They", "day"])
    expect(page.locator(".passage-hint")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page.locator(".passage-hint")).to_be_empty()
    page.evaluate(SELECT, ["Cats", "lot"])
    page.keyboard.press("1")
    expect(page.locator(".passages li")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator(".passages li")).to_have_count(0)
    expect(page.locator(".document .text")).to_contain_text("They are fed")  # the document, not the part
