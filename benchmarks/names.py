"""What names in the data cost a model: training time and size with 1,000 names, and with 100,000.

    python -m benchmarks.names [--names 1000 100000] [--out results/bench-names.json]

A seeded script makes a database of people, places and visits in which only the number of people differs. Each is
connected, and a small recipe trains both agents on the same number of pairs made from its schema; every training runs
in a process of its own, after one that does not count. Names are placeholders to a model, so neither its time nor its
size should follow their number. The index of names, which does, is not counted.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.connect import connected, names
from benchmarks.load import processor
from dualparse.database.folder import INDEX
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

SEED, PLACES, VISITS = 7, 50, 2_000
_TABLES = """
CREATE TABLE people (person_id INTEGER PRIMARY KEY, name VARCHAR, born DATE);
CREATE TABLE places (place_id INTEGER PRIMARY KEY, name VARCHAR, height_m INTEGER);
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES people,
  place_id INTEGER REFERENCES places, day DATE, price_eur DOUBLE)
"""
_RECIPE = """
domain = "{folder}"
stages = ["q2lf", "lf2q"]
[data]
canonical = 600
[model]
embedding = 64
hidden = 128
[train]
epochs = 8
batch_size = 32
learning_rate = 0.002
evaluate_from = 8
"""
_TRAIN = "import sys; from dualparse.use.cli.main import main; sys.argv[1:1] = ['train']; main()"


def make(path: Path, people: int) -> None:
    """The database with so many people."""
    rng = random.Random(SEED)
    day = lambda: f"{rng.randint(1950, 2024)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"  # noqa: E731
    with sqlite3.connect(path) as connection:
        connection.executescript(_TABLES)
        places = enumerate(names(rng, PLACES), 1)
        connection.executemany("INSERT INTO places VALUES (?, ?, ?)", [(i, n, rng.randint(0, 3000)) for i, n in places])
        visits = [(rng.randint(1, 1000), rng.randint(1, PLACES), day(), rng.randint(1, 99)) for _ in range(VISITS)]
        connection.executemany("INSERT INTO visits (person_id, place_id, day, price_eur) VALUES (?, ?, ?, ?)", visits)
        found = ((name, day()) for name in names(random.Random(SEED), people))
        connection.executemany("INSERT INTO people (name, born) VALUES (?, ?)", found)
    connection.close()


def trained(folder: Path, run: Path) -> dict[str, float]:
    """Seconds by the clock and of the processor, and the sizes of what was trained."""
    recipe = folder.with_suffix(".toml")
    write_text(recipe, _RECIPE.format(folder=folder))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", _TRAIN, str(recipe), "--out", str(run)], check=True, capture_output=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    weights = sorted(run.glob("*.safetensors"))
    return {
        "seconds": round(seconds, 1),
        "processor seconds": round(used, 1),
        "megabytes": round(after.ru_maxrss / 1024),
        "bytes of weights": sum(path.stat().st_size for path in weights),
        "words": sum(len((run / f"{side}.vocab").read_text(encoding="utf-8").splitlines()) for side in ("query", "lf")),
        "bytes of the run": sum(
            path.stat().st_size for path in run.rglob("*") if path.is_file() and path.name != INDEX
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--names", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--out", type=Path, default=Path("results/bench-names.json"))
    options = parser.parse_args()
    rows = []
    for people in options.names:
        with tempfile.TemporaryDirectory() as place:
            database, folder = Path(place, "visits.sqlite"), Path(place, "visits")
            make(database, people)
            looked = connected(database, folder)
            if not rows:
                trained(folder, Path(place, "first"))  # compiles what later ones find compiled
            rows.append({"names": people, "connect": looked, "training": trained(folder, Path(place, "run"))})
        print(json.dumps(rows[-1]), flush=True)
    told = {"processor": processor(), "commit": current_commit(), "results": rows}
    write_text(options.out, json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
