"""Values of whole runs of recommenders: against naive loops, by the jackknife, and equal to what others publish."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import (
    ComparisonError,
    InputError,
    MeasureError,
    Policy,
    RecommenderRun,
    compare,
    evaluate,
    read_interactions,
)
from cranfield.show.comparison_text import comparison_text
from tests import oracle_lists
from tests.measures.test_catalogue import approx, variants

VARIANTS = [each for each in dict.fromkeys(variants("lists")) if not dict(each.parameters).get("judged_only")]
ITEMS = [f"i{number}" for number in range(9)]
FEATURES = {item: [at % 3, at // 3, (at * 7) % 2] for at, item in enumerate(ITEMS)}

users = st.lists(st.sampled_from(["u1", "u2", "u3", "u4"]), min_size=2, max_size=4, unique=True)
lists = st.lists(st.lists(st.sampled_from(ITEMS), unique=True, max_size=6), min_size=2, max_size=6)
interactions = st.lists(st.tuples(st.sampled_from(["u1", "u2", "u3", "x"]), st.sampled_from(ITEMS)), min_size=1)


def measured(recommended, before, measures, **options):
    run = {f"u{at}": items for at, items in enumerate(recommended)}
    qrels = {user: {"i0": 1} for user in run}
    made = RecommenderRun(run, before, items=ITEMS, features=FEATURES, known="keep")
    return evaluate(qrels, made, measures, check_ids=False, **options)


@settings(max_examples=60, deadline=None)
@given(lists, interactions)
def test_measures_equal_their_oracle(recommended, before):
    result = measured(recommended, before, VARIANTS)
    for measure in VARIANTS:
        function, parameters = oracle_lists.ORACLES[measure.definition.name], dict(measure.parameters)
        others = (before, ITEMS, FEATURES)
        assert result[measure] == approx(function(recommended, *others, **parameters)), measure.name
        error = oracle_lists.jackknife_error(function, recommended, *others, **parameters)
        assert result.estimate(measure).error == pytest.approx(error, rel=1e-9, abs=1e-9), measure.name


# The examples in the documentation of RecTools 0.19 (MobileTeleSystems), whose package needs other libraries than ours.
PUBLISHED = [
    (
        "MeanInvUserFreq",
        {"1": ["3"], "2": ["2", "3"], "3": ["1", "2"]},
        [("1", "1"), ("1", "2"), ("2", "1"), ("3", "1")],
        {"Novelty@1": [1.5849625, 1.5849625, 0.0], "Novelty@3": [1.5849625, 1.5849625, 0.79248125]},
    ),
    (
        "AvgRecPopularity",
        {"1": ["1", "2"], "2": ["3", "1", "2"], "3": ["3", "2"]},
        [("1", "1"), ("1", "2"), ("2", "1"), ("2", "3"), ("3", "1"), ("3", "2")],
        {
            "Popularity@1": [3, 1, 1],
            "Popularity@3": [2.5, 2, 1.5],
            "Popularity(scale=share)@3": [0.41666667, 0.33333333, 0.25],
        },
    ),
]


@pytest.mark.parametrize(("name", "run", "before", "expected"), PUBLISHED, ids=[each[0] for each in PUBLISHED])
def test_values_are_those_of_rectools(name, run, before, expected):
    qrels = {user: {"1": 1} for user in run}
    result = evaluate(
        qrels, RecommenderRun(run, before, items=["1", "2", "3"], known="keep"), [*expected], check_ids=False
    )
    for measure, values in expected.items():
        assert list(result.by_query(measure).values()) == pytest.approx(values, abs=5e-9)


def test_values_are_those_that_rectools_gives_for_random_lists():
    """What the code of RecTools 0.19 returned; lists of 2 to 8 items, six features of 0 or 1 for each."""
    given = json.loads(Path(__file__).with_name("rectools.json").read_text())
    lists = {user: list(map(str, items)) for user, items in given["lists"].items()}
    before = [(str(user), str(item)) for user, item in given["before"]]
    items = [str(item) for item in range(20)]
    run = RecommenderRun(lists, before, items=items, features=given["features"], known="keep")
    qrels = {user: {"0": 1} for user in lists}
    for name, expected in given["values"].items():
        measure = name.replace("ILD@", "ILS(similarity=hamming)@")
        value = evaluate(qrels, run, measure, check_ids=False)[measure]
        assert (6 * (1 - value) if "ILD" in name else value) == approx(expected), name


def test_measures_of_lists_are_those_of_rectools():
    """RecTools 0.19 for a list of a, x and b where a, b and c are wanted: its nDCG has an ideal of k ones."""
    published = {"nDCG(gain=binary, ideal=full)@10": 0.3301376494471203, "nDCG@10": 0.7039180890341347, "AP@10": 5 / 9}
    result = evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]}, [*published])
    assert {name: result[name] for name in published} == approx(published)


def test_gini_is_that_of_lenskit():
    """0.5178571428571429 is what LensKit 2025.8.1 gives for these numbers of lists."""
    times = dict(zip(ITEMS, [0, 0, 1, 3, 3, 7, 2], strict=False))
    users = [f"u{number}" for number in range(7)]
    lists = {user: [item for item in times if times[item] > at] for at, user in enumerate(users)}
    run = RecommenderRun(lists, [("x", "i0")], items=list(times))
    assert evaluate({user: {"i0": 1} for user in users}, run, "Gini", check_ids=False)["Gini"] == approx(
        0.5178571428571429
    )


def test_diversity_is_that_of_rectools():
    """IntraListDiversity counts the features in which two items differ; similarity is the share that are equal."""
    features = {"1": [0, 0], "2": [0, 1], "3": [1, 1], "4": [0, 0]}
    run = RecommenderRun({"1": ["1", "2", "3"], "2": ["1", "4"]}, [("9", item) for item in features], features=features)
    result = evaluate({"1": {"1": 1}, "2": {"1": 1}}, run, "ILS(similarity=hamming)@2 ILS(similarity=hamming)@3")
    for cutoff, published in ((2, [1.0, 0.0]), (3, [1.33333333, 0.0])):
        similar = result.by_query(f"ILS(similarity=hamming)@{cutoff}").values()
        assert [2 * (1 - value) for value in similar] == pytest.approx(published, abs=5e-9)


def test_known_items_are_left_out_and_counted():
    before = [("ann", "i0"), ("ann", "i1"), ("bob", "i1")]
    run = {"ann": ["i0", "i2", "i1", "i3"], "bob": ["i0", "i2"]}
    qrels = {"ann": {"i3": 1}, "bob": {"i2": 1}}
    result = evaluate(qrels, RecommenderRun(run, before, items=ITEMS), "RR Coverage")
    assert result.by_query("RR") == {"ann": 0.5, "bob": 0.5}
    assert result["Coverage"] == approx(3 / 9)  # i2, i3 and i0, which bob does not know
    assert "known:excluded(2)|catalogue:9|interactions:3" in result.signature
    assert result.warnings[-1] == "2 of 6 recommended items were known to their users and were left out"
    kept = evaluate(qrels, RecommenderRun(run, before, items=ITEMS, known="keep"), "RR Coverage")
    assert kept.by_query("RR") == {"ann": 0.25, "bob": 0.5}
    lost = evaluate({"ann": {"i0": 1}, "bob": {"i0": 1}}, RecommenderRun(run, before, items=ITEMS), "RR")
    assert any("1 relevant item is known" in warning for warning in lost.warnings)


def test_leave_last_out():
    rows = [("a", "x", 4, 1), ("a", "y", 3, 3), ("a", "z", 5, 2), ("b", "x", 1, 9), ("c", "x", 2, 1), ("c", "y", 2, 1)]
    split = read_interactions(rows).leave_last_out()
    assert split.qrels == {"a": {"y": 1.0}, "c": {"y": 1.0}}
    assert split.graded() == {"a": {"y": 3.0}, "c": {"y": 2.0}}
    assert (split.too_few, split.known, split.tied) == (1, 0, 1)
    assert split.train.items == ("x", "z", "x", "x")
    again = read_interactions([("a", "x", 1, 1), ("a", "y", 1, 2), ("a", "x", 1, 3)]).leave_last_out()
    assert (again.qrels, again.known) == ({}, 1)
    two = read_interactions(rows).leave_last_out(2)
    assert (two.qrels, two.too_few) == ({"a": {"z": 1.0, "y": 1.0}}, 2)


def test_interactions_of_files(tmp_path):
    for name, text in {
        "ml.csv": "userId,movieId,rating,timestamp\n1,10,4.0,964982703\n1,20,3.5,964982800\n",
        "t.tsv": "user_id\titem_id\tdatetime\n1\t10\t2026-03-01\n1\t20\t2026-03-02T10:00:00\n",
        "j.jsonl": '{"user_id": 1, "item_id": 10, "weight": 2, "timestamp": 5}\n'
        '{"user_id": 1, "item_id": 20, "weight": 2, "timestamp": 6.5}\n',
    }.items():
        (tmp_path / name).write_text(text)
        assert read_interactions(tmp_path / name).leave_last_out().qrels == {"1": {"20": 1.0}}
    (tmp_path / "qrels.csv").write_text("user_id,item_id,rating\n1,10,4\n")
    (tmp_path / "run.csv").write_text("user_id,item_id,score\n1,10,0.5\n")
    assert evaluate(tmp_path / "qrels.csv", tmp_path / "run.csv", "RR")["RR"] == 1


def test_errors():
    qrels, run, before = {"a": {"i1": 1}}, {"a": ["i1", "i2"]}, [("b", "i1")]
    with pytest.raises(InputError, match="1 recommended item is not in the catalogue: i2"):
        evaluate(qrels, RecommenderRun(run, before), "Coverage")
    with pytest.raises(MeasureError, match="the features of the items are not known"):
        evaluate(qrels, RecommenderRun(run, before, items=ITEMS), "ILS")
    with pytest.raises(InputError, match="1 recommended item has no features: i2"):
        evaluate(qrels, RecommenderRun(run, before, items=ITEMS, features={"i1": [1]}), "ILS")
    for features, fact in (
        ({"i1": [1], "i2": [1, 2]}, "items have 1 or 2 numbers"),
        ({"i1": [1], "i2": "a|b"}, "some items have labels, and others have numbers"),
        ({"i1": [1], "i2": ["a", 1]}, "those of item 'i2' are not a row of finite numbers"),
        ({"i1": 1, "i2": [1]}, "those of item 'i1' are not a row of finite numbers"),
        ([{"item_id": "i1", "vector": "1 2"}], "'1 2' is not a vector"),
    ):
        with pytest.raises(InputError, match=fact):
            evaluate(qrels, RecommenderRun(run, before, items=ITEMS, features=features), "ILS")
    with pytest.raises(MeasureError, match="Coverage is measured on lists"):
        evaluate(qrels, run, "Coverage")
    with pytest.raises(InputError, match="there are no times"):
        read_interactions(before).leave_last_out()
    with pytest.raises(InputError, match="some interactions have a rating"):
        read_interactions([{"user": "a", "item": "b", "rating": 1}, {"user": "a", "item": "c"}])
    result = evaluate(qrels, RecommenderRun(run, before, items=ITEMS), "Coverage RR")
    with pytest.raises(InputError, match="Coverage is a value of the whole run"):
        result.weighted({"a": 2})
    with pytest.raises(InputError, match="Coverage is a value of the whole run"):
        result.by_segment("Coverage", {"a": "x"})


def test_the_recorded_simulation_keeps_what_is_promised():
    cells = json.loads((Path(__file__).parents[2] / "bench" / "recommending.json").read_text())
    tied = [cell for cell in cells if cell["kind"] == "tied"]
    others = [cell for cell in cells if cell not in tied]
    assert (len(tied), len(others)) == (6, 18)
    assert max(cell["missed"] for cell in others) <= 0.06
    assert max(cell["false"] for cell in others) <= 0.04
    assert max(cell["missed"] for cell in tied if cell["measure"] == "Gini") <= 0.145
    assert max(cell["missed"] for cell in tied if cell["measure"] == "Coverage") <= 0.07
    assert max(cell["false"] for cell in tied) < 0.055


def test_recommenders_are_compared_like_other_runs():
    people = [f"u{number}" for number in range(30)]
    qrels = {user: {ITEMS[at % 9]: 1} for at, user in enumerate(people)}
    same = RecommenderRun(dict.fromkeys(people, ITEMS[:3]), [("x", item) for item in ITEMS])
    other = RecommenderRun({user: (ITEMS[at % 9 :] + ITEMS)[:3] for at, user in enumerate(people)}, same.interactions)
    found = compare(qrels, {"same": same, "other": other}, "Coverage@3").differences[0]
    assert found.difference == approx(1 - 3 / 9)
    assert "30 queries: a value of the whole run" in comparison_text(
        compare(qrels, {"a": same, "b": other}, "Coverage@3")
    )
    with pytest.raises(ComparisonError, match="cannot be used for Coverage@3, a value of the whole run"):
        compare(qrels, {"a": same, "b": other}, "Coverage@3", test="sign")
    again = evaluate(qrels, other, "Coverage@3", policy=Policy(depth=1))
    assert again["Coverage@3"] == 1
    texts = {item: f"[{at}, {at + 1}]" for at, item in enumerate(ITEMS)}  # as tables have vectors
    rows = {item: [at, at + 1] for at, item in enumerate(ITEMS)}
    values = [
        evaluate(qrels, RecommenderRun(same.run, same.interactions, features=given), "ILS")["ILS"]
        for given in (texts, rows)
    ]
    assert values[0] == values[1]
    labels = {item: ["odd" if at % 2 else "even", "x"] for at, item in enumerate(ITEMS)}
    alike = evaluate(qrels, RecommenderRun(same.run, same.interactions, features=labels), "ILS(similarity=jaccard)@3")
    pairs = itertools.combinations([set(labels[item]) for item in ITEMS[:3]], 2)
    assert alike["ILS(similarity=jaccard)@3"] == approx(sum(len(a & b) / len(a | b) for a, b in pairs) / 3)
