"""A domain at a glance: its types, properties, files and some examples with their answers (`dualparse domain show`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dualparse.data.examples import read_examples
from dualparse.domains.domain import Domain
from dualparse.domains.world import World
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.ontology import Ontology
from dualparse.lf.values import LITERALS, Value

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A type with its entities; a domain without a world has none."""

    name: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property of a type, the kind of its values, and how many facts tell it; None without a world."""

    owner: str
    name: str
    kind: str
    facts: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with its form and the printed denotation, which is empty where the domain has no executor."""

    question: str
    lf: str
    denotation: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What `dualparse domain show` shows."""

    types: tuple[TypeRow, ...]
    properties: tuple[PropertyRow, ...]
    sizes: dict[str, int]  # split -> number of examples
    forms: int  # distinct ones, in all splits
    examples: tuple[Shown, ...]


def summarize(domain: Domain, *, examples: int = 8) -> Summary:
    """Collect the summary of a domain; `examples` is the most questions to show."""
    splits = {split: read_examples(path) for split, path in domain.files.items()}
    pairs = [(e.query, e.lf) for found in splits.values() for e in found if e.query is not None and e.lf is not None]
    if isinstance(domain.world, World):
        types, properties = tuple(_world_types(domain.world)), tuple(_world_properties(domain.world))
    elif isinstance(domain.ontology, Ontology):
        types, properties = tuple(_declared_types(domain.ontology)), tuple(_declared_properties(domain.ontology))
    else:
        types, properties = (), ()
    return Summary(
        types=types,
        properties=properties,
        sizes={split: len(found) for split, found in splits.items()},
        forms=len({example.lf for found in splits.values() for example in found if example.lf}),
        examples=tuple(islice(_examples(domain, pairs), examples)),
    )


def kind_of(value: Value) -> str:
    """The kind of a value in words.

    >>> from dualparse.lf.values import date, name, number
    >>> kind_of(number(8, "km")), kind_of(date(1998)), kind_of(name("village.orsaz"))
    ('number km', 'date', 'village')
    """
    return f"number {value.unit}".strip() if value.unit is not None else value.type.removeprefix("en.")


def _world_types(world: World) -> Iterator[TypeRow]:
    for kind in world.types:
        yield TypeRow(kind, tuple(entity.id for entity in world.instances(kind)))


def _world_properties(world: World) -> Iterator[PropertyRow]:
    kinds: dict[tuple[str, str], set[str]] = {}
    facts: Counter[tuple[str, str]] = Counter()
    for subject, property, value in world.facts():
        if property == "type":
            continue  # told by the table of types
        key = subject.rpartition(".")[0], property
        kinds.setdefault(key, set()).add(kind_of(value))
        facts[key] += 1
    order = {kind: place for place, kind in enumerate(world.types)}
    for owner, property in sorted(kinds, key=lambda key: order[key[0]]):
        yield PropertyRow(owner, property, " or ".join(sorted(kinds[owner, property])), facts[owner, property])


def _declared_types(ontology: Ontology) -> Iterator[TypeRow]:
    for kind in (*sorted(ontology.thing_types), *ontology.entity_types):
        yield TypeRow(kind, ())


def _declared_properties(ontology: Ontology) -> Iterator[PropertyRow]:
    every = len(ontology.thing_types)
    for name, types in ontology.unary.items():
        owner = "anything" if every > 1 and types == ontology.thing_types else " or ".join(sorted(types))
        yield PropertyRow(owner, name, "yes or no", None)
    for name, pairs in ontology.binary.items():
        firsts, seconds = (" or ".join(sorted(set(side))) for side in zip(*pairs, strict=True))
        yield PropertyRow(firsts, name, seconds, None)


def _examples(domain: Domain, pairs: list[tuple[Tokens, Tokens]]) -> Iterator[Shown]:
    """The domain's own example questions as far as a form is known; then pairs whose forms do something new."""
    forms = {" ".join(query): " ".join(lf) for query, lf in pairs}
    known = [question for question in domain.questions if question in forms]
    seen: set[str] = set()
    for question in dict.fromkeys([*known, *forms]):
        lf = forms[question]
        heads = _heads(lf.split())
        if question in known or heads - seen:
            seen |= heads
            yield Shown(question, lf, _denotation(domain, lf))


def _heads(tokens: list[str]) -> set[str]:
    """What a form does: the functions and predicates it calls.

    >>> sorted(_heads("( call SW.filter ( count ( all trail ) ) ( string length ) )".split()))
    ['SW.filter', 'all', 'count']
    """
    heads = {after for before, after in zip(tokens, tokens[1:], strict=False) if before in ("(", "call")}
    return heads - {"(", "call", "string", *LITERALS}


def _denotation(domain: Domain, lf: str) -> str:
    if domain.execute is None:
        return ""
    try:
        return domain.execute(lf)
    except LF_ERRORS as error:
        return f"error: {error}"
