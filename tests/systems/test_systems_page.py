"""Every example in docs/systems.md is opened and queried, and its tables list every setting."""

import json
import tomllib

import pytest

from cranfield import open_system
from cranfield.systems import presets
from cranfield.systems.collection import open_collection
from cranfield.systems.opening import KINDS
from docs.site.tables import filled, settings_of_systems
from tests.pages import ROOT, blocks
from tests.systems.server import Server, elastic

PAGE = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
EXAMPLES = [
    (kind, settings)
    for block in blocks(PAGE)
    if block.language == "toml"
    for settings in tomllib.loads(block.text)["systems"].values()
    for kind in [settings["type"]]
]
HOST = "https://search.example.com"
FOUND = [("red", 2.0), ("blue", 1.0)]
SKUS = ["red", "blue", "old"]
ANSWERS = {  # of each type of server, with two documents found; for http, as described in the examples
    "elasticsearch": elastic(FOUND),
    "opensearch": elastic(FOUND),
    "solr": {"response": {"docs": [{"id": doc_id, "score": score} for doc_id, score in FOUND]}},
    "vespa": {"root": {"children": [{"id": f"id:ns:p::{each}", "relevance": score} for each, score in FOUND]}},
    "typesense": {"hits": [{"document": {"id": doc_id}} for doc_id, _ in FOUND]},
    "meilisearch": {"hits": [{"id": doc_id} for doc_id, _ in FOUND]},
    "http": {"results": [{"id": doc_id, "score": score} for doc_id, score in FOUND]},
    "data.items": {"data": {"items": [{"product": {"sku": each}, "relevance": score} for each, score in FOUND]}},
    "answer.hits": {"answer": {"hits": [{"url": f"https://shop.example/{doc_id}"} for doc_id, _ in FOUND]}},
}


def examples(*kinds):
    found = [settings for kind, settings in EXAMPLES if kind in kinds]
    assert found
    return found


@pytest.mark.parametrize("settings", examples(*presets.PRESETS), ids=lambda settings: settings["type"])
def test_an_example_of_a_server(settings, monkeypatch):
    for name in ("SEARCH_API_KEY", "SEARCH_USER", "SEARCH_PASSWORD"):
        monkeypatch.setenv(name, "s3cret")
    answer = ANSWERS[settings.get("results", settings["type"])]
    server = Server(lambda query, attempt: answer)
    try:
        system = open_system({**settings, "url": settings["url"].replace(HOST, server.url)}, name="example")
        assert system.search("red & blue shoes", 7) == FOUND
        system.close()
    finally:
        server.close()
    [(path, headers, body)] = server.requests
    sent = path.replace("%20", " ").replace("%26", "&") + json.dumps(body)
    assert "red & blue shoes" in sent
    assert "7" in sent
    assert ("headers" in settings or "auth" in settings) == any(
        name.lower() in ("authorization", "x-typesense-api-key") for name in headers
    )


def test_an_example_of_what_exists():
    [settings] = [each for each in examples("http") if "exists" in each]
    server = Server(lambda query, attempt: SKUS)
    try:
        exists = {**settings["exists"], "url": settings["exists"]["url"].replace(HOST, server.url)}
        system = open_system({**settings, "exists": exists}, name="example")
        assert system._kind.existing({"red", "gone"}) == {*SKUS}
        system.close()
    finally:
        server.close()


def test_an_answer_without_results_may_be_empty():
    [settings] = [each for each in examples("http") if "empty" in each]
    server = Server(lambda query, attempt: {"answer": {}})
    try:
        system = open_system({**settings, "url": server.url}, name="example")
        assert system.search("unicorns", 7) == []
        system.close()
    finally:
        server.close()


@pytest.fixture
def products(dsn, monkeypatch):
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    for name, value in zip(
        ("PGHOST", "PGUSER", "PGDATABASE"), (part.split("=")[1] for part in dsn.split()), strict=True
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PGPASSWORD", "unused")
    with psycopg.connect(dsn) as connection:
        connection.execute("drop table if exists products")
        connection.execute("create table products (sku text, id text, title text, description text, image text)")
        rows = [
            ("red", "red", "Red shoes", "For running."),
            ("hat", "hat", "A hat", "Red."),
            ("sea", "sea", "Blue", ""),
        ]
        with connection.cursor() as cursor:
            cursor.executemany("insert into products values (%s, %s, %s, %s)", rows)


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize("settings", examples("postgres"), ids=lambda settings: "-".join(settings))
def test_an_example_of_postgres(settings):
    local = settings.get("dsn", "").replace("dbname=shop user=reader", "")  # which do not exist here
    system = open_system({**settings, "dsn": local}, name="example")
    assert system.search("red shoes", 5)[0][0] == "red"
    assert system.search("unicorns", 5) == []
    system.close()


def test_examples_that_run_here(tmp_path, monkeypatch):
    [code] = [block.text for block in blocks(PAGE) if block.title == "shop_search.py"]
    (tmp_path / "shop_search.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    plain, elsewhere = examples("python")
    assert open_system(plain).search("shoes", 1) == [("red-shoes", 2.5)]
    (tmp_path / "pages_search.py").write_text("def search(query):\n    return [{'metadata': {'page': 7}}]\n")
    assert open_system({**elsewhere, "object": "pages_search:search"}).search("shoes", 1) == [("7", 1.0)]
    for kind in ("sqlite", "bm25s"):
        pytest.importorskip(kind if kind == "bm25s" else "sqlite3")
        [settings] = examples(kind)
        system = open_system(settings, open_collection("builtin"))
        assert "stemming" in [doc_id for doc_id, _ in system.search("stemming of words", 5)]
        system.close()


def test_there_is_an_example_of_every_kind():
    assert {kind for kind, _ in EXAMPLES} == set(KINDS)


def test_the_tables_have_every_setting():
    assert filled(PAGE) == PAGE
    for home, settings in settings_of_systems().items():
        assert f"<!-- table: {home}_settings -->" in PAGE
        assert all(setting.meaning for setting in settings.values())
