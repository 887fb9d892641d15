"""Requests to a model: how many may still be sent, and one that is sent until it is answered."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa

from cranfield.errors import CranfieldError
from cranfield.judging.models import ledger
from cranfield.judging.models.assessor import ModelAssessor
from cranfield.judging.models.endpoint import Endpoint, InProcess, NoReplyError, RawReply
from cranfield.judging.store.store import Store

# Tokens that a chat template may add around a prompt, such as a system prompt of its own.
TEMPLATE_TOKENS = 100


def most_tokens(size: int, assessor: ModelAssessor) -> int:
    """The most tokens that a request can take: none of them is shorter than a byte of the prompt."""
    return size + assessor._body_tokens + TEMPLATE_TOKENS + assessor._reply_tokens


class ExhaustedError(Exception):
    """The limit of requests or the budget of tokens is reached, or the run was stopped."""


_NO_COSTS = ledger.Costs()


class Allowance:
    """Counts requests up to a limit, and tokens up to a budget, to which the costs from `before` belong.

    The most that a request can take is set aside before it is sent.
    """

    def __init__(self, limit: int | None = None, budget: int | None = None, before: ledger.Costs = _NO_COSTS) -> None:
        self._limit, self._budget = limit, budget
        self.requests, self.costs = 0, before
        self.uncounted, self.cost = 0, 0.0  # replies of which the endpoint counted no tokens; what all replies cost
        self._aside = 0  # for requests under way
        self._excess = 0  # by how much the endpoint's count has exceeded ours at most
        self._changed = threading.Condition()
        self._stopped = False

    def reserve(self, tokens: int) -> int:
        """Set tokens aside for a request; returns how many. Waits for requests under way if these may leave enough."""
        with self._changed:
            while True:
                if self._stopped:
                    raise ExhaustedError("stopped")
                if self._limit is not None and self.requests >= self._limit:
                    raise ExhaustedError("requests")
                aside = tokens + self._excess
                if self._budget is None or self.costs.most + self._aside + aside <= self._budget:
                    self.requests += 1
                    self._aside += aside
                    return aside
                if not self._aside:
                    raise ExhaustedError("budget")
                self._changed.wait()

    def settle(self, aside: int, used: int, failed: bool = False) -> None:
        """Count what a request took; at most, if it `failed` and may have been worked on."""
        with self._changed:
            self._aside -= aside
            spent, failures, failed_tokens = self.costs
            if failed:
                self.costs = ledger.Costs(spent, failures + 1, failed_tokens + used)
            else:
                self.costs = ledger.Costs(spent + used, failures, failed_tokens)
            self._excess += max(used - aside, 0)
            self._changed.notify_all()

    def bill(self, cost: float, *, counted: bool) -> None:
        with self._changed:
            self.cost += cost
            self.uncounted += not counted

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


LONGEST_WAIT = 60.0  # between two attempts, unless the endpoint asks for more
UNREACHABLE = 2  # further attempts if no server answers
LONGEST_ASKED = 600.0  # seconds; an endpoint that asks for a longer wait ends the run
LATE = 10.0  # seconds between the record of a request and the request itself, at most

Saved = TypeVar("Saved")
Save = Callable[[sa.Connection, RawReply, dict[str, Any]], Saved]


class Requests:
    """Sends requests of several threads, until `stop` is set; see `ask_model`.

    before: called before each request; its error keeps the request from being sent
    """

    def __init__(
        self,
        store: Store,
        assessor: ModelAssessor,
        allowance: Allowance,
        stop: threading.Event,
        *,
        before: Callable[[], None],
        retries: int,
        wait: float,
    ) -> None:
        self._commits, self._assessor, self._allowance = store._database.commits, assessor, allowance
        self._stop, self._before, self._retries, self._wait = stop, before, retries, wait
        self.endpoint: Endpoint | None = None
        self._function = InProcess(assessor) if assessor.call else None
        self._not_before = 0.0  # if an endpoint asks to wait, all threads wait

    def close(self) -> None:
        if self.endpoint is not None:
            self.endpoint.close()

    def open(self) -> None:
        """Before the first request: a plan of what it takes needs no key."""
        if self._assessor.call is None and self.endpoint is None:
            self.endpoint = Endpoint(self._assessor)

    @property
    def takes_prompts(self) -> bool:
        """Whether any prompt can be sent: a function of a query and a document takes only those."""
        return self._function is None or not self._function.of_texts

    def ask(self, prompt: str, sample: int, save: Save[Saved], *, query: str = "", document: str = "") -> Saved:
        attempt = 0
        while True:
            attempt += 1
            self._pause()
            try:
                return self._attempt(prompt, sample, attempt, save, query, document)
            except NoReplyError as failure:
                retries = min(self._retries, UNREACHABLE) if failure.unreachable else self._retries
                if failure.final or not failure.retry or attempt > retries:
                    raise
                if failure.after > LONGEST_ASKED:
                    failure.final, failure.hint = True, f"it asks to wait for {failure.after:.0f} s; try again later"
                    raise
                pause = min(self._wait * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.75, 1.25)
                if failure.after:
                    self._not_before = max(self._not_before, time.monotonic() + failure.after)
                if self._stop.wait(pause):
                    raise ExhaustedError("stopped") from None

    def _pause(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            if self._stop.wait(left):
                break
        if self._stop.is_set():
            raise ExhaustedError("stopped")

    def _attempt(self, prompt: str, sample: int, attempt: int, save: Save[Saved], query: str, document: str) -> Saved:
        if self._function is not None:
            self._before()
            self._allowance.settle(self._allowance.reserve(0), 0)
            raw = self._function.reply(prompt, sample, query, document)
            return self._commits.run("a reply", lambda connection: save(connection, raw, {"attempt": attempt}))
        assert self.endpoint is not None
        aside = self._allowance.reserve(most_tokens(len(prompt.encode()), self._assessor))
        used, failed = aside, True
        try:
            name, seconds = self._assessor.name, self._assessor.timeout + LATE
            number = self._commits.run(
                "a request", lambda connection: ledger.open_request(connection, name, aside, seconds), lasting=False
            )
            try:
                self._before()
            except CranfieldError:
                used, failed = 0, False
                self._close(number, charged=False)
                raise
            try:
                raw = self.endpoint.reply(prompt, sample)
            except NoReplyError as failure:
                if not failure.charged:
                    used, failed = 0, False
                if not (failure.charged and failure.code):  # otherwise it is closed together with what it sent
                    self._close(number, charged=failure.charged)
                if not failure.code:
                    raise
                raw = RawReply(failure.sent, failure=failure.code, tokens=0)
            used = aside if raw.tokens is None else raw.tokens
            details = {**raw.details, "attempt": attempt, "tokens": used, "host": self._assessor._host}
            if raw.tokens is None:
                details["tokens_are"] = "at most: the endpoint does not count them"

            def ended(connection: sa.Connection) -> Saved:
                ledger.close_request(connection, number)
                return save(connection, raw, details)

            saved = self._commits.run("a reply", ended)
            failed = False
            self._allowance.bill(self._cost(raw, used), counted=raw.tokens is not None)
            return saved
        finally:
            self._allowance.settle(aside, used, failed)

    def _cost(self, raw: RawReply, used: int) -> float:
        """As the endpoint counts tokens; what it does not tell apart counts as what costs more."""
        own = self._assessor
        if raw.tokens is None:
            return own._cost(used - own._reply_tokens, own._reply_tokens) or 0.0
        if raw.prompt_tokens is None:
            return max(own._cost(used, 0) or 0.0, own._cost(0, used) or 0.0)
        return own._cost(raw.prompt_tokens, used - raw.prompt_tokens) or 0.0

    def _close(self, number: int, *, charged: bool) -> None:
        self._commits.run(
            "a request",
            lambda connection: ledger.close_request(connection, number, charged=charged),
            lasting=False,
        )
