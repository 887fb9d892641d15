"""Servers of the judging page that start quickly: a process that has imported everything forks them."""

import json
import random
import socket
import subprocess
import sys

import pytest

from tests.waiting import until

PARENT = """
import json, os, signal, sys, traceback
from cranfield.judging.page import application, serving
from cranfield.judging.pool import DECIDE, FollowPlan
from cranfield.judging.store.store import open_store
from cranfield.measures import parse_measure
import sqlalchemy.dialects.sqlite, uvicorn.protocols.http.h11_impl, uvicorn.loops.asyncio

for line in sys.stdin:
    message = json.loads(line)
    if isinstance(message, int):
        os.kill(message, signal.SIGKILL)
        os.waitpid(message, 0)  # until then it holds its port
        print("gone", flush=True)
        continue
    where, port, views, runs = message
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    application.VIEWS += tuple(application.PageView(*view) for view in views)
    try:
        with open_store(where) as store:
            followed = DECIDE.follow(store, runs, FollowPlan(measure=parse_measure("nDCG@10"))) if runs else None
            if followed:
                followed.wait("to decide")
            steps = {"Compare them": "cranfield compare judgments.db " + " ".join(runs)} if runs else None
            serving.serve(store, "ann", port=port, followed=followed, next_steps=steps, on_start=lambda listening: None)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)
"""


_GIVEN = set()


def free_port():
    """A free port below those of outgoing connections: a client of a dead server could otherwise connect to itself.

    No port is returned twice, because browsers keep data for each address.
    """
    for _ in range(100):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if port not in _GIVEN and probe.connect_ex(("127.0.0.1", port)):
                _GIVEN.add(port)
                return port
    raise RuntimeError("no port is free")


class Servers:
    """Starts a server for a store, and kills it."""

    def __init__(self):
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.running = {}

    def start(self, where, port=None, views=(), runs=None):
        """Start a server, with some more views, or to decide between runs, and return its address."""
        port = port or free_port()
        self.running[port] = int(self._ask([str(where), port, views, runs]))
        return f"http://127.0.0.1:{port}"

    def wait_for(self, address):
        """Wait until a server answers."""
        place = ("127.0.0.1", int(address.rpartition(":")[2]))

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(place) == 0

        until(answers, "the server did not start")

    def kill(self, address):
        """Kill a server, as a power failure would, and wait until it is gone."""
        self._ask(self.running.pop(int(address.rpartition(":")[2])))

    def _ask(self, what):
        self.parent.stdin.write(json.dumps(what) + "\n")
        self.parent.stdin.flush()
        return self.parent.stdout.readline()

    def close(self):
        for pid in self.running.values():
            self._ask(pid)
        self.parent.stdin.close()
        self.parent.wait()
        self.parent.stdout.close()


@pytest.fixture(scope="module")
def running():
    """Servers for the tests of a file."""
    opened = Servers()
    try:
        yield opened
    finally:
        opened.close()
