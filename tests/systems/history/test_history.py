"""A history holds what was measured, exactly and once, whatever is appended, merged or killed."""

import os
import signal
import sqlite3
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.errors import InputError, MissingLibrary
from cranfield.systems.history import opening, packing
from cranfield.systems.history.history import KEPT
from cranfield.systems.history.lines import line_of
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.results import Again, KeptRun
from tests.systems.history.measuring import QUERIES, TEXTS, accepting, at, evaluated, judgments, measured


def ids(results):
    return [result.id for result in results]


def test_a_result_comes_back_as_it_was_measured(history):
    result = measured([1, 2] * 20, 3, passed=True, gone=["b", "a"], failed=2)
    history.append([result])
    [found] = history.results("mine")
    assert (found.id, found.system, found.at) == (result.id, "mine", result.moment.at)
    assert (found.change, found.commit) == (result.moment.change, result.moment.change.commit[:7])
    assert (found.passed, found.gone, found.counts["failed"]) == (True, ("a", "b"), 2)
    assert found.latency == {"p50": 0.02, "p95": 0.05}
    assert found.signature == result.evaluation.signature
    assert [*found.values] == ["RR", "nDCG@10"]
    estimate = result.evaluation.estimate("RR")
    assert found.values["RR"] == (estimate.value, estimate.low, estimate.high)
    assert history.by_query(found.id, "RR", found.basis) == result.evaluation.by_query("RR")
    assert history.texts(found.basis) == TEXTS
    assert history.result(found.id) == found
    assert history.result("other") is None
    assert found.to_dict()["values"]["RR"]["value"] == estimate.value


def test_the_same_result_is_there_once(history):
    result = measured([1] * 40, 1)
    for _ in range(3):
        history.append([result], acceptances=[accepting(result)])
    assert len(history.results()) == len(history.acceptances("mine")) == 1


def test_results_of_the_same_run_at_another_time_are_others(history):
    history.append([measured([1] * 40, 1), measured([1] * 40, 2), measured([1] * 40, 2, system="other")])
    assert len(history.results("mine")) == 2
    assert history.systems() == ("mine", "other")


def test_results_are_chosen_by_system_time_number_and_branch(history):
    every = [measured([1 + day % 3] * 40, day, moment=at(day, branch="dev" if day % 2 else "main")) for day in range(6)]
    history.append(every)
    assert ids(history.results("mine")) == [result.id for result in every]
    assert ids(history.results(last=2)) == [result.id for result in every[-2:]]
    assert ids(history.results(since=at(4).at)) == [result.id for result in every[4:]]
    assert ids(history.results(branch="dev")) == [result.id for result in every[1::2]]


def test_results_of_pull_requests_are_never_among_the_others(history):
    history.append([measured([1] * 40, 1), measured([2] * 40, 2, moment=at(2, pull="17"))])
    assert [result.change.pull for result in history.results()] == [""]
    assert [result.change.pull for result in history.results(pulls=True)] == ["17"]


def test_weights_and_bases_tell_what_is_comparable(history):
    weights = {query: 1.0 + (query == "q00") for query in QUERIES}
    history.append([measured([1] * 40, 1), measured([1] * 40, 2, weights=weights)])
    history.append([measured([1] * 40, 3, judgments(more=1)), measured([1] * 39, 4, queries=QUERIES[1:])])
    results = history.results()
    assert len({result.basis for result in results}) == 4
    assert history.weights(results[0].basis) is None
    found = history.weights(results[1].basis)
    column = found.column(QUERIES)
    assert (column / column[1]).tolist() == [2.0, *[1.0] * 39]


def test_values_of_a_run_measured_again_are_beside_its_own(history):
    first = measured([1, 2] * 20, 1)
    history.append([first])
    again = evaluated([1, 2] * 20, judgments(more=2))
    history.append(again=[Again(first.id, again, 120)])
    [other] = set(history.bases()) - {first.basis.id}
    assert history.values("RR", other)[first.id].value == again["RR"]
    assert [result.basis for result in history.results()] == [first.basis.id]  # it is still the same result
    assert history.columns("RR", other, [first.id, "unknown"]).keys() == {first.id}


def run_file(content):
    import hashlib

    return KeptRun(hashlib.sha256(content).hexdigest(), "mine.run.tsv", lambda: content)


def with_run(day, content, **more):
    from dataclasses import replace

    from cranfield.evaluation.hashes import InputHashes

    result = measured([1] * 40, day, **more)
    run = run_file(content)
    return replace(result, evaluation=replace(result.evaluation, _inputs=InputHashes("qrels", run.sha256))), run


def test_accepted_runs_and_the_last_thirty_are_kept_each_once(history):
    for day in range(KEPT + 5):
        result, run = with_run(day, b"run %d" % (day // 2))  # two results each have the same run
        history.append([result], runs=[run], acceptances=[accepting(result)] if day == 1 else [])
    kept = {history.run(sha256)[1] for sha256 in history.kept_runs()}
    assert kept == {b"run 0", *(b"run %d" % number for number in range(2, (KEPT + 5 + 1) // 2))}


def test_a_run_that_is_not_the_measured_one_is_not_kept(history):
    result, run = with_run(1, b"measured")
    history.append([result], runs=[run._replace(read=lambda: b"changed since")])
    assert history.kept_runs() == set()
    with pytest.raises(InputError, match="is not kept"):
        history.run(run.sha256)


def test_histories_are_merged_without_doubling(where, tmp_path, history):
    mine = [measured([1] * 40, day) for day in (1, 3)]
    theirs = [measured([2] * 40, day) for day in (2, 3)]
    history.append(mine)
    history.note("crawler replaced", who="Ann")
    other = tmp_path / "job.db"
    with open_history(other, create=True) as job:
        job.append([*theirs, mine[0]], acceptances=[accepting(theirs[0])])
        job.note("new synonyms")
    assert history.merge(other) == 2
    assert history.merge(other, other) == 0
    assert ids(history.results()) == [mine[0].id, theirs[0].id, *sorted(r.id for r in (mine[1], theirs[1]))]
    assert [note.text for note in history.notes()] == ["crawler replaced", "new synonyms"]
    assert [its.result for its in history.acceptances("mine")] == [theirs[0].id]


def test_a_merge_that_fails_appends_nothing(history, tmp_path):
    good, bad = tmp_path / "good.db", tmp_path / "bad.db"
    with open_history(good, create=True) as job:
        job.append([measured([1] * 40, 1)])
    bad.write_text("not a database")
    with pytest.raises(InputError, match="this is not a history of results"):
        history.merge(good, bad)
    assert history.results() == ()


def test_a_store_of_judgments_is_no_history(tmp_path):
    from cranfield import open_store

    open_store(tmp_path / "judgments.db", create=True).close()
    with pytest.raises(InputError, match="this is not a history of results"):
        open_history(tmp_path / "judgments.db")
    with pytest.raises(InputError, match="there is no such history"):
        open_history(tmp_path / "missing.db")


@pytest.mark.fault("a history whose columns were exchanged for others", "An error, never other values.", tries=4)
def test_damaged_columns_are_an_error(tmp_path, tries):
    path = tmp_path / "history.db"
    with open_history(path, create=True) as history:
        history.append([measured([1, 2] * 20, 1)])
    bombs = [b"", b"x", zlib.compress(b"\0" * 8 * 39), zlib.compress(b"\0" * 100_000_000)]
    for bomb in bombs[:tries]:
        with sqlite3.connect(path) as database:
            database.execute("update history_columns set packed = ?", (bomb,))
        database.close()
        with open_history(path, read_only=True) as history:
            [result] = history.results()
            with pytest.raises(InputError, match="what no history holds"):
                history.by_query(result.id, "RR", result.basis)


@pytest.mark.fault(
    "a process that appends to a history is killed", "What was reported is there, each result once and whole.", tries=8
)
def test_nothing_is_lost_or_doubled_when_it_is_killed(tmp_path, tries):
    path = tmp_path / "history.db"
    open_history(path, create=True).close()
    code = (
        "import sys; from tests.systems.history.measuring import *\n"
        "from tests.systems.history.test_history import with_run\n"
        "from cranfield.systems.history.opening import open_history\n"
        "with open_history(sys.argv[1]) as history:\n"
        "    for day in range(10**6):\n"
        "        result, run = with_run(day, b'%d' % day)\n"
        "        history.append([result], runs=[run], acceptances=[accepting(result)]); print(result.id, flush=True)"
    )
    reported = set()
    for attempt in range(tries):
        with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as process:
            for _ in range(3 + 5 * attempt):  # what was there before is appended again
                reported.add(process.stdout.readline().strip())
            os.kill(process.pid, signal.SIGKILL)
            reported |= {line.strip() for line in process.stdout}
        with open_history(path) as history:
            results = history.results("mine")
            found = ids(results)
            assert len(found) == len(set(found))
            assert reported - {""} <= set(found)
            assert len(set(found) - reported) <= 1  # one more may be there than was reported
            assert {its.result for its in history.acceptances("mine")} == set(found)
            for result in results:  # each is whole
                assert len(history.by_query(result.id, "RR", result.basis)) == 40
                assert history.run(result.run_sha256)[0] == "mine.run.tsv"


def test_several_processes_append_at_once(where):
    open_history(where, create=True).close()
    code = (
        "import sys; from tests.systems.history.measuring import *\n"
        "from cranfield.systems.history.opening import open_history\n"
        "with open_history(sys.argv[1]) as history:\n"
        "    for day in range(5):\n"
        "        history.append([measured([1] * 40, day, system=sys.argv[2])])"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, where, name]) for name in ("a", "b", "c")]
    assert [process.wait() for process in started] == [0, 0, 0]
    with open_history(where) as history:
        assert {name: len(history.results(name)) for name in "abc"} == {"a": 5, "b": 5, "c": 5}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
@settings(max_examples=200)
def test_columns_are_packed_exactly(values):
    column = np.array(values, dtype=np.float64)
    assert packing.unpacked_numbers(packing.packed_numbers(column), len(values)).tobytes() == column.tobytes()


def test_without_sqlalchemy_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingLibrary, match="a history of results"):
        opening.open_history(tmp_path / "history.db", create=True)


def test_groups_of_queries_are_kept_and_count_once(history):
    groups = {query: query[:2] for query in QUERIES}  # q0 to q3
    before, after = [1 + (at % 5 == 0) for at in range(40)], [1 + (at < 10) for at in range(40)]
    results = [measured(ranks, day, groups=groups) for day, ranks in enumerate((before, after), 1)]
    history.append(results)
    kept = history.weights(history.results()[0].basis)
    assert (kept.groups, kept.units, kept.equal) == (groups, 4, True)
    line = line_of(history, "mine", "RR")
    step = line.stretches[-1].points[-1].step
    one, other = (result.evaluation.estimate("RR").value for result in results)
    assert step.difference == pytest.approx(other - one)
    assert (step.better, step.worse) == (3, 1)
