"""PostgreSQL's full-text search or an SQL statement of your own, through psycopg."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from cranfield.errors import InputError, SystemFailure, need
from cranfield.io.connections import Connections
from cranfield.io.secrets import Secrets
from cranfield.io.settings import TomlSetting
from cranfield.systems.answers import ORDER, TEXTS, Returned, chosen_order, declared_texts, ranking_of, rows_as_results
from cranfield.systems.queries import ARGUMENTS, REQUIRED, filled_columns

_OURS, _THEIRS = ("{query}", "{k}"), ("%(query)s", "%(k)s")
_HINT = "write {query} and {k}, without quotes"
_PERCENT = re.compile(r"%(?:\([^)]*\)\w?|.|$)", re.DOTALL)
_NAMED = re.compile(r"%\((\w+)\)s")
# What other libraries write. It may also be SQL, such as an array '{news}', so it is refused only where the query has
# no place.
_OTHERS = re.compile(r"(?<![:@\w])[:@][a-z]\w*|\$\d|\{\w+\}|%(?:\(\w+\))?s|\?", re.IGNORECASE)
_COMMENT = re.compile(r"--.*")
_PLACE = re.compile(r"'[^']*'|--.*|\{(\w+)\}")  # of the query, k or a column; not in quotes or comments


def psycopg_statement(statement: str, name: str) -> str:
    """The statement as psycopg takes it; an error says what to write where the query has no place.

    >>> psycopg_statement("select id from t where title ilike '%' || {query} || '%' limit {k}", "shop")
    "select id from t where title ilike '%%' || %(query)s || '%%' limit %(k)s"
    """
    ours, theirs = ([mark for mark in marks if mark in statement] for marks in (_OURS, _THEIRS))
    if ours and theirs:
        raise InputError(name, f"sql has both {ours[0]} and {theirs[0]} in it.", hint=_HINT)
    if "{query}" not in ours and "%(query)s" not in theirs:
        # Without what the limit is written with.
        other = _OTHERS.search(statement.replace("{k}", "").replace("%(k)s", ""))
        fact = f"sql has '{other[0]}' in it, and no {{query}}." if other else "sql does not say where the query goes."
        raise InputError(name, fact, hint=_HINT)
    for quoted in _COMMENT.sub("", statement).split("'")[1::2]:
        for mark in (*ours, *theirs):
            if mark in quoted:
                hint = f"{_HINT}: '%' || {{query}} || '%' looks for a part of a text"
                raise InputError(name, f"sql has {mark} in quotes.", hint=hint)
    if ours:
        return _PLACE.sub(lambda place: f"%({place[1]})s" if place[1] else place[0], statement.replace("%", "%%"))
    for mark in _PERCENT.findall(statement):
        if not _NAMED.fullmatch(mark) and mark != "%%":
            raise InputError(name, f"sql has '{mark}' in it.", hint=f"{_HINT}; beside {theirs[0]}, % is written %%")
    return statement


SETTINGS = {
    "dsn": TomlSetting(
        str, "how to connect, as libpq takes it: `dbname=shop user=reader` or a `postgresql://` URL", "`PG*`"
    ),
    "table": TomlSetting(str, "the table or view to search, with its schema if needed: `public.products`"),
    "columns": TomlSetting(list, "the columns of text to search in"),
    "id": TomlSetting(str, "the column with the id of the document", '"id"; with sql the usual names, or the first'),
    "language": TomlSetting(str, "the text-search configuration: how words are stemmed", '"english"'),
    "match": TomlSetting(str, 'whether a document must contain "any" word of the query or "all" of them', '"any"'),
    "sql": TomlSetting(
        str,
        "your own statement, instead of table, columns, language and match: rows with an id and maybe a score, title, "
        "text, url and image, best first",
    ),
    "score": TomlSetting(str, 'the column with the score; "" reads no scores', "the usual names, or the second"),
    "texts": TEXTS,
    "exists": TomlSetting(
        str,
        "a statement that lists the ids that exist, or those of `{ids}`: `select sku from products where sku = "
        "any({ids})`; judged documents that it does not list are left out",
    ),
    "order": ORDER,
    "arguments": ARGUMENTS,
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
        self._order = chosen_order(settings.get("order"), settings.get("score"), name)
        texts = declared_texts(settings.get("texts"), name)
        self._declared = {"id": settings.get("id"), "score": settings.get("score"), **texts}
        self._statement = psycopg_statement(settings["sql"], name) if settings.get("sql") else self._ranked(settings)
        self._exists = str(settings.get("exists", "")).replace("%", "%%").replace("{ids}", "%(ids)s")
        self.existing = self._existing if self._exists else None
        self._language = str(settings.get("language", "english"))
        named = set(_NAMED.findall(self._statement)) if settings.get("sql") else {"k"}
        self.needs_k = "k" in named
        self._names = named - {"query", "k"}
        self.takes = dict.fromkeys(self._names, REQUIRED)
        self._connections = Connections(self._connect)
        self._reached = False

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
        shown = declared_texts(settings.get("texts"), self.name).values()
        return sql.SQL(
            f"select {{id}}, ts_rank_cd(vector, words) as score{{shown}} from {{table}}, "
            f"(select {words} as words) as asked, "
            "lateral (select to_tsvector(%(language)s::regconfig, {text}) as vector) as made "
            "where vector @@ words order by score desc, {id} limit %(k)s"
        ).format(
            id=sql.Identifier(settings.get("id", "id")),
            shown=sql.SQL("").join(sql.SQL(", {}").format(sql.Identifier(name)) for name in dict.fromkeys(shown)),
            table=sql.Identifier(*str(settings["table"]).split(".")),
            text=sql.SQL(" || ' ' || ").join(columns),
        )

    def search(self, query: str, k: int | None) -> Returned:
        # One that asks for a language of the query gets that of the query.
        words = {"language": self._language, **filled_columns(query, self._names), "query": str(query), "k": k}
        names, rows = self._rows(self._statement, words)
        return ranking_of(rows_as_results(names, rows, self._declared), order=self._order)

    def _existing(self, ids: Collection[str]) -> set[str]:
        """Which of these documents exist, and maybe others."""
        return {str(row[0]) for row in self._rows(self._exists, {"ids": sorted(ids)})[1]}

    def _rows(self, statement: Any, values: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
        """The names of the columns, and the rows."""
        try:
            connection, _ = self._connections.take()
        except self._psycopg.Error as error:
            refused = _FATAL in str(error) and not any(passing in str(error) for passing in _PASSING)
            final = refused or not self._reached
            raise SystemFailure(f"PostgreSQL: {_first_line(error)}", retry=not refused, final=final) from None
        self._reached = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                rows, names = cursor.fetchall(), [column.name for column in cursor.description or ()]
        except self._psycopg.Error as error:
            broken = isinstance(error, self._psycopg.OperationalError | self._psycopg.InterfaceError)
            raise SystemFailure(f"PostgreSQL: {_first_line(error)}", retry=broken) from None
        finally:
            if not connection.closed:
                self._connections.give(connection)
        return names, rows

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
