"""Semantic functions: how the forms of a rule's parts become the form of the whole.

In: the `(Fn ...)` part of a rule. Out: an object with `apply(parts) -> form`, or `BadSemantics` with the reason. The
meta language is `(lambda x BODY)`, `(var x)` and application; everything else in a form is copied as it is.

A lambda form is applied to the parts in their order. An application inside its body stays as it stands, because
published forms hold such pieces: `( ( lambda s ... ) ( call SW.domain ( string player ) ) )`. `JoinFn` with
`betaReduce` reduces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from dualparse.lf.sexpr import Tree, write


class BadSemantics(Exception):
    """What is wrong with a semantic function; the reader of the file adds where."""


class Semantics(Protocol):
    """A semantic function."""

    def apply(self, parts: Sequence[Tree]) -> Tree:
        """The form of the whole. The parts are closed: no variable in them is free."""

    def waiting(self, parts: Sequence[int]) -> int:
        """How many arguments the result still waits for, if the parts wait for so many; raises `BadSemantics`."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same form always."""

    form: Tree

    def apply(self, parts: Sequence[Tree]) -> Tree:
        return self.form

    def waiting(self, parts: Sequence[int]) -> int:
        return len(parameters(self.form))

    def __str__(self) -> str:
        return write(self.form)


@dataclass(frozen=True, slots=True)
class Select:
    """One part as it is."""

    index: int

    def apply(self, parts: Sequence[Tree]) -> Tree:
        return parts[self.index]

    def waiting(self, parts: Sequence[int]) -> int:
        return parts[self.index]

    def __str__(self) -> str:
        return f"category {self.index + 1}"


@dataclass(frozen=True, slots=True)
class Join:
    """One of two parts applied to the other."""

    function: int
    reduces: bool

    def apply(self, parts: Sequence[Tree]) -> Tree:
        function, argument = parts[self.function], parts[1 - self.function]
        return apply_lambda(function, argument) if self.reduces else (function, argument)

    def waiting(self, parts: Sequence[int]) -> int:
        if not self.reduces:
            return 0
        if not parts[self.function]:
            raise BadSemantics(f"JoinFn applies its part {self.function + 1}, which is not a function")
        return parts[self.function] - 1

    def __str__(self) -> str:
        return f"category {self.function + 1} applied to category {2 - self.function}"


@dataclass(frozen=True, slots=True)
class Apply:
    """A lambda form applied to all parts; `names` has one parameter a part."""

    names: tuple[str, ...]
    body: Tree

    def apply(self, parts: Sequence[Tree]) -> Tree:
        return substitute(self.body, dict(zip(self.names, parts, strict=True)))

    def waiting(self, parts: Sequence[int]) -> int:
        if is_variable(self.body):
            return dict(zip(self.names, parts, strict=True))[self.body[1]]
        return len(parameters(self.body))

    def __str__(self) -> str:
        return f"{' '.join(self.names)} -> {write(self.body)}"


def build(description: Tree, *, parts: int) -> Semantics:
    """The semantic function a rule with so many categories describes.

    >>> build(("lambda", "x", ("count", ("var", "x"))), parts=1).apply([("all", "trail")])
    ('count', ('all', 'trail'))
    """
    if _has_empty_list(description):
        raise BadSemantics("an empty list stands for nothing")
    if isinstance(description, str) or not isinstance(description[0], str):
        raise BadSemantics("a semantic function is a list that begins with its name")
    name, options = description[0], description[1:]
    if name not in _BUILDERS:
        raise BadSemantics(f"unknown semantic function {name}; there are {', '.join(_BUILDERS)}")
    function = _BUILDERS[name](description if name == "lambda" else options, parts)
    free = free_variables(description)
    if free:
        raise BadSemantics(f"variable {min(free)} is bound by no lambda")
    return function


def _constant(options: tuple[Tree, ...], parts: int) -> Constant:
    _expect(len(options) == 1, f"ConstantFn takes one form, not {len(options)}")
    _expect(not parts, f"ConstantFn takes no categories, and the rule has {parts}")
    return Constant(options[0])


def _identity(options: tuple[Tree, ...], parts: int) -> Select:
    _expect(not options, "IdentityFn takes no options")
    _expect(parts == 1, f"IdentityFn takes one category, and the rule has {parts}")
    return Select(0)


def _select(options: tuple[Tree, ...], parts: int) -> Select:
    _expect(len(options) == 1 and str(options[0]).isdecimal(), "SelectFn takes the position of a category, from 0")
    index = int(str(options[0]))
    _expect(index < parts, f"SelectFn {index}: the rule has {parts} categories, counted from 0")
    return Select(index)


def _join(options: tuple[Tree, ...], parts: int) -> Join:
    unknown = [option for option in options if option not in ("forward", "backward", "betaReduce")]
    _expect(not unknown, f"JoinFn knows forward, backward and betaReduce, not {unknown[:1]}")
    _expect(("forward" in options) != ("backward" in options), "JoinFn takes either forward or backward")
    _expect(parts == 2, f"JoinFn takes two categories, and the rule has {parts}")
    return Join(0 if "forward" in options else 1, reduces="betaReduce" in options)


def _apply(options: tuple[Tree, ...], parts: int) -> Apply:
    _expect(len(options) == 1, f"ApplyFn takes one lambda, not {len(options)}")
    return _lambda(options[0], parts)


def _lambda(form: Tree, parts: int) -> Apply:
    names = parameters(form)
    _expect(len(names) >= parts, f"{len(names)} lambda parameters for {parts} categories")
    _expect(parts > 0, "a lambda needs categories to be applied to; ConstantFn makes a form from nothing")
    return Apply(names[:parts], _body(form, parts))


def _body(form: Tree, lambdas: int) -> Tree:
    return _body(form[2], lambdas - 1) if lambdas else form


def _has_empty_list(tree: Tree) -> bool:
    return not isinstance(tree, str) and (not tree or any(map(_has_empty_list, tree)))


def _expect(condition: bool, otherwise: str) -> None:
    if not condition:
        raise BadSemantics(otherwise)


_BUILDERS: dict[str, Callable[[Any, int], Semantics]] = {
    "ConstantFn": _constant,
    "IdentityFn": _identity,
    "SelectFn": _select,
    "JoinFn": _join,
    "ApplyFn": _apply,
    "lambda": _lambda,
}


def is_lambda(tree: Tree) -> TypeGuard[tuple[str, str, Tree]]:
    """Whether a tree is `(lambda x BODY)`; a lambda with more items belongs to the forms' own language."""
    return not isinstance(tree, str) and len(tree) == 3 and tree[0] == "lambda" and isinstance(tree[1], str)


def is_variable(tree: Tree) -> TypeGuard[tuple[str, str]]:
    """Whether a tree is `(var x)`."""
    return not isinstance(tree, str) and len(tree) == 2 and tree[0] == "var" and isinstance(tree[1], str)


def parameters(tree: Tree) -> tuple[str, ...]:
    """Names of the lambdas a tree begins with.

    >>> parameters(("lambda", "r", ("lambda", "s", ("filter", ("var", "s"), ("var", "r")))))
    ('r', 's')
    """
    names = []
    while is_lambda(tree):
        names.append(tree[1])
        tree = tree[2]
    return tuple(names)


def free_variables(tree: Tree) -> frozenset[str]:
    """Variables that no lambda around them binds."""
    if isinstance(tree, str):
        return frozenset()
    if is_variable(tree):
        return frozenset({tree[1]})
    inner: frozenset[str] = frozenset().union(*map(free_variables, tree))
    return inner - {tree[1]} if is_lambda(tree) else inner


def substitute(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with variables replaced; the values are closed, so nothing in them can be captured."""
    if isinstance(tree, str):
        return tree
    if is_variable(tree):
        return values.get(tree[1], tree)
    if is_lambda(tree) and tree[1] in values:
        values = {name: value for name, value in values.items() if name != tree[1]}
    return tuple([part if isinstance(part, str) else substitute(part, values) for part in tree])


def apply_lambda(function: Tree, argument: Tree) -> Tree:
    """`(lambda x BODY)` applied to a closed argument; anything else with its argument stays a pair.

    >>> apply_lambda(("lambda", "s", ("filter", ("var", "s"), "wet")), ("all", "trail"))
    ('filter', ('all', 'trail'), 'wet')
    """
    if not is_lambda(function):
        return (function, argument)
    return substitute(function[2], {function[1]: argument})
