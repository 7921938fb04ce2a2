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
ARITHMETIC = ("plus", "minus", "times", "divide")
TOTALS = ("sum", "avg", "min", "max")
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


def _rows() -> Iterable[Signature]:
    hut, trail = "( all hut )", "( all trail )"
    loops, lakes = f"( filter {trail} loop )", f"( filter {trail} has_lake )"
    starts = f"( group {trail} start ( count it ) )"

    def row(name: str, arguments: str, result: str, says: str, example: str = "") -> Signature:
        return Signature(name, tuple(arguments.split()), result, says, example)

    yield row("all", "type", "things", "every entity of a type", hut)
    yield row(
        "get",
        "set step",
        "set",
        "the values of a property, or the things a relation leads to, each once",
        "( get hut.marmot_hut !passes )",
    )
    yield row(
        "filter", "things property", "things", "those of which a boolean is true", f"( filter {hut} has_showers )"
    )
    yield row(
        "filter",
        "things property op value",
        "things",
        "those with a value that stands so to one of the others; `!=`: those without an equal one",
        f"( filter {hut} elevation > ( number 2000 m ) )",
    )
    yield row(
        "filter",
        "things property 'between' value value",
        "things",
        "those with a value from the first to the second, both included",
        f"( filter {hut} price between ( number 30 euro ) ( number 50 euro ) )",
    )
    yield row(
        "filter",
        "things property 'contains' text",
        "things",
        "those with a text that has the other in it, in capitals or not",
    )
    yield row(
        "filter", "things property 'missing'", "things", "those without a value", f"( filter {hut} price missing )"
    )
    yield row(
        "filter", "things property 'present'", "things", "those with a value", f"( filter {trail} opened present )"
    )
    yield row(
        "filter_count",
        "things step op n",
        "things",
        "those with so many values",
        f"( filter_count {trail} passes >= 2 )",
    )
    yield row(
        "filter_count",
        "things step op n set",
        "things",
        "those with so many values among a set",
        f"( filter_count {trail} passes >= 1 ( filter {hut} has_wifi ) )",
    )
    for mode, word in (("max", "greatest"), ("min", "least")):
        example = f"( arg{mode} {hut} elevation )"
        yield row(f"arg{mode}", "things property", "things", f"those with the {word} value, ties included", example)
        grouped = f"( arg{mode} ( group {trail} difficulty ( count it ) ) )"
        yield row(f"arg{mode}", "table", "table", f"the rows with the {word} figure, ties included", grouped)
    for mode, word in (("max", "most"), ("min", "fewest")):
        example = f"( arg{mode}_count ( all village ) !start )"
        yield row(f"arg{mode}_count", "things step", "things", f"those with the {word} values", example)
        among = f"( arg{mode}_count {trail} passes ( filter {hut} has_showers ) )"
        yield row(f"arg{mode}_count", "things step set", "things", f"those with the {word} values among a set", among)
    for name, word in (("top", "greatest"), ("bottom", "least")):
        yield row(
            name,
            "n things property",
            "things",
            f"the n with the {word} values, in order; those without a value are left out",
            f"( {name} 3 ( all peak ) elevation )",
        )
        grouped = f"( {name} 2 ( group {trail} difficulty ( count it ) ) )"
        yield row(name, "n table", "table", f"the n rows with the {word} figure, in order", grouped)
    yield row(
        "order",
        "things property direction",
        "things",
        "all of them in order; those without a value come last",
        f"( order {trail} length ascending )",
    )
    yield row(
        "order",
        "table direction",
        "table",
        "all rows in the order of their figure",
        f"( order {starts} descending )",
    )
    yield row("and", "set set...", "set", "what is in all of them", f"( and {loops} {lakes} )")
    yield row("or", "set set...", "set", "what is in one of them", f"( or {loops} {lakes} )")
    yield row("not", "things", "things", "all other things of their type", "( not ( get ( all trail ) passes ) )")
    yield row("count", "set", "scalar", "how many", f"( count {hut} )")
    for name, word in (("sum", "the sum"), ("avg", "the average"), ("min", "the least"), ("max", "the greatest")):
        yield row(name, "things property", "scalar", f"{word} of the values of all of them", f"( {name} {hut} price )")
    yield row(
        "share",
        "things things",
        "scalar",
        "how many of the second are among the first, in percent",
        f"( share ( filter {hut} has_wifi ) {hut} )",
    )
    yield row("plus", "scalar scalar", "scalar", "the sum of two numbers", "( plus ( number 3 ) ( number 4 ) )")
    yield row(
        "minus",
        "scalar scalar",
        "scalar",
        "the difference of two numbers",
        "( minus ( max ( all peak ) elevation ) ( min ( all peak ) elevation ) )",
    )
    yield row("times", "scalar scalar", "scalar", "the product of two numbers", "( times ( number 3 ) ( number 4 ) )")
    yield row(
        "divide",
        "scalar scalar",
        "scalar",
        "their quotient; nothing where the second is 0",
        f"( avg {trail} ( divide ascent length ) )",
    )
    yield row("in", "unit scalar", "scalar", "the same in another unit", f"( in minute ( avg {trail} duration ) )")
    yield row("exists", "set", "yes_no", "whether there is one", f"( exists ( filter {hut} has_wifi ) )")
    for name in OPERATORS:
        says = "whether one of the first stands so to one of the second; nothing where one side is empty"
        example = f"( {name} ( get trail.fox_loop length ) ( get trail.larch_path length ) )"
        yield row(name, "set set", "yes_no", says, example)
    yield row(
        "select",
        "things property...",
        "table",
        "the things, and beside each its values",
        f"( select ( filter {hut} elevation > ( number 2000 m ) ) elevation )",
    )
    yield row(
        "row",
        "scalar scalar...",
        "table",
        "several numbers beside each other",
        f"( row ( min {hut} price ) ( max {hut} price ) )",
    )
    yield row(
        "group",
        "things property scalar...",
        "table",
        "for each value of the property figures of the things that have it, which are `it`",
        f"( group {trail} difficulty ( count it ) ( avg it length ) )",
    )
    yield row(
        "having",
        "table op value",
        "table",
        "the rows of a group whose figure stands so to a number",
        f"( having {starts} >= ( number 3 ) )",
    )
    yield row(
        "keys",
        "table",
        "set",
        "what the rows of a group are about",
        f"( keys ( argmax {starts} ) )",
    )
    yield row(
        "path",
        "step step...",
        "property",
        "one step after the other",
        f"( filter {trail} ( path start elevation ) > ( number 1000 m ) )",
    )
    for name in PARTS:
        yield row(
            name, "property", "property", f"the {name} of a date", f"( group {trail} ( {name} opened ) ( count it ) )"
        )


SIGNATURES: tuple[Signature, ...] = tuple(_rows())


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
