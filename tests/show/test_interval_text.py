"""Intervals drawn as text: a drawing covers the line at 0 only if the interval includes 0."""

from hypothesis import given
from hypothesis import strategies as st

from cranfield.show.run_table_text import DrawnInterval, drawn_intervals

numbers = st.floats(-1, 1).map(lambda number: round(number, 3))
spans = st.tuples(numbers, numbers, numbers).map(lambda three: DrawnInterval(*sorted(three)))


@given(st.lists(st.none() | spans, min_size=1, max_size=8), st.integers(15, 41))
def test_a_drawing_includes_0_exactly_if_its_interval_does(listed, width):
    drawn = drawn_intervals([None, *listed], width)
    assert len(drawn) == len(listed) + 1
    zero = drawn[0].index("│")
    for span, drawing in zip(listed, drawn[1:], strict=True):
        assert len(drawing) <= width
        if span is None:
            assert drawing.strip() == "│"
            continue
        assert drawing.count("●") == 1
        covered = [at for at, letter in enumerate(drawing) if letter not in " │"]
        excluded = span.low > 0 or span.high < 0
        if excluded and 3 < zero < width - 4:
            assert drawing[zero] == "│"
            assert (covered[-1] < zero) == (span.high < 0)
        if span.low < 0 < span.high:
            assert covered[0] <= zero <= covered[-1]


def test_an_infinite_interval_is_drawn_without_ends():
    [drawing] = drawn_intervals([DrawnInterval(float("-inf"), 0.5, float("inf"))], 15)
    assert "├" not in drawing
    assert "┤" not in drawing
    assert len(drawing) == 15


def test_drawings_share_the_line_at_0():
    spans = [DrawnInterval(-1, 1, 3), None, DrawnInterval(-3, -2, -1)]
    assert drawn_intervals(spans, 13) == ["    ├─┼─●──┤", "      │", " ├─●┤ │"]
