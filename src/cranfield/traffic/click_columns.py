"""Which columns of a log say what was searched for, what was shown at which rank, and what was clicked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from typing import NamedTuple

from cranfield.errors import InputError
from cranfield.io.column_names import DOCUMENT, QUERY, RANK, plain_name
from cranfield.io.query_columns import text_tier
from cranfield.words import joined, listed

TEXT = ("user_query", "query_text", "search_term", "search_query", "query", "search", "keywords", "q")
ID = tuple(name for name in QUERY if name != "query")
SHOWN_DOCUMENT = ("object_id", *DOCUMENT, "item_id", "product_id", "article_id", "result_id", "sku", "url", "item")
SHOWN_RANK = ("ordinal", *RANK, "pos", "slot")
CLICKS = ("clicks", "clicked", "click", "is_click", "is_clicked", "click_count", "num_clicks")
SHOWN = ("impressions", "impression_count", "num_impressions", "times_shown", "shown")
ACTION = ("action_name", "action", "event_type", "event_name", "event")
SEARCH = ("query_id", "search_id", "request_id", "serp_id", "session_id")  # one search of one person
ACTIONS = {
    "impression": ("impression", "impressions"),
    "click": ("click", "clicked", "item_click", "result_click", "product_click"),
}


class Shape(Enum):
    COUNTED = "a row for each document shown, with its clicks"
    EVENTS = "a row for each impression and each click"
    SEARCHES = "a row for each search, with its text"


class LogColumns(NamedTuple):
    """The name of each column of a log; empty where it has none.

    query: the text of a query, or its id where it has no text; query_id: its id, if it has one
    search: what tells two searches of one query apart
    """

    shape: Shape
    query: str
    query_id: str = ""
    document: str = ""
    rank: str = ""
    clicks: str = ""
    shown: str = ""
    action: str = ""
    search: str = ""

    @property
    def has_texts(self) -> bool:
        return bool(self.query) and self.query != self.query_id


def are_searches(names: Sequence[str]) -> bool:
    """Whether each row may be a search: it is neither a document shown at a rank, nor an event in a search."""
    found = partial(_found, _known(names))
    return not (found(SHOWN_DOCUMENT) and found(SHOWN_RANK)) and not (found(ACTION) and found(SEARCH))


def _known(names: Sequence[str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.count(".")):
        known.setdefault(plain_name(name.rpartition(".")[2]), name)
    return known


def _found(known: Mapping[str, str], spellings: Sequence[str]) -> str:
    return next((known[word] for word in spellings if word in known), "")


def log_columns(names: Sequence[str], source: str) -> LogColumns:
    """The columns of a log by their names, or paths such as event_attributes.position.ordinal.

    The last word of a path says what it is; of two paths with the same, the shorter one.
    """
    known = _known(names)
    found = partial(_found, known)
    text = found(TEXT) or next((name for word, name in known.items() if text_tier(word) >= 2), "")
    query, document, rank = text or found(ID), found(SHOWN_DOCUMENT), found(SHOWN_RANK)
    action, clicks, search = found(ACTION), found(CLICKS), found(SEARCH)
    if action and document and rank and search:
        return LogColumns(Shape.EVENTS, text, document=document, rank=rank, action=action, search=search)
    if query and document and rank and clicks:
        return LogColumns(Shape.COUNTED, query, found(ID), document, rank, clicks, found(SHOWN))
    if text and search and not action and not clicks:
        return LogColumns(Shape.SEARCHES, text, search=search)
    needed = {"the query": query or (action and search), "the document": document, "its rank": rank}
    needed |= {"its clicks": clicks or action}
    lacking = [what for what, name in needed.items() if not name] or ["the search of an event"]
    fact = f"no column is {joined(lacking, 'or')}; it has {listed(names, 12)}."
    hint = "call the columns query, doc_id, rank and clicked; or give the events of UBI"
    raise InputError(source, fact, hint=hint)
