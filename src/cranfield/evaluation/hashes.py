"""The hashes of the judgments and the run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property


class InputHashes:
    """The SHA-256 of the judgments and of the run.

    A hash may be given as a function, which is called when the hash is needed: hashing the ranks of a small run takes
    as long as measuring them.
    """

    def __init__(self, qrels: str | Callable[[], str], run: str | Callable[[], str]) -> None:
        self._qrels, self._run = qrels, run

    @cached_property
    def qrels(self) -> str:
        """That of the judgments."""
        return self._qrels if isinstance(self._qrels, str) else self._qrels()

    @cached_property
    def run(self) -> str:
        """That of the run: of its bytes, or of its ranks if it came from memory."""
        return self._run if isinstance(self._run, str) else self._run()

    def __reduce__(self) -> tuple[type[InputHashes], tuple[str, str]]:
        return InputHashes, (self.qrels, self.run)
