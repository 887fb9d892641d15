"""The heat map of segments on the page: values with their number of queries, and colour only where a claim holds."""

import re

import cranfield
from cranfield import Policy
from cranfield.report.sentences import signed
from tests.report.page import FILES, Page, made


def ranked(*ranks):
    return {str(q): [*(f"x{i}" for i in range(rank - 1)), "a"] for q, rank in enumerate(ranks)}


QUERIES = 48
QRELS = {str(q): {"a": 1} for q in range(QUERIES)}
OLD = ranked(*([3, 2, 4, 5, 2, 6] * 8)[:QUERIES])
NEW = ranked(*([1, 2, 1, 2, 1, 3] * 4 + [3, 2, 4, 6, 2, 5] * 4)[:QUERIES])
SEGMENTS = {str(q): "easy" if q < 24 else "hard" if q < 44 else "rare" for q in range(47)}


def written(tmp_path, runs, measures="RR", **options):
    path = tmp_path / "report.html"
    cranfield.write_report(QRELS, runs, path, measures, segments=SEGMENTS, charts=False, **options)
    return Page(path)


def cells(page, run):
    """Of each segment: its label, whether it is shaded, its value, and the difference with its interval."""
    found = re.search(rf'class="heat runs".*?<span[^>]*>{re.escape(run)}</span></th>(.*?)</tr>', page.source, re.DOTALL)
    row = re.findall(r'<td class="number( shade-\d)?" data-label="([^"]*)">([^<]*)(.*?)</td>', found[1])
    return [(label, bool(shade), value, re.sub("<[^>]*>", "", gap)) for shade, label, value, gap in row]


def test_values_differences_and_intervals_are_those_of_the_comparison(tmp_path):
    page = written(tmp_path, {"old": OLD, "new": NEW})
    comparison = cranfield.compare(QRELS, {"old": OLD, "new": NEW}, "RR")
    found = comparison.by_segment(SEGMENTS)
    shown = cells(page, "new")
    assert [label for label, *_ in shown] == ["easy (24)", "hard (20)", "rare (3)"]
    for (_, _, value, gap), its in zip(shown, found, strict=True):
        assert value == f"{its.run_mean:.3f}"
        assert signed(its.difference) in gap
        if its.low is not None:
            assert gap.endswith(f"{signed(its.low)} to {signed(its.high)}")
    assert [gap.startswith("▲") for *_, gap in shown] == [True, False, False]
    assert [value for *_, value, gap in cells(page, "old") if gap] == []
    assert f"new vs old: {found.interactions[0].finding}." in page.text
    assert "the effect differs between segments (p < 0.001)" in page.text
    assert "1 query without a segment is left out." in page.text
    assert page.data["segments"] == [SEGMENTS.get(query, "") for query in QRELS]


def test_a_segment_of_three_queries_has_no_colour_and_no_interval(tmp_path):
    page = written(tmp_path, {"old": OLD, "new": NEW})
    for run in ("old", "new"):
        assert [shaded for _, shaded, *_ in cells(page, run)] == [True, True, False]
    *_, gap = cells(page, "new")[-1]
    assert " to " not in gap
    assert "3 queries, too few" in page.text
    assert "One with fewer than 20 has no colour and no interval." in page.text


def test_several_runs_are_told_together(tmp_path):
    page = written(tmp_path, {"old": OLD, "new": NEW, "same": OLD, "other": OLD})
    assert "Compared with new, the effect differs between segments: old (p < " in page.text
    assert "same (p < " in page.text
    assert "corrected for all segments and pairs of runs." in page.text
    even = written(tmp_path, {"old": OLD, "same": OLD, "other": OLD})
    assert "Fewer than two segments have enough queries to tell whether the effect differs." in even.text


def test_each_run_is_told_against_its_own_baseline(tmp_path):
    runs = {"old": OLD, "new": NEW, "old b": NEW, "new b": OLD}
    page = written(tmp_path, runs, baseline={"new": "old", "new b": "old b"})
    assert "Compared with its baseline, the effect differs between segments: new" in page.text
    assert "the difference to its baseline, with its 95% interval, corrected for all segments." in page.text
    assert [gap for *_, gap in cells(page, "old") if gap] == []


def test_one_run_has_its_values_alone(tmp_path):
    page = written(tmp_path, {"old": OLD})
    assert [(shaded, gap) for _, shaded, _, gap in cells(page, "old")] == [(True, ""), (True, ""), (False, "")]
    assert "the effect" not in page.text
    assert "One with fewer than 20 has no colour." in page.text


def test_measures_that_are_not_compared_have_values_alone(tmp_path):
    page = written(tmp_path, {"old": OLD, "new": NEW}, "RR num_ret")
    counted = page.source.split("by segment</summary>")[1].split("</table>")[0]
    assert "<small title" not in counted


def test_segments_of_queries_that_only_some_runs_have_are_not_compared(tmp_path):
    lacking = {query: ranking for query, ranking in NEW.items() if query != "0"}
    runs, options = {"old": OLD, "new": lacking}, {"segments": {"0": "x"}, "policy": Policy(missing="skip")}
    page = made(tmp_path, QRELS, runs, "RR", **options)
    assert cells(page, "old") == [("x (1)", False, "0.333", "")]
    assert cells(page, "new") == [("x (1)", False, "–", "")]


def test_without_segments_there_is_no_map(tmp_path):
    path = tmp_path / "report.html"
    cranfield.write_report(*FILES, path, "RR", charts=False)
    assert "by segment" not in Page(path).text
    cranfield.write_report(*FILES, path, "RR", segments={"unknown": "x"}, charts=False)
    assert "by segment" not in Page(path).text
