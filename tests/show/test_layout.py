"""Plain text for people: singular and plural, and cutting, wrapping and padding by visible width."""

from hypothesis import given
from hypothesis import strategies as st

from cranfield import Recorded, evaluate
from cranfield.evaluation.overview import overview
from cranfield.show import evaluation_text as text
from cranfield.show.escaping import latex_text, markdown_text, spreadsheet_text
from cranfield.show.layout import END, GOOD, Paint, aligned, fitted, padded, wrapped
from cranfield.show.systems_text import milliseconds, recorded_lines
from cranfield.show.view import View
from cranfield.words import columns, count, cut, shortened, visible


def test_counts_have_a_singular_and_a_plural():
    assert [count(n, "query", "queries") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    recorded = Recorded(
        path="x.run",
        answered=1,
        queries=2,
        system="s",
        empty=("q\x1b",),
        parted=1,
        replaced=1,
        rolled_up=1,
        short_of_chunks=1,
        id_places=("metadata.source",),
        short=0,
        k=10,
        retried=1,
        latency={},
        seconds=1.0,
        unknown=1,
        unknown_ids=("d\x1b",),
        failed={"q\n1": "no\r\nHint: try again"},
        gave_up="tired",
        not_asked=("q3",),
    )
    lines = list(recorded_lines(recorded))
    assert "  1 attempt repeated" in lines
    assert "  1 query failed and is not in the run:" in lines
    assert r"    q\n1: no\r" in lines
    assert "  gave up: 1 query was not asked" in lines
    assert "  1 query: chunks of one document count once, at the place of the first" in lines
    assert r"  1 query returned no documents: q\u001b" in lines
    assert any(line.startswith("  warning: 1 document is not in the corpus: ") for line in lines)


def test_the_worst_query():
    result = evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": ["x"]}, "RR")
    assert "the run: the worst query by RR\n" in text.table(View(overview([result], worst=1)))
    none = {"1": ["x"], "2": ["x"]}
    both = evaluate({"1": {"a": 1}, "2": {"b": 1}}, none, "RR")
    assert "the run: the 2 worst queries by RR\n" in text.table(View(overview([both], worst=2)))


@given(st.text(max_size=40), st.integers(2, 30))
def test_shortened_text_fits(words, width):
    for short in (cut(words, width), shortened(words, width)):
        assert columns(short) <= width
        assert short == visible(words) or "…" in short
        assert visible(short) == short


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), min_size=1, max_size=4))
def test_each_row_is_one_line(rows):
    lines = aligned(rows, left=(0,))
    assert len(lines) == len(rows)
    widest = max(columns(visible(name)) for name, _ in rows) + 2 + max(columns(visible(cell)) for _, cell in rows)
    assert max(map(columns, lines)) <= widest
    assert not any("\n" in line or "\x1b" in line for line in [*lines, *fitted(rows, 12)])


def test_paragraphs():
    assert wrapped("a b\nc", "  - ", width=8) == [r"  - a", r"    b\nc"]
    assert wrapped("", "  ok  ") == ["  ok"]
    assert wrapped("", "   ") == []
    # A number stays with its sign and with what it counts, however wide the window is.
    sentence = "Too close, p < 0.0001 with n = 60 (95% simultaneous interval), grade 3 in the top 10, alpha ≤ -0.5"
    sentence += " ('cranfield accept')"
    for width in range(30, 60):
        lines = wrapped(sentence, width=width)
        assert " ".join(lines) == sentence
        for kept in (
            "p < 0.0001",
            "n = 60",
            "95% simultaneous interval",
            "grade 3",
            "top 10",
            "alpha ≤ -0.5",
            "'cranfield accept'",
        ):
            assert any(kept in line for line in lines), (width, kept)
    assert wrapped("one/long/path and more", width=8, break_words=False) == ["one/long/path", "and more"]


def test_letters_that_take_two_columns_count_as_two():
    assert padded("検索", 6) == "検索  "
    assert padded("0.25", 6, right=True) == "  0.25"
    assert wrapped("検索システム", width=8) == ["検索シス", "テム"]


def test_later_lines_start_below_the_first_word():
    assert wrapped("1 query got worse", "FAILED  ", width=20) == ["FAILED  1 query got", "        worse"]
    assert wrapped("the difference, p < 0.0001", width=20) == ["the difference,", "p < 0.0001"]


def test_columns_are_aligned():
    assert aligned([["run", "AP"], ["bm25", "0.25"]]) == ["run     AP", "bm25  0.25"]


def test_only_terminals_are_painted():
    assert Paint().good("Better") == "Better"
    assert Paint(on=True).good("Better") == f"{GOOD}Better{END}"


def test_names_are_not_markup():
    assert markdown_text("bm25_v2 | <b>") == r"bm25\_v2 \| \<b\>"
    assert latex_text("50%_off & more") == r"50\%\_off \& more"
    assert [spreadsheet_text(text) for text in ("=1+1", "bm25", "-12")] == ["'=1+1", "bm25", "-12"]


def test_times_of_queries():
    assert [milliseconds(seconds) for seconds in (0.0123, 2.5)] == ["12.3 ms", "2500 ms"]
