"""Team-draft interleaving: the published cases, fair draws, and a test by units that does not alarm falsely."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from cranfield import ComparisonError, Credit, InputError, TeamDraft, preferred
from cranfield.traffic.interleaving import EXACT, _flipped


def drafts(a, b, length, times=400):
    return [TeamDraft(a, b, length, experiment="e", unit=f"u{at}", query="q") for at in range(times)]


def test_the_published_lists():
    """Rankings [1, 2] and [2, 3], three documents: (1, 2, 3) or (2, 1, 3), as in the tests of mpkato/interleaving."""
    found = Counter(draft.documents for draft in drafts(["1", "2"], ["2", "3"], 3))
    assert set(found) == {("1", "2", "3"), ("2", "1", "3")}
    assert 150 < found["1", "2", "3"] < 250


def test_the_published_credits():
    """List [1, 3, 4] with the teams {1} and {3, 4}: clicks on all three prefer b, on the first two neither."""
    wanted = [("1", "a"), ("3", "b"), ("4", "b")]
    draft = next(draft for draft in drafts(["1", "2"], ["3", "4"], 3) if [*draft.teams.items()] == wanted)
    assert draft.documents == ("1", "3", "4")
    assert draft.credit(["1", "3", "4"]).winner == "b"
    assert draft.credit(["1", "3"]) == Credit(1, 1)
    assert draft.credit(["1", "3"]).winner == ""
    assert draft.credit([]) == draft.credit(["advertisement"]) == Credit(0, 0)


def naive(a, b, length, coins):
    """The algorithm of Radlinski, Kurup and Joachims, by loops, with given coins."""
    shown, team_a, team_b = [], [], []
    while len(shown) < length:
        left_a, left_b = [d for d in a if d not in shown], [d for d in b if d not in shown]
        if not left_a and not left_b:
            break
        if left_a and left_b:
            turn_a = len(team_a) < len(team_b) or (len(team_a) == len(team_b) and coins.pop(0) == 0)
        else:
            turn_a = bool(left_a)
        picked = (left_a if turn_a else left_b)[0]
        shown.append(picked)
        (team_a if turn_a else team_b).append(picked)
    return tuple(shown), frozenset(team_a)


@pytest.mark.parametrize("seed", range(20))
def test_all_lists_of_a_naive_loop_appear_equally_often(seed):
    rng = np.random.default_rng(seed)
    pool = [f"d{at}" for at in range(7)]
    a, b = (list(rng.permutation(pool)[: int(rng.integers(1, 6))]) for _ in range(2))
    length = int(rng.integers(1, 8))
    expected = Counter(naive(a, b, length, list(coins)) for coins in product((0, 1), repeat=5))
    found = Counter(
        (draft.documents, frozenset(d for d, team in draft.teams.items() if team == "a"))
        for draft in drafts(a, b, length, 640)
    )
    assert set(found) == set(expected)
    for key, times in expected.items():
        assert found[key] == pytest.approx(times * 20, abs=5 * math.sqrt(times * 20) + 1)


def test_the_same_unit_and_query_see_the_same_list():
    a, b = [f"a{at}" for at in range(300)], [f"b{at}" for at in range(300)]
    one, same = (TeamDraft(a, b, 600, experiment="e", unit="u", query="q") for _ in range(2))
    assert one.teams == same.teams
    others = [
        TeamDraft(a, b, 600, experiment=e, unit=u, query=q)
        for e, u, q in (("f", "u", "q"), ("e", "v", "q"), ("e", "u", "r"))
    ]
    assert all(one.documents != other.documents for other in others)
    assert Counter(one.teams.values()) == {"a": 300, "b": 300}
    firsts = [one.teams[first] for first in one.documents[::2]]
    assert 100 < firsts.count("a") < 200


@pytest.mark.parametrize(
    ("a", "b", "length", "fact"),
    [
        (["1", "1"], ["2"], 3, "document '1' appears twice"),
        ("12", ["2"], 3, "is not a list of ids"),
        (["1"], {"2": 1.0}, 3, "is not a list of ids"),
        (["1"], [None], 3, "ranking b: rank 1: None is not an id"),
        ([("1", 0.5)], ["2"], 3, r"ranking a: rank 1: \('1', 0.5\) is not an id"),
        ([1, "1"], ["2"], 3, "document '1' appears twice"),
        (["1"], ["2"], 0, "is too short"),
    ],
)
def test_what_cannot_be_interleaved(a, b, length, fact):
    with pytest.raises(InputError, match=fact):
        TeamDraft(a, b, length)


def test_ids_may_be_whole_numbers():
    draft = TeamDraft([1, 2], [2, 3], 3, unit="u")
    assert set(draft.documents) == {"1", "2", "3"}
    assert sum(draft.credit([1, 2, 3, "3"])) == 3
    assert draft.click(2) == draft.click("2")
    with pytest.raises(InputError, match="'12' is not a list of ids"):
        draft.credit("12")


def test_rankings_that_return_nothing():
    assert TeamDraft([], [], 3).documents == ()
    assert TeamDraft([], ["1", "2"], 3).teams == {"1": "b", "2": "b"}
    with pytest.raises(InputError, match="is not in the list"):
        TeamDraft([], ["1"], 3).click("2")


# ---- the verdict


def naive_flips(table, alpha):
    """All ways to flip the signs of units: p, and the preferences that they do not reject."""
    units = len(table)
    net, sizes = [d for d, _ in table], [n for _, n in table]

    def p_of(preference):
        rest = [d - 2 * preference * n for d, n in table]
        total, up, down = sum(rest), 0, 0
        for signs in product((1, -1), repeat=units):
            flipped = sum(s * r for s, r in zip(signs, rest, strict=True))
            up, down = up + (flipped >= total - 1e-12), down + (flipped <= total + 1e-12)
        return min(1.0, 2 * min(up, down) / 2**units)

    assert sum(sizes) > 0
    kept = [at / 1000 for at in range(-500, 501) if p_of(at / 1000) > alpha]
    return p_of(0), min(kept), max(kept), sum(net) / sum(sizes) / 2


@pytest.mark.parametrize("seed", range(6))
def test_p_and_the_interval_are_those_of_all_flips(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 8)
    table = np.array([[rng.integers(-n, n + 1), n] for n in sizes.tolist()], dtype=float)
    p, low, high, _ = naive_flips(table.tolist(), 0.1)
    found = _flipped(table, 0.1, 0, 0)
    assert found[0] == pytest.approx(p)
    assert found[1:] == pytest.approx((low, high), abs=0.0011)


@pytest.mark.parametrize("units", [3, 8, EXACT, EXACT + 1, 30])
def test_a_verdict_and_its_interval_never_contradict_each_other(units):
    rng = np.random.default_rng(units)
    verdicts = 0
    for preference in np.linspace(-0.5, 0.5, 40):
        sizes = rng.integers(1, 4, units)
        table = np.array([[2 * rng.binomial(n, 0.5 + preference) - n, n] for n in sizes.tolist()], dtype=float)
        for alpha in (0.05, 0.1, 0.29):
            p, low, high = _flipped(table, alpha, 199, units)
            verdicts += p <= alpha
            assert (p <= alpha) == (low > 0 or high < 0)
    assert units == 3 or 20 < verdicts < 100


def test_drawn_flips_are_near_those_of_all():
    rng = np.random.default_rng(1)
    table = np.array([[rng.integers(-1, 3), 3] for _ in range(EXACT)], dtype=float)
    exact = _flipped(table, 0.05, 0, 0)
    table = np.concatenate([table, np.zeros((1, 2))])  # one unit more, which changes nothing
    assert _flipped(table, 0.05, 20_000, 3) == pytest.approx(exact, abs=0.02)


def test_clicks_are_counted_by_unit_and_query():
    clicks = [
        ("u1", "red", "d1", "a"),
        ("u1", "red", "d1", "a"),  # again: it counts once
        ("u1", "red", "d2", "b"),
        ("u1", "red", "d3", "b"),
        ("u1", "blue", "d1", "a"),
        ("u2", "red", "d9", "b"),
        ("u3", "red", "d1", "a"),
        ("u3", "red", "d2", "b"),
    ]
    found = preferred(clicks)
    assert (found.units, found.impressions, found.wins_a, found.wins_b, found.ties) == (3, 4, 1, 2, 1)
    assert found.value == pytest.approx((2 + 0.5) / 4 - 0.5)
    assert found.verdict == ""
    assert "Too close to call: b won 2 impressions and lost 1 (1 tie)" in found.sentence
    assert "no interval: too few units" in found.sentence
    assert json.loads(json.dumps(found.to_dict()))["low"] is None


def simulated(rng, units, preference=0.0, kept=0.9):
    """Clicks of units that ask a few queries again and again, and mostly click the same again."""
    rows = []
    for unit in range(units):
        for query in range(int(rng.integers(1, 4))):
            usual = rng.random() < 0.5 + preference
            for at in range(int(rng.geometric(0.15))):
                b = usual if rng.random() < kept else rng.random() < 0.5 + preference
                rows.append((f"u{unit}", f"q{query} {at}", "d", "b" if b else "a"))
    return rows


def binomial(found):
    """p of the test over impressions, by the normal approximation."""
    n = found.wins_a + found.wins_b
    return math.erfc(abs(found.wins_b - found.wins_a) / math.sqrt(n) / math.sqrt(2))


def test_equal_rankings_alarm_as_rarely_as_they_may_and_a_binomial_does_not():
    rng = np.random.default_rng(11)
    results = [preferred(simulated(rng, 40), permutations=1000) for _ in range(150)]
    false = sum(found.p <= 0.05 for found in results)
    assert false <= 15  # 5% of 150 are 7.5; more than 15 come in one of 200 cases
    assert sum(found.low > 0 or found.high < 0 for found in results) == false
    assert sum(binomial(found) <= 0.05 for found in results) > 45


def test_the_recorded_simulation_keeps_what_is_promised():
    recorded = json.loads((Path(__file__).parents[2] / "bench" / "interleaving.json").read_text())
    equal = [row for row in recorded if row["b"] == "equal"]
    assert [row["times"] for row in equal] == [600] * 3
    assert max(row["verdicts"] for row in equal) <= 0.06
    assert max(row["verdicts_binomial"] for row in equal) > 0.5
    assert all(row["held"] >= 0.9 for row in recorded)
    power = [row["power"] for row in recorded if row["b"] != "equal"]
    assert (len(power), round(min(power), 2), round(max(power), 2)) == (6, 0.74, 0.84)  # as the guide says


def test_a_preference_is_found_and_the_number_of_units_foretold():
    rng = np.random.default_rng(12)
    pilot = preferred(simulated(rng, 400, 0.1))
    assert pilot.verdict == "b"
    assert pilot.low < 0.1 < pilot.high
    needed = pilot.units_needed(0.1)
    found = sum(preferred(simulated(rng, needed, 0.1), permutations=500).verdict == "b" for _ in range(60))
    assert 39 <= found <= 57  # 80% of 60 are 48
    assert pilot.units_needed(pilot.detectable) == pytest.approx(pilot.units, abs=2)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_logs_of_clicks(ending, tmp_path):
    clicks = [
        TeamDraft(["d1", "d2"], ["d2", "d1"], experiment=name, unit=f"u{at}", query="lamp").click("d1")
        for at in range(50)
        for name in ("spring", "summer")
    ]
    path = tmp_path / f"clicks.{ending}"
    if ending == "csv":
        path.write_text("\n".join([",".join(clicks[0]), *(",".join(row.values()) for row in clicks)]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in clicks))
    with pytest.raises(InputError, match="experiment='spring'"):
        preferred(str(path))
    with pytest.raises(InputError, match="there are no clicks of the experiment 'autumn'") as caught:
        preferred(str(path), experiment="autumn")
    assert caught.value.hint == "there are some of 'spring', 'summer'"
    found = preferred(str(path), experiment="summer")
    assert found == preferred([row for row in clicks if row["experiment"] == "summer"])
    assert (found.units, found.verdict) == (50, "a")


@pytest.mark.parametrize(
    ("clicks", "fact"),
    [
        ([], "there are no clicks"),
        (7, "7 is neither a log nor rows"),
        ([("u", "q", "d")], "row 1: .* is not a click"),
        (["spam"], "row 1: 'spam' is not a click"),
        ([("u", "q", "d", "a"), None], "row 2: None is not a click"),
        ([("u", "q", "d", "c")], "row 1: 'c' is not a team"),
        ([("", "q", "d", "a")], "row 1 has no unit"),
        ([{"unit": "u", "query": "q", "team": "a"}], "row 1 has no document"),
        ([{"unit": "u", "query": "q", "document": "d"}], "row 1: '' is not a team"),
        ([("u", "q", "d", "a"), ("u", "q", "d", "b")], "row 2: document 'd' is in both teams"),
    ],
)
def test_clicks_that_mean_nothing(clicks, fact):
    with pytest.raises(InputError, match=fact):
        preferred(clicks)


def test_what_a_few_alike_units_say():
    found = preferred([(f"u{at}", "q", "d", "b") for at in range(12)])
    assert (found.verdict, found.value, found.high) == ("b", 0.5, 0.5)
    assert found.low == pytest.approx(0.5 - (1 - 0.05 ** (1 / 12)))
    assert found.detectable is None
    with pytest.raises(ComparisonError, match="do not show how units vary"):
        found.units_needed(0.1)
    with pytest.raises(ComparisonError):
        preferred([("u", "q", "d", "b")], alpha=0)
    with pytest.raises(ComparisonError, match="are too few"):
        preferred([("u", "q", "d", "b")], permutations=0)
