"""Conditions of a form as pieces of a SELECT: what is asked of a value, of a thing, of what a path leads to.

In: typed nodes, a `Database`. Out: sqlglot conditions. A path is a chain of IN (SELECT ...), so a condition never
multiplies rows; the value at its end is asked by a `Test`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import date as Day
from datetime import time as Time

from sqlglot import exp

from dualparse.database import pieces as p
from dualparse.database.model import ISO, Database, Link, Property, Relation, Table, entity_key
from dualparse.database.pieces import Expr, Rows
from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative
from dualparse.domains.nodes import Kind, Step
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.values import TRUE, Value, words_of

Test = Callable[[Expr], exp.Expression]
TIMES_AS_TEXT = ("sqlite", "spark")  # engines without a type for a time of day: text such as 10:30


class Conditions(ABC):
    """Names, parameters and conditions of one form; the sets that conditions speak of are made by a subclass."""

    def __init__(self, database: Database, dialect: str, today: Day):
        self.database, self.dialect, self.today = database, dialect, today
        self.parameters: dict[str, object] = {}
        self._names: dict[str, int] = {}
        self._roots: list[Callable[[], Rows]] = []

    # -- names, parameters, tables

    def alias(self, word: str) -> str:
        """A new alias that begins with a word."""
        self._names[word] = self._names.get(word, 0) + 1
        return word if self._names[word] == 1 else f"{word}_{self._names[word]}"

    def parameter(self, value: object) -> exp.Expression:
        """A value as a parameter; the same value is the same parameter."""
        for name, known in self.parameters.items():
            if type(known) is type(value) and known == value:
                return exp.Placeholder(this=name)
        name = f"p{len(self.parameters) + 1}"
        self.parameters[name] = value
        return exp.Placeholder(this=name)

    def table(self, kind: Kind) -> Table:
        """The table of a type."""
        return self.database.by_name[kind.name]

    def every(self, kind: Kind) -> Rows:
        """All rows of a table."""
        table = self.table(kind)
        alias = self.alias(table.name)
        return Rows(p.source(table.source, alias), self.thing(alias, kind), True)

    def thing(self, alias: str, kind: Kind) -> Expr:
        """A thing whose table has an alias."""
        return Expr(p.columns(alias, self.table(kind).key), kind, alias=alias)

    def place(self, step: Step) -> Property | Relation:
        """Where the pairs of a step stand."""
        return self.database.places[step.owner, step.name]

    @abstractmethod
    def rows(self, node: n.Set) -> Rows:
        """The members of a set."""

    @abstractmethod
    def number(self, node: n.Property | n.Set) -> Expr:
        """A number, or another single value, that no rows are needed for."""

    @abstractmethod
    def value(self, node: n.Property, rows: Rows, pick: str = "") -> Expr:
        """A property of the element of rows."""

    # -- literals

    def _literal(self, node: n.Literal) -> Expr:
        value = node.value
        if not isinstance(value, Value):
            low = self.interval(value).low
            return Expr((self.parameter(p.bound(low, ISO)),), node.kind, ISO)
        return Expr((self.parameter(self._python(value)),), node.kind)

    def _python(self, value: Value) -> object:
        """A value as what a driver binds."""
        if value.startswith("(text"):
            return words_of(value)
        if value.startswith("(time"):
            hour, minute = map(int, value[6:-1].split())
            return f"{hour:02}:{minute:02}" if self.dialect in TIMES_AS_TEXT else Time(hour, minute)
        if value.degree is not None:
            return int(value.degree) if value.degree == int(value.degree) else value.degree
        return value == TRUE

    def interval(self, value: Interval | Relative) -> Interval:
        """An interval of dates, as seen today."""
        return value.on(self.today) if isinstance(value, Relative) else value

    # -- conditions

    def member(self, mine: Sequence[exp.Expression], rows: Rows, theirs: Sequence[exp.Expression]) -> exp.Expression:
        """Whether some columns are among those of rows."""
        if rows.limit is None:
            rows.order = []
        elif len(mine) > 1:
            names = [f"e{place}" for place in range(1, len(mine) + 1)]
            alias = self.alias("found")
            inner = rows.select([p.named(part, name) for part, name in zip(theirs, names, strict=True)])
            rows, theirs = Rows(p.subquery(inner, alias), rows.element, True), p.columns(alias, names)
        if len(mine) == 1:
            return exp.In(this=mine[0].copy(), query=p.nested(rows.select(theirs)))
        rows.where.append(p.same(theirs, mine))
        return exp.Exists(this=rows.select([exp.Literal.number(1)]))

    def holds(self, rows: Rows, node: n.Set) -> exp.Expression:
        """Whether the element of some rows is in a set."""
        match node:
            case n.All():
                return exp.true()
            case n.Filter() if not n.about_it(node):
                return p.every([self.holds(rows, node.of), self.condition(rows, node)])
            case n.Both() if node.kind.things:
                return p.every([self.holds(rows, part) for part in node.parts])
            case n.Either():
                return p.some([self.holds(rows, part) for part in node.parts])
            case n.Others():
                return p.never(self.holds(rows, node.of))
        return self.test("=", (node,))(rows.element)

    def condition(self, rows: Rows, node: n.Filter) -> exp.Expression:
        """Whether the element of some rows passes a filter."""
        op = {"!=": "=", "missing": "present"}.get(node.op, node.op)
        test = self.test(op, node.references)
        if isinstance(node.property, n.Path):
            found = self.along(rows.element.alias, node.property.steps, test)
        else:
            found = test(self.value(node.property, rows))
        return p.never(found) if node.op in ("!=", "missing") else found

    def test(self, op: str, references: Sequence[n.Set]) -> Test:
        """What a value is asked: how it stands to references."""
        if op == "present":
            return lambda expr: exp.true() if expr.kind.things else p.present(expr.sql)
        if op == "between":
            low, high = (self.test(o, (reference,)) for o, reference in zip((">=", "<="), references, strict=True))
            return lambda expr: p.every([low(expr), high(expr)])
        (reference,) = references
        if isinstance(reference, n.Either):
            parts = [self.test(op, (part,)) for part in reference.parts]
            return lambda expr: p.some([part(expr) for part in parts])
        if op == "contains":
            return lambda expr: self._contains(expr, reference)
        if reference.kind.things:
            return lambda expr: self._is(expr, reference)
        return lambda expr: self._stands(expr, op, reference)

    def _contains(self, expr: Expr, reference: n.Set) -> exp.Expression:
        if not isinstance(reference, n.Literal) or not isinstance(reference.value, Value):
            raise LFExecutionError("'contains' takes a text that is written")
        words = self.parameter(words_of(reference.value).lower())
        found = exp.StrPosition(this=p.lower(expr.sql), substr=words)
        return exp.GT(this=found, expression=exp.Literal.number(0))

    def _is(self, expr: Expr, reference: n.Set) -> exp.Expression:
        if isinstance(reference, n.Entity):
            try:
                key = entity_key(reference.id, self.table(reference.kind))
            except InputError as error:
                raise LFExecutionError(f"unknown entity {reference.id!r}") from error
            return p.same(expr.columns, [self.parameter(part) for part in key])
        found = self.rows(reference)
        return self.member(expr.columns, found, found.element.columns)

    def _stands(self, expr: Expr, op: str, reference: n.Set) -> exp.Expression:
        if isinstance(reference, n.Literal):
            if not isinstance(reference.value, Value):
                return p.within(expr, op, self.interval(reference.value), self.parameter)
            return p.compared(self._comparable(expr), op, self._written(reference))
        if isinstance(reference, (n.Total, n.Arithmetic)):
            other = self.number(reference)
            if expr.kind.name == "date" and other.storage != expr.storage:
                expr, other = p.iso(expr, self.dialect), p.iso(other, self.dialect)
            return p.compared(expr.sql, op, other.sql)
        found = self.rows(reference)
        other = found.element
        if expr.kind.name == "date" and other.storage != expr.storage:
            expr, other = p.iso(expr, self.dialect), p.iso(other, self.dialect)
        if op == "=":
            return self.member(expr.columns, found, other.columns)
        if found.limit is not None:
            raise LFExecutionError("a ranking of values cannot be compared with")
        bound = (exp.Max if op in ("<", "<=") else exp.Min)(this=other.sql)
        return p.compared(expr.sql, op, p.nested(found.select([bound])))

    def _comparable(self, expr: Expr) -> exp.Expression:
        """A column as what a literal of its kind can be compared with."""
        if expr.kind.name == "boolean" and self.dialect != "sqlite":
            return exp.Cast(this=expr.sql, to=exp.DataType(this=exp.DataType.Type.BOOLEAN))
        if expr.kind.name == "time" and self.dialect in TIMES_AS_TEXT:
            return p.digits(expr.sql, 1, 5)
        return expr.sql

    def _written(self, reference: n.Literal) -> exp.Expression:
        if reference.kind.name == "boolean":
            return exp.true() if reference.value == TRUE else exp.false()
        return self._literal(reference).sql

    def along(self, alias: str, steps: Sequence[Step], test: Test) -> exp.Expression:
        """Whether a path from a table leads to a value that passes a test."""
        step, rest = steps[0], steps[1:]
        at = self.place(step)
        source = self.table(step.source)
        if isinstance(at, Property):
            if at.link is None:
                return test(Expr((p.column(alias, at.column),), step.target, at.storage))
            found = self._link(at.link, at.name)
            inner = found.element.alias
            found.where.append(test(Expr((p.column(inner, at.column),), step.target, at.storage)))
            return self.member(p.columns(alias, source.key), found, p.columns(inner, at.link.owner))
        target = self.every(step.target)
        there = target.element.alias
        references = at.references or self.table(Kind(at.target)).key
        if at.link is not None:
            between = self.alias(at.name)
            key = self.table(Kind(at.owner)).key
            mine, theirs, near, far = (
                (at.columns, at.link.owner, references, key)
                if step.back
                else (at.link.owner, at.columns, key, references)
            )
            on = p.same(p.columns(between, theirs), p.columns(there, far))
            target.join(p.source(at.link.source, between), on)
            near_columns, far_columns = p.columns(alias, near), p.columns(between, mine)
        elif step.back:
            near_columns, far_columns = p.columns(alias, references), p.columns(there, at.columns)
        else:
            near_columns, far_columns = p.columns(alias, at.columns), p.columns(there, references)
        condition = self.along(there, rest, test) if rest else test(target.element)
        if not rest and not step.back and at.link is None and not at.references and not p.always(condition):
            return test(Expr(near_columns, step.target))
        if not p.always(condition):
            target.where.append(condition)
        return self.member(near_columns, target, far_columns)

    def _link(self, link: Link, word: str) -> Rows:
        alias = self.alias(word)
        return Rows(p.source(link.source, alias), Expr((), Kind(word), alias=alias), True)
