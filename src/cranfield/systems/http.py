"""A search server behind HTTP, described by a few settings."""

from __future__ import annotations

import base64
import http.client
import json
import math
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from cranfield.errors import InputError, SystemFailure
from cranfield.io.http_client import Answer, ExchangeError, HttpClient, request_target
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting, check_settings
from cranfield.systems.answers import MISSING, ORDER, TEXTS, Returned, chosen_order, declared_texts, look_up, ranking_of
from cranfield.systems.presets import PRESETS
from cranfield.systems.queries import ARGUMENTS, REQUIRED, filled_columns

_PLACE = re.compile(r"\{(\w+)\}")  # of the query, k, or a column of the query
_RETRIED = {408, 425, 429, 500, 502, 503, 504}
_LARGEST = 1 << 26  # bytes of an answer
_IDS, _IDS_IN_URL = 1_000, 50  # of one request for those that exist
SETTINGS = {
    "url": TomlSetting(str, "the address to ask"),
    "method": TomlSetting(str, "GET, POST or another method of HTTP; a GET has no body", '"POST"'),
    "params": TomlSetting(dict, "parameters to add to the URL"),
    "body": TomlSetting((dict, list, str), "the JSON to send: a table, a list, or JSON as text"),
    "headers": TomlSetting(dict, "headers of the request"),
    "auth": TomlSetting(str, "`user:password`, sent as HTTP Basic authentication"),
    "results": TomlSetting(
        str, "the path of the list of results in the answer, such as `hits.hits` or `data[0].items`"
    ),
    "id": TomlSetting(str, "the path of the document's id in each result, such as `_id` or `document.id`"),
    "id_pattern": TomlSetting(
        str, "a regular expression that the whole id matches; its one group becomes the id", "none"
    ),
    "score": TomlSetting(str, 'the path of the score in each result; "" reads no scores', "the usual names"),
    "texts": TEXTS,
    "order": ORDER,
    "arguments": ARGUMENTS,
    "empty": TomlSetting(
        str, "a path that an answer has even if it leaves out `results` because nothing was found", "none"
    ),
    "cost": TomlSetting(
        str,
        "the path of what the answer cost, such as `usage.cost`, or `header:NAME`",
        "`usage.cost` or `usage.total_tokens`",
    ),
    "exists": TomlSetting(
        dict,
        "the request that lists the ids that exist, or those of `{ids}`, with settings of its own: url, method, "
        "params, body, results, id, id_pattern and empty; judged documents that it does not list are left out",
    ),
    "timeout": TomlSetting((int, float), "seconds to wait for the whole answer", "30"),
}
_OF_EXISTS = ("url", "method", "params", "body", "results", "id", "id_pattern", "empty")
_COSTS = ("usage.cost", "usage.total_tokens")
_HEADER_COST = "header:"


def open_type(kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Any) -> HttpSearch:
    return HttpSearch(settings, name, secrets, preset=kind)


class HttpSearch:
    """Sends a query as a request, and reads ids and scores from the JSON that comes back: see SETTINGS."""

    def __init__(
        self, settings: Mapping[str, Any], name: str, secrets: Secrets, *, preset: str = "http", place: str = "query"
    ) -> None:
        """place: what every request has, or "ids", which one may do without"""
        self.name = name
        self._secrets = secrets
        usual = PRESETS[preset].settings
        chosen = {**usual, **settings, "params": {**usual.get("params", {}), **settings.get("params", {})}}
        if "url" not in chosen:
            raise InputError(name, "the url is missing.")
        self._method = str(chosen["method"]).upper()
        self._results, self._id, self._score = (str(chosen.get(key, "")) for key in ("results", "id", "score"))
        self._empty = str(chosen.get("empty", ""))
        self._id_pattern = self._pattern(chosen.get("id_pattern", ""))
        self._order = chosen_order(chosen.get("order"), chosen.get("score"), name)
        self._texts = declared_texts(chosen.get("texts"), name)
        self._address(str(chosen["url"]), chosen["params"])
        self._body = self._template(chosen.get("body")) if self._method not in ("GET", "HEAD") else None
        self._names = set(_PLACE.findall(self._target)) | set(_PLACE.findall(json.dumps(self._body)))
        if place == "query" and place not in self._names:
            hint = "write {query} in url, params or body"
            raise InputError(name, "the request does not contain the query.", hint=hint)
        if place == "ids" and (other := self._names - {"ids", "k"}):
            raise InputError(name, f"it has {{{min(other)}}} in it.", hint="write {ids} and {k}, or neither")
        self.needs_k = "k" in self._names
        self._places, self._names = self._names, self._names - {"query", "k"}
        self.takes = dict.fromkeys(self._names, REQUIRED)
        self._exists = self._of_existing(chosen) if "exists" in chosen else None
        self.existing = self._existing if self._exists else None
        self._costs = (str(chosen["cost"]),) if chosen.get("cost") else _COSTS
        headers = {
            **({"Content-Type": "application/json"} if self._body is not None else {}),
            **{str(key): str(value) for key, value in (chosen.get("headers") or {}).items()},
        }
        if chosen.get("auth"):
            secrets.keep(str(chosen["auth"]), "${auth}")
            headers["Authorization"] = f"Basic {base64.b64encode(str(chosen['auth']).encode()).decode()}"
        for header, value in headers.items():
            if not _HEADER.fullmatch(header) or _NOT_IN_HEADERS.search(value):
                broken = "\n" in value or "\r" in value  # as where a secret was read with the end of its line
                fact = "contains a line break" if broken else "has characters that are not allowed in a header"
                raise InputError(name, f"the header {header!r} {fact}.")
        self._reached = False
        timeout = float(chosen.get("timeout", 30))
        self._client = HttpClient(
            str(chosen["url"]), headers, name=name, timeout=timeout, largest=_LARGEST, resend=True
        )

    def _of_existing(self, chosen: Mapping[str, Any]) -> HttpSearch:
        """The request for the documents that exist: where it says nothing else, it is as that of a query."""
        exists, name = chosen["exists"], f"{self.name}: exists"
        check_settings(exists, {setting: SETTINGS[setting] for setting in _OF_EXISTS}, name)
        inherited = {key: value for key, value in chosen.items() if key not in ("exists", "params", "texts")}
        sent = {"method": "POST" if "body" in exists else "GET", "body": None, "order": "rank"}
        return HttpSearch({**inherited, **sent, **exists}, name, self._secrets, place="ids")

    def _existing(self, ids: Collection[str]) -> set[str]:
        """Which of these documents exist, and maybe others."""
        assert self._exists is not None
        listed, step = sorted(ids), _IDS_IN_URL if "{ids}" in self._exists._target else _IDS
        if "ids" not in self._exists._places:
            step = len(listed)
        found: set[str] = set()
        for at in range(0, len(listed), step):
            some = listed[at : at + step]
            found.update(document for document, _ in self._exists._asked({"ids": some, "k": len(some)}).ranking)
        return found

    def _address(self, url: str, params: Mapping[str, Any]) -> None:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            parts.port  # noqa: B018  # reading it checks it
        except ValueError:  # whose message shows a part of it
            raise InputError(self.name, f"'{url}' is not a URL.", hint="https://host:port/path") from None
        self._secrets.keep_parts((parts.netloc, host))
        if parts.scheme not in ("http", "https") or not host:
            raise InputError(self.name, f"'{url}' is not the URL of a server.", hint="https://host/path")
        if parts.username or parts.password:
            raise InputError(self.name, "the url contains a password.", hint="set auth = '${USER}:${PASSWORD}' instead")
        query = urlencode({str(key): str(value) for key, value in params.items()}, safe="{}")
        joined = "&".join(part for part in (parts.query, query) if part)
        self._target = request_target(parts._replace(query=joined))

    def _pattern(self, pattern: str) -> re.Pattern[str] | None:
        try:
            compiled = re.compile(pattern) if pattern else None
        except re.error as error:
            raise InputError(self.name, f"id_pattern is not a regular expression: {error}.") from None
        if compiled is not None and compiled.groups != 1:
            raise InputError(self.name, f"id_pattern has {compiled.groups} groups.", hint="one group must match the id")
        return compiled

    def _template(self, body: Any) -> Any:
        if not isinstance(body, str):
            return body
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            hint = '"{query}" and "{k}" in quotes'
            raise InputError(self.name, f"the body is not JSON: {error}.", hint=hint) from None

    def search(self, query: str, k: int | None) -> Returned:
        return self._asked({**filled_columns(query, self._names), "query": str(query), "k": k})

    def _asked(self, words: Mapping[str, Any]) -> Returned:
        target = _PLACE.sub(lambda match: quote(_in_text(words[match[1]]), safe=""), self._target)
        body = None if self._body is None else json.dumps(_filled(self._body, words)).encode()
        try:
            answer = self._client.exchange(self._method, target, body)
        except ExchangeError as error:
            # A server that could not be reached even once is not there: every query would fail.
            final = not (error.sent or self._reached)
            raise SystemFailure(error.fact, hint=error.hint, retry=error.retry, final=final) from None
        self._reached = True
        try:
            return self._read(answer)
        except RecursionError:  # while it was read, or shown in an error
            raise SystemFailure("the answer is nested too deep.") from None

    def _read(self, given: Answer) -> Returned:
        data = given.data
        if given.status >= 300:
            raise self._refused(given)
        try:
            answer = json.loads(data)
        except ValueError as error:
            raise SystemFailure(f"the answer is not JSON: {error}: {self._secrets.excerpt(data)}") from None
        results = look_up(answer, self._results)
        if results is None:
            if self._empty and look_up(answer, self._empty, MISSING) is not MISSING:
                return Returned([])
            fact = f"the answer has no '{self._results}': {self._secrets.excerpt(data)}"
            raise SystemFailure(fact, hint="set results to its path")
        returned = ranking_of(results, id_path=self._id, score_path=self._score, order=self._order)
        returned = returned._replace(cost=self._cost(answer, given), places=self._texts)
        if self._id_pattern is None:
            return returned
        matches = [(self._id_pattern.fullmatch(doc_id), doc_id, score) for doc_id, score in returned.ranking]
        for match, doc_id, _ in matches:
            if match is None:
                raise SystemFailure(f"id_pattern does not match the id '{doc_id}'.")
        return returned._replace(ranking=[(match[1], score) for match, _, score in matches if match])

    def _cost(self, answer: Any, given: Answer) -> float | None:
        for place in self._costs:
            header = place.removeprefix(_HEADER_COST)
            cost: Any = look_up(answer, place) if header == place else given.headers.get(header)
            with suppress(TypeError, ValueError):
                if not isinstance(cost, bool) and math.isfinite(number := float(cost)):
                    return number
        return None

    def _refused(self, given: Answer) -> SystemFailure:
        status, after, hint = given.status, given.headers.get("Retry-After"), ""
        if status < 400:
            hint = "redirects are not followed; give the final url"
        elif status in (401, 403):
            hint = "set headers or auth, with values from the environment: ${NAME}"
        seconds = float(after) if after and after.strip().isdecimal() and len(after) < 9 else None
        reason = http.client.responses.get(status, "")
        fact = f"the server answered {status} {reason}".rstrip() + f": {self._secrets.excerpt(given.data)}"
        return SystemFailure(fact, hint=hint, retry=status in _RETRIED, after=seconds, final=status == 401)

    def close(self) -> None:
        self._client.close()
        if self._exists is not None:
            self._exists.close()


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_HEADERS = re.compile(r"[\r\n\0]|[^\0-\xff]")  # others are sent as Latin-1


def _in_text(word: Any) -> str:
    return ",".join(map(str, word)) if isinstance(word, list) else str(word)


def _filled(template: Any, words: Mapping[str, Any]) -> Any:
    """The body for one query; "{k}" alone is a number, and a column alone what it is."""
    if isinstance(template, str):
        alone = _PLACE.fullmatch(template)
        return words[alone[1]] if alone else _PLACE.sub(lambda match: _in_text(words[match[1]]), template)
    if isinstance(template, dict):
        return {key: _filled(value, words) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, words) for value in template]
    return template
