"""Waiting for another process: as long as it takes, because a busy machine exceeds any fixed time."""

import array
import time

LIMIT = 120  # seconds: a longer wait means a hang, even on a busy machine


def until(condition, what="it did not happen"):
    """Wait until the condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def unread(pipe):
    """How many bytes of a pipe its reader has not read yet."""
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
