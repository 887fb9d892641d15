"""What comparisons and gates claim: no more than is true, in sentences that can be pasted into a paper."""

import json
import math
import re

import pytest

from cranfield import compare, gate
from cranfield.comparison.correlation import reliability
from cranfield.comparison.differences import change_text, digits_for, p_text, signed, value_text
from cranfield.show.comparison_markup import comparison_markdown
from cranfield.show.comparison_text import comparison_text
from cranfield.show.gate_text import gate_text
from tests.reviews import as_markdown


def shown(comparison):
    return comparison_text(comparison, reliability(comparison))


def flat(text):
    return " ".join(text.split())


def ranked(*ranks, of="a"):
    """A run that puts the relevant document of each query at these ranks."""
    return {str(q): [*(f"x{i}" for i in range(rank - 1)), of] for q, rank in enumerate(ranks)}


def judged(queries, fill=0):
    return {str(q): {"a": 1, **{f"x{i}": 0 for i in range(fill)}} for q in range(queries)}


def test_equal_values_leave_room_for_other_queries():
    """Eight equal queries are no surprise, at a level of 5%, where 31% of all queries differ, by up to 1 each."""
    [same] = compare(judged(8), {"old": ranked(*range(1, 9)), "new": ranked(*range(1, 9))}, "RR")
    share = 1 - 0.05 ** (1 / 8)
    assert (same.low, same.high) == pytest.approx((-share, share))
    assert same.sentence == (
        "No difference: new vs old, RR is the same on all 8 queries (95% interval -0.312 to +0.312)"
    )
    [unbounded] = compare(judged(8), {"old": ranked(*range(1, 9)), "new": ranked(*range(1, 9))}, "CG")
    assert unbounded.sentence == "No difference: new vs old, CG is the same on all 8 queries"
    third = ranked(*[1, 2] * 4)
    family = compare(judged(8), {"old": ranked(*range(1, 9)), "new": ranked(*range(1, 9)), "third": third}, "RR")
    twins, others = family.find("RR", "new", "old"), family.find("RR", "third", "old")
    assert (twins.difference, twins.adjusted) == (0, 1)
    assert 0 < twins.high - twins.low < others.high - others.low
    assert "(95% simultaneous interval" in twins.sentence


def test_a_constant_difference_has_no_interval_but_has_a_verdict():
    comparison = compare(judged(8), {"old": ranked(*[2] * 8), "new": ranked(*[1] * 8)}, "RR")
    [constant] = comparison
    assert constant.sentence == "Better: new vs old, RR +0.500 on each of 8 queries, p = 0.008"
    text = flat(shown(comparison))
    assert "the runs do not differ" not in text
    assert "RR: every pair differs by the same amount on all queries, so the variation cannot be estimated" in text
    assert "p is that of the randomisation test where all queries differ by the same amount" in text


def test_two_queries_have_no_effect_size():
    [found] = compare(judged(2), {"old": ranked(1, 2), "new": ranked(4, 3)}, "RR")
    assert found.effect is None


def test_a_significant_difference_says_that_unjudged_documents_could_reverse_it():
    old, new = ranked(*[3, 4] * 10), ranked(*[1, 2] * 10)
    [holes] = compare("builtin:qrels", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
    assert (holes.verdict, holes.could_reverse) == ("significantly better", True)
    assert holes.sentence.endswith("; unjudged documents could reverse this")
    full = compare(judged(20, fill=4), {"old": old, "new": new}, "RR").differences[0]
    assert full.could_reverse is False
    assert "reverse" not in full.sentence


@pytest.mark.parametrize(
    ("p", "alpha", "shown"),
    [
        (0.05, 0.05, "= 0.050"),
        (0.05003, 0.05, "= 0.05003"),
        (0.0499996, 0.05, "= 0.050"),
        (0.01000001, 0.01, "= 0.01000001"),
        (0.00001, 0.05, "< 0.001"),
        (0.99999, 0.05, "= 1.000"),
    ],
)
def test_a_p_value_is_never_rounded_across_alpha(p, alpha, shown):
    assert p_text(p, alpha) == shown


def test_the_end_of_an_interval_is_not_rounded_to_zero():
    assert [signed(each) for each in (0.0, -0.0, 0.00002, -0.00002, 0.12345)] == [
        "+0.000",
        "+0.000",
        "+0.00002",
        "-0.00002",
        "+0.123",
    ]


def test_values_that_differ_never_look_the_same():
    """A drop, or a value beside its limit, has as many decimals as it takes to see on which side it is."""
    assert change_text(0.4346, 0.4719) == "0.435 → 0.472"
    assert change_text(0.43461, 0.43456) == "0.43461 → 0.43456"
    assert (value_text(0.69996, 0.7), value_text(0.7, 0.7)) == ("0.69996", "0.700")
    assert (digits_for(-0.0055, 0.0801), digits_for(0.0002, 0.0026)) == (3, 4)


def test_a_correction_is_mentioned_only_for_several_comparisons():
    old, new, third = ranked(*[1, 2, 3, 4] * 3), ranked(*[2, 1, 4, 3] * 3), ranked(*[4, 3, 2, 1] * 3)
    two = flat(shown(compare(judged(12, fill=4), {"old": old, "new": new}, "RR")))
    assert re.search(r"RR: a true difference of 0\.\d{3} is detected 80% of the time \(paired t-test\)\.", two)
    assert "correct" not in two
    runs = {"old": old, "new": new, "third": third}
    three = flat(shown(compare(judged(12, fill=4), runs, "RR")))
    assert "(paired t-test, bootstrapped max-t over 3 comparisons). Of two runs alone, a difference of" in three
    for correction, words in {
        "holm": "Holm over 3 comparisons",
        "bh": "Benjamini and Hochberg (false discovery rate) over 3 comparisons",
    }.items():
        text = flat(shown(compare(judged(12, fill=4), runs, "RR", correction=correction)))
        assert f"(paired t-test, {words})" in text
    assert "(paired t-test, no correction)" in flat(shown(compare(judged(12, fill=4), runs, "RR", correction="none")))


def test_the_first_sentence_names_the_best_runs():
    alike, worse = ranked(*[1, 2] * 10), ranked(*[5, 6] * 10)
    first = "{best} lead{s} on RR; {rest}"
    cases = {
        first.format(best="one", s="s", rest="neither of the other 2 runs is significantly worse"): (
            ranked(*[1, 2] * 10),
            ranked(*[2, 1] * 9, 2, 2),
            ranked(*[2, 1] * 9, 3, 2),
        ),
        first.format(best="one", s="s", rest="both other runs are significantly worse"): (alike, worse, worse),
        first.format(best="one and two", s="", rest="the other run is significantly worse"): (alike, alike, worse),
        "all 3 runs have the same RR": (alike, alike, alike),
    }
    for sentence, runs in cases.items():
        comparison = compare(judged(20, fill=6), dict(zip(("one", "two", "three"), runs, strict=True)), "RR")
        parts = shown(comparison).split("\n\n")
        assert flat(parts[1] if comparison.warnings else parts[0]) == sentence


def test_text_counts_the_differences_that_could_reverse():
    """Two runs with many unjudged documents, which one with few is ahead of."""
    qrels, worse = {str(q): {"a": 1} for q in range(20)}, ranked(*[5, 6] * 10)
    found = compare(qrels, {"one": ranked(*[1, 2] * 10), "two": worse, "three": worse}, "nDCG@10")
    assert sum(each.significant and each.could_reverse for each in found) == 2
    returned = "Unjudged documents the runs returned"
    assert f"{returned} could reverse both significant differences." in flat(shown(found))


def test_rank_intervals_have_a_level_only_if_they_hold_simultaneously():
    runs = {f"r{i}": ranked(*[1 + (q * (i + 3) + i) % 7 for q in range(30)]) for i in range(8)}
    together, apart = (shown(compare(judged(30, fill=8), runs, "RR", correction=each)) for each in ("max-t", "none"))
    assert "rank, 95%" in together
    assert "rank, 95%" not in apart
    assert "all true ranks lie within them with 95% confidence" in flat(together)
    assert "confidence" not in apart
    # 28 lines of correlations say less than their range.
    assert len(together.splitlines()) < 40


def three_runs():
    return {f"r{i}": ranked(*[1 + (q * (i + 3) + i) % 7 for q in range(30)]) for i in range(3)}


@pytest.mark.parametrize(
    ("correction", "head", "promise"),
    [
        ("max-t", "95% interval", "The 95% intervals hold for all comparisons of a family at once; each excludes 0"),
        ("bonferroni", "95% interval", "hold for all comparisons of a family at once, if the test holds for values"),
        ("holm", "interval", "Each interval excludes 0 exactly when p is at most 0.05, and has no level of its own."),
        ("bh", "interval", "Each interval excludes 0 exactly when p is at most 0.05, and has no level of its own."),
        ("none", "95% interval", "p is not corrected. Each 95% interval is for one comparison alone, and excludes 0"),
    ],
)
def test_intervals_claim_the_level_that_they_have(correction, head, promise):
    """Those of corrections in steps depend on the p-values, and so have none."""
    found = compare(judged(30, fill=8), three_runs(), "RR", correction=correction)
    listed = comparison_text(found, pairs=True)
    assert flat(listed).count(f"RR difference {head} p effect") == 1
    assert promise in flat(listed)
    assert ("(95% " in found.differences[0].sentence) == (head != "interval")
    assert head in comparison_markdown(found)
    assert ("95%" in comparison_text(found)) == (head != "interval")


def test_tukeys_test_is_its_own_correction():
    found = compare(judged(30, fill=8), three_runs(), "RR", test="tukey", correction="none")
    assert "p is corrected for the family. The 95% intervals hold" in flat(comparison_text(found, pairs=True))


@pytest.mark.parametrize(("test", "name"), [("wilcoxon", "pseudo-median"), ("sign", "median")])
def test_columns_of_medians_say_so(test, name):
    found = compare(judged(30, fill=8), three_runs(), "RR", baseline="r0", test=test, margin=0.05)
    text = comparison_text(found, pairs=True)
    assert f"{name} vs r0" in text
    assert f"{name}: of the queries that differ; not the difference of the means" in text
    assert f"RR {name} 95% interval p effect" in flat(text)
    assert f"both for the {name} of all queries" in flat(text)
    assert f"| {name} |" in comparison_markdown(found)


def test_gates_name_their_draws():
    old, new = ranked(*[1, 2] * 10), ranked(*[2, 2] * 9, 1, 2)
    text = flat(gate_text(gate(judged(20, fill=2), old, new, "RR", test="randomisation", seed=7)))
    assert "20 queries; one-sided randomisation test (10,000 permutations, seed 7) at alpha 0.05." in text
    text = flat(gate_text(gate(judged(20, fill=2), old, new, "RR P@1", correction="max-t", gates=10)))
    assert "(bootstrapped max-t, 10,000 draws of the queries, seed 0)." in text


def test_it_is_said_where_lower_values_are_better():
    runs = {"one": ranked(*[1, 2] * 10), "two": ranked(*[2, 3] * 10)}
    text = flat(comparison_text(compare(judged(20, fill=2), runs, "E RR")))
    assert text.count("Lower values of E are better.") == 1
    assert "Lower values" not in comparison_text(compare(judged(20, fill=2), runs, "RR"))


def test_families_name_whose_p_values_they_have():
    found = compare(judged(30, fill=8), three_runs(), "RR", test="randomisation")
    method = flat(comparison_text(found))
    assert "Bootstrapped max-t (2,000 draws of the queries, seed 0) over a family of 3 pairs, two-sided; " in method
    assert "no p is below that of the randomisation test (10,000 permutations, seed 0) alone." in method
    alone = compare(judged(30, fill=8), three_runs(), "RR", test="randomisation", correction="none")
    assert all(each.adjusted >= one.p for each, one in zip(found, alone, strict=True))


def test_nothing_beyond_the_range_of_a_measure_is_detected():
    runs = {"one": ranked(1, 2), "two": ranked(1, 8)}
    found = compare(judged(2, fill=8), runs, "RR")
    assert found.differences[0].detectable == math.inf
    assert found.differences[0].to_dict()["detectable"] is None
    text = flat(comparison_text(found, reliability(found)))
    assert "2 queries can detect no difference (80% power)" in text
    assert "RR: no true difference is detected 80% of the time" in text
    stopped = gate(judged(2, fill=8), runs["one"], runs["two"], "RR")
    assert "No true drop would be stopped 80% of the time" in gate_text(stopped)
    assert json.loads(stopped.to_json())["measures"][0]["detectable"] is None


def test_two_queries_say_nothing_about_a_family():
    qrels, runs = judged(2, fill=8), {"one": ranked(1, 1), "two": ranked(7, 6), "three": ranked(3, 8)}
    found, shared = (compare(qrels, runs, "RR", correction=each) for each in ("max-t", "bonferroni"))
    assert {(each.low, each.high, each.adjusted, each.detectable) for each in found} == {(-1, 1, 1, math.inf)}
    assert [each.detection.queries for each in found] == [each.detection.queries for each in shared]  # of more


@pytest.mark.parametrize("test", ["tukey", "randomisation"])
def test_five_queries_have_too_few_orders_to_detect_anything(test):
    """The smallest p-value is 2/32, however far apart two runs are."""
    runs = {"one": ranked(1, 1, 2, 1, 1), "two": ranked(8, 7, 8, 8, 6)}
    [found] = compare(judged(5, fill=8), runs, "RR", test=test)
    assert found.p > 0.05
    assert found.detectable == math.inf
    assert (found.low, found.high) == (-1, 1)
    [by_t] = compare(judged(5, fill=8), runs, "RR")
    assert found.detection.queries <= by_t.detection.queries  # those of more queries


def test_gate_messages_state_what_was_found():
    old, new = ranked(*[1, 2] * 10), ranked(*[2, 2] * 9, 1, 2)
    worse = gate(judged(20, fill=2), old, new, "RR", max_worse_queries=1, non_inferiority=0.01)
    drop, margin, count = (check.message for check in worse.checks)
    assert re.fullmatch(r"RR fell significantly, 0\.750 → 0\.525 \(one-sided p . 0\.\d{3}\)", drop)
    assert re.fullmatch(r"RR is not shown to be non-inferior by a margin of 0\.01 \(one-sided p = \d\.\d{3}\)", margin)
    assert count == "RR got worse for 9 queries; at most 1 may"
    text = flat(gate_text(worse))
    assert "would be stopped 80% of the time." in text
    signs = flat(gate_text(gate(judged(20, fill=2), old, new, "RR", test="sign")))
    assert "would be stopped 80% of the time by a t-test." in signs
    one = gate(judged(20, fill=2), old, ranked(*[1, 2] * 9, 2, 2), "RR", max_worse_queries=0, tolerance=0.001)
    drop, count = (check.message for check in one.checks)
    assert "more than the 0.001 allowed, but not significant (one-sided p = " in drop
    assert count == "RR got worse for 1 query; none may"
    both = flat(gate_text(gate(judged(20, fill=2), old, new, "RR P@1")))
    assert "one-sided paired t-test at alpha 0.05; p of a drop corrected over 2 measures (Holm)." in both


def test_a_gate_explains_why_variation_cannot_be_estimated():
    old, new = ranked(*[1, 2] * 10), ranked(*[2, 2] * 10)
    assert "No query changed, so their variation cannot be estimated." in flat(
        gate_text(gate(judged(20, fill=2), old, old, "RR"))
    )
    alike = gate(judged(20, fill=2), ranked(*[1] * 20), ranked(*[2] * 20), "RR")
    assert "All queries changed by the same amount, so their variation cannot be estimated." in flat(gate_text(alike))
    assert "estimated" not in gate_text(gate(judged(20, fill=2), old, new, "RR"))


def test_gate_markdown_right_aligns_only_numbers():
    lines = as_markdown(gate(judged(20, fill=2), ranked(*[1, 2] * 10), ranked(*[2, 2] * 10), "RR")).splitlines()
    head = lines.index("| candidate | baseline | now | difference | 95% interval |   |")
    assert lines[head + 1] == "| --- | ---: | ---: | ---: | ---: | --- |"
