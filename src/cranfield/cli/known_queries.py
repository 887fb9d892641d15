"""The texts of the queries, wherever they are known: ids alone tell people little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cranfield.errors import CranfieldError


def query_texts(qrels: Any, collection: str | None = None) -> Mapping[str, str]:
    """The texts of the queries of judgments, by id; of those of `collection`, or of what is beside the judgments.

    Nobody asked for what is beside them, so nothing is said where that cannot be read.
    """
    from cranfield.systems.collection import collection_beside, open_collection
    from cranfield.systems.query_files import read_queries

    if collection is not None:
        return read_queries(collection) if os.path.isfile(collection) else open_collection(collection).queries
    name = getattr(qrels, "name", qrels)
    if not isinstance(name, str):
        return {}
    beside = collection_beside(name)
    try:
        return {} if beside is None else open_collection(beside).queries
    except CranfieldError:
        return {}
