"""Forms with their types: the tree that the checker makes of a form and that both executors run.

In: nothing. Out: frozen nodes. A node of a set, a number or a property has a `kind`: what its values are. Shorthands of
the surface (`argmax_count`, `filter_count`, `share`) are gone here: an executor has fewer things to know than a reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from dualparse.domains.intervals import Interval, Relative
from dualparse.lf.values import Value


@dataclass(frozen=True, slots=True)
class Kind:
    """What values are: things of a type, or "number" (with its unit), "text", "date", "time", "boolean"."""

    name: str
    unit: str = ""
    things: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.unit}".strip()


COUNT, PERCENT, YES_NO = Kind("number", "count"), Kind("number", "percent"), Kind("boolean")


@dataclass(frozen=True, slots=True)
class Step:
    """From things to values along a property, or backwards from values to the things that have them.

    owner, name   the property as the schema declares it
    source, target   the kinds it leads from and to, in this direction
    many          one thing may have several
    """

    owner: str
    name: str
    back: bool
    source: Kind
    target: Kind
    many: bool

    def __str__(self) -> str:
        return f"!{self.name}" if self.back else self.name


# Sets. What is "about it" begins, through `of` or one of its `parts`, with `It`.


@dataclass(frozen=True, slots=True)
class All:
    kind: Kind


@dataclass(frozen=True, slots=True)
class Entity:
    id: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class It:
    """The thing a property is worked out for, or the things of one group."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Literal:
    """One value, or an interval of dates."""

    value: Value | Interval | Relative
    kind: Kind


@dataclass(frozen=True, slots=True)
class Get:
    of: Set
    step: Step
    kind: Kind


@dataclass(frozen=True, slots=True)
class Filter:
    """`op` is one of = != < <= > >= (one reference), between (two), contains (one), missing, present (none)."""

    of: Set
    property: Property
    op: str
    references: tuple[Set, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple[Set, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Set, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Others:
    """All things of the type that are not in a set."""

    of: Set
    kind: Kind


@dataclass(frozen=True, slots=True)
class Best:
    of: Set
    property: Property
    greatest: bool
    kind: Kind


@dataclass(frozen=True, slots=True)
class Ranked:
    """In order; the first `limit` of those that have a value, or all."""

    of: Set
    property: Property
    descending: bool
    limit: int | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class Keys:
    of: Rows
    kind: Kind


# Properties of one thing, and numbers.


@dataclass(frozen=True, slots=True)
class Path:
    steps: tuple[Step, ...]
    kind: Kind

    @property
    def many(self) -> bool:
        """Whether one thing may have several values."""
        return any(step.many for step in self.steps)


@dataclass(frozen=True, slots=True)
class Total:
    """count, sum, avg, min or max; without a property, of the set's own members."""

    name: str
    of: Set
    property: Property | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class Arithmetic:
    name: str
    first: Property
    second: Property
    kind: Kind


@dataclass(frozen=True, slots=True)
class Part:
    """The year, month or day of a date as a date that is less exact; the quarter as text."""

    name: str
    of: Property
    kind: Kind


# Tables.


@dataclass(frozen=True, slots=True)
class Select:
    of: Set
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Row:
    scalars: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Group:
    of: Set
    key: Property
    totals: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Having:
    of: Rows
    op: str
    reference: Set


@dataclass(frozen=True, slots=True)
class BestRows:
    of: Rows
    greatest: bool


@dataclass(frozen=True, slots=True)
class RankedRows:
    of: Rows
    descending: bool
    limit: int | None


# Yes or no.


@dataclass(frozen=True, slots=True)
class Exists:
    of: Set
    kind: Kind = YES_NO


@dataclass(frozen=True, slots=True)
class Comparison:
    op: str
    first: Set
    second: Set
    kind: Kind = YES_NO


Property = Path | Total | Arithmetic | Part | Literal
Set = All | Entity | It | Literal | Get | Filter | Both | Either | Others | Best | Ranked | Keys | Total | Arithmetic
Rows = Select | Row | Group | Having | BestRows | RankedRows
Node = Set | Rows | Exists | Comparison


def about_it(node: Node | Property) -> bool:
    """Whether a set is one of `it`, or a number is worked out about it."""
    if isinstance(node, It):
        return True
    if isinstance(node, Both):
        return any(map(about_it, node.parts))
    if isinstance(node, Arithmetic):
        return about_it(node.first) or about_it(node.second)
    if isinstance(node, Path):
        return True
    return isinstance(node, (Get, Filter, Total, Part)) and about_it(node.of)


def group_of(rows: Rows) -> Group | None:
    """The grouping a table comes from, if it does."""
    while isinstance(rows, (Having, BestRows, RankedRows)):
        rows = rows.of
    return rows if isinstance(rows, Group) else None
