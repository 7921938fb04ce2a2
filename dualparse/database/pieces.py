"""Pieces of a SELECT: rows in the making, expressions with their kind, and what differs from engine to engine.

In: names and expressions. Out: sqlglot expressions; nothing here is text, so nothing can be broken out of. Every name
is quoted, every value that a form brings is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from functools import reduce

from sqlglot import exp

from dualparse.database.model import EPOCH, ISO, NATIVE, YEAR
from dualparse.domains.intervals import Interval, day, text
from dualparse.domains.nodes import Kind
from dualparse.domains.plain import DECIMALS

Parameter = str | int | float | bool | object


@dataclass(frozen=True, slots=True)
class Expr:
    """A value in SQL: one expression, or the key of a thing, whose table then has an alias."""

    columns: tuple[exp.Expression, ...]
    kind: Kind
    storage: str = NATIVE
    alias: str = ""

    @property
    def sql(self) -> exp.Expression:
        """The one expression, as a copy of its own."""
        return self.columns[0].copy()


@dataclass
class Rows:
    """FROM, JOIN and WHERE of a SELECT whose rows are the members of a set; used up by that SELECT.

    element   what is a member
    origin    what the members belong to, of a set about `it`
    distinct  whether no member (of the same origin) comes twice
    ranked    ORDER BY and LIMIT, of a ranking
    """

    table: exp.Expression
    element: Expr
    distinct: bool
    joins: list[tuple[exp.Expression, exp.Expression, str]] = field(default_factory=list)
    where: list[exp.Expression] = field(default_factory=list)
    origin: tuple[exp.Expression, ...] = ()
    order: list[exp.Expression] = field(default_factory=list)
    limit: int | None = None
    joined: dict[object, Expr] = field(default_factory=dict)

    def select(self, columns: Iterable[exp.Expression]) -> exp.Select:
        """SELECT the columns of these rows."""
        made = exp.select(*[column.copy() for column in columns], copy=False).from_(self.table, copy=False)
        for table, on, side in self.joins:
            made.append("joins", exp.Join(this=table, on=on, side=side or None))
        condition = every(self.where)
        if not always(condition):
            made.where(condition, copy=False)
        if self.order:
            made.order_by(*self.order, copy=False)
        return made.limit(self.limit, copy=False) if self.limit is not None else made

    def join(self, table: exp.Expression, condition: exp.Expression, kind: str = "") -> None:
        """Add a JOIN."""
        self.joins.append((table, condition, kind))


def quoted(name: str) -> exp.Identifier:
    """A name as an identifier."""
    return exp.to_identifier(name, quoted=True)


def column(alias: str, name: str) -> exp.Column:
    """A column of an alias. `rowid` is no name but a word of the engine."""
    if name == "rowid":
        return exp.Column(this=exp.to_identifier("rowid", quoted=False), table=quoted(alias))
    return exp.Column(this=quoted(name), table=quoted(alias))


def columns(alias: str, names: Iterable[str]) -> tuple[exp.Expression, ...]:
    """Columns of an alias."""
    return tuple(column(alias, name) for name in names)


def source(parts: Sequence[str], alias: str) -> exp.Table:
    """A table, with its schema where it has one, under an alias."""
    db = quoted(parts[-2]) if len(parts) > 1 else None
    return exp.Table(this=quoted(parts[-1]), db=db, alias=exp.TableAlias(this=quoted(alias)))


def subquery(select: exp.Query, alias: str) -> exp.Subquery:
    """A SELECT in the place of a table."""
    return exp.Subquery(this=select, alias=exp.TableAlias(this=quoted(alias)))


def nested(select: exp.Query) -> exp.Subquery:
    """A SELECT in parentheses."""
    return exp.Subquery(this=select)


def named(expression: exp.Expression, name: str) -> exp.Alias:
    """An expression AS a name."""
    return exp.Alias(this=expression.copy(), alias=quoted(name))


def every(conditions: Iterable[exp.Expression]) -> exp.Expression:
    """All of the conditions."""
    made = [condition for condition in conditions if not always(condition)]
    if not made:
        return exp.true()
    return reduce(lambda a, b: exp.And(this=a, expression=b), [_within(exp.Or, part) for part in made])


def some(conditions: Iterable[exp.Expression]) -> exp.Expression:
    """One of the conditions."""
    made = list(conditions)
    if any(map(always, made)):
        return exp.true()
    return exp.Paren(this=reduce(lambda a, b: exp.Or(this=a, expression=b), [_within(exp.And, part) for part in made]))


def _within(other: type[exp.Expression], condition: exp.Expression) -> exp.Expression:
    """A condition in parentheses where it is one that binds less."""
    return exp.Paren(this=condition) if isinstance(condition, other) else condition


def always(condition: exp.Expression) -> bool:
    """Whether a condition is TRUE as it stands."""
    return isinstance(condition, exp.Boolean) and bool(condition.this)


def never(condition: exp.Expression) -> exp.Expression:
    """The condition does not hold; unknown counts as not."""
    return exp.Not(this=exp.Coalesce(this=condition.copy(), expressions=[exp.false()]))


def same(left: Iterable[exp.Expression], right: Iterable[exp.Expression]) -> exp.Expression:
    """Equal column by column."""
    pairs = zip(left, right, strict=True)
    return every([exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs])


def present(expression: exp.Expression) -> exp.Expression:
    """IS NOT NULL."""
    return exp.Not(this=exp.Is(this=expression.copy(), expression=exp.Null()))


COMPARED: dict[str, type[exp.Expression]] = {"=": exp.EQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}


def compared(left: exp.Expression, op: str, right: exp.Expression) -> exp.Expression:
    """left op right."""
    return COMPARED[op](this=left.copy(), expression=right.copy())


def lower(expression: exp.Expression) -> exp.Expression:
    """Without regard to capitals."""
    return exp.Lower(this=expression.copy())


def as_text(expression: exp.Expression) -> exp.Expression:
    """CAST to text."""
    return exp.Cast(this=expression.copy(), to=exp.DataType(this=exp.DataType.Type.TEXT))


def joined(*parts: exp.Expression) -> exp.Expression:
    """Texts one after the other."""
    return reduce(lambda a, b: exp.DPipe(this=a, expression=b, safe=True), [part.copy() for part in parts])


def real(expression: exp.Expression) -> exp.Expression:
    """CAST to a number with a fraction, so that a division is never one of whole numbers."""
    return exp.Cast(this=expression.copy(), to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def rounded(expression: exp.Expression, dialect: str) -> exp.Expression:
    """Rounded as calculated numbers are, so that equal sums are equal whatever the order they were added in."""
    inner = expression.copy()
    if dialect == "postgres":  # rounds exact numbers only
        inner = exp.Cast(this=inner, to=exp.DataType(this=exp.DataType.Type.DECIMAL))
    elif dialect != "sqlite":
        inner = real(inner)
    return exp.Round(this=inner, decimals=exp.Literal.number(DECIMALS))


def collated(expression: exp.Expression, dialect: str) -> exp.Expression:
    """Text in the order of its letters' numbers, whatever the server's language is."""
    made = expression.copy()
    return exp.Collate(this=made, expression=quoted("C")) if dialect == "postgres" else made


def digits(expression: exp.Expression, start: int, length: int) -> exp.Expression:
    """Part of a text."""
    return exp.Substring(this=expression.copy(), start=exp.Literal.number(start), length=exp.Literal.number(length))


# -- dates


def bound(place: int, storage: str) -> object:
    """A place in the order of dates as a parameter that a column of that storage is compared with."""
    if storage == YEAR:
        return -(-place // 10_000)
    if storage == EPOCH:
        return int(datetime.combine(day(place), time(), UTC).timestamp())
    return text(place) if storage == ISO else day(place)


def within(expr: Expr, op: str, interval: Interval, parameter: Callable[[object], exp.Expression]) -> exp.Expression:
    """A date against an interval: = inside, < before, > after, <= not after, >= not before."""

    def side(op: str, place: int) -> exp.Expression:
        return compared(expr.sql, op, parameter(bound(place, expr.storage)))

    if op == "=":
        return every([side(">=", interval.low), side("<", interval.high)])
    return side("<" if op in ("<", "<=") else ">=", interval.low if op in ("<", ">=") else interval.high)


def iso(expr: Expr, dialect: str) -> Expr:
    """A date of any storage as text 2009-03-01, so that dates of two storages can be compared."""
    if expr.storage == ISO:
        made = digits(expr.sql, 1, 10)
    elif expr.storage == YEAR:
        made = joined(as_text(expr.sql), exp.Literal.string("-00-00"))
    else:
        made = _written(expr, "%Y-%m-%d", dialect)
    return Expr((made,), expr.kind, ISO)


def part(name: str, expr: Expr, dialect: str) -> Expr:
    """The year, month or day of a date as a date that is less exact; the quarter as text."""
    if name == "year":
        return Expr((_year(expr, dialect),), Kind("date"), YEAR)
    if expr.storage == YEAR:
        return Expr((exp.Null(),), Kind("text" if name == "quarter" else "date"), ISO)
    whole = iso(expr, dialect).sql
    month = digits(whole, 6, 2)
    known = digits(whole, 9, 2) if name == "day" else month
    if name == "day":
        made = whole
    elif name == "month":
        made = joined(digits(whole, 1, 7), exp.Literal.string("-00"))
    else:
        quarter = exp.Case()
        for number, last in enumerate(("03", "06", "09", "12"), 1):
            quarter = quarter.when(compared(month, "<=", exp.Literal.string(last)), exp.Literal.string(f"-Q{number}"))
        made = joined(digits(whole, 1, 4), quarter)
    unknown = exp.Literal.string("00")
    checked = exp.Case().when(exp.NEQ(this=known, expression=unknown), made)
    return Expr((checked,), Kind("text" if name == "quarter" else "date"), ISO)


def _year(expr: Expr, dialect: str) -> exp.Expression:
    if expr.storage == YEAR:
        return expr.sql
    year = digits(expr.sql, 1, 4) if expr.storage == ISO else _written(expr, "%Y", dialect)
    return exp.Cast(this=year, to=exp.DataType(this=exp.DataType.Type.INT))


def _written(expr: Expr, form: str, dialect: str) -> exp.Expression:
    if dialect == "sqlite":
        words = [exp.Literal.string(form), expr.sql]
        if expr.storage == EPOCH:
            words.append(exp.Literal.string("unixepoch"))
        return exp.Anonymous(this="STRFTIME", expressions=words)
    moment = exp.UnixToTime(this=expr.sql) if expr.storage == EPOCH else expr.sql
    return exp.TimeToStr(this=moment, format=exp.Literal.string(form))
