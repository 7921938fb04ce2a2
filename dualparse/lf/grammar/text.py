"""The text of a grammar file as nodes. In: a path. Out: nested lists of atoms, each with its line, or `InputError`.

Parentheses make lists, `"..."` is one atom with its spaces and parentheses (a backslash takes the next character as
it is), and `#` where an atom could begin starts a comment that runs to the end of the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lf.sexpr import Tree
from dualparse.lines import numbered_lines

MAX_NESTING = 100

_TOKEN = re.compile(r'\s+|#.*|[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+|(?P<bad>")')


@dataclass(frozen=True, slots=True)
class Node:
    """An atom with its `text`, or a list with its `items`, and the line it begins in."""

    line: int
    is_atom: bool
    text: str = ""
    items: tuple[Node, ...] = ()

    @property
    def head(self) -> str:
        """The first atom of a list; "" for an atom, and where a list begins with a list."""
        return self.items[0].text if self.items else ""

    @property
    def tree(self) -> Tree:
        """The node as a tree of logical forms; its lines are forgotten."""
        return self.text if self.is_atom else tuple([item.tree for item in self.items])


def read_nodes(path: Path) -> list[Node]:
    """All nodes of a file in their order."""
    top: list[Node] = []
    enclosing: list[tuple[int, list[Node]]] = []
    current = top
    for line, token in _tokens(path):
        if token == "(":
            if len(enclosing) == MAX_NESTING:
                raise InputError(f"nested deeper than {MAX_NESTING}", path=path, line=line)
            enclosing.append((line, current))
            current = []
        elif token != ")":
            text = re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token
            current.append(Node(line, is_atom=True, text=text))
        elif not enclosing:
            raise InputError("closing parenthesis without an opening one", path=path, line=line)
        else:
            opened, outer = enclosing.pop()
            outer.append(Node(opened, is_atom=False, items=tuple(current)))
            current = outer
    if enclosing:
        # The outermost one: what follows a forgotten parenthesis is swallowed by the statement it belongs to.
        raise InputError("parenthesis opened here is never closed", path=path, line=enclosing[0][0])
    return top


def _tokens(path: Path) -> Iterator[tuple[int, str]]:
    for line, text in numbered_lines(path):
        for match in _TOKEN.finditer(text):
            if match["bad"]:
                raise InputError("quotation mark without its end on the same line", path=path, line=line)
            token = match[0]
            if not token.isspace() and not token.startswith("#"):
                yield line, token
