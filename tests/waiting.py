"""Waiting for what another process does: as long as it takes, and not a fixed time that a busy machine exceeds."""

import array
import time

LIMIT = 120  # seconds after which something hangs, however busy the machine is


def until(condition, what="it did not happen"):
    """Wait until the condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def unread(pipe):
    """How many bytes of a pipe its reader has not taken yet."""
    import fcntl
    import termios

    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
