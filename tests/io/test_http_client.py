"""The client that asks search servers and models: one deadline for a whole exchange, answers that stay small, proxies
and certificates."""

import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
import zlib
from contextlib import ExitStack, contextmanager, suppress

import pytest

from cranfield import InputError, ModelAssessor, SystemFailure, open_system
from tests.waiting import LIMIT

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SLOWLY = {
    "nothing": (b"", b""),
    "a status line": (b"", b"HTTP/1.1 200 OK and so on "),
    "continue without end": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "early hints without end": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "a header": (b"HTTP/1.1 200 OK\r\nX-Header: ", b"x"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Header: x\r\n"),
    "a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "the extension of a chunk": (CHUNKED + b"1;", b"x"),
    "the trailer of chunks": (CHUNKED + b"0\r\n", b"X-Trailer: x\r\n"),
    "a body without a length": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b" "),
    "the name in a gzip file": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\0",
        b"x",
    ),
}
FOUND = b'{"results": ["a"], "choices": [{"message": {"content": "a"}}]}'


@contextmanager
def system(url, **settings):
    """Ask a search server."""
    opened = open_system({"type": "http", "url": url, **settings})
    try:
        yield lambda: opened.search("q", 1)[0][0][0]
    finally:
        opened.close()


@contextmanager
def model(url, **settings):
    """Ask a model; its failures are raised as those of a system."""
    endpoint = pytest.importorskip("cranfield.judging.models.endpoint", exc_type=ImportError)
    opened = endpoint.Endpoint(ModelAssessor(name="m", model="m", url=url, **settings))

    def ask():
        try:
            return opened.reply("q").text
        except endpoint.NoReplyError as error:
            raise SystemFailure(error.fact, hint=error.hint) from None

    try:
        yield ask
    finally:
        opened.close()


both = pytest.mark.parametrize("asked", [system, model])


@contextmanager
def serving(serve):
    """A server whose connections `serve(connection, done)` answers, one after the other; its port."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)

        def accept():
            while not done.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                connection.settimeout(5)
                with connection, suppress(OSError):  # the client may have disconnected
                    serve(connection, done)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            done.set()
            thread.join(10)


def request(connection):
    """The head of a request and its body, or empty if the connection was closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(10_000)
        if not piece:
            return "", b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < int((lengths or [b"0"])[0]):
        body += connection.recv(10_000)
    return head.decode(), body


def response(data, *headers):
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(data)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + data


@pytest.mark.fault("servers that trickle status lines, headers, bodies or chunks", "The exchange ends at its deadline.")
@both
@pytest.mark.parametrize("name", SLOWLY)
def test_a_response_in_small_pieces_times_out(name, asked):
    before, drop = SLOWLY[name]

    def drip(connection, done):
        request(connection)
        connection.sendall(before)
        while not done.wait(0.01):
            connection.sendall(drop)

    with serving(drip) as port, asked(f"http://127.0.0.1:{port}/", timeout=0.1) as ask:
        start = time.monotonic()
        with pytest.raises(SystemFailure) as caught:
            ask()
        # http.client itself gives up on an endless line or endless headers.
        assert any(fact in str(caught.value) for fact in ("within 0.1 s", "failed: ", "compressed its answer"))
        assert time.monotonic() - start < LIMIT  # without a deadline it would never end


@pytest.mark.fault("servers that read slowly, or do not finish a TLS handshake", "The exchange ends at its deadline.")
@both
def test_a_server_that_reads_slowly_times_out(asked):
    def read(connection, done):
        while not done.wait(0.01) and connection.recv(100):
            pass

    with (
        serving(read) as port,
        asked(f"http://127.0.0.1:{port}/", timeout=0.3, body={"x": "{query}" * 2_000_000}) as ask,
        pytest.raises(SystemFailure, match=r"within 0\.3 s"),
    ):
        ask()


@pytest.mark.fault("servers that read slowly, or do not finish a TLS handshake", "The exchange ends at its deadline.")
@both
def test_a_missing_tls_handshake_times_out(asked):
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        asked(f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=0.1) as ask,
        pytest.raises(SystemFailure, match=r"within 0\.1 s"),
    ):
        ask()


@both
def test_all_addresses_of_a_host_share_the_deadline(asked, monkeypatch):
    listed = socket.getaddrinfo
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # nobody accepts them, so that further ones wait
            before = waiting.enter_context(socket.socket())
            before.setblocking(False)
            before.connect_ex(full.getsockname())
        monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **how: listed(*where, **how) * 50)
        with asked(f"http://127.0.0.1:{full.getsockname()[1]}/", timeout=0.1) as ask:
            start = time.monotonic()
            with pytest.raises(SystemFailure, match=r"within 0\.1 s"):
                ask()
            assert time.monotonic() - start < 4  # each of the fifty by itself would take 5 s


def test_the_next_address_of_a_host_is_tried(monkeypatch):
    def answer(connection, done):
        request(connection)
        connection.sendall(response(FOUND))

    listed = socket.getaddrinfo
    with socket.socket() as nobody, serving(answer) as port:
        nobody.bind(("127.0.0.1", 0))
        addresses = listed(*nobody.getsockname(), type=socket.SOCK_STREAM)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *where, **how: addresses + listed(*where, **how))
        with system(f"http://127.0.0.1:{port}/", timeout=5) as ask:
            assert ask() == "a"


@both
def test_an_answer_that_ends_with_its_connection(asked):
    def answer(connection, done):
        request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + FOUND[:10])
        time.sleep(0.05)
        connection.sendall(FOUND[10:])

    with serving(answer) as port, asked(f"http://127.0.0.1:{port}/", timeout=5) as ask:
        assert ask() == "a"


@both
def test_early_hints_come_before_the_answer(asked):
    def answer(connection, done):
        while request(connection)[0]:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 2 + response(FOUND))

    with serving(answer) as port, asked(f"http://127.0.0.1:{port}/", timeout=5) as ask:
        assert (ask(), ask()) == ("a", "a")


@pytest.mark.fault("servers that compress a bomb into their answer", "Nothing is decompressed.")
@both
def test_nothing_is_decompressed(asked):
    packed = zlib.compress(zlib.compress(bytes(1 << 26), 9, wbits=31), 9, wbits=31)
    heads = []

    def answer(connection, done):
        heads.append(request(connection)[0])
        connection.sendall(response(packed, "Content-Encoding: gzip, gzip"))

    with serving(answer) as port, asked(f"http://127.0.0.1:{port}/", timeout=5) as ask:
        tracemalloc.start()
        try:
            with pytest.raises(SystemFailure, match=r"compressed its answer \('gzip, gzip'\)"):
                ask()
            assert tracemalloc.get_traced_memory()[1] < 1 << 22
        finally:
            tracemalloc.stop()
    assert "Accept-Encoding: identity" in heads[0]


@both
def test_connections_are_kept_and_one_that_the_server_closed_is_opened_again(asked):
    connections = []

    def answer(connection, done):
        connections.append(0)
        for _ in range(3):
            if not request(connection)[0]:
                return
            connections[-1] += 1
            connection.sendall(response(FOUND))

    with serving(answer) as port, asked(f"http://127.0.0.1:{port}/", timeout=5) as ask:
        for _ in range(3):
            ask()
        time.sleep(0.1)
        for _ in range(2):
            ask()
    assert connections == [3, 2]


@both
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to threads")
def test_ctrl_c_ends_an_exchange_at_once_and_the_next_is_on_a_connection_of_its_own(asked):
    asking = []

    def answer(connection, done):
        request(connection)
        asking.append(connection)
        if len(asking) == 1:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            connection.recv(1)  # until it is closed
        else:
            connection.sendall(response(FOUND))

    with serving(answer) as port, asked(f"http://127.0.0.1:{port}/", timeout=LIMIT) as ask:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            ask()
        assert time.monotonic() - start < LIMIT / 2
        assert ask() == "a"


@pytest.fixture
def certificate(tmp_path):
    """A certificate of search.example and its key, in one file."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    where = tmp_path / "search.example.pem"
    made = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    named = ["-subj", "/CN=search.example", "-addext", "subjectAltName=DNS:search.example", "-days", "2"]
    subprocess.run([*made, *named, "-keyout", where, "-out", tmp_path / "cert"], check=True, capture_output=True)
    where.write_text(where.read_text() + (tmp_path / "cert").read_text())
    return where


@pytest.fixture
def settings(monkeypatch):
    """Set variables of the environment, and no others about proxies."""
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name.upper()}_PROXY", raising=False)
    return lambda **values: [monkeypatch.setenv(name, str(value)) for name, value in values.items()]


@both
def test_a_proxy_passes_requests_on(asked, settings):
    heads = []

    def proxy(connection, done):
        while head := request(connection)[0]:
            heads.append(head)
            connection.sendall(response(FOUND))

    with serving(proxy) as port:
        settings(HTTP_PROXY=f"http://me:p%40ss@127.0.0.1:{port}")
        with asked("http://search.example:9200/find?x=1", timeout=5) as ask:
            assert (ask(), ask()) == ("a", "a")
        with asked(f"http://127.0.0.1:{port}/here", timeout=5) as ask:  # this machine needs no proxy
            ask()
        settings(NO_PROXY="search.example")
        with (
            asked("http://search.example:1/", timeout=5) as ask,
            pytest.raises(SystemFailure, match=r"search\.example"),
        ):
            ask()
    assert [head.split()[1].partition("?")[0].removesuffix("/chat/completions") for head in heads] == [
        *["http://search.example:9200/find"] * 2,
        "/here",
    ]
    assert ["Proxy-Authorization: Basic bWU6cEBzcw==" in head for head in heads] == [True, True, False]
    assert all("Host: search.example:9200" in head for head in heads[:2])


@both
def test_a_proxy_passes_a_secure_connection_on_whose_certificate_is_ones_own(asked, settings, certificate):
    heads = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def proxy(connection, done):
        heads.append(request(connection)[0])
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as secure:
            while head := request(secure)[0]:
                heads.append(head)
                secure.sendall(response(FOUND))

    with serving(proxy) as port:
        settings(HTTPS_PROXY=f"127.0.0.1:{port}")
        said = pytest.raises(SystemFailure, match=r"not trusted(.|\n)*SSL_CERT_FILE")
        with asked("https://search.example/find", timeout=5) as ask, said:
            ask()
        settings(SSL_CERT_FILE=certificate)
        with asked("https://search.example/find", timeout=5) as ask:
            assert (ask(), ask()) == ("a", "a")
    assert [head.split()[0] for head in heads] == ["CONNECT", "CONNECT", "POST", "POST"]
    assert heads[0].startswith("CONNECT search.example:443 HTTP/1.1\r\n")
    assert heads[2].split()[1].startswith("/find")


@both
def test_what_is_wrong_with_a_proxy_is_said(asked, settings):
    def refuse(connection, done):
        request(connection)
        connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

    with serving(refuse) as port:
        settings(HTTPS_PROXY=f"http://127.0.0.1:{port}")
        with asked("https://search.example/", timeout=5) as ask, pytest.raises(SystemFailure, match=r"proxy 127.* 407"):
            ask()
    for wrong in ("socks5://me:secret@host", "http://:80", "http://host:port"):
        settings(HTTPS_PROXY=wrong)
        with (
            pytest.raises(InputError, match="not the address of an HTTP proxy") as caught,
            asked("https://search.example/"),
        ):
            pass
        assert "secret" not in str(caught.value)


def test_hosts_that_have_no_name(settings):
    for host in ("a..b", "x" * 70):
        with system(f"http://{host}/", timeout=5) as ask, pytest.raises(SystemFailure, match="there is no host"):
            ask()
    with pytest.raises(InputError, match="name of a host"), system(f"http://{'ü' * 70}/"):
        pass
