"""Where a result holds the id of its document, for results that are objects or mappings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MISSING: Final = object()
ID_NAMES = ("doc_id", "_id", "id", "docno", "document_id", "docid")
CHUNK_IDS = ("node.node_id", "id", "_id", "chunk_id")

# Metadata come first: what LangChain and LlamaIndex call id is often made up by the vector store, for a chunk.
_IN_A_NODE = (
    *(f"node.{name}" for name in ID_NAMES),
    *(f"node.metadata.{name}" for name in ID_NAMES),
    "node.ref_doc_id",
    *ID_NAMES,
    "node.node_id",
)
_ELSEWHERE = (
    *(f"metadata.{name}" for name in ID_NAMES),
    "ref_doc_id",  # of a node of LlamaIndex by itself
    "metadata.source",
    *ID_NAMES,
    "node_id",
)
PLACES = (*ID_NAMES, "metadata.source", "ref_doc_id", "node_id")  # in short, for messages


def usual_place(result: Any) -> str:
    """The first of the usual places at which a result has an id; nothing where it has none.

    >>> usual_place({"id": "0d35", "metadata": {"source": "cats.md"}})
    'metadata.source'
    """
    places = _ELSEWHERE if look_up(result, "node") is MISSING else _IN_A_NODE
    return next((place for place in places if look_up(result, place) not in (MISSING, None)), "")


def look_up(thing: Any, path: str) -> Any:
    """Follow a path such as "hits.hits" or "document.ids[0]" through mappings, lists and attributes."""
    if type(thing) is dict and "." not in path and "[" not in path:
        return thing.get(path, MISSING)
    for step in path.replace("[", ".[").split("."):
        if not step:
            continue
        if step.startswith("["):
            try:
                thing = thing[int(step[1:-1])]
            except (ValueError, TypeError, LookupError):
                return MISSING
        elif isinstance(thing, Mapping):
            thing = thing.get(step, MISSING)
        else:
            thing = getattr(thing, step, MISSING)
        if thing is MISSING:
            return MISSING
    return thing


def is_missing(thing: Any) -> bool:
    """Whether `look_up` found nothing."""
    return thing is MISSING
