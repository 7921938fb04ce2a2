"""What a form comes to: columns with their kinds, rows, and what kind of answer that is.

In: rows from an executor. Out: an `Answer`. It prints as a denotation, by which answers are compared: things and values
sorted by their text, `(ranking ...)` where the order was asked for, `(list)` for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dualparse.domains import nodes as n
from dualparse.lf.values import FALSE, TRUE, Value, words_of

ROWS, VALUE, YES_NO, NONE = "rows", "value", "yes_no", "none"
Cell = Value | None
Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer: its name, and the kind and unit of its values. A type's name is the kind of things."""

    name: str
    kind: str
    unit: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer to a form.

    kind       "rows", "value" (one number), "yes_no", or "none": there is nothing, or nothing is recorded
    ordered    whether the order of the rows was asked for
    labels     id of a thing -> its name for people, where the source of the facts has one
    truncated  whether there are more rows than the limit let through
    sql        the statement that gave the rows, where one did
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    kind: str
    ordered: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    truncated: bool = False
    sql: str = ""

    @property
    def denotation(self) -> str:
        """The answer as text; equal answers print alike."""
        if self.kind == NONE:
            return "(list)"
        if len(self.columns) == 1:
            texts = [_text(row[0]) for row in self.rows]
        else:
            texts = [f"(row {' '.join(map(_text, row))})" for row in self.rows]
        if not self.ordered:
            texts.sort()
        head = "ranking" if self.ordered else "list" if len(self.columns) == 1 else "table"
        return f"({head} {' '.join(texts)})"

    @property
    def values(self) -> list[tuple[Plain, ...]]:
        """The rows as plain Python values: names for things, ISO text for dates and times."""
        return [tuple(plain_value(cell, self.labels) for cell in row) for row in self.rows]


def _text(cell: Cell) -> str:
    return "(missing)" if cell is None else cell.text


def plain_value(cell: Cell, labels: Mapping[str, str]) -> Plain:
    """A cell as a plain Python value.

    >>> from dualparse.lf.values import date, name, number
    >>> [plain_value(cell, {}) for cell in (name("hut.marmot_hut"), number(3, "km"), date(1998), None)]
    ['marmot hut', 3, '1998', None]
    """
    if cell is None:
        return None
    if cell.id:
        return labels.get(cell.id) or cell.id.rpartition(".")[2].replace("_", " ")
    if cell.unit is not None and cell.degree is not None:
        return int(cell.degree) if cell.degree == int(cell.degree) else cell.degree
    if cell in (TRUE, FALSE):
        return cell == TRUE
    if cell.startswith("(text"):
        return words_of(cell)
    parts = [part for part in cell[1:-1].split()[1:] if part != "-1"]
    return (":" if cell.startswith("(time") else "-").join(f"{int(part):02}" for part in parts)


def answered(
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    node: n.Node,
    *,
    labels: Mapping[str, str] | None = None,
    truncated: bool = False,
    sql: str = "",
) -> Answer:
    """The answer of a typed form, whose node says which kind of answer its rows are."""
    kind = VALUE if isinstance(node, (n.Total, n.Arithmetic)) else ROWS
    if isinstance(node, (n.Exists, n.Comparison)):
        kind = YES_NO
    if all(cell is None for row in rows for cell in row):
        rows, kind = (), NONE
    return Answer(tuple(columns), tuple(rows), kind, is_ordered(node), labels or {}, truncated, sql)


def is_ordered(node: object) -> bool:
    """Whether a form asks for an order of its rows."""
    if isinstance(node, (n.Select, n.Keys, n.Having, n.BestRows)):
        return is_ordered(node.of)
    return isinstance(node, (n.Ranked, n.RankedRows))


def columns_of(node: n.Node) -> tuple[Column, ...]:
    """The columns of a typed form's answer."""
    while isinstance(node, (n.Having, n.BestRows, n.RankedRows)):
        node = node.of
    if isinstance(node, n.Select):
        return (_column(node.of.kind), *map(_named, node.properties))
    if isinstance(node, n.Row):
        return tuple(map(_named, node.scalars))
    if isinstance(node, n.Group):
        return (_named(node.key), *map(_named, node.totals))
    if isinstance(node, n.Get):
        return (Column(str(node.step), node.kind.name, node.kind.unit),)
    return (_column(node.kind) if not isinstance(node, (n.Total, n.Arithmetic)) else _named(node),)


def _column(kind: n.Kind) -> Column:
    return Column(kind.name, kind.name, kind.unit)


def _named(node: n.Property) -> Column:
    return Column(_label(node), node.kind.name, node.kind.unit)


def _label(node: object) -> str:
    if isinstance(node, n.Path):
        return " ".join(map(str, node.steps))
    if isinstance(node, n.Total):
        return f"{node.name} {_label(node.property)}" if node.property is not None else f"{node.name} {_label(node.of)}"
    if isinstance(node, n.Part):
        return f"{node.name} of {_label(node.of)}"
    if isinstance(node, n.Get):
        return str(node.step)
    if isinstance(node, (n.Filter, n.Both)):
        return _label(node.of if isinstance(node, n.Filter) else node.parts[0])
    if isinstance(node, n.Arithmetic):
        return node.name
    return str(node.kind) if isinstance(node, (n.All, n.It, n.Literal)) else "value"
