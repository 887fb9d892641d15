"""A local HTTP server whose answers the tests define."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
    """Records all requests, and the most that it answered at once.

    Subclasses define `note(path, headers, body)`, which returns what is recorded of a request, and
    `answer(handler, noted)`, which sends the answer.
    """

    def __init__(self):
        self.asked = Counter()
        self.requests = []
        self.now = self.most = 0
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                server.receive(self, json.loads(data) if data else {})

            do_GET = do_PUT = do_PATCH = do_POST

            def log_message(self, *args):
                pass

        class Listening(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.http = Listening(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(5)

    def receive(self, handler, body):
        with self.lock:
            noted = self.note(handler.path, dict(handler.headers), body)
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            self.answer(handler, noted)
        except OSError:
            pass  # the client has disconnected
        finally:
            with self.lock:
                self.now -= 1


def send(handler, status, headers, data, *, half=False):
    """Send an answer; or only half of it, and hang up."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2] if half else data)
    if half:
        hang_up(handler)


def hang_up(handler):
    """Close the connection abruptly."""
    handler.wfile.flush()
    handler.close_connection = True
    handler.connection.close()
