"""Cells that were run once more, by a later version, beside the stored ones of the same settings and seeds.

    python -m benchmarks.regression [--again results/apart] [--grid table3] [--within 1.0]

The cells come from `dualparse sweep GRID --only CELL ... --own --results results/apart`; nothing is trained here. Ends
with code 1 where the median over seeds of a method's test scores is further away than `--within` points, or where a
stored cell has no counterpart.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from dualparse.errors import InputError
from dualparse.lab.store import Store, Stored
from dualparse.lab.trained import trained

RESULTS = Path("results")
WITHIN = 1.0  # points between two medians


@dataclass(frozen=True)
class Pair:
    """A method's scores by split and seed, as they were stored and as they are now, and the engine that ran now."""

    name: str
    split: str
    stored: tuple[float, ...]
    again: tuple[float, ...]
    engine: str

    @property
    def apart(self) -> float:
        return median(self.again) - median(self.stored)


def pairs(stored: Iterable[Stored], again: Iterable[Stored]) -> Iterator[Pair]:
    """Every method that was run again, dev and test."""
    known = {trained(cell.result).key: cell for cell in stored}
    methods: dict[str, list[tuple[Stored, Stored]]] = defaultdict(list)
    for cell in again:
        before = known.get(trained(cell.result).key)
        if before is None:
            raise InputError("no stored cell has these settings", path=cell.name)
        name = f"{cell.result['method']}, {cell.result['recipe']['domain']}"
        methods[name].append((before, cell))
    for name, cells in methods.items():
        for split in ("dev", "test"):
            then, now = (tuple(_score(pair[side], split) for pair in cells) for side in (0, 1))
            engines = cells[0][1].result.get("engine", {}).get("engines", {})
            yield Pair(name, split, then, now, ", ".join(engines.values()))


def _score(cell: Stored, split: str) -> float:
    return float(cell.result[split]["q2lf"]["accuracy"])


def compare(results: Path, again: Path, grid: str) -> list[Pair]:
    """What a grid's cells have in one folder of results and in another."""
    run = [cell for cell in Store(again).read() if cell.name.startswith(f"{grid}/")]
    if not run:
        raise InputError(f"no cell of {grid} was run again", path=again)
    return list(pairs(Store(results).read(), run))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", type=Path, default=RESULTS / "apart")
    parser.add_argument("--grid", default="table3")
    parser.add_argument("--within", type=float, default=WITHIN, help="points between two medians")
    told = parser.parse_args()
    try:
        found = compare(told.results, told.again, told.grid)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    table = Table(title="the same settings and seeds, once more")
    for column in ("method", "split", "stored", "now", "median, points", "engine"):
        table.add_column(column, justify="left" if column in ("method", "split", "engine") else "right", no_wrap=True)
    for pair in found:
        scores = (" ".join(f"{score:.1f}" for score in side) for side in (pair.stored, pair.again))
        table.add_row(pair.name, pair.split, *scores, f"{pair.apart:+.1f}", pair.engine)
    Console().print(table)
    return int(any(pair.split == "test" and abs(pair.apart) > told.within for pair in found))


if __name__ == "__main__":
    raise SystemExit(main())
