"""One deadline for a whole exchange, however slowly its bytes arrive."""

import socket
import threading
import time

import pytest

from cranfield import SystemFailure, open_system
from tests.waiting import LIMIT

SLOWLY = {
    "nothing": (b"", b""),
    "a status line": (b"", b"HTTP/1.1 200 OK and so on "),
    "continue without end": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": (b"HTTP/1.1 200 OK\r\nX-Header: ", b"x"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Header: x\r\n"),
    "a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body without a length": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b" "),
}


@pytest.mark.parametrize("name", SLOWLY)
def test_a_response_in_small_pieces_times_out(name):
    before, drop = SLOWLY[name]
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip():
            connection, _ = listener.accept()
            with connection:
                connection.recv(10000)
                connection.sendall(before)
                while not done.wait(0.01):
                    try:
                        connection.sendall(drop)
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        system = open_system({"type": "http", "url": f"http://127.0.0.1:{listener.getsockname()[1]}/", "timeout": 0.3})
        start = time.monotonic()
        try:
            with pytest.raises(SystemFailure) as caught:
                system.search("q", 1)
        finally:
            done.set()
            thread.join(5)
            system.close()
        # http.client itself gives up on an endless line or endless headers.
        assert "within 0.3 s" in str(caught.value) or "failed: " in str(caught.value)
        assert time.monotonic() - start < LIMIT  # without a deadline it would never end


def test_a_missing_tls_handshake_times_out():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        system = open_system({"type": "http", "url": f"https://127.0.0.1:{listener.getsockname()[1]}/", "timeout": 0.3})
        with pytest.raises(SystemFailure, match=r"within 0\.3 s"):
            system.search("q", 1)
        system.close()


def test_an_answer_that_ends_with_its_connection():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                data = b""
                while not data.endswith(b"}"):
                    data += connection.recv(10000)
                connection.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"results": ')
                time.sleep(0.05)
                connection.sendall(b'["a"]}')

        thread = threading.Thread(target=answer)
        thread.start()
        system = open_system({"type": "http", "url": f"http://127.0.0.1:{listener.getsockname()[1]}/", "timeout": 5})
        assert system.search("q", 1) == [("a", 1.0)]
        system.close()
        thread.join(5)
