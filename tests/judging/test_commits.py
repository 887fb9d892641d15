"""Changes of several threads share commits: whatever fails or is stopped, the others are made and nobody waits on."""

import random
import threading
from contextlib import contextmanager

import pytest

from cranfield.judging.commits import SharedCommits
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
    """As KeyboardInterrupt is: it stops a thread, wherever it is."""


def run(commits, number, act, told):
    def make(connection):
        act()
        connection.append(number)
        return number

    try:
        told[number] = commits.run(str(number), make)
    except BaseException as error:
        told[number] = error


def all_at_once(commits, acts):
    """Run changes that all wait for the first one, and so share a transaction; what each thread was told."""
    told, free = {}, threading.Event()
    threads = [threading.Thread(target=run, args=(commits, -1, lambda: free.wait(10), told), daemon=True)]
    threads[0].start()
    until(lambda: commits._led and not commits._waiting, "the first does not lead")
    for number, act in enumerate(acts):
        threads.append(threading.Thread(target=run, args=(commits, number, act, told), daemon=True))
        threads[-1].start()
        until(lambda number=number: len(commits._waiting) == number + 1, "it does not wait")
    free.set()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    return told


def fail():
    raise ValueError


def stop():
    raise Stopped


def nothing():
    pass


def once(act):
    """Something that happens the first time only."""
    acts = [act]
    return lambda: acts.pop()() if acts else None


def test_one_that_fails_has_its_own_error_and_the_others_are_made():
    disk = Disk()
    told = all_at_once(SharedCommits(disk.writing), [nothing, fail, nothing])
    assert isinstance(told[1], ValueError)
    assert (told[0], told[2], disk.saved) == (0, 2, [-1, 0, 2])


@pytest.mark.parametrize("others", [[nothing, nothing], [fail, nothing], [nothing, fail, nothing]])
@pytest.mark.parametrize("stopped", range(3))
def test_a_leader_that_is_stopped_leaves_the_others_their_turn(others, stopped):
    """It is stopped in the middle of the change of another thread, or of its own."""
    acts = [nothing, *others]
    acts[stopped] = once(stop)
    disk = Disk()
    told = all_at_once(SharedCommits(disk.writing), acts)
    assert isinstance(told[0], Stopped)
    for number, act in enumerate(acts[1:], 1):
        assert isinstance(told[number], ValueError) if act is fail else told[number] == number
    assert len(disk.saved) == len(set(disk.saved))


def test_a_leader_that_is_stopped_while_each_tries_alone():
    disk = Disk()
    calls = []

    def fails_then_stops():
        calls.append(1)
        raise ValueError if len(calls) == 1 else Stopped

    told = all_at_once(SharedCommits(disk.writing), [fails_then_stops, nothing, nothing])
    assert isinstance(told[0], Stopped)
    assert disk.saved == [-1, 1, 2]


def test_one_that_left_is_not_called_to_lead():
    disk, told, free = Disk(), {}, threading.Event()
    commits = SharedCommits(disk.writing)

    class Left(threading.Event):
        """The waiting of a thread that is stopped while its change is being made."""

        def wait(self, timeout=None):
            until(lambda: not commits._waiting, "nobody makes it")
            raise Stopped

    def lead():
        free.wait(10)
        until(lambda: 1 in told, "it did not leave")
        raise Stopped

    leader = threading.Thread(target=run, args=(commits, 0, lead, told), daemon=True)
    from cranfield.judging import commits as module

    pending = module._PendingChange
    first = threading.Thread(target=run, args=(commits, -1, lambda: free.wait(10), told), daemon=True)
    first.start()
    until(lambda: commits._led and not commits._waiting, "the first does not lead")
    leader.start()
    until(lambda: len(commits._waiting) == 1, "it does not wait")
    try:
        module._PendingChange = lambda what, make, lasting: pending(what, make, lasting, Left())
        leaves = threading.Thread(target=run, args=(commits, 1, nothing, told), daemon=True)
        leaves.start()
        until(lambda: len(commits._waiting) == 2, "it does not wait")
    finally:
        module._PendingChange = pending
    free.set()
    for thread in (first, leader, leaves):
        thread.join(10)
    later = threading.Thread(target=run, args=(commits, 2, nothing, told), daemon=True)
    later.start()
    later.join(10)
    assert told[2] == 2


def test_many_threads_that_fail_and_are_stopped_now_and_then():
    disk, told, chance = Disk(), {}, random.Random(1)
    commits = SharedCommits(disk.writing)
    acts = [chance.choices([nothing, fail, once(stop)], [80, 10, 10])[0] for _ in range(400)]

    def work(numbers):
        for number in numbers:
            run(commits, number, acts[number], told)

    threads = [threading.Thread(target=work, args=(range(at, 400, 16),), daemon=True) for at in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(told) == 400, "a thread waits for ever"
    made = [number for number, result in told.items() if result == number]
    assert set(made) <= set(disk.saved)
    assert not {number for number, act in enumerate(acts) if act is fail} & set(disk.saved)
    assert not commits._led
