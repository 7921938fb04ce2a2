"""A folder that is connected to a database: `dualparse connect` writes it, a person edits it, everything else reads it.

    domain.toml     name, title, description, questions, and `database`: where the data is, never a password
    ontology.txt    tables, properties, relations, what is hidden: see `dualparse.database.ontology_file`
    synonyms.txt    what people call them: see `dualparse.database.synonyms`
    values.sqlite   the names in the data, to find them in questions; it can be thrown away
    .connect/       the files as they were generated last, to tell what a person has edited

In: such a folder. Out: a `Connected`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dualparse.database.location import Location, locate
from dualparse.database.model import Database
from dualparse.database.ontology_file import read_ontology
from dualparse.database.synonyms import Words, line_key, read_words
from dualparse.domains.folder import DESCRIPTION, ONTOLOGY, Description, read_description
from dualparse.errors import InputError
from dualparse.lines import numbered_lines

SYNONYMS, INDEX, GENERATED = "synonyms.txt", "values.sqlite", ".connect"


@dataclass(frozen=True)
class Connected:
    """A connected folder, read."""

    folder: Path
    description: Description
    location: Location
    database: Database
    words: Words


def is_connected(folder: Path) -> bool:
    """Whether a folder was written by `dualparse connect`."""
    return (folder / DESCRIPTION).is_file() and (folder / GENERATED).is_dir()


def read_connected(folder: Path, *, database: str = "") -> Connected:
    """Read a connected folder; `database` takes the place of the location that its `domain.toml` tells."""
    if not folder.is_dir():
        raise InputError("no such folder; make one with: dualparse connect DATABASE --out DIR", path=folder)
    described = read_description(folder / DESCRIPTION)
    place = database or described.database
    if not place:
        raise InputError("says no 'database': this folder is not connected to one", path=folder / DESCRIPTION)
    location = locate(place, base=None if database else folder)
    model = read_ontology(folder / ONTOLOGY, location.dialect)
    words = Words()
    if (folder / SYNONYMS).is_file():
        base = folder / GENERATED / SYNONYMS
        generated = {line_key(text) for _, text in numbered_lines(base)} if base.is_file() else set()
        words = read_words(folder / SYNONYMS, model, generated=generated)
    return Connected(folder, described, location, model, words)
