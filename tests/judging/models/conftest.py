"""A store with queries and documents that wait."""

import pytest

from cranfield import ModelAssessor, open_store


@pytest.fixture
def filled(tmp_path):
    """A function that makes a store with so many queries and documents per query."""
    opened = []

    def make(queries=2, documents=3, where=tmp_path / "judgments.db"):
        store = open_store(where, create=True)
        opened.append(store)
        store.add_queries({f"q{q}": f"question {q}" for q in range(queries)})
        pairs = [(f"q{q}", f"q{q}d{d}") for q in range(queries) for d in range(documents)]
        store.add_documents({document: {"title": document, "text": f"text of {document}"} for _, document in pairs})
        store.wait(pairs)
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def small():
    """A function that makes an assessor at a server."""

    def make(server, **settings):
        return ModelAssessor(**{"name": "small", "model": "test-model", "url": server.url, "timeout": 20, **settings})

    return make
