"""The answer to a form as it is shown: with the values that were asked about beside the things, and with "no".

In: a form of a domain. Out: an `Answer`, and what is to be said beside it; no `Answer` where the domain executes
nothing. "Which huts are above 2000 m" shows the elevation of each. A property of one thing that nobody has told is "not
recorded", and where it is true or not, the answer is no.
"""

from __future__ import annotations

import re

from dualparse.domains import nodes as n
from dualparse.domains.domain import Domain
from dualparse.domains.plain import Plain
from dualparse.domains.results import NONE, ROWS, VALUE, YES_NO, Answer, Column
from dualparse.lf.sexpr import Tree, read, write
from dualparse.lf.values import FALSE, Value, name, read_literal, text

NOT_RECORDED = "not recorded"
MOST_BESIDE = 3
NUMBERED = ("top", "bottom")  # a number stands before the things
SAID = ("=", "missing")  # of these every thing has the same value
_BESIDE = ("number", "date", "time", "text")
_MEMBER = re.compile(r"\((?:name|number|date|time|boolean|string|text) [^()]*\)")


def answer_of(
    form: str, domain: Domain, plain: Plain | None, *, seconds: float | None = None
) -> tuple[Answer | None, tuple[str, ...]]:
    """What a form comes to, and notes on it; raises one of the two logical-form errors, also when the seconds of the
    plain dialect run out."""
    if plain is None:
        return (None if domain.execute is None else _printed(domain.execute(form))), ()
    node = plain.checker.typed_text(form)
    found = plain.answer(with_values(form, node), seconds=seconds)
    if found.kind != NONE or not (isinstance(node, n.Get) and isinstance(node.of, n.Entity)):
        return found, ()
    if node.kind.name == "boolean":
        return Answer((Column(node.step.name, "boolean"),), ((FALSE,),), YES_NO), ()
    return found, (() if node.step.many else (NOT_RECORDED,))


def with_values(form: str, node: n.Node, *, most: int = MOST_BESIDE) -> str:
    """The form, with the properties it compares or ranks things by beside the things, so many at the most; what is the
    same for all of them stands in what was understood."""
    beside: list[str] = []
    of, tree = node, read(form)
    while isinstance(of, (n.Filter, n.Best, n.Ranked)) and isinstance(tree, tuple):
        said = isinstance(of, n.Filter) and of.op in SAID
        if not said and _is_one_value(of.property) and (about := _written(tree)) not in beside:
            beside.append(about)
        of, tree = of.of, tree[2 if tree[0] in NUMBERED else 1]
    if not beside or not getattr(node, "kind", n.COUNT).things:
        return form
    return f"( select {form} {' '.join(beside[:most])} )"


def _is_one_value(about: n.Property) -> bool:
    """Whether each thing has one such value that can be shown: a length, the height of its village, how many huts."""
    if isinstance(about, n.Path):
        return not about.many and not any(step.back for step in about.steps) and about.kind.name in _BESIDE
    return isinstance(about, n.Total)


def _written(tree: tuple[Tree, ...]) -> str:
    """The property by which a form compares or ranks, as another form can ask for it."""
    head, about = tree[0], tree[3 if tree[0] in NUMBERED else 2]
    if not str(head).endswith("_count"):
        return write(about)
    step = ("get", "it", about)
    among = tree[5:] if head == "filter_count" else tree[3:]
    return write(("count", ("and", step, *among) if among else step))


def _printed(denotation: str) -> Answer:
    """A printed denotation as an answer of one column."""
    cells = [_value(member) for member in _MEMBER.findall(denotation)]
    if not cells:
        return Answer((Column("answer", "answer"),), (), NONE)
    unit = next((cell.unit or "" for cell in cells), "")
    kind = VALUE if len(cells) == 1 and cells[0].unit is not None else ROWS
    return Answer((Column("answer", cells[0].type, "" if unit == "count" else unit),), tuple((c,) for c in cells), kind)


def _value(printed: str) -> Value:
    head, _, rest = printed[1:-1].partition(" ")
    if head == "name":
        return name(rest)
    tree = None if head in ("string", "text") else read(printed)
    return read_literal(tree) if isinstance(tree, tuple) else text(rest)
