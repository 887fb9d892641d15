"""A PostgreSQL server, for the tests that need one."""

from tests.postgres import dsn

__all__ = ["dsn"]
