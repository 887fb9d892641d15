"""How compressed files start, and what undoes each compression."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from cranfield.errors import need


def _zlib() -> Any:
    import zlib

    return zlib.decompressobj(wbits=31)


def _bz2() -> Any:
    import bz2

    return bz2.BZ2Decompressor()


def _lzma() -> Any:
    import lzma

    return lzma.LZMADecompressor()


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor()
    library = need("zstandard", extra="zstd", purpose="reading a zstd file")
    return library.ZstdDecompressor().decompressobj()


# How a compressed file starts, what it is, and what undoes it. The extension is not asked: it may be wrong.
COMPRESSIONS: tuple[tuple[Callable[[bytes], bool], str, Callable[[], Any]], ...] = (
    (lambda head: head.startswith(b"\x1f\x8b\x08"), "gzip", _zlib),
    (lambda head: head.startswith(b"BZh") and head[4:10] == b"1AY&SY", "bzip2", _bz2),
    (lambda head: head.startswith(b"\xfd7zXZ\0"), "xz", _lzma),
    (lambda head: head.startswith(b"\x28\xb5\x2f\xfd"), "zstd", _zstd),
)


def compression(head: bytes) -> tuple[str, Callable[[], Any]] | None:
    """What a file that starts like this is compressed with, and a maker of what undoes it; None if it is not.

    >>> compression(b"\\x1f\\x8b\\x08")[0], compression(b"1 Q0 a")
    ('gzip', None)
    """
    return next(((what, undo) for starts, what, undo in COMPRESSIONS if starts(head)), None)
