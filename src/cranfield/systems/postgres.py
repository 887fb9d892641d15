"""PostgreSQL's full-text search or an SQL statement of your own, through psycopg."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from cranfield.errors import InputError, SystemFailure, need
from cranfield.io.connections import Connections
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import ORDER, Returned, chosen_order, ranking_of

_OURS = {"{query}": "%(query)s", "{k}": "%(k)s"}
_THEIRS = tuple(_OURS.values())
_HINT = "write {query} and {k}, without quotes"
_PERCENT = re.compile(r"%(?:\([^)]*\)\w?|.|$)", re.DOTALL)
# What other libraries write. It may also be SQL, such as an array '{news}', so it is refused only where the query has
# no place.
_OTHERS = re.compile(r"(?<![:\w])[:@][a-z]\w*|\$\d|\{\w+\}|%(?:\(\w+\))?s|\?", re.IGNORECASE)
_COMMENT = re.compile(r"--.*")


def psycopg_statement(statement: str, name: str) -> str:
    """The statement as psycopg takes it; an error says what to write where the query has no place.

    >>> psycopg_statement("select id from t where title ilike '%' || {query} || '%' limit {k}", "shop")
    "select id from t where title ilike '%%' || %(query)s || '%%' limit %(k)s"
    """
    ours, theirs = ([mark for mark in marks if mark in statement] for marks in (_OURS, _THEIRS))
    if ours and theirs:
        raise InputError(name, f"sql has both {ours[0]} and {theirs[0]} in it.", hint=_HINT)
    if "{query}" not in ours and "%(query)s" not in theirs:
        other = _OTHERS.search(statement)
        fact = f"sql has '{other[0]}' in it." if other else "sql does not say where the query goes."
        raise InputError(name, fact, hint=_HINT)
    for quoted in _COMMENT.sub("", statement).split("'")[1::2]:
        for mark in (*ours, *theirs):
            if mark in quoted:
                hint = f"{_HINT}: '%' || {{query}} || '%' looks for a part of a text"
                raise InputError(name, f"sql has {mark} in quotes.", hint=hint)
    if ours:
        statement = statement.replace("%", "%%")
        for mark, meant in _OURS.items():
            statement = statement.replace(mark, meant)
        return statement
    for mark in _PERCENT.findall(statement):
        if mark not in (*_THEIRS, "%%"):
            raise InputError(name, f"sql has '{mark}' in it.", hint=f"{_HINT}; beside {theirs[0]}, % is written %%")
    return statement


SETTINGS = {
    "dsn": TomlSetting(
        str, "how to connect, as libpq takes it: `dbname=shop user=reader` or a `postgresql://` URL", "`PG*`"
    ),
    "table": TomlSetting(str, "the table or view to search, with its schema if needed: `public.products`"),
    "columns": TomlSetting(list, "the columns of text to search in"),
    "id": TomlSetting(str, "the column with the id of the document", '"id"'),
    "language": TomlSetting(str, "the text-search configuration: how words are stemmed", '"english"'),
    "match": TomlSetting(str, 'whether a document must contain "any" word of the query or "all" of them', '"any"'),
    "sql": TomlSetting(
        str,
        "your own statement, instead of table, columns, id, language and match: ids or (id, score) rows, best first",
    ),
    "exists": TomlSetting(
        str,
        "a statement that lists the ids that exist, or those of `{ids}`: `select sku from products where sku = "
        "any({ids})`; judged documents that it does not list are left out",
    ),
    "order": ORDER,
    "timeout": TomlSetting((int, float), "seconds to wait for a connection, and for an answer", "30"),
}


def open_type(kind: str, settings: Mapping[str, Any], name: str, secrets: Secrets, collection: Any) -> PostgresSearch:
    return PostgresSearch(settings, name, secrets)


class PostgresSearch:
    """Asks a table, ranked by ts_rank_cd, or runs a statement of your own: see SETTINGS."""

    def __init__(self, settings: Mapping[str, Any], name: str, secrets: Secrets) -> None:
        self.name = name
        self._psycopg = need("psycopg", extra="postgres", purpose=f"the system '{name}'")
        self._dsn = str(settings.get("dsn", ""))
        try:
            known = self._psycopg.conninfo.conninfo_to_dict(self._dsn)
        except self._psycopg.Error:  # whose message shows a part of it
            raise InputError(name, "the dsn is not one that PostgreSQL understands.", hint=_DSN) from None
        secrets.keep_parts(known.values())
        if known.get("password"):
            secrets.keep(str(known["password"]), "(password)")
        self._timeout = float(settings.get("timeout", 30))
        self._order = chosen_order(settings.get("order"), None, name)
        self._statement = psycopg_statement(settings["sql"], name) if settings.get("sql") else self._ranked(settings)
        self._exists = str(settings.get("exists", "")).replace("%", "%%").replace("{ids}", "%(ids)s")
        self.existing = self._existing if self._exists else None
        self._language = str(settings.get("language", "english"))
        self._connections = Connections(self._connect)

    def _ranked(self, settings: Mapping[str, Any]) -> Any:
        if not settings.get("table") or not settings.get("columns"):
            raise InputError(self.name, "set table and columns, or sql.")
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

    def search(self, query: str, k: int) -> Returned:
        rows = self._rows(self._statement, {"query": query, "k": k, "language": self._language})
        return ranking_of([row if len(row) > 1 else row[0] for row in rows], order=self._order)

    def _existing(self, ids: Collection[str]) -> set[str]:
        """Which of these documents exist, and maybe others."""
        return {str(row[0]) for row in self._rows(self._exists, {"ids": sorted(ids)})}

    def _rows(self, statement: Any, values: Mapping[str, Any]) -> list[Any]:
        try:
            connection, _ = self._connections.take()
        except self._psycopg.Error as error:
            refused = _FATAL in str(error) and not any(passing in str(error) for passing in _PASSING)
            raise SystemFailure(f"PostgreSQL: {_first_line(error)}", retry=not refused, final=refused) from None
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                rows: list[Any] = cursor.fetchall()
        except self._psycopg.Error as error:
            broken = isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError)
            raise SystemFailure(f"PostgreSQL: {_first_line(error)}", retry=broken) from None
        finally:
            if not connection.closed:
                self._connections.give(connection)
        return rows

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._dsn, autocommit=True, connect_timeout=max(2, int(self._timeout)))
        connection.execute(f"set statement_timeout = {int(1000 * self._timeout)}")
        return connection

    def close(self) -> None:
        self._connections.close()


_DSN = "such as dbname=shop user=reader password=${PGPASSWORD}"
# What libpq puts before a server's refusal of a connection; other failures are of the way to the server. It may let us
# in later where it is starting, stopping or full.
_FATAL = "FATAL: "
_PASSING = ("starting up", "shutting down", "recovery mode", "too many", "remaining connection slots")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
