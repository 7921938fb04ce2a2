"""What the values of a table look like. In: a table and its database. Out: a `Profile` of each column that may be read.

A sample tells kinds; what decides between "category" and "text", and between key and no key, is counted in the whole
table, all columns in one pass. Columns whose name is that of a secret are never read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite

from sqlglot import exp

from dualparse.database import names
from dualparse.database.reflect import BOOLEAN, BYTES, DATE, DATETIME, TEXT, TIME, RawColumn, RawTable, rows_of
from dualparse.database.source import Source

CELLS, MOST_ROWS, FEWEST_ROWS = 200_000, 5_000, 200  # of a sample
COUNTED = 100  # columns whose distinct values are counted
LONG = 60  # letters: what is longer on average is a text and no name
_ISO_DATE = re.compile(
    r"[12]\d{3}-(0\d|1[0-2])-([0-2]\d|3[01])([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
)
_FLAG_WORDS = ("is", "has", "was", "can", "does", "allows", "in", "enabled", "active", "deleted")
_TIME_WORDS = ("at", "time", "timestamp", "date", "on", "ts", "epoch", "created", "updated", "modified")


@dataclass(frozen=True, slots=True)
class Profile:
    """A column and what its values are.

    kind      "number", "text", "date", "time", "boolean", or "bytes" for what nobody can ask about
    storage   of a date, as in `model.Property`
    samples   some of the values that are there
    filled    whether every row of the sample has a value
    distinct  how many distinct values the whole table has, where that was counted
    whole     whether all numbers are whole
    """

    column: RawColumn
    kind: str
    samples: tuple[object, ...] = ()
    storage: str = "native"
    filled: bool = False
    distinct: int | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def short(self) -> bool:
        """Whether its values are texts short enough to be names."""
        texts = [value for value in self.samples if isinstance(value, str)]
        return self.kind == "text" and bool(texts) and sum(map(len, texts)) <= LONG * len(texts)


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The columns of a table that may be read, how many rows it has, and the names of columns that are secret."""

    table: RawTable
    columns: tuple[Profile, ...]
    rows: int
    secret: tuple[str, ...] = ()

    def column(self, name: str) -> Profile | None:
        return next((profile for profile in self.columns if profile.name == name), None)


def profile_table(source: Source, table: RawTable, *, skip: Collection[str] = ()) -> TableProfile:
    """Look at the values of a table; those of secret columns, and of columns to `skip`, stay unread."""
    secret = tuple(column.name for column in table.columns if names.is_secret(column.name))
    kept = [column for column in table.columns if column.name not in secret and column.name not in skip]
    readable = [column for column in kept if column.type != BYTES]
    profiles = {column.name: Profile(column, "bytes") for column in kept}
    if readable:
        limit = max(FEWEST_ROWS, min(MOST_ROWS, CELLS // len(readable)))
        sample = rows_of(source, table, [column.name for column in readable], limit)
        for place, column in enumerate(readable):
            profiles[column.name] = _profile(column, [row[place] for row in sample])
    rows, distinct = _count(source, table, [profile for profile in profiles.values() if _is_counted(profile, table)])
    columns = (replace(profiles[c.name], distinct=distinct.get(c.name)) for c in kept)
    return TableProfile(table, tuple(columns), rows, secret)


def _is_counted(profile: Profile, table: RawTable) -> bool:
    """Whether it may be a category or a key that nobody declared."""
    key = not table.key and profile.filled and (profile.whole or profile.short)
    return profile.short or (key and len(set(profile.samples)) == len(profile.samples))


def _count(source: Source, table: RawTable, profiles: list[Profile]) -> tuple[int, dict[str, int]]:
    """Rows, and distinct values of columns, in one pass over the table."""
    counted = profiles[:COUNTED]
    columns = [exp.Count(this=exp.Distinct(expressions=[exp.column(p.name, quoted=True)])) for p in counted]
    row = source.rows(exp.select(exp.Count(this=exp.Star()), *columns).from_(table.expression()))[0]
    return int(row[0]), {profile.name: int(count) for profile, count in zip(counted, row[1:], strict=True)}


def _profile(column: RawColumn, values: list[object]) -> Profile:
    there = [value for value in values if value is not None and value != ""]
    kind, storage = _kind(column, there)
    whole = kind == "number" and all(isinstance(value, int) for value in there)
    distinct = tuple(value for value in there[:MOST_ROWS])
    return Profile(column, kind, distinct, storage, bool(there) and len(there) == len(values), whole=whole)


def _kind(column: RawColumn, values: list[object]) -> tuple[str, str]:
    """The kind of a column's values and how a date is stored. Values decide where the declared type leaves it open."""
    words = names.split(column.name)
    if not values:
        return _declared(column)
    if all(isinstance(value, bool) for value in values):
        return "boolean", "native"
    if all(isinstance(value, (date, datetime)) for value in values):
        return "date", "native"
    if all(isinstance(value, time) for value in values):
        return "time", "native"
    if all(isinstance(value, (int, float, Decimal)) for value in values):
        return _number_kind(
            column, words, [float(value) for value in values if isinstance(value, (int, float, Decimal))]
        )
    if all(isinstance(value, str) for value in values):
        dates = all(_ISO_DATE.fullmatch(value) for value in values if isinstance(value, str))
        return ("date", "iso") if dates else ("text", "native")
    if all(isinstance(value, (bytes, memoryview)) for value in values):
        return "bytes", "native"
    if any(isinstance(value, (dict, list, bytes, memoryview)) for value in values):
        return "bytes", "native"
    return "text", "native"


def _number_kind(column: RawColumn, words: tuple[str, ...], values: list[float]) -> tuple[str, str]:
    seen = {value for value in values if isfinite(value)}
    if not seen:
        return "number", "native"
    if seen <= {0, 1} and (column.type == BOOLEAN or seen == {0, 1} or (words and words[0] in _FLAG_WORDS)):
        return "boolean", "native"
    low, high = min(seen), max(seen)
    whole = all(value == int(value) for value in seen)
    if whole and {"year", "yr"} & set(words) and low >= 1000 and high <= 2999:
        return "date", "year"
    is_time = column.type in (DATE, DATETIME) or (words and words[-1] in _TIME_WORDS)
    if is_time and whole and low >= 1e8 and high <= 5e9:
        return "date", "epoch"
    return "number", "native"


def _declared(column: RawColumn) -> tuple[str, str]:
    """What an empty column will hold."""
    kinds = {BOOLEAN: "boolean", DATE: "date", DATETIME: "date", TIME: "time", TEXT: "text", BYTES: "bytes"}
    return kinds.get(column.type, "number" if column.type in ("integer", "number") else "text"), "native"
