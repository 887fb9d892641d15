"""Requests that never become whole: they are closed in time, and others keep judging meanwhile."""

import re
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")
pytest.importorskip("resource")

import resource

import httpx

from cranfield import open_store
from tests.waiting import LIMIT, until

SERVER = """
import resource, sys
from cranfield.judging.page import connections, serving
from cranfield.judging.store.store import open_store

where, connections.DEADLINE, connections.PAUSE = sys.argv[1], float(sys.argv[2]), 0.2
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1024))
if most := int(sys.argv[3]):
    connections.make_room = lambda: connections.Room(all=most, strangers=200)
with open_store(where) as store:
    serving.serve(store, port=0, names=["judges.test"], on_start=lambda there: print(there.addresses[0], flush=True))
"""
HALVES = {
    "half a line": "GET /?token=",
    "half of the headers": "GET / HTTP/1.1\r\nHost: {host}\r\nCookie: cranfield_token",
    "half of a body": "POST /api/next HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\n{{",
    "a refused request": "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a refused request and a half": "GET / HTTP/1.1\r\nHost: {host}\r\n\r\nPOST / HTTP/1.1\r\n",
    "half of an upgrade": "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n",
}


class Page:
    """A shared server in a process of its own, and those who connect to it."""

    def __init__(self, address, log):
        parts = urlsplit(address)
        self.place, self.host = (parts.hostname, parts.port), parts.netloc
        self.url, self.token, self.log = f"http://{parts.netloc}", parse_qs(parts.query)["token"][0], log

    @contextmanager
    def assessor(self):
        with httpx.Client(base_url=self.url, headers={"Origin": self.url}, timeout=LIMIT) as client:
            assert client.get("/", params={"token": self.token}).status_code == 303
            yield client

    def send(self, text):
        """A connection on which a part of a request was sent."""
        connection = socket.create_connection(self.place, timeout=LIMIT)
        connection.sendall(text.format(host=self.host).encode())
        return connection

    def known(self):
        """A connection with the token, on which a second request has begun."""
        with self.assessor() as client:
            [cookie] = client.cookies.jar
        head = f"POST /api/next HTTP/1.1\r\nHost: {{host}}\r\nOrigin: {self.url}\r\nContent-Type: application/json\r\n"
        head += f"Cookie: {cookie.name}={cookie.value}\r\nContent-Length: 19\r\n\r\n"
        connection = self.send(head + '{{"assessor": "ann"}}' + head + '{{"assessor"')
        wait_for_answer(connection)
        return connection

    def warnings(self):
        return self.log.read_text(encoding="utf-8").splitlines()

    def late(self):
        """How many connections were closed at the deadline, by the log."""
        return sum(map(int, re.findall(r"no whole request in time \((\d+)\)", "".join(self.warnings()))))


@contextmanager
def serving(folder, deadline, most=None):
    where = folder / "judgments.db"
    with open_store(where, create=True) as store:
        store.wait([("q", f"d{number}") for number in range(1000)])
    log = folder / "log"
    with log.open("w") as errors:
        command = [sys.executable, "-c", SERVER, where, str(deadline), str(most or 0)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield Page(server.stdout.readline().strip(), log)
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def wait_for_answer(connection):
    data = b""
    while b" 200 OK" not in data:
        piece = connection.recv(10_000)
        assert piece, data
        data += piece


def is_closed(connection):
    """Whether the server has closed it; what it answered before does not matter."""
    try:
        while connection.recv(10_000):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.fixture
def many_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if -1 < before[1] < 2048:
        pytest.skip("this process may not open 2,048 files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 2048), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.fault(
    "requests to a shared judging server that are never sent whole",
    "People keep judging; the log has a few lines.",
    tries=1_100,
)
def test_others_judge_while_half_sent_requests_stand(tmp_path, many_files, tries):
    with serving(tmp_path, deadline=LIMIT) as page, ExitStack() as opened:
        steady = opened.enter_context(page.assessor())
        saved = []
        for number in range(tries):
            opened.enter_context(page.send([*HALVES.values()][number % len(HALVES)]))
            if number % 50 == 0:
                for client in (steady, opened.enter_context(page.assessor())):  # a connection of before, and a new one
                    task = client.post("/api/next", json={"assessor": "ann"}).json()["tasks"][0]
                    grade = {"query_id": "q", "doc_id": task["doc_id"], "grade": 1}
                    answer = client.post("/api/judge", json={"assessor": "ann", **grade})
                    saved.append(answer.json()["event"])
        until(lambda: "too many connections" in "".join(page.warnings()), "nothing was logged")
    with open_store(tmp_path / "judgments.db") as store:
        assert [event.number for event in store.events()] == saved
    assert len(saved) == 2 * tries / 50
    assert len(page.warnings()) < tries / 20, page.warnings()
    assert "Traceback" not in "".join(page.warnings())


@pytest.mark.fault("kinds of half a request without a token", "The connection is closed at a deadline.")
@pytest.mark.parametrize("half", HALVES)
def test_a_request_must_be_whole_in_time(half, slow_page):
    before = slow_page.late()
    with slow_page.send("") as silent, slow_page.send(HALVES[half]) as connection:
        for each in (silent, connection):
            each.setblocking(False)
            until(partial(is_closed, each), "the connection is still open")
    until(lambda: slow_page.late() > before, "nothing was logged")
    assert slow_page.late() == before + 1  # a browser that connects in advance has done nothing wrong


@pytest.mark.fault("kinds of half a request without a token", "The connection is closed at a deadline.")
def test_a_known_connection_has_the_same_deadline_for_each_request(slow_page):
    before = slow_page.late()
    with slow_page.known() as connection:
        connection.setblocking(False)
        until(lambda: is_closed(connection), "the connection is still open")
    until(lambda: slow_page.late() > before, "nothing was logged")
    assert "Traceback" not in "".join(slow_page.warnings())


@pytest.mark.fault(
    "connections to a judging server that has no room for more", "People who are in keep judging.", tries=30
)
def test_people_who_are_in_are_not_closed_for_others(tmp_path, tries):
    with serving(tmp_path, deadline=LIMIT, most=20) as page, ExitStack() as opened:
        known = [opened.enter_context(page.known()) for _ in range(20)]
        for _ in range(tries):
            assert is_closed(opened.enter_context(page.send("GET")))
        for connection in known:
            connection.sendall(b': "ann"}')
            wait_for_answer(connection)


@pytest.fixture(scope="module")
def slow_page(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("page"), deadline=0.3) as page:
        yield page
