"""A guide by rules: a grammar whose places have types, read from left to right as far as a form goes.

In: a function place -> what may stand there, each a sequence of tokens, kinds and places that begins with a token or a
kind. Out: a `Guide`. Rules are asked for when a form first gets to them, so a grammar may be infinite.

A form that was read up to somewhere is a set of stacks, for what follows is not decided yet: which type has the thing
that `( get` begins? Stacks share their lower parts, and equal sets are one object, so that what follows from them is
worked out once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

from dualparse.lf.guide.guide import Place

Symbol = str | tuple  # a token or the kind of one; a place of the grammar, whatever its author likes to call it
Body = tuple[Symbol, ...]
Item = tuple[Body, "Stacks | None"]  # what is still to come here, and what comes after it


class Stacks:
    """A set of stacks, none of which is at its end but for one that is empty."""

    __slots__ = ("items", "need", "_rules", "_moves")

    def __init__(self, rules: Rules, items: frozenset[Item], need: float):
        self.items, self.need, self._rules = items, need, rules
        self._moves: dict[str, Place] | None = None

    def moves(self) -> Mapping[str, Place]:
        if self._moves is None:
            self._moves = self._rules.moves(self)
        return self._moves


class Rules:
    """A guide by a grammar.

    expand     a place -> its bodies; each begins with a token or a kind
    root       the place of a whole form
    kinds      the kinds of a token
    available  the kinds whose tokens can always be written; None for all. Others may come up in a question, but no end
               of a form depends on them.
    plain      a place -> one that has no more bodies and no shorter end, by which lengths are worked out

    >>> words = {("form",): [("(", "not", ("form",), ")"), ("yes",)]}
    >>> guide = Rules(words.__getitem__, ("form",), lambda token: (token,))
    >>> list(guide.start().moves()), guide.start().need
    (['(', 'yes'], 1)
    >>> guide.start().moves()["("].need
    3
    """

    def __init__(
        self,
        expand: Callable[[tuple], Iterable[Body]],
        root: tuple,
        kinds: Callable[[str], tuple[str, ...]],
        *,
        available: Collection[str] | None = None,
        plain: Callable[[tuple], tuple] = lambda place: place,
    ):
        self._expand, self._root, self.kinds = expand, root, kinds
        self._available, self._plain = available, plain
        self._states: dict[frozenset[Item], Stacks] = {}
        self._firsts: dict[tuple, dict[str, list[Body]]] = {}
        self._lengths: dict[Body, float] = {}

    def start(self) -> Place:
        return self._stacks([((self._root,), None)])

    def union(self, places: tuple[Place, ...]) -> Place:
        return self._stacks([item for place in places if isinstance(place, Stacks) for item in place.items])

    def moves(self, stacks: Stacks) -> dict[str, Place]:
        """Where each kind of token leads."""
        found: dict[str, list[Item]] = defaultdict(list)
        behind: dict[tuple, list[Item]] = defaultdict(list)  # place -> what comes after it
        for body, after in stacks.items:
            if body:
                first, rest = body[0], body[1:]
                if isinstance(first, str):
                    found[first].append((rest, after))
                else:
                    behind[first].append((rest, after))
        for place, items in behind.items():
            outer = self._stacks(items)
            for token, bodies in self._first(place).items():
                found[token] += [(rest, outer) for rest in bodies]
        reached = {token: self._stacks(items) for token, items in found.items()}
        return {token: place for token, place in reached.items() if place.need < math.inf}

    def _stacks(self, items: Iterable[Item]) -> Stacks:
        """These stacks as one object. What is at its end gives way to what comes after it, and those that have the same
        to come share what comes after."""
        after: dict[Body, set[Stacks | None]] = defaultdict(set)
        for body, outer in items:
            for rest, beyond in [(body, outer)] if body or outer is None else outer.items:
                after[rest].add(beyond)
        merged = frozenset((body, self._merged(outers)) for body, outers in after.items())
        known = self._states.get(merged)
        if known is None:
            need = min((self._length(body) + (outer.need if outer else 0) for body, outer in merged), default=math.inf)
            known = self._states.setdefault(merged, Stacks(self, merged, need))
        return known

    def _merged(self, outers: set[Stacks | None]) -> Stacks | None:
        if len(outers) == 1:
            return next(iter(outers))
        return self._stacks([item for outer in outers for item in (outer.items if outer else [((), None)])])

    def _first(self, place: tuple) -> dict[str, list[Body]]:
        """The bodies of a place by their first token, without it; those without an end are left out."""
        known = self._firsts.get(place)
        if known is None:
            made: dict[str, list[Body]] = defaultdict(list)
            for first, *rest in self._expand(place):
                assert isinstance(first, str), f"a body of {place} begins with a place"
                if self._length(tuple(rest)) < math.inf:
                    made[first].append(tuple(rest))
            known = self._firsts.setdefault(place, dict(made))
        return known

    def _length(self, body: Body) -> float:
        known = self._lengths.get(body)
        if known is None:
            known = self._lengths[body] = sum(map(self._shortest_of, body))
        return known

    def _shortest_of(self, symbol: Symbol) -> float:
        if isinstance(symbol, str):
            return 1 if self._available is None or symbol in self._available else math.inf
        return self._shortest.get(self._plain(symbol), math.inf)

    @cached_property
    def _shortest(self) -> dict[tuple, float]:
        """Tokens of the shortest form of every place; places that have none are left out."""
        bodies: dict[tuple, list[Body]] = {}
        waiting = [self._plain(self._root)]
        while waiting:
            place = waiting.pop()
            if place in bodies:
                continue
            bodies[place] = [
                tuple(symbol if isinstance(symbol, str) else self._plain(symbol) for symbol in body)
                for body in self._expand(place)
            ]
            waiting += [symbol for body in bodies[place] for symbol in body if not isinstance(symbol, str)]
        shortest: dict[tuple, float] = {}

        def length(symbol: Symbol) -> float:
            if isinstance(symbol, str):
                return self._shortest_of(symbol)
            return shortest.get(symbol, math.inf)

        changed = True
        while changed:
            changed = False
            for place, choices in bodies.items():
                least = min((sum(map(length, body)) for body in choices), default=math.inf)
                if least < shortest.get(place, math.inf):
                    shortest[place], changed = least, True
        return shortest


ATOM = "<atom>"


def trees(tokens: Collection[str] | None = None) -> Rules:
    """The guide that knows parentheses alone: one complete tree, no list in it empty.

    >>> guide = trees()
    >>> place = guide.start().moves()["("]
    >>> sorted(place.moves()), place.need
    (['(', '<atom>'], 2)
    """

    def kinds(token: str) -> tuple[str, ...]:
        return (token,) if token in ("(", ")") else (ATOM,)

    tree, more = ("tree",), ("more",)
    bodies: dict[tuple, list[Body]] = {
        tree: [(ATOM,), ("(", tree, more)],
        more: [(")",), (ATOM, more), ("(", tree, more, more)],
    }
    available = None if tokens is None else frozenset(kind for token in tokens for kind in kinds(token))
    return Rules(bodies.__getitem__, tree, kinds, available=available)
