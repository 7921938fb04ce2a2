"""What a database says of itself. In: an open `Source`. Out: its tables as `Raw` records, and notes.

SQLite and PostgreSQL are read by SQLAlchemy, DuckDB by its own catalogue. Nothing is guessed here; see
`dualparse.database.infer`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import create_engine, inspect
from sqlalchemy import types as sql_types
from sqlalchemy.engine import Inspector
from sqlalchemy.exc import DBAPIError, SAWarning, SQLAlchemyError
from sqlalchemy.pool import StaticPool
from sqlglot import exp

from dualparse.database.location import DUCKDB, POSTGRES
from dualparse.database.source import Source, explained
from dualparse.errors import InputError

INTEGER, NUMBER, TEXT, BOOLEAN, DATE, DATETIME, TIME, BYTES, UNKNOWN = (
    "integer",
    "number",
    "text",
    "boolean",
    "date",
    "datetime",
    "time",
    "bytes",
    "unknown",
)
_SYSTEM_SCHEMAS = ("information_schema", "pg_catalog", "pg_toast")
_CLASSES: tuple[tuple[type, str], ...] = (
    (sql_types.Boolean, BOOLEAN),
    (sql_types.DateTime, DATETIME),
    (sql_types.Date, DATE),
    (sql_types.Time, TIME),
    (sql_types.Integer, INTEGER),
    (sql_types.Numeric, NUMBER),
    (sql_types.Float, NUMBER),
    (sql_types.LargeBinary, BYTES),
    (sql_types.JSON, BYTES),
    (sql_types.ARRAY, BYTES),
    (sql_types.String, TEXT),
    (sql_types.Uuid, TEXT),
    (sql_types.Enum, TEXT),
)
_DUCKDB_TYPES = {
    BOOLEAN: ("BOOLEAN",),
    DATETIME: ("TIMESTAMP", "DATETIME"),
    DATE: ("DATE",),
    INTEGER: ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    NUMBER: ("DECIMAL", "DOUBLE", "FLOAT", "REAL", "UHUGEINT"),
    TIME: ("TIME",),
    BYTES: ("BLOB", "BIT"),
    TEXT: ("VARCHAR", "UUID", "ENUM"),
}


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column; `type` is one of the kinds above, `declared` what the database calls it."""

    name: str
    type: str
    declared: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that hold the key of another table, or of the same one."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    target_schema: str = ""


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table or view as the database describes it."""

    name: str
    columns: tuple[RawColumn, ...]
    schema: str = ""
    key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    view: bool = False

    def expression(self) -> exp.Table:
        """The table as it stands after FROM."""
        return exp.table_(self.name, db=self.schema or None, quoted=True)


@dataclass(frozen=True)
class Raw:
    """All tables of a database."""

    tables: tuple[RawTable, ...]
    notes: tuple[str, ...] = field(default=())


def reflect(source: Source) -> Raw:
    """The tables and views of a database; one without any is an error."""
    with explained(source.location):
        raw = _duckdb(source) if source.dialect == DUCKDB else _sqlalchemy(source)
    if not raw.tables:
        raise InputError("the database has no tables", path=source.location.path or source.location.place)
    return raw


def _sqlalchemy(source: Source) -> Raw:
    driver = "postgresql+psycopg" if source.dialect == POSTGRES else "sqlite"
    engine = create_engine(f"{driver}://", creator=lambda: source.connection, poolclass=StaticPool)
    tables: list[RawTable] = []
    notes: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # a type SQLAlchemy does not know is found by its values
            inspector = inspect(engine)
            held = _held_by_others(source)
            for schema in _schemas(inspector, source.dialect):
                place = schema or None
                views = [*inspector.get_view_names(schema=place)]
                if source.dialect == POSTGRES:
                    views += inspector.get_materialized_view_names(schema=place)
                shown = schema or (inspector.default_schema_name if source.dialect == POSTGRES else "") or ""
                for name in sorted(set(inspector.get_table_names(schema=place)) - held.get(shown, set())):
                    _add(tables, notes, inspector, name, schema, view=False)
                for name in sorted(views):
                    _add(tables, notes, inspector, name, schema, view=True)
    except DBAPIError as error:
        if error.orig is not None:
            raise error.orig from None  # in the engine's own words, which `explained` knows
        raise
    return Raw(tuple(tables), tuple(notes))


def _held_by_others(source: Source) -> dict[str, set[str]]:
    """Tables by schema in which others keep what is theirs: partitions, and those behind a full-text index."""
    if source.dialect == POSTGRES:
        places = exp.select("n.nspname", "c.relname").from_("pg_catalog.pg_class AS c")
        joined = places.join("pg_catalog.pg_namespace AS n", on="n.oid = c.relnamespace")
        found = source.rows(joined.where("c.relispartition"))
    else:
        listed = source.rows(exp.Pragma(this=exp.var("table_list")))  # nothing, of a SQLite that does not know it
        found = [("", name) for _, name, kind, *_ in listed if kind == "shadow"]
    held: dict[str, set[str]] = {}
    for schema, name in found:
        held.setdefault(schema, set()).add(name)
    return held


def _schemas(inspector: Inspector, dialect: str) -> list[str]:
    if dialect != POSTGRES:
        return [""]
    default = inspector.default_schema_name
    names = [
        name for name in inspector.get_schema_names() if name not in _SYSTEM_SCHEMAS and not name.startswith("pg_")
    ]
    return ["" if name == default else name for name in sorted(names, key=lambda name: (name != default, name))]


def _add(tables: list[RawTable], notes: list[str], inspector: Inspector, name: str, schema: str, *, view: bool) -> None:
    try:
        table = _table(inspector, name, schema, view)
    except SQLAlchemyError as error:  # such as a view of a table that is gone
        reason = " ".join(str(getattr(error, "orig", None) or error).split())
        notes.append(f"{name}: left out, because it cannot be read: {reason[:120]}")
    else:
        if table.columns:
            tables.append(table)
        else:
            notes.append(f"{name}: left out, because it has no columns")


def _table(inspector: Inspector, name: str, schema: str, view: bool) -> RawTable:
    place: dict[str, Any] = {"table_name": name, "schema": schema or None}
    declared = inspector.get_columns(**place)
    typed = inspector.dialect.name == "postgresql"
    columns = tuple(RawColumn(c["name"], _kind(c["type"], typed), str(c["type"])) for c in declared)
    if view:
        return RawTable(name, columns, schema, view=True)
    keys = inspector.get_foreign_keys(**place)
    indexes = [index for index in inspector.get_indexes(**place) if index.get("unique")]
    told: list[Any] = [*inspector.get_unique_constraints(**place), *indexes]
    unique = [tuple(each["column_names"]) for each in told]
    return RawTable(
        name,
        columns,
        schema,
        key=tuple(inspector.get_pk_constraint(**place)["constrained_columns"]),
        foreign_keys=tuple(_foreign_key(inspector, key) for key in keys),
        unique=tuple(dict.fromkeys(columns for columns in unique if all(columns))),
    )


def _foreign_key(inspector: Inspector, key: Any) -> ForeignKey:
    target, columns = key["referred_table"], tuple(key["constrained_columns"])
    target_schema = key.get("referred_schema") or ""
    # SQLite may leave the columns out: they are the target's key.
    referred = tuple(key["referred_columns"] or ())
    if not referred and inspector.has_table(target):
        referred = tuple(inspector.get_pk_constraint(target)["constrained_columns"])
    return ForeignKey(columns, target, referred, target_schema)


def _kind(type_: Any, typed: bool) -> str:
    """What a column of a type holds; `typed` where a type nobody knows is one whose values may not even be compared,
    rather than none at all."""
    if typed and isinstance(type_, sql_types.NullType):
        return BYTES
    kind = next((kind for cls, kind in _CLASSES if isinstance(type_, cls)), UNKNOWN)
    return NUMBER if kind == INTEGER and isinstance(type_, sql_types.Numeric) else kind


def _duckdb(source: Source) -> Raw:
    """DuckDB's catalogue, by its table functions. All its queries are constants: nothing is pasted into them."""
    columns: dict[tuple[str, str], list[RawColumn]] = {}
    query = _catalogue("duckdb_columns", "schema_name", "table_name", "column_name", "data_type").order_by(
        "column_index"
    )
    for schema, table, column, declared in source.rows(query):
        columns.setdefault((schema, table), []).append(RawColumn(column, _duckdb_kind(declared), declared))
    views = {(schema, name) for schema, name in source.rows(_catalogue("duckdb_views", "schema_name", "view_name"))}
    keys: dict[tuple[str, str], tuple[str, ...]] = {}
    foreign: dict[tuple[str, str], list[ForeignKey]] = {}
    unique: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    names = ("schema_name", "table_name", "constraint_type", "constraint_column_names")
    referred = ("referenced_table", "referenced_column_names")
    constraints = _catalogue("duckdb_constraints", *names, *referred, internal=False)
    for schema, table, kind, own, target, target_columns in source.rows(constraints):
        place = (schema, table)
        if kind == "PRIMARY KEY":
            keys[place] = tuple(own)
        elif kind == "UNIQUE":
            unique.setdefault(place, []).append(tuple(own))
        elif kind == "FOREIGN KEY":
            foreign.setdefault(place, []).append(ForeignKey(tuple(own), target, tuple(target_columns)))
    tables = [
        RawTable(
            table,
            tuple(found),
            "" if schema == "main" else schema,
            key=keys.get((schema, table), ()),
            foreign_keys=tuple(foreign.get((schema, table), ())),
            unique=tuple(unique.get((schema, table), ())),
            view=(schema, table) in views and not source.location.tabular,
        )
        for (schema, table), found in sorted(columns.items())
    ]
    return Raw(tuple(tables), source.notes)


def _catalogue(function: str, *columns: str, internal: bool = True) -> exp.Select:
    """The user's own part of one of DuckDB's catalogue functions."""
    query = exp.select(*(exp.column(name) for name in columns)).from_(exp.func(function, dialect=DUCKDB))
    database = exp.func("current_database", dialect=DUCKDB)
    query = query.where(exp.column("database_name").eq(database))
    return query.where(exp.not_(exp.column("internal"))) if internal else query


def _duckdb_kind(declared: str) -> str:
    if declared.endswith("[]") or declared.startswith(("STRUCT", "MAP", "LIST")):
        return UNKNOWN
    name = declared.partition("(")[0].strip().upper()
    return next((kind for kind, starts in _DUCKDB_TYPES.items() if name.startswith(starts)), UNKNOWN)


def rows_of(source: Source, table: RawTable, columns: Sequence[str], limit: int) -> list[tuple]:
    """Some rows of a table, from its beginning and, where it has a simple key, from its end."""
    query = exp.select(*(exp.column(name, quoted=True) for name in columns)).from_(table.expression())
    if len(table.key) != 1:
        return source.rows(query.limit(limit))
    last = query.order_by(exp.column(table.key[0], quoted=True).desc()).limit(limit - limit // 2)
    return source.rows(query.limit(limit // 2)) + source.rows(last)
