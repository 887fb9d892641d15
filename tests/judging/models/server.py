"""A real endpoint on this machine that speaks /v1/chat/completions and can be told to fail."""

import json
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENT = re.compile(r"\[document ([0-9a-f]{16})\]\n(.*?)\n\[end of document \1\]", re.S)
CUT, HANG_UP = "half a reply", "not a word"


def completion(text, *, finish_reason="stop", tokens=None, **more):
    """An answer with one reply."""
    message = {"role": "assistant", "content": text}
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "test-model-2026-01-01",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, **more}],
    }
    if tokens:
        prompt, reply = tokens
        answer["usage"] = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    return answer


class Request:
    """What was asked: the body, the documents in its prompt, and how often the same was asked before."""

    def __init__(self, path, headers, body, times):
        self.path, self.headers, self.body, self.times = path, headers, body, times
        self.prompt = body["messages"][-1]["content"]
        self.documents = [text for _, text in DOCUMENT.findall(self.prompt)]

    @property
    def document(self):
        return self.documents[0]


class ModelServer:
    """`behave(request)` gives a reply as text, an answer as a dict, a status, (status, text), (status, text, headers),
    seconds to sleep before a good reply, CUT or HANG_UP."""

    def __init__(self, behave, *, count_tokens=None):
        self.behave, self.count_tokens = behave, count_tokens
        self.asked = Counter()
        self.requests = []
        self.tokens = 0
        self.now = self.most = 0
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                server.answer(self, body)

            def log_message(self, *args):
                pass

        class Listening(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.http = Listening(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(5)

    def answer(self, handler, body):
        with self.lock:
            named = (body["messages"][-1]["content"], body.get("seed"))
            self.asked[named] += 1
            request = Request(handler.path, dict(handler.headers), body, self.asked[named])
            self.requests.append(request)
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            self.send(handler, request, self.behave(request))
        except OSError:
            pass  # whoever asked has gone
        finally:
            with self.lock:
                self.now -= 1

    def send(self, handler, request, what):
        status, headers = 200, {}
        tokens = None
        if self.count_tokens is not None and not (isinstance(what, int | tuple) and _status(what) < 500):
            tokens = self.count_tokens(request)
            with self.lock:
                self.tokens += sum(tokens)
        if isinstance(what, float):
            time.sleep(what)
            what = '{"grade": 1}'
        if what is HANG_UP:
            handler.close_connection = True
            handler.connection.close()
            return
        cut = what is CUT
        if cut:
            what = '{"grade": 1}'
        if isinstance(what, tuple):
            status, text, headers = (*what, {})[:3]
            data = text.encode()
        elif isinstance(what, int):
            status, data = what, b"sorry"
        else:
            data = json.dumps(what if isinstance(what, dict) else completion(what, tokens=tokens)).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if cut:
            handler.wfile.write(data[: len(data) // 2])
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.close()
            return
        handler.wfile.write(data)


def _status(what):
    return what[0] if isinstance(what, tuple) else what
