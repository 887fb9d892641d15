"""The page's data as JSON that is safe inside HTML, written in parts so that it is never completely in memory."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.ranks.columns import Integers

if TYPE_CHECKING:
    import numpy.typing as npt

LARGE = 3_000_000  # from this many characters on, data is packed
LEVEL = 5  # of 9; the next level takes twice as long, and saves a fortieth
SMALL = 10_000
NOTHING = b"\0"


class Encoded(str):
    __slots__ = ()


def safe_json(data: Any) -> Encoded:
    """JSON for a script element: no text in it can end the element or start another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Encoded(text)


def number_list(numbers: Integers) -> str:
    """Whole numbers as JSON; small ones, as most are, in a tenth of the time that `json` takes."""
    if not len(numbers) or numbers.min() < 0 or numbers.max() > SMALL:
        return safe_json(numbers.tolist())
    filled = _small_texts()[numbers].tobytes()
    return f"[{filled.translate(None, NOTHING)[:-1].decode()}]"


# A letter stands for a number, since these are packed to half the size. No letter needs an escape, here or in HTML.
LETTERS = "".join(letter for code in range(ord("#"), 0xD800) if (letter := chr(code)) not in "&<>\\\u2028\u2029")


def letters(numbers: Integers) -> str:
    """Whole numbers as a JSON text with a letter for each; as a list where one has no letter."""
    if not len(numbers) or numbers.min() < 0 or numbers.max() >= len(LETTERS):
        return safe_json(numbers.tolist())
    return f'"{_letters()[numbers].tobytes().decode("utf-32")}"'


@cache
def _letters() -> npt.NDArray[np.str_]:
    return np.array([*LETTERS])


@cache
def _small_texts() -> npt.NDArray[np.bytes_]:
    """Each small number and a comma, filled up with zero bytes."""
    return np.array([f"{number}," for number in range(SMALL + 1)], dtype=np.bytes_)


class Written(NamedTuple):
    """Data as written into the page: the type of text, and its pieces."""

    type: str
    pieces: Sequence[str]


class DataWriter:
    """An object as JSON, written part by part.

    Large data is packed, in a thread that does not block the rest; small data stays readable.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []  # that are not packed
        self._size = 0
        self._packer: _Packer | None = None

    def add(self, **parts: Any) -> None:
        for name, value in parts.items():
            self._write(f"{self._key(name)}{safe_json(value)}")

    def add_texts(self, name: str, texts: Iterable[Encoded]) -> None:
        before = f"{self._key(name)}["
        for text in texts:
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')  # nothing else in it needs an escape
            self._write(f'{before}"{quoted}"')
            before = ","
        self._write("]" if before == "," else f"{before}]")

    def finished(self) -> Written:
        self._write("}" if self._size else "{}")
        if self._packer is None:
            return Written("application/json", self._pieces)
        return Written("application/gzip", [base64.b64encode(self._packer.finished()).decode()])

    def _key(self, name: str) -> str:
        return f"{',' if self._size else '{'}{safe_json(name)}:"

    def _write(self, piece: str) -> None:
        self._size += len(piece)
        if self._packer is not None:
            self._packer.add(piece)
            return
        self._pieces.append(piece)
        if self._size >= LARGE:
            self._packer = _Packer()
            self._packer.add("".join(self._pieces))
            self._pieces.clear()


class _Packer:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._stream = zlib.compressobj(LEVEL, wbits=31)  # as gzip, which browsers unpack
        self._packed: list[Future[bytes]] = []

    def add(self, text: str) -> None:
        self._packed.append(self._thread.submit(lambda: self._stream.compress(text.encode())))

    def finished(self) -> bytes:
        with self._thread:
            self._packed.append(self._thread.submit(self._stream.flush))
        return b"".join(part.result() for part in self._packed)
