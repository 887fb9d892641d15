"""What charts are made of: fonts, ticks and ends of axes, channels, marks, and places of names."""

import pytest

from cranfield.show.charts import parts, runs


@pytest.mark.parametrize(
    ("text", "font"), [("tuned", "Helvetica"), ("tuned 検索", "PingFang SC"), ("ランク", "Hiragino Sans")]
)
def test_the_best_font_has_the_letters(text, font):
    assert parts.fonts_for(text).split(", ")[0] == font


def test_distances_between_ticks_are_round():
    assert [parts.step(length) for length in (1.0, 0.15, 37)] == [0.2, 0.02, 10.0]


def test_ends_of_axes():
    assert [parts.domain(values) for values in ([0.1, 0.43], [0.41, 0.5], [])] == [[0.0, 0.5], [0.4, 0.5], [0.0, 1.0]]
    assert [parts.domain(values) for values in ([0.3], [0.3, 0.1 + 0.2], [-0.3, -0.1 - 0.2])] == [
        [0.0, 0.3],
        [0.0, 0.3],
        [-0.3, 0.0],
    ]
    assert [parts.share_domain(highest) for highest in (0.7, 0.2, 0.0)] == [[0.0, 1.0], [0.0, 0.2], [0.0, 1.0]]


def test_whole_numbers_are_marked_from_the_first():
    assert parts.whole_ticks(1, 4) == [1, 2, 3, 4]
    assert parts.whole_ticks(1, 20) == [1, 5, 10, 15, 20]
    assert parts.whole_ticks(10, 200) == [10, 50, 100, 150, 200]


def test_channels_and_marks():
    assert parts.channel("run:N", title=None) == {"field": "run", "type": "nominal", "title": None}
    assert parts.channel("high") == {"field": "high"}
    mean = {"y": {"field": "mean", "type": "quantitative"}}
    assert parts.layer("rule", {"strokeWidth": 1}, y="mean:Q") == {
        "mark": {"type": "rule", "strokeWidth": 1},
        "encoding": mean,
    }


def test_runs_that_have_a_colour():
    assert runs.emphasised(["a", "b", "c"]) == {"a": 1, "b": 2, "c": 3}
    assert runs.emphasised(["a", "b", "c"], highlight=["b"], best="c") == {"b": 2, "c": 3}  # as without a highlight
    many = list("abcdefghij")
    assert runs.emphasised(many, best="j") == {"j": 1}
    assert list(runs.emphasised(many, ["d", "b"], "j").items()) == [("j", 1), ("b", 2), ("d", 3)]


def test_long_names_are_cut_in_the_middle():
    one, two = (f"{'a-very-long-name-of-a-run' * 3}-seed{n}" for n in (42, 43))
    assert parts.brief("short", 20) == "short"
    assert parts.brief(one, 20) != parts.brief(two, 20)
    assert parts.brief_labels(["short"], 20) == {}
    shown = parts.brief_labels(["short", one, two], 20)["labelExpr"]
    assert "seed42" in shown
    assert "seed43" in shown


def test_lines_that_share_a_colour_differ_in_their_dashes():
    assert (runs.dash(0), runs.dash(len(parts.COLOURS))) == ((1, 0), (6, 2))


def test_names_keep_apart():
    assert runs.apart([0.5, 0.5, 0.9], 0.1) == [0.45, 0.55, 0.9]
    assert runs.apart([0.0, 0.0], 0.1) == [0.0, 0.1]
