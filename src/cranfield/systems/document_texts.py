"""The texts of documents that a system's answer holds besides their ids, for the people who judge them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cranfield.systems.answers import Returned
from cranfield.systems.result_ids import is_missing, look_up

DocumentTexts = Mapping[str, Mapping[str, str]]  # by document: title, text, url and image, as far as they are there

_NAMES = {
    "title": ("title",),
    "text": ("text", "content", "contents", "body", "page_content"),
    "url": ("url", "link"),
    "image": ("image", "image_url", "thumbnail"),
}
# Where they are in a result: Elasticsearch, Typesense, Vespa, Qdrant, LangChain, LlamaIndex.
_INSIDE = ("_source", "document", "fields", "payload", "metadata", "node", "node.metadata")


def texts_of(returned: Returned) -> DocumentTexts:
    """The texts of the documents of an answer, those that have any.

    >>> from cranfield.systems.answers import ranking_of
    >>> texts_of(ranking_of([{"id": "d1", "title": "Cats", "price": 3}, {"id": "d2"}]))
    {'d1': {'title': 'Cats'}}
    """
    found = {}
    for (doc_id, _), result in zip(returned.ranking, returned.results):
        fields = dict(_fields(result[0] if isinstance(result, tuple | list) and result else result))
        if fields:
            found[doc_id] = fields
    return found


def _fields(result: Any) -> Iterator[tuple[str, str]]:
    if isinstance(result, str | int):  # an id and nothing else
        return
    inside = (look_up(result, path) for path in _INSIDE)
    places = [result, *(place for place in inside if not is_missing(place))]
    for field, names in _NAMES.items():
        values = (look_up(place, name) for place in places for name in names)
        value = next((text for text in map(_text, values) if text), "")
        if value:
            yield field, value


def _text(value: Any) -> str:
    """A text, or the only one of a list, as Solr has it."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.strip() if isinstance(value, str) else ""
