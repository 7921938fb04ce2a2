"""What forms know of a database: its tables as types, its columns as properties, its foreign keys as relations.

In: what reflection found, or what a folder says. Out: a `Database`, frozen. `database.schema` is what the language's
checker reads (names, kinds, units); the rest says where things stand, which only the compiler asks.

A row of a table with a key is an entity. Its id in a form is the table's word, a dot and its key (`track.17`): see
`entity_id`. Columns and tables keep the spelling of the database; words of the language are `[a-z0-9_]+`, or at least
without spaces, parentheses, dots, colons and exclamation marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import quote, unquote

from dualparse.domains.schema import Declaration, Schema
from dualparse.errors import InputError
from dualparse.suggest import nearest

DIALECTS = ("sqlite", "duckdb", "postgres", "spark", "trino", "bigquery")
NATIVE, ISO, YEAR, EPOCH = "native", "iso", "year", "epoch"  # how a date is stored
STORAGES = (NATIVE, ISO, YEAR, EPOCH)
_KEPT = "-_~"  # what a key keeps in an id besides letters and digits


@dataclass(frozen=True, slots=True)
class Link:
    """A table of its own for the pairs of a property or relation: many to many, or several values for one thing.

    source  the table, as in `Table.source`
    owner   its columns that hold the key of the thing the pair is about
    """

    source: tuple[str, ...]
    owner: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Property:
    """A column: `kind` is "number", "text", "date", "time" or "boolean".

    column    in the owner's table, or in the link's
    storage   of a date: "native" (DATE, TIMESTAMP), "iso" (text such as 2009-01-01 or 2009-01-01 00:00:00; unknown
              parts are 00), "year" (a whole number), "epoch" (seconds since 1970)
    category  text with few distinct values
    distinct  how many distinct values there are, where that is known
    """

    name: str
    owner: str
    kind: str
    column: str
    unit: str = ""
    storage: str = NATIVE
    category: bool = False
    distinct: int | None = None
    link: Link | None = None


_YEARS = frozenset(["year", "founded", "established", "built", "opened", "released", "published", "created", "since"])


def is_year(held: Property) -> bool:
    """Whether a number is a year, as far as its name says.

    >>> is_year(Property("founded", "team", "number", "founded")), is_year(Property("years", "job", "number", "years"))
    (True, False)
    """
    return held.kind == "number" and not held.unit and not _YEARS.isdisjoint(held.name.split("_"))


@dataclass(frozen=True, slots=True)
class Relation:
    """A foreign key, or a table of two foreign keys; `!name` follows it backwards.

    columns     the foreign key: columns of the owner's table, or of the link's
    references  the columns of the target they point at; () means its key
    link        the table in between, of a relation that is many to many
    inferred    from names and values, not declared in the database
    """

    name: str
    owner: str
    target: str
    columns: tuple[str, ...]
    references: tuple[str, ...] = ()
    link: Link | None = None
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A type of things.

    name       its word in forms
    source     the table's name in the database, after that of its schema where it needs one: ("public", "Track")
    key        columns that tell rows apart, never null; `rowid` will do where there are none
    key_kinds  "number" or "text" for each of them; () means numbers
    label      columns that name a row for people, joined by a space; () means the key
    rows       how many there are, where that is known
    """

    name: str
    source: tuple[str, ...]
    key: tuple[str, ...]
    key_kinds: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    properties: tuple[Property, ...] = ()
    relations: tuple[Relation, ...] = ()
    rows: int | None = None
    view: bool = False

    @property
    def parts(self) -> tuple[Property | Relation, ...]:
        return (*self.properties, *self.relations)


@dataclass(frozen=True)
class Database:
    """All tables that forms may speak of. `dialect` is one of `DIALECTS`: the engine the data is in."""

    dialect: str
    tables: tuple[Table, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.dialect not in DIALECTS:
            raise InputError(f"unknown dialect {self.dialect!r}{nearest(self.dialect, DIALECTS)}")
        for table in self.tables:
            _check(table, self.by_name)

    @cached_property
    def by_name(self) -> Mapping[str, Table]:
        """The tables by their word."""
        return {table.name: table for table in self.tables}

    @cached_property
    def places(self) -> Mapping[tuple[str, str], Property | Relation]:
        """Properties and relations by (word of the owner, name)."""
        return {(table.name, part.name): part for table in self.tables for part in table.parts}

    @cached_property
    def schema(self) -> Schema:
        """What the language may say: the types, and the properties with the kind of their values."""
        declared = {
            key: Declaration(part.name, part.owner, part.target, many=part.link is not None)
            if isinstance(part, Relation)
            else Declaration(part.name, part.owner, part.kind, part.unit, many=part.link is not None)
            for key, part in self.places.items()
        }
        return Schema({table.name: place for place, table in enumerate(self.tables, 1)}, declared)


def _check(table: Table, tables: Mapping[str, Table]) -> None:
    """`InputError` for a model that contradicts itself: such a one was edited by hand."""
    if not table.key:
        raise InputError(f"table {table.name!r} has no key")
    if table.key_kinds and len(table.key_kinds) != len(table.key):
        raise InputError(f"table {table.name!r} has {len(table.key)} key columns and {len(table.key_kinds)} kinds")
    for relation in table.relations:
        if relation.target not in tables:
            raise InputError(f"{table.name}.{relation.name} leads to an unknown type {relation.target!r}")
        wanted = relation.references or tables[relation.target].key
        if len(relation.columns) != len(wanted):
            raise InputError(f"{table.name}.{relation.name} needs {len(wanted)} columns, not {len(relation.columns)}")
    for part in table.parts:
        if part.link is not None and len(part.link.owner) != len(table.key):
            raise InputError(f"the link of {table.name}.{part.name} needs {len(table.key)} owner columns")
    for held in table.properties:
        if held.storage not in STORAGES:
            raise InputError(f"{table.name}.{held.name}: unknown storage {held.storage!r}")


def entity_id(table: str, key: Sequence[object]) -> str:
    """The id of a row in forms.

    >>> entity_id("track", (17,)), entity_id("line", ("a b", 2))
    ('track.17', 'line.a%20b,2')
    """
    return f"{table}.{','.join(quote(str(part), safe=_KEPT).replace('.', '%2E') for part in key)}"


def entity_key(id: str, table: Table) -> tuple[object, ...]:
    """The key that an id holds; `InputError` where it is none of this table.

    >>> entity_key("track.17", Table("track", ("Track",), ("TrackId",)))
    (17,)
    """
    parts = [unquote(part) for part in id.rpartition(".")[2].split(",")]
    kinds = table.key_kinds or ("number",) * len(table.key)
    if len(parts) != len(table.key):
        raise InputError(f"{id}: the key of {table.name} has {len(table.key)} parts, not {len(parts)}")
    try:
        return tuple(int(part) if kind == "number" else part for part, kind in zip(parts, kinds, strict=True))
    except ValueError as error:
        raise InputError(f"{id}: the key of {table.name} is a whole number") from error
