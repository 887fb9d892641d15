"""Servers of the judging page, to be killed and started again at once: a process that has imported all forks them."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

from tests.waiting import until

PARENT = """
import json, os, sys
from cranfield.judging.page import application, serving
from cranfield.judging.store import open_store
import sqlalchemy.dialects.sqlite, uvicorn.protocols.http.h11_impl, uvicorn.loops.asyncio

for line in sys.stdin:
    where, port = json.loads(line)
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    try:
        with open_store(where) as store:
            serving.serve(store, "ann", port=port, on_start=lambda listening: None)
    finally:
        os._exit(0)
"""


def free_port():
    """A port that no connection is made from: whoever asks a server that is gone would sometimes meet itself there."""
    for _ in range(100):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise RuntimeError("no port is free")


class Servers:
    """Starts a server for a store, and kills it."""

    def __init__(self):
        self.parent = subprocess.Popen(
            [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.running = {}

    def start(self, where, port=None):
        """Start one; its address."""
        port = port or free_port()
        self.parent.stdin.write(json.dumps([str(where), port]) + "\n")
        self.parent.stdin.flush()
        self.running[port] = int(self.parent.stdout.readline())
        return f"http://127.0.0.1:{port}"

    def wait_for(self, address):
        """Wait until a server answers."""
        place = ("127.0.0.1", int(address.rpartition(":")[2]))

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(place) == 0

        until(answers, "the server did not start")

    def kill(self, address):
        """End one as a power failure would."""
        os.kill(self.running.pop(int(address.rpartition(":")[2])), signal.SIGKILL)

    def close(self):
        for pid in self.running.values():
            os.kill(pid, signal.SIGKILL)
        self.parent.stdin.close()
        self.parent.wait()
        self.parent.stdout.close()


@contextmanager
def servers():
    """Servers for as long as a test needs them."""
    opened = Servers()
    try:
        yield opened
    finally:
        opened.close()
