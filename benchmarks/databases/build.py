"""Makes the databases as SQLite files: `python -m benchmarks.databases.build OUT [NAME ...]`.

In: names such as `dev/bikes`; without one, all. Out: OUT/dev/bikes.sqlite and so on. What was there is replaced.
"""

import argparse
import sqlite3
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("dev/bikes", "dev/freight", "dev/college", "dev/webshop", "dev/league", "test/clinic", "test/games")


def questions_of(name: str) -> Path:
    """Where the questions of a database are."""
    return HERE / name / "questions.jsonl"


def build(name: str, out: Path) -> Path:
    """Make one database below the folder `out`, and say where it is."""
    world = import_module(f"benchmarks.databases.{name.replace('/', '.')}.make")
    path = out / f"{name}.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(world.SCHEMA)
        for table, rows in world.tables().items():
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        connection.commit()
        connection.execute("VACUUM")
    finally:
        connection.close()
    return path


def main() -> None:
    """Make what the command line names."""
    parser = argparse.ArgumentParser(description="Makes the databases of the benchmark as SQLite files.")
    parser.add_argument("out", type=Path, help="the folder to make them in")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; without one, all")
    arguments = parser.parse_args()
    for name in arguments.names or NAMES:
        if name not in NAMES:
            parser.error(f"there is no database {name!r}; there are {', '.join(NAMES)}")
        print(build(name, arguments.out))


if __name__ == "__main__":
    main()
