"""Sets, conditions and properties of a form as pieces of one SELECT with bound parameters.

In: typed nodes, a `Database`. Out: `Rows`, of which `dualparse.database.compile` makes a statement. A set is FROM, JOIN
and WHERE; conditions on what a thing leads to are IN (SELECT ...), so rows are not multiplied and nothing has to be
made distinct again. A number worked out about `it` is a grouped SELECT that is joined once, not a subquery for each
row: engines that cannot take such a subquery apart would run it a million times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date as Day
from datetime import time as Time

from sqlglot import exp

from dualparse.database import pieces as p
from dualparse.database.model import ISO, NATIVE, Database, Link, Property, Relation, Table, entity_key
from dualparse.database.pieces import Expr, Rows
from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative
from dualparse.domains.nodes import Kind, Step
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.values import TRUE, Value, words_of

Test = Callable[[Expr], exp.Expression]
_TOTALS: dict[str, type[exp.Func]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
_ARITHMETIC: dict[str, type[exp.Binary]] = {"plus": exp.Add, "minus": exp.Sub, "times": exp.Mul, "divide": exp.Div}


class Sets:
    """Sets, conditions and properties of one form."""

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

    @contextmanager
    def about(self, root: Callable[[], Rows]) -> Iterator[None]:
        """Inside, `it` is what `root` makes: its elements, each with what it belongs to as origin."""
        self._roots.append(root)
        yield
        self._roots.pop()

    # -- sets

    def rows(self, node: n.Set) -> Rows:
        """The members of a set."""
        match node:
            case n.All():
                return self.every(node.kind)
            case n.Entity():
                found = self.every(node.kind)
                found.where.append(self._is(found.element, node))
                return found
            case n.It():
                return self._roots[-1]()
            case n.Get():
                return self._get(node)
            case n.Filter():
                found = self.plain(node.of)
                found.where.append(self.condition(found, node))
                return found
            case n.Both() if node.kind.things or n.about_it(node.parts[0]):
                found = self.plain(node.parts[0])
                found.where.extend(self.holds(found, part) for part in node.parts[1:])
                return found
            case n.Either() | n.Others() if node.kind.things:
                found = self.every(node.kind)
                found.where.append(self.holds(found, node))
                return found
            case n.Best():
                return self._best(node)
            case n.Ranked():
                return self._ranked(node)
            case n.Keys():
                return self.keys(node)
        return self._values(node)

    def keys(self, node: n.Keys) -> Rows:
        """What the rows of a group are about."""
        raise NotImplementedError

    def plain(self, node: n.Set) -> Rows:
        """The members of a set as rows that conditions and joins may be added to."""
        found = self.rows(node)
        return found if found.limit is None and not found.order else self.again(found)

    def again(self, found: Rows) -> Rows:
        """The same members, each once: all things of the type that are among them."""
        if not found.element.kind.things:
            inner = found.select([p.named(found.element.sql, "value")]).distinct(copy=False)
            alias = self.alias("found")
            element = Expr((p.column(alias, "value"),), found.element.kind, found.element.storage)
            return Rows(p.subquery(inner, alias), element, True)
        if found.origin:
            return self._pairs(found)
        made = self.every(found.element.kind)
        made.where.append(self.member(made.element.columns, found, found.element.columns))
        return made

    def _pairs(self, found: Rows) -> Rows:
        """The pairs of origin and member, each once."""
        origin = [p.named(part, f"k{place}") for place, part in enumerate(found.origin, 1)]
        keys = [p.named(part, f"e{place}") for place, part in enumerate(found.element.columns, 1)]
        alias = self.alias("pair")
        made = self.every(found.element.kind)
        inner = p.subquery(found.select([*origin, *keys]).distinct(copy=False), alias)
        made.join(inner, p.same(made.element.columns, p.columns(alias, [key.alias for key in keys])))
        made.origin = p.columns(alias, [part.alias for part in origin])
        return made

    def distinct(self, node: n.Set) -> Rows:
        """The members of a set, each once."""
        found = self.plain(node)
        return found if found.distinct else self.again(found)

    def _values(self, node: n.Set) -> Rows:
        """Values that are no column: literals, numbers, unions."""
        if isinstance(node, (n.Either, n.Both)):
            parts = [self.rows(part) for part in node.parts]
            unlike = len({part.element.storage for part in parts}) > 1
            made: exp.Query | None = None
            for part in parts:
                expr = p.iso(part.element, self.dialect) if unlike else part.element
                select = part.select([p.named(expr.sql, "value")])
                if made is not None:
                    together = exp.union if isinstance(node, n.Either) else exp.intersect
                    select = together(made, select, copy=False)
                made = select
            assert made is not None
            storage = ISO if unlike else parts[0].element.storage
        else:
            value = self.number(node)
            made, storage = exp.select(p.named(value.sql, "value")), value.storage
        alias = self.alias("found")
        found = Rows(p.subquery(made, alias), Expr((p.column(alias, "value"),), node.kind, storage), True)
        found.where.append(p.present(found.element.sql))
        return found

    def number(self, node: n.Property | n.Set) -> Expr:
        """A number, or another single value, that no rows are needed for."""
        if isinstance(node, n.Literal):
            return self._literal(node)
        if isinstance(node, n.Total):
            return Expr((p.nested(self.total(node)),), node.kind, self.storage(node))
        if isinstance(node, n.Arithmetic):
            return self._calculated(node, self.number(node.first), self.number(node.second))
        raise LFExecutionError("a number was expected")

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
            return f"{hour:02}:{minute:02}" if self.dialect == "sqlite" else Time(hour, minute)
        if value.degree is not None:
            return int(value.degree) if value.degree == int(value.degree) else value.degree
        return value == TRUE

    def interval(self, value: Interval | Relative) -> Interval:
        """An interval of dates, as seen today."""
        return value.on(self.today) if isinstance(value, Relative) else value

    def _get(self, node: n.Get) -> Rows:
        step = node.step
        if step.back and not step.source.things:
            owner = Kind(step.owner, things=True)
            forward = Step(step.owner, step.name, False, owner, step.source, step.many)
            path = n.Path((forward,), step.source)
            return self.rows(n.Filter(n.All(owner), path, "=", (node.of,), owner))
        return self.follow(self.plain(node.of), step)

    def follow(self, rows: Rows, step: Step, kind: str = "") -> Rows:
        """The rows of what a step leads to; `kind` is that of the JOIN."""
        at, here = self.place(step), rows.element.alias
        source, target = step.source, step.target
        if isinstance(at, Property):
            alias = here
            if at.link is not None:
                alias = self.alias(at.name)
                key = p.columns(here, self.table(source).key)
                rows.join(p.source(at.link.source, alias), p.same(p.columns(alias, at.link.owner), key), kind)
            rows.element = Expr((p.column(alias, at.column),), target, at.storage)
            if not kind:
                rows.where.append(p.present(rows.element.sql))
            rows.distinct = False
            return rows
        alias = self.alias(target.name)
        references = at.references or self.table(Kind(at.target)).key
        owner_key = self.table(Kind(at.owner)).key
        near, far = (references, at.columns) if step.back else (at.columns, references)
        if at.link is not None:
            between = self.alias(at.name)
            mine, other = (at.columns, at.link.owner) if step.back else (at.link.owner, at.columns)
            near, far = (references, owner_key) if step.back else (owner_key, references)
            on = p.same(p.columns(between, mine), p.columns(here, near))
            rows.join(p.source(at.link.source, between), on, kind)
            on = p.same(p.columns(alias, far), p.columns(between, other))
        else:
            on = p.same(p.columns(alias, far), p.columns(here, near))
        rows.join(p.source(self.table(target).source, alias), on, kind)
        rows.element = self.thing(alias, target)
        rows.distinct = rows.distinct and step.back and at.link is None
        return rows

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
        if expr.kind.name == "time" and self.dialect == "sqlite":
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

    # -- properties of the element of rows: joined to them, without a row more or less where there is one value

    def value(self, node: n.Property, rows: Rows, pick: str = "") -> Expr:
        """A property of the element, NULL where it is missing. Of several values the greatest ("max") or the least
        ("min") is picked; without a pick each of them makes a row of its own."""
        match node:
            case n.Path() if not node.many:
                return self._to_one(node, rows)
            case n.Path():
                return self._to_many(node, rows, pick)
            case n.Total() if n.about_it(node):
                kind = rows.element.kind

                def root() -> Rows:
                    made = self.every(kind)
                    made.origin = made.element.columns
                    return made

                with self.about(root):
                    inner = self.total(node)
                return self.beside(rows, rows.element.columns, inner, node)
            case n.Arithmetic():
                return self._calculated(node, self.value(node.first, rows), self.value(node.second, rows))
            case n.Part():
                return p.part(node.name, self.value(node.of, rows), self.dialect)
        return self.number(node)

    def beside(self, rows: Rows, key: Sequence[exp.Expression], inner: exp.Select, node: n.Total) -> Expr:
        """Totals, one for each key, joined to rows that have that key."""
        alias = self.alias("total")
        names = [f"k{place}" for place in range(1, len(key) + 1)]
        rows.join(p.subquery(inner, alias), p.same(p.columns(alias, names), key), "LEFT")
        found: exp.Expression = p.column(alias, "value")
        if node.name == "count":
            found = exp.Coalesce(this=found, expressions=[exp.Literal.number(0)])
        return Expr((found,), node.kind, self.storage(node))

    def _to_one(self, node: n.Path, rows: Rows) -> Expr:
        start, key = rows.element, (rows.element.alias, node.steps)
        if key not in rows.joined:
            distinct = rows.distinct
            for place, step in enumerate(node.steps, 1):
                known = rows.joined.get((start.alias, node.steps[:place]))
                if known is None:
                    known = self.follow(rows, step, "LEFT").element
                    rows.joined[start.alias, node.steps[:place]] = known
                rows.element = known
            rows.element, rows.distinct = start, distinct
        return rows.joined[key]

    def _to_many(self, node: n.Path, rows: Rows, pick: str) -> Expr:
        inner = self.every(rows.element.kind)
        inner.origin = inner.element.columns
        origin = [p.named(part, f"k{place}") for place, part in enumerate(inner.origin, 1)]
        for step in node.steps:
            inner = self.follow(inner, step)
        found = inner.element
        alias = self.alias("found")
        if pick:
            best = p.named((exp.Max if pick == "max" else exp.Min)(this=found.sql), "v1")
            select = inner.select([*origin, best]).group_by(*[part.copy() for part in inner.origin], copy=False)
        else:
            values = [p.named(part, f"v{place}") for place, part in enumerate(found.columns, 1)]
            select = inner.select([*origin, *values]).distinct(copy=False)
        key = p.columns(alias, [part.alias for part in origin])
        rows.join(p.subquery(select, alias), p.same(key, rows.element.columns), "LEFT")
        there = p.columns(alias, [f"v{place}" for place in range(1, len(found.columns) + 1)])
        if not found.kind.things:
            return Expr(there, found.kind, found.storage)
        table = self.table(found.kind)
        last = self.alias(table.name)
        rows.join(p.source(table.source, last), p.same(p.columns(last, table.key), there), "LEFT")
        return self.thing(last, found.kind)

    def _calculated(self, node: n.Arithmetic, first: Expr, second: Expr) -> Expr:
        left, right = p.real(first.sql), p.real(second.sql)
        if node.name == "divide":
            right = exp.Nullif(this=right, expression=exp.Literal.number(0))
        found = _ARITHMETIC[node.name](this=left, expression=right)
        return Expr((p.rounded(exp.Paren(this=found), self.dialect),), node.kind)

    def storage(self, node: n.Total) -> str:
        """How the dates of a least or greatest one are stored."""
        about = node.property or node.of
        if about.kind.name != "date":
            return NATIVE
        if isinstance(about, n.Part):
            return "year" if about.name == "year" else ISO
        if isinstance(about, n.Path):
            place = self.place(about.steps[-1])
            return place.storage if isinstance(place, Property) else NATIVE
        if isinstance(about, n.Total):
            return self.storage(about)
        if isinstance(about, n.Get):
            place = self.place(about.step)
            return place.storage if isinstance(place, Property) else NATIVE
        return ISO

    def total(self, node: n.Total) -> exp.Select:
        """The SELECT of a total: one row, or one for each origin, with columns k1, k2, ..., value."""
        rows = self.distinct(node.of)
        if node.name == "count":
            figure: exp.Expression = exp.Count(this=exp.Star())
        else:
            figure = self.figure(node, rows)
        select = rows.select(
            [*[p.named(k, f"k{place}") for place, k in enumerate(rows.origin, 1)], p.named(figure, "value")]
        )
        return select.group_by(*[part.copy() for part in rows.origin], copy=False) if rows.origin else select

    def figure(self, node: n.Total, rows: Rows) -> exp.Expression:
        """The total of rows, inside their SELECT."""
        if node.name == "count":
            return exp.Count(this=exp.Star())
        expr = rows.element if node.property is None else self.value(node.property, rows)
        figure = _TOTALS[node.name](this=expr.sql)
        return p.rounded(figure, self.dialect) if node.name in ("sum", "avg") else figure

    # -- the best, and rankings

    def _best(self, node: n.Best) -> Rows:
        pick = "max" if node.greatest else "min"
        rows, others = self.distinct(node.of), self.distinct(node.of)
        mine, theirs = self.value(node.property, rows, pick), self.value(node.property, others, pick)
        best = (exp.Max if node.greatest else exp.Min)(this=theirs.sql)
        rows.where.append(exp.EQ(this=mine.sql, expression=p.nested(others.select([best]))))
        return rows

    def _ranked(self, node: n.Ranked) -> Rows:
        rows = self.distinct(node.of)
        value = self.value(node.property, rows, "max" if node.descending else "min")
        if node.limit is not None:
            rows.where.append(p.present(value.sql))
        else:
            rows.order.append(exp.Ordered(this=exp.Is(this=value.sql, expression=exp.Null())))
        rows.order.extend(self.ordered(value, node.descending))
        rows.order.extend(self.ties(rows.element))
        rows.limit = node.limit
        return rows

    def ordered(self, expr: Expr, descending: bool) -> list[exp.Expression]:
        """ORDER BY a value."""
        keys = [expr.sql]
        if expr.kind.name == "text":
            keys = [p.collated(key, self.dialect) for key in (p.lower(expr.sql), expr.sql)]
        return [exp.Ordered(this=key, desc=descending, nulls_first=not descending) for key in keys]

    def ties(self, expr: Expr) -> list[exp.Expression]:
        """ORDER BY what decides between equals: the name, then the key."""
        if not expr.kind.things:
            return self.ordered(expr, False)
        table = self.table(expr.kind)
        names = [p.column(expr.alias, name) for name in table.label]
        other = p.as_text(expr.columns[0]) if len(names) == 1 else exp.Literal.string("")
        known = [exp.Coalesce(this=p.as_text(label), expressions=[other.copy()]) for label in names]
        keys = [p.collated(key, self.dialect) for key in ([p.lower(name) for name in known] + known)]
        kinds = table.key_kinds or ("number",) * len(table.key)
        keys += [
            key.copy() if kind == "number" else p.collated(key, self.dialect)
            for key, kind in zip(expr.columns, kinds, strict=True)
        ]
        return [exp.Ordered(this=key, nulls_first=True) for key in keys]
