"""Rank the judged documents of a run of any shape. Text is scanned in blocks, on all cores."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from cranfield.io.shapes import Layout, Text
from cranfield.io.text import Block, Scattered, blocks, located
from cranfield.native import CORES, native, native_layout, warn_of_slow_scan
from cranfield.ranks.codes import TIE_ORDERS, GatheredCodes
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.scan.ahead import scanned_ahead
from cranfield.ranks.scan.counting import Part, Places, Scanned, join
from cranfield.ranks.scan.parallel import in_parallel

if TYPE_CHECKING:
    from cranfield.ranks.first_documents import FirstDocuments

BLOCK = 1 << 20 if native else 1 << 18  # fits the cache with everything derived from it
MANY = 100
LARGE = 50_000_000  # bytes that take the pure scan seconds


@located()
def scan_text(
    source: Text, judgments: Judgments, policy: Policy, depth: int = 0, first: FirstDocuments | None = None
) -> Scanned:
    """Scan a run file. Memory stays a few blocks and the largest query, besides what is wanted.

    depth: how many documents of each query are wanted as numbers
    first: keeps the first documents of each query
    """
    ahead = None if depth or first else scanned_ahead(source, judgments, policy)
    if ahead is not None:
        return ahead
    depth = min(depth, policy.depth or depth)
    try:
        return _scan_blocks(blocks(source.stream, source.layout, BLOCK), source.layout, judgments, policy, depth, first)
    except Scattered:
        from cranfield.io.records import regrouped  # which few files need

        if first is not None:
            first.scattered()
        layout = source.layout.with_line_numbers()
        return _scan_blocks(regrouped(source), layout, judgments, policy, depth, first)


def _scan_blocks(
    pieces: Iterable[Block],
    layout: Layout,
    judgments: Judgments,
    policy: Policy,
    depth: int,
    first: FirstDocuments | None,
) -> Scanned:
    sizes = [-1] * len(judgments)
    extra: set[bytes] = set()
    places = []
    codes = GatheredCodes(len(judgments), depth)
    with closing(_natively(pieces, layout, judgments, policy, depth, first)) as answers:
        for answer in answers:
            if isinstance(answer, Block):  # not a plain one, or no native scan: the twin reads it or says what is wrong
                from cranfield.ranks.scan.pure import scan

                part = _keeping(first, answer, scan(answer, judgments, policy, depth))
            else:
                part = answer
            part.keep_first()
            judged = []
            for query, size in zip(part.queries, part.retrieved.tolist(), strict=True):
                number = judgments._number_of_bytes.get(query)
                if query in extra if number is None else sizes[number] >= 0:
                    raise Scattered
                if number is None:
                    extra.add(query)
                else:
                    sizes[number] = size
                    judged.append(number)
            codes.add(judged, [sizes[number] for number in judged], part.codes)
            places.append(part.found)
            if len(places) == MANY:  # one long array takes less memory than many short ones
                places = [join(places)]
    return Scanned(np.array(sizes, dtype=np.int64), len(extra), join(places), codes.result())


def _keeping(first: FirstDocuments | None, block: Block, part: Part) -> Part:
    return part if first is None else part._replace(keep_first=first.of_block(block, *part[:2]))


def _natively(
    pieces: Iterable[Block],
    layout: Layout,
    judgments: Judgments,
    policy: Policy,
    depth: int,
    first: FirstDocuments | None,
) -> Generator[Part | Block]:
    """The results of the native scan for every block, in order; the block itself if it is not plain."""
    if native is None or (depth and policy.ties not in TIE_ORDERS):  # some orders need the grades
        for block in pieces:
            if native is None and block.offset < LARGE <= block.offset + len(block.data):
                warn_of_slow_scan()
            yield block
        return
    scan, its_layout, index = native.scan_text, native_layout(layout), judgments._index
    ties, drop = TIE_ORDERS.get(policy.ties, 0), policy.same_id == "drop"

    def work(block: Block) -> Part | Block:
        data = np.frombuffer(block.data, np.uint8)
        answer = scan(data, its_layout, index, ties, drop, depth)
        if answer is None:
            return block
        queries, sizes, columns, codes = answer
        return _keeping(first, block, Part(queries, sizes, Places(*columns), codes))

    yield from in_parallel(work, pieces, CORES)
