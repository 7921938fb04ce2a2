"""Forms as SQL on SQLite and DuckDB, beside the world in memory: `python -m benchmarks.campaign --only sql`.

Tables, columns, keys and texts of the random databases have the names that an attacker would give them.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import date as Day
from pathlib import Path

import duckdb
import sqlglot
from copies import copied, labels_of
from random_forms import SCHEMA, WORDS, Forms, world
from same_rows import agreed
from sqlglot import exp

from benchmarks.campaign.part import Part, promise
from dualparse.database.compile import compile_form
from dualparse.database.location import locate
from dualparse.database.model import ISO, NATIVE
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.domains.plain import Plain
from dualparse.lf.errors import LF_ERRORS

FORMS = 250  # over one database
DIALECTS = ("sqlite", "duckdb")  # that answer
OTHERS = ("postgres", "trino", "spark")  # of which the text alone is looked at
RUN = 5  # of so many forms one is run, and one is compiled for another engine, too
NAMES = (
    '{}"; DROP TABLE song; --',
    '"{}"',
    "{}'",
    "[{}]",
    "`{}`",
    ":{}",
    "{}?1",
    "%({})s",
    "{}\n-- x",
    "/*{}*/",
    "{} ä\U0001f600",
    "select {}",
    "{}.x",
    "{}$1",
    "{}\\",
    "{});",
    "$$ {}",
    "{}",
)
TEXTS = (
    *WORDS,
    "'; DROP TABLE song; --",
    '" OR 1=1 --',
    "x' UNION SELECT name FROM sqlite_master --",
    "%",
    "\\",
    ":p1",
    "?",
    "$1",
    "%s",
    "/*",
    "{0}",
    "@@version",
)
LETTERS = (*"abxyAB", "'", '"', ";--", "%", ":a", "?", "$1", "`", "\\", "/*")
WRITES = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.Pragma, exp.Set, exp.Attach, exp.Copy)
TODAY = Day(2005, 5, 20)


class Sql(Part):
    about = (
        "Random and mutated forms over random databases whose names and texts are hostile, compiled for five engines, "
        "a fifth of them run in SQLite or DuckDB beside the world in memory. Each is one SELECT, the answers are the "
        "same, and no byte of a database changes."
    )
    unit = "forms to SQL"
    cases = 200_000
    share = 0.2

    def prepare(self) -> None:
        self._made = -1

    def case(self, number: int) -> Counter[str]:
        if number // FORMS != self._made:
            self.close()
            self._open(number // FORMS)
        rng = self.drawn(number)
        form = Forms(self.world, rng, TEXTS).any()
        if rng.random() < 0.1:
            form = _changed(form, rng)
        self.input = form
        if number % RUN == 0:
            kind = agreed(form, self.memory, self.runner)
        else:
            kind = self._looked_at(form, self.runner.database.dialect if number % RUN > 1 else rng.choice(OTHERS))
        promise(all(_reads(text) for text in self.sent), f"sent: {self.sent}")
        self.sent.clear()
        return Counter([kind])

    def _open(self, database: int) -> None:
        """A random database with hostile names, written and opened for reading."""
        rng = self.drawn(-1 - database)
        self._made, dialect = database, DIALECTS[database % len(DIALECTS)]
        self.world = world(rng, whole_dates=dialect != "sqlite", words=TEXTS, letters=LETTERS)
        self.memory = Plain(self.world, SCHEMA, labels_of(self.world))
        self.path = self.place / f"{database}.{dialect}"
        opened = sqlite3.connect(self.path) if dialect == "sqlite" else duckdb.connect(str(self.path))
        with closing(opened) as connection:
            storage = ISO if dialect == "sqlite" else NATIVE  # SQLite has no type for dates
            connection.execute("BEGIN")
            model = copied(self.world, SCHEMA, dialect, connection.execute, storage, named=_hostile(rng))
            connection.commit()
        self._before = _digest(self.path)
        self.source = open_source(locate(f"{dialect}:///{self.path}"))
        self.runner, self.sent = Runner(self.source, model), []
        if dialect == "sqlite":
            self.source.connection.set_trace_callback(self.sent.append)

    def close(self) -> None:
        """Shut the database, and see that it is as it was."""
        if self._made < 0:
            return
        self.source.close()
        files = sorted(path.name for path in self.place.iterdir())
        promise(files == [self.path.name], f"files beside the database: {files}")
        promise(_digest(self.path) == self._before, "the database was written to")
        self.path.unlink()
        self._made = -1

    def _looked_at(self, form: str, dialect: str) -> str:
        """What is built is one statement that reads, in the eyes of the engine, or of a parser of its language."""
        try:
            statement = compile_form(form, self.runner.database, today=TODAY, dialect=dialect)
        except LF_ERRORS:
            return "error"
        text = statement.sql(limit=100)
        if dialect == "sqlite":  # refuses two statements, and its guard whatever is no reading
            try:
                self.source.connection.execute(f"EXPLAIN {text}", dict(statement.parameters))
            except sqlite3.OperationalError as error:
                promise("parser stack overflow" in str(error), f"{error}: {text}")  # what `Runner` tells as too deep
                return "deep"
        elif dialect == "duckdb":
            kinds = [part.type for part in duckdb.extract_statements(text)]
            promise(kinds == [duckdb.StatementType.SELECT], f"{kinds}: {text}")
        else:
            found = sqlglot.parse(text, dialect=dialect)
            promise(len(found) == 1 and isinstance(found[0], exp.Query), f"not one SELECT: {text}")
            promise(found[0] is not None and not list(found[0].find_all(*WRITES)), f"more than reading: {text}")
        return "compiled"


def _hostile(rng: random.Random) -> Callable[[str], str]:
    """What a database calls its tables and columns."""
    ways: dict[str, str] = {}
    return lambda name: ways.setdefault(name, rng.choice(NAMES).format(name))


def _changed(form: str, rng: random.Random) -> str:
    """A form with some tokens taken away, doubled or exchanged."""
    tokens = form.split()
    for _ in range(rng.randint(1, 3)):
        first, second = (rng.randrange(len(tokens)) for _ in range(2))
        tokens[first : first + 1] = rng.choice(([], [tokens[second]], [tokens[first]] * 2))
        tokens = tokens or ["("]
    return " ".join(tokens)


def _reads(text: str) -> bool:
    return text.lstrip().upper().startswith(("SELECT", "WITH", "EXPLAIN SELECT", "EXPLAIN WITH"))


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
