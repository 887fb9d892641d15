"""A real endpoint on this machine that speaks /v1/chat/completions and can be made to fail."""

import json
import re
import time

from tests.local_server import LocalServer, hang_up, send

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
    """A request: its body, the documents in its prompt, and how many times it has been made."""

    def __init__(self, path, headers, body, times):
        self.path, self.headers, self.body, self.times = path, headers, body, times
        self.prompt = body["messages"][-1]["content"]
        self.documents = [text for _, text in DOCUMENT.findall(self.prompt)]

    @property
    def document(self):
        return self.documents[0]


class ModelServer(LocalServer):
    """`behave(request)` gives a reply as text, an answer as a dict, a status, (status, text), (status, text, headers),
    seconds to sleep before a good reply, CUT or HANG_UP."""

    def __init__(self, behave, *, count_tokens=None):
        self.behave, self.count_tokens = behave, count_tokens
        self.tokens = 0
        super().__init__()
        self.url += "/v1"

    def note(self, path, headers, body):
        named = (body["messages"][-1]["content"], body.get("seed"))
        self.asked[named] += 1
        self.requests.append(Request(path, headers, body, self.asked[named]))
        return self.requests[-1]

    def answer(self, handler, noted):
        what = self.behave(noted)
        tokens = None
        if self.count_tokens is not None and not (isinstance(what, int | tuple) and _status(what) < 500):
            tokens = self.count_tokens(noted)
            with self.lock:
                self.tokens += sum(tokens)
        if what is HANG_UP:
            return hang_up(handler)
        cut = what is CUT
        if isinstance(what, float):
            time.sleep(what)
        if cut or isinstance(what, float):
            what = '{"grade": 1}'
        if isinstance(what, int):
            what = (what, "sorry")
        if isinstance(what, str):
            what = completion(what, tokens=tokens)
        if isinstance(what, dict):
            what = (200, json.dumps(what))
        status, text, headers = (*what, {})[:3]
        return send(handler, status, headers, text.encode(), half=cut)


def _status(what):
    return what[0] if isinstance(what, tuple) else what
