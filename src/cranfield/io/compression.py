"""How compressed files start, and how they are decompressed, a bounded piece of content at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from cranfield.errors import InputError, need

EXTENSIONS = (".gz", ".bz2", ".xz", ".zst")
COMPRESSED_CHUNK = 1 << 16
CONTENT_CHUNK = 1 << 20  # the most content of one step: a few hundred bytes can decompress to gigabytes
XZ_MEMORY = 1 << 28  # the presets of xz need at most a quarter of it
# Four bytes of zstd are at most 128 KB of content. Its library takes no limit: it gets this much, for 16 MB.
ZSTD_SLICE = 1 << 9


def first_file(folder: str | os.PathLike[str], names: Iterable[str]) -> str | None:
    """The first of these files in a folder, compressed or not."""
    paths = (os.path.join(folder, f"{name}{ending}") for name in names for ending in ("", *EXTENSIONS))
    return next(filter(os.path.isfile, paths), None)


class _Gzip:
    def __init__(self) -> None:
        import zlib

        self._undo = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._undo.eof

    @property
    def unused_data(self) -> bytes:
        return self._undo.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        content = self._undo.decompress(self._undo.unconsumed_tail + data, max_length)
        self.needs_input = len(content) < max_length
        return content


class _Zstd:
    """zstd by the library zstandard, before Python 3.14."""

    def __init__(self, library: Any) -> None:
        self._undo = library.ZstdDecompressor().decompressobj()
        self._data = self._content = memoryview(b"")  # input not used yet, output not taken yet

    @property
    def eof(self) -> bool:
        return bool(self._undo.eof) and not self._content

    @property
    def needs_input(self) -> bool:
        return not self._data and not self._content

    @property
    def unused_data(self) -> bytes:
        return bytes(self._undo.unused_data) + bytes(self._data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._data = memoryview(data) if data else self._data
        if not self._content:
            self._content = memoryview(self._undo.decompress(self._data[:ZSTD_SLICE]))
            self._data = self._data[ZSTD_SLICE:]
        taken, self._content = self._content[:max_length], self._content[max_length:]
        return bytes(taken)


# How a compressed file starts. The extension is ignored: it may be wrong.
_STARTS = {"gzip": b"\x1f\x8b\x08", "bzip2": b"BZh", "xz": b"\xfd7zXZ\0", "zstd": b"\x28\xb5\x2f\xfd"}


def compression(head: bytes) -> str | None:
    name = next((name for name, start in _STARTS.items() if head.startswith(start)), None)
    return None if name == "bzip2" and head[4:10] != b"1AY&SY" else name


def _decompressor(name: str) -> Any:
    """A decompressor: those of bz2 and lzma have the same interface, and the others are adapted to it."""
    if name == "gzip":
        return _Gzip()
    if name == "bzip2":
        from bz2 import BZ2Decompressor

        return BZ2Decompressor()
    if name == "xz":
        from lzma import LZMADecompressor

        return LZMADecompressor(memlimit=XZ_MEMORY)
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor()
    return _Zstd(need("zstandard", extra="zstd", purpose="reading a zstd file"))


def decompressed(data: bytes, read: Callable[[], bytes], name: str) -> Iterator[bytes]:
    """The content of a compressed file that starts with `data`, in small pieces; `read` gives more of the file."""
    what = compression(data)
    assert what is not None
    undo = _decompressor(what)
    while True:
        try:
            content = undo.decompress(data, CONTENT_CHUNK)
        except Exception as error:  # zlib.error, OSError, LZMAError, ZstdError: all mean the same
            fact, hint = f"the {what} data is damaged ({error}).", ""
            if "memory" in str(error).lower():
                fact = f"the {what} data needs too much memory ({error})."
                hint = "compress the content again, with a smaller window or dictionary"
            raise InputError(name, fact, hint=hint) from error
        if content:
            yield content
        if undo.eof:  # members may follow one another, with zeros as padding between them
            data = undo.unused_data.lstrip(b"\0")
            while not data:
                more = read()
                if not more:
                    return
                data = more.lstrip(b"\0")
            undo = _decompressor(what)
            continue
        data = read() if undo.needs_input else b""
        if undo.needs_input and not data:
            fact = f"the {what} data stops before its end."
            raise InputError(name, fact, hint="the file was cut off; copy or download it again")
