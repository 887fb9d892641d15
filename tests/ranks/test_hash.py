"""Ids crafted to collide in a hash take no longer to scan than others."""

import time

import numpy as np
import pytest

from cranfield import Judgments
from cranfield.io.formats.trec import TREC_RUN
from cranfield.native import native, native_layout

pytestmark = pytest.mark.skipif(native is None, reason="the native scan is not built")

IDS = 10_000  # comparing each with all earlier ones would take over a hundred times longer
Words = np.ndarray


def u64(number: int) -> np.uint64:
    return np.uint64(number % 2**64)


def multiplied(words: Words, shift: int, factor: int) -> Words:
    """One step of an unkeyed hash: multiply, then XOR the upper bits into the lower ones."""
    product = words * u64(factor)
    return product ^ (product >> u64(shift))


def after_a_plain_multiplicative_hash(first: Words) -> Words:
    """h = (h ^ word) · M, h ^= h >> 32: a second word that brings every state to the same one."""
    return multiplied(first ^ u64(16 * 0x9E3779B97F4A7C15), 32, 0xD6E8FEB86659FD93)


def after_murmur(first: Words) -> Words:
    """The same for the hash of text in GCC's library, MurmurHash64A with a fixed seed."""
    factor = 0xC6A4A7935BD1E995
    inverse = pow(factor, -1, 2**64)
    state = (u64(0xC70F6907 ^ 16 * factor) ^ multiplied(first, 47, factor) * u64(factor)) * u64(factor)
    product = state * u64(inverse)
    return (product ^ (product >> u64(47))) * u64(inverse)


def made_to_collide(second_word, count: int) -> list[bytes]:
    """Ids of 16 printable bytes that all have one hash, if the hash has no key."""
    chance = np.random.default_rng(1)
    found: list[bytes] = []
    while len(found) < count:
        bits = chance.integers(0, 2**64, size=1 << 20, dtype=np.uint64)
        first = (bits & u64(0x1F1F1F1F1F1F1F1F)) + u64(0x4141414141414141)  # 32 letters
        second = second_word(first)
        ascii = second & u64(0x8080808080808080) == 0
        letters = np.column_stack([first[ascii], second[ascii]]).view(np.uint8)
        found += map(bytes, letters[((letters > 0x20) & (letters < 0x7F)).all(axis=1)])
    return found[:count]


def at_random(count: int) -> list[bytes]:
    return list(map(bytes, np.random.default_rng(2).integers(0x24, 0x7F, size=(count, 16), dtype=np.uint8)))


def seconds(ids: list[bytes], line: bytes) -> float:
    """Least processor time, which other processes do not affect, to scan a block with one line per id."""
    index = Judgments.read({"q": {ids[-1].decode(): 1}})._index
    block = np.frombuffer(b"".join(line % each for each in ids), np.uint8)
    times = []
    for _ in range(3):
        start = time.process_time()
        assert native.scan_text(block, native_layout(TREC_RUN), index, 0, False, 0) is not None
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("line", "second_word"),
    [(b"q Q0 %s 1 1 t\n", after_a_plain_multiplicative_hash), (b"%s Q0 d 1 1 t\n", after_murmur)],
    ids=["documents", "queries"],
)
def test_crafted_hash_collisions_take_no_longer(line, second_word):
    assert seconds(made_to_collide(second_word, IDS), line) < 5 * seconds(at_random(IDS), line)
