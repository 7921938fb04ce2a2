"""What a few words mean: labeled pairs in, changes that can be made to other pairs out, with the evidence for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from dualparse.data.examples import Example
from dualparse.lf import numbered
from dualparse.lf.canonical import normalize
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.recombine import opened, variables
from dualparse.lf.sexpr import Tree, read
from dualparse.lf.trees import atoms, parts, renamed

Words = tuple[str, ...]
Names = Mapping[str, str]

LONGEST = 4  # words that are exchanged for others, at the most
AROUND = 2  # words left and right of them together, at the least
MOST = 100  # pairs alike that are compared with one another


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
            words = called(said, names), called(now, names)
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
                key = called(query[:start], names), called(query[end:], names)
                groups[key].append((pair, start, end))
    for group in groups.values():
        if len(group) > 1:
            distinct = list(dict.fromkeys(_cut(*each) for each in group))
            yield distinct[:: -(-len(distinct) // MOST)]


def _cut(pair: Pair, start: int, end: int) -> _Cut:
    query = pair.query
    names = numbered.as_they_come((*query[:start], *query[end:], *query[start:end]), pair.names)
    words, tree = called(query[start:end], names), normalize(renamed(pair.tree, names))
    return _Cut(word_at(pair, start - 1), words, word_at(pair, end), tree, frozenset(names.values()))


def word_at(pair: Pair, place: int) -> str:
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


def _holds(tree: Tree, part: Tree) -> bool:
    return any(each == part for _, each in parts(tree))


def called(words: Words, names: Names) -> Words:
    return tuple(names.get(word, word) for word in words)
