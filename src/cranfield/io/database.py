"""A database: SQLite by path, PostgreSQL by URL; transactions, and their failures as our errors."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from cranfield.errors import CranfieldError, InputError, OutputError, near_file, need
from cranfield.io.commits import LostError, SharedCommits, UnknownError
from cranfield.io.formats.store import HEAD
from cranfield.io.tables import DAMAGED, Schema
from cranfield.io.target import locked

# It would print tracebacks of broken connections to a terminal; we raise errors of our own.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())

LONGEST_VALUE = 1 << 26  # bytes: a text of a document, at most
PATIENCE = 30.0  # seconds to wait for another process that is writing


class Hold:
    """The right to do something to a database alone: until the process ends, or until its connection breaks."""

    def __init__(self, name: str, doing: str, connection: sa.Connection | None = None, session: int = 0) -> None:
        self._name, self._doing, self._connection, self._session = name, doing, connection, session
        self._lock = threading.Lock()
        self.can_be_lost = connection is not None

    def check(self) -> None:
        """Raise an error if another process may do the same by now."""
        if self._connection is None:
            return
        with self._lock:
            try:
                session = self._connection.execute(sa.select(sa.func.pg_backend_pid())).scalar_one()
            except sa.exc.SQLAlchemyError:
                session = None
            if session != self._session:  # SQLAlchemy connects again, but the lock is gone
                self._session = 0
                fact = f"the connection was lost that kept other processes from {self._doing}."
                raise OutputError(self._name, fact, hint="the same call continues: everything before it is saved")


class Database:
    """Connections to one database. Others see a transaction completely, or not at all."""

    def __init__(self, schema: Schema, where: str, *, create: bool = False, read_only: bool = False) -> None:
        self._schema = schema
        self._where, self._url = where, address(where, schema)
        self._begun = sa.select(sa.func.txid_current(), sa.func.pg_advisory_xact_lock(schema.lock))
        self.name = where if self._url is None else self._url.render_as_string(hide_password=True)
        self.read_only = read_only
        self._copy: TemporaryDirectory[str] | None = None  # of one of an older version, to read
        self.commits = SharedCommits(self.writing)
        self._writing = threading.Lock()  # threads of one process take turns without SQLite's polling
        if self._url is None:
            self._check_file(where, create)
            self._engine = _sqlite(schema, where, read_only)
        else:
            need("psycopg", purpose=f"a {schema.word} in PostgreSQL", extra="postgres")
            patience = {"connect_timeout": int(PATIENCE)}
            self._engine = sa.create_engine(self._url, pool_pre_ping=True, pool_size=20, connect_args=patience)
        try:
            self._prepare(create)
        except CranfieldError:
            self.close()
            raise

    def _check_file(self, path: str, create: bool) -> None:
        if os.path.isdir(path):
            raise InputError(path, "this is a folder.", hint=f"name a file, such as {self._schema.usual_file}")
        if not os.path.exists(path):
            if not create:
                raise InputError(
                    path, f"there is no such {self._schema.word}.", hint=near_file(path) or self._schema.making
                )
            return
        try:
            with open(path, "rb") as file:
                head = file.read(len(HEAD))
        except OSError as error:
            raise InputError(path, f"cannot be read: {(error.strerror or str(error)).lower()}.") from None
        if head != HEAD and not (create and not head):  # SQLite would make an empty file its own
            raise self._not_one(path)

    def _prepare(self, create: bool) -> None:
        schema = self._schema
        with self.reading() as connection:
            if self._url is None:
                self._check_tables(connection)
            elif views := sorted({*sa.inspect(connection).get_view_names()} & {*schema.metadata.tables}):
                fact = f"'{views[0]}' is a view in it, not a table."  # which may never end
                raise InputError(self.name, fact, hint=DAMAGED)
            version = schema.version_of(connection, self.name)
            empty = version is None and not sa.inspect(connection).get_table_names()
        if version == schema.version:
            return
        if version is None and not (create and (empty or self._url is not None)):
            raise self._not_one(self.name)
        if self.read_only:
            self._read_a_newer_copy(version)
            return
        with self.writing(f"the {schema.word}") as connection:
            version = schema.version_of(connection, self.name)  # another process may have been faster
            if version is None:
                schema.create(connection)
            elif version < schema.version:
                schema.migrate(connection, version)

    def _read_a_newer_copy(self, version: int | None) -> None:
        """Reading changes nothing: the tables of an older version are brought up to date in a copy of the file."""
        if self._url is not None:
            raise InputError(
                self.name,
                f"this {self._schema.word} has version {version}; to be read, it must be changed to version "
                f"{self._schema.version}.",
                hint=self._schema.updating,
            )
        self._copy = TemporaryDirectory(prefix="cranfield-")
        path = os.path.join(self._copy.name, self._schema.usual_file)
        with self.failing(InputError, "cannot be read"), self._engine.connect() as connection:
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            with closing(sqlite3.connect(path)) as copy:
                source.backup(copy)
        self._engine.dispose()
        Database(self._schema, path).close()
        self._engine = _sqlite(self._schema, path, read_only=True)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        with self.failing(InputError, "cannot be read"), self._engine.connect() as connection:
            if self._url is not None:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self, what: str, lasting: bool = True) -> Iterator[sa.Connection]:
        """One at a time. `what` is lost if it fails; what is not `lasting` may be undone by a power failure."""
        if self.read_only:
            raise OutputError(self.name, f"{what}: not saved, because this {self._schema.word} was opened read-only.")
        with self._writing, self.failing(OutputError, f"{what}: not saved"), self._engine.connect() as connection:
            if self._url is None:
                connection = connection.execution_options(synchronous="FULL" if lasting else "NORMAL")
            with connection.begin() as transaction:
                number = None
                if self._url is not None:
                    number = connection.execute(self._begun).scalar_one()
                    if not lasting:
                        connection.execute(sa.text("SET LOCAL synchronous_commit TO off"))
                yield connection
                self._commit(transaction, number, what)

    def _commit(self, transaction: sa.RootTransaction, number: int | None, what: str) -> None:
        """Commit; if the answer is lost, the server is asked what became of the transaction with this number."""
        try:
            transaction.commit()
        except sa.exc.DBAPIError as error:
            if number is None or not error.connection_invalidated:
                raise
            try:
                saved = self._was_committed(number)
            except sa.exc.SQLAlchemyError as failure:
                fact = f"{what}: the connection broke, and it is not known whether this was saved ({_reason(failure)})."
                raise UnknownError(self.name, fact, hint="look whether it is there before you do it again") from error
            if not saved:
                raise

    def _was_committed(self, number: int) -> bool:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self._engine.connect() as connection, connection.begin():
                    connection.execute(sa.text(f"SET LOCAL lock_timeout TO {int(PATIENCE * 1000)}"))
                    connection.execute(self._begun)  # the lock is free: the other transaction has ended
                    return bool(connection.execute(sa.select(sa.func.txid_status(number))).scalar() == "committed")
            except sa.exc.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    @contextmanager
    def failing(self, kind: type[InputError] | type[OutputError], fact: str) -> Iterator[None]:
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            reason = _reason(error)
            if kind is InputError and reason.startswith("file is not a database"):
                raise self._not_one(self.name) from error
            if kind is OutputError and isinstance(error, sa.exc.DBAPIError) and self._lost(error):
                kind = LostError
            raise kind(self.name, f"{fact} ({reason}).", hint=_hint(reason)) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, CranfieldError) or not self._is_damaged():
                raise
            raise kind(self.name, f"{fact} (it contains values that cannot be there).", hint=DAMAGED) from error

    def _is_damaged(self) -> bool:
        """Whether a file contains what no store writes; only asked if reading it failed."""
        if self._url is not None:
            return False
        try:
            with self._engine.connect() as connection:
                return connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok" or any(
                    connection.execute(sa.select(sa.literal(1)).where(self._schema.impossible(table)).limit(1)).first()
                    for table in self._schema.metadata.sorted_tables
                )
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError):
            return True

    def _check_tables(self, connection: sa.Connection) -> None:
        """Refuse what may compute rows without an end, or change others: a file that others made may contain it."""
        made = connection.exec_driver_sql(
            "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
        ).first()
        if made is not None:
            fact = f"it contains the {made[0]} {made[1]!r:.60}, where a {self._schema.word} contains only tables."
            raise InputError(self.name, fact, hint="only open stores that cranfield made")

    def _not_one(self, name: str) -> InputError:
        return InputError(name, f"this is not a {self._schema.called}.", hint=self._schema.making)

    def _lost(self, error: sa.exc.DBAPIError) -> bool:
        """Whether a connection broke, or there was none: without a statement, an error is one of connecting."""
        return self._url is not None and (error.connection_invalidated or error.statement is None)

    @contextmanager
    def only_one(self, doing: str) -> Iterator[Hold]:
        """Keep other processes from doing the same to the database; one that was killed no longer counts."""
        if self._url is None:
            file = Path(self._where).resolve()
            beside = file.with_name(f"{file.name}-{hashlib.sha256(doing.encode()).hexdigest()[:8]}")
            with locked(beside, doing, name=self.name, hint=_ONE_AT_A_TIME):
                try:
                    yield Hold(self.name, doing)
                finally:
                    with suppress(OSError):  # Windows cannot remove an open file
                        beside.unlink()
            return
        with ExitStack() as held:
            with self.failing(InputError, "cannot be read"):
                connection = held.enter_context(self._engine.connect())
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                schema = connection.execute(sa.select(sa.func.current_schema())).scalar_one()
                key = int.from_bytes(hashlib.sha256(f"{schema} {doing}".encode()).digest()[:8], signed=True)
                taken, session = connection.execute(
                    sa.select(sa.func.pg_try_advisory_lock(key), sa.func.pg_backend_pid())
                ).one()
            if not taken:
                raise OutputError(self.name, f"another process is {doing}.", hint=_ONE_AT_A_TIME)
            try:
                yield Hold(self.name, doing, connection, session)
            finally:
                try:
                    connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
                except sa.exc.SQLAlchemyError:  # the lock went with the connection
                    connection.invalidate()

    def close(self) -> None:
        self._engine.dispose()
        if self._copy is not None:
            self._copy.cleanup()


def address(where: str, schema: Schema) -> sa.URL | None:
    if "://" not in where or os.path.exists(where):
        return None
    try:
        url = sa.make_url(where)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(where.partition("@")[2] or where, "this is not a URL of a database.", hint=_URLS) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        fact = f"a {schema.word} is a file or in PostgreSQL."
        raise InputError(url.render_as_string(hide_password=True), fact, hint=_URLS)
    return url.set(drivername="postgresql+psycopg")


_ONE_AT_A_TIME = "wait for it to end"
_URLS = "give a path, or postgresql+psycopg://user:password@host/database"


def _sqlite(schema: Schema, path: str, read_only: bool) -> sa.Engine:
    uri = Path(path).absolute().as_uri() + (_mode(path) if read_only else "")

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.row_factory = None if schema.has_bytes else _without_bytes
        for name, function in schema.functions.items():
            connection.create_function(name, 1, function, deterministic=True)
        connection.execute("PRAGMA cache_size=-65536")
        connection.execute("PRAGMA query_only=ON" if read_only else "PRAGMA journal_mode=WAL")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.pool.QueuePool, pool_size=20)

    def begin(connection: sa.Connection) -> None:
        # Python's driver would begin only with the first change: too late to keep others from writing.
        synchronous = connection.get_execution_options().get("synchronous")
        if synchronous:  # with NORMAL, a power failure could lose the last grades
            connection.exec_driver_sql(f"PRAGMA synchronous={synchronous}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if synchronous else "BEGIN")

    sa.event.listen(engine, "begin", begin)
    return engine


def _without_bytes(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of values without bytes; SQLite keeps bytes in a column of any type."""
    if bytes in map(type, row):
        raise ValueError("bytes in a row")
    return row


def _mode(path: str) -> str:
    """How to open a file that is only read. Where nothing can be written, SQLite has no place for its shared memory."""
    if not os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
        return "?mode=ro" if os.path.exists(f"{path}-wal") else "?immutable=1"
    # With write access nothing is left behind: SQLite removes its extra files when it closes.
    return "?mode=rw" if os.access(path, os.W_OK) else "?mode=ro"


def _reason(error: sa.exc.SQLAlchemyError) -> str:
    cause = getattr(error, "orig", None) or error
    text = (str(cause).splitlines() or [type(cause).__name__])[0]  # further lines are PostgreSQL's own hints
    return text[:1].lower() + text[1:].rstrip(".")


def _hint(reason: str) -> str:
    hints = {
        "disk is full": "make room on the disk; everything saved before is still there",
        "readonly database": "the file or its folder cannot be written; change its permissions, or copy it",
        "database is locked": "another process has been writing for a long time; try again",
        "unable to open": "does its folder exist, and is it writable?",
        "disk image is malformed": DAMAGED,
    }
    return next((hint for sign, hint in hints.items() if sign in reason), "")
