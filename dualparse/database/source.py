"""A database opened for reading. In: a `Location`. Out: a `Source` that runs sqlglot expressions and gives rows.

Nothing is ever written: SQLite is opened read-only (a database with a write-ahead log that nobody has open is opened as
immutable, because SQLite would otherwise put files beside it) and asked about each statement before it runs, DuckDB
read-only and without any other file, PostgreSQL in read-only transactions. A view in a database that a stranger made
can therefore read that database and nothing else.
Whatever the engine has to say about a database that cannot be used becomes an `InputError` of one line. An engine is
loaded when a database of its kind is opened: together they would take longer than most questions.
"""

from __future__ import annotations

import atexit
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from sqlglot import exp

from dualparse.database.location import DUCKDB, POSTGRES, SQLITE, Location
from dualparse.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import psycopg

WAIT = 2.0  # seconds for a lock of somebody else
BATCH = 5_000  # rows that are fetched at once
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_LOOKING = frozenset(  # pragmas that tell of a schema
    [
        *("table_info", "table_xinfo", "table_list", "foreign_key_list", "index_list", "index_info", "index_xinfo"),
        *("database_list", "encoding", "data_version", "schema_version", "read_uncommitted"),
    ]
)
_DENIED = ("InsufficientPrivilege", "PermissionException")  # errors of PostgreSQL and DuckDB


class NoPermission(InputError):
    """The database may be opened, but this part of it may not be read."""


class TooSlow(InputError):
    """The database may be opened, but this part of it takes too long to read."""


class Source:
    """An open database; use it as a context manager. It belongs to one thread."""

    def __init__(self, location: Location, connection: Any, notes: Sequence[str] = ()):
        self.location, self.dialect, self.connection, self.notes = location, location.dialect, connection, tuple(notes)
        _open.add(self)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    def interrupt(self) -> None:
        """Stop what is running; may be called from any thread."""
        self.connection.cancel() if self.dialect == POSTGRES else self.connection.interrupt()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Stop what the block runs after so many seconds; `TooSlow` then."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self.interrupt()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except InputError:
            if late.is_set():
                raise TooSlow(f"not done within {seconds:g} seconds", path=self.location.path) from None
            raise
        finally:
            timer.cancel()

    def rows(self, query: exp.Expression, parameters: Sequence[object] = ()) -> list[tuple]:
        """All rows of a query."""
        return list(self.stream(query, parameters))

    def stream(self, query: exp.Expression, parameters: Sequence[object] = ()) -> Iterator[tuple]:
        """The rows of a query one by one; no more than a few thousand are in memory."""
        with explained(self.location):
            cursor = self._cursor(parameters)
            try:
                text = query.sql(dialect=self.dialect)
                cursor.execute(text, tuple(parameters)) if parameters else cursor.execute(text)
                while batch := cursor.fetchmany(BATCH):
                    yield from batch
            finally:
                cursor.close()
                if self.dialect == POSTGRES:  # an open transaction sees old counters and holds up the server's cleaning
                    self.connection.rollback()

    def _cursor(self, parameters: Sequence[object]) -> Any:
        if self.dialect == POSTGRES and not parameters:  # a cursor on the server: rows come as they are asked for
            return self.connection.cursor(name="dualparse")
        return self.connection.cursor()


_open: WeakSet[Source] = WeakSet()


@atexit.register
def _let_go() -> None:
    """Let go of what is open when the program ends: DuckDB complains of a connection that is there after that."""
    for source in list(_open):
        source.close()
        source.connection = None


def open_source(location: Location) -> Source:
    """Open a database for reading."""
    with explained(location):
        if location.dialect == SQLITE:
            return Source(location, _sqlite(location))
        if location.dialect == DUCKDB:
            connection, notes = _duckdb(location)
            return Source(location, connection, notes)
        return Source(location, _postgres(location))


def _sqlite(location: Location) -> sqlite3.Connection:
    assert location.path is not None
    path = location.path
    with path.open("rb") as stream:
        header = stream.read(100)
    log, shared = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    logged = header[18:20] == b"\x02\x02"
    open_log = logged and log.exists() and log.stat().st_size > 0
    if open_log and not shared.exists():
        raise InputError(
            f"{log.name} holds changes that were never taken over: open the database once with its program", path=path
        )
    immutable = "&immutable=1" if logged and not open_log else ""
    # A path may hold anything; as a URI it is safe from `?` and `#`.
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro{immutable}", uri=True, timeout=WAIT, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -20000")
        connection.execute("SELECT COUNT(*) FROM sqlite_master")  # a locked or damaged file speaks up now
        connection.set_authorizer(_only_reads)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _only_reads(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Whether SQLite may do a step of a statement: nothing but reading what is in the one file."""
    if action in _READING:
        return sqlite3.SQLITE_DENY if second == "load_extension" else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _LOOKING:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _duckdb(location: Location) -> tuple[duckdb.DuckDBPyConnection, list[str]]:
    import duckdb

    assert location.path is not None
    config: dict[str, Any] = {"memory_limit": "300MB", "threads": 2}
    if not location.tabular:
        alone = config | {"enable_external_access": False}
        connection = duckdb.connect(str(location.path), read_only=True, config=alone)
        _settle(connection)
        return connection, []
    from dualparse.database.tabular import views_of

    connection = duckdb.connect(config=config)
    try:
        notes = views_of(connection, location.path)
        _shut(connection, location.path)
        return connection, notes
    except (duckdb.Error, InputError):
        connection.close()
        raise


def _shut(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """From now on this connection reads no other files than these."""
    allowed = "allowed_directories" if path.is_dir() else "allowed_paths"
    place = exp.array(exp.Literal.string(f"{path}/" if path.is_dir() else str(path)))
    connection.execute(f"SET {allowed} = {place.sql(dialect=DUCKDB)}")
    connection.execute("SET enable_external_access = false")
    _settle(connection)


def _settle(connection: duckdb.DuckDBPyConnection) -> None:
    """Without an optimizer that gives wrong rows where a statement holds a part twice (duckdb/duckdb issues 24624 and
    25819); settings stay as they are from now on."""
    known = exp.select(exp.column("name")).from_(exp.func("duckdb_optimizers", dialect=DUCKDB)).sql(dialect=DUCKDB)
    if ("common_subplan",) in connection.execute(known).fetchall():
        connection.execute("SET disabled_optimizers = 'common_subplan'")
    connection.execute("SET lock_configuration = true")


def _postgres(location: Location) -> psycopg.Connection:
    import psycopg

    url = location.url
    assert url is not None
    options = " ".join([str(url.query.get("options", "")), "-c default_transaction_read_only=on"]).strip()
    told: dict[str, Any] = {key: value for key, value in url.query.items() if key != "options"}
    known = {"host": url.host, "port": url.port, "user": url.username, "password": url.password}
    given: dict[str, Any] = {key: value for key, value in known.items() if value is not None}
    connection = psycopg.connect(
        dbname=url.database or "", options=options, connect_timeout=5, application_name="dualparse", **given, **told
    )
    _take_any_date(connection)
    return connection


def _take_any_date(connection: psycopg.Connection) -> None:
    """Days that Python's calendar does not have: `infinity` is its last one, `-infinity` its first, as in DuckDB; one
    before Christ is not known."""
    from psycopg import DataError
    from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader

    def lenient(loader: Any, first: Any, last: Any) -> Any:
        def load(self: Any, data: Any) -> Any:
            try:
                return loader.load(self, data)
            except DataError:
                return {b"infinity": last, b"-infinity": first}.get(bytes(data))

        return type(loader.__name__, (loader,), {"load": load})

    connection.adapters.register_loader("date", lenient(DateLoader, date.min, date.max))
    connection.adapters.register_loader("timestamp", lenient(TimestampLoader, datetime.min, datetime.max))
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    connection.adapters.register_loader("timestamptz", lenient(TimestamptzLoader, first, last))


@contextmanager
def explained(location: Location) -> Iterator[None]:
    """Turn what an engine says into one line that tells what to do, without any secret of the location."""
    where = location.path or location.place
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=where) from None
    except engine_errors() as error:
        if type(error).__name__ not in _DENIED:
            raise InputError(_advice(_safe(error, location)), path=where) from None
        told = "a view over other files; connect those" if location.dialect == DUCKDB else _safe(error, location)
        raise NoPermission(f"no permission to read: {told}", path=where) from None


def engine_errors() -> tuple[type[Exception], ...]:
    """What the engines raise; one that was never loaded raises nothing."""
    loaded = [sys.modules[name] for name in ("duckdb", "psycopg") if name in sys.modules]
    return (sqlite3.Error, *(engine.Error for engine in loaded))


def _safe(error: Exception, location: Location) -> str:
    text = " ".join(str(error).split())
    url = location.url
    if url is not None and url.password:
        text = text.replace(str(url.password), "***")
    return text


_ADVICE = (  # what an engine says -> what to do about it
    ("database is locked", "locked by another program that is writing: wait for it, or close it, and try again"),
    ("could not set lock", "locked by another program that has it open: close it, and try again"),
    ("conflicting lock", "locked by another program that has it open: close it, and try again"),
    ("file is not a database", "not a readable SQLite file: it is encrypted or damaged"),
    ("malformed", "the database is damaged: restore it, or recover it with `sqlite3 FILE .recover`"),
    (
        "attempt to write a readonly",
        "holds changes of a program that died: open it once with its program, then try again",
    ),
    ("unable to open database file", "cannot be opened: no permission for the file or its folder"),
    ("permission denied", "no permission to read the file"),
    ("password authentication failed", "the server refuses the user or the password"),
    (
        "no password supplied",
        "the server wants a password: put the URL into an environment variable and write env:NAME",
    ),
    ("connection refused", "no server answers there: is it running, and are host and port right?"),
    ("could not translate host", "no such host: {}"),
    ("failed to resolve host", "no such host: {}"),
    ("invalid unicode", "the text is not UTF-8: convert the file, for example with iconv"),
    ("no such column", "{}: the database has changed, connect it again with `dualparse connect`"),
    ("no such table", "{}: the database has changed, connect it again with `dualparse connect`"),
    ("not found in from clause", "{}: the database has changed, connect it again with `dualparse connect`"),
    ("statement timeout", "the database took too long to answer"),
)


def _advice(text: str) -> str:
    lower = text.lower()
    for said, advice in _ADVICE:
        if said in lower:
            return advice.format(text)
    return f"the database says: {text[:300]}"
