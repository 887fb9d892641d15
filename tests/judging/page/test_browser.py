"""People judge in a real browser: by keyboard, by touch, two at once, and with a server that stops and restarts."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

from cranfield import open_store
from tests.chromium import CHROMIUM
from tests.judging.page.servers import running

EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


__all__ = ["running"]


@pytest.fixture
def judged(tmp_path):
    """A store of two queries with three documents each."""
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries([("q1", "feeding cats", "The person keeps a cat."), ("q2", "ships", "")])
        store.add_documents(
            {
                f"d{n}": {"title": f"Title {n}", "text": f"Cats {n} are fed. " + "long " * 800 * (n == 2)}
                for n in range(6)
            }
        )
        store.wait([(f"q{1 + number // 3}", f"d{number}") for number in range(6)])
        yield store


class Pages:
    """Pages of a server; none may contact another server, log anything or open a dialog."""

    def __init__(self, tabs, running, store, views=(), runs=None):
        self.tabs, self.running, self.store = tabs, running, store
        self.address = running.start(store.name, views=views, runs=runs)
        running.wait_for(self.address)

    def open(self, place="/", name=None, **settings):
        page = self.tabs.open(self.address + place, **{"viewport": {"width": 1200, "height": 800}, **settings})
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        if name:
            page.get_by_title("Change who is judging").click()
            page.get_by_label("Your name").fill(name)
            page.keyboard.press("Enter")
            expect(page.locator(".who")).to_have_text(name)
            expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        return page

    def close(self):
        self.running.kill(self.address)
        assert [each for each in self.tabs.messages if "net::ERR_" not in each] == []
        foreign = [url for url in self.tabs.requests if not url.startswith((f"{self.address}/", "data:"))]
        assert foreign == []


@pytest.fixture
def pages(tabs, running, judged):
    opened = Pages(tabs, running, judged)
    yield opened
    opened.close()


def shown(page):
    """The id of the document that is shown."""
    return page.locator(".document .id").inner_text()


def press(page, key, done):
    """Press a key and wait until the page confirms it."""
    page.keyboard.press(key)
    expect(page.locator("#state")).to_have_text(done)


def grades(store):
    return {event.doc_id: event.grade for event in store.events() if event.undoes is None}


def test_a_pool_is_judged_by_keyboard_with_undo_and_a_reload(pages, judged):
    page = pages.open()
    expect(page.locator("h1")).to_have_text(judged.next_for("ann").query)
    expect(page.locator(".far")).to_contain_text("0 of 6")
    given = {}
    for grade in (3, 0):
        given[shown(page)] = float(grade)
        before = shown(page)
        page.keyboard.press(str(grade))
        expect(page.locator(".document .id")).not_to_have_text(before)
        assert grades(judged) == given  # it is on disk before the page has moved on
    expect(page.locator("#state")).to_have_text("saved: 0 Not relevant")
    press(page, "u", "undone")
    assert given[shown(page)] == 0
    press(page, "2", "saved: 2 Relevant")
    last = [event for event in judged.events() if event.undoes is None][-1]
    given[last.doc_id] = 2.0
    assert last.seconds >= 0
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    expect(page.locator(".far")).to_contain_text("2 of 6")
    assert shown(page) not in given
    # A skipped document comes back at the end; one that cannot be judged does not.
    skipped = shown(page)
    page.keyboard.press(" ")
    expect(page.locator(".document .id")).not_to_have_text(skipped)
    unclear = shown(page)
    press(page, "x", "saved: cannot judge")
    given[unclear] = None
    for number, key in enumerate("130"):
        given[shown(page)] = float(key)
        page.keyboard.press(key)
        expect(page.locator("#state")).to_contain_text(f"saved: {key}", timeout=10_000)
        if number == 1:
            expect(page.locator(".document .id")).to_have_text(skipped)
    expect(page.locator("h1")).to_have_text("Nothing left for you")  # someone else may judge the remaining one
    assert {event.doc_id: event.grade for event in judged.events() if event.number in event_numbers(judged)} == given
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".document .id")).to_have_text(skipped)


def event_numbers(store):
    """The numbers of events that were not undone."""
    events = list(store.events())
    return {event.number for event in events if event.undoes is None} - {event.undoes for event in events}


def test_back_corrects_and_a_comment_goes_with_the_grade(pages, judged):
    page = pages.open()
    first = shown(page)
    page.keyboard.press("c")
    page.keyboard.type("see 2 and x")  # keys are not commands while typing
    page.keyboard.press("Enter")
    press(page, "1", "saved: 1 Related")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".document .id")).to_have_text(first)
    expect(page.get_by_role("button", name="1 Related")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Comment")).to_have_value("see 2 and x")
    press(page, "3", "saved: 3 Perfect")
    assert [(event.doc_id, event.grade, event.comment) for event in judged.events()] == [
        (first, 1.0, "see 2 and x"),
        (first, 3.0, "see 2 and x"),
    ]
    # A comment on a graded document is saved with the same grade.
    page.keyboard.press("ArrowLeft")
    page.get_by_label("Comment").fill("now clear")
    page.get_by_label("Comment").press("Enter")
    expect(page.locator("#state")).to_have_text("saved: comment")
    assert [(event.grade, event.comment) for event in judged.events()][-1] == (3.0, "now clear")


def test_a_grade_chosen_right_after_a_comment_is_saved_too(pages, judged):
    page = pages.open()
    first = shown(page)
    press(page, "1", "saved: 1 Related")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("c")
    page.get_by_label("Comment").fill("now clear")
    waiting = []
    page.route("**/api/judge", lambda route: route.continue_() if waiting else waiting.append(route))
    page.get_by_role("button", name="3 Perfect").click()  # the field loses the focus, so the comment is saved first
    assert len(waiting) == 1
    waiting[0].continue_()
    expect(page.locator("#state")).to_have_text("saved: 3 Perfect")
    assert [(event.doc_id, event.grade, event.comment) for event in judged.events()] == [
        (first, 1.0, ""),
        (first, 1.0, "now clear"),
        (first, 3.0, "now clear"),
    ]
    page.unroute("**/api/judge")


def test_documents_are_judged_while_the_list_of_their_query_is_on_its_way(pages, judged):
    """Nothing that a grade does not need may hold it up, and an answer that comes late belongs to its own query."""
    page = pages.open()
    expect(page.locator("aside li")).to_have_count(3)
    late = []
    page.route("**/api/query", lambda route: late.append(route) if len(late) < 2 else route.continue_())
    for number in range(4):  # the fourth is of the other query
        before = shown(page)
        page.keyboard.press("1")
        expect(page.locator(".document .id")).not_to_have_text(before)
        expect(page.locator(".far")).to_contain_text(f"{number + 1} of 6")
    second = page.locator("h1").inner_text()
    page.keyboard.press("ArrowLeft")
    for _ in range(2):  # back at once: the list of the first query is asked for, too
        page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).not_to_have_text(second)
    for route in reversed(late):
        route.continue_()
    expect(page.locator("aside li .grade")).to_have_text(["1", "1", "1"])
    expect(page.locator("aside .now")).to_contain_text(page.locator(".document h2").inner_text())
    expect(page.locator(".place")).to_contain_text(re.compile(r"Query \d of 2"))
    page.unroute("**/api/query")


def test_the_words_of_the_query_are_marked_and_long_texts_folded(pages, judged):
    page = pages.open("/?query=q1&document=d2")
    assert shown(page) == "d2"
    assert page.locator("mark").first.inner_text() == "Cats"
    assert page.locator(".text").inner_text().count("long") < 500
    page.keyboard.press("f")
    expect(page.get_by_role("button", name="Show the other")).to_have_count(0)
    assert page.locator(".text").inner_text().count("long") == 800
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("cannot judge this document")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press(page, "2", "saved: 2 Relevant")


def test_queries_are_listed_and_searched(pages, judged):
    page = pages.open()
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("title 4")
    expect(page.locator(".rows li")).to_have_count(1)
    expect(page.locator(".rows")).to_contain_text("0 of 3")
    page.get_by_text("ships").click()
    expect(page.locator("h1")).to_have_text("ships")
    for number in range(3):
        page.keyboard.press("0")
        expect(page.locator(".far")).to_contain_text(f"{number + 1} of 6")
    expect(page.locator("h1")).to_have_text("feeding cats")
    page.keyboard.press("l")
    expect(page.locator(".rows .done")).to_have_count(1)
    expect(page.locator("#top")).to_contain_text("1 of 2 queries done")


def test_a_document_can_be_added_to_a_query_without_results(pages, judged):
    judged.add_queries({"q3": "raincoat"})
    judged.add_documents({"coat": "Keeps the rain out."})
    page = pages.open("/queries")
    page.get_by_text("raincoat").click()
    expect(page.locator("main")).to_contain_text("No system returned anything for this query")
    page.keyboard.press("a")
    page.get_by_label("Words of its title or text, or its id").fill("rain")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Keeps the rain out.").click()
    expect(page.locator(".document .text")).to_have_text("Keeps the rain out.")
    press(page, "3", "saved: 3 Perfect")
    assert judged.view().by_query == {"q3": {"coat": 3.0}}


def test_past_judgments_can_be_filtered_and_corrected(pages, judged):
    judged.judge("q1", "d0", 1, assessor="ann", comment="hm")
    judged.judge("q1", "d1", 2, assessor="bob")
    page = pages.open("/judged")
    expect(page.locator(".rows li")).to_have_count(2)
    page.get_by_label("Grade").select_option("1 Related")
    expect(page.locator(".rows li")).to_have_count(1)
    page.get_by_title("Correct it").click()
    expect(page.locator(".document .id")).to_have_text("d0")
    press(page, "3", "saved: 3 Perfect")
    assert [event.grade for event in judged.events(doc_id="d0")] == [1.0, 3.0]


def test_differences_are_settled_side_by_side(pages, judged):
    judged.judge("q1", "d0", 0, assessor="ann", comment="no cats")
    judged.judge("q1", "d0", 3, assessor="bob", comment="all about cats")
    page = pages.open("/adjudicate", name="cid")
    expect(page.locator(".opinion")).to_have_count(2)
    expect(page.locator(".opinions")).to_contain_text("no cats")
    press(page, "2", "settled: 2 Relevant")
    expect(page.locator("h1")).to_have_text("Nothing to settle")
    assert judged.view().by_query["q1"]["d0"] == 2.0
    press(page, "u", "undone")
    expect(page.locator(".opinion")).to_have_count(2)
    assert judged.view().by_query["q1"]["d0"] != 2.0


def test_by_thumb_on_a_phone(pages, judged):
    page = pages.open(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    for number in range(6):
        button = page.get_by_role("button", name="Relevant", exact=False).last
        box = page.locator(".grades").bounding_box()
        assert box["y"] + box["height"] <= 740  # in reach without scrolling, however long the text is
        assert all(each.bounding_box()["height"] >= 40 for each in page.locator(".grades button").all())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        button.tap()
        expect(page.locator(".far")).to_contain_text(f"{number + 1} of 6")
    expect(page.locator("h1")).to_have_text("Everything is judged")
    page.get_by_role("button", name="undo").tap()
    expect(page.locator("#state")).to_have_text("undone")
    assert judged.progress().left == 1


def test_two_browsers_at_once(pages, judged):
    bob, ann = pages.open(name="bob"), pages.open()
    seen = []
    for _ in range(3):
        for page in (ann, bob):
            if page.locator(".document").count():
                seen.append(shown(page))
                page.keyboard.press("1")
                expect(page.locator(".document .id").or_(page.locator(".finished"))).not_to_have_text(seen[-1])
    assert len(set(seen)) == len(seen)
    assert {event.assessor for event in judged.events()} == {"ann", "bob"}
    assert judged.conflicts() == []


def test_the_page_waits_for_a_server_that_went_away(pages, judged):
    page = pages.open()
    before = shown(page)
    pages.running.kill(pages.address)
    page.keyboard.press("3")
    expect(page.locator("#notice")).to_contain_text("Not saved yet")
    page.keyboard.press("0")  # not a second grade
    assert shown(page) == before
    pages.running.start(judged.name, int(pages.address.rpartition(":")[2]))
    expect(page.locator(".document .id")).not_to_have_text(before, timeout=20_000)
    assert grades(judged) == {before: 3.0}


@pytest.mark.fault("scripts in ids, texts, names and comments on the judging page", "They are shown as text.")
def test_hostile_texts_and_ids_are_inert(tabs, running, tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries([(EVIL, f"query {EVIL}", EVIL)])
        names = [EVIL, "a/../b?c#d&e=f", "\u202edexif", "space and\ttab", "%00%2e", "']);//"]
        store.add_documents(
            {name: {"title": EVIL, "text": f"{EVIL} {name}", "url": f"javascript:{EVIL}"} for name in names}
        )
        store.wait([(EVIL, name) for name in names])
        store.judge(EVIL, names[0], 0, assessor=EVIL, comment=EVIL)
        store.judge(EVIL, names[0], 3, assessor="bob", comment=EVIL)
        pages = Pages(tabs, running, store)
        page = pages.open()
        for number in range(1, 6):
            assert page.locator(".document h2").inner_text() == EVIL
            assert page.locator(".document img, .document script, .document a").count() == 0
            page.keyboard.press("2")
            expect(page.locator(".far")).to_contain_text(f"{number + 1} of 6")
        assert {event.doc_id for event in store.events(assessor="ann")} == set(names[1:])
        for place in ("/queries", "/judged", "/adjudicate"):
            page.goto(pages.address + place)
            expect(page.locator("html")).to_have_attribute("data-ready", "yes")
            expect(page.locator("main")).to_contain_text("<script>alert(2)</script>")
        page.goto(pages.address + "/judged")
        page.get_by_title("Correct it").last.click()
        expect(page.locator(".document h2")).to_have_text(EVIL)
        pages.close()


def test_dark_mode_and_changing_the_name_of_the_assessor(pages, judged):
    page = pages.open(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 16, 19)"
    page.get_by_title("Change who is judging").click()
    page.get_by_label("Your name").fill("  dora ")
    page.keyboard.press("Enter")
    expect(page.locator(".who")).to_have_text("dora")
    press(page, "1", "saved: 1 Related")
    assert [event.assessor for event in judged.events()] == ["dora"]


def test_a_name_is_never_taken_from_a_link(pages, judged):
    page = pages.open(name="dora")
    for place in ("/?assessor=mallory", "/judged?assessor=mallory", "/?name=mallory#assessor=mallory"):
        page.goto(pages.address + place)
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        expect(page.locator(".who")).to_have_text("dora")
    page.goto(pages.address)
    expect(page.locator("html")).to_have_attribute("data-ready", "yes")
    press(page, "1", "saved: 1 Related")
    assert {event.assessor for event in judged.events()} == {"dora"}


def test_the_words_of_a_long_query_without_spaces_are_marked_in_one_pass(pages, judged):
    query, text = (
        "".join(map(chr, range(0x4E00, 0x4E00 + 400))),
        chr(0x4E01) * 60_000 + "".join(map(chr, range(0x4E00, 0x4E04))),
    )
    judged.add_queries([("q1", query, "")])
    judged.add_documents({"d0": {"title": "", "text": text}})
    page = pages.open()
    looked = """async ([text, query]) => {
        const words = await import("/static/words.js");
        const find = String.prototype.indexOf;
        let looks = 0;
        String.prototype.indexOf = function (...given) { looks += 1; return find.apply(this, given); };
        try { return [words.marked(text, query).querySelectorAll("mark").length, looks]; }
        finally { String.prototype.indexOf = find; }
    }"""
    marks, looks = page.evaluate(looked, [text, query])
    assert marks == 1  # places that touch are one
    assert looks < 400  # a search for each piece of the query would be far more


def test_a_document_stays_in_sight_on_a_phone_under_a_long_query_and_over_many_grades(pages, judged):
    judged.add_queries(
        [(query, "a query that goes on and on " * 40, "and so does its narrative " * 40) for query in ("q1", "q2")]
    )
    judged.set_scale({grade: f"Quite relevant {grade}" for grade in range(10)})
    page = pages.open(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    head, panel = (page.locator(each).bounding_box() for each in ("#top", "#dock"))
    assert panel["y"] - head["height"] > 740 / 3
    assert all(each.bounding_box()["height"] >= 40 for each in page.locator(".grades button").all())
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = page.locator("aside").bounding_box()
    assert last["y"] + last["height"] <= panel["y"]  # nothing is hidden behind the buttons
    page.locator("aside .adder").tap()
    page.get_by_label("Words of its title or text, or its id").fill("d5")
    page.get_by_role("button", name="Search").tap()
    page.get_by_role("button", name="Title 5").tap()
    expect(page.locator(".document .id")).to_have_text("d5")


def test_a_name_stored_for_another_server_is_not_used(pages, judged):
    page = pages.open("/queries")
    page.evaluate("localStorage.clear(); localStorage.setItem('cranfield.assessor zoe', 'bob')")
    page.reload()
    expect(page.locator(".who")).to_have_text("ann")


def test_judging_works_without_local_storage(pages, judged):
    page = pages.tabs.browser.new_context().new_page()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })")
    page.goto(pages.address)
    expect(page.locator(".who")).to_have_text("ann")
    press(page, "1", "saved: 1 Related")


def test_a_refusal_is_shown_in_the_words_of_the_server(pages, judged):
    page = pages.open()
    message = "Open the page with the address that 'cranfield judge' printed: its token is missing or wrong."
    page.route("**/api/judge", lambda route: route.fulfill(status=401, body=message + "\n", content_type="text/plain"))
    page.keyboard.press("1")
    expect(page.locator("#notice")).to_have_text(message)
    pages.tabs.messages.clear()
    page.unroute("**/api/judge")
    press(page, "1", "saved: 1 Related")


def test_a_view_that_is_declared_has_its_address_title_and_link(tabs, running, judged):
    opened = Pages(tabs, running, judged, views=[("/extra", "Extra", "queries.js")])
    page = opened.open()
    page.get_by_role("link", name="Extra").click()
    expect(page.get_by_role("heading", name="Extra")).to_be_visible()
    expect(page).to_have_title("Extra · Judge")
    expect(page.get_by_role("link", name="Extra")).to_have_attribute("aria-current", "page")
    opened.close()
