"""Reviews in every format: what a reviewer reads is true, nothing breaks out of it, and it always fits."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import compare, gate
from cranfield.comparison.gating import deciding
from cranfield.show.layout import UNPAINTED
from cranfield.show.review import FAILED, NEW, PASSED, Case, Review, Reviewed, Row, arrow, review_of_gate
from cranfield.show.review_formats import ANNOTATIONS, RENDERERS, github, junit, rendered
from cranfield.show.review_markdown import LIMIT, SUMMARY, comment
from cranfield.systems.collection import Collection
from cranfield.systems.misses import Lost, Miss, Place, lost_most
from tests.reviews import as_github, as_junit, as_markdown, reviewed

QUERIES = 24
QRELS = {f"q{q}": {"a": 3, "b": 1, "c": 0} for q in range(QUERIES)}
GOOD = {query: ["a", "b", "x"] for query in QRELS}
BAD = {query: ["x", "b", "a"] if q % 2 else ["a", "b", "x"] for q, query in enumerate(QRELS)}
TEXTS = {query: f"text of {query}" for query in QRELS}


def heading(result):
    return review_of_gate(result).heading


def test_the_heading_says_which_way_and_both_values():
    assert heading(gate(QRELS, GOOD, BAD, "RR")) == "▼ Search got worse: RR 1.000 → 0.750"
    assert heading(gate(QRELS, BAD, GOOD, "RR")) == "▲ Search got better: RR 0.750 → 1.000"
    assert heading(gate(QRELS, GOOD, GOOD, "RR")) == "No difference: RR 1.000"
    one = {**GOOD, "q3": ["x", "a"]}
    assert heading(gate(QRELS, GOOD, one, "RR")) == "Too close to call: RR -0.021"
    # A drop that is allowed is still one, and is not called a success.
    allowed = gate(QRELS, GOOD, BAD, "RR", tolerance=0.5)
    assert allowed.passed
    assert heading(allowed) == "▼ Search got worse, within what is allowed: RR 1.000 → 0.750"
    # Another limit: the drop is not what failed.
    other = gate(QRELS, GOOD, one, "RR", max_worse_queries=0, minimum={"RR": 0.99})
    assert heading(other) == "✗ 2 limits broken: RR 1.000 → 0.979"
    # Of several measures, the one that failed decides.
    assert heading(gate(QRELS, GOOD, BAD, "R@3 RR")) == "▼ Search got worse: RR 1.000 → 0.750"


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_arrow_shows_the_direction(before, now):
    left, right = map(float, arrow(before, now).split(" → "))
    if abs(before - now) > 1e-8:
        assert (left < right) == (before < now) or left == right
        assert left != right or abs(before - now) < 1e-6
    assert abs(left - before) <= 0.0005
    assert abs(right - now) <= 0.0005


def test_the_comment_shows_the_queries_that_lost_most_with_their_documents():
    result = gate(QRELS, GOOD, {**BAD, "q5": []}, "RR", max_worse_queries=3)
    lost = lost_most(deciding(result), result._evaluations, Collection("mine", TEXTS))
    assert [each.query_id for each in lost][:2] == ["q5", "q1"]
    assert len(lost) == 3
    text = as_markdown(result, lost)
    assert text.count("<details") == text.count("</details>") == 3
    assert text.count("<details open>") == 1
    assert "<b>text of q5</b> &nbsp; 1.000 → 0.000 &nbsp; nothing retrieved, previously 3" in text
    first, second = (part.partition("</details>")[0] for part in text.split("<summary>")[1:3])
    assert "| **a** (3) | 1 → – | – |" in first
    assert "| **a** (3) | 1 → 3 | x (not judged) |" in second
    assert "| **limits** |  | **0 of 3 kept** |" in text
    table = [line for line in text.splitlines() if line.startswith("| **RR**")]
    [difference] = [measure.difference for measure in result.measures]
    assert table == [
        f"| **RR** | 1.000 | **{difference.difference + 1:.3f}** | **{difference.difference:+.3f}** | "
        f"{difference.low:+.3f} to {difference.high:+.3f} | ▼ worse, limit broken |"
    ]


def test_a_passed_gate_takes_two_lines_and_a_folded_table():
    text = as_markdown(gate(QRELS, BAD, GOOD, "RR"))
    _, head, said, folded, method = text.split("\n\n", 4)
    assert head.startswith("### ▲")
    assert said.startswith("**Passed.** Better: candidate vs baseline, RR +0.250")
    assert "The limit is kept." in said
    assert folded.startswith("<details><summary>")
    assert "[!CAUTION]" not in text
    assert "> " not in method.splitlines()


def test_junit_has_a_case_for_each_limit_and_each_query_that_breaks_one():
    two = {**GOOD, "q1": [], "q2": ["c", "a"]}
    result = gate(QRELS, GOOD, two, "RR", max_drop=0.4, minimum={"RR": 0.1}, tolerance=1)
    root = ElementTree.fromstring(as_junit(result).partition("\n")[2])
    cases = {case.get("name"): case.find("failure") is None for case in root.iter("testcase")}
    assert cases == {
        "RR does not drop": True,
        "RR is at least 0.1": True,
        "no query becomes empty": False,
        "no query becomes empty: q1": False,
        "no query gets worse by more than 0.4 in RR": False,
        "no query gets worse by more than 0.4 in RR: q1": False,
        "no query gets worse by more than 0.4 in RR: q2": False,
    }
    assert (root.get("tests"), root.get("failures")) == ("7", "5")
    assert [check["queries"] for check in json.loads(result.to_json())["checks"] if check["queries"]] == [
        ["q1"],
        ["q1", "q2"],
    ]


def test_annotations_name_the_file_and_are_at_most_ten_of_a_kind():
    queries = {query: [] for query in list(QRELS)[:20]}
    result = gate(QRELS, GOOD, {**GOOD, **queries}, "RR")
    found = Reviewed("gate", (review_of_gate(result),), {}, file="a,b:c%.toml")
    commands = github(found).commands
    assert len(commands) == ANNOTATIONS
    assert all(command.startswith("::error file=a%2Cb%3Ac%25.toml,title=") for command in commands)
    assert commands[-1].endswith("::13 more; the step summary lists them")
    assert not as_github(gate(QRELS, GOOD, GOOD, "RR")).commands


def test_every_format_has_an_entry_and_a_result_can_have_its_own():
    found = reviewed(gate(QRELS, GOOD, BAD, "RR"))
    for form in RENDERERS:
        assert "Search got worse" in rendered(found, form, 80, UNPAINTED)
    own = Reviewed("x", found.reviews, {"markdown": lambda width, paint: f"mine {width}"})
    assert rendered(own, "markdown", 60, UNPAINTED) == "mine 60"


# Texts of other people's: what a query or a document may hold.
HOSTILE = [
    "</summary></details><script>alert(1)</script>",
    "| a | b |\n| --- | --- |",
    "-->\n### owned",
    "@everyone see #17 and !3",
    "##[add-mask]x",
    "::error::owned",
    "[click](javascript:alert(1)) ![x](https://example.org/x.png)",
    "`code` **bold** <b>",
    "\x00\x1b[31m\ud800\u202e",
    "$x^2$ &lt;b&gt;",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.just("宀" * 3000), st.just("e" + "\u0301" * 9000))


@st.composite
def reviews(draw):
    name = texts.filter(bool)

    def lost():
        places = tuple(Place(draw(texts), draw(texts), draw(st.sampled_from([None, 0.0, 3.0])), 1) for _ in range(2))
        facts = type("Facts", (), {"query_id": "q", "retrieved": 1})()
        return Lost(draw(name), draw(texts), "RR", 1.0, 0.5, draw(texts), Miss(facts, "", places, places, None), (1,))

    return Review(
        name=draw(name),
        state=draw(st.sampled_from([FAILED, PASSED, NEW])),
        heading=draw(texts),
        sentences=tuple(draw(st.lists(texts, max_size=3))),
        rows=tuple(Row(draw(texts), "0.5", draw(texts), said=draw(texts)) for _ in range(draw(st.integers(0, 3)))),
        cases=tuple(Case(draw(texts), draw(st.booleans()), draw(texts)) for _ in range(draw(st.integers(0, 12)))),
        lost=tuple(lost() for _ in range(draw(st.integers(0, 3)))),
        doubts=tuple(draw(st.lists(texts, max_size=2))),
        notes=tuple(draw(st.lists(texts, max_size=3))),
        hint=draw(st.none() | st.tuples(st.just("If so"), texts)),
        method=draw(texts),
    )


class Elements(HTMLParser):
    """The elements of a comment, and whether they are closed in the order in which they were opened."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.sound = [], set(), True
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        self.sound &= bool(self.open) and self.open.pop() == tag


OURS = {"details", "summary", "b", "sub"}


def shown(markdown):
    """Markdown without what is escaped in it, and without code, so that only markup is left."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"\\[\\`*_{}\[\]<>|#&~$]", "", markdown))


@settings(max_examples=60, deadline=None)
@given(st.lists(reviews(), min_size=1, max_size=4), texts)
def test_nothing_in_a_text_is_read_as_markup_or_as_a_command(found, name):
    written = github(Reviewed("test", tuple(found), {}, file=name, links=(("Full report", f"https://x.org/{name}"),)))
    body = written.body
    body.encode()
    assert len(body) < LIMIT
    elements = Elements(shown(body))
    assert elements.seen <= OURS
    assert elements.sound
    assert not elements.open
    assert shown(body).count("<!--") == shown(body).count("-->") == 1
    assert body.index("<!--") == 0
    assert shown(body).count("[") == body.count("> [!CAUTION]\n") + 1  # ours: alerts, and the link
    visible = re.sub(r"`[^`\n]*`", "", body).partition("-->")[2].partition("](https://")[0]
    assert not re.search(r"(?<!\w)@\w", visible)
    assert not re.search(r"(?<![\w&])#\d", visible)
    assert "##[" not in visible
    assert not any(line.lstrip().startswith("::") for line in body.splitlines())
    for command in written.commands:
        assert re.fullmatch(r"::(error|warning|notice) (file=[^,:\n\r]*,)?title=[^,:\n\r]*::[^\n\r]*", command)
    # Every row of a table has the cells of its head.
    tables = re.findall(r"(?:^\|.*\n?)+", shown(body), re.MULTILINE)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    ElementTree.fromstring(junit(Reviewed("test", tuple(found), {})).partition("\n")[2])


@pytest.mark.parametrize("size", [1, 60])
@pytest.mark.parametrize("text", ["x" * 100_000, "宀" * 50_000, "<" * 50_000, "\x00" * 50_000, "e" + "\u0301" * 99_999])
def test_a_comment_always_fits(size, text):
    place = Place(text, text, 3.0, 1)
    facts = type("Facts", (), {"query_id": "q", "retrieved": 1})()
    lost = tuple(Lost(text, text, text, 1.0, 0.5, text, Miss(facts, text, (place,) * 3, (place,) * 3, None), (1,) * 3)
                 for _ in range(3))  # fmt: skip
    cases = tuple(Case(f"{text[:2000]} {q}", False, text[:2000]) for q in range(50))
    many = (text,) * 25
    rows = (Row(text, text[:9], text),) * 45
    one = Review(text, FAILED, text, many, rows, cases, text, "i", lost, many, many, (text, text), text)
    found = Reviewed("test", (one,) * size, {}, file=text, links=((text, text),) * 3)
    for limit in (LIMIT, 9_000):
        body = comment(found, limit)
        assert len(body.encode()) < limit
        assert body.startswith("<!-- cranfield: test ")
    assert len(comment(found, SUMMARY).encode()) < SUMMARY
    assert size == 1 or "left out, to keep this short" in comment(found, LIMIT)
    assert "### " in comment(found)


def test_what_failed_comes_first():
    good, bad = (review_of_gate(gate(QRELS, GOOD, run, "RR")) for run in (GOOD, BAD))
    text = comment(Reviewed("test", (good, good, bad), {}))
    assert text.index("candidate: ▼") < text.index("candidate: No difference")


def test_a_comment_of_thousands_of_queries_stays_short():
    qrels = {f"q{q}": {"a": 1} for q in range(3000)}
    old, new = {q: ["a"] for q in qrels}, {q: [] for q in qrels}
    result = gate(qrels, old, new, "RR", max_drop=0.1)
    lost = lost_most(deciding(result), result._evaluations, Collection("", {}))
    assert len(as_markdown(result, lost)) < 6000
    assert len(as_github(result, lost).commands) == ANNOTATIONS


def test_pairs_of_a_comparison():
    from cranfield.show.review import reviews_of_comparison

    compared = compare(QRELS, {"good": GOOD, "bad": BAD, "same": GOOD}, "RR", baseline="good")
    found = {review.name: review for review in reviews_of_comparison(compared, {})}
    assert {name: review.state for name, review in found.items()} == {"bad vs good": FAILED, "same vs good": PASSED}
    assert found["bad vs good"].heading == "▼ Search got worse: RR 1.000 → 0.750"
    assert [case.passed for case in found["bad vs good"].cases] == [False]
