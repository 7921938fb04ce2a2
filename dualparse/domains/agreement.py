"""Whether kinds agree: what may be compared with what, put in order, added up; numbers are turned into other units.

In: typed nodes. Out: nodes that fit, or `LFExecutionError` with the reason.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dualparse.domains import nodes as n
from dualparse.domains.nodes import Kind, about_it, group_of
from dualparse.domains.units import PLAIN, factor
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.sexpr import Tree, write
from dualparse.lf.values import number

ORDERED = ("number", "date", "time")
NUMBERS = (n.Total, n.Arithmetic)
TABLES = (n.Select, n.Row, n.Group, n.Having, n.BestRows, n.RankedRows)


def single(node: Any, label: str) -> None:
    """Refuse a path of which a thing may have several values."""
    if isinstance(node, n.Path) and node.many:
        raise LFExecutionError(f"{label} may have several values: say ( max it ... ), ( sum it ... )")


def what(node: Any) -> str:
    """A node in words, for errors."""
    if isinstance(node, TABLES):
        return "a table"
    if isinstance(node, (n.Exists, n.Comparison)):
        return "yes or no"
    if isinstance(node, NUMBERS):
        return f"a number ({node.kind})"
    return f"things of type {node.kind}" if node.kind.things else f"values ({node.kind})"


def label_of(about: Any) -> Tree:
    """What to call a property in errors."""
    return " ".join(map(str, about.steps)) if isinstance(about, n.Path) else type(about).__name__.lower()


def ordered(about: Any) -> None:
    """Refuse values without an order."""
    if about.kind.name not in ORDERED:
        raise LFExecutionError(f"the values of {write(label_of(about))!r} are not numbers, dates or times")


def closed(node: Any) -> Any:
    """Refuse what is about `it`; gives the node back."""
    if about_it(node):
        raise LFExecutionError("'it' cannot stand here: only get, filter and and go on from it")
    return node


def same(kind: Kind, other: Kind) -> bool:
    """Whether values of two kinds can be equal as they stand."""
    return kind.name == other.name and factor(kind.unit, other.unit) == 1.0


def one_kind(parts: Any) -> Kind:
    """The kind that all parts have."""
    kinds = [part.kind for part in parts]
    if not all(same(kind, kinds[0]) for kind in kinds):
        raise LFExecutionError(f"elements of different types: {', '.join(sorted({str(kind) for kind in kinds}))}")
    return kinds[0]


def fitting(found: Any, wanted: Kind, label: str) -> Any:
    """A set as one that can be compared with values of a kind; numbers are turned into its unit."""
    if found.kind.name == wanted.name and found.kind.things == wanted.things:
        if wanted.name != "number":
            return found
        turned = scaled(found, wanted.unit)
        if turned is not None:
            return turned
    raise LFExecutionError(f"values of {label!r} have type {wanted}, not {found.kind}")


def scaled(found: Any, unit: str) -> Any:
    """A number in another unit; None where it cannot be."""
    by = factor(found.kind.unit, unit)
    if by is None:
        return None
    kind = Kind("number", unit)
    if isinstance(found, n.Literal):
        return n.Literal(number(found.value.degree * by, unit), kind)  # type: ignore[union-attr,operator]
    if by == 1.0:
        return found
    if isinstance(found, n.Either):
        return n.Either(tuple(scaled(part, unit) for part in found.parts), kind)
    of = found if isinstance(found, NUMBERS) else None
    if of is None:
        return None
    return n.Arithmetic("times", of, n.Literal(number(by), Kind("number")), kind)


def refuse_unit(kind: Kind, unit: str) -> NoReturn:
    """Raise for a unit of something else."""
    raise LFExecutionError(f"a {kind} cannot be told in {unit!r}")


def unit_of(name: str, first: str, second: str) -> str:
    """The unit of what is calculated from numbers of two units."""
    if name in ("plus", "minus"):
        if factor(first, second) != 1.0:
            raise LFExecutionError(f"{first or 'a plain number'} and {second or 'a plain number'} do not add up")
        return first or second
    if name == "times":
        return first if second in PLAIN else second if first in PLAIN else f"{first}*{second}"
    return "" if first == second else first if second in PLAIN else f"{first or 1}/{second}"


def grouping(rows: Any) -> n.Group:
    """The group that a table comes from."""
    found = group_of(rows)
    if found is None:
        raise LFExecutionError("only the rows of a group have keys")
    return found


def figure(rows: Any) -> Any:
    """What the rows of a group are ranked by: its first figure."""
    return grouping(rows).totals[0]
