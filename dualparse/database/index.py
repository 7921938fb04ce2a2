"""The names in a database, to be found in questions: `values.sqlite` beside a connected folder.

In: a connected folder and its database. Out: an `Index` of labels (one row for each thing that has one) and values
(each distinct short text of a column), kept in SQLite with the words in FTS5 and, for slips in the first letters, the
trigrams of the words. The index holds nothing that `ontology.txt` hides, costs no memory that grows with the data, and
can be thrown away: one that is damaged, old or of another version is made again.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from filelock import FileLock
from sqlglot import exp

from dualparse.database import names
from dualparse.database.fold import fold
from dualparse.database.folder import INDEX, Connected
from dualparse.database.location import POSTGRES
from dualparse.database.model import Property, Table, entity_id
from dualparse.database.source import Source, open_source
from dualparse.domains.lexicon import read_entries
from dualparse.errors import InputError
from dualparse.files import replacing, write_text

VERSION = 1
LABEL, VALUE = "label", "value"
LONGEST = 80  # letters of a value that can be a name
MOST_VALUES = 1_000_000  # distinct ones of a column
REREAD = 100_000  # rows of a table that is read again whole when the data changed; of a larger one the new rows are
BATCH = 5_000
BLOCK = 1 << 20  # bytes that are checked at once
LEXICON = "lexicon.txt"
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE part (id INTEGER PRIMARY KEY, kind TEXT, type TEXT, property TEXT, rows INTEGER, highest INTEGER);
CREATE TABLE name (
  id INTEGER PRIMARY KEY AUTOINCREMENT, norm TEXT NOT NULL, text TEXT NOT NULL, part INTEGER NOT NULL, key TEXT);
CREATE VIRTUAL TABLE word USING fts5(norm, content='name', content_rowid='id', columnsize=0, tokenize="unicode61");
CREATE VIRTUAL TABLE term USING fts5vocab(word, row);
CREATE VIRTUAL TABLE gram USING fts5(word, columnsize=0, tokenize="trigram");
CREATE TABLE known (word TEXT PRIMARY KEY, initial TEXT, length INTEGER) WITHOUT ROWID;
"""
_INDEXES = """
CREATE INDEX name_squashed ON name (replace(norm, ' ', ''));
CREATE INDEX name_part ON name (part);
CREATE INDEX known_alike ON known (initial, length);
"""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Part:
    """What names came from one place: the labels of a type, or the values of a property."""

    kind: str
    type: str
    property: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A name of the index: what it stands for, its text in the data, and the id of the thing for a label."""

    kind: str
    type: str
    property: str
    text: str
    key: str


class Index:
    """An open index; it belongs to one thread. `notes` tell what had to be done to it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, notes: Sequence[str] = ()):
        self.path, self.connection, self.notes = path, connection, list(notes)
        self._parts: dict[int, tuple[str, str, str]] = {
            row[0]: (row[1], row[2], row[3]) for row in connection.execute("SELECT id, kind, type, property FROM part")
        }

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def __len__(self) -> int:
        return int(self.connection.execute("SELECT COUNT(*) FROM name").fetchone()[0])

    def exact(self, squashed: str, limit: int) -> list[Stored]:
        """The names that are these letters, whatever their case, accents, spaces and punctuation."""
        query = "SELECT part, text, key FROM name WHERE replace(norm, ' ', '') = ? LIMIT ?"
        return self._stored(self.connection.execute(query, (squashed, limit)))

    def containing(self, words: Sequence[str], limit: int) -> list[Stored]:
        """Names in which these words stand in a row."""
        phrase = '"{}"'.format(" ".join(words))
        query = "SELECT n.part, n.text, n.key FROM word JOIN name n ON n.id = word.rowid WHERE word MATCH ? LIMIT ?"
        return self._stored(self.connection.execute(query, (phrase, limit)))

    def values(self, type_: str, property_: str, limit: int) -> list[str]:
        """The values of a property, so many at the most."""
        query = (
            "SELECT DISTINCT n.text FROM name n JOIN part p ON p.id = n.part "
            "WHERE p.kind = ? AND p.type = ? AND p.property = ? LIMIT ?"
        )
        return [row[0] for row in self.connection.execute(query, (VALUE, type_, property_, limit))]

    def knows(self, word: str) -> bool:
        """Whether a word stands in any name."""
        return self.connection.execute("SELECT 1 FROM known WHERE word = ?", (word,)).fetchone() is not None

    def alike(self, word: str, edits: int) -> list[str]:
        """Words of names that may be meant by a misspelt one: same initial, or the same second half."""
        low, high = len(word) - edits, len(word) + edits
        query = "SELECT word FROM known WHERE initial = ? AND length BETWEEN ? AND ?"
        found = [row[0] for row in self.connection.execute(query, (word[0], low, high))]
        half = word[len(word) // 2 :]
        if len(half) >= 3:
            query = "SELECT word FROM gram WHERE gram MATCH ? LIMIT 500"
            found += [row[0] for row in self.connection.execute(query, (f'"{half}"',))]
        return [other for other in dict.fromkeys(found) if low <= len(other) <= high]

    def _stored(self, rows: Iterable[tuple[int, str, str]]) -> list[Stored]:
        return [Stored(*self._parts[part], text, key or "") for part, text, key in rows]


def open_index(connected: Connected, source: Source, *, progress: Progress = lambda *_: None) -> Index:
    """The index of a folder as the data is now: made where there is none, brought up to date where rows were added."""
    path = connected.folder / INDEX
    with FileLock(path.with_suffix(".lock")):  # another process may be bringing it up to date
        return _up_to_date(path, connected, source, progress)


def _up_to_date(path: Path, connected: Connected, source: Source, progress: Progress) -> Index:
    notes: list[str] = []
    if path.exists():
        problem = _problem(path, connected)
        if not problem:
            connection = _open(path)
            try:
                _refresh(connection, connected, source, notes, path)
                return Index(path, connection, notes)
            except sqlite3.DatabaseError:
                connection.close()
                problem = "is damaged"
        notes.append(f"{INDEX} {problem}: made again")
    build_index(connected, source, progress=progress)
    return Index(path, _open(path), notes)


def build_index(connected: Connected, source: Source, *, progress: Progress = lambda *_: None) -> Path:
    """Read all names of a database into a new index."""
    path = connected.folder / INDEX
    parts = _parts(connected)
    with replacing(path) as made, _told(path):
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -40000;")
            connection.executescript(_TABLES)
            connection.execute("BEGIN")
            for done, part in enumerate(parts):
                what = f"names of {part.type} {part.property}".strip()
                progress(what, done, len(parts))
                for read in _fill(connection, connected, source, part):
                    progress(f"{what}, {read:,}", done, len(parts))
            _fill_lexicon(connection, connected)
            progress("words of the names", len(parts), len(parts))
            connection.execute("INSERT INTO word (word) VALUES ('rebuild')")
            connection.execute("INSERT INTO known SELECT term, substr(term, 1, 1), length(term) FROM term")
            connection.execute("INSERT INTO gram SELECT term FROM term WHERE length(term) > 4")
            _remember(connection, connected, source)
            connection.execute("COMMIT")
            connection.executescript(_INDEXES)
        progress("", len(parts), len(parts))
    _seal(path)
    return path


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What SQLite says of a disk that takes no more, as an error for people."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
            raise
        raise InputError(f"cannot write: {error}", path=path) from None


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
    connection.execute("PRAGMA cache_size = -20000")
    return connection


def _parts(connected: Connected) -> list[Part]:
    found: list[Part] = []
    for table in connected.database.tables:
        if table.label:
            found.append(Part(LABEL, table.name))
        found += [Part(VALUE, table.name, held.name) for held in table.properties if _may_hold_names(held, table)]
    return found


def _may_hold_names(held: Property, table: Table) -> bool:
    return held.kind == "text" and held.column not in table.label and not names.is_contact(held.column)


# -- filling


def _table(table: Table) -> exp.Expr:
    return _alias(table.source)


def _alias(source: Sequence[str]) -> exp.Expr:
    found = exp.table_(source[-1], db=source[0] if len(source) > 1 else None, quoted=True)
    return exp.alias_(found, "t", table=True)


def _column(name: str) -> exp.Column:
    """A column of the one table of a query. Without the table, SQLite takes a column that is gone for a text."""
    return exp.column(name, table="t", quoted=True)


def _fill(
    connection: sqlite3.Connection, connected: Connected, source: Source, part: Part, above: int | None = None
) -> Iterator[int]:
    """Add the names of one part, all or those of rows with a key above one; yields how many there are by now."""
    table = connected.database.by_name[part.type]
    part_id = connection.execute(
        "SELECT id FROM part WHERE kind = ? AND type = ? AND property = ?", (part.kind, part.type, part.property)
    ).fetchone()
    if part_id is None:
        row = (part.kind, part.type, part.property)
        part_id = (connection.execute("INSERT INTO part (kind, type, property) VALUES (?, ?, ?)", row).lastrowid,)
    found = _labels(source, table, above) if part.kind == LABEL else _values(source, table, part.property, above)
    rows = ((fold(text), text, part_id[0], key) for text, key in found)
    kept = (row for row in rows if row[0])
    read = 0
    while batch := list(islice(kept, BATCH)):
        connection.executemany("INSERT INTO name (norm, text, part, key) VALUES (?, ?, ?, ?)", batch)
        read += len(batch)
        yield read


def _labels(source: Source, table: Table, above: int | None) -> Iterator[tuple[str, str]]:
    query = exp.select(*map(_column, (*table.key, *table.label))).from_(_table(table))
    if above is not None:
        query = query.where(_column(table.key[0]) > exp.Literal.number(above))
    size = len(table.key)
    for row in source.stream(query):
        text = " ".join(str(value).strip() for value in row[size:] if value is not None)
        if text:
            yield text[:500], entity_id(table.name, row[:size])


def _values(source: Source, table: Table, name: str, above: int | None) -> Iterator[tuple[str, None]]:
    held = next(held for held in table.properties if held.name == name)
    place = _alias(held.link.source if held.link else table.source)
    query = exp.select(_column(held.column)).distinct().from_(place)
    query = query.where(exp.not_(_column(held.column).is_(exp.null()))).limit(MOST_VALUES)
    if above is not None and not held.link:
        query = query.where(_column(table.key[0]) > exp.Literal.number(above))
    for (value,) in source.stream(query):
        if isinstance(value, str) and len(value) <= LONGEST:
            yield value, None


def _fill_lexicon(connection: sqlite3.Connection, connected: Connected) -> None:
    """Other names for things, from a `lexicon.txt` of the folder: `the boss :- NP : employee.1`."""
    path = connected.folder / LEXICON
    if not path.is_file():
        return
    for line, phrase, entity in read_entries(path):
        type_ = entity.partition(".")[0]
        if type_ not in connected.database.by_name:
            raise InputError(f"the ontology has no type {type_!r}", path=path, line=line)
        row = (LABEL, type_, LEXICON)
        connection.execute("INSERT INTO part (kind, type, property) VALUES (?, ?, ?)", row)
        part = connection.execute("SELECT MAX(id) FROM part").fetchone()[0]
        text = " ".join(phrase)
        connection.execute(
            "INSERT INTO name (norm, text, part, key) VALUES (?, ?, ?, ?)", (fold(text), text, part, entity)
        )


# -- keeping up with the data


def _refresh(
    connection: sqlite3.Connection, connected: Connected, source: Source, notes: list[str], path: Path
) -> None:
    """Bring an index up to date. Costs a look at the files where nothing changed."""
    now = stamp(connected, source)
    if _meta(connection, "stamp") == now:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _follow(connection, connected, source, notes)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('stamp', ?)", (now,))
        connection.execute("COMMIT")
    except (sqlite3.Error, InputError):
        connection.execute("ROLLBACK")
        raise
    _seal(path)


def _follow(connection: sqlite3.Connection, connected: Connected, source: Source, notes: list[str]) -> None:
    """Read again the tables that changed: small ones whole, of large ones the new rows."""
    first = connection.execute("SELECT COALESCE(MAX(id), 0) FROM name").fetchone()[0]
    for table in connected.database.tables:
        parts = [part for part in _parts(connected) if part.type == table.name]
        if not parts:
            continue
        was_rows, was_highest = _counted(connection, table.name)
        rows, highest = _count(source, table)
        if rows <= REREAD:
            for part in parts:
                _reread(connection, connected, source, part)
        elif highest is not None and was_highest is not None and highest > was_highest:
            for part in parts:
                deque(_fill(connection, connected, source, part, above=was_highest), maxlen=0)
        elif rows != was_rows:
            notes.append(f"names of {table.name} are those of the last `dualparse connect`")
        connection.execute("UPDATE part SET rows = ?, highest = ? WHERE type = ?", (rows, highest, table.name))
    new = connection.execute("SELECT id, norm FROM name WHERE id > ?", (first,)).fetchall()
    connection.executemany("INSERT INTO word (rowid, norm) VALUES (?, ?)", new)
    _learn_words(connection, {word for _, norm in new for word in norm.split()})


def _reread(connection: sqlite3.Connection, connected: Connected, source: Source, part: Part) -> None:
    """Make the names of a small table those that are in the data now."""
    row = connection.execute(
        "SELECT id FROM part WHERE kind = ? AND type = ? AND property = ?", (part.kind, part.type, part.property)
    ).fetchone()
    table = connected.database.by_name[part.type]
    now = set(_labels(source, table, None)) if part.kind == LABEL else set(_values(source, table, part.property, None))
    was = {
        (text, key): (place, norm)
        for place, norm, text, key in connection.execute("SELECT id, norm, text, key FROM name WHERE part = ?", row)
    }
    gone = [place for found, place in was.items() if found not in now]
    connection.executemany("INSERT INTO word (word, rowid, norm) VALUES ('delete', ?, ?)", gone)
    connection.executemany("DELETE FROM name WHERE id = ?", [(place,) for place, _ in gone])
    new = [(fold(text), text, row[0], key) for text, key in now if (text, key) not in was and fold(text)]
    connection.executemany("INSERT INTO name (norm, text, part, key) VALUES (?, ?, ?, ?)", new)


def _learn_words(connection: sqlite3.Connection, words: set[str]) -> None:
    new = [word for word in words if not connection.execute("SELECT 1 FROM known WHERE word = ?", (word,)).fetchone()]
    connection.executemany("INSERT INTO known VALUES (?, substr(?1, 1, 1), length(?1))", [(word,) for word in new])
    connection.executemany("INSERT INTO gram VALUES (?)", [(word,) for word in new if len(word) > 4])


def _count(source: Source, table: Table) -> tuple[int, int | None]:
    """Rows of a table and, where its key is one number, the highest."""
    columns: list[exp.Expression] = [exp.Count(this=exp.Star())]
    if len(table.key) == 1 and (not table.key_kinds or table.key_kinds[0] == "number"):
        columns.append(exp.Max(this=_column(table.key[0])))
    row = source.rows(exp.select(*columns).from_(_table(table)))[0]
    return int(row[0]), int(row[1]) if len(row) > 1 and row[1] is not None else None


def _counted(connection: sqlite3.Connection, type_: str) -> tuple[int, int | None]:
    row = connection.execute("SELECT rows, highest FROM part WHERE type = ? AND rows NOTNULL", (type_,)).fetchone()
    return row if row else (0, None)


def _remember(connection: sqlite3.Connection, connected: Connected, source: Source) -> None:
    for table in connected.database.tables:
        connection.execute("UPDATE part SET rows = ?, highest = ? WHERE type = ?", (*_count(source, table), table.name))
    told = {"version": str(VERSION), "made for": _made_for(connected), "stamp": stamp(connected, source)}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", told.items())


def stamp(connected: Connected, source: Source) -> str:
    """What changes when the data does, and costs next to nothing to look at."""
    path = connected.location.path
    if path is None:
        return _postgres_stamp(connected, source) if source.dialect == POSTGRES else ""
    files = sorted(path.rglob("*")) if path.is_dir() else [path, *path.parent.glob(f"{path.name}*wal")]
    facts: list[object] = []
    for file in files:
        with suppress(FileNotFoundError):  # a log that was just taken over
            stat = file.stat()
            facts.append((file.name, stat.st_size, stat.st_mtime_ns))
    if path.is_file() and source.dialect == "sqlite":
        with path.open("rb") as stream:
            facts.append(stream.read(100)[24:28].hex())
    return json.dumps(facts)


def _postgres_stamp(connected: Connected, source: Source) -> str:
    """The server's own counters of changed rows, which lag a moment behind, and what does not: the highest keys, or how
    many rows there are."""
    counters = [exp.column(name) for name in ("n_tup_ins", "n_tup_upd", "n_tup_del")]
    query = exp.select("relid", *counters).from_("pg_stat_user_tables").order_by("relid")
    facts: list[object] = [[str(value) for value in row] for row in source.rows(query)]
    for table in connected.database.tables:
        if not table.label:
            continue
        newest = exp.select(exp.Max(this=_column(table.key[0]))).from_(_table(table))
        if len(table.key) > 1 or table.key_kinds[:1] == ("text",):  # of a UUID there is no highest
            some = exp.select(exp.Literal.number(1)).from_(_table(table)).limit(REREAD).subquery("s")
            newest = exp.select(exp.Count(this=exp.Star())).from_(some)
        facts.append(str(source.rows(newest)[0][0]))
    return json.dumps(facts)


def _made_for(connected: Connected) -> str:
    """What the index depends on besides the data: which columns there are, and other names."""
    lexicon = connected.folder / LEXICON
    texts = [repr(_parts(connected)), repr([(t.name, t.source, t.key, t.label) for t in connected.database.tables])]
    texts.append(lexicon.read_text(encoding="utf-8") if lexicon.is_file() else "")
    return f"{connected.location.place} {zlib.crc32(chr(0).join(texts).encode()):08x}"


# -- trusting the file


def _seal(path: Path) -> None:
    """Write down what the file looks like, beside it."""
    write_text(path.with_suffix(".sum"), _sum(path) + "\n")


def _sum(path: Path) -> str:
    """A checksum over the whole file: a quarter of a second a gigabyte."""
    total = 0
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            total = zlib.crc32(block, total)
    return f"{path.stat().st_size} {total:08x}"


def _meta(connection: sqlite3.Connection, key: str) -> str:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else ""


def verify_index(connected: Connected) -> int | None:
    """How many names an index has, None where there is none yet; `InputError` where it would be made again."""
    path = connected.folder / INDEX
    if not path.exists():
        return None
    with FileLock(path.with_suffix(".lock")):
        if problem := _problem(path, connected):
            raise InputError(f"{problem}; it is made again when the folder is next asked", path=path)
        with Index(path, _open(path)) as index:
            return len(index)


def _problem(path: Path, connected: Connected) -> str:
    """Why an index cannot be used as it is; "" where it can."""
    sealed = path.with_suffix(".sum")
    if not sealed.is_file() or sealed.read_text(encoding="utf-8").strip() != _sum(path):
        return "is damaged"
    try:
        with closing(sqlite3.connect(path)) as connection:
            if _meta(connection, "version") != str(VERSION):
                return "is of another version"
            return "" if _meta(connection, "made for") == _made_for(connected) else "is older than the folder"
    except sqlite3.DatabaseError:
        return "is damaged"


def index_of(connected: Connected, *, progress: Progress = lambda *_: None) -> Index:
    """The index of a folder, with a database opened just for it."""
    with open_source(connected.location) as source:
        return open_index(connected, source, progress=progress)
