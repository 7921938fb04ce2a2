"""Forms in every engine against the world in memory: the same rows, for *trails*, Chinook and random forms.

    python -m benchmarks.same_rows [--engines sqlite duckdb postgresql spark] [--databases 800] [--seed 0] [--out FILE]

All forms of *trails*, those of Chinook's questions, and 25 random forms over each of so many random small databases run
in memory and in an engine of its own; the first form whose rows differ ends the program. Chinook is taken from
`DUALPARSE_DATA`, and not for Spark. PostgreSQL needs its programs, Spark needs pyspark (the extra `spark`) and Java.

A long run can be made in pieces: one that begins with the seed at which the stored one of its engine and commit ends
goes on with it (`--seed 0 --databases 400`, then `--seed 400 --databases 400`). Any other takes the place of what is
stored.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.load import processor
from dualparse.database.model import ISO, NATIVE
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # random forms are the tests' own

from copies import copied_file, in_database  # noqa: E402
from postgres import server  # noqa: E402
from same_rows import agree_on_chinook, agree_on_trails, compare  # noqa: E402
from spark import in_spark, opened  # noqa: E402

SPARK, POSTGRESQL, SQLITE = "spark", "postgresql", "sqlite"
ENGINES = (SQLITE, "duckdb", POSTGRESQL, SPARK)
ADDED = ("random_forms", "random_databases", "seconds")  # counts that grow from piece to piece
Into = Callable[..., AbstractContextManager[Any]]


@contextmanager
def running(engine: str, folder: Path) -> Iterator[tuple[Into, str, str]]:
    """What puts a world into an engine, the engine's version, and the URL of the server where there is one."""
    if engine == SPARK:
        with opened() as session:
            yield partial(in_spark, session=session), session.version, ""
    elif engine == POSTGRESQL:
        import psycopg

        with server(folder) as url:
            with psycopg.connect(f"{url}/postgres") as connection:
                told = str(connection.execute("SHOW server_version").fetchone()[0])  # type: ignore[index]
            yield partial(in_database, engine=engine, folder=folder, server=url), told, url
    else:
        told = sqlite3.sqlite_version if engine == SQLITE else version("duckdb")
        yield partial(in_database, engine=engine, folder=folder), told, ""


def measure(engine: str, databases: int, seed: int) -> dict[str, Any]:
    """How many forms were compared, and how long it took."""
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="same") as made:
        folder = Path(made)
        with running(engine, folder) as (into, told, url):
            start = time.perf_counter()
            trails = agree_on_trails(partial(into, storage=ISO))
            chinook = _chinook(engine, folder, url)
            for place in range(seed, seed + databases):
                kinds += compare(place, partial(into, storage=NATIVE), whole_dates=engine != SQLITE)
                if (place - seed) % 100 == 99:
                    print(f"{engine}: {place - seed + 1} of {databases} databases", file=sys.stderr, flush=True)
            seconds = time.perf_counter() - start
    return {
        "engine": engine,
        "version": told,
        "trails_forms": trails,
        "chinook_forms": chinook,
        "random_forms": kinds.total(),
        "random_databases": databases,
        "first_seed": seed,
        "kinds_of_answers": dict(sorted(kinds.items())),
        "different": 0,
        "seconds": round(seconds),
        "processor": processor(),
        "commit": current_commit(),
    }


def _chinook(engine: str, folder: Path, url: str) -> int:
    """How many forms of Chinook were compared; 0 where it is not there."""
    file = Path(os.environ.get("DUALPARSE_DATA", ""), "chinook", "chinook.sqlite")
    if engine == SPARK or not file.is_file():
        return 0
    place = f"sqlite:///{file}" if engine == SQLITE else copied_file(file, engine, folder, url)
    return agree_on_chinook(file, place, folder)


def stored(path: Path, found: dict[str, Any]) -> None:
    """Put what was found into a file, after or in the place of what is there of the same engine."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    before = [each for each in known if each["engine"] == found["engine"]]
    if before and _goes_on(before[0], found):
        kinds = Counter(before[0]["kinds_of_answers"]) + Counter(found["kinds_of_answers"])
        grown = {name: before[0][name] + found[name] for name in ADDED}
        found = {**before[0], **grown, "kinds_of_answers": dict(sorted(kinds.items()))}
    kept = [each for each in known if each not in before] + [found]
    write_text(path, json.dumps(sorted(kept, key=lambda each: ENGINES.index(each["engine"])), indent=1) + "\n")


def _goes_on(before: dict[str, Any], found: dict[str, Any]) -> bool:
    """Whether a piece begins where what is stored ends, and was made by the same versions."""
    end = before["first_seed"] + before["random_databases"]
    return end == found["first_seed"] and all(before[name] == found[name] for name in ("version", "commit"))


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
        stored(arguments.out, found)


if __name__ == "__main__":
    main()
