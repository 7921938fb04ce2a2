"""The plain dialect: short forms for a domain of one's own, over the operations that OVERNIGHT's dialect has.

In: a `World`. Out: `plain(world)`, an executor of forms such as `( filter ( all trail ) length > ( number 10 km ) )`:

    ( all trail )                                          every entity of a type
    ( get X property )                                     values of a property; `!property` is its reverse
    ( filter X property )                                  those of which a boolean property is true
    ( filter X property OP VALUE )                         OP is one of = != < <= > >=
    ( filter_count X property OP N [Y] )                   by the number of values, among Y where it is given
    ( argmax X property ) ( argmin X property )            those with the greatest, the least value
    ( argmax_count X property [Y] ) ( argmin_count ... )   those with the most, the fewest values
    ( count X ) ( sum X property ) ( avg X property ) ( or A B )
    ( number 10 km ) ( number 3 ) ( date 1998 -1 -1 ) ( time 10 0 ) true trail.larch_path

Stricter than the original: an unknown entity or operator, an order on values that have none, and things of the wrong
type are errors everywhere. More forgiving: one value is as good as a list of one, a thing without a value does not hide
the others from a superlative, sums and averages run over the values of all things, equal or not, and `or` takes two
equal lists and drops duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, product, repeat

from dualparse.domains.functions import COUNT, LIST_VALUE, ORDER, Operations, Values
from dualparse.domains.world import World
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.execute import LIST, STRING, VALUE, Executor, Function, Overloads, PlainReader, charge
from dualparse.lf.values import TRUE, Value


class PlainOperations(Operations):
    """The operations as the plain dialect has them."""

    def choose(self, entities: Values, property: str, op: str, references: Values) -> Values:
        if op not in ORDER and op not in ("=", "!="):
            raise LFExecutionError(f"unknown operator {op!r}")
        if op in ORDER:
            self.ordered_property(property)
        self._check_subjects(entities, property)
        return self.filter(entities, property, op, references)

    def choose_true(self, entities: Values, property: str) -> Values:
        return self.choose(entities, property, "=", [TRUE])

    def best(self, mode: str, entities: Values, property: str) -> Values:
        self.ordered_property(property)
        self._check_subjects(entities, property)
        values = self.world.index(property).values
        found = self.superlative([entity for entity in entities if entity in values], mode, property)
        return _some(found, f"no {property!r} to compare")

    def best_count(self, mode: str, entities: Values, property: str, among: Values | None = None) -> Values:
        self._check_subjects(entities, property)
        return _some(self.count_superlative(entities, mode, property, among), f"no {property!r} to count")

    def choose_count(
        self, entities: Values, property: str, op: str, threshold: Value, among: Values | None = None
    ) -> Values:
        self._check_subjects(entities, property)
        if op == "!=":
            equal = set(self.count_comparative(entities, property, "=", threshold, among))
            return [entity for entity in entities if entity not in equal]
        if op not in COUNT:
            raise LFExecutionError(f"unknown operator {op!r}")
        return self.count_comparative(entities, property, op, threshold, among)

    def total(self, mode: str, entities: Values, property: str) -> Values:
        self._check_subjects(entities, property)
        index = self.world.index(property)
        charge(sum(map(index.counts.get, entities, repeat(0))))
        values = index.values
        return self.aggregate(mode, list(chain.from_iterable(values.get(entity, ()) for entity in entities)))

    def either(self, first: Values, second: Values) -> Values:
        return list(dict.fromkeys(self.join(first, second)))

    def _check_subjects(self, entities: Values, property: str) -> None:
        index = self.world.index(property)
        for entity in entities:
            if entity not in index.subjects:
                self.refuse_subject(entity, property, index)


def _some(found: Values | None, reason: str) -> Values:
    if found is None:
        raise LFExecutionError(reason)
    return found


def _with_single_values(overloads: Overloads) -> Overloads:
    """Overloads that also take one value wherever they take a list."""
    wider: dict[tuple[type, ...], Callable[..., object]] = {}
    for kinds, implementation in overloads.items():
        for given in product(*[(LIST, VALUE) if kind is LIST else (kind,) for kind in kinds]):
            places = [place for place, kind in enumerate(kinds) if kind is not given[place]]
            wider[given] = partial(_wrapping, implementation, places) if places else implementation
    return wider


def _wrapping(implementation: Callable[..., object], places: Sequence[int], *values: object) -> object:
    return implementation(*[[value] if place in places else value for place, value in enumerate(values)])


def plain(world: World) -> Executor:
    """The executor of the plain dialect over a world. Every answer is printed as a list.

    >>> from dualparse.lf.values import number
    >>> world = World()
    >>> world.add("hut.marmot_hut", "price", number(48, "euro"))
    >>> plain(world).execute("( get hut.marmot_hut price )")
    '(list (number 48 euro))'
    """
    do = PlainOperations(world)
    selection, order, counting = ("value", "word"), ("value", "word", "word"), ("value", "word", "word", "number")
    declared: dict[str, tuple[tuple[str, ...], Overloads]] = {
        "all": (("word",), {(STRING,): do.all}),
        "get": (selection, {(LIST, STRING): do.get}),
        "filter": (order, {(LIST, STRING): do.choose_true, (LIST, STRING, STRING, LIST): do.choose}),
        "filter_count": (
            counting,
            {(LIST, STRING, STRING, VALUE, *among): do.choose_count for among in ((), (LIST,))},
        ),
        "count": ((), {(LIST,): len}),
        "or": ((), {(LIST, LIST): do.either}),
    }
    for mode in ("max", "min"):
        declared[f"arg{mode}"] = (selection, {(LIST, STRING): partial(do.best, mode)})
        counted: Overloads = {(LIST, STRING, *among): partial(do.best_count, mode) for among in ((), (LIST,))}
        declared[f"arg{mode}_count"] = (selection, counted)
    for mode in ("sum", "avg"):
        declared[mode] = (selection, {(LIST, STRING): partial(do.total, mode)})
    functions = {
        label: Function(label, _with_single_values(overloads), atoms) for label, (atoms, overloads) in declared.items()
    }
    return Executor(PlainReader(functions, world.names, world.literals), finish=Function("the answer", LIST_VALUE))
