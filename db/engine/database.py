"""Opening a database: connection settings, file locks, a schema that is older.

SQLite runs in WAL mode with `synchronous=NORMAL`: a killed process loses nothing, a power cut may lose the last
transactions but never damages the file. Transactions are begun explicitly (BEGIN IMMEDIATE for the writer), because the
driver's own habit of beginning late would let another writer in between a read and a write.
"""

from __future__ import annotations

import errno
import logging
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchTableError
from sqlalchemy.pool import QueuePool

from .errors import LACKS_A_PART, DatabaseGone, DatabaseProblem, InUse, Unavailable, Unwritable, WrongDatabase, classify
from .locks import AdvisoryLock
from .migration import SCHEMA, is_being_copied, keep_copy, migrate, refuse_beside_runs, schema_of

logger = logging.getLogger(__name__)

T = TypeVar("T")
Query = Callable[[Connection], T]
ReadConnection = Connection

_FILES = (".db", ".sqlite", ".sqlite3")
"""Endings of paths that are taken for a SQLite file, whether there is one or not."""
_MAGIC = b"SQLite format 3\0"
_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_PASSWORD = re.compile(r":(?!/).*@")
_SQLITE_BUSY_MS = 2_000
_LOCK_SECONDS = 5
_LONGEST_START = 60.0
_TURN_SECONDS = 0.1
_FROZEN_SECONDS = 8
_OLDEST_POSTGRES = 12
_PORTS = 1 << 16
_OLDEST_SQLITE = (3, 35)
_READER_CACHE_KB, _WRITER_CACHE_KB = 4 << 10, 12 << 10
"""Per connection; it grows with the file, and the system caches the file as well."""


NEXT_URL = re.compile(r"[\s,]+(?=[a-z][a-z0-9+]*://)", re.IGNORECASE)
"""Separates two URLs; the path of a file, or a URL of several hosts, may contain commas and spaces."""


def parse_url(database_url: str) -> URL:
    """Read a `DATABASE_URL`, or the path of a SQLite file.

    Whatever driver it names, psycopg is used for Postgres and Python's own for SQLite.

    Raises:
        WrongDatabase: the URL cannot be read or names a database other than SQLite or Postgres.
    """
    if NEXT_URL.search(database_url):
        raise WrongDatabase(
            "DATABASE_URL names several databases, and this works on one at a time; name one: -s DATABASE_URL=URL"
        )
    if "://" not in database_url and (database_url.lower().endswith(_FILES) or Path(database_url).is_file()):
        return URL.create("sqlite", database=database_url)
    try:
        url = make_url(database_url)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise WrongDatabase(
            f"DATABASE_URL {without_password(database_url)!r} is no database URL; use sqlite:///news.db or postgresql://user:password@host/name"
        ) from None
    if url.get_backend_name() not in _DRIVERS:
        raise WrongDatabase(f"DATABASE_URL names {url.get_backend_name()!r}; SQLite and Postgres are supported")
    url = url.set(drivername=_DRIVERS[url.get_backend_name()])
    if url.get_backend_name() == "sqlite" and (not url.database or url.database == ":memory:" or url.query.get("uri")):
        raise WrongDatabase("DATABASE_URL names no file; use sqlite:///news.db")
    if "@" in (url.host or ""):
        raise WrongDatabase("DATABASE_URL has more than one @; write it as %40 in user and password")
    if url.port is not None and not 0 < url.port < _PORTS:
        raise WrongDatabase(f"DATABASE_URL names port {url.port}, and there is none; Postgres usually has 5432")
    return url


def is_database(name: str) -> bool:
    """Tell whether a URL or path names a database: SQLite files by name or content."""
    if "://" in name or name.lower().endswith(_FILES):
        return True
    try:
        with open(name, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def whole_url(database_url: str) -> str:
    """Return a `DATABASE_URL` that means the same in any folder, with its password."""
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite":
        url = url.set(database=str(Path(_name(url)).absolute()))
    return url.render_as_string(hide_password=False)


def without_password(database_url: str) -> str:
    """Hide the password in what was meant for a database URL.

    >>> without_password("postgresql://me:secret@host:port/name?sslmode=require")
    'postgresql://me:***@host:port/name'
    """
    return _PASSWORD.sub(":***@", database_url.partition("?")[0])


class Database:
    """An opened database; `name` is its file path, or its URL without the password.

    Every method that reads or writes raises `DatabaseProblem` when the database does not answer or cannot be written.
    """

    def __init__(self, engine: Engine, name: str, lock: IO[str] | None) -> None:
        self.engine = engine
        self.name = name
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._lock = lock

    def connect_writer(self) -> Connection:
        connection = self.engine.connect().execution_options(writer=True)
        if self.is_sqlite:
            # past SQLAlchemy, which would begin a transaction for it
            connection.connection.cursor().execute(f"PRAGMA cache_size=-{_WRITER_CACHE_KB}")
        return connection

    @contextmanager
    def writing(self, connection: Connection) -> Iterator[None]:
        try:
            with connection.begin():
                yield
        except DBAPIError as error:
            problem = classify(error, self.name)
            if problem is None:
                raise
            raise problem from error

    def read(self, query: Query[T]) -> T:
        try:
            with self.engine.connect() as connection:
                return query(connection)
        except DBAPIError as error:
            raise classify(error, self.name) or error from error

    @contextmanager
    def reading_only(self) -> Iterator[Connection]:
        """Open a connection that cannot write, as of its first read."""
        try:
            with self.engine.connect() as connection:
                # on Postgres for the transaction, on SQLite until it is taken back
                once = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
                connection.exec_driver_sql("PRAGMA query_only = ON" if self.is_sqlite else once)
                try:
                    yield connection
                finally:
                    if self.is_sqlite:
                        connection.exec_driver_sql("PRAGMA query_only = OFF")
        except DBAPIError as error:
            raise classify(error, self.name) or error from error

    def write(self, query: Query[T]) -> T:
        with self.engine.connect().execution_options(writer=True) as connection, self.writing(connection):
            return query(connection)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        try:
            with self.engine.connect() as connection:
                yield connection
                connection.commit()
        except DBAPIError as error:
            raise classify(error, self.name) or error from error

    def keep_crawls_away(self) -> None:
        """Lock the file as a crawl does; `WrongDatabase` if one is running on it.

        Postgres has no such lock: a run there is known by its row in `run`.
        """
        if self.is_sqlite and self._lock is None:
            self._lock = _lock_file(Path(self.name))

    def close(self) -> None:
        if self._lock:
            self._fold_log()
        self.engine.dispose()
        if self._lock:
            self._lock.close()
            self._lock = None

    def _fold_log(self) -> None:
        """Move the log into the file, for people who copy the file alone."""
        with suppress(DBAPIError, sqlite3.Error), closing(self.engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")


def open_for_crawl(
    database_url: str,
    *,
    patience_seconds: float = _LONGEST_START,
    waiting: Callable[[str], None] = lambda _: None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Database:
    """Open (or create) a crawl's database, and take the SQLite file's lock.

    An earlier schema is brought up to date, and a copy of the SQLite file kept. A locked or silent database is waited
    for, a minute at most; `waiting` is called once with a sentence that says why, `goes_on` every few seconds: False
    ends it.

    Raises:
        WrongDatabase: it cannot be used: foreign, of another version, read-only, or in use by another crawl.
        DatabaseGone: it does not answer, or its disk is full.
    """
    url = parse_url(database_url)
    name = _name(url)
    lock = _wait_for_lock(Path(name), goes_on) if url.get_backend_name() == "sqlite" else None
    database = Database(_engine(url), name, lock)
    patience_seconds = min(patience_seconds, _LONGEST_START)
    deadline = time.monotonic() + patience_seconds
    is_announced = False
    try:
        while True:
            try:
                _prepare(database)
            except Unavailable as problem:
                if not goes_on():
                    raise DatabaseGone(f"{problem}; stopped waiting, nothing is lost") from problem
                if time.monotonic() > deadline:
                    raise DatabaseGone(
                        f"{problem}; gave up after {patience_seconds:.0f} s, nothing is lost"
                    ) from problem
                if not is_announced:
                    waiting(f"{problem}; waiting")
                    is_announced = True
                time.sleep(1)
            else:
                return database
    except DatabaseProblem as problem:
        database.close()
        raise _of_opening(problem) from problem.__cause__


def open_for_reading(database_url: str) -> Database:
    """Open an existing crawl database to look into it while a crawl may be running.

    Its connections never change a SQLite file. An earlier schema is brought up to date first, see `open_for_crawl`.

    Raises:
        WrongDatabase: there is none, or it is not one of this program.
        DatabaseGone: it cannot be read.
    """
    url = parse_url(database_url)
    name = _name(url)
    if url.get_backend_name() == "sqlite" and not Path(name).is_file():
        _refuse_folder(Path(name))
        raise WrongDatabase(f"there is no database {name} yet; run 'scrapy crawl news -a seeds=seeds.txt' first")
    database = Database(_reading_engine(url), name, None)
    try:
        schema = database.read(lambda connection: schema_of(connection, name))
        if schema is None:
            raise WrongDatabase(f"{name} holds no crawl yet; run 'scrapy crawl news -a seeds=seeds.txt' first")
        if schema != SCHEMA:
            _bring_up_to_date(database_url, database)
    except DatabaseProblem as problem:
        database.close()
        raise _of_opening(problem) from problem.__cause__
    return database


def is_file(database_url: str) -> bool:
    """Tell whether a database is a SQLite file that exists."""
    url = parse_url(database_url)
    return url.get_backend_name() == "sqlite" and url.database is not None and Path(url.database).exists()


def open_beside_crawl(database_url: str) -> Database:
    """Open a database for short writes beside crawls; raises as `open_for_reading`."""
    open_for_reading(database_url).close()
    url = parse_url(database_url)
    return Database(_engine(url), _name(url), None)


def _bring_up_to_date(database_url: str, reader: Database) -> None:
    reader.engine.dispose()  # the last connection that can write folds the log, when no other is open
    try:
        open_for_crawl(database_url, patience_seconds=_LOCK_SECONDS).close()
    except InUse:
        # whoever has the lock: a crawl that has just done it, or one of an older version
        if reader.read(lambda connection: schema_of(connection, reader.name)) != SCHEMA:
            raise WrongDatabase(
                f"a crawl of an older version is running on {reader.name}; stop it, and the file is brought up to date"
            ) from None
    except DatabaseProblem as problem:
        raise type(problem)(
            f"{problem} (its tables are of an older version, and are brought up to date first)"
        ) from problem


def _of_opening(problem: DatabaseProblem) -> DatabaseProblem:
    return WrongDatabase(str(problem)) if isinstance(problem, Unwritable) else problem


def interrupt(connection: ReadConnection) -> None:
    with suppress(Exception):  # it may have ended, or be closed
        driver: Any = connection.connection.driver_connection
        (driver.interrupt if connection.dialect.name == "sqlite" else driver.cancel)()


def _name(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        assert url.database is not None  # parse_url saw to it
        return url.database
    shown = url.set(drivername="postgresql").difference_update_query(["password", "sslpassword"])
    return shown.render_as_string(hide_password=True)


def _reading_engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        return _postgres_engine(url)
    file = f"{Path(_name(url)).resolve().as_uri()}?mode=ro"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            file, timeout=_SQLITE_BUSY_MS / 1000, isolation_level=None, check_same_thread=False, uri=True
        )
        for pragma in (f"cache_size=-{_READER_CACHE_KB}", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, hide_parameters=True)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _engine(url: URL) -> Engine:
    """Create an engine whose errors do not quote parameters, which may be whole pages."""
    if url.get_backend_name() == "postgresql":
        return _postgres_engine(url)
    engine = create_engine(
        url, hide_parameters=True, connect_args={"timeout": _SQLITE_BUSY_MS / 1000, "check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun by _begin below
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            f"cache_size=-{_READER_CACHE_KB}",
            "temp_store=MEMORY",
            "wal_autocheckpoint=4000",  # one of 64 MB would hold up pages for a quarter of a second
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writer") else "BEGIN")

    return engine


def _postgres_engine(url: URL) -> Engine:
    """Create an engine that notices a dead network and never blocks others long."""
    alive = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout": 10, **alive},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            # a prepared plan made while a table was small would read all of it for ever
            cursor.execute("SET enable_seqscan = off")
            cursor.execute("SET jit = off")  # none of our statements runs as long as compiling it takes
            cursor.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
            # a process that was frozen inside a transaction loses it, and with it the locks that others wait for
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{_FROZEN_SECONDS}s'")
        connection.commit()

    return engine


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise WrongDatabase(f"{path} is a folder; name a file in DATABASE_URL, e.g. sqlite:///{path}/news.db")


def _wait_for_lock(path: Path, goes_on: Callable[[], bool]) -> IO[str]:
    """Lock a SQLite file; wait for a process that is bringing it up to date."""
    deadline = time.monotonic() + _LONGEST_START
    while True:
        try:
            return _lock_file(path)
        except InUse:
            is_waited_for = goes_on() and (is_being_copied(path) or time.monotonic() < deadline)
            if not is_waited_for or not _is_older(path):
                raise
        time.sleep(_TURN_SECONDS)


def _is_older(path: Path) -> bool:
    database = Database(_reading_engine(parse_url(str(path))), str(path), None)
    try:
        return database.read(lambda connection: schema_of(connection, str(path))) not in {None, SCHEMA}
    except DatabaseProblem:
        return False
    finally:
        database.close()


def _lock_file(path: Path) -> IO[str]:
    """Lock a SQLite file by the operating system; the lock ends with the process."""
    _refuse_folder(path)
    if not path.parent.is_dir():
        raise WrongDatabase(f"there is no folder {path.parent}; make it, or name another in DATABASE_URL")
    try:
        handle = path.with_name(path.name + ".lock").open("a")
    except OSError as error:
        passes = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE}
        raise (DatabaseGone if passes else WrongDatabase)(
            f"{path} cannot be opened for writing ({error.strerror}); make its folder writable, or name another in "
            "DATABASE_URL"
        ) from error
    try:
        _lock_at_once(handle)
    except OSError:
        handle.close()
        raise InUse(
            f"another crawl is running on {path}; wait for it, stop it, or name another file in DATABASE_URL"
        ) from None
    return handle


def _lock_at_once(handle: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415 - there is none on Windows

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _check_server(connection: Connection, name: str) -> None:
    version = connection.dialect.server_version_info or ()
    if connection.dialect.name == "sqlite":
        if version < _OLDEST_SQLITE:
            raise WrongDatabase(f"{name}: SQLite {_dotted(version)} is too old; {_dotted(_OLDEST_SQLITE)} is needed")
        return
    if version < (_OLDEST_POSTGRES,):
        raise WrongDatabase(f"{name}: PostgreSQL {_dotted(version)} is too old; {_OLDEST_POSTGRES} or newer is needed")
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise WrongDatabase(
            f"{name} keeps text as {encoding}; create the database with ENCODING 'UTF8' TEMPLATE template0"
        )


def _dotted(version: tuple[object, ...]) -> str:
    return ".".join(map(str, version))


def _prepare(database: Database) -> None:
    name = database.name
    done = ""
    try:
        with database.engine.connect().execution_options(writer=True) as connection, connection.begin():
            if not database.is_sqlite:
                AdvisoryLock.MIGRATION.take(connection)
            _check_server(connection, name)
            schema = schema_of(connection, name)
            if schema is not None and schema != SCHEMA:
                refuse_beside_runs(connection, name)
                done = f"{name} was brought from schema {schema} to {SCHEMA}"
                if database.is_sqlite:
                    done += f"; the file as it was is kept in {keep_copy(Path(name), schema)}"
            if schema != SCHEMA:
                migrate(connection)
                schema_of(connection, name)  # else it was no schema of that number
    except DBAPIError as error:
        words = str(error.orig).strip().partition("\n")[0]
        problem = classify(error, name)
        raise problem or WrongDatabase(f"{name} cannot be used ({words}); nothing was changed in it") from error
    except NoSuchTableError as error:
        raise WrongDatabase(LACKS_A_PART.format(where=name, text=error)) from error
    except (OSError, sqlite3.Error) as error:
        raise WrongDatabase(
            f"{name} has to be brought up to date, and no copy of it can be kept beside it ({error}); nothing was "
            "changed"
        ) from error
    if done:
        logger.warning("%s", done)
