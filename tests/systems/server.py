"""A real search server on this machine that can be made to fail."""

import json
import time

from tests.local_server import LocalServer, hang_up, send


def elastic(pairs):
    return {"hits": {"hits": [{"_id": doc_id, "_score": score} for doc_id, score in pairs]}}


class Server(LocalServer):
    """A server that behaves as a test defines.

    `behave(query, attempt)` gives a dict, raw bytes, a status, one of these with headers, a status with a text, or
    seconds to sleep.
    """

    def __init__(self, behave):
        self.behave = behave
        super().__init__()

    def note(self, path, headers, body):
        query = body.get("query", "")
        query = query if isinstance(query, str) else json.dumps(query)
        self.asked[query] += 1
        self.requests.append((path, headers, body))
        return query, self.asked[query]

    def answer(self, handler, noted):
        what = self.behave(*noted)
        status, headers = 200, {}
        if isinstance(what, float):
            time.sleep(what)
            what = elastic([("slow", 1.0)])
        if what is None:
            return hang_up(handler)
        if isinstance(what, tuple) and isinstance(what[1], str):
            status, what = what[0], what[1].encode()
        if isinstance(what, tuple):
            what, headers = what
        if isinstance(what, int):
            status, what = what, b"sorry"
        return send(handler, status, headers, what if isinstance(what, bytes) else json.dumps(what).encode())
