"""Sets, properties and totals of a form as pieces of one SELECT with bound parameters.

In: typed nodes, a `Database`. Out: `Rows`, of which `dualparse.database.compile` makes a statement. A set is FROM, JOIN
and WHERE; conditions on what a thing leads to are IN (SELECT ...), so rows are not multiplied and nothing has to be
made distinct again. A number worked out about `it` is a grouped SELECT that is joined once, not a subquery for each
row: engines that cannot take such a subquery apart would run it a million times.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

from dualparse.database import pieces as p
from dualparse.database.conditions import Conditions
from dualparse.database.model import ISO, NATIVE, Property
from dualparse.database.pieces import Expr, Rows
from dualparse.domains import nodes as n
from dualparse.domains.nodes import Kind, Step
from dualparse.lf.errors import LFExecutionError

_TOTALS: dict[str, type[exp.Expression]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
_ARITHMETIC: dict[str, type[exp.Expression]] = {"plus": exp.Add, "minus": exp.Sub, "times": exp.Mul, "divide": exp.Div}


class Sets(Conditions):
    """Sets, properties and totals of one form."""

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

    @abstractmethod
    def keys(self, node: n.Keys) -> Rows:
        """What the rows of a group are about."""

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
                select: exp.Query = part.select([p.named(expr.sql, "value")])
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
