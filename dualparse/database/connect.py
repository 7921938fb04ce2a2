"""From a database to a folder that can be asked: `dualparse connect`.

In: a location and a folder. Out: the files of `dualparse.database.folder`, and a `Report` of what was found, guessed,
left out and, where the folder was there before, changed. What a person edited stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli_w

from dualparse.database import names, ontology_file, synonyms
from dualparse.database.folder import GENERATED, SYNONYMS
from dualparse.database.gone import without_gone
from dualparse.database.infer import Found, Hidden, Progress, infer
from dualparse.database.location import Location
from dualparse.database.merge import merge
from dualparse.database.model import Table
from dualparse.database.ontology_file import HIDDEN, Line
from dualparse.database.renaming import place, renamed, tables_renamed, words_renamed
from dualparse.database.source import open_source
from dualparse.domains.folder import DESCRIPTION, ONTOLOGY, read_description
from dualparse.errors import InputError
from dualparse.files import make_folder, write_text

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
    make_folder(folder / GENERATED)  # first: what a full disk cuts off here can be gone on with
    _write_description(folder, location, tables, report)
    lines = ontology_file.lines_of(found.database, _hidden(found))
    edited = ontology_file.read_lines(folder / ONTOLOGY) if (folder / ONTOLOGY).is_file() else []
    _write_words(folder, lines, edited, found.words)
    _write_ontology(folder, lines, edited, found, report)
    _drop_orphans(folder, location.dialect)
    return report


def _check_target(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; expected a folder to write to", path=folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / GENERATED).is_dir():
        raise InputError("there is something else in this folder; name a new one", path=folder)


def _hidden(found: Found) -> list[tuple[str, str]]:
    return [(hidden.table, hidden.column) for hidden in found.hidden if hidden.table in found.database.by_name]


def _write_ontology(folder: Path, lines: Sequence[Line], edited: Sequence[Line], found: Found, report: Report) -> None:
    names = tables_renamed(lines, edited)
    reasons = {(names.get(hidden.table, hidden.table), hidden.column): hidden.reason for hidden in found.hidden}
    now = [_with_reason(renamed(line, names), reasons) for line in lines]
    base = _generated(folder, ONTOLOGY)
    was_lines = [line for line in map(ontology_file.read_line, base) if line]
    since = tables_renamed(was_lines, edited)
    was = [text for text in (_under(text, since) for text in base) if text]
    about = {place(line, {}): line.key for line in map(ontology_file.read_line, (*now, *was)) if line}

    def key(text: str) -> tuple[str, ...]:
        """What a line is about; one under another name is about the same column."""
        try:
            line = ontology_file.read_line(text)
        except InputError:
            return ()
        return about.get(place(line, {}), line.key) if line else ()

    report.changes += _write(folder, ONTOLOGY, was, now, key=key, after=_group)
    text = (folder / ONTOLOGY).read_text(encoding="utf-8").splitlines()
    kept, gone = without_gone(text, found.columns)
    if gone:
        write_text(folder / ONTOLOGY, "".join(f"{line}\n" for line in kept))
        report.changes += [f"gone: {line}" for line in gone]


def _under(text: str, names: dict[str, str]) -> str:
    """A generated line with the names that a person gave since."""
    line = ontology_file.read_line(text)
    if line is None or not set(line.words) & set(names):
        return text
    _, mark, reason = text.partition("  # ")
    return f"{renamed(line, names)}{mark}{reason}"


def _with_reason(line: Line, reasons: dict[tuple[str, str], str]) -> str:
    if line.keyword != HIDDEN:
        return str(line)
    return f"{line}  # {reasons.get((line.words[0], line.words[1]), '')}".rstrip(" #")


def _write_words(folder: Path, lines: Sequence[Line], edited: Sequence[Line], words: dict[str, str]) -> None:
    names = words_renamed(lines, edited)
    now = synonyms.lines_of({names.get(name, name): phrase for name, phrase in words.items()})
    base = [line for line in map(ontology_file.read_line, _generated(folder, ONTOLOGY)) if line]
    since = words_renamed(base, edited)
    path = folder / SYNONYMS
    if since and path.is_file():
        text = path.read_text(encoding="utf-8")
        moved = synonyms.renamed(text.splitlines(), since)
        if moved != text.splitlines():
            write_text(path, "".join(f"{line}\n" for line in moved))
    was = synonyms.renamed(_generated(folder, SYNONYMS), since)
    _write(folder, SYNONYMS, was, now, key=synonyms.line_key, after=lambda key: str(key).partition(".")[0] or None)


def _generated(folder: Path, file: str) -> list[str]:
    """A file as it was generated last."""
    path = folder / GENERATED / file
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _group(key: object) -> object:
    """New properties go below the others of their table."""
    return key[1] if isinstance(key, tuple) and len(key) > 1 else None


def _write(
    folder: Path,
    file: str,
    was: Sequence[str],
    now: Sequence[str],
    *,
    key: Callable[[str], Hashable],
    after: Callable[[Hashable], Hashable | None],
) -> list[str]:
    """Write a generated file, or merge it into the one a person has edited; what changed."""
    path, changes = folder / file, []
    if not path.is_file():
        write_text(path, "".join(f"{line}\n" for line in (*_HEADS[file], "", *now)))
    else:
        edited = path.read_text(encoding="utf-8")
        merged = merge(was or now, now, edited, key=key, after=after)
        changes = merged.changes
        if merged.text != edited:
            write_text(path, merged.text)
    write_text(folder / GENERATED / file, "".join(f"{line}\n" for line in now))
    return changes


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
