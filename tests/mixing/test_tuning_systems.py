"""A live system is tuned within its budget, by training queries alone, and nothing is asked twice."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter

import numpy as np
import pytest

from cranfield import (
    Collection,
    ComparisonError,
    InputError,
    OutputError,
    SystemFailure,
    compare,
    evaluate,
    open_collection,
    open_system,
    record,
    tune_system,
)
from cranfield.evaluation.folds import cross_fitted, folds_of
from cranfield.mixing.halving import Spent, chosen_by_halving, halved, planned, rungs
from cranfield.mixing.points import at_edges, parameters_of, points
from cranfield.systems.queries import REQUIRED
from tests.program import run
from tests.systems.server import Server, elastic

QUERIES = 30
CHANCE = np.random.default_rng(7)
FOUND = {  # how well each document of a query matches its title and its text
    f"q{q}": {
        f"d{d}": (float(CHANCE.random() + (d < 3) * 0.6), float(CHANCE.random() + (d < 3) * 0.3)) for d in range(30)
    }
    for q in range(QUERIES)
}
QRELS = {query: {f"d{d}": int(d < 3) for d in range(20)} for query in FOUND}
MINE = Collection("mine", {query: query for query in FOUND}, QRELS)
TRIED = {"boost": [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]}


class Engine:
    """A system that counts its questions; some of them fail."""

    def __init__(self, fails=lambda query, boost: False):
        self.asked, self.fails = Counter(), fails

    def search(self, query, k=10, *, boost=1.0):
        self.asked[query, boost] += 1
        if self.fails(str(query), boost):
            raise ValueError("no answer")
        scores = {d: boost * title + text for d, (title, text) in FOUND[str(query)].items()}
        return sorted(scores.items(), key=lambda pair: -pair[1])[:k]


def tuned(engine=None, budget=10_000, **options):
    return tune_system((engine or Engine()).search, MINE, "nDCG@5", tried=TRIED, budget=budget, **options)


def values():
    """Of each setting, by another way: recorded, and evaluated."""
    columns = []
    for boost in [1.0, 0.0, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0]:
        recorded = record(open_system(Engine().search, arguments={"boost": boost}), MINE.queries)
        columns.append(evaluate(QRELS, recorded, "nDCG@5").column("nDCG@5"))
    return np.stack(columns, axis=1)


def test_with_enough_requests_it_is_cross_fitting_of_the_whole_table():
    table, engine = values(), Engine()
    found = tuned(engine)
    none = np.zeros(QUERIES, int)
    wanted = cross_fitted(table, folds_of(np.arange(QUERIES), none, np.random.default_rng(0)))
    assert found.value.value == pytest.approx(wanted.value.mean())
    assert found.final.seen == pytest.approx(table.mean(axis=0).max())
    assert {setting.name: setting.seen for setting in found.settings} == pytest.approx(
        {
            f"boost = {boost}": mean
            for boost, mean in zip([1.0, 0.0, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0], table.mean(axis=0), strict=True)
        }
    )
    assert found.requests == table.size == engine.asked.total()
    assert found.means["search"] == pytest.approx(table[:, 0].mean())
    assert found.untuned.name == "boost = 1.0"


@pytest.mark.parametrize("budget", [175, 200, 220, 239])
def test_a_budget_is_kept_and_nothing_is_asked_twice(budget):
    engine = Engine()
    found = tuned(engine, budget, seed=budget)
    assert found.requests == engine.asked.total() <= budget
    assert max(engine.asked.values()) == 1
    assert found.final.queries == found.untuned.queries == QUERIES
    assert found.repeats >= 1
    assert sum(setting.chosen for setting in found.settings) == pytest.approx(1)
    assert found.to_dict()["requests"] == found.requests


def test_a_budget_that_is_too_small_says_what_is_needed():
    with pytest.raises(ComparisonError, match="100 requests are too few for 8 settings and 30 queries") as error:
        tuned(budget=100)
    needed = int(error.value.hint.split()[0])
    assert tuned(budget=needed).requests <= needed


def test_no_fold_chooses_by_what_it_holds_out():
    """Whatever the values of held-out queries are, the choice is the same."""
    chance = np.random.default_rng(1)
    table = chance.random((40, 16))
    fold = folds_of(np.arange(40), np.zeros(40, int), chance, 1, 5)
    plan = planned(np.zeros(40, int), fold[0], 16, 420, chance)
    assert plan.rounds
    for held_out in range(5):
        training = plan.order[fold[0][plan.order] != held_out]
        chosen, seen = [], set()

        def fill(rows, settings, spare, seen=seen):
            seen.update(rows.tolist())

        for _ in range(5):
            other = np.where((fold[0] == held_out)[:, None], chance.random((40, 16)), table)
            chosen.append(chosen_by_halving(other, fill, training, plan, np.ones(40), None))
        assert len(set(chosen)) == 1
        assert seen <= set(training.tolist())


def test_halving_keeps_the_best_of_each_round():
    chance = np.random.default_rng(2)
    table, asked = chance.random((32, 12)), []
    fold = folds_of(np.arange(32), np.zeros(32, int), chance, 20, 4)
    plan = planned(np.zeros(32, int), fold[0], 12, 300, chance)

    def fill(rows, settings, spare):
        asked.append((len(rows), len(settings)))

    found = chosen_by_halving(table, fill, plan.order, plan, np.ones(32), None)
    alive = list(range(12))
    steps = rungs(32, 12, plan.rounds, plan.kept)
    assert asked == steps
    for step, (queries, _) in enumerate(steps):
        means = {at: table[plan.order[:queries], at].mean() for at in alive}
        best = sorted(alive, key=lambda at: -means[at])
        alive = best[: steps[step + 1][1]] if step + 1 < len(steps) else best[:1]
    assert [found] == alive


@pytest.mark.parametrize("seed", range(8))
def test_the_first_repeat_always_fits(seed):
    chance = np.random.default_rng(seed)
    queries, settings = int(chance.integers(20, 60)), int(chance.integers(2, 90))
    fold = folds_of(np.arange(queries), np.zeros(queries, int), chance, 20, 5)
    with pytest.raises(ComparisonError) as error:
        planned(np.zeros(queries, int), fold[0], settings, 1, np.random.default_rng(seed))
    for budget in {int(error.value.hint.split()[0].replace(",", "")), queries * settings, queries * settings - 1}:
        table = np.full((queries, settings), np.nan)
        used = 0

        def fill(rows, chosen, spare, table=table, budget=budget):
            nonlocal used
            cells = np.ix_(rows, chosen)
            wanted = int(np.isnan(table[cells]).sum())
            if wanted and used + wanted > budget - spare:
                raise Spent
            used += wanted
            table[cells] = np.where(np.isnan(table[cells]), chance.random(table[cells].shape), table[cells])

        plan = planned(np.zeros(queries, int), fold[0], settings, budget, np.random.default_rng(seed))
        found = halved(table, fill, plan, fold)
        assert len(found.chosen) >= 1
        assert used <= budget
        assert not np.isnan(found.value).any()


# Interrupted, and continued.

SCRIPT = """
    import json, sys, time
    from tests.mixing import test_tuning_systems as these
    engine = these.Engine()
    def search(query, k=10, *, boost=1.0):
        time.sleep(0.003)
        return engine.search(query, k, boost=boost)
    found = these.tune_system(
        search, these.MINE, "nDCG@5", tried=these.TRIED, budget=200, path=sys.argv[1], resume=True
    )
    print(json.dumps([engine.asked.total(), found.to_dict()]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.fault(
    "a tuned system whose tuning is killed", "No answer is asked again, and the result is the same.", tries=2
)
def test_killed_half_way_it_continues(tmp_path, tries):
    path = tmp_path / "answers"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(path)]
    answered = 0
    for _ in range(tries):
        process = subprocess.Popen(command, cwd=os.getcwd(), stdout=subprocess.DEVNULL)
        wanted = answered + 60
        while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < wanted):
            time.sleep(0.002)
        assert process.poll() is None  # it was not done yet
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        answered = path.read_bytes().count(b"\n") - 1
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    asked, found = json.loads(done.stdout)
    whole = json.loads(json.dumps(tuned(budget=200).to_dict()))
    assert found == whole
    assert asked == whole["requests"] - answered


def test_answers_are_kept_and_used_again(tmp_path):
    path, engine = tmp_path / "answers", Engine()
    first = tuned(engine, 180, path=path)
    with pytest.raises(OutputError, match="there are answers of an earlier call here"):
        tuned(engine, 180, path=path)
    asked = engine.asked.total()
    again = tuned(engine, 180, path=path, resume=True)
    assert engine.asked.total() == asked
    assert again.to_dict() == first.to_dict()
    more = tune_system(engine.search, MINE, "nDCG@5", tried={"boost": [*TRIED["boost"], 32.0]}, path=path, resume=True)
    assert len(more.settings) == 9
    assert max(engine.asked.values()) == 1
    with pytest.raises(InputError, match="it was begun with another k"):
        tuned(engine, 180, path=path, resume=True, k=5)
    tuned(engine, 180, path=path, force=True)
    assert max(engine.asked.values()) == 2


def test_a_setting_that_always_fails_stops_with_its_name(tmp_path):
    engine = Engine(lambda query, boost: boost == 4.0)
    with pytest.raises(SystemFailure, match=r"with boost = 4\.0, .*no answer") as error:
        tuned(engine, path=tmp_path / "answers", retries=0)
    assert "resume" in error.value.hint
    engine.fails = lambda query, boost: query == "q3" and boost > 1
    found = tuned(engine, path=tmp_path / "answers", resume=True, retries=0)
    [warning] = [its for its in found.warnings if "failed" in its]
    assert warning.startswith("3 questions failed and count as answered with nothing (ValueError: no answer")


# What is found.


def test_the_final_run_is_recorded_from_the_answers(tmp_path):
    engine = Engine()
    found = tuned(engine, 200)
    asked = engine.asked.total()
    path = tmp_path / "tuned.run"
    recorded = found.run(path)
    assert engine.asked.total() == asked
    assert evaluate(QRELS, path, "nDCG@5")["nDCG@5"] == pytest.approx(found.final.seen)
    assert recorded.latency["max"] > 0
    made = json.loads((tmp_path / "tuned.run.json").read_text())["made"]
    assert made["tuned"]["setting"] == found.final.name
    before = found.run(setting=found.untuned, name="before")
    compared = compare(QRELS, {"before": before, "after": path})
    [doubt] = [doubt for doubt in compared.doubts if doubt.kind == "tuned-here"]
    assert "the best of 8 settings on 30 of 30 queries" in doubt.sentence
    again = record(open_system(engine.search, arguments=dict(found.final.arguments)), MINE.queries)
    assert evaluate(QRELS, again, "nDCG@5")["nDCG@5"] == pytest.approx(found.final.seen)
    unmeasured = next((its for its in found.settings if its.queries < QUERIES), None)
    if unmeasured:
        with pytest.raises(InputError, match="there is no run of this setting"):
            found.run(setting=unmeasured)


def test_unjudged_documents_that_decide_are_named():
    """With depth 2, new documents come first. They are better than they look, because nobody has judged them."""
    queries = {f"q{at}": f"q{at}" for at in range(20)}
    qrels = {query: {"good": 1, "bad": 0, "worse": 0} for query in queries}

    def search(query, *, mode="safe"):
        number = int(query[1:])
        if mode == "bold":  # the good one directly below a new one
            return ["new", "good", "bad"]
        return ["good", "bad", "worse"] if number % 2 else ["bad", "worse", "good"]

    found = tune_system(search, Collection("mine", queries, qrels), "RR", tried={"mode": ["safe", "bold"]})
    assert found.final.arguments == {"mode": "safe"}
    assert found.rival.arguments == {"mode": "bold"}
    assert sorted(found.to_judge) == sorted((query, "new") for query in queries)
    [warning] = [its for its in found.warnings if "unjudged documents decide" in its]
    assert "0% of the winner's top 10 are unjudged" in warning
    assert 'mode = "bold" would win: judge these 20 first' in warning
    assert found.unjudged.startswith("0 of the 60 documents")
    judged = {query: {**grades, "new": 1} for query, grades in qrels.items()}
    after = tune_system(search, Collection("mine", queries, judged), "RR", tried={"mode": ["safe", "bold"]})
    assert after.final.arguments == {"mode": "bold"}
    assert after.rival is None


def test_the_edge_of_what_was_tried_is_told():
    found = tune_system(Engine().search, MINE, "nDCG@5", tried={"boost": [0.0, 0.1, 0.2]})
    assert (
        "boost = 0.2 is the largest value tried: try larger ones, too" in found.warnings or found.final is found.untuned
    )
    same = tune_system(
        lambda query, k=5, *, unused=1: [f"d{at}" for at in range(k)], MINE, "RR", tried={"unused": [1, 2, 3]}
    )
    assert not [warning for warning in same.warnings if "tried" in warning]
    assert same.final == same.untuned


def test_strangers_are_refused():
    with pytest.raises(InputError, match="none of the 90 documents that it returns first is judged"):
        tune_system(lambda query, *, boost=1: ["x", "y", "z"], MINE, "RR", tried={"boost": [1, 2]})


# What can be tuned.


def described(tried, settings=None, known=("body", "tuned"), takes=None):
    parameters = parameters_of(tried, settings or {}, dict.fromkeys(known), takes)
    return parameters, points(parameters, settings or {})


def test_parameters_are_settings_or_arguments():
    settings = {"body": {"query": {"should": [{"boost": 1}, {"boost": 2}]}}, "arguments": {"weights": {"title": 2}}}
    tried = {"body.query.should.1.boost": [2, 3], "weights": {"title": [1, 2]}}
    parameters, every = described(tried, settings)
    assert [its.name for its in parameters] == ["body.query.should.1.boost", "weights.title"]
    assert every[0].settings == settings
    assert every[0].values == {"body.query.should.1.boost": 2, "weights.title": 2}
    assert len(every) == 4
    last = every[-1]
    assert last.values == {"body.query.should.1.boost": 3, "weights.title": 1}
    assert last.settings["body"]["query"]["should"] == [{"boost": 1}, {"boost": 3}]
    assert last.settings["arguments"] == {"weights": {"title": 1}}
    assert settings["body"]["query"]["should"][1] == {"boost": 2}  # unchanged


def test_the_untuned_setting_is_the_one_that_is_configured():
    tried = {"a": [1, 2], "b": [3, 4], "c": [5, 6]}
    _, every = described(tried, takes={"a": 1, "b": REQUIRED})
    assert every[0].values == {"a": 1, "b": 3}
    assert len(every) == 9
    assert every[0].settings == {"arguments": {"a": 1, "b": 3}}


def test_grids_points_and_ranges():
    assert len(described({"a": list(range(30)), "b": list(range(30))})[1]) == 901
    _, spread = described({name: list(range(12)) for name in "abc"})
    assert 400 <= len(spread) <= 513
    assert all({point.values[name] for point in spread[1:]} == set(range(12)) for name in "abc")
    [parameter], _ = described({"a": "0..1"})
    assert parameter.values[:3] == (0.0, 0.1, 0.2)
    parameters, every = described({"a": [0, 1, 2], "b": ["x", "y", "z"]})
    at = {tuple(point.values.values()): list(at_edges(point, parameters)) for point in every}
    assert at[2, "x"] == [("a", 2, "largest")]
    assert not at[0, "x"]
    assert not at[1, "z"]


@pytest.mark.parametrize(
    ("tried", "message"),
    [
        ({}, "there is no parameter to tune"),
        ({"a": []}, "a has no values"),
        ({"a": [1, "x"]}, "of several kinds"),
        ({"a": "low..high"}, "is not a range"),
        ({"body.size.deep": [1]}, "there is no 'deep' in int"),
    ],
)
def test_what_cannot_be_tuned_is_refused(tried, message):
    with pytest.raises(InputError, match=message):
        described(tried, {"body": {"size": 3}})


def test_an_argument_that_the_system_does_not_take_is_refused():
    with pytest.raises(InputError, match="it does not take an argument 'bost'") as error:
        tune_system(Engine().search, MINE, "RR", tried={"bost": [1, 2]})
    assert "boost" in error.value.hint


def test_the_settings_of_our_own_engines_are_tuned():
    found = tune_system(
        "sqlite", "builtin", tried={"tuned": [False, True], "weights.title": [1, 2]}, folds=2, repeats=2
    )
    assert {setting.name for setting in found.settings} >= {"tuned = true, weights.title = 2"}
    wanted = evaluate(
        "builtin", record(open_system("sqlite", open_collection("builtin")), open_collection("builtin").queries)
    )
    assert found.untuned.seen == pytest.approx(wanted["nDCG@10"])


def test_a_request_has_places_for_arguments():
    bodies = []

    def behave(query, attempt):
        asked = json.loads(query)
        bodies.append(asked)
        scores = {d: asked["boost"] * title + text for d, (title, text) in FOUND[asked["text"]].items()}
        return elastic(sorted(scores.items(), key=lambda pair: -pair[1])[:10])

    with Server(behave) as server:
        settings = {
            "type": "elasticsearch",
            "url": server.url,
            "body": {"query": {"text": "{query}", "boost": "{weights.title}", "fields": ["title^{weights.title}"]}},
            "arguments": {"weights": {"title": 1.0}},
            "tune": {"weights": {"title": [0.5, 1.0, 4.0]}, "body": {"size": [10, 20]}},
        }
        found = tune_system(settings, MINE, "nDCG@5", name="shop", jobs=4)
    assert found.requests == len(bodies) == QUERIES * (6 + 1)
    assert {body["fields"][0] for body in bodies} == {"title^0.5", "title^1.0", "title^4.0"}
    assert {body["boost"] for body in bodies} == {0.5, 1.0, 4.0}
    assert found.to_copy.splitlines()[0] == "[systems.shop]"
    assert f"arguments.weights.title = {found.final.arguments['weights.title']}" in found.to_copy
    sizes = Counter(body.get("size") for _, _, body in server.requests)
    assert sizes[10] == sizes[20] == 3 * QUERIES


PROJECT = """
collection = "builtin"
measures = ["RR", "nDCG@10"]

[systems.mine]
type = "python"
object = "engine:search"

[systems.mine.tune]
weights.title = [0, 1, 2, 4]

[systems.other]
type = "sqlite"
"""
ENGINE = """
from cranfield import open_collection
read = open_collection("builtin").documents()
documents = [(d.doc_id, d.title.lower().split(), d.text.lower().split()) for d in read]
def search(query, k=10, *, weights={"title": 1}):
    words = query.lower().split()
    found = {d: sum(weights["title"] * title.count(w) + text.count(w) for w in words) for d, title, text in documents}
    return sorted(((d, s) for d, s in found.items() if s), key=lambda pair: (-pair[1], pair[0]))[:k]
"""


def test_a_system_of_a_project_is_tuned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cranfield.toml").write_text(PROJECT)
    (tmp_path / "engine.py").write_text(ENGINE)
    told = run("tune", "--requests", "500", "--curve", "curve.svg")
    assert told.returncode == 0, told.stderr
    assert "tuned mine vs mine: RR" in told.stdout
    assert "To copy:\n  [systems.mine]\n  arguments.weights.title = " in told.stdout
    assert "weights.title" in (tmp_path / "curve.svg").read_text()
    assert max(map(len, told.stdout.splitlines())) <= 80
    refused = run("tune", "mine")
    assert "--resume continues with them, --force replaces them" in refused.stderr
    data = json.loads(run("tune", "mine", "--resume", "--format", "json").stdout)
    assert data["requests"] == 240
    assert [point["value"] for point in data["curves"][0]["points"]] == [0, 1, 2, 4]
    again = "tune", "mine", "--resume", "--try", "weights.title=1,3", "-m", "nDCG@10", "--run", "t.run"
    chosen = run(*again)
    assert "nDCG@10" in chosen.stdout
    compared = run("compare", "builtin", "builtin:plain", "t.run", "--no-bounds")
    assert "t was tuned: it is the best of 2 settings" in compared.stdout
    assert "there is no system 'mini'" in run("tune", "mini").stderr
    assert "there is no parameter to tune" in run("tune", "other").stderr
    (tmp_path / "cranfield.toml").unlink()
    assert "give QRELS and two RUNs or more" in run("tune", "builtin").stderr
