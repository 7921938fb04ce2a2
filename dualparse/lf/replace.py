"""One replacement in a logical form (paper Section 4.2.1 and Appendix B): another entity, unary or binary predicate.

In: a form and the ontology. Out: the places where something could be replaced, the names the ontology allows there,
and the form with one of them. Argument types are compared for the place alone; whether the whole form still makes
sense is for the type checker to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dualparse.lf.ontology import Ontology
from dualparse.lf.sexpr import Tree
from dualparse.lf.trees import Path, put, renamed

ENTITY, UNARY, BINARY = KINDS = ("entity", "unary", "binary")
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">="})
_MEASURED = frozenset({"argmax", "argmin", "sum"})  # their last argument is a value


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name stands: the indices that lead to it from the root."""

    kind: str
    name: str
    path: Path


def places(tree: Tree, ontology: Ontology) -> list[Place]:
    """All entities and predicates of a form, in its order.

    >>> flights = Ontology.declare(entities={"ci": False}, unary=["flight"], binary=[("flight", "to", "ci")])
    >>> [place.kind for place in places(("and", ("flight", "$0"), ("to", "$0", "ci0")), flights)]
    ['unary', 'binary', 'entity']
    """
    found: list[Place] = []

    def visit(node: Tree, path: tuple[int, ...], is_value: bool) -> None:
        if isinstance(node, str):
            if ontology.entity_type(node) is not None:
                found.append(Place(ENTITY, node, path))
            return
        head, last = node[0], len(node) - 1
        kind = _predicate_kind(node, ontology, is_value)
        if kind is not None:
            found.append(Place(kind, str(head), (*path, 0)))
        for index in range(1, len(node)):
            measured = head in _MEASURED and index == last
            visit(node[index], (*path, index), kind is not None or head in _COMPARISONS or measured)

    visit(tree, (), is_value=False)
    return found


def _predicate_kind(node: Tree, ontology: Ontology, is_value: bool) -> str | None:
    """`( fare $0 )` is the fare where a value stands, and says that $0 is a fare where a statement does."""
    head = node[0]
    if len(node) == 3 and head in ontology.binary:
        return BINARY
    if len(node) == 2 and head in ontology.binary and (is_value or head not in ontology.unary):
        return BINARY
    return UNARY if len(node) == 2 and head in ontology.unary else None


def alternatives(place: Place, ontology: Ontology, entities: Mapping[str, Sequence[str]]) -> list[str]:
    """Names that may stand in a place instead of the one that does. `entities` lists the entities of each type."""
    if place.kind == ENTITY:
        candidates = entities.get(ontology.entity_type(place.name) or "", ())
        return [name for name in candidates if name != place.name]
    declared: Mapping[str, Iterable[object]] = ontology.unary if place.kind == UNARY else ontology.binary
    wanted = set(declared[place.name])
    return [name for name, types in declared.items() if name != place.name and not wanted.isdisjoint(types)]


def replaced(tree: Tree, place: Place, name: str, ontology: Ontology) -> Tree:
    """The form with the name in that place.

    An entity changes wherever it stands, and changes places with the new one where that stands in the form already.
    A binary predicate whose new name differs in one word takes others along: when `day_return` becomes
    `day_arrival`, `month_return` becomes `month_arrival`.

    >>> flights = Ontology.declare(entities={"ci": False}, binary=[("ci", "near", "ci")], unary=["city"])
    >>> tree = ("near", "ci0", "ci1")
    >>> replaced(tree, places(tree, flights)[1], "ci1", flights)
    ('near', 'ci1', 'ci0')
    """
    if place.kind == ENTITY:
        exchange = {place.name: name, name: place.name}
        return renamed(tree, exchange)
    tree = put(tree, place.path, name)
    words = _changed_word(place.name, name) if place.kind == BINARY else None
    if words is None:
        return tree
    relatives = {}
    for other in ontology.binary:
        changed = "_".join(words[1] if word == words[0] else word for word in other.split("_"))
        if changed != other and changed in ontology.binary:
            relatives[other] = changed
    return renamed(tree, relatives)


def _changed_word(old: str, new: str) -> tuple[str, str] | None:
    """The one word in which two names of several words differ."""
    pairs = list(zip(old.split("_"), new.split("_"), strict=False))
    differing = [(a, b) for a, b in pairs if a != b]
    return differing[0] if len(pairs) > 1 and old.count("_") == new.count("_") and len(differing) == 1 else None
