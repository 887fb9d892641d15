"""Differences within segments of the queries: their intervals, and whether the effect differs between segments."""

import json
import math

import numpy as np
import pytest

from cranfield import ComparisonError, InputError, compare
from cranfield.comparison.segments import DIFFERING, ENOUGH, segments_tested
from cranfield.comparison.significance import Settings
from cranfield.evaluation.estimating import Columns
from cranfield.evaluation.t_distribution import exceeded_with
from tests.comparison.populations import skewed_population

SETTINGS = Settings(0.05, 2000, 0)


def ranked(*ranks):
    """A run that puts the relevant document of each query at these ranks."""
    return {str(q): [*(f"x{i}" for i in range(rank - 1)), "a"] for q, rank in enumerate(ranks)}


def compared(old, new, measures="RR", **options):
    qrels = {str(q): {"a": 1} for q in range(len(old))}
    return compare(qrels, {"old": ranked(*old), "new": ranked(*new)}, measures, **options)


def named(*sizes):
    """Segments a, b, … of so many queries."""
    names = [name for name, size in zip("abcdefgh", sizes, strict=False) for _ in range(size)]
    return {str(q): name for q, name in enumerate(names)}


OLD = [1, 2, 3, 4, 2, 5, 1, 3, 2, 4, 6, 2] * 5
NEW = [2, 1, 1, 2, 3, 2, 1, 1, 2, 2, 3, 1] * 3 + (OLD[1:12] + OLD[:1]) * 2


def test_values_are_those_of_a_plain_loop():
    found = compared(OLD, NEW).by_segment(named(20, 20, 20))
    assert found.queries == {"a": 20, "b": 20, "c": 20}
    for segment, difference in zip("abc", found, strict=True):
        rows = range("abc".index(segment) * 20, "abc".index(segment) * 20 + 20)
        gaps = [1 / NEW[q] - 1 / OLD[q] for q in rows]
        assert difference.segment == segment
        assert difference.difference == pytest.approx(sum(gaps) / 20)
        assert difference.baseline_mean == pytest.approx(sum(1 / OLD[q] for q in rows) / 20)
        assert difference.run_mean == pytest.approx(sum(1 / NEW[q] for q in rows) / 20)
        assert (difference.better, difference.worse) == (sum(g > 0 for g in gaps), sum(g < 0 for g in gaps))


def test_intervals_and_interaction_are_those_of_a_plain_loop():
    """The formulas as loops, with draws of its own; both have so many that their quantiles nearly agree."""
    population = skewed_population("graded", 3, 4)
    segments = [population[:20], population[20:44], population[44:74]]
    gaps = [np.stack([each[:, 1] - each[:, 0], each[:, 2] - each[:, 0]], 1) for each in segments]
    variance = np.mean(
        [sum((len(g) - 1) * g[:, p].var(ddof=1) for g in gaps) / sum(len(g) - 1 for g in gaps) for p in (0, 1)]
    )
    rng, draws = np.random.default_rng(5), 4000
    largest, apart = [], [[], []]

    def scale(values):
        return math.sqrt(values.var(ddof=1) / len(values) + 0.1 * variance / len(values))

    def between(means, scales):
        weights = [1 / s**2 for s in scales]
        middle = sum(w * m for w, m in zip(weights, means, strict=True)) / sum(weights)
        return sum(w * (m - middle) ** 2 for w, m in zip(weights, means, strict=True))

    for _ in range(draws):
        again = [g[rng.integers(0, len(g), len(g))] for g in gaps]
        shifts = [[a[:, p].mean() - g[:, p].mean() for a, g in zip(again, gaps, strict=True)] for p in (0, 1)]
        scales = [[scale(a[:, p]) for a in again] for p in (0, 1)]
        largest.append(max(abs(m) / s for p in (0, 1) for m, s in zip(shifts[p], scales[p], strict=True)))
        for p in (0, 1):
            apart[p].append(between(shifts[p], scales[p]))
    far = np.quantile(largest, 0.95)
    found = segments_tested([Columns(each) for each in gaps], 2, Settings(0.05, 10_000, 1))
    for place, values in enumerate(gaps):
        for p in (0, 1):
            assert found.half[place, p] == pytest.approx(far * scale(values[:, p]), rel=0.06)
            observed = abs(values[:, p].mean()) / scale(values[:, p])
            assert found.adjusted[place, p] == pytest.approx(np.mean(np.array(largest) >= observed), abs=0.04)
    for p in (0, 1):
        observed = between([g[:, p].mean() for g in gaps], [scale(g[:, p]) for g in gaps])
        assert found.p[p] == pytest.approx(np.mean(np.array(apart[p]) >= observed), abs=0.04)
        most = np.maximum(*map(np.array, apart))
        assert found.together[p] == pytest.approx(np.mean(most >= observed), abs=0.04)


def test_the_interval_excludes_0_exactly_where_p_is_at_most_alpha():
    population = skewed_population("graded", 4, 1)
    for start in range(0, 600, 60):
        gaps = population[start : start + 60, 1:] - population[start : start + 60, :1]
        found = segments_tested([Columns(part) for part in np.split(gaps, [20, 40])], 3, SETTINGS)
        assert np.array_equal(np.abs(found.value) > found.half, found.adjusted <= 0.05)


@pytest.mark.parametrize("sizes", [(ENOUGH - 1, 46), (3, 57), (1, 59)])
def test_a_segment_of_few_queries_has_values_but_no_claim(sizes):
    found = compared(OLD, NEW).by_segment(named(*sizes))
    few, rest = found
    assert (few.queries, few.low, few.high, few.adjusted, few.significant) == (sizes[0], None, None, None, False)
    assert few.verdict == "too few queries"
    assert few.run_mean - few.baseline_mean == pytest.approx(few.difference)
    assert rest.low <= rest.difference <= rest.high
    assert found.interactions[0].p is None
    assert "fewer than two segments have enough queries to tell whether the effect differs" in str(found)


def test_a_claim_needs_queries_on_which_the_runs_differ():
    old, new = [1] * 40, [1] * 20 + [1, 2] * 10
    for differing in (DIFFERING - 1, DIFFERING):
        new[:20] = [2] * differing + [1] * (20 - differing)
        few, _ = compared(old, new).by_segment(named(20, 20))
        assert (few.adjusted is None) == (differing < DIFFERING)


def test_queries_that_differ_alike_everywhere_show_no_variation_and_so_no_interval():
    [found] = compared([2] * 20, [1] * 20).by_segment(named(20))
    assert (found.difference, found.adjusted) == (0.5, None)
    alike, _ = compared([2] * 41, [1] * 20 + [1, 2, 3] * 7).by_segment(named(20, 21))
    assert alike.low < 0.5 < alike.high  # the other segment says how much queries may vary


def miss_rates(kind, sizes, spread, experiments, seed=0):
    """How often any interval misses, ours and those of t by Bonferroni, and how often the effect seems to differ.

    The two runs differ by the same amount in all segments, which vary unequally.
    """
    rng, missed = np.random.default_rng(seed), np.zeros(3)
    for at in range(experiments):
        gaps = np.subtract(*skewed_population(kind, 2, at % 6).T)
        mean = gaps.mean()
        drawn = [mean + wide * (rng.choice(gaps, n) - mean) for n, wide in zip(sizes, spread, strict=True)]
        found = segments_tested([Columns(each[:, None]) for each in drawn], 1, SETTINGS)
        off = np.abs(found.value - mean)
        half = [exceeded_with(0.025 / len(sizes), n - 1) * each.std(ddof=1) / n**0.5 for n, each in zip(sizes, drawn)]
        missed += (found.claimed & (off > found.half)).any(), (off[:, 0] > half).any(), found.p[0] <= 0.05
    return missed / experiments


@pytest.mark.parametrize("sizes", [(20, 25, 40), (20, 20)])
def test_intervals_and_interaction_hold_on_skewed_values_of_unequal_spread(sizes):
    missed, _, seen = miss_rates("rr", sizes, np.geomspace(2, 0.5, len(sizes)), 150)
    assert missed <= 0.09
    assert seen <= 0.09


def test_the_effect_is_seen_to_differ_where_it_does():
    gaps = skewed_population("graded", 2, 3)
    values = np.subtract(*gaps.T)
    values = values - values.mean()
    rng, seen = np.random.default_rng(1), 0
    for _ in range(40):
        drawn = [rng.choice(values, 40)[:, None] + shift for shift in (0.0, values.std())]
        seen += segments_tested(list(map(Columns, drawn)), 1, SETTINGS).p[0] <= 0.05
    assert seen >= 32


def test_pairs_are_seen_from_either_side():
    qrels = {str(q): {"a": 1} for q in range(60)}
    comparison = compare(qrels, {"old": ranked(*OLD), "new": ranked(*NEW), "same": ranked(*OLD)}, "RR")
    found = comparison.by_segment(named(24, 36))
    for one, other in zip(found.of("RR", "new", "old"), found.of("RR", "old", "new"), strict=True):
        assert (one.low, one.high, one.better) == (-other.high, -other.low, other.worse)
        assert one.verdict.replace("better", "worse") == other.verdict.replace("better", "worse")
    test = found.interaction("RR", "old", "new")
    assert test.p == found.interaction("RR", "new", "old").p
    assert test.sentence.startswith("old vs new, RR: ")
    for ask in (found.of, found.interaction):
        with pytest.raises(ComparisonError, match="new and x were not compared"):
            ask("RR", "new", "x")


def test_lower_is_better_turns_the_words_round():
    qrels = {str(q): {"a": 1} for q in range(60)}
    of = {name: compare(qrels, {"old": ranked(*OLD), "new": ranked(*NEW)}, name) for name in ("SetF", "E")}
    higher, lower = (comparison.by_segment(named(36, 24)) for comparison in of.values())
    for one, other in zip(higher, lower, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert (one.better, one.worse, one.verdict) == (other.better, other.worse, other.verdict)


def test_queries_without_a_segment_are_left_out_and_counted(tmp_path):
    comparison = compared(OLD, NEW)
    (tmp_path / "segments.tsv").write_text("".join(f"{q}\t{'x' if q < 20 else 'y'}\n" for q in range(59)))
    found = comparison.by_segment(tmp_path / "segments.tsv")
    assert (found.queries, found.left_out) == ({"x": 20, "y": 39}, 1)
    assert str(found).endswith("1 query without a segment is left out")
    with pytest.raises(ComparisonError, match=r"none of the 60 queries has a segment.\nHint: .* such as '0'"):
        comparison.by_segment({"other": "x"})
    with pytest.raises(InputError, match="neither a mapping nor a path"):
        comparison.by_segment(["x"])


def test_one_family_may_span_all_measures():
    together = compared(OLD, NEW, "RR P@1", family="all").by_segment(named(24, 36))
    apart = compared(OLD, NEW, "RR P@1").by_segment(named(24, 36))
    for one, other in zip(together, apart, strict=True):
        assert one.difference == other.difference
        assert one.high - one.low > other.high - other.low


def test_json_a_frame_and_html_have_all_of_it():
    found = compared(OLD, NEW).by_segment(named(3, 57))
    plain = json.loads(found.to_json())
    assert plain == json.loads(json.dumps(found.to_dict()))
    assert [each["queries"] for each in plain["differences"]] == [3, 57]
    assert plain["differences"][0]["low"] is None
    assert plain["interactions"][0]["sentence"] in str(found)
    table = found.to_pandas()
    assert table.verdict.tolist() == [each.verdict for each in found]
    html = found._repr_html_()
    assert "too few queries" in html
    assert found.differences[1].span in html


def test_the_same_seed_gives_the_same_intervals():
    one, other, third = (compared(OLD, NEW, seed=seed).by_segment(named(24, 36)) for seed in (3, 3, -4))
    assert one.to_dict() == other.to_dict() != third.to_dict()


def test_a_very_small_alpha_gives_intervals_without_end_or_of_the_whole_range():
    found = compared(OLD, NEW, alpha=1e-9).by_segment(named(24, 36))
    assert all((each.low, each.high) == (-1, 1) for each in found)
    assert not any(each.significant for each in found)
