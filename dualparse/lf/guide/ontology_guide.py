"""A guide for forms that are checked against an ontology (paper Section 3.2.1), as ATIS has them.

In: the ontology the checker has. Out: a `Guide`. It keeps what `dualparse.lf.typecheck` keeps, but from left to right:
the types that every variable and every value may still have, and the relations between them. As soon as the head of a
list is read, its arguments have the types it takes, so that a token is allowed only where a type is left to everything.

What is still to come is a stack of steps. A step is a tuple of its name and its parts:

    form prefix statement      one of these; a prefix is the lambdas and exists that a form begins with
    value CELL                 something whose types are the cell's
    first NAME CELL            what comes after the first argument of a predicate in a statement
    whole NAME CELL            the same at the root, where one argument may also be asked about
    more                       another statement of an `and` or `or`, or its end
    head WHERE CELL            the word after "("
    bind HEAD CELL, type       the variable of a quantifier; the type of a lambda's
    use NAME, drop NAME        no token: the variable must have been used; its scope ends
    )                          the token
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from dualparse.lf.guide.ends import Ends, named
from dualparse.lf.guide.guide import Place
from dualparse.lf.ontology import Ontology

Step = tuple
Link = tuple[str, int, int]  # relation, its two cells
VARIABLES = tuple(f"${number}" for number in range(10))

COMPARED = ("<", ">", "<=", ">=")
STATEMENTS = ("and", "or", "not", "exists", "=", *COMPARED)
VALUES = ("argmax", "argmin", "max", "min", "sum", "count", "the")


@dataclass(frozen=True)
class Scope:
    """A variable in scope: its name, its cell, and whether the quantifier that looks next has seen it used."""

    name: str
    cell: int
    used: bool


class Typed:
    """A place in a form: steps to come, the innermost last; variables in scope; the types of cells; their relations."""

    __slots__ = ("steps", "scope", "types", "links", "need", "_guide", "_moves")

    def __init__(self, guide: TypedForms, steps: tuple, scope: tuple, types: tuple, links: tuple):
        self.steps, self.scope, self.types, self.links, self._guide = steps, scope, types, links, guide
        self.need = guide.ends.need(self)
        self._moves: dict[str, Place] | None = None

    def moves(self) -> Mapping[str, Place]:
        if self._moves is None:
            reached = ((kind, self._guide.after(self, kind)) for kind in self._guide.options(self))
            self._moves = {kind: place for kind, place in reached if place is not None and place.need < math.inf}
        return self._moves


class _Draft:
    """A place in the making: what a token changes."""

    def __init__(self, place: Typed):
        self.steps, self.scope = list(place.steps), list(place.scope)
        self.types, self.links = list(place.types), list(place.links)
        self.possible = True

    def cell(self, types: int) -> int:
        self.types.append(types)
        return len(self.types) - 1

    def narrow(self, cell: int, types: int) -> None:
        self.types[cell] &= types
        self.possible = self.possible and self.types[cell] != 0

    def same(self, cell: int, other: int) -> None:
        """A cell turns out to be another one."""
        self.narrow(other, self.types[cell])
        self.links = [(head, other if a == cell else a, other if b == cell else b) for head, a, b in self.links]
        self.steps = [tuple(other if part == cell and type(part) is int else part for part in s) for s in self.steps]
        self.scope = [Scope(v.name, other if v.cell == cell else v.cell, v.used) for v in self.scope]
        self.types[cell] = self.types[other]

    def push(self, *steps: Step) -> None:
        """The first of these comes next."""
        self.steps.extend(reversed(steps))

    def use(self, name: str) -> int | None:
        for place, variable in enumerate(self.scope):
            if variable.name == name:
                self.scope[place] = Scope(name, variable.cell, True)
                return variable.cell
        return None


class TypedForms:
    """A guide by an ontology. `tokens`: what can always be written; others may come up in a question, but no end of a
    form depends on them.

    >>> ontology = Ontology.declare(entities={"ci": False}, unary=["flight"], binary=[("flight", "from", "ci")])
    >>> place = TypedForms(ontology).start()
    >>> for token in "( lambda $0 e ( from $0".split():
    ...     place = place.moves()[token]
    >>> sorted(place.moves())
    ['(', '<ci>']
    """

    def __init__(self, ontology: Ontology, tokens: Collection[str] | None = None):
        self.ontology, self.bits = ontology, ontology.bits
        self._written = None if tokens is None else frozenset(kind for token in tokens for kind in self.kinds(token))
        self.variables = tuple(name for name in VARIABLES if self.can_write(name))
        self.ends = Ends(self)
        self._known: dict[tuple, Typed] = {}

    def can_write(self, kind: str) -> bool:
        return self._written is None or kind in self._written

    # -- the guide ---------------------------------------------------------------------------------

    def start(self) -> Place:
        return self._place((("form",),), (), (), ())

    def kinds(self, token: str) -> tuple[str, ...]:
        kind = self.ontology.entity_type(token)
        return (token,) if kind is None else (token, named(kind))

    def union(self, places: tuple[Place, ...]) -> Place:
        """No token is of two kinds at one place: predicates and variables are no entities."""
        return places[0]

    def _place(self, steps: tuple, scope: tuple, types: tuple, links: tuple) -> Typed:
        key = (steps, scope, types, links)
        known = self._known.get(key)
        if known is None:
            known = self._known.setdefault(key, Typed(self, steps, scope, types, links))
        return known

    # -- what may come next ------------------------------------------------------------------------

    def options(self, place: Typed) -> Iterator[str]:
        """Kinds of tokens that may fit; `after` has the last word."""
        if not place.steps:
            return
        name, *parts = place.steps[-1]
        if name in (")", "more", "first", "whole"):
            yield ")"
        if name in ("form", "prefix", "statement", "value", "more"):
            yield "("
        if name == "first" or name == "whole":
            if parts[0] in self.bits.binary:
                yield from self._values(place, self.second(place, parts[0], parts[1]))
        elif name == "form":
            yield from map(named, self.ontology.entity_types)
        elif name == "value":
            yield from self._values(place, place.types[parts[0]])
        elif name == "head":
            yield from self._heads(*parts)
        elif name == "bind":
            yield from self.free(place)
        elif name == "type":
            yield from ("e", *self.ontology.entity_types)

    def free(self, place: Typed) -> Iterator[str]:
        """Variables that are not in scope."""
        return (name for name in self.variables if all(v.name != name for v in place.scope))

    def _values(self, place: Typed, types: int) -> Iterator[str]:
        yield "("
        yield from (named(kind) for kind in self.ontology.entity_types if self.bits.bit[kind] & types)
        yield from (v.name for v in place.scope if place.types[v.cell] & types)

    def second(self, place: Typed, name: str, first: int) -> int:
        """Types that a relation's second argument may have."""
        return sum({b for a, b in self.bits.binary.get(name, ()) if a & place.types[first]})

    def _heads(self, where: str, cell: int) -> Iterator[str]:
        if where in ("form", "value"):
            yield from VALUES
        if where in ("form", "prefix"):
            yield "lambda"
        if where != "value":
            yield from STATEMENTS
            yield from {**self.bits.unary, **self.bits.binary}
        else:
            yield from self.bits.functions

    # -- one token ---------------------------------------------------------------------------------

    def after(self, place: Typed, kind: str) -> Typed | None:
        """Where a token leads; None where it cannot stand."""
        draft = _Draft(place)
        step = draft.steps.pop()
        if not self._read(draft, step, kind):
            return None
        if not self._settle(draft) or not self._run(draft):
            return None
        return self._place(*_tidied(draft))

    def _read(self, draft: _Draft, step: Step, kind: str) -> bool:
        name = step[0]
        if kind == ")":
            return self._close(draft, step)
        if name in ("first", "whole"):  # a second argument
            head, cell = step[1], step[2]
            second = draft.cell(self.bits.ranges[head])
            draft.links.append((head, cell, second))
            draft.push((")",))
            return self._settle(draft) and self._read(draft, ("value", second), kind)
        if kind == "(":
            if name == "more":
                draft.push(("head", "statement", -1), ("more",))
            else:
                draft.push(("head", name, step[1] if name == "value" else -1))
            return True
        if name == "head":
            return self._head(draft, kind, step[1], step[2])
        if name == "bind":
            return self._bind(draft, kind, step[1], step[2])
        if name == "type":
            types = self.bits.every if kind == "e" else self.bits.bit[kind]
            draft.narrow(draft.scope[-1].cell, types)
            return True
        if name == "form":
            return True  # an entity alone
        return self._fill(draft, step[1], kind)

    def _close(self, draft: _Draft, step: Step) -> bool:
        if step[0] == "first":
            _, head, cell, entity = step
            draft.narrow(cell, 0 if entity else self.bits.unary.get(head, 0))
        elif step[0] == "whole":
            _, head, cell, _ = step
            draft.narrow(cell, self.bits.unary.get(head, 0) | self.bits.domains.get(head, 0))
        return True

    def _fill(self, draft: _Draft, cell: int, kind: str) -> bool:
        """An entity or a variable as a value."""
        if kind.startswith("$"):
            other = draft.use(kind)
            if other is None:
                return False
            draft.same(cell, other)
            return True
        draft.narrow(cell, self.bits.bit[kind[1:-1]])
        if draft.steps and draft.steps[-1][0] == "first":  # whose type its token says already
            draft.steps[-1] = (*draft.steps[-1][:3], True)
        return True

    def _head(self, draft: _Draft, head: str, where: str, cell: int) -> bool:
        if head in VALUES and where in ("form", "value"):
            cell = draft.cell(self.bits.every) if where == "form" else cell
            return self._value(draft, head, cell)
        if where == "value":
            argument = draft.cell(self.bits.domains[head])
            draft.links.append((head, argument, cell))
            draft.push(("value", argument), (")",))
            return True
        if head == "lambda":
            draft.push(("bind", head, draft.cell(self.bits.every)), ("type",), ("prefix",))
        elif head == "exists":
            body = "statement" if where == "statement" else "prefix"
            draft.push(("bind", head, draft.cell(self.bits.every)), (body,))
        elif head == "not":
            draft.push(("statement",), (")",))
        elif head in ("and", "or"):
            draft.push(("statement",), ("more",))
        elif head in STATEMENTS:
            cell = draft.cell(self.bits.every if head == "=" else self.bits.ordered)
            draft.push(("value", cell), ("value", cell), (")",))
        else:
            taken = self.bits.unary.get(head, 0) | self.bits.domains.get(head, 0)
            cell = draft.cell(taken)
            draft.push(("value", cell), ("whole" if where == "form" else "first", head, cell, False))
        return True

    def _value(self, draft: _Draft, head: str, cell: int) -> bool:
        """`( the $0 ... )` and the like, whose value is the cell."""
        if head in ("max", "min"):
            draft.narrow(cell, self.bits.ordered)
        bound, measured = cell, -1
        if head == "count":
            draft.narrow(cell, self.bits.counts)
            bound = draft.cell(self.bits.every)
        elif head == "sum":
            draft.narrow(cell, self.bits.ordered)
            bound, measured = draft.cell(self.bits.every), cell
        elif head in ("argmax", "argmin"):
            measured = draft.cell(self.bits.ordered)
        draft.push(("bind", head, bound), ("statement",))
        if measured >= 0:
            draft.steps.insert(len(draft.steps) - 2, ("value", measured))
        return True

    def _bind(self, draft: _Draft, name: str, head: str, cell: int) -> bool:
        """A quantifier's variable; behind its statement stands that it must be used, and the end of its scope."""
        body = draft.steps.pop()
        kind = draft.steps.pop() if body[0] == "type" else None
        draft.scope.append(Scope(name, cell, False))
        ending: list[Step] = [("drop", name), (")",)]
        if kind is not None:  # a lambda's may go unused
            draft.push(body, kind, *ending)
            return True
        if head in ("argmax", "argmin", "sum"):
            measured = draft.steps.pop()
            draft.push(body, ("use", name), measured, ("use", name), *ending)
        else:
            draft.push(body, ("use", name), *ending)
        return True

    # -- what follows without a token ----------------------------------------------------------------

    def _run(self, draft: _Draft) -> bool:
        """Steps that need no token."""
        while draft.steps and draft.steps[-1][0] in ("use", "drop"):
            name, variable = draft.steps.pop()
            place = next(i for i, v in enumerate(draft.scope) if v.name == variable)
            if name == "drop":
                del draft.scope[place]
            elif not draft.scope[place].used:
                return False
            else:
                draft.scope[place] = Scope(variable, draft.scope[place].cell, False)
        return True

    def _settle(self, draft: _Draft) -> bool:
        """Narrow related cells until nothing changes; whether every cell keeps a type."""
        types, functions = draft.types, self.bits.functions
        changed = True
        while changed:
            changed = False
            for head, first, second in draft.links:
                left = right = 0
                for a, b in functions[head]:
                    if types[first] & a and types[second] & b and (first != second or a == b):
                        left |= a
                        right |= b
                if left != types[first] or right != types[second]:
                    types[first], types[second], changed = left, right, True
                    if not left:
                        return False
        return draft.possible


def _living(draft: _Draft) -> set[int]:
    """Cells that something to come may still narrow."""
    return {v.cell for v in draft.scope} | {
        part for step in draft.steps for part in step[1:] if type(part) is int and part >= 0
    }


def _tidied(draft: _Draft) -> tuple[tuple, tuple, tuple, tuple]:
    """Steps, scope, types and links with cells numbered as they come up, so that equal places are one. Relations with a
    decided side, or to a cell that nothing narrows any more, say nothing new."""
    living = _living(draft)
    types = draft.types
    links = {
        link for link in draft.links if types[link[1]] & (types[link[1]] - 1) and types[link[2]] & (types[link[2]] - 1)
    }
    while True:
        ends = [cell for _, a, b in links for cell in {a, b}]
        loose = {cell for cell in ends if cell not in living and ends.count(cell) == 1}
        if not loose:
            break
        links = {link for link in links if link[1] not in loose and link[2] not in loose}
    number: dict[int, int] = {}
    for variable in draft.scope:
        number.setdefault(variable.cell, len(number))
    for step in draft.steps:
        for part in step[1:]:
            if type(part) is int and part >= 0:
                number.setdefault(part, len(number))
    for _, a, b in sorted(links):
        number.setdefault(a, len(number))
        number.setdefault(b, len(number))
    steps = tuple(
        tuple(number[part] if type(part) is int and part >= 0 else part for part in step) for step in draft.steps
    )
    scope = tuple(Scope(v.name, number[v.cell], v.used) for v in draft.scope)
    narrowed = [0] * len(number)
    for cell, new in number.items():
        narrowed[new] = types[cell]
    return steps, scope, tuple(narrowed), tuple(sorted((head, number[a], number[b]) for head, a, b in links))
