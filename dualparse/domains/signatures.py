"""The functions of the plain dialect, each with the types of its arguments and of its value: one table.

In: nothing. Out: `SIGNATURES`. The checker (`dualparse.domains.typed`) reads arguments by it, the language's page
(`docs/forms.md`) shows it, and whoever writes or completes forms can go by it.

An argument is a kind, or a word in single quotes that stands for itself; `...` at the end of the last: once or more.

    type       the name of a type                       step       a property or relation; `!` follows it backwards
    things     a set of entities                        property   of the things before it: a step, a path, or a number
    set        a set of entities or of values                      worked out about `it`
    value      a set to compare a property with         scalar     one number; inside a property, about `it`
    text       a text, in the same place                table      rows with columns
    op         = != < <= > >=                           n          a plain number, such as 3
    direction  ascending or descending                  unit       a unit of a number, such as km
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

KINDS = (
    *("type", "step", "things", "set", "property", "value", "text", "scalar", "table"),
    *("op", "n", "direction", "unit"),
)
RESULTS = ("things", "set", "property", "scalar", "table", "yes_no")
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
PARTS = ("year", "quarter", "month", "day")
DIRECTIONS = ("ascending", "descending")


@dataclass(frozen=True, slots=True)
class Signature:
    """One way to call a function. `example` is a form over *trails*, or of a library where that has no such thing."""

    name: str
    arguments: tuple[str, ...]
    result: str
    says: str
    example: str = ""

    @property
    def repeats(self) -> bool:
        """Whether the last argument may come again."""
        return self.arguments[-1].endswith("...")

    def kind(self, place: int) -> str:
        """The kind of the argument at a place."""
        return self.arguments[min(place, len(self.arguments) - 1)].removesuffix("...")

    def takes(self, amount: int) -> bool:
        """Whether so many arguments fit."""
        return amount == len(self.arguments) or (self.repeats and amount > len(self.arguments))

    def __str__(self) -> str:
        shown = [part.strip("'") if part.startswith("'") else part.upper() for part in self.arguments]
        return f"( {' '.join([self.name, *shown])} )"


_HUT, _TRAIL = "( all hut )", "( all trail )"
_LOOPS, _LAKES = f"( filter {_TRAIL} loop )", f"( filter {_TRAIL} has_lake )"
_STARTS = f"( group {_TRAIL} start ( count it ) )"


def _row(name: str, arguments: str, result: str, says: str, example: str = "") -> Signature:
    return Signature(name, tuple(arguments.split()), result, says, example)


def _chosen() -> Iterable[Signature]:
    """Things, some of them, and those that rank first."""
    yield _row("all", "type", "things", "every entity of a type", _HUT)
    yield _row(
        "get",
        "set step",
        "set",
        "the values of a property, or the things a relation leads to, each once",
        "( get hut.marmot_hut !passes )",
    )
    yield _row(
        "filter", "things property", "things", "those of which a boolean is true", f"( filter {_HUT} has_showers )"
    )
    yield _row(
        "filter",
        "things property op value",
        "things",
        "those with a value that stands so to one of the others; `!=`: those without an equal one",
        f"( filter {_HUT} elevation > ( number 2000 m ) )",
    )
    yield _row(
        "filter",
        "things property 'between' value value",
        "things",
        "those with a value from the first to the second, both included",
        f"( filter {_HUT} price between ( number 30 euro ) ( number 50 euro ) )",
    )
    yield _row(
        "filter",
        "things property 'contains' text",
        "things",
        "those with a text that has the other in it, in capitals or not",
    )
    yield _row(
        "filter", "things property 'missing'", "things", "those without a value", f"( filter {_HUT} price missing )"
    )
    yield _row(
        "filter", "things property 'present'", "things", "those with a value", f"( filter {_TRAIL} opened present )"
    )
    yield _row(
        "filter_count",
        "things step op n",
        "things",
        "those with so many values",
        f"( filter_count {_TRAIL} passes >= 2 )",
    )
    yield _row(
        "filter_count",
        "things step op n set",
        "things",
        "those with so many values among a set",
        f"( filter_count {_TRAIL} passes >= 1 ( filter {_HUT} has_wifi ) )",
    )
    for mode, word in (("max", "greatest"), ("min", "least")):
        example = f"( arg{mode} {_HUT} elevation )"
        yield _row(f"arg{mode}", "things property", "things", f"those with the {word} value, ties included", example)
        grouped = f"( arg{mode} ( group {_TRAIL} difficulty ( count it ) ) )"
        yield _row(f"arg{mode}", "table", "table", f"the rows with the {word} figure, ties included", grouped)
    for mode, word in (("max", "most"), ("min", "fewest")):
        example = f"( arg{mode}_count ( all village ) !start )"
        yield _row(f"arg{mode}_count", "things step", "things", f"those with the {word} values", example)
        among = f"( arg{mode}_count {_TRAIL} passes ( filter {_HUT} has_showers ) )"
        yield _row(f"arg{mode}_count", "things step set", "things", f"those with the {word} values among a set", among)


def _ordered() -> Iterable[Signature]:
    """In order, and the first of an order."""
    for name, word in (("top", "greatest"), ("bottom", "least")):
        yield _row(
            name,
            "n things property",
            "things",
            f"the n with the {word} values, in order; those without a value are left out",
            f"( {name} 3 ( all peak ) elevation )",
        )
        grouped = f"( {name} 2 ( group {_TRAIL} difficulty ( count it ) ) )"
        yield _row(name, "n table", "table", f"the n rows with the {word} figure, in order", grouped)
    yield _row(
        "order",
        "things property direction",
        "things",
        "all of them in order; those without a value come last",
        f"( order {_TRAIL} length ascending )",
    )
    yield _row(
        "order",
        "table direction",
        "table",
        "all rows in the order of their figure",
        f"( order {_STARTS} descending )",
    )


def _combined() -> Iterable[Signature]:
    """Sets of sets."""
    yield _row("and", "set set...", "set", "what is in all of them", f"( and {_LOOPS} {_LAKES} )")
    yield _row("or", "set set...", "set", "what is in one of them", f"( or {_LOOPS} {_LAKES} )")
    yield _row("not", "things", "things", "all other things of their type", "( not ( get ( all trail ) passes ) )")


def _numbers() -> Iterable[Signature]:
    """Numbers, and what is made of them."""
    yield _row("count", "set", "scalar", "how many", f"( count {_HUT} )")
    for name, word in (("sum", "the sum"), ("avg", "the average"), ("min", "the least"), ("max", "the greatest")):
        yield _row(
            name, "things property", "scalar", f"{word} of the values of all of them", f"( {name} {_HUT} price )"
        )
    yield _row(
        "share",
        "things things",
        "scalar",
        "how many of the second are among the first, in percent",
        f"( share ( filter {_HUT} has_wifi ) {_HUT} )",
    )
    yield _row("plus", "scalar scalar", "scalar", "the sum of two numbers", "( plus ( number 3 ) ( number 4 ) )")
    yield _row(
        "minus",
        "scalar scalar",
        "scalar",
        "the difference of two numbers",
        "( minus ( max ( all peak ) elevation ) ( min ( all peak ) elevation ) )",
    )
    yield _row("times", "scalar scalar", "scalar", "the product of two numbers", "( times ( number 3 ) ( number 4 ) )")
    yield _row(
        "divide",
        "scalar scalar",
        "scalar",
        "their quotient; nothing where the second is 0",
        f"( avg {_TRAIL} ( divide ascent length ) )",
    )
    yield _row("in", "unit scalar", "scalar", "the same in another unit", f"( in minute ( avg {_TRAIL} duration ) )")


def _answers() -> Iterable[Signature]:
    """Yes or no."""
    yield _row("exists", "set", "yes_no", "whether there is one", f"( exists ( filter {_HUT} has_wifi ) )")
    for name in OPERATORS:
        says = "whether one of the first stands so to one of the second; nothing where one side is empty"
        example = f"( {name} ( get trail.fox_loop length ) ( get trail.larch_path length ) )"
        yield _row(name, "set set", "yes_no", says, example)


def _tables() -> Iterable[Signature]:
    """Tables, and what takes one apart or leads into one."""
    yield _row(
        "select",
        "things property...",
        "table",
        "the things, and beside each its values",
        f"( select ( filter {_HUT} elevation > ( number 2000 m ) ) elevation )",
    )
    yield _row(
        "row",
        "scalar scalar...",
        "table",
        "several numbers beside each other",
        f"( row ( min {_HUT} price ) ( max {_HUT} price ) )",
    )
    yield _row(
        "group",
        "things property scalar...",
        "table",
        "for each value of the property figures of the things that have it, which are `it`",
        f"( group {_TRAIL} difficulty ( count it ) ( avg it length ) )",
    )
    yield _row(
        "having",
        "table op value",
        "table",
        "the rows of a group whose figure stands so to a number",
        f"( having {_STARTS} >= ( number 3 ) )",
    )
    yield _row(
        "keys",
        "table",
        "set",
        "what the rows of a group are about",
        f"( keys ( argmax {_STARTS} ) )",
    )
    yield _row(
        "path",
        "step step...",
        "property",
        "one step after the other",
        f"( filter {_TRAIL} ( path start elevation ) > ( number 1000 m ) )",
    )
    for name in PARTS:
        yield _row(
            name, "property", "property", f"the {name} of a date", f"( group {_TRAIL} ( {name} opened ) ( count it ) )"
        )


SIGNATURES: tuple[Signature, ...] = (
    *_chosen(),
    *_ordered(),
    *_combined(),
    *_numbers(),
    *_answers(),
    *_tables(),
)


def by_name() -> Mapping[str, tuple[Signature, ...]]:
    """The ways to call each function.

    >>> [str(way) for way in by_name()["argmax"]]
    ['( argmax THINGS PROPERTY )', '( argmax TABLE )']
    """
    found: dict[str, tuple[Signature, ...]] = {}
    for signature in SIGNATURES:
        found[signature.name] = (*found.get(signature.name, ()), signature)
    return found


def markdown() -> str:
    """The table for a page: what is written, what it is, an example."""
    lines = ["| form | what it is | example |", "|---|---|---|"]
    for row in SIGNATURES:
        example = f"`{row.example}`" if row.example else ""
        lines.append(f"| `{row}` | {row.says} | {example} |")
    return "\n".join(lines)
