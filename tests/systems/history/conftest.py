"""Every test of a history runs on SQLite and on PostgreSQL."""

import pytest

from cranfield.systems.history.opening import open_history


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return str(tmp_path / "history.db") if request.param == "sqlite" else request.getfixturevalue("new_database")()


@pytest.fixture
def history(where):
    with open_history(where, create=True) as opened:
        yield opened
