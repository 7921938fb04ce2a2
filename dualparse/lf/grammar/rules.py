"""Grammars: rules that pair an utterance's words with the logical form they mean (paper Section 4.2.2).

In: a grammar file as OVERNIGHT was published with, or one's own. Out: a `Grammar`, or `InputError` with file and line.

    (rule $Set ($Set that start in $Village) (lambda s (lambda v (filter (var s) start = (var v)))))

`$Set` is the category the rule makes; the list after it is what the rule is made of, words and categories; the last
part says how the categories' forms become the whole's form (`dualparse.lf.grammar.semantics`). `(distinct)` after it
asks for categories with different forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lf.grammar.semantics import BadSemantics, Semantics, build
from dualparse.lf.grammar.statements import Statements
from dualparse.lf.grammar.text import Node

ROOT = "$ROOT"
GENERATE = frozenset({"generate", "general"})
_DISTINCT = "distinct"
_IGNORED_OPTIONS = ("anchored", "floating")  # they steer a parser, not generation


@dataclass(frozen=True)
class Rule:
    """`parts` are words and categories in the order they are said; a category begins with `$`.

    With `distinct` the categories must have different forms: nobody says "Alice or Alice".
    """

    category: str
    parts: tuple[str, ...]
    semantics: Semantics
    path: Path
    line: int
    distinct: bool = False

    @cached_property
    def children(self) -> tuple[str, ...]:
        """The categories among the parts."""
        return tuple(part for part in self.parts if is_category(part))

    def words(self, children: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        """The utterance, given those of the categories."""
        said = iter(children)
        words: list[str] = []
        for part in self.parts:
            words.extend(next(said) if is_category(part) else (part,))
        return tuple(words)


@dataclass(frozen=True)
class Grammar:
    """Rules in the order of their files. `warnings` say what is suspicious and does no harm."""

    rules: tuple[Rule, ...]
    root: str = ROOT
    warnings: tuple[InputError, ...] = field(default=(), compare=False)

    @cached_property
    def by_category(self) -> dict[str, tuple[Rule, ...]]:
        """Category -> its rules, categories in the order of their first rule."""
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            found.setdefault(rule.category, []).append(rule)
        return {category: tuple(rules) for category, rules in found.items()}

    @cached_property
    def waiting(self) -> dict[str, int]:
        """Category -> how many arguments its forms still wait for; 0 means that they are complete."""
        return _waiting(self.rules, problems=[])

    @cached_property
    def min_depth(self) -> dict[str, int]:
        """Category -> depth of its shallowest derivation; a rule without categories has depth 1."""
        depths: dict[str, int] = {}
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                if all(child in depths for child in rule.children):
                    depth = 1 + max((depths[child] for child in rule.children), default=0)
                    if depth < depths.get(rule.category, depth + 1):
                        depths[rule.category], changed = depth, True
        return depths

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Categories that derivations of the root can hold."""
        found, waiting = {self.root}, [self.root]
        while waiting:
            for rule in self.by_category.get(waiting.pop(), ()):
                new = [child for child in rule.children if child not in found]
                found.update(new)
                waiting.extend(new)
        return frozenset(found)

    @cached_property
    def max_depth(self) -> dict[str, float]:
        """Category -> depth of its deepest derivation; infinite where it can hold itself."""
        return dict.fromkeys(self.by_category, float("inf")) | _finite_depths(self)


def is_category(part: str) -> bool:
    """Whether a part of a rule is a category."""
    return part.startswith("$") and len(part) > 1


def read_grammar(path: Path | str, *, tags: frozenset[str] = GENERATE, root: str = ROOT) -> Grammar:
    """The grammar in a file, with the `when` parts that hold for the tags.

    The first mistake is raised; `grammar_problems` lists all of them.
    """
    grammar, problems = _read(Path(path), tags, root)
    if problems:
        raise problems[0]
    return grammar


def grammar_problems(path: Path | str, *, tags: frozenset[str] = GENERATE, root: str = ROOT) -> list[InputError]:
    """Every mistake in a grammar file, then every warning; empty for a good one."""
    grammar, problems = _read(Path(path), tags, root)
    return [*problems, *grammar.warnings]


def _read(path: Path, tags: frozenset[str], root: str) -> tuple[Grammar, list[InputError]]:
    statements = Statements(tags)
    statements.read(path)
    problems = statements.problems
    rules = []
    for place, node in statements.rules:
        try:
            rules.append(_rule(node, place))
        except BadSemantics as error:
            problems.append(InputError(str(error), path=place, line=node.line))
    warnings: list[InputError] = []
    if not problems:  # what follows would only repeat a mistake made above
        rules = _usable(rules, path, problems, warnings)
    if not problems:
        problems.extend(_structure(rules, root, path))
    if not problems:
        warnings.extend(_unreachable(Grammar(tuple(rules), root)))
    return Grammar(tuple(rules), root, tuple(warnings)), problems


def _rule(node: Node, path: Path) -> Rule:
    items = node.items
    if len(items) < 4 or not is_category(items[1].text) or items[2].is_atom:
        raise BadSemantics("a rule is (rule $CATEGORY (words and categories) (semantic function))")
    for option in items[4:]:
        if option.head not in (_DISTINCT, *_IGNORED_OPTIONS):
            raise BadSemantics(f"unexpected {option.head or option.text!r} after the semantic function")
    if not items[2].items or not all(part.is_atom for part in items[2].items):
        raise BadSemantics("the second part of a rule is a list of words and categories")
    # A quoted part may hold several words.
    parts = tuple(word for part in items[2].items for word in part.text.split())
    semantics = build(items[3].tree, parts=sum(map(is_category, parts)))
    distinct = any(option.head == _DISTINCT for option in items[4:])
    return Rule(items[1].text, parts, semantics, path, node.line, distinct)


def _usable(rules: list[Rule], path: Path, problems: list[InputError], warnings: list[InputError]) -> list[Rule]:
    """The rules all of whose categories some rule makes.

    One that is left over is a mistake in the file asked for. In a file that it includes it is a warning: a general
    grammar speaks of kinds of phrases that a particular domain may not have.
    """
    left_out: dict[str, list[Rule]] = {}
    while True:
        known = {rule.category for rule in rules}
        missing = {rule: next((child for child in rule.children if child not in known), None) for rule in rules}
        for rule, child in missing.items():
            if child and rule.path == path:
                problems.append(InputError(f"no rule makes {child}", path=rule.path, line=rule.line))
            elif child:
                left_out.setdefault(child, []).append(rule)
        if not any(missing.values()):
            break
        rules = [rule for rule in rules if not missing[rule]]
    for child, unused in left_out.items():
        others = f" and {len(unused) - 1} more" if len(unused) > 1 else ""
        text = f"no rule makes {child}, so the rule here{others} cannot be used"
        warnings.append(InputError(text, path=unused[0].path, line=unused[0].line))
    return rules


def _structure(rules: list[Rule], root: str, path: Path) -> Iterator[InputError]:
    """Mistakes that need all rules to be seen: no root, no end, and functions where a form is needed."""
    grammar = Grammar(tuple(rules), root)
    if root not in grammar.by_category:
        yield InputError(f"no rule makes {root}, with which every derivation begins", path=path)
        return
    for rule in rules:
        if rule.category not in grammar.min_depth:
            yield InputError(f"{rule.category} never comes to words", path=rule.path, line=rule.line)
            return
    problems: list[InputError] = []
    waiting = _waiting(grammar.rules, problems=problems)
    yield from problems
    if not problems and waiting[root]:
        first = grammar.by_category[root][0]
        yield InputError(f"{root} is a function that waits for arguments", path=first.path, line=first.line)


def _waiting(rules: tuple[Rule, ...], *, problems: list[InputError]) -> dict[str, int]:
    """Arguments that each category's forms wait for; all rules of a category must agree."""
    known: dict[str, int] = {}
    first: dict[str, Rule] = {}
    todo = list(rules)
    while True:
        ready: list[Rule] = []
        later: list[Rule] = []
        for rule in todo:
            (ready if all(child in known for child in rule.children) else later).append(rule)
        if not ready:
            return known
        todo = later
        for rule in ready:
            try:
                count = rule.semantics.waiting([known[child] for child in rule.children])
            except BadSemantics as error:
                problems.append(InputError(str(error), path=rule.path, line=rule.line))
                continue
            if known.setdefault(rule.category, count) != count:
                text = f"{rule.category} waits for {count} arguments here, and for {known[rule.category]} in line"
                problems.append(InputError(f"{text} {first[rule.category].line}", path=rule.path, line=rule.line))
            first.setdefault(rule.category, rule)


def _unreachable(grammar: Grammar) -> Iterator[InputError]:
    for rule in grammar.rules:
        if rule.category not in grammar.reachable:
            yield InputError(f"{rule.category} is never used by {grammar.root}", path=rule.path, line=rule.line)


def _finite_depths(grammar: Grammar) -> dict[str, int]:
    """Depth of the deepest derivation of every category that is not recursive."""
    depths: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for category, rules in grammar.by_category.items():
            if category not in depths and all(child in depths for rule in rules for child in rule.children):
                depths[category] = max(1 + max((depths[c] for c in rule.children), default=0) for rule in rules)
                changed = True
    return depths
