"""How far the end of a form is that an ontology guides: tokens of a way to it that is there, and seldom the shortest.

In: a place of `dualparse.lf.guide.ontology_guide`. Out: a number of tokens, infinite where no way is seen. Every step
to come is filled with the least that fits its types; a variable that must still be used is used where that costs least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dualparse.lf.guide.ontology_guide import Step, Typed, TypedForms

THE = 8  # tokens of `( the $0 ( flight $0 ) )`


@dataclass
class _Chance:
    """Where a variable can still be used: a statement to come, a list of them that is `open`, or a value of some types,
    whose "(" may have been written."""

    kind: str
    types: int
    begun: bool = False
    open: bool = False
    taken: bool = False


class Ends:
    """The ways to an end that an ontology and the tokens at hand leave open."""

    def __init__(self, guide: TypedForms):
        self.bits, self._guide = guide.bits, guide
        self._entities = sum(
            self.bits.bit[kind] for kind in guide.ontology.entity_types if guide.can_write(named(kind))
        )
        self._pairs = {pair for name, pairs in self.bits.functions.items() if guide.can_write(name) for pair in pairs}
        self._mentioned = self._lengths_of_mention()

    def need(self, place: Typed) -> float:
        """Tokens to an end that is sure to be there; infinite where none is seen."""
        if place.steps and place.steps[-1][0] == "bind":  # only then it is known what must be used
            free = next(self._guide.free(place), None)
            bound = None if free is None else self._guide.after(place, free)
            return math.inf if bound is None else 1 + bound.need
        total, chances = 0.0, list[_Chance]()
        since = {v.name: -1 if v.used else 0 for v in place.scope}  # the first chance that counts; none is needed: -1
        for number, step in reversed(list(enumerate(place.steps))):
            outer = place.steps[number - 1] if number else step
            if step[0] == "value" and outer[0] == "first" and outer[2] == step[1]:
                total += self._arguments(place, outer[1], step[1]) - self._length(place, outer)
            else:
                total += self._length(place, step)
            if step[0] == "use":
                if since[step[1]] >= 0:
                    total += self._use(place, step[1], chances, since[step[1]])
                since[step[1]] = len(chances)
            elif step[0] == "head":
                chances.append(
                    _Chance(step[1] if step[1] == "value" else "statement", self._types(place, step), begun=True)
                )
            elif step[0] == "first" and self._wants_second(place, step):
                chances.append(_Chance("value", self._guide.second(place, step[1], step[2])))
            elif step[0] in ("statement", "prefix", "more", "value"):
                kind = "value" if step[0] == "value" else "statement"
                chances.append(_Chance(kind, self._types(place, step), open=step[0] == "more"))
            if total == math.inf:
                break
        return total

    @staticmethod
    def _types(place: Typed, step: Step) -> int:
        return place.types[step[-1]] if len(step) > 1 and step[-1] != -1 else 0

    def _length(self, place: Typed, step: Step) -> float:
        name = step[0]
        if name in (")", "more", "whole", "type"):
            return 1
        if name == "first":
            return 1 + (
                self._thing(place, self._guide.second(place, *step[1:3])) if self._wants_second(place, step) else 0
            )
        if name == "form":
            return 1
        if name in ("prefix", "statement"):
            return self._statement(place)
        if name == "value":
            return self._thing(place, place.types[step[1]])
        if name == "head":
            return self._rest_of_list(place, *step[1:])
        return 0

    def _arguments(self, place: Typed, head: str, cell: int) -> float:
        """Of the arguments of a predicate in a statement and its ")": an entity alone would say nothing."""
        types = place.types[cell]
        alone = self.bits.unary.get(head, 0) & types
        if any(place.types[v.cell] & alone for v in place.scope):
            return 2
        if any(
            a & types and self._at_hand(place, a) and self._at_hand(place, b) for a, b in self.bits.binary.get(head, ())
        ):
            return 3
        return 2 + self._rest_of_value(place, types)

    def _wants_second(self, place: Typed, step: Step) -> bool:
        """Whether a predicate's first argument alone would say nothing, or nothing true."""
        _, head, cell, entity = step
        return entity or not self.bits.unary.get(head, 0) & place.types[cell]

    def _statement(self, place: Typed) -> float:
        """Of any statement."""
        mentions = [self._mention(place.types[v.cell]) for v in place.scope]
        bound = 4 + min(self._mentioned.values(), default=math.inf)  # ( exists $0 ( flight $0 ) )
        return min([*mentions, bound if next(self._guide.free(place), None) else math.inf])

    def _mention(self, types: int) -> float:
        """Of a statement about a variable."""
        return min((self._mentioned.get(bit, math.inf) for bit in self._bits(types)), default=math.inf)

    def _thing(self, place: Typed, types: int) -> float:
        """Of a value."""
        return 1 if self._at_hand(place, types) else 1 + self._rest_of_value(place, types)

    def _at_hand(self, place: Typed, types: int) -> bool:
        """Whether an entity or a variable has one of these types."""
        return bool(types & self._entities) or any(place.types[v.cell] & types for v in place.scope)

    def _rest_of_value(self, place: Typed, types: int) -> float:
        """Of what comes after the "(" of a value: a function of something at hand, or a `the`."""
        for first, second in self._pairs:
            if second & types and self._at_hand(place, first):
                return 3
        return THE - 5 + self._mention(types) if next(self._guide.free(place), None) else math.inf

    def _rest_of_list(self, place: Typed, where: str, cell: int) -> float:
        """Of what comes after "("."""
        if where == "form":
            return THE - 1
        if where == "value":
            return self._rest_of_value(place, place.types[cell])
        return self._statement(place) - 1

    def _use(self, place: Typed, name: str, chances: list[_Chance], since: int) -> float:
        """The least that using a variable adds at one of the chances since then, each of which is taken once."""
        types = next(place.types[v.cell] for v in place.scope if v.name == name)
        best = min(
            ((self._cost(place, types, chance), number) for number, chance in enumerate(chances) if number >= since),
            default=(math.inf, -1),
        )
        if best[0] < math.inf:
            chances[best[1]].taken = True
        return best[0]

    def _cost(self, place: Typed, types: int, chance: _Chance) -> float:
        """What using a variable of these types adds at a chance."""
        mention = self._mention(types)
        if chance.kind == "statement":
            if chance.open:
                return mention
            return mention + 3 if chance.taken else mention - self._statement(place)
        if not chance.taken:
            if types & chance.types and not chance.begun:
                return 0
            if any(a & types and b & chance.types for a, b in self._pairs):
                return 0 if chance.begun else 3
        free = next(self._guide.free(place), None)
        return math.inf if free is None else THE + 3 + mention + self._mention(chance.types)

    def _lengths_of_mention(self) -> dict[int, int]:
        """Bit of a type -> tokens of the shortest statement about a variable of it."""
        lengths: dict[int, int] = {}
        for name, types in self.bits.unary.items():
            if self._guide.can_write(name):
                lengths |= {bit: 4 for bit in self._bits(types)}
        for name, pairs in self.bits.binary.items():
            for a, b in pairs if self._guide.can_write(name) else ():
                if b & self._entities:
                    lengths.setdefault(a, 5)
                if a & self._entities:
                    lengths.setdefault(b, 5)
        return lengths

    @staticmethod
    def _bits(types: int) -> Iterator[int]:
        while types:
            yield types & -types
            types &= types - 1


def named(kind: str) -> str:
    """The kind of the tokens that name an entity of a type."""
    return f"<{kind}>"
