"""A world: the facts that questions are about, with the indexes that make them quick to ask.

In: triples (entity, property, value), from code or from a file of lines `entity<TAB>property<TAB>value`. Out: a `World`
for the operations of `dualparse.domains.functions`. Every triple is stored both ways, as `p` and as `!p`; every entity
has a `type`, the part of its id before the last dot. A file is read with errors that name file and line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dualparse.domains.intervals import interval
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.sexpr import Tree, read
from dualparse.lf.values import LITERALS, TRUE, Value, name, read_literal, unquoted
from dualparse.lf.values import text as text_value
from dualparse.lines import numbered_lines, raise_error

_ID = re.compile(r"[^\s().!]+(\.[^\s().!]+)+")
_PROPERTY = re.compile(r"[^\s().!]+")


@dataclass(slots=True)
class Property:
    """The facts of one property: types of both sides, and subject -> values in the order they were told."""

    first: set[str] = field(default_factory=set)
    second: set[str] = field(default_factory=set)
    values: dict[Value, list[Value]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Index:
    """One property, ready for questions. Lists are shared, not copied: never change them.

    first, second  the types of subjects and values
    values     subject -> values, duplicates included; no entry means no value
    subjects   every known value of the first type
    names      those of them that are names
    objects    every known value of the second type
    distinct   subject -> values without duplicates, for all of `subjects`
    holders    value -> the subjects that have it
    counts     subject -> number of values
    ordered    whether the values have an order (numbers, dates, times)
    low, high  subject -> least and greatest degree, for all of `subjects`; not a number where there is no value
    """

    first: frozenset[str]
    second: frozenset[str]
    values: dict[Value, list[Value]]
    subjects: frozenset[Value]
    names: frozenset[Value]
    objects: frozenset[Value]
    distinct: dict[Value, list[Value]]
    holders: dict[Value, frozenset[Value]]
    counts: dict[Value, int]
    ordered: bool
    low: dict[Value, float]
    high: dict[Value, float]


class World:
    """Facts and their indexes.

    overwrite_types: each fact replaces the property's two types instead of adding to them. OVERNIGHT's worlds are made
    so, which shows in `type`, the only property of theirs that is told of several types.

    >>> world = World()
    >>> world.add("trail.larch_path", "start", name("village.orsaz"))
    >>> world.index("!start").distinct[name("village.orsaz")], world.types
    (['(name trail.larch_path)'], ('trail', 'village'))
    """

    def __init__(self, *, overwrite_types: bool = False):
        self.overwrite_types = overwrite_types
        self.properties: dict[str, Property] = {}
        self.names: dict[str, Value] = {}  # id -> entity or type
        self.literals: dict[Tree, Value] = {}  # tree -> number, date, time or boolean that is in the world
        self.known: dict[Value, Value] = {}  # every value of the world, to have one object for each
        self._told: list[tuple[str, str, Value]] = []
        self._of_type: dict[str, list[Value]] = {}
        self._indexes: dict[str, Index] = {}

    def entity(self, id: str) -> Value:
        """The entity with this id, made with its `type` if it is new."""
        if id not in self.names:
            self.add(id, "type", name(name(id).type))
        return self.names[id]

    def add(self, subject: str, property: str, value: Value) -> None:
        """Tell a fact. Names are entities, so they get a type; the type of an entity follows from its id."""
        if property == "type" and value != name(name(subject).type):
            raise ValueError(f"the type of {subject} follows from its id")
        self._told.append((subject, property, value))
        owner = self._entity(subject)
        if property != "type":
            self._tell(owner, property, self._entity(value.id) if value.id else self._intern(value))

    def _entity(self, id: str) -> Value:
        found = self.names.get(id)
        if found is None:
            found = self._intern(name(id))
            if not found.type:
                raise ValueError(f"{id!r} has no type: an id is a type, a dot and a name")
            self._tell(found, "type", self._intern(name(found.type)))
        return found

    def _intern(self, value: Value) -> Value:
        found = self.known.setdefault(value, value)
        if found is value:
            self._of_type.setdefault(value.type, []).append(value)
            if value.id:
                self.names[value.id] = value
            else:
                self.literals[read(value)] = value
        return found

    def _tell(self, subject: Value, property: str, value: Value) -> None:
        self._indexes.clear()
        for owner, label, told in ((subject, property, value), (value, "!" + property, subject)):
            facts = self.properties.setdefault(label, Property())
            if self.overwrite_types:
                facts.first, facts.second = {owner.type}, {told.type}
            else:
                facts.first.add(owner.type)
                facts.second.add(told.type)
            facts.values.setdefault(owner, []).append(told)

    @property
    def types(self) -> tuple[str, ...]:
        """Ids of the types, in the order they first came up."""
        return tuple(value.id for value in self._values("!type"))

    def instances(self, type: str) -> tuple[Value, ...]:
        """The entities of a type, in the order they were made."""
        return tuple(self._values("!type").get(name(type), ()))

    def facts(self) -> Iterator[tuple[str, str, Value]]:
        """All facts as they were told; `type` only for entities that were made on their own."""
        yield from self._told

    def table(self) -> list[tuple[str, str, str]]:
        """Rows (entity, property, values) as printed text in sorted order: `p` and `!p`, values as they were told."""
        return sorted(
            (subject.text, label, " ".join(value.text for value in values))
            for label, facts in self.properties.items()
            for subject, values in facts.values.items()
        )

    def _values(self, property: str) -> dict[Value, list[Value]]:
        return self.properties[property].values if property in self.properties else {}

    def index(self, property: str) -> Index:
        """The index of a property; `LFExecutionError` if no fact has it."""
        index = self._indexes.get(property)
        if index is None:
            if property not in self.properties:
                raise LFExecutionError(f"unknown property {property!r}")
            index = self._indexes[property] = self._build(self.properties[property])
        return index

    def _build(self, facts: Property) -> Index:
        subjects = [value for type in facts.first for value in self._of_type[type]]
        objects = [value for type in facts.second for value in self._of_type[type]]
        holders: dict[Value, set[Value]] = {}
        for subject, values in facts.values.items():
            for value in values:
                holders.setdefault(value, set()).add(subject)
        ordered = all(value.degree is not None for value in holders)
        low, high = dict.fromkeys(subjects, math.nan), dict.fromkeys(subjects, math.nan)
        if ordered:
            for subject, values in facts.values.items():
                degrees = [value.degree for value in values if value.degree is not None]
                low[subject], high[subject] = min(degrees), max(degrees)
        return Index(
            first=frozenset(facts.first),
            second=frozenset(facts.second),
            values=facts.values,
            subjects=frozenset(subjects),
            names=frozenset(value for value in subjects if value.id),
            objects=frozenset(objects),
            distinct={subject: list(dict.fromkeys(facts.values.get(subject, ()))) for subject in subjects},
            holders={value: frozenset(found) for value, found in holders.items()},
            counts={subject: len(values) for subject, values in facts.values.items()},
            ordered=ordered,
            low=low,
            high=high,
        )


def parse_fact(text: str, *, path: Path | None = None, line: int | None = None) -> tuple[str, str, Value]:
    """One line of a world file -> (entity id, property, value), or `InputError`.

    >>> parse_fact("hut.marmot_hut\\tprice\\t( number 48 euro )")
    ('hut.marmot_hut', 'price', '(number 48 euro)')
    """

    def refuse(reason: str) -> InputError:
        return InputError(reason, path=path, line=line)

    columns = [column.strip() for column in text.split("\t")]
    if len(columns) != 3:
        raise refuse(f"expected entity<TAB>property<TAB>value, found {len(columns)} columns")
    subject, property, told = columns
    if not _ID.fullmatch(subject):
        raise refuse(f"{subject!r} is not the id of an entity, such as trail.larch_path")
    if not _PROPERTY.fullmatch(property):
        raise refuse(f"{property!r} is not the name of a property")
    if property == "type":
        if told != name(subject).type:
            raise refuse(f"the type of {subject} is {name(subject).type}, by its id, not {told!r}")
        return subject, property, name(told)
    if told == "true":
        return subject, property, TRUE
    if told in ("false", "( boolean false )"):
        raise refuse("a fact that is false is left out")
    if _ID.fullmatch(told):
        return subject, property, name(told)
    try:
        tree = read(told)
        if not isinstance(tree, str):
            interval(tree)  # is there such a day?
            if tree[0] == "text" and all(isinstance(part, str) for part in tree):
                return subject, property, text_value(unquoted([str(part) for part in tree[1:]]))
            if tree[0] in LITERALS:
                return subject, property, read_literal(tree)
    except LFSyntaxError as error:
        raise refuse(f"bad value: {error}") from error
    raise refuse(f"{told!r} is neither the id of an entity nor `true` nor a literal such as ( number 12 km )")


def read_world(path: Path, *, report: Callable[[InputError], None] = raise_error) -> World:
    """World from a file of facts; blank lines and lines that begin with `#` are skipped.

    The first problem is raised, or every problem goes to a `report` of the caller's and reading goes on.
    """
    world = World()
    for number, line in numbered_lines(path, report=report):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                world.add(*parse_fact(line, path=path, line=number))
            except InputError as error:
                report(error)
    return world


def write_world(world: World, path: Path) -> None:
    """The facts of a world as a file that `read_world` reads back."""
    lines = (f"{subject}\t{label}\t{_write_value(value)}\n" for subject, label, value in world.facts())
    write_text(path, "".join(lines))


def _write_value(value: Value) -> str:
    if value.id:
        return value.id
    return "true" if value == TRUE else f"( {value[1:-1]} )"


def read_table(path: Path) -> list[tuple[str, str, str]]:
    """Rows of a file in the format of `World.table`, columns separated by tabs."""
    rows: list[tuple[str, str, str]] = []
    for number, line in numbered_lines(path):
        if line:
            columns = line.split("\t")
            if len(columns) != 3:
                raise InputError(f"expected 3 columns, found {len(columns)}", path=path, line=number)
            rows.append((columns[0], columns[1], columns[2]))
    return rows


def write_table(rows: Iterable[tuple[str, str, str]], path: Path) -> None:
    """Rows of `World.table` as tab-separated lines."""
    write_text(path, "".join("\t".join(row) + "\n" for row in rows))
