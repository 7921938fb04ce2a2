"""Forms in every engine against the world in memory: the same rows, for *trails* and for random forms.

    python -m benchmarks.same_rows [--engines sqlite duckdb postgresql spark] [--databases 800] [--seed 0] [--out FILE]

All forms of *trails*, and 25 random forms over each of so many random small databases, run in memory and in an engine
of its own; the first form whose rows differ ends the program. PostgreSQL needs its programs, Spark needs pyspark (the
extra `spark`) and Java. What is measured takes the place of the figures of the same engine and seed in the file; the
others stay, so that a long run can be made in pieces.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.load import processor
from dualparse.database.model import ISO, NATIVE
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # random forms are the tests' own

from copies import in_database  # noqa: E402
from postgres import server  # noqa: E402
from same_rows import agree_on_trails, compare  # noqa: E402
from spark import in_spark, opened  # noqa: E402

SPARK, POSTGRESQL, SQLITE = "spark", "postgresql", "sqlite"
ENGINES = (SQLITE, "duckdb", POSTGRESQL, SPARK)


@contextmanager
def running(engine: str, folder: Path) -> Iterator[tuple[Any, str]]:
    """What puts a world into an engine, and the engine's version."""
    if engine == SPARK:
        with opened() as session:
            yield partial(in_spark, session=session), session.version
    elif engine == POSTGRESQL:
        import psycopg

        with server(folder) as url:
            with psycopg.connect(f"{url}/postgres") as connection:
                told = str(connection.execute("SHOW server_version").fetchone()[0])  # type: ignore[index]
            yield partial(in_database, engine=engine, folder=folder, server=url), told
    else:
        told = sqlite3.sqlite_version if engine == SQLITE else version("duckdb")
        yield partial(in_database, engine=engine, folder=folder), told


def measure(engine: str, databases: int, seed: int) -> dict[str, object]:
    """How many forms were compared, and how long it took."""
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="same") as folder, running(engine, Path(folder)) as (into, told):
        start = time.perf_counter()
        trails = agree_on_trails(partial(into, storage=ISO))
        for place in range(seed, seed + databases):
            kinds += compare(place, partial(into, storage=NATIVE), whole_dates=engine != SQLITE)
            if (place - seed) % 100 == 99:
                print(f"{engine}: {place - seed + 1} of {databases} databases", file=sys.stderr, flush=True)
        seconds = time.perf_counter() - start
    return {
        "engine": engine,
        "version": told,
        "trails_forms": trails,
        "random_forms": kinds.total(),
        "random_databases": databases,
        "first_seed": seed,
        "kinds_of_answers": dict(sorted(kinds.items())),
        "different": 0,
        "seconds": round(seconds),
        "processor": processor(),
        "commit": current_commit(),
    }


def main() -> None:
    """Compare, print, store."""
    parser = argparse.ArgumentParser(description="Forms in every engine against the world in memory.")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES[:3]), choices=ENGINES)
    parser.add_argument("--databases", type=int, default=800, help="random databases, of 25 forms each")
    parser.add_argument("--seed", type=int, default=0, help="of the first database")
    parser.add_argument("--out", type=Path, default=Path("results/bench-same-rows.json"))
    arguments = parser.parse_args()
    for engine in arguments.engines:
        found = measure(engine, arguments.databases, arguments.seed)
        print(json.dumps(found), flush=True)
        known = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.is_file() else []
        kept = [each for each in known if (each["engine"], each["first_seed"]) != (engine, arguments.seed)] + [found]
        kept.sort(key=lambda each: (ENGINES.index(each["engine"]), each["first_seed"]))
        write_text(arguments.out, json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
