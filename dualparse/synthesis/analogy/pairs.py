"""New pairs: a change that was learned from some pairs, made to others that it fits."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dualparse.data.examples import Example
from dualparse.lf import numbered
from dualparse.lf.canonical import normalize
from dualparse.lf.recombine import OPEN, Place, gist, opened, places, says_already, variables
from dualparse.lf.sexpr import Tree
from dualparse.lf.trees import Path, atoms, parts, put, renamed
from dualparse.lf.verdict import Verdict
from dualparse.synthesis.analogy.changes import (
    LONGEST,
    Change,
    Evidence,
    Names,
    Pair,
    Words,
    called,
    learned,
    read_pairs,
    word_at,
)
from dualparse.synthesis.derived import spell

TRUST = 0.5  # of the times the words were exchanged, the share in which the form changed in the same way
PATIENCE = 20_000  # draws in a row that gave nothing new, before everything counts as made


@dataclass(frozen=True, slots=True)
class Spot:
    """Among the conditions of a place, the one to be exchanged; without `number`, room for one more."""

    place: Place
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """A change that can be made to a pair: where in the query, where in the form, and the names it meets there."""

    change: Change
    start: int
    place: Path | Spot
    names: Names
    weight: int


def by_analogy(
    examples: Sequence[Example],
    check: Callable[[str], Verdict],
    *,
    n: int,
    seed: int,
    trust: float = TRUST,
    patience: int = PATIENCE,
) -> list[Example]:
    """Up to `n` new pairs, each made of a pair drawn at random by one of the changes that fit it.

    Words are put between two that the change was seen between. Only when there is no more to be made in that way, one
    of the two is enough.
    """
    pairs = read_pairs(examples)
    changes = Changes(learned(pairs), trust=trust)
    usage = Usage(pairs)
    rng = random.Random(f"analogy {seed}")
    known, made = {pair.query for pair in pairs}, dict[Words, Example]()
    for neighbors in (2, 1):
        fitting: dict[Pair, tuple[list[Fit], list[int]]] = {}
        misses = 0
        while pairs and len(made) < n and misses < patience:
            misses += 1
            pair = rng.choice(pairs)
            if pair not in fitting:
                fits = list(changes.fitting(pair, neighbors))
                fitting[pair] = fits, list(accumulate(fit.weight for fit in fits))
            fits, weights = fitting[pair]
            result = changed(pair, rng.choices(fits, cum_weights=weights)[0], usage) if fits else None
            if result is None or result[0] in known or result[0] in made:
                continue
            form = spell(result[1])
            if check(form).ok:
                made[result[0]] = Example(result[0], tuple(form.split()))
                misses = 0
    return list(made.values())


class Changes:
    """Changes to be trusted, by the words they exchange and those around."""

    def __init__(self, found: Mapping[Change, Evidence], *, trust: float):
        self._before: dict[tuple[str, Words], list[tuple[Change, Evidence]]] = defaultdict(list)
        self._behind: dict[tuple[Words, str], list[tuple[Change, Evidence]]] = defaultdict(list)
        for change, evidence in found.items():
            if evidence.trust >= trust:
                for word in evidence.before:
                    self._before[word, change.said].append((change, evidence))
                for word in evidence.behind:
                    self._behind[change.said, word].append((change, evidence))

    def fitting(self, pair: Pair, neighbors: int) -> Iterator[Fit]:
        """All that can be changed in a pair where the change was seen between the same two words, or (1 of 2) next to
        one of them."""
        form, query = _Form(pair.tree), pair.query
        for length in range(min(LONGEST, len(query)) + 1):
            for start in range(len(query) - length + 1):
                words = query[start : start + length]
                before, behind = word_at(pair, start - 1), word_at(pair, start + length)
                names = numbered.as_they_come(words, pair.names)
                back = {number: name for name, number in names.items()}
                said = called(words, names)
                known = self._before.get((before, said), [])
                if neighbors == 1:
                    others = self._behind.get((said, behind), ())
                    known = known + [each for each in others if not each[1].before[before]]
                for change, evidence in known:
                    seen = sorted((evidence.before[before], evidence.behind[behind]))[-neighbors]
                    for place in form.places(change, back) if seen else ():
                        yield Fit(change, start, place, back, seen)


class _Form:
    """Where a form can be changed."""

    def __init__(self, tree: Tree):
        self._parts: dict[Tree, list[Path]] = defaultdict(list)
        self._conditions: dict[Tree, list[Spot]] = defaultdict(list)
        self._room: list[Spot] = []
        for path, part in parts(tree):
            self._parts[normalize(part)].append(path)
        for place in places(tree):
            if place.variables and not self._room and "or" not in _heads(tree, place.path):
                self._room = [Spot(place)]
            for number, condition in enumerate(place.conditions):
                if (about := opened(condition)) is not None:
                    self._conditions[about].append(Spot(place, number))

    def places(self, change: Change, names: Names) -> Sequence[Path | Spot]:
        """Where a change can be made: in one place, or in none."""
        if change.old is None:
            return self._room
        old = renamed(change.old, names)
        found: Sequence[Path | Spot]
        found = self._conditions.get(old, ()) if change.condition else self._parts.get(old, ())
        return found if len(found) == 1 else ()


def changed(pair: Pair, fit: Fit, usage: Usage) -> tuple[Words, Tree] | None:
    """The pair with a change made to it; None where the form says so already, would keep a name that the query has
    lost, or the words name something that the form does not or nobody ever did."""
    change, names = fit.change, dict(fit.names)
    taken, needed = set(pair.names), set(atoms(change.new))
    for name in (word for word in change.now if word in change.names and word not in names):
        if name not in needed or (free := numbered.free(numbered.kind_of(name), taken)) not in usage.names:
            return None
        names[name] = free
        taken.add(free)
    now, new = called(change.now, names), renamed(change.new, names)
    query = pair.query[: fit.start] + now + pair.query[fit.start + len(change.said) :]
    tree = usage.put(pair.tree, fit.place, new) if isinstance(fit.place, Spot) else put(pair.tree, fit.place, new)
    if tree is None or _repeats(tree) > _repeats(pair.tree):
        return None
    written = set(atoms(tree))
    if (pair.names.intersection(pair.query) - set(query)) & written:
        return None
    closed = numbered.without_gaps(taken & {*query, *written})
    return called(query, closed), renamed(tree, closed)


class Usage:
    """The names that people used, and the order in which they wrote conditions."""

    def __init__(self, pairs: Iterable[Pair]):
        self.names: set[str] = set()
        self._before: Counter[tuple[Tree, Tree]] = Counter()
        for pair in pairs:
            self.names |= pair.names
            for place in places(pair.tree):
                kinds = list(map(_about, place.conditions))
                self._before.update((a, b) for i, a in enumerate(kinds) for b in kinds[i + 1 :])

    def put(self, tree: Tree, spot: Spot, condition: Tree) -> Tree | None:
        """The form with a condition in the place of another, or with one more, where most would have written it; None
        if there is such a condition: a second `to` is rather a mistake than a new question."""
        place, number = spot.place, spot.number
        variable = place.variables[0] if number is None else next(iter(variables(place.conditions[number])))
        rest = [each for index, each in enumerate(place.conditions) if index != number]
        if says_already(Place(place.path, tuple(rest)), condition, variable):
            return None
        about = _about(condition)
        earlier = [self._before[other, about] - self._before[about, other] for other in map(_about, rest)]
        home = len(rest) if number is None else number  # where nothing speaks for another place
        best = max(
            range(len(rest) + 1),
            key=lambda start: (sum(earlier[:start]) - sum(earlier[start:]), -abs(start - home)),
        )
        written = renamed(condition, {OPEN: variable})
        return put(tree, place.path, ("and", *rest[:best], written, *rest[best:]))


def _about(condition: Tree) -> Tree:
    part = opened(condition)
    return gist(condition if part is None else part)


def _repeats(tree: Tree, outer: tuple[Tree, ...] = (), inner: int | None = None) -> int:
    """How often something is said again of the same things, as in a filter of a filter, whatever it compares with.

    >>> huts = ("filter", ("all", "hut"), "price", "<", "30")
    >>> _repeats(("filter", huts, "open")), _repeats(("filter", huts, "price", "<", "40"))
    (0, 1)
    >>> _repeats(("and", "a", "b", ("and", "c")))
    0
    """
    if isinstance(tree, str):
        return 0
    nested = [i for i, part in enumerate(tree) if not isinstance(part, str) and _function(part) == _function(tree)]
    inner = nested[0] if nested else inner
    if inner is None or inner >= len(tree):
        return sum(map(_repeats, tree))
    told = tuple(part for i, part in enumerate(tree) if i != inner)
    told = told[:-1] if len(told) > 3 else told  # the last of several is what it compares with
    again = told in outer
    deeper = _repeats(tree[inner], (*outer, told), inner) if nested else _repeats(tree[inner])
    return again + deeper + sum(_repeats(part) for i, part in enumerate(tree) if i != inner)


def _function(tree: Tree) -> Tree:
    """What a node applies: its head, or what it calls."""
    return tree[:2] if tree[0] == "call" else tree[0]


def _heads(tree: Tree, path: Path) -> Iterator[Tree]:
    """The heads of all that lies around a place."""
    for index in path:
        yield tree[0]
        tree = tree[index]
