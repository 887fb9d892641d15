"""reusability: what each run would have lost had it not been in the pool."""

import json
import random

import pytest

from cranfield import ComparisonError, InputError, Judgments, MeasureError, Policy, evaluate, kendall_tau, reusability
from cranfield.comparison.reusability import LeftOutRow
from cranfield.io.source import open_source
from cranfield.ranks.ranking import rank_run
from cranfield.show.stability_text import reusability_text
from tests.program import run as run_program

MEASURES = ["nDCG@10", "AP", "Bpref", "P(rel=2)@5", "R@5", "infAP", "nDCG(judged_only=True)@5"]

# Two systems share a and b; only "new" has c, which is relevant, and only "old" has x, which is not.
QRELS = {"q": {"a": 1, "b": 0, "c": 1, "x": 0}}
RUNS = {"old": {"q": ["a", "b", "x"]}, "new": {"q": ["c", "a", "b"]}}


def collection(seed):
    """Judgments and runs that share many documents and have many equal scores."""
    chance = random.Random(seed)
    documents = [f"d{n}" for n in range(14)]
    queries = [f"q{n}" for n in range(4)]
    runs = {}
    for name in ("one", "two", "three", "four"):
        kept = [query for query in queries if chance.random() < 0.9] or queries[:1]
        runs[name] = {
            q: {d: chance.randint(0, 5) for d in chance.sample(documents, chance.randint(1, 10))} for q in kept
        }
    qrels = {q: {d: chance.choice([-1, 0, 0, 1, 2]) for d in chance.sample(documents, 9)} for q in queries}
    return qrels, runs


def first(ranking, depth):
    """The naive order: by score, larger ids first where scores are equal."""
    return sorted(ranking, key=lambda d: (ranking[d], d), reverse=True)[:depth]


def rebuilt(qrels, runs, left_out, depth):
    """The judgments without documents that only the left-out runs have down to a depth, and the removed grades."""
    fewer, gone = {}, []
    for query, judged in qrels.items():
        own = {d for run in left_out for d in first(runs[run].get(query, {}), depth)}
        others = {d for run in runs if run not in left_out for d in first(runs[run].get(query, {}), depth)}
        fewer[query] = {d: grade for d, grade in judged.items() if d not in own or d in others}
        gone += [grade for d, grade in judged.items() if d not in fewer[query]]
    return fewer, gone


def place(values, run):
    return 1 + sum(round(each, 12) > round(values[run], 12) for each in values.values())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("groups", [None, {"one": "team", "two": "team"}])
def test_rebuilding_the_judgments_and_evaluating_again_gives_the_same(seed, groups):
    qrels, runs = collection(seed)
    depth, policy = 1 + seed % 6, Policy(missing="skip" if seed % 2 else "zero")

    def values(judgments, measure):
        return {run: evaluate(judgments, runs[run], measure, policy=policy, check_ids=False)[measure] for run in runs}

    found = reusability(qrels, runs, MEASURES, groups=groups, pool_depth=depth, policy=policy, check_ids=False)
    for measure in MEASURES:
        before = values(qrels, measure)
        rel = 2 if "rel=2" in measure else 1
        without, orders = {}, {}
        for run in runs:
            team = [each for each in runs if groups and groups.get(each, each) == groups.get(run, run)] or [run]
            fewer, gone = rebuilt(qrels, runs, team, depth)
            after = values(fewer, measure)
            without[run] = after[run]
            if len(set(rounded(before).values())) > 1 < len(set(rounded(after).values())):
                orders[tuple(team)] = kendall_tau(rounded(before), rounded(after))
            [row] = [row for row in found.rows if (row.measure, row.run) == (measure, run)]
            assert (row.value, row.without) == (pytest.approx(before[run]), pytest.approx(after[run]))
            assert row.change == pytest.approx(after[run] - before[run])
            assert row.unique == sum(grade >= rel for grade in gone)
            assert (row.rank, row.rank_without) == (place(before, run), place(after, run))
            assert row.group == ((groups or {}).get(run, ""))
        overall = found.overall[measure]
        changes = {run: without[run] - before[run] for run in runs}
        assert overall.mean == pytest.approx(sum(changes.values()) / len(changes))
        assert abs(overall.largest) == pytest.approx(max(map(abs, changes.values())))
        if orders:
            assert overall.tau == pytest.approx(sum(orders.values()) / len(orders))
            assert overall.lowest == pytest.approx(min(orders.values()))
        else:
            assert (overall.tau, overall.lowest) == (None, None)


def rounded(values):
    return {name: round(value, 12) for name, value in values.items()}


def test_by_hand():
    found = reusability(QRELS, RUNS, "P@3 AP")
    old, new, old_ap, new_ap = found.rows
    assert (old.unique, old.value, old.without, old.change) == (0, 1 / 3, 1 / 3, 0)
    assert (new.unique, new.value, new.without) == (1, 2 / 3, 1 / 3)
    assert (new.rank, new.rank_without, old.rank, old.rank_without) == (1, 1, 2, 2)  # without c, both have a alone
    assert (old_ap.value, old_ap.without) == (0.5, 0.5)  # a at rank 1; only x goes
    assert (new_ap.value, new_ap.without, new_ap.rank_without) == (1, 0.5, 2)  # without c: a at rank 2 of new
    assert found.overall["AP"] == (-0.25, -0.5, "new", 0, -1)  # without new they change places, without old they do not
    assert found.overall["P@3"].largest_run == "new"


def test_identical_runs_have_no_documents_of_their_own_unless_they_are_a_group():
    runs = {"one": RUNS["new"], "two": RUNS["new"], "other": RUNS["old"]}
    assert [row.unique for row in reusability(QRELS, runs, "AP").rows] == [0, 0, 0]
    grouped = reusability(QRELS, runs, "AP", groups={"one": "g", "two": "g"})
    assert [(row.unique, row.group) for row in grouped.rows] == [(1, "g"), (1, "g"), (0, "")]
    named_alike = reusability(QRELS, runs, "AP", groups={"one": "other"})  # a group named like a run is not that run
    assert [row.unique for row in named_alike.rows] == [0, 0, 0]


def test_documents_below_the_pool_depth_stay_judged():
    qrels = {"q": {"a": 1, "deep": 1, "nowhere": 1}}
    runs = {"one": {"q": ["a", "x", "deep"]}, "two": {"q": ["y", "z"]}}
    one = reusability(qrels, runs, "R@3", pool_depth=2).rows[0]
    assert (one.unique, one.value, one.without) == (1, 2 / 3, 1 / 2)  # a goes, deep stays
    assert reusability(qrels, runs, "R@3", pool_depth=3).rows[0].without == 0


def test_the_pool_depth_is_that_of_the_complete_pool_but_at_least_10():
    ranking = [f"d{n:02}" for n in range(40)]
    runs = {"one": {"q": ranking}, "two": {"q": ranking[::-1]}}

    def depth(judged):
        return reusability({"q": dict.fromkeys(judged, 1)}, runs, "AP").pool_depth

    assert depth(ranking[:15] + ranking[-12:]) == 12
    assert depth(ranking[:15] + ranking[-4:]) == 10
    assert depth(ranking) == 40
    assert reusability({"q": {"d01": 1}}, runs, "AP", policy=Policy(complete=True)).pool_depth == 10


def test_scanned_tables_are_accepted_as_runs():
    judgments = Judgments.read(QRELS)
    tables = {name: rank_run(judgments, open_source(run, "run"), Policy()) for name, run in RUNS.items()}
    assert reusability(judgments, tables, "AP") == reusability(QRELS, RUNS, "AP")


def test_lower_values_rank_first_if_lower_is_better():
    old, new = reusability(QRELS, RUNS, "E").rows
    assert new.value < old.value
    assert (new.rank, old.rank) == (1, 2)


def test_invalid_arguments_are_refused():
    with pytest.raises(ComparisonError, match="all runs are in the group 'team'") as caught:
        reusability(QRELS, RUNS, "AP", groups={"old": "team", "new": "team"})
    assert "Hint" in str(caught.value)
    with pytest.raises(ComparisonError, match="at least two runs"):
        reusability(QRELS, {"old": RUNS["old"]}, "AP")
    with pytest.raises(InputError, match="there is no run 'older'") as caught:
        reusability(QRELS, RUNS, "AP", groups={"older": "team"})
    assert "old, new" in str(caught.value)
    with pytest.raises(ComparisonError, match="pool_depth=0"):
        reusability(QRELS, RUNS, "AP", pool_depth=0)
    with pytest.raises(ComparisonError, match="not a mean"):
        reusability(QRELS, RUNS, "NumRet")
    with pytest.raises(MeasureError):
        reusability(QRELS, RUNS, "alpha_nDCG@5")


def test_rounding_is_not_a_change_and_small_changes_are_shown():
    row = LeftOutRow("AP", "mine", "", 1, 0.3, 0.1 + 0.2, 1, 1)
    assert (row.without == row.value, row.change) == (False, 0)
    qrels = {str(q): {"a": 1, "b": int(q == 0)} for q in range(9999)}
    runs = {"one": {str(q): ["a"] for q in range(9999)}, "two": {"0": ["a", "b"]}}
    text = reusability_text(reusability(qrels, runs, "P@10"))
    assert "-0.00001" in text


def test_json():
    found = reusability(QRELS, RUNS, "AP", groups={"new": "team"})
    data = json.loads(found.to_json())
    assert data["pool_depth"] == 10
    assert data["rows"][1] == {
        "measure": "AP",
        "run": "new",
        "group": "team",
        "unique": 1,
        "value": 1.0,
        "without": 0.5,
        "change": -0.5,
        "rank": 1,
        "rank_without": 2,
    }
    assert data["overall"]["AP"] == {"mean": -0.25, "largest": -0.5, "largest_run": "new", "tau": 0.0, "lowest": -1.0}


def test_text_fits_the_terminal():
    qrels, runs = collection(1)
    text = reusability_text(reusability(qrels, runs, MEASURES, groups={"one": "team", "two": "team"}, check_ids=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "each group of runs" in text
    long = {f"{name} with a name that goes on and on, much longer than is wise": run for name, run in runs.items()}
    alone = reusability_text(reusability(qrels, long, "nDCG(judged_only=True)@5", check_ids=False))
    assert max(map(len, alone.splitlines())) <= 80
    assert "group" not in alone.partition("unique:")[0]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q 0 {d} {grade}\n" for d, grade in QRELS["q"].items()))
    for name, run in RUNS.items():
        lines = (f"q Q0 {d} {rank} {-rank} {name}\n" for rank, d in enumerate(run["q"], 1))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_command_line(files):
    done = run_program("stability", "qrels", "old.run", "new.run", "-m", "AP", "--leave-out", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "AP" in done.stdout
    assert "largest -0.5000 (new)" in done.stdout
    (files / "groups").write_text("new team\n")
    options = ("--groups", "groups", "--pool-depth", "1")
    call = ("stability", "qrels", "old.run", "new.run", "-m", "AP", "--leave-out")
    done = run_program(*call, *options, "--format", "json", cwd=files)
    assert json.loads(done.stdout)["rows"][1]["group"] == "team"
    assert json.loads(done.stdout)["pool_depth"] == 1
    (files / "groups").write_text("new team\nold team\n")
    done = run_program(*call, *options, cwd=files)
    assert (done.returncode, "Hint" in done.stderr) == (2, True)
    for wrong in (("--remove", "0.5"), ("--repeats", "3"), ("--design", "uniform"), ("--seed", "1")):
        done = run_program("stability", "qrels", "old.run", "new.run", "--leave-out", *wrong, cwd=files)
        assert done.returncode == 2
        assert wrong[0] in done.stderr
    for option in (options[:2], options[2:]):
        done = run_program("stability", "qrels", "old.run", "new.run", *option, cwd=files)
        assert done.returncode == 2
        assert f"{option[0]} needs --leave-out" in done.stderr
