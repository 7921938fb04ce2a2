"""Connecting to a database: seconds and memory of `dualparse connect`, of finding names, and of answers.

    python -m benchmarks.connect [--rows 15000 1000000 10000000] [--databases shop names] [--engines sqlite duckdb]
                                 [--kept FOLDER] [--out results/bench-connect.json]
    python -m benchmarks.connect --page docs/own-database.md

A seeded script makes a shop (people, products, orders, lines) of so many rows, and a register of as many names. Every
connection runs in a process of its own, whose highest memory is measured; so do its index of names, and questions. What
is measured takes the place of the same in the file; the others stay. `--kept` is where databases stay for the next
time. Seconds of the processor stand beside those of the clock, and the load of the machine says how far to trust these.
`--page` prints the figures as a table, and puts it between the marks of a page.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import duckdb

from benchmarks.load import processor
from benchmarks.stored import between
from dualparse.files import replacing, write_text
from dualparse.lab.sweep.jobs import current_commit

BEGIN = "<!-- connect: written by `python -m benchmarks.connect --page docs/own-database.md` -->"
END = "<!-- end of connect -->"
SEED, BATCH, QUESTIONS, ROUNDS, FILTERS = 7, 20_000, 200, 5, 50
_SYLLABLES = [first + rest for first in "bcdfghjklmnprstvwz" for rest in ("a", "e", "i", "o", "u", "an", "el", "or")]
_TABLES = """
CREATE TABLE people (person_id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, country VARCHAR, born DATE);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, title VARCHAR, category VARCHAR, unit_price DOUBLE);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, person_id INTEGER, ordered_at DATE, status VARCHAR);
CREATE TABLE lines (line_id INTEGER PRIMARY KEY, order_id INTEGER, product_id INTEGER, quantity INTEGER)
"""
_INDEXES = "CREATE INDEX ordered ON orders (person_id); CREATE INDEX priced ON products (unit_price)"
_ASKED = (
    "how many orders are there",
    "how many orders are paid",
    "which products cost more than 99",
    "how many people were born in 1970",
    "what is the average unit price of the products",
    "how many orders did {name} make",
    "which city does {name} live in",
    "what is the most expensive product",
)
_PEOPLE = (
    "SELECT text FROM name JOIN part ON part.id = name.part WHERE part.kind = 'label' AND type = 'person' LIMIT 1000"
)
_BY_NAME = "( filter ( all person ) name = ( text {name} ) )"
_FILTER = "( filter ( all product ) unit_price = ( number {price} money ) )"
_SHARES = {"people": 0.2, "products": 0.05, "orders": 0.25, "lines": 0.5}


def _words(rng: random.Random, amount: int) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))).title() for _ in range(amount)]


def names(rng: random.Random, amount: int) -> Iterator[str]:
    """Names of one to three words; a word stands in many of them, as in life."""
    words = _words(rng, max(500, min(60_000, amount // 5)))
    for _ in range(amount):
        yield " ".join(rng.choices(words, k=rng.choice((1, 2, 2, 2, 3))))


def tables(rows: int) -> Iterator[tuple[str, Iterator[tuple]]]:
    """The rows of the shop."""
    rng = random.Random(SEED)
    size = {table: max(10, int(share * rows)) for table, share in _SHARES.items()}
    cities, countries, kinds = (_words(rng, amount) for amount in (300, 40, 25))
    day = lambda: f"{rng.randint(1950, 2024)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"  # noqa: E731
    people = names(rng, size["people"])
    yield "people", ((i, name, rng.choice(cities), rng.choice(countries), day()) for i, name in enumerate(people, 1))
    products = names(rng, size["products"])
    yield "products", ((i, name, rng.choice(kinds), rng.randint(1, 9999) / 100) for i, name in enumerate(products, 1))
    orders = range(1, size["orders"] + 1)
    yield "orders", ((i, rng.randint(1, size["people"]), day(), rng.choice(("open", "paid"))) for i in orders)
    lines = range(1, size["lines"] + 1)
    yield (
        "lines",
        ((i, rng.randint(1, size["orders"]), rng.randint(1, size["products"]), rng.randint(1, 9)) for i in lines),
    )


def make_shop(path: Path, rows: int) -> None:
    """A shop of so many rows in SQLite; without declared foreign keys, so that they have to be found."""
    with sqlite3.connect(path) as connection:
        connection.executescript(_TABLES)
        for table, content in tables(rows):
            width = len(connection.execute(f"SELECT * FROM {table} LIMIT 0").description)
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", content)
        connection.executescript(_INDEXES)
    connection.close()


def make_names(path: Path, rows: int) -> None:
    """One table of so many names, with an index on them."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (person_id INTEGER PRIMARY KEY, name VARCHAR)")
        connection.executemany("INSERT INTO people (name) VALUES (?)", ((n,) for n in names(random.Random(SEED), rows)))
        connection.execute("CREATE INDEX called ON people (name)")
    connection.close()


MADE = {"shop": make_shop, "names": make_names}
ENGINES = ("sqlite", "duckdb")


def as_duckdb(source: Path, target: Path) -> None:
    """The same data in DuckDB, by way of CSV."""
    with sqlite3.connect(source) as connection, duckdb.connect(str(target)) as made:
        for name, declared in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            made.execute(declared)
            cursor = connection.execute(f"SELECT * FROM {name}")
            while rows := cursor.fetchmany(BATCH):
                columns = {f"c{place}": list(values) for place, values in enumerate(zip(*rows, strict=True))}
                _append(made, name, columns)
        for (declared,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"):
            made.execute(declared)
    connection.close()


def _append(made: duckdb.DuckDBPyConnection, name: str, columns: dict[str, list[object]]) -> None:
    import pyarrow as pa

    made.from_arrow(pa.table(columns)).insert_into(name)


CONNECT = "import sys; from dualparse.use.cli.main import main; sys.argv[1:1] = ['connect', '--quiet']; main()"
INDEX = """
import sys
from pathlib import Path
from dualparse.database.folder import read_connected
from dualparse.database.index import build_index
from dualparse.database.source import open_source
connected = read_connected(Path(sys.argv[1]))
with open_source(connected.location) as source:
    build_index(connected, source)
"""


def connected(database: Path, folder: Path) -> dict[str, float]:
    """What one `dualparse connect` takes."""
    return _used(CONNECT, str(database), "--out", str(folder))


def _used(code: str, *arguments: str) -> dict[str, float]:
    """Seconds by the clock and of the processor, and highest memory, of a program in its own process."""
    used = "import atexit, resource\nused = lambda: resource.getrusage(resource.RUSAGE_SELF)\n"
    used += "atexit.register(lambda: print(used().ru_utime + used().ru_stime, used().ru_maxrss))\n"
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", used + code, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    processor_seconds, kilobytes = map(float, done.stdout.split()[-2:])
    return {
        "seconds": round(seconds, 1),
        "processor seconds": round(processor_seconds, 1),
        "megabytes": round(kilobytes / 1024),
    }


def asked(folder: Path) -> dict[str, float]:
    """Milliseconds a question takes to have its names found, once the index is open."""
    from dualparse.database.candidates import candidates
    from dualparse.database.folder import read_connected
    from dualparse.database.index import index_of

    start = time.perf_counter()
    with index_of(read_connected(folder)) as index:
        opened = time.perf_counter() - start
        rng = random.Random(SEED)
        count = len(index)
        taken, worked, found = [], [], 0
        for _ in range(QUESTIONS):
            query = "SELECT text FROM name WHERE id >= ? LIMIT 1"
            name = index.connection.execute(query, (rng.randint(1, count),)).fetchone()[0]
            place = rng.randrange(1, len(name) - 1)
            said = rng.choice((name, name.lower(), name[:place] + name[place + 1 :], f"{name}'s"))
            start, busy = time.perf_counter(), time.process_time()
            hits = candidates(f"which of the orders in march were made by {said} in the end", index)
            taken.append(1000 * (time.perf_counter() - start))
            worked.append(1000 * (time.process_time() - busy))
            found += name in [hit.value for hit in hits]
    taken.sort()
    worked.sort()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "names": count,
        "milliseconds to open": round(1000 * opened, 1),
        "milliseconds, median": round(taken[len(taken) // 2], 2),
        "milliseconds, 95 of 100": round(taken[int(0.95 * len(taken))], 2),
        "processor milliseconds, median": round(worked[len(worked) // 2], 2),
        "processor milliseconds, 95 of 100": round(worked[int(0.95 * len(worked))], 2),
        "name among the candidates": round(found / QUESTIONS, 3),
        "megabytes": round(memory),
        "index megabytes": round((folder / "values.sqlite").stat().st_size / 2**20, 1),
    }


def filtered(folder: Path) -> dict[str, float]:
    """Milliseconds of a form that filters a table by an indexed column: from its text to its rows."""
    from dualparse.database.folder import read_connected
    from dualparse.database.index import index_of
    from dualparse.database.run import Runner
    from dualparse.database.source import open_source

    connected = read_connected(folder)
    taken, worked = [], []
    with index_of(connected) as index, open_source(connected.location) as source:
        runner = Runner(source, connected.database)
        rows = int(str(runner.answer("( count ( all person ) )").values[0][0]))
        for (name,) in index.connection.execute(f"SELECT text FROM name ORDER BY id DESC LIMIT {FILTERS}").fetchall():
            start, busy = time.perf_counter(), time.process_time()
            assert runner.answer(_BY_NAME.format(name=name)).values
            taken.append(1000 * (time.perf_counter() - start))
            worked.append(1000 * (time.process_time() - busy))
    return {
        "rows of the table": rows,
        "milliseconds, median": round(median(taken), 2),
        "milliseconds, slowest": round(max(taken), 2),
        "processor milliseconds, median": round(median(worked), 2),
    }


def answered(folder: Path) -> dict[str, float]:
    """Milliseconds of the first answer, opening included, of an answer when all is open, and of a filter on an indexed
    column alone."""
    start, busy = time.perf_counter(), time.process_time()  # libraries are loaded from here on
    from dualparse.asking.asker import open_asker

    with open_asker(folder) as asker:
        asker.ask(_ASKED[0])
        first, first_busy = time.perf_counter() - start, time.process_time() - busy
        rng = random.Random(SEED)
        names = asker.index.connection.execute(_PEOPLE).fetchall()
        taken, worked, filters, given = [], [], [], 0
        for _ in range(ROUNDS):
            for question in _ASKED:
                start, busy = time.perf_counter(), time.process_time()
                reply = asker.ask(question.format(name=rng.choice(names)[0]))
                given += reply.answered
                taken.append(1000 * (time.perf_counter() - start))
                worked.append(1000 * (time.process_time() - busy))
            form = _FILTER.format(price=rng.randint(1, 9999) / 100)
            start = time.perf_counter()
            asker.runner.answer(form)
            filters.append(1000 * (time.perf_counter() - start))
    return {
        "questions": len(taken),
        "answered": given,
        "milliseconds to the first": round(1000 * first),
        "processor milliseconds to the first": round(1000 * first_busy),
        "milliseconds, median": round(median(taken), 1),
        "milliseconds, slowest": round(max(taken), 1),
        "processor milliseconds, median": round(median(worked), 1),
        "milliseconds of a filter, median": round(median(filters), 2),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[15_000, 1_000_000, 10_000_000])
    parser.add_argument("--databases", nargs="+", default=list(MADE), choices=MADE)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--kept", type=Path, help="folder in which databases stay")
    parser.add_argument("--out", type=Path, default=Path("results/bench-connect.json"))
    parser.add_argument("--page", type=Path, help="print what is stored as a table, and write it into this page")
    parser.add_argument("--filter", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    for folder, measure in ((told.ask, asked), (told.answer, answered), (told.filter, filtered)):
        if folder:
            print(json.dumps(measure(folder)))
            return
    if told.page:
        print(table(told.out))
        between(told.page, BEGIN, END, table(told.out))
        return
    for rows in told.rows:
        for what in told.databases:
            with tempfile.TemporaryDirectory() as scratch:
                for engine in told.engines:
                    database = _made(what, engine, rows, told.kept or Path(scratch))
                    figures = _measured(database, Path(scratch, engine), what, engine, rows)
                    print(json.dumps(figures), flush=True)
                    _store(told.out, figures)


def table(path: Path) -> str:
    """The figures as tables of a page: by the clock, and in brackets what the processor was at work."""
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    shop = [
        "| rows of the shop | engine | connect | of which the index | first answer | median answer |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    register = [
        "| names | engine | connect | finding those in a question | 95 of 100 | a filter on their indexed column |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for each in results:
        start = [
            f"{each['rows']:,}",
            {"sqlite": "SQLite", "duckdb": "DuckDB"}[each["engine"]],
            _seconds(each["connect"]),
        ]
        if each["database"] == "shop":
            answers = each["answers"]
            median_one = _milliseconds(answers, "milliseconds, median")
            cells = [*start, _seconds(each["index"]), _milliseconds(answers, "milliseconds to the first"), median_one]
            shop.append(f"| {' | '.join(cells)} |")
        else:
            found = [_milliseconds(each["names"], f"milliseconds, {which}") for which in ("median", "95 of 100")]
            cells = [*start, *found, _milliseconds(each["filter"], "milliseconds, median")]
            register.append(f"| {' | '.join(cells)} |")
    return "\n".join([*shop, "", *register])


def _seconds(used: dict[str, float]) -> str:
    return f"{used['seconds']} s ({used['processor seconds']}), {used['megabytes']} MB"


def _milliseconds(figures: dict[str, float], which: str) -> str:
    return f"{figures[which]:,} ms ({figures[f'processor {which}']:,})"


def _store(path: Path, figures: dict[str, object]) -> None:
    """Put figures into the file of results, in the place of older ones of the same database, engine and size."""
    known = json.loads(path.read_text(encoding="utf-8"))["results"] if path.is_file() else []
    same = [figures[key] for key in ("rows", "database", "engine")]
    kept = [each for each in known if [each[key] for key in ("rows", "database", "engine")] != same]
    kept.append(figures | {"commit": current_commit()})
    kept.sort(key=lambda each: (each["rows"], each["database"], each["engine"]))
    write_text(path, json.dumps({"processor": processor(), "results": kept}, indent=1) + "\n")


def _made(what: str, engine: str, rows: int, place: Path) -> Path:
    """The database, made unless it is there."""
    place.mkdir(parents=True, exist_ok=True)
    paths = {each: place / f"{what}-{rows}.{each}" for each in ENGINES}
    if not paths["sqlite"].is_file():
        with replacing(paths["sqlite"]) as unfinished:
            MADE[what](unfinished, rows)
    if not paths[engine].is_file():
        with replacing(paths[engine]) as unfinished:
            unfinished.unlink()  # DuckDB takes no file that is empty
            as_duckdb(paths["sqlite"], unfinished)
    return paths[engine]


def _measured(database: Path, out: Path, what: str, engine: str, rows: int) -> dict[str, object]:
    load = round(os.getloadavg()[0], 1)
    figures: dict[str, object] = {
        "database": what,
        "engine": engine,
        "rows": rows,
        "load of the machine": load,
        "connect": connected(database, out),
        "index": _used(INDEX, str(out)),
        "names": _apart("--ask", out),
    }
    part, option = ("answers", "--answer") if what == "shop" else ("filter", "--filter")
    figures[part] = _apart(option, out)
    shutil.rmtree(out)
    return figures


def _apart(what: str, folder: Path) -> dict[str, float]:
    """Measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.connect", what, str(folder)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
