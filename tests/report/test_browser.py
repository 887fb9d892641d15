"""The page in a real browser, opened from a file without a network."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
pytest.importorskip("playwright", reason="Playwright is not installed")

from playwright.sync_api import expect

import cranfield
from cranfield.look import DARK, LIGHT
from cranfield.systems.collection import Collection, Document
from tests.chromium import CHROMIUM
from tests.report.page import ENDING, EVIL, FILES, evil

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    segments = {query: "long" if len(query) > 18 else "short" for query in results()["keywords"].query_ids}
    cranfield.write_report(*FILES, path, segments=segments)
    return path


@pytest.fixture
def opened(tabs):
    """A function that opens a page, with its charts on request; at the end, no message or request may have occurred."""

    def open_page(path, place="", *, charts=False, **settings):
        page = tabs.open(path.as_uri() + place, offline=True, **settings)
        page.wait_for_selector(f"html[data-{'charts=drawn' if charts else 'page=interactive'}]")
        return page

    yield open_page
    assert tabs.messages == []
    assert not [url for url in tabs.requests if not re.match("(file|data|blob):", url)]


def results():
    return cranfield.evaluate_runs(*FILES)


def place(**parts):
    return "#" + urlencode(parts)


def listed(page):
    """The list of queries: each row as the texts of its cells."""
    return page.eval_on_selector_all(
        "#query-list tbody tr", "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )


def test_charts_are_drawn_and_described_in_words(opened, report):
    page = opened(report, charts=True)
    page.locator("#theory summary").first.click()
    expect(page.locator("#theory-list .drawing")).to_have_count(2)
    page.wait_for_selector("html[data-charts=drawn]")
    charts = page.locator(".drawing")
    assert charts.count() == 9
    for at in range(9):
        chart = charts.nth(at)
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 50
        assert chart.locator("svg path").count() > 10
        assert chart.locator("button, a, summary").count() == 0  # a picture holds no controls
    picked = page.locator("figure select").first
    picked.select_option(label="P by cutoff")
    page.wait_for_selector("html[data-charts=drawn]")
    assert "mean of P at each cutoff" in page.locator("figure:has(select) .drawing").first.get_attribute("aria-label")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save this chart as SVG").first.click()
    assert "<svg" in Path(saved.value.path()).read_text()


def test_the_leaderboard_sorts(opened, report):
    page = opened(report)
    head = page.locator(".board thead th", has_text="nDCG@10")
    best_first = sorted(results(), key=lambda run: -results()[run]["nDCG@10"])

    def runs():
        return page.locator(".board tbody th > a").all_text_contents()

    assert runs() == best_first
    head.locator("button").click()
    assert runs() == best_first
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").press("Enter")
    assert runs() == best_first[::-1]
    assert head.get_attribute("aria-sort") == "ascending"
    assert page.locator(".board tbody .place").all_text_contents() == ["2", "1"]  # by the primary measure


def test_the_values_are_those_of_the_evaluation(opened, report):
    page = opened(report, place(a="keywords", b="meaning", m="AP"))
    one, other = (results()[run].by_query("AP") for run in ("keywords", "meaning"))
    rows = listed(page)
    assert len(rows) == 10
    for query, _, first, second, difference, _ in rows:
        assert (first, second) == (f"{one[query]:.3f}", f"{other[query]:.3f}")
        number = float(re.sub("[▲▼ ]", "", difference).replace("−", "-"))
        assert number == pytest.approx(other[query] - one[query], abs=1e-3)
        assert ("▲" in difference, "▼" in difference) == (other[query] > one[query], other[query] < one[query])
    board = page.locator(".board tbody .value").all_text_contents()
    ranked = sorted(results().values(), key=lambda each: -each["nDCG@10"])
    assert board == [f"{value:.3f}" for result in ranked for value in result.values()]


def test_filters(opened, report):
    page = opened(report, place(m="nDCG@10"))
    one, other = (each.by_query("nDCG@10") for each in results().values())
    losses = [other[row[0]] - one[row[0]] for row in listed(page)]
    assert losses == sorted(losses)  # the largest losses come first
    worse = {query for query in one if other[query] < one[query]}
    group(page, "worse").press("Enter")
    assert {row[0] for row in listed(page)} == worse
    assert group(page, "worse").text_content() == f"worse {len(worse)}"
    assert "change=worse" in page.url
    group(page, "worse").click()
    group(page, "long").click()
    assert {row[0] for row in listed(page)} == {query for query in one if len(query) > 18}
    group(page, "long").click()
    page.locator("#filter").fill("no such query")
    page.get_by_role("button", name="Show all queries").click()
    assert len(listed(page)) == 10
    page.locator("#filter").fill("RELEV")
    assert {row[0] for row in listed(page)} == {query for query in one if "relev" in query}
    assert page.locator("#query-count").text_content().startswith(f"{len(listed(page))} of 10 queries")
    page.locator("#filter").fill("")
    page.locator("#order").select_option("gain")
    gains = [other[row[0]] - one[row[0]] for row in listed(page)]
    assert gains == sorted(gains, reverse=True)


def group(page, name):
    return page.locator(f"#groups button[data-group='{name}']")


def test_groups_say_why_queries_fail(opened, tmp_path):
    """What happened is counted by its own rules, from the rankings."""
    texts = {
        "none": "red shoes",
        "low": "blue shoes for the rain",
        "top": "green shoes",
        "apart": "yellow boots",
        "good": "a b",
    }
    words = {"a": "shoes", "b": "rain", "c": "nothing alike"}
    documents = [Document(each, f"Title {each}", words.get(each, "text")) for each in "abcuvwxyz"]
    collection = Collection("made", texts, corpus=lambda: iter(documents))
    judged = {
        "none": {"a": 1},
        "low": {"b": 1, "u": 0, "v": 0, "w": 0},
        "top": {"a": 1},
        "apart": {"c": 1},
        "good": {"a": 1},
    }
    run = {"none": [], "low": ["u", "v", "w", "b"], "top": ["x", "a"], "apart": ["c"], "good": ["a"]}
    old = {**run, "top": ["a", "x"], "none": []}
    path = tmp_path / "report.html"
    cranfield.write_report(judged, {"old": old, "new": run}, path, "RR", collection=collection, charts=False)
    page = opened(path)
    expected = {
        "nothing retrieved": {"none"},
        "nothing relevant retrieved": {"none"},
        "ranked too low": {"low"},
        "unjudged on top": {"top"},
        "no shared word": {"apart", "good"},  # words such as "a" say nothing
        "worse": {"top"},
        "same": {"none", "low", "apart", "good"},
        "1 or 2 words": {"none", "top", "apart", "good"},
        "3 to 5 words": {"low"},
    }
    by_text = {text: query for query, text in texts.items()}
    for name, queries in expected.items():
        assert group(page, name).text_content() == f"{name} {len(queries)}"
        group(page, name).click()
        shown = page.locator("#query-list tbody th a").all_text_contents()
        assert {by_text[text] for text in shown} == queries, name
        group(page, name).click()
    assert group(page, "6 words or more").is_disabled()
    linked = opened(path, place(what="ranked too low"))
    assert linked.locator("#query-list tbody th a").all_text_contents() == ["blue shoes for the rain"]


def test_a_query_opens_by_click_link_and_key(opened, report):
    page = opened(report)  # the page follows its address a moment later: `expect` waits for that
    first, second = (row[0] for row in listed(page)[:2])
    page.locator("#query-list a").first.click()
    heading = page.locator("#query > header h3").first
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


def test_a_link_shows_the_values_of_explain(opened, report):
    page = opened(report, place(q="graded-relevance"))
    assert page.locator("#query").is_visible()
    explained = cranfield.explain(FILES[0], FILES[1][1], "graded-relevance", "nDCG AP RR P")
    side = page.locator("#query .side > div").nth(1)
    assert page.locator("#query .joined ol").nth(1).locator(".grade").all_text_contents() == [
        "?" if each.grade is None else f"{each.grade:g}" for each in explained.positions
    ]
    side.locator("summary").click()
    rows = side.locator("details tbody tr").all()
    assert len(rows) == len(explained.positions)
    for row, each in zip(rows, explained.positions, strict=True):
        terms = (each.gain / each.discount, *each.values.values())
        shown = row.locator("td").all_text_contents()
        assert shown[1] == each.doc_id
        assert shown[5:] == [f"{term:.4f}" for term in terms]
    assert opened(report, place(q="no such query")).locator("#query").is_hidden()


def test_a_bar_opens_its_query(opened, report):
    page = opened(report, charts=True)
    one, other = (each.by_query("nDCG@10") for each in results().values())
    page.locator("#difference path[aria-roledescription=bar]").first.click()
    gained = max(one, key=lambda query: other[query] - one[query])
    expect(page.locator("#query > header h3").first).to_have_text(gained)


def test_two_other_systems_are_chosen(opened, report):
    page = opened(report, charts=True)
    page.locator("#run-a").select_option(label="meaning")
    # A run is not compared with itself: the two change places.
    assert page.locator("#run-b").evaluate("each => each.selectedOptions[0].text") == "keywords"
    page.locator("#measure").select_option(label="RR")
    page.wait_for_selector("html[data-charts=drawn]")
    [difference] = cranfield.compare(FILES[0], FILES[1][::-1], "RR")
    sentence = difference.sentence.replace(" -", " −")  # the page has the typographer's minus
    assert page.locator("#two-summary").text_content().startswith(f"{sentence}.")
    counts = [difference.better, difference.same, difference.worse]
    assert [int(each) for each in re.findall(r"\d+", page.locator("#two-balance").text_content())] == counts
    assert page.url.endswith(place(a="meaning", b="keywords", m="RR"))


def test_dark_and_print(opened, report):
    def colours(page):
        shown = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('#two-balance .better')).fill]"
        )
        return ["#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", each)[:3]) for each in shown]

    page = opened(report, color_scheme="dark")
    assert colours(page) == [DARK["ground"], DARK["ink"], DARK["better"]]
    page.emulate_media(media="print")
    assert colours(page)[1:] == [LIGHT["ink"], LIGHT["better"]]
    assert page.locator("nav").is_hidden()
    assert page.locator(".board").is_visible()
    # The list of charts is not printed, so each chart has its title instead.
    titles = page.locator("#chart-list .chart-title")
    assert titles.filter(visible=True).count() == page.locator("#chart-list figure").count()
    assert titles.first.inner_text() == "nDCG by cutoff"
    page.emulate_media(media="screen")
    assert titles.first.is_hidden()


def test_the_theme_can_be_chosen(opened, report):
    page = opened(report, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("#theme").select_option("light")
    light = page.evaluate(ground)
    assert light != dark
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.locator("#theme").select_option("dark")
    assert page.evaluate(ground) == dark
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()") == LIGHT["ink"]
    page.emulate_media(media="screen")
    page.locator("#theme").select_option("")


def test_paper_has_everything_and_the_summary_first(opened, tmp_path):
    many(tmp_path)
    page = opened(tmp_path / "report.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#map tbody tr").count() == page.locator("#query-list tbody tr").count() == 70
    assert page.locator("#board tbody tr").filter(visible=True).count() == 24
    assert page.locator("#ranks").evaluate("each => getComputedStyle(each).breakBefore") == "page"
    heads = page.locator("thead").evaluate_all("all => all.map(each => getComputedStyle(each).display)")
    assert set(heads) == {"table-header-group"}
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#map tbody tr").count() == 60
    page.emulate_media(media="screen")


def test_charts_have_the_colours_of_the_page(opened, report):
    page = opened(report, charts=True, color_scheme="dark")
    parts = "['fill', each.getAttribute('stroke-width') === '0' ? '' : 'stroke']"
    seen = page.eval_on_selector_all(
        ".drawing svg *", f"all => all.flatMap(each => {parts}.map(part => part && each.getAttribute(part)))"
    )
    used = {colour for colour in seen if colour and colour.startswith("#")}
    assert used <= {*LIGHT.values()}
    axis = page.locator(f"#difference text[fill='{LIGHT['soft']}']").first
    red, green, blue = (int(DARK["soft"][start : start + 2], 16) for start in (1, 3, 5))
    assert axis.evaluate("each => getComputedStyle(each).fill") == f"rgb({red}, {green}, {blue})"
    by_run = page.locator("#chart-list .drawing").first
    assert by_run.locator(f"path[stroke='{LIGHT['run-1']}']").count() > 0


def test_the_verdict_leads_to_its_queries(opened, report):
    page = opened(report)
    one, other = (each.by_query("nDCG@10") for each in results().values())
    page.locator("#verdict a").first.click()
    expect(page.locator("#query > header h3").first).to_have_text(max(one, key=lambda query: other[query] - one[query]))
    assert page.locator("#run-b").evaluate("each => each.selectedOptions[0].text") == "meaning"


def test_many_runs_are_grey_but_for_the_best_and_the_chosen(opened, tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.report.encoding.LARGE", 0)  # packed, as a large page is
    qrels = {f"q{n}": {"a": 3, "b": 2, "c": 1} for n in range(12)}
    names = [f"run{n:02}" for n in range(24)]
    runs = {
        name: {query: [*"xyz"[: (at + place) % 4], *"abc"[at % 3 :]] for place, query in enumerate(qrels)}
        for at, name in enumerate(names)
    }
    cranfield.write_report(qrels, runs, tmp_path / "report.html", "nDCG@3 RR", charts=False)
    page = opened(tmp_path / "report.html")
    rows = page.locator("#board tbody tr")
    assert (rows.count(), rows.filter(visible=True).count()) == (24, 20)
    grey = page.locator("#board .swatch.run-0")
    assert grey.count() == 22
    standing = cranfield.compare(qrels, runs, "nDCG@3").rank_intervals("nDCG@3")
    low, high = standing[rows.first.get_attribute("data-run")]
    assert rows.first.locator("td[data-label^=rank]").inner_text() == (f"{low} to {high}" if high > low else f"{low}")
    page.locator("#run-b").select_option(label=names[2])
    assert page.locator(f"[data-run={names[2]}] .swatch.run-0").count() == 0
    page.get_by_role("button", name="Show all 24 runs").click()
    assert rows.filter(visible=True).count() == 24
    phone = opened(tmp_path / "report.html", viewport={"width": 390, "height": 844})
    assert phone.locator("#board tbody tr").filter(visible=True).count() == 8


def many(folder, runs=24, queries=70):
    """Runs of which the best two are the same, and the last finds nothing."""
    qrels = {f"q{n:02}": {"a": 3, "b": 2, "c": 1} for n in range(queries)}
    names = [f"run{n:02}" for n in range(runs)]
    made = {
        name: {q: [*"xyz"[: at and (at + place) % 4], *"abc"] for place, q in enumerate(qrels)}
        for at, name in enumerate(names)
    }
    made["run01"], made[names[-1]] = made["run00"], {q: ["x"] for q in qrels} | {"q00": ["x", "y", "z", "c"]}
    cranfield.write_report(qrels, made, folder / "report.html", "nDCG@3 RR", charts=False)
    return qrels, made, cranfield.evaluate_runs(qrels, made, "nDCG@3")


def test_a_name_on_the_leaderboard_compares_the_run_with_the_best(opened, tmp_path):
    many(tmp_path)
    page = opened(tmp_path / "report.html")
    assert [page.evaluate(f"document.querySelector('#run-{key}').selectedOptions[0].text") for key in "ba"] == [
        "run00",
        page.locator("#board tbody tr:nth-child(3)").get_attribute("data-run"),  # the first that differs
    ]
    page.locator("#board th a", has_text="run07").press("Enter")
    expect(page.locator("#two-summary")).to_contain_text("run07 vs run00")
    assert page.locator("#two").bounding_box()["y"] < page.viewport_size["height"]
    bars = page.locator("#ranks a")
    assert bars.count() == 24
    bars.nth(5).locator("rect").last.click(force=True)
    expect(page.locator("#two-summary")).to_contain_text("vs run00")


def test_the_map_shows_every_value_and_opens_its_query(opened, tmp_path):
    qrels, runs, results = many(tmp_path)
    page = opened(tmp_path / "report.html")
    means = {q: sum(result.by_query("nDCG@3")[q] for result in results.values()) / len(runs) for q in qrels}
    rows = page.locator("#map tbody tr")
    assert rows.count() == 60
    page.get_by_role("button", name="Show all 70 queries").press("Enter")
    shown = rows.evaluate_all("all => all.map(row => [row.children[0].textContent, row.children[2].textContent])")
    assert [float(mean) for _, mean in shown] == pytest.approx(sorted(means.values()), abs=6e-4)
    assert {query: float(mean) for query, mean in shown} == pytest.approx(means, abs=6e-4)
    order = sorted(runs, key=lambda run: -results[run]["nDCG@3"])
    # Each cell is drawn at the level of its value.
    for query in ("q03", "q44"):
        paths = (
            rows.filter(has_text=query)
            .locator("path")
            .evaluate_all("all => all.map(each => [each.getAttribute('class'), each.getAttribute('d')])")
        )
        levels = {}
        for name, path in paths:
            for start, stop in re.findall(r"M(\d+) 0H(\d+)", path):
                levels |= dict.fromkeys(range(int(start), int(stop)), int(name.removeprefix("level-")))
        values = [results[run].by_query("nDCG@3")[query] for run in order]
        assert [levels[at] for at in range(len(order))] == [min(4, -int(-(4 * value - 1e-9) // 1)) for value in values]
    row = rows.filter(has_text="q44").locator("svg")
    box = row.bounding_box()
    row.click(position={"x": box["width"] - 2, "y": 5})
    expect(page.locator("#query > header h3").first).to_have_text("q44")
    assert page.evaluate("document.querySelector('#run-b').selectedOptions[0].text") == order[-1]


def test_names_in_charts_follow_the_chosen_runs(opened, tmp_path):
    qrels = {f"q{n}": {"a": 3, "b": 2, "c": 1} for n in range(12)}
    names = [f"run{n:02}" for n in range(14)]
    runs = {
        name: {query: [*"xyz"[: (at + place) % 4], *"abc"[at % 3 :]] for place, query in enumerate(qrels)}
        for at, name in enumerate(names)
    }
    cranfield.write_report(qrels, runs, tmp_path / "report.html", "nDCG@3 RR")
    page = opened(tmp_path / "report.html", charts=True)
    figures = page.locator("#chart-list figure")
    curves, recall, ranks = (figures.nth(at).locator("svg") for at in range(3))

    def written(figure):
        texts = figure.locator("text").all_text_contents()
        return {text for text in texts if re.fullmatch(r"run\d\d|\d+ other runs?", text)}

    before = written(curves)
    chosen = next(name for name in names if name not in before | written(recall) | written(ranks))
    page.locator("#run-b").select_option(label=chosen)
    page.wait_for_selector("html[data-charts=drawn]")
    for figure in (curves, recall, ranks):
        assert chosen in written(figure)
    assert {f"{14 - len(written(curves)) + 1} other runs"} == {text for text in written(curves) if "other" in text}
    lines = curves.locator("g.mark-line.role-mark path")
    colours = [lines.nth(at).get_attribute("stroke") for at in range(lines.count())]
    grey = colours[0]
    assert grey not in colours[colours.count(grey) :]  # coloured lines are drawn on top


def test_a_phone_needs_no_sideways_scrolling(opened, report):
    page = opened(report, place(q="graded-relevance"), viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#query > header h3").first.is_visible()
    beyond = "each => { const box = each.getBoundingClientRect(); return box.width && box.right > innerWidth + 1; }"
    cut = page.evaluate(f"[...document.querySelectorAll('main *:not(svg *)')].filter({beyond}).length")
    assert cut == 0


@pytest.mark.fault("scripts in names and texts of a report", "They are shown as text.")
def test_long_names_are_cut_in_the_middle_and_fit_everywhere(opened, tmp_path):
    """What differs is at the end, and stays visible in heads, choices, sentences and at axes, on any screen."""
    name = "bge-large-en-v1.5-reranked-with-monoT5-base-msmarco-seed{}"
    qrels = {str(n): {"a": 1, "b": 2} for n in range(12)}
    runs = {name.format(n): {q: ["a", "b"] if (int(q) + n) % 3 else ["x", "a"] for q in qrels} for n in range(40, 48)}
    cranfield.write_report(qrels, runs, tmp_path / "report.html")
    for wide in (390, 768, 1280):
        page = opened(tmp_path / "report.html", charts=True, viewport={"width": wide, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= wide
        drawn = page.eval_on_selector_all(".drawing text", "all => all.map(each => each.textContent)")
        assert [text for text in drawn if "bge" in text]
        assert all(re.search(r"seed4\d", text) for text in drawn if "bge" in text)
        for where in ("#run-a option", "#query-list th", "#two h3", "#two-summary", "#board tbody th", ".facts li"):
            texts = page.eval_on_selector_all(where, "all => all.map(each => each.textContent)")
            assert not any("reranked-with" in text for text in texts), where
            assert not any("bge" in text and "seed4" not in text for text in texts), where
        boxes = "all => all.map(each => each.getBoundingClientRect().toJSON())"
        first, last = page.eval_on_selector_all(".order .names span", boxes)
        assert first["right"] <= last["left"]
        hidden = "all => all.every(each => getComputedStyle(each).clipPath !== 'none')"
        assert wide > 760 or page.eval_on_selector_all("#query-list thead", hidden)


def test_the_card_is_saved_as_a_picture(opened, report):
    page = opened(report)
    with page.expect_download() as saving:
        page.click("#save-card")
    picture = Path(saving.value.path()).read_bytes()
    assert saving.value.suggested_filename == "card.png"
    assert picture.startswith(b"\x89PNG")
    assert [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)] == [2400, 1260]


def test_names_and_texts_run_no_scripts(opened, tmp_path):
    evil(tmp_path, charts=True)
    page = opened(tmp_path / "report.html", place(q=f"{EVIL}1"), charts=True)
    assert page.locator("#query > header h3").first.text_content() == f"{ENDING} query 1"
    assert page.locator(".ranking .title").first.text_content() == f"{EVIL} title 0"
    assert page.locator("img").count() == 0
    for at in range(page.locator(".drawing").count()):
        page.locator(".drawing").nth(at).hover()
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.scripts.length") == 3


def test_names_that_vega_takes_for_code_are_drawn(opened, tmp_path):
    runs = {name: {"q1": ["x", "a"], "if": ["a", "x"][at:]} for at, name in enumerate(("if", "datum", "null"))}
    cranfield.write_report({"q1": {"a": 1}, "if": {"a": 1}}, runs, tmp_path / "report.html", "RR nDCG@5")
    page = opened(tmp_path / "report.html", charts=True)
    drawings = page.locator("#chart-list .drawing")
    assert "Error" not in "".join(drawings.all_text_contents())
    assert drawings.locator("svg, canvas").count() == drawings.count() > 0


def test_a_saved_evaluation_has_no_rankings(opened, tmp_path):
    results()["keywords"].save(tmp_path / "old.json")
    cranfield.write_report(FILES[0], [tmp_path / "old.json", FILES[1][1]], tmp_path / "report.html")
    page = opened(tmp_path / "report.html", place(q="graded-relevance"))
    old, new = page.locator("#query .side > div").all()
    assert "The ranking is not known" in old.text_content()
    assert new.locator("ol li").count() > 5
    assert "Rankings of keywords are not shown" in page.locator("#queries .notes").last.text_content()


MOVES = {
    "q": (["a", "b", "x", "c"], ["b", "a", "c", "y"]),
    "r": (["a"], ["b", "c"]),
}


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    path = tmp_path_factory.mktemp("moved") / "report.html"
    documents = [Document(each, f"Title of {each}", "the ranked documents of a ranking " * 20) for each in "abcxyz"]
    collection = Collection("made", {"q": "ranking of documents", "r": "words"}, corpus=lambda: iter(documents))
    qrels = {"q": {"a": 1, "b": 3, "z": 2, "x": 0}, "r": {"a": 1}}
    runs = {"old": {q: one for q, (one, _) in MOVES.items()}, "new": {q: other for q, (_, other) in MOVES.items()}}
    cranfield.write_report(qrels, runs, path, "nDCG@3", collection=collection, charts=False, k=3)
    return path


def moves(page):
    found = page.eval_on_selector_all(
        "#query .joined ol",
        "lists => lists.map(list => [...list.children].map(row => row.querySelector('.move').textContent))",
    )
    return [dict(zip(ranking, each, strict=False)) for ranking, each in zip(MOVES["q"], found, strict=True)]


def test_documents_move_between_the_rankings(opened, moved):
    page = opened(moved, place(q="q"))
    old, new = moves(page)
    # Gains of 3, 2 and 1 are discounted by 1, 1.585 and 2; the page shows only 3 ranks, so x and c may be below.
    ideal = 3 + 2 / 1.58496 + 1 / 2
    lost, won = (1 / 1.58496 - 1) / ideal, (3 - 3 / 1.58496) / ideal
    assert old == {"a": "now 2", "b": "now 1", "x": "left, now >3"}
    assert new == {"b": f"was 2 ▲ +{won:.3f}", "a": f"was 1 ▼ −{-lost:.3f}", "c": "new, was >3"}
    kinds = page.eval_on_selector_all("#query .joined .move", "all => all.map(each => each.className)")
    assert [each.split()[1:] for each in kinds] == [["worse"], ["better"], [], ["better"], ["worse"], ["unknown"]]
    lines = page.locator("#query .joined path").evaluate_all("all => all.map(each => each.getAttribute('class'))")
    assert lines == ["worse", "better", "none", "unknown"]
    assert f"Sum: +{won + lost:.3f}." in page.locator("#query .sum").text_content()
    told = page.locator("#query .told").text_content()
    assert told == (
        f"“Title of b” (grade 3) rose from rank 2 to 1: +{won:.3f}. "
        "Of the relevant documents in the top 3, 1 rose and 1 fell."
    )
    page.locator("#query .joined ol li").first.hover()
    assert page.locator("#query li.linked").count() == 2
    assert page.locator("#query .missed li").all_text_contents()[0].startswith("2Title of z")
    assert page.locator("#query .missed .move").inner_text() == "old: not retrieved\nnew: not retrieved"
    assert "grade 1 above grade 3" in page.locator("#query .side > div").first.text_content()
    assert set(page.locator("#query mark").all_text_contents()) == {"ranked", "documents", "ranking"}
    page.locator("#query .title").first.press("Enter")
    assert "the ranked documents of a ranking" in page.locator("#query .panel .text").text_content()
    page.locator("#query .title").first.press("Enter")
    assert page.locator("#query .panel").text_content() == ""
    page.keyboard.press("k")
    expect(page.locator("#query > header h3").first).to_have_text("words")
    assert page.locator("#query .joined .move").all_text_contents() == ["gone ▼ −1.000", "new", "new"]
    assert page.locator("#query .ranking.left").is_hidden()
    page.emulate_media(media="print")
    assert page.locator("#query .title").filter(visible=True).count() == 3
    page.emulate_media(media="screen")
    phone = opened(moved, place(q="r"), viewport={"width": 390, "height": 800})
    assert phone.locator("#query .ranking.left li").filter(visible=True).all_text_contents() == [
        "1Title of agone ▼ −1.000"
    ]


def test_the_effects_of_a_query_sum_to_its_difference(opened, report):
    """By nDCG@10 all of it is shown; by AP, documents below the first ten have the rest."""
    one, other = (each.by_query("nDCG@10") for each in results().values())
    for query in one:
        page = opened(report, place(q=query, a="keywords", b="meaning", m="nDCG@10"))
        expected = other[query] - one[query]
        sum_line = page.locator("#query .sum").text_content()
        shown = re.search(r"Sum: (\S+?)\.$", sum_line)[1].replace("−", "-")
        assert float(shown) == pytest.approx(expected, abs=6e-4)
        moves = page.locator("#query .joined .move").all_text_contents()
        effects = [float(each.split()[-1].replace("−", "-")) for each in moves if re.search("[▲▼]", each)]
        assert sum(effects) == pytest.approx(expected, abs=6e-4 * (len(effects) + 1))


def test_closing_a_query_leads_back_to_its_link(opened, report):
    page = opened(report)
    link = page.locator("#query-list a").nth(6)
    link.scroll_into_view_if_needed()
    before, query = page.evaluate("scrollY"), link.text_content()
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#query > header h3").first).to_have_text(query)
    page.keyboard.press("Escape")
    expect(page.locator("#query")).to_be_hidden()
    assert page.evaluate("document.activeElement.textContent") == query
    assert page.evaluate("scrollY") == pytest.approx(before, abs=2)


def test_query_texts_replace_ids_everywhere(opened, moved):
    page = opened(moved)
    shown = [page.locator(each).all_text_contents() for each in ("#verdict a", "#two-changes a", "#query-list a")]
    assert {text for texts in shown for text in texts} == {"ranking of documents", "words"}


def test_the_link_to_a_view_is_copied(opened, report):
    page = opened(report, place(q="graded-relevance"), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this view").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert "q=graded-relevance" in page.evaluate("navigator.clipboard.readText()")


def test_the_link_to_a_query_is_copied_and_leads_to_it(opened, report):
    page = opened(report, place(q="graded-relevance"), permissions=["clipboard-read", "clipboard-write"])
    shown = page.locator("#query > header h3").text_content()
    page.locator("#query").get_by_role("button", name="Copy link").click()
    expect(page.locator("#query .tools [role=status]")).to_have_text("Copied.")
    address = page.evaluate("navigator.clipboard.readText()")
    assert address.startswith(f"{report.as_uri()}#q=graded-relevance&")
    linked = opened(report, address.removeprefix(report.as_uri()))
    assert linked.locator("#query > header h3").text_content() == shown


def test_the_card_is_copied_as_the_command_writes_it(opened, tmp_path):
    names = {"markdown": "card.md", "latex": "card.tex"}
    path, cards = tmp_path / "report.html", [tmp_path / name for name in names.values()]
    cranfield.write_report(*FILES, path, charts=False, cards=cards)
    page = opened(path, permissions=["clipboard-read", "clipboard-write"])
    for label, card in zip(("Markdown", "LaTeX"), cards, strict=True):
        page.get_by_role("button", name=f"Copy as {label}").click()
        expect(page.locator("#shared")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == card.read_text(encoding="utf-8")
        page.evaluate("navigator.clipboard.writeText('')")


@pytest.mark.parametrize(
    "look", [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}], ids=["wide", "phone"]
)
def test_axe_finds_no_violations(tabs, report, moved, look):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    for path, query in ((report, "graded-relevance"), (moved, "q")):
        page = tabs.open(path.as_uri() + place(q=query), bypass_csp=True, **look)  # axe is a script from elsewhere
        page.wait_for_selector("html[data-page=interactive]")
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        if path == report:
            page.wait_for_selector("#theory-list svg")
            page.wait_for_selector("html[data-charts=drawn]")
        found = axe.Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
        tabs.clear()


def test_all_controls_are_reached_with_the_tab_key(opened, moved):
    page = opened(moved, place(q="q"))
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    wanted = "a[href]:not([tabindex='-1']), button:enabled, select, input, summary, [tabindex='0']"
    visible = page.eval_on_selector_all(wanted, "all => all.filter(each => each.getClientRects().length).length")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    reached = set()
    for _ in range(visible + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(reached - {-1}) >= visible
