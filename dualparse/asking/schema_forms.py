"""Forms over the schema of a database that nobody asked for yet: what is trained on before there are labels, and what a
person words anew on a worksheet.

In: a `Database` and a random generator. Out: forms, one at a time, drawn kind by kind, so that a schema of 600 columns
costs no more memory than one of six. Names stand as placeholders (`track.@0`, `( text customer.country.@0 )`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dualparse.asking.conditions import number_form
from dualparse.asking.measures import is_key
from dualparse.asking.paths import Hop, Ways
from dualparse.database.model import Database, Property

PLACE = "@"
_ASIDE = re.compile(
    r"\( all \S+ \)|\( get (?!it )[^ ()]+ [^ ()]+ \)"
)  # no property of the things, but of one they are compared with
_SMALL, _YEARS = range(1, 6), range(1960, 2026)
_LARGE = (5, 10, 12, 20, 25, 40, 50, 75, 100, 150, 200, 250, 300, 500, 750, 1000)

Amounts = Callable[[Property], Sequence[float]]


@dataclass
class SchemaForms:
    """Draws forms over one schema; `amounts` knows numbers, and years of dates, that a property has."""

    database: Database
    rng: random.Random
    amounts: Amounts = lambda held: ()
    ways: Ways = field(init=False)
    _used: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.ways = Ways(self.database)
        self._tables = [table.name for table in self.database.tables]
        places = self.database.places
        self._asked = {name for _, name in places} | {f"!{owner}.{name}" for owner, name in places}
        # A table with more to ask about comes up more often.
        self._weights = [2 + len(table.parts) + len(self.ways.hops[table.name]) for table in self.database.tables]

    def forms(self) -> Iterator[str]:
        """Forms without end; some come again."""
        kinds: Sequence[tuple[Callable[[str], str], int]] = (
            (self._lookup, 5),
            (self._listed, 7),
            (self._counted, 4),
            (self._best, 4),
            (self._most, 3),
            (self._figure, 3),
            (self._grouped, 3),
            (self._selected, 2),
            (self._topped, 2),
            (self._ordered, 1),
            (self._existing, 1),
            (self._lacking, 1),
        )
        ways, weights = zip(*kinds, strict=True)
        while True:
            self._used = {}
            (table,) = self.rng.choices(self._tables, self._weights)
            (way,) = self.rng.choices(ways, weights)
            form = way(table)
            if form and self._once(form):
                yield form

    def _once(self, form: str) -> bool:
        """Whether a form asks only once about each property and relation: nobody asks for the invoices without lines
        that have the most lines."""
        asked = [word.rpartition(".")[2] for word in _ASIDE.sub(" ", form).split() if word in self._asked]
        return len(asked) == len(set(asked))

    # -- names and values

    def _name(self, kind: str) -> str:
        number = self._used.get(kind, 0)
        self._used[kind] = number + 1
        return f"{kind}.{PLACE}{number}"

    def _value(self, held: Property) -> str:
        if held.kind == "number":
            return number_form(self._amount(held), held.unit)
        if held.kind == "date":
            return f"( date {int(self._amount(held, _YEARS))} -1 -1 )"
        return f"( text {self._name(f'{held.owner}.{held.name}')} )"

    def _amount(self, held: Property, usual: Sequence[float] = _LARGE) -> float:
        return self.rng.choice(self.amounts(held) or usual)

    def _properties(self, table: str, *kinds: str) -> list[Property]:
        held = self.database.by_name[table].properties
        return [each for each in held if each.kind in kinds and not (each.kind == "number" and is_key(each.name))]

    def _named(self, table: str) -> bool:
        """Whether people call the things of a table by name."""
        return bool(self.database.by_name[table].label)

    # -- sets

    def _set(self, table: str, most: int = 2) -> str:
        """The things of a table under no, one or two conditions."""
        made = f"( all {table} )"
        amount = self.rng.choices((0, 1, 2), (2, 5, 2))[0]
        for _ in range(min(amount, most)):
            more = self._filtered(made, table)
            if more and self._once(more):
                made = more
        return made

    def _filtered(self, base: str, table: str) -> str:
        choices = [self._by_value, self._by_relation, self._by_relation, self._by_amount]
        return self.rng.choice(choices)(base, table)

    def _by_value(self, base: str, table: str) -> str:
        rng, here, path = self.rng, table, ""
        onward = [hop for hop in self.ways.hops[table] if not hop.many]
        if onward and rng.random() < 0.15:
            hop = rng.choice(onward)
            here, path = hop.target, hop.word
        label = self.database.by_name[here].label
        held = [
            each
            for each in self._properties(here, "number", "date", "boolean", "text")
            if each.link is None and (each.kind != "text" or each.category or each.column not in label)
        ]
        if not held:
            return ""
        chosen = rng.choice(held)
        name = f"( path {path} {chosen.name} )" if path else chosen.name
        if chosen.kind == "boolean":
            return f"( filter {base} {name} )" if rng.random() < 0.75 else f"( filter {base} {name} != true )"
        if rng.random() < 0.04:
            return f"( filter {base} {name} {rng.choice(('missing', 'present'))} )"
        if chosen.kind == "text":
            return f"( filter {base} {name} {rng.choice(('=', '=', '=', '!='))} {self._value(chosen)} )"
        if chosen.kind == "date":
            return f"( filter {base} {name} {rng.choice(('=', '=', '<', '>'))} {self._value(chosen)} )"
        if rng.random() < 0.1:
            low, high = sorted((self._amount(chosen), self._amount(chosen)))
            if low == high:
                return ""
            limits = f"{number_form(low, chosen.unit)} {number_form(high, chosen.unit)}"
            return f"( filter {base} {name} between {limits} )"
        if rng.random() < 0.12 and not path and self._named(table):
            return f"( filter {base} {name} {rng.choice('<>')} ( get {self._name(table)} {name} ) )"
        return f"( filter {base} {name} {rng.choice(('>', '<', '>=', '<=', '='))} {self._value(chosen)} )"

    def _by_relation(self, base: str, table: str) -> str:
        rng = self.rng
        hops = self.ways.hops[table]
        if not hops:
            return ""
        hop = rng.choice(hops)
        further = [each for each in self.ways.hops[hop.target] if self._named(each.target) and each.target != table]
        if not self._named(hop.target) or (further and rng.random() < 0.15):
            if not further:
                return ""
            last = rng.choice(further)
            return f"( filter {base} ( path {hop.word} {last.word} ) = {self._name(last.target)} )"
        op = rng.choices(("=", "!="), (8, 1))[0]
        value = self._name(hop.target)
        if op == "=" and not hop.many and rng.random() < 0.12:
            value = f"( or {value} {self._name(hop.target)} )"
        elif op == "=" and not hop.many and rng.random() < 0.1 and hop.target != table:
            value = f"( get {self._name(table)} {hop.word} )" if self._named(table) else value
        return f"( filter {base} {hop.word} {op} {value} )"

    def _by_amount(self, base: str, table: str) -> str:
        rng = self.rng
        many = [hop for hop in self.ways.hops[table] if hop.many]
        if not many:
            return ""
        hop = rng.choice(many)
        if rng.random() < 0.3:
            return f"( filter {base} {hop.word} missing )"
        op, amount = rng.choice((">", ">=", "=", "<")), rng.choice(_SMALL)
        amount += op == "<" and amount == 1  # fewer than 1 is none
        return f"( filter {base} ( count ( get it {hop.word} ) ) {op} ( number {amount} ) )"

    # -- what is asked

    def _lookup(self, table: str) -> str:
        if not self._named(table):
            return ""
        rng, thing = self.rng, self._name(table)
        words = [each.name for each in self.database.by_name[table].properties if each.column not in self._label(table)]
        hops = self.ways.hops[table]
        if hops and (not words or rng.random() < 0.5):
            hop = rng.choice(hops)
            got = f"( get {thing} {hop.word} )"
            return self._further(got, hop) if rng.random() < 0.3 else got
        return f"( get {thing} {rng.choice(words)} )" if words else ""

    def _label(self, table: str) -> tuple[str, ...]:
        return self.database.by_name[table].label

    def _further(self, got: str, hop: Hop) -> str:
        """A second step, or what is asked of the things."""
        rng = self.rng
        onward = [each for each in self.ways.hops[hop.target] if (each.owner, each.name) != (hop.owner, hop.name)]
        held = [each.name for each in self.database.by_name[hop.target].properties if not each.category]
        if hop.many and rng.random() < 0.4:
            return self._filtered(got, hop.target) or got
        if onward and rng.random() < 0.5:
            return f"( get {got} {rng.choice(onward).word} )"
        return f"( get {got} {rng.choice(held)} )" if held else got

    def _listed(self, table: str) -> str:
        return self._set(table)

    def _counted(self, table: str) -> str:
        rng = self.rng
        many = [hop for hop in self.ways.hops[table] if hop.many]
        if many and self._named(table) and rng.random() < 0.3:
            return f"( count ( get {self._name(table)} {rng.choice(many).word} ) )"
        return f"( count {self._set(table)} )"

    def _best(self, table: str) -> str:
        held = self._properties(table, "number", "date")
        if not held:
            return ""
        return f"( {self.rng.choice(('argmax', 'argmin'))} {self._set(table, 1)} {self.rng.choice(held).name} )"

    def _most(self, table: str) -> str:
        rng = self.rng
        many = [hop for hop in self.ways.hops[table] if hop.many]
        if not many:
            return ""
        hop = rng.choice(many)
        of = f"( get it {hop.word} )"
        figures = self._properties(hop.target, "number")
        if figures and rng.random() < 0.25:
            return f"( {rng.choice(('argmax', 'argmin'))} ( all {table} ) ( sum {of} {rng.choice(figures).name} ) )"
        among = self._by_value(of, hop.target) if rng.random() < 0.25 else of
        return f"( {rng.choices(('argmax', 'argmin'), (3, 1))[0]} {self._set(table, 1)} ( count {among or of} ) )"

    def _figure(self, table: str) -> str:
        held = self._properties(table, "number")
        if not held:
            return ""
        total = self.rng.choices(("avg", "sum", "max", "min"), (4, 3, 2, 2))[0]
        return f"( {total} {self._set(table)} {self.rng.choice(held).name} )"

    def _grouped(self, table: str) -> str:
        rng = self.rng
        keys = [hop.word for hop in self.ways.hops[table] if not hop.many]
        keys += [each.name for each in self._properties(table, "text") if each.category]
        keys += [f"( year {each.name} )" for each in self._properties(table, "date")]
        if not keys:
            return ""
        figures = self._properties(table, "number")
        of = "( count it )"
        if figures and rng.random() < 0.4:
            of = f"( {rng.choice(('sum', 'avg'))} it {rng.choice(figures).name} )"
        made = f"( group {self._set(table, 1)} {rng.choice(keys)} {of} )"
        return f"( top {rng.choice(_SMALL)} {made} )" if rng.random() < 0.2 else made

    def _selected(self, table: str) -> str:
        label = self._label(table)
        held = [each for each in self._properties(table, "number", "date", "text") if each.column not in label]
        return f"( select {self._set(table, 1)} {self.rng.choice(held).name} )" if held else ""

    def _topped(self, table: str) -> str:
        held = self._properties(table, "number", "date")
        if not held:
            return ""
        which, amount = self.rng.choices(("top", "bottom"), (3, 1))[0], self.rng.choice((2, 3, 4, 5, 10))
        return f"( {which} {amount} {self._set(table, 1)} {self.rng.choice(held).name} )"

    def _ordered(self, table: str) -> str:
        held = self._properties(table, "number", "date", "text")
        direction = self.rng.choice(("ascending", "descending"))
        return f"( order {self._set(table, 1)} {self.rng.choice(held).name} {direction} )" if held else ""

    def _existing(self, table: str) -> str:
        return f"( exists {self._filtered(f'( all {table} )', table) or f'( all {table} )'} )"

    def _lacking(self, table: str) -> str:
        many = [hop for hop in self.ways.hops[table] if hop.many]
        return f"( filter ( all {table} ) {self.rng.choice(many).word} missing )" if many else ""
