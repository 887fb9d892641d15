"""A shop on PostgreSQL goes through the guides: queries from a log, judgments, an accepted result, and changes."""

import csv

import pytest

from cranfield import open_collection, open_store
from tests.pages import ROOT, blocks
from tests.program import run

THINGS = ("shoes", "raincoat", "umbrella", "hat", "belt", "boots", "shirt", "jacket", "socks", "jeans", "scarf", "bag")
COLOURS = ("red", "blue", "green", "black")
[SYSTEM] = [
    block.text
    for block in blocks((ROOT / "docs" / "guides" / "first.md").read_text(encoding="utf-8"))
    if block.language == "toml" and "postgres" in block.text
]
DSN = "host=localhost dbname=shop user=reader password=${PGPASSWORD}"
EXISTS = 'exists = "select sku from products where sku = any({ids})"\n'


@pytest.fixture
def database(dsn):
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop table if exists products")
        connection.execute("create table products (sku text, title text, description text, image_url text)")
        for thing in THINGS:
            for colour in COLOURS:
                row = (f"{thing}-{colour}", f"{colour} {thing}", f"Made of {thing}", f"https://img.example.com/{thing}")
                connection.execute("insert into products values (%s, %s, %s, %s)", row)
        yield connection
        connection.execute("drop table products")


def test_a_shop_goes_through_the_guides(tmp_path, dsn, database):
    with open(tmp_path / "queries.csv", "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([("Search term", "Searches"), *((thing, 900 - at) for at, thing in enumerate(THINGS))])
    assert "wrote cranfield.toml: this folder, 12 queries, 0 of them judged" in run("init", cwd=tmp_path).stdout
    commented = (tmp_path / "cranfield.toml").read_text()

    def tested(more="", gate="", exists=""):
        assert DSN in SYSTEM
        system = SYSTEM.replace(DSN, dsn).replace("where words @@ asked", f"where words @@ asked {more}")
        text = commented.replace("[gate]\n", f"[gate]\n{gate}\n") + system + exists
        (tmp_path / "cranfield.toml").write_text(text)
        done = run("test", "--worst", "0", cwd=tmp_path)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    ids = {text: query for query, text in open_collection(tmp_path).queries.items()}
    with open_store(tmp_path / "judgments.db", create=True) as store:
        for thing in THINGS:
            for at, colour in enumerate(COLOURS):
                store.judge(ids[thing], f"{thing}-{colour}", at, assessor="ann")
    passed, text = tested()
    assert passed == 0, text
    assert "nothing accepted yet: cranfield accept" in text
    assert "accepted nDCG@10" in run("accept", cwd=tmp_path).stdout
    code, text = tested(more="and title <> 'no such product'", gate="max_p95 = 20")  # another statement, same answers
    assert (code, "no regression" in text, "p95" in text) == (0, True, True)
    code, text = tested(gate="max_p95 = 0.00001")
    assert (code, "and must be at most 0.01 ms" in text) == (1, True)
    code, text = tested(more="and title !~ 'socks|jeans'")
    assert (code, "FAILED 2 queries that returned documents return none now" in text) == (1, True)
    code, text = tested(more="and false")
    assert (code, "FAILED no query returned a document" in text) == (1, True)
    # A new catalogue without half of the products.
    database.execute("delete from products where title ~ 'green|black'")
    code, text = tested()
    assert (code, "exists" in text and "in no ranking now" in text) == (1, True)
    code, text = tested(exists=EXISTS)
    assert (code, "24 of 48 judged documents no longer exist" in text) == (0, True), text
