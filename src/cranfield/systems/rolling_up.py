"""From chunks to documents: as many chunks are asked for as the wanted number of documents needs.

With k chunks, a system with small chunks would return fewer documents than one with large chunks, and look worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from cranfield.systems.answers import Ranking, Returned
from cranfield.systems.collapse import Collapse, collapse
from cranfield.systems.document_texts import texts_of
from cranfield.systems.result_ids import CHUNK_IDS, is_missing, look_up

DEEPEST = 64  # times the documents wanted; a system that repeats one document must not be asked forever

RolledUp = Literal["", "rolled", "short"]


class RolledAnswer(NamedTuple):
    """An answer whose chunks count as their documents, each once, at its best rank.

    rolled: "" where every result is a document of its own; "short" where the system has too few chunks, or returns no
        more of them, for the number of documents that was wanted
    """

    ranking: Ranking
    returned: Returned
    rolled: RolledUp


def rolled_up(search: Callable[[int], Returned], k: int, to_document: Collapse | None) -> RolledAnswer:
    """Ask for k documents: `search` gives the results for a number of chunks.

    >>> chunks = ["a#1", "a#2", "a#3", "b#1", "c#1"]
    >>> from cranfield.systems.answers import ranking_of
    >>> from cranfield.systems.collapse import collapse_by
    >>> found = rolled_up(lambda k: ranking_of(chunks[:k]), 2, collapse_by("#"))
    >>> [document for document, _ in found.ranking], found.rolled
    (['a', 'b'], 'rolled')
    """
    wanted, before = k, -1
    while True:
        returned = search(wanted)
        given = len(returned.ranking)
        if to_document is None and not _has_chunks(returned):
            return RolledAnswer(returned.ranking, returned, "")
        ranking = collapse(returned.ranking, to_document or str)
        if len(ranking) >= k:
            return RolledAnswer(ranking, returned, "rolled" if len(ranking) < given else "")
        if given < wanted or given <= before or wanted >= DEEPEST * k:
            return RolledAnswer(ranking, returned, "short")
        before, wanted = given, min(2 * wanted, DEEPEST * k)


def _has_chunks(returned: Returned) -> bool:
    """Whether ids appear several times, each time with another chunk: the same chunk twice is a mistake."""
    times = Counter(document for document, _ in returned.ranking)
    if len(times) == len(returned.ranking) or not returned.id_place:
        return False
    chunks = [
        (document, _chunk(result, returned.id_place))
        for (document, _), result in zip(returned.ranking, returned.results, strict=True)
        if times[document] > 1
    ]
    return len(set(chunks)) == len(chunks)


def _chunk(result: Any, id_place: str) -> tuple[str, str]:
    """What tells chunks of one document apart: an id of their own, and their text."""
    result = result[0] if isinstance(result, tuple | list) else result
    own = (look_up(result, place) for place in CHUNK_IDS if place != id_place)
    found = next((str(value) for value in own if not is_missing(value) and value is not None), "")
    texts = texts_of(Returned([("", 0.0)], results=[result]))
    return found, texts.get("", {}).get("text", "")
