"""Every kind of sentence that is printed about numbers, what it promises, and the tests that hold it to that.

docs/claims.md is made from this list. A sentence is as the program prints it, with {marks} in place of what changes; it
must occur in `tests/printed.py`, and every sentence in the source that could be a claim must occur here.
"""

import re
from typing import NamedTuple

from tests.printed import printed

MARKS = {
    "n": r"\d+(?:,\d{3})*",
    "x": r"\d+(?:\.\d+)?",
    "d": r"[-+−]\d+\.\d+",
    "p": r"[=<] \d\.\d+",
    "s": r"(?:more than )?\d+(?:\.\d+)?%",
    "run": r"[\w-]+",
    "measure": r"[\w@]+",
    "words": r"[^.:(]+(?= |\.)",
}


class Claim(NamedTuple):
    """One row: sentences of one kind, what they promise and where that ends, and the tests that could fail."""

    group: str
    sentences: tuple[str, ...]
    promise: str
    tests: tuple[str, ...]


EVALUATE, TWO, MANY, GATE = "One run", "Two runs", "Many runs", "Gates"
HISTORY = "Over time"
UNJUDGED, SEGMENTS, DOUBTS = "Unjudged documents", "Segments", "Runs that are not alike"
REUSE, CORRECTED, DECIDING, AGREEMENT = "Judgments", "Corrected values", "Judging until decided", "Agreement"
SAMPLES, MIXTURES, CLICKS = "Samples of a pool", "Mixtures", "Clicks"
LOGS, CLICKED, OTHER_TOOLS = "Samples of a log", "Interleaving", "Other tools"
CHANGES = "Two runs without judgments, and frontiers"
AGENTS = "Agents and recommenders"

# Where each group is printed.
GROUPS = {
    EVALUATE: "By `evaluate` and `check`, and in the report.",
    TWO: "By `compare`, `gate`, `test` and `demo`, in the report, and as `Difference.sentence`.",
    MANY: "By `compare` of three runs or more, and in the report.",
    GATE: "By `gate` and `test`.",
    HISTORY: "By `history`, and on its page.",
    UNJUDGED: "By `compare`, `evaluate --bounds` and the report.",
    SEGMENTS: "By `compare --segments`, and in the report.",
    DOUBTS: "Before the verdict, by `compare`, `gate`, `test` and the report.",
    REUSE: "By `stability`, and with `--leave-out`.",
    CORRECTED: "By `evaluate`, `compare` and `gate` with `--correct-with`.",
    SAMPLES: "By `pool --plan`.",
    MIXTURES: "By `tune`.",
    LOGS: "By `sample`.",
    CLICKED: "By `preferred`.",
    OTHER_TOOLS: "By `evaluate --theirs` and `--like`, and as `Why`.",
    CHANGES: "By `diff`, `diff --exact` and `frontier`.",
    DECIDING: "By `judge --decide`, and on the judging page.",
    AGREEMENT: "By `agreement`.",
    CLICKS: "By `judge --clicks`.",
    AGENTS: "By `calls`, and by `compare` of recommenders.",
}

COMPARISON, EVALUATION, JUDGING = "tests/comparison/test_", "tests/evaluation/test_", "tests/judging/"

CLAIMS = [
    Claim(
        EVALUATE,
        ("{n} judged but not in the run (counts 0); {n} without a relevant document (counts 0)",),
        "Every judged query counts, and one that the run lacks counts 0.",
        (
            f"{EVALUATION}evaluation.py::test_counts_and_policy",
            f"{EVALUATION}facts.py::test_facts_match_a_naive_recount",
        ),
    ),
    Claim(
        EVALUATE,
        ("none of {n} relevant among {n} retrieved; {n} of {n} retrieved unjudged",),
        "The reason why a query is poor consists of counts of its own documents.",
        (f"{EVALUATION}facts.py::test_facts_match_a_naive_recount",),
    ),
    Claim(
        EVALUATE,
        (
            "ties matter: {measure} {x}, between {x} (worst order of ties) and {x} (best)",
            "ties matter to {n} of {n} runs; -v shows how much",
        ),
        "Every other order of equal scores gives a mean within this range, and its ends can occur.",
        (
            f"{EVALUATION}tie_ranges.py::test_every_other_order_gives_a_value_between_the_worst_and_the_best",
            f"{EVALUATION}tie_ranges.py::test_the_range_goes_from_the_worst_to_the_best_order",
        ),
    ),
    Claim(
        EVALUATE,
        ("{measure} is a mean over {n} random orders of ties (seed {n}), not over all",),
        'With Policy(ties="expected"), each document of a tie is equally likely at each of its ranks, in orders that '
        "are the same every time; all measures that are not named are exact means over all orders.",
        (
            "tests/measures/test_over_orders.py::test_other_means_are_of_a_sample",
            "tests/measures/test_over_orders.py::test_every_position_is_equally_likely_in_a_sample",
            "tests/measures/test_over_orders.py::test_a_mean_over_orders_is_exact",
        ),
    ),
    Claim(
        EVALUATE,
        ("† weighted: as precise as {n} equally weighted queries",),
        "Means are by the weights of the queries, and so are intervals, tests, bounds and power: intervals are about "
        "as long as those of so many queries with equal weights. Those of differences hold as they should; those of "
        "single means hold less often where values are skewed and weights leave few queries, see [below](#weighted).",
        (
            f"{EVALUATION}weights.py::test_means_bounds_and_segments_are_weighted",
            f"{EVALUATION}weights.py::test_values_are_marked_and_the_effective_number_is_told",
            f"{COMPARISON}weighted.py::test_weighted_differences_hold_and_weighted_gates_stop_no_more_than_they_say",
        ),
    ),
    Claim(
        EVALUATE,
        ("† grouped: {n} groups count once each",),
        "Groups of queries are what varies by chance, however many members each has: means are over groups, and "
        "intervals and tests have as many degrees of freedom. 95% intervals of 40 groups of 1 to 6 queries with few, "
        "skewed values held in 93 to 97% of simulated sets.",
        (
            f"{COMPARISON}groups.py::test_the_published_example_of_198_questions_asked_five_times",
            f"{COMPARISON}groups.py::test_groups_as_naive_loops_have_them",
            f"{COMPARISON}groups.py::test_t_intervals_of_groups_hold_where_members_are_alike_and_sizes_differ",
        ),
    ),
    Claim(
        EVALUATE,
        (
            "chosen on other queries. The best one for all queries has {measure} {x} on them: do not report that.",
            "queries without an answer are rightly empty, {s} of {n} with one wrongly",
        ),
        "The value is that of thresholds chosen on four fifths of the queries and measured on the rest; the best one "
        "in sample is higher by luck. In 600 simulated sets of 60 queries it was 0.569, the truth being 0.517; "
        "the cross-fitted one was 0.518, and its 95% interval held in 94.5% (`bench/thresholds.py`).",
        (
            f"{EVALUATION}answering.py::test_a_threshold_that_is_chosen_looks_better_than_it_is_and_cross_fitted_it_does_not",
            f"{EVALUATION}answering.py::test_the_recorded_simulation_keeps_what_is_promised",
            f"{EVALUATION}answering.py::test_values_by_a_threshold_are_those_of_cut_rankings",
        ),
    ),
    Claim(
        EVALUATE,
        ("Each run's bar is the 95% interval of its own mean; runs are compared query by query",),
        "About 95% of such intervals hold the mean over all queries of that kind, with weights and groups, too; of few "
        "queries and skewed values fewer, see [below](#mean). That two of them overlap says nothing about their "
        "difference.",
        (
            f"{EVALUATION}estimating.py::test_plain_by_hand",
            f"{EVALUATION}estimating.py::test_intervals_of_one_mean_hold_less_often_where_queries_are_few",
            f"{EVALUATION}estimating.py::test_intervals_of_weighted_means_hold_on_skewed_values",
            f"{EVALUATION}estimating.py::test_intervals_over_groups_hold_where_queries_of_a_group_are_alike",
        ),
    ),
    Claim(
        EVALUATE,
        (
            "there are only {n} queries. Values usually vary more from query to query than from system to system, so "
            "only large differences between systems can be detected",
            "{n} of {n} queries has no relevant document and scores 0 for every system",
        ),
        "Advice by rules of thumb from facts of the judgments; each rule speaks only where it applies.",
        (
            f"{EVALUATION}advice.py::test_a_caution_about_the_data",
            f"{EVALUATION}advice.py::test_the_facts",
        ),
    ),
    Claim(
        TWO,
        (
            "Worse: {run} vs {run}, {measure} {d} (95% interval {d} to {d}), p {p}",
            "Too close to call: {run} vs {run}, {measure} {d} (95% interval {d} to {d}), p {p}",
            "▲ ▼ significantly better, worse: p is at most 0.05. The 95% interval excludes 0 exactly when p is at most "
            "0.05",
            "▲ ▼ significantly better, worse; without a sign the difference is too close to call",
        ),
        "Verdict, interval and p-value never contradict each other, and are the same everywhere. Of equal runs 5% are "
        "called better or worse; the interval misses the true difference in about 5% of samples.",
        (
            f"{COMPARISON}one_verdict.py::test_the_same_sentence_everywhere",
            f"{COMPARISON}one_verdict.py::test_interval_and_p_value_never_contradict_each_other",
            f"{COMPARISON}significance.py::test_t_is_scipys",
            f"{COMPARISON}significance.py::test_the_level_holds",
            f"{COMPARISON}simultaneous.py::test_intervals_of_two_runs_are_rough_where_few_queries_differ",
        ),
    ),
    Claim(
        TWO,
        (
            "Too close to call: {run} vs {run}, {measure} {d} (weighted mean) (95% interval {d} to {d}), p {p}",
            "only {n} of {n} queries differ by {measure}, and with their weights they count as {x}; with so few, "
            "interval and p-value are rough",
        ),
        "The same of weighted means. The warning comes where the queries that differ are as precise as fewer than ten.",
        (
            f"{COMPARISON}weighted.py::test_weighted_differences_hold_and_weighted_gates_stop_no_more_than_they_say",
            f"{COMPARISON}weighted.py::test_weighted_families_hold_at_once",
            f"{EVALUATION}weights.py::test_few_heavy_queries_are_told",
        ),
    ),
    Claim(
        TWO,
        ("No difference: {run} vs {run}, {measure} is the same on all {n} queries (95% interval {d} to {d})",),
        "The runs are equal on these queries, not on all: the interval has room for the queries that may differ.",
        (f"{COMPARISON}claims.py::test_equal_values_leave_room_for_other_queries",),
    ),
    Claim(
        TWO,
        (
            "Better: {run} vs {run}, {measure} {d} on each of {n} queries, p {p}",
            "p is that of the randomisation test where all queries differ by the same amount",
            "every pair differs by the same amount on all queries, so the variation cannot be estimated",
        ),
        "Equal differences have no spread to make an interval of, so there is none; p counts signs, and is never 0.",
        (
            f"{COMPARISON}claims.py::test_a_constant_difference_has_no_interval_but_has_a_verdict",
            f"{COMPARISON}significance.py::test_equal_differences_do_not_have_p_0",
        ),
    ),
    Claim(
        TWO,
        (
            "Better: {run} vs {run}, {measure} {d} (median of the queries that differ) (95% interval {d} to {d}), p "
            "{p}; the mean moves the other way ({d})",
            "Like the test, it is for the median of the queries that differ",
        ),
        "Tests of ranks and signs are about most queries, not about the mean; where the two disagree, it is said.",
        (
            f"{COMPARISON}one_verdict.py::test_a_good_change_passes_a_gate_that_counts_queries",
            f"{COMPARISON}significance.py::test_rank_tests_follow_most_queries_rather_than_the_mean",
        ),
    ),
    Claim(
        TWO,
        (
            "{n} queries can detect {x} (80% power); {x} takes about {n}",
            "{measure}: a true difference of {x} is detected 80% of the time (paired t-test). A difference of {x} "
            "takes {n}",
            "What {n} queries can detect, if differences vary as they do here",
            "{n} queries can detect {x} over {n} comparisons (80% power)",
            "the runs do not differ, so the variation of their differences cannot be estimated",
        ),
        "So large a true difference is significant in about 80% of samples, by this test and correction, if queries "
        "vary as they do here. It says nothing about the difference that was found.",
        (
            f"{COMPARISON}detecting.py::test_the_detectable_difference_is_detected_as_often_as_claimed",
            f"{COMPARISON}power.py::test_the_detectable_difference_is_detected_as_often_as_claimed",
            f"{COMPARISON}power.py::test_the_queries_needed_are_just_enough",
        ),
    ),
    Claim(
        TWO,
        ("not worse by {x}: not shown (one-sided p {p}); equivalent within {x}: not shown (one-sided p {p})",),
        "Shown means that a test rejects a loss of the margin or more, never only that no difference was found.",
        (f"{COMPARISON}one_verdict.py::test_non_inferiority_must_be_shown_within_the_margin",),
    ),
    Claim(
        TWO,
        ("queries: {n} better, {n} the same, {n} worse; judged of what {measure} reads: {s} and {s}",),
        "Counts of queries, and the share judged of the returned documents down to where the measure looks.",
        (
            f"{COMPARISON}segments.py::test_values_are_those_of_a_plain_loop",
            f"{COMPARISON}doubts.py::test_the_judged_share_is_of_the_returned_documents_that_the_measure_reads",
        ),
    ),
    Claim(
        TWO,
        (
            "Nothing relevant: {run} {n} query, {run} {n}",
            "{run} moves the first relevant result up on {n} queries, down on {n}",
            "Unjudged, so counted as not relevant: {run} {s}, {run} {s} of the results",
        ),
        "Counts that can be made again by hand.",
        (
            "tests/report/test_card.py::test_sentences_of_two_runs",
            "tests/report/test_card.py::test_sentences_of_one_run",
        ),
    ),
    Claim(
        MANY,
        (
            "Worse: {run} vs {run}, {measure} {d} (95% simultaneous interval {d} to {d}), p {p} corrected for {n} "
            "comparisons",
            "p is corrected for the family. The 95% intervals hold for all comparisons of a family at once; each "
            "excludes 0 exactly when p is at most 0.05",
            "bootstrapped max-t ({n} draws of the queries, seed 0) over a family of {n} pairs",
        ),
        "In about 95% of samples or more, all true differences lie within their intervals, of all pairs or of all runs "
        "against a baseline; also by weighted and by corrected means. The measured shares are [below](#simultaneous).",
        (
            f"{COMPARISON}simultaneous.py::test_intervals_of_all_pairs_hold_at_once_on_skewed_values",
            f"{COMPARISON}simultaneous.py::test_comparisons_with_a_baseline_hold_at_once",
            f"{COMPARISON}simultaneous.py::test_other_means_hold_at_once",
            f"{COMPARISON}simultaneous.py::test_a_pair_without_spread_has_the_width_of_its_family",
        ),
    ),
    Claim(
        MANY,
        (
            "The intervals hold for all pairs at once, and so do the ranks: all true ranks lie within them with 95% "
            "confidence",
            "{run} leads on {measure}; {n} of the other {n} runs is not significantly worse",
            "{run} and {run} lead on {measure}; the other run is significantly worse",
            "{run} leads on {measure}; none of the other {n} runs is significantly worse",
            "{run} leads on {measure}; both other runs are significantly worse",
            "Ranks: all true ranks lie within these at once with 95% confidence",
            "All {n} bars hold at once with 95% confidence",
            "≈ best: not significantly worse than the best run",
            "runs that share a letter are not significantly different at alpha 0.05",
        ),
        "Ranks, letters and verdicts on the leader follow from the same intervals, so all are right at once in about "
        "95% of samples, whichever run happens to lead.",
        (
            f"{COMPARISON}standing.py::test_all_true_ranks_lie_within_their_intervals_at_once",
            f"{COMPARISON}compare.py::test_runs_share_a_group_exactly_if_they_do_not_differ_significantly",
            f"{COMPARISON}claims.py::test_the_first_sentence_names_the_best_runs",
        ),
    ),
    Claim(
        MANY,
        (
            "{measure} vs {run}: {n} of {n} runs significantly better, {n} worse, {n} too close to call",
            "▲ ▼ significantly better, worse than {run} at alpha 0.05",
        ),
        "Only comparisons with the baseline are corrected for, and their intervals hold at once.",
        (f"{COMPARISON}simultaneous.py::test_comparisons_with_a_baseline_hold_at_once",),
    ),
    Claim(
        MANY,
        (
            "p is not corrected. Each 95% interval is for one comparison alone, and excludes 0 exactly when p is at "
            "most 0.05",
            "p is corrected for the family. Each interval excludes 0 exactly when p is at most 0.05, and has no level "
            "of its own",
            "Paired t-test, two-sided; no correction for {n} pairs",
            "Ranks: below the runs that are significantly better, above those that are significantly worse",
        ),
        "Without a correction, and by Holm's or Benjamini and Hochberg's, intervals do not hold together, so no "
        "confidence is given. Corrected p-values are those of statsmodels.",
        (
            f"{COMPARISON}claims.py::test_rank_intervals_have_a_level_only_if_they_hold_simultaneously",
            f"{COMPARISON}statsmodels.py::test_corrections",
        ),
    ),
    Claim(
        MANY,
        ("The 95% intervals hold for all comparisons of a family at once, if the test holds for values like these",),
        "By Bonferroni's correction, and by Tukey's test. On skewed values and few queries the t-test does not: see "
        "[below](#simultaneous).",
        (f"{COMPARISON}one_verdict.py::test_simultaneous_intervals_cover_all_true_differences_at_once",),
    ),
    Claim(
        MANY,
        ("assumes that all runs vary equally",),
        "Tukey's test holds its level only then, and says so wherever it is used.",
        (
            f"{COMPARISON}tukey.py::test_the_level_holds_over_all_pairs",
            f"{COMPARISON}tukey.py::test_the_assumption_is_named_wherever_the_test_is_offered",
        ),
    ),
    Claim(
        MANY,
        (
            "a true difference of {x} is detected 80% of the time (paired t-test, bootstrapped max-t over {n} "
            "comparisons)",
            "a true difference of {x} is detected at least 80% of the time (paired t-test, Holm over {n} comparisons)",
        ),
        "By the correction that was used. Of more than 45 comparisons by Holm or Benjamini and Hochberg it is that of "
        "Bonferroni, and so a bound.",
        (
            f"{COMPARISON}detecting.py::test_the_detectable_difference_is_detected_as_often_as_claimed",
            f"{COMPARISON}detecting.py::test_the_step_at_which_a_comparison_is_decided",
            f"{COMPARISON}detecting.py::test_large_families_in_steps_get_a_bound",
        ),
    ),
    Claim(
        MANY,
        (
            "Pairs of runs that differ significantly (discriminative power) {measure}: {n} of {n}",
            "How much they agree (Kendall's tau over runs, over queries)",
        ),
        "A count of pairs; correlations are those of scipy. Neither is a claim about other queries.",
        (
            f"{COMPARISON}tau.py::test_tau_equals_that_of_scipy",
            f"{COMPARISON}compare.py::test_agreement_is_1_for_measures_that_order_runs_and_queries_alike",
        ),
    ),
    Claim(
        GATE,
        (
            "{measure} fell significantly, {x} → {x}: more than the {x} allowed (one-sided p {p})",
            "{measure} {x} → {x}: more than the {x} allowed, but not significant (one-sided p {p})",
            "{measure} fell by significantly more than the {x} allowed, {x} → {x} (one-sided p {p})",
            "{n} queries; one-sided paired t-test at alpha 0.05, for drops shared by {n} gates ({x} each)",
        ),
        "An equally good candidate is stopped in about 5% of cases; with --gates 30, any of thirty is in about 5%.",
        (
            f"{COMPARISON}gate.py::test_an_equally_good_candidate_is_stopped_with_probability_alpha",
            f"{COMPARISON}gate.py::test_how_often_a_month_of_gates_stops_a_harmless_change",
            f"{COMPARISON}gate.py::test_what_a_drop_is_tested_against",
            f"{COMPARISON}gate.py::test_p_values_are_one_sided",
        ),
    ),
    Claim(
        GATE,
        (
            "A true drop of {x} would be stopped 80% of the time; one of {x}, {s}",
            "A true rise of {x} would be stopped 80% of the time by a t-test",
            "All queries changed by the same amount, so their variation cannot be estimated",
        ),
        "By the test, the tolerance and the correction of this gate, if queries vary as they do here. Of tests about "
        "medians it is the power of a t-test.",
        (
            f"{COMPARISON}detecting.py::test_the_detectable_drop_is_stopped_as_often_as_claimed",
            f"{COMPARISON}gate.py::test_the_detectable_drop_depends_on_the_correction",
            f"{COMPARISON}claims.py::test_a_gate_explains_why_variation_cannot_be_estimated",
        ),
    ),
    Claim(
        GATE,
        (
            "p of a drop corrected over {n} measures (Holm); p of non-inferiority needs no correction, since every "
            "measure must show it",
            "p not corrected over {n} measures",
            "{measure} is not shown to be non-inferior by a margin of {x} (one-sided p {p})",
            "{measure} is the same on every query: non-inferiority needs no proof",
        ),
        "Names the p-values that are corrected, and those that are not. No measure counts as good enough because "
        "nothing was found; only a candidate that changes no query needs no proof, and other queries are left open.",
        (
            f"{COMPARISON}gate.py::test_which_p_values_are_corrected",
            f"{COMPARISON}gate.py::test_several_measures_are_corrected_for",
            f"{JUDGING}test_correcting.py::test_a_run_that_fails_where_people_did_not_look_is_not_shown_to_be_as_good",
            f"{COMPARISON}one_verdict.py::test_non_inferiority_must_be_shown_within_the_margin",
        ),
    ),
    Claim(
        GATE,
        (
            "{measure} got worse for {n} queries; at most {n} may",
            "no measure is significantly better",
            "significantly better: {measure}",
            "{measure} is {x} and must be at least {x}",
        ),
        "Counts and values as they are, compared with the limits given; only improvement is tested.",
        (f"{COMPARISON}gate.py::test_minimum_improvement_and_worse_queries",),
    ),
    Claim(
        HISTORY,
        (
            "Worse {run}: {measure} {x}, accepted {x}: {d} ({d} to {d}), p {p}",
            "▲▼ mark differences beyond chance, by a paired t-test at 0.05 / {n}: among {n} steps without an effect, "
            "there is a false mark with a chance of about 5%",
        ),
        "The accepted result is compared as by `compare`. Results are only compared by the same queries, judgments, "
        "weights and conventions; a mark is no claim about why.",
        (
            "tests/systems/history/test_lines.py::test_steps_are_those_of_compare",
            "tests/systems/history/test_lines.py::test_steps_without_an_effect_are_rarely_marked",
            "tests/systems/history/test_lines.py::test_a_change_of_judgments_breaks_the_line_until_runs_are_measured_again",
        ),
    ),
    Claim(
        HISTORY,
        (
            "both rules share 0.05 among {n} looks: an alarm at p ≤ {x}",
            "{measure} fell by {x} since it was accepted (one-sided p {p}, alarm at {x})",
            "{measure} fell by {x} over the last {n} results (one-sided p {p}, alarm at {x})",
            "assumed: queries vary on their own; repeats of a commit would show it, or {n} results before the last {n}",
        ),
        "In thirty looks there is a false alarm with a chance of at most about 6%, where queries vary on their own and "
        "where days shake all queries together, once that was seen. What is assumed before is said. A mean that "
        "wanders by itself for weeks is taken for a slide: see the figures below.",
        (
            f"{COMPARISON}sliding.py::test_a_month_of_looks_rarely_raises_a_false_alarm",
            f"{COMPARISON}sliding.py::test_a_slide_is_found",
            f"{COMPARISON}sliding.py::test_the_recorded_figures_keep_what_the_documentation_promises",
            f"{COMPARISON}sliding.py::test_the_drop_is_the_gates_test",
            f"{COMPARISON}sliding.py::test_shaken_days_are_seen_in_repeats_and_in_earlier_results",
        ),
    ),
    Claim(
        UNJUDGED,
        (
            "Bounds: any grade of 0, 1, 2 for the unjudged documents that a run retrieved; those it did not retrieve "
            "count as not relevant",
        ),
        "No grades of these documents lead beyond the ends, and some lead to each end.",
        (
            "tests/measures/test_bounds.py::test_bounds_match_all_completions",
            "tests/measures/test_bounds.py::test_bounds_hold_if_there_are_too_many_completions",
        ),
    ),
    Claim(
        UNJUDGED,
        (
            "Unjudged documents the runs returned could reverse this ({d} to {d})",
            "Better: {run} vs {run}, {measure} {d} (95% interval {d} to {d}), p {p}; unjudged documents could reverse "
            "this",
            "Unjudged documents the runs returned could reverse {n} of the {n} significant differences",
            "Unjudged documents the runs returned could reverse both significant differences",
        ),
        "There are grades, the same for both runs, that make the difference so low and so high; every reported "
        "reversal is possible.",
        (
            f"{COMPARISON}unjudged_completions.py::test_the_bounds_are_those_of_all_completions",
            f"{COMPARISON}unjudged_completions.py::test_every_reported_reversal_is_possible",
        ),
    ),
    Claim(
        UNJUDGED,
        (
            "could reverse this ({d} to {d} at the widest)",
            "~ the true bounds may be narrower",
        ),
        "No grades lead beyond these ends, but perhaps none lead to them.",
        (
            f"{COMPARISON}unjudged_completions.py::test_no_completion_leads_beyond_the_bounds",
            f"{COMPARISON}unjudged_completions.py::test_the_bounds_hold_without_a_search_budget",
        ),
    ),
    Claim(
        UNJUDGED,
        ("Unjudged documents the runs returned can't reverse this",),
        "It is about the returned documents alone: relevant ones that neither run found may reverse it, which --unseen "
        "allows for.",
        (
            "tests/report/test_card.py::test_sentences_of_two_runs",
            f"{COMPARISON}unjudged.py::test_unseen_documents_could_reverse_what_all_judged_ones_cannot",
        ),
    ),
    Claim(
        UNJUDGED,
        (
            "Unjudged documents the runs returned, and {n} for each query that they did not, could reverse this ({d} "
            "to {d})",
        ),
        "So many more documents for each query may have any grade, too.",
        (
            f"{COMPARISON}unjudged_completions.py::test_unseen_documents_may_have_any_grade_too",
            f"{COMPARISON}unjudged.py::test_sentences_say_which_documents_they_mean",
        ),
    ),
    Claim(
        UNJUDGED,
        (
            "Whether unjudged documents could reverse this difference was not checked",
            "For this difference it is not known whether unjudged documents could reverse it",
            "{measure} estimates unjudged documents from those that were drawn and judged",
        ),
        "Where there are no bounds, that is said, with its reason. Estimates from a sample are unbiased for sums, and "
        "nearly so for ratios.",
        (
            f"{COMPARISON}doubts.py::test_a_check_that_was_switched_off_is_not_called_unknown",
            f"{COMPARISON}unjudged.py::test_could_reverse_is_unknown_without_bounds",
            f"{COMPARISON}estimated.py::test_measures_estimated_from_strata_are_not_reported_as_reversible",
            "tests/measures/test_sampled.py::test_sums_are_unbiased_over_all_samples_and_ratios_are_not",
        ),
    ),
    Claim(
        SEGMENTS,
        (
            "{run} vs {run}, {measure} in {run} ({n} queries): {d} (95% interval {d} to {d}), p {p}",
            "Intervals and p-values are corrected for all segments and pairs of runs",
            "the difference to {run}, with its 95% interval, corrected for all segments and pairs of runs. ▲ ▼ "
            "significantly better, worse",
        ),
        "In about 95% of samples all true differences lie within their intervals, of all segments and pairs.",
        (
            f"{COMPARISON}segments.py::test_intervals_and_interaction_hold_on_skewed_values_of_unequal_spread",
            f"{COMPARISON}segments.py::test_the_interval_excludes_0_exactly_where_p_is_at_most_alpha",
            f"{COMPARISON}segments.py::test_intervals_and_interaction_are_those_of_a_plain_loop",
        ),
    ),
    Claim(
        SEGMENTS,
        (
            "the effect differs between segments (p {p})",
            "no sign that the effect differs between segments (p {p})",
            "No sign that the effect differs between segments for the other {n} pairs",
            "Compared with {run}, the effect differs between segments: {run} (p {p})",
        ),
        "An effect that is the same in all segments seems to differ in about 5% of samples at most, also where "
        "segments vary unequally. No sign is no proof that the effect is the same.",
        (
            f"{COMPARISON}segments.py::test_intervals_and_interaction_hold_on_skewed_values_of_unequal_spread",
            f"{COMPARISON}segments.py::test_the_effect_is_seen_to_differ_where_it_does",
        ),
    ),
    Claim(
        SEGMENTS,
        (
            "{run} vs {run}, {measure} in {run} ({n} queries): {d}, too few queries",
            "No interval where queries are too few: a claim about a segment takes {n}, {n} of which differ",
            "One with fewer than {n} has no colour and no interval",
            "A claim about a segment takes {n} queries, and {n} on which the two runs differ. With fewer, there is no "
            "interval",
            "fewer than two segments have enough queries to tell whether the effect differs",
        ),
        "Nothing is claimed about a segment of fewer queries.",
        (
            f"{COMPARISON}segments.py::test_a_segment_of_few_queries_has_values_but_no_claim",
            f"{COMPARISON}segments.py::test_a_claim_needs_queries_on_which_the_runs_differ",
        ),
    ),
    Claim(
        DOUBTS,
        ("warning: only {n} of {n} queries differ by {measure}; with so few, interval and p-value are rough",),
        "Told where fewer than 10 queries differ, of any pair. See [below](#few).",
        (
            f"{COMPARISON}doubts.py::test_few_queries_that_differ_are_told",
            f"{COMPARISON}simultaneous.py::test_intervals_of_two_runs_are_rough_where_few_queries_differ",
        ),
    ),
    Claim(
        DOUBTS,
        (
            "warning: {run} lacks {n} of {n} queries, which count 0",
            "warning: {run} returns at most {n} documents for a query, {run} up to {n}; {measure} looks at more",
            "warning: {run}: the scores rise from one document to the next, but the highest ranks first; negate them "
            "if they are distances",
            "warning: {run}: in the reverse order, RR would be {x} instead of {x}; negate the scores if they are "
            "distances",
        ),
        "Facts about the files that make the verdict one about them, not about the systems. That there is no warning "
        "does not mean that all else is equal.",
        (
            f"{COMPARISON}doubts.py::test_a_run_that_is_unlike_the_other_is_told_by_compare_and_gate",
            f"{COMPARISON}doubts.py::test_every_output_says_it_before_the_verdict",
            f"{COMPARISON}doubts.py::test_equal_runs_raise_no_doubt",
            f"{COMPARISON}doubts.py::test_an_order_that_would_be_far_better_reversed_is_told_everywhere",
            f"{COMPARISON}doubts.py::test_an_honest_order_is_not_doubted",
        ),
    ),
    Claim(
        DOUBTS,
        (
            "warning: {run} has equal scores ({s} of its judged documents): another order puts {measure} between {x} "
            "and {x}, enough to reverse its difference from {run}",
        ),
        "The range is that of all orders of equal scores, and is told where it is a quarter of the standard error or "
        "more.",
        (
            f"{COMPARISON}doubts.py::test_ties_tell_whether_they_could_reverse_the_difference",
            f"{COMPARISON}doubts.py::test_ties_that_decide_nothing_are_not_told",
            f"{EVALUATION}tie_ranges.py::test_every_other_order_gives_a_value_between_the_worst_and_the_best",
        ),
    ),
    Claim(
        REUSE,
        (
            "Each share is removed at random {n} times (seed 0), from the relevant and from the nonrelevant documents "
            "of every query",
            "tau: Kendall's correlation between the order of the runs by the judgments left and by all judgments, "
            "averaged over the repeats, and the lowest of them. At 1 the order is the same",
        ),
        "The values are those of evaluating with the judgments left. They promise nothing about documents that were "
        "never judged.",
        (
            f"{COMPARISON}stability.py::test_dropping_rows_equals_evaluating_without_the_judgments",
            f"{COMPARISON}stability.py::test_each_query_loses_the_share_of_its_relevant_and_of_its_nonrelevant_documents",
            "tests/test_sentences.py::test_stability_promises_nothing",
        ),
    ),
    Claim(
        REUSE,
        (
            "{measure} infers what was pooled from what was judged: here, documents whose judgment is removed stay in "
            "the pool",
        ),
        "Such measures stay about the same where judgments are removed, and others fall.",
        (
            f"{COMPARISON}stability.py::test_removed_judgments_stay_in_the_pool_of_measures_that_infer",
            f"{COMPARISON}stability.py::test_inferred_ap_stays_where_ap_falls",
        ),
    ),
    Claim(
        REUSE,
        (
            "without: the value and the rank if the documents that only it has were unjudged. A new run of the same "
            "kind may change as much",
        ),
        "The values are those of judgments made again without that run. A new run of another kind may change more.",
        (f"{COMPARISON}reusability.py::test_rebuilding_the_judgments_and_evaluating_again_gives_the_same",),
    ),
    Claim(
        CORRECTED,
        (
            "± 95% intervals for the mean over all queries, of which these are a sample; they rest on the random "
            "sample, not on the model. Worth: how many queries people alone would have to judge for as narrow an "
            "interval; they judged {n}",
            "{run} vs {run}, {measure} {d} (corrected mean) (95% interval {d} to {d}), p {p}",
            "{run} corrected by people on {n} of {n} queries, drawn at random (seed {n}). t-test of the corrected "
            "difference, two-sided",
            "{measure} {d} (corrected): no regression",
        ),
        "About 95% of intervals hold, for any model, from random to perfect; a useless one costs little. Worth is the "
        "smallest number of queries with as short an interval.",
        (
            f"{COMPARISON}correcting.py::test_intervals_hold_for_any_judge_and_are_hardly_wider",
            f"{COMPARISON}correcting.py::test_intervals_hold_if_the_model_is_a_curve_of_the_values_by_people",
            f"{COMPARISON}correcting.py::test_a_useless_judge_costs_little_however_its_values_are_spread",
            f"{COMPARISON}correcting.py::test_worth_is_the_smallest_number_of_queries_with_as_short_an_interval",
            f"{JUDGING}test_correcting.py::test_values_match_the_formulas",
        ),
    ),
    Claim(
        CORRECTED,
        ("{run} saved people about {n} to {n} more queries",),
        "The difference between worth and the number of queries judged, for what is shown here.",
        (f"{JUDGING}test_correcting.py::test_a_useless_model_saves_nothing_and_the_text_says_so",),
    ),
    Claim(
        CORRECTED,
        (
            "With fewer than {n} sampled queries, intervals can be too narrow if {run} is far off on rare queries only",
            "The other documents count as not relevant, for people as for {run}, and no interval allows for that: "
            "pool these runs too, and judge what is new",
            "A difference is weighted separately, so it is not exactly the difference of the means",
        ),
        "What no interval promises: a judge whose rare errors the sample has none of, and documents that nobody "
        "judged.",
        (
            f"{COMPARISON}correcting.py::test_intervals_hold_for_a_judge_that_errs_rarely",
            f"{JUDGING}test_correcting.py::test_a_difference_has_a_weight_of_its_own",
            "tests/cli/test_corrected.py::test_compare_warns_about_a_run_that_was_not_pooled",
        ),
    ),
    Claim(
        SAMPLES,
        (
            "To know {measure} within {x}, judge {n} documents of {n}: the first {n} of each ranking, and {n} of each "
            "query drawn at random",
            "within: how close a run's mean is to its mean with the whole pool judged, for 95% of such samples, in "
            "nine of ten simulated collections; likely: in half of them",
            "This is the uncertainty of the sample alone. The choice of queries adds its own, which compare shows",
            "How much is relevant is not known yet. Plan again when some documents are judged: it is then more exact",
        ),
        "Grades are simulated: a document is relevant with a chance that rises with the runs that return it and with "
        "its ranks there. How often real samples were as precise stands [below](#sampling). Documents that no run "
        "returns are in no sample, so nothing is said about them.",
        (
            f"{JUDGING}pool/test_planning.py::test_a_sample_is_as_precise_as_planned",
            f"{JUDGING}pool/test_planning.py::test_simulated_samples_err_as_drawn_ones_do",
            f"{JUDGING}pool/test_planning.py::test_larger_samples_are_more_precise_and_the_smallest_that_is_enough_is_chosen",
            f"{JUDGING}pool/test_planning.py::test_pool_lets_as_many_documents_wait_as_planned",
            f"{JUDGING}pool/test_planning.py::test_judgments_make_a_plan_more_exact_and_are_not_asked_for_again",
        ),
    ),
    Claim(
        DECIDING,
        (
            "{run} beside {run}: better; judging the rest is unlikely to change that ({s} sure)",
            "{run} beside {run}: worse; judging the rest is unlikely to change that ({s} sure)",
            "{run} beside {run}: no significant difference; judging the rest is unlikely to change that "
            "({s} sure); more queries might",
            "Each pair is tested by itself, without a correction for their number",
        ),
        "How sure it is comes from a model of the grades. How often the verdict is that of the paired t-test with all "
        "first documents judged stands [below](#deciding). That no difference is significant is only final where "
        "at most 40% of the uncertainty comes from unjudged documents. Several pairs may also become final "
        "together, each from 80% on, once half as many wrong verdicts are expected among them as otherwise.",
        (
            f"{JUDGING}decide/test_deciding.py::test_several_pairs_are_final_together_once_hardly_any_verdict_is_expected_to_be_wrong",
            f"{JUDGING}decide/test_deciding.py::test_stopping_early_saves_judgments_and_keeps_the_verdict",
            f"{JUDGING}decide/test_deciding.py::test_equally_good_runs_never_get_the_opposite_verdict",
            f"{JUDGING}decide/test_deciding.py::test_a_verdict_is_final_while_enough_documents_are_judged_and_it_is_probable",
            f"{JUDGING}decide/test_deciding.py::test_neither_is_never_final_while_much_of_the_uncertainty_is_not_judged",
            f"{JUDGING}decide/test_deciding.py::test_intervals_and_probabilities_hold_on_simulated_collections",
            f"{JUDGING}decide/test_deciding.py::test_a_fully_judged_decision_equals_the_paired_t_test",
        ),
    ),
    Claim(
        DECIDING,
        (
            "{run} beside {run}: too early to tell ({s} for better); probably {n} to {n} more judgments; {s} of the "
            "uncertainty comes from unjudged documents",
            "{run} beside {run}: likely outcome: better ({s}); probably {n} to {n} more judgments; {s} of the "
            "uncertainty comes from unjudged documents",
            "{run} beside {run}: likely outcome: no significant difference ({s}); probably {n} to {n} more judgments; "
            "{s} of the uncertainty comes from unjudged documents, so more queries would help more",
        ),
        "An outlook, by a model of the grades. An outcome is likely from 80% on, once 40 documents are judged; what it "
        "says about queries follows from the two parts of the uncertainty. The number of judgments is that of four "
        "decisions in five, as the model draws them.",
        (
            f"{JUDGING}decide/test_deciding.py::test_a_pair_too_close_to_call_is_reported_early",
            f"{JUDGING}decide/test_deciding.py::test_sentences_advise_more_queries_only_where_these_are_the_greater_uncertainty",
            f"{JUDGING}decide/test_deciding.py::test_the_judgments_needed_are_a_range_within_what_is_left",
            f"{JUDGING}decide/test_deciding_model.py::test_the_judgments_needed_are_those_of_ways_drawn_one_by_one",
            f"{JUDGING}decide/test_deciding.py::test_the_interval_covers_the_difference_over_many_queries",
        ),
    ),
    Claim(
        DECIDING,
        ("{run} beside {run}: too early to tell; a verdict probably takes {n} to {n} judgments",),
        "The number is what the model expects of any runs that differ as these do; of the difference nothing is said.",
        (f"{JUDGING}decide/test_deciding.py::test_nothing_is_claimed_before_the_first_grade",),
    ),
    Claim(
        DECIDING,
        ("{run} beside {run}: both rank the same documents in the same order; no judgment can tell them apart",),
        "The rankings are equal as deep as the measure looks.",
        (f"{JUDGING}decide/test_deciding.py::test_runs_that_are_the_same_are_not_worth_judging",),
    ),
    Claim(
        AGREEMENT,
        (
            "Poor agreement: ordinal alpha {x} (95% interval {x} to {x})",
            "Too few documents judged by both to tell how well they agree: ordinal alpha {x} (95% interval {x} to {x}) "
            "on {n} documents of {n} queries",
            "No disagreement on {n} documents of {n} queries judged by both: ordinal alpha {x}, without an interval",
            "Poor agreement of {run} with {run}: ordinal alpha {x} (95% interval {x} to {x})",
        ),
        "Poor is below 0.667, fair from there to 0.8, good from 0.8 on: the limits are a convention, the words are "
        "ours. The word is that of both ends of the interval, or names both; with fewer than five queries, or an "
        "interval from poor to good, there is none. In simulations fewer than one sentence in ten had a wrong word. "
        "Where models are among several assessors, it is about each of up to three pairs of a model and a person.",
        (
            f"{JUDGING}agree/test_with_people.py::test_models_among_several_assessors_are_each_told_beside_people",
            f"{JUDGING}agree/test_verdict.py::test_the_words_are_those_of_both_ends_of_the_interval",
            f"{JUDGING}agree/test_verdict.py::test_too_little_to_tell",
            f"{JUDGING}agree/test_verdict.py::test_words_are_seldom_wrong_about_other_queries",
        ),
    ),
    Claim(
        AGREEMENT,
        (
            "On these documents, the order of your systems does not depend on whose grades count",
            "On these documents, the order of your systems depends on whose grades count: {run} and {run} swap places "
            "({measure} {d} by {run} and {d} by {run})",
        ),
        "The means of the runs over the documents that both assessors judged, for each pair of assessors. It says "
        "nothing about other documents, nor whether a difference is significant.",
        (
            f"{JUDGING}agree/test_verdict.py::test_systems_that_swap_places_are_named",
            f"{JUDGING}agree/test_verdict.py::test_systems_that_keep_their_order",
            f"{JUDGING}agree/test_verdict.py::test_systems_that_only_one_assessor_tells_apart",
        ),
    ),
    Claim(
        AGREEMENT,
        (
            "{run} agrees better with people than {run}: ordinal alpha {d} (95% interval {d} to {d})",
            "Too close to call: {run} vs {run}, agreement with people, ordinal alpha {d} (95% interval {d} to {d})",
            "{run} vs {run}: too little to tell which agrees better with people, {n} documents of {n} queries",
            "No difference: {run} and {run} agree with people equally well on {n} documents of {n} queries, ordinal "
            "alpha {x}",
            "The better of several models or prompts looks better than it is on the documents it was chosen by: check "
            "it on other queries",
        ),
        "Both models on the same documents, with everybody who judged these; the same queries are drawn for both. One "
        "is better only if the interval excludes 0. About 95% of intervals hold with 12 queries or more, about 90% "
        "with five, and of equal models 5% to 10% are told apart. Each of several intervals stands alone.",
        (
            f"{JUDGING}agree/test_with_people.py::test_the_difference_is_that_of_two_alphas_on_the_same_documents",
            f"{JUDGING}agree/test_with_people.py::test_intervals_of_differences_hold_for_other_queries",
            f"{JUDGING}agree/test_with_people.py::test_equal_models_are_seldom_told_apart",
            f"{JUDGING}agree/test_with_people.py::test_the_sentence_about_two_models",
        ),
    ),
    Claim(
        AGREEMENT,
        (
            "A kappa or alpha of 0 is agreement by chance, 1 is perfect. In brackets: 95% intervals, from drawing "
            "queries",
            "No intervals: an interval needs two queries",
            "No intervals: an interval needs queries that differ",
            "Up to {n} draws had no value and are left out of an interval",
        ),
        "Coefficients are those of published examples and naive loops. Intervals draw whole queries, so they allow for "
        "documents of one query that are judged alike; with five queries they hold in nearly 90% of samples.",
        (
            f"{JUDGING}agree/test_agreement.py::test_every_statistic_is_that_of_the_naive_loop",
            f"{JUDGING}agree/test_agreement.py::test_the_example_of_krippendorff",
            f"{JUDGING}agree/test_agreement.py::test_intervals_draw_queries_and_pool_their_documents",
            f"{JUDGING}agree/test_agreement.py::test_intervals_hold_for_other_queries",
            f"{JUDGING}agree/test_agreement.py::test_perfect_agreement_has_no_interval",
            f"{JUDGING}agree/test_agreement.py::test_draws_without_a_value_are_counted",
        ),
    ),
    Claim(
        TWO,
        (
            "If repeats were drawn again: {n}–{n} of {n} groups better, {n}–{n} worse; {s} of the variance is noise "
            "within groups.",
        ),
        "So many groups would be better or worse by 2.5 to 97.5% of 2,000 draws of the members within each group, "
        "which leave the groups as they are. The noise is the share of the variance of differences of groups that "
        "comes from within them: its estimate is right on average, also with few values and groups of unequal sizes.",
        (
            f"{COMPARISON}within_groups.py::test_noise_of_the_published_example",
            f"{COMPARISON}within_groups.py::test_counts_of_another_time_are_those_of_a_naive_loop",
            f"{COMPARISON}within_groups.py::test_the_share_of_noise_is_right_on_average_with_few_skewed_values",
        ),
    ),
    Claim(
        MIXTURES,
        (
            "On the {n} queries that chose it among {n} settings it has {measure} {x}: do not report that. Settings "
            "chosen like this reach {x} ({x} to {x}) on other queries, {x} less.",
        ),
        "The second value is what settings that are chosen like this reach on queries that did not choose them. In "
        "6,000 samples of 50 queries from each of six collections whose true values are known, it was off by less than "
        "0.002 on average (the first one was too high by up to 0.03), and its 95% interval held in 93 to 97% of them; "
        "so it did for live systems with a budget (`bench/tuning.py`).",
        (
            "tests/mixing/test_tuning.py::test_the_reported_value_has_next_to_no_bias_and_its_interval_holds",
            "tests/mixing/test_tuning.py::test_the_recorded_simulation_keeps_what_is_promised",
            "tests/mixing/test_tuning.py::test_cross_fitting_is_a_plain_loop",
        ),
    ),
    Claim(
        MIXTURES,
        (
            "No better than rrf, k = 60 (plain reciprocal rank fusion), as far as {n} queries can tell: "
            "{d} ({d} to {d}).",
            "No better than {run} (the best single run), as far as {n} queries can tell: {d} ({d} to {d}).",
            "{n} comparisons, simultaneous {s} intervals.",
        ),
        "Tuning as a procedure is not significantly better: its interval, simultaneous with those of the other two "
        "comparisons, does not lie above 0. The best single run is the one with the best mean on these queries, which "
        "favours it, if anything.",
        (
            "tests/mixing/test_tuning.py::test_what_is_reported_follows_from_the_folds",
            "tests/mixing/test_tuning.py::test_a_mixture_that_is_better_is_said_to_be",
        ),
    ),
    Claim(
        DOUBTS,
        (
            "{run} was tuned: it is the best of {n} settings on {n} of {n} queries compared here, so its value and p "
            "are too good to be true; compare it on other queries, or by 'cranfield tune'",
            "{run} is made of {run}, the best of {n} settings on {n} of {n} queries compared here, so its value and p "
            "are too good to be true; compare it on other queries, or by 'cranfield tune'",
            "chosen as the best of {n} settings on {n} of these {n} queries, so its values are too good to be true",
        ),
        "The run's file says on which queries its settings were chosen by their values, and these are among those "
        "compared. Runs that are fused, reranked or converted from it know it, too. A run that was changed by other "
        "programs may have lost this.",
        (
            "tests/mixing/test_tuning.py::test_a_tuned_run_says_so_where_it_is_compared",
            "tests/mixing/test_tuning.py::test_what_is_made_of_a_tuned_run_says_so",
            "tests/systems/test_reranking.py::test_a_reranked_run_is_as_tuned_as_its_first_stage",
            "tests/mixing/test_tuning.py::test_a_saved_evaluation_of_a_tuned_run_still_knows",
        ),
    ),
    Claim(
        DOUBTS,
        (
            "{run} is a mixture with weights {x} and {x}: if that was chosen on queries that are compared here, its "
            "value and p are too good to be true; 'cranfield tune' measures the choice on other queries",
        ),
        "The run's file says that its runs were fused with different weights, or with constants that are not the usual "
        "ones, and not by which queries these were chosen.",
        ("tests/mixing/test_tuning.py::test_settings_that_somebody_chose_are_told",),
    ),
    Claim(
        MIXTURES,
        (
            "unjudged documents decide, not the settings: {s} of the winner's top {n} are unjudged, and without all "
            "unjudged documents, ",
        ),
        "If the unjudged documents are left out of all rankings, another setting is better than the winner, by more "
        "than the winner is better with them. The documents to judge are those that only one of the two returns first.",
        ("tests/mixing/test_tuning_systems.py::test_unjudged_documents_that_decide_are_named",),
    ),
    Claim(
        LOGS,
        (
            "It stands for {n} searches for {n} distinct queries; {s} of these are for the queries drawn.",
            "Detects: with 80% power, where differences by query have a standard deviation of {x}.",
        ),
        "Weighted means of the sample are estimates for all searches, or for all distinct queries, that were not left "
        "out, and their 95% intervals held in 94 to 96% of 4,000 samples of 200 queries from logs by Zipf's law, for "
        "values that are few, tied or skewed, or 0 for nine queries of ten (`bench/query_samples.py`). What is "
        "detected is planned by the sample's effective number of queries, for a spread that is yours to know.",
        (
            "tests/traffic/test_sampling.py::test_as_naive_loops_draw_them",
            "tests/traffic/test_sampling.py::test_sums_by_weight_have_no_bias",
            "tests/traffic/test_sampling.py::test_intervals_hold_for_searches_and_for_distinct_queries",
            "tests/traffic/test_sampling.py::test_the_recorded_simulation_keeps_what_is_promised",
            "tests/evaluation/test_sampled_estimates.py::test_as_naive_loops_have_them",
        ),
    ),
    Claim(
        CLICKED,
        ("People prefer b: it won {n} impressions and lost {n} ({n} ties), by {n} units; {d} ({x} to {x}), p {p}.",),
        "The ranking b wins more impressions than chance explains, by the units that were randomised. Of 600 simulated "
        "experiments in which neither ranking is better, 6% at most lead to a verdict, however often people repeat "
        "their searches (`bench/interleaving.py`). It is about clicks, not about satisfaction.",
        (
            "tests/traffic/test_interleaving.py::test_p_and_the_interval_are_those_of_all_flips",
            "tests/traffic/test_interleaving.py::test_equal_rankings_alarm_as_rarely_as_they_may_and_a_binomial_does_not",
            "tests/traffic/test_interleaving.py::test_the_recorded_simulation_keeps_what_is_promised",
        ),
    ),
    Claim(
        CLICKS,
        (
            "Of 100 people who look at rank {n}, so many look at another",
            "rank look {s} interval",
            "Estimated from {n} documents of {n} queries that were shown at several ranks. It holds if these moved for "
            "other reasons than becoming more or less attractive.",
        ),
        "A click takes somebody who looks at the rank, and a document that attracts them; both are fitted together, "
        "and only documents at several ranks count. In simulations in which people look as the model assumes, the "
        "intervals hold in 94 to 97% (`bench/clicks.py`). If people read from the top to the first click, they do not "
        "look at ranks alone, and the order of documents still becomes better or stays as good. If documents moved "
        "because they became more attractive, it becomes worse, and no log shows that.",
        (
            "tests/traffic/test_click_model.py::test_examination_is_the_most_likely_one",
            "tests/traffic/test_click_model.py::test_intervals_of_examination_hold",
            "tests/traffic/test_click_model.py::test_corrected_clicks_find_the_order_of_documents_again",
            "tests/traffic/test_click_model.py::test_the_recorded_simulations_keep_what_the_guide_says",
        ),
    ),
    Claim(
        CLICKS,
        (
            "{words} of the impressions do not count: how many people look at their ranks is not identified.",
            "Not identified: how many people look at each rank. That takes documents that were shown at several ranks "
            "and clicked, and this log has none. So clicks are not corrected, and these grades favour whatever is "
            "ranked high now.",
        ),
        "No documents, or too few, were shown both at these ranks and at others: the 95% interval would reach further "
        "than from half to twice the estimate. Dividing by the mean rate of a rank would be worse than nothing where "
        "the ranker is good, so nothing is divided.",
        (
            "tests/traffic/test_click_model.py::test_documents_at_one_rank_say_nothing_about_examination",
            "tests/traffic/test_click_model.py::test_ranks_that_no_document_ties_to_others_do_not_count",
            "tests/traffic/test_click_model.py::test_where_documents_were_at_one_rank_nothing_is_corrected",
        ),
    ),
    Claim(
        OTHER_TOOLS,
        (
            "The likeliest of {n} explanations that fit ({n} tried):",
            "The only explanation that fits ({n} tried):",
            "One number does not decide. Their {measure} would confirm it, and so would their values by query.",
        ),
        "Each explanation gives every number to its last digit, and no two give the same value for every query. The "
        "first is the likeliest if the difference is one rule of a tool, two, or all of them. How often that is right "
        "stands in the guide [Why do the numbers differ?](guides/why.md).",
        (
            "tests/dialects/test_why.py::test_two_numbers_name_the_rule",
            "tests/dialects/test_why.py::test_explanations_with_the_same_values_are_one",
            "tests/dialects/test_why.py::test_values_by_query_decide_what_one_number_does_not",
            "tests/dialects/test_why.py::test_the_measure_and_the_policy_reproduce_the_number_here",
            "tests/dialects/test_why.py::test_a_rule_means_what_the_loop_does",
            "tests/dialects/test_why.py::test_what_is_recorded_is_as_good_as_promised",
        ),
    ),
    Claim(
        OTHER_TOOLS,
        ("The same here with --ties file.",),
        "The measures in the last column have the values of the other tool under this policy, to its last decimals. "
        "Where no policy says what the tool does, the rules are named instead.",
        (
            "tests/dialects/test_tools.py::test_what_is_said_to_be_the_same_here_is",
            "tests/dialects/test_tools.py::test_a_dialect_gives_the_numbers_of_the_tool",
        ),
    ),
    Claim(
        CHANGES,
        ("the top {n} changed for {n} of {n} queries ({s}); {n} documents entered, {n} left",),
        "These are counts of the first documents of both runs, in the order in which measures see them: a query has "
        "changed if they are not the same in the same order, or if one run lacks it.",
        (
            "tests/changes/test_diff.py::test_every_number_of_every_query_is_that_of_a_naive_loop",
            "tests/changes/test_diff.py::test_sums_are_those_of_the_queries",
        ),
    ),
    Claim(
        CHANGES,
        ("{run} finds {s} of the {n} nearest neighbours ({s} to {s}, {n} queries)",),
        "The share of the k nearest neighbours that is returned, as far as distances tell, on average over queries, "
        "with its 95% interval: in 2,000 samples each of seven kinds of shares, of 20 to 1,000 queries, it held the "
        "true mean in 94 to 100% of them (`bench/nearby.py`). It is too long rather than too short with few queries.",
        (
            "tests/changes/test_neighbours.py::test_the_rule_is_that_of_a_naive_loop",
            "tests/changes/test_neighbours.py::test_an_index_of_faiss",
            "tests/changes/test_neighbours.py::test_intervals_of_shares_that_are_nearly_all_1_hold",
            "tests/changes/test_neighbours.py::test_the_recorded_simulation_keeps_what_is_promised",
        ),
    ),
    Claim(
        CHANGES,
        (
            "On the frontier: {run}; {run} is dominated by {run}.",
            "another run is cheaper and at most {x} worse, each by a one-sided paired test",
        ),
        "Both tests are significant at alpha, corrected for all ordered pairs by Holm's method. In 2,000 worlds of "
        "several kinds in which no run is dominated, one was said to be in at most 2.8%, and where losses are rare in "
        "at most 4.0% without the next sentence (`bench/nearby.py`). A run that stays on the frontier may still be "
        "dominated by less than these queries can tell.",
        (
            "tests/comparison/test_frontier.py::test_p_values_are_those_of_scipy_corrected_by_holm",
            "tests/comparison/test_frontier.py::test_the_recorded_simulation_keeps_what_is_promised",
        ),
    ),
    Claim(
        CHANGES,
        (
            "few queries differ by {measure} between {run} and {run} ({n} of {n}): a rare, large loss may not be "
            "among them",
        ),
        "A warning where two runs differ for fewer than 10 queries and one is called dominated. If one query in fifty "
        "loses so much that the mean is worse by the margin, that is wrong in up to 38% of samples of 50 queries.",
        (
            "tests/comparison/test_frontier.py::test_a_domination_that_rests_on_few_queries_is_doubted",
            "tests/comparison/test_frontier.py::test_the_recorded_simulation_keeps_what_is_promised",
        ),
    ),
    Claim(
        AGENTS,
        ("All searches together find {x} ({x} to {x}) of the relevant documents.",),
        "The recall of all searches of a task together, each document once, on average over all judged tasks, with the "
        "95% interval of a mean. A task that was never searched for counts 0.",
        (
            "tests/cli/test_agents_and_recommenders.py::test_rows_by_call_are_those_of_a_naive_loop",
            "tests/measures/test_searches.py::test_measures_equal_their_oracle",
        ),
    ),
    Claim(
        AGENTS,
        ("{n} queries: a value of the whole run, to which each query contributes",),
        "Coverage and Gini have the interval of the jackknife, for as many users. In 500 draws each of skewed, even "
        "and small catalogues, for 20 to 400 users, 95% intervals missed the true value in at most 6%, and the paired "
        "test of equal recommenders was significant in at most 4%. Where nine of ten users get the same list, the "
        "interval of Gini missed it in up to 14%, and the test was significant in up to 5% (`bench/recommending.py`).",
        (
            "tests/measures/test_recommendations.py::test_measures_equal_their_oracle",
            "tests/measures/test_recommendations.py::test_recommenders_are_compared_like_other_runs",
            "tests/measures/test_recommendations.py::test_the_recorded_simulation_keeps_what_is_promised",
        ),
    ),
]


def example(sentence):
    """How the program prints a sentence today; None if it does not."""
    literal = re.split(r"\{(\w+)\}", sentence)
    pattern = "".join(MARKS[part] if at % 2 else re.escape(part) for at, part in enumerate(literal))
    found = re.search(pattern, printed())
    return found and found.group()
