"""What questions do with a world: select, compare, count, aggregate (OVERNIGHT's `SW` functions).

In: a `World`. Out: `sempre(world)`, the executor of OVERNIGHT's dialect. Each operation does what the original
evaluator does, in the order it does it where that can be seen from outside. The plain dialect is built on the same
operations: see `dualparse.domains.plain`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, compress, filterfalse, repeat
from typing import NoReturn

from dualparse.domains.world import Index, World
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.execute import (
    CHARACTERS_A_STEP,
    INTEGER,
    LIST,
    NULL,
    STRING,
    VALUE,
    Executor,
    Function,
    Overloads,
    Printed,
    SempreReader,
    characters_of,
    charge,
)
from dualparse.lf.values import TRUE, Value, number

Values = list[Value]

ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COUNT: Mapping[str, Callable[[float, float], bool]] = {"=": operator.eq, **ORDER}


class Operations:
    """The operations over one world. Lists are never changed: they may belong to the world's indexes."""

    def __init__(self, world: World):
        self.world = world

    # -- properties of things

    def get(self, objects: Values, property: str) -> Values:
        """Values of a property, without duplicates; no value at all is an error."""
        index = self.world.index(property)
        if len(objects) == 1:
            found = index.distinct.get(objects[0])
            if found is None:
                self.refuse_subject(objects[0], property, index)
        else:
            if not index.subjects.issuperset(objects):
                self.refuse_subject(next(filterfalse(index.subjects.__contains__, objects)), property, index)
            charge(sum(map(len, map(index.distinct.__getitem__, objects))))
            found = list(dict.fromkeys(chain.from_iterable(map(index.distinct.__getitem__, objects))))
        if not found:
            raise LFExecutionError(f"nothing has a value for {property!r} here")
        return found

    def get_of(self, value: Value, property: str) -> Values:
        return self.get([value], property)

    def all(self, type: str) -> Values:
        """Every entity of a type."""
        found = self.world.names.get(type)
        if found is None:
            raise LFExecutionError(f"unknown type {type!r}")
        return self.get([found], "!type")

    def domain(self, property: str) -> Values:
        """Every entity that could have a property: those of its first type."""
        found = [self.all(type) for type in sorted(self.world.index(property).first)]
        return found[0] if len(found) == 1 else list(chain.from_iterable(found))

    # -- selecting

    def filter_true(self, entities: Values, property: str) -> Values:
        return self.filter(entities, property, "=", [TRUE])

    def filter_by_one(self, entities: Values, property: str, op: str, reference: Value) -> Values:
        return self.filter(entities, property, op, [reference])

    def filter(self, entities: Values, property: str, op: str, references: Values) -> Values:
        """Those whose values stand in a relation to the references; one value that fits is enough."""
        if not references and not any(entity.id for entity in entities):
            return []  # nothing is looked up, so that not even the property needs to exist
        index = self.world.index(property)
        self._check_objects(references, property, index)
        if not index.names.issuperset(entities):
            entities = [entity for entity in entities if entity.id]
            for entity in entities:
                if entity not in index.names:
                    self.refuse_subject(entity, property, index)
        if op == "=" or op == "!=":
            if len(references) == 1:
                found = index.holders.get(references[0], frozenset())
            else:
                holders = [index.holders.get(reference, frozenset()) for reference in references]
                charge(sum(map(len, holders)))
                found = frozenset().union(*holders)
            return list((filter if op == "=" else filterfalse)(found.__contains__, entities))
        return self._compare(entities, property, index, op, references) if op in ORDER else []

    def _compare(self, entities: Values, property: str, index: Index, op: str, references: Values) -> Values:
        """Least value against greatest reference for < and <=, greatest against least for > and >=."""
        if not index.ordered and (references or any(entity in index.values for entity in entities)):
            if not entities:
                return []
            raise LFExecutionError(f"the values of {property!r} have no order")
        if not references:
            return []
        side, pick = (index.low, max) if op in ("<", "<=") else (index.high, min)
        bound = pick([reference.degree for reference in references if reference.degree is not None])
        return list(compress(entities, map(ORDER[op], map(side.__getitem__, entities), repeat(bound))))

    def superlative(self, entities: Values, mode: str, property: str) -> Values | None:
        """Those with the greatest value (`max`) or the least (any other mode); null over an empty list."""
        if not entities:
            return None
        self._check_known(entities)
        index = self.world.index(property)
        if not index.ordered and any(entity in index.values for entity in entities):
            raise LFExecutionError(f"the values of {property!r} have no order")
        side = index.high if mode == "max" else index.low
        return best(entities, list(map(side.get, entities, repeat(math.nan))), mode)

    # -- counting

    def count_superlative(
        self, entities: Values, mode: str, property: str, restrictors: Values | None = None
    ) -> Values | None:
        """Those with the most values (`max`) or the fewest, among the restrictors where there are any."""
        counts = self._counts(entities, property, restrictors)
        return best(entities, counts, mode) if entities else None

    def count_comparative(
        self, entities: Values, property: str, op: str, threshold: Value, restrictors: Values | None = None
    ) -> Values:
        """Those whose number of values stands in a relation to a threshold; an unknown relation selects none."""
        if threshold.unit is None or threshold.degree is None:
            raise LFExecutionError(f"{threshold.text} is not a number to compare a count with")
        counts = self._counts(entities, property, restrictors)
        compare = COUNT.get(op)
        return list(compress(entities, map(compare, counts, repeat(threshold.degree)))) if compare else []

    def _counts(self, entities: Values, property: str, restrictors: Values | None) -> list[int]:
        index = self.world.index(property)
        if index.ordered:
            raise LFExecutionError(f"the values of {property!r} are numbers, dates or times, which are not counted")
        if restrictors is not None:
            self._check_objects(restrictors, property, index)
        self._check_known(entities)
        if restrictors is not None:
            charge(len(index.holders) + sum(map(index.counts.get, entities, repeat(0))))
        if restrictors is None or index.holders.keys() <= (wanted := set(restrictors)):
            return list(map(index.counts.get, entities, repeat(0)))
        values = index.values
        return [sum(map(wanted.__contains__, values[entity])) if entity in values else 0 for entity in entities]

    # -- putting together

    def concat(self, first: Values, second: Values) -> Values:
        """Both lists; all elements must have one type, and two equal lists are an error."""
        if first == second:
            raise LFExecutionError("the two lists are equal")
        return self.join(first, second)

    def concat_two(self, first: Value, second: Value) -> Values:
        return self.concat([first], [second])

    def join(self, first: Values, second: Values) -> Values:
        types = {value.type for value in first} | {value.type for value in second}
        if first and second and (len(types) > 1 or "" in types):
            raise LFExecutionError(f"elements of different types: {', '.join(sorted(types))}")
        return first + second

    def aggregate(self, mode: str, values: Values) -> Values:
        """The sum or the average of numbers, in the unit of the first."""
        if mode not in ("sum", "avg"):
            raise LFExecutionError(f"unknown aggregate {mode!r}")
        if not values:
            raise LFExecutionError(f"{mode} of nothing")
        amounts = [value.degree for value in values if value.unit is not None and value.degree is not None]
        if len(amounts) < len(values):
            raise LFExecutionError(f"only numbers have a {mode}")
        try:
            total = math.fsum(amounts)  # the same sum in whatever order
        except OverflowError as error:
            raise LFExecutionError(f"the {mode} is too large") from error
        return [number(total / len(amounts) if mode == "avg" else total, values[0].unit or "")]

    # -- what must be an ordered value

    def ordered_property(self, property: str) -> str:
        if not self.world.index(property).ordered:
            raise LFExecutionError(f"the values of {property!r} are not numbers, dates or times")
        return property

    def ordered_values(self, values: Values) -> Values:
        if not values or values[0].degree is None:
            raise LFExecutionError("not a number, date or time" if values else "an empty list has no order")
        return values

    def ordered_value(self, value: Value) -> Values:
        return self.ordered_values([value])

    # -- checks

    def _check_known(self, entities: Values) -> None:
        known = self.world.known
        for entity in entities:
            if entity not in known:
                raise LFExecutionError(f"unknown entity {entity.id or entity.text!r}")

    def _check_objects(self, values: Values, property: str, index: Index) -> None:
        if not index.objects.issuperset(values):
            for value in values:
                if value.type not in index.second:
                    wanted = " or ".join(sorted(index.second))
                    raise LFExecutionError(f"values of {property!r} have type {wanted}; {value.text} has not")

    def refuse_subject(self, value: Value, property: str, index: Index) -> NoReturn:
        self._check_known([value])
        wanted = " or ".join(sorted(index.first))
        raise LFExecutionError(f"{property!r} is a property of {wanted}; {value.text} is not one")


def best(entities: Values, degrees: Sequence[float], mode: str) -> Values:
    """All entities with the best degree, in order. The first counts even without a degree, and then stays alone:
    nothing is greater or less than not-a-number, which is how `max` and `min` see it, too."""
    best = max(degrees) if mode == "max" else min(degrees)
    if best != best:
        return entities[:1]
    return list(compress(entities, map(operator.eq, degrees, repeat(best))))


def reverse(property: str) -> str:
    """The other direction of a property.

    >>> reverse("start"), reverse("!start")
    ('!start', 'start')
    """
    return property[1:] if property.startswith("!") else "!" + property


def list_value(values: Iterable[Value]) -> Printed:
    """A printed denotation, sorted by text, duplicates kept."""
    values = list(values)
    charge(characters_of(values) // CHARACTERS_A_STEP)
    texts = sorted([value.text for value in values])
    return Printed(f"(list {' '.join(texts)})" if texts else "(list)")


def list_of_one(value: Value) -> Printed:
    return list_value([value])


def list_of_count(count: int) -> Printed:
    return list_value([number(count, "count")])


LIST_VALUE: Overloads = {(LIST,): list_value, (VALUE,): list_of_one, (INTEGER,): list_of_count}


def sempre(world: World) -> Executor:
    """The executor of OVERNIGHT's dialect over a world."""
    do = Operations(world)
    overloads: Mapping[str, Overloads] = {
        "SW.listValue": LIST_VALUE,
        "SW.singleton": {(VALUE,): lambda value: [value]},
        "SW.reverse": {(STRING,): reverse},
        "SW.domain": {(STRING,): do.domain},
        "SW.getProperty": {(LIST, STRING): do.get, (VALUE, STRING): do.get_of},
        "SW.filter": {
            (LIST, STRING): do.filter_true,
            (LIST, STRING, STRING, VALUE): do.filter_by_one,
            (LIST, STRING, STRING, LIST): do.filter,
        },
        "SW.superlative": {(LIST, STRING, STRING): do.superlative},
        "SW.countSuperlative": {
            (LIST, STRING, STRING, *restrictors): do.count_superlative for restrictors in ((), (LIST,), (NULL,))
        },
        "SW.countComparative": {
            (LIST, STRING, STRING, VALUE, *restrictors): do.count_comparative for restrictors in ((), (LIST,), (NULL,))
        },
        "SW.concat": {(LIST, LIST): do.concat, (VALUE, VALUE): do.concat_two},
        "SW.aggregate": {(STRING, LIST): do.aggregate},
        "SW.ensureNumericProperty": {(STRING,): do.ordered_property},
        "SW.ensureNumericEntity": {(LIST,): do.ordered_values, (VALUE,): do.ordered_value},
        ".size": {(LIST,): len},
    }
    functions = {label: Function(label, taken) for label, taken in overloads.items()}
    return Executor(SempreReader(functions, world.names, world.literals))
