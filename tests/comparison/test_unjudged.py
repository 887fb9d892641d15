"""Could unjudged documents reverse a difference? Brute force knows; and on some cases the answer can be seen."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Policy, catalogue, compare, compare_evaluations, evaluate, parse_measure
from cranfield.comparison import unjudged
from cranfield.comparison.joint import precisions, stopping
from cranfield.comparison.unjudged import Reaches
from tests.comparison import completions
from tests.measures.test_catalogue import VARIANTS

# Two queries each, so that they can be compared; the second is the same in all.
JUDGED = {"1": {"r": 1, "n": 0}, "2": {"r": 1, "n": 0}}
SECOND = {"2": ["r", "n"]}


def reach(one, other, measure="RR", qrels=JUDGED, **options):
    runs = {"one": {"1": one, **SECOND}, "other": {"1": other, **SECOND}}
    [difference] = compare(qrels, runs, measure, **options)
    return difference


def reach_of_one_query(measure, judged, baseline, run, **options):
    runs = [evaluate({"q": judged}, {"q": ranking}, measure, **options) for ranking in (baseline, run)]
    return Reaches(runs, [(0, 1)], ["q"]).of(measure)[0]


# Cases in which the answer can be seen.


def test_without_unjudged_documents_nothing_moves():
    difference = reach(["n", "r"], ["r", "n"])
    assert difference.difference == 0.25
    assert difference.reach == (0.25, 0.25, True)
    assert difference.could_reverse is False


def test_an_unjudged_document_on_top_can_reverse():
    # "one" has RR 1/2 of "r" at rank 2; if u is relevant it has 1, as much as the other: it draws level at most.
    level = reach(["u", "r"], ["r", "n"])
    assert level.reach == (0.0, 0.25, True)
    assert level.could_reverse is False
    # The other now stands at rank 2 below a judged document: u could put "one" ahead.
    behind = reach(["u", "n", "r"], ["n", "r"])
    assert behind.difference > 0
    assert behind.reach.low == pytest.approx((0.5 - 1) / 2)
    assert behind.could_reverse is True


def test_what_only_the_other_run_found_counts_as_missed():
    """All of "one" is judged, and it is perfect; but if u and v are relevant it found only a third."""
    difference = reach(["u", "v", "n"], ["r", "n"], "AP")
    truth = {**JUDGED, "1": {"r": 1, "n": 0, "u": 1, "v": 1}}
    one, other = (evaluate(truth, {"1": run, **SECOND}, "AP")["AP"] for run in (["u", "v", "n"], ["r", "n"]))
    assert difference.difference > 0 > other - one
    assert difference.could_reverse is True


def test_a_tie_that_could_be_broken_says_so():
    tie = reach(["u", "r"], ["v", "r"])
    assert tie.difference == 0
    assert tie.could_reverse is True
    assert reach(["r", "n"], ["r", "n"]).could_reverse is False


def test_a_shared_document_has_one_grade():
    shared = reach(["u", "n", "r"], ["u", "r", "n"])
    assert shared.difference > 0
    assert shared.could_reverse is False
    assert shared.reach == (0.0, pytest.approx((1 / 2 - 1 / 3) / 2), True)


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "AP", "RR", "P@5", "R@5", "ERR", "Bpref", "Q", "Compat", "infAP", "RBP"]
)
def test_a_run_cannot_beat_itself(measure):
    [difference] = compare("builtin:qrels", {"one": "builtin:meaning", "same": "builtin:meaning"}, measure)
    assert difference.reach == (0.0, 0.0, True)
    assert difference.could_reverse is False


def test_the_order_of_judged_documents_decides():
    """a is relevant and b is not: whatever u is, a above b is better than b above a."""
    qrels = {str(query): {"a": 1, "b": 0} for query in range(4)}
    runs = {name: dict.fromkeys(qrels, ranking) for name, ranking in (("B", ["b", "a", "u"]), ("A", ["a", "b", "u"]))}
    [difference] = compare(qrels, runs, "nDCG@2")
    assert difference.difference > 0
    assert 0 < difference.reach.low < difference.reach.high
    assert difference.could_reverse is False


@pytest.mark.parametrize("measure", ["P@2", "Hits@2", "RBP@2", "DCG@2", "RR@2", "Success@2"])
def test_what_is_judged_down_to_the_cutoff_does_not_move(measure):
    difference = reach(["n", "r", "u", "v"], ["r", "s", "w", "u"], measure, {**JUDGED, "1": {"r": 1, "n": 0, "s": 2}})
    assert difference.reach.low == difference.reach.high == pytest.approx(difference.difference, abs=1e-15)
    assert difference.reach.exact


def test_documents_below_the_cutoff_count_as_relevant_all_the_same():
    """u is deep in both runs; but if it is relevant, each has found a smaller share."""
    difference = reach(["n", "u"], ["r", "u"], "R@1")
    assert difference.reach == (0.25, 0.5, True)


# Brute force.

DEFAULTS = {variant.definition.name: variant for variant in reversed(VARIANTS)}
COMPARED = [each for each in DEFAULTS.values() if each.definition.aggregate == "mean" and not each.definition.of_holes]
EXACT = [
    parse_measure(name)
    for name in (
        *("P@3", "Hits@2", "P(rel=2)@3", "CG@3", "DCG", "DCG(gain=exponential)@3", "SDCG(max_grade=2)@3", "RBP@4"),
        *("RBP(max_grade=2)", "RBP(judged_only=True)", "INSQ", "TBG", "U", "IDCG@3", "RR", "RR@2", "RR(rel=2)"),
        *("Success@2", "R@3", "R(rel=2)@2", "SetR", "RelP@3", "R_cap@2", "F@3", "F(beta=2)@3", "SetF", "E", "SetRelP"),
        *("SetP", "nDCG", "nDCG@1", "nDCG@3", "nDCG@100", "nDCG(gain=exponential)@3", "nDCG(discount=late)@4"),
        *("nDCG(gain={0:0.25,1.5:7,3:9})@3", "nDCG(gain={1:3,2:1.5})", "nDCG(judged_only=True)@3", "ERR", "ERR@3"),
        *("ERR(max_grade=1)@4", "R(rel=0)@2", "P(rel=0)@2"),
    )
]
SAFE = [parse_measure(name) for name in ("AP", "AP@3", "AP(denominator=min)@3", "AP(rel=2)", "AP(denominator=found)")]
LOSSES = parse_measure("nDCG(gain={0:-1,1:2})@3")
SCALED = parse_measure("ERR(max_grade=query)@3")

documents = [f"d{at}" for at in range(7)]


@st.composite
def cases(draw):
    """(judged, baseline, run): two rankings, of which one may be made of the other; grades from -1 (pooled) to 2."""
    one = draw(st.permutations(documents))[: draw(st.integers(1, 7))]
    other = list(one)
    if draw(st.booleans()):
        other = draw(st.permutations(documents))[: draw(st.integers(1, 7))]
    else:
        at, to = (draw(st.integers(0, len(one) - 1)) for _ in range(2))
        other[at], other[to] = other[to], other[at]
    known = draw(st.sets(st.sampled_from(documents), min_size=max(len({*one, *other}) - 5, 0)))
    judged = {document: draw(st.integers(-1, 2)) for document in sorted(known)}
    return {**judged, "z": draw(st.integers(0, 2))}, one, other


def true_ends(measure, case):
    judged, baseline, run = case
    rel = dict(measure.parameters).get("rel", 1)
    levels = sorted({0, 1, rel, *(grade for grade in judged.values() if grade >= 0)})
    every = completions.all_differences(measure, judged, baseline, run, levels)
    return pytest.approx((every.min(), every.max()), abs=1e-11)


@pytest.mark.parametrize("measure", [*EXACT, *SAFE, LOSSES, SCALED], ids=lambda measure: measure.name)
@settings(max_examples=15, deadline=None)
@given(case=cases())
def test_the_bounds_are_those_of_all_completions(measure, case):
    found = reach_of_one_query(measure, *case)
    assert found.exact
    assert (found.low, found.high) == true_ends(measure, case)


@pytest.mark.parametrize("measure", COMPARED, ids=lambda measure: measure.name)
@settings(max_examples=4, deadline=None)
@given(case=cases())
def test_few_documents_are_enough_for_any_measure(measure, case):
    found = reach_of_one_query(measure, *case)
    assert found.exact
    assert (found.low, found.high) == true_ends(measure, case)


@pytest.mark.parametrize("measure", [*EXACT, *SAFE, *COMPARED, LOSSES, SCALED], ids=lambda measure: measure.name)
@settings(max_examples=4, deadline=None)
@given(case=cases())
def test_the_bounds_hold_where_there_is_no_time(measure, case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unjudged, "BUDGET", 0)
        patch.setattr(stopping, "LEAST", 0)
        found = reach_of_one_query(measure, *case)
    low, high = true_ends(measure, case).expected
    assert found.low <= low + 1e-11
    assert found.high >= high - 1e-11
    if found.exact:
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-11)


@pytest.mark.parametrize("measure", SAFE[:4], ids=lambda measure: measure.name)
@settings(max_examples=40, deadline=None)
@given(case=cases(), together=st.booleans())
def test_the_bound_of_gilmore_and_lawler_holds(measure, case, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unjudged, "BUDGET", 65)  # enough for it, and too little for all completions
        patch.setattr(precisions, "SINGLY", 1 if together else 24)
        patch.setattr(precisions, "GROWTH", 2.0)
        found = reach_of_one_query(measure, *case)
    low, high = true_ends(measure, case).expected
    assert low - 0.5 <= found.low <= low + 1e-11
    assert high + 0.5 >= found.high >= high - 1e-11


def larger(seed, count=30, depth=20):
    """Two rankings that resemble each other, of which a third is judged."""
    chance = np.random.default_rng(seed)
    score = chance.normal(size=count)
    one, other = (np.argsort(score + chance.normal(size=count))[:depth].tolist() for _ in range(2))
    judged = {f"d{at}": int(chance.integers(0, 4)) for at in range(count) if chance.random() < 0.35}
    return {**judged, "z": 3}, [f"d{at}" for at in one], [f"d{at}" for at in other]


@pytest.mark.parametrize("measure", [*EXACT[::3], *SAFE, *COMPARED], ids=lambda measure: measure.name)
def test_no_completion_leads_beyond_the_bounds(measure):
    for seed in range(3):
        judged, baseline, run = larger(seed)
        found = reach_of_one_query(measure, judged, baseline, run)
        drawn = completions.random_differences(measure, judged, baseline, run, (0, 1, 2, 3), 300, seed)
        assert found.low - 1e-11 <= drawn.min()
        assert drawn.max() <= found.high + 1e-11


@pytest.mark.parametrize("measure", ["Q", "Bpref", "NERR8@10", "nERR@10", "AP", "ERR", "nDCG", "G"])
def test_thousands_of_documents_are_no_trouble(measure):
    judged, baseline, run = larger(0, count=3000, depth=1500)
    found = reach_of_one_query(parse_measure(measure), judged, baseline, run)
    assert -1 <= found.low < found.high <= 1


def test_documents_below_those_that_were_reordered_cancel():
    """Only six of 1,500 documents move; by itself, each run could have nearly any AP."""
    judged, baseline, _ = larger(0, count=3000, depth=1500)
    run = [*baseline[5::-1], *baseline[6:]]
    measure = parse_measure("AP")
    found = reach_of_one_query(measure, judged, baseline, run)
    drawn = completions.random_differences(measure, judged, baseline, run, (0, 1), 30, 0)
    assert found.low - 1e-11 <= drawn.min() < drawn.max() <= found.high + 1e-11
    assert found.high - found.low < 0.05


def test_a_reach_without_limits_can_be_written():
    judged, baseline, run = larger(0, count=3000, depth=1500)
    found = compare(
        {"1": judged, "2": judged}, {"a": dict.fromkeys("12", baseline), "b": dict.fromkeys("12", run)}, "YAAP"
    )
    assert found.differences[0].reach == (-np.inf, np.inf, False)
    assert found.to_dict()["differences"][0]["reach"] == {"low": None, "high": None, "exact": False}
    assert found.to_json()


# Many runs.


@pytest.mark.parametrize("name", ["nDCG@4", "P@3", "R@4", "RR", "RBP", "ERR@4", "F@4", "DCG@4", "Success@2"])
def test_every_reversal_that_is_said_to_be_possible_is(name):
    """Of each of 66 pairs, the grades that reverse it, or draw level with a tie, are found and measured."""
    measure, chance = parse_measure(name), np.random.default_rng(7)
    names = [f"d{at}" for at in range(9)]
    queries = [str(at) for at in range(5)]
    quality = {query: chance.normal(size=9) for query in queries}
    qrels = {
        query: {document: int(chance.integers(0, 3)) for document in chance.permutation(names)[:7].tolist()}
        for query in queries
    }
    runs = {
        f"run{at}": {
            query: [names[d] for d in np.argsort(-quality[query] - chance.normal(size=9) / 2)[:6]] for query in queries
        }
        for at in range(12)
    }
    flagged = 0
    for difference in compare(qrels, runs, measure, correction="none"):
        one, other = runs[difference.baseline], runs[difference.run]
        truth = {}
        for query in queries:
            missing = completions.unjudged(qrels[query], one[query], other[query])
            tried = list(itertools.product((0, 1, 2), repeat=len(missing)))
            values = completions.differences(measure, qrels[query], one[query], other[query], tried)
            for end, at in (("low", values.argmin()), ("high", values.argmax())):
                truth.setdefault(end, {})[query] = {**qrels[query], **dict(zip(missing, tried[at], strict=True))}
        ends = [
            evaluate(truth[end], other, measure)[measure] - evaluate(truth[end], one, measure)[measure]
            for end in ("low", "high")
        ]
        assert difference.reach.exact
        assert difference.reach[:2] == pytest.approx(ends, abs=1e-11)
        reversed_by = [end for end in ends if abs(end) > 1e-11 and end * difference.difference <= 0]
        assert difference.could_reverse is bool(reversed_by)
        flagged += difference.could_reverse
    assert 0 < flagged < 66


def test_only_some_pairs_and_queries_are_compared():
    judged, *rankings = larger(1)
    other = {"r": 1, "n": 0}
    qrels, runs = {"1": judged, "2": other, "3": judged}, {}
    for at, ranking in enumerate((*rankings, rankings[0][::-1])):
        runs[f"run{at}"] = {"1": ranking, "2": ["n", "u", "r"][at:], "3": ranking[at:]} | ({} if at else {"4": ["x"]})
    del runs["run2"]["3"]
    found = compare(qrels, runs, "nDCG@5 AP", baseline="run1", policy=Policy(missing="skip"))
    assert found.queries == 2
    for difference in found:
        pair = [evaluate(qrels, runs[name], difference.measure) for name in (difference.baseline, difference.run)]
        ends = [Reaches(pair, [(0, 1)], [query]).of(parse_measure(difference.measure))[0] for query in ("1", "2")]
        assert difference.reach.low == pytest.approx((ends[0].low + ends[1].low) / 2)
        assert difference.reach.high == pytest.approx((ends[0].high + ends[1].high) / 2)


# The documents themselves.


@pytest.mark.parametrize(
    ("policy", "one", "other", "same_as"),
    [
        (Policy(depth=2), ["u", "r", "v"], ["r", "u", "w"], (["u", "r"], ["r", "u"])),
        (Policy(same_id="drop"), ["1", "u", "r"], ["r", "1", "u"], (["u", "r"], ["r", "u"])),
        (Policy(ties="file"), {"u": 1, "r": 1}, {"r": 1, "u": 1}, (["u", "r"], ["r", "u"])),
        (Policy(), {"u": 1, "r": 1}, {"r": 1, "u": 1}, (["u", "r"], ["u", "r"])),
        (Policy(ties="smaller_doc_id"), {"u": 1, "r": 1}, {"r": 2, "u": 1}, (["r", "u"], ["r", "u"])),
        (Policy(ties="worst"), {"u": 1, "r": 1, "n": 1}, {"r": 2, "u": 1}, (["n", "u", "r"], ["r", "u"])),
        (Policy(duplicates="last"), ["u", "r", "u"], ["r", "u"], (["r", "u"], ["r", "u"])),
    ],
)
def test_rankings_are_those_of_the_policy(policy, one, other, same_as):
    found, expected = (
        reach(*runs, "nDCG", policy=each).reach for runs, each in (((one, other), policy), (same_as, None))
    )
    assert found == expected


def test_documents_are_read_from_files_again(tmp_path):
    for name, ranking in (("one", "ur"), ("other", "ru")):
        lines = [f"{q} Q0 {d} 0 {-at} x\n" for q in "12" for at, d in enumerate(ranking)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    paths = [tmp_path / "one.run", tmp_path / "other.run"]
    expected = compare(JUDGED, {"one": {q: ["u", "r"] for q in "12"}, "other": {q: ["r", "u"] for q in "12"}}, "AP")
    assert compare(JUDGED, paths, "AP").differences[0].reach == expected.differences[0].reach
    evaluations = [evaluate(JUDGED, path, "AP") for path in paths]
    assert compare_evaluations(evaluations).differences[0].reach.exact
    (tmp_path / "other.run").unlink()
    wider = compare_evaluations(evaluations).differences[0].reach
    assert not wider.exact
    assert wider.low <= expected.differences[0].reach.low
    assert wider.high >= expected.differences[0].reach.high


def test_without_documents_each_run_is_bounded_by_itself():
    judged, baseline, run = larger(2)
    for measure in (parse_measure(name) for name in ("nDCG@10", "AP", "P@10", "Bpref")):
        runs = [evaluate({"q": judged}, {"q": ranking}, measure) for ranking in (baseline, run)]
        together = Reaches(runs, [(0, 1)], ["q"]).of(measure)[0]
        for again in (pickle.loads(pickle.dumps(runs)), copy.deepcopy(runs)):
            apart = Reaches(again, [(0, 1)], ["q"]).of(measure)[0]
            assert apart.low <= together.low <= together.high <= apart.high
            assert not apart.exact


def test_it_can_be_left_out_and_can_be_unknown():
    runs = {"one": {"1": ["u"], **SECOND}, "other": {"1": ["r"], **SECOND}}
    assert compare(JUDGED, runs, "RR", bounds=False).differences[0].could_reverse is None


def test_measures_of_groups_may_have_any_value_where_something_is_not_judged():
    """u may be about a subtopic of its own: then `one` found it, and `other` did not."""
    groups = {"1": {"s": {"r": 1}}, "2": {"s": {"r": 1}, "t": {"n": 1}}}
    runs = {"one": {"1": ["u"], **SECOND}, "other": {"1": ["r"], **SECOND}}
    [difference] = compare(groups, runs, "alpha_nDCG@5")
    assert difference.reach == (-0.5, 0.5, False)
    [same] = compare(groups, {"one": runs["one"], "same": runs["one"]}, "alpha_nDCG@5")
    assert same.reach == (0.0, 0.0, True)


def test_every_measure_with_a_method_exists():
    assert set(unjudged.METHODS) <= set(catalogue())
