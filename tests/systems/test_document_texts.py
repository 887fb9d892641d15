"""Texts of documents that come with a system's answer."""

import sqlite3
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from cranfield import open_system
from cranfield.errors import InputError, SystemFailure
from cranfield.systems.answers import ranking_of, texts_of
from cranfield.systems.asking import ask, first_answers
from cranfield.systems.python import PythonSearch

CATS = {"title": "Cats", "text": "Cats sleep."}


class Row(NamedTuple):
    sku: str
    score: float
    title: str
    body: str


def sqlite_row():
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    return database.execute("select 'd' as sku, 'Cats' as name, 'Cats sleep.' as description").fetchone()


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({"id": "d", **CATS, "price": 3}, CATS),
        ({"_id": "d", "_score": 1.0, "_source": CATS}, CATS),  # Elasticsearch
        ({"id": "d", "title": ["Cats"], "text": ["Cats sleep."]}, CATS),  # Solr
        ({"id": "d", "relevance": 1.0, "fields": {"title": "Cats", "body": "Cats sleep."}}, CATS),  # Vespa
        (SimpleNamespace(page_content="Cats sleep.", metadata={"doc_id": "d", "title": "Cats"}), CATS),  # LangChain
        ((SimpleNamespace(page_content="Cats sleep.", metadata={"doc_id": "d", "title": "Cats"}), 0.5), CATS),
        ({"id": "d", "url": "https://x", "image_url": "c.png"}, {"url": "https://x", "image": "c.png"}),
        (Row("d", 0.5, "Cats", "Cats sleep."), CATS),
        (sqlite_row(), CATS),
        ({"id": "d", "name": "C", "metadata": {"title": "Cats"}}, {"title": "Cats"}),
        ({"id": "d", "title": 7, "text": None, "url": ["a", "b"]}, None),
        ("d", None),
        (("d", 0.5), None),
        ({"id": "d"}, None),
    ],
)
def test_texts_are_found_in_results_of_known_systems(result, found):
    assert texts_of(ranking_of([result])) == ({"d": found} if found else {})


def test_texts_belong_to_the_ids_of_the_ranking():
    assert texts_of(ranking_of({"a": 1, "b": 2})) == {}
    results = [{"id": "a", "score": 1, "title": "A"}, {"id": "b", "score": 5, "title": "B"}]  # with rising scores
    assert texts_of(ranking_of(results)) == {"a": {"title": "A"}, "b": {"title": "B"}}
    assert texts_of(ranking_of(iter(results), order="rank")) == {"a": {"title": "A"}, "b": {"title": "B"}}


def test_texts_are_kept_only_on_request():
    mine = open_system(lambda query, k: [{"id": "d#1", **CATS}])
    [without] = ask(mine, [("q", "cats")], 10)
    [with_texts] = ask(mine, [("q", "cats")], 10, texts=True)
    assert (without.texts, with_texts.texts) == ({}, {"d#1": CATS})
    chunks = first_answers(mine, {"q": "cats"}, 10, to_document=lambda chunk: chunk.partition("#")[0])
    assert (chunks.rankings, chunks.texts) == ({"q": ["d"]}, {})  # the text of a chunk is not that of its document


def test_texts_have_a_declared_place():
    mine = lambda query, k: [{"id": "d", "title": "T", "de": {"titel": "Katzen"}}]  # noqa: E731
    settings = {"type": "python", "object": "mine:search", "texts": {"title": "de.titel"}}
    returned = PythonSearch(mine, texts=settings["texts"]).search("cats", 10)
    assert texts_of(returned) == {"d": {"title": "Katzen"}}
    with pytest.raises(InputError, match="texts has no 'titel'"):
        PythonSearch(mine, texts={"titel": "de.titel"})


def test_parts_without_names_are_refused():
    with pytest.raises(SystemFailure, match=r"a result has 4 parts without names.\nHint: return ids, "):
        ranking_of([("d", 0.5, "Cats", "Cats sleep.")])
