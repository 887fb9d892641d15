"""How many requests and tokens a run may still use, whatever happens to the requests under way."""

from __future__ import annotations

import threading

# Tokens that a chat template may add around a prompt, such as a system prompt of its own.
TEMPLATE_TOKENS = 100
TYPICAL_LETTERS = 4  # per token, for estimates only


def most_tokens(size: int, max_tokens: int) -> int:
    """The most tokens that a request can take: none of them is shorter than a byte of the prompt."""
    return size + TEMPLATE_TOKENS + max_tokens


def typical_tokens(size: int) -> int:
    """What a prompt of so many bytes usually takes."""
    return size // TYPICAL_LETTERS + 1


class ExhaustedError(Exception):
    """The limit of requests or the budget of tokens is reached."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class Allowance:
    """Counts requests and tokens. The most that a request can take is set aside before it is sent.

    limit: requests that may be sent; None: as many as are needed
    budget: tokens that may be spent; None: as many as are needed
    spent: tokens that were spent before
    """

    def __init__(self, limit: int | None = None, budget: int | None = None, spent: int = 0) -> None:
        self._limit, self._budget = limit, budget
        self.requests, self.spent = 0, spent
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
                if self._budget is None or self.spent + self._aside + aside <= self._budget:
                    self.requests += 1
                    self._aside += aside
                    return aside
                if not self._aside:
                    raise ExhaustedError("budget")
                self._changed.wait()

    def settle(self, aside: int, used: int) -> None:
        """Record what a request has cost."""
        with self._changed:
            self._aside -= aside
            self.spent += used
            self._excess += max(used - aside, 0)
            self._changed.notify_all()

    def stop(self) -> None:
        """Let no thread wait or start a request any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
