"""Changes of several threads share a commit: if one fails or is stopped, the others are saved and no thread hangs."""

import random
import threading
from contextlib import contextmanager

import pytest

from cranfield.io.commits import SharedCommits
from tests.waiting import until


class Disk:
    """Transactions that take the changes of a list as a whole, or none of them."""

    def __init__(self):
        self.saved = []

    @contextmanager
    def writing(self, what, lasting):
        unsaved = []
        yield unsaved
        self.saved += unsaved


class Stopped(BaseException):
    """Stops a thread at any point, as KeyboardInterrupt does."""


def run(commits, number, act, results):
    def make(connection):
        act()
        connection.append(number)
        return number

    try:
        results[number] = commits.run(str(number), make)
    except BaseException as error:
        results[number] = error


def all_at_once(commits, acts):
    """Run changes that all wait for the first one, so they share a transaction; return the result of each thread."""
    results, free = {}, threading.Event()
    threads = [threading.Thread(target=run, args=(commits, -1, lambda: free.wait(10), results), daemon=True)]
    threads[0].start()
    until(lambda: commits._led and not commits._waiting, "the first does not lead")
    for number, act in enumerate(acts):
        threads.append(threading.Thread(target=run, args=(commits, number, act, results), daemon=True))
        threads[-1].start()
        until(lambda number=number: len(commits._waiting) == number + 1, "it does not wait")
    free.set()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads), "a thread never finished"
    return results


def fail():
    raise ValueError


def stop():
    raise Stopped


def nothing():
    pass


def once(act):
    """A function that calls `act` the first time only."""
    acts = [act]
    return lambda: acts.pop()() if acts else None


def test_a_failed_change_gets_its_own_error_and_the_others_are_saved():
    disk = Disk()
    results = all_at_once(SharedCommits(disk.writing), [nothing, fail, nothing])
    assert isinstance(results[1], ValueError)
    assert (results[0], results[2], disk.saved) == (0, 2, [-1, 0, 2])


@pytest.mark.parametrize("others", [[nothing, nothing], [fail, nothing], [nothing, fail, nothing]])
@pytest.mark.parametrize("stopped", range(3))
def test_the_others_are_saved_when_the_leader_is_stopped(others, stopped):
    """The leader is stopped during its own change, or during that of another thread."""
    acts = [nothing, *others]
    acts[stopped] = once(stop)
    disk = Disk()
    results = all_at_once(SharedCommits(disk.writing), acts)
    assert isinstance(results[0], Stopped)
    for number, act in enumerate(acts[1:], 1):
        assert isinstance(results[number], ValueError) if act is fail else results[number] == number
    assert len(disk.saved) == len(set(disk.saved))


def test_the_others_are_saved_when_the_leader_is_stopped_during_single_retries():
    disk = Disk()
    calls = []

    def fails_then_stops():
        calls.append(1)
        raise ValueError if len(calls) == 1 else Stopped

    results = all_at_once(SharedCommits(disk.writing), [fails_then_stops, nothing, nothing])
    assert isinstance(results[0], Stopped)
    assert disk.saved == [-1, 1, 2]


def test_a_thread_that_left_does_not_become_the_leader():
    disk, results, free = Disk(), {}, threading.Event()
    commits = SharedCommits(disk.writing)

    class Left(threading.Event):
        """Stops the waiting thread while its change is being made."""

        def wait(self, timeout=None):
            until(lambda: not commits._waiting, "no thread makes the change")
            raise Stopped

    def lead():
        free.wait(10)
        until(lambda: 1 in results, "the thread did not leave")
        raise Stopped

    leader = threading.Thread(target=run, args=(commits, 0, lead, results), daemon=True)
    from cranfield.io import commits as module

    pending = module._PendingChange
    first = threading.Thread(target=run, args=(commits, -1, lambda: free.wait(10), results), daemon=True)
    first.start()
    until(lambda: commits._led and not commits._waiting, "the first does not lead")
    leader.start()
    until(lambda: len(commits._waiting) == 1, "it does not wait")
    try:
        module._PendingChange = lambda what, make, lasting: pending(what, make, lasting, Left())
        leaves = threading.Thread(target=run, args=(commits, 1, nothing, results), daemon=True)
        leaves.start()
        until(lambda: len(commits._waiting) == 2, "it does not wait")
    finally:
        module._PendingChange = pending
    free.set()
    for thread in (first, leader, leaves):
        thread.join(10)
    later = threading.Thread(target=run, args=(commits, 2, nothing, results), daemon=True)
    later.start()
    later.join(10)
    assert results[2] == 2


@pytest.mark.fault(
    "threads that fail or are stopped while they save together",
    "What was reported as saved is saved, and nobody hangs.",
    tries=400,
)
def test_no_thread_hangs_when_many_fail_or_are_stopped(tries):
    disk, results, chance = Disk(), {}, random.Random(1)
    commits = SharedCommits(disk.writing)
    acts = [chance.choices([nothing, fail, once(stop)], [80, 10, 10])[0] for _ in range(tries)]

    def work(numbers):
        for number in numbers:
            run(commits, number, acts[number], results)

    threads = [threading.Thread(target=work, args=(range(at, tries, 16),), daemon=True) for at in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == tries, "a thread never finished"
    made = [number for number, result in results.items() if result == number]
    assert set(made) <= set(disk.saved)
    assert not {number for number, act in enumerate(acts) if act is fail} & set(disk.saved)
    assert not commits._led
