"""Waiting for an answer: with a deadline, and for coroutines in one event loop that serves a whole recording."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as Overdue
from typing import Any

from cranfield.errors import SystemFailure

# What asyncio and clients that use it say of an object that was made in another loop, such as a notebook's own.
_OTHER_LOOP = ("attached to a different loop", "bound to a different event loop", "different event loop")
_HINT = "make the client inside of the function, or give a client that is not asynchronous"


class Waiting:
    """Waits for answers; the loop runs in a thread of its own, so that it works in notebooks, which have one."""

    def __init__(self, timeout: float | None = None) -> None:
        self._timeout = timeout
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def result(self, call: Callable[[], Any]) -> Any:
        """What a call returns, awaited where it has to be; a failure where that takes too long."""
        answer = call() if self._timeout is None else self._timely(_started(call))
        if inspect.isawaitable(answer) or hasattr(answer, "__aiter__"):
            try:
                return self._timely(asyncio.run_coroutine_threadsafe(_whole(answer), self._running()))
            except RuntimeError as error:
                if any(words in str(error) for words in _OTHER_LOOP):
                    fact = "the client belongs to another event loop, such as the notebook's own."
                    raise SystemFailure(fact, hint=_HINT, final=True) from error
                raise
        return answer

    def _timely(self, future: Future[Any]) -> Any:
        try:
            return future.result(self._timeout)
        except Overdue:
            if future.done():  # a failure of the call itself
                raise
            future.cancel()
            fact = f"no answer within {self._timeout:g} seconds; the call may still be running."
            raise SystemFailure(fact) from None
        except CancelledError:
            raise SystemFailure("the call was cancelled.") from None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="cranfield-answers", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(1)  # unless a call blocks the loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, and end what still waits in it."""
    try:
        loop.run_forever()
        loop.run_until_complete(_ended(asyncio.all_tasks(loop)))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _whole(answer: Any) -> Any:
    if hasattr(answer, "__aiter__"):
        return [result async for result in answer]
    return await answer


def _started(call: Callable[[], Any]) -> Future[Any]:
    """The call in a thread that nobody waits for at the end of the program."""
    future: Future[Any] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # it must reach who waits, a SystemExit too
            future.set_exception(error)

    future.set_running_or_notify_cancel()
    threading.Thread(target=work, daemon=True).start()
    return future
