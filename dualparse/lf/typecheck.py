"""Does a logical form make sense in a domain? (paper Section 3.2.1, Algorithm 1: the grammar error indicator)

In: a form and the domain's ontology. Out: a `Verdict`: surface (one complete tree), semantics (type-consistent), and a
reason that names the culprit. Every variable has one type; its candidates are narrowed by each predicate it stands in,
and a form is consistent when every variable and every value keeps a candidate. `docs/type-checking.md` has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.ontology import Ontology, TypeBits, read_ontology
from dualparse.lf.sexpr import MAX_DEPTH, Tree, read, write
from dualparse.lf.verdict import VALID, Verdict, refused

__all__ = ["Ontology", "check", "check_text", "read_ontology"]

_SHOWN = 80  # characters of a form quoted in a reason


def check_text(text: str, ontology: Ontology) -> Verdict:
    """The verdict on a form's text; never raises for a bad form.

    >>> ontology = Ontology.declare(entities={"ci": False}, unary=["flight"], binary=[("flight", "from", "ci")])
    >>> check_text("( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ) )", ontology).ok
    True
    >>> check_text("( lambda $0 e ( from ci0 $0 ) )", ontology).reason
    'from takes flight as argument 1, but ci0 is ci'
    """
    try:
        tree = read(text)
    except LFSyntaxError as error:
        return refused(error)
    return _verdict(tree, ontology)


def check(tree: Tree, ontology: Ontology) -> Verdict:
    """The verdict on a tree."""
    level, depth = [tree], 0
    while level:  # a tree that did not come from the reader may break its limits
        reason = (
            "empty list or atom" if not all(level) else f"nested deeper than {MAX_DEPTH}" if depth > MAX_DEPTH else ""
        )
        if reason:
            return Verdict(surface=False, semantics=False, reason=reason)
        level = [part for node in level if isinstance(node, tuple) for part in node]
        depth += 1
    return _verdict(tree, ontology)


def _verdict(tree: Tree, ontology: Ontology) -> Verdict:
    try:
        _Checker(ontology).form(tree)
    except LFExecutionError as error:
        return Verdict(surface=True, semantics=False, reason=error.reason)
    return VALID


def _show(tree: Tree) -> str:
    text = write(tree)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


class _Checker:
    """Walks one form. A cell is a variable, an entity or a value; `candidates[cell]` are its types as bits.

    A statement is true or false (`( from $0 ci0 )`); a value is a thing (`$0`, `ci0`, `( fare $0 )`). What narrows
    two undecided cells together is kept in `links` and looked at again at the end, until nothing changes.
    """

    __slots__ = ("ontology", "bits", "candidates", "labels", "scope", "used", "links")

    def __init__(self, ontology: Ontology):
        self.ontology: Ontology = ontology
        self.bits: TypeBits = ontology.bits
        self.candidates: list[int] = []
        self.labels: list[Tree] = []
        self.scope: dict[str, int] = {}
        self.used: set[int] = set()
        self.links: list[tuple[str, int, int]] = []

    # -- the kinds of place in a form ----------------------------------------------------------------------------

    def form(self, tree: Tree) -> None:
        """A whole form: a set, a value, or a statement (a yes/no question)."""
        if isinstance(tree, str) or tree[0] in _VALUES:
            self.value(tree)
        elif len(tree) == 2 and tree[0] not in _STATEMENTS and tree[0] != "lambda":
            # One argument asks for a property of a thing or whether it holds, and the form does not say which.
            name = self.predicate(tree)
            allowed = self.bits.unary.get(name, 0) | self.bits.domains.get(name, 0)
            self.narrow(self.value(tree[1]), allowed, name, 1)
        else:
            self.prefix(tree)
        self.settle()

    def prefix(self, tree: Tree) -> None:
        """The quantifiers a form begins with, `lambda` and `exists` in any order, and the statement they govern."""
        if tree[0] == "lambda":
            _lambda(self, tree)
        elif tree[0] == "exists":
            _exists(self, tree, body=self.prefix)
        else:
            self.statement(tree)

    def statement(self, tree: Tree) -> None:
        """Something true or false."""
        if isinstance(tree, str):
            raise LFExecutionError(f"'{_show(tree)}' is not a statement")
        head = self.head(tree)
        if head in self.bits.binary and len(tree) == 3:
            self.relate(head, self.value(tree[1]), self.value(tree[2]))
            return
        if head in self.bits.unary and len(tree) == 2:
            self.narrow(self.value(tree[1]), self.bits.unary[head], head, 1)
            if isinstance(tree[1], str) and not tree[1].startswith("$"):  # an entity: its token says as much
                raise LFExecutionError(f"{_show(tree)} says nothing: {tree[1]} has that type")
            return
        handler = _STATEMENTS.get(head)
        if handler is not None:
            handler(self, tree)
        elif head in _VALUES or head == "lambda":
            raise LFExecutionError(f"{head} gives no statement in {_show(tree)}")
        else:
            self.refuse_arity(tree, [1] * (head in self.bits.unary) + [2] * (head in self.bits.binary))

    def value(self, tree: Tree) -> int:
        """The cell of a value."""
        if isinstance(tree, str):
            if tree.startswith("$"):
                cell = self.scope.get(tree)
                if cell is None:
                    raise LFExecutionError(f"unbound variable {tree}")
                self.used.add(cell)
                return cell
            kind = self.ontology.entity_type(tree)
            if kind is None:
                if tree in self.bits.unary or tree in self.bits.binary:
                    raise LFExecutionError(f"'{tree}' is a predicate, not an entity")
                raise LFExecutionError(f"unknown entity '{_show(tree)}'")
            return self.cell(self.bits.bit[kind], tree)
        head = self.head(tree)
        handler = _VALUES.get(head)
        if handler is not None:
            return handler(self, tree)
        if head in _STATEMENTS or head == "lambda":
            raise LFExecutionError(f"{head} gives no value in {_show(tree)}")
        if len(tree) != 2:
            self.refuse_arity(tree, [1])
        if head not in self.bits.functions:
            raise LFExecutionError(f"{self.predicate(tree)} gives no value in {_show(tree)}")
        result = self.cell(self.bits.ranges[head], tree)
        self.relate(head, self.value(tree[1]), result)
        return result

    # -- names and arguments ---------------------------------------------------------------------------------------

    def head(self, tree: Tree) -> str:
        """The word a list begins with."""
        head = tree[0]
        if not isinstance(head, str):
            raise LFExecutionError(f"a list stands where a predicate should in {_show(tree)}")
        return head

    def predicate(self, tree: Tree) -> str:
        """The name of a predicate, or the error that it is none."""
        head = self.head(tree)
        if head not in self.bits.unary and head not in self.bits.binary:
            raise LFExecutionError(f"unknown predicate '{_show(head)}'")
        return head

    def refuse_arity(self, tree: Tree, wanted: list[int]) -> None:
        head = self.predicate(tree)
        numbers = " or ".join(map(str, wanted))
        few = "too few" if len(tree) - 1 < min(wanted) else "too many"
        plural = "" if wanted == [1] else "s"
        raise LFExecutionError(f"{few} arguments: {head} takes {numbers} argument{plural} here; found {len(tree) - 1}")

    def bind(self, tree: Tree, candidates: int) -> tuple[str, int]:
        """Open the scope of a quantifier's variable; the caller closes it with `del scope[variable]`."""
        variable = tree[1]
        if not isinstance(variable, str) or not variable.startswith("$"):
            raise LFExecutionError(f"{tree[0]} needs a variable, not {_show(variable)}")
        if variable in self.scope:
            raise LFExecutionError(f"variable {variable} is bound twice in {_show(tree)}")
        cell = self.scope[variable] = self.cell(candidates, variable)
        return variable, cell

    def require_use(self, cell: int, head: Tree) -> None:
        """A quantifier over a variable that its statement does not mention says nothing."""
        if cell not in self.used:
            raise LFExecutionError(f"variable {self.labels[cell]} of {head} is never used")
        self.used.discard(cell)

    # -- types -------------------------------------------------------------------------------------------------------

    def cell(self, candidates: int, label: Tree) -> int:
        self.candidates.append(candidates)
        self.labels.append(label)
        return len(self.labels) - 1

    def narrow(self, cell: int, allowed: int, head: str, position: int) -> None:
        left = self.candidates[cell] & allowed
        if not left:
            self.clash(cell, allowed, head, position)
        self.candidates[cell] = left

    def relate(self, head: str, first: int, second: int) -> None:
        """Keep the candidates that some declared pair of the relation allows."""
        candidates = self.candidates
        if first == second:  # `( to $0 $0 )`: not two types for the sides, but one for both
            self.narrow(first, self.bits.domains[head], head, 1)
        left, right = candidates[first], candidates[second]
        new_left = new_right = 0
        for a, b in self.bits.functions[head]:
            if left & a and right & b and (first != second or a == b):  # $0 on both sides still has one type
                new_left |= a
                new_right |= b
        if not new_left:
            self.clash_pair(head, first, second)
        candidates[first], candidates[second] = new_left, new_right
        if new_left & (new_left - 1) and new_right & (new_right - 1):  # with one side decided, nothing is left to learn
            self.links.append((head, first, second))

    def equate(self, head: str, first: int, second: int) -> None:
        both = self.candidates[first] & self.candidates[second]
        if not both:
            self.clash(second, self.candidates[first], head, 2)
        self.candidates[first] = self.candidates[second] = both
        if both & (both - 1):
            self.links.append((head, first, second))

    def settle(self) -> None:
        """Look at the undecided links again until no candidate falls away."""
        before = None
        while self.links and before != self.candidates:
            before = self.candidates.copy()
            links, self.links = self.links, []
            for head, first, second in links:
                (self.equate if head in _COMPARISONS else self.relate)(head, first, second)

    def clash_pair(self, head: str, first: int, second: int) -> None:
        """Say which argument no pair of the relation allows, or that the two do not go together."""
        domain, range_ = self.bits.domains[head], self.bits.ranges[head]
        if not self.candidates[first] & domain:
            self.clash(first, domain, head, 1)
        if not self.candidates[second] & range_ or first == second:
            self.clash(second, range_, head, 2)
        left = self.candidates[first]
        partners = sum({b for a, b in self.bits.functions[head] if a & left})
        self.clash(second, partners, head, 2, where=f" after {self.bits.describe(left)}")

    def clash(self, cell: int, wanted: int, head: str, position: int, *, where: str = "") -> None:
        label, found = self.labels[cell], self.bits.describe(self.candidates[cell])
        needs = f"{head} takes {self.bits.describe(wanted)} as argument {position}{where}"
        if isinstance(label, str) and label.startswith("$"):
            raise LFExecutionError(f"variable {label} is used with two types: {needs}, but {label} is {found}")
        raise LFExecutionError(f"{needs}, but {_show(label)} is {found}")


# -- keywords ----------------------------------------------------------------------------------------------------


def _parts(tree: Tree, *names: str) -> None:
    if len(tree) - 1 != len(names):
        few = "too few" if len(tree) - 1 < len(names) else "too many"
        raise LFExecutionError(f"{few} arguments: {tree[0]} takes {', '.join(names)}; found {len(tree) - 1}")


def _lambda(checker: _Checker, tree: Tree) -> None:
    _parts(tree, "a variable", "a type", "a statement")
    kind = tree[2]
    if not isinstance(kind, str) or (kind != "e" and kind not in checker.ontology.entity_types):
        raise LFExecutionError(f"unknown type '{_show(kind)}' of {_show(tree[1])}")
    variable, _ = checker.bind(tree, checker.bits.every if kind == "e" else checker.bits.bit[kind])
    checker.prefix(tree[3])  # its variable may go unused: "each answer, whatever it is" occurs in the benchmark
    del checker.scope[variable]


def _exists(checker: _Checker, tree: Tree, *, body: Callable[[Tree], None] | None = None) -> None:
    _parts(tree, "a variable", "a statement")
    variable, cell = checker.bind(tree, checker.bits.every)
    (body or checker.statement)(tree[2])
    checker.require_use(cell, tree[0])
    del checker.scope[variable]


def _connect(checker: _Checker, tree: Tree) -> None:
    if len(tree) == 1:
        raise LFExecutionError(f"too few arguments: {tree[0]} takes at least one statement")
    for part in tree[1:]:
        checker.statement(part)


def _not(checker: _Checker, tree: Tree) -> None:
    _parts(tree, "a statement")
    checker.statement(tree[1])


def _equal(checker: _Checker, tree: Tree) -> None:
    _parts(tree, "a value", "a value")
    checker.equate(checker.head(tree), checker.value(tree[1]), checker.value(tree[2]))


def _compare(checker: _Checker, tree: Tree) -> None:
    _parts(tree, "a value", "a value")
    head, first, second = checker.head(tree), checker.value(tree[1]), checker.value(tree[2])
    checker.narrow(first, checker.bits.ordered, head, 1)
    checker.narrow(second, checker.bits.ordered, head, 2)
    checker.equate(head, first, second)


def _select(checker: _Checker, tree: Tree, *, candidates: int) -> int:
    _parts(tree, "a variable", "a statement")
    variable, cell = checker.bind(tree, candidates)
    checker.statement(tree[2])
    checker.require_use(cell, tree[0])
    del checker.scope[variable]
    return cell


def _the(checker: _Checker, tree: Tree) -> int:
    return _select(checker, tree, candidates=checker.bits.every)


def _extreme(checker: _Checker, tree: Tree) -> int:
    return _select(checker, tree, candidates=checker.bits.ordered)


def _count(checker: _Checker, tree: Tree) -> int:
    _select(checker, tree, candidates=checker.bits.every)
    return checker.cell(checker.bits.counts, tree)


def _measure(checker: _Checker, tree: Tree) -> tuple[int, int]:
    """The cells of the variable and of the ordered value that each of its things has."""
    _parts(tree, "a variable", "a statement", "a value")
    variable, cell = checker.bind(tree, checker.bits.every)
    checker.statement(tree[2])
    checker.require_use(cell, tree[0])
    measured = checker.value(tree[3])
    checker.require_use(cell, tree[0])
    checker.narrow(measured, checker.bits.ordered, checker.head(tree), 3)
    del checker.scope[variable]
    return cell, measured


def _superlative(checker: _Checker, tree: Tree) -> int:
    return _measure(checker, tree)[0]


def _sum(checker: _Checker, tree: Tree) -> int:
    return _measure(checker, tree)[1]


_COMPARISONS = frozenset({"=", "<", ">", "<=", ">="})
_STATEMENTS: Mapping[Tree, Callable[[_Checker, Tree], None]] = {
    "and": _connect,
    "or": _connect,
    "not": _not,
    "exists": _exists,
    "=": _equal,
    **dict.fromkeys(("<", ">", "<=", ">="), _compare),
}
_VALUES: Mapping[Tree, Callable[[_Checker, Tree], int]] = {
    "argmax": _superlative,
    "argmin": _superlative,
    "max": _extreme,
    "min": _extreme,
    "sum": _sum,
    "count": _count,
    "the": _the,
}
