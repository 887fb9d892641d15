"""Comments of pull requests at GitHub and GitLab: found by a hidden mark, written once, and then updated."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from cranfield.errors import CranfieldError, OutputError
from cranfield.io.http_client import Answer, ExchangeError, HttpClient

_PAGE = 100  # comments of an answer
_PAGES = 30
_LARGEST = 32 << 20
_WAITS = (1.0, 4.0)  # seconds before another attempt
_MARK = re.compile(r"<!-- cranfield: [^\n]*? -->")


class Host(NamedTuple):
    """Where the comments of a pull request are, and how they are changed.

    base: the address of the API
    comments: the path of all comments; one: of the one with this id
    update: the method that changes one
    fork: whether the pull request comes from a fork, whose token may only read
    allow: what a token needs that may not write
    """

    name: str
    base: str
    headers: Mapping[str, str]
    comments: str
    one: Callable[[Any], str]
    update: str
    fork: bool
    allow: str


class NoPullRequest(CranfieldError):
    """There is nothing to comment on, or nobody who may; that is no failure."""


def host_of(environ: Mapping[str, str]) -> Host:
    """The pull request that a job is about, from the variables of GitHub's or GitLab's CI."""
    for found in HOSTS:
        host = found(environ)
        if host is not None:
            return host
    raise NoPullRequest("this is not a job of a pull request, so there is nothing to comment on.")


def github(environ: Mapping[str, str]) -> Host | None:
    pull = re.fullmatch(r"refs/pull/(\d+)/\w+", environ.get("GITHUB_REF", ""))
    repository = environ.get("GITHUB_REPOSITORY", "")
    if pull is None or not repository:
        return None
    token = environ.get("GITHUB_TOKEN", "")
    if not token:
        hint = "in the step, set env: GITHUB_TOKEN: ${{ github.token }}"
        raise OutputError("GITHUB_TOKEN", "there is no token to write comments with.", hint=hint)
    path = f"/repos/{quote(repository)}/issues"
    return Host(
        "GitHub",
        environ.get("GITHUB_API_URL", "https://api.github.com"),
        {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"},
        f"{path}/{pull[1]}/comments",
        lambda number: f"{path}/comments/{number}",
        "PATCH",
        _from_fork(environ.get("GITHUB_EVENT_PATH", "")),
        "the workflow needs permissions: pull-requests: write",
    )


def _from_fork(event: str) -> bool:
    try:
        pull = json.loads(Path(event).read_text(encoding="utf-8"))["pull_request"]
        return bool(pull["head"]["repo"]["full_name"] != pull["base"]["repo"]["full_name"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def gitlab(environ: Mapping[str, str]) -> Host | None:
    merge, project = environ.get("CI_MERGE_REQUEST_IID", ""), environ.get("CI_PROJECT_ID", "")
    if not merge or not project:
        return None
    token = environ.get("CRANFIELD_TOKEN", "")
    if not token:
        hint = "a project access token with the scope api, as a CI variable of this name"
        raise NoPullRequest("there is no CRANFIELD_TOKEN, so no comment is written.", hint=hint)
    notes = f"/projects/{quote(project)}/merge_requests/{quote(merge)}/notes"
    source = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", project)
    return Host(
        "GitLab",
        environ.get("CI_API_V4_URL", "https://gitlab.com/api/v4"),
        {"PRIVATE-TOKEN": token},
        notes,
        lambda number: f"{notes}/{number}",
        "PUT",
        source != project,
        "CRANFIELD_TOKEN must be a project access token with the scope api",
    )


HOSTS: tuple[Callable[[Mapping[str, str]], Host | None], ...] = (github, gitlab)


class PullRequest:
    """The comments of a pull request."""

    def __init__(self, host: Host, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._host, self._sleep = host, sleep
        self._path = urlsplit(host.base).path.rstrip("/")
        headers = {**host.headers, "Content-Type": "application/json"}
        self._client = HttpClient(host.base, headers, name=host.name, timeout=30, largest=_LARGEST, resend=False)

    def say(self, body: str) -> str:
        """Write a comment, or update the one with the same mark; returns what was done."""
        mark = _MARK.match(body)
        if mark is None:
            raise OutputError("the comment", "it does not begin with the mark by which it is found again.")
        try:
            own = next((each for each in self._comments() if str(each.get("body") or "").startswith(mark[0])), None)
            if own is None:
                self._ask("POST", self._host.comments, body)
                return "written"
            self._ask(self._host.update, self._host.one(own["id"]), body)
            return "updated"
        finally:
            self._client.close()

    def _comments(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _PAGES + 1):
            found = self._ask("GET", f"{self._host.comments}?per_page={_PAGE}&page={page}")
            if not isinstance(found, list):
                raise OutputError(self._host.name, "the answer does not list comments.")
            yield from (each for each in found if isinstance(each, dict))
            if len(found) < _PAGE:
                return

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        data = None if body is None else json.dumps({"body": body}).encode()
        answer = self._exchanged(method, f"{self._path}{path}", data)
        if answer.status in (401, 403, 404) and method != "GET":
            if self._host.fork:
                raise NoPullRequest("a pull request from a fork may only read, so no comment is written.")
            raise OutputError(
                self._host.name, f"the token may not write comments ({answer.status}).", hint=self._host.allow
            )
        if not 200 <= answer.status < 300:
            raise OutputError(self._host.name, f"{method} {path.partition('?')[0]} was answered with {answer.status}.")
        try:
            return json.loads(answer.data or b"null")
        except ValueError:
            raise OutputError(self._host.name, "the answer is not JSON.") from None

    def _exchanged(self, method: str, target: str, data: bytes | None) -> Answer:
        """An answer; what cannot be written twice is not tried again where it may have arrived."""
        for wait in (*_WAITS, None):
            again = method != "POST"
            try:
                answer = self._client.exchange(method, target, data)
                if wait is None or not again or (answer.status < 500 and answer.status != 429):
                    return answer
            except ExchangeError as error:
                if wait is None or not error.retry or (error.sent and not again):
                    raise OutputError(self._host.name, error.fact, hint=error.hint) from None
            self._sleep(wait)
        raise AssertionError
