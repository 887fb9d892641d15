"""The hashes of the judgments and the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from cranfield.ranks.columns import Integers, Numbers


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

    def same_judgments(self, other: InputHashes) -> bool:
        """Whether the judgments are the same; the very same ones need no hash."""
        return self._qrels == other._qrels or self.qrels == other.qrels

    @cached_property
    def run(self) -> str:
        """That of the run: of its bytes, or of its ranks if it came from memory."""
        return self._run if isinstance(self._run, str) else self._run()

    def __reduce__(self) -> tuple[type[InputHashes], tuple[str, str]]:
        return InputHashes, (self.qrels, self.run)


def column_digest(query_ids: Sequence[str], columns: Iterable[Integers | Numbers]) -> str:
    """A hash of columns and of the queries that they belong to."""
    import hashlib  # most evaluations show no hash

    digest = hashlib.sha256("\n".join(query_ids).encode(errors="surrogatepass"))
    for column in columns:
        digest.update(column.data if column.flags.c_contiguous else column.tobytes())
    return digest.hexdigest()
