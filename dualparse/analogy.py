"""Pairs made by analogy: what a few other words changed in one form, they change in another.

In: labeled pairs. Two of them whose queries differ in one place, and whose forms do as well, tell what the words there
mean: *flights to ci0* and *flights to ci0 on da0* that `on da0` is one more condition, `( day $0 da0 )`. Out: pairs in
which such a change was made to another pair, valid and with a query that nobody has labeled yet. Nothing vouches for
them but the likeness, so a change counts the more, the more often it was seen, and not at all where the same words
meant something else more often.

The idea is that of Andreas (2020), Good-Enough Compositional Data Augmentation; here forms are trees, not words.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, permutations

from dualparse.data.examples import Example
from dualparse.lf import numbered
from dualparse.lf.canonical import normalize
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.recombine import OPEN, Place, gist, opened, places, says_already, variables
from dualparse.lf.sexpr import Tree, read
from dualparse.lf.trees import Path, atoms, parts, put, renamed
from dualparse.lf.verdict import Verdict
from dualparse.synthesis import spell

Words = tuple[str, ...]
Names = Mapping[str, str]

LONGEST = 4  # words that are exchanged for others, at the most
AROUND = 2  # words left and right of them together, at the least
MOST = 100  # pairs alike that are compared with one another
TRUST = 0.5  # of the times the words were exchanged, the share in which the form changed in the same way
PATIENCE = 20_000  # draws in a row that gave nothing new, before everything counts as made


@dataclass(frozen=True, slots=True)
class Pair:
    """A labeled pair, read; `names` are the numbered ones of both sides."""

    query: Words
    tree: Tree
    names: frozenset[str]


def read_pairs(examples: Iterable[Example]) -> list[Pair]:
    """Pairs with both sides whose form is a tree. A kind of names is numbered if its 0 stands in both sides of one:
    `ci1` is such a name where there is a `ci0`, `co2` is a word."""
    both = [(example.query, tree) for example in examples if example.query and (tree := _tree(example.lf)) is not None]
    shared = {word for query, tree in both for word in set(atoms(tree)).intersection(query)}
    kinds = {name[0] for name in map(numbered.split, shared) if name and name[1] == 0}

    def names(words: Iterable[str]) -> frozenset[str]:
        return frozenset(word for word in words if (name := numbered.split(word)) and name[0] in kinds)

    return [Pair(query, tree, names({*query, *atoms(tree)})) for query, tree in both]


def _tree(form: Words | None) -> Tree | None:
    try:
        return read(" ".join(form)) if form else None
    except LFSyntaxError:
        return None


@dataclass(frozen=True, slots=True)
class Change:
    """Words that take the place of others, and what becomes of the form.

    Without `said`, the words are put in. `old` and `new` are parts of forms in normal order; if `condition`, they stand
    in an `and` with their variable left open, and without `old` it is one more. Its `names` are numbered as they come
    up.
    """

    said: Words
    now: Words
    old: Tree | None
    new: Tree
    condition: bool
    names: frozenset[str] = frozenset()


@dataclass(slots=True)
class Evidence:
    """How often a change was seen, between which words, and how often the same words were exchanged at all."""

    seen: int = 0
    before: Counter[str] = field(default_factory=Counter)
    behind: Counter[str] = field(default_factory=Counter)
    exchanged: int = 0

    @property
    def trust(self) -> float:
        return self.seen / self.exchanged


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


def learned(pairs: Iterable[Pair]) -> dict[Change, Evidence]:
    """What can be read off pairs whose queries differ in one place."""
    found: dict[Change, Evidence] = {}
    exchanged: Counter[tuple[Words, Words]] = Counter()
    for group in _alike(pairs):
        for one, other in permutations(group, 2):
            said, now = one.words, other.words
            if not now or said[:1] == now[:1] or said[-1:] == now[-1:]:  # less would be to exchange
                continue
            both = one.names | other.names
            names = numbered.as_they_come((*said, *now), both)
            words = _called_words(said, names), _called_words(now, names)
            exchanged[words] += 1
            difference = _difference(one.tree, other.tree)
            if difference is None:
                continue
            old, new, condition = difference
            if old == one.tree and not _holds(new, old):  # nothing is left in which another form could be like it
                continue
            if both.intersection(atoms(new)) <= set(now) and (not old or both.intersection(atoms(old)) <= set(said)):
                own = frozenset(names.values())
                change = Change(*words, old and renamed(old, names), renamed(new, names), condition, own)
                evidence = found.setdefault(change, Evidence())
                evidence.seen += 1
                evidence.before[one.before] += 1
                evidence.behind[one.behind] += 1
    for change, evidence in found.items():
        evidence.exchanged = exchanged[change.said, change.now]
    return found


@dataclass(frozen=True, slots=True)
class _Cut:
    """A pair cut open around some words, its names numbered as they come up in what is left, then in the words."""

    before: str
    words: Words
    behind: str
    tree: Tree  # in normal order
    names: frozenset[str]


def _alike(pairs: Iterable[Pair]) -> Iterator[list[_Cut]]:
    """Pairs whose queries are the same but for a few words in one place."""
    groups: dict[tuple[Words, Words], list[tuple[Pair, int, int]]] = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        query = pair.query
        for length in range(min(LONGEST, len(query) - AROUND) + 1):
            for start in range(len(query) - length + 1):
                end = start + length
                names = numbered.as_they_come((*query[:start], *query[end:]), pair.names)
                key = _called_words(query[:start], names), _called_words(query[end:], names)
                groups[key].append((pair, start, end))
    for group in groups.values():
        if len(group) > 1:
            distinct = list(dict.fromkeys(_cut(*each) for each in group))
            yield distinct[:: -(-len(distinct) // MOST)]


def _cut(pair: Pair, start: int, end: int) -> _Cut:
    query = pair.query
    names = numbered.as_they_come((*query[:start], *query[end:], *query[start:end]), pair.names)
    words, tree = _called_words(query[start:end], names), normalize(renamed(pair.tree, names))
    return _Cut(_word(pair, start - 1), words, _word(pair, end), tree, frozenset(names.values()))


def _word(pair: Pair, place: int) -> str:
    """A word of the query, of a name its kind; nothing before its start and behind its end."""
    word = pair.query[place] if 0 <= place < len(pair.query) else ""
    return numbered.kind_of(word) if word in pair.names else word


def _difference(one: Tree, other: Tree) -> tuple[Tree | None, Tree, bool] | None:
    """The smallest parts in which two forms differ, and whether these are conditions; None if there are several.

    >>> _difference(("and", ("flight", "$0")), ("and", ("flight", "$0"), ("nonstop", "$0")))
    (None, ('nonstop', '$'), True)
    >>> _difference(("count", ("all", "hut")), ("count", ("all", "peak")))
    ('hut', 'peak', False)
    """
    if one == other:
        return None
    if isinstance(one, str) or isinstance(other, str):
        return one, other, False
    if one[0] == other[0] == "and":
        return _other_condition(one[1:], other[1:])
    differing = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return _difference(*differing[0]) if len(one) == len(other) and len(differing) == 1 else (one, other, False)


def _other_condition(some: Sequence[Tree], others: Sequence[Tree]) -> tuple[Tree | None, Tree, bool] | None:
    lost, won = list((Counter(some) - Counter(others)).elements()), list((Counter(others) - Counter(some)).elements())
    if len(won) != 1 or len(lost) > 1:
        return None
    new, old = opened(won[0]), opened(lost[0]) if lost else None
    if new is not None and (not lost or (old is not None and variables(won[0]) == variables(lost[0]))):
        return old, new, True
    return _difference(lost[0], won[0]) if lost else None


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
                before, behind = _word(pair, start - 1), _word(pair, start + length)
                names = numbered.as_they_come(words, pair.names)
                back = {number: name for name, number in names.items()}
                said = _called_words(words, names)
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
    now, new = _called_words(change.now, names), renamed(change.new, names)
    query = pair.query[: fit.start] + now + pair.query[fit.start + len(change.said) :]
    tree = usage.put(pair.tree, fit.place, new) if isinstance(fit.place, Spot) else put(pair.tree, fit.place, new)
    if tree is None or _repeats(tree) > _repeats(pair.tree):
        return None
    written = set(atoms(tree))
    if (pair.names.intersection(pair.query) - set(query)) & written:
        return None
    closed = numbered.without_gaps(taken & {*query, *written})
    return _called_words(query, closed), renamed(tree, closed)


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


def _holds(tree: Tree, part: Tree) -> bool:
    return any(each == part for _, each in parts(tree))


def _heads(tree: Tree, path: Path) -> Iterator[Tree]:
    """The heads of all that lies around a place."""
    for index in path:
        yield tree[0]
        tree = tree[index]


def _called_words(words: Words, names: Names) -> Words:
    return tuple(names.get(word, word) for word in words)
