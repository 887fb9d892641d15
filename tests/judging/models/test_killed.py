"""The process that asks a model is killed at any moment; a restart continues, and pays for no stored reply twice."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from cranfield import ask_model
from cranfield.judging.models import ledger
from tests.judging.models.server import ModelServer
from tests.waiting import until

JOBS, SAMPLES = 4, 2
# Imports everything once, and forks for each line: a store, settings and options.
PARENT = """
import json, os, signal, sys, traceback
from cranfield import ModelAssessor, ask_model, open_store
from cranfield.judging.models import session
import sqlalchemy.dialects.sqlite

signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a child that has ended completely, all of its threads, is gone at once
for line in sys.stdin:
    where, settings, how = json.loads(line)
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    code = 1
    try:
        with open_store(where) as store:
            ask_model(store, ModelAssessor(**settings), **how)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
"""


@pytest.fixture
def start():
    """Start asking in another process; returns its id."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:

        def started(where, settings, how):
            parent.stdin.write(json.dumps([str(where), settings, how]) + "\n")
            parent.stdin.flush()
            return int(parent.stdout.readline())

        yield started
        parent.stdin.close()


@pytest.mark.fault(
    "a model's run is killed",
    "No stored reply is paid for again, and the budget counts what was under way.",
    tries=25,
)
def test_nothing_is_paid_for_twice(filled, start, tries):
    store = filled(queries=4, documents=60)
    chance = random.Random(1)
    stored_before = set()
    asked_again = []
    killed = threading.Event()
    wanted = 0

    def behave(request):
        named = (request.documents[0], request.body["seed"])
        if named in stored_before:
            asked_again.append(named)
        time.sleep(chance.uniform(0, 0.02))
        if len(server.requests) > wanted:  # a busy machine may kill late, and would be asked everything before
            killed.wait()
        return json.dumps({"grade": len(request.document) % 4})

    with ModelServer(behave, count_tokens=lambda request: (len(request.prompt) // 4, 5)) as server:
        settings = {"name": "small", "model": "m", "url": server.url, "samples": SAMPLES, "seed": 0}
        how = {"jobs": JOBS, "canaries": 6, "wait": 0.01}
        for _ in range(tries):
            wanted = len(server.requests) + chance.randrange(1, 12)
            killed.clear()
            process = start(store.name, settings, how)
            until(lambda wanted=wanted: len(server.requests) >= wanted, "no request was made")
            time.sleep(chance.uniform(0, 0.01))
            os.kill(process, signal.SIGKILL)
            killed.set()
            until(lambda process=process: not alive(process))  # until then it holds the lock of the store
            until(lambda: server.now == 0)  # the requests of the killed process
            stored_before |= stored(store)
        process = start(store.name, settings, how)
        until(lambda: len(stored(store)) == 240 * SAMPLES + 6)
        until(lambda: not alive(process))
        assert asked_again == []
        times = Counter((request.documents[0], request.body["seed"]) for request in server.requests)
        extra = len(server.requests) - (240 * SAMPLES + 6)
        assert len(times) == 240 * SAMPLES + 6
        assert 0 < extra <= tries * JOBS  # those in progress when it was killed
        from cranfield import ModelAssessor

        assert ask_model(store, ModelAssessor(**settings), **how).requests == 0
        with store._reading() as connection:  # the budget includes those, too
            assert ledger.costs(connection, "small").most >= server.tokens
    events = list(store.events())
    assert len(events) == len({event.doc_id for event in events}) == 240


def stored(store):
    """The text and the seed of each reply in the store."""
    import sqlalchemy as sa

    with store._reading() as connection:
        rows = connection.execute(sa.text("select doc_id, sample, purpose, details from replies")).all()
    return {
        (json.loads(row.details)["text"], 0)
        if row.purpose == "canary"
        else (f"{row.doc_id}\n\ntext of {row.doc_id}", row.sample)
        for row in rows
    }


def alive(process):
    """Whether any thread of a process is left."""
    return os.path.exists(f"/proc/{process}")
