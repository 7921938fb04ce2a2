"""Random small worlds, and random forms over them that the types allow."""

from __future__ import annotations

import random
from collections.abc import Sequence

from dualparse.database.model import entity_id
from dualparse.domains.schema import Declaration, Schema
from dualparse.domains.world import World
from dualparse.lf.values import TRUE, date, number, text, time

TYPES = ("song", "artist", "tag")
DECLARED = (
    Declaration("length", "song", "number", "second"),
    Declaration("copies", "song", "number"),
    Declaration("rating", "song", "number", many=True),
    Declaration("title", "song", "text"),
    Declaration("alias", "song", "text", many=True),
    Declaration("out", "song", "date"),
    Declaration("played", "song", "date", many=True),
    Declaration("at", "song", "time"),
    Declaration("live", "song", "boolean"),
    Declaration("artist", "song", "artist"),
    Declaration("tag", "song", "tag", many=True),
    Declaration("born", "artist", "date"),
    Declaration("title", "artist", "text"),
    Declaration("fee", "artist", "number", "euro"),
    Declaration("mentor", "artist", "artist"),
    Declaration("best", "artist", "song"),
    Declaration("weight", "tag", "number"),
    Declaration("within", "tag", "tag", many=True),
)
SCHEMA = Schema({type: place for place, type in enumerate(TYPES, 1)}, {(d.owner, d.name): d for d in DECLARED})
WORDS = ("Big Gun", "big gun", "Zoo", "Ärger", "ärger", "a%b_c", "(live)", "O'Hara", "", "Gun")
UNITS = {"second": "minute", "euro": "euro", "": ""}


def world(
    rng: random.Random, *, whole_dates: bool = False, words: Sequence[str] = WORDS, letters: Sequence[str] = "abxyAB"
) -> World:
    """A few things of each type, with gaps everywhere; of some dates no more than the year or month is known. `words`
    are its texts, keys begin with `letters`."""
    made = World()
    for type in TYPES:
        for place in range(rng.randint(0, 6)):
            made.entity(entity_id(type, [f"{rng.choice(letters)}{place}"]))
    for declared in DECLARED:
        for thing in made.instances(declared.owner):
            amount = rng.choice((0, 1, 1, 1)) if not declared.many else rng.choice((0, 1, 2, 3))
            told = {value(declared, made, rng, whole_dates, words) for _ in range(amount)}
            for found in sorted(told - {None}, key=str):
                made.add(thing.id, declared.name, found)
    return made


def value(
    declared: Declaration, made: World, rng: random.Random, whole_dates: bool = False, words: Sequence[str] = WORDS
):
    """A value of a property; None where there is no thing to be it."""
    if declared.kind == "number":
        return number(rng.choice((0, 1, 2, 3, 7, 60, 90, 1.5, 2.25)), declared.unit)
    if declared.kind == "text":
        return text(rng.choice(words))
    if declared.kind == "date":
        year, month, day = rng.choice((1999, 2004, 2005)), rng.choice((1, 3, 12)), rng.choice((1, 15, 31))
        known = 1 if whole_dates else rng.random()
        return date(year) if known < 0.1 else date(year, month) if known < 0.2 else date(year, month, day)
    if declared.kind == "time":
        return time(rng.choice((9, 10)), rng.choice((0, 30)))
    if declared.kind == "boolean":
        return TRUE
    things = made.instances(declared.kind)
    return rng.choice(things) if things else None


class Forms:
    """Makes forms. `depth` bounds how deep sets stand in sets."""

    def __init__(self, made: World, rng: random.Random, words: Sequence[str] = WORDS):
        self.world, self.rng, self.words = made, rng, words

    def any(self) -> str:
        rng = self.rng
        return rng.choice(
            (
                lambda: self.things(rng.choice(TYPES), 3),
                lambda: self.things(rng.choice(TYPES), 3),
                lambda: self.values(3),
                lambda: self.number(3),
                lambda: self.table(),
                lambda: self.table(),
                lambda: self.select(),
                lambda: f"( row {self.number(2)} {self.number(2)} )",
                lambda: f"( exists {self.things(rng.choice(TYPES), 2)} )",
                lambda: self.comparison(),
            )
        )()

    def of(self, owner: str, *kinds: str, many: bool = True) -> list[Declaration]:
        return [d for d in DECLARED if d.owner == owner and (not kinds or d.kind in kinds) and (many or not d.many)]

    def things(self, type: str, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            known = self.world.instances(type)
            return rng.choice(known).id if known and rng.random() < 0.3 else f"( all {type} )"
        return rng.choice(
            (
                lambda: self.filter(self.things(type, depth - 1), type, depth - 1),
                lambda: self.filter(self.things(type, depth - 1), type, depth - 1),
                lambda: self.filter(self.things(type, depth - 1), type, depth - 1),
                lambda: self.get(type, depth - 1),
                lambda: self.get(type, depth - 1),
                lambda: f"( and {self.things(type, depth - 1)} {self.things(type, depth - 1)} )",
                lambda: f"( or {self.things(type, depth - 1)} {self.things(type, depth - 1)} )",
                lambda: f"( not {self.things(type, depth - 1)} )",
                lambda: f"( {rng.choice(('argmax', 'argmin'))} {self.things(type, depth - 1)} {self.ranked_by(type)} )",
                lambda: (
                    f"( {rng.choice(('top', 'bottom'))} {rng.randint(1, 3)} {self.things(type, depth - 1)}"
                    f" {self.ranked_by(type)} )"
                ),
                lambda: (
                    f"( order {self.things(type, depth - 1)} {self.ranked_by(type, text=True)}"
                    f" {rng.choice(('ascending', 'descending'))} )"
                ),
                lambda: self.counted(type, depth - 1),
            )
        )()

    def counted(self, type: str, depth: int) -> str:
        step, target = self.rng.choice(self.relations(type))
        among = f" {self.things(target, depth)}" if self.rng.random() < 0.5 else ""
        if self.rng.random() < 0.5:
            return f"( {self.rng.choice(('argmax_count', 'argmin_count'))} {self.things(type, depth)} {step}{among} )"
        return f"( filter_count {self.things(type, depth)} {step} {self.op()} {self.rng.randint(0, 2)}{among} )"

    def relations(self, type: str) -> list[tuple[str, str]]:
        """Steps from a type to things, forwards and backwards."""
        forward = [(d.name, d.kind) for d in DECLARED if d.owner == type and d.kind in TYPES]
        return forward + [(f"!{d.owner}.{d.name}", d.owner) for d in DECLARED if d.kind == type]

    def get(self, type: str, depth: int) -> str:
        """Things of a type that other things lead to."""
        choices = [(d.owner, d.name) for d in DECLARED if d.kind == type]
        choices += [(d.kind, f"!{d.owner}.{d.name}") for d in DECLARED if d.owner == type and d.kind in TYPES]
        owner, step = self.rng.choice(choices)
        literal = self.of(type, "number", "text", "date")
        if self.rng.random() < 0.15:
            declared = self.rng.choice(literal)
            return f"( get {self.written(declared)} !{type}.{declared.name} )"
        return f"( get {self.things(owner, depth)} {step} )"

    def path(self, type: str) -> tuple[str, Declaration | None, str]:
        """A path, the property it ends with (None for things), and the kind of what it leads to."""
        steps, here = [], type
        for _ in range(self.rng.randint(0, 2)):
            step, here = self.rng.choice(self.relations(here))
            steps.append(step)
        literal = [d for d in DECLARED if d.owner == here and d.kind not in TYPES]
        if literal and (not steps or self.rng.random() < 0.7):
            declared = self.rng.choice(literal)
            steps.append(declared.name)
        else:
            declared = None
        if not steps:
            step, here = self.rng.choice(self.relations(here))
            steps.append(step)
        written = steps[0] if len(steps) == 1 else f"( path {' '.join(steps)} )"
        return written, declared, here if declared is None else declared.kind

    def filter(self, things: str, type: str, depth: int) -> str:
        rng = self.rng
        if rng.random() < 0.3:
            return f"( filter {things} {self.figure(type)} {self.op()} {self.plain()} )"
        path, declared, kind = self.path(type)
        if rng.random() < 0.15:
            return f"( filter {things} {path} {rng.choice(('missing', 'present'))} )"
        if declared is None:
            return f"( filter {things} {path} {rng.choice(('=', '!='))} {self.things(kind, depth)} )"
        if kind == "boolean":
            op = rng.choice(("", " = true", " != true"))
            return f"( filter {things} {path}{op} )"
        if kind == "text":
            if rng.random() < 0.4:
                return f"( filter {things} {path} contains ( text {rng.choice(('GUN', 'är', '%', 'b_', 'o'))} ) )"
            return f"( filter {things} {path} {rng.choice(('=', '!='))} {self.reference(declared, depth)} )"
        if kind == "date" and rng.random() < 0.2 and (part := self.part(type)):
            path = part
        if rng.random() < 0.2:
            return f"( filter {things} {path} between {self.written(declared)} {self.written(declared)} )"
        return f"( filter {things} {path} {self.op()} {self.reference(declared, depth)} )"

    def reference(self, declared: Declaration, depth: int) -> str:
        rng = self.rng
        if rng.random() < 0.7:
            return self.written(declared)
        if rng.random() < 0.3:
            return f"( or {self.written(declared)} {self.written(declared)} )"
        if rng.random() < 0.3 and declared.kind == "number":
            return f"( {rng.choice(('avg', 'max'))} {self.things(declared.owner, depth)} {declared.name} )"
        return f"( get {self.things(declared.owner, depth)} {declared.name} )"

    def written(self, declared: Declaration) -> str:
        rng = self.rng
        if declared.kind == "date":
            return rng.choice(
                (
                    "( date 2004 -1 -1 )",
                    "( date 2004 3 -1 )",
                    "( date 2005 12 31 )",
                    "( date 2004 12 -1 )",
                    "( quarter 2004 1 )",
                    "( last year )",
                    "( past 5 month )",
                    "( date 1999 1 15 )",
                    f"( {rng.choice(('today', 'yesterday', 'tomorrow'))} )",
                    f"( {rng.choice(('last', 'this', 'next'))} {rng.choice(('day', 'week', 'month', 'quarter'))} )",
                )
            )
        if declared.kind == "number" and UNITS[declared.unit] == "minute":
            return rng.choice(("( number 1 minute )", "( number 90 second )", "( number 2 second )"))
        found = value(declared, self.world, rng, words=self.words)
        return f"( {found[1:-1]} )"

    def plain(self) -> str:
        return self.rng.choice(("( number 0 )", "( number 1 )", "( number 2 )", "( number 61 )", "( number 1.5 )"))

    def op(self) -> str:
        return self.rng.choice(("=", "!=", "<", "<=", ">", ">="))

    def about_it(self, type: str) -> tuple[str, str]:
        """A set about `it`, and its type."""
        found, here = "it", type
        for _ in range(self.rng.randint(1, 2)):
            step, here = self.rng.choice(self.relations(here))
            found = f"( get {found} {step} )"
            if self.rng.random() < 0.3:
                found = self.filter(found, here, 1)
        if self.rng.random() < 0.2:
            found = f"( and {found} {self.things(here, 1)} )"
        return found, here

    def figure(self, type: str) -> str:
        """A plain number worked out about a thing."""
        found, here = self.about_it(type)
        roll = self.rng.random()
        numbers = [d for d in self.of(here, "number") if d.unit == ""]
        if roll < 0.4 or not numbers:
            return f"( count {found} )"
        declared = self.rng.choice(numbers)
        total = f"( {self.rng.choice(('sum', 'avg', 'min', 'max'))} {found} {declared.name} )"
        if roll > 0.85:
            return f"( {self.rng.choice(('plus', 'minus', 'times', 'divide'))} {total} ( count {found} ) )"
        return total

    def ranked_by(self, type: str, *, text: bool = False) -> str:
        if self.rng.random() < 0.3:
            return self.figure(type)
        if self.rng.random() < 0.1 and (part := self.part(type)):
            return part
        kinds = ("number", "date", "time", "text") if text else ("number", "date", "time")
        for _ in range(10):
            path, declared, kind = self.path(type)
            if declared is not None and kind in kinds:
                return path
        return f"( count ( get it {self.relations(type)[0][0]} ) )"

    def part(self, type: str) -> str:
        """The year or month of a date, where things of the type have one."""
        dates = [d.name for d in self.of(type, "date", many=False)]
        return f"( {self.rng.choice(('year', 'month', 'day'))} {self.rng.choice(dates)} )" if dates else ""

    def values(self, depth: int) -> str:
        declared = self.rng.choice([d for d in DECLARED if d.kind not in TYPES])
        found = f"( get {self.things(declared.owner, depth)} {declared.name} )"
        if self.rng.random() < 0.2:
            other = f"( get {self.things(declared.owner, depth - 1)} {declared.name} )"
            return f"( {self.rng.choice(('and', 'or'))} {found} {other} )"
        return found

    def number(self, depth: int) -> str:
        rng = self.rng
        type = rng.choice(TYPES)
        roll = rng.random()
        if roll < 0.3:
            return f"( count {self.things(type, depth)} )"
        if roll < 0.4:
            return f"( count {self.values(depth)} )"
        if roll < 0.5:
            return f"( share {self.things(type, depth - 1)} {self.things(type, depth - 1)} )"
        if roll < 0.6:
            return f"( {rng.choice(('times', 'divide'))} {self.number(depth - 1)} {self.number(depth - 1)} )"
        if roll < 0.65:
            counts = " ".join(f"( count {self.things(each, depth - 1)} )" for each in rng.choices(TYPES, k=2))
            return f"( {rng.choice(('plus', 'minus'))} {counts} )"
        if roll < 0.7:
            total = rng.choice(("sum", "avg", "min", "max"))
            return f"( in {rng.choice(('minute', 'hour'))} ( {total} {self.things('song', depth - 1)} length ) )"
        if roll < 0.8:
            path = self.ranked_by(type)
            return f"( {rng.choice(('min', 'max'))} {self.things(type, depth)} {path} )"
        numbers = self.of(type, "number")
        about = rng.choice(numbers).name if rng.random() < 0.6 else self.figure(type)
        return f"( {rng.choice(('sum', 'avg'))} {self.things(type, depth)} {about} )"

    def key(self, type: str) -> str:
        dates = [d.name for d in self.of(type, "date", many=False)]
        if dates and self.rng.random() < 0.3:
            return f"( {self.rng.choice(('year', 'month', 'quarter', 'day'))} {self.rng.choice(dates)} )"
        return self.figure(type) if self.rng.random() < 0.1 else self.path(type)[0]

    def group(self, first: str = "") -> str:
        """A group; `first` is its first figure, by which its rows are ranked."""
        type = self.rng.choice(TYPES)
        totals = [first] if first else []
        totals += [self.total(type) for _ in range(self.rng.randint(0 if first else 1, 2))]
        return f"( group {self.things(type, 2)} {self.key(type)} {' '.join(totals)} )"

    def total(self, type: str) -> str:
        """A figure of a group."""
        rng = self.rng
        it = self.filter("it", type, 1) if rng.random() < 0.3 else "it"
        roll = rng.random()
        if roll < 0.4:
            return f"( count {it} )"
        numbers, dates = self.of(type, "number"), self.of(type, "date", "time")
        if roll < 0.5 and dates:
            return f"( {rng.choice(('min', 'max'))} {it} {rng.choice(dates).name} )"
        total = f"( {rng.choice(('sum', 'avg', 'min', 'max'))} {it} {rng.choice(numbers).name} )"
        return f"( {rng.choice(('times', 'divide'))} {total} ( count {it} ) )" if roll > 0.9 else total

    def table(self) -> str:
        rng = self.rng
        counted = "( count it )" if rng.random() < 0.3 else ""  # a figure without a unit
        made = self.group(counted)
        for _ in range(rng.randint(0, 2)):
            having = f"( having {made} {self.op()} {self.plain()} )"
            made = rng.choice(
                (
                    *([having, having] if counted else ()),
                    f"( top {rng.randint(1, 3)} {made} )",
                    f"( bottom {rng.randint(1, 3)} {made} )",
                    f"( argmax {made} )",
                    f"( argmin {made} )",
                    f"( order {made} {rng.choice(('ascending', 'descending'))} )",
                )
            )
        return f"( keys {made} )" if rng.random() < 0.2 else made

    def select(self) -> str:
        type = self.rng.choice(TYPES)
        beside = []
        for _ in range(self.rng.choice((1, 1, 2))):
            figures = (self.path(type)[0], self.path(type)[0], self.figure(type), self.part(type) or self.figure(type))
            beside.append(self.rng.choice(figures))
        return f"( select {self.things(type, 2)} {' '.join(beside)} )"

    def comparison(self) -> str:
        if self.rng.random() < 0.4:
            type = self.rng.choice(TYPES)
            return f"( {self.rng.choice(('=', '!='))} {self.things(type, 2)} {self.things(type, 2)} )"
        declared = self.rng.choice([d for d in DECLARED if d.kind in ("number", "date", "time")])
        first = f"( get {self.things(declared.owner, 2)} {declared.name} )"
        return f"( {self.op()} {first} {self.reference(declared, 1)} )"
