"""Statements of a grammar file down to its rules: `include`, `def`, `when` and `for` are carried out here.

In: a path and the tags that hold. Out: the `(rule ...)` statements with names defined by `def` and `for` replaced,
each with its file; mistakes go to a list, and reading goes on after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lf.grammar.text import Node, read_nodes

# The evaluator's functions carry their full name in the published grammars and a short one in the published forms.
LONG_PREFIX, SHORT_PREFIX = "edu.stanford.nlp.sempre.overnight.SimpleWorld.", "SW."


MOST_STATEMENTS = 200_000  # carried out, however often
MOST_PARTS = 20_000  # atoms and lists of one rule or definition


@dataclass
class Statements:
    """The rules read so far, and what was wrong on the way."""

    tags: frozenset[str]
    rules: list[tuple[Path, Node]] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)
    definitions: dict[str, Node] = field(default_factory=dict)
    finished: set[Path] = field(default_factory=set)
    open_files: list[Path] = field(default_factory=list)
    carried_out: int = 0
    sizes: dict[str, int] = field(default_factory=dict)  # of definitions

    def report(self, message: str, path: Path, line: int) -> None:
        self.problems.append(InputError(message, path=path, line=line))

    def read(self, path: Path) -> None:
        """Take in a file and all it includes; a file included twice is read once."""
        place = path.resolve()
        if place in self.finished:
            return
        self.open_files.append(place)
        try:
            nodes = read_nodes(path)
        except InputError as error:
            self.problems.append(error)
        else:
            self._take(nodes, path)
        self.finished.add(self.open_files.pop())

    def _take(self, nodes: Sequence[Node], path: Path) -> None:
        kinds = {"include": self._include, "def": self._def, "when": self._when, "for": self._for, "rule": self._rule}
        for node in nodes:
            self.carried_out += 1
            if self.carried_out > MOST_STATEMENTS:
                raise InputError(
                    f"more than {MOST_STATEMENTS} statements, those that `for` repeats", path=path, line=node.line
                )
            if node.head in kinds:
                kinds[node.head](node, path)
            else:
                found = repr(node.text) if node.is_atom else f"({node.head} ...)"
                self.report(f"expected (include|def|when|for|rule ...), found {found}", path, node.line)

    def _include(self, node: Node, path: Path) -> None:
        if len(node.items) != 2 or not node.items[1].is_atom:
            return self.report("include takes one file name", path, node.line)
        target = path.parent / node.items[1].text
        if not self._is_ours(target):
            return self.report(
                f"include: {node.items[1].text[:80]!r} leads out of the grammar's folder", path, node.line
            )
        if target.resolve() in self.open_files:
            chain = " -> ".join(place.name for place in [*self.open_files, target])
            return self.report(f"include goes round in a circle: {chain}", path, node.line)
        if not target.is_file():
            return self.report(f"include: there is no file {target}", path, node.line)
        self.read(target)

    def _is_ours(self, target: Path) -> bool:
        """Whether a file lies in the folder of the grammar asked for, or below it."""
        try:
            return target.resolve().is_relative_to(self.open_files[0].parent)
        except (OSError, RuntimeError, ValueError):  # links in a circle, a name too long
            return False

    def _def(self, node: Node, path: Path) -> None:
        if len(node.items) != 3 or not node.items[1].text.startswith("@"):
            return self.report("def takes a name that begins with @ and a value", path, node.line)
        self._define(node.items[1].text, node.items[2], path)

    def _for(self, node: Node, path: Path) -> None:
        if len(node.items) < 3 or not node.items[1].text.startswith("@") or node.items[2].is_atom:
            return self.report("for takes a name that begins with @, a list of values and statements", path, node.line)
        for value in node.items[2].items:
            self._define(node.items[1].text, value, path)
            self._take(node.items[3:], path)
        self.definitions.pop(node.items[1].text, None)

    def _define(self, name: str, value: Node, path: Path) -> None:
        expanded, size = self._expand(value, path), self._size(value)
        self.definitions[name], self.sizes[name] = expanded, size

    def _when(self, node: Node, path: Path) -> None:
        if len(node.items) < 2:
            return self.report("when takes a condition and statements", path, node.line)
        if self._holds(node.items[1], path):
            self._take(node.items[2:], path)

    def _holds(self, condition: Node, path: Path) -> bool:
        if condition.is_atom:
            return condition.text in self.tags
        parts = condition.items[1:]
        if condition.head not in ("and", "or", "not") or not parts or (condition.head == "not" and len(parts) != 1):
            self.report("condition must be a tag, (and ...), (or ...) or (not X)", path, condition.line)
            return False
        truths = [self._holds(part, path) for part in parts]
        return {"and": all(truths), "or": any(truths), "not": not truths[0]}[condition.head]

    def _rule(self, node: Node, path: Path) -> None:
        self.rules.append((path, self._expand(node, path)))

    def _size(self, node: Node) -> int:
        """Atoms and lists of a node when its `@name`s are replaced."""
        if node.is_atom:
            return self.sizes.get(node.text, 1)
        return 1 + sum(map(self._size, node.items))

    def _expand(self, node: Node, path: Path, *, whole: bool = True) -> Node:
        """The node with every `@name` replaced by its value and every long function name by the short one."""
        if whole and self._size(node) > MOST_PARTS:
            raise InputError(
                f"more than {MOST_PARTS} parts when its definitions are filled in", path=path, line=node.line
            )
        if not node.is_atom:
            return Node(
                node.line, is_atom=False, items=tuple(self._expand(item, path, whole=False) for item in node.items)
            )
        if node.text.startswith("@") and len(node.text) > 1:
            if node.text not in self.definitions:
                self.report(f"{node.text} is not defined", path, node.line)
            return self.definitions.get(node.text, node)
        if node.text.startswith(LONG_PREFIX):
            return Node(node.line, is_atom=True, text=SHORT_PREFIX + node.text.removeprefix(LONG_PREFIX))
        return node
