"""The process that draws pictures.

Where vl-convert panics, it often aborts its process: a picture must not cost a notebook's results. So it runs in a
process of its own, which is kept for the next picture, because its first one takes ten times as long as others.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, Any, cast

from cranfield.errors import OutputError, need

PROGRAM = Path(__file__).with_name("renderer_process.py")
PATIENCE = 5  # seconds between the end of a process's replies and its own, while the system may keep its memory
_FAST = ("-S", "-P")  # without packages of others; the argument says where the only one is that is needed


def render(function: str, spec: str, **options: Any) -> bytes:
    """What a function of vl-convert makes of a specification."""
    converter = need("vl_convert", extra="report", purpose="drawing pictures")
    # A fork has its parent's pipes, but must not talk into them.
    return _renderer(os.getpid(), Path(str(converter.__file__)).parent.parent).drawn(function, spec, options)


class Renderer:
    """A process that draws one picture after the other, and is started again if it has ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        atexit.register(self._stop)

    def drawn(self, function: str, spec: str, options: dict[str, Any]) -> bytes:
        with self._lock:
            try:
                known, content = self._answer(json.dumps([function, spec, options]).encode() + b"\n")
            except (OSError, EOFError) as error:
                status = self._stop(patience=PATIENCE)
                reason = f"vl-convert crashed ({status})." if status else f"vl-convert did not start: {error}."
                raise OutputError("the chart", reason, hint="save it as .json, and draw it elsewhere") from None
            except BaseException:  # interrupted: the rest of the answer would be taken for that of the next request
                self._stop()
                raise
        if not known:
            reason = content.decode().partition("\n    at ")[0].replace("\n", " ")  # without its stack
            raise OutputError("the chart", f"it cannot be drawn: {reason}")
        return content

    def _answer(self, request: bytes) -> tuple[bool, bytes]:
        if self._process is None or self._process.poll() is not None:
            self._stop()
            self._process = subprocess.Popen(
                [sys.executable, *_FAST, str(PROGRAM), str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # the words of a panic are for those who build vl-convert
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        requests, replies = _pipes(self._process)
        requests.write(request)
        requests.flush()
        header = replies.readline()
        if not header:
            raise EOFError
        known, length = json.loads(header)
        content = replies.read(length)
        if len(content) < length:
            raise EOFError
        return known, content

    def _stop(self, patience: float = 0) -> str:
        """End the process, and say how it ended; empty if there was none. patience: seconds to end by itself."""
        process, self._process = self._process, None
        if process is None:
            return ""
        for pipe in _pipes(process):
            with suppress(OSError):  # a request that nobody reads
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        process.kill()
        status = process.wait()
        return f"signal {-status}" if status < 0 else f"exit status {status}"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    return cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)


@cache
def _renderer(process: int, folder: Path) -> Renderer:
    return Renderer(folder)
