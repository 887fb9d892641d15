from typing import Any

import numpy as np
import numpy.typing as npt

_Integers = npt.NDArray[np.int64]
_Ranks = npt.NDArray[np.int32]
_Numbers = npt.NDArray[np.float64]
_Text = npt.NDArray[np.uint8]
_Found = tuple[_Integers, _Integers, _Integers, _Integers]
Judged = tuple[list[str], list[str], _Integers, _Numbers, "Index"]

class Index:
    def __init__(
        self,
        queries: _Text,
        query_offsets: _Integers,
        documents: _Text,
        document_offsets: _Integers,
        first: _Integers,
        /,
    ) -> None: ...

class Layout:
    def __init__(
        self,
        query: int,
        document: int,
        value: int,
        least: int,
        most: int,
        rank: int,
        separator: str,
        ranks: bool,
        counted: bool,
        single: bool,
        /,
    ) -> None: ...

def scan_text(
    text: _Text, layout: Layout, index: Index, ties: int, drop_same: bool, depth: int, /
) -> tuple[list[bytes], _Integers, _Found, _Integers] | None: ...

class Ahead:
    def __init__(
        self,
        qrels: tuple[int, bytes],
        runs: list[tuple[int, bytes]],
        qrels_layout: Layout,
        run_layout: Layout,
        threads: int,
        /,
    ) -> None: ...

def read_judgments(text: _Text, layout: Layout, /) -> Judged | None: ...
def judged_ahead(ahead: Ahead, /) -> Judged | None: ...
def scanned_ahead(ahead: Ahead, number: int, /) -> tuple[_Integers, int, _Found] | None: ...
def scan_frame(
    query: Any,
    document: Any,
    score: Any,
    ranks: bool,
    index: Index,
    ties: int,
    threads: int,
    depth: int,
    /,
) -> tuple[_Integers, _Integers, _Integers, _Found, _Integers] | None: ...
def judge_frame(query: Any, document: Any, grade: Any, /) -> Judged | None: ...
def judge_dicts(by_query: dict[Any, Any], /) -> Judged | None: ...
def scan_dicts(
    run: dict[Any, Any],
    places: dict[str, int],
    judged: list[str],
    first: _Integers,
    in_order: bool,
    threads: int,
    /,
) -> tuple[_Integers, int, _Found, list[tuple[Any, Any]]]: ...
def first_of_text(
    text: _Text, layout: Layout, index: Index, n: int, ties: int, drop_same: bool, /
) -> list[tuple[str, list[str]]] | None: ...
def codes(ids: list[str], /) -> _Integers: ...
def partition(text: _Text, layout: Layout, line: int, count: int, /) -> list[bytes] | None: ...
def largest_differences(values: _Numbers, seed: int, first: int, last: int, /) -> _Numbers: ...
def largest_fractions(
    first_rank: _Ranks,
    second_rank: _Ranks,
    known: _Numbers,
    beneath: _Integers,
    query: _Integers,
    discount: _Numbers,
    ideal: _Numbers,
    gains: _Numbers,
    heights: _Numbers,
    reached: _Integers,
    counts: _Integers,
    /,
) -> _Numbers: ...
def match_documents(
    codes: _Integers, start: _Integers, count: _Integers, pairs: _Integers, /
) -> tuple[_Ranks, _Integers, _Integers]: ...
def places_of_text(text: _Text, layout: Layout, /) -> list[tuple[bytes, int, int]] | None: ...
def ranked_text(
    text: _Text, layout: Layout, ties: int, drop_same: bool, depth: int, /
) -> tuple[list[bytes], _Integers, _Integers, _Numbers, _Integers, _Integers] | None: ...
def line_up(
    codes: _Integers, counts: _Integers, scores: _Numbers, /
) -> tuple[_Integers, _Integers, _Numbers, _Numbers]: ...
def run_lines(
    queries: list[bytes],
    sizes: _Integers,
    texts: list[_Text],
    text_of: _Integers,
    start: _Integers,
    length: _Integers,
    score: _Numbers,
    tag: bytes,
    /,
) -> bytes | None: ...
def count_above(scores: _Numbers, documents: _Integers, /) -> _Integers: ...
def add_up(values: _Numbers | _Integers, query: _Integers, /) -> None: ...
