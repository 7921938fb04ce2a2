"""CSV and Parquet as tables. In: an empty DuckDB connection in memory and a file or folder. Out: its tables, and notes.

DuckDB finds the delimiter, the heading and the types of a CSV file. Text that is not UTF-8 is read by pyarrow, into
memory and therefore up to a size; rows of different lengths are padded, and a note says so.
"""

from __future__ import annotations

import codecs
import gzip
import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as arrow_csv

from dualparse.database.location import CSV, file_kind, tables_of_folder
from dualparse.errors import InputError

ROW = "rowid"  # what numbers the rows of a table without a key; tables of SQLite and DuckDB have one by nature
LARGEST_RECODED = 200 << 20  # bytes
LARGEST_KEPT = 20 << 20  # bytes of a file that is read once, into memory; a larger one is read for every question
LOOKED_AT = 200_000  # rows of a large file by which types are chosen; of others, all
_MADE_UP = re.compile(r"column\d+")
_NOTHING = ["", "N/A", "n/a", "NULL", "null", "#N/A"]  # what people write where there is no value


def views_of(connection: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Make a view for every table of a file or folder; notes tell what was guessed."""
    notes: list[str] = []
    tables = tables_of_folder(path) if path.is_dir() else {path.name[: path.name.index(".", 1)]: (path,)}
    for name, files in tables.items():
        if path.is_dir() and len(tables) > 1 and not any(file.stat().st_size for file in files):
            notes.append(f"{files[0].name}: left out, because it is empty")
            continue
        for file in files:
            file_kind(file)  # an empty or foreign file is told by its name
        if files[0].name.lower().endswith(CSV):
            _csv_view(connection, name, files[0], notes)
        else:
            size = sum(file.stat().st_size for file in files)
            _take_in(connection.read_parquet([str(file) for file in files], union_by_name=True), name, size)
    return notes


def _take_in(relation: duckdb.DuckDBPyRelation, name: str, size: int) -> None:
    if size <= LARGEST_KEPT:
        relation.create(name)
        return
    number = duckdb.SQLExpression("row_number() OVER () AS rowid")  # a constant; a view numbers no rows by nature
    relation.select(duckdb.StarExpression(), number).create_view(name)


def _csv_view(connection: duckdb.DuckDBPyConnection, name: str, path: Path, notes: list[str]) -> None:
    encoding = _encoding(path)
    if encoding != "utf-8":
        notes.append(f"{path.name}: not UTF-8, read as {encoding}")
        connection.from_arrow(_recoded(path, encoding)).create(name)
        return
    relation = _read(connection, path, notes)
    if not relation.columns:
        raise InputError("no columns in it", path=path)
    made_up = [column for column in relation.columns if _MADE_UP.fullmatch(column)]
    if len(made_up) == len(relation.columns):
        notes.append(f"{path.name}: no heading found; the columns are called {', '.join(made_up[:3])} ...")
    elif made_up:
        notes.append(f"{path.name}: some rows are longer than the heading; what is too long is in {', '.join(made_up)}")
    _take_in(relation, name, path.stat().st_size)


def _read(connection: duckdb.DuckDBPyConnection, path: Path, notes: list[str]) -> duckdb.DuckDBPyRelation:
    """A CSV file with the types that all of its values have. Where semicolons part the columns, a comma may be in
    numbers."""
    kept = path.stat().st_size <= LARGEST_KEPT

    def reading(**how: Any) -> duckdb.DuckDBPyRelation:
        rows = -1 if kept else LOOKED_AT
        return connection.read_csv(str(path), null_padding=True, na_values=_NOTHING, sample_size=rows, **how)

    loose = {} if kept else {"strict_mode": False}
    try:
        found = reading(**loose)
        if kept:
            found.count("*").fetchall()
    except duckdb.InvalidInputException:
        loose = {"strict_mode": False}
        found = reading(**loose)
        notes.append(f"{path.name}: some rows are longer than the others; what is too long is left out")
    if any(type.id == "varchar" for type in found.types) and _heading(path).count(";") > _heading(path).count(","):
        found = max(found, reading(**loose, decimal=","), key=_numbers)  # 3,50; the first where both are as good
    return found


def _heading(path: Path) -> str:
    """The first line of a file, which may be compressed."""
    with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as stream:
        return stream.readline().decode(errors="replace")


def _numbers(relation: duckdb.DuckDBPyRelation) -> int:
    """How many columns hold numbers."""
    return sum(type.id in ("bigint", "double", "hugeint") for type in relation.types)


def _encoding(path: Path) -> str:
    """UTF-16 by its mark, UTF-8 where every byte fits, else the Western encoding of Windows."""
    if path.name.endswith(".gz"):
        return "utf-8"
    with path.open("rb") as stream:
        head = stream.read(4)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        decoder = codecs.getincrementaldecoder("utf-8")()
        block = head
        try:
            while block:
                decoder.decode(block)
                block = stream.read(1 << 20)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _recoded(path: Path, encoding: str) -> pa.Table:
    if path.stat().st_size > LARGEST_RECODED:
        raise InputError("not UTF-8, and too large to convert on the fly: convert it with iconv -t UTF-8", path=path)
    try:
        with path.open(encoding=encoding, errors="strict" if encoding == "utf-16" else "replace") as stream:
            heading = stream.readline()
    except UnicodeDecodeError:
        raise InputError("neither UTF-8 nor UTF-16: convert it with iconv -t UTF-8", path=path) from None
    delimiter = max(",;\t|", key=heading.count)
    try:
        return arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(encoding=encoding),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeError) as error:
        raise InputError(f"cannot be read as CSV: {' '.join(str(error).split())[:200]}", path=path) from None
