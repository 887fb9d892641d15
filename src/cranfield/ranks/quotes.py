"""Where quotes are in a text: exactly, or with other white space and case. A text is indexed once for all of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from heapq import merge
from itertools import islice

import numpy as np

from cranfield.ranks.columns import Integers

Span = tuple[int, int]
SHORT = 5_000  # characters of a text that is searched faster than indexed
WIDTHS = (32, 16, 8, 4)  # of blocks: at most about half a quote, which so has a whole block wherever it is
PARTS = 4  # of a quote, tried for one with rare blocks: the others may be boilerplate
RARE = 32  # blocks in the text, with which no other part is tried
MISSES = 64  # places that look like a quote and are not, after which the text is searched without its blocks
PATIENCE = 100  # times that a text is searched, after which its suffixes are sorted: they take as long
_WHITE_SPACE = re.compile(r"\s+")


class QuotedText:
    """A text in which many quotes are looked for.

    >>> text = QuotedText("Cats sleep.  Cats dream.")
    >>> text.find("Cats").first, text.find("sleep. cats").first, text.find("dogs").first
    (((0, 4), (13, 17)), ((5, 17),), ())
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._exact = _Index(text)

    def find(self, quote: str) -> Quoted:
        """The places of a quote: where it is exactly, or, if it is nowhere, with other white space and case."""
        exact = Quoted(self._exact, quote)
        return exact if exact.first else Quoted(self._folded, _folded(quote.strip()), self._place)

    @cached_property
    def _folded(self) -> _Index:
        return _Index(_folded(self.text))

    @cached_property
    def _place(self) -> Integers:
        """The place of each character of the folded text."""
        letters = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)
        blank = np.zeros(len(letters), np.bool_)
        lengths = np.ones(len(letters), np.uint8)
        for letter in set(self.text):
            if letter.isspace():
                blank |= letters == ord(letter)
            elif len(letter.casefold()) > 1:  # as that of ß
                lengths[letters == ord(letter)] = len(letter.casefold())
        lengths[1:][blank[1:] & blank[:-1]] = 0
        return np.repeat(np.arange(len(letters), dtype=np.uint32), lengths)


def _folded(text: str) -> str:
    """A text without case and with one blank for any white space."""
    return _WHITE_SPACE.sub(" ", text.casefold())


@dataclass(frozen=True)
class Quoted:
    """The places of a quote in a text, in code points. Those after the first two are looked for when asked for."""

    index: _Index
    quote: str
    place: Integers | None = None  # in the text, of each character of the index, if it is not the same

    @cached_property
    def first(self) -> tuple[Span, ...]:
        """The first two places, or fewer if there are no more."""
        return tuple(islice(self.since(0), 2))

    def since(self, start: int) -> Iterator[Span]:
        """The places that begin at `start` or later, in order; they may overlap."""
        size, place = len(self.quote), self.place
        if place is None:
            yield from ((at, at + size) for at in self.index.find(self.quote, start))
        else:
            for at in self.index.find(self.quote, bisect_left(place, start)):
                yield int(place[at]), int(place[at + size - 1]) + 1

    def count(self) -> int:
        return self.index.count(self.quote)


class _Index:
    """A text and its blocks, the parts of equal length that it consists of, sorted by their hashes.

    Wherever a text has a quote of two blocks' length, it has one of the quote's first parts of a block's length as a
    block. So a quote is looked up, instead of being looked for in the whole text. Quotes of fewer than seven
    characters, and those that differ from frequent texts in a few letters, are looked for in it; and where there are
    many of them, among its sorted suffixes.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._blocks = cache(self._sorted_blocks)
        self._searched = 0  # characters

    def find(self, quote: str, start: int) -> Iterator[int]:
        """Where the quote begins, from `start` on, in order."""
        if not 0 < len(quote) <= len(self._text):
            return
        if self._searched > PATIENCE * len(self._text):
            places = self._suffixes.find(quote)
            yield from map(int, places[bisect_left(places, start) :])
            return
        width = next((width for width in WIDTHS if 2 * width - 1 <= len(quote)), None)
        if width is not None and len(self._text) > SHORT:
            misses = 0
            for at in self._candidates(quote, width, start):
                start = at + 1
                if self._text.startswith(quote, at):
                    yield at
                else:
                    misses += 1
                    if misses == MISSES:
                        break
            else:
                return
            self._searched += len(self._text)
        while (at := self._text.find(quote, start)) >= 0:
            self._searched += at - start
            yield at
            start = at + 1
        self._searched += len(self._text) - start

    def _candidates(self, quote: str, width: int, start: int) -> Iterable[int]:
        """Where one of the quote's blocks is, less its place in the quote, from `start` on, in order."""
        hashes, places = self._blocks(width)
        rarest: list[tuple[int, Integers]] = []
        fewest = -1
        for part in range(PARTS):
            offset = (len(quote) - 2 * width + 1) * part // (PARTS - 1)
            wanted = np.array([hash(quote[at : at + width]) for at in range(offset, offset + width)])
            low = hashes.searchsorted(wanted)
            known = np.flatnonzero(hashes.take(low, mode="clip") == wanted)
            low, high = low[known], hashes.searchsorted(wanted[known], "right")
            number = int((high - low).sum())
            if part == 0 or number < fewest:
                fewest = number
                found = zip((known + offset).tolist(), low.tolist(), high.tolist(), strict=True)
                rarest = [(at, places[first:last]) for at, first, last in found]
            if number <= RARE:
                break

        def begins(at: int, here: Integers) -> Iterator[int]:
            for place in here[bisect_left(here, start + at) :]:
                yield int(place) - at

        return merge(*(begins(at, here) for at, here in rarest))

    @cached_property
    def _suffixes(self) -> _Suffixes:
        return _Suffixes(self._text)

    def _sorted_blocks(self, width: int) -> tuple[Integers, Integers]:
        """The hashes of the blocks in order, and the place of each."""
        places = np.arange(0, len(self._text) - width + 1, width)
        hashes = np.array([hash(self._text[at : at + width]) for at in places.tolist()])
        order = np.argsort(hashes, kind="stable")
        return hashes[order], places[order]

    def count(self, quote: str) -> int:
        """How often the quote appears. Where it overlaps itself closely, as in "aaaa", its period counts instead."""
        number, at = 0, self._text.find(quote) if quote else -1
        while at >= 0:
            number += 1
            following = self._text.find(quote, at + 1)
            if at < following <= at + len(quote) // 2:  # so this is the period, and all others follow at this distance
                period = following - at
                more = (self._periodic_end(at + len(quote), period) - at - len(quote)) // period
                number += more
                at += more * period
                following = self._text.find(quote, at + 1)
            at = following
        return number

    def _periodic_end(self, at: int, period: int) -> int:
        """The first place from `at` on whose character is not that one period before it."""
        width = 1
        while width:
            ahead = self._text[at : at + width]
            if ahead and self._text.startswith(ahead, at - period):
                at += len(ahead)
                width *= 2
            else:
                width //= 2
        return at


class _Suffixes:
    """The places of a text in the order of what follows them, as far as quotes have been long."""

    def __init__(self, text: str) -> None:
        self._text = text
        letters = np.unique(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32), return_inverse=True)[1]
        bits = int(letters.max() + 1).bit_length()
        self._depth = 63 // bits  # characters by which the places are in order
        keys = np.zeros(len(text), np.int64)
        for at in range(self._depth):
            keys <<= bits
            keys[: max(len(text) - at, 0)] |= letters[at:] + 1  # after the end comes 0
        self._sort(keys)
        self.find = lru_cache(maxsize=256)(self._find)

    def _sort(self, keys: Integers) -> None:
        self._order = np.argsort(keys)
        keys = keys[self._order]
        ranks = np.empty(len(keys), np.int64)
        ranks[self._order] = np.append(0, np.cumsum(keys[1:] != keys[:-1])) + 1
        self._ranks, self._settled = ranks, int(ranks.max()) == len(keys)

    def _find(self, quote: str) -> Integers:
        """The places of a quote, in their order."""
        text, size = self._text, len(quote)
        while self._depth < size and not self._settled:  # what is in order by n characters becomes so by 2n
            keys = self._ranks * (len(text) + 1)
            keys[: -self._depth] += self._ranks[self._depth :]
            self._depth *= 2
            self._sort(keys)

        def beginning(place: int) -> str:
            return text[place : place + size]

        low = bisect_left(self._order, quote, key=beginning)
        high = bisect_right(self._order, quote, low, key=beginning)
        return np.sort(self._order[low:high])
