"""From a database to a folder that can be asked: `dualparse connect`.

In: a location and a folder. Out: the files of `dualparse.database.folder`, and a `Report` of what was found, guessed,
left out and, where the folder was there before, changed. What a person edited stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli_w

from dualparse.database import names, ontology_file, synonyms
from dualparse.database.folder import GENERATED, SYNONYMS, is_connected
from dualparse.database.infer import Found, Hidden, Progress, infer
from dualparse.database.location import Location
from dualparse.database.merge import merge
from dualparse.database.model import Table
from dualparse.database.ontology_file import HIDDEN, PROPERTY, RELATION, TYPE, Line
from dualparse.database.source import open_source
from dualparse.domains.folder import DESCRIPTION, ONTOLOGY, read_description
from dualparse.errors import InputError
from dualparse.files import write_text

_HEADS = {
    ONTOLOGY: (
        "# What can be asked about. Change names, kinds, units and labels as you like, take lines out, add some:",
        "# `dualparse connect` keeps what you changed. `hidden TYPE COLUMN` keeps a column out of every answer.",
    ),
    SYNONYMS: (
        "# What people call it: `name: phrase, phrase`. Add the words of your house;",
        "# the first phrase is the one that answers use.",
    ),
}


@dataclass
class Report:
    """What a connection did, for people.

    tables, properties, relations   how many there are
    hidden                          columns that are left out, with the reason
    notes                           what was guessed
    changes                         what is new, gone or different since the last time
    """

    folder: Path
    tables: int = 0
    properties: int = 0
    relations: int = 0
    rows: int = 0
    hidden: list[Hidden] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)


def connect(location: Location, folder: Path, *, progress: Progress = lambda what, done, total: None) -> Report:
    """Look at a database and write, or renew, the folder it is asked through."""
    _check_target(folder)
    with open_source(location) as source:
        found = infer(source, progress=progress)
    tables = found.database.tables
    if not tables:
        raise InputError("no table can be asked about: " + "; ".join(found.notes), path=location.path or location.place)
    report = Report(
        folder,
        len(tables),
        sum(len(table.properties) for table in tables),
        sum(len(table.relations) for table in tables),
        sum(table.rows or 0 for table in tables),
        list(found.hidden),
        list(found.notes),
    )
    _write_description(folder, location, tables, report)
    renamed = _renamed(folder, found)
    declared = [_rename(line, renamed) for line in ontology_file.lines_of(found.database, _hidden(found))]
    reasons = {(renamed.get(hidden.table, hidden.table), hidden.column): hidden.reason for hidden in found.hidden}
    texts = [_with_reason(line, reasons) for line in declared]
    _write(folder, ONTOLOGY, texts, report)
    _write(folder, SYNONYMS, synonyms.lines_of(_words(found, renamed)), report)
    _drop_orphans(folder, location.dialect)
    return report


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; expected a folder to write to", path=folder)
    if folder.is_dir() and any(folder.iterdir()) and not is_connected(folder):
        raise InputError("there is something else in this folder; name a new one", path=folder)


def _hidden(found: Found) -> list[tuple[str, str]]:
    return [(hidden.table, hidden.column) for hidden in found.hidden if hidden.table in found.database.by_name]


def _with_reason(line: Line, reasons: dict[tuple[str, str], str]) -> str:
    if line.keyword != HIDDEN:
        return str(line)
    return f"{line}  # {reasons.get((line.words[0], line.words[1]), '')}".rstrip(" #")


def _renamed(folder: Path, found: Found) -> dict[str, str]:
    """Name of a table as it would be generated -> the name a person gave it; its place in the database stays."""
    path = folder / ONTOLOGY
    if not path.is_file():
        return {}
    given = {
        (line.one("schema"), line.one("table")): line.words[0]
        for line in ontology_file.read_lines(path)
        if line.keyword == TYPE
    }
    places = {
        table.name: (table.source[0] if len(table.source) > 1 else "", table.source[-1])
        for table in found.database.tables
    }
    return {name: given[place] for name, place in places.items() if given.get(place, name) != name}


def _rename(line: Line, renamed: dict[str, str]) -> Line:
    words = list(line.words)
    places = {TYPE: (0,), PROPERTY: (1,), RELATION: (1, 2), HIDDEN: (0,)}[line.keyword]
    for place in places:
        words[place] = renamed.get(words[place], words[place])
    return Line(line.keyword, tuple(words), line.options)


def _words(found: Found, renamed: dict[str, str]) -> dict[str, str]:
    result = {}
    for name, phrase in found.words.items():
        table, dot, rest = name.partition(".")
        result[f"{renamed.get(table, table)}{dot}{rest}"] = phrase
    return result


def _line_key(text: str) -> tuple[str, ...]:
    try:
        line = ontology_file.read_line(text)
    except InputError:
        return ()
    return line.key if line else ()


def _group(key: object) -> object:
    """New properties go below the others of their table."""
    return key[1] if isinstance(key, tuple) and len(key) > 1 else None


def _write(folder: Path, file: str, now: Sequence[str], report: Report) -> None:
    """Write a generated file, or merge it into the one a person has edited."""
    path, base = folder / file, folder / GENERATED / file
    if not path.is_file():
        write_text(path, "".join(f"{line}\n" for line in (*_HEADS[file], "", *now)))
    else:
        was = base.read_text(encoding="utf-8").splitlines() if base.is_file() else list(now)
        edited = path.read_text(encoding="utf-8")
        if file == ONTOLOGY:
            merged = merge(was, now, edited, key=_line_key, after=_group)
            report.changes += merged.changes
        else:
            merged = merge(
                was, now, edited, key=synonyms.line_key, after=lambda key: str(key).partition(".")[0] or None
            )
        if merged.text != edited:
            write_text(path, merged.text)
    write_text(base, "".join(f"{line}\n" for line in now))


def _drop_orphans(folder: Path, dialect: str) -> None:
    """Lines of synonyms for names that the ontology has no more, because a person took them out or renamed them."""
    known = synonyms.names_of(ontology_file.read_ontology(folder / ONTOLOGY, dialect))
    path = folder / SYNONYMS
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not synonyms.line_key(line) or synonyms.line_key(line) in known]
    if kept != lines:
        write_text(path, "".join(f"{line}\n" for line in kept))


def _write_description(folder: Path, location: Location, tables: Sequence[Table], report: Report) -> None:
    path = folder / DESCRIPTION
    if not path.is_file():
        things = ", ".join(names.plural(table.name.replace("_", " ")) for table in tables[:4])
        more = " and more" if len(tables) > 4 else ""
        told = {
            "name": re.sub(r"[^a-z0-9]+", "-", location.title.lower()).strip("-") or "database",
            "title": location.title,
            "description": f"A database of {things}{more}.",
            "database": location.place,
        }
        write_text(path, tomli_w.dumps(told))
        return
    described = read_description(path)
    if described.database == location.place:
        return
    line = tomli_w.dumps({"database": location.place}).strip()
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(r"^database\s*=.*$", re.MULTILINE)
    changed = pattern.sub(lambda _: line, text) if pattern.search(text) else f"{text.rstrip()}\n{line}\n"
    write_text(path, changed)
    report.changes.append(f"the data is now at {location.place}")
