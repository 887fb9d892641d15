"""A run that is written while a system answers: complete, in order, and without loss after a kill."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import pytest

from cranfield.errors import CranfieldError, InputError, OutputError, SystemFailure
from cranfield.systems.asking import ask
from cranfield.systems.opening import open_system
from cranfield.systems.recording import record
from tests.waiting import until

QUERIES = {f"q{n}": f"text {n}" for n in range(30)}


def system(search, name="s"):
    return open_system(search, name=name)


def good(query, k):
    number = query.split()[1]
    return [(f"d{number}-{rank}", 1 / rank) for rank in range(1, min(k, 5) + 1)]


EXPECTED = [f"q{n} Q0 d{n}-{rank} {rank} {1 / rank!r} s" for n in range(30) for rank in range(1, 6)]


CHOSEN = [f"{line}_(k=10)" for line in EXPECTED]  # the name of the run says what was chosen


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_run_is_in_the_order_of_the_queries(tmp_path, jobs):
    recorded = record(system(good), QUERIES, tmp_path / "out.run", 10, jobs=jobs)
    assert (tmp_path / "out.run").read_text().splitlines() == CHOSEN
    assert (recorded.answered, recorded.short, recorded.empty, recorded.complete) == (30, 30, (), True)
    saved = json.loads((tmp_path / "out.run.json").read_text())
    assert saved["queries"] == 30
    assert 0 <= saved["latency"]["p50"] <= saved["latency"]["max"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.run", "out.run.json"]


def test_an_answer_without_documents_is_an_answer(tmp_path):
    recorded = record(system(lambda query, k: []), {"1": "a"}, tmp_path / "o.run")
    assert (recorded.empty, recorded.complete, recorded.failed) == (("1",), True, {})
    assert (tmp_path / "o.run").read_text() == ""


def test_a_failed_query_is_not_in_the_run_and_is_asked_again(tmp_path):
    state = {"broken": True}

    def flaky(query, k):
        if state["broken"] and query == "text 7":
            raise ValueError("index corrupt")
        return good(query, k)

    first = record(system(flaky), QUERIES, tmp_path / "out.run")
    assert first.failed == {"q7": "ValueError: index corrupt"}
    assert not [line for line in (tmp_path / "out.run").read_text().splitlines() if line.startswith("q7 ")]
    state["broken"] = False
    second = record(system(flaky), QUERIES, tmp_path / "out.run", resume=True)
    assert second.complete
    assert (tmp_path / "out.run").read_text().splitlines() == EXPECTED


def test_every_torn_tail_is_repaired(tmp_path):
    """Wherever a kill cuts the file, resuming gives the same run."""

    def failing(query, k):
        if query == "text 5":
            raise ValueError
        return good(query, k)

    queries = dict(list(QUERIES.items())[:6])
    out = tmp_path / "out.run"
    record(system(failing), queries, out)
    whole = (tmp_path / "out.run.partial").read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "out.run.partial").write_bytes(whole[:size])
        assert record(system(good), queries, out, resume=True).complete
        assert out.read_text().splitlines() == EXPECTED[:30]


def test_an_unfinished_run_is_neither_overwritten_nor_mixed_up(tmp_path):
    def failing(query, k):
        raise ValueError("no")

    out = tmp_path / "out.run"
    record(system(failing), {"1": "a"}, out, give_up=0)
    with pytest.raises(OutputError, match="there is an unfinished run here"):
        record(system(good), {"1": "a"}, out)
    for name, changed in (
        ("queries", {"queries": {"1": "b"}}),
        ("k", {"k": 5}),
        ("system", {"name": "other"}),
        ("collapse", {"collapse": "#"}),
    ):
        with pytest.raises(InputError, match=f"begun with another {name}"):
            record(
                system(good, changed.get("name", "s")),
                changed.get("queries", {"1": "a"}),
                out,
                changed.get("k", 100),
                resume=True,
                collapse=changed.get("collapse"),
            )
    (tmp_path / "out.run.partial").write_text("what?\n")
    with pytest.raises(InputError, match=r"out.run.partial:1: this line was changed"):
        record(system(good), {"1": "a"}, out, resume=True)


def test_resuming_a_finished_run_sends_no_queries(tmp_path):
    asked = []

    def counted(query, k):
        asked.append(query)
        return [query.split()[1]]

    first = record(system(counted), QUERIES, tmp_path / "o.run")
    second = record(system(counted), QUERIES, tmp_path / "o.run", resume=True)
    assert len(asked) == 30
    assert second == first
    with pytest.raises(OutputError, match="this file already exists"):
        record(system(counted), QUERIES, tmp_path / "o.run")
    assert len(asked) == 30
    record(system(counted), QUERIES, tmp_path / "o.run", force=True)
    assert len(asked) == 60


SLOW = """
import sys, time
from cranfield.systems.opening import open_system
from cranfield.systems.recording import record
def search(query, k):
    time.sleep(0.01)
    number = query.split()[1]
    return [(f"d{number}-{rank}", 1 / rank) for rank in range(1, 6)]
queries = {f"q{n}": f"text {n}" for n in range(30)}
record(open_system(search, name="s"), queries, sys.argv[1], 10, resume=True, jobs=3)
"""


def size(path):
    """The size of a file; 0 if there is none, because a process may remove it at any moment."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


@pytest.mark.fault("`run` is killed", "It continues, and the run is the same.", tries=5)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killed_at_any_moment(tmp_path, tries):
    out = tmp_path / "out.run"
    kills = 0
    for delay in (0.02, 0.05, 0.08, 0.03, 0.0)[:tries]:
        process = subprocess.Popen([sys.executable, "-c", SLOW, out])
        before = size(f"{out}.partial")
        until(lambda process=process, before=before: process.poll() is not None or size(f"{out}.partial") > before)
        time.sleep(delay)
        if process.poll() is None:
            process.kill()
            kills += 1
        process.wait()
    subprocess.run([sys.executable, "-c", SLOW, out], check=True)
    assert kills >= 1
    assert out.read_text().splitlines() == CHOSEN
    assert not os.path.exists(f"{out}.partial")


def test_unknown_documents_are_reported(tmp_path):
    recorded = record(system(good), QUERIES, tmp_path / "o.run", 2, known=lambda: [f"d{n}-1" for n in range(30)])
    assert recorded.unknown == 30
    assert recorded.unknown_ids == ("d0-2", "d1-2", "d10-2", "d11-2", "d12-2")
    from cranfield.show.systems_text import recorded_lines

    assert any("warning: 30 documents are not in the corpus: d0-2" in line for line in recorded_lines(recorded))


def test_ids_with_blanks_need_a_table(tmp_path):
    def search(query, k):
        return ["My file.pdf"]

    refused = record(system(search), {"1": "x"}, tmp_path / "o.run")
    assert "the id 'My file.pdf' contains a blank, which trec cannot store" in refused.failed["1"]
    with pytest.raises(CranfieldError, match="'query 1' contains a blank"):
        record(system(search), {"query 1": "x"}, tmp_path / "p.run")
    recorded = record(system(search), {"query 1": "x"}, tmp_path / "o.tsv")
    assert (tmp_path / "o.tsv").read_text() == "query_id\tdoc_id\tscore\nquery 1\tMy file.pdf\t1.0\n"
    from cranfield import evaluate

    assert evaluate({"query 1": {"My file.pdf": 1}}, tmp_path / "o.tsv", "RR")["RR"] == 1.0
    assert recorded.complete


def test_memory_does_not_grow_with_the_queries(tmp_path):
    answer = [(f"document-{rank}", float(-rank)) for rank in range(20)]
    peaks = []
    for count in (300, 3000):
        queries = {f"q{n}": "x" for n in range(count)}
        tracemalloc.start()
        record(system(lambda query, k: list(answer)), queries, tmp_path / f"{count}.run", jobs=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Twenty documents take about 2 kB; only the position of a query and a few numbers are kept.
    assert peaks[1] - peaks[0] < 2700 * 900


def test_back_off_waits_longer_each_time_and_heeds_the_server(monkeypatch):
    waits = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, timeout=None: waits.append(timeout) or False)

    def failing(query, k):
        raise SystemFailure("busy", retry=True, after=3.0 if len(waits) == 3 else None)

    [answer] = ask(system(failing), [("1", "x")], 1, retries=4, wait=1.0)
    assert answer.attempts == 5
    assert 0.75 <= waits[0] <= 1.25 < 1.5 <= waits[1] <= 2.5 < 3 <= waits[2] <= 5
    assert waits[3] >= 6
    waits.clear()
    list(ask(system(failing), [("1", "x")], 1, retries=9, wait=1.0))
    assert max(waits) == 30


def test_an_interrupt_reaches_the_caller_and_ends_the_threads():
    def search(query, k):
        time.sleep(0.005)
        return ["a"]

    before = threading.active_count()
    answers = ask(system(search), ((str(n), "x") for n in range(10**6)), 1, jobs=3)
    assert next(answers).ranking == [("a", 1.0)]
    answers.close()
    until(lambda: threading.active_count() <= before, "a thread is still running")
