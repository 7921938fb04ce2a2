"""Forms run in a database: nothing is written, and neither time nor rows go without a limit.

In: an open `Source`, a `Database`, forms. Out: `Answer`s with the statement that gave them. What a driver says about a
statement that took too long, or was cancelled from another thread, becomes an `LFExecutionError`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any

from dualparse.database.compile import compile_node
from dualparse.database.location import POSTGRES
from dualparse.database.model import EPOCH, YEAR, Database, entity_id
from dualparse.database.source import Source, engine_errors, explained
from dualparse.database.statement import Output, Statement
from dualparse.domains.intervals import point
from dualparse.domains.plain import dated
from dualparse.domains.results import Answer, Cell, answered
from dualparse.domains.typed import Checker
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.values import FALSE, TRUE, Value, name, number, text
from dualparse.lf.values import time as time_value
from dualparse.lf.verdict import Verdict

MOST_ROWS = 10_000
SECONDS = 10.0
UNICODE = "und-x-icu"  # a collation of PostgreSQL that knows all letters


class Answering(ABC):
    """Whatever answers forms over a database."""

    database: Database
    checker: Checker

    def answer(
        self, form: str, *, today: date | None = None, seconds: float | None = None, most_rows: int | None = None
    ) -> Answer:
        """The answer to a form; raises one of the two logical-form errors, also when it takes too long."""
        node = self.checker.typed_text(form)
        return self.run(compile_node(node, self.database, today=today), seconds=seconds, most_rows=most_rows)

    def execute(self, form: str, *, seconds: float | None = None) -> str:
        """The denotation of a form."""
        return self.answer(form, seconds=seconds).denotation

    def check(self, form: str) -> Verdict:
        """Whether a form is well formed and its types are right; the database is not asked."""
        return self.checker.verdict(form)

    @abstractmethod
    def run(self, statement: Statement, *, seconds: float | None = None, most_rows: int | None = None) -> Answer:
        """The answer that a statement gives, within so many seconds, of so many rows at the most."""


class Runner(Answering):
    """Runs forms over one database. It belongs to one thread, except for `cancel`."""

    def __init__(self, source: Source, database: Database, *, seconds: float = SECONDS, most_rows: int = MOST_ROWS):
        self.source, self.database = source, database
        self.seconds, self.most_rows = seconds, most_rows
        self.checker = Checker(database.schema)
        self._cancelled = threading.Event()
        if source.dialect == "sqlite":
            source.connection.create_function("LOWER", 1, _lower, deterministic=True)
        self._letters = _letters(source) if source.dialect == POSTGRES else ""

    def run(self, statement: Statement, *, seconds: float | None = None, most_rows: int | None = None) -> Answer:
        """The answer that a statement gives."""
        most = self.most_rows if most_rows is None else most_rows
        sql = statement.sql(limit=most + 1, letters=self._letters)
        with self._limited(self.seconds if seconds is None else seconds):
            found = self._fetch(sql, statement.parameters, most + 1)
        return answer_of(statement, found, most, sql)

    def cancel(self) -> None:
        """Stop what is running; may be called from any thread."""
        self._cancelled.set()
        self.source.interrupt()

    def _fetch(self, sql: str, parameters: Any, most: int) -> list[tuple]:
        cursor = self.source.connection.cursor()
        try:
            cursor.execute(sql, dict(parameters)) if parameters else cursor.execute(sql)
            return cursor.fetchmany(most)
        finally:
            cursor.close()

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """A time limit; what the engine says when it ends becomes an error of the form."""
        self._cancelled.clear()
        late = threading.Event()

        def end() -> None:
            late.set()
            self.cancel()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            with explained(self.source.location):
                try:
                    yield
                except engine_errors() as error:
                    if "parser stack overflow" in str(error) or "too deep" in str(error).lower():
                        raise LFExecutionError("nested deeper than the database can follow") from None
                    if "out of memory" in str(error).lower():
                        raise LFExecutionError("the database has too little memory for that") from None
                    if late.is_set():
                        raise LFExecutionError(f"not done within {seconds:g} seconds") from None
                    if self._cancelled.is_set():
                        raise LFExecutionError("cancelled") from None
                    raise
        finally:
            timer.cancel()
            if self.source.dialect == POSTGRES:
                self.source.connection.rollback()


def answer_of(statement: Statement, found: Sequence[Sequence[Any]], most: int, sql: str) -> Answer:
    """What the database gave as an answer of at most so many rows."""
    labels: dict[str, str] = {}
    rows = [_row(row, statement.outputs, labels) for row in found[:most]]
    return answered(statement.columns, rows, statement.node, labels=labels, truncated=len(found) > most, sql=sql)


def _letters(source: Source) -> str:
    """The collation by which a PostgreSQL server lowers letters, where its own locale knows those of English alone."""
    asked = "SELECT LOWER('\u00c4') = '\u00e4', EXISTS (SELECT FROM pg_collation WHERE collname = %s)"
    with explained(source.location):
        known, there = source.connection.execute(asked, [UNICODE]).fetchone()
        source.connection.rollback()
    return UNICODE if there and not known else ""


def _lower(words: object) -> object:
    """LOWER of all letters; SQLite's own knows those of English."""
    return words.lower() if isinstance(words, str) else words


def _row(row: Sequence[Any], outputs: Sequence[Output], labels: dict[str, str]) -> tuple[Cell, ...]:
    """A row of the database as a row of the answer; names of things go to `labels`."""
    cells: list[Cell] = []
    start = 0
    for output in outputs:
        parts = row[start : start + output.width]
        start += output.width
        cells.append(_thing(parts, output, labels) if output.key else value_of(parts[0], output))
    return tuple(cells)


def _thing(parts: Sequence[Any], output: Output, labels: dict[str, str]) -> Cell:
    key = parts[: output.key]
    if any(part is None for part in key):
        return None
    id = entity_id(output.column.kind, key)
    label = " ".join(str(part) for part in parts[output.key :] if part is not None and str(part).strip())
    labels[id] = label or ", ".join(map(str, key))
    return name(id)


def value_of(found: Any, output: Output) -> Cell:
    """What a driver gave as a value of the language."""
    if found is None:
        return None
    kind = output.column.kind
    if kind == "number":
        return _number(found, output.column.unit)
    if kind == "boolean":
        return TRUE if _is_true(found) else FALSE
    if kind == "date":
        return _date(found, output.storage)
    if kind == "time":
        return _time(found)
    return text(str(found))


def _number(found: Any, unit: str) -> Cell:
    amount = float(found) if isinstance(found, (int, float, Decimal)) else None
    if amount is None:
        raise LFExecutionError(f"the database gave {str(found)[:40]!r} for a number")
    if not isfinite(amount):  # what some programs write where nothing is known
        return None
    return number(int(found) if isinstance(found, int) else amount, unit)


def _is_true(found: Any) -> bool:
    return found.strip().lower() in ("1", "t", "true", "y", "yes") if isinstance(found, str) else bool(found)


def _date(found: Any, storage: str) -> Value:
    if storage == YEAR:
        return dated(int(found) * 10_000)
    if storage == EPOCH:
        return dated(point(datetime.fromtimestamp(float(found), UTC).date()))
    if isinstance(found, (date, datetime)):
        return dated(point(found))
    year, month, day = (int(part) for part in str(found)[:10].split("-"))
    return dated(year * 10_000 + month * 100 + day)


def _time(found: Any) -> Value:
    if isinstance(found, time):
        return time_value(found.hour, found.minute)
    hour, minute = str(found).split(":")[:2]
    return time_value(int(hour), int(minute))
