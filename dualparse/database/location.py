"""Where a database is: what a user types in, a `Location` out that is safe to show and to store.

A place is a URL (`sqlite:///shop.sqlite`, `duckdb:///shop.duckdb`, `postgresql://host/shop`), a file, a folder of CSV
or Parquet files, or `env:NAME`, the name of an environment variable that holds one of these. A URL with a password is
taken from the environment only; the password is in no field of a `Location` that is shown, stored or compared.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from dualparse.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

SQLITE, DUCKDB, POSTGRES = "sqlite", "duckdb", "postgres"  # as sqlglot calls the dialects
CSV, PARQUET = (".csv", ".tsv", ".csv.gz", ".tsv.gz"), (".parquet",)
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
VARIABLE = "env:"
_FILES = (SQLITE, DUCKDB, "file")
_POSTGRES_NAMES = ("postgresql", "postgres")
_SECRET_WORDS = ("password", "passwd", "sslpassword", "token", "secret")


@dataclass(frozen=True)
class Location:
    """A database that can be opened.

    dialect   sqlite, duckdb or postgres; duckdb also reads CSV and Parquet files
    place     what a file of ours may say and a message may show: a URL without a password, or `env:NAME`
    path      the file or folder, where it is one
    tabular   whether `path` holds CSV or Parquet and no database
    url       what is connected to, where it is a server; it may hold a password and is never printed
    """

    dialect: str
    place: str
    path: Path | None = None
    tabular: bool = False
    url: URL | None = field(default=None, repr=False, compare=False)

    @property
    def title(self) -> str:
        """A short name for people: that of the file, the folder or the database on the server."""
        if self.path is not None:
            return self.path.name.partition(".")[0] or self.path.name
        return (self.url.database if self.url is not None else None) or self.dialect


def locate(text: str, *, base: Path | None = None) -> Location:
    """The location a user means; relative paths begin at `base`. A password that was typed is an error.

    >>> locate("postgresql://ann@db.example/shop").place
    'postgresql://ann@db.example/shop'
    >>> locate("postgresql://ann:pw@db.example/shop")
    Traceback (most recent call last):
        ...
    dualparse.errors.InputError: the URL holds a password: put it into an environment variable, such as SHOP_URL, and write env:SHOP_URL
    """  # noqa: E501
    if text.startswith(VARIABLE):
        name = text.removeprefix(VARIABLE)
        value = os.environ.get(name)
        if not value:
            raise InputError(f"the environment variable {name} is not set; it should hold the URL of the database")
        try:
            located = _locate(value, base)
        except InputError as error:  # without the path it may carry: what the variable holds may be a secret
            raise InputError(f"the environment variable {name} holds no place of a database: {error.message}") from None
        return Location(located.dialect, text, located.path, located.tabular, located.url)
    if "://" in text and not _is_plain(text) and _has_secret(_read_url(text)):
        raise InputError(
            "the URL holds a password: put it into an environment variable, such as SHOP_URL, and write env:SHOP_URL"
        )
    return _locate(text, base)


def _locate(text: str, base: Path | None) -> Location:
    if "://" not in text:
        return _file(Path(text), base)
    url = None if _is_plain(text) else _read_url(text)
    backend = url.drivername.partition("+")[0] if url is not None else text.partition("://")[0]
    if url is not None and backend in _POSTGRES_NAMES:
        return Location(POSTGRES, _without_secrets(url), url=url)
    if backend in _FILES:
        database = unquote(text.partition("://")[2].removeprefix("/").partition("?")[0])
        if not database or database == ":memory:":
            raise InputError(f"{backend}:// names no file; expected {backend}:///path or {backend}:////absolute/path")
        return _file(Path(database), base, wanted="" if backend == "file" else backend)
    raise InputError(
        f"{backend[:20]}: not one of sqlite, duckdb, postgresql, a file, or a folder of CSV or Parquet files"
    )


def _is_plain(text: str) -> bool:
    """Whether a URL is that of a file and no more: it is read without SQLAlchemy, which takes a while to load."""
    return text.startswith(tuple(f"{backend}:///" for backend in _FILES)) and "?" not in text


def _read_url(text: str) -> URL:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(text)
    except (ArgumentError, ValueError):  # the reader's own message repeats the URL, password and all
        raise InputError("not a URL of a database; expected such as postgresql://user@host:5432/name") from None


def _has_secret(url: URL) -> bool:
    return url.password is not None or any(key.lower() in _SECRET_WORDS for key in url.query)


def _without_secrets(url: URL) -> str:
    from sqlalchemy.engine import URL

    query = {key: value for key, value in url.query.items() if key.lower() not in _SECRET_WORDS}
    bare = URL.create(url.drivername, url.username, None, url.host, url.port, url.database, query)
    return bare.render_as_string(hide_password=False)


def _file(path: Path, base: Path | None, wanted: str = "") -> Location:
    path = Path(os.path.normpath((base or Path.cwd()) / path.expanduser()))
    try:
        path.stat()
    except FileNotFoundError:
        raise InputError("no such file or folder", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    kind = "" if path.is_dir() else file_kind(path)
    tabular = kind not in (SQLITE, DUCKDB)
    if wanted and kind != wanted:
        raise InputError(f"not a file of {wanted}", path=path)
    return Location(SQLITE if kind == SQLITE else DUCKDB, f"{'file' if tabular else kind}:///{path}", path, tabular)


def file_kind(path: Path) -> str:
    """What a file is, by its first bytes: sqlite, duckdb, csv or parquet; anything else is an error of one line."""
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    if head.startswith(b"SQLite format 3\0"):
        return SQLITE
    if head[8:12] == b"DUCK":
        return DUCKDB
    if head.startswith(b"PAR1"):
        return "parquet"
    if not head:
        raise InputError("the file is empty: it holds no database", path=path)
    if _ends(path, CSV):
        return "csv"
    raise InputError(
        "neither SQLite, DuckDB, Parquet nor CSV by its first bytes: "
        "it is encrypted or damaged, or of another kind; export it to one of these",
        path=path,
    )


def _ends(path: Path, endings: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(endings)


def tables_of_folder(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Name of a table -> its files: each CSV or Parquet file is a table, a folder of Parquet files is one as well."""
    found: dict[str, tuple[Path, ...]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        files: tuple[Path, ...] = (path,) if path.is_file() and _ends(path, CSV + PARQUET) else ()
        if path.is_dir():
            files = tuple(sorted(part for part in path.rglob("*.parquet") if part.is_file()))
        if files:
            name = path.name if path.is_dir() else path.name[: path.name.index(".", 1)]
            if name in found:
                raise InputError(
                    f"two files would be the table {name!r}: {found[name][0].name}, {path.name}", path=folder
                )
            found[name] = files
    if not found:
        held = next((path for path in sorted(folder.iterdir()) if _ends(path, DATABASES)), None)
        hint = f"; a database is connected by its file, such as {held.name}" if held else ""
        raise InputError(f"holds no CSV or Parquet file{hint}", path=folder)
    return found
