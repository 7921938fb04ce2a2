"""Names that a person gave to tables and columns: what is generated follows them.

In: the declarations of an ontology as they were generated, and as a person left them. Out: the same under the person's
names. What a declaration is about is told by its place in the database, which stays when its name changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from dualparse.database.ontology_file import HIDDEN, PROPERTY, RELATION, TYPE, Line

_OWNERS = {TYPE: (0,), PROPERTY: (1,), RELATION: (1, 2), HIDDEN: (0,)}  # words that are names of types


def tables_renamed(lines: Iterable[Line], edited: Iterable[Line]) -> dict[str, str]:
    """Name of a type in some lines -> the name a person gave to the same table, where it is another."""
    given = {place(line, {}): line.words[0] for line in edited if line.keyword == TYPE}
    named = {line.words[0]: given.get(place(line, {})) for line in lines if line.keyword == TYPE}
    return {name: other for name, other in named.items() if other and other != name}


def renamed(line: Line, names: Mapping[str, str]) -> Line:
    """A declaration with other names of types."""
    words = list(line.words)
    for at in _OWNERS[line.keyword]:
        words[at] = names.get(words[at], words[at])
    return Line(line.keyword, tuple(words), line.options, line.number)


def place(line: Line, names: Mapping[str, str]) -> Hashable:
    """What in the database a declaration is about; types may have other names by now."""
    if line.keyword == TYPE:
        return (TYPE, line.one("schema"), line.one("table"))
    if line.keyword == HIDDEN:
        return line.key
    owner = names.get(line.words[1], line.words[1])
    columns = tuple(line.options.get(option, ()) for option in ("column", "link_schema", "link", "owner"))
    return (line.keyword, owner, *columns)


def words_renamed(lines: Iterable[Line], edited: Iterable[Line]) -> dict[str, str]:
    """Name in `synonyms.txt` (`table`, `table.property`) for generated lines -> that for the person's lines."""
    lines, edited = list(lines), list(edited)
    names = tables_renamed(lines, edited)
    given = {place(line, {}): word(line) for line in edited}
    found = {word(line): given.get(place(line, names)) for line in lines if line.keyword != HIDDEN}
    return {name: other for name, other in found.items() if other and other != name}


def word(line: Line) -> str:
    """The name by which `synonyms.txt` knows a declaration."""
    return line.words[0] if line.keyword in (TYPE, HIDDEN) else f"{line.words[1]}.{line.words[0]}"
