"""The similarity of two orders, against naive loops from the definitions."""

import io
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, kendall_tau, rbo, run_overlap, spearman_rho, tau_ap
from tests import generated

patience = st.sampled_from([0.3, 0.5, 0.8, 0.9])


@st.composite
def orders(draw, ties=True):
    """A list of some of nine items, cut into ties."""
    items = draw(st.lists(st.sampled_from("abcdefghi"), unique=True, max_size=9))
    groups = []
    while items:
        size = draw(st.integers(1, 3)) if ties else 1
        groups.append(items[:size])
        items = items[size:]
    return groups


def at_or_above(groups, depth):
    """All items of a tie are at its first rank."""
    seen, rank = set(), 1
    for group in groups:
        if rank > depth:
            break
        seen |= set(group)
        rank += len(group)
    return seen


def agreement(one, other, depth):
    a, b = at_or_above(one, depth), at_or_above(other, depth)
    return 2 * len(a & b) / (len(a) + len(b))


def overlap_down_to(one, other, p, depth):
    return math.fsum((1 - p) * p ** (d - 1) * agreement(one, other, d) for d in range(1, depth + 1))


def extended(one, other, depth, agree):
    """Both orders made longer, so that the unseen part agrees as much as possible, or not at all."""
    short, long = sorted(([list(g) for g in one], [list(g) for g in other]), key=lambda order: sum(map(len, order)))
    sizes = [sum(map(len, order)) for order in (short, long)]

    def lacking(here, there):
        held = {item for group in here for item in group}
        return [item for group in there for item in group if item not in held]

    if agree:
        for item in lacking(short, long)[: sizes[1] - sizes[0]]:
            short.append([item])
        to_short, to_long = lacking(short, long), lacking(long, short)
        short += [[item] for item in to_short]
        long += [[item] for item in to_long]
    for order, name in ((short, "short"), (long, "short" if agree else "long")):
        count = sum(map(len, order))
        order += [[f"{name}{rank}"] for rank in range(count, depth)]
    return short, long


def extrapolated(one, other, p):
    short, long = sorted((one, other), key=lambda order: sum(map(len, order)))
    s, n = (sum(map(len, order)) for order in (short, long))
    if not s:
        return 0.0
    at_s = agreement(short, long, s)
    total = overlap_down_to(short, long, p, s)
    last = at_s
    for depth in range(s + 1, n + 1):
        shared = len(at_or_above(short, depth) & at_or_above(long, depth))
        last = (shared + at_s * (depth - s)) / ((depth + len(at_or_above(long, depth))) / 2)
        total += (1 - p) * p ** (depth - 1) * last
    return total + last * p**n


@settings(max_examples=120, deadline=None)
@given(orders(), orders(), patience)
def test_rank_biased_overlap_equals_naive_loops(one, other, p):
    found = rbo(one, other, p)
    deep = 400 if p == 0.9 else 150  # p^deep is below 1e-14
    assert found.extrapolated == pytest.approx(extrapolated(one, other, p), abs=1e-12)
    assert found.least == pytest.approx(overlap_down_to(*extended(one, other, deep, False), p, deep), abs=1e-12)
    most = overlap_down_to(*extended(one, other, deep, True), p, deep)
    assert found.least + found.residual == pytest.approx(most, abs=1e-12)
    assert found.least - 1e-12 <= found.extrapolated <= found.least + found.residual + 1e-12
    assert rbo(other, one, p) == pytest.approx(found, abs=1e-15)


@settings(max_examples=100, deadline=None)
@given(orders(ties=False), orders(ties=False), patience)
def test_rbo_follows_the_equations_of_the_paper(one, other, p):
    """Webber, Moffat & Zobel 2010: equations 11, 30 and 32, which have no ties."""
    short, long = sorted(([g[0] for g in one], [g[0] for g in other]), key=len)
    s, n = len(short), len(long)
    if not s:
        return
    x = [len(set(short[:d]) & set(long[:d])) for d in range(n + 1)]
    front = (1 - p) / p
    added = sum(x[d] / d * p**d for d in range(1, n + 1))
    added += sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    found = rbo(short, long, p)
    assert found.extrapolated == pytest.approx(front * added + ((x[n] - x[s]) / n + x[s] / s) * p**n, abs=1e-12)
    least = front * (sum((x[d] - x[n]) * p**d / d for d in range(1, n + 1)) - x[n] * math.log(1 - p))
    assert found.least == pytest.approx(least, abs=1e-12)
    f = s + n - x[n]
    inner = s * sum(p**d / d for d in range(s + 1, f + 1)) + n * sum(p**d / d for d in range(n + 1, f + 1))
    inner += x[n] * (math.log(1 / (1 - p)) - sum(p**d / d for d in range(1, f + 1)))
    assert found.residual == pytest.approx(p**s + p**n - p**f - front * inner, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(orders().filter(bool), patience)
def test_an_order_agrees_fully_with_itself(order, p):
    assert float(rbo(order, order, p)) == pytest.approx(1)
    assert rbo(order, [[item.upper() for item in group] for group in order], p)[:2] == pytest.approx((0, 0), abs=1e-12)


def test_scores_and_lists_give_the_same_overlap():
    assert rbo({"a": 3, "b": 1, "c": 1, "d": 0}, ["x", "a"]) == rbo(["a", {"b", "c"}, ("d",)], ["x", "a"])
    assert rbo([1, 2], ["1", "2"]).extrapolated == pytest.approx(1)
    assert rbo([], ["a"]) == pytest.approx((0, 0, 1))
    assert rbo([], []) == pytest.approx((0, 0, 1))


@pytest.mark.parametrize(
    ("one", "other", "p", "message"),
    [
        (["a", "a"], ["b"], 0.9, "the first list: 'a' appears 2 times"),
        (["a"], ["b", ["c", "b"]], 0.9, "the second list: 'b' appears 2 times"),
        (["a"], ["a"], 1, "p=1 is not a probability"),
        ("abc", ["a"], 0.9, "'abc' is not an order"),
        ({"a": math.nan}, ["a"], 0.9, "not a finite number"),
        ([None], ["a"], 0.9, "None is not an id"),
    ],
)
def test_bad_orders_are_an_error(one, other, p, message):
    with pytest.raises(InputError, match=message):
        rbo(one, other, p)


RUN = {"1": {"a": 3.0, "b": 2.0, "c": 2.0}, "2": {"x": 1.0}}
OTHER = {"1": {"c": 9.0, "a": 8.0}, "3": {"y": 1.0}}


def test_runs_from_any_source():
    import pandas

    expected = {"1": rbo(["a", ["b", "c"]], ["c", "a"]), "2": rbo(["x"], []), "3": rbo([], ["y"])}
    write = generated.plain
    rows = [(query, document, score) for query, ranking in RUN.items() for document, score in ranking.items()]
    for run in (
        RUN,
        rows,
        io.BytesIO(generated.trec_run(RUN, write)),
        pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"]),
    ):
        found = run_overlap(run, OTHER)
        assert found.by_query == expected
        assert found.missing == ("2", "3")
        assert found.mean == pytest.approx(expected["1"].extrapolated / 3)
    lists = run_overlap({"1": ["a", "b"]}, {1: ["a", "b"]}, p=0.5)
    assert lists.mean == pytest.approx(1)
    ranks = io.BytesIO(b"1\ta\t1\n1\tb\t2\n")
    assert run_overlap(ranks, {"1": ["a", "b"]}).mean == pytest.approx(1)


def test_bad_runs_are_an_error():
    with pytest.raises(InputError, match="document 'a' appears twice"):
        run_overlap({"1": ["a", "a"]}, RUN)
    with pytest.raises(InputError, match="appears twice, as a number and as text"):
        run_overlap({"1": ["a"], 1: ["b"]}, RUN)
    with pytest.raises(InputError, match="is not a ranking"):
        run_overlap({"1": "abc"}, RUN)
    with pytest.raises(InputError, match="no rankings"):
        run_overlap({}, {})


def test_explain_needs_a_ranking():
    with pytest.raises(InputError, match="is not a ranking"):
        cranfield.explain({"1": {"a": 1}}, {"1": 7}, "1")


def naive_tau_ap(estimate, reference):
    """The paper's sum for every way to break ties in both orders; [names, best first] each."""

    def ways(values):
        names = sorted(values)
        for order in itertools.permutations(names):
            if all(values[a] >= values[b] for a, b in itertools.pairwise(order)):
                yield order

    found = []
    for order, wanted in itertools.product(list(ways(estimate)), list(ways(reference))):
        added = 0.0
        for i in range(2, len(order) + 1):
            here = order[i - 1]
            added += sum(wanted.index(above) < wanted.index(here) for above in order[: i - 1]) / (i - 1)
        found.append(2 / (len(order) - 1) * added - 1)
    return math.fsum(found) / len(found)


@st.composite
def systems(draw):
    names = "abcde"[: draw(st.integers(2, 5))]
    values = st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)).filter(lambda v: len(set(v)) > 1)
    return dict(zip(names, draw(values))), dict(zip(reversed(names), draw(values)))


@settings(max_examples=100, deadline=None)
@given(systems())
def test_correlations_equal_naive_loops(pair):
    one, other = pair
    assert tau_ap(one, other) == pytest.approx(naive_tau_ap(one, other), abs=1e-12)
    sign = {
        (a, b): ((one[a] > one[b]) - (one[a] < one[b]), (other[a] > other[b]) - (other[a] < other[b]))
        for a, b in itertools.combinations(one, 2)
    }
    agreed = sum(x * y for x, y in sign.values())
    pairs = math.sqrt(sum(x != 0 for x, _ in sign.values()) * sum(y != 0 for _, y in sign.values()))
    assert kendall_tau(one, other) == pytest.approx(agreed / pairs)

    def ranks(values):
        return [sum(v > value for v in values.values()) + sum(v == value for v in values.values()) / 2
                for value in (values[name] for name in sorted(values))]  # fmt: skip

    x, y = ranks(one), ranks(other)
    x, y = [v - sum(x) / len(x) for v in x], [v - sum(y) / len(y) for v in y]
    rho = sum(a * b for a, b in zip(x, y)) / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))
    assert spearman_rho(one, other) == pytest.approx(rho)


@pytest.mark.parametrize("correlation", [kendall_tau, spearman_rho, tau_ap])
def test_correlations_reach_1_and_minus_1_and_check_their_input(correlation):
    values = {"a": 0.4, "b": 0.3, "c": 0.1}
    assert correlation(values, values) == pytest.approx(1)
    assert correlation(values, {name: -value for name, value in values.items()}) == pytest.approx(-1)
    for other, message in (
        ({"a": 0.1, "b": 0.2, "d": 0.3}, "only one of them has c, d"),
        ({"a": 0.1, "b": 0.1, "c": 0.1}, "all systems have the same value"),
        ({"a": 0.1, "b": math.nan, "c": 0.1}, "system 'b': nan is not a finite number"),
        ([0.1, 0.2, 0.3], "matched by name"),
    ):
        with pytest.raises(InputError, match=message):
            correlation(values, other)
    with pytest.raises(InputError, match="fewer than two"):
        correlation({"a": 1}, {"a": 1})


def test_mistakes_at_the_top_weigh_more():
    order = {"a": 4, "b": 3, "c": 2, "d": 1}
    top, bottom = {**order, "a": 3, "b": 4}, {**order, "c": 1, "d": 2}
    assert kendall_tau(order, top) == kendall_tau(order, bottom)
    assert tau_ap(order, top) == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    assert tau_ap(order, bottom) == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)
