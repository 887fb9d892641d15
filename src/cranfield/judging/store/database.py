"""The database of a store: SQLite by path, PostgreSQL by URL; transactions, and their failures as our errors."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar, cast

import sqlalchemy as sa

from cranfield.errors import CranfieldError, InputError, OutputError, either, near_file, need
from cranfield.io.formats.store import HEAD
from cranfield.io.target import locked
from cranfield.judging.store.events import time_of
from cranfield.judging.store.schema import METADATA, VERSION, create_tables, impossible, migrate, version_of

# It would print tracebacks of broken connections to a terminal; we raise errors of our own.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())

Made = TypeVar("Made")


@dataclass(eq=False)
class _PendingChange(Generic[Made]):
    what: str
    make: Callable[[sa.Connection], Made]
    lasting: bool
    called: threading.Event = field(default_factory=threading.Event)  # it is done, or its thread must lead
    done: bool = False
    left: bool = False  # its thread was interrupted and no longer waits
    result: Made | None = None
    error: Exception | None = None


class LostError(OutputError):
    """The connection broke before anything was saved: the change can be made again."""


class UnknownError(OutputError):
    """The connection broke while a change was being saved, and the server no longer says whether it was."""


class SharedCommits:
    """Runs changes, each on disk when its call returns. A change that shared a failed transaction runs again, alone.

    So does one that lost its connection, once. A change that may have been saved is never run again.

    The first thread leads: it makes all waiting changes, its own among them, and then passes the lead to the thread
    that has waited longest. So no thread waits for more than two transactions.

    writing: opens a transaction for something that is lost if it fails, on disk at its end or not
    """

    def __init__(self, writing: Callable[[str, bool], AbstractContextManager[sa.Connection]]) -> None:
        self._writing = writing
        self._lock = threading.Lock()
        self._waiting: deque[_PendingChange[Any]] = deque()
        self._led = False

    def run(self, what: str, make: Callable[[sa.Connection], Made], *, lasting: bool = True) -> Made:
        """Make a change; its result, or its error. One that is not `lasting` may be lost in a power failure."""
        mine = _PendingChange(what, make, lasting)
        leads = False
        try:
            with self._lock:
                self._waiting.append(mine)
                leads, self._led = not self._led, True
            if not leads:
                mine.called.wait()
            if not mine.done:
                leads = True
                self._make_all()
        finally:
            with self._lock:
                leads = leads or (mine.called.is_set() and not mine.done)  # called while it was being interrupted
                mine.left = True
                if mine in self._waiting:
                    self._waiting.remove(mine)
                if leads and self._waiting:
                    self._waiting[0].called.set()
                elif leads:
                    self._led = False
        if mine.error is not None:
            raise mine.error
        return cast("Made", mine.result)

    def _make_all(self) -> None:
        with self._lock:
            changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            self._make(changes)
        finally:  # the others still get their turn if this thread is interrupted
            with self._lock:
                self._waiting.extendleft(change for change in reversed(changes) if not (change.done or change.left))

    def _make(self, changes: Sequence[_PendingChange[Any]], *, again: bool = True) -> None:
        try:
            with self._writing(changes[0].what, any(change.lasting for change in changes)) as connection:
                results = [change.make(connection) for change in changes]
        except Exception as error:
            if len(changes) > 1 and not isinstance(error, UnknownError):
                for change in changes:  # one failed, and the others with it: each is tried alone, for its own error
                    self._make([change])
                return
            if again and isinstance(error, LostError):
                self._make(changes, again=False)
                return
            results = [None] * len(changes)
            for change in changes:
                change.error = error
        for change, result in zip(changes, results, strict=True):
            change.result, change.done = result, True
            change.called.set()


LONGEST_VALUE = 1 << 26  # bytes: a text of a document, at most
PATIENCE = 30.0  # seconds to wait for another process that is writing

_LOCK = 7_235_010_419  # PostgreSQL's lock for writing to a store
_BEGUN = sa.select(sa.func.txid_current(), sa.func.pg_advisory_xact_lock(_LOCK))


class Hold:
    """The right to do something to a store alone: until the process ends, or until its connection breaks."""

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
    """Connections to one store. Others see a transaction completely, or not at all."""

    def __init__(self, where: str, *, create: bool = False, read_only: bool = False) -> None:
        self._where, self._url = where, address(where)
        self.name = where if self._url is None else self._url.render_as_string(hide_password=True)
        self.read_only = read_only
        self._copy: TemporaryDirectory[str] | None = None  # of a store of an older version, to read
        self.commits = SharedCommits(self.writing)
        self._writing = threading.Lock()  # threads of one process take turns without SQLite's polling
        if self._url is None:
            self._check_file(where, create)
            self._engine = _sqlite(where, read_only)
        else:
            need("psycopg", purpose="a store in PostgreSQL", extra="postgres")
            patience = {"connect_timeout": int(PATIENCE)}
            self._engine = sa.create_engine(self._url, pool_pre_ping=True, pool_size=20, connect_args=patience)
        try:
            self._prepare(create)
        except CranfieldError:
            self.close()
            raise

    def _check_file(self, path: str, create: bool) -> None:
        if os.path.isdir(path):
            raise InputError(path, "this is a folder.", hint="name a file, such as judgments.db")
        if not os.path.exists(path):
            if not create:
                raise InputError(path, "there is no such store.", hint=near_file(path) or _MAKING)
            return
        try:
            with open(path, "rb") as file:
                head = file.read(len(HEAD))
        except OSError as error:
            raise InputError(path, f"cannot be read: {(error.strerror or str(error)).lower()}.") from None
        if head != HEAD and not (create and not head):  # SQLite would make an empty file its own
            raise _no_store(path)

    def _prepare(self, create: bool) -> None:
        with self.reading() as connection:
            if self._url is None:
                _check_tables(connection, self.name)
            elif views := sorted({*sa.inspect(connection).get_view_names()} & {*METADATA.tables}):  # it may never end
                raise InputError(self.name, f"'{views[0]}' is a view in it, not a table.", hint=_DAMAGED)
            version = version_of(connection, self.name)
            empty = version is None and not sa.inspect(connection).get_table_names()
        if version == VERSION:
            return
        if version is None and not (create and (empty or self._url is not None)):
            raise _no_store(self.name)
        if self.read_only:
            self._read_a_newer_copy(version)
            return
        with self.writing("the store") as connection:
            version = version_of(connection, self.name)  # another process may have been faster
            if version is None:
                create_tables(connection)
            elif version < VERSION:
                migrate(connection, version)

    def _read_a_newer_copy(self, version: int | None) -> None:
        """Reading changes nothing: the tables of an older version are brought up to date in a copy of the file."""
        if self._url is not None:
            raise InputError(
                self.name,
                f"this store has version {version}; to be read, it must be changed to version {VERSION}.",
                hint="open it for judging once: cranfield judge …",
            )
        self._copy = TemporaryDirectory(prefix="cranfield-")
        path = os.path.join(self._copy.name, "judgments.db")
        with self.failing(InputError, "cannot be read"), self._engine.connect() as connection:
            source = connection.connection.driver_connection
            assert isinstance(source, sqlite3.Connection)
            with closing(sqlite3.connect(path)) as copy:
                source.backup(copy)
        self._engine.dispose()
        Database(path).close()
        self._engine = _sqlite(path, read_only=True)

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
            raise OutputError(self.name, f"{what}: not saved, because this store was opened read-only.")
        with self._writing, self.failing(OutputError, f"{what}: not saved"), self._engine.connect() as connection:
            if self._url is None:
                connection = connection.execution_options(synchronous="FULL" if lasting else "NORMAL")
            with connection.begin() as transaction:
                number = None
                if self._url is not None:
                    number = connection.execute(_BEGUN).scalar_one()
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
                    connection.execute(_BEGUN)  # the lock is free: the other transaction has ended
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
                raise _no_store(self.name) from error
            if kind is OutputError and isinstance(error, sa.exc.DBAPIError) and self._lost(error):
                kind = LostError
            raise kind(self.name, f"{fact} ({reason}).", hint=_hint(reason)) from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, CranfieldError) or not self._is_damaged():
                raise
            raise kind(self.name, f"{fact} (it contains values that cannot be there).", hint=_DAMAGED) from error

    def _is_damaged(self) -> bool:
        """Whether a file contains what no store writes; only asked if reading it failed."""
        if self._url is not None:
            return False
        try:
            with self._engine.connect() as connection:
                return connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok" or any(
                    connection.execute(sa.select(sa.literal(1)).where(impossible(table)).limit(1)).first()
                    for table in METADATA.sorted_tables
                )
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError):
            return True

    def _lost(self, error: sa.exc.DBAPIError) -> bool:
        """Whether a connection broke, or there was none: without a statement, an error is one of connecting."""
        return self._url is not None and (error.connection_invalidated or error.statement is None)

    @contextmanager
    def only_one(self, doing: str) -> Iterator[Hold]:
        """Keep other processes from doing the same to the store; one that was killed no longer counts."""
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


def address(where: str) -> sa.URL | None:
    if "://" not in where or os.path.exists(where):
        return None
    try:
        url = sa.make_url(where)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(where.partition("@")[2] or where, "this is not a URL of a database.", hint=_URLS) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise InputError(url.render_as_string(hide_password=True), "a store is a file or in PostgreSQL.", hint=_URLS)
    return url.set(drivername="postgresql+psycopg")


_ONE_AT_A_TIME = "wait for it to end"
_DAMAGED = "the file is damaged: restore it from a backup"
_MAKING = either("open_store(path, create=True)", "'cranfield pool'") + " makes one"
_URLS = "give a path, or postgresql+psycopg://user:password@host/database"


def _sqlite(path: str, read_only: bool) -> sa.Engine:
    uri = Path(path).absolute().as_uri() + (_mode(path) if read_only else "")

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.row_factory = _without_bytes
        connection.create_function("time_of", 1, lambda stored: str(time_of(stored)), deterministic=True)
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
    """A row of values that a store writes; SQLite keeps bytes in a column of any type."""
    if bytes in map(type, row):
        raise ValueError("bytes in a row")
    return row


def _mode(path: str) -> str:
    """How to open a file that is only read. Where nothing can be written, SQLite has no place for its shared memory."""
    if not os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
        return "?mode=ro" if os.path.exists(f"{path}-wal") else "?immutable=1"
    # With write access nothing is left behind: SQLite removes its extra files when it closes.
    return "?mode=rw" if os.access(path, os.W_OK) else "?mode=ro"


def _check_tables(connection: sa.Connection, name: str) -> None:
    """Refuse what may compute rows without an end, or change others: a store that others made may contain it."""
    made = connection.exec_driver_sql("SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')").first()
    if made is not None:
        fact = f"it contains the {made[0]} {made[1]!r:.60}, where a store contains only tables."
        raise InputError(name, fact, hint="only open stores that cranfield made")


def _no_store(name: str) -> InputError:
    return InputError(name, "this is not a store of judgments.", hint=_MAKING)


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
        "disk image is malformed": _DAMAGED,
    }
    return next((hint for sign, hint in hints.items() if sign in reason), "")
