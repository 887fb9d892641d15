"""Where models are asked: an endpoint over HTTP, or a function in this process."""

from __future__ import annotations

import inspect
import json
import os
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from cranfield.errors import InputError
from cranfield.io.http_client import Answer, ExchangeError, HttpClient, request_target
from cranfield.io.secrets import Secrets
from cranfield.judging.models.assessor import CHAT_COMPLETIONS, ModelAssessor


class InProcess:
    """Calls a function of the user. If it raises, that document has failed and is asked about again next time."""

    def __init__(self, assessor: ModelAssessor) -> None:
        assert assessor.call is not None
        self._call = assessor.call
        try:
            taken = set(inspect.signature(self._call).parameters)
        except (TypeError, ValueError):  # built in
            taken = set()
        self.of_texts = {"query", "document"} <= taken
        self._name = assessor.name

    def reply(self, prompt: str, sample: int = 0, query: str = "", document: str = "") -> RawReply:
        try:
            reply = self._call(query=query, document=document) if self.of_texts else self._call(prompt)
        except Exception as error:
            raise NoReplyError(f"{type(error).__name__}: {error}") from error
        except SystemExit as error:  # a function that ends the program would end the run
            raise NoReplyError(f"SystemExit: {error}") from error
        return RawReply(_as_text(reply, self._name), tokens=0)


def _as_text(reply: Any, name: str) -> str:
    if isinstance(reply, str):
        return reply
    if hasattr(reply, "item"):  # a number of numpy or torch
        reply = reply.item()
    if reply is None:
        return ""
    if isinstance(reply, int | float) and not isinstance(reply, bool):
        return json.dumps({"grade": reply})
    hint = "return the reply as text, or a grade"
    raise InputError(name, f"the function returned {type(reply).__name__}.", hint=hint)


_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_LARGEST = 1 << 24  # bytes of a reply
_SHORTEST = 6  # letters of a key that is hidden in replies: local servers take any word, such as "none" or "1"
_TOO_LONG = ("context_length", "context length", "context size", "context window", "too long", "maximum context")
_FILTERED = ("content_filter", "content management policy")
_NO_FORMAT = ("response_format", "json_object", "response format")


@dataclass(frozen=True, slots=True)
class RawReply:
    text: str
    finish_reason: str = ""
    refusal: str = ""
    failure: str = ""  # the code of a failure, if there is no reply to read
    tokens: int | None = None  # None: the endpoint does not say
    prompt_tokens: int | None = None  # of these
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class NoReplyError(Exception):
    """A request that brought no reply."""

    fact: str
    hint: str = ""
    code: str = ""  # of a failure that belongs to the pair, and is kept like a reply; "" if it may be temporary
    retry: bool = False
    after: float = 0.0  # seconds that the endpoint asks to wait
    final: bool = False  # every other request would fail as well
    unreachable: bool = False  # no server answers there, and waiting long hardly helps
    charged: bool = False  # the endpoint may have worked on it
    sent: str = ""


class Endpoint:
    """Sends prompts and reads replies; for several threads."""

    def __init__(self, assessor: ModelAssessor) -> None:
        self._assessor = assessor
        self._secrets = self._hidden = Secrets(assessor.name)  # in errors, and in replies
        self._json = assessor.json
        url = _address(assessor)
        self._target = request_target(urlsplit(url))
        headers = {"Content-Type": "application/json"}
        if assessor.key:
            secret = os.environ.get(assessor.key, "").strip()
            if not secret:
                hint = f"export {assessor.key:.80}=…; key is the name of a variable, never the key itself"
                raise InputError(assessor.name, f"the environment variable {assessor.key:.80} is not set.", hint=hint)
            self._secrets.keep(secret, f"${{{assessor.key}}}")
            if len(secret) < _SHORTEST:
                self._hidden = Secrets(assessor.name)
            headers |= {"api-key": secret} if assessor.api_version else {"Authorization": f"Bearer {secret}"}
        if any(not value.isascii() or not value.isprintable() for value in headers.values()):
            fact = f"the key in {assessor.key} has characters that are not allowed in a header."
            raise InputError(assessor.name, fact)
        # A request that may have been worked on is sent again only if the budget allows it.
        self._client = HttpClient(
            url, headers, name=assessor.name, timeout=assessor.timeout, largest=_LARGEST, resend=False
        )

    def close(self) -> None:
        self._client.close()

    def reply(self, prompt: str, sample: int = 0) -> RawReply:
        formatted = self._json
        started = time.monotonic()
        status, headers, data = self._exchange(self._body(prompt, sample, formatted))
        if status in (400, 422) and formatted and _holds(data, _NO_FORMAT):
            self._json = False  # for all later requests
            raise NoReplyError("the endpoint does not support response_format.", retry=True)
        if status != 200:
            raise self._refused(status, headers, data)
        details = {"seconds": round(time.monotonic() - started, 3), "response_format": formatted}
        if self._assessor.seed is not None:
            details["seed"] = self._assessor.seed + sample
        return self._read(data, details)

    def _body(self, prompt: str, sample: int, formatted: bool) -> dict[str, Any]:
        own = self._assessor
        asked = {
            "messages": [{"role": "user", "content": prompt}],
            "seed": None if own.seed is None else own.seed + sample,
            "response_format": {"type": "json_object"} if formatted else None,
        }
        return {**{name: value for name, value in asked.items() if value is not None}, **own._fields}

    def _exchange(self, body: dict[str, Any]) -> Answer:
        try:
            return self._client.exchange("POST", self._target, json.dumps(body).encode())
        except ExchangeError as error:
            hint = error.hint if error.sent else error.hint or "is the server running there?"
            fact = self._secrets.hide(error.fact)
            raise NoReplyError(
                fact, hint=hint, retry=error.retry, unreachable=not error.sent, charged=error.sent
            ) from None

    def _read(self, data: bytes, details: dict[str, Any]) -> RawReply:
        try:
            answer = self._hidden.hide_in(json.loads(data))
            choices = answer["choices"]
            usage = answer.get("usage")
            tokens, prompt_tokens = _tokens(usage)
        except RecursionError:
            fact = f"the answer of {self._assessor._host} is nested too deep: {self._secrets.excerpt(data)}"
            raise NoReplyError(fact, charged=True) from None
        except (ValueError, TypeError, KeyError, AttributeError):
            fact = f"the answer of {self._assessor._host} is not a chat completion: {self._secrets.excerpt(data)}"
            hint = f"is the url right? {CHAT_COMPLETIONS} is added to it"
            raise NoReplyError(fact, hint=hint, charged=True) from None
        for name in ("model", "system_fingerprint", "id"):
            if isinstance(answer.get(name), str):
                details[name] = answer[name]
        if isinstance(usage, dict):
            details["usage"] = usage
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        message = choice.get("message") if choice else None
        if choice is None or not isinstance(message, dict):
            sent = self._secrets.start(data)
            return RawReply(sent, failure="no choices", tokens=tokens, prompt_tokens=prompt_tokens, details=details)
        if choice.get("logprobs") is not None:
            details["logprobs"] = choice["logprobs"]
        text, refusal = (message.get(name) for name in ("content", "refusal"))
        return RawReply(
            text if isinstance(text, str) else "" if text is None else json.dumps(text),
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=refusal if isinstance(refusal, str) else "",
            tokens=tokens,
            prompt_tokens=prompt_tokens,
            details=details,
        )

    def _refused(self, status: int, headers: Any, data: bytes) -> NoReplyError:
        key, host = self._assessor.key, self._assessor._host
        message = f"{host} answered {status}: {self._secrets.excerpt(data)}"
        if status in (401, 403):
            hint = f"is the environment variable {key} the right key?" if key else "set key to an environment variable"
            return NoReplyError(message, hint=hint, final=True)
        if status == 404 or 300 <= status < 400:
            hint = f"check url and model; {CHAT_COMPLETIONS} is added to the url, and redirects are not followed"
            return NoReplyError(message, hint=hint, final=True)
        if status in (400, 413, 422):
            too_long = status == 413 or _holds(data, _TOO_LONG)
            code = "refused" if status != 413 and _holds(data, _FILTERED) else "too long" if too_long else ""
            if code:
                return NoReplyError(message, code=code, sent=self._secrets.start(data))
            return NoReplyError(message, hint="set further fields of a request in body")
        if _holds(data, ("insufficient_quota",)):
            return NoReplyError(message, hint="the account has no credit left", final=True)
        after = _seconds(headers.get("Retry-After"))
        return NoReplyError(message, retry=status in _PASSING, after=after, charged=status >= 500)


def _address(assessor: ModelAssessor) -> str:
    """The address of the chat completions; the part after a "?" stays."""
    url, mark, asked = assessor.url.partition("?")
    scheme = url.partition("://")[0]
    if scheme not in ("http", "https") or not assessor._host or "@" in url or not assessor.url.isprintable():
        hint = "give https://host/v1; a key is named by key, the name of an environment variable"
        raise InputError(assessor.name, "the url is not that of an endpoint.", hint=hint)
    url = url.rstrip("/")
    if not url.endswith(CHAT_COMPLETIONS):
        url += CHAT_COMPLETIONS
    if assessor.api_version and "api-version=" not in asked:
        asked = "&".join(part for part in (asked, f"api-version={assessor.api_version}") if part)
    return f"{url}?{asked}" if asked or mark else url


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """All tokens of a request, and those of the prompt, as far as the endpoint says."""
    if not isinstance(usage, dict):
        return None, None
    total, prompt, reply = (_count(usage.get(f"{name}_tokens")) for name in ("total", "prompt", "completion"))
    if total is None and (prompt is None or reply is None):
        return None, prompt
    return max(total or 0, (prompt or 0) + (reply or 0)), prompt


def _count(value: Any) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return int(value) if good else None


def _holds(data: bytes, signs: tuple[str, ...]) -> bool:
    text = _text(data).lower()
    return any(sign in text for sign in signs)


def _text(data: bytes) -> str:
    return data[: 1 << 16].decode(errors="replace")


def _seconds(after: str | None) -> float:
    if not after:
        return 0.0
    try:
        if after.strip()[:1].isdigit():
            return max(float(after), 0.0)
        return max(parsedate_to_datetime(after).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError):
        return 0.0
