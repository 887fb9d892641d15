"""Where quotes are in a text: exactly, or with other white space and case. A text is indexed once for all of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice

import numpy as np

from cranfield.ranks.columns import Integers

Span = tuple[int, int]
SHORT = 5_000  # characters of a text that is searched faster than indexed
WIDTHS = (32, 8, 4)  # of blocks: at most about half a quote, which so has a whole block wherever it is
LONGEST = 1_000  # characters of a quote of which parts are looked up
RARE = 256  # places that look like a quote and are compared with it; of more, other parts are looked up
PATIENCE = 100  # times that a text is searched, after which its suffixes are sorted: they take as long
# Hashes are polynomials modulo 2 ** 64: to join two parts of so many characters, that of the first is multiplied.
FACTORS = [(2**step, np.uint64(pow(0x9E3779B97F4A7C15, 2**step, 2**64))) for step in range(5)]
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
        folded = _folded(self.text)
        return self._exact if folded == self.text else _Index(folded)

    @cached_property
    def _place(self) -> Integers:
        """The place of each character of the folded text."""
        letters = _letters(self.text)
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


def _letters(text: str) -> Integers:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


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

    Wherever a text has a quote of two blocks' length, it has some of the quote's parts of a block's length as blocks:
    which ones depends only on where the first block begins in the quote. For each such beginning the quote is looked
    up by its rarest part, instead of being looked for in the whole text. Quotes of fewer than seven characters, and
    those of which every part is frequent, are looked for in it; and where there are many of them, among its sorted
    suffixes.
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
        widths = [width for width in WIDTHS if 2 * width - 1 <= len(quote)] if len(self._text) > SHORT else []
        # Most quotes begin with a rare part. Where one differs from others in a letter, short parts with it are rare.
        tried = [(width, 2 * width - 1) for width in widths[:1]] + [(width, LONGEST) for width in widths[-2:]]
        for width, size in tried:
            candidates = self._candidates(quote[:size], width)
            if candidates is not None:
                yield from (at for at in candidates if at >= start and self._text.startswith(quote, at))
                return
        # A long quote that overlaps itself is soon compared, and takes long to look for.
        while (at := start if self._text.startswith(quote, start) else self._text.find(quote, start)) >= 0:
            self._searched += at - start
            yield at
            start = at + 1
        self._searched += len(self._text) - start

    def _candidates(self, part: str, width: int) -> list[int] | None:
        """Where a quote that begins with this part may begin, in order; None if it is at many places."""
        hashes, firsts, numbers, places = self._blocks(width)
        wanted = _letters(part)
        for size, factor in FACTORS[: width.bit_length() - 1]:
            wanted = wanted[:-size] * factor + wanted[size:]
        at = hashes.searchsorted(wanted)
        number = np.where(hashes[at] == wanted, numbers[at], 0)
        if len(number) > width:
            padded = np.append(number, np.full(-len(number) % width, len(places)))
            rarest = padded.reshape(-1, width).argmin(axis=0) * width + np.arange(width)
            rarest = rarest[number[rarest] > 0]
        else:
            rarest = number.nonzero()[0]
        if number[rarest].sum() > RARE:
            return None
        found = zip(rarest.tolist(), firsts[at[rarest]].tolist(), number[rarest].tolist(), strict=True)
        return sorted(
            place - offset for offset, first, many in found for place in places[first : first + many].tolist()
        )

    def _sorted_blocks(self, width: int) -> tuple[Integers, Integers, Integers, Integers]:
        """The hashes of blocks in order, and of each where its places begin, how many they are, and all places."""
        made = _letters(self._text[: len(self._text) // width * width])
        for _, factor in FACTORS[: width.bit_length() - 1]:
            made = made[::2] * factor + made[1::2]
        order = np.argsort(made, kind="stable")
        hashes, firsts, numbers = np.unique(made[order], return_index=True, return_counts=True)
        hashes = np.append(hashes, np.uint64(2**64 - 1))  # so that every hash has a place
        return hashes, np.append(firsts, 0), np.append(numbers, 0), order * width

    @cached_property
    def _suffixes(self) -> _Suffixes:
        return _Suffixes(self._text)

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
        letters = np.unique(_letters(text), return_inverse=True)[1]
        bits = int(letters.max() + 1).bit_length()
        self._depth = 63 // bits  # characters by which the places are in order
        keys = np.zeros(len(text), np.int64)
        for at in range(self._depth):
            keys <<= bits
            keys[: max(len(text) - at, 0)] |= letters[at:] + 1  # after the end comes 0
        self._sort(keys)
        self.find = lru_cache(maxsize=256)(self._find)

    def _sort(self, *keys: Integers) -> None:
        """Sort by the first key, and then by the second; NumPy is much faster with numbers of two bytes."""
        self._order = np.lexsort(keys[::-1])
        rises = np.zeros(len(self._order), np.bool_)
        for key in keys:
            ordered = key[self._order]
            rises[1:] |= ordered[1:] != ordered[:-1]
        number = int(rises.sum()) + 1
        self._ranks = np.empty(len(rises), np.min_scalar_type(number))
        self._ranks[self._order] = np.cumsum(rises) + 1
        self._settled = number == len(rises)

    def _find(self, quote: str) -> Integers:
        """The places of a quote, in their order."""
        text, size = self._text, len(quote)
        while self._depth < size and not self._settled:  # what is in order by n characters becomes so by 2n
            later = np.append(self._ranks[self._depth :], np.zeros(min(self._depth, len(text)), self._ranks.dtype))
            self._depth *= 2
            if later.itemsize <= 2:
                self._sort(self._ranks, later)
            else:
                self._sort(self._ranks * np.int64(len(text) + 1) + later)

        def beginning(place: int) -> str:
            return text[place : place + size]

        low = bisect_left(self._order, quote, key=beginning)
        high = bisect_right(self._order, quote, low, key=beginning)
        return np.sort(self._order[low:high])
