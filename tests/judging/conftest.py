"""Every test of a store runs on SQLite and on PostgreSQL."""

from itertools import count
from urllib.parse import quote

import pytest

from cranfield import open_store
from tests.postgres import dsn

__all__ = ["dsn"]
_NUMBERS = count()


@pytest.fixture(scope="session")
def new_database(request):
    """Make an empty database in PostgreSQL; its URL."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

    def make():
        server = request.getfixturevalue("dsn")
        name = f"store{next(_NUMBERS)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"create database {name}")
        folder = server.split()[0].removeprefix("host=")
        return f"postgresql+psycopg://tester@/{name}?host={quote(folder)}"

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "judgments.db")
    return request.getfixturevalue("new_database")()


@pytest.fixture
def store(where):
    with open_store(where, create=True) as opened:
        yield opened
