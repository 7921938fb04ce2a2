"""What a form about a world may say, as rules whose places have types: which properties a thing has, what can be
compared with what, which values have an order.

In: a `World`, and the tokens forms are written with. Out: `sempre_rules` and `plain_rules`, guides for the two
dialects. A form they lead to is one tree whose every function gets arguments of the right kind and type. What only
running can tell is not theirs: a selection that is empty, two lists that turn out equal. Data of OVERNIGHT has forms
that run only because a selection is empty, and nobody looks at the types of its things; so its rules allow that what a
filter leaves is filtered by any property, and running has to tell.

Places are tuples: `("list", type)` a list of things of a type, `("value", type)` one of them, ...
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from dualparse.domains.world import World
from dualparse.lf.guide import Rules
from dualparse.lf.guide.rules import Body, Symbol
from dualparse.lf.values import BOOLEAN_TYPE, DATE_TYPE, TIME_TYPE, number, read_number

NUMBER, INTEGER = "<number>", "<integer>"  # kinds of tokens
EQUAL, ORDER, COUNT = ("=", "!="), ("<", "<=", ">", ">="), ("=", "<", "<=", ">", ">=")
PLAIN_NUMBER = number(0).type
FORM = ("form",)
WITH_VARIABLE = ("any", "list", "value", "left", "test", "compared", "counted")
VARIABLE = "s"  # what a lambda calls its variable


class Facts:
    """What can be told from a world about types.

    leads    property -> pairs (type of the subject, type of a value), as told
    ordered  properties whose values have an order
    kinds    types of which there are things
    """

    def __init__(self, world: World):
        self.world = world
        self.leads: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for label, facts in world.properties.items():
            if label not in ("type", "!type"):
                for subject, values in facts.values.items():
                    self.leads[label].update((subject.type, value.type) for value in values)
        self.ordered = frozenset(label for label in self.leads if world.index(label).ordered)
        self.things = frozenset(world.types)
        self.types = sorted(self.things | {kind for pairs in self.leads.values() for pair in pairs for kind in pair})

    def ways(self, second: str) -> set[str]:
        """Types of subjects that some property leads from to this type."""
        return {a for pairs in self.leads.values() for a, b in pairs if b == second}

    def from_type(self, first: str) -> Iterator[tuple[str, str]]:
        """Every property of a type, or of any, with the type of its values."""
        for label, pairs in sorted(self.leads.items()):
            yield from ((label, kind) for kind in sorted({b for a, b in pairs if first in ("", a)}))

    def has_order(self, kind: str) -> bool:
        return kind in (DATE_TYPE, TIME_TYPE) or is_number(kind)

    def kinds(self, token: str, *, strict: bool = True) -> tuple[str, ...]:
        """A token by itself; as a name of its type, which the world must know where it is `strict`; as a number."""
        kind = token.rpartition(".")[0]
        known = token in self.world.names or (not strict and kind in self.things)
        found = [token, named(kind)] if known else [token]
        if read_number(token) is not None:
            found += [NUMBER, *([INTEGER] if token.lstrip("+-").isdigit() else [])]
        return tuple(found)

    def literals(self, kind: str) -> Iterator[Body]:
        """Numbers, dates, times, booleans of a type, as both dialects write them."""
        if is_number(kind):
            unit = kind.removesuffix("_number")
            yield ("(", "number", NUMBER, *([unit] if unit else []), ")")
        elif kind == DATE_TYPE:
            yield ("(", "date", INTEGER, INTEGER, INTEGER, ")")
            yield ("(", "date", INTEGER, ")")
        elif kind == TIME_TYPE:
            yield ("(", "time", INTEGER, INTEGER, ")")
        elif kind == BOOLEAN_TYPE:
            yield ("(", "boolean", "true", ")")
            yield ("(", "boolean", "false", ")")
        else:
            yield (named(kind),)


def named(kind: str) -> str:
    """The kind of the tokens that name a thing of a type."""
    return f"<{kind}>"


def is_number(kind: str) -> bool:
    return kind == PLAIN_NUMBER or kind.endswith("_number")


def _available(kinds: Callable[[str], tuple[str, ...]], tokens: Collection[str] | None) -> frozenset[str] | None:
    return None if tokens is None else frozenset(kind for token in tokens for kind in kinds(token))


# -- the plain dialect -------------------------------------------------------------------------------------------------


def plain_rules(world: World, tokens: Collection[str] | None = None) -> Rules:
    """A guide for the plain dialect, in which one thing is as good as a list of one.

    >>> from dualparse.lf.values import name
    >>> world = World()
    >>> world.add("trail.larch_path", "start", name("village.orsaz"))
    >>> place = plain_rules(world).start()
    >>> for token in "( get ( all trail )".split():
    ...     place = place.moves()[token]
    >>> list(place.moves())
    ['start']
    """
    facts = Facts(world)

    def expand(place: tuple) -> Iterable[Body]:
        if place == FORM:
            for kind in facts.types:
                yield from things(kind)
                yield ("(", "count", ("list", kind), ")")
            return
        yield from things(place[1])

    def things(kind: str) -> Iterator[Body]:
        same = ("list", kind)
        yield from facts.literals(kind)
        if kind == BOOLEAN_TYPE:
            yield ("true",)
        if kind in facts.things:
            yield ("(", "all", kind, ")")
        for label, pairs in facts.leads.items():
            for first, second in pairs:
                if second == kind:
                    yield ("(", "get", ("list", first), label, ")")
                    if is_number(kind):
                        yield from (("(", mode, ("list", first), label, ")") for mode in ("sum", "avg"))
        yield ("(", "or", same, same, ")")
        for label, second in facts.from_type(kind):
            yield from chosen(same, label, ("list", second), second)

    def chosen(same: tuple, label: str, values: tuple, second: str) -> Iterator[Body]:
        """Those of some things that a property picks out."""
        if second == BOOLEAN_TYPE:
            yield ("(", "filter", same, label, ")")
        for op in (*EQUAL, *(ORDER if label in facts.ordered else ())):
            yield ("(", "filter", same, label, op, values, ")")
        if label in facts.ordered:
            yield from (("(", mode, same, label, ")") for mode in ("argmax", "argmin"))
            return
        for among in ((), (values,)):
            yield from (("(", mode, same, label, *among, ")") for mode in ("argmax_count", "argmin_count"))
            yield from (("(", "filter_count", same, label, op, NUMBER, *among, ")") for op in (*COUNT, "!="))

    return Rules(expand, FORM, facts.kinds, available=_available(facts.kinds, tokens))


# -- OVERNIGHT's dialect -----------------------------------------------------------------------------------------------


def sempre_rules(world: World, tokens: Collection[str] | None = None) -> Rules:
    """A guide for OVERNIGHT's dialect: forms are calls of `SW.listValue`; a lambda has one variable and none inside.

    `! type` may be written as one token or as two; a guide takes both.
    """
    facts = Facts(world)
    kinds = partial(facts.kinds, strict=False)
    return Rules(
        _Sempre(facts).expand,
        FORM,
        kinds,
        available=_available(kinds, tokens),
        plain=lambda place: (*place[:-1], None) if place[0] in WITH_VARIABLE else place,
    )


class _Sempre:
    """The bodies of every place of OVERNIGHT's dialect. A place ends in the type of the variable in scope, or None."""

    def __init__(self, facts: Facts):
        self.facts, self.things = facts, sorted(facts.things)
        self._makers: dict[str, Callable[..., Iterable[Body]]] = {
            "form": self.form,
            "any": self.any,
            "list": self.lists,
            "value": self.values,
            "left": self.left,
            "test": self.tests,
            "compared": self.compared,
            "counted": self.counted,
            "property": self.properties,
            "ordered": self.ordered,
            "op": self.ops,
            "mode": self.modes,
        }

    def expand(self, place: tuple) -> Iterable[Body]:
        return self._makers[place[0]](*place[1:])

    def form(self) -> Iterator[Body]:
        for kind in self.facts.types:
            yield _call("SW.listValue", ("any", kind, None))
            yield _call("SW.listValue", "(", "call", ".size", ("list", kind, None), ")")

    def any(self, kind: str, variable: str | None) -> Iterator[Body]:
        """A list, or one thing."""
        yield from self.lists(kind, variable)
        yield from self.values(kind, variable)

    def values(self, kind: str, variable: str | None) -> Iterable[Body]:
        return self.facts.literals(kind)

    def lists(self, kind: str, variable: str | None) -> Iterator[Body]:
        same, one, either = ((shape, kind, variable) for shape in ("list", "value", "any"))
        if variable == kind:
            yield ("(", "var", VARIABLE, ")")
        if kind in self.facts.things:
            for subject in (_call("SW.singleton", kind), (kind,)):
                yield from (_call("SW.getProperty", *subject, *way) for way in _strings("!type"))
            for label in sorted(self.facts.leads):
                if kind in self.facts.world.index(label).first:
                    yield from (_call("SW.domain", *way) for way in _strings(label))
            yield from self._chosen(kind, variable)
            yield _call("SW.superlative", same, ("mode",), ("ordered", kind))
            yield _call("SW.countSuperlative", same, ("mode",), ("counted", kind, variable))
        yield _call("SW.filter", ("left", variable), ("test", "", variable))
        yield _call("SW.singleton", one)
        yield _call("SW.concat", same, same)
        yield _call("SW.concat", one, one)
        for first in sorted(self.facts.ways(kind)):
            yield _call("SW.getProperty", ("any", first, variable), ("property", first, kind))
        if self.facts.has_order(kind):
            yield _call("SW.ensureNumericEntity", either)
        if is_number(kind):
            yield from (_call("SW.aggregate", "(", "string", mode, ")", same) for mode in ("sum", "avg"))
        if variable is None:
            for bound in self.things:
                yield ("(", "(", "lambda", VARIABLE, ("list", kind, bound), ")", ("list", bound, None), ")")

    def left(self, variable: str | None) -> Iterator[Body]:
        """What a filter leaves, of whatever type: it may be nothing."""
        for kind in self.things:
            yield from self._chosen(kind, variable)
        yield _call("SW.filter", ("left", variable), ("test", "", variable))

    def _chosen(self, kind: str, variable: str | None) -> Iterator[Body]:
        """Some of a list of things."""
        yield _call("SW.filter", ("list", kind, variable), ("test", kind, variable))
        yield _call("SW.countComparative", ("list", kind, variable), ("compared", kind, variable))

    def tests(self, kind: str, variable: str | None) -> Iterator[Body]:
        """What a filter looks for in things of a type, or any: a property that is true, or how it relates to values."""
        for label, second in self.facts.from_type(kind):
            ops = ("op", *EQUAL, *(ORDER if label in self.facts.ordered or not kind else ()))
            for way in self._properties(label):
                if second == BOOLEAN_TYPE:
                    yield way
                yield (*way, ops, ("any", second, variable))
                yield (*way, ops, ("left", variable))

    def counted(self, kind: str, variable: str | None) -> Iterator[Body]:
        """A property whose values are counted, among some where these are given."""
        for label, second in self.facts.from_type(kind):
            if label not in self.facts.ordered:
                for way in self._properties(label):
                    yield way
                    yield (*way, ("list", second, variable))

    def compared(self, kind: str, variable: str | None) -> Iterator[Body]:
        """The same with a number to compare the count with."""
        threshold = (("op", *COUNT), "(", "number", NUMBER, ")")
        for label, second in self.facts.from_type(kind):
            if label not in self.facts.ordered:
                for way in self._properties(label):
                    yield (*way, *threshold)
                    yield (*way, *threshold, ("list", second, variable))

    def properties(self, first: str, second: str) -> Iterator[Body]:
        """The properties that lead from a type to a type."""
        for label, kind in self.facts.from_type(first):
            if kind == second:
                yield from self._properties(label)

    def ordered(self, first: str) -> Iterator[Body]:
        """The properties of a type whose values have an order."""
        for label, _ in self.facts.from_type(first):
            if label in self.facts.ordered:
                yield from self._properties(label)

    def _properties(self, label: str) -> list[Body]:
        """All ways to write a property."""
        shapes = _strings(label)
        if label.startswith("!"):
            shapes.append(_call("SW.reverse", "(", "string", label[1:], ")"))
        if label in self.facts.ordered:
            shapes += [_call("SW.ensureNumericProperty", *shape) for shape in shapes]
        return shapes

    def ops(self, *signs: str) -> Iterable[Body]:
        return (way for sign in signs for way in _strings(sign))

    def modes(self) -> Iterable[Body]:
        return (way for mode in ("max", "min") for way in _strings(mode))


def _call(name: str, *arguments: Symbol) -> Body:
    return ("(", "call", name, *arguments, ")")


def _strings(word: str) -> list[Body]:
    """A word as an argument; `!type` is one token in some files and two in others."""
    ways = [(word,), ("!", word[1:])] if word.startswith("!") else [(word,)]
    return [("(", "string", *way, ")") for way in ways]
