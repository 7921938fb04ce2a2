"""Executing logical forms: the evaluator core, which knows no world (the paper's semantic check on OVERNIGHT).

In: a form's text or tree, and a table of named functions typed by the kinds of their arguments. Out: the printed
denotation, or one of the two logical-form errors. Two steps: every node of the tree is checked and becomes a
constant, a call, a variable, a lambda or an application (`Reader`); then calls run and lambdas are applied by name:
an argument runs where its variable stands, and never where it stands nowhere (`_Machine`).

A form has a budget of steps, and pays for what it makes the machine do before it is done: a call and every element that
goes into it and comes out, a reduction and every variable that is looked past, the characters of the answer. A function
that looks at more than that says so with `charge(n)`. Steps are the same on every machine; who runs forms of strangers
adds a limit in seconds, which is looked at every few thousand steps.

Two dialects of surface syntax lead to the same nodes. OVERNIGHT's names every function and literal in full:
`( call SW.filter X ( string shape ) ( string = ) en.shape.cube )`. The plain one, for domains of one's own, says
`( filter X shape = shape.cube )`: the function's declaration tells what an atom at each place means.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import NoReturn

from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.sexpr import MAX_DEPTH, Tree, read, write
from dualparse.lf.values import LITERALS, TRUE, Value, name, number, read_literal, read_number

MAX_STEPS = 1_000_000  # a step is about what looking at one element of a list takes: 50 to 100 ns
CALL_STEPS, REDUCTION_STEPS = 8, 4  # what a call and a reduction cost in themselves
CHARACTERS_A_STEP = 8  # of a printed answer
STEPS_A_LOOK = 20_000  # from one look at the clock to the next
MAX_NESTING = 200  # calls inside calls while running; lambdas can nest deeper than the text does

# The kinds of arguments, each with its own Python type, so that a call's kinds are the types of its arguments.
# Lists are shared with the world's indexes and must never be changed.
STRING, VALUE, LIST, INTEGER, NULL = str, Value, list, int, NoneType


class Printed(str):
    """A finished denotation: what `listValue` gives. No function takes it."""

    __slots__ = ()


KIND_NAMES = {
    STRING: "a string",
    VALUE: "one value",
    LIST: "a list",
    INTEGER: "an integer",
    NULL: "nothing",
    Printed: "a finished answer",
}


Overloads = Mapping[tuple[type, ...], Callable[..., object]]  # kinds of the arguments -> implementation


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a language.

    overloads  kinds of the arguments -> implementation
    atoms      for the plain dialect: what an atom is at each place: "value" (also beyond the end), "word", "number"
    """

    name: str
    overloads: Overloads
    atoms: tuple[str, ...] = ()

    def refuse(self, values: Sequence[object]) -> NoReturn:
        """Raise for arguments that no overload takes, naming the one that is wrong."""
        kinds = tuple(map(type, values))
        sizes = sorted({len(taken) for taken in self.overloads})
        if len(kinds) not in sizes:
            wanted = " or ".join(map(str, sizes))
            raise LFExecutionError(f"{self.name} takes {wanted} arguments, not {len(kinds)}")
        for place, kind in enumerate(kinds):
            taken = {kinds_taken[place] for kinds_taken in self.overloads if len(kinds_taken) == len(kinds)} - {NULL}
            if kind not in taken:
                wanted = " or ".join(sorted(KIND_NAMES[wanted_kind] for wanted_kind in taken))
                raise LFExecutionError(f"argument {place + 1} of {self.name} must be {wanted}, not {KIND_NAMES[kind]}")
        raise LFExecutionError(f"{self.name} does not take {' with '.join(KIND_NAMES[kind] for kind in kinds)}")


@dataclass(slots=True)
class Variable:
    name: str


@dataclass(slots=True)
class Lambda:
    variable: str
    body: Node


@dataclass(slots=True)
class Application:
    function: Node
    argument: Node


@dataclass(slots=True)
class Failure:
    """A node that is well formed and cannot run; it fails only where it is run."""

    reason: str


# A call is a plain tuple of its function and its arguments, because most nodes are calls and tuples are made fastest;
# for the same reason the other nodes are not frozen.
Call = tuple[Function, list["Node"]]
Node = str | Value | Call | Variable | Lambda | Application | Failure
# A variable, the node it stands for with the environment of that node, and the environment around.
Env = tuple[str, tuple[Node, "Env"], "Env"] | None


def _syntax_error(tree: Tree, wanted: str) -> NoReturn:
    raise LFSyntaxError(f"{write(tree)[:60]}: expected {wanted}")


@dataclass(frozen=True)
class Reader(ABC):
    """What the two dialects share: literals, variables, lambdas, applications. Checks every node, runs nothing.

    names and literals are values known beforehand, so that the forms of a domain speak of its world's own objects.
    """

    functions: Mapping[str, Function]
    names: Mapping[str, Value] = field(default_factory=dict)
    literals: Mapping[Tree, Value] = field(default_factory=dict)

    @abstractmethod
    def node(self, tree: Tree, depth: int = 0) -> Node:
        """Tree -> node, or `LFSyntaxError`."""

    def _shared(self, tree: tuple[Tree, ...], depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise LFSyntaxError(f"nested deeper than {MAX_DEPTH}")
        if not tree:
            raise LFSyntaxError("empty list")
        head = tree[0]
        if head == "var":
            if len(tree) != 2 or not isinstance(tree[1], str):
                _syntax_error(tree, "( var name )")
            return Variable(tree[1])
        if head == "lambda":
            if len(tree) != 3 or not isinstance(tree[1], str):
                _syntax_error(tree, "( lambda name body )")
            return Lambda(tree[1], self.node(tree[2], depth + 1))
        if isinstance(head, str) and head in LITERALS:
            return self.literals.get(tree) or read_literal(tree)
        if len(tree) != 2:
            _syntax_error(tree, "a call, a literal, or a function and its argument")
        return Application(self.node(head, depth + 1), self.node(tree[1], depth + 1))


class SempreReader(Reader):
    """OVERNIGHT's dialect: `( call f ... )`, `( string a )`; every atom is a name, known or not.

    >>> count = Function(".size", {(LIST,): len})
    >>> SempreReader({".size": count}).node(("call", "size", "en.block"))
    Failure(reason="unknown function 'size'")
    """

    def node(self, tree: Tree, depth: int = 0) -> Node:
        if isinstance(tree, str):
            known = self.names.get(tree)
            return name(tree) if known is None else known
        head = tree[0] if tree else None
        if head == "string":
            if len(tree) != 2 or not isinstance(tree[1], str):
                _syntax_error(tree, "( string word )")
            return tree[1]
        if head == "call":
            if len(tree) < 2 or not isinstance(tree[1], str) or depth > MAX_DEPTH:
                return self._bad_call(tree, depth)
            depth += 1
            arguments = [self.node(child, depth) for child in tree[2:]]
            function = self.functions.get(tree[1])
            return Failure(f"unknown function {tree[1]!r}") if function is None else (function, arguments)
        return self._shared(tree, depth)

    def _bad_call(self, tree: Tree, depth: int) -> NoReturn:
        if depth > MAX_DEPTH:
            raise LFSyntaxError(f"nested deeper than {MAX_DEPTH}")
        _syntax_error(tree, "( call function argument ... )")


class PlainReader(Reader):
    """The plain dialect: a list's head is the function; an atom is what the function's declaration says.

    >>> every = Function("all", {(STRING,): list}, atoms=("word",))
    >>> PlainReader({"all": every}).node(("all", "trail"))[1]
    ['trail']
    """

    def node(self, tree: Tree, depth: int = 0) -> Node:
        if isinstance(tree, str):
            if tree == "true":
                return TRUE
            return self.names.get(tree) or Failure(f"unknown entity {tree!r}")
        head = tree[0] if tree else None
        function = self.functions.get(head) if isinstance(head, str) else None
        if function is None or depth > MAX_DEPTH:
            if not isinstance(head, str) or head in LITERALS or head in ("var", "lambda") or depth > MAX_DEPTH:
                return self._shared(tree, depth)
            for child in tree[1:]:
                self.node(child, depth + 1)
            return Failure(f"unknown function {head!r}")
        places = function.atoms + ("value",) * (len(tree) - 1 - len(function.atoms))
        return function, [
            self._atom(child, place) if isinstance(child, str) else self.node(child, depth + 1)
            for place, child in zip(places, tree[1:], strict=False)
        ]

    def _atom(self, atom: str, place: str) -> Node:
        if place == "word":
            return atom
        if place == "value":
            return self.node(atom)
        amount = read_number(atom)
        if amount is None:
            raise LFSyntaxError(f"{atom[:40]!r} stands where a number must stand")
        return number(amount)


class _Machine:
    """Runs nodes, and keeps account of the steps that are left and of the time."""

    __slots__ = ("_ends", "_left", "_rest", "_seconds")

    def __init__(self, max_steps: int, seconds: float | None = None):
        self._seconds = seconds
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._left = min(max_steps, STEPS_A_LOOK)  # steps until the next look at the clock
        self._rest = max_steps - self._left  # steps behind that

    def charge(self, steps: int) -> None:
        """Take steps from the budget; `LFExecutionError` where they, or the time, are used up."""
        self._left -= steps
        if self._left < 0:
            self._look()

    def _look(self) -> None:
        total = self._left + self._rest
        if total < 0:
            raise LFExecutionError("too many steps")
        if self._ends is not None and time.monotonic() > self._ends:
            raise LFExecutionError(f"not done within {self._seconds:g} seconds")
        self._left = min(total, STEPS_A_LOOK)
        self._rest = total - self._left

    def run(self, node: Node, env: Env = None, nesting: int = 0) -> object:
        if isinstance(node, str):  # a string or a value
            return node
        if not isinstance(node, tuple):
            node, env = self._reduce(node, env)
            if isinstance(node, str):
                return node
        if nesting > MAX_NESTING:
            raise LFExecutionError(f"calls nested deeper than {MAX_NESTING}")
        function, arguments = node
        nesting += 1
        values: list[object] = []
        steps = CALL_STEPS
        for argument in arguments:
            if isinstance(argument, str):
                values.append(argument)
            else:
                value = self.run(argument, env, nesting)
                values.append(value)
                if type(value) is list:
                    steps += len(value)
        implementation = function.overloads.get(tuple(map(type, values)))
        if implementation is None:
            function.refuse(values)
        self._left -= steps
        if self._left < 0:
            self._look()
        result = implementation(*values)
        if type(result) is list:
            self.charge(len(result))
        return result

    def _reduce(self, node: Node, env: Env) -> tuple[str | Call, Env]:
        """Apply lambdas, the outermost first, until a call or a constant stands there, with its environment."""
        waiting: list[tuple[Node, Env]] = []
        while True:
            self.charge(REDUCTION_STEPS)
            if isinstance(node, Application):
                waiting.append((node.argument, env))
                node = node.function
            elif isinstance(node, Lambda):
                if not waiting:
                    raise LFExecutionError("a lambda without an argument is not a value")
                env = (node.variable, waiting.pop(), env)
                node = node.body
            elif isinstance(node, Variable):
                node, env = self._bound(node.name, env)
            elif isinstance(node, Failure):
                raise LFExecutionError(node.reason)
            elif waiting:
                raise LFExecutionError("only a lambda can be applied to an argument")
            else:
                return node, env

    def _bound(self, variable: str, env: Env) -> tuple[Node, Env]:
        while env is not None:
            if env[0] == variable:
                return env[1]
            env = env[2]
            self.charge(1)
        raise LFExecutionError(f"unbound variable {variable!r}")

    def show(self, value: object) -> str:
        """The value of a form as text."""
        if type(value) is list:
            self.charge(characters_of(value) // CHARACTERS_A_STEP)
            return f"(list {' '.join([element.text for element in value])})" if value else "(list)"
        if type(value) is Printed:
            return str(value)
        if type(value) is Value:
            return value.text
        if type(value) is int:
            return f"(number {value})"
        if type(value) is str:
            return f"(string {value})"
        raise LFExecutionError("the form has no value: a superlative over an empty list")


def characters_of(values: Iterable[Value]) -> int:
    """Characters of values when they are printed."""
    return sum([len(value.text) for value in values])


class _Running(threading.local):
    machine: _Machine | None = None


_running = _Running()


def charge(steps: int) -> None:
    """What a function of a language calls before it does more than look once at each element of its lists, with the
    number of elements it will look at besides: values of a property, holders of a value, characters that are printed.
    It raises `LFExecutionError` where the form that runs in this thread has no such steps, or no time, left; outside of
    a form it does nothing.
    """
    if _running.machine is not None:
        _running.machine.charge(steps)


@dataclass(frozen=True)
class Executor:
    """A language that runs: text in, printed denotation out. Nothing is remembered from one form to the next.

    finish, where given, is a function applied to the value of every form, as `listValue` is in the plain dialect.
    """

    reader: Reader
    finish: Function | None = None
    max_steps: int = MAX_STEPS

    def execute(self, text: str, *, seconds: float | None = None) -> str:
        """Denotation of a form's text; raises `LFSyntaxError` or `LFExecutionError`, the latter also where it takes
        more than so many seconds."""
        return self.execute_tree(read(text), seconds=seconds)

    def execute_tree(self, tree: Tree, *, seconds: float | None = None) -> str:
        """Denotation of a form's tree."""
        node = self.reader.node(tree)
        machine = _running.machine = _Machine(self.max_steps, seconds)
        try:
            return machine.show(machine.run(node if self.finish is None else (self.finish, [node])))
        finally:
            _running.machine = None
