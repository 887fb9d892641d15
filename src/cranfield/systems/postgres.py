"""PostgreSQL's full-text search, through psycopg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cranfield.errors import InputError, SystemFailure, need
from cranfield.systems.answers import Ranking, ranking_of
from cranfield.systems.connections import Connections
from cranfield.systems.secrets import Secrets
from cranfield.systems.settings import check_settings

_SETTINGS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("dsn", "table", "id", "language", "match", "sql", "order"), str),
    "columns": list,
    "timeout": (int, float),
}


class PostgresSystem:
    """Asks a table, or runs a statement of your own.

    dsn: how to connect, such as "dbname=shop user=reader password=${PGPASSWORD}"; empty takes PG* from the environment
    table, id, columns: what is searched; language: the text-search configuration ("english")
    match: "any" word of the query (ranked by ts_rank_cd), or "all" of them
    sql: instead of all that, a statement with %(query)s and %(k)s that gives ids, or ids and scores
    """

    def __init__(self, settings: Mapping[str, Any], name: str = "postgres") -> None:
        self.name = name
        check_settings(settings, _SETTINGS, name)
        self._psycopg = need("psycopg", extra="postgres", purpose=f"the system '{name}'")
        self._secrets = Secrets(name)
        filled = self._secrets.fill(dict(settings))
        self._dsn = str(filled.get("dsn", ""))
        password = self._psycopg.conninfo.conninfo_to_dict(self._dsn).get("password") if self._dsn else None
        if password:
            self._secrets.keep(str(password), "(password)")
        self._timeout = float(filled.get("timeout", 30))
        self._order = filled.get("order", "score")
        self._statement = filled.get("sql") or self._ranked(filled)
        self._language = str(filled.get("language", "english"))
        self._connections = Connections(self._connect)

    def _ranked(self, settings: Mapping[str, Any]) -> Any:
        if not settings.get("table") or not settings.get("columns"):
            raise InputError(self.name, "table and columns, or sql, are needed.")
        if settings.get("match", "any") not in ("any", "all"):
            raise InputError(self.name, f"match = '{settings['match']}' is neither 'any' nor 'all'.")
        sql = self._psycopg.sql
        columns = [sql.SQL("coalesce({}::text, '')").format(sql.Identifier(name)) for name in settings["columns"]]
        # plainto_tsquery joins the words with "and"; for a question in many words that finds nothing.
        words = "plainto_tsquery(%(language)s::regconfig, %(query)s)"
        if settings.get("match", "any") == "any":
            words = f"replace({words}::text, '&', '|')::tsquery"
        return sql.SQL(
            f"select {{id}}, ts_rank_cd(vector, words) as score from {{table}}, (select {words} as words) as asked, "
            "lateral (select to_tsvector(%(language)s::regconfig, {text}) as vector) as made "
            "where vector @@ words order by score desc, {id} limit %(k)s"
        ).format(
            id=sql.Identifier(settings.get("id", "id")),
            table=sql.Identifier(*str(settings["table"]).split(".")),
            text=sql.SQL(" || ' ' || ").join(columns),
        )

    def search(self, query: str, k: int) -> Ranking:
        """Run the statement."""
        try:
            connection, _ = self._connections.take()
        except self._psycopg.Error as error:
            raise self._failure(error) from None
        try:
            with connection.cursor() as cursor:
                cursor.execute(self._statement, {"query": query, "k": k, "language": self._language})
                rows = cursor.fetchall()
        except self._psycopg.Error as error:
            raise self._failure(error) from None
        finally:
            if not connection.closed:
                self._connections.give(connection)
        return ranking_of([row if len(row) > 1 else row[0] for row in rows], order=self._order)

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._dsn, autocommit=True, connect_timeout=max(2, int(self._timeout)))
        connection.execute(f"set statement_timeout = {int(1000 * self._timeout)}")
        return connection

    def _failure(self, error: Exception) -> SystemFailure:
        broken = isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError)
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return SystemFailure(self._secrets.hide(f"PostgreSQL: {first}"), retry=broken)

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()
