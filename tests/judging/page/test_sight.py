"""What people see at every width: grades in reach, one line of alignment, buttons for thumbs, who has judged what."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

from cranfield import open_store
from tests.chromium import CHROMIUM
from tests.judging.page.servers import running
from tests.judging.page.test_browser import Pages, press

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

__all__ = ["running"]
SIZES = [(1440, 900), (1280, 800), (768, 1024), (390, 844)]
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture
def judged(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({"q1": {"text": "feeding cats", "narrative": "How often? " * 8}})
        store.add_documents({f"d{n}": {"title": f"Title {n}", "text": "Cats are fed twice. " * 60} for n in range(3)})
        store.wait([("q1", "d0"), ("q1", "d1"), ("q1", "d2")], assessors=2)
        store.judge("q1", "d0", 0, assessor="bob", comment="no cats in it")
        store.judge("q1", "d0", 3, assessor="cid")
        yield store


@pytest.fixture
def pages(tabs, running, judged):
    opened = Pages(tabs, running, judged)
    yield opened
    opened.close()


def box(page, selector):
    """Where the first such element is now: when the list of a query comes, the page puts another head in its place."""
    page.locator(selector).first.wait_for(state="attached")
    return page.evaluate("selector => document.querySelector(selector).getBoundingClientRect().toJSON()", selector)


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("place", ["/?query=q1&document=d1", "/adjudicate"])
def test_grades_stay_at_the_bottom_edge_beside_a_long_text(pages, place, width, height):
    page = pages.open(place, viewport={"width": width, "height": height})
    if page.locator(".more").count():
        page.locator(".more").click()
    for share in (0, 0.5, 1):
        page.evaluate("share => scrollTo(0, share * document.documentElement.scrollHeight)", share)
        dock, grades = box(page, "#dock"), box(page, "#dock .grades")
        assert dock["y"] + dock["height"] == pytest.approx(height, abs=1)
        assert grades["y"] + grades["height"] < height
        assert dock["height"] < height / 4
    last = box(page, ".document .text p:last-of-type")
    assert last["y"] + last["height"] < dock["y"]  # the end of the text is not behind the dock
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("place", ["/?query=q1&document=d1", "/adjudicate"])
@pytest.mark.parametrize("narrative", ["", "How often? " * 60])
def test_head_text_grades_and_sidebar_are_aligned(pages, judged, place, narrative):
    judged.add_queries([("q1", "feeding cats", narrative)])
    page = pages.open(place, viewport={"width": 1280, "height": 800})
    left = {each: box(page, each)["x"] for each in ("h1", ".document", "#dock .grades")}
    assert len(set(left.values())) == 1, left
    card, aside = box(page, ".document"), box(page, "aside")
    assert card["y"] == aside["y"]
    assert aside["x"] + aside["width"] == pytest.approx(box(page, "#dock .tools")["x"] + 260, abs=1)
    page.evaluate("scrollTo(0, 5000)")
    head, aside, dock = box(page, "#top"), box(page, "aside"), box(page, "#dock")
    assert aside["y"] >= head["y"] + head["height"]
    assert aside["y"] + aside["height"] <= dock["y"]


def test_a_grade_shows_its_digit_once_and_another_key_beside_it(pages, judged):
    page = pages.open()
    assert page.locator(".grades button").all_inner_texts()[2].count("2") == 1
    judged.set_scale({0: "No", 0.5: "Some", 1: "Yes"})
    page.reload()
    expect(page.locator(".grades button")).to_have_count(3)
    assert [each.split()[0] for each in page.locator(".grades button").all_inner_texts()] == ["0", "0.5", "1"]
    assert page.locator(".grades kbd").all_inner_texts() == ["1", "2"]


def test_a_scale_from_0_to_10_has_a_key_for_each_grade(pages, judged):
    judged.set_scale({grade: "useless" if grade == 0 else f"level {grade}" for grade in range(11)})
    page = pages.open(viewport={"width": 1280, "height": 800})
    assert page.locator(".grades kbd").all_inner_texts() == ["T"]
    buttons = [each.bounding_box() for each in page.locator(".grades button").all()]
    assert len({(each["y"], each["height"]) for each in buttons}) == 1  # in a row
    page.keyboard.press("z")  # no key of a grade
    press(page, "t", "saved: 10 level 10")
    press(page, "9", "saved: 9 level 9")
    assert [event.grade for event in judged.events(assessor="ann")] == [10.0, 9.0]


def test_long_names_leave_room_on_a_phone(pages, judged):
    judged.judge("q1", "d0", 3, assessor="Dr. Annegret Müller-Lüdenscheidt-Winterbottom")
    page = pages.open("/judged", **PHONE)
    row = page.locator(".rows li", has_text="Annegret")
    assert row.locator(".name").bounding_box()["width"] > 390 / 3
    assert row.bounding_box()["height"] < 160
    for place in ("/judged", "/flags", "/adjudicate"):  # no line is kept for what is saved before anything is
        page.goto(pages.address + place)
        expect(page.locator("html")).to_have_attribute("data-ready", "yes")
        title, after = (
            box(page, "#top h1"),
            page.locator("#top .narrative").or_(page.locator("main")).first.bounding_box(),
        )
        assert after["y"] - title["y"] - title["height"] < 20, place


def test_a_phone_has_buttons_and_no_keycaps(pages):
    page = pages.open("/?query=q1&document=d1", **PHONE)
    for name in ("back", "next", "undo", "cannot judge", "comment"):
        button = page.get_by_role("button", name=name)
        shape = button.bounding_box()
        assert min(shape["width"], shape["height"]) >= 40, name
        assert button.evaluate("each => getComputedStyle(each).borderTopColor") != "rgba(0, 0, 0, 0)"
    assert not any(each.is_visible() for each in page.locator("kbd").all())
    expect(page.get_by_role("button", name="keys")).to_be_hidden()


def test_who_has_judged_a_document_is_shown_without_the_grade(pages):
    page = pages.open("/?query=q1&document=d1")
    expect(page.locator("aside li", has_text="Title 0")).to_contain_text("judged by bob, cid")
    expect(page.locator("aside li", has_text="Title 0").locator(".grade")).to_have_text("·")
    assert "no cats in it" not in page.content()
    page.goto(pages.address + "/queries")
    expect(page.locator(".rows")).to_contain_text("bob 1 · cid 1")


def test_differences_are_offered_only_where_there_are_some(pages, judged):
    page = pages.open(name="dora")
    for _ in range(2):
        shown = page.locator(".document .id").inner_text()
        page.keyboard.press("1")
        expect(page.locator(".document .id").or_(page.locator(".finished"))).not_to_have_text(shown)
    expect(page.get_by_role("link", name="Settle 1 difference between assessors")).to_be_visible()
    judged.judge("q1", "d0", 2, assessor="eve", adjudicates=True)
    page.reload()
    expect(page.locator(".finished")).to_contain_text("left for others")
    expect(page.get_by_role("link", name="Review judgments")).to_be_visible()
    expect(page.get_by_role("link", name="Settle")).to_have_count(0)


def test_a_list_longer_than_the_window_shows_the_current_document(pages, judged):
    judged.add_documents({f"e{n:02}": {"title": f"Extra {n}"} for n in range(40)})
    judged.wait([("q1", f"e{n:02}") for n in range(40)])
    page = pages.open("/?query=q1&document=d1", viewport={"width": 1280, "height": 800})
    for chosen in ("Extra 39", "Extra 0", "Extra 20"):
        page.locator("aside li button", has_text=re.compile(f"{chosen}$")).click()
        expect(page.locator("aside .now")).to_have_text(re.compile(f"{chosen}$"))
        row, aside = box(page, "aside .now"), box(page, "aside")
        assert aside["y"] < row["y"]
        assert row["y"] + row["height"] < aside["y"] + aside["height"]
        assert page.evaluate("scrollY") == 0


def test_a_document_that_cannot_be_opened_says_whether_somebody_has_it(pages, judged):
    for name in ("eve", "fay"):
        assert len(judged.next_several(name, 2, first="q1")) == 2
    page = pages.open("/?query=q1&document=d1")
    expect(page.locator("#notice")).to_have_text("Someone else is judging this document.")
    page.goto(f"{pages.address}/?query=q1&document=d0")
    expect(page.locator("#notice")).to_have_text("Enough people have judged this document.")
    pages.tabs.messages.clear()  # the browser logs the refusals


def test_a_query_is_flagged_as_unclear_seen_by_others_and_the_flag_withdrawn(pages, judged):
    page = pages.open()
    page.keyboard.press("q")
    page.get_by_label("What is it?").fill("kittens, too?")
    page.get_by_role("button", name="It is unclear").click()
    expect(page.locator("#state")).to_have_text("saved: flagged as unclear")
    [flag] = judged.flags()
    assert (flag.query_id, flag.assessor, flag.comment) == ("q1", "ann", "kittens, too?")
    press(page, "1", "saved: 1 Related")  # it can still be judged
    other = pages.open("/queries", name="bob")
    expect(other.locator(".rows")).to_contain_text("unclear to ann")
    other.goto(pages.address + "/")
    expect(other.locator(".flag")).to_have_text("Unclear to ann: kittens, too?")
    page.goto(pages.address + "/flags")
    expect(page.locator(".flagged")).to_contain_text("kittens, too?")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("main")).to_contain_text("Nobody has flagged a query")
    assert judged.flags() == []


def test_a_query_is_marked_as_having_no_answer(pages, judged):
    page = pages.open()
    page.keyboard.press("q")
    page.get_by_label("What is it?").fill("nobody sells these")
    page.get_by_role("button", name="It has no answer").click()
    expect(page.locator("#state")).to_have_text("saved: flagged as having no answer")
    assert judged.unanswerable() == ["q1"]
    other = pages.open("/queries", name="bob")
    expect(other.locator(".rows")).to_contain_text("no answer, says ann")
    other.goto(pages.address + "/")
    expect(other.locator(".flag")).to_have_text("No answer, says ann: nobody sells these")
    page.goto(pages.address + "/flags")
    expect(page.locator(".flagged")).to_contain_text("no answer: ann")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("main")).to_contain_text("Nobody has flagged a query")
    assert judged.unanswerable() == []


def test_only_those_who_flagged_a_query_can_withdraw_the_flag(pages, judged):
    judged.flag("q1", assessor="bob")
    page = pages.open("/flags")
    expect(page.locator(".flagged")).to_contain_text("bob")
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)


def test_a_document_is_added_by_its_words_and_an_unknown_id_is_refused_in_the_dialog(pages, judged):
    judged.add_documents({"000444": {"title": "Raincoat", "text": "Yellow, for cats."}})
    page = pages.open()
    page.keyboard.press("a")
    field = page.get_by_label("Words of its title or text, or its id")
    field.fill("444x")
    field.press("Enter")
    expect(page.locator(".found")).to_contain_text("Nothing found")
    page.get_by_role("button", name="Add the document with the id").click()
    expect(page.get_by_role("alert")).to_contain_text("there is no document '444x'")
    pages.tabs.messages.clear()  # the browser logs the refusal
    field.fill("yellow cats")
    field.press("Enter")
    expect(page.locator(".found b").first).to_have_text("Raincoat")
    page.locator(".found li button").first.click()
    expect(page.locator(".document .id")).to_have_text("000444")
    press(page, "3", "saved: 3 Perfect")
    assert judged.view().by_query["q1"]["000444"] == 3.0


def test_many_grades_fit_on_a_phone(pages, judged):
    judged.set_scale({grade: f"Somewhat useful {grade}" for grade in range(11)})
    page = pages.open("/?query=q1&document=d1", **PHONE)
    dock = box(page, "#dock")
    assert (dock["width"], dock["y"] + dock["height"]) == (390, pytest.approx(844, abs=1))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
