"""PostgreSQL, with a server of our own in a temporary folder."""

import pytest

from cranfield import Query, evaluate, record
from cranfield.errors import InputError, SystemFailure
from cranfield.systems.asking import GaveUp, ask, first_answers
from cranfield.systems.collection import open_collection
from cranfield.systems.opening import open_system

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")


@pytest.fixture(scope="module")
def filled(dsn):
    collection = open_collection("builtin")
    with psycopg.connect(dsn) as connection:
        connection.execute('create table pages (doc_id text primary key, title text, "body text" text)')
        with connection.cursor() as cursor:
            cursor.executemany("insert into pages values (%s, %s, %s)", [d[:3] for d in collection.documents()])
    return dsn


@pytest.fixture
def opened():
    systems = []

    def start(settings):
        systems.append(open_system({"type": "postgres", **settings}, name="pg"))
        return systems[-1]

    yield start
    for system in systems:
        system.close()


TABLE = {"table": "pages", "id": "doc_id", "columns": ["title", "body text"]}


def test_full_text_search(filled, opened):
    system = opened({"dsn": filled, **TABLE})
    answers = {a.query_id: a for a in ask(system, [("1", "how does stemming work?"), ("2", "bm25 k1")], 5, jobs=2)}
    assert "stemming" in [doc_id for doc_id, _ in answers["1"].ranking]
    assert answers["2"].ranking[0][0] in ("bm25-parameters", "bm25")
    assert len(answers["1"].ranking) <= 5
    every = opened({"dsn": filled, **TABLE, "match": "all"})
    assert every.search("stemming unicorn", 5) == []
    assert system.search("stemming unicorn", 5) != []
    assert system.search("the of", 5) == []


def test_a_custom_sql_statement(filled, opened):
    sql = "select doc_id from pages where title ~* %(query)s order by length(title), doc_id limit %(k)s"
    assert opened({"dsn": filled, "sql": sql}).search("recall", 2) == [("recall", 2.0), ("e-discovery", 1.0)]


@pytest.mark.parametrize(
    "sql",
    [
        "select doc_id from pages where title ~* {query} order by length(title), doc_id limit {k}",
        "select doc_id from pages where title ilike '%' || {query}::text || '%' "
        "order by length(title), doc_id limit {k}",
        "select doc_id from pages where title ~* %(query)s and title not like '%%x' "
        "order by length(title), doc_id limit %(k)s",
    ],
)
def test_placeholders_are_written_as_in_urls_or_as_in_psycopg(filled, opened, sql):
    assert opened({"dsn": filled, "sql": sql}).search("recall", 2) == [("recall", 2.0), ("e-discovery", 1.0)]


def test_columns_of_a_query_are_parameters_and_without_k_it_is_asked_as_it_is(filled, opened):
    sql = (
        "select doc_id from pages where title ~* {query} and title <> '{k1}' and length(title) < {longest}::int limit 3"
    )
    recorded = record(
        opened({"dsn": filled, "sql": sql}), {"1": Query("recall", longest="12"), "2": Query("a", longest="90")}
    )
    assert recorded.made.k is None
    assert (list(recorded._rankings["1"]), len(recorded._rankings["2"])) == (["recall"], 3)
    refused = record(opened({"dsn": filled, "sql": sql}), {"1": "recall"})
    assert "the query has no column 'longest'" in refused.failed["1"]


def test_rows_are_measured_in_the_order_of_the_statement(filled, opened, tmp_path):
    with psycopg.connect(filled) as connection:
        connection.execute("create table shop (sku text, score real)")
        connection.execute("insert into shop values ('a-good', 1), ('y-bad', 1), ('z-bad', 1), ('w-bad', 0.5)")
    system = opened(
        {"dsn": filled, "sql": "select sku, score from shop, (select %(query)s) q order by score desc, sku limit %(k)s"}
    )
    recorded = record(system, {"1": "x"}, tmp_path / "o.run")
    assert (recorded.parted, recorded.replaced) == (1, 0)
    assert evaluate({"1": {"a-good": 1}}, tmp_path / "o.run", "RR")["RR"] == 1.0


SHOP = """
create table texts_of_shop (sku text, uid uuid, product_name text, title text, body text, image text, sales int);
insert into texts_of_shop values
    ('000444', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'P1', 'Raincoat', 'Yellow', '444.png', 2),
    ('000445', 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'P2', 'Hat', null, '', 1);
"""
RAINCOAT = {"title": "Raincoat", "text": "Yellow", "image": "444.png"}


@pytest.fixture(scope="module")
def shop(dsn):
    with psycopg.connect(dsn) as connection:
        connection.execute(SHOP)
    return dsn


@pytest.mark.parametrize(
    ("selected", "settings", "ids", "texts"),
    [
        ("sku, sales * 0.5 as score, title, body, image", {}, ["000444", "000445"], RAINCOAT),
        ("sku, sales, title, body, image", {}, ["000444", "000445"], RAINCOAT),  # the second column is a number
        ("title, body, image, sales as similarity, sku", {}, ["000444", "000445"], RAINCOAT),
        ("sku, title", {}, ["000444", "000445"], {"title": "Raincoat"}),
        ("sku, sales", {}, ["000444", "000445"], None),
        ("sku, product_name as name, title", {}, ["000444", "000445"], {"title": "Raincoat"}),
        ("uid, product_name, body", {"texts": {"title": "product_name"}}, None, {"title": "P1", "text": "Yellow"}),
        ("product_name, sku", {"id": "product_name"}, ["P1", "P2"], None),
    ],
)
def test_texts_come_with_the_rows_by_the_names_of_columns(shop, opened, selected, settings, ids, texts):
    sql = f"select {selected} from texts_of_shop, (select {{query}}::text) as asked order by sales desc limit {{k}}"
    found = first_answers(opened({"dsn": shop, "sql": sql, **settings}), {"q": "raincoat"}, 10)
    ids = ids or ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]
    assert found.rankings == {"q": ids}
    assert found.texts.get(ids[0]) == texts


def test_scores_of_rows_with_texts_are_kept(shop, opened):
    sql = "select title, sales as score, sku from texts_of_shop, (select {query}::text) q order by sales desc limit {k}"
    assert opened({"dsn": shop, "sql": sql}).search("x", 5) == [("000444", 2.0), ("000445", 1.0)]
    assert opened({"dsn": shop, "sql": sql, "order": "rank"}).search("x", 1) == [("000444", 1.0)]
    sql = (
        "select sku, nullif(sales, 1), title from texts_of_shop, (select {query}::text) q order by sales desc limit {k}"
    )
    with pytest.raises(SystemFailure, match="document '000445' has the score None, others have numbers"):
        opened({"dsn": shop, "sql": sql}).search("x", 5)
    sql = "select title, sales as score, sku from texts_of_shop, (select {query}::text) q order by sales desc limit {k}"
    with pytest.raises(SystemFailure, match=r"no column .salse. in the answer.\nHint: it has title, score, sku"):
        opened({"dsn": shop, "sql": sql, "score": "salse"}).search("x", 5)


def test_a_searched_table_gives_the_texts_that_are_declared(shop, opened):
    settings = {"dsn": shop, "table": "texts_of_shop", "id": "sku", "columns": ["title"]}
    declared = {"texts": {"title": "product_name", "text": "body"}}
    found = [first_answers(opened({**settings, **more}), {"q": "raincoat"}, 10).texts for more in ({}, declared)]
    assert found == [{}, {"000444": {"title": "P1", "text": "Yellow"}}]


def test_a_wrong_password_is_not_tried_again(filled, opened, monkeypatch):
    with psycopg.connect(filled) as connection:
        connection.execute("create role locked login password 'right'")
    monkeypatch.setenv("PG_TEST_PASSWORD", "wrong-password")
    system = opened({"dsn": f"{filled} user=locked password=${{PG_TEST_PASSWORD}}", **TABLE})
    attempts = []
    connect = psycopg.connect
    monkeypatch.setattr(psycopg, "connect", lambda *a, **k: attempts.append(1) or connect(*a, **k))
    with pytest.raises(GaveUp, match="password authentication failed") as caught:
        list(ask(system, [(str(n), "x") for n in range(20)], 5, wait=0.01))
    assert len(attempts) == 1
    assert "wrong-password" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dsn": "what is this"}, "the dsn is not one that PostgreSQL understands"),
        ({"dsn": "", "sql": "select id where a like %s"}, "sql has '%s' in it"),
        ({"dsn": "", "sql": "select id where a like '%x' and b = %(query)s"}, "sql has '%x' in it"),
        ({"dsn": "", "sql": "select id where b = %(text)s"}, r"sql has '%\(text\)s' in it"),
        ({"dsn": "", "sql": "select id where b = {query} and c = %(query)s"}, "sql has both {query} and %"),
        ({"dsn": "", "sql": "select id where b = '{query}'"}, "sql has {query} in quotes"),
        ({"dsn": "", "sql": "select id where b = '%(query)s'"}, "sql has %.query.s in quotes"),
        ({"dsn": "", "sql": "select id where b = :query"}, "sql has ':query' in it"),
        ({"dsn": "", "sql": "select id where b = :query limit {k}"}, "sql has ':query' in it"),
        ({"dsn": "", "sql": "select id where b = $1"}, r"sql has '\$1' in it"),
        ({"dsn": "", "sql": "select id where b = {text}"}, "sql has '{text}' in it"),
        ({"dsn": "", "sql": "select id from t"}, "does not say where the query goes"),
        ({"dsn": "", "sql": "select id from t limit {k}"}, "does not say where the query goes"),
        ({"dsn": "", "sql": "select id from t where v @@to_tsquery('x') limit %(k)s"}, "does not say where the query"),
        ({"dsn": "", "sql": "select {query}", "texts": {"tilte": "a"}}, "texts has no 'tilte'"),
        ({"dsn": "", "table": "t", "columns": "title"}, "columns must be a list"),
    ],
)
def test_settings_that_cannot_work(opened, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        opened(settings)
    if "sql" in settings and "texts" not in settings:
        assert caught.value.hint.startswith("write {query} and {k}, without quotes")


def test_temporary_and_permanent_failures_are_distinguished(filled, opened, monkeypatch):
    with pytest.raises(SystemFailure, match='relation "nowhere" does not exist') as caught:
        opened({"dsn": filled, **TABLE, "table": "nowhere"}).search("x", 1)
    assert not caught.value.retry
    with pytest.raises(SystemFailure, match="statement timeout"):
        opened({"dsn": filled, "timeout": 0.2, "sql": "select pg_sleep(5)::text, %(query)s, %(k)s"}).search("x", 1)
    monkeypatch.setenv("PG_TEST_PASSWORD", "topsecret")
    with pytest.raises(SystemFailure) as caught:
        opened({"dsn": "host=/nonexistent password=${PG_TEST_PASSWORD} user=topsecret", **TABLE}).search("x", 1)
    assert caught.value.retry
    assert "topsecret" not in str(caught.value)
    for settings, message in [
        ({"dsn": filled}, "table and columns, or sql"),
        ({**TABLE, "match": "some"}, "neither"),
        ({"tabel": "x"}, "no setting 'tabel'"),
    ]:
        with pytest.raises(InputError, match=message):
            opened(settings)


def test_a_broken_connection_is_opened_again(filled, opened):
    system = opened({"dsn": filled, **TABLE})
    assert system.search("recall", 1)
    with psycopg.connect(filled, autocommit=True) as other:
        other.execute("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
    [answer] = ask(system, [("1", "recall")], 1, wait=0.01)
    assert answer.ranking
    assert answer.attempts == 2


@pytest.mark.parametrize("exists", ["select doc_id from pages", "select doc_id from pages where doc_id = any({ids})"])
def test_which_documents_exist(filled, opened, exists):
    system = opened({"dsn": filled, **TABLE, "exists": exists})
    assert {"recall", "rbo"} <= system._kind.existing({"recall", "rbo", "deleted"})
    assert "deleted" not in system._kind.existing({"recall", "rbo", "deleted"})
    assert opened({"dsn": filled, **TABLE})._kind.existing is None


def test_a_wrong_statement_of_what_exists_is_an_error(filled, tmp_path):
    from contextlib import nullcontext

    from cranfield.systems.asking import Silent
    from cranfield.systems.project import Project
    from cranfield.systems.testing import run_test

    system = {"type": "postgres", "dsn": filled, **TABLE, "exists": "select nope from pages"}
    project = Project(tmp_path / "cranfield.toml", "builtin", {"pg": system})
    with pytest.raises(SystemFailure, match="nope"):
        run_test(project, lambda _: nullcontext(Silent()))


@pytest.mark.parametrize("knows", [True, False])
def test_deleted_products_fail_the_test_only_where_nothing_says_that_they_are_gone(dsn, tmp_path, knows):
    """One in seventeen of the judged products is deleted, and the statement stays the same."""
    from contextlib import nullcontext

    from cranfield.systems.accepting import accept
    from cranfield.systems.asking import Silent
    from cranfield.systems.project import Project
    from cranfield.systems.testing import run_test

    skus = [f"w{query}-{number}" for query in range(34) for number in range(4)]
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\tw{query}-\n" for query in range(34)))
    (tmp_path / "qrels.txt").write_text("".join(f"{sku[1:].partition('-')[0]} 0 {sku} 1\n" for sku in skus))
    system = {
        "type": "postgres",
        "dsn": dsn,
        "sql": "select sku from goods where sku like {query} || '%' order by sku limit {k}",
        **({"exists": "select sku from goods where sku = any({ids})"} if knows else {}),
    }
    project = Project(tmp_path / "cranfield.toml", ".", {"shop": system}, k=10)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop table if exists goods")
        connection.execute("create table goods (sku text primary key)")
        with connection.cursor() as cursor:
            cursor.executemany("insert into goods values (%s)", [(sku,) for sku in skus])
        run_test(project, lambda _: nullcontext(Silent()))
        accept(project)
        connection.execute("delete from goods where sku = any(%s)", [skus[::17]])
    [tested] = run_test(project, lambda _: nullcontext(Silent())).systems
    assert tested.passed == knows
    assert "|gone:8|" in tested.accepted.signature or not knows
    said = "8 of 136 judged documents no longer exist" if knows else "8 relevant documents are in no ranking now"
    assert any(said in note for note in tested.notes)
