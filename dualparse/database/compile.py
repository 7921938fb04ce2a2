"""Forms as SQL: a form becomes one SELECT with bound parameters.

In: a form, a `Database`. Out: a `Statement`: what is selected of the sets, numbers and tables of the form, with names
for things and in the order that was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date as Day

from sqlglot import exp

from dualparse.database import pieces as p
from dualparse.database.model import Database
from dualparse.database.pieces import Expr, Rows
from dualparse.database.sets import Sets
from dualparse.database.statement import Output, Statement
from dualparse.domains import nodes as n
from dualparse.domains.results import Column, columns_of
from dualparse.domains.typed import Checker

_TABLES = (n.Group, n.Having, n.BestRows, n.RankedRows)


def compile_form(form: str, database: Database, *, today: Day | None = None, dialect: str = "") -> Statement:
    """A form's statement; raises one of the two logical-form errors. Without a dialect it is that of the database."""
    return compile_node(Checker(database.schema).typed_text(form), database, today=today, dialect=dialect)


def compile_node(node: n.Node, database: Database, *, today: Day | None = None, dialect: str = "") -> Statement:
    """The statement of a typed form."""
    return _Compiler(database, dialect or database.dialect, today or Day.today()).statement(node)


class _Compiler(Sets):
    """What is selected."""

    def statement(self, node: n.Node) -> Statement:
        """The statement of a form."""
        names = columns_of(node)
        match node:
            case n.Exists():
                select, outputs = self._yes_no(self._any(node.of), names)
            case n.Comparison():
                select, outputs = self._yes_no(self._compared(node), names)
            case n.Select():
                select, outputs = self._select(node, names)
            case n.Row():
                cells = [self.number(part) for part in node.scalars]
                select = exp.select(*[p.named(cell.sql, f"c{place}") for place, cell in enumerate(cells, 1)])
                outputs = [Output(name, cell.storage) for name, cell in zip(names, cells, strict=True)]
            case n.Group() | n.Having() | n.BestRows() | n.RankedRows():
                select, outputs = self._table(node, names)
            case n.Total():
                select, outputs = self.total(node), [Output(names[0], self.storage(node))]
            case n.Arithmetic() | n.Literal():
                found = self.number(node)
                select, outputs = exp.select(p.named(found.sql, "value")), [Output(names[0], found.storage)]
            case _:
                select, outputs = self._set(node, names)
        used = {placeholder.name for placeholder in select.find_all(exp.Placeholder)}  # `( or X ( all T ) )` needs no X
        parameters = {name: value for name, value in self.parameters.items() if name in used}
        return Statement(select, parameters, tuple(outputs), node, self.dialect)

    # -- sets

    def _set(self, node: n.Set, names: Sequence[Column]) -> tuple[exp.Select, list[Output]]:
        rows = self.rows(node)
        cells, output = self._shown(rows.element, names[0], rows)
        select = rows.select(cells)
        return (select if rows.distinct else select.distinct(copy=False)), [output]

    def _shown(self, expr: Expr, name: Column, rows: Rows, first: int = 1) -> tuple[list[exp.Expression], Output]:
        """What is selected of a value, or of a thing: its key and its name."""
        cells: list[exp.Expression] = [p.named(expr.sql, f"c{first}")]
        if not expr.kind.things:
            return cells, Output(name, expr.storage)
        table = self.table(expr.kind)
        parts = [*expr.columns, *p.columns(expr.alias, table.label)]
        cells = list(p.named(part, f"c{place}") for place, part in enumerate(parts, first))
        return cells, Output(name, key=len(table.key), label=len(table.label))

    def _select(self, node: n.Select, names: Sequence[Column]) -> tuple[exp.Select, list[Output]]:
        rows = self.rows(node.of)
        if not rows.distinct:
            rows = self.again(rows)
        cells, output = self._shown(rows.element, names[0], rows)
        outputs, ties = [output], []
        for part, name in zip(node.properties, names[1:], strict=True):
            value = self.value(part, rows)
            more, output = self._shown(value, name, rows, len(cells) + 1)
            cells += more
            ties += self.ties(value) if isinstance(part, n.Path) and part.many else []
            outputs.append(output)
        if rows.limit is not None and ties:
            rows = self._cut(node.of, rows)
        if rows.order:
            rows.order += ties
        return rows.select(cells), outputs

    def _cut(self, of: n.Set, rows: Rows) -> Rows:
        """Rows whose limit counts things, though a thing may have several rows."""
        inner = self.rows(of)
        rows.limit = None
        rows.where = [self.member(rows.element.columns, inner, inner.element.columns)]
        return rows

    # -- yes or no

    def _any(self, node: n.Set) -> exp.Expression:
        rows = self.rows(node)
        rows.order = [] if rows.limit is None else rows.order
        return exp.Exists(this=rows.select([exp.Literal.number(1)]))

    def _compared(self, node: n.Comparison) -> exp.Expression:
        first = self.rows(node.first)
        test = self.test("=" if node.op == "!=" else node.op, (node.second,))
        filled = [self._any(node.first)]
        if not isinstance(node.second, n.Literal):
            filled.append(self._any(node.second))
        if first.limit is not None:
            first = self.again(first)
        first.where.append(test(first.element))
        holds: exp.Expression = exp.Exists(this=first.select([exp.Literal.number(1)]))
        if node.op == "!=":
            holds = exp.Not(this=holds)
        return exp.Case().when(p.every(filled), holds)

    def _yes_no(self, holds: exp.Expression, names: Sequence[Column]) -> tuple[exp.Select, list[Output]]:
        return exp.select(p.named(holds, "value")), [Output(names[0])]

    # -- groups

    def keys(self, node: n.Keys) -> Rows:
        """What the rows of a group are about, in the order of the rows."""
        grouped = self._grouped(node.of)
        key = grouped.element
        if not node.kind.things:
            self._order(grouped)
            return grouped
        alias = self.alias(self.table(node.kind).name)
        table = self.table(node.kind)
        grouped.join(p.source(table.source, alias), p.same(p.columns(alias, table.key), key.columns))
        grouped.element = self.thing(alias, node.kind)
        self._order(grouped)
        return grouped

    def _table(self, node: n.Rows, names: Sequence[Column]) -> tuple[exp.Select, list[Output]]:
        group = n.group_of(node)
        assert group is not None
        rows = self._grouped(node)
        here = rows.element.alias
        if rows.element.kind.things:
            table = self.table(rows.element.kind)
            alias = self.alias(table.name)
            on = p.same(p.columns(alias, table.key), rows.element.columns)
            rows.join(p.source(table.source, alias), on)
            rows.element = self.thing(alias, rows.element.kind)
        self._order(rows)
        cells, output = self._shown(rows.element, names[0], rows)
        outputs = [output]
        for place, (total, name) in enumerate(zip(group.totals, names[1:], strict=True), 1):
            cells.append(p.named(p.column(here, f"figure{place}"), f"c{len(cells) + 1}"))
            outputs.append(Output(name, self.storage(total) if isinstance(total, n.Total) else ""))
        return rows.select(cells), outputs

    def _order(self, rows: Rows) -> None:
        """The order of a table's rows, which `_grouped` has left open: ties need the names of things."""
        if rows.order:
            rows.order += self.ties(rows.element)

    def _grouped(self, node: n.Rows) -> Rows:
        """The rows of a table: FROM a SELECT with columns key1, key2, ..., figure1, figure2, ..."""
        if isinstance(node, n.Group):
            return self._group(node)
        assert isinstance(node, (n.Having, n.BestRows, n.RankedRows))
        rows = self._within(self._grouped(node.of), keep=not isinstance(node, n.RankedRows))
        figure = p.column(rows.element.alias, "figure1")
        about = n.group_of(node)
        assert about is not None
        kind, total = about.totals[0].kind, about.totals[0]
        expr = Expr((figure,), kind, self.storage(total) if isinstance(total, n.Total) else "native")
        if isinstance(node, n.Having):
            found = self.test("=" if node.op == "!=" else node.op, (node.reference,))(expr)
            rows.where.append(p.never(found) if node.op == "!=" else found)
            rows.where.append(p.present(figure))
        elif isinstance(node, n.BestRows):
            others = self._within(self._grouped(node.of), keep=False)
            best = (exp.Max if node.greatest else exp.Min)(this=p.column(others.element.alias, "figure1"))
            rows.where.append(exp.EQ(this=figure.copy(), expression=p.nested(others.select([best]))))
        else:
            if node.limit is not None:
                rows.where.append(p.present(figure))
            else:
                rows.order.append(exp.Ordered(this=exp.Is(this=figure.copy(), expression=exp.Null())))
            rows.order.extend(self.ordered(expr, node.descending))
            rows.limit = node.limit
        return rows

    def _within(self, rows: Rows, *, keep: bool) -> Rows:
        """Rows that conditions can be added to: a limit counts before them; `keep` their order."""
        if rows.limit is None:
            rows.order = rows.order if keep else []
            return rows
        order = [part.copy() for part in rows.order if keep]
        here, key = rows.element.alias, rows.element
        if key.kind.things:
            table = self.table(key.kind)
            alias = self.alias(table.name)
            rows.join(p.source(table.source, alias), p.same(p.columns(alias, table.key), key.columns))
            rows.element = self.thing(alias, key.kind)
        self._order(rows)
        outer = self.alias("rows")
        star = exp.Column(this=exp.Star(), table=p.quoted(here))
        names = [part.name for part in key.columns]
        for figure in [column for part in order for column in part.find_all(exp.Column)]:
            figure.set("table", p.quoted(outer))
        made = Rows(p.subquery(rows.select([star]), outer), _moved(key, outer, names), True)
        made.order = order
        return made

    def _group(self, node: n.Group) -> Rows:
        """One SELECT with GROUP BY where every figure is of the things as they are; else one for each figure."""
        rows, key = self._by_key(node)
        names = [f"key{place}" for place in range(1, len(key.columns) + 1)]
        simple = all(map(_is_simple, node.totals))
        if simple:
            figures = [self._figure(total, rows) for total in node.totals]
            select = self._keyed(rows, key, names, figures).group_by(*[part.copy() for part in key.columns], copy=False)
        else:
            base = self.alias("keys")
            inner = self._keyed(rows, key, names, []).distinct(copy=False)
            outer = Rows(p.subquery(inner, base), _moved(key, base, names), True)

            def root() -> Rows:
                made, its_key = self._by_key(node)
                made.origin = its_key.columns
                return made

            with self.about(root):
                figures = [self._joined(total, outer) for total in node.totals]
            select = self._keyed(outer, outer.element, names, figures)
        alias = self.alias("rows")
        return Rows(p.subquery(select, alias), _moved(key, alias, names), True)

    def _by_key(self, node: n.Group) -> tuple[Rows, Expr]:
        rows = self.distinct(node.of)
        key = self.value(node.key, rows)
        rows.where.extend(p.present(part) for part in key.columns)
        return rows, key

    def _keyed(self, rows: Rows, key: Expr, names: Sequence[str], figures: Sequence[exp.Expression]) -> exp.Select:
        cells = [p.named(part, name) for part, name in zip(key.columns, names, strict=True)]
        cells += [p.named(figure, f"figure{place}") for place, figure in enumerate(figures, 1)]
        return rows.select(cells)

    def _figure(self, node: n.Property, rows: Rows) -> exp.Expression:
        if isinstance(node, n.Arithmetic):
            first, second = (Expr((self._figure(part, rows),), part.kind) for part in (node.first, node.second))
            return self._calculated(node, first, second).sql
        if isinstance(node, n.Total) and n.about_it(node):
            return self.figure(node, rows)
        return self.number(node).sql

    def _joined(self, node: n.Property, rows: Rows) -> exp.Expression:
        if isinstance(node, n.Arithmetic):
            first, second = (Expr((self._joined(part, rows),), part.kind) for part in (node.first, node.second))
            return self._calculated(node, first, second).sql
        if isinstance(node, n.Total) and n.about_it(node):
            return self.beside(rows, rows.element.columns, self.total(node), node).sql
        return self.number(node).sql


def _moved(expr: Expr, alias: str, names: Sequence[str]) -> Expr:
    """The same value as columns of a SELECT around it."""
    return Expr(p.columns(alias, names), expr.kind, expr.storage, alias)


def _is_simple(node: n.Property) -> bool:
    """Whether a figure can be worked out in the GROUP BY of the things themselves."""
    if isinstance(node, n.Arithmetic):
        return _is_simple(node.first) and _is_simple(node.second)
    if not isinstance(node, n.Total) or not n.about_it(node):
        return True
    return isinstance(node.of, n.It) and (node.property is None or _has_one(node.property))


def _has_one(node: n.Property) -> bool:
    if isinstance(node, n.Arithmetic):
        return _has_one(node.first) and _has_one(node.second)
    return isinstance(node, n.Literal) or (isinstance(node, n.Path) and not node.many)
