"""Declarations of `ontology.txt` whose table or column the database has no more, which a person may have written.

In: the lines of the file, and the columns of every table. Out: the lines, those that can be no more as comments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dualparse.database.merge import GONE
from dualparse.database.ontology_file import HIDDEN, RELATION, TYPE, Line, read_line
from dualparse.errors import InputError

Columns = Mapping[tuple[str, str], frozenset[str]]  # (schema, table) -> its columns
_NUMBERS = frozenset(("rowid", "_rowid_", "oid"))  # of rows; every table of SQLite and DuckDB has one


def without_gone(lines: Sequence[str], columns: Columns) -> tuple[list[str], list[str]]:
    """The lines, and the declarations among them that became comments."""
    held = {_folded(*place): {column.casefold() for column in found} | _NUMBERS for place, found in columns.items()}
    read = [_read(line) for line in lines]
    tables = {line.words[0]: _folded(line.one("schema"), line.one("table")) for line in read if line and _is_type(line)}
    kept: list[str] = []
    gone: list[str] = []
    for text, line in zip(lines, read, strict=True):
        if line is None or line.keyword == HIDDEN or _is_there(line, tables, held):
            kept.append(text)
        else:
            kept.append(GONE + text)
            gone.append(" ".join(text.partition("#")[0].split()))
    return kept, gone


def _read(text: str) -> Line | None:
    try:
        return read_line(text)
    except InputError:
        return None


def _is_type(line: Line) -> bool:
    return line.keyword == TYPE


def _folded(schema: str, table: str) -> tuple[str, str]:
    return schema.casefold(), table.casefold()


def _is_there(
    line: Line, tables: Mapping[str, tuple[str, str]], held: Mapping[tuple[str, str], set[str] | frozenset[str]]
) -> bool:
    wanted: tuple[str, ...]
    if _is_type(line):
        place, wanted = tables[line.words[0]], ("key", "text_key", "label")
    else:
        if line.keyword == RELATION and tables.get(line.words[2]) not in held:
            return False
        place, wanted = tables.get(line.words[1], ("", "")), ("column",)
        if line.one("link"):
            place, wanted = _folded(line.one("link_schema"), line.one("link")), ("column", "owner")
    named = {column.casefold() for option in wanted for column in line.options.get(option, ())}
    return place in held and named <= held[place]
