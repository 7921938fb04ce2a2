"""A world as the database of an engine, with the types that people declare there, and what runs forms over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

import duckdb
import psycopg

from dualparse.database.location import locate
from dualparse.database.model import ISO, NATIVE, Database, Property, Relation
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import KEY, LABEL, model_of, write_database
from dualparse.domains.intervals import text as date_text
from dualparse.domains.plain import schema_of
from dualparse.domains.results import plain_value
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.lf.values import Value

ENGINES = ("sqlite", "duckdb", "postgresql")
_TYPES = {"number": "DOUBLE PRECISION", "text": "TEXT", "date": "DATE", "time": "TIME", "boolean": "BOOLEAN"}
_numbers = count()


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
            model = _copied(made, schema, "duckdb", connection.execute, storage)
    else:
        _on_server(server, f"CREATE DATABASE {name}")
        with psycopg.connect(place) as connection:
            model = _copied(made, schema, "postgres", connection.execute, storage)
    with open_source(locate(place)) as source:
        yield Runner(source, model)
    if engine == "postgresql":
        _on_server(server, f"DROP DATABASE {name}")
    else:
        (folder / name).unlink()


def _on_server(server: str, statement: str) -> None:
    with closing(psycopg.connect(f"{server}/postgres", autocommit=True)) as connection:
        connection.execute(statement)


def _copied(made: World, schema: Schema, dialect: str, execute: Callable[..., object], storage: str) -> Database:
    """The tables of a world, filled; their model."""
    model = model_of(schema_of(made, schema))
    mark = "%s" if dialect == "postgres" else "?"
    for table in model.tables:
        own = [part for part in table.parts if part.link is None]
        linked = [part for part in table.parts if part.link is not None]
        columns = "".join(f', "{_column(part)}" {_type(part, storage)}' for part in own)
        execute(f'CREATE TABLE "{table.name}" ("{KEY}" TEXT PRIMARY KEY, "{LABEL}" TEXT{columns})')
        for part in linked:
            columns = f'"{part.link.owner[0]}" TEXT, "{_column(part)}" {_type(part, storage)}'
            execute(f'CREATE TABLE "{part.link.source[0]}" ({columns})')
        for thing in made.instances(table.name):
            key = thing.id.rpartition(".")[2]
            told = {
                part.name: [_stored(found, storage) for found in facts(made, thing, part.name)] for part in table.parts
            }
            row = [key, plain_value(thing, {}), *[next(iter(told[part.name]), None) for part in own]]
            execute(f'INSERT INTO "{table.name}" VALUES ({", ".join([mark] * len(row))})', row)
            for part in linked:
                for found in told[part.name]:
                    execute(f'INSERT INTO "{part.link.source[0]}" VALUES ({mark}, {mark})', [key, found])
    tables = [
        replace(table, properties=tuple(replace(part, storage=storage) for part in table.properties))
        for table in model.tables
    ]
    return Database(dialect, tuple(tables))


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
    return found.id.rpartition(".")[2] if found.id else plain_value(found, {})
