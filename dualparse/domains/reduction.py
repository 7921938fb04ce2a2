"""What is looked at in a form before its types: that every list is well formed, and lambdas, which are applied by name.

In: a tree. Out: a tree without `lambda` and `var`, or one of the two logical-form errors.
"""

from __future__ import annotations

from collections.abc import Mapping

from dualparse.domains.intervals import interval
from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.sexpr import MAX_DEPTH, Tree, write
from dualparse.lf.values import LITERALS, read_literal

MOST_NODES = 10_000  # of a reduced form
_Bindings = Mapping[str, tuple[Tree, "_Bindings"]]


def reduced(tree: Tree) -> Tree:
    """The tree with its lambdas applied; an argument that is not used is dropped unseen.

    >>> reduced((("lambda", "s", ("count", ("var", "s"))), ("all", "hut")))
    ('count', ('all', 'hut'))
    """
    return _Reduction().run(tree, {}, 0) if _well_formed(tree) else tree


def _well_formed(tree: Tree) -> bool:
    """Whether there are lambdas to apply; `LFSyntaxError` for a list that can mean nothing, wherever it stands."""
    waiting, found = [(tree, 0)], False
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, str):
            continue
        if depth > MAX_DEPTH:
            raise LFSyntaxError(f"nested deeper than {MAX_DEPTH}")
        if not node:
            raise LFSyntaxError("empty list")
        head = node[0]
        if head in ("var", "lambda"):
            found = True
            if len(node) != (2 if head == "var" else 3) or not isinstance(node[1], str):
                raise LFSyntaxError(f"{write(node)[:60]}: expected ( var name ) or ( lambda name body )")
        elif head == "text":
            if not all(isinstance(part, str) for part in node):
                raise LFSyntaxError(f"{write(node)[:60]}: expected ( text WORDS )")
        elif isinstance(head, tuple):
            found = True
            if len(node) != 2:
                raise LFSyntaxError(f"{write(node)[:60]}: expected a function and its argument")
        elif interval(node) is None and head in LITERALS:
            read_literal(node)
        waiting.extend((part, depth + 1) for part in node)
    return found


class _Reduction:
    def __init__(self) -> None:
        self.nodes = 0

    def run(self, tree: Tree, bound: _Bindings, depth: int) -> Tree:
        self.nodes += 1
        if self.nodes > MOST_NODES or depth > MAX_DEPTH:
            raise LFExecutionError("too many steps")
        if isinstance(tree, str):
            return tree
        if tree[0] == "lambda":
            raise LFExecutionError("a lambda without an argument is not a value")
        if tree[0] == "var":
            return self.run(*_look_up(str(tree[1]), bound), depth + 1)
        if isinstance(tree[0], tuple):
            (_, variable, body), inside = self.function(tree[0], bound)
            return self.run(body, {**inside, str(variable): (tree[1], bound)}, depth + 1)
        return tuple([self.run(part, bound, depth + 1) for part in tree])

    def function(self, tree: Tree, bound: _Bindings) -> tuple[tuple[Tree, ...], _Bindings]:
        """The lambda that a tree stands for, with what is bound inside it."""
        while True:
            self.nodes += 1
            if self.nodes > MOST_NODES:
                raise LFExecutionError("too many steps")
            if isinstance(tree, str):
                raise LFExecutionError("only a lambda can be applied to an argument")
            if tree[0] == "lambda":
                return tree, bound
            if tree[0] == "var":
                tree, bound = _look_up(str(tree[1]), bound)
            elif isinstance(tree[0], tuple):
                (_, variable, body), inside = self.function(tree[0], bound)
                tree, bound = body, {**inside, str(variable): (tree[1], bound)}
            else:
                raise LFExecutionError("only a lambda can be applied to an argument")


def _look_up(variable: str, bound: _Bindings) -> tuple[Tree, _Bindings]:
    if variable not in bound:
        raise LFExecutionError(f"unbound variable {variable!r}")
    return bound[variable]
