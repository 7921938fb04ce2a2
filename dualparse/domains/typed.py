"""Forms of the plain dialect get their types: what the ontology does not allow is refused, before anything runs.

In: a form's tree, and a `Schema`. Out: a node of `dualparse.domains.nodes`, or one of the two logical-form errors. The
table of signatures says what each function takes, the table of `dualparse.domains.making` what becomes of it. Types do
not depend on facts, so an empty answer is an answer and never an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dualparse.domains import nodes as n
from dualparse.domains.agreement import (
    NUMBERS,
    TABLES,
    figure,
    fitting,
    label_of,
    same,
    single,
    what,
)
from dualparse.domains.intervals import interval
from dualparse.domains.making import MAKERS
from dualparse.domains.nodes import Kind, Step, about_it
from dualparse.domains.reduction import reduced
from dualparse.domains.schema import LITERAL_KINDS, Declaration, Schema
from dualparse.domains.signatures import DIRECTIONS, OPERATORS, Signature, by_name
from dualparse.lf.errors import LF_ERRORS, LFExecutionError, LFSyntaxError
from dualparse.lf.sexpr import Tree, read, write
from dualparse.lf.values import FALSE, LITERALS, TRUE, read_literal, read_number, text, unquoted
from dualparse.lf.verdict import VALID, Verdict, refused

FUNCTIONS = by_name()
_SETS = (n.All, n.Entity, n.It, n.Literal, n.Get, n.Filter, n.Both, n.Either, n.Others, n.Best, n.Ranked, n.Keys)


@dataclass(frozen=True, slots=True)
class _About:
    """What `it` is, where there is one: one thing, or the things of a group."""

    kind: Kind
    group: bool = False


class Checker:
    """Reads forms over one schema.

    known: whether there is an entity of that id
    """

    def __init__(self, schema: Schema, known: Callable[[str], bool] = lambda id: True):
        self.schema = schema
        self.known = known
        self._owners: dict[str, list[Declaration]] = {}
        for declared in schema.properties.values():
            self._owners.setdefault(declared.name, []).append(declared)

    def typed_text(self, form: str) -> n.Node:
        """The typed tree of a form's text."""
        return self.typed(read(form))

    def typed(self, tree: Tree) -> n.Node:
        """The typed tree of a form; raises `LFSyntaxError` or `LFExecutionError`."""
        return _Reading(self).any(reduced(tree), None)

    def verdict(self, form: str) -> Verdict:
        """Whether a form's text is well formed and its types are right."""
        try:
            self.typed_text(form)
        except LF_ERRORS as error:
            return refused(error)
        return VALID

    # -- what the schema says

    def kind_of(self, declared: Declaration) -> Kind:
        """The kind of a property's values."""
        if declared.kind in LITERAL_KINDS:
            return Kind(declared.kind, declared.unit)
        return Kind(declared.kind, things=True)

    def step(self, word: str, source: Kind) -> Step:
        """The step a word means from here: `passes`, `!passes`, `!trail.passes`."""
        if not word.startswith("!"):
            return self._forward(word, source)
        owner, _, name = word[1:].rpartition(".")
        found = [declared for declared in self._owners.get(name, ()) if owner in ("", declared.owner)]
        fitting = [declared for declared in found if same(self.kind_of(declared), source)]
        if not found:
            raise LFExecutionError(f"unknown property {word!r}")
        if not fitting:
            wanted = " or ".join(sorted({str(self.kind_of(declared)) for declared in found}))
            raise LFExecutionError(f"{word!r} is a property of {wanted}; a {source} has none")
        if len(fitting) > 1:
            choice = " or ".join(sorted(f"!{declared.owner}.{name}" for declared in fitting))
            raise LFExecutionError(f"{word!r} can lead to several types: write {choice}")
        declared = fitting[0]
        return Step(declared.owner, name, True, self.kind_of(declared), Kind(declared.owner, things=True), many=True)

    def _forward(self, word: str, source: Kind) -> Step:
        declared = self.schema.properties.get((source.name, word)) if source.things else None
        if declared is None:
            owners = sorted({declared.owner for declared in self._owners.get(word, ())})
            if not owners:
                raise LFExecutionError(f"unknown property {word!r}")
            raise LFExecutionError(f"{word!r} is a property of {' or '.join(owners)}; a {source} has none")
        return Step(declared.owner, word, False, source, self.kind_of(declared), many=declared.many)

    def entity(self, id: str) -> n.Entity:
        """The entity of an id."""
        kind = id.rpartition(".")[0]
        if kind not in self.schema.types or not self.known(id):
            raise LFExecutionError(f"unknown entity {id!r}")
        return n.Entity(id, Kind(kind, things=True))


class _Reading:
    """Reads one form. Every method takes what `it` is at its place."""

    def __init__(self, checker: Checker):
        self.checker = checker

    def any(self, tree: Tree, it: _About | None) -> Any:
        if isinstance(tree, str):
            return self._atom(tree, it)
        head = tree[0]
        within = interval(tree)
        if within is not None:
            return n.Literal(within, Kind("date"))
        if head == "text":
            return n.Literal(text(unquoted([str(part) for part in tree[1:]])), Kind("text"))
        if head in LITERALS:
            value = read_literal(tree)
            return n.Literal(value, Kind(str(head), value.unit or ""))
        ways = FUNCTIONS.get(str(head))
        if ways is None:
            raise LFExecutionError(f"unknown function {head!r}")
        way = self._way(ways, tree)
        return MAKERS[way.name](way, *self._arguments(way, tree, it))

    def _atom(self, atom: str, it: _About | None) -> Any:
        if atom == "it":
            if it is None:
                raise LFExecutionError("'it' stands where there is nothing to speak of")
            return n.It(it.kind)
        if atom in ("true", "false"):
            return n.Literal(TRUE if atom == "true" else FALSE, Kind("boolean"))
        return self.checker.entity(atom)

    # -- which way a function is called, and its arguments

    def _way(self, ways: tuple[Signature, ...], tree: tuple[Tree, ...]) -> Signature:
        amount = len(tree) - 1
        fitting = [way for way in ways if way.takes(amount) and self._words_fit(way, tree)]
        if not fitting:
            sizes = sorted({len(way.arguments) for way in ways})
            wanted = " or ".join(map(str, sizes)) + (" or more" if any(way.repeats for way in ways) else "")
            if any(way.takes(amount) for way in ways):
                raise LFExecutionError(f"{write(tree)[:60]}: expected {' or '.join(map(str, ways))}")
            raise LFExecutionError(f"{tree[0]} takes {wanted} arguments, not {amount}")
        return fitting[0] if len(fitting) == 1 else self._by_table(fitting, tree)

    def _words_fit(self, way: Signature, tree: tuple[Tree, ...]) -> bool:
        """Whether the words that stand for themselves are there, or could be a slip of an operator."""
        for place, kind in enumerate(way.arguments):
            if kind.startswith("'") and tree[place + 1] != kind.strip("'"):
                return False
            if kind == "op" and tree[place + 1] in ("between", "contains", "missing", "present"):
                return False
        return True

    def _by_table(self, ways: list[Signature], tree: tuple[Tree, ...]) -> Signature:
        """The way that takes a table where a table stands, and things where none does."""
        for way in ways:
            if "table" in way.arguments:
                part = tree[way.arguments.index("table") + 1]
                head = part[0] if isinstance(part, tuple) else part
                results = {signature.result for signature in FUNCTIONS.get(str(head), ())}
                if "table" in results and (head in _ONLY_TABLES or self._is_table(part)):
                    return way
        return next(way for way in ways if "table" not in way.arguments)

    def _is_table(self, tree: Tree) -> bool:
        """Whether what is ranked is a table, however often it is ranked before."""
        while isinstance(tree, tuple) and tree[0] not in _ONLY_TABLES:
            inner = [part for part in tree[1:] if isinstance(part, tuple)]
            if tree[0] not in ("argmax", "argmin", "top", "bottom", "order") or not inner:
                return False
            tree = inner[0]
        return isinstance(tree, tuple)

    def _arguments(self, way: Signature, tree: tuple[Tree, ...], it: _About | None) -> list[Any]:
        found: list[Any] = []
        for place, part in enumerate(tree[1:]):
            kind = way.kind(place)
            if kind.startswith("'"):
                continue
            inside = it
            if way.name == "group" and kind == "scalar":
                inside = _About(found[0].kind, group=True)
            found.append(getattr(self, f"a_{kind}")(part, inside, found, way))
        return found

    def a_type(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Kind:
        if tree not in self.checker.schema.types:
            raise LFExecutionError(f"unknown type {write(tree)[:40]!r}")
        return Kind(str(tree), things=True)

    def a_set(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        found = self.any(tree, it)
        if isinstance(found, _SETS) or (isinstance(found, NUMBERS) and way.name in _COMPARING):
            return found
        raise LFExecutionError(f"argument {len(before) + 1} of {way.name} must be a set, not {what(found)}")

    def a_things(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        found = self.a_set(tree, it, before, way)
        if not found.kind.things:
            raise LFExecutionError(f"argument {len(before) + 1} of {way.name} must be things, not {what(found)}")
        return found

    def a_table(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        found = self.any(tree, None)
        if not isinstance(found, TABLES):
            raise LFExecutionError(f"argument {len(before) + 1} of {way.name} must be a table, not {what(found)}")
        return found

    def a_step(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Step:
        if not isinstance(tree, str):
            raise LFExecutionError(f"{write(tree)[:40]} stands where the name of a property must stand")
        if way.name != "path":
            return self.checker.step(tree, before[0].kind)
        source = before[-1].target if before else _owner(it)
        return self.checker.step(tree, source)

    def a_property(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        owner = next((part.kind for part in before if isinstance(part, _SETS)), None) or _owner(it)
        if isinstance(tree, str):
            step = self.checker.step(tree, owner)
            return n.Path((step,), step.target)
        found = self.any(tree, _About(owner))
        if isinstance(found, (n.Path, n.Part, *NUMBERS, n.Literal)):
            return found
        raise LFExecutionError(f"{write(tree)[:60]} is {what(found)}, not a property: say what of it is meant")

    def a_scalar(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        if it is not None and not it.group and isinstance(tree, str) and tree != "it":
            found = self.a_property(tree, it, [], way)
        else:
            found = self.any(tree, it)
        single(found, write(tree)[:40])
        kind = getattr(found, "kind", None)
        if (
            kind is None
            or kind.name not in ("number", "date")
            or kind.name == "date"
            and way.name not in ("row", "group")
        ):
            raise LFExecutionError(f"argument {len(before) + 1} of {way.name} must be a number, not {what(found)}")
        if isinstance(found, _SETS) and not isinstance(found, n.Literal):
            if about_it(found) and way.name == "group":
                raise LFExecutionError("a group has figures such as ( count it ) or ( sum it PROPERTY )")
            return n.Total("max", found, None, kind)
        return found

    def a_value(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        about = next((part for part in before if isinstance(part, (n.Path, n.Part, *NUMBERS))), None)
        if about is None:
            wanted = figure(before[0]).kind if isinstance(before[0], TABLES) else before[0].kind
            label = "a figure"
        else:
            wanted, label = about.kind, write(label_of(about))
        found = self.a_set(tree, None, before, way)
        if isinstance(about, n.Part) and about.name == "quarter" and found.kind.name == "text":
            return found
        return fitting(found, wanted, label)

    def a_text(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> Any:
        if before[-1].kind.name != "text":
            raise LFExecutionError(f"the values of {write(label_of(before[-1]))!r} are no texts")
        found = self.a_value(tree, it, before, way)
        if not isinstance(found, n.Literal):
            raise LFExecutionError("'contains' takes a text that is written")
        return found

    def a_op(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> str:
        if tree not in OPERATORS:
            raise LFExecutionError(f"unknown operator {write(tree)[:40]!r}")
        return str(tree)

    def a_direction(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> bool:
        if tree not in DIRECTIONS:
            raise LFExecutionError(f"expected {' or '.join(DIRECTIONS)}, not {write(tree)[:40]!r}")
        return tree == "descending"

    def a_n(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> float:
        amount = read_number(tree)
        if amount is None:
            raise LFSyntaxError(f"{write(tree)[:40]!r} stands where a number must stand")
        return amount

    def a_unit(self, tree: Tree, it: _About | None, before: list[Any], way: Signature) -> str:
        if not isinstance(tree, str):
            raise LFExecutionError(f"{write(tree)[:40]} is no unit")
        return tree


_COMPARING = ("filter", "filter_count", "having", *OPERATORS)  # where a number is as good as a set of one
_ONLY_TABLES = ("select", "row", "group", "having")


def _owner(it: _About | None) -> Kind:
    if it is None or it.group:
        raise LFExecutionError("a property stands where there is no single thing to have it")
    return it.kind
