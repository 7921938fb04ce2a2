"""What people call the tables and columns of a database: `synonyms.txt` of a connected folder.

One name a line, `#` begins a comment; the first phrase is the one that is used in answers:

    customer: customer, client
    track.unit_price: unit price, price

In: such a file. Out: `Words`: the phrases of a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dualparse.database.model import Database
from dualparse.domains.schema import Report
from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error
from dualparse.suggest import nearest


@dataclass(frozen=True)
class Words:
    """Name of a table, or `table.property` -> the phrases people use, the most usual first."""

    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, name: str) -> tuple[str, ...]:
        """The phrases of a name; without any, the name itself in words.

        >>> Words().of("track.unit_price")
        ('unit price',)
        """
        return self.phrases.get(name) or (name.rpartition(".")[2].replace("_", " "),)


def line_key(text: str) -> str:
    """The name a line is about; "" for a blank line or a comment."""
    return text.partition("#")[0].partition(":")[0].strip()


def lines_of(words: Mapping[str, str]) -> list[str]:
    """A line for every name, with the one phrase its identifier gives."""
    return [f"{name}: {phrase}" for name, phrase in words.items()]


def renamed(lines: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Lines under other names, where there is no line of that name yet.

    >>> renamed(["film: film, movie", "film.year: year"], {"film": "picture", "film.year": "picture.year"})
    ['picture: film, movie', 'picture.year: year']
    """
    taken = {line_key(line) for line in lines}
    free = {name: other for name, other in names.items() if other not in taken}
    return [free[name] + line[line.index(":") :] if (name := line_key(line)) in free else line for line in lines]


def read_words(
    path: Path, database: Database, *, generated: Collection[str] = (), report: Report = raise_error
) -> Words:
    """Read the file; a name the ontology does not have is a problem, because it is most likely a misspelt one.

    Names that were `generated` are none: somebody has taken them out of the ontology since.
    """
    known = names_of(database)
    phrases: dict[str, tuple[str, ...]] = {}
    for number, text in numbered_lines(path, report=report):
        line = text.partition("#")[0].strip()
        if not line:
            continue
        name, colon, said = line.partition(":")
        name = name.strip()
        found = tuple(" ".join(phrase.split()).lower() for phrase in said.split(",") if phrase.strip())
        problem = ""
        if not colon or not found:
            problem = f"expected 'name: phrase, phrase', found {line!r}"
        elif name not in known and name in generated:
            continue
        elif name not in known:
            problem = f"the ontology has no {name!r}{nearest(name, known)}"
        elif name in phrases:
            problem = f"{name!r} stands twice"
        if problem:
            report(InputError(problem, path=path, line=number))
        else:
            phrases[name] = found
    return Words(phrases)


def names_of(database: Database) -> set[str]:
    """Every name that may have phrases."""
    return set(_names(database))


def _names(database: Database) -> Iterable[str]:
    for table in database.tables:
        yield table.name
        for name in (*(held.name for held in table.properties), *(held.name for held in table.relations)):
            yield f"{table.name}.{name}"
