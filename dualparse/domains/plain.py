"""The plain dialect, run over a world: the reference that a database must agree with.

In: a `World`, and forms such as `( filter ( all trail ) length > ( number 10 km ) )`; the language is on
`docs/forms.md`, its functions in `dualparse.domains.signatures`. Out: an `Answer`, or its denotation.

Decided once, for this executor and for databases alike: a comparison holds if it holds for one value and one
reference, `!=` if no value equals a reference; what is missing equals nothing, is in no sum and in no ranking; sums and
averages run over the values of all things, equal or not, and over nothing give nothing; calculated numbers are rounded
to six decimals; a tie in a ranking goes by name, then by key.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date as Day
from itertools import chain, product

from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative
from dualparse.domains.results import Answer, Cell, answered, columns_of, plain_value
from dualparse.domains.schema import LITERAL_KINDS, Declaration, Schema
from dualparse.domains.typed import Checker
from dualparse.domains.world import World
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.execute import CHARACTERS_A_STEP, MAX_STEPS
from dualparse.lf.values import FALSE, TRUE, Value, date, number, text, words_of

DECIMALS = 6  # of calculated numbers
TIE_STEPS = 5  # what it takes to find the place of one thing among equals
Values = list[Value]
Reference = Value | Interval


class Plain:
    """The plain dialect over one world.

    >>> world = World()
    >>> world.add("hut.marmot_hut", "price", number(48, "euro"))
    >>> plain(world).execute("( get hut.marmot_hut price )")
    '(list (number 48 euro))'
    """

    def __init__(
        self,
        world: World,
        schema: Schema | None = None,
        labels: Mapping[str, str] | None = None,
        *,
        max_steps: int = MAX_STEPS,
    ):
        self.world, self.max_steps = world, max_steps
        self.labels = labels or {}
        self.checker = Checker(schema_of(world, schema), world.names.__contains__)

    def answer(self, form: str, *, today: Day | None = None, seconds: float | None = None) -> Answer:
        """The answer to a form; raises one of the two logical-form errors, also when steps or seconds run out."""
        return self._answer(form, Budget(self.max_steps, seconds), today)

    def execute(self, form: str, *, seconds: float | None = None) -> str:
        """The denotation of a form."""
        budget = Budget(self.max_steps, seconds)
        denotation = self._answer(form, budget, None).denotation
        budget.charge(len(denotation) // CHARACTERS_A_STEP)
        return denotation

    def _answer(self, form: str, budget: Budget, today: Day | None) -> Answer:
        node = self.checker.typed_text(form)
        run = _Run(self.world, self.labels, today or Day.today(), budget)
        return answered(columns_of(node), run.rows(node), node, labels=self.labels)


def plain(world: World, schema: Schema | None = None) -> Plain:
    """The plain dialect over a world; without a schema, what its facts show is what may be said."""
    return Plain(world, schema)


def schema_of(world: World, declared: Schema | None = None) -> Schema:
    """Types and properties of a world's facts, on top of those declared; and which have several values."""
    types = dict(declared.types if declared else {})
    properties = dict(declared.properties if declared else {})
    for type in world.types:
        types.setdefault(type, len(types) + 1)
    kinds = {value_type: kind for kind, value_type in LITERAL_KINDS.items()}
    for label, facts in world.properties.items():
        if label.startswith("!") or label == "type":
            continue
        for subject, values in facts.values.items():
            key = subject.type, label
            if key not in properties:
                value = values[0]
                kind = "number" if value.unit is not None else value.type if value.id else kinds[value.type]
                properties[key] = Declaration(label, subject.type, kind, value.unit or "")
            if len(values) > 1 and not properties[key].many:
                properties[key] = replace(properties[key], many=True)
    return Schema(types, properties)


class Budget:
    """The steps a form has left: about one for every value it looks at; and, where asked for, its seconds."""

    def __init__(self, steps: int, seconds: float | None = None):
        self.steps, self.seconds = steps, seconds
        self._ends = None if seconds is None else time.monotonic() + seconds

    def charge(self, steps: int) -> None:
        """Pay for work before it is done; `LFExecutionError` where that is too much."""
        self.steps -= steps
        if self.steps < 0:
            raise LFExecutionError("too many steps")
        if self._ends is not None and time.monotonic() > self._ends:
            raise LFExecutionError(f"not done within {self.seconds:g} seconds")


class _Run:
    """Runs one typed form."""

    def __init__(self, world: World, labels: Mapping[str, str], today: Day, budget: Budget):
        self.world, self.labels, self.today, self.charge = world, labels, today, budget.charge
        self._found: dict[int, list[Reference]] = {}
        self._sets: dict[int, frozenset[Reference]] = {}
        self._equal: dict[int, frozenset[object] | None] = {}
        self._kept: list[Sequence[Reference]] = []  # so that no other list gets the id of one of them
        self._members: dict[type, Callable[..., Values]] = {
            n.All: lambda node, it: list(self.world.instances(node.kind.name)),
            n.Entity: lambda node, it: [self.world.names[node.id]],
            n.It: lambda node, it: list(it),
            n.Literal: lambda node, it: [self._value(node)],
            n.Get: self._get,
            n.Filter: self._filter,
            n.Both: self._both,
            n.Either: lambda node, it: _once(value for part in node.parts for value in self.members(part, it)),
            n.Others: self._others,
            n.Best: self._best,
            n.Ranked: self._ranked,
            n.Keys: lambda node, it: _once(row[0] for row in self._table(node.of) if row[0] is not None),
            n.Total: self._total,
            n.Arithmetic: self._arithmetic,
            n.Path: self._path,
            n.Part: self._part,
        }

    def rows(self, node: n.Node) -> list[tuple[Cell, ...]]:
        """The rows of a form's answer."""
        if isinstance(node, n.Exists):
            return [(TRUE if self.members(node.of) else FALSE,)]
        if isinstance(node, n.Comparison):
            first, second = self.members(node.first), self.references(node.second)
            if not first or not second:
                return [(None,)]
            return [(TRUE if self._holds(first, node.op, second) else FALSE,)]
        if isinstance(node, (n.Select, n.Row, n.Group, n.Having, n.BestRows, n.RankedRows)):
            return self._table(node)
        return [(value,) for value in self.members(node)]

    # -- sets, properties and numbers: all of them are lists of values

    def members(self, node: n.Set | n.Property, it: Sequence[Value] = ()) -> Values:
        """The members of a set; the values of a property of `it`."""
        found = self._members[type(node)](node, it)
        self.charge(len(found) + 1)
        return found

    def references(self, node: n.Set) -> list[Reference]:
        """What to compare with: a date that is written stays the interval it is. Worked out once."""
        found = self._found.get(id(node))
        if found is None:
            if isinstance(node, n.Either):
                found = [reference for part in node.parts for reference in self.references(part)]
            elif isinstance(node, n.Literal):
                found = [self._interval(node.value) if not isinstance(node.value, Value) else node.value]
            else:
                found = list(self.members(node))
            self._found[id(node)] = found
        return found

    def _interval(self, value: Interval | Relative) -> Interval:
        return value.on(self.today) if isinstance(value, Relative) else value

    def _value(self, node: n.Literal) -> Value:
        if isinstance(node.value, Value):
            return self.world.known.get(node.value, node.value)
        return dated(self._interval(node.value).low)

    def _get(self, node: n.Get, it: Sequence[Value]) -> Values:
        if node.step.back and not node.step.source.things:
            owners = self.world.instances(node.step.owner)
            self.charge(len(owners))
            wanted = self.references(node.of) if not n.about_it(node.of) else self.members(node.of, it)
            return [owner for owner in owners if self._holds(self._told(owner, node.step.name), "=", wanted)]
        return self._follow(self.members(node.of, it), node.step)

    def _follow(self, things: Iterable[Value], step: n.Step) -> Values:
        label = f"!{step.name}" if step.back else step.name
        told = [self._told(thing, label) for thing in things]
        self.charge(sum(map(len, told)))
        found = chain.from_iterable(told)
        return _once(value for value in found if not step.back or value.type == step.owner)

    def _told(self, thing: Value, label: str) -> Sequence[Value]:
        facts = self.world.properties.get(label)
        return facts.values.get(thing, ()) if facts else ()

    def _path(self, node: n.Path, it: Sequence[Value]) -> Values:
        found = list(it)
        for step in node.steps:
            found = self._follow(found, step)
        return found

    def _filter(self, node: n.Filter, it: Sequence[Value]) -> Values:
        references = [self.references(reference) for reference in node.references]
        return [
            thing
            for thing in self.members(node.of, it)
            if self._passes(self.members(node.property, (thing,)), node.op, references)
        ]

    def _passes(self, values: Values, op: str, references: list[list[Reference]]) -> bool:
        if op in ("missing", "present"):
            return bool(values) == (op == "present")
        if op == "contains":
            wanted = [words_of(value).lower() for value in references[0] if isinstance(value, Value)]
            self.charge(len(values) * len(wanted))
            return any(part in words_of(value).lower() for value in values for part in wanted)
        if op == "between":
            return any(self._holds([v], ">=", references[0]) and self._holds([v], "<=", references[1]) for v in values)
        return self._holds(values, op, references[0])

    def _holds(self, values: Sequence[Value], op: str, references: Sequence[Reference]) -> bool:
        if op == "!=":
            return not self._holds(values, "=", references)
        self.charge(len(values) * (1 if op == "=" else len(references)))
        if op == "=" and len(references) > 1:
            equal = self._equals(references)
            if equal is not None:
                return any(_identity(value) in equal for value in values)
            self.charge(len(values) * len(references))
        return any(_stands(value, op, reference) for value in values for reference in references)

    def _equals(self, references: Sequence[Reference]) -> frozenset[object] | None:
        """The references as one set to look values up in; None where intervals are among them."""
        key = id(references)
        if key not in self._equal:
            within = any(isinstance(reference, Interval) for reference in references)
            self._kept.append(references)
            self._equal[key] = None if within else frozenset(_identity(value) for value in references)  # type: ignore[arg-type]
        return self._equal[key]

    def _both(self, node: n.Both, it: Sequence[Value]) -> Values:
        found = self.members(node.parts[0], it)
        for part in node.parts[1:]:
            kept = set(self.members(part, it)) if n.about_it(part) else self._members_once(part)
            found = [value for value in found if value in kept]
        return found

    def _members_once(self, node: n.Set) -> frozenset[Reference]:
        """The members of a set that is the same for all things, worked out once."""
        if id(node) not in self._sets:
            self._sets[id(node)] = frozenset(self.references(node))
        return self._sets[id(node)]

    def _others(self, node: n.Others, it: Sequence[Value]) -> Values:
        without = set(self.members(node.of, it))
        self.charge(len(self.world.instances(node.kind.name)))
        return [thing for thing in self.world.instances(node.kind.name) if thing not in without]

    def _best(self, node: n.Best, it: Sequence[Value]) -> Values:
        pick = max if node.greatest else min
        places = [
            (pick(map(place, values)), thing)
            for thing in self.members(node.of, it)
            if (values := self.members(node.property, (thing,)))
        ]
        best = pick((found for found, _ in places), default=0)
        return [thing for found, thing in places if found == best]

    def _ranked(self, node: n.Ranked, it: Sequence[Value]) -> Values:
        things = self.members(node.of, it)
        self.charge(len(things) * TIE_STEPS)
        things.sort(key=self._tie)
        values = {thing: self.members(node.property, (thing,)) for thing in things}
        having = [thing for thing in things if values[thing]]
        pick = max if node.descending else min
        having.sort(key=lambda thing: pick(map(place, values[thing])), reverse=node.descending)
        if node.limit is None:
            return having + [thing for thing in things if not values[thing]]
        return having[: node.limit]

    def _tie(self, value: Cell) -> tuple[object, ...]:
        """What decides between equals: the name, then the key."""
        if value is None:
            return ()
        if not value.id:
            return (place(value),)
        label = str(plain_value(value, self.labels))
        keys = value.id.rpartition(".")[2].split(",")
        return label.lower(), label, [(0, int(key), "") if key.isdigit() else (1, 0, key) for key in keys]

    # -- numbers

    def _total(self, node: n.Total, it: Sequence[Value]) -> Values:
        things = self.members(node.of, it)
        if node.name == "count":
            return [number(len(things), node.kind.unit)]
        values = things
        if node.property is not None:
            values = [value for thing in things for value in self.members(node.property, (thing,))]
        if not values:
            return []
        if node.name in ("max", "min"):
            return [(max if node.name == "max" else min)(values, key=place)]
        try:
            total = math.fsum([value.degree or 0.0 for value in values])
        except OverflowError as error:
            raise LFExecutionError(f"the {node.name} is too large") from error
        return [calculated(total / len(values) if node.name == "avg" else total, node.kind.unit)]

    def _arithmetic(self, node: n.Arithmetic, it: Sequence[Value]) -> Values:
        first, second = self.members(node.first, it), self.members(node.second, it)
        if not first or not second:
            return []
        a, b = first[0].degree or 0.0, second[0].degree or 0.0
        if node.name == "divide" and b == 0:
            return []
        found = {"plus": a + b, "minus": a - b, "times": a * b, "divide": a / b if b else 0.0}[node.name]
        if not math.isfinite(found):
            raise LFExecutionError(f"the result of {node.name} is too large")
        return [calculated(found, node.kind.unit)]

    def _part(self, node: n.Part, it: Sequence[Value]) -> Values:
        return _once(found for value in self.members(node.of, it) if (found := part_of(node.name, value)) is not None)

    # -- tables

    def _table(self, node: n.Rows) -> list[tuple[Cell, ...]]:
        if isinstance(node, n.Select):
            return [row for thing in self.members(node.of) for row in self._beside(thing, node.properties)]
        if isinstance(node, n.Row):
            return [tuple(next(iter(self.members(part)), None) for part in node.scalars)]
        if isinstance(node, n.Group):
            return self._group(node)
        rows = self._table(node.of)
        having = [row for row in rows if row[1] is not None]
        if isinstance(node, n.Having):
            references = self.references(node.reference)
            return [row for row in having if self._holds([row[1]], node.op, references)]  # type: ignore[list-item]
        if isinstance(node, n.BestRows):
            best = (max if node.greatest else min)((place(row[1]) for row in having), default=0)  # type: ignore[arg-type]
            return [row for row in having if place(row[1]) == best]  # type: ignore[arg-type]
        self.charge(len(rows) * TIE_STEPS)
        having.sort(key=lambda row: self._tie(row[0]))
        having.sort(key=lambda row: place(row[1]), reverse=node.descending)  # type: ignore[arg-type]
        if node.limit is not None:
            return having[: node.limit]
        return having + sorted((row for row in rows if row[1] is None), key=lambda row: self._tie(row[0]))

    def _beside(self, thing: Value, properties: Sequence[n.Property]) -> Iterable[tuple[Cell, ...]]:
        """A thing with its values, each of one property beside each of the others: their number is a product."""
        cells = [self._cells(part, thing) for part in properties]
        self.charge(math.prod(map(len, cells)) * (len(cells) + 1))
        return product([thing], *cells)

    def _cells(self, node: n.Property, thing: Value) -> Sequence[Cell]:
        found = self.members(node, (thing,))
        return sorted(found, key=self._tie) if len(found) > 1 else found or [None]

    def _group(self, node: n.Group) -> list[tuple[Cell, ...]]:
        groups: dict[Value, Values] = {}
        for thing in self.members(node.of):
            for key in self.members(node.key, (thing,)):
                groups.setdefault(key, []).append(thing)
        return [
            (key, *[next(iter(self.members(total, things)), None) for total in node.totals])
            for key, things in groups.items()
        ]


def _once(values: Iterable[Value]) -> Values:
    return list(dict.fromkeys(values))


def calculated(amount: float, unit: str) -> Value:
    """A number that was worked out.

    >>> calculated(0.1 + 0.2, "km")
    '(number 0.3 km)'
    """
    return number(round(amount, DECIMALS), unit)


def place(value: Value) -> float | tuple[str, str]:
    """A value's place in an order: of texts, capitals count last; of times, minutes count.

    >>> from dualparse.lf.values import time
    >>> place(time(10, 30)), place(text("Zoo"))
    (630, ('zoo', 'Zoo'))
    """
    if value.startswith("(time"):
        hour, minute = value[6:-1].split()
        return int(hour) * 60 + int(minute)
    if value.degree is not None:
        return value.degree
    words = words_of(value) if value.startswith("(text") else str(plain_value(value, {}))
    return words.lower(), words


def _identity(value: Value) -> object:
    """What equal values have in common: the number of numbers, dates and times, the text of all others."""
    return str(value) if value.degree is None else place(value)


def _stands(value: Value, op: str, reference: Reference) -> bool:
    """One value against one reference: an interval is before, after, or around it."""
    low, high = (reference.low, reference.high) if isinstance(reference, Interval) else (None, None)
    if low is None or high is None:
        if op == "=":
            return _identity(value) == _identity(reference)  # type: ignore[arg-type]
        low = high = place(reference)  # type: ignore[arg-type,assignment]
        mine = place(value)
        return {"<": mine < low, "<=": mine <= low, ">": mine > low, ">=": mine >= low}[op]  # type: ignore[operator]
    mine = value.degree or 0.0
    return {"=": low <= mine < high, "<": mine < low, "<=": mine < high, ">": mine >= high, ">=": mine >= low}[op]


def dated(place: int) -> Value:
    """The date that stands at a place in the order.

    >>> dated(20090300)
    '(date 2009 3 -1)'
    """
    return date(place // 10_000, place // 100 % 100 or -1, place % 100 or -1)


def part_of(part: str, value: Value) -> Value | None:
    """The year, month or day of a date as a less exact date, its quarter as text; None where it is not known.

    >>> part_of("month", date(2009, 3, 4)), part_of("quarter", date(2009, 3, 4)), part_of("month", date(2009))
    ('(date 2009 3 -1)', '(text 2009-Q1)', None)
    """
    whole = int(value.degree or 0)
    size = {"year": 10_000, "quarter": 100, "month": 100, "day": 1}[part]
    if part != "year" and not whole % (size * 100) // size:
        return None
    if part == "quarter":
        return text(f"{whole // 10_000}-Q{(whole // 100 % 100 + 2) // 3}")
    return dated(whole // size * size)
