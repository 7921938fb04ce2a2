"""What becomes of each function of the plain dialect: its typed arguments in, a node of `dualparse.domains.nodes` out.

The table of signatures has said what a function takes; here stands what it asks of the arguments besides, and what is
made of them. Whatever does not fit is one of the two logical-form errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dualparse.domains import nodes as n
from dualparse.domains.agreement import (
    ORDERED,
    closed,
    figure,
    fitting,
    grouping,
    label_of,
    one_kind,
    ordered,
    refuse_unit,
    scaled,
    single,
    unit_of,
)
from dualparse.domains.nodes import COUNT, PERCENT, Kind, Step, about_it
from dualparse.domains.signatures import OPERATORS, PARTS, Signature
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.sexpr import write
from dualparse.lf.values import TRUE, number

MOST_TOP = 1_000_000


def _all(way: Signature, kind: Kind) -> Any:
    return n.All(kind)


def _get(way: Signature, of: Any, step: Step) -> Any:
    if not step.source.things:
        closed(of)
    return n.Get(of, step, step.target)


def _filter(way: Signature, of: Any, about: Any, *rest: Any) -> Any:
    word = next((kind.strip("'") for kind in way.arguments if kind.startswith("'")), "")
    if not rest and not word:
        rest = "=", fitting(n.Literal(TRUE, Kind("boolean")), about.kind, write(label_of(about)))
    op, references = (word, rest) if word else (rest[0], rest[1:])
    if op in ("<", "<=", ">", ">=", "between"):
        ordered(about)
    for reference in references:
        closed(reference)
    return n.Filter(of, about, op, tuple(references), of.kind)


def _filter_count(way: Signature, of: Any, step: Step, op: str, amount: float, among: Any = None) -> Any:
    return n.Filter(of, _counted(of, step, among), op, (n.Literal(number(amount), Kind("number")),), of.kind)


def _counted(of: Any, step: Step, among: Any) -> Any:
    if step.target.name in ORDERED:
        raise LFExecutionError(f"the values of {str(step)!r} are numbers, dates or times, which are not counted")
    found: Any = n.Get(n.It(of.kind), step, step.target)
    if among is not None:
        closed(among)
        found = n.Both((found, fitting(among, step.target, str(step))), step.target)
    return n.Total("count", found, None, COUNT)


def _best(way: Signature, of: Any, about: Any = None) -> Any:
    if about is None:
        figure(of)
        return n.BestRows(of, way.name == "argmax")
    ordered(about)
    return n.Best(closed(of), about, way.name == "argmax", of.kind)


def _best_count(way: Signature, of: Any, step: Step, among: Any = None) -> Any:
    return n.Best(closed(of), _counted(of, step, among), way.name.startswith("argmax"), of.kind)


def _ranked(way: Signature, amount: float, of: Any, about: Any = None) -> Any:
    if amount != int(amount) or not 1 <= amount <= MOST_TOP:
        raise LFExecutionError(f"{way.name} takes a whole number from 1 to {MOST_TOP}")
    if about is None:
        figure(of)
        return n.RankedRows(of, way.name == "top", int(amount))
    ordered(about)
    return n.Ranked(closed(of), about, way.name == "top", int(amount), of.kind)


def _order(way: Signature, of: Any, *rest: Any) -> Any:
    if len(rest) == 1:
        figure(of)
        return n.RankedRows(of, rest[0], None)
    if rest[0].kind.name != "text":
        ordered(rest[0])
    return n.Ranked(closed(of), rest[0], rest[1], None, of.kind)


def _and(way: Signature, *parts: Any) -> Any:
    kind = one_kind(parts)
    if sum(map(about_it, parts)) > 1:
        raise LFExecutionError("only one part of 'and' can speak of 'it'")
    return n.Both(tuple(sorted(parts, key=about_it, reverse=True)), kind)


def _or(way: Signature, *parts: Any) -> Any:
    kind = one_kind(parts)
    for part in parts:
        closed(part)
    return n.Either(parts, kind)


def _not(way: Signature, of: Any) -> Any:
    return n.Others(closed(of), of.kind)


def _count(way: Signature, of: Any) -> Any:
    return n.Total("count", of, None, COUNT)


def _total(way: Signature, of: Any, about: Any) -> Any:
    if way.name in ("sum", "avg") and about.kind.name != "number":
        raise LFExecutionError(f"only numbers have a {way.name}")
    ordered(about)
    return n.Total(way.name, of, about, about.kind)


def _share(way: Signature, some: Any, every: Any) -> Any:
    if sum(map(about_it, (some, every))) > 1:
        raise LFExecutionError("only one part of 'share' can speak of 'it'")
    kind = one_kind((some, every))
    both = n.Both(tuple(sorted((some, every), key=about_it, reverse=True)), kind)
    hundred = n.Literal(number(100), Kind("number"))
    part = n.Arithmetic("times", hundred, n.Total("count", both, None, COUNT), COUNT)
    return n.Arithmetic("divide", part, n.Total("count", every, None, COUNT), PERCENT)


def _arithmetic(way: Signature, first: Any, second: Any) -> Any:
    return n.Arithmetic(way.name, first, second, Kind("number", unit_of(way.name, first.kind.unit, second.kind.unit)))


def _in(way: Signature, unit: str, of: Any) -> Any:
    return scaled(of, unit) or refuse_unit(of.kind, unit)


def _exists(way: Signature, of: Any) -> Any:
    return n.Exists(closed(of))


def _comparison(way: Signature, first: Any, second: Any) -> Any:
    if way.name not in ("=", "!="):
        ordered(first)
    return n.Comparison(way.name, closed(first), closed(fitting(second, first.kind, "the first")))


def _select(way: Signature, of: Any, *about: Any) -> Any:
    return n.Select(closed(of), about)


def _row(way: Signature, *scalars: Any) -> Any:
    return n.Row(scalars)


def _group(way: Signature, of: Any, key: Any, *totals: Any) -> Any:
    for total in totals:
        if not about_it(total):
            raise LFExecutionError("a figure of a group must speak of it: ( count it ), ( sum it PROPERTY )")
    return n.Group(closed(of), key, totals)


def _having(way: Signature, of: Any, op: str, reference: Any) -> Any:
    figure(of)
    return n.Having(of, op, closed(reference))


def _keys(way: Signature, of: Any) -> Any:
    return n.Keys(of, grouping(of).key.kind)


def _path(way: Signature, *steps: Step) -> Any:
    for step in steps[1:]:
        if not step.source.things:
            raise LFExecutionError("a path goes from things to things; only its last step may lead to values")
    return n.Path(steps, steps[-1].target)


def _part(way: Signature, of: Any) -> Any:
    if of.kind.name != "date":
        raise LFExecutionError(f"{write(label_of(of))!r} is no date: it has no {way.name}")
    single(of, way.name)
    return n.Part(way.name, of, Kind("text" if way.name == "quarter" else "date"))


MAKERS: Mapping[str, Callable[..., Any]] = {
    "all": _all,
    "get": _get,
    "filter": _filter,
    "filter_count": _filter_count,
    **dict.fromkeys(("argmax", "argmin"), _best),
    **dict.fromkeys(("argmax_count", "argmin_count"), _best_count),
    **dict.fromkeys(("top", "bottom"), _ranked),
    "order": _order,
    "and": _and,
    "or": _or,
    "not": _not,
    "count": _count,
    **dict.fromkeys(("sum", "avg", "min", "max"), _total),
    "share": _share,
    **dict.fromkeys(("plus", "minus", "times", "divide"), _arithmetic),
    "in": _in,
    "exists": _exists,
    **dict.fromkeys(OPERATORS, _comparison),
    "select": _select,
    "row": _row,
    "group": _group,
    "having": _having,
    "keys": _keys,
    "path": _path,
    **dict.fromkeys(PARTS, _part),
}
