"""Could unjudged documents reverse a difference? Small cases whose answer is evident."""

import copy
import pickle

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    InputError,
    Policy,
    catalogue,
    compare,
    compare_evaluations,
    evaluate,
    parse_measure,
)
from cranfield.comparison import unjudged
from cranfield.comparison.unjudged import Reaches
from cranfield.show.comparison_text import comparison_text
from tests.comparison.reaching import JUDGED, SECOND, larger, reach

# Cases whose answer is evident.


def test_without_unjudged_documents_nothing_moves():
    difference = reach(["n", "r"], ["r", "n"])
    assert difference.difference == 0.25
    assert difference.reach[:3] == (0.25, 0.25, True)
    assert difference.could_reverse is False


def test_an_unjudged_document_on_top_can_reverse():
    # "one" has RR 1/2 of "r" at rank 2; if u is relevant it has 1, as much as the other: it draws level at most.
    level = reach(["u", "r"], ["r", "n"])
    assert level.reach[:3] == (0.0, 0.25, True)
    assert level.could_reverse is False
    # Now "other" has "r" at rank 2 below a judged document: u could put "one" ahead.
    behind = reach(["u", "n", "r"], ["n", "r"])
    assert behind.difference > 0
    assert behind.reach.low == pytest.approx((0.5 - 1) / 2)
    assert behind.could_reverse is True


def test_documents_found_only_by_the_other_run_could_count_as_missed():
    """All of "one" is judged, and it is perfect; but if u and v are relevant it found only a third."""
    difference = reach(["u", "v", "n"], ["r", "n"], "AP")
    truth = {**JUDGED, "1": {"r": 1, "n": 0, "u": 1, "v": 1}}
    one, other = (evaluate(truth, {"1": run, **SECOND}, "AP")["AP"] for run in (["u", "v", "n"], ["r", "n"]))
    assert difference.difference > 0 > other - one
    assert difference.could_reverse is True


def test_a_tie_that_unjudged_documents_could_break_is_reported():
    tie = reach(["u", "r"], ["v", "r"])
    assert tie.difference == 0
    assert tie.could_reverse is True
    assert reach(["r", "n"], ["r", "n"]).could_reverse is False


def test_a_shared_document_has_one_grade():
    shared = reach(["u", "n", "r"], ["u", "r", "n"])
    assert shared.difference > 0
    assert shared.could_reverse is False
    assert shared.reach[:3] == (0.0, pytest.approx((1 / 2 - 1 / 3) / 2), True)


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "AP", "RR", "P@5", "R@5", "ERR", "Bpref", "Q", "Compat", "infAP", "RBP"]
)
def test_a_run_cannot_beat_itself(measure):
    [difference] = compare("builtin:qrels", {"one": "builtin:meaning", "same": "builtin:meaning"}, measure)
    assert difference.reach[:3] == (0.0, 0.0, True)
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
def test_rankings_judged_down_to_the_cutoff_do_not_move(measure):
    difference = reach(["n", "r", "u", "v"], ["r", "s", "w", "u"], measure, {**JUDGED, "1": {"r": 1, "n": 0, "s": 2}})
    assert difference.reach.low == difference.reach.high == pytest.approx(difference.difference, abs=1e-15)
    assert difference.reach.exact


def test_unjudged_documents_below_the_cutoff_still_affect_recall():
    """u is deep in both runs; but if it is relevant, each has found a smaller share."""
    difference = reach(["n", "u"], ["r", "u"], "R@1")
    assert difference.reach[:3] == (0.25, 0.5, True)


def test_an_infinite_reach_is_written_as_null():
    judged, baseline, run = larger(0, count=3000, depth=1500)
    found = compare(
        {"1": judged, "2": judged}, {"a": dict.fromkeys("12", baseline), "b": dict.fromkeys("12", run)}, "YAAP"
    )
    assert found.differences[0].reach[:3] == (-np.inf, np.inf, False)
    assert found.to_dict()["differences"][0]["reach"] == {"low": None, "high": None, "exact": False, "unseen": 0}
    assert found.to_json()


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
        (Policy(ties="worst"), {"u": 1, "r": 1, "n": 1}, {"r": 2, "u": 1}, (["u", "n", "r"], ["r", "u"])),
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


def test_could_reverse_is_unknown_without_bounds():
    runs = {"one": {"1": ["u"], **SECOND}, "other": {"1": ["r"], **SECOND}}
    assert compare(JUDGED, runs, "RR", bounds=False).differences[0].could_reverse is None


def test_measures_of_groups_may_have_any_value_if_documents_are_unjudged():
    """u may be about a subtopic of its own: then `one` found it, and `other` did not."""
    groups = {"1": {"s": {"r": 1}}, "2": {"s": {"r": 1}, "t": {"n": 1}}}
    runs = {"one": {"1": ["u"], **SECOND}, "other": {"1": ["r"], **SECOND}}
    [difference] = compare(groups, runs, "StRecall@5")
    assert difference.reach[:3] == (-0.5, 0.5, False)
    [same] = compare(groups, {"one": runs["one"], "same": runs["one"]}, "alpha_nDCG@5")
    assert same.reach[:3] == (0.0, 0.0, True)


def test_every_measure_with_a_method_exists():
    assert set(unjudged.METHODS) <= set(catalogue())


# Documents that neither run retrieved.


def twenty(unseen=()):
    """Judgments of 20 queries, and two runs, all judged: `new` wins where one document is relevant, `old` elsewhere."""
    queries = [f"q{at}" for at in range(20)]
    several = dict.fromkeys((f"b{rank}" for rank in range(10)), 3)
    qrels = {
        query: {"n": 0, **({"a": 3} if at < 15 else several)}
        | (dict.fromkeys((f"u{rank}" for rank in range(12)), 3) if query in unseen else {})
        for at, query in enumerate(queries)
    }
    old = {query: ["n"] if at < 15 else [*several] for at, query in enumerate(queries)}
    new = {query: ["a"] if at < 15 else ["n"] for at, query in enumerate(queries)}
    return qrels, {"old": old, "new": new}


def test_documents_that_neither_run_retrieved_may_have_any_grade():
    """Twelve of them of the highest grade in 15 queries reverse the difference: the bounds must allow for that."""
    qrels, runs = twenty()
    [plain] = compare(qrels, runs, "nDCG@10")
    [wider] = compare(qrels, runs, "nDCG@10", unseen=12)
    [truth] = compare(twenty([f"q{at}" for at in range(15)])[0], runs, "nDCG@10")
    assert (plain.difference, truth.difference) == (0.5, pytest.approx(-0.085, abs=5e-4))
    assert (plain.could_reverse, wider.could_reverse) == (False, True)
    assert plain.reach[:3] == (0.5, 0.5, True)
    assert plain.reach.documents == "unjudged documents the runs returned"
    assert wider.reach[:3] == (pytest.approx(truth.difference), 0.5, True)
    assert (plain.reach.unseen, wider.reach.unseen, wider.to_dict()["reach"]["unseen"]) == (0, 12, 12)


def test_unseen_documents_could_reverse_what_all_judged_ones_cannot():
    """The one run is better where little is known to be relevant, the other where much is."""
    qrels = {"1": {"r": 1, "n": 0}, "2": {**dict.fromkeys(("a", "b", "c"), 1), "n": 0}}
    runs = {"one": {"1": ["n"], "2": ["a", "b", "c"]}, "other": {"1": ["r"], "2": ["n", "a"]}}
    [known] = compare(qrels, runs, "R@10")
    [wider] = compare(qrels, runs, "R@10", unseen=1)
    assert known.could_reverse is False
    assert wider.could_reverse is True
    truth = {**qrels, "1": {**qrels["1"], "u": 1}}  # which is one of the completions
    [reversed_by_it] = compare(truth, runs, "R@10")
    assert known.difference > 0 > reversed_by_it.difference >= wider.reach.low


def test_sentences_say_which_documents_they_mean():
    qrels, runs = JUDGED, {"one": {"1": ["u", "n", "r"], **SECOND}, "other": {"1": ["n", "r"], **SECOND}}
    returned = "Unjudged documents the runs returned could reverse this ("
    assert returned in comparison_text(compare(qrels, runs, "RR"), None)
    some = "Unjudged documents the runs returned, and 3 for each query that they did not, could reverse this ("
    assert some in " ".join(comparison_text(compare(qrels, runs, "RR", unseen=3), None).split())


def test_unseen_documents_need_bounds_and_incomplete_judgments():
    qrels, runs = twenty()
    with pytest.raises(ComparisonError, match="unseen=2 belongs to the bounds of unjudged documents"):
        compare(qrels, runs, "nDCG@10", unseen=2, bounds=False)
    with pytest.raises(InputError, match="unseen=-1 is not a number of documents"):
        compare(qrels, runs, "nDCG@10", unseen=-1)
    with pytest.raises(InputError, match="unseen=2 contradicts complete judgments"):
        compare(qrels, runs, "nDCG@10", unseen=2, policy=Policy(complete=True))
