"""The command line as it was called, to be printed on what it wrote."""

from __future__ import annotations

import re
import shlex
import sys

from cranfield.layout import visible

LONGEST = 500  # letters
_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^@\s/]+(?=@)|(\b(?:password|passwd|token|key|secret)=)[^\s&']+", re.IGNORECASE)


def command_line() -> str:
    """The command line without its passwords, since what it wrote is handed on; a long one is cut off.

    >>> sys.argv = ["/usr/bin/cranfield", "report", "postgresql://me:s3cret@host/db", "my run.txt"]
    >>> command_line()
    "cranfield report postgresql://me:***@host/db 'my run.txt'"
    """
    called = visible(shlex.join(["cranfield", *sys.argv[1:]]))
    hidden = _PASSWORD.sub(lambda found: f"{found[1] or found[2]}***", called)
    shown = hidden if len(hidden) <= LONGEST else f"{hidden[:LONGEST].rstrip()} …"
    return shown.encode(errors="replace").decode()
