"""What the world of a domain folder may speak of: types, and properties with the kind of their values.

In: `ontology.txt`, one declaration a line, columns separated by tabs or spaces, `#` begins a comment:

    type      trail
    property  length        trail  number km     a number with its unit; `number` alone is a plain count
    property  opened        trail  date          or time, or text, or boolean (a fact that is told is true)
    property  start         trail  village       an entity of a declared type

Out: a `Schema`, which says what is wrong with a fact. Several types may share a property's name (`opened` of a trail
and of a hut); if its values are numbers, dates, times or booleans they must then be of the same kind and unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lf.values import BOOLEAN_TYPE, DATE_TYPE, TEXT_TYPE, TIME_TYPE, Value, number
from dualparse.lines import numbered_lines, raise_error
from dualparse.suggest import nearest

Report = Callable[[InputError], None]  # takes a problem and returns, or raises it

LITERAL_KINDS = {
    "number": number(0).type,
    "date": DATE_TYPE,
    "time": TIME_TYPE,
    "boolean": BOOLEAN_TYPE,
    "text": TEXT_TYPE,
}
_NAME = re.compile(r"[^\s().!:#]+")
_WANTED = "expected 'type NAME' or 'property NAME TYPE KIND [UNIT]'"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A property of one type. `kind` is a key of `LITERAL_KINDS` or the name of a type; `many` says that one thing may
    have several values, as far as that is known.

    One with a `problem` is kept all the same: the facts that use it are not to blame.
    """

    name: str
    owner: str
    kind: str
    unit: str = ""
    many: bool = field(default=False, compare=False)
    line: int = field(default=0, compare=False)
    problem: str = field(default="", compare=False)

    @property
    def value_type(self) -> str:
        """The type its values have, in the sense of `Value.type`."""
        return number(0, self.unit).type if self.unit else LITERAL_KINDS.get(self.kind, self.kind)

    def __str__(self) -> str:
        return f"{self.kind} {self.unit}".strip()


@dataclass(frozen=True)
class Schema:
    """Types with the line they are declared in, and properties by (type, name)."""

    types: Mapping[str, int]
    properties: Mapping[tuple[str, str], Declaration]

    def fact_problem(self, subject: str, property: str, value: Value) -> str:
        """What is wrong with a fact; "" when it fits.

        >>> schema = Schema({"trail": 1}, {("trail", "length"): Declaration("length", "trail", "number", "km")})
        >>> from dualparse.lf.values import number
        >>> schema.fact_problem("trail.larch_path", "length", number(8, "mile"))
        'length of a trail is a number km, not (number 8 mile)'
        """
        owner = subject.rpartition(".")[0]
        if owner not in self.types:
            return f"unknown type {owner!r} of {subject}{nearest(owner, self.types)}"
        declared = self.properties.get((owner, property))
        if property == "type":  # says that the entity exists, nothing more
            return ""
        if declared is None:
            known = [name for kind, name in self.properties if kind == owner]
            return f"the ontology declares no property {property!r} of {owner}{nearest(property, known)}"
        if value.type != declared.value_type:
            return f"{property} of a {owner} is a {declared}, not {value.id or value.text}"
        return ""


def read_schema(path: Path, *, report: Report = raise_error) -> Schema:
    """Read `ontology.txt`; the first problem is raised, or every problem goes to a `report` of the caller's."""
    types: dict[str, int] = {}
    declarations: list[Declaration] = []
    sound = True
    for place, line in numbered_lines(path, report=report):
        columns = line.partition("#")[0].split()
        if not columns:
            continue
        try:
            _read_declaration(columns, place, types, declarations)
        except InputError as error:
            sound = False
            report(InputError(error.message, path=path, line=place))
    if not types and sound and path.is_file():
        report(InputError("declares no type", path=path))
    properties: dict[tuple[str, str], Declaration] = {}
    by_name: dict[str, Declaration] = {}
    for declared in declarations:
        problem = _problem(declared, types, properties, by_name)
        if problem:
            report(InputError(problem, path=path, line=declared.line))
            declared = replace(declared, problem=problem)
        properties.setdefault((declared.owner, declared.name), declared)
        by_name.setdefault(declared.name, declared)
    return Schema(types, properties)


def _read_declaration(columns: list[str], line: int, types: dict[str, int], found: list[Declaration]) -> None:
    """Add what one line declares to `types` or `found`; a property's types are looked up when all lines are read."""
    bad = next((column for column in columns if not _NAME.fullmatch(column)), None)
    if bad is not None:
        raise InputError(f"{bad!r} is not a name: parentheses, dots, colons and exclamation marks mean other things")
    if columns[0] == "type" and len(columns) == 2:
        kind = columns[1]
        if kind in LITERAL_KINDS:
            raise InputError(f"{kind!r} is a kind of value and cannot be a type")
        if kind in types:
            raise InputError(f"type {kind!r} is declared twice (first in line {types[kind]})")
        types[kind] = line
    elif columns[0] == "property" and len(columns) in (4, 5):
        if len(columns) == 5 and columns[3] != "number":
            raise InputError(f"only a number has a unit, not a {columns[3]}")
        if columns[1] == "type":
            raise InputError("'type' cannot be declared: every entity has it")
        name, owner, kind, unit = [*columns[1:], ""][:4]
        found.append(Declaration(name, owner, kind, unit, line=line))
    else:
        raise InputError(_WANTED)


def _problem(
    declared: Declaration,
    types: Mapping[str, int],
    properties: Mapping[tuple[str, str], Declaration],
    by_name: Mapping[str, Declaration],
) -> str:
    if declared.owner not in types:
        return f"unknown type {declared.owner!r}{nearest(declared.owner, types)}"
    if declared.kind not in types and declared.kind not in LITERAL_KINDS:
        known = [*types, *LITERAL_KINDS]
        return f"{declared.kind!r} is neither a declared type nor a kind of value{nearest(declared.kind, known)}"
    if (declared.owner, declared.name) in properties:
        first = properties[declared.owner, declared.name]
        return f"property {declared.name!r} of {declared.owner} is declared twice (first in line {first.line})"
    first = by_name.get(declared.name, declared)
    literal = declared.kind in LITERAL_KINDS or first.kind in LITERAL_KINDS
    if literal and declared.value_type != first.value_type:
        return f"{declared.name!r} is a {first} of {first.owner} in line {first.line}: a {declared} needs another name"
    return ""
