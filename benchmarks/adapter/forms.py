"""Forms over a schema, as far as wordings and questions differ by them, and how one is drawn.

A form asks something (`ask`) of things that meet conditions. The number of kinds is small on purpose: each of them has
its wordings (wording.py) and its voices (voices.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.adapter.names import Slot, Slots
from benchmarks.adapter.schema import Link, Property, Schema, Thing

ORDER = ("<", ">", "<=", ">=")
# What is asked of things: themselves; a figure; those at an end of an order; a table.
PLAIN = ("list", "count", "exists")
FIGURES = ("mean", "total", "max", "min")
TABLES = ("group count", "group figure", "group most", "group least", "group having")
PAIRS = ("two most", "two least", "two over", "two under")


@dataclass(frozen=True)
class Condition:
    """`kind` says which of the fields count:

    compare op, values     between values     is / is not / either values     flag / no flag
    link / no link / either link: to named things, values     tally: op, values     none / some: of a link
    than op, values: compared with the same property of a named thing, or with its property `other`
    same: equal to it     inner: a link to things with conditions     missing
    """

    kind: str
    step: Property | Link
    back: bool = False
    op: str = ""
    values: tuple[Slot, ...] = ()
    inner: Things | None = None
    other: Property | None = None


@dataclass(frozen=True)
class Things:
    """Things of a type that meet all conditions, or one of that name."""

    thing: Thing
    conditions: tuple[Condition, ...] = ()
    named: Slot | None = None


@dataclass(frozen=True)
class Form:
    """`ask` says what is asked:

    list count exists   get: the property `by` of the things     distinct: how many different values of `by`
    mean total max min: a figure of the property `by`     most least: by the property; top bottom: so many
    most linked, least linked, top linked: by the number of what `link` leads to
    most sum, least sum, sum: by the sum of property `by` of what `link` leads to
    group count, group figure, group most, group least: by the property or link `key`; figures of `by`
    group having: those of `key` with so many (`op`, `number`)
    order: by the property, `up` or not     share: of the things with conditions among all
    two most, two least: which of two named things, the second is `number`; two over, two under: yes or no
    """

    ask: str
    of: Things
    by: Property | None = None
    link: Link | None = None
    back: bool = False
    key: Property | Link | None = None
    figure: str = ""
    number: Slot | None = None
    op: str = ""
    up: bool = False


def end_of(schema: Schema, link: Link, back: bool) -> Thing:
    return schema.things[link.owner if back else link.target]


@dataclass
class Drawing:
    """Draws forms of one schema; `slots` has the names and numbers they may speak of."""

    schema: Schema
    slots: Slots
    rng: random.Random

    def form(self) -> Form:
        """Any form; those that most questions ask for are drawn more often."""
        makers: list[tuple[Callable[[Thing], Form | None], int]] = [
            (self._listed, 46), (self._got, 12), (self._extreme, 14), (self._linked, 9), (self._figured, 8),
            (self._grouped, 10), (self._summed, 6), (self._distinct, 2), (self._ordered, 2), (self._paired, 3),
            (self._shared, 1),
        ]  # fmt: skip
        while True:
            (make,) = self.rng.choices([each for each, _ in makers], [weight for _, weight in makers])
            found = make(self.rng.choice(list(self.schema.things.values())))
            if found is not None:
                return found

    # -- conditions

    def condition(self, thing: Thing, *, deep: bool = True) -> Condition | None:
        """One condition on things of a type."""
        kinds = {"number": 32, "date": 20, "category": 18, "flag": 14, "link": 24, "count": 12, "inner": 8 * deep}
        for _ in range(8):
            (kind,) = self.rng.choices(list(kinds), list(kinds.values()))
            found = self._condition(kind, thing)
            if found is not None:
                return found
        return None

    def _condition(self, kind: str, thing: Thing) -> Condition | None:
        rng, slots = self.rng, self.slots
        if kind in ("number", "date"):
            found = self.schema.of(thing.name, *(("date", "time") if kind == "date" else ("number",)))
            return self._compared(rng.choice(found)) if found else None
        if kind in ("category", "flag"):
            found = self.schema.of(thing.name, kind)
            if not found:
                return None
            step = rng.choice(found)
            if kind == "flag":
                return Condition(rng.choice(("flag", "flag", "no flag")), step)
            how = rng.choices(("is", "is not", "either", "same", "missing"), (60, 14, 12, 10, 4))[0]
            if how == "missing":
                return Condition(how, step)
            if how == "same":
                return Condition(how, step, values=(slots.name(thing, rng),))
            return Condition(how, step, values=slots.categories(step, 2 if how == "either" else 1, rng))
        steps = self.schema.steps(thing.name)
        if not steps:
            return None
        link, back = rng.choice(steps)
        other = end_of(self.schema, link, back)
        if kind == "link":
            how = rng.choices(("link", "no link", "either link", "same"), (72, 10, 8, 10))[0]
            if how == "same":
                return Condition(how, link, back, values=(slots.name(thing, rng),)) if not back else None
            return Condition(how, link, back, values=slots.names(other, 2 if how == "either link" else 1, rng))
        if kind == "count":
            if not (link.many or back):
                return Condition(rng.choice(("none", "some")), link, back)
            how = rng.choices(("tally", "none", "some"), (60, 30, 10))[0]
            if how == "tally":
                return Condition(how, link, back, rng.choice((*ORDER, ">=", "=")), (slots.count(rng),))
            return Condition(how, link, back)
        inner = self.condition(other, deep=False)
        return Condition("inner", link, back, inner=Things(other, (inner,))) if inner else None

    def _compared(self, step: Property) -> Condition:
        rng = self.rng
        how = rng.choices(("compare", "than", "between", "missing", "either"), (70, 20, 6, 2, 2))[0]
        thing = self.schema.things[step.owner]
        op = rng.choices((*ORDER, "=", "!="), (24, 24, 18, 18, 13, 3))[0]
        if how == "missing":
            return Condition(how, step)
        if how in ("between", "either"):
            return Condition(how, step, values=(self.slots.value(step, rng), self.slots.value(step, rng, again=True)))
        if how == "than":
            others = [p for p in self.schema.of(step.owner, step.kind) if p != step and p.unit == step.unit]
            other = rng.choice(others) if others and rng.random() < 0.4 else None
            return Condition(how, step, op=op, values=(self.slots.name(thing, rng),), other=other)
        return Condition(how, step, op=op, values=(self.slots.value(step, rng),))

    def things(self, thing: Thing, weights: tuple[int, ...] = (40, 45, 15)) -> Things:
        """Things with so many conditions."""
        (count,) = self.rng.choices(range(len(weights)), weights)
        found: list[Condition] = []
        for _ in range(count):
            one = self.condition(thing, deep=count == 1)
            if one is not None and all(one.step != each.step for each in found):
                found.append(one)
        return Things(thing, tuple(found))

    # -- what is asked

    def _listed(self, thing: Thing) -> Form | None:
        (ask,) = self.rng.choices(PLAIN, (72, 22, 6))
        of = self.things(thing, (0, 72, 28) if ask != "count" else (18, 62, 20))
        return Form(ask, of) if of.conditions or ask == "count" else None

    def _got(self, thing: Thing) -> Form | None:
        kinds = ("number", "date", "time", "category", "text")
        found = self.schema.of(thing.name, *kinds)
        if not found:
            return None
        of = Things(thing, named=self.slots.name(thing, self.rng))
        if self.rng.random() < 0.25:
            of = self.things(thing, (20, 80))
        return Form("get", of, self.rng.choice(found))

    def _extreme(self, thing: Thing) -> Form | None:
        found = self.schema.of(thing.name, "number", "date", "time")
        if not found:
            return None
        ask = self.rng.choices(("most", "least", "top", "bottom"), (40, 40, 12, 8))[0]
        of = self.things(thing, (70, 30))
        many = ask in ("top", "bottom")
        return Form(ask, of, self.rng.choice(found), number=self.slots.count(self.rng) if many else None)

    def _linked(self, thing: Thing) -> Form | None:
        steps = [(link, back) for link, back in self.schema.steps(thing.name) if link.many or back]
        if not steps:
            return None
        link, back = self.rng.choice(steps)
        ask = self.rng.choices(("most linked", "least linked", "top linked"), (55, 30, 15))[0]
        number = self.slots.count(self.rng) if ask == "top linked" else None
        return Form(ask, self.things(thing, (85, 15)), link=link, back=back, number=number)

    def _figured(self, thing: Thing) -> Form | None:
        found = self.schema.of(thing.name, "number")
        if not found:
            return None
        ask = self.rng.choices(FIGURES, (45, 30, 13, 12))[0]
        return Form(ask, self.things(thing, (55, 45)), self.rng.choice(found))

    def _keys(self, thing: Thing) -> list[Property | Link]:
        links = [link for link, back in self.schema.steps(thing.name) if not back]
        return [*self.schema.of(thing.name, "category"), *links, *self.schema.of(thing.name, "date")]

    def _grouped(self, thing: Thing) -> Form | None:
        keys, numbers = self._keys(thing), self.schema.of(thing.name, "number")
        if not keys:
            return None
        ask = self.rng.choices(TABLES, (42, 23, 20, 7, 8))[0]
        key = self.rng.choice(keys)
        figure = self.rng.choice(("mean", "total", "max", "min")) if numbers else ""
        of = self.things(thing, (85, 15))
        if ask == "group having":
            op = self.rng.choice((*ORDER, ">=", "="))
            return Form(ask, of, key=key, op=op, number=self.slots.count(self.rng))
        if ask in ("group count", "group most", "group least") and (not figure or self.rng.random() < 0.75):
            return Form(ask, of, key=key)
        return Form(ask, of, self.rng.choice(numbers), key=key, figure=figure) if figure else None

    def _summed(self, thing: Thing) -> Form | None:
        steps = [(link, back) for link, back in self.schema.steps(thing.name) if link.many or back]
        ends = [
            (link, back, by)
            for link, back in steps
            for by in self.schema.of(end_of(self.schema, link, back).name, "number")
        ]
        if not ends:
            return None
        link, back, by = self.rng.choice(ends)
        ask = self.rng.choices(("sum", "most sum", "least sum"), (45, 40, 15))[0]
        of = Things(thing, named=self.slots.name(thing, self.rng)) if ask == "sum" else Things(thing)
        return Form(ask, of, by, link=link, back=back)

    def _distinct(self, thing: Thing) -> Form | None:
        found = self.schema.of(thing.name, "category")
        return Form("distinct", Things(thing), self.rng.choice(found)) if found else None

    def _ordered(self, thing: Thing) -> Form | None:
        found = self.schema.of(thing.name, "number", "date")
        up = self.rng.random() < 0.5
        return Form("order", self.things(thing, (70, 30)), self.rng.choice(found), up=up) if found else None

    def _paired(self, thing: Thing) -> Form | None:
        found = self.schema.of(thing.name, "number", "date")
        names = self.slots.names(thing, 2, self.rng)
        if not found or len(names) < 2:
            return None
        return Form(self.rng.choice(PAIRS), Things(thing, named=names[0]), self.rng.choice(found), number=names[1])

    def _shared(self, thing: Thing) -> Form | None:
        of = self.things(thing, (0, 1))
        return Form("share", of) if of.conditions else None
