"""A session of Spark in this process, and small worlds as its views; skipped where pyspark or Java is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date as Day
from typing import Any

import pyarrow
import pytest
from copies import facts

from dualparse.database.model import ISO, NATIVE, Database, Property, Relation
from dualparse.database.spark import SparkRunner
from dualparse.database.worlds import KEY, LABEL, model_of
from dualparse.domains.plain import schema_of
from dualparse.domains.results import plain_value
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.lf.values import Value

OPTIONS = {  # for many small queries on one core
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
}
_ARROW = {
    "number": pyarrow.float64(),
    "text": pyarrow.string(),
    "date": pyarrow.date32(),
    "time": pyarrow.string(),
    "boolean": pyarrow.bool_(),
}


@contextmanager
def opened() -> Iterator[Any]:
    """A session in local mode."""
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install 'dualparse[spark]'")
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    builder = sql.SparkSession.builder.master("local[1]").appName("dualparse")
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def in_spark(made: World, schema: Schema, session: Any, *, storage: str = NATIVE) -> Iterator[SparkRunner]:
    """Runs forms over a world as views of the session."""
    yield SparkRunner(session, views(made, schema, session, storage=storage))


def views(made: World, schema: Schema, session: Any, *, storage: str = NATIVE) -> Database:
    """A world as views of the session; its model. Dates are stored as such, or as text."""
    model = model_of(schema_of(made, schema))
    for table in model.tables:
        parts = [*table.properties, *table.relations]
        own = [part for part in parts if part.link is None]
        columns: dict[str, list[object]] = {name: [] for name in (KEY, LABEL, *(part.name for part in own))}
        pairs: dict[str, list[tuple[str, object]]] = {part.name: [] for part in parts if part.link is not None}
        for thing in made.instances(table.name):
            key = _key(thing)
            columns[KEY].append(key)
            columns[LABEL].append(plain_value(thing, {}))
            for part in parts:
                told = [_stored(found, storage) for found in facts(made, thing, part.name)]
                if part.link is None:
                    columns[part.name].append(told[0] if told else None)
                else:
                    pairs[part.name] += [(key, found) for found in told]
        types = [pyarrow.string(), pyarrow.string(), *[_type(part, storage) for part in own]]
        _view(session, table.name, columns, types)
        for part in parts:
            if part.link is not None:
                both = pairs[part.name]
                found = {part.link.owner[0]: [key for key, _ in both], part.name: [other for _, other in both]}
                _view(session, part.link.source[0], found, [pyarrow.string(), _type(part, storage)])
    tables = [
        replace(table, properties=tuple(replace(p, storage=storage) for p in table.properties))
        for table in model.tables
    ]
    return Database("spark", tuple(tables))


def _view(session: Any, name: str, columns: dict[str, list[Any]], types: Sequence[pyarrow.DataType]) -> None:
    arrays = [pyarrow.array(column, type) for column, type in zip(columns.values(), types, strict=True)]
    table = pyarrow.Table.from_arrays(arrays, names=list(columns))
    session.createDataFrame(table).createOrReplaceTempView(f"`{name}`")


def _type(part: Property | Relation, storage: str) -> pyarrow.DataType:
    if not isinstance(part, Property) or (part.kind == "date" and storage == ISO):
        return pyarrow.string()
    return _ARROW[part.kind]


def _key(thing: Value) -> str:
    return thing.id.rpartition(".")[2]


def _stored(found: Value, storage: str) -> object:
    if found.id:
        return _key(found)
    if found.startswith("(number"):
        return None if found.degree is None else float(found.degree)
    if found.startswith("(boolean"):
        return found == "(boolean true)"
    if found.startswith("(date"):
        whole = int(found.degree or 0)
        year, month, day = whole // 10_000, whole // 100 % 100, whole % 100
        return f"{year:04}-{month:02}-{day:02}" if storage == ISO else Day(year, month, day)
    return plain_value(found, {})
