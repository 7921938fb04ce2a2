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
from dualparse.lf.sexpr import read
from dualparse.lf.values import FALSE, Value, name, read_literal, text

NOT_RECORDED = "not recorded"
MOST_BESIDE = 3
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
    of = node
    while isinstance(of, (n.Filter, n.Best, n.Ranked)):
        about, said = of.property, isinstance(of, n.Filter) and of.op in SAID
        if not said and isinstance(about, n.Path) and _of_its_own(about) and str(about.steps[0]) not in beside:
            beside.append(str(about.steps[0]))
        of = of.of
    if not beside or not getattr(node, "kind", n.COUNT).things:
        return form
    return f"( select {form} {' '.join(beside[:most])} )"


def _of_its_own(about: n.Path) -> bool:
    """Whether a property is a single value of the thing itself."""
    return len(about.steps) == 1 and not about.steps[0].back and not about.many and about.kind.name in _BESIDE


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
