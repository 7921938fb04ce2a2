"""Between worlds and databases: a world written as SQLite, and a database read into a world.

In: a `World` with its `Schema`, or an open database with its model. Out: a database file with its model, or a `World`
with the names of its things. Forms have the same answers on both sides, which is how the compiler is trusted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlglot import exp

from dualparse.database import names
from dualparse.database import pieces as p
from dualparse.database.model import ISO, NATIVE, Database, Link, Property, Relation, Table, entity_id
from dualparse.database.run import value_of
from dualparse.database.source import Source
from dualparse.database.statement import Output
from dualparse.domains.intervals import text as date_text
from dualparse.domains.plain import schema_of
from dualparse.domains.results import Column, plain_value
from dualparse.domains.schema import LITERAL_KINDS, Schema
from dualparse.domains.world import World
from dualparse.errors import InputError
from dualparse.files import replacing
from dualparse.lf.values import Value, words_of

KEY, LABEL = "id", "name"  # columns of a thing's key and its name; a property that is called so gets a space behind it
_TYPES = {"number": "NUMERIC", "text": "TEXT", "date": "DATE", "time": "TIME", "boolean": "BOOLEAN"}


def model_of(schema: Schema, *, units: bool = False) -> Database:
    """The model of a world's database: a table for each type, one for each property that can have several values.
    With `units`, columns say in what they are, as in `length_km`."""
    return Database("sqlite", tuple(_table(type, schema, units) for type in schema.types))


def _table(type: str, schema: Schema, units: bool) -> Table:
    properties: list[Property] = []
    relations: list[Relation] = []
    for (owner, label), declared in schema.properties.items():
        if owner != type:
            continue
        pairs = _apart(f"{type}_{label}", schema.types)
        link = Link((pairs,), (type,)) if declared.many else None
        said = f"{label}_{declared.unit}"
        column = _apart(said if units and names.unit(said) else label, (type,) if link else (KEY, LABEL))
        if declared.kind in LITERAL_KINDS:
            storage = ISO if declared.kind == "date" else NATIVE
            properties.append(Property(label, type, declared.kind, column, declared.unit, storage, link=link))
        else:
            relations.append(Relation(label, type, declared.kind, (column,), link=link))
    return Table(type, (type,), (KEY,), ("text",), (LABEL,), tuple(properties), tuple(relations))


def _apart(name: str, taken: Iterable[str]) -> str:
    """A name that is none of those that are taken."""
    return f"{name} " if name.lower() in {other.lower() for other in taken} else name


def write_database(world: World, path: Path, schema: Schema | None = None, *, units: bool = False) -> Database:
    """A world as a SQLite file; its model. With `units`, the names of columns say in what they are."""
    schema = schema_of(world, schema)
    model = model_of(schema, units=units)
    if path.exists():
        raise InputError("exists already", path=path)
    with replacing(path) as unfinished, closing(sqlite3.connect(unfinished)) as connection:
        for table in model.tables:
            _write(table, world, connection)
        connection.commit()
    return model


def _write(table: Table, world: World, connection: sqlite3.Connection) -> None:
    parts = table.parts
    own = [part for part in parts if part.link is None]
    things = world.instances(table.name)
    rows = [
        (_key(thing), plain_value(thing, {}), *[_stored(_first(world, thing, part.name)) for part in own])
        for thing in things
    ]
    columns = [_declared(KEY, "TEXT", exp.PrimaryKeyColumnConstraint()), _declared(LABEL, "TEXT"), *map(_column, own)]
    _fill(connection, table.source, columns, rows)
    for part in parts:
        if part.link is not None:
            pairs = [(_key(thing), _stored(value)) for thing in things for value in _values(world, thing, part.name)]
            owner = _referring(part.link.owner[0], table.name)
            _fill(connection, part.link.source, [owner, _column(part)], pairs)


def _column(part: Property | Relation) -> exp.ColumnDef:
    """The declaration of a property's column; that of a relation says where it leads."""
    if isinstance(part, Relation):
        return _referring(part.columns[0], part.target)
    return _declared(part.column, _TYPES[part.kind])


def _referring(name: str, target: str) -> exp.ColumnDef:
    key = exp.Schema(this=exp.Table(this=p.quoted(target)), expressions=[p.quoted(KEY)])
    return _declared(name, "TEXT", exp.Reference(this=key))


def _declared(name: str, type: str, *constraints: exp.Expr) -> exp.ColumnDef:
    kind = exp.DataType(this=exp.DType.USERDEFINED, kind=type)
    return exp.ColumnDef(
        this=p.quoted(name), kind=kind, constraints=[exp.ColumnConstraint(kind=each) for each in constraints]
    )


def _values(world: World, thing: Value, label: str) -> Sequence[Value]:
    facts = world.properties.get(label)
    return facts.values.get(thing, ()) if facts else ()


def _first(world: World, thing: Value, label: str) -> Value | None:
    return next(iter(_values(world, thing, label)), None)


def _key(thing: Value) -> str:
    return thing.id.rpartition(".")[2]


def _stored(value: Value | None) -> object:
    if value is None:
        return None
    if value.id:
        return _key(value)
    if value.startswith("(text"):
        return words_of(value)
    if value.startswith("(date"):
        return date_text(int(value.degree or 0))
    if value.startswith("(time"):
        hour, minute = map(int, value[6:-1].split())
        return f"{hour:02}:{minute:02}"
    if value.unit is not None and value.degree is not None:
        return int(value.degree) if value.degree == int(value.degree) else value.degree
    return int(value == "(boolean true)")


def _fill(
    connection: sqlite3.Connection, source: Sequence[str], columns: Sequence[exp.ColumnDef], rows: Iterable[tuple]
) -> None:
    table = exp.Table(this=p.quoted(source[-1]))
    made = exp.Create(this=exp.Schema(this=table, expressions=list(columns)), kind="TABLE")
    connection.execute(made.sql(dialect="sqlite"))
    marks = exp.Values(expressions=[exp.Tuple(expressions=[exp.Placeholder() for _ in columns])])
    connection.executemany(exp.Insert(this=table.copy(), expression=marks).sql(dialect="sqlite"), rows)


def read_database(source: Source, model: Database) -> tuple[World, dict[str, str]]:
    """All that a model says of a database as a world, and the names of its things. For small databases."""
    world, labels = World(), {}
    for table in model.tables:
        columns = [*table.key, *table.label]
        for row in _rows(source, table.source, columns):
            id = entity_id(table.name, row[: len(table.key)])
            world.entity(id)
            label = " ".join(str(part) for part in row[len(table.key) :] if part is not None and str(part).strip())
            labels[id] = label or ", ".join(map(str, row[: len(table.key)]))
    for table in model.tables:
        for held in table.properties:
            _read_property(source, model, table, held, world)
        for relation in table.relations:
            _read_relation(source, model, table, relation, world)
    return world, labels


def _read_property(source: Source, model: Database, table: Table, held: Property, world: World) -> None:
    where = held.link or Link(table.source, table.key)
    declared = model.schema.properties[table.name, held.name]
    output = Output(Column(held.name, held.kind, held.unit), held.storage)
    for *key, found in _rows(source, where.source, [*where.owner, held.column]):
        value = value_of(found, output)
        id = entity_id(table.name, key)
        if value is not None and id in world.names:
            world.add(id, declared.name, value)


def _read_relation(source: Source, model: Database, table: Table, relation: Relation, world: World) -> None:
    where = relation.link or Link(table.source, table.key)
    target = model.by_name[relation.target]
    references = relation.references or target.key
    targets = _rows(source, target.source, [*references, *target.key])
    keys = {tuple(row[: len(references)]): row[len(references) :] for row in targets}
    for row in _rows(source, where.source, [*where.owner, *relation.columns]):
        id = entity_id(table.name, row[: len(where.owner)])
        key = keys.get(tuple(row[len(where.owner) :]))
        if key is not None and id in world.names:
            other = entity_id(target.name, key)
            world.add(id, relation.name, world.names[other])


def _rows(source: Source, table: Sequence[str], names: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = [p.column("it", name) for name in names]
    return source.rows(exp.select(*columns).from_(p.source(table, "it")))
