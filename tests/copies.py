"""A world as the database of an engine, with the types that people declare there, and what runs forms over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import unquote

import duckdb
import psycopg
import pyarrow
from sqlalchemy import MetaData, create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from dualparse.database.location import locate
from dualparse.database.model import ISO, NATIVE, Database, Link, Property, Relation
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import model_of, write_database
from dualparse.domains.intervals import text as date_text
from dualparse.domains.plain import schema_of
from dualparse.domains.results import plain_value
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.lf.values import Value

ENGINES = ("sqlite", "duckdb", "postgresql")
_TYPES = {"number": "DOUBLE PRECISION", "text": "TEXT", "date": "DATE", "time": "TIME", "boolean": "BOOLEAN"}
_numbers = count()


def copied_file(path: Path, engine: str, folder: Path, server: str = "") -> str:
    """A SQLite file as a database of another engine, with its keys and the types that people declare there; its URL."""
    tables = _tables_of(path)
    if engine == "duckdb":
        place = folder / f"{path.stem}.duckdb"
        with duckdb.connect(str(place)) as made:
            for name, declared, columns in tables:
                made.execute(declared)
                rows = pyarrow.table(columns)
                for piece in rows.to_batches(max_chunksize=1 if len(rows) < 100 else None):  # the boss before the staff
                    made.from_arrow(pyarrow.Table.from_batches([piece])).insert_into(name)
        return f"duckdb:///{place}"
    _on_server(server, f"CREATE DATABASE {path.stem}")
    with psycopg.connect(f"{server}/{path.stem}") as connection, connection.cursor() as cursor:
        for name, declared, columns in tables:
            cursor.execute(declared)
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(
                f"INSERT INTO {_quoted(name)} VALUES ({marks})", list(zip(*columns.values(), strict=True))
            )
    return f"{server}/{path.stem}"


def _tables_of(path: Path) -> list[tuple[str, str, dict[str, list[object]]]]:
    """The tables of a SQLite file: name, statement that makes it (DuckDB reads PostgreSQL's), and columns."""
    tables, dialect = MetaData(), postgresql.dialect()
    engine = create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    tables.reflect(engine)
    found = []
    with closing(engine.connect()) as connection:
        for table in tables.sorted_tables:
            for column in table.columns:
                column.type, column.autoincrement = column.type.as_generic(), False
            rows = connection.execute(table.select()).all()
            columns = {c.name: [row[place] for row in rows] for place, c in enumerate(table.columns)}
            found.append((table.name, str(CreateTable(table).compile(dialect=dialect)), columns))
    engine.dispose()
    return found


@contextmanager
def in_database(
    made: World, schema: Schema, engine: str, folder: Path, *, server: str = "", storage: str = NATIVE
) -> Iterator[Runner]:
    """Runs forms over a world in a database of its own, which goes afterwards. `server` is the URL of PostgreSQL; dates
    are stored as such, or as text."""
    name = f"world{next(_numbers)}"
    place = f"{server}/{name}" if engine == "postgresql" else f"{engine}:///{folder / name}"
    if engine == "sqlite":
        model = write_database(made, folder / name, schema)
    elif engine == "duckdb":
        with duckdb.connect(str(folder / name)) as connection:
            model = copied(made, schema, "duckdb", connection.execute, storage)
    else:
        _on_server(server, f"CREATE DATABASE {name}")
        with psycopg.connect(place) as connection:
            model = copied(made, schema, "postgres", connection.execute, storage)
    with open_source(locate(place)) as source:
        yield Runner(source, model)
    if engine == "postgresql":
        _on_server(server, f"DROP DATABASE {name}")
    else:
        (folder / name).unlink()


def _on_server(server: str, statement: str) -> None:
    with closing(psycopg.connect(f"{server}/postgres", autocommit=True)) as connection:
        connection.execute(statement)


def copied(
    made: World,
    schema: Schema,
    dialect: str,
    execute: Callable[..., object],
    storage: str,
    *,
    named: Callable[[str], str] = str,
) -> Database:
    """The tables of a world, filled; their model. `named` tells what tables and columns are called there."""
    model = _named(model_of(schema_of(made, schema)), dialect, storage, named)
    mark, labels = "%s" if dialect == "postgres" else "?", labels_of(made)
    for table in model.tables:
        own = [part for part in table.parts if part.link is None]
        linked = [part for part in table.parts if part.link is not None]
        columns = "".join(f", {_quoted(_column(part))} {_type(part, storage)}" for part in own)
        key, label = _quoted(table.key[0]), _quoted(table.label[0])
        execute(f"CREATE TABLE {_quoted(table.source[0])} ({key} TEXT PRIMARY KEY, {label} TEXT{columns})")
        for part in linked:
            columns = f"{_quoted(part.link.owner[0])} TEXT, {_quoted(_column(part))} {_type(part, storage)}"
            execute(f"CREATE TABLE {_quoted(part.link.source[0])} ({columns})")
        for thing in made.instances(table.name):
            key = _key(thing)
            told = {
                part.name: [_stored(found, storage) for found in facts(made, thing, part.name)] for part in table.parts
            }
            row = [key, labels[thing.id], *[next(iter(told[part.name]), None) for part in own]]
            execute(f"INSERT INTO {_quoted(table.source[0])} VALUES ({', '.join([mark] * len(row))})", row)
            for part in linked:
                for found in told[part.name]:
                    execute(f"INSERT INTO {_quoted(part.link.source[0])} VALUES ({mark}, {mark})", [key, found])
    return model


def _named(model: Database, dialect: str, storage: str, named: Callable[[str], str]) -> Database:
    """The model of a world as an engine has it."""

    def linked(link: Link | None) -> Link | None:
        return link and replace(link, source=(named(link.source[0]),), owner=(named(link.owner[0]),))

    tables = [
        replace(
            table,
            source=(named(table.source[0]),),
            key=(named(table.key[0]),),
            label=(named(table.label[0]),),
            properties=tuple(
                replace(part, storage=storage, column=named(part.column), link=linked(part.link))
                for part in table.properties
            ),
            relations=tuple(
                replace(part, columns=(named(part.columns[0]),), link=linked(part.link)) for part in table.relations
            ),
        )
        for table in model.tables
    ]
    return Database(dialect, tuple(tables))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _key(thing: Value) -> str:
    return unquote(thing.id.rpartition(".")[2])


def labels_of(made: World) -> dict[str, str]:
    """What things are called in a database that is a copy."""
    return {thing.id: _key(thing).replace("_", " ") for type in made.types for thing in made.instances(type)}


def _column(part: Property | Relation) -> str:
    return part.columns[0] if isinstance(part, Relation) else part.column


def _type(part: Property | Relation, storage: str) -> str:
    if not isinstance(part, Property) or (part.kind == "date" and storage == ISO):
        return "TEXT"
    return _TYPES[part.kind]


def facts(made: World, thing: Value, label: str) -> Sequence[Value]:
    """The values of a property that a thing has."""
    told = made.properties.get(label)
    return told.values.get(thing, ()) if told else ()


def _stored(found: Value, storage: str) -> object:
    if found.startswith("(number"):
        return found.degree
    if found.startswith("(boolean"):
        return True
    if found.startswith("(date") and storage == ISO:
        return date_text(int(found.degree or 0))
    return _key(found) if found.id else plain_value(found, {})
