"""Forms in Spark against the world in memory: `python -m benchmarks.spark [--databases N] [--out FILE]`.

Every form of *trails*, and 25 random forms over each of so many random databases, run in Spark's local mode; the first
one whose rows differ ends the program. Needs pyspark (the extra `spark`) and Java.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.load import processor
from dualparse.database.model import ISO
from dualparse.database.spark import SparkRunner
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import read_folder
from dualparse.domains.plain import Plain
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.lines import raise_error

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # random forms are the tests' own

from random_forms import SCHEMA, world  # noqa: E402
from same_rows import agree, trails_forms  # noqa: E402
from spark import session, views  # noqa: E402


def measure(databases: int) -> dict[str, object]:
    """How many forms were compared, and how long Spark took."""
    start = time.perf_counter()
    with session() as spark:
        domain, schema, made = read_folder(EMBEDDED / "trails", report=raise_error)
        runner, memory = SparkRunner(spark, views(made, schema, spark, storage=ISO)), Plain(made, schema)
        forms = trails_forms(domain)
        for form in forms:
            assert runner.execute(form) == memory.execute(form), form
        kinds: Counter[str] = Counter()
        for seed in range(databases):
            rng = random.Random(seed)
            small = world(rng, whole_dates=True)
            kinds += agree(small, SparkRunner(spark, views(small, SCHEMA, spark)), rng)
        version = spark.version
    return {
        "spark": version,
        "trails_forms": len(forms),
        "random_forms": kinds.total(),
        "random_databases": databases,
        "kinds_of_answers": dict(kinds),
        "different": 0,
        "seconds": round(time.perf_counter() - start),
        "hardware": processor(),
        "commit": current_commit(),
    }


def main() -> None:
    """Compare, print, store."""
    parser = argparse.ArgumentParser(description="Forms in Spark against the world in memory.")
    parser.add_argument("--databases", type=int, default=40, help="random databases")
    parser.add_argument("--out", type=Path, default=Path("results/bench-spark.json"))
    arguments = parser.parse_args()
    found = measure(arguments.databases)
    print(json.dumps(found, indent=1))
    write_text(arguments.out, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
