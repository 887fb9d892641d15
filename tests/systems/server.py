"""A real search server on this machine that can be told to fail."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def elastic(pairs):
    return {"hits": {"hits": [{"_id": doc_id, "_score": score} for doc_id, score in pairs]}}


class Server:
    """A server that behaves as it is told.

    `behave(query, attempt)` gives a dict, raw bytes, a status, one of these with headers, a status with a text, or
    seconds to sleep.
    """

    def __init__(self, behave):
        self.behave = behave
        self.asked = Counter()
        self.requests = []
        self.now = self.most = 0
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                size = int(self.headers.get("Content-Length") or 0)
                data = self.rfile.read(size)
                body = json.loads(data) if data else {}
                server.answer(self, body)

            do_GET = do_POST

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def answer(self, handler, body):
        query = body.get("query", "")
        query = query if isinstance(query, str) else json.dumps(query)
        with self.lock:
            self.asked[query] += 1
            self.requests.append((handler.path, dict(handler.headers), body))
            attempt = self.asked[query]
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            what = self.behave(query, attempt)
            status, headers = 200, {}
            if isinstance(what, float):
                time.sleep(what)
                what = elastic([("slow", 1.0)])
            if what is None:  # hang up without a word
                handler.close_connection = True
                handler.connection.close()
                return
            if isinstance(what, tuple) and isinstance(what[1], str):
                status, what = what[0], what[1].encode()
            if isinstance(what, tuple):
                what, headers = what
            if isinstance(what, int):
                status, what = what, b"sorry"
            data = what if isinstance(what, bytes) else json.dumps(what).encode()
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            if "Content-Length" not in headers:
                handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except OSError:
            pass  # whoever asked has gone
        finally:
            with self.lock:
                self.now -= 1

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(5)
