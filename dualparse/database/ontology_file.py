"""The editable text of a database model: `ontology.txt` of a connected folder.

One declaration a line, words as a shell reads them (names with spaces in quotes), `#` begins a comment:

    type      customer  table=Customer key=CustomerId label=FirstName label=LastName
    property  country   customer  text          column=Country category
    property  total     invoice   number money  column=Total
    property  released  film      date          column=rel_yr storage=year
    relation  artist    album     artist        column=ArtistId
    relation  track     playlist  track         column=TrackId link=PlaylistTrack owner=PlaylistId
    hidden    customer  PasswordHash            # looks like a secret

In: such a file. Out: a `Database` without what is hidden, whatever else speaks of it; or the other way round. A key
that is a text is written `text_key=`, a schema before a table `SCHEMA.TABLE` in two options, `schema=` and `table=`.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dualparse.database.model import STORAGES, Database, Link, Property, Relation, Table
from dualparse.domains.schema import LITERAL_KINDS, Report
from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error
from dualparse.suggest import nearest

TYPE, PROPERTY, RELATION, HIDDEN = "type", "property", "relation", "hidden"
KINDS = (*LITERAL_KINDS, "text")
LONGEST = 10_000  # letters of a line
_OPTIONS = {  # option -> how often it may stand; "flag" has no value
    TYPE: {"table": "one", "schema": "one", "key": "many", "text_key": "many", "label": "many", "view": "flag"},
    PROPERTY: {
        **{"column": "one", "storage": "one", "category": "flag"},
        **{"link": "one", "link_schema": "one", "owner": "many"},
    },
    RELATION: {
        **{"column": "many", "references": "many", "inferred": "flag"},
        **{"link": "one", "link_schema": "one", "owner": "many"},
    },
    HIDDEN: {},
}
_LENGTHS = {TYPE: (1,), PROPERTY: (3, 4), RELATION: (3,), HIDDEN: (1, 2)}  # words after the keyword
_WANTED = {
    TYPE: "type NAME table=TABLE key=COLUMN label=COLUMN",
    PROPERTY: "property NAME TYPE KIND [UNIT] column=COLUMN",
    RELATION: "relation NAME TYPE TYPE column=COLUMN",
    HIDDEN: "hidden TYPE COLUMN",
}


@dataclass(frozen=True)
class Line:
    """One declaration: its keyword, its words, its options (name -> values), and the number of its line."""

    keyword: str
    words: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    number: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about: two declarations with the same key are two versions of one."""
        if self.keyword == TYPE:
            return (TYPE, self.words[0])
        if self.keyword == HIDDEN:
            return (HIDDEN, *self.words)
        return ("of", self.words[1], self.words[0])

    def one(self, option: str) -> str:
        return self.options.get(option, ("",))[0]

    def __str__(self) -> str:
        parts = [f"{name}={value}" if value else name for name, values in self.options.items() for value in values]
        texts = [shlex.quote(part) for part in (*self.words, *parts)]
        widths = {TYPE: (14,), PROPERTY: (20, 14, 14), RELATION: (20, 14, 14), HIDDEN: (14,)}[self.keyword]
        if self.keyword == PROPERTY and len(self.words) == 4:
            texts[2:4] = [" ".join(texts[2:4])]
        padded = [text.ljust(width) for text, width in zip(texts, widths, strict=False)]
        return " ".join([self.keyword.ljust(9), *padded, *texts[len(padded) :]]).rstrip()


def read_line(text: str, number: int = 0) -> Line | None:
    """A declaration; None for a blank line or a comment.

    >>> str(read_line("property total invoice number money column='Total $'"))
    "property  total                invoice        number money   'column=Total $'"
    """
    if not text or text.isspace():
        return None
    if len(text) > LONGEST:  # shlex takes time by the square of a word's length
        raise InputError(f"a line of {len(text):,} letters; expected {LONGEST:,} at the most")
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise InputError(f"quotes do not match: {error}".lower(), line=number or None) from None
    if not words:
        return None
    keyword = words[0]
    if keyword not in _OPTIONS:
        raise InputError(f"unknown declaration {keyword!r}{nearest(keyword, _OPTIONS)}")
    most = max(_LENGTHS[keyword])
    known = _OPTIONS[keyword]
    plain: list[str] = []
    options: dict[str, tuple[str, ...]] = {}
    for word in words[1:]:
        option, equals, value = word.partition("=")
        if option in known and (equals or known[option] == "flag") and len(plain) >= min(_LENGTHS[keyword]):
            if known[option] != "many" and option in options:
                raise InputError(f"{option} stands twice")
            if (known[option] == "flag") != (not equals):
                raise InputError(f"expected {option!r} without a value")
            options[option] = (*options.get(option, ()), value)
        elif len(plain) < most:
            plain.append(word)
        else:
            raise InputError(f"unknown option {option!r}{nearest(option, known)}; expected '{_WANTED[keyword]}'")
    if len(plain) not in _LENGTHS[keyword]:
        raise InputError(f"expected '{_WANTED[keyword]}'")
    return Line(keyword, tuple(plain), options, number)


def lines_of(database: Database, hidden: Iterable[tuple[str, str]] = ()) -> list[Line]:
    """The declarations of a model, table by table."""
    lines: list[Line] = []
    dropped: dict[str, list[Line]] = {}
    for owner, column in hidden:
        dropped.setdefault(owner, []).append(Line(HIDDEN, (owner, column), {}))
    for table in database.tables:
        lines.append(_type_line(table))
        lines += [_property_line(found) for found in table.properties]
        lines += [_relation_line(found) for found in table.relations]
        lines += dropped.pop(table.name, [])
    return lines + [line for rest in dropped.values() for line in rest]


def _source(source: Sequence[str], table: str, schema: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {schema: (source[0],)} if len(source) > 1 else {}
    return found | {table: (source[-1],)}


def _type_line(table: Table) -> Line:
    options = _source(table.source, "table", "schema")
    kinds = table.key_kinds or ("number",) * len(table.key)
    for column, kind in zip(table.key, kinds, strict=True):
        option = "key" if kind == "number" else "text_key"
        options[option] = (*options.get(option, ()), column)
    options |= {"label": table.label} if table.label else {}
    options |= {"view": ("",)} if table.view else {}
    return Line(TYPE, (table.name,), options)


def _link(link: Link | None) -> dict[str, tuple[str, ...]]:
    return _source(link.source, "link", "link_schema") | {"owner": link.owner} if link else {}


def _property_line(found: Property) -> Line:
    options = {"column": (found.column,)}
    options |= {"storage": (found.storage,)} if found.storage != "native" else {}
    options |= {"category": ("",)} if found.category else {}
    words = (found.name, found.owner, found.kind, *([found.unit] if found.unit else []))
    return Line(PROPERTY, words, options | _link(found.link))


def _relation_line(found: Relation) -> Line:
    options = {"column": found.columns}
    options |= {"references": found.references} if found.references else {}
    options |= _link(found.link)
    options |= {"inferred": ("",)} if found.inferred else {}
    return Line(RELATION, (found.name, found.owner, found.target), options)


def read_ontology(path: Path, dialect: str, *, report: Report = raise_error) -> Database:
    """The model a file declares; a problem is an `InputError` with its line."""
    lines = read_lines(path, report=report)
    hidden = {line.words for line in lines if line.keyword == HIDDEN}
    tables: dict[str, Table] = {}
    for line in lines:
        if line.keyword == TYPE and (line.words[0],) not in hidden:
            try:
                if line.words[0] in tables:
                    raise InputError(f"type {line.words[0]!r} is declared twice")
                tables[line.words[0]] = _table(line, hidden)
            except InputError as error:
                report(InputError(error.message, path=path, line=line.number))
    for line in lines:
        owners = line.words[1:3] if line.keyword == RELATION else line.words[1:2]
        if line.keyword in (PROPERTY, RELATION) and not any((owner,) in hidden for owner in owners):
            try:
                _add(line, tables, hidden)
            except InputError as error:
                report(InputError(error.message, path=path, line=line.number))
    if not tables:
        report(InputError("declares no type", path=path))
    try:
        return Database(dialect, tuple(tables.values()))
    except InputError as error:
        report(InputError(error.message, path=path))
        return Database(dialect)


def read_lines(path: Path, *, report: Report = raise_error) -> list[Line]:
    """The declarations of a file, those that can be read."""
    lines: list[Line] = []
    for number, text in numbered_lines(path, report=report):
        try:
            line = read_line(text, number)
        except InputError as error:
            report(InputError(error.message, path=path, line=number))
        else:
            lines += [line] if line else []
    return lines


def _table(line: Line, hidden: Collection[tuple[str, ...]]) -> Table:
    if not line.one("table"):
        raise InputError(f"table= is missing; expected '{_WANTED[TYPE]}'")
    keys = {option: line.options.get(option, ()) for option in ("key", "text_key")}
    if not any(keys.values()):
        raise InputError("key= is missing: which columns tell the rows apart?")
    # The order among numbers and texts is that of the line.
    order = [option for option in line.options if option in keys]
    key = tuple(column for option in order for column in keys[option])
    kinds = tuple("number" if option == "key" else "text" for option in order for _ in keys[option])
    source = (line.one("schema"), line.one("table")) if line.one("schema") else (line.one("table"),)
    label = tuple(column for column in line.options.get("label", ()) if (line.words[0], column) not in hidden)
    return Table(line.words[0], source, key, kinds, label, view="view" in line.options)


def _add(line: Line, tables: dict[str, Table], hidden: Collection[tuple[str, ...]]) -> None:
    name, owner, kind = line.words[:3]
    table = tables.get(owner)
    if table is None:
        raise InputError(f"unknown type {owner!r}{nearest(owner, tables)}")
    taken = {found.name for found in table.properties} | {found.name for found in table.relations}
    if name in taken:
        raise InputError(f"{name!r} of {owner} is declared twice")
    columns = line.options.get("column", ())
    if not columns:
        raise InputError(f"column= is missing; expected '{_WANTED[line.keyword]}'")
    if not line.one("link") and any((owner, column) in hidden for column in columns):
        return
    link = None
    if line.one("link"):
        source = (line.one("link_schema"), line.one("link")) if line.one("link_schema") else (line.one("link"),)
        link = Link(source, line.options.get("owner", ()))
    if line.keyword == RELATION:
        if kind not in tables:
            raise InputError(f"unknown type {kind!r}{nearest(kind, tables)}")
        references, inferred = line.options.get("references", ()), "inferred" in line.options
        relation = Relation(name, owner, kind, columns, references, link, inferred)
        tables[owner] = replace(table, relations=(*table.relations, relation))
        return
    if kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of value{nearest(kind, KINDS)}; expected one of {', '.join(KINDS)}")
    unit = line.words[3] if len(line.words) == 4 else ""
    if unit and kind != "number":
        raise InputError(f"only a number has a unit, not a {kind}")
    storage = line.one("storage") or "native"
    if storage not in STORAGES:
        raise InputError(f"unknown storage {storage!r}{nearest(storage, STORAGES)}")
    category = "category" in line.options
    found = Property(name, owner, kind, columns[0], unit, storage, category, link=link)
    tables[owner] = replace(table, properties=(*table.properties, found))
