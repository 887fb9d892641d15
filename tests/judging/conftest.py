"""Every test of a store runs on SQLite and on PostgreSQL."""

import gc

import pytest
import sqlalchemy as sa

from cranfield import open_store
from tests.judging.lossy_proxy import LossyProxy


class Compiled(dict):
    """Statements as compiled for a kind of database."""

    def get(self, key):
        return super().get(self._of_its_kind(key))

    def __setitem__(self, key, statement):
        super().__setitem__(self._of_its_kind(key), statement)

    @staticmethod
    def _of_its_kind(key):
        dialect, *statement = key
        return (dialect.name, *statement)


@pytest.fixture(scope="session", autouse=True)
def _compiled_once():
    """Share compiled statements: SQLAlchemy would compile them for each store, and tests open hundreds."""
    create, compiled = sa.create_engine, Compiled()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sa, "create_engine", lambda *of, **how: create(*of, execution_options={"compiled_cache": compiled}, **how)
        )
        yield


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "judgments.db")
    return request.getfixturevalue("new_database")()


@pytest.fixture
def store(where):
    with open_store(where, create=True) as opened:
        yield opened


@pytest.fixture
def lossy(new_database):
    """A store behind a proxy, the proxy, and the same store without it."""
    url = sa.make_url(new_database())
    folder = url.query["host"]
    with LossyProxy(f"{folder}/.s.PGSQL.5432") as proxy:
        query = {"options": url.query["options"], "sslmode": "disable", "gssencmode": "disable"}
        through = url.set(host="127.0.0.1", port=proxy.port, query=query)
        with (
            open_store(url.render_as_string(), create=True) as direct,
            open_store(through.render_as_string()) as store,
        ):
            yield store, proxy, direct
    gc.collect()  # while the warning is ignored
