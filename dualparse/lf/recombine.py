"""New logical forms out of the parts of others: a condition more, or one less.

In: forms whose conditions stand in an `and`. Out: what conditions there are, with their variable left open, and forms
with one of them put in or left out. Whether such a form makes sense is for a check to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dualparse.lf.sexpr import Tree
from dualparse.lf.trees import Path, put, renamed

OPEN = "$"  # stands for the variable of a condition


@dataclass(frozen=True, slots=True)
class Place:
    """An `and` in a form: the indices that lead to it from the root."""

    path: Path
    conditions: tuple[Tree, ...]

    @property
    def variables(self) -> list[str]:
        """What its conditions speak about, the most frequent first."""
        found = Counter(name for each in self.conditions for name in variables(each))
        return sorted(found, key=lambda name: (-found[name], name))


def places(tree: Tree) -> list[Place]:
    """
    >>> places(("lambda", "$0", "e", ("and", ("flight", "$0"), ("to", "$0", "ci0"))))[0].conditions
    (('flight', '$0'), ('to', '$0', 'ci0'))
    """
    return list(_places(tree, ()))


def _places(tree: Tree, path: Path) -> Iterator[Place]:
    if isinstance(tree, str):
        return
    if tree[0] == "and":
        yield Place(path, tuple(tree[1:]))
    for index, child in enumerate(tree):
        yield from _places(child, (*path, index))


def variables(tree: Tree) -> set[str]:
    """
    >>> sorted(variables(("<", ("departure_time", "$0"), "ti0")))
    ['$0']
    """
    if isinstance(tree, str):
        return {tree} if tree.startswith(OPEN) else set()
    return set().union(*map(variables, tree))


def conditions(trees: Iterable[Tree]) -> Counter[Tree]:
    """All conditions about one thing, with its name left open, and how often they occur. Those that hold conditions of
    their own are no parts but wholes, and are left out."""
    all_of_them = (opened(each) for tree in trees for place in places(tree) for each in place.conditions)
    return Counter(condition for condition in all_of_them if condition is not None)


def opened(condition: Tree) -> Tree | None:
    """A condition about one thing, with its name left open.

    >>> opened(("to", "$0", "ci0")), opened(("to", "$0", "$1"))
    (('to', '$', 'ci0'), None)
    """
    names = variables(condition)
    return renamed(condition, {names.pop(): OPEN}) if len(names) == 1 and not places(condition) else None


def without(tree: Tree, place: Place, number: int) -> Tree:
    """The form without one condition of a place. An `and` of one condition is no `and`.

    >>> form = ("lambda", "$0", "e", ("and", ("flight", "$0"), ("to", "$0", "ci0")))
    >>> without(form, places(form)[0], 1)
    ('lambda', '$0', 'e', ('flight', '$0'))
    """
    left = (*place.conditions[:number], *place.conditions[number + 1 :])
    return put(tree, place.path, ("and", *left) if len(left) > 1 else left[0])


def extended(tree: Tree, place: Place, condition: Tree, variable: str) -> Tree:
    """The form with one more condition about a variable.

    >>> form = ("lambda", "$0", "e", ("and", ("flight", "$0"), ("to", "$0", "ci0")))
    >>> extended(form, places(form)[0], ("nonstop", "$"), "$0")
    ('lambda', '$0', 'e', ('and', ('flight', '$0'), ('to', '$0', 'ci0'), ('nonstop', '$0')))
    """
    return put(tree, place.path, ("and", *place.conditions, renamed(condition, {OPEN: variable})))


def says_already(place: Place, condition: Tree, variable: str) -> bool:
    """Whether a place has such a condition about the variable: a second `to` is rather a mistake than a new question.

    >>> place = places(("and", ("to", "$0", "ci0"), ("<", ("fare", "$0"), "100")))[0]
    >>> says_already(place, ("to", "$", "ci1"), "$0"), says_already(place, (">", ("fare", "$"), "50"), "$0")
    (True, False)
    """
    wanted = gist(renamed(condition, {OPEN: variable}))
    return any(gist(each) == wanted for each in place.conditions)


def gist(condition: Tree) -> Tree:
    """A condition less what it compares with."""
    if isinstance(condition, str):
        return condition
    return tuple(
        gist(c) if not isinstance(c, str) else c if i == 0 or c.startswith(OPEN) else ""
        for i, c in enumerate(condition)
    )
