"""People judge to decide between two runs: the progress they see never turns back, and the end says what follows."""

import re

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

from cranfield import open_store
from tests.chromium import CHROMIUM
from tests.judging.page.servers import running
from tests.judging.page.test_browser import Pages

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

__all__ = ["running"]
QUERIES = [f"q{n}" for n in range(12)]
RUNS = {
    "old": {query: {f"{query}-n{d}": 9.0 - d for d in range(9)} for query in QUERIES},
    "new": {query: {f"{query}-r{d}": 9.0 - d for d in range(9)} for query in QUERIES},
}
IMPORTED = 40


@pytest.fixture
def pages(tabs, running, tmp_path):
    """Some documents are judged already, by judgments from a file: they never wait in the store."""
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({query: f"about {query}" for query in QUERIES})
        known = [(query, document) for query in QUERIES[:6] for run in RUNS.values() for document in run[query]]
        grades = {}
        for query, document in known[:IMPORTED]:
            grades.setdefault(query, {})[document] = 2 * ("r" in document)
        store.import_qrels(grades, "trec")
        opened = Pages(tabs, running, store, runs=RUNS)
        yield opened
        opened.close()


def shown_progress(page):
    """How many are judged, of how many, as the bar has it; the words say the same."""
    bar = page.locator("#top progress")
    done, of = int(bar.get_attribute("value")), int(bar.get_attribute("max"))
    expect(page.locator(".far")).to_contain_text(f"{done} of {of} judged")
    return done, of


def test_progress_never_turns_back_and_the_verdict_says_what_it_cost_and_what_comes_next(pages):
    page = pages.open()
    seen = [shown_progress(page)]
    assert seen[0] == (IMPORTED, 12 * 18)
    while page.locator(".decided").count() == 0:
        before = page.locator(".document .id").inner_text()
        page.keyboard.press("2" if "-r" in before else "0")
        expect(page.locator(".document .id").or_(page.locator(".decided"))).not_to_have_text(before)
        expect(page.locator("#top progress")).to_have_attribute("value", str(IMPORTED + len(seen)))
        seen.append(shown_progress(page))
        assert not re.search("minute|hour", page.locator("#top").inner_text())
    assert seen == [(IMPORTED + number, 12 * 18) for number in range(len(seen))]
    assert len(seen) < 12 * 18 - IMPORTED
    expect(page.locator(".far .pill")).to_have_text("▲ Decided")
    expect(page.locator(".verdict .pill")).to_have_text("▲ Decided: new is better than old")
    assert re.fullmatch(r"\+0\.\d{3} nDCG@10", page.locator(".delta").inner_text())
    expect(page.locator(".verdict")).to_contain_text(re.compile(r"95% interval \+0\.\d{3} to \+\d\.\d{3}"))
    done, of = seen[-1]
    assert re.sub(r"\s+", " ", page.locator(".cost").inner_text()) == f"judged of {of} {done} not needed {of - done}"
    expect(page.get_by_role("link", name="Settle")).to_have_count(0)
    other = pages.open("/queries")  # which counts the same documents
    assert shown_progress(other) == (done, of)
    # The next step is a command to copy; where there is no clipboard, it is selected.
    expect(page.locator(".command code")).to_have_text("cranfield compare judgments.db old new")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    page.get_by_role("button", name="Copy: Compare them").click()
    assert page.evaluate("String(getSelection())") == "cranfield compare judgments.db old new"
    # Who goes on sees the same number go on, and what waits as another one.
    page.get_by_role("button", name=f"Judge the other {of - done} too").click()
    expect(page.locator(".far")).to_contain_text(f"{of - done} wait")
    assert shown_progress(page) == (done, of)
    page.keyboard.press("0")
    expect(page.locator("#top progress")).to_have_attribute("value", str(done + 1))
    expect(page.locator(".far")).to_contain_text(f"{of - done - 1} wait")


PAIR = {
    "name": "new vs old",
    "runs": ["old", "new"],
    "state": "open",
    "verdict": "neither",
    "told": "about 40",
    "reason": "",
}
UNKNOWN = {"difference": None, "interval": None, "ends": [None, None]}
KNOWN = {
    "difference": "\N{MINUS SIGN}0.031",
    "interval": "\N{MINUS SIGN}0.050 to \N{MINUS SIGN}0.010",
    "ends": [-0.05, -0.01],
}
DRAW = """async ([decision, steps]) => {
    const { decisionCard, decisionPanel } = await import("/static/decision.js");
    const { decisionProgress } = await import("/static/progress.js");
    const { lines, badge } = decisionProgress(decision, { left: 5 }, false);
    return [decisionPanel(decision).textContent, decisionCard(decision, steps).textContent, lines, badge];
}"""


def drawn(page, needed=None, done=False, **pair):
    decision = {"done": done, "measure": "nDCG@10", "level": "95%", "judged": 3, "documents": 9, "needed": needed}
    return page.evaluate(DRAW, [{**decision, "pairs": [{**PAIR, **pair}]}, []])


def test_a_decision_without_a_difference_and_with_a_range_of_what_is_needed(pages):
    page = pages.open()
    panel, card, lines, badge = drawn(page, **UNKNOWN)
    assert (panel, lines, badge) == ("new vs old, nDCG@10about 40", ["3 of 9 judged", ""], None)
    assert "null" not in card
    assert "NaN" not in card
    assert drawn(page, needed=[20, 45], **UNKNOWN)[2] == ["3 of 9 judged", "about 20 to 45 more to decide"]
    assert drawn(page, needed=20, **KNOWN)[2] == ["3 of 9 judged", "about 20 more to decide"]
    worse = drawn(page, done=True, **{**KNOWN, "state": "worse"})
    assert worse[3] == {"kind": "worse", "told": "▼ Decided"}
    assert "▼ Decided: new is worse than old" in worse[1]
    for state, verdict in (("not worth judging further", "neither"), ("all judged", "neither")):
        neither = drawn(page, done=True, **{**KNOWN, "state": state, "verdict": verdict})
        assert "= Decided: no significant difference between new and old" in neither[1]
