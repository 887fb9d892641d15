"""The command line as it was called, for the files that it writes."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence

from cranfield.layout import visible

LONGEST = 500  # letters
_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^@\s/]+(?=@)|(\b(?:password|passwd|token|key|secret)=)[^\s&']+", re.IGNORECASE)


def command_line(arguments: Sequence[str] | None = None) -> str:
    """The command line without passwords, because its output is shared; a long one is cut off.

    >>> command_line(["report", "postgresql://me:s3cret@host/db", "my run.txt"])
    "cranfield report postgresql://me:***@host/db 'my run.txt'"
    """
    called = visible(shlex.join(["cranfield", *(sys.argv[1:] if arguments is None else arguments)]))
    hidden = _PASSWORD.sub(lambda found: f"{found[1] or found[2]}***", called)
    shown = hidden if len(hidden) <= LONGEST else f"{hidden[:LONGEST].rstrip()} …"
    return shown.encode(errors="replace").decode()
