"""What comparisons and gates claim: no more than is true, in sentences that can be pasted into a paper."""

import re

import pytest

from cranfield import compare, gate
from cranfield.comparison.correlation import reliability
from cranfield.comparison.differences import p_text, signed
from cranfield.show.comparison_text import comparison_text
from cranfield.show.gate_text import gate_markdown, gate_text


def shown(comparison):
    return comparison_text(comparison, reliability(comparison))


def flat(text):
    return " ".join(text.split())


def ranked(*ranks, of="a"):
    """A run that puts the relevant document of each query at these ranks."""
    return {str(q): [*(f"x{i}" for i in range(rank - 1)), of] for q, rank in enumerate(ranks)}


def judged(queries, fill=0):
    return {str(q): {"a": 1, **{f"x{i}": 0 for i in range(fill)}} for q in range(queries)}


def test_equal_values_are_reported_without_interval_and_p_value():
    [same] = compare(judged(8), {"old": ranked(*range(1, 9)), "new": ranked(*range(1, 9))}, "RR")
    assert same.sentence == "No difference: new vs old, RR is the same on all 8 queries"


def test_a_constant_difference_has_no_interval_but_has_a_verdict():
    comparison = compare(judged(8), {"old": ranked(*[2] * 8), "new": ranked(*[1] * 8)}, "RR")
    [constant] = comparison
    assert constant.sentence == "Better: new vs old, RR +0.5000 on each of 8 queries, p = 0.0078"
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
        (0.05, 0.05, "= 0.0500"),
        (0.05003, 0.05, "= 0.05003"),
        (0.0499996, 0.05, "= 0.0500"),
        (0.01000001, 0.01, "= 0.01000001"),
        (0.00001, 0.05, "< 0.0001"),
        (0.99999, 0.05, "= 1.0000"),
    ],
)
def test_a_p_value_is_never_rounded_across_alpha(p, alpha, shown):
    assert p_text(p, alpha) == shown


def test_the_end_of_an_interval_is_not_rounded_to_zero():
    assert [signed(each) for each in (0.0, -0.0, 0.00002, -0.00002, 0.12345)] == [
        "+0.0000",
        "+0.0000",
        "+0.00002",
        "-0.00002",
        "+0.1235",
    ]


def test_a_correction_is_mentioned_only_for_several_comparisons():
    old, new, third = ranked(*[1, 2, 3, 4] * 3), ranked(*[2, 1, 4, 3] * 3), ranked(*[4, 3, 2, 1] * 3)
    two = flat(shown(compare(judged(12, fill=4), {"old": old, "new": new}, "RR")))
    assert re.search(r"RR: a true difference of 0\.\d{4} is detected 80% of the time \(paired t-test\)\.", two)
    assert "correct" not in two
    runs = {"old": old, "new": new, "third": third}
    three = flat(shown(compare(judged(12, fill=4), runs, "RR")))
    assert "(paired t-test, corrected for 3 comparisons). Without a correction" in three


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
        assert flat(shown(comparison)).startswith(sentence)


def test_text_counts_the_differences_that_could_reverse():
    """Two runs with many unjudged documents, which one with few is ahead of."""
    qrels, worse = {str(q): {"a": 1} for q in range(20)}, ranked(*[5, 6] * 10)
    found = compare(qrels, {"one": ranked(*[1, 2] * 10), "two": worse, "three": worse}, "nDCG@10")
    assert sum(each.significant and each.could_reverse for each in found) == 2
    assert "Unjudged documents could reverse both significant differences." in flat(shown(found))


def test_rank_intervals_have_a_level_only_if_they_hold_simultaneously():
    runs = {f"r{i}": ranked(*[1 + (q * (i + 3) + i) % 7 for q in range(30)]) for i in range(8)}
    together, apart = (shown(compare(judged(30, fill=8), runs, "RR", correction=each)) for each in ("max-t", "none"))
    assert "rank, 95%" in together
    assert "rank, 95%" not in apart
    assert "all true ranks lie within them with 95% confidence" in flat(together)
    assert "confidence" not in apart
    # 28 lines of correlations say less than their range.
    assert len(together.splitlines()) < 40


def test_gate_messages_state_what_was_found():
    old, new = ranked(*[1, 2] * 10), ranked(*[2, 2] * 9, 1, 2)
    worse = gate(judged(20, fill=2), old, new, "RR", max_worse_queries=1, non_inferiority=0.01)
    drop, margin, count = (check.message for check in worse.checks)
    assert re.fullmatch(r"RR fell from 0\.7500 to 0\.5250: significantly \(one-sided p . 0\.\d{4}\)", drop)
    assert re.fullmatch(r"RR is not shown to be non-inferior by a margin of 0\.01 \(one-sided p = \d\.\d{4}\)", margin)
    assert count == "RR got worse for 9 queries; at most 1 may"
    text = flat(gate_text(worse))
    assert "would be stopped at least 80% of the time." in text
    signs = flat(gate_text(gate(judged(20, fill=2), old, new, "RR", test="sign")))
    assert "would be stopped at least 80% of the time by a t-test." in signs
    one = gate(judged(20, fill=2), old, ranked(*[1, 2] * 9, 2, 2), "RR", max_worse_queries=0, tolerance=0.001)
    drop, count = (check.message for check in one.checks)
    assert "more than the tolerance of 0.001, but not significantly (one-sided p = " in drop
    assert count == "RR got worse for 1 query; none may"
    both = flat(gate_text(gate(judged(20, fill=2), old, new, "RR P@1")))
    assert "one-sided paired t-test at alpha 0.05, p corrected over 2 measures (Holm)." in both


def test_a_gate_explains_why_variation_cannot_be_estimated():
    old, new = ranked(*[1, 2] * 10), ranked(*[2, 2] * 10)
    assert "No query changed, so their variation cannot be estimated." in flat(
        gate_text(gate(judged(20, fill=2), old, old, "RR"))
    )
    alike = gate(judged(20, fill=2), ranked(*[1] * 20), ranked(*[2] * 20), "RR")
    assert "All queries changed by the same amount, so their variation cannot be estimated." in flat(gate_text(alike))
    assert "estimated" not in gate_text(gate(judged(20, fill=2), old, new, "RR"))


def test_gate_markdown_right_aligns_only_numbers():
    lines = gate_markdown(gate(judged(20, fill=2), ranked(*[1, 2] * 10), ranked(*[2, 2] * 10), "RR")).splitlines()
    assert lines[lines.index("| check | result |") + 1] == "| --- | --- |"
    assert lines[lines.index("| got worse | before | now | what changed |") + 1] == "| --- | ---: | ---: | --- |"
