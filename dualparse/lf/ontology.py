"""What a domain's logical forms may say: entity types and predicates with argument types (paper Table 1).

In: an ontology file. Out: an `Ontology`, or `InputError` with file and line. The file has one declaration a line,
columns separated by tabs or spaces; blank lines and lines that begin with `#` are skipped:

    entity:  ti  yes               a type of entities; yes: its entities are ordered, so < > max argmin ... apply
    unary:   oneway                a property of things
    cat:     airport  ap           a property that holds of entities of this type (several lines: of any of them)
    binary:  type:al services type:ci    a relation, declared once for each pair of argument types

A type that only occurs in `binary:` lines, such as ATIS's `flight`, is a type of things that have no entity tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error

COUNT_TYPE = "i"  # the type of numbers that count things


@dataclass(frozen=True)
class Ontology:
    """Types and predicates of a domain.

    entity_types  type -> whether its entities are ordered
    unary         predicate -> types of its argument
    binary        predicate -> pairs of argument types; with one argument it is the function from first to second
    cats          the unary predicates that name entities of a type; as functions they lead from things to those

    >>> ontology = Ontology.declare(entities={"ci": False}, unary=["flight"], binary=[("flight", "from", "ci")])
    >>> ontology.unary["flight"], ontology.entity_type("ci0"), ontology.entity_type("denver:ci")
    (frozenset({'flight'}), 'ci', 'ci')
    """

    entity_types: Mapping[str, bool]
    unary: Mapping[str, frozenset[str]]
    binary: Mapping[str, tuple[tuple[str, str], ...]]
    cats: Mapping[str, frozenset[str]]
    bits: TypeBits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", TypeBits.of(self))

    @classmethod
    def declare(
        cls,
        *,
        entities: Mapping[str, bool],
        unary: Iterable[str] = (),
        cats: Iterable[tuple[str, str]] = (),
        binary: Iterable[tuple[str, str, str]] = (),
    ) -> Ontology:
        """Build from declarations. A unary predicate without a `cat` takes things: of the type it is named after
        where there is one (`flight`), else of any type that has no entities."""
        pairs: dict[str, list[tuple[str, str]]] = {}
        for first, name, second in binary:
            pairs.setdefault(name, []).append((first, second))
        cat_types: dict[str, set[str]] = {}
        for name, entity_type in cats:
            cat_types.setdefault(name, set()).add(entity_type)
        things = {kind for found in pairs.values() for pair in found for kind in pair} - set(entities)
        arguments = {name: frozenset({name}) if name in things else frozenset(things or entities) for name in unary}
        frozen_cats = {name: frozenset(found) for name, found in cat_types.items()}
        return cls(
            entity_types=dict(entities),
            unary=arguments | frozen_cats,
            binary={name: tuple(found) for name, found in pairs.items()},
            cats=frozen_cats,
        )

    @property
    def thing_types(self) -> frozenset[str]:
        """Types without entity tokens."""
        used = {kind for pairs in self.binary.values() for pair in pairs for kind in pair}
        return frozenset(used.union(*self.unary.values()) - set(self.entity_types))

    def entity_type(self, token: str) -> str | None:
        """The type of an entity token, `ci0` or `lunch:me`; None if it is no entity."""
        name, colon, kind = token.rpartition(":")
        if not colon:
            kind = token.rstrip("0123456789")
            name = token[len(kind) :]
        return kind if name and kind in self.entity_types else None


@dataclass(frozen=True, slots=True)
class TypeBits:
    """An ontology with each set of types as the bits of one integer, for the checker's inner loop.

    A relation is its pairs of one-bit types. Functions are the relations plus, for a `cat` predicate that is no
    relation, the pairs from things to its types.
    """

    names: tuple[str, ...]
    bit: Mapping[str, int]
    every: int
    ordered: int
    counts: int
    unary: Mapping[str, int]
    binary: Mapping[str, tuple[tuple[int, int], ...]]
    functions: Mapping[str, tuple[tuple[int, int], ...]]
    domains: Mapping[str, int]
    ranges: Mapping[str, int]

    @classmethod
    def of(cls, ontology: Ontology) -> TypeBits:
        names = (*ontology.entity_types, *sorted(ontology.thing_types))
        bit = {name: 1 << index for index, name in enumerate(names)}
        things = ontology.thing_types or frozenset(ontology.entity_types)

        def union(types: Iterable[str]) -> int:
            return sum({bit[name] for name in types})

        binary = {name: tuple((bit[a], bit[b]) for a, b in pairs) for name, pairs in ontology.binary.items()}
        from_cats = {
            name: tuple((bit[a], bit[b]) for a in sorted(things) for b in sorted(types))
            for name, types in ontology.cats.items()
        }
        functions = from_cats | binary
        ordered = union(name for name, is_ordered in ontology.entity_types.items() if is_ordered)
        return cls(
            names=names,
            bit=bit,
            every=union(names),
            ordered=ordered,
            counts=bit.get(COUNT_TYPE, ordered),
            unary={name: union(types) for name, types in ontology.unary.items()},
            binary=binary,
            functions=functions,
            domains={name: sum({a for a, _ in pairs}) for name, pairs in functions.items()},
            ranges={name: sum({b for _, b in pairs}) for name, pairs in functions.items()},
        )

    def describe(self, mask: int) -> str:
        """The types of a mask in words."""
        return "anything" if mask == self.every else " or ".join(name for name in self.names if mask & self.bit[name])


@dataclass
class _Rows:
    """Declarations collected from a file, each with the line it stands in."""

    entities: dict[str, bool] = field(default_factory=dict)
    unary: dict[str, int] = field(default_factory=dict)
    cats: dict[tuple[str, str], int] = field(default_factory=dict)
    binary: dict[tuple[str, str, str], int] = field(default_factory=dict)


def read_ontology(path: Path, *, report: Callable[[InputError], None] = raise_error) -> Ontology:
    """Read and check an ontology file.

    A caller that wants every problem of the file passes `report`; bad lines are then left out.
    """
    rows = _Rows()
    for number, line in numbered_lines(path, report=report):
        columns = line.split()
        if not columns or columns[0].startswith("#"):
            continue
        read_row = _ROWS.get(columns[0])
        unknown = f"unknown row '{columns[0]}': expected {', '.join(_ROWS)}"
        problem = read_row(rows, columns[1:], number) if read_row else unknown
        if problem:
            report(InputError(problem, path=path, line=number))
    for problem, number in _drop_unknown_types(rows):
        report(InputError(problem, path=path, line=number))
    return Ontology.declare(entities=rows.entities, unary=rows.unary, cats=rows.cats, binary=rows.binary)


def _entity_row(rows: _Rows, columns: list[str], number: int) -> str | None:
    if len(columns) != 2 or columns[1] not in ("yes", "no"):
        return "expected 'entity: TYPE yes' or 'entity: TYPE no'"
    if columns[0] in rows.entities:
        return f"entity type '{columns[0]}' is declared twice"
    rows.entities[columns[0]] = columns[1] == "yes"
    return None


def _unary_row(rows: _Rows, columns: list[str], number: int) -> str | None:
    if len(columns) != 1:
        return "expected 'unary: NAME'"
    rows.unary.setdefault(columns[0], number)
    return None


def _cat_row(rows: _Rows, columns: list[str], number: int) -> str | None:
    if len(columns) != 2:
        return "expected 'cat: NAME TYPE'"
    rows.cats.setdefault((columns[0], columns[1]), number)
    return None


def _binary_row(rows: _Rows, columns: list[str], number: int) -> str | None:
    if len(columns) != 3 or not columns[0].startswith("type:") or not columns[2].startswith("type:"):
        return "expected 'binary: type:A NAME type:B'"
    rows.binary.setdefault((columns[0][5:], columns[1], columns[2][5:]), number)
    return None


_ROWS: Mapping[str, Callable[[_Rows, list[str], int], str | None]] = {
    "entity:": _entity_row,
    "unary:": _unary_row,
    "cat:": _cat_row,
    "binary:": _binary_row,
}


def _drop_unknown_types(rows: _Rows) -> list[tuple[str, int]]:
    """A type must be declared: by an `entity:` row, or for things by the unary predicate of the same name."""
    problems: list[tuple[str, int]] = []
    for row, number in list(rows.cats.items()):
        if row[1] not in rows.entities:
            problems.append((f"unknown entity type '{row[1]}'", number))
            del rows.cats[row]
    for relation, number in list(rows.binary.items()):
        unknown = [kind for kind in (relation[0], relation[2]) if kind not in rows.entities and kind not in rows.unary]
        if unknown:
            problems.append((f"unknown type '{unknown[0]}': no 'entity:' or 'unary:' row declares it", number))
            del rows.binary[relation]
    return problems
