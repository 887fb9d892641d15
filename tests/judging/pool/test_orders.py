"""Orders of judging: against loops from their descriptions, and worked by hand."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.judging.decide.decision import Decision
from cranfield.judging.pool.order import RankedPool, RankedQuery
from cranfield.judging.pool.orders import ORDERS, find_order
from tests.judging.pool import oracle_orders as oracle

DOCUMENTS = [f"d{n}" for n in range(9)]
some_rankings = st.dictionaries(
    st.sampled_from(["one", "two", "three", "four"]),
    st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=7),
    min_size=1,
)
some_grades = st.fixed_dictionaries({document: st.sampled_from([0.0, 1.0, 2.0]) for document in DOCUMENTS})


def following(name, rankings, grades, seed=0, step=1):
    """All documents of a query in the order in which they are requested, `step` at a time."""
    pool, known, found = RankedPool({"q": rankings}, 10, seed), {}, []
    while chosen := find_order(name).begin(pool, {"q": known}).next(step):
        found += [document for _, document in chosen]
        known.update({document: grades[document] for _, document in chosen})
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mtf", oracle.move_to_front), ("mm", oracle.max_mean), ("mm-ns", oracle.max_mean_last)],
)
@settings(max_examples=150, deadline=None)
@given(rankings=some_rankings, grades=some_grades, seed=st.integers(0, 3))
def test_orders_match_their_description_when_judged_one_by_one(name, expected, rankings, grades, seed):
    relevant = {document: grade >= 1 for document, grade in grades.items()}
    chance = RankedQuery("q", rankings, seed).chance()
    assert following(name, rankings, grades, seed) == expected(rankings, relevant, chance)


@settings(max_examples=150, deadline=None)
@given(rankings=some_rankings, grades=some_grades, seed=st.integers(0, 3))
def test_hedge_takes_a_document_with_the_largest_sum(rankings, grades, seed):
    relevant = {document: grade >= 1 for document, grade in grades.items()}
    order = following("hedge", rankings, grades, seed)
    assert sorted(order) == sorted(oracle.union(rankings))
    for judged in range(len(order)):
        scores = oracle.hedge_scores(rankings, relevant, order[:judged])
        left = [scores[document] for document in order[judged:]]
        assert scores[order[judged]] >= max(left) - 1e-6 * max(1.0, *map(abs, left))


@settings(max_examples=60, deadline=None)
@given(rankings=some_rankings, seed=st.integers(0, 3))
def test_depth_is_by_the_best_rank(rankings, seed):
    best = {d: min(r.index(d) + 1 for r in rankings.values() if d in r) for d in oracle.union(rankings)}
    order = following("depth", rankings, dict.fromkeys(DOCUMENTS, 0), seed, step=3)
    assert [best[document] for document in order] == sorted(best.values())
    assert sorted(order) == sorted(best)


def test_uniform_gives_every_document_the_same_chance():
    rankings = {"one": ["a", "b", "c"], "two": ["c", "d", "e"]}
    first = Counter(following("uniform", rankings, dict.fromkeys("abcde", 0), seed, step=5)[0] for seed in range(500))
    assert set(first) == set("abcde")
    assert all(65 <= count <= 140 for count in first.values())  # 100 each; 9 is one standard deviation


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "decide"])
@settings(max_examples=25, deadline=None)
@given(rankings=some_rankings, grades=some_grades, judged=st.sets(st.sampled_from(DOCUMENTS)), count=st.integers(1, 5))
def test_every_order_returns_each_unjudged_document_once(name, rankings, grades, judged, count):
    """No document appears twice, judged ones never appear, and the same seed gives the same order."""
    pool = RankedPool({"q": rankings, "empty": {}, "p": rankings}, 10, 1)
    known = {"q": {document: grades[document] for document in judged}}
    ordered = find_order(name).begin(pool, known)
    unjudged = set(oracle.union(rankings)) - judged
    everything = ordered.next_of_each(None)
    assert {query: sorted(found) for query, found in everything.items()} == {
        "q": sorted(unjudged),
        "empty": [],
        "p": sorted(oracle.union(rankings)),
    }
    assert ordered.next_of_each(count) == {query: found[:count] for query, found in everything.items()}
    chosen = ordered.next(count)
    assert chosen == find_order(name).begin(pool, known).next(count)
    assert len(chosen) == min(count, sum(map(len, everything.values())))
    taken = {query: [document for its, document in chosen if its == query] for query in ("q", "p")}
    assert all(found == everything[query][: len(found)] for query, found in taken.items())


def test_move_to_front_by_hand():
    """The run that finds something is followed until it fails; then the others have their turn."""
    rankings = {"good": ["a", "b", "c", "d"], "poor": ["x", "y", "z"]}
    grades = {"a": 1, "b": 1, "c": 0, "d": 1, "x": 0, "y": 0, "z": 0}
    orders = {tuple(following("mtf", rankings, grades, seed)) for seed in range(20)}
    # After c, good is one below; so is poor after x: they are level, and chance takes one of them.
    assert orders <= {
        ("a", "b", "c", "x", "d", "y", "z"),
        ("a", "b", "c", "x", "y", "d", "z"),
        ("x", "a", "b", "c", "d", "y", "z"),
        ("x", "a", "b", "c", "y", "d", "z"),
    }
    assert len(orders) >= 3


def test_bandits_by_hand():
    """MM stays with 'long', which has the larger share, to its end; MM-NS leaves it after d, which is not relevant."""
    rankings = {"long": ["a", "b", "c", "d", "e"], "short": ["x", "y", "z"]}
    grades = {"a": 1, "b": 1, "c": 1, "d": 0, "e": 0, "x": 0, "y": 1, "z": 1}
    orders = {name: {"".join(following(name, rankings, grades, n)) for n in range(30)} for name in ("mm", "mm-ns")}
    # MM: after d 'long' has (1 + 3) / (2 + 4) = 0.67, after e 0.57; 'short' has 1/2, or 1/3 after x.
    assert orders["mm"] == {"abcdexyz", "xabcdeyz"}
    # MM-NS: after d 'long' has the mean of Beta(1, 2), 1/3; so has 'short' after x. After y it has that of Beta(2, 1).
    assert orders["mm-ns"] == {"abcdxyze", "abcdxeyz", "xabcdyze", "xabcdeyz"}


def test_a_judgment_counts_for_every_run_that_returns_the_document():
    rankings = {"one": ["a", "b"], "two": ["x", "a", "c"], "three": ["y", "z"]}
    known = {"a": 1, "x": 0, "y": 0}
    order = find_order("mm").begin(RankedPool({"q": rankings}, 5), {"q": known})
    # one: 2/3; two: (1 + 1) / (2 + 2) = 1/2; three: 1/3.
    assert order.next(3) == [("q", "b"), ("q", "c"), ("q", "z")]


def test_hedge_by_hand():
    """Z = 2 and four documents: a and x get ln 2 from their run, and (ln 2/3 + ln 2/4) / 2 from the other."""
    rankings = {"one": ["a", "b"], "two": ["x", "y"]}
    begin = find_order("hedge").begin
    pool = RankedPool({"q": rankings}, 2)
    assert {document for _, document in begin(pool, {}).next(2)} == {"a", "x"}
    # a is relevant: one has the weight 0.1 ** (-ln(2) / 2) = 2.2, two 0.1 ** (0.549 / 2) = 0.53. The sum of b is
    # 2.2 · 0 − 0.53 · 0.549 = -0.29, that of x 0.53 · 0.693 − 2.2 · 0.549 = -0.85.
    orders = {"".join(following("hedge", rankings, {"a": 1, "b": 0, "x": 0, "y": 0}, seed)) for seed in range(20)}
    assert orders == {"abxy", "xaby"}
    assert begin(pool, {"q": {"a": 0}}).next(1) == [("q", "x")]


def test_a_batch_comes_from_several_runs():
    rankings = {run: [f"{run}{n}" for n in range(5)] for run in "abc"}
    chosen = find_order("mtf").begin(RankedPool({"q": rankings}, 5), {}).next(3)
    assert {document[0] for _, document in chosen} == {"a", "b", "c"}


def test_documents_that_cannot_be_judged_count_as_not_relevant():
    rankings = {"one": ["a", "b"], "two": ["x", "y"]}
    order = find_order("mm").begin(RankedPool({"q": rankings}, 2), {"q": {"a": None}})
    assert order.next(1) == [("q", "x")]


def test_queries_take_turns():
    rankings = {"one": ["a", "b", "c"]}
    order = find_order("depth").begin(RankedPool({"q": rankings, "p": rankings}, 3), {"q": {"a": 0}})
    assert order.next(4) == [("q", "b"), ("p", "a"), ("q", "c"), ("p", "b")]


def test_decide_is_the_decision():
    runs = {
        name: {f"q{q}": [f"{name}{d}" for d in range(q, q + 4)] + ["both"] for q in range(6)} for name in ("x", "y")
    }
    grades = {"q0": {"x0": 2.0, "both": 1.0}, "q3": {"y4": 0.0}}
    pool = RankedPool({f"q{q}": {name: runs[name][f"q{q}"] for name in runs} for q in range(6)}, 5)
    decision = Decision.of(runs, "nDCG@5", grades)
    assert find_order("decide").begin(pool, grades).next(8) == decision.next(8)


def test_decide_returns_only_documents_that_distinguish_the_runs():
    same = {f"q{n}": {"one": ["a", "b"], "two": ["a", "b"]} for n in range(3)}
    other = {f"p{n}": {"one": ["a", "b"], "two": ["c", "d"]} for n in range(3)}
    order = find_order("decide").begin(RankedPool(same | other, 2), {"p0": {"a": 2.0}})
    chosen = order.next(100)
    assert {query for query, _ in chosen} == {"p0", "p1", "p2"}
    assert len(chosen) == 11
    of_each = order.next_of_each(1)
    assert list(of_each) == [*same, *other]
    assert max(map(len, of_each.values())) == 1
    assert all((query, document) in chosen for query, found in of_each.items() for document in found)
