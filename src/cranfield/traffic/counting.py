"""The distinct queries of a log, counted: their texts in a temporary file, about fifty bytes of memory for each.

A query is known by a number of 64 bits that stands for its text. Its permanent random number is a hash of a seed and
the text, so that another sample of this log, or a sample of next month's, draws the same queries where it can.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from cranfield.ranks.columns import Numbers
from cranfield.traffic.personal_data import personal_data_of

AT_ONCE = 150_000  # different texts that are held before they are counted
ADDED = 64  # times that texts are added before they are counted; a block of a log may have few of them, but long ones
SPOOLED = 1 << 24  # bytes of texts that stay in memory
_GROWTH = 1.2
# Blanks that mean nothing, between texts that are joined by newlines; lines may also end in other ways.
_BLANKS = re.compile(r"[^\S \n]|  |^ | $|[\x1c-\x1f\x85\u2028\u2029]", re.MULTILINE)

Whole = npt.NDArray[np.int64]


class CountedQueries:
    """Queries, with how often each was asked.

    any_order: whether queries of the same words in another order are one
    same_case: whether texts that differ by case are two
    keep: kinds of personal data that are not looked for
    """

    def __init__(self, seed: int, *, any_order: bool, same_case: bool, keep: Collection[str]) -> None:
        self.empty = 0
        self._salt = hashlib.blake2b(f"{seed}\n".encode(), digest_size=8)
        self._any_order, self._same_case, self._keep = any_order, same_case, keep
        self._waiting: Counter[str] = Counter()
        self._added = 0
        self._known: Whole = np.empty(0, np.int64)  # the numbers of texts, sorted
        self._places: npt.NDArray[np.int32] = np.empty(0, np.int32)  # where each is in the columns below
        self._size = 0
        self._count: Whole = np.empty(1024, np.int64)
        self._chance: Numbers = np.empty(1024)
        self._begins: Whole = np.zeros(1025, np.int64)  # of the text, in the file of texts
        self._kind: npt.NDArray[np.int8] = np.empty(1024, np.int8)
        self._group: Whole = np.empty(1024 if any_order else 0, np.int64)
        self._own: Numbers = np.empty(1024 if any_order else 0)  # as the chance, of the text itself
        self._texts: IO[bytes] = tempfile.SpooledTemporaryFile(SPOOLED)  # noqa: SIM115 (closed with this)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._texts.close()

    def add(self, texts: Sequence[str], counts: Sequence[int] | None = None) -> None:
        """Count searches; `counts` says how often each text was asked."""
        if counts is None:
            self._waiting.update(texts)
        else:
            for text, number in zip(texts, counts, strict=True):
                self._waiting[text] += number
        self._added += 1
        if len(self._waiting) >= AT_ONCE or self._added >= ADDED:
            self._count_waiting()

    def _count_waiting(self) -> None:
        self._added = 0
        if not self._waiting:
            return
        forms = self._forms(list(self._waiting))
        counts = np.fromiter(self._waiting.values(), np.int64, len(forms))
        self._waiting.clear()
        numbers, first, place = np.unique(_numbers(forms), return_index=True, return_inverse=True)
        sums = np.zeros(len(numbers), np.int64)
        np.add.at(sums, place.ravel(), counts)
        forms = [forms[at] for at in first.tolist()]
        if "" in forms:
            at = forms.index("")
            self.empty += int(sums[at])
            numbers, sums = np.delete(numbers, at), np.delete(sums, at)
            del forms[at]
        where = np.searchsorted(self._known, numbers)
        there = where < len(self._known)
        there[there] = self._known[where[there]] == numbers[there]
        self._count[self._places[where[there]]] += sums[there]
        new = np.flatnonzero(~there)
        self._append([forms[at] for at in new.tolist()], sums[new])
        self._known = np.insert(self._known, where[new], numbers[new])
        added = np.arange(self._size - len(new), self._size, dtype=np.int32)
        self._places = np.insert(self._places, where[new], added)

    def _forms(self, texts: list[str]) -> list[str]:
        """The texts as they are counted: without blanks that mean nothing, and in lower case."""
        whole = "\n".join(texts)
        if whole.count("\n") >= len(texts) or _BLANKS.search(whole):
            whole = "\n".join(" ".join(text.split()) for text in texts)
        if not whole.isascii():
            whole = unicodedata.normalize("NFC", whole)
        return (whole if self._same_case else whole.lower()).split("\n")

    def _append(self, forms: list[str], counts: Whole) -> None:
        start, self._size = self._size, self._size + len(forms)
        if self._size >= len(self._count):
            for name in ("_count", "_chance", "_kind", "_begins", *(["_group", "_own"] if self._any_order else [])):
                column = getattr(self, name)
                column.resize(int(self._size * _GROWTH) + 1, refcheck=False)
        added = slice(start, self._size)
        texts = [form.encode(errors="surrogatepass") for form in forms]
        self._texts.seek(0, os.SEEK_END)
        self._texts.write(b"".join(texts))
        self._begins[start + 1 : self._size + 1] = self._begins[start] + np.cumsum(
            np.fromiter(map(len, texts), np.int64)
        )
        self._count[added] = counts
        lowered = [form.lower() for form in forms] if self._same_case else forms
        self._kind[added] = personal_data_of(lowered, self._keep)
        if self._any_order:
            grouped = [" ".join(sorted(form.split())) for form in forms]
            self._group[added] = _numbers(grouped)
            self._own[added] = self._chances(texts)
            texts = [form.encode(errors="surrogatepass") for form in grouped]
        self._chance[added] = self._chances(texts)

    def _chances(self, texts: Sequence[bytes]) -> Numbers:
        """A permanent random number for each text: between 0 and 1, always the same."""
        digests = []
        for text in texts:
            hashed = self._salt.copy()
            hashed.update(text)
            digests.append(hashed.digest())
        numbers = np.frombuffer(b"".join(digests), ">u8").astype(np.float64)
        return np.asarray((numbers + 0.5) / 2.0**64)

    def finish(self) -> None:
        """Count what is waiting. From then on, columns can be read; more queries may still be added."""
        self._count_waiting()

    @property
    def count(self) -> Whole:
        return self._count[: self._size]

    @property
    def chance(self) -> Numbers:
        return self._chance[: self._size]

    @property
    def kind(self) -> npt.NDArray[np.int8]:
        """The kind of personal data that each seems to have, counted from 1; 0 for none."""
        return self._kind[: self._size]

    def grouped(self) -> tuple[npt.NDArray[np.int32] | None, Whole]:
        """Where in the columns the form of each query is that is asked most, and how often all its forms are asked.

        None: each query has one form, where it is.
        """
        if not self._any_order:
            return None, self.count
        order: npt.NDArray[np.int32]
        order = np.lexsort((self._own[: self._size], -self.count, self._group[: self._size])).astype(np.int32)
        groups = self._group[order]
        first = np.flatnonzero(np.append(True, groups[1:] != groups[:-1])) if len(groups) else order
        return order[first], np.add.reduceat(self.count[order], first) if len(groups) else self.count

    def text(self, place: int) -> str:
        begin, end = self._begins[place : place + 2].tolist()
        self._texts.seek(begin)
        return self._texts.read(end - begin).decode(errors="surrogatepass")


def _numbers(texts: Sequence[str]) -> Whole:
    """A number that stands for each text in this process."""
    return np.fromiter(map(hash, texts), np.int64, len(texts))
